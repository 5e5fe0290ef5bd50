"""How much faster the matrix of perplexities is than the naive loop, which puts one relation into one phrase and scores that.

python benchmarks/spatial.py lstm:DIR CORPUS [CSV]: both are timed in turn on phrases of every context; a minute or two.
"""

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from simtown.probes.scorers import open_scorer
from simtown.probes.spatial import matrix, suites
from simtown.probes.spatial.relations import RELATIONS
from simtown.probes.spatial.sharing import sharing
from simtown.visualgenome.corpus import Corpus, vocabulary

#: Phrases of a context; texts that the naive loop scores, and frames that the matrix scores, in each of so many rounds.
MOST, NAIVE, FRAMES, ROUNDS = 100, 300, 150, 4


def main(model: str, corpus: Path, table: Path | None) -> None:
    common = vocabulary(Corpus(corpus).sentences(), 20)
    bins = suites.collect(Corpus(corpus).sentences(), common=common, most=MOST)
    phrases = int(bins.counts.sum())
    scorer = sharing(open_scorer(model))
    naive = open_scorer(model)._scorer
    generator = np.random.default_rng(0)
    rates: dict[str, list[float]] = {"naive": [], "matrix": []}
    begin = int(generator.integers(len(bins.frames) - ROUNDS * FRAMES))
    for number in range(ROUNDS):
        pairs = zip(generator.integers(len(bins.frames), size=NAIVE), generator.integers(len(RELATIONS), size=NAIVE), strict=True)
        texts = [suites.substitute(bins.frames[f], RELATIONS[r]) for f, r in pairs]
        started = perf_counter()
        for text in texts:
            naive.sequence_logprobs([text])
        rates["naive"].append(NAIVE / (perf_counter() - started))
        first = begin + number * FRAMES
        some = suites.Suites(bins.contexts, bins.frames[first : first + FRAMES], bins.counts[:, first : first + FRAMES], {}, 0, 0)
        with TemporaryDirectory() as place:
            started = perf_counter()
            matrix.score(scorer, some, RELATIONS, Path(place) / "scores.npy")
            # A frame stands for as many phrases as left it: the naive loop scores each of them.
            rates["matrix"].append(FRAMES * len(RELATIONS) * (phrases / len(bins.frames)) / (perf_counter() - started))
    rows = [(way, float(np.median(r)), float(min(r)), float(max(r))) for way, r in rates.items()]
    for way, middle, low, high in rows:
        print(f"{way:8} {middle:10,.0f} texts/s ({low:,.0f} to {high:,.0f})")
    print(f"{rows[1][1] / rows[0][1]:.1f} times; {phrases:,} phrases leave {len(bins.frames):,} frames")
    if table:
        with table.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("way", "texts_per_second", "low", "high"), *rows])


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) == 4 else None)
