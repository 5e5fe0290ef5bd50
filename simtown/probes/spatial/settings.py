"""What a run of the spatial study is made with, and the files of its directory of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from simtown.probes.study import Option, StudySettings

RUN, SCORES, SUMMARY, FORMAT = "run.json", "scores.npy", "summary", "simtown spatial relations"
MATRIX, SENTENCE, VECTORS = "matrix.tsv", "matrix-sentence.tsv", "p-vectors.tsv"
EMBEDDINGS, FIGURE = "embeddings.tsv", "figure3"
#: Names of the files.
OWNED = frozenset(
    {
        *(RUN, SCORES, MATRIX, SENTENCE, VECTORS, EMBEDDINGS),
        *(f"{SUMMARY}.{end}" for end in ("json", "md")),
        *(f"{FIGURE}.{end}" for end in ("png", "svg")),
    }
)


@dataclass(frozen=True)
class SpatialSettings(StudySettings):
    """Every choice that decides the numbers, besides the corpus.

    Attributes:
        model: how the scorer is opened.
        rare: phrases with a word that the corpus has less often are dropped.
        least: contexts with fewer phrases are left out.
        most: phrases of a context at most.
        held_out: only phrases that simtown lm train holds out.
        seed: of the sample of phrases.
    """

    model: Annotated[str, Option("lstm:DIR, hf:ID-OR-DIR (causal or masked), ngram:CORPUS.")]
    rare: Annotated[int, Option("Phrases with a word that the corpus has less often are dropped.")] = 20
    least: Annotated[int, Option("Contexts with fewer phrases are left out.")] = 10
    most: Annotated[int, Option("Phrases of a context at most, drawn at random.")] = 200
    held_out: Annotated[bool, Option("Only phrases that simtown lm train holds out.")] = False
    seed: Annotated[int, Option("Seed of the sample of phrases.")] = 0

    def check(self) -> None:
        """Raises ValueError if a value is out of range."""
        for name, low in (("rare", 1), ("least", 1), ("most", 1), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} must be at least {low}, not {getattr(self, name)}")
