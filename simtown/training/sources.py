"""Examples on their way into a model: kept in memory, read from shards, or sampled and rendered as they are needed.

Every source is a table of examples that batches are taken from by number; none needs worker processes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from itertools import islice
from typing import Protocol, TypeVar

import numpy as np
import torch

from simtown.datasets.reader import Split
from simtown.datasets.settings import Settings, SettingsError, Tables
from simtown.datasets.shards import columns
from simtown.language.sampler import sample
from simtown.render.frames import CardRenderer, Renderer
from simtown.scenes.scene import SceneBatch
from simtown.training.world import Batch

#: Share of the memory now free that pictures may take before they are read from disk batch by batch.
MEMORY_SHARE = 0.6
#: Batches of a stream that are sampled at once, each by a thread, ahead of the one that is rendered.
SAMPLED_AHEAD = 2
Piece = TypeVar("Piece")
Made = TypeVar("Made")
_COLUMNS = ("tokens", "subject", "relation", "object", "subject_slot", "object_slot", "boxes", "answer")


class Source(Protocol):
    """Examples on a device."""

    def batches(self, rows: np.ndarray, size: int) -> Iterator[Batch]:
        """The examples with the numbers `rows` ((n,) int64), in their order, at most `size` at a time."""
        ...


def as_input(pixels: torch.Tensor) -> torch.Tensor:
    """(b, h, w, 3) uint8 → (b, 3, h, w) float32 in [-1, 1], in channels-last memory."""
    return pixels.to(torch.float32).div_(127.5).sub_(1.0).permute(0, 3, 1, 2)


def told(column: Mapping[str, np.ndarray], settings: Settings, device: torch.device) -> Batch:
    """Everything but the pictures, from a data set's columns (n rows each): a batch whose image is empty.

    `settings`: of the pictures, and of the world whose ranks the model knows kinds by.
    """
    slots = np.stack([column["subject_slot"], column["object_slot"]], axis=1).astype(np.int64)
    corners = np.take_along_axis(column["boxes"], slots[:, :, None], axis=1)
    low, high = corners[..., :2], corners[..., 2:]
    boxes = np.concatenate([(low + high) / 2, high - low], axis=-1) / ([settings.width, settings.height] * 2)
    numbers = {name: column[name].astype(np.int64) for name in ("tokens", "subject", "relation", "object")}
    numbers |= {role: settings.ranks[numbers[role]] for role in ("subject", "object")}
    whole = {name: torch.from_numpy(values).to(device) for name, values in numbers.items()}
    answer = torch.from_numpy(column["answer"].astype(np.float32)).to(device)
    return Batch(torch.empty(0), boxes=torch.from_numpy(boxes.astype(np.float32)).to(device), answer=answer, **whole)


def _pick(table: Batch, rows: torch.Tensor, image: torch.Tensor) -> Batch:
    return Batch(image, **{f.name: getattr(table, f.name)[rows] for f in fields(Batch) if f.name != "image"})


class Resident:
    """The first n examples of a split, their pictures kept as bytes on the device that uses them: a batch is an index away."""

    def __init__(self, split: Split, n: int, settings: Settings, device: torch.device) -> None:
        self.told = told({name: split.column(name)[:n] for name in _COLUMNS}, settings, device)
        self.pixels = torch.from_numpy(split.images(np.arange(n))).to(device)

    def batches(self, rows: np.ndarray, size: int) -> Iterator[Batch]:
        """See :class:`Source`."""
        for part in torch.from_numpy(rows).to(self.pixels.device).split(size):
            yield _pick(self.told, part, as_input(self.pixels[part]))


class FromDisk:
    """The first n examples of a split too large for memory: pictures are read one batch ahead of the model."""

    def __init__(self, split: Split, n: int, settings: Settings, device: torch.device) -> None:
        self.told = told({name: split.column(name)[:n] for name in _COLUMNS}, settings, device)
        self.split, self.device = split, device

    def _read(self, rows: np.ndarray) -> Batch:
        pixels = torch.from_numpy(self.split.images(rows)).to(self.device)
        return _pick(self.told, torch.from_numpy(rows).to(self.device), as_input(pixels))

    def batches(self, rows: np.ndarray, size: int) -> Iterator[Batch]:
        """See :class:`Source`."""
        return _ahead(self._read, _parts(rows, size), 1)


class Stream:
    """Fresh training examples, sampled by threads and rendered one batch ahead of the model; nothing touches the disk.

    Example i is training example i of an endless data set of these settings, whatever the batch size, so a stream is the same
    every time, and its first examples are those of the data set on disk. `tables`: of its manifest, see :meth:`Settings.recipe`.
    """

    def __init__(self, settings: Settings, renderer: Renderer, device: torch.device, tables: Tables | None = None) -> None:
        self.settings, self.renderer, self.device = settings, renderer, device
        self.recipe = settings.recipe("train", tables)

    def _sample(self, rows: np.ndarray) -> tuple[SceneBatch, dict[str, np.ndarray]]:
        """Scenes, and the columns that a data set has of them."""
        examples = sample(self.recipe, rows)
        return examples.scene, columns(examples, rows, self.settings)

    def _finish(self, sampled: tuple[SceneBatch, dict[str, np.ndarray]]) -> Batch:
        """The batch of sampled scenes."""
        scenes, column = sampled
        table = told(column, self.settings, self.device)
        table.image = as_input(self.pictures(scenes))
        return table

    def pictures(self, scenes: SceneBatch) -> torch.Tensor:
        """(n, h, w, 3) uint8 on the device: drawn there, without a copy, where the renderer can."""
        width, height = self.settings.width, self.settings.height
        if self.device.type == "cuda" and isinstance(self.renderer, CardRenderer):
            pixels = torch.empty((len(scenes), height, width, 3), dtype=torch.uint8, device=self.device)
            self.renderer.draw_into(scenes, pixels)
            return pixels
        return torch.from_numpy(self.renderer.render(scenes, width, height, geometry=False).rgb).to(self.device)

    def batches(self, rows: np.ndarray, size: int) -> Iterator[Batch]:
        """See :class:`Source`."""
        return _ahead(self._finish, _ahead(self._sample, _parts(rows, size), SAMPLED_AHEAD), 1)


def _parts(rows: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (rows[i : i + size] for i in range(0, len(rows), size))


def _ahead(make: Callable[[Piece], Made], pieces: Iterator[Piece], threads: int) -> Iterator[Made]:
    """What `make` makes of every piece, in their order, by so many threads: each is one ahead of whoever takes what is made."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque(pool.submit(make, piece) for piece in islice(pieces, threads))
        while waiting:
            ready = waiting.popleft()
            waiting.extend(pool.submit(make, piece) for piece in islice(pieces, 1))
            yield ready.result()


def open_split(split: Split, n: int, settings: Settings, device: torch.device, cache: bool | None = None) -> Resident | FromDisk:
    """The first n examples of a split, in memory (on a GPU: on the card) if they fit there.

    cache: True to insist on it, False to read from disk batch by batch.

    Raises SettingsError where insisted and they do not fit.
    """
    needed, free = n * settings.width * settings.height * 3, int(MEMORY_SHARE * _free(device))
    if cache and needed >= free:
        raise SettingsError(
            f"--cache: {n} pictures take {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB on {device} may be used: leave --cache out, "
            "or train on fewer (--train-size)"
        )
    return (Resident if cache or (cache is None and needed < free) else FromDisk)(split, n, settings, device)


def _free(device: torch.device) -> int:
    """Bytes of memory not in use."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 2**32
