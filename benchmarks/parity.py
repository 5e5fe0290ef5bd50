"""A card's pictures against the processor's, byte for byte.

    python benchmarks/parity.py [--scenes 500] [--sizes 64,97x64,128,256] [--runs 2]
        [--out benchmarks/results/parity.csv]

Random streets: three vehicles of all kinds, moved cameras, the weathers in turn. Colour, depth and ids of
every scene must be equal, in every run. A row a size, run and weather, written as soon as it is known; exit
code 1 if anything differs.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.render.cuda.engine import Cuda
from simtown.render.raster import Raster
from simtown.scenes.weather import WEATHERS


def main() -> None:
    sizes = ["64", "97x64", "128", "256"]
    args = options(__doc__, scenes=500, sizes=sizes, runs=2, out=RESULTS / "parity.csv")
    settings = Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=29)
    scenes = sample(source_of(settings).recipe("train"), np.arange(args.scenes)).scene
    scenes.weather[:] = np.arange(args.scenes) % len(WEATHERS)
    card, differing = Cuda(), 0
    rows = Rows(args.out, f"{card.card.name}, {machine('numpy')}")
    for size, run in product(args.sizes, range(1, args.runs + 1)):
        width, height = (int(side) for side in (size.split("x") * 2)[:2])
        expected = Raster().render(scenes, width, height)
        card.too_much = 0
        frames = card.render(scenes, width, height)
        apart = {
            "rgb": (frames.rgb != expected.rgb).any(axis=3),
            "depth": frames.depth != expected.depth,
            "ids": frames.ids != expected.ids,
        }
        if card.too_much:
            print(f"the processor drew {card.too_much} of the scenes, for which the kernels had no room")
        for number, weather in enumerate(WEATHERS):
            chosen = scenes.weather == number
            counts = {f"{name} pixels apart": int(pixels[chosen].sum()) for name, pixels in apart.items()}
            rows.add({"size": size, "run": run, "weather": weather, "scenes": int(chosen.sum()), **counts})
            differing += sum(counts.values())
    print("every byte is equal" if not differing else f"{differing} pixels differ")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
