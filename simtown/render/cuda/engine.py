"""The rasteriser on a graphics card: batches are cut into launches, on which two lanes work in turn."""

import contextlib
import math
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.render.cuda import layout
from simtown.render.cuda.arrays import CardArray, Target, target
from simtown.render.cuda.card import Card, CardMemoryError
from simtown.render.cuda.compiler import STAGES
from simtown.render.cuda.lane import Lane, shared_bytes
from simtown.render.cuda.layout import BAND, Shaped, Size
from simtown.render.frames import CardError, CardWarning, Frames, check_card_size
from simtown.render.instances import check_slots
from simtown.render.raster import Raster, TooManyTrianglesError
from simtown.scenes.scene import SceneBatch, check_focal

#: Scenes of a launch of 128 x 128 pixels, fewer of larger pictures. Larger launches are faster, and each of
#: the lanes needs 1.2 MB a scene: measured in docs/performance.md.
LAUNCH = 256


_Begin = Callable[[Lane, slice, Size], None]
_End = Callable[[Lane, slice], None]


@dataclass
class CardFrames:
    """Pictures of n scenes on a card, for ``torch.from_dlpack`` or ``cupy.asarray``.

    Attributes:
        rgb: as in :class:`~simtown.render.frames.Frames`.
        depth, ids: as there, or None without geometry.
    """

    rgb: CardArray
    depth: CardArray | None = None
    ids: CardArray | None = None


class Cuda:
    """Draws batches of scenes on a graphics card, with the pixels of :class:`~simtown.render.raster.Raster`.

    Several threads may call it; it serves one at a time. If a scene is too much for the kernels, the
    processor draws it.

    Args:
        card: what draws; by default the first card of this machine.
        lanes: launches that are under way at once.

    Attributes:
        card: what draws.
        launch: scenes of a launch of 128 x 128 pixels.
        too_much: how many scenes the processor had to draw so far.

    Raises:
        CardError: no card works, or its memory does not suffice for one scene.
        ValueError: from its methods, if a picture size is out of range or a scene has more triangles than can
            be numbered.
    """

    def __init__(self, card: Card | None = None, lanes: int = 2) -> None:
        self.card: Card = Card() if card is None else card
        self.launch: float = LAUNCH
        self.too_much = 0
        self._most = 1 << 30  # scenes of a launch for which there was memory
        self._lock = threading.Lock()
        self._processor: Raster | None = None
        shared = {name: shared_bytes(BAND) if name == "draw" else 0 for name in STAGES}
        kernels = {name: self.card.kernel(name, most) for name, most in shared.items()}
        town, address, self._town_bytes = _send_town(self.card)
        self._lanes = [Lane(self.card, kernels, town) for _ in range(lanes)]
        self._events: dict[int, Any] = {}  # by the number of the stream on which they are recorded
        weakref.finalize(self, _release, self.card, self._lanes, address).atexit = False

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Draw into the processor's memory; pictures are copied back while later scenes are drawn.

        Args:
            batch: the scenes.
            width: of the pictures, pixels.
            height: of the pictures, pixels.
            geometry: whether depth and ids are drawn, too.
        """
        _check(batch, width, height)
        frames = Frames.empty(len(batch), width, height, geometry)
        wholes = {name: whole for name, whole in vars(frames).items() if len(whole)}
        sizes = {name: whole[0].nbytes for name, whole in wholes.items()}

        def begin(lane: Lane, rows: slice, size: Size) -> None:
            places, end = _one_behind_the_other(sizes, size.scenes)
            start, back = lane.memory("pictures", end), lane.pinned("back", end)
            lane.begin(batch, rows, size, {name: start + place for name, place in places.items()}, [])
            self.card.download(back.ctypes.data, start, end, lane.stream)
            lane.mark("copy back")
            self.card.record(lane.done, lane.stream)

        def end(lane: Lane, rows: slice) -> None:
            failed = lane.failed(rows.stop - rows.start)
            self.card.synchronize(lane.done)
            places, end = _one_behind_the_other(sizes, rows.stop - rows.start)
            back = lane.pinned("back", end)
            for name, whole in wholes.items():
                part = whole[rows]
                part[...] = back[places[name] :][: part.nbytes].view(part.dtype).reshape(part.shape)
            for scene in rows.start + failed:
                for name, picture in self._drawn_here(batch, int(scene), width, height, geometry).items():
                    wholes[name][scene] = picture

        with self._lock:
            self.card.use()
            self._in_lanes(batch, width, height, begin, end)
        return frames

    def draw_into(self, batch: SceneBatch, rgb: Any, depth: Any = None, ids: Any = None) -> None:
        """Draw into arrays on the card, without a copy.

        The pictures are drawn when all that the arrays' library has queued on its current stream is done, and
        what it queues there afterwards sees them; this returns before that. For a library that does not tell
        its stream, the stream is CUDA's default one.

        Args:
            batch: the scenes.
            rgb: shape and dtype as in :class:`Frames`, C order, with ``__cuda_array_interface__`` or
                ``__dlpack__``, such as a tensor of PyTorch or CuPy.
            depth: an array of the same kind, with ids or not at all.
            ids: an array of the same kind, with depth or not at all.

        Raises:
            ValueError: an array does not fit, or depth comes without ids.
        """
        if len(rgb.shape) != 4:
            raise ValueError(f"rgb has the shape {tuple(rgb.shape)}, and (n, height, width, 3) is needed")
        n, (height, width) = len(batch), rgb.shape[1:3]
        shapes = _shapes(n, width, height)
        given = {"rgb": rgb, "depth": depth, "ids": ids}
        arrays = {name: array for name, array in given.items() if array is not None}
        if len(arrays) == 2:
            raise ValueError("depth and ids are drawn together: give arrays for both or for neither")
        targets = {name: target(name, array, *shapes[name]) for name, array in arrays.items()}
        _check(batch, width, height)
        if not n:
            return
        sizes = {name: layout.size_in_bytes(shapes[name][0][1:], shapes[name][1]) for name in targets}

        def begin(lane: Lane, rows: slice, size: Size) -> None:
            places = {name: place.address + rows.start * sizes[name] for name, place in targets.items()}
            lane.begin(batch, rows, size, places, before)
            self.card.record(lane.done, lane.stream)

        def end(lane: Lane, rows: slice) -> None:
            for scene in rows.start + lane.failed(rows.stop - rows.start):
                for name, picture in self._drawn_here(batch, int(scene), width, height).items():
                    if name in targets:
                        place = targets[name].address + int(scene) * sizes[name]
                        self.card.upload(place, picture.ctypes.data, picture.nbytes, lane.stream)
                        self.card.drain(lane.stream)
                self.card.record(lane.done, lane.stream)

        with self._lock:
            self.card.use()
            self._check_place(targets)
            streams = {place.stream: self.card.foreign(place.stream) for place in targets.values()}
            for number in streams.keys() - self._events.keys():
                self._events[number] = self.card.event()
            before = [self._events[number] for number in streams]
            for event, stream in zip(before, streams.values(), strict=True):
                self.card.record(event, stream)
            for lane in self._in_lanes(batch, width, height, begin, end):
                for stream in streams.values():
                    self.card.wait(stream, lane.done)

    def draw(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> CardFrames:
        """:meth:`render`, but the pictures stay on the card; they are complete when this returns.

        Raises CardError if they do not fit.
        """
        _check(batch, width, height)
        frames = self.empty(len(batch), width, height, geometry)
        self.draw_into(batch, frames.rgb, frames.depth, frames.ids)
        self.finish()
        return frames

    def empty(self, n: int, width: int, height: int, geometry: bool = True) -> CardFrames:
        """Arrays on the card for n pictures, without values yet. Raises CardError if they do not fit."""
        kinds = _shapes(n, width, height)
        if not geometry:
            kinds = {"rgb": kinds["rgb"]}
        with self._lock:
            self.card.use()
            return CardFrames(**{name: self._array(*kind) for name, kind in kinds.items()})

    def finish(self) -> None:
        """Return when all that was begun is drawn."""
        with self._lock:
            self.card.use()
            for lane in self._lanes:
                self.card.drain(lane.stream)

    def memory(self) -> int:
        """Bytes of the card's memory that are kept for working."""
        return self._town_bytes + sum(lane.bytes() for lane in self._lanes)

    @contextlib.contextmanager
    def timing(self) -> Iterator[dict[str, float]]:
        """Measure the stages of what is drawn in this block; at its end the dict has the seconds of each."""
        seconds: dict[str, float] = {}
        for lane in self._lanes:
            lane.marks = []
        try:
            yield seconds
        finally:
            for lane in self._lanes:
                for name, stage_seconds in lane.stages().items():
                    seconds[name] = seconds.get(name, 0.0) + stage_seconds

    def _array(self, shape: tuple[int, ...], dtype: Any) -> CardArray:
        """An array on the card, whose memory is given back when nobody holds it any more."""
        address = self.card.allocate(max(math.prod(shape) * np.dtype(dtype).itemsize, 1))
        array = CardArray(address, shape, dtype, self.card.kind)
        weakref.finalize(array, _release, self.card, [], address).atexit = False
        return array

    def _check_place(self, targets: dict[str, Target]) -> None:
        """Raises ValueError unless arrays lie on this card."""
        for name, place in targets.items():
            number = self.card.device_of(place.address)
            if number != self.card.kind[1]:
                where = f"{name} lies on card {number}, and card {self.card.kind[1]} draws"
                raise ValueError(f"{where}: give arrays on that card")

    def _in_lanes(self, batch: SceneBatch, width: int, height: int, begin: _Begin, end: _End) -> list[Lane]:
        """Draw a batch in launches, in turn in all lanes; returns the lanes that were used.

        Each launch ends before its lane begins the next one. If memory does not suffice, it goes on with
        launches of half the size. When this raises, nothing is at work on the card any more.
        """
        if not len(batch):
            return []
        whole = layout.needs().size(batch, width, height)
        waiting: deque[tuple[Lane, slice]] = deque()
        used: list[Lane] = []
        start = 0
        try:
            while start < len(batch):
                rows = slice(start, min(start + self._at_once(width, height), len(batch)))
                lane = self._lanes[len(used) % len(self._lanes)]
                if len(waiting) == len(self._lanes):
                    end(*waiting.popleft())
                try:
                    begin(lane, rows, whole._replace(scenes=rows.stop - rows.start))
                except CardMemoryError:
                    while waiting:
                        end(*waiting.popleft())
                    self._shrink(rows.stop - rows.start)
                    continue
                used.append(lane)
                waiting.append((lane, rows))
                start = rows.stop
            while waiting:
                end(*waiting.popleft())
        except BaseException:
            for lane in self._lanes:
                with contextlib.suppress(CardError):
                    self.card.drain(lane.stream)
            raise
        return self._lanes[: len(used)]

    def _at_once(self, width: int, height: int) -> int:
        """Scenes of a launch."""
        return max(min(int(self.launch * 128 * 128 / (width * height)), self._most), 1)

    def _shrink(self, scenes: int) -> None:
        """Draw half as many scenes at once from now on, and say so. Raises CardError if there was one."""
        for lane in self._lanes:
            lane.forget()
        if scenes == 1:
            remedy = "end other programs that use it, or use `device=cpu`"
            raise CardError(f"the card has too little free memory for one scene: {remedy}")
        self._most = scenes // 2
        problem = f"the card's memory is full: from now on it draws {self._most} scenes at once"
        warnings.warn(problem, CardWarning, stacklevel=4)

    def _drawn_here(
        self, batch: SceneBatch, scene: int, width: int, height: int, geometry: bool = True
    ) -> dict[str, np.ndarray]:
        """Pictures of a scene for which the kernels have no room, by the processor."""
        self.too_much += 1
        if self._processor is None:
            self._processor = Raster()
        try:
            frames = self._processor.render(batch[np.array([scene])], width, height, geometry)
        except TooManyTrianglesError:
            raise TooManyTrianglesError(scene) from None
        return {name: pictures[0] for name, pictures in vars(frames).items() if len(pictures)}


def _check(batch: SceneBatch, width: int, height: int) -> None:
    """Raises ValueError for what a card cannot draw."""
    check_card_size(width, height)
    check_slots(batch.entity.shape[1], batch.prop.shape[1])
    check_focal(batch)


def _shapes(n: int, width: int, height: int) -> dict[str, Shaped]:
    """Shapes and types of the pictures of n scenes."""
    shape, byte = (n, height, width), np.dtype(np.uint8)
    return {"rgb": ((*shape, 3), byte), "depth": (shape, np.dtype(np.float32)), "ids": (shape, byte)}


def _one_behind_the_other(sizes: dict[str, int], count: int) -> tuple[dict[str, int], int]:
    """Offsets of arrays of `count` pictures in one piece of memory, and the end of the last one."""
    return layout.offsets({name: ((count, size), np.dtype(np.uint8)) for name, size in sizes.items()})


def _send_town(card: Card) -> tuple[np.ndarray, int, int]:
    """The town on a card: its struct, and the address and bytes of its memory."""
    arrays, numbers = layout.town()
    places, size = layout.offsets({name: (values.shape, values.dtype) for name, values in arrays.items()})
    address, stream, town = card.allocate(size), card.stream(), np.zeros((), dtype=layout.TOWN)
    for name, values in arrays.items():
        town[name] = address + places[name]
        card.upload(address + places[name], values.ctypes.data, values.nbytes, stream)
    card.drain(stream)
    for name, number in numbers.items():
        town[name] = number
    return town, address, size


def _release(card: Card, lanes: list[Lane], address: int) -> None:
    """Give memory back; a card that has failed has none."""
    with contextlib.suppress(CardError):
        card.use()
        for lane in lanes:
            lane.forget()
        card.free(address)
