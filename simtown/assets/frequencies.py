"""Counts of each entity as subject and as object: the marginals of a data set's vehicles."""

from __future__ import annotations

import csv
import math
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from os.path import isfile
from pathlib import Path

import numpy as np

from simtown.core.tables import read_rows


@lru_cache(maxsize=1)
def table() -> tuple[tuple[str, int, int], ...]:
    """Visual Genome's 150 most common entities, most common first: (name, count as subject, as object)."""
    lines = files("simtown.assets").joinpath("entities150.csv").read_text(encoding="utf-8").splitlines()
    rows = csv.reader(line for line in lines[1:] if not line.startswith("#"))
    return tuple((name, int(s), int(o)) for name, s, o in rows)


def frequencies(choice: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Subject and object probabilities of the k most common entities: two (k,) float64, each summing to 1.

    Args:
        choice: "vg" (Visual Genome), "uniform", "zipf:S" (rank to the power of -S), or a CSV file with the
            header ``entity,subject,object`` and at least k rows of counts.
        k: how many entities.

    Raises:
        ValueError: the choice is none of these, or its counts are too few, negative or all zero.
        OSError: the file cannot be read.
    """
    if choice == "uniform":
        counts = np.ones((k, 2))
    elif choice == "vg":
        counts = _first(np.array([row[1:] for row in table()], dtype=np.float64), k, "`frequencies=vg`")
    elif choice.startswith("zipf:"):
        counts = np.repeat(_zipf(choice.removeprefix("zipf:"), k)[:, None], 2, axis=1)
    elif isfile(choice):  # pathlib's raises an error for a name that is too long
        counts = _first(_read(Path(choice)), k, choice)
    else:
        raise ValueError(f"unknown frequencies '{choice}': use vg, uniform, zipf:S or an existing CSV file")
    subject, obj = (_portable(c) for c in counts.T)
    return subject, obj


def _portable(counts: np.ndarray) -> np.ndarray:
    total = np.cumsum(counts)[-1]  # one after the other, whatever the processor
    if not np.isfinite(total) or (counts < 0).any() or total <= 0:
        raise ValueError("frequencies must be finite, not negative, and not all zero")
    return counts / total


def _first(counts: np.ndarray, k: int, source: str) -> np.ndarray:
    if len(counts) < k:
        raise ValueError(f"{source} lists {len(counts)} entities, fewer than `entities={k}`")
    return counts[:k]


def _zipf(power: str, k: int) -> np.ndarray:
    try:
        s = float(power)
    except ValueError:
        s = float("nan")
    if not 0 <= s <= 10:
        raise ValueError(f"zipf:{power} is not a power between 0 and 10, such as zipf:1")
    # rounded, as powers differ in the last bit between processors
    return np.array([round(rank**-s, 12) for rank in range(1, k + 1)])


def _read(path: Path) -> np.ndarray:
    counts = []
    for where, cells in read_rows(path, ("subject", "object")):
        for column in ("subject", "object"):
            count = math.nan
            with suppress(ValueError):
                count = float(cells[column])
            if not 0 <= count < math.inf:
                wrong = f"'{cells[column][:40]}' is not a finite number of at least 0"
                raise ValueError(f"{where}, column {column}: {wrong}")
            counts.append(count)
    return np.array(counts).reshape(-1, 2)
