"""What a frame costs here against another checkout of simtown, in pairs.

    python benchmarks/against.py OTHER [--size 128] [--rounds 15]

OTHER is the root of a checkout, such as one of version 1 of the world. Two processes, one for each, sample
1,000 scenes of the default world and then draw them in turns on one thread: each round has its own ratio, so
that what else the machine does weighs on both. Processor time alone is counted. Rows go to
benchmarks/results/against.csv.
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
RESULT = HERE / "benchmarks" / "results" / "against.csv"
#: What is drawn of every scene: colour alone, or depth and instance ids too.
WHAT = {"colour": False, "colour, depth and ids": True}
#: Draws its scenes whenever a line comes in, with geometry if the line is "1", and answers with microseconds
#: a frame.
DRAWER = """
import sys, time
import numpy as np
from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.raster import Raster
size, recipe, raster = int(sys.argv[1]), Settings().recipe("train"), Raster()
batches = [sample(recipe, np.arange(start, start + 250)).scene for start in range(0, 1000, 250)]
for geometry in (False, True):
    raster.render(batches[0][:20], size, size, geometry)
print("ready", flush=True)
for line in sys.stdin:
    begun = time.process_time()
    for batch in batches:
        raster.render(batch, size, size, line.strip() == "1")
    print((time.process_time() - begun) / 1000 * 1e6, flush=True)
"""


class Drawer:
    """A process that draws with the simtown of one checkout."""

    def __init__(self, checkout: Path, size: int) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout), "NUMBA_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        words = [sys.executable, "-c", DRAWER, str(size)]
        self._process = subprocess.Popen(
            words, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=checkout
        )
        if self._answer() != "ready":
            raise SystemExit(f"{checkout} cannot draw: its own message is above")

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def draw(self, geometry: bool) -> float:
        """Microseconds a frame."""
        assert self._process.stdin is not None
        print(int(geometry), file=self._process.stdin, flush=True)
        return float(self._answer())

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="the root of another checkout")
    parser.add_argument("--size", type=int, default=128, help="sides of the pictures, pixels")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    if not (args.other / "simtown" / "render").is_dir() or args.rounds < 1:
        parser.error(
            f"{args.other} is no checkout of simtown" if args.rounds > 0 else "--rounds must be at least 1"
        )
    print("sampling scenes and compiling: a minute", flush=True)
    drawers = [Drawer(args.other.resolve(), args.size), Drawer(HERE, args.size)]
    rows = []
    for what, geometry in WHAT.items():
        times = [[drawer.draw(geometry) for drawer in drawers] for _ in range(args.rounds + 1)][
            1:
        ]  # the first warms up
        ratios = sorted(here / other for other, here in times)
        row = {
            "size": args.size,
            "drawn": what,
            "other_us": round(median(other for other, _ in times)),
            "here_us": round(median(here for _, here in times)),
            "ratio": round(median(ratios), 3),
            "least": round(ratios[0], 3),
            "most": round(ratios[-1], 3),
            "rounds": args.rounds,
            "machine": machine("numpy", "numba"),
        }
        rows.append(row)
        print(
            f"{what}: {row['other_us']} us there, {row['here_us']} us here, "
            f"ratio {row['ratio']} ({row['least']} to {row['most']})",
            flush=True,
        )
    for drawer in drawers:
        drawer.end()
    with RESULT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
