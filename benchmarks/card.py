"""Frames a second on a graphics card, and what decides them: size, how many scenes a launch has, and whether
launches overlap.

    python benchmarks/card.py [--scenes 8192] [--sizes 128,256,64,512] [--launches 64,128,256,512,1024]
        [--seconds 2] [--out card.csv]

Scenes of the default world, every frame another street. A figure is the median of repeated drawings of the
whole batch, the card waited for, after one that warms up. Pictures are left on the card (`left`), colour
alone (`colour`), or brought back to the processor (`back`). First every size as the package draws it; then
the same without overlap (one lane), and other sizes of launches. Rows are written as soon as they are
measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from machine import Rows, machine

from simtown.bench.render import the_scenes
from simtown.render.cuda.engine import LAUNCH, Cuda
from simtown.scenes.scene import SceneBatch

RESULT = Path(__file__).parent / "results" / "card.csv"
#: Bytes of a card's memory for pictures, at most.
ROOM = 8 << 30


def timed(draw: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each call within so many seconds, at least three, sorted; one before them warms up."""
    draw()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < seconds:
        begun = perf_counter()
        draw()
        taken.append(perf_counter() - begun)
    return sorted(taken)


def measure(engine: Cuda, scenes: SceneBatch, size: int, pictures: str, seconds: float) -> dict[str, object]:
    """A row."""
    n = min(len(scenes), ROOM // (8 * size * size))
    batch = scenes[:n]
    if pictures == "back":
        taken = timed(lambda: engine.render(batch, size, size), seconds)
    else:
        frames = engine.blank(n, size, size, geometry=pictures == "left")

        def draw() -> None:
            engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
            engine.finish()

        taken = timed(draw, seconds)
    with engine.timing() as stages:
        engine.render(batch, size, size) if pictures == "back" else draw()
    fps, shares = n / median(taken), " ".join(f"{name} {1e6 * took / n:.3f}" for name, took in stages.items())
    return {
        "scenes": n,
        "repeats": len(taken),
        "frames_per_second": round(fps),
        "lowest": round(n / taken[-1]),
        "highest": round(n / taken[0]),
        "gigapixels_per_second": round(fps * size * size / 1e9, 3),
        "us_a_frame": shares,
        "memory_mb": engine.memory() >> 20,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=8192)
    parser.add_argument("--sizes", default="128,256,64,512")
    parser.add_argument("--launches", default="64,128,256,512,1024")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    sizes, launches = ([int(number) for number in text.split(",")] for text in (args.sizes, args.launches))
    scenes = the_scenes(args.scenes)
    cases = [(size, LAUNCH, 2, "left") for size in sizes]
    cases += [
        (sizes[0], LAUNCH, 1, "left"),
        (sizes[0], LAUNCH, 2, "colour"),
        (sizes[0], LAUNCH, 2, "back"),
        (sizes[0], LAUNCH, 1, "back"),
    ]
    cases += [(size, launch, 2, "left") for size in sizes[:2] for launch in launches if launch != LAUNCH]
    cases += [(size, LAUNCH, 1, "left") for size in sizes[1:]]
    first = Cuda()
    with Rows(args.out, f"{first.card.name}, {machine('numpy', 'cuda-core')}") as rows:
        for size, launch, lanes, pictures in cases:
            engine = first if lanes == 2 else Cuda(lanes=1)
            engine.launch = launch
            rows.add({"size": size, "launch": launch, "lanes": lanes, "pictures": pictures,
                      **measure(engine, scenes, size, pictures, args.seconds)})  # fmt: skip


if __name__ == "__main__":
    main()
