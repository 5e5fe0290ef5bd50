"""The paper's released matrices, embeddings, templates and ratings: from a clone, or from tables of text.

The repository has the perplexities and embeddings as NumPy arrays, and the spatial templates as a pickle,
which simtown does not read. What people said was never released: the tables of levels were read off the
colours of the paper's figure. A folder may lack parts; :attr:`SpatialRelease.missing` says which.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.untrusted import load_array, parse_json
from simtown.probes.release_files import ReleaseFiles, parsing, read_text
from simtown.probes.spatial.lexicon import CONTEXTS, JUDGED, RELATIONS
from simtown.probes.spatial.spaces import NumberTable, Vectors, p_vectors, read_table

_MODEL = "models/visual_genome_phrases"
#: Where each part lies: as a table of text, and in a clone.
FILES = ReleaseFiles(
    "github.com/GU-CLASP/spatial_relations_vectors_sltc2018",
    {
        "perplexities": ("perplexity_97x97.tsv", f"{_MODEL}/perplexity_vectors.npy"),
        "embeddings": ("lm_embeddings_57x300.tsv.gz", f"{_MODEL}/embeddings.npy"),
        "templates": ("logan_sadler_templates.json",),
        "similarity": ("amt_similarity_levels_12x12.tsv",),
        "association": ("word_association_levels_12x12.tsv",),
        "P-vectors": ("pvectors_67x57_derived.tsv",),
    },
)
#: What the tables call some words that people judged.
_SAID = {"near to": "near", "away from": "away", "far from": "far"}


@dataclass(frozen=True)
class SpatialRelease:
    """What was released; a part is None where the folder lacks it.

    Attributes:
        perplexities: 97 relations in 97 contexts, by token.
        embeddings: of the paper's language model, 57 single words (and sums of them).
        templates: (7 · 7,) mean acceptability of each relation by place, 0 to 9, Logan and Sadler's (1996).
        similarity: (11, 11) float64 of :data:`JUDGED`, symmetric, in levels 0 to 255 of the figure's colours.
        association: the same for word association, the mean of both directions, cue to response and back.
        derived: P-vectors that whoever prepared the tables computed from the perplexities.
        missing: {part: why it is None}.
    """

    perplexities: NumberTable | None
    embeddings: Vectors | None
    templates: Vectors | None
    similarity: np.ndarray | None
    association: np.ndarray | None
    derived: NumberTable | None
    missing: dict[str, str]

    def p_vectors(self, whole: bool = False) -> Vectors | None:
        """P-vectors of Figure 3, or from all 97 by 97 perplexities (whole), where "next" is "next to"."""
        if self.perplexities is None:
            return None
        if whole:
            rows, perplexities = self.perplexities.rows, self.perplexities.values
        else:
            rows, perplexities = RELATIONS, self.perplexities.block(RELATIONS, CONTEXTS)
        vectors = dict(zip(rows, p_vectors(perplexities), strict=True))
        return vectors | {"next to": vectors["next"]} if whole else vectors


def read(folder: Path) -> SpatialRelease:
    """Read what the folder has of the release; FileNotFoundError if it has nothing."""
    missing: dict[str, str] = {}

    def part(name: str, load: Callable[[Path], Any]) -> Any:
        path = FILES.find(folder, name)
        if path is None:
            places = FILES.places[name]
            never = "" if len(places) > 1 else " (which no clone has in a form that is read)"
            missing[name] = f"{folder} has no {' nor '.join(places)}{never}"
            return None
        with parsing(path):
            return load(path)

    release = SpatialRelease(
        perplexities=part("perplexities", _perplexities),
        embeddings=part("embeddings", _embeddings),
        templates=part("templates", _templates),
        similarity=part("similarity", _judged),
        association=part("association", lambda path: (_judged(path) + _judged(path).T) / 2),
        derived=part("P-vectors", read_table),
        missing=missing,
    )
    if len(missing) == len(FILES.places):
        files = ", ".join(places[0] for places in FILES.places.values())
        give = f"give a clone of {FILES.repository}, or a folder with {files}"
        raise FileNotFoundError(f"{folder} has no part of the released spatial relations: {give}")
    return release


def _perplexities(path: Path) -> NumberTable:
    if path.suffix != ".npy":
        return read_table(path)
    values = load_array(path, follow=False)
    rows, columns = load_array(path.parent / "words_contexts.npy", follow=False).tolist()
    return NumberTable(tuple(rows), tuple(columns), values.reshape(len(rows), len(columns)).astype(float))


def _embeddings(path: Path) -> Vectors:
    if path.suffix == ".npy":
        words = load_array(path.parent / "spatial_lexicon.npy", follow=False).tolist()
        vectors = dict(zip(words, load_array(path, follow=False).astype(np.float64), strict=True))
    else:
        vectors = read_table(path, head=False).vectors()
    return vectors | ({"next to": vectors["next"]} if "next" in vectors else {})


def _judged(path: Path) -> np.ndarray:
    """(11, 11) of :data:`JUDGED`."""
    table = read_table(path)
    rows, columns = (tuple(_SAID.get(n, n) for n in names) for names in (table.rows, table.columns))
    return NumberTable(rows, columns, table.values).block(JUDGED, JUDGED)


def _templates(path: Path) -> Vectors:
    grids = {name.replace("_", " "): grid for name, grid in dict(parse_json(read_text(path))).items()}
    return {_SAID.get(name, name): np.array(grid, dtype=float).reshape(7 * 7) for name, grid in grids.items()}
