"""Files of films: MP4, WebP and GIF."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from simtown.core.files import replacing
from simtown.town.checks import TownError

#: The longest film, seconds, the most pictures of one, and the endings of files.
LONGEST, MOST = 600.0, 36_001
ENDINGS = (".mp4", ".webp", ".gif")
#: Bytes at the end of an MP4 file that hold the index of the longest clip.
_INDEX = 1_000_000


def check(path: Path, fps: float, size: tuple[int, int]) -> None:
    """Raises TownError if :func:`write` could not write this file, before anything is drawn."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise TownError(f"{path} does not end as a film does: end it in .mp4, .webp or .gif")
    if path.exists():
        raise TownError(f"{path} exists; remove it or give another path")
    if not path.parent.is_dir():
        raise TownError(f"{path.parent} is not a directory: make it first")
    if ending == ".mp4" and any(side % 2 for side in size):
        even = f"MP4 needs even sides, not {size[0]}x{size[1]}"
        raise TownError(f"{even}: give another `size`, or write a .gif")
    if ending == ".gif" and fps > 50:
        raise TownError(f"GIF shows at most 50 pictures a second, not {fps:g}: give fewer, or write an .mp4")


def write(
    pictures: Iterable[np.ndarray],
    path: Path,
    fps: float,
    size: tuple[int, int],
    progress: Callable[[int], object],
) -> None:
    """Write (h, w, 3) uint8 pictures, whole or not at all; see :meth:`simtown.town.TownFilm.save`."""
    check(path, fps, size)

    def drawn() -> Iterator[np.ndarray]:
        for picture in pictures:
            yield picture
            progress(1)

    with replacing(path, ending := path.suffix.lower()) as temporary:
        {".mp4": _mp4, ".webp": _webp, ".gif": _gif}[ending](drawn(), temporary, fps, size)


def _mp4(pictures: Iterator[np.ndarray], path: Path, fps: float, size: tuple[int, int]) -> None:
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


def _webp(pictures: Iterator[np.ndarray], path: Path, fps: float, size: tuple[int, int]) -> None:
    from PIL import Image

    first, *rest = (Image.fromarray(picture) for picture in pictures)
    ends = np.round(np.arange(len(rest) + 2) * 1000 / fps).astype(int)
    duration = np.diff(ends).tolist()
    first.save(path, save_all=True, append_images=rest, duration=duration, loop=0, quality=85, method=4)


def _gif(pictures: Iterator[np.ndarray], path: Path, fps: float, size: tuple[int, int]) -> None:
    """All frames share the first one's colours, so that what stands still does not flicker."""
    from PIL import Image

    first = Image.fromarray(next(pictures)).quantize(256, method=Image.Quantize.MEDIANCUT)
    rest = [Image.fromarray(p).quantize(palette=first, dither=Image.Dither.NONE) for p in pictures]
    ends = np.round(np.arange(len(rest) + 2) * 100 / fps).astype(int)  # a GIF counts hundredths of a second
    durations = (10 * np.diff(ends)).tolist()
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0, optimize=False)
