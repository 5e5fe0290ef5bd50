"""The proof of minimal pairs of words: each target, read back, is true of its own picture alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.datasets.reading.reader import SCENE_COLUMNS, Dataset, Split
from simtown.datasets.word_pairs import WordPair, first_rows, word_pairs
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.programs import encode, stored
from simtown.language.words.grammar import parse
from simtown.scenes.scene import SceneBatch

#: Groups of twins of a split whose items are read back at most, and problems that have a line each.
GROUPS, LINES = 2_000, 5


def prove_pairs(dataset: Dataset) -> tuple[int, list[str]]:
    """The number of a data set's items that were read back, and a line for each of the first wrong ones."""
    size, count, wrong = (dataset.settings.width, dataset.settings.height), 0, list[str]()
    for name in dataset.splits:
        split = dataset[name]
        rows = first_rows(split)[:GROUPS] if len(split) else np.zeros(0, dtype=int)
        if items := [*word_pairs(split, rows, name, size)]:
            count += len(items)
            for item in wrong_pairs(split, items, size):
                wrong.append(
                    f"{name}, group {item.group}: '{item.target_a}' is not true of one picture alone"
                )
    return count, wrong[:LINES]


def wrong_pairs(split: Split, items: Sequence[WordPair], size: tuple[int, int]) -> list[WordPair]:
    """The items of which a target is not true of its own picture alone.

    Args:
        split: that has the pictures.
        items: of :func:`simtown.datasets.word_pairs.word_pairs`, at least one.
        size: width and height of the pictures.
    """
    rows, at = np.unique([(item.row_a, item.row_b) for item in items], return_inverse=True)
    columns, pictures = split.rows((*SCENE_COLUMNS, "visible"), rows), at.reshape(-1, 2).T
    scenes, proven = SceneBatch.of_columns(columns), np.ones(len(items), dtype=bool)
    for own in (0, 1):
        programs = stored([_read(str(item[2 + own])) for item in items])
        for shown, place in enumerate(pictures):
            values = evaluate(scenes, programs, columns["visible"], size, place)
            proven &= (values.state == KNOWN) & (values.answer == (own == shown))
    return [item for item, is_proven in zip(items, proven, strict=True) if not is_proven]


def _read(text: str) -> list[int]:
    """The program of a sentence such as "The number of cars is 2." """
    subject, _, rest = text.rstrip(".").partition(" is ")
    return encode(parse(ENTITIES, f"Is {subject} {rest}?")[0])
