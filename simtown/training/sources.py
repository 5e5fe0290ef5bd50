"""Examples on their way into a model: kept in memory, read from shards, or made as they are needed.

Every source is a table of examples that batches are taken from by number; none needs worker processes.
"""

import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice, starmap
from math import prod
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import torch

from simtown.core.amounts import size
from simtown.core.options import SettingsError
from simtown.core.streams import Stream
from simtown.datasets.reading.reader import Dataset, Split
from simtown.datasets.reading.shuffled import BlockOrder
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.render.frames import CardRenderer, CardWarning, Renderer
from simtown.render.renderers import choose_device, make_renderer
from simtown.scenes.scene import SceneBatch
from simtown.training.fit_settings import FitSettings
from simtown.training.world import Batch

#: Examples of the largest epoch whose order is drawn example by example. That of a larger one is a
#: BlockOrder: its examples lie in too many places for the reader to keep what it knows of them all.
LARGEST_SORTED = 3_500_000
#: Share of the memory now free that pictures may take before they are read from disk batch by batch.
MEMORY_SHARE = 0.6
#: Bytes of pictures from which on it is said where they are kept.
_MUCH = 1 << 28
_MEMINFO = Path("/proc/meminfo")
#: Batches of a stream that are sampled at once, each by a thread, ahead of the one that is rendered.
SAMPLED_AHEAD = 2
_COLUMNS = ("tokens", "subject", "relation", "object", "subject_slot", "object_slot", "boxes", "answer")
_FAMILY_COLUMNS = ("tokens", "family", "value")
#: Pictures that are read at once where all are read in order.
_BLOCK = 1024
Piece = TypeVar("Piece")
Made = TypeVar("Made")


def order(seed: int, epoch: int, n: int) -> np.ndarray:
    """(n,) int64: the order in which an epoch visits its examples."""
    words = Stream(seed, "fit", "order").bits(np.arange(n), 1, epoch)[:, 0]
    return np.argsort(words, kind="stable")


def chunks_of_epoch(settings: FitSettings, epoch: int, first: int, last: int) -> Iterable[np.ndarray]:
    """The numbers of the examples in each batch, from the step `first` of an epoch up to `last` - 1, or to
    its end.
    """
    n, size = settings.train_size, settings.batch
    places = ((begin, min(begin + size, n)) for begin in range(first * size, min(last * size, n), size))
    if settings.stream:
        before = (epoch - 1) * n
        return (np.arange(before + begin, before + end) for begin, end in places)
    if n > LARGEST_SORTED:
        return starmap(BlockOrder(n, settings.seed, epoch).rows, places)
    shuffled = order(settings.seed, epoch, n)
    return (shuffled[begin:end] for begin, end in places)


def chunks(n: int, size: int) -> Iterator[np.ndarray]:
    """The numbers 0 to n - 1, so many at a time."""
    return (np.arange(begin, min(begin + size, n)) for begin in range(0, n, size))


#: Of a data set, by name, n rows each.
Columns = dict[str, np.ndarray]


class ExampleSource(Protocol):
    """Examples on a device."""

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """A batch for each array of numbers of examples, in their order."""
        ...


def as_input(pixels: torch.Tensor) -> torch.Tensor:
    """(b, h, w, 3) uint8 → (b, 3, h, w) float32 in [-1, 1], in channels-last memory.

    The pictures of sequences, (b, P, h, w, 3), become the channels of one, (b, 3 * P, h, w).
    """
    if pixels.dim() == 5:
        pixels = pixels.permute(0, 2, 3, 1, 4).flatten(3)
    return pixels.to(torch.float32).div_(127.5).sub_(1.0).permute(0, 3, 1, 2)


def _columns(settings: Settings) -> tuple[str, ...]:
    return _FAMILY_COLUMNS if settings.has_families else _COLUMNS


def _facts(column: Columns, settings: Settings, device: torch.device) -> dict[str, torch.Tensor]:
    """The columns of a batch besides its pictures; `settings` of the world whose ranks the model knows."""
    n = len(column["tokens"])
    if settings.has_families:
        facts = dict.fromkeys(("subject", "relation", "object"), np.zeros(n, np.int64))
        facts |= {"boxes": np.zeros((n, 2, 4), np.float32), "answer": column["value"].astype(np.int64)}
        facts |= {name: column[name].astype(np.int64) for name in ("tokens", "family")}
        return {name: torch.from_numpy(values).to(device) for name, values in facts.items()}
    slots = np.stack([column["subject_slot"], column["object_slot"]], axis=1).astype(np.int64)
    corners = np.take_along_axis(column["boxes"], slots[:, :, None], axis=1)
    low, high = corners[..., :2], corners[..., 2:]
    boxes = np.concatenate([(low + high) / 2, high - low], axis=-1) / ([settings.width, settings.height] * 2)
    facts = {name: column[name].astype(np.int64) for name in ("tokens", "relation")}
    facts |= {role: settings.ranks[column[role].astype(np.int64)] for role in ("subject", "object")}
    facts |= {"boxes": boxes.astype(np.float32), "answer": column["answer"].astype(np.float32)}
    facts["family"] = np.zeros(n, np.int64)
    return {name: torch.from_numpy(values).to(device) for name, values in facts.items()}


class Resident:
    """The first n examples of a split, kept on the device that uses them, their pictures as bytes."""

    def __init__(self, split: Split, n: int, settings: Settings, device: torch.device) -> None:
        shape, _ = split.form("images")
        self.pixels = torch.empty((n, *shape), dtype=torch.uint8, device=device)
        for rows in chunks(n, _BLOCK):
            self.pixels[rows[0] : rows[-1] + 1] = torch.from_numpy(split.images(rows)).to(device)
        self._facts = _facts(split.rows(_columns(settings), np.arange(n)), settings, device)

    def __len__(self) -> int:
        return len(self.pixels)

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """See :class:`ExampleSource`."""
        for rows in numbers:
            part = torch.from_numpy(rows).to(self.pixels.device)
            facts = {name: values[part] for name, values in self._facts.items()}
            yield Batch(as_input(self.pixels[part]), **facts)


class Encoded:
    """The first n examples of a split with the features of a frozen encoder in the place of their pictures.

    `blocks`: as of :func:`simtown.training.kept_features.features_of`.
    """

    def __init__(
        self, blocks: list[np.ndarray], split: Split, n: int, settings: Settings, device: torch.device
    ) -> None:
        self._blocks, self._device = blocks, device
        self._starts = np.cumsum([0, *map(len, blocks)])
        self._facts = _facts(split.rows(_columns(settings), np.arange(n)), settings, device)

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """See :class:`ExampleSource`."""
        for rows in numbers:
            of_block = np.searchsorted(self._starts, rows, side="right") - 1
            places = zip(of_block.tolist(), (rows - self._starts[of_block]).tolist(), strict=True)
            features = np.stack([self._blocks[block][row] for block, row in places])
            part = torch.from_numpy(rows).to(self._device)
            facts = {name: values[part] for name, values in self._facts.items()}
            yield Batch(torch.from_numpy(features).to(self._device), **facts)


class FromDisk:
    """The first n examples of a split, read one batch ahead of the model; none is kept."""

    def __init__(self, split: Split, n: int, settings: Settings, device: torch.device) -> None:
        self.split, self.n, self.settings, self.device = split, n, settings, device

    def __len__(self) -> int:
        return self.n

    def _read(self, rows: np.ndarray) -> tuple[np.ndarray, Columns]:
        return self.split.images(rows), self.split.rows(_columns(self.settings), rows)

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """See :class:`ExampleSource`."""
        for images, column in _ahead(self._read, numbers, 1):
            image = as_input(torch.from_numpy(images).to(self.device))
            yield Batch(image, **_facts(column, self.settings, self.device))


class FreshExamples:
    """Fresh training examples, sampled by threads and rendered one batch ahead of the model.

    Example i is training example i of an endless data set of these settings, whatever the batch size. So the
    first examples are those of the data set on disk.
    """

    def __init__(self, settings: Settings, renderer: Renderer, device: torch.device) -> None:
        self.settings, self.renderer, self.device = settings, renderer, device
        self.source = source_of(settings)

    def _sample(self, rows: np.ndarray) -> tuple[SceneBatch, Columns]:
        examples = self.source.draw("train", rows)
        shown = self.source.shown(examples, np.arange(len(rows)))
        return shown, self.source.columns(examples, rows)

    def _render(self, sampled: tuple[SceneBatch, Columns]) -> Batch:
        scenes, column = sampled
        pixels = self.pictures(scenes)
        if self.settings.shots > 1:
            pixels = pixels.unflatten(0, (-1, self.settings.shots))
        return Batch(as_input(pixels), **_facts(column, self.settings, self.device))

    def pictures(self, scenes: SceneBatch) -> torch.Tensor:
        """(n, h, w, 3) uint8 on the device: drawn there, without a copy, where the renderer can."""
        width, height = self.settings.width, self.settings.height
        if self.device.type == "cuda" and isinstance(self.renderer, CardRenderer):
            pixels = torch.empty((len(scenes), height, width, 3), dtype=torch.uint8, device=self.device)
            self.renderer.draw_into(scenes, pixels)
            return pixels
        drawn = self.renderer.render(scenes, width, height, geometry=False)
        return torch.from_numpy(drawn.rgb).to(self.device)

    def batches(self, numbers: Iterable[np.ndarray]) -> Iterator[Batch]:
        """See :class:`ExampleSource`."""
        return _ahead(self._render, _ahead(self._sample, numbers, SAMPLED_AHEAD), 1)


def _ahead(make: Callable[[Piece], Made], pieces: Iterable[Piece], threads: int) -> Iterator[Made]:
    """make(piece) for every piece, in their order, by threads that work one piece ahead of the consumer."""
    left = iter(pieces)
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque(pool.submit(make, piece) for piece in islice(left, threads))
        while waiting:
            ready = waiting.popleft()
            waiting.extend(pool.submit(make, piece) for piece in islice(left, 1))
            yield ready.result()


def open_stream(dataset: Dataset, n: int, device: torch.device) -> FreshExamples:
    """Fresh training examples of a data set's settings; on a GPU they are drawn there if it can."""
    world = replace(dataset.settings, n=n)
    wanted = "auto" if device.type == "cuda" else "cpu"
    warn = partial(warnings.warn, category=CardWarning, stacklevel=3)
    drawn_on = choose_device(wanted, warn, world.width, world.height)
    return FreshExamples(world, make_renderer(drawn_on), device)


def open_split(
    split: Split,
    n: int,
    settings: Settings,
    device: torch.device,
    *,
    cache: bool | None = None,
    note: Callable[[str], object] = lambda line: None,
    beside: int = 1,
) -> Resident | FromDisk:
    """The first n examples of a split, in memory (on a GPU: in its memory) if they fit there.

    `cache` insists on it (True) or reads them from disk batch by batch (False). `note` receives a sentence
    before much memory is taken. `beside` runs share what is free, this one among them.

    Raises SettingsError if `cache` insists and they do not fit.
    """
    shape, _ = split.form("images")
    needed, free = n * prod(shape), _free(device)
    usable = int(MEMORY_SHARE * free / beside)
    if cache and needed >= usable:
        too_much = f"{n} pictures take {size(needed)}, and {size(usable)} on {device} may be used"
        raise SettingsError(f"`cache=True`: {too_much}: leave it out, or train on fewer (`train_size`)")
    resident = cache is not False and needed < usable
    if needed >= _MUCH and cache is not False:
        where = "on the card" if device.type == "cuda" else "in memory"
        amount = f"{size(needed)} of {size(free)} free"
        kept = f"keeps {n:,} pictures {where}: {amount}; `cache=False` reads them from disk"
        note(kept if resident else f"reads {n:,} pictures from disk: {where} they would take {amount}")
    return (Resident if resident else FromDisk)(split, n, settings, device)


def _free(device: torch.device) -> int:
    """Bytes of memory that can be had, also from what Linux keeps of files; 4 GiB where it is not known."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    content = _MEMINFO.read_text("utf-8") if _MEMINFO.is_file() else ""
    available = re.search(r"MemAvailable: +(\d+) kB", content)
    return int(available[1]) * 1024 if available else 2**32
