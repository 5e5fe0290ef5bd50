"""The paper's released matrices, embeddings, templates and ratings: from a clone of its repository, or from a
folder of tables of text.

The repository has the perplexities, the embeddings and the spatial templates as NumPy arrays. What people
said was never released: the tables of levels were read off the colours of the paper's figure. A folder may
lack parts; :attr:`SpatialRelease.missing` says which, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from simtown.core.files import DamagedError, inside, parse_json
from simtown.probes.release_files import ReleaseFiles, read_text
from simtown.probes.spatial.arrays import read_array, read_dictionary
from simtown.probes.spatial.relations import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.tables import NumberTable, read_table
from simtown.probes.spatial.vectors import Space, p_vectors

MATRIX, EMBEDDINGS, TEMPLATES = (
    "perplexity_97x97.tsv",
    "lm_embeddings_57x300.tsv.gz",
    "logan_sadler_templates.json",
)
SIMILARITY, ASSOCIATION, CELLS = (
    "amt_similarity_levels_12x12.tsv",
    "word_association_levels_12x12.tsv",
    "pvectors_67x57_derived.tsv",
)
_MODEL = "models/visual_genome_phrases"
#: The names that a clone's array of numbers leaves to a second array: of its rows and columns, and of its
#: rows.
_AXES, _WORDS = "words_contexts.npy", "spatial_lexicon.npy"

#: Where each part lies: as a table of text, and in a clone.
FILES = ReleaseFiles(
    "github.com/GU-CLASP/spatial_relations_vectors_sltc2018",
    {
        "perplexities": (MATRIX, f"{_MODEL}/perplexity_vectors.npy"),
        "embeddings": (EMBEDDINGS, f"{_MODEL}/embeddings.npy"),
        "templates": (TEMPLATES, "logan_sadler.npy"),
        "similarity": (SIMILARITY,),
        "association": (ASSOCIATION,),
        "P-vectors": (CELLS,),
    },
)

#: What the tables call some words that people judged.
_SAID = {"near to": "near", "away from": "away", "far from": "far"}
Part = TypeVar("Part")


@dataclass(frozen=True)
class SpatialRelease:
    """What was released; a part is None where the folder lacks it.

    Attributes:
        perplexities: 97 relations in 97 contexts, by token.
        embeddings: of the paper's language model, 57 single words (and sums of them).
        templates: {relation: (7, 7) float64 mean acceptability, 0 to 9}, Logan and Sadler's (1996).
        similarity: (11, 11) float64 of :data:`JUDGED`, symmetric, in levels 0 to 255 of the figure's colours.
        association: the same for word association.
        derived: P-vectors that whoever prepared the tables computed from the perplexities.
        missing: {part: why it is None}.
    """

    perplexities: NumberTable | None
    embeddings: Space | None
    templates: dict[str, np.ndarray] | None
    similarity: np.ndarray | None
    association: np.ndarray | None
    derived: NumberTable | None
    missing: dict[str, str]

    def p_vectors(self, whole: bool = False) -> Space | None:
        """P-vectors of Figure 3, or from all 97 by 97 perplexities (whole), where "next" stands for "next
        to".
        """
        if self.perplexities is None:
            return None
        if not whole:
            block = p_vectors(self.perplexities.block(RELATIONS, CONTEXTS))
            return Space("P", dict(zip(RELATIONS, block, strict=True)))
        space = dict(zip(self.perplexities.rows, p_vectors(self.perplexities.values), strict=True))
        return Space("P", space | {"next to": space["next"]})


def read(folder: Path) -> SpatialRelease:
    """Read what the folder has of the release.

    Raises:
        FileNotFoundError: it has nothing of it.
        DamagedError: a table of text is not what it should be; file and line are named. An array of a clone
            that is damaged counts as missing instead, for the published files are as they are: the message is
            in :attr:`SpatialRelease.missing`.
    """
    missing: dict[str, str] = {}

    def part(name: str, load: Callable[[Path], Part]) -> Part | None:
        path = FILES.find(folder, name)
        if path is None:
            never = (
                ""
                if len(FILES.places[name]) > 1
                else " (no clone has it: it was made from the paper's figure or from the perplexities)"
            )
            missing[name] = f"{folder} has no {' nor '.join(FILES.places[name])}{never}"
            return None
        try:
            return load(path)
        except DamagedError as error:
            if path.suffix != ".npy":
                raise
            missing[name] = str(error)
            return None

    release = SpatialRelease(
        perplexities=part("perplexities", _perplexities),
        embeddings=part("embeddings", _embeddings),
        templates=part("templates", _templates),
        similarity=part("similarity", _judged),
        association=part("association", _associated),
        derived=part("P-vectors", read_table),
        missing=missing,
    )
    if len(missing) == len(FILES.places) and not any(FILES.find(folder, name) for name in FILES.places):
        tables = ", ".join(places[0] for places in FILES.places.values())
        raise FileNotFoundError(
            f"{folder} has no part of the released spatial relations: give a clone of {FILES.repository}, "
            f"or a folder with {tables}"
        )
    return release


def _perplexities(path: Path) -> NumberTable:
    if path.suffix != ".npy":
        return read_table(path)
    values, axes = read_array(path), _beside(path, _AXES)
    if (
        values.ndim != 2
        or axes.shape != (2, len(values))
        or values.shape != (len(values),) * 2
        or values.dtype.kind != "f"
    ):
        wanted = f"a square of floats, and {_AXES} the names of its rows and columns, not {axes.shape}"
        raise DamagedError(f"{path}, {values.shape} {values.dtype}, must be {wanted}: fetch both again")
    rows, columns = (tuple(map(str, names)) for names in axes)
    return NumberTable(rows, columns, np.asarray(values, dtype=np.float64))


def _embeddings(path: Path) -> Space:
    if path.suffix == ".npy":
        values, words = read_array(path), _beside(path, _WORDS)
        if values.ndim != 2 or words.shape != values.shape[:1] or values.dtype.kind != "f":
            wanted = f"a row of floats for each of the {words.size} words in {_WORDS}"
            raise DamagedError(f"{path}, {values.shape} {values.dtype}, must be {wanted}: fetch both again")
        vectors = dict(zip(map(str, words), np.asarray(values, dtype=np.float64), strict=True))
    else:
        table = read_table(path, head=False)
        vectors = dict(zip(table.rows, table.values, strict=True))
    return Space("LM", vectors | ({"next to": vectors["next"]} if "next" in vectors else {}))


def _beside(path: Path, name: str) -> np.ndarray:
    """An array of words, in the folder of the array that it names the rows of."""
    beside = inside(path.parent, name)
    if not beside.is_file():
        raise DamagedError(f"{path} needs {name} beside it, which names its rows: fetch both again")
    words = read_array(beside)
    if words.dtype.kind != "U":
        raise DamagedError(f"{beside} must hold words, not {words.dtype}: fetch it again")
    return words


def _judged(path: Path) -> np.ndarray:
    """(11, 11) of :data:`JUDGED`."""
    table = read_table(path)
    named = NumberTable(
        tuple(_SAID.get(r, r) for r in table.rows),
        tuple(_SAID.get(c, c) for c in table.columns),
        table.values,
    )
    try:
        return named.block(JUDGED, JUDGED)
    except ValueError as error:
        raise DamagedError(f"{path}: {error}") from None


def _associated(path: Path) -> np.ndarray:
    """(11, 11): the mean of both directions, cue to response and back."""
    levels = _judged(path)
    mean: np.ndarray = (levels + levels.T) / 2
    return mean


def _templates(path: Path) -> dict[str, np.ndarray]:
    if path.suffix == ".npy":
        grids = read_dictionary(path)
    else:
        text = read_text(path)
        try:
            grids = {name: np.array(grid, dtype=np.float64) for name, grid in parse_json(text).items()}
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise DamagedError(f"{path} is damaged ({error}): fetch it again") from error
    if not grids or any(grid.shape != (7, 7) or not np.isfinite(grid).all() for grid in grids.values()):
        raise DamagedError(f"{path} must hold 7 by 7 numbers for each relation: fetch it again")
    named = {name.replace("_", " "): grid for name, grid in grids.items()}
    return {_SAID.get(name, name): grid for name, grid in named.items()}
