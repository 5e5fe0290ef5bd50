"""What a frame and an example cost here against another checkout of simtown, in pairs.

    python benchmarks/against.py CHECKOUT [--size 128] [--rounds 15]

Two processes, one for each checkout, draw 1,000 scenes of the default world (colour alone, and with depth
and ids) and sample 512 examples of each world, in turns on one thread: each round has its own ratio, so that
what else the machine does weighs on both. Processor time alone is counted. Last, this checkout samples
batches of 128 with one thread and with two, as `simtown fit --stream` does. Rows go to
benchmarks/results/against.csv (drawing) and sampling.csv.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from machine import RESULTS, Rows, machine, options

HERE = Path(__file__).parents[1]
#: Worlds that are sampled: the settings beside the default ones.
WORLDS = {
    "default": {},
    "distractor": {"distractor": True},
    "all relations": {"relations": ("left of", "right of", "in front of", "behind")},
}
DRAWN = ("colour", "colour, depth and ids")
#: Answers a line "draw 0", "draw 1" (with geometry) or "sample WORLD" with microseconds of processor time a
#: frame or an example, and "batches WORLD THREADS" with examples a second and processor milliseconds a batch.
WORKER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.raster import Raster
size, raster = int(sys.argv[1]), Raster()
recipes = [Settings(**options).recipe("train") for options in eval(sys.argv[2])]
scenes = [sample(recipes[0], np.arange(start, start + 250)).scene for start in range(0, 1000, 250)]
def draw(geometry):
    for batch in scenes:
        raster.render(batch, size, size, bool(geometry))
    return (time.process_time() - used) / 1000 * 1e6,
def examples(world):
    sample(recipes[world], np.arange(512))
    return (time.process_time() - used) / 512 * 1e6,
def batches(world, threads):
    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda i: sample(recipes[world], np.arange(128 * i, 128 * (i + 1))), range(24)))
    return 128 * 24 / (time.perf_counter() - begun), (time.process_time() - used) / 24 * 1e3
for line in sys.stdin:
    what, *numbers = line.split()
    used = time.process_time()
    print(*{"draw": draw, "sample": examples, "batches": batches}[what](*map(int, numbers)), flush=True)
"""


class Worker:
    """A process with the simtown of one checkout."""

    def __init__(self, checkout: Path, size: int) -> None:
        one_thread = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(size), repr(list(WORLDS.values()))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | one_thread | {"PYTHONPATH": str(checkout)},
            cwd=checkout,
        )

    def ask(self, *words: object) -> list[float]:
        """What WORKER answers. Raises SystemExit if the process has ended."""
        assert self._process.stdin
        assert self._process.stdout
        print(*words, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("a checkout cannot do this: its own message is above")
        return [float(word) for word in answer.split()]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def compared(other: Worker, here: Worker, rounds: int, *words: object) -> tuple[list[float], list[float]]:
    """Microseconds there and here, of every round after the first."""
    pairs = [(other.ask(*words)[0], here.ask(*words)[0]) for _ in range(rounds + 1)][1:]
    return [there for there, _ in pairs], [own for _, own in pairs]


def row(there: list[float], here: list[float], ratios: list[float]) -> dict[str, float]:
    """Medians, and the median, least and greatest of the rounds' ratios."""
    return {
        "other_us": round(median(there), 1),
        "here_us": round(median(here), 1),
        "ratio": round(median(ratios), 3),
        "least": round(min(ratios), 3),
        "most": round(max(ratios), 3),
        "rounds": len(ratios),
    }


def main() -> None:
    args = options(__doc__, "other", size=128, rounds=15)
    other, here = Worker(args.other.resolve(), args.size), Worker(HERE, args.size)
    where = machine("numpy", "numba")
    with Rows(RESULTS / "against.csv", where) as rows:
        for geometry, drawn in enumerate(DRAWN):
            before, now = compared(other, here, args.rounds, "draw", geometry)
            ratios = [new / old for old, new in zip(before, now, strict=True)]
            rows.add({"size": args.size, "drawn": drawn, **row(before, now, ratios)})
    with Rows(RESULTS / "sampling.csv", where) as rows:
        for number, world in enumerate(WORLDS):
            before, now = compared(other, here, args.rounds, "sample", number)
            ratios = [old / new for old, new in zip(before, now, strict=True)]
            one, two = ([here.ask("batches", number, threads) for _ in range(5)] for threads in (1, 2))
            rows.add(
                {
                    "sampled": world,
                    **row(before, now, ratios),
                    "ms_a_batch_of_128": round(median(milliseconds for _, milliseconds in one), 2),
                    "examples_per_second": round(median(rate for rate, _ in one)),
                    "examples_per_second_2_threads": round(median(rate for rate, _ in two)),
                }
            )
    other.end()
    here.end()


if __name__ == "__main__":
    main()
