"""What a frame and an example cost here against another checkout of simtown, in pairs.

    python benchmarks/against.py CHECKOUT [--size 128] [--rounds 15] [--out benchmarks/results]

Two processes, one for each checkout, draw 1,000 scenes of the default world (colour alone, and with depth
and ids) and sample 512 examples of each world, in turns on one thread: each round has its own ratio, so that
what else the machine does weighs on both. Processor time alone is counted. Last, this checkout samples
batches of 128 with one thread and with two, as `simtown fit --stream` does. Rows go to against.csv (drawing)
and sampling.csv.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
from machine import RESULTS, Apart, Rows, machine, options

from simtown.datasets.source import source_of

HERE = Path(__file__).parents[1]
#: Worlds that are sampled: the settings beside the default ones.
WORLDS = {
    "default": {},
    "distractor": {"distractor": True},
    "all relations": {"relations": ("left of", "right of", "in front of", "behind")},
}
DRAWN = {"colour": False, "colour, depth and ids": True}


class Checkout:
    """The simtown of one checkout, imported into a process of its own."""

    def __init__(self, checkout: Path, size: int) -> None:
        sys.path.insert(0, str(checkout))
        from simtown.datasets.settings import Settings
        from simtown.language.asking.paper import sample
        from simtown.render.raster import Raster

        assert sys.modules["simtown"].__file__ == str(checkout / "simtown" / "__init__.py")
        self.sample, self.raster, self.size = sample, Raster(), size
        self.recipes = {world: source_of(Settings(**more)).recipe("train") for world, more in WORLDS.items()}
        starts = range(0, 1000, 250)
        self.scenes = [sample(self.recipes["default"], np.arange(n, n + 250)).scene for n in starts]

    def draw(self, geometry: bool) -> float:
        """Microseconds of processor time a frame."""
        used = process_time()
        for batch in self.scenes:
            self.raster.render(batch, self.size, self.size, geometry)
        return (process_time() - used) / 1000 * 1e6

    def examples(self, world: str) -> float:
        """Microseconds of processor time an example."""
        used = process_time()
        self.sample(self.recipes[world], np.arange(512))
        return (process_time() - used) / 512 * 1e6

    def batches(self, world: str, threads: int) -> tuple[float, float]:
        """Examples a second, and milliseconds of processor time a batch of 128."""
        begun, used = perf_counter(), process_time()
        parts = np.arange(24 * 128).reshape(24, 128)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: self.sample(self.recipes[world], part), parts))
        return parts.size / (perf_counter() - begun), (process_time() - used) / 24 * 1e3


def main() -> None:
    args = options(__doc__, "other", size=128, rounds=15, out=RESULTS)
    one_thread = {"OMP_NUM_THREADS": "1"}
    checkouts = [Apart(Checkout, path.resolve(), args.size, **one_thread) for path in (args.other, HERE)]

    def compared(method: str, argument: object, faster_is_more: bool) -> dict[str, float]:
        """Medians there and here, and the median, least and greatest ratio of a round."""
        rounds = [[each.call(method, argument) for each in checkouts] for _ in range(args.rounds + 1)]
        other, here = np.transpose(rounds[1:])  # the first warms up
        ratios = other / here if faster_is_more else here / other
        return {
            "other_us": round(median(other), 1),
            "here_us": round(median(here), 1),
            "ratio": round(median(ratios), 3),
            "least": round(min(ratios), 3),
            "most": round(max(ratios), 3),
            "rounds": len(ratios),
        }

    where = machine("numpy")
    rows = Rows(args.out / "against.csv", where)
    for drawn, geometry in DRAWN.items():
        rows.add({"size": args.size, "drawn": drawn, **compared("draw", geometry, False)})
    rows = Rows(args.out / "sampling.csv", where)
    for world in WORLDS:
        row = {"sampled": world, **compared("examples", world, True)}
        one, two = ([checkouts[1].call("batches", world, n) for _ in range(5)] for n in (1, 2))
        row["ms_a_batch_of_128"] = round(median(milliseconds for _, milliseconds in one), 2)
        row["examples_per_second"] = round(median(rate for rate, _ in one))
        row["examples_per_second_2_threads"] = round(median(rate for rate, _ in two))
        rows.add(row)
    for checkout in checkouts:
        checkout.end()


if __name__ == "__main__":
    main()
