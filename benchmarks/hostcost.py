"""What drawing on a card costs the host, measured without a card.

    python benchmarks/hostcost.py [--size 128] [--launches 16] [--repeats 25]

NVIDIA's bindings call a driver that computes nothing (tests/cuda/driver.c, built by gcc), so what is timed is
all that one thread of the processor does to have pictures drawn into arrays on a card: looking up how much
memory scenes need, copying their columns, and all calls of the driver; not what the real driver does in these
calls. Launches of several sizes give the cost of a launch and of a scene, by least squares. Writes
benchmarks/results/hostcost.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).parent.parent
RESULT = Path(__file__).parent / "results" / "hostcost.csv"
SIZES = (16, 64, 128, 256, 512)


def seconds_a_launch(scenes: int, launches: int, size: int, repeats: int) -> float:
    """Seconds that a launch of so many scenes takes: the least of all repeats, since whatever else the
    machine does only adds to it.
    """
    from simtown.bench.render import the_scenes
    from simtown.render.cuda.engine import Cuda

    engine, batch = Cuda(), the_scenes(scenes * launches)
    engine.launch = scenes * (size / 128) ** 2
    frames = engine.blank(len(batch), size, size)
    taken = []
    for _ in range(repeats + 2):  # the first two fill both lanes' memory
        begun = perf_counter()
        engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
        taken.append((perf_counter() - begun) / launches)
    return min(taken[2:])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--launches", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    if "FAKE_MEGABYTES" not in os.environ:  # once more, with the driver in place
        sys.path.insert(0, str(ROOT))
        from tests.cuda.fake_driver import built, environment

        with tempfile.TemporaryDirectory() as folder:
            variables = environment(built(Path(folder)), megabytes=1 << 16) | {
                "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
            }
            sys.exit(
                os.spawnve(os.P_WAIT, sys.executable, [sys.executable, __file__, *sys.argv[1:]], variables)
            )
    from machine import machine

    rows = [
        {"scenes": n, "launch_us": 1e6 * seconds_a_launch(n, args.launches, args.size, args.repeats)}
        for n in SIZES
    ]
    a, b = np.polyfit([row["scenes"] for row in rows], [row["launch_us"] for row in rows], 1)[::-1]
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        file.write(
            f"# {machine('numpy', 'cuda-bindings')}; {args.size} x {args.size}; "
            f"a launch {a:.1f} us, a scene {b:.3f} us\n"
        )
        writer = csv.DictWriter(file, ["scenes", "launch_us", "scene_us"])
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {
                    "scenes": row["scenes"],
                    "launch_us": round(row["launch_us"], 1),
                    "scene_us": round(row["launch_us"] / row["scenes"], 3),
                }
            )
    print(args.out.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
