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

from simtown.probes.corpus import Corpus, vocabulary
from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import perplexity, suites
from simtown.probes.spatial.lexicon import RELATIONS

#: Texts of a turn of the loop, frames of a turn of the matrix, and turns that count, after one that does not.
TEXTS, FRAMES, TURNS = 1_000, 300, 6


def naive(model: torch.nn.Module, tokenizer, texts: list[str]) -> list[float]:
    """Log-probability of each text without its end, one text at a time, as users of transformers do."""
    totals = []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            logprobs = model(input_ids=ids).logits.log_softmax(-1)
        totals.append(float(logprobs[0, :-2].gather(1, ids[0, 1:-1, None]).sum()))
    return totals


scorer, corpus = open_scorer(sys.argv[1]).uncached(), Path(sys.argv[2])
common = vocabulary(Corpus(corpus).sentences(), 20)
bins = suites.collect(Corpus(corpus).sentences(), common=common, most=100)
generator = np.random.default_rng(0)
phrases = bins.counts.sum() / len(bins.frames)  # a frame stands for as many, which the loop scores one by one
rates = []
for first in generator.permutation(len(bins.frames) // FRAMES)[: TURNS + 1] * FRAMES:
    frames = bins.frames[first : first + FRAMES]
    some = suites.Suites(bins.contexts, frames, bins.counts[:, first : first + FRAMES], {}, 0, 0)
    frame, relation = generator.integers(FRAMES, size=TEXTS), generator.integers(len(RELATIONS), size=TEXTS)
    texts = [suites.substitute(frames[f], RELATIONS[r]) for f, r in zip(frame, relation, strict=True)]
    begun = perf_counter()
    alone = naive(scorer.model, scorer.tokenizer, texts)
    between = perf_counter()
    with TemporaryDirectory() as place:
        together = perplexity.score(scorer, some, RELATIONS, Path(place) / "scores.npy")
    ended = perf_counter()
    np.testing.assert_allclose(together[frame, relation, 0], alone, rtol=1e-4, atol=1e-4)
    rates.append((TEXTS / (between - begun), FRAMES * len(RELATIONS) * phrases / (ended - between)))
loop, matrix = np.array(rates[1:]).T
rows: list[tuple] = [("way", "texts_per_second", "low", "high")]
for way, values in (("naive", loop), ("matrix", matrix), ("times", matrix / loop)):
    rows.append((way, float(np.median(values)), float(values.min()), float(values.max())))
    print(f"{way:8} {rows[-1][1]:10,.1f} ({rows[-1][2]:,.1f} to {rows[-1][3]:,.1f})")
if len(sys.argv) > 3:
    with open(sys.argv[3], "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
