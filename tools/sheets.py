"""Contact sheets of all that the town is made of, for docs/gallery and for whoever changes how it looks.

    # every kind by day, at night and in fog, as at 128 pixels
    python -m tools.sheets kinds --out docs/gallery/kinds.webp
    python -m tools.sheets kinds --size 512 --kinds sedan,hearse --weather snow,rain --lane far --out two.png
    # sampled streets with two vehicles
    python -m tools.sheets streets --size 256 --count 12 --out streets.png
    # street things: building, tree, furniture, person or animal
    python -m tools.sheets building --out buildings.png
    # a town at rest and in motion, and another from every camera
    python -m tools.sheets town --size 432 --out town.webp
    # all sheets of the gallery (`GALLERY`)
    python -m tools.sheets gallery --out docs/gallery

A sheet of kinds shows a part of the frame: the vehicle as large as it is in a whole picture of --size pixels.
Street things differ in their tints, people in their poses too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from simtown import Town
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.assets.palette import TINTS
from simtown.cli.sharing import save_picture
from simtown.core.streams import Stream
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.render.raster import Raster
from simtown.render.sheet import SheetCell, contact_sheet
from simtown.scenes.camera import CAMERAS, NEAR, Camera
from simtown.scenes.placement import LANES
from simtown.scenes.scene import SceneBatch, empty_batch
from simtown.scenes.silhouette import boxes
from simtown.scenes.street import FRONT, draw_street
from simtown.scenes.weather import WEATHERS

LANE_NAMES = ("near", "far")
GROUPS = tuple(group for group in STREET if group != "cloud")
SUBJECTS = ("kinds", "streets", "town", "cameras", *GROUPS)
#: The sheets of docs/gallery.
GALLERY = {
    "kinds.webp": "kinds",
    "streets.webp": "streets --size 256 --count 14 --seed 173",
    "buildings.webp": "building --size 256",
    "trees.webp": "tree --size 160",
    "furniture.webp": "furniture --size 160",
    "people.webp": "person --size 120",
    "animals.webp": "animal --size 200",
    "town.webp": "town --size 432",
    "cameras.webp": "cameras --size 432",
}
#: The part of a frame that a sheet of kinds shows: its width and height, of the frame's side, and the room
#: below the wheels.
WINDOW, BELOW = (0.70, 0.42), 0.025
#: Intensity of the weather in a sheet of kinds: at night they can still be told apart.
INTENSITY = 0.7
#: Least distance from which street things are seen, metres: far from the camera's near plane.
CLOSEST = 1.5 * NEAR
#: Width that the columns of a sheet fill, pixels.
WIDTH = 1800
#: The vehicles of the town: kind, x, lane and speed; and the colours of their boxes.
TRAFFIC = (("fire truck", -5.6, "near", 3.0), ("taxi", 1.2, "near", 6.0))
TRAFFIC += (("bicycle", -1.0, "far", 2.0), ("school bus", 6.6, "far", 2.0))
COLOURS = ((186, 40, 40), (138, 98, 0), (28, 84, 160), (30, 128, 60))

Named = tuple[str, np.ndarray]


def dress(batch: SceneBatch, weathers: list[str], intensity: float, seed: int) -> None:
    """Give scenes a weather each, a low sun at dusk, and the street number `seed` (winter trees in snow)."""
    batch.weather[:] = [WEATHERS.index(name) for name in weathers]
    batch.intensity[:] = intensity
    batch.sun[:, 1] = np.where(batch.weather == WEATHERS.index("dusk"), 0.42, 0.9)
    batch.fall_seed[:] = seed
    street = draw_street(Stream(0, "sheet", "street"), np.full(len(batch), seed), batch.weather)
    batch.prop, batch.prop_pose, batch.prop_style = street


def kinds(names: list[str], weathers: list[str], lane: int, size: int, seed: int) -> Iterator[Named]:
    """Every kind at one place before one street, in each weather, side by side."""
    width, height = (round(share * size) for share in WINDOW)
    batch = empty_batch(len(weathers), 1, 1)
    dress(batch, weathers, INTENSITY, seed)
    batch.pose[:, 0] = (0.0, *LANES[lane])
    batch.entity[:, 0] = ENTITIES.index("school bus")
    bottom = round(float(boxes(batch, size, size)[0, 0, 3]) + BELOW * size)
    left = (size - width) // 2
    for name in names:
        batch.entity[:, 0] = ENTITIES.index(name)
        rgb = Raster().render(batch, size, size, geometry=False).rgb
        yield name, np.concatenate(list(rgb[:, bottom - height : bottom, left : left + width]), axis=1)


def streets(count: int, size: int, seed: int) -> Iterator[Named]:
    """Scenes as a data set holds them, all kinds and weathers."""
    settings = Settings(entities=len(ENTITIES), n=count, frequencies="uniform", seed=seed)
    scenes = sample(source_of(settings).recipe("train"), np.arange(count + count % 2)).scene[:count]
    for i, rgb in enumerate(Raster().render(scenes, size, size, geometry=False).rgb):
        yield f"{i}: {WEATHERS[scenes.weather[i]]} {scenes.intensity[i]:.1f}", rgb


def things(group: str, size: int) -> Iterator[Named]:
    """Every kind of a group of street things, alone, as large as the picture; people in every pose, side by
    side.
    """
    for name, scenes in portraits(group):
        yield name, np.concatenate(list(Raster().render(scenes, size, size, geometry=False).rgb), axis=1)


def portraits(group: str) -> Iterator[tuple[str, SceneBatch]]:
    """The scenes of :func:`things`: a batch for each kind, with a scene for each pose."""
    looks = np.arange(3 if group == "person" else 1)
    for number, name in enumerate(STREET[group]):
        low, high = atlas().bounds[len(ENTITIES) + PROPS.index(name)].astype(np.float64)
        extent, height = max(high[0] - low[0], high[2]), 0.7 * high[2]
        scenes = empty_batch(len(looks), 1, 1)
        scenes.prop[:] = PROPS.index(name)
        # a style's remainders pick two tints, and its quotient the pose
        scenes.prop_style[:, 0] = looks * TINTS * TINTS + number * (TINTS + 1) % (TINTS * TINTS)
        scenes.prop_pose[:] = (0.0, FRONT, 0.0, 0.0, 1.0)
        away = max(2 * extent, CLOSEST)
        focal, middle = 0.76 * away / extent, (low[0] + high[0]) / 2
        below = (0.12 if group == "person" else 0.06) / focal  # feet and benches stand in front of a body
        eye = Camera(middle, FRONT + low[1] - away, height, focal=focal, bottom=-height / away - below)
        scenes.camera[:] = eye.row()
        yield name, scenes


def built(seed: int) -> Town:
    """A clear street with the vehicles of `TRAFFIC`."""
    street = Town.random(seed=seed, vehicles=0, weather="clear")
    for kind, x, lane, speed in TRAFFIC:
        street.drive(street.place(kind, x=x, lane=lane), speed)
    return street


def town(size: tuple[int, int]) -> Iterator[SheetCell]:
    """A street that was built, and the same 1.5 s later with each vehicle's box and visible share."""
    street = built(7)
    yield SheetCell(street.render(size).rgb, [("a street, built in Python", None)])
    street.step(1.5)
    truth = street.truth(size)
    vehicles = [thing for thing in truth.things if thing.group == "vehicle"]
    lines = [(f"{v.name}: {v.visible:.0%} visible", c) for v, c in zip(vehicles, COLOURS, strict=True)]
    outlines = [(v.box, c) for v, c in zip(vehicles, COLOURS, strict=True)]
    yield SheetCell(truth.rgb, [("1.5 s later", None), *lines], outlines)


def cameras(size: tuple[int, int]) -> Iterator[Named]:
    """One street from every camera that has a name."""
    street = built(2)
    for name in CAMERAS:
        street.camera = name
        yield name, street.render(size).rgb


def drawn(args: argparse.Namespace) -> list[SheetCell]:
    """The pictures that were asked for, in order, with their names."""
    wide = args.size * 16 // 9, args.size
    if args.subject == "town":
        return list(town(wide))
    if args.subject == "cameras":
        pictures = cameras(wide)
    elif args.subject == "kinds":
        pictures = kinds(args.kinds, args.weather, LANE_NAMES.index(args.lane), args.size, args.seed)
    elif args.subject == "streets":
        pictures = streets(args.count, args.size, args.seed)
    else:
        pictures = things(args.subject, args.size)
    return [SheetCell(rgb, [(name, None)]) for name, rgb in pictures]


def save(cells: list[SheetCell], path: Path) -> None:
    """Write a sheet as PNG or WebP, by the ending of its name."""
    sheet = contact_sheet(cells, max(1, WIDTH // cells[0].image.shape[1]))
    path.parent.mkdir(parents=True, exist_ok=True)
    save_picture(sheet, path)
    kilobytes = path.stat().st_size // 1000
    print(f"{path}: {len(cells)} pictures, {sheet.width} x {sheet.height} pixels, {kilobytes} kB")


def parse(words: list[str]) -> argparse.Namespace:
    """The settings of one sheet."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="sheets", description=__doc__, formatter_class=layout)
    add = parser.add_argument
    add("subject", choices=(*SUBJECTS, "gallery"))
    add("--size", type=int, default=128, help="sides of the pictures, pixels")
    add("--kinds", default=",".join(ENTITIES), help="with commas between, of a sheet of kinds")
    add("--weather", default="clear,night,fog", help="with commas between, of a sheet of kinds")
    add("--lane", choices=LANE_NAMES, default="near", help="of a sheet of kinds")
    add("--count", type=int, default=12, help="how many streets")
    add("--seed", type=int, default=0, help="which street, or which streets")
    add("--out", type=Path, default=Path("sheet.png"), help="a .png or .webp; of the gallery its folder")
    args = parser.parse_args(words)
    args.kinds, args.weather = args.kinds.split(","), args.weather.split(",")
    for name in {*args.kinds, *args.weather} - {*ENTITIES, *WEATHERS}:
        parser.error(f"there is no kind or weather '{name}'")
    return args


def make(words: list[str]) -> None:
    """Draw one sheet, or the gallery's."""
    args = parse(words)
    if args.subject == "gallery":
        for name, text in GALLERY.items():
            make([*text.split(), "--out", str(args.out / name)])
        return
    save(drawn(args), args.out)


if __name__ == "__main__":
    make(sys.argv[1:])
