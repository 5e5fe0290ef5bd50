"""Distributions that simtown mined: a directory of Parquet tables, written once and read as data of the
study.

================
=====================================================================================================================
file             content
================ ========================================================================================
mined.json       where it was counted and how, the classes of each relation, versions
TASK.parquet     one row a subject: subject, train (bool), gold and other (class names), group_paper,
                 group_release; classes and counts (lists: numbers of classes that were seen, how often)
size.parquet     relation (larger, smaller), subject, object, train: pairs of the nouns of Table 8
================ ========================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from simtown.core.columns import FLAG, INTEGERS, NUMBERS, TEXT, read_table
from simtown.core.files import DamagedError, claimed, clear_leftovers, replacing
from simtown.core.runs import RunRecord, require_empty
from simtown.core.version import __version__
from simtown.probes.items import ItemSet, grouped
from simtown.probes.release_files import understood
from simtown.probes.visual.classes import RELATIONS, SIZES
from simtown.probes.visual.templates import TEMPLATES

NAME = "mined.json"
RECORD = RunRecord(
    NAME,
    "simtown mined visual commonsense",
    "simtown probe visual mine",
    frozenset({NAME, "size.parquet", *(f"{relation}.parquet" for relation in (*RELATIONS, "cooccurrence"))}),
    schema=1,
    what="mined data",
)
#: Values of a table at most, and cells of subjects by classes: the paper's co-occurrence has 2,108 by 2,108,
#: few of which are not zero.
MOST_CELLS = 50_000_000

_COLUMNS = {
    "subject": TEXT,
    "train": FLAG,
    "gold": TEXT,
    "other": TEXT,
    "classes": INTEGERS,
    "counts": NUMBERS,
}


def split(n: int, seed: int | None) -> np.ndarray:
    """(n,) bool, four fifths of them train.

    Without a seed as released: by the running number, 8 of every 10 from the first.
    """
    if seed is None:
        return np.arange(n) % 10 < 8
    train = np.zeros(n, dtype=bool)
    train[np.random.default_rng(seed).permutation(n)[: round(0.8 * n)]] = True
    return train


def others(counts: np.ndarray, seed: int) -> np.ndarray:
    """(n,) int64: for each row a class at or below its median, drawn at random, to choose against."""
    weight = np.where(
        counts <= np.median(counts, axis=1, keepdims=True),
        np.random.default_rng(seed).random(counts.shape),
        -1.0,
    )
    weight[np.arange(len(counts)), counts.argmax(axis=1)] = -2.0
    return weight.argmax(axis=1)


def size_pairs(seed: int, pairs: int = 2_000) -> dict[str, list[Any]]:
    """Pairs of nouns of different sizes (section 3.1), drawn without repeats, half the rows for each
    relation.
    """
    nouns = [(noun, i) for i, names in enumerate(SIZES.values()) for noun in names]
    all_pairs = [(a, b) for a, i in nouns for b, j in nouns if i > j]  # a is larger than b
    order = np.random.default_rng(seed).permutation(len(all_pairs))[:pairs]
    drawn = [all_pairs[i] for i in order]
    train = split(len(drawn), seed).tolist()
    return {
        "relation": ["larger"] * len(drawn) + ["smaller"] * len(drawn),
        "subject": [a for a, _ in drawn] + [b for _, b in drawn],
        "object": [b for _, b in drawn] + [a for a, _ in drawn],
        "train": train * 2,
    }


def write(
    out: Path,
    tables: dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]],
    origin: dict[str, Any],
    seed: int | None,
) -> dict[str, Any]:
    """Write the directory, mined.json last; its content.

    Args:
        out: the directory.
        tables: {relation: (classes, subjects, (n, c) counts)}.
        origin: how the counts were made.
        seed: of the split, None as released.

    Raises:
        ForeignDirectoryError: the directory has anything in it.
    """
    with claimed(out, RECORD.command):
        clear_leftovers(out, RECORD.owned.__contains__)
        require_empty(out)
        content: dict[str, Any] = {
            "format": RECORD.form,
            "schema": RECORD.schema,
            "version": __version__,
            "seed": seed,
            "told": origin,
            "relations": {},
        }
        for relation, (classes, subjects, counts) in tables.items():
            gold, other, train = counts.argmax(axis=1), others(counts, seed or 0), split(len(subjects), seed)
            nonzero = [np.flatnonzero(row) for row in counts]
            rows = {
                "subject": list(subjects),
                "train": train,
                "gold": [classes[i] for i in gold],
                "other": [classes[i] for i in other],
                "group_paper": grouped(counts, "paper"),
                "group_release": grouped(counts, "release"),
                "classes": nonzero,
                "counts": [row[i] for row, i in zip(counts, nonzero, strict=True)],
            }
            with replacing(out / f"{relation}.parquet") as temporary:
                pq.write_table(pa.table(rows), temporary)
            content["relations"][relation] = {
                "classes": list(classes),
                "subjects": len(subjects),
                "counted": float(counts.sum()),
            }
        with replacing(out / "size.parquet") as temporary:
            pq.write_table(pa.table(size_pairs(seed or 0)), temporary)
        RECORD.save(out, content)
        return content


class Mined:
    """A directory that :func:`write` made.

    Raises:
        DamagedError: the record cannot be read.
        ForeignDirectoryError: something else made the directory.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / NAME
        self.content: dict[str, Any] = RECORD.load(folder)
        relations = self.content.get("relations")
        if not isinstance(relations, dict) or not set(relations) <= {*RELATIONS, "cooccurrence"}:
            raise DamagedError(f"{path} is damaged: it lists no relations of the study; mine again")
        for entry in relations.values():
            classes = entry.get("classes") if isinstance(entry, dict) else None
            if not isinstance(classes, list) or not classes or not all(isinstance(c, str) for c in classes):
                raise DamagedError(f"{path} is damaged: a relation has no list of classes; mine again")

    def tasks(self) -> tuple[str, ...]:
        """Relations that it has, and size."""
        return (*self.content["relations"], "size")

    def counts(self, relation: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Subjects and their (n, c) float64 counts.

        Raises:
            DamagedError: the relation's file is damaged.
        """
        return self._counts(relation, self._rows(relation))

    def _counts(self, relation: str, rows: pa.Table) -> tuple[tuple[str, ...], np.ndarray]:
        wide = len(self.content["relations"][relation]["classes"])
        lengths, others = (pc.list_value_length(rows[name]).to_numpy() for name in ("classes", "counts"))
        column, times = (pc.list_flatten(rows[name]).to_numpy() for name in ("classes", "counts"))
        if (
            not np.array_equal(lengths, others)
            or not ((column >= 0) & (column < wide)).all()
            or not (np.isfinite(times) & (times >= 0)).all()
        ):
            raise DamagedError(
                f"{self.folder}: the counts of {relation} are not one for each class that is named; mine "
                "again"
            )
        if not 0 < rows.num_rows * wide <= MOST_CELLS:
            raise DamagedError(
                f"{self.folder}: {relation} has {rows.num_rows:,} subjects of {wide:,} classes, which is "
                "none or too many"
            )
        counts = np.zeros((rows.num_rows, wide))
        counts[np.repeat(np.arange(rows.num_rows), lengths), column] = times
        if not counts.any(axis=1).all():
            raise DamagedError(f"{self.folder}: a subject of {relation} was never counted; mine again")
        return tuple(rows["subject"].to_pylist()), counts

    def dataset(self, relation: str) -> ItemSet:
        """The items of a relation.

        Raises:
            ValueError: the relation was not mined.
            DamagedError: a file of it is damaged.
        """
        rows = self._rows(relation)
        classes = tuple(self.content["relations"][relation]["classes"])
        number = {c: i for i, c in enumerate(classes)}
        subjects, counts = self._counts(relation, rows)
        train = rows["train"].to_numpy()
        if not 0 < train.sum() < len(train):
            raise DamagedError(
                f"{self.folder}: {relation} has no subjects to train on, or none to test with; mine more"
            )
        with understood(self.folder / NAME, "mine again"):
            gold, other = (
                np.array([number[c] for c in rows[name].to_pylist()], dtype=np.int64)
                for name in ("gold", "other")
            )
            words = tuple(RELATIONS[relation].words[c] if relation in RELATIONS else (c,) for c in classes)
        return ItemSet(relation, classes, words, subjects, gold, other, train, counts, TEMPLATES[relation])

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """Nouns by size, Table 8's."""
        return SIZES

    def templates(self, relation: str) -> tuple[str, ...]:
        """Our own."""
        return TEMPLATES[relation]

    def _rows(self, relation: str) -> pa.Table:
        if relation not in self.content["relations"]:
            raise ValueError(f"{self.folder} has no {relation}: it has {', '.join(self.tasks())}")
        try:
            return read_table(self.folder / f"{relation}.parquet", _COLUMNS)
        except (DamagedError, OSError) as error:
            raise DamagedError(f"{error}: mine again") from error
