"""The CUDA renderer against the processor's, scene by scene.

    python benchmarks/parity.py [--scenes 500] [--size 128] [--runs 2]

Random streets (three vehicles, all 102 kinds, moved cameras), the weathers in turn. Gates: ids equal on 99.9 % of pixels, colour
within 2/255 on 99.5 %, depth within 0.1 % (and the sky where it is the sky) on 99.9 %; and every run gives the bytes of the first.
Exit code 1 if one is missed. Writes benchmarks/results/parity.csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from machine import machine
from rich.console import Console
from rich.table import Table

from simtown.datasets.settings import Settings
from simtown.language.sampler import sample
from simtown.render.cuda.card import describe_card
from simtown.render.engines import rasteriser
from simtown.render.frames import Frames
from simtown.render.raster import Raster
from simtown.scenes.weather import WEATHERS

RESULT = Path(__file__).parent / "results" / "parity.csv"
GATES = {"ids equal": 0.999, "rgb within 2": 0.995, "depth within 0.1 %": 0.999}


def shares(one: Frames, other: Frames, rows: np.ndarray) -> dict[str, float]:
    """What share of the pixels of some scenes agrees."""
    apart = np.abs(one.rgb[rows].astype(np.int16) - other.rgb[rows]).max(axis=3)
    a, b = one.depth[rows], other.depth[rows]
    finite = np.isfinite(a) & np.isfinite(b)
    near = np.isinf(a) & np.isinf(b)
    near[finite] = np.abs(a[finite] / b[finite] - 1) <= 1e-3
    ids, same = one.ids[rows] == other.ids[rows], (apart == 0) & ((a == b) | (np.isinf(a) & np.isinf(b)))
    return {
        "ids equal": float(ids.mean()),
        "rgb within 2": float((apart <= 2).mean()),
        "depth within 0.1 %": float(near.mean()),
        "equal in every bit": float((ids & same).mean()),
        "rgb apart at most": float(apart.max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--runs", type=int, default=2)
    args = parser.parse_args()
    settings = Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=29)
    scenes = sample(settings.recipe("train"), np.arange(args.scenes)).scene
    scenes.weather[:] = np.arange(args.scenes) % len(WEATHERS)
    here, card = Raster().render(scenes, args.size, args.size), rasteriser("cuda")
    there = card.render(scenes, args.size, args.size)
    rows: list[dict[str, object]] = []
    for number, weather in [*enumerate(WEATHERS), (-1, "all")]:
        chosen = np.flatnonzero((scenes.weather == number) | (number < 0))
        if len(chosen):
            rows.append({"weather": weather, "scenes": len(chosen), "size": args.size, **shares(there, here, chosen)})
    where = f"{describe_card()}, {machine('numpy', 'numba')}"
    table = Table(*rows[0], title=where)
    for row in rows:
        table.add_row(*(f"{v:.5f}" if isinstance(v, float) else str(v) for v in row.values()))
    Console(width=140).print(table)
    missed = [f"{name} {rows[-1][name]} is below {gate}" for name, gate in GATES.items() if rows[-1][name] < gate]  # type: ignore[operator]
    for run in range(1, args.runs):
        again = card.render(scenes, args.size, args.size)
        if not all(np.array_equal(getattr(again, f), getattr(there, f)) for f in ("rgb", "depth", "ids")):
            missed.append(f"run {run + 1} differs from run 1")
    with open(RESULT, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {where}; {args.runs} runs\n")
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    for line in missed:
        print(line, file=sys.stderr)
    print("all gates are met" if not missed else "gates are missed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
