"""Frequencies of kinds and paints: the tables that settings name."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simtown.assets.frequencies import frequencies
from simtown.datasets.addresses import TESTS
from simtown.scenes.paint import paint_frequencies

if TYPE_CHECKING:
    from simtown.datasets.settings import Settings

#: The digest of a table behind the name of its CSV file, as a manifest has it.
_TABLE = re.compile(r" \(table [0-9a-f]{6}\)$")


class Tables(NamedTuple):
    """Resolved frequencies, float64: of the subjects and objects of train and val, in the order of
    :attr:`Settings.kinds`, and of the paints of every split, empty if every kind keeps its own.
    """

    subject: np.ndarray
    object: np.ndarray
    paint: np.ndarray


def tables_of(settings: Settings, uniform: bool = False) -> Tables:
    """All frequencies, as chosen, or `uniform` ones of entities.

    Raises ValueError or OSError if there is no such table.
    """

    def kept(name: str) -> np.ndarray:
        return np.array((settings.kept or {}).get(name, ()), dtype=np.float64)

    if not uniform and _TABLE.search(settings.frequencies):
        subject, obj = kept("subject"), kept("object")
        if not len(subject) == len(obj) == settings.entities:
            counts = f"{settings.frequencies} has frequencies of {len(subject)} entities"
            raise ValueError(f"{counts}, not of `entities={settings.entities}`")
    else:
        choice = "uniform" if uniform else settings.frequencies
        subject, obj = frequencies(choice, settings.entities)
    paint = kept("paint") if _TABLE.search(settings.paint) else paint_frequencies(settings.paint)
    return Tables(subject, obj, paint)


def chances_of(settings: Settings, split: str) -> Tables:
    """Chances of every kind by catalogue number, and of paints: as chosen, or uniform to test.

    Absent kinds have chance 0.
    """
    tables = tables_of(settings, uniform=split in TESTS)
    chances = np.zeros((2, max(settings.kinds) + 1))
    chances[:, list(settings.kinds)] = tables.subject, tables.object
    subject, obj = chances
    return Tables(subject, obj, tables.paint)


def file_name(choice: str) -> str:
    """The name of a CSV file of frequencies, without folders and without the digest of its table."""
    return _TABLE.sub("", choice).replace("\\", "/").rstrip("/").rpartition("/")[2]


def named_table(choice: str, *tables: list[float]) -> str:
    """The name of a table of frequencies with a digest: "counts.csv (table 3f2a61)"."""
    text = "".join(",".join(map(str, table)) for table in tables)
    return f"{file_name(choice)} (table {hashlib.sha256(text.encode()).hexdigest()[:6]})"
