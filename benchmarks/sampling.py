"""What sampling an example costs here against another checkout of simtown, in pairs, and the rate with
threads.

    python benchmarks/sampling.py OTHER [--rounds 15] [--count 512]

OTHER is the root of a checkout. Two processes, one for each, sample examples of the default world in turns on
one thread: each round has its own ratio, so that what else the machine does weighs on both. Processor time
alone is counted. Then one process samples here in batches of 128, as `simtown fit --stream` does, with one
thread and with two. Rows go to benchmarks/results/sampling.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from machine import machine

HERE = Path(__file__).parents[1]
RESULT = HERE / "benchmarks" / "results" / "sampling.csv"
ALL = ("left of", "right of", "in front of", "behind")
#: What is sampled: the settings beside the default ones.
WHAT = {"default": {}, "distractor": {"distractor": True}, "all relations": {"relations": ALL}}
#: For every line "row threads" that comes in it samples by a row of WHAT: with 0 threads one round, and
#: answers with microseconds of processor time an example; else 24 batches of 128, and answers with examples a
#: second and processor milliseconds a batch.
SAMPLER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
count = int(sys.argv[1])
recipes = [Settings(**options).recipe("train") for options in eval(sys.argv[2])]
for recipe in recipes:
    sample(recipe, np.arange(100))
print("ready", flush=True)
for line in sys.stdin:
    row, threads = map(int, line.split())
    begun, used = time.perf_counter(), time.process_time()
    if threads:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda i: sample(recipes[row], np.arange(128 * i, 128 * (i + 1))), range(24)))
        print(128 * 24 / (time.perf_counter() - begun), (time.process_time() - used) / 24 * 1e3, flush=True)
    else:
        sample(recipes[row], np.arange(count))
        print((time.process_time() - used) / count * 1e6, flush=True)
"""


class Sampler:
    """A process that samples with the simtown of one checkout."""

    def __init__(self, checkout: Path, count: int) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "NUMBA_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        pipe = subprocess.PIPE
        words = [sys.executable, "-c", SAMPLER, str(count), repr(list(WHAT.values()))]
        self._process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=checkout
        )
        if self._answer() != "ready":
            raise SystemExit(f"{checkout} cannot sample: its own message is above")

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def measure(self, row: int, threads: int = 0) -> list[float]:
        """What SAMPLER answers."""
        assert self._process.stdin is not None
        print(row, threads, file=self._process.stdin, flush=True)
        return [float(word) for word in self._answer().split()]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="the root of another checkout")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=512, help="examples a round")
    args = parser.parse_args()
    if not (args.other / "simtown" / "language").is_dir() or args.rounds < 1 or args.count < 1:
        parser.error(
            f"{args.other} is no checkout of simtown"
            if min(args.rounds, args.count) > 0
            else "numbers must be at least 1"
        )
    print("compiling: a minute", flush=True)
    samplers = [Sampler(args.other.resolve(), args.count), Sampler(HERE, args.count)]
    rows = []
    for number, what in enumerate(WHAT):
        times = [[sampler.measure(number)[0] for sampler in samplers] for _ in range(args.rounds + 1)][
            1:
        ]  # the first warms up
        ratios = sorted(other / here for other, here in times)
        single, double = ([samplers[1].measure(number, threads) for _ in range(5)] for threads in (1, 2))
        rows.append(
            {
                "sampled": what,
                "other_us": round(median(other for other, _ in times), 1),
                "here_us": round(median(here for _, here in times), 1),
                "ratio": round(median(ratios), 2),
                "least": round(ratios[0], 2),
                "most": round(ratios[-1], 2),
                "rounds": args.rounds,
                "ms_a_batch_of_128": round(median(ms for _, ms in single), 2),
                "examples_per_second": round(median(rate for rate, _ in single)),
                "examples_per_second_2_threads": round(median(rate for rate, _ in double)),
                "machine": machine("numpy", "numba"),
            }
        )
        print(
            ", ".join(f"{name} {value}" for name, value in rows[-1].items() if name != "machine"), flush=True
        )
    for sampler in samplers:
        sampler.end()
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
