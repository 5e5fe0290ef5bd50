"""The paper's released matrices, embeddings and ratings, as tab-separated tables in one folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simtown.files import DamagedError
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.tables import Table, read_table
from simtown.probes.spatial.vectors import Space, p_vectors

MATRIX, EMBEDDINGS, TEMPLATES = "perplexity_97x97.tsv", "lm_embeddings_57x300.tsv.gz", "logan_sadler_templates.json"
SIMILARITY, ASSOCIATION, CELLS = "amt_similarity_levels_12x12.tsv", "word_association_levels_12x12.tsv", "pvectors_67x57_derived.tsv"

#: What the tables call some words that people judged.
_SAID = {"near to": "near", "away from": "away", "far from": "far"}


@dataclass(frozen=True)
class Release:
    """What was released.

    Attributes:
        perplexities: 97 relations in 97 contexts, by token.
        embeddings: of the paper's language model, 57 single words (and sums of them).
        templates: {relation: (7, 7) float64 mean acceptability, 0 to 9}, Logan and Sadler's (1996).
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
