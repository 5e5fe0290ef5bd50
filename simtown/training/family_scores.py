"""Accuracy of a run on questions of families: overall, by family and by kind of answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simtown.complexity.intervals import share
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.proving.twin_groups import group_outcomes
from simtown.datasets.reading.reader import Dataset, Split
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.evaluate import KNOWN, evaluate

#: The answers that are distances, in metres.
_METRES = {text: float(number) for number, text in enumerate(ANSWERS["metres"])}


def right(split: Split, texts: Sequence[str], given: np.ndarray, answers: Sequence[str]) -> np.ndarray:
    """(n,) bool: which questions of a split are answered right.

    A distance is also right if the metres that it names are within the stored tolerance of the true ones.
    `texts` are the data set's answers, `given` (n,) int64 places of the given answers in `answers`.
    """
    place = {text: number for number, text in enumerate(answers)}
    true = np.array([place.get(text, -1) for text in texts])[split.column("value")]
    metres = np.array([_METRES.get(text, np.nan) for text in answers])
    return (given == true) | _near(split, metres[given])


def _near(split: Split, metres: np.ndarray | float) -> np.ndarray:
    """(n,) bool: whether distances are within the tolerance; False for questions of other answers."""
    off = np.abs(metres - split.column("number").astype(np.float64))
    return off <= split.column("tolerance")


def confidence(logits: np.ndarray) -> np.ndarray:
    """(n,) float32 probability that a model gives its own answer, from (n, answers) logits."""
    return 1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)


def measure(
    dataset: Dataset, test: np.ndarray, val: np.ndarray, train_size: int | None, answers: Sequence[str]
) -> dict[str, Any]:
    """Accuracy on the test set, overall and in parts; see :func:`simtown.training.evaluation.measure`.

    Returns:
        Shares with Wilson intervals, each with the mean "confidence" and "chance", the share that the best
        constant answers of its families would have: of the test set; "families" by name, with their kind of
        "answer"; "kinds" by kind of answer. "unseen": of test questions whose answer no training example has,
        with these "answers". "validation". "twins": "single", "pair", "group" and "consistency"
        (:func:`simtown.datasets.proving.twin_groups.group_outcomes`), if pictures come in twos.
    """
    split, texts, names = dataset.test, dataset.names["answers"], dataset.names["families"]
    value, family = split.column("value"), split.column("family")
    correct, sure = right(split, texts, test.argmax(axis=1), answers), confidence(test)
    kinds = kinds_of_answers(dataset)
    by_constant = constants(dataset)

    def part(rows: np.ndarray) -> dict[str, Any]:
        own = {"confidence": float(sure[rows].mean()), "chance": float(by_constant[rows].mean())}
        return (share(correct[rows], split.clusters[rows]) or {}) | own

    present = [number for number in range(len(names)) if (family == number).any()]
    kind_of = np.array(kinds)[family]
    known = set(answers)
    if train_size is not None:
        known &= {texts[number] for number in np.unique(dataset.train.column("value")[:train_size])}
    unseen = np.array([text not in known for text in texts])
    out = part(np.ones(len(split), dtype=bool))
    out["families"] = {names[i]: {"answer": kinds[i], **part(family == i)} for i in present}
    out["kinds"] = {kind: part(kind_of == kind) for kind in dict.fromkeys(kinds[i] for i in present)}
    listed = [texts[number] for number in np.unique(value) if unseen[number]]
    out["unseen"] = {
        "answers": listed,
        **(share(correct[unseen[value]], split.clusters[unseen[value]]) or {"n": 0}),
    }
    if dataset.settings.twins:
        each = dataset.settings.questions_per_picture
        outcomes = group_outcomes(split.column("group"), correct, each)
        out["twins"] = {name: share(*outcome) for name, outcome in outcomes.items()}
    if len(val):
        out["validation"] = share(right(dataset.val, texts, val.argmax(axis=1), answers))
    return out


def of_compositions(
    dataset: Dataset, test: np.ndarray, compositions: np.ndarray, answers: Sequence[str]
) -> dict[str, Any]:
    """Accuracy on held-out compositions, and on the test questions of the same families.

    Arguments as of :func:`simtown.training.evaluation.measure`.

    Returns:
        A share with its Wilson interval; "families" by name, each a share, with "seen", the share on test
        questions of that family, None if there are none. "seen": the accuracy on test if its families were as
        frequent as among the compositions; None if it lacks one.
    """
    names = dataset.names["families"]

    def by_family(split: Split, logits: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        correct = right(split, dataset.names["answers"], logits.argmax(axis=1), answers)
        family = split.column("family")
        return correct, {names[i]: correct[family == i] for i in np.unique(family).tolist()}

    held, own = by_family(dataset[COMPOSITION], compositions)
    _, tested = by_family(dataset.test, test)
    shares = {
        name: {**(share(rows) or {}), "seen": share(tested.get(name, held[:0]))} for name, rows in own.items()
    }
    means = {name: float(tested[name].mean()) for name in own if name in tested}
    seen = sum(len(own[name]) * mean for name, mean in means.items()) / max(len(held), 1)
    return {**(share(held) or {}), "families": shares, "seen": seen if len(means) == len(own) else None}


def constants(dataset: Dataset) -> np.ndarray:
    """(n,) bool: which test questions the best constant answer of their family answers right.

    The best is that of the test set itself, so no constant answer scores more.
    """
    split, texts = dataset.test, dataset.names["answers"]
    value, family = split.column("value"), split.column("family")
    result = np.zeros(len(split), dtype=bool)
    for number in np.unique(family):
        rows = family == number
        each = [(value == i) | _near(split, _METRES.get(text, np.nan)) for i, text in enumerate(texts)]
        best = max(each, key=lambda correct: int(correct[rows].sum()))
        result[rows] = best[rows]
    return result


def kinds_of_answers(dataset: Dataset) -> list[str]:
    """The kind of answer of each family, a key of ANSWERS, by the answers that its test questions have."""
    texts, split = np.array(dataset.names["answers"]), dataset.test
    kinds = []
    for number in range(len(dataset.names["families"])):
        found = {*texts[np.unique(split.column("value")[split.column("family") == number])]} - {CANNOT_TELL}
        kinds.append(next(kind for kind, answers in ANSWERS.items() if found <= {*answers}))
    return kinds


def references(dataset: Dataset) -> dict[str, float]:
    """Test accuracy of the best constant answer of each family, and of the programs on the latent scenes."""
    return {"chance": float(constants(dataset).mean()), "oracle": float(oracle(dataset).mean())}


def oracle(dataset: Dataset) -> np.ndarray:
    """(n,) bool: which test questions the evaluator answers, from program and scene, as they are stored."""
    split, kinds, settings = dataset.test, kinds_of_answers(dataset), dataset.settings
    size = settings.width, settings.height
    values = evaluate(split.scenes(), split.column("program"), split.column("visible"), size)
    told = [
        ANSWERS[kinds[family]][answer] if state == KNOWN else CANNOT_TELL
        for family, answer, state in zip(
            split.column("family").tolist(), values.answer.tolist(), values.state.tolist(), strict=True
        )
    ]
    return np.array(told) == np.array(dataset.names["answers"])[split.column("value")]
