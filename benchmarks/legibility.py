"""Can the kinds of vehicles be told apart in small pictures? A judge that knows all names the one it sees.

    python benchmarks/legibility.py       all kinds, every weather at intensity 1, 128 and 64 pixels
    python benchmarks/legibility.py --kinds scooter,motorcycle --weather night --size 128

For each of five seeds and both lanes there is one place. Every kind stands there once, alone and whole, in a
street of its own. The judge knows the place to within `ASTRAY` metres, but not the kind. It has drawn every
kind at that place in `REFERENCES` other streets; so it knows of each kind and pixel the median colour and how
far streets stray from it. It names the kind whose drawings explain the picture best: every colour value costs
what it has under a Laplace distribution about the median, and the best of all shifts counts.

The judge has seen the kinds either in the weather that it is asked about ("weather"), or in clear weather
only, and of the other weather the street without vehicles and one map of colours ("daylight", the stricter).

Three things keep the judge from seeing more than a person does: differences of less than `NOTICED` of 255
levels cost nothing; the picture is shifted by whole pixels only; a value costs at most as much as one in
`ODD` that may be anything, so that a flake or a lamp decides nothing. The control is the same with the
vehicle left out: the judge must be at chance. Vehicles that hide each other, other headings and other
distances are not measured.

A pair "a > b" counts pictures of a that were taken for b. "nearest" says by how much worse b explains a's
pictures than a does, per cent of how much worse the street without a vehicle does (the median; twins have 0).
In benchmarks/results/legibility.csv a run replaces the rows of the same weather and size.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from math import ceil, log
from typing import NamedTuple

import numpy as np
from machine import RESULTS, Rows, machine, options
from scipy import stats

from simtown.assets.catalogue import ENTITIES
from simtown.core.streams import Stream
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.placement import LANES, draw_poses, half_sizes
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import unclipped_boxes
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS, draw_weather

LANE_NAMES = ("near lane, heading right", "far lane, heading left")
#: What the judge has seen of the kinds.
SEEN = ("weather", "daylight")
#: Streets in which the judge has seen every kind at a place.
REFERENCES = 16
#: How far from the place that the judge is told a vehicle may stand, along and across the road, metres.
ASTRAY = 0.15
#: Levels of 255 below which a difference of colour counts for nothing; the judge takes no pixel to be surer
#: than that.
NOTICED = 8.0
#: One colour value in so many may be anything.
ODD = 16
#: Pairs listed at most.
LISTED = 12


class Place(NamedTuple):
    """One place on the road."""

    address: str  # of its streets in the world's randomness, with the seed
    seed: int  # of everything random
    pose: np.ndarray  # (3,) float32 x, y (metres), yaw (radians)
    size: int  # sides of the pictures, pixels
    #: x0, y0, x1, y1 pixels; holds every kind that is asked about, and a margin for shifts.
    window: tuple[int, int, int, int]
    margin: tuple[int, int]  # shifts tried to each side, pixels: along x, along y


def find_place(seed: int, lane: int, weather: str, kinds: list[int], size: int) -> Place:
    """A random place in a lane at which even the longest kind of the catalogue lies wholly in the picture."""
    camera, address = Camera(), f"{weather}, lane {lane}"
    u = Stream(seed, address, "place").uniform(np.zeros(1, dtype=np.int64), 3)
    u[:, 0] = 0.75 - 0.5 * lane  # draw_poses takes the far lane below a half
    u[:, 2] = 0.05 + 0.9 * u[:, 2]  # room to stand astray
    pose = draw_poses(u[:, None], np.array([[int(half_sizes()[:, 0].argmax())]]))[0, 0]
    depth = float(pose[1]) - camera.y
    along = ASTRAY * camera.focal * size / depth  # pixels
    margin = (ceil(along), ceil(along * camera.z / depth))
    n = len(kinds)
    scenes = np.array(kinds)[:, None], np.tile(pose, (n, 1, 1)), np.tile(camera.row(), (n, 1))
    box = unclipped_boxes(*scenes, size, size)[:, 0]
    x0, y0 = np.maximum(np.floor(box[:, :2].min(axis=0)).astype(int) - margin, 0)
    x1, y1 = np.minimum(np.ceil(box[:, 2:].max(axis=0)).astype(int) + margin, size)
    return Place(address, seed, pose, size, (int(x0), int(y0), int(x1), int(y1)), margin)


def streets(place: Place, role: str, count: int, weather: str, intensity: float = 1.0) -> SceneBatch:
    """Streets in one weather, each with room for a vehicle at the place; those of another role are others."""
    index, stream = np.arange(count), partial(Stream, place.seed, f"{place.address}, {role}")
    batch = empty_batch(count, 1, 1)
    drawn = draw_weather(stream("weather"), index, (weather,))
    batch.weather, batch.sun, batch.fall_seed = drawn["weather"], drawn["sun"], drawn["fall_seed"]
    batch.intensity[:] = intensity
    street = draw_street(stream("street"), index, batch.weather)
    batch.prop, batch.prop_pose, batch.prop_style = street
    batch.pose[:, 0] = place.pose
    return batch


def stray(batch: SceneBatch, place: Place, role: str, metres: float) -> None:
    """Move the vehicles by up to so many metres along and across the road."""
    u = Stream(place.seed, f"{place.address}, {role}", "astray").uniform(np.arange(len(batch)), 2)
    batch.pose[:, 0, :2] += (metres * (2 * u - 1)).astype(np.float32)


def windows(raster: Raster, batch: SceneBatch, place: Place) -> tuple[np.ndarray, np.ndarray]:
    """The place's window of each picture, (n, 3 * rows, columns) float32, a colour's rows under the other's;
    and where it shows the vehicle, (n, rows, columns) bool.
    """
    x0, y0, x1, y1 = place.window
    frames = raster.render(batch, place.size, place.size)
    rgb = frames.rgb[:, y0:y1, x0:x1].transpose(0, 3, 1, 2)
    return rgb.reshape(len(rgb), -1, x1 - x0).astype(np.float32), frames.ids[:, y0:y1, x0:x1] == 1


def queries(raster: Raster, place: Place, kinds: list[int], weather: str, vehicle: bool = True) -> np.ndarray:
    """Windows of a picture of each kind, each in a street of its own; or of the streets alone."""
    batch = streets(place, "asked", len(kinds), weather)
    batch.entity[:, 0] = kinds if vehicle else -1
    stray(batch, place, "asked", ASTRAY)
    return windows(raster, batch, place)[0]


class Known(NamedTuple):
    """What the judge knows of each kind at a place, and last of the street without a vehicle.

    All are (kinds + 1, 3 * rows, columns).
    """

    middle: np.ndarray  # float32, median of every colour value
    deviation: np.ndarray  # float32, how far streets stray from it
    vehicle: np.ndarray  # bool, where the vehicle shows


def known(raster: Raster, place: Place, kinds: list[int], weather: str, intensity: float = 1.0) -> Known:
    """What pictures in one weather tell of the kinds."""
    batch = streets(place, "known", REFERENCES, weather, intensity)
    stray(batch, place, "known", 0.5 * ASTRAY / max(place.margin))  # half a pixel: shifts are whole ones
    middle, deviation, vehicle = [], [], []
    for kind in [*kinds, -1]:
        batch.entity[:, 0] = kind
        seen, own = windows(raster, batch, place)
        middle.append(np.median(seen, axis=0))
        deviation.append(np.abs(seen - middle[-1]).mean(axis=0))
        vehicle.append(np.tile(own.mean(axis=0) >= 0.5, (3, 1)))
    return Known(np.stack(middle), np.stack(deviation), np.stack(vehicle))


def by_daylight(day: Known, seen: Known) -> Known:
    """The kinds as they were on `day`, and the street and one map of colours of `seen`."""

    def colours(picture: np.ndarray) -> np.ndarray:
        return picture.reshape(len(picture), 3, -1).transpose(0, 2, 1)  # (kinds, pixels, 3)

    vehicle = colours(day.vehicle)[..., 0]
    before = np.concatenate([colours(day.middle), np.ones_like(colours(day.middle)[..., :1])], axis=-1)
    after = colours(seen.middle)[vehicle]
    table = np.linalg.lstsq(before[vehicle].astype(np.float64), after.astype(np.float64), rcond=None)[0]
    residual = float(np.abs(before[vehicle] @ table - after).mean())
    expected = (before @ table).transpose(0, 2, 1).reshape(day.middle.shape).astype(np.float32)
    return Known(
        np.where(day.vehicle, expected, seen.middle[-1]),
        np.where(day.vehicle, np.maximum(day.deviation, np.float32(residual)), seen.deviation[-1]),
        day.vehicle,
    )


def judge(seen: np.ndarray, kinds: Known, margin: tuple[int, int]) -> np.ndarray:
    """(queries, kinds + 1) float32: what every query costs as every kind, and last as the street without a
    vehicle: the least over all shifts.
    """
    across, down = margin
    colours = (3, seen.shape[1] // 3, seen.shape[2])
    inner = (slice(None), slice(down, colours[1] - down), slice(across, colours[2] - across))
    deviation = np.maximum(kinds.deviation, np.float32(NOTICED)).reshape(-1, *colours)
    base, most = np.log(2 * deviation), np.float32(log(256 * ODD))
    out = np.full((len(seen), len(deviation)), np.inf, dtype=np.float32)
    pictures = seen.reshape(-1, *colours)
    for dy, dx in product(range(2 * down + 1), range(2 * across + 1)):
        shifted = pictures[:, :, dy : dy + colours[1] - 2 * down, dx : dx + colours[2] - 2 * across]
        for kind, middle in enumerate(kinds.middle.reshape(-1, *colours)):
            gap = np.maximum(np.abs(shifted - middle[inner]) - np.float32(NOTICED), 0)
            cost = np.minimum(base[kind][inner] + gap / deviation[kind][inner], most)
            out[:, kind] = np.minimum(out[:, kind], cost.sum(axis=(1, 2, 3)))
    return out


class Verdicts(NamedTuple):
    """What the judge said of one weather at one size, having seen one of SEEN."""

    kind: np.ndarray  # (n,) position in the list of kinds of what stands in each picture
    lane: np.ndarray  # (n,) index of LANES
    cost: np.ndarray  # (n, kinds + 1) float32, of each picture as each kind and as the bare street
    empty: np.ndarray  # the same with the vehicle left out


def examine(kinds: list[int], weather: str, size: int, seeds: int, threads: int = 1) -> dict[str, Verdicts]:
    """Ask the judge about every kind, at `seeds` places in each lane, for each of SEEN."""

    def at(address: tuple[int, int]) -> list[tuple[np.ndarray, ...]]:
        raster, place = Raster(), find_place(*address, weather, kinds, size)
        pictures = [queries(raster, place, kinds, weather, vehicle) for vehicle in (True, False)]
        seen = known(raster, place, kinds, weather)
        daylight = by_daylight(known(raster, place, kinds, "clear", 0.5), seen)
        which = np.arange(len(kinds)), np.full(len(kinds), address[1])
        return [
            (*which, *(judge(asked, knows, place.margin) for asked in pictures)) for knows in (seen, daylight)
        ]

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(at, product(range(seeds), range(len(LANES)))))
    both = (Verdicts(*map(np.concatenate, zip(*part, strict=True))) for part in zip(*parts, strict=True))
    return dict(zip(SEEN, both, strict=True))


def report(names: list[str], verdicts: Verdicts) -> Iterator[tuple[str, str, int | None, int | None, float]]:
    """(part, name, right, of, percent): the whole, lanes, control, kinds that are not always told, confused
    and nearest pairs.
    """
    kind, cost, answers = verdicts.kind, verdicts.cost, verdicts.cost[:, :-1].argmin(axis=1)
    fine = kind == answers

    def share(part: str, name: str, of: np.ndarray) -> tuple[str, str, int, int, float]:
        return part, name, int(of.sum()), len(of), 100 * float(of.mean())

    yield share("overall", "right", fine)
    for lane, name in enumerate(LANE_NAMES):
        yield share("lane", name, fine[verdicts.lane == lane])
    yield share("control", "vehicle left out", verdicts.empty[:, :-1].argmin(axis=1) == kind)
    shares = [share("kind", name, fine[kind == k]) for k, name in enumerate(names)]
    yield from sorted((row for row in shares if row[4] < 100), key=lambda row: row[4])
    pairs, counts = np.unique(np.stack([kind, answers])[:, ~fine], axis=1, return_counts=True)
    for i in np.argsort(-counts, kind="stable")[:LISTED]:
        (a, b), count, of = pairs[:, i], int(counts[i]), int((kind == pairs[0, i]).sum())
        yield "pair", f"{names[a]} > {names[b]}", count, of, 100 * count / of
    own = np.take_along_axis(cost, kind[:, None], axis=1)
    worse = 100 * (cost[:, :-1] - own) / (cost[:, -1:] - own)
    ahead = np.stack([np.median(worse[kind == k], axis=0) for k in range(len(names))])
    np.fill_diagonal(ahead, np.inf)
    for flat in np.argsort(ahead, axis=None, kind="stable")[: min(LISTED, len(names) * (len(names) - 1))]:
        a, b = np.unravel_index(flat, ahead.shape)
        yield "nearest", f"{names[a]} > {names[b]}", None, None, float(ahead[a, b])


def main() -> None:
    """Examine, print, and write the results of all kinds."""
    what = {"kinds": list(ENTITIES), "weather": list(WEATHERS), "size": 0}
    args = options(__doc__, **what, seeds=5, threads=2, out=RESULTS / "legibility.csv")
    kinds = [ENTITIES.index(name) for name in args.kinds]
    cases = [(weather, args.size or 128) for weather in args.weather]
    if not args.size and "clear" in args.weather:
        cases.append(("clear", 64))
    settings = f"intensity 1, seeds 0-{args.seeds - 1}, {len(kinds)} kinds"
    out = args.out if args.kinds == list(ENTITIES) else None
    rows, where = Rows(out, "", "weather", "size"), machine("numpy")
    for weather, size in cases:
        for seen, verdicts in examine(kinds, weather, size, args.seeds, args.threads).items():
            for part, name, right, of, percent in report(args.kinds, verdicts):
                row = {"weather": weather, "size": size, "seen": seen, "part": part, "name": name}
                row |= {"right": right, "of": of, "percent": f"{percent:.2f}", "low95": "", "high95": ""}
                if right is not None and of is not None:
                    ends = stats.binomtest(right, of).proportion_ci(method="wilson")
                    row["low95"], row["high95"] = (f"{100 * end:.2f}" for end in ends)
                rows.add(row | {"settings": settings, "machine": where})


if __name__ == "__main__":
    main()
