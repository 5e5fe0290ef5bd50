"""A clip: a town with traffic, some seconds of it, as MP4 or GIF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.files import replacing
from simtown.scenes.placement import LANES, SWAY, half_sizes
from simtown.scenes.scene import Weather
from simtown.streams import Stream
from simtown.town.checks import TownError, whole
from simtown.town.physics import Contact
from simtown.town.things import Thing, overlapping
from simtown.town.town import Town

#: Speeds that drivers and walkers like, metres a second, and the least distance between two vehicles of a lane at first, metres.
_DRIVE, _WALK, _APART = (5.0, 11.0), (1.0, 1.7), 4.0
#: How far to either side traffic stands at first, metres, for every vehicle of a lane.
_ROOM = 11.0
#: How many places are tried for one vehicle.
_TRIES = 200
#: Longest clip, seconds, and most frames a second.
LONGEST, FASTEST = 600.0, 60


def traffic(seed: int, vehicles: int = 5, entities: int = 60, weather: str | None = None) -> Town:
    """A random street with so many vehicles that drive, of the first `entities` kinds, and with people who walk.

    Raises:
        TownError: numbers out of range.
    """
    if not 0 <= whole(vehicles, "vehicles") <= 40 or not 1 <= whole(entities, "entities") <= len(ENTITIES):
        raise TownError(f"{vehicles} vehicles of {entities} kinds: give from 0 to 40 vehicles, of 1 to {len(ENTITIES)} kinds")
    town = Town(seed, vehicles=0)
    if weather is not None:
        town.weather = Weather(weather, town.weather.intensity, *town.light, town.weather.seed)
    reach = _ROOM * max(vehicles, 2) / 2
    u = Stream(seed, "clip", "traffic").uniform(np.arange(vehicles * _TRIES), 5).reshape(vehicles, _TRIES, 5)
    for tries in u:
        for kind, lane, sway, place, pace in tries.tolist():
            y, yaw = LANES[int(lane < 0.5)]
            car = Thing(ENTITIES[int(kind * entities)], reach * (2 * place - 1), y + SWAY * (2 * sway - 1), yaw=yaw)
            if _clear(car, town.vehicles) and overlapping(car, town.things) is None:
                town.drive(town.place(car.kind, car.x, car.y, car.yaw), _DRIVE[0] + pace * (_DRIVE[1] - _DRIVE[0]))
                break
        else:
            raise TownError(f"{vehicles} vehicles find no room on the road: give fewer")
    people = [t for t in town.things if t.group == "person"]
    for person, (turn, pace) in zip(people, Stream(seed, "clip", "walk").uniform(np.arange(len(people)), 2), strict=True):
        _face(town, person, right=turn < 0.5)
        town.drive(person, _WALK[0] + float(pace) * (_WALK[1] - _WALK[0]))
    for thing in town.things:  # they are under way when the clip begins
        thing.velocity = (thing.pace * float(np.cos(thing.front)), thing.pace * float(np.sin(thing.front)), 0.0)
    return town


def _clear(car: Thing, cars: list[Thing]) -> bool:
    half = half_sizes()[:, 0]
    return all(
        (car.y > 0) != (other.y > 0) or abs(car.x - other.x) > half[ENTITIES.index(car.kind)] + half[ENTITIES.index(other.kind)] + _APART
        for other in cars
    )


def _face(town: Town, person: Thing, right: bool) -> None:
    """Turn a walker along the sidewalk, if nothing is in the way of it."""
    by = (0.0 if right else np.pi) - person.front
    try:
        town.turn(person, by)
    except TownError:
        return


def frames(town: Town, seconds: float, fps: int, size: tuple[int, int]) -> Iterator[tuple[np.ndarray, list[Contact]]]:
    """(h, w, 3) uint8 pictures, the first as the town is now, `fps` to a second; and what touched since the one before."""
    contacts: list[Contact] = []
    seed = town.weather.seed
    for k in range(max(1, round(seconds * fps))):
        if k:
            contacts = town.step(1 / fps)
            town.weather.seed = (seed + k) % 2**32  # what falls is elsewhere in every picture
        yield town.render(size).rgb, contacts


def check(path: Path, seconds: float, fps: int, size: tuple[int, int]) -> None:
    """Raises TownError, before anything is drawn, for what :func:`write` cannot write."""
    if path.suffix.lower() not in (".mp4", ".gif"):
        raise TownError(f"{path} does not end as a clip does: end it in .mp4 or .gif")
    if path.exists():
        raise TownError(f"{path} exists: give another --out, or remove it")
    if not path.parent.is_dir():
        raise TownError(f"{path.parent} is no directory: make it first")
    if not 0 < seconds <= LONGEST or not 1 <= fps <= FASTEST:
        raise TownError(f"{seconds} seconds at {fps} frames a second: give up to {LONGEST:.0f} seconds, and from 1 to {FASTEST} frames")
    if path.suffix.lower() == ".mp4" and any(side % 2 for side in size):
        raise TownError(f"MP4 needs even sides, not {size[0]}x{size[1]}: give another --size, or write a .gif")
    if path.suffix.lower() == ".gif" and fps > 50:
        raise TownError(f"GIF shows at most 50 frames a second, not {fps}: give another --fps, or write an .mp4")


def write(town: Town, path: Path, seconds: float = 4.0, fps: int = 25, size: tuple[int, int] = (512, 288),
          advanced: Callable[[int], None] = lambda n: None) -> list[Contact]:  # fmt: skip
    """Write a clip, whole or not at all; returns everything that touched.

    Args:
        path: ends in .mp4 or .gif, and does not exist. `advanced` hears of every frame.

    Raises:
        TownError: as :func:`check` and :meth:`simtown.town.town.Town.step`.
    """
    check(path, seconds, fps, size)
    touched: list[Contact] = []

    def pictures() -> Iterator[np.ndarray]:
        for picture, contacts in frames(town, seconds, fps, size):
            touched.extend(contacts)
            yield picture
            advanced(1)

    with replacing(path, path.suffix.lower()) as temporary:
        (_mp4 if temporary.suffix == ".mp4" else _gif)(pictures(), temporary, fps, size)
    return touched


def _mp4(pictures: Iterator[np.ndarray], path: Path, fps: int, size: tuple[int, int]) -> None:
    import cv2

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"vp09"), fps, size)  # VP9: browsers play no MPEG-4 part 2
    if not writer.isOpened():
        raise TownError("this OpenCV writes no MP4: pip install opencv-python-headless, or write a .gif")
    try:
        for picture in pictures:
            writer.write(picture[..., ::-1])
    finally:
        writer.release()


def _gif(pictures: Iterator[np.ndarray], path: Path, fps: int, size: tuple[int, int]) -> None:
    """All frames share the first one's colours, so that what stands still does not flicker."""
    from PIL import Image

    first = Image.fromarray(next(pictures)).quantize(256, method=Image.Quantize.MEDIANCUT)
    rest = [Image.fromarray(p).quantize(palette=first, dither=Image.Dither.NONE) for p in pictures]
    first.save(path, save_all=True, append_images=rest, duration=1000 / fps, loop=0, optimize=False)
