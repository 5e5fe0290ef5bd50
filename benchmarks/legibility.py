"""Can the kinds of vehicles be told apart in small pictures? A judge that knows all of them says which one it sees.

    python benchmarks/legibility.py                                     # all kinds, every weather at intensity 1, 128 and 64 pixels
    python benchmarks/legibility.py --kinds scooter,motorcycle --weather night --size 128

For each of five seeds and both lanes there is one place. Every kind stands there once, alone and whole, in a street of its own:
houses, trees, people, sun, drops and flakes differ from picture to picture. The judge sees the picture and is told the place, but only to
within `ASTRAY` metres, and not the kind. It has drawn every kind at that place in `REFERENCES` other streets, the same for all
kinds; so it knows of each kind and pixel the middle colour (the median) and how far streets stray from it. It names the kind whose drawings
explain the picture best: every colour value costs what it has under a Laplace distribution about the middle; the best of all shifts counts.

Three things keep the judge from seeing more than a person does: differences of less than `NOTICED` of 255 levels cost nothing; the
picture is shifted by whole pixels only; and a value costs at most as much as one in `ODD` that may be anything, so that a flake or a
lamp decides nothing. The place lies where the longest kind fits into the picture too, so it says nothing about the kind.

The control is the same with the vehicle left out of the picture: the judge must be at chance, or the street gives the kind away.
Not measured: vehicles that hide each other, other headings and distances, a judge that has to find the vehicle first.

A pair "a > b" counts pictures of a that were taken for b. "nearest" names the pairs that come nearest to it, right or wrong: b's cost above
a's for pictures of a, per cent, the least of all pictures. Results of all kinds go into benchmarks/results/legibility.csv, where a
run replaces the rows of an earlier one with the same weather and size. Five minutes on two cores.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil, log, sqrt
from pathlib import Path

import numpy as np
from machine import machine

from simtown.assets.catalogue import ENTITIES
from simtown.exact import kernel
from simtown.render.raster import Raster
from simtown.scenes.camera import WIDEST, Camera
from simtown.scenes.placement import LANES, draw_poses, half_sizes
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import unclipped_boxes
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS, draw_weather
from simtown.streams import Stream

RESULTS = Path(__file__).parent / "results" / "legibility.csv"
COLUMNS = ("weather", "size", "part", "name", "right", "of", "percent", "low95", "high95", "settings", "machine")
LANE_NAMES = ("near lane, heading right", "far lane, heading left")
#: Streets in which the judge has seen every kind at a place.
REFERENCES = 16
#: How far from the place that the judge is told a vehicle may stand, along and across the road, metres.
ASTRAY = 0.15
#: Levels of 255 below which a difference of colour counts for nothing; the judge takes no pixel to be surer than that.
NOTICED = 8.0
#: One colour value in so many may be anything.
ODD = 16
#: Pairs listed at most.
LISTED = 12


@dataclass
class Place:
    """One place, with every kind of a list drawn there.

    Attributes:
        weather: index of WEATHERS. `lane`: index of LANES. `seed`: of the streets.
        pose: (3,) float32 x, y (metres), yaw (radians).
        window: x0, y0, x1, y1 pixels, holds every kind at this place and a margin for shifts.
        margin: shifts tried to each side, pixels: along x, along y.
    """

    weather: int
    lane: int
    seed: int
    pose: np.ndarray
    window: tuple[int, int, int, int]
    margin: tuple[int, int]


def find_place(weather: int, lane: int, seed: int, kinds: list[int], size: int) -> Place:
    """A random place in a lane at which even the longest kind of the catalogue lies wholly in the picture."""
    u = Stream(seed, WEATHERS[weather], "place").uniform(np.array([lane]), 3)
    u[:, 0] = 0.75 - 0.5 * lane  # draw_poses takes the far lane below a half
    longest = int(half_sizes()[:, 0].argmax())
    u[:, 2] = 0.5 + 0.9 * (u[:, 2] - 0.5)  # room to stand astray
    pose = draw_poses(u[:, None], np.array([[longest]]))[0, 0]
    entity, poses = np.array(kinds)[:, None], np.tile(pose, (len(kinds), 1, 1))
    box = unclipped_boxes(entity, poses, np.tile(Camera().row(), (len(kinds), 1)), size, size)[:, 0]
    camera = Camera()
    pixels_per_metre = camera.focal * min(size, WIDEST * size) / (pose[1] - camera.y)
    margin = (max(1, ceil(ASTRAY * pixels_per_metre)), max(1, ceil(ASTRAY * pixels_per_metre * camera.z / (pose[1] - camera.y))))
    low, high = np.floor(box[:, :2].min(axis=0)).astype(int) - margin, np.ceil(box[:, 2:].max(axis=0)).astype(int) + margin
    x0, y0 = np.maximum(low, 0)
    x1, y1 = np.minimum(high, size)
    return Place(weather, lane, seed, pose, (int(x0), int(y0), int(x1), int(y1)), margin)


def streets(place: Place, split: str, index: np.ndarray) -> SceneBatch:
    """Streets without vehicles in the place's weather at intensity 1: those of the numbers `index`."""
    batch = empty_batch(len(index), 1, 1)
    name = f"{WEATHERS[place.weather]}/{place.lane}/{split}"
    drawn = draw_weather(Stream(place.seed, name, "weather"), index, (WEATHERS[place.weather],))
    batch.weather, batch.sun, batch.fall_seed = drawn.weather, drawn.sun, drawn.fall_seed
    batch.intensity[:] = 1.0
    batch.prop, batch.prop_pose, batch.prop_style = draw_street(Stream(place.seed, name, "street"), index, batch.weather)
    batch.pose[:, 0] = place.pose
    return batch


def windows(raster: Raster, batch: SceneBatch, place: Place, size: int) -> np.ndarray:
    """(n, 3 * rows, columns) float32: the place's window of each picture, a colour's rows under the other's."""
    x0, y0, x1, y1 = place.window
    rgb = raster.render(batch, size, size, geometry=False).rgb[:, y0:y1, x0:x1]
    return np.ascontiguousarray(rgb.transpose(0, 3, 1, 2)).reshape(len(rgb), 3 * (y1 - y0), x1 - x0).astype(np.float32)


def queries(raster: Raster, place: Place, kinds: list[int], size: int, vehicle: bool = True) -> np.ndarray:
    """Windows of one picture of each kind, each in a street of its own; without `vehicle`, of the street alone."""
    index = np.arange(len(kinds))
    batch = streets(place, "queries", index)
    batch.entity[:, 0] = kinds if vehicle else -1
    off = Stream(place.seed, f"{WEATHERS[place.weather]}/{place.lane}", "astray").uniform(index, 2)
    batch.pose[:, 0, :2] += (ASTRAY * (2 * off - 1)).astype(np.float32)
    return windows(raster, batch, place, size)


def references(raster: Raster, place: Place, kinds: list[int], size: int) -> tuple[np.ndarray, np.ndarray]:
    """What the judge knows of each kind at a place: middle and mean deviation of every colour value, (kinds, 3 * rows, columns) float32."""
    index = np.arange(REFERENCES)
    batch = streets(place, "references", index)
    between = Stream(place.seed, "references", "between pixels").uniform(index, 2)
    batch.pose[:, 0, :2] += (ASTRAY / max(place.margin) * (between - 0.5)).astype(np.float32)
    middle, deviation = [], []
    for kind in kinds:
        batch.entity[:, 0] = kind
        seen = windows(raster, batch, place, size)
        middle.append(np.median(seen, axis=0))
        deviation.append(np.abs(seen - middle[-1]).mean(axis=0))
    return np.stack(middle).astype(np.float32), np.maximum(np.stack(deviation), NOTICED).astype(np.float32)


@kernel
def costs(seen, middle, inverse, base, most, noticed, rows, margin_x, margin_y, sums, out):  # type: ignore[no-untyped-def]
    """Least cost of every query under every kind, over all shifts: out (queries, kinds) float32.

    Sums run along columns first, into `sums` (columns,), so that several are added at a time in a fixed order.
    """
    zero = np.float32(0.0)
    columns = seen.shape[2] - 2 * margin_x
    high = rows - 2 * margin_y
    for q in range(seen.shape[0]):
        for k in range(middle.shape[0]):
            out[q, k] = np.inf
            for dy in range(2 * margin_y + 1):
                for dx in range(2 * margin_x + 1):
                    sums[:] = zero
                    for channel in range(3):
                        for row in range(high):
                            a, b = channel * rows + row + dy, channel * rows + row + margin_y
                            picture, centre = seen[q, a, dx : dx + columns], middle[k, b, margin_x : margin_x + columns]
                            sharp, start = inverse[k, b, margin_x : margin_x + columns], base[k, b, margin_x : margin_x + columns]
                            for x in range(columns):
                                gap = max(abs(picture[x] - centre[x]) - noticed, zero)
                                sums[x] += min(start[x] + gap * sharp[x], most)
                    total = zero
                    for x in range(columns):
                        total += sums[x]
                    out[q, k] = min(out[q, k], total)


def judge(seen: np.ndarray, middle: np.ndarray, deviation: np.ndarray, margin: tuple[int, int]) -> np.ndarray:
    """(queries, kinds) float32: what every query costs as every kind; the judge names the cheapest."""
    out = np.zeros((len(seen), len(middle)), dtype=np.float32)
    sums = np.zeros(seen.shape[2] - 2 * margin[0], dtype=np.float32)
    base, most = np.log(2 * deviation), np.float32(log(256 * ODD))
    costs(seen, middle, 1 / deviation, base, most, np.float32(NOTICED), seen.shape[1] // 3, *margin, sums, out)
    return out


@dataclass
class Verdicts:
    """What the judge said of one weather at one size.

    Attributes:
        kind: (n,) position in the list of kinds of what stands in each picture. `lane`: (n,) index of LANES.
        cost: (n, kinds) float32, of each picture as each kind. `empty`: the same with the vehicle left out.
    """

    kind: np.ndarray
    lane: np.ndarray
    cost: np.ndarray
    empty: np.ndarray

    @property
    def answer(self) -> np.ndarray:
        """(n,) the position that the judge names."""
        return self.cost.argmin(axis=1)


def examine(kinds: list[int], weather: str, size: int, seeds: int, threads: int = 1) -> Verdicts:
    """Ask the judge about every kind, at `seeds` places in each lane."""

    def at(address: tuple[int, int]) -> tuple[np.ndarray, ...]:
        seed, lane = address
        raster = Raster()
        place = find_place(WEATHERS.index(weather), lane, seed, kinds, size)
        known = references(raster, place, kinds, size)
        cost, empty = (judge(queries(raster, place, kinds, size, vehicle), *known, place.margin) for vehicle in (True, False))
        return np.arange(len(kinds)), np.full(len(kinds), lane), cost, empty

    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(at, [(seed, lane) for seed in range(seeds) for lane in range(len(LANES))])
        return Verdicts(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """95 % confidence interval of a share, after Wilson (1927)."""
    p = right / of
    middle, spread = p + z * z / (2 * of), z * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def report(names: list[str], verdicts: Verdicts) -> Iterator[tuple[str, str, int | None, int | None, float]]:
    """(part, name, right, of, percent): the whole, lanes, control, kinds that are not always told, confused and nearest pairs."""
    kind, cost, answer = verdicts.kind, verdicts.cost, verdicts.answer
    fine = kind == answer

    def share(part: str, name: str, of: np.ndarray) -> tuple[str, str, int, int, float]:
        return part, name, int(of.sum()), len(of), 100 * float(of.mean())

    yield share("overall", "right", fine)
    for lane, name in enumerate(LANE_NAMES):
        yield share("lane", name, fine[verdicts.lane == lane])
    yield share("control", "vehicle left out", verdicts.empty.argmin(axis=1) == kind)
    told = [share("kind", name, fine[kind == k]) for k, name in enumerate(names)]
    yield from sorted((row for row in told if row[4] < 100), key=lambda row: row[4])
    pairs, counts = np.unique(np.stack([kind, answer])[:, ~fine], axis=1, return_counts=True)
    for i in np.argsort(-counts, kind="stable")[:LISTED]:
        a, b = pairs[:, i]
        of = int((kind == a).sum())
        yield "pair", f"{names[a]} > {names[b]}", int(counts[i]), of, 100 * int(counts[i]) / of
    own = np.take_along_axis(cost, kind[:, None], axis=1)
    ahead = np.stack([(100 * (cost / own - 1))[kind == k].min(axis=0) for k in range(len(names))])
    np.fill_diagonal(ahead, np.inf)
    for flat in np.argsort(ahead, axis=None, kind="stable")[: min(LISTED, len(names) * (len(names) - 1))]:
        a, b = np.unravel_index(flat, ahead.shape)
        yield "nearest", f"{names[a]} > {names[b]}", None, None, float(ahead[a, b])


def write(path: Path, weather: str, size: int, rows: list[list[object]]) -> None:
    """Replace the rows of this weather and size in a CSV file."""
    kept = []
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[:2] != [weather, str(size)]]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept, *rows])


def chosen(text: str, among: tuple[str, ...], what: str) -> list[str]:
    """The names in a list with commas between, or all. Exits with code 2 and one line for an unknown one."""
    names = list(among) if text == "all" else text.split(",")
    for name in names:
        if name not in among:
            print(f"legibility: there is no {what} '{name}': choose among {', '.join(among)}", file=sys.stderr)
            sys.exit(2)
    return names


def main() -> None:
    """Examine, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="all", help="kinds with commas between; only all of them are written to a file")
    parser.add_argument("--weather", default="all", help="weathers with commas between")
    parser.add_argument("--size", type=int, help="sides of the pictures, pixels (default: 128 in every weather, 64 in clear weather)")
    parser.add_argument("--seeds", type=int, default=5, help="places in each lane")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    names, weathers = chosen(args.kinds, ENTITIES, "kind"), chosen(args.weather, WEATHERS, "weather")
    kinds = [ENTITIES.index(name) for name in names]
    cases = [(weather, args.size or 128) for weather in weathers]
    cases += [("clear", 64)] * (args.size is None and "clear" in weathers)
    for weather, size in cases:
        began = time.perf_counter()
        rows = list(report(names, examine(kinds, weather, size, args.seeds, args.threads)))
        seconds = time.perf_counter() - began
        print(f"\n{weather}, {size} pixels, {seconds:.0f} s")
        settings, where = f"intensity 1, seeds 0-{args.seeds - 1}, {len(names)} kinds", machine("numpy", "numba")
        written: list[list[object]] = []
        for part, name, right, of, percent in rows:
            if right is None or of is None:
                print(f"  {part:8} {name:45} {'':15} {percent:7.2f} %")
                written.append([weather, size, part, name, "", "", f"{percent:.2f}", "", "", settings, where])
                continue
            low, high = (100 * end for end in wilson(right, of))
            print(f"  {part:8} {name:45} {right:6} / {of:6} {percent:7.2f} % ({low:.2f} to {high:.2f})")
            written.append([weather, size, part, name, right, of, f"{percent:.2f}", f"{low:.2f}", f"{high:.2f}", settings, where])
        if args.kinds == "all":
            write(args.out, weather, size, written)


if __name__ == "__main__":
    main()
