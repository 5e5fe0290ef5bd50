"""A card's pictures against the processor's, byte for byte.

    python benchmarks/parity.py [--scenes 500] [--sizes 64,97x64,128,256] [--runs 2] [--out
        benchmarks/results/parity.csv]

Random streets: three vehicles of all kinds, moved cameras, the weathers in turn. Colour, depth and ids of
every scene must be equal, in every run. A row a size, run and weather, written as soon as it is known; exit
code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from machine import Rows, machine

from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.cuda.engine import Cuda
from simtown.render.frames import Frames
from simtown.render.raster import Raster
from simtown.scenes.weather import WEATHERS

RESULT = Path(__file__).parent / "results" / "parity.csv"


def pixels_apart(one: Frames, other: Frames) -> dict[str, np.ndarray]:
    """How many pixels of every scene differ in colour, depth and ids: (n,) each."""
    differ = {
        "rgb": (one.rgb != other.rgb).any(axis=3),
        "depth": one.depth != other.depth,
        "ids": one.ids != other.ids,
    }
    return {name: pixels.sum(axis=(1, 2)) for name, pixels in differ.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--sizes", default="64,97x64,128,256")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    settings = Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=29)
    scenes = sample(settings.recipe("train"), np.arange(args.scenes)).scene
    scenes.weather[:] = np.arange(args.scenes) % len(WEATHERS)
    card, differing = Cuda(), 0
    with Rows(args.out, f"{card.card.name}, {machine('numpy', 'numba')}") as rows:
        for size in args.sizes.split(","):
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
