"""The paper's released matrices, embeddings and ratings, as tab-separated tables in one folder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.files import DamagedError
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.vectors import Space, p_vectors

MATRIX, EMBEDDINGS, TEMPLATES = "perplexity_97x97.tsv", "lm_embeddings_57x300.tsv.gz", "logan_sadler_templates.json"
SIMILARITY, ASSOCIATION, CELLS = "amt_similarity_levels_12x12.tsv", "word_association_levels_12x12.tsv", "pvectors_67x57_derived.tsv"

#: What the tables call some words that people judged.
_SAID = {"near to": "near", "away from": "away", "far from": "far"}


@dataclass(frozen=True)
class Table:
    """A table with named rows and columns; values (n, m) float64."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: np.ndarray

    def block(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> np.ndarray:
        """(len(rows), len(columns)) values. Raises ValueError for a name that it has not."""
        missing = [r for r in rows if r not in self.rows] + [c for c in columns if c not in self.columns]
        if missing:
            raise ValueError(f"the table has no '{missing[0]}'")
        return self.values[np.ix_([self.rows.index(r) for r in rows], [self.columns.index(c) for c in columns])]


@dataclass(frozen=True)
class Release:
    """What was released.

    Attributes:
        perplexities: 97 relations in 97 contexts, by token. embeddings: of the paper's language model, 57 single words (and sums of
        them). templates: {relation: (7, 7) float64 mean acceptability, 0 to 9}, Logan and Sadler's (1996).
        similarity, association: (11, 11) float64 of :data:`JUDGED`, symmetric, in levels 0 to 255 of the figures' colours.
    """

    perplexities: Table
    embeddings: Space
    templates: dict[str, np.ndarray]
    similarity: np.ndarray
    association: np.ndarray

    def p_vectors(self, whole: bool = False) -> Space:
        """P-vectors of Figure 3, or from all 97 by 97 perplexities (whole), where "next" stands for "next to"."""
        if not whole:
            block = p_vectors(self.perplexities.block(RELATIONS, CONTEXTS))
            return Space("P", dict(zip(RELATIONS, block, strict=True)))
        space = dict(zip(self.perplexities.rows, p_vectors(self.perplexities.values), strict=True))
        return Space("P, 97 contexts", space | {"next to": space["next"]})


def read(folder: Path) -> Release:
    """Read the folder's tables.

    Raises FileNotFoundError: a table is not there. DamagedError: a table is not what it should be; file and line are named.
    """
    embeddings = read_table(folder / EMBEDDINGS, head=False)
    vectors = dict(zip(embeddings.rows, embeddings.values, strict=True))
    people = [_judged(read_table(folder / name), folder / name) for name in (SIMILARITY, ASSOCIATION)]
    lm = Space("LM", vectors | ({"next to": vectors["next"]} if "next" in vectors else {}))
    return Release(read_table(folder / MATRIX), lm, _templates(folder / TEMPLATES), people[0], (people[1] + people[1].T) / 2)


def read_table(path: Path, *, head: bool = True) -> Table:
    """A tab-separated table, plain or .gz: names in the first column and, with a head, the first row. See :func:`read` for errors."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: give the folder of the released spatial relations")
    columns: tuple[str, ...] | None = None
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(_lines(path), start=1):
        name, *cells = line.rstrip("\r\n").split("\t")
        if head and number == 1:
            columns = tuple(cells)
            continue
        columns = columns or tuple(str(i) for i in range(len(cells)))
        try:
            rows[name] = [float(cell) for cell in cells]
            if len(cells) != len(columns) or not np.isfinite(rows[name]).all():
                raise ValueError
        except ValueError:
            raise DamagedError(f"{path} line {number}: expected a name and {len(columns)} numbers, not '{line.strip()[:40]}…'") from None
    if not rows or not columns:
        raise DamagedError(f"{path} holds no table")
    return Table(tuple(rows), columns, np.array(list(rows.values())))


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedError(f"{path} is damaged ({error})") from error


def _judged(table: Table, path: Path) -> np.ndarray:
    """(11, 11) of :data:`JUDGED`."""
    named = Table(tuple(_SAID.get(r, r) for r in table.rows), tuple(_SAID.get(c, c) for c in table.columns), table.values)
    try:
        return named.block(JUDGED, JUDGED)
    except ValueError as error:
        raise DamagedError(f"{path}: {error}") from None


def _templates(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: give the folder of the released spatial relations")
    try:
        read = {
            name.replace("_", " "): np.array(grid, dtype=np.float64) for name, grid in json.loads(path.read_text(encoding="utf-8")).items()
        }
    except (ValueError, AttributeError) as error:
        raise DamagedError(f"{path} is damaged ({error})") from error
    if not read or any(grid.shape != (7, 7) for grid in read.values()):
        raise DamagedError(f"{path} must hold relations with 7 by 7 numbers each")
    return {_SAID.get(name, name): grid for name, grid in read.items()}
