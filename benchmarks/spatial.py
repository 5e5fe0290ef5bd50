"""How much faster the matrix of perplexities is than the loop that anyone would write: a relation into a
phrase, that through the model.

    python benchmarks/spatial.py lstm:DIR CORPUS [CSV]: both take turns on the paper's test suites, and
        must agree; under three minutes.
"""

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch

from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import matrix, suites
from simtown.probes.spatial.relations import RELATIONS
from simtown.text.corpus import Corpus, vocabulary

#: Phrases of a context at most. In a turn the loop scores so many texts, and the matrix so many frames with
#: all relations: seconds each.
MOST, TEXTS, FRAMES = 100, 1_000, 300
#: Turns that count, after one that does not.
TURNS = 6


def naive(model, tokenizer, texts: list[str]) -> list[float]:
    """Log-probability of each text without its end, one text at a time, as users of transformers do."""
    found = []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            told = model(input_ids=ids).logits.log_softmax(-1)
        found.append(float(told[0, :-2].gather(1, ids[0, 1:-1, None]).sum()))
    return found


def main(name: str, corpus: Path, table: Path | None) -> None:
    common = vocabulary(Corpus(corpus).sentences(), 20)
    bins = suites.collect(Corpus(corpus).sentences(), common=common, most=MOST)
    scorer = open_scorer(name)
    generator = np.random.default_rng(0)
    # A frame stands for as many phrases as left it: the loop has to score each of them.
    phrases = bins.counts.sum() / len(bins.frames)
    rates: list[tuple[float, float]] = []
    for first in generator.permutation(len(bins.frames) // FRAMES)[: TURNS + 1] * FRAMES:
        some = suites.Suites(
            bins.contexts,
            bins.frames[first : first + FRAMES],
            bins.counts[:, first : first + FRAMES],
            {},
            0,
            0,
        )
        frame, relation = (
            generator.integers(FRAMES, size=TEXTS),
            generator.integers(len(RELATIONS), size=TEXTS),
        )
        texts = [
            suites.substitute(some.frames[f], RELATIONS[r]) for f, r in zip(frame, relation, strict=True)
        ]
        begun = perf_counter()
        alone = naive(scorer.model, scorer.tokenizer, texts)
        between = perf_counter()
        with TemporaryDirectory() as place:
            together = matrix.score(scorer, some, RELATIONS, Path(place) / "scores.npy")
        ended = perf_counter()
        np.testing.assert_allclose(together[frame, relation, 0], alone, rtol=1e-4, atol=1e-4)
        rates.append((TEXTS / (between - begun), FRAMES * len(RELATIONS) * phrases / (ended - between)))
    counted = np.array(rates[1:])
    rows = [
        ("naive", *_spread(counted[:, 0])),
        ("matrix", *_spread(counted[:, 1])),
        ("times", *_spread(counted[:, 1] / counted[:, 0])),
    ]
    for way, middle, low, high in rows:
        print(f"{way:8} {middle:10,.1f} ({low:,.1f} to {high:,.1f})")
    print(
        f"texts a second, and times faster: medians of {TURNS} turns, least and most; "
        f"{phrases:.2f} phrases leave the same frame"
    )
    if table:
        with table.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("way", "texts_per_second", "low", "high"), *rows]
            )


def _spread(values: np.ndarray) -> tuple[float, float, float]:
    return float(np.median(values)), float(values.min()), float(values.max())


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) == 4 else None)
