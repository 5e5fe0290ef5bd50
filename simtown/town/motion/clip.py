"""A clip: some seconds of a town with traffic, as MP4 or GIF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simtown.core.files import replacing
from simtown.core.streams import Stream
from simtown.town.checks import TownError, number, picture_size, whole
from simtown.town.motion.physics import Contact

if TYPE_CHECKING:
    from simtown.town.town import Town

#: The speeds of drivers and walkers, metres a second, and about how many metres of the road are in view.
DRIVE, _WALK, VIEW = (2.0, 9.0), (1.0, 1.7), 20.0
#: The most that y (metres) and the least that the cosine of yaw is of vehicles that are on the road.
_ROAD, _ALONG = 3.7, 0.9
#: The longest clip, seconds, and the most frames a second.
LONGEST, FASTEST = 600.0, 60
#: Bytes at the end of an MP4 file that hold the index of the longest clip.
_INDEX = 1_000_000


def walk_off(town: Town) -> None:
    """Let all people walk to either side, and everything have its pace from now on."""
    people = [t for t in town.things if t.group == "person"]
    walks = Stream(town.seed, "clip", "walk").uniform(np.arange(len(people)), 2)
    for person, (turn, pace) in zip(people, walks, strict=True):
        with suppress(TownError):  # where it has no room to turn
            town.turn(person, (0.0 if turn < 0.5 else np.pi) - person.front)
        town.drive(person, _WALK[0] + float(pace) * (_WALK[1] - _WALK[0]))
    for thing in town.things:  # they are in motion when the clip begins
        vx, vy = thing.pace * float(np.cos(thing.front)), thing.pace * float(np.sin(thing.front))
        thing.velocity = vx, vy, 0.0


def drive_off(town: Town, seconds: float) -> None:
    """Let the vehicles on the road drive, so fast that those in view are still in view after so many seconds.

    It lets people walk, too.
    """
    for vehicle in town.vehicles:
        way = float(np.cos(vehicle.front))
        if abs(vehicle.y) < _ROAD and abs(way) > _ALONG:
            room = VIEW / 3 - np.sign(way) * (vehicle.x - town.camera.x)
            town.drive(vehicle, float(np.clip(room / seconds, *DRIVE)))
    walk_off(town)


def frames(
    town: Town, seconds: float, fps: int, size: tuple[int, int]
) -> Iterator[tuple[np.ndarray, list[Contact]]]:
    """(h, w, 3) uint8 pictures of a town, the first as it is now, and what touched since the last one."""
    contacts: list[Contact] = []
    seed = town.weather.seed
    for k in range(max(1, round(seconds * fps))):
        if k:
            contacts = town.step(1 / fps)
            town.weather.seed = (seed + k) % 2**32  # other raindrops or flakes in every picture
        yield town.render(size).rgb, contacts


def check(path: Path, seconds: float, fps: int, size: int | tuple[int, int]) -> tuple[int, int]:
    """Width and height of the pictures.

    Raises TownError if :func:`write` could not write this clip, before anything is drawn.
    """
    if path.suffix.lower() not in (".mp4", ".gif"):
        raise TownError(f"{path} does not end as a clip does: end it in .mp4 or .gif")
    if path.exists():
        raise TownError(f"{path} exists; remove it or give another path")
    if not path.parent.is_dir():
        raise TownError(f"{path.parent} is not a directory: make it first")
    size = picture_size(size)
    number(seconds, "seconds", 0.001, LONGEST)
    whole(fps, "fps", 1, FASTEST)
    if path.suffix.lower() == ".mp4" and any(side % 2 for side in size):
        even = f"MP4 needs even sides, not {size[0]}x{size[1]}"
        raise TownError(f"{even}: give another `size`, or write a .gif")
    if path.suffix.lower() == ".gif" and fps > 50:
        most = f"GIF shows at most 50 frames a second, not {fps}"
        raise TownError(f"{most}: give another `fps`, or write an .mp4")
    return size


def write(
    town: Town, path: Path, seconds: float, fps: int, size: tuple[int, int], progress: Callable[[int], object]
) -> list[Contact]:
    """Write a clip, whole or not at all; see :meth:`simtown.Town.film`."""
    touched: list[Contact] = []

    def pictures() -> Iterator[np.ndarray]:
        for picture, contacts in frames(town, seconds, fps, size):
            touched.extend(contacts)
            yield picture
            progress(1)

    with replacing(path, path.suffix.lower()) as temporary:
        (_mp4 if temporary.suffix == ".mp4" else _gif)(pictures(), temporary, fps, size)
    return touched


def _mp4(pictures: Iterator[np.ndarray], path: Path, fps: int, size: tuple[int, int]) -> None:
    import cv2

    path.write_bytes(b"\0")  # raises an error if nothing can be written: OpenCV does not say why it fails
    codec = cv2.VideoWriter.fourcc(*"vp09")  # VP9: browsers do not play MPEG-4 part 2
    writer = cv2.VideoWriter(str(path), codec, fps, size)
    if not writer.isOpened():
        raise TownError("this OpenCV writes no MP4: pip install opencv-python-headless, or write a .gif")
    try:
        for picture in pictures:
            writer.write(picture[..., ::-1])
    finally:
        writer.release()
    # OpenCV does not say that a disk is full: a whole file ends with its index, the box "moov"
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _INDEX))
        end = file.read()
    start = end.rfind(b"moov") - 4
    if start < 0 or int.from_bytes(end[start:][:4]) != len(end) - start:
        remedy = "make room on the disk, or give another `path`"
        raise TownError(f"the clip could not be written to its end: {remedy}")


def _gif(pictures: Iterator[np.ndarray], path: Path, fps: int, size: tuple[int, int]) -> None:
    """All frames share the first one's colours, so that what stands still does not flicker."""
    from PIL import Image

    first = Image.fromarray(next(pictures)).quantize(256, method=Image.Quantize.MEDIANCUT)
    rest = [Image.fromarray(p).quantize(palette=first, dither=Image.Dither.NONE) for p in pictures]
    ends = np.round(np.arange(len(rest) + 2) * 100 / fps).astype(int)  # a GIF counts hundredths of a second
    durations = (10 * np.diff(ends)).tolist()
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, optimize=False)
