"""How large vehicles are in the picture, and how often what the sampler proposes is accepted.

    python benchmarks/framing.py [--name NAME] [--scenes 4000]

Areas are those of vehicles' picture boxes at 128 x 128, in square pixels. Rates are accepted over proposed,
for each set of options, of all kinds alike and of the longest alone, which fit least. Rows go to
benchmarks/results/framing.csv under a name, so that two versions of simtown can be put beside each other
(PYTHONPATH chooses one).
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine
from rich.console import Console
from rich.table import Table

from simtown.assets.catalogue import ENTITIES
from simtown.language.sampler import ImpossibleError, Recipe, sample
from simtown.scenes.placement import half_sizes
from simtown.scenes.silhouette import unclipped_boxes

RESULT = Path(__file__).parent / "results" / "framing.csv"
ALL = ("left of", "right of", "in front of", "behind")
OPTIONS: dict[str, dict[str, Any]] = {
    "left, right": {},
    "left, right, distractor": {"distractor": True},
    "all relations": {"relations": ALL},
    "all relations, jitter 1": {"relations": ALL, "jitter": 1.0},
    "all relations, distractor": {"relations": ALL, "distractor": True},
}
#: How many kinds "the longest" are, and examples made at once.
LONGEST, TOGETHER = 12, 1000


def chances(count: int) -> np.ndarray:
    """(entities,) float64: even for the longest `count` kinds, none for the others."""
    out = np.zeros(len(ENTITIES))
    out[np.argsort(-half_sizes()[:, 0], kind="stable")[:count]] = 1 / count
    return out


def measure(options: dict[str, Any], even: np.ndarray, scenes: int) -> dict[str, object]:
    """Areas of vehicles and acceptance rates of the loops that place them."""
    tried: dict[str, np.ndarray] = {}
    areas = []
    for start in range(0, scenes, TOGETHER):
        try:
            examples = sample(
                Recipe(0, "train", even, even, **options), np.arange(start, min(start + TOGETHER, scenes))
            )
        except ImpossibleError:
            return {"area_mean": "", "area_median": "", "placement": "impossible", "distractor": "impossible"}
        scene = examples.scene
        box = unclipped_boxes(scene.entity, scene.pose, scene.camera, 128, 128)
        areas.append(((box[..., 2] - box[..., 0]) * (box[..., 3] - box[..., 1])).ravel())
        for loop, counts in examples.tried.items():
            tried[loop] = tried.get(loop, np.zeros(2)) + counts
    area = np.concatenate(areas)
    rates = {
        loop: round(tried[loop][1] / tried[loop][0], 4) if loop in tried else ""
        for loop in ("placement", "distractor")
    }
    return {"area_mean": round(float(area.mean())), "area_median": round(float(np.median(area))), **rates}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default="now", help="what this version is called")
    parser.add_argument("--scenes", type=int, default=4000)
    args = parser.parse_args()
    rows = [
        {
            "version": args.name,
            "kinds": kinds,
            "options": options,
            "scenes": args.scenes,
            **measure(OPTIONS[options], even, args.scenes),
        }
        for kinds, even in (("all", chances(len(ENTITIES))), (f"the {LONGEST} longest", chances(LONGEST)))
        for options in OPTIONS
    ]
    table = Table(*rows[0], title=machine("numpy", "numba"))
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(width=160).print(table)
    kept = []
    if RESULT.exists():
        with open(RESULT, newline="", encoding="utf-8") as file:
            kept = [row for row in csv.DictReader(file) if row["version"] != args.name]
    with open(RESULT, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows([*kept, *rows])


if __name__ == "__main__":
    main()
