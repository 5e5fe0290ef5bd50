"""Promises of simtown audit: chance gives what it says, and a disguised picture is known again, but no other.

    python benchmarks/copies.py

Near scenes: data sets of few kinds, in which no scene is copied, are audited, and the pairs of near scenes
are put beside the number that chance is said to give (results/near.csv).

Disguised pictures: pictures of several sizes are changed in several ways, and compared with themselves by the
audit's fingerprint. `found` is the share that it calls the same; `moved` is how far the farthest of these
moved along the directions in which candidates are sought, which must be less than pictures.REACH
(results/disguised.csv).

Other pictures: pairs of different scenes whose fingerprints differ by less than pictures.SAME, by how far
the scenes are from each other. What tells them apart is the cell that changes most; `change` is how much it
does in the pair where it does least, which must be more than pictures.PEAK where scenes are as far apart as
pictures.DIFFERENT_IN_DISGUISE (results/alike.csv).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from machine import RESULTS, Rows, machine, options

from simtown.datasets.audit import pictures, repeats, run
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.generate import generate
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.settings import Settings
from simtown.language.relations import RELATION_NAMES

#: Worlds in which scenes are near by chance.
WORLDS: dict[str, dict[str, Any]] = {
    "2 kinds": {"entities": 2},
    "3 kinds": {"entities": 3},
    "5 kinds": {"entities": 5},
    "5 kinds, all relations": {"entities": 5, "relations": RELATION_NAMES},
    "20 kinds, all relations": {"entities": 20, "relations": RELATION_NAMES},
    "3 kinds, distractor": {"entities": 3, "distractor": True},
    "5 kinds, fog": {"entities": 5, "weathers": ("fog",)},
}
SIZES = ((32, 32), (64, 32), (64, 64), (128, 128))


def jpeg(quality: int) -> Callable[[np.ndarray], np.ndarray]:
    """Saves a picture as JPEG of a quality, and reads it again."""
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    return lambda picture: cv2.imdecode(cv2.imencode(".jpg", picture, options)[1], cv2.IMREAD_UNCHANGED)


def as_bytes(picture: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


#: What is done to a (h, w, 3) uint8 picture.
DISGUISES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "noise of 3 levels": lambda picture: as_bytes(
        picture + np.random.default_rng(int(picture.sum())).normal(0, 3, picture.shape)
    ),
    "a fifth darker": lambda picture: as_bytes(picture * 0.8),
    "a tenth brighter": lambda picture: as_bytes(picture * 1.1),
    "gamma of 1.2": lambda picture: as_bytes(255 * (picture / 255) ** 1.2),
    "JPEG of quality 90": jpeg(90),
    "JPEG of quality 75": jpeg(75),
}


def near_scenes(n: int, folder: Path) -> Iterator[dict[str, object]]:
    """By world and radius: pairs of near scenes, and as many as chance gives."""
    for world in WORLDS:
        findings = run.audit(made(world, n, folder))
        (finding,) = (f for f in findings if f.check == "nearly repeated scenes")
        counted = (finding.details[name] for name in ("radii_m", "pairs", "expected"))
        for radius, pairs, most in zip(*counted, strict=True):
            yield {
                "world": world,
                "examples": n,
                "radius_m": radius,
                "pairs": pairs,
                "by_chance": round(most / repeats.SAFETY, 2),
            }
        for warning in (f for f in findings if f.status == "warn"):
            print(f"The audit warns of an honest data set, {world}: {warning.check}: {warning.figure}")


def disguised(n: int, folder: Path) -> Iterator[dict[str, object]]:
    """By size and disguise: how many pictures are found again."""
    for width, height in SIZES:
        place = folder / f"{width}x{height}"
        generate(Settings(entities=5, n=n, val=0, test=0, width=width, height=height), place, workers=1)
        data = open_dataset(place)
        before = prints_of(data)
        directions = pictures.PicturePlaces(DatasetRows(data)).directions
        images = data.train.images(np.arange(n))
        for name, disguise in DISGUISES.items():
            change = pictures.fingerprints(np.stack([cells(disguise(i)) for i in images])) - before
            whole, cell = np.sqrt(np.square(change).mean(axis=1)), np.abs(change).max(axis=1)
            same = (whole < pictures.SAME) & (cell < pictures.PEAK)
            yield {
                "size": f"{width}x{height}",
                "disguise": name,
                "pictures": n,
                "found": round(float(same.mean()), 4),
                "whole_median": round(float(np.median(whole)), 3),
                "cell_median": round(float(np.median(cell)), 3),
                "moved": round(float(np.linalg.norm(change[same] @ directions, axis=1).max(initial=0.0)), 3),
            }


def alike(n: int, folder: Path) -> Iterator[dict[str, object]]:
    """By world and distance: pairs of pictures of different scenes that are as near as a disguise."""
    for world in ("5 kinds", "5 kinds, fog"):
        data = made(world, n, folder)
        prints, rows = prints_of(data), DatasetRows(data)
        points = repeats.scene_points(rows.columns(repeats.SCENE, np.arange(n)))
        squares, found = np.square(prints).mean(axis=1), []
        for i in range(0, n, 500):
            block = prints[i : i + 500]
            distance = squares[i : i + 500, None] + squares[i:] - 2 * block @ prints[i:].T / block.shape[1]
            pairs = np.argwhere(distance < 1.1 * pictures.SAME**2)
            first, second = pairs[pairs[:, 0] < pairs[:, 1]].T
            changes = block[first] - prints[i + second]
            apart = np.abs(points[i + first] - points[i + second]).max(axis=1)
            same = np.square(changes).mean(axis=1) < pictures.SAME**2
            found.append(np.stack([apart, np.abs(changes).max(axis=1)])[:, same])
        apart, change = np.concatenate(found, axis=1)
        for least, most in pairwise((0.0, pictures.DIFFERENT, pictures.DIFFERENT_IN_DISGUISE, np.inf)):
            these = change[(apart >= least) & (apart < most)]
            yield {
                "world": world,
                "pictures": n,
                "apart_m": least,
                "less_than_m": most,
                "pairs": len(these),
                "change": round(float(these.min(initial=np.inf)), 3),
            }


def made(world: str, n: int, folder: Path) -> Dataset:
    """A data set of small pictures, made at its first use."""
    place = folder / world.replace(",", "").replace(" ", "-")
    generate(Settings(n=n, val=0, test=0, width=32, height=32, **WORLDS[world]), place, workers=1)
    return open_dataset(place)


def prints_of(data: Dataset) -> np.ndarray:
    """(n, cells) float32 fingerprints of all pictures."""
    rows = DatasetRows(data)
    return pictures.fingerprints(pictures.cell_brightness(rows, np.arange(len(rows))))


def cells(picture: np.ndarray) -> np.ndarray:
    """(cells,) uint8, as of :func:`pictures.cell_brightness`."""
    grey, side = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), pictures.SIDE
    return cv2.resize(grey, (side, side), interpolation=cv2.INTER_AREA).ravel()


def main() -> None:
    args = options(__doc__, n=60_000, pictures=4_000)  # examples of a world, pictures disguised of a size
    where = machine("numpy", "opencv-python-headless")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, rows in (
            ("near.csv", near_scenes(args.n, folder)),
            ("disguised.csv", disguised(args.pictures, folder)),
            ("alike.csv", alike(args.n, folder)),
        ):
            with Rows(RESULTS / file, where) as table:
                for row in rows:
                    table.add(row)


if __name__ == "__main__":
    main()
