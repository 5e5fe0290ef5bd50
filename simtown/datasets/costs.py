"""What a long command takes, estimated before it begins: bytes, files and time.

Estimates follow from the settings or the manifest, and from rates that were measured once.

The rates are those of one core of an AMD EPYC (version 2 of the world, 20 entities, benchmarks/results).
Times differ on other machines: the progress of the command itself corrects them. Bytes are the same on every
machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path
from typing import Any

from simtown.core.amounts import duration, size
from simtown.datasets.captioned import BLOCK
from simtown.datasets.export import find_format
from simtown.datasets.gallery import DETAILS, SHEET, gallery_sample, thumb_size
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.shards import tasks
from simtown.datasets.stores import url_of

#: Bytes of an example in a shard, by pixels of a picture: images (of all weathers alike), masks, depth.
#: Between them, powers of the pixels. (What chooses the examples of a shard, in
#: :mod:`simtown.datasets.settings`, is coarser: it belongs to the format.)
_PICTURES = {
    "images": {1_024: 2_300, 2_048: 4_100, 16_384: 19_000, 65_536: 50_500, 262_144: 122_000},
    "masks": {1_024: 340, 2_048: 530, 16_384: 2_300, 65_536: 5_600, 262_144: 12_500},
    "depth": {1_024: 2_350, 2_048: 4_300, 16_384: 24_000, 65_536: 74_000, 262_144: 226_000},
}
#: Bytes of an example besides pictures.
_COLUMNS = 760
#: Bytes of a picture of a weather against the mean of all.
_WEATHERS = {
    "clear": 0.8,
    "cloudy": 0.87,
    "rain": 1.45,
    "fog": 0.76,
    "snow": 0.94,
    "dusk": 1.05,
    "night": 0.98,
}
#: Bytes of a PNG file against those of the same picture in a shard, and of a mask.
_PNG, _MASK_PNG = 0.97, 0.5
#: Seconds until a command has begun its work, of however few examples.
_START = 1.5
#: Bytes of a manifest, and of its entry of a shard.
_MANIFEST, _ENTRY = 30_000, 300


@dataclass(frozen=True)
class _Rate:
    """Seconds of one core for an example: a constant part, and a part that grows with the pixels."""

    example: float
    pixel: float

    def seconds(self, examples: int, pixels: int) -> float:
        """For `examples` pictures of `pixels` pixels."""
        return examples * (self.example + self.pixel * pixels)


@dataclass(frozen=True)
class _Form:
    """What an example takes in an export format.

    Attributes:
        rate: of one core.
        bytes: besides the PNG file of the picture.
        files: number of files.
        draws: whether masks are drawn that the data set does not hold.
        masks: whether stored masks are written as PNG files.
        joined: whether the bytes besides pictures are first written in parts.
    """

    rate: _Rate
    bytes: int
    files: float
    draws: bool = False
    masks: bool = False
    joined: bool = False


_GENERATE = _Rate(250e-6, 20e-9)
_DRAWING = _Rate(100e-6, 20e-9)
_GALLERY = _Rate(170e-6, 15e-9)
_CHECKING, _REDRAWING = _Rate(60e-6, 2e-9), _Rate(170e-6, 15e-9)
_CAPTIONS, _AUDIT = _Rate(30e-6, 0), _Rate(75e-6, 1e-9)
#: Seconds that an audit takes of any data set, and bytes an example of its temporary file.
_PROBES, _SURVEY = 4.0, 200
#: Bytes of the captions of a scene of two vehicles, and of three.
_CAPTION_BYTES = {2: 173, 3: 199}
_FORMATS = {
    "coco": _Form(_Rate(500e-6, 25e-9), 600, 1, draws=True, joined=True),
    "clevr": _Form(_Rate(300e-6, 20e-9), 1_100, 1, joined=True),
    "webdataset": _Form(_Rate(220e-6, 21e-9), 3_000, 1 / 1_000, masks=True),
    "parquet": _Form(_Rate(120e-6, 20e-9), -200, 0, masks=True),
    "yolo": _Form(_Rate(330e-6, 20e-9), -100, 2, draws=True),
    "png": _Form(_Rate(210e-6, 23e-9), 500, 1, masks=True, joined=True),
}
#: Bytes of an example on a gallery's page besides its thumbnail, and of a pixel of that.
_DETAIL, _THUMB_PIXEL = 800, 0.33


class RoomError(ValueError):
    """The disk has less room than a command will fill."""


@dataclass(frozen=True)
class Cost:
    """What a command takes.

    Attributes:
        seconds: of one core; None if unknown.
        pieces: the greatest number of cores that can share the work.
        bytes: written.
        files: written.
        fetched: bytes read from a data set behind a URL.
        passing: bytes of temporary files.
    """

    seconds: float | None
    pieces: int = 1
    bytes: int = 0
    files: int = 0
    fetched: int = 0
    passing: int = 0

    def lasting(self, cores: int) -> float:
        """Seconds of work on `cores` cores; infinite if unknown."""
        return inf if self.seconds is None else self.seconds / max(1, min(cores, self.pieces))

    def words(self, cores: int | None, place: Path | None = None) -> str:
        """Such as "writes about 1.2 GB in 14 files, about 25 s on 2 cores; 30 GB are free at /data".

        Args:
            cores: number of cores; None if unknown.
            place: where the command writes on this machine.
        """
        parts = []
        if self.fetched:
            parts.append(f"fetches up to {size(self.fetched)}")
        if self.files:
            parts.append(
                f"writes about {size(self.bytes)} in {self.files:,} file{'s' if self.files > 1 else ''}"
            )
        if self.seconds is not None and cores is None:
            parts.append(f"about {duration(max(1, self.seconds))} of one core's work")
        elif self.seconds is not None and cores is not None:
            used = max(1, min(cores, self.pieces))
            seconds = duration(_START + self.lasting(cores))
            parts.append(f"about {seconds} on {used} core{'s' if used > 1 else ''}")
        room = f"; {size(free(place))} are free at {nearest(place)}" if place and self.files else ""
        return ", ".join(parts or ["nothing is missing"]) + room

    def check_room(self, place: Path, advice: str) -> None:
        """Raises RoomError if the disk of a path has too little room; `advice` says what would need less."""
        free_bytes = free(place)
        needed = self.bytes + self.passing + self.files * _block(place)
        if needed > free_bytes:
            room = (
                f"this needs about {size(needed)} of room at {nearest(place)}, where {size(free_bytes)} are "
                "free"
            )
            raise RoomError(f"{room}: make room there, or give {advice}")


def nearest(place: Path) -> Path:
    """The path itself, or the nearest directory above it that exists."""
    return next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())


def free(place: Path) -> int:
    """Bytes that may be written at a path."""
    return shutil.disk_usage(nearest(place)).free


def _block(place: Path) -> int:
    """Bytes that a file can take on the disk beyond its own."""
    return os.statvfs(nearest(place)).f_frsize


def example_bytes(settings: Settings) -> dict[str, float]:
    """Bytes of an example in a shard: "columns", and "images", "masks" and "depth" if they are stored."""
    pixels = settings.width * settings.height
    weather = sum(_WEATHERS.get(name, 1.0) for name in settings.weathers) / max(len(settings.weathers), 1)
    stored = [
        name
        for name, kept in (("images", True), ("masks", settings.masks), ("depth", settings.depth))
        if kept
    ]
    pictures = {
        name: _between(_PICTURES[name], pixels) * (weather if name == "images" else 1.0) for name in stored
    }
    return {**pictures, "columns": float(_COLUMNS)}


def _between(measured: Mapping[int, float], pixels: int) -> float:
    """The bytes of `pixels` pixels: a power law through the two nearest measured numbers."""
    counts = sorted(measured)
    place = min(max(sum(count <= pixels for count in counts), 1), len(counts) - 1)
    low, high = counts[place - 1], counts[place]
    power = log(measured[high] / measured[low]) / log(high / low)
    return measured[low] * exp(power * log(pixels / low))


def of_generate(settings: Settings, sizes: Mapping[str, int], device: str) -> Cost:
    """What the missing shards take; `sizes`: bytes of the files that exist, by name."""
    listed = tasks(settings)
    missing = [task for task in listed if task.name not in sizes]
    examples = sum(task.count for task in missing)
    finished = sum(task.count for task in listed) - examples
    if finished:
        each = sum(sizes[task.name] for task in listed if task.name in sizes) / finished
    else:
        each = sum(example_bytes(settings).values())
    seconds = _GENERATE.seconds(examples, settings.width * settings.height) if device == "cpu" else None
    beside = 3 if missing else 0  # manifest, timings, preview
    written = int(each * examples) + (_MANIFEST + _ENTRY * len(listed) if missing else 0)
    return Cost(seconds if missing else None, len(missing), written, len(missing) + beside)


def of_export(data: Dataset, form: str, splits: Sequence[str]) -> Cost:
    """What an export of some splits takes."""
    s, rates = data.settings, _FORMATS[form]
    examples, pixels = sum(len(data[split]) for split in splits), s.width * s.height
    stored = {name: total * examples / _count(data) for name, total in _stored(data).items()}
    seconds = rates.rate.seconds(examples, pixels)
    if rates.draws and not s.masks:
        seconds += _DRAWING.seconds(examples, pixels)
    written = examples * rates.bytes + _PNG * stored["images"]
    files = examples * rates.files
    if rates.masks and s.masks:
        written += _MASK_PNG * stored["masks"] + (examples * 1_024 if form == "webdataset" else 0)
        files *= 2 if form == "png" else 1
    block = find_format(form).block(s)
    pieces = sum(-(-len(data[split]) // block) for split in splits)
    return Cost(
        seconds,
        pieces=pieces,
        bytes=max(int(written), 0),
        files=(pieces + 2 if form == "parquet" else int(files) + len(splits)),
        fetched=_fetched(data, splits),
        passing=rates.bytes * examples if rates.joined else 0,
    )


def of_gallery(data: Dataset, everything: bool) -> Cost:
    """What a gallery takes."""
    s = data.settings
    examples = sum(len(gallery_sample(len(data[split]), everything)) for split in SPLITS if len(data[split]))
    width, height = thumb_size(s.width, s.height)
    seconds = _GALLERY.seconds(examples, s.width * s.height)
    if not s.masks:
        seconds += _DRAWING.seconds(examples, s.width * s.height)
    files = sum(-(-examples // piece) for piece in (SHEET**2, DETAILS)) + 2
    fetched = _fetched(data, SPLITS)
    if not everything:
        fetched = fetched * examples // max(_count(data), 1)
    return Cost(seconds, 1, int(examples * (_DETAIL + _THUMB_PIXEL * width * height)), files, fetched)


def of_captions(data: Dataset) -> Cost:
    """What captions of the training scenes take."""
    count = len(data.train)
    bytes_a_scene = _CAPTION_BYTES.get(data.settings.vehicles, max(_CAPTION_BYTES.values()))
    return Cost(
        _CAPTIONS.seconds(count, 0), -(-count // BLOCK), count * bytes_a_scene, 1, _fetched(data, ("train",))
    )


def of_audit(data: Dataset) -> Cost:
    """What an audit takes."""
    count, pixels = _count(data), data.settings.width * data.settings.height
    shards = len(data.manifest["shards"])
    return Cost(
        _PROBES + _AUDIT.seconds(count, pixels),
        shards,
        fetched=_fetched(data, SPLITS),
        passing=_SURVEY * count,
    )


def of_verify(manifest: Mapping[str, Any], settings: Settings, pictures: int | None, remote: bool) -> Cost:
    """What a verification takes that draws `pictures` pictures again, or all if it is None."""
    examples, pixels = sum(settings.counts().values()), settings.width * settings.height
    seconds = _CHECKING.seconds(examples, pixels) + _REDRAWING.seconds(
        examples if pictures is None else min(pictures, examples), pixels
    )
    read = sum(entry["bytes"] for entry in manifest["shards"].values()) if remote else 0
    return Cost(seconds, len(manifest["shards"]), fetched=read)


def _count(data: Dataset) -> int:
    return sum(len(data[split]) for split in SPLITS)


def _stored(data: Dataset) -> dict[str, float]:
    """Bytes of pictures and masks in a data set's shards, from their own sizes."""
    total = sum(entry["bytes"] for entry in data.manifest["shards"].values()) - _COLUMNS * _count(data)
    shares = {name: each for name, each in example_bytes(data.settings).items() if name != "columns"}
    return {name: max(total, 0) * share / sum(shares.values()) for name, share in shares.items()}


def _fetched(data: Dataset, splits: Sequence[str]) -> int:
    """Bytes of the shards of some splits, if they lie behind a URL."""
    if url_of(data.source) is None:
        return 0
    return sum(
        entry["bytes"] for name, entry in data.manifest["shards"].items() if name.startswith(tuple(splits))
    )
