"""Accuracies of whoever does not look: of guesses, and of the best constant answer of each family."""

import numpy as np

from simtown.datasets.reading.reader import Dataset
from simtown.language.words.replies import Gold, is_right


def chance(gold: Gold) -> float:
    """The probability that a guess among all answers that a question may have is right."""
    return sum(is_right(choice, gold) for choice in gold.choices) / max(len(gold.choices), 1)


def best_constants(dataset: Dataset) -> dict[str, str]:
    """By family its most frequent answer in training, which whoever knows no test question can find."""
    train = dataset.train
    if not dataset.settings.has_families:
        return {"paper": "yes" if train.column("answer").mean() > 0.5 else "no"} if len(train) else {}
    family, value = train.column("family"), train.column("value")
    return {
        dataset.names["families"][number]: dataset.names["answers"][
            np.bincount(value[family == number]).argmax()
        ]
        for number in np.unique(family).tolist()
    }


def is_right_constantly(constants: dict[str, str], family: str, gold: Gold) -> bool:
    """Whether the best constant of a family is right; the first possible answer if it has none for these."""
    constant = constants.get(family)
    return is_right(constant if constant in gold.choices else gold.choices[0], gold)
