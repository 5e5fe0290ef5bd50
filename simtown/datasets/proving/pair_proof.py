"""The proof of minimal pairs of words: their sentences, read back as questions, have the right answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.reading.reader import SCENE_COLUMNS, Dataset, Split
from simtown.datasets.word_pairs import WordPair, first_rows, word_pairs
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.forms import Form
from simtown.language.meaning.programs import encode, stored
from simtown.language.words.grammar import parse
from simtown.scenes.scene import SceneBatch

#: Groups of twins of a split whose items are read back at most.
GROUPS = 2_000
#: Problems that have a line each.
_LINES = 5


def prove_pairs(dataset: Dataset) -> tuple[int, list[str]]:
    """The number of a data set's items that were read back, and a line for each of the first wrong ones."""
    size, count = (dataset.settings.width, dataset.settings.height), 0
    wrong: list[str] = []
    for name in dataset.splits:
        split = dataset[name]
        if len(split):
            items = [*word_pairs(split, first_rows(split)[:GROUPS], name, size)]
            count += len(items)
            wrong += [
                f"{name}, group {item.group}: '{item.target_a}' and '{item.target_b}' are not true of one "
                "picture alone"
                for item in wrong_pairs(split, items, size)
            ]
    return count, wrong[:_LINES]


def wrong_pairs(split: Split, items: Sequence[WordPair], size: tuple[int, int]) -> list[WordPair]:
    """The items of which a target is not true of its own picture alone.

    Args:
        split: that has the pictures.
        items: of :func:`simtown.datasets.word_pairs.word_pairs`.
        size: width and height of the pictures.
    """
    if not items:
        return []
    rows, at = np.unique([(item.row_a, item.row_b) for item in items], return_inverse=True)
    columns = split.rows((*SCENE_COLUMNS, "visible"), rows)
    scenes, pictures = SceneBatch.of_columns(columns), at.reshape(len(items), 2).T
    proven = np.ones(len(items), dtype=bool)
    for own, name in enumerate(("target_a", "target_b")):
        programs = stored([encode(read_sentence(getattr(item, name))) for item in items])
        for shown, place in enumerate(pictures):
            values = evaluate(scenes, programs, columns["visible"], size, place)
            proven &= (values.state == KNOWN) & (values.answer == (own == shown))
    return [item for item, is_proven in zip(items, proven, strict=True) if not is_proven]


def read_sentence(text: str) -> Form:
    """The program of a sentence such as "The number of cars is 2." """
    subject, _, rest = text.rstrip(".").partition(" is ")
    form, _, _ = parse(ENTITIES, f"Is {subject} {rest}?")
    return form
