"""Spatial relations as vectors of perplexities: the study of Ghanimifard and Dobnik (2019).

`suites` collects contexts from a corpus, `perplexity` measures the matrix, `spaces`, `wordtests` and
`analyses` say what its vectors know, `spatial_study` is the study, `spatial_tables` has the paper's numbers
beside ours, `judge` asks people, `geometry` compares with the town's geometry.
"""

from dataclasses import dataclass

from simtown.core.options import option
from simtown.probes.study_settings import StudySettings, model_option

#: What summary.json calls the format.
FORM = "simtown spatial relations"
#: Files beside summary and picture: scores of phrases as they come; perplexities by token and by sentence;
#: vectors.
SCORES, MATRIX, SENTENCE = "scores.npy", "matrix.tsv", "matrix-sentence.tsv"
VECTORS, EMBEDDINGS = "p-vectors.tsv", "embeddings.tsv"
FILES = (SCORES, MATRIX, SENTENCE, VECTORS, EMBEDDINGS, "relations.svg")


@dataclass(frozen=True)
class SpatialSettings(StudySettings):
    """The settings of ``simtown probe spatial``."""

    model: str = model_option("lstm:DIR, hf:ID-OR-DIR (causal or masked), ngram:CORPUS.")
    rare: int = option(20, "Phrases with a word that the corpus has less often are dropped.", low=1)
    least: int = option(10, "Contexts with fewer phrases are left out.", low=1)
    most: int = option(200, "Phrases of a context at most, drawn at random.", low=1)
    held_out: bool = option(False, "Only phrases that simtown lm train holds out.")
    seed: int = option(0, "Seed of the sample of phrases.", low=0)
