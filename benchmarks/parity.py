"""A card's pictures against the processor's, byte for byte.

    python benchmarks/parity.py [--scenes 500] [--sizes 64,97x64,128,256] [--runs 2] [--out
        benchmarks/results/parity.csv]

Random streets: three vehicles of all kinds, moved cameras, the weathers in turn. Colour, depth and ids of
every scene must be equal, in every run. A row a size, run and weather, written as soon as it is known; exit
code 1 if anything differs.
"""

from __future__ import annotations

import sys

import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.cuda.engine import Cuda
from simtown.render.frames import Frames
from simtown.render.raster import Raster
from simtown.scenes.weather import WEATHERS


def pixels_apart(one: Frames, other: Frames) -> dict[str, np.ndarray]:
    """How many pixels of every scene differ in colour, depth and ids: (n,) each."""
    differ = {
        "rgb": (one.rgb != other.rgb).any(axis=3),
        "depth": one.depth != other.depth,
        "ids": one.ids != other.ids,
    }
    return {name: pixels.sum(axis=(1, 2)) for name, pixels in differ.items()}


def main() -> None:
    args = options(
        __doc__, scenes=500, sizes=["64", "97x64", "128", "256"], runs=2, out=RESULTS / "parity.csv"
    )
    settings = Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=29)
    scenes = sample(settings.recipe("train"), np.arange(args.scenes)).scene
    scenes.weather[:] = np.arange(args.scenes) % len(WEATHERS)
    card, differing = Cuda(), 0
    with Rows(args.out, f"{card.card.name}, {machine('numpy', 'numba')}") as rows:
        for size in args.sizes:
            width, height = map(int, size.split("x") * (1 if "x" in size else 2))
            expected = Raster().render(scenes, width, height)
            for run in range(1, args.runs + 1):
                card.too_much = 0
                apart = pixels_apart(card.render(scenes, width, height), expected)
                if card.too_much:
                    print(
                        f"the processor drew {card.too_much} of the scenes, for which the kernels had no room"
                    )
                for number, weather in enumerate(WEATHERS):
                    chosen = scenes.weather == number
                    row = {"size": size, "run": run, "weather": weather, "scenes": int(chosen.sum())}
                    row |= {f"{name} pixels apart": int(count[chosen].sum()) for name, count in apart.items()}
                    rows.add(row)
                    differing += sum(int(count[chosen].sum()) for count in apart.values())
    print("every byte is equal" if not differing else f"{differing} pixels differ")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
