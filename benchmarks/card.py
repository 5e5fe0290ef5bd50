"""Frames a second on a graphics card, and what decides them: size, how many scenes a launch has, and whether
launches overlap.

    python benchmarks/card.py [--scenes 8192] [--sizes 128,256,64,512] [--launches 64,128,256,512,1024]
        [--seconds 2] [--out card.csv]

Scenes of the default world, every frame another street. A figure is the median of repeated drawings of the
whole batch, the card waited for, after one that warms up. Pictures are left on the card (`left`), colour
alone (`colour`), or brought back to the processor (`back`). First every size as the package draws it; then
the same without overlap (one lane), and other sizes of launches.
"""

from __future__ import annotations

from statistics import median

from machine import RESULTS, Rows, machine, options, timed

from simtown.bench.engines import the_scenes
from simtown.render.cuda.engine import LAUNCH, Cuda
from simtown.scenes.scene import SceneBatch

#: Bytes of a card's memory for pictures, at most.
ROOM = 8 << 30


def measure(engine: Cuda, scenes: SceneBatch, size: int, pictures: str, seconds: float) -> dict[str, object]:
    """What drawing takes; the last columns of a row."""
    n = min(len(scenes), ROOM // (8 * size * size))
    batch = scenes[:n]
    frames = engine.empty(n, size, size, geometry=pictures == "left") if pictures != "back" else None

    def draw() -> None:
        if frames is None:
            engine.render(batch, size, size)
        else:
            engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
            engine.finish()

    taken = timed(draw, seconds)
    with engine.timing() as stages:
        draw()
    fps = n / median(taken)
    return {
        "scenes": n,
        "repeats": len(taken),
        "frames_per_second": round(fps),
        "lowest": round(n / taken[-1]),
        "highest": round(n / taken[0]),
        "gigapixels_per_second": round(fps * size * size / 1e9, 3),
        "us_a_frame": " ".join(f"{name} {1e6 * took / n:.3f}" for name, took in stages.items()),
        "memory_mb": engine.memory() >> 20,
    }


def main() -> None:
    sizes, launches = [128, 256, 64, 512], [64, 128, 256, 512, 1024]
    args = options(
        __doc__, scenes=8192, sizes=sizes, launches=launches, seconds=2.0, out=RESULTS / "card.csv"
    )
    first, *others = args.sizes
    cases = [(size, LAUNCH, 2, "left") for size in args.sizes]
    cases += [(first, LAUNCH, *case) for case in ((1, "left"), (2, "colour"), (2, "back"), (1, "back"))]
    cases += [(size, n, 2, "left") for size in args.sizes[:2] for n in args.launches if n != LAUNCH]
    cases += [(size, LAUNCH, 1, "left") for size in others]
    scenes, overlapping = the_scenes(args.scenes), Cuda()
    rows = Rows(args.out, f"{overlapping.card.name}, {machine('numpy', 'cuda-core')}")
    for size, launch, lanes, pictures in cases:
        engine = overlapping if lanes == 2 else Cuda(lanes=1)
        engine.launch = launch
        case = {"size": size, "launch": launch, "lanes": lanes, "pictures": pictures}
        rows.add(case | measure(engine, scenes, size, pictures, args.seconds))


if __name__ == "__main__":
    main()
