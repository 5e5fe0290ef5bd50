"""What a run of the spatial study is made with, and the files of its directory of results."""

from __future__ import annotations

from dataclasses import dataclass

from simtown.core.options import option
from simtown.probes.study import StudySettings

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

    model: str = option(help="lstm:DIR, hf:ID-OR-DIR (causal or masked), ngram:CORPUS.")
    rare: int = option(20, "Phrases with a word that the corpus has less often are dropped.", low=1)
    least: int = option(10, "Contexts with fewer phrases are left out.", low=1)
    most: int = option(200, "Phrases of a context at most, drawn at random.", low=1)
    held_out: bool = option(False, "Only phrases that simtown lm train holds out.")
    seed: int = option(0, "Seed of the sample of phrases.", low=0)
