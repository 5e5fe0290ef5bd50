"""The engine on a graphics card: batches cut into launches, memory kept on the card, pictures left there or brought back."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import config, cuda

from simtown.assets.atlas import atlas
from simtown.render.cuda.arrange import THREADS, arrange
from simtown.render.cuda.card import check_card, uncontracted
from simtown.render.cuda.draw import bands, draw, overlay
from simtown.render.cuda.scenes import CORNERS, Scenes, Town, Work, sizes, work_layout
from simtown.render.engines import CardError, CardWarning
from simtown.render.fill import MOST_TRIANGLES
from simtown.render.frames import Frames, check_size
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.render.raster import tables
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch

#: Scenes of a launch at most: enough to keep every multiprocessor of the largest card busy.
LAUNCH = 1024
#: And where pictures come back, so that a batch is several launches and one's copy runs beside another's drawing.
BACK = 256
#: Threads of a block in numba's simulator, where each is one of Python's: two warps.
SIMULATED = 64


class _Lane:
    """A queue of work on the card with memory of its own: while one lane's pictures come back, another draws."""

    def __init__(self) -> None:
        self.stream = cuda.stream()
        self._held: dict[str, Any] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any, pinned: bool = False) -> Any:
        """An array of this shape, in memory that is kept from call to call; made anew, with room to spare, where it is too small."""
        count = int(np.prod(shape, dtype=np.int64))
        if name not in self._held or self._held[name].size < count:
            self._held.pop(name, None)
            self._held[name] = (cuda.pinned_array if pinned else cuda.device_array)(count + count // 8, dtype=dtype)
        return self._held[name][:count].reshape(shape)

    def sent(self, name: str, values: np.ndarray) -> Any:
        """A copy of `values` on the card."""
        target = self.array(name, values.shape, values.dtype)
        target.copy_to_device(np.ascontiguousarray(values), stream=self.stream)
        return target

    def held(self) -> Iterator[Any]:
        """The arrays that are kept on the card."""
        return (a for a in self._held.values() if not isinstance(a, np.ndarray))

    def forget(self) -> None:
        """Give all memory back."""
        self._held.clear()


class Cuda:
    """Draws batches of scenes on a graphics card, as :class:`~simtown.render.raster.Raster` draws them on the processor.

    Raises:
        CardError: there is no card that works, or its memory does not suffice for one scene.
        ValueError: from its methods, for a picture size out of range or a scene of more triangles than can be told apart.
    """

    def __init__(self) -> None:
        check_card()
        a, (palette, kinds, tints, casts) = atlas(), tables()
        if np.diff(a.hull_start).max() > CORNERS:
            raise ValueError(
                f"a kind's convex hull has more than {CORNERS} corners, for which the CUDA kernels have no room: use --device cpu"
            )
        own = {"palette": palette, "kinds": kinds, "tints": tints, "casts": casts}
        self._atlas, self._launch = a, LAUNCH
        self._town = Town(*(cuda.to_device(own[name] if name in own else getattr(a, name)) for name in Town._fields))
        self._lanes = (_Lane(), _Lane())
        #: (stage, its beginning, its end) of every launch, if somebody sets a list here.
        self.events: list[tuple[str, Any, Any]] | None = None
        self._threads = SIMULATED if config.ENABLE_CUDASIM else THREADS

    def render(self, batch: SceneBatch, width: int, height: int, geometry: bool = True) -> Frames:
        """Pictures, and with `geometry` depth and ids, in the processor's memory; they come back while later scenes are drawn."""
        check_size(width, height)
        frames = Frames.blank(len(batch), width, height, geometry)
        kept = [f for f in (frames.rgb, frames.depth, frames.ids) if len(f)]

        def begin(lane: _Lane, rows: slice) -> list[Any]:
            drawn = [lane.array(f"frames {i}", (rows.stop - rows.start, *f.shape[1:]), f.dtype) for i, f in enumerate(kept)]
            self._draw(lane, batch[rows], drawn)
            back = [lane.array(f"back {i}", d.shape, d.dtype, pinned=True) for i, d in enumerate(drawn)]
            with self._stage(lane, "copy back"):
                for there, here in zip(drawn, back, strict=True):
                    there.copy_to_host(here, stream=lane.stream)
            return back

        def end(rows: slice, back: list[Any]) -> None:
            for whole, part in zip(kept, back, strict=True):
                whole[rows] = part

        self._in_lanes(len(batch), BACK, begin, end)
        return frames

    def draw_into(self, batch: SceneBatch, rgb: Any, depth: Any = None, ids: Any = None) -> None:
        """As :meth:`render`, into arrays on the card, and nothing is copied: pictures are there when this returns.

        Args:
            rgb, depth, ids: shapes and dtypes as in :class:`Frames`, C order, anything with ``__cuda_array_interface__``: PyTorch tensors,
            CuPy and numba arrays. Depth and ids are left out both or neither. What was begun on CUDA's default stream is waited for.
        """
        n, height, width, _ = rgb.shape
        check_size(width, height)
        if n != len(batch):
            raise ValueError(f"{len(batch)} scenes and an array of {n} pictures: give one picture a scene")
        arrays = [a if config.ENABLE_CUDASIM else cuda.as_cuda_array(a) for a in (rgb, depth, ids) if a is not None]
        self._in_lanes(n, LAUNCH, lambda lane, rows: self._draw(lane, batch[rows], [a[rows] for a in arrays]), lambda rows, _: None)

    def memory(self) -> int:
        """Bytes of the card's memory that are kept for working."""
        return sum(a.size * a.dtype.itemsize for a in (*self._lanes[0].held(), *self._lanes[1].held(), *self._town))

    def _in_lanes(self, n: int, most: int, begin: Callable[[_Lane, slice], Any], end: Callable[[slice, Any], None]) -> None:
        """Begin launches of n scenes, at most so many each, in turn in both lanes, and end each when it is done.

        Where memory does not suffice, goes on with halves.
        """
        done = 0
        while done < n:
            waiting: deque[tuple[_Lane, slice, Any]] = deque()
            size = min(most, self._launch)
            try:
                for turn, start in enumerate(range(done, n, size)):
                    if turn >= len(self._lanes):
                        done = self._finish(waiting, end)
                    lane, rows = self._lanes[turn % len(self._lanes)], slice(start, min(start + size, n))
                    waiting.append((lane, rows, begin(lane, rows)))
                while waiting:
                    done = self._finish(waiting, end)
            except Exception as error:
                if not _is_out_of_memory(error):
                    raise
                self._shrink(size)

    def _finish(self, waiting: deque[tuple[_Lane, slice, Any]], end: Callable[[slice, Any], None]) -> int:
        """Wait for the launch begun first; returns the number of scenes that are done."""
        lane, rows, result = waiting.popleft()
        lane.stream.synchronize()
        failed = int(lane.array("failed", (1,), np.int32).copy_to_host()[0])
        if failed >= 0:
            raise ValueError(f"scene {rows.start + failed} of the batch shows more than {MOST_TRIANGLES} triangles: take things out of it")
        end(rows, result)
        return int(rows.stop)

    def _shrink(self, size: int) -> None:
        """Halve the launches of so many scenes, and tell."""
        for lane in self._lanes:
            lane.stream.synchronize()
            lane.forget()
        if size == 1:
            raise CardError("the card has too little free memory for one scene: end other programs that use it, or use --device cpu")
        self._launch = size // 2
        warnings.warn(f"the card's memory is full: from now on it draws {self._launch} scenes at once", CardWarning, stacklevel=4)

    def _draw(self, lane: _Lane, batch: SceneBatch, drawn: list[Any]) -> None:
        """Queue the kernels that draw a batch into `drawn`: pictures, and depth and ids if those are there."""
        (n, height, width), geometry = drawn[0].shape[:3], len(drawn) > 1
        with self._stage(lane, "upload"):
            scenes, rows, lamps = self._scenes(lane, batch, width, height)
            shapes = work_layout(n, scenes.meshes.shape[1], rows, lamps)
            work = Work(**{name: lane.array(name, *shape) for name, shape in shapes.items()})
            work.failed.copy_to_device(np.array([-1], dtype=np.int32), stream=lane.stream)
        depth, ids = drawn[1:] if geometry else (lane.array("no depth", (1, 1, 1), np.float32), lane.array("no ids", (1, 1, 1), np.uint8))
        count, high, stride = bands(width, height)
        stream, threads, room = lane.stream, self._threads, 4 * stride * (2 * high + 1)
        with uncontracted():
            with self._stage(lane, "arrange"):
                arrange[n, threads, stream](self._town, scenes, work, 2 * width + 1, 2 * height + 1)
            with self._stage(lane, "draw"):
                draw[(count, n), threads, stream, room](scenes, work, width, height, high, stride, geometry, drawn[0], depth, ids)
            with self._stage(lane, "overlay"):
                overlay[(count, n), threads, stream](self._town, scenes, work, width, height, high, drawn[0])

    def _scenes(self, lane: _Lane, batch: SceneBatch, width: int, height: int) -> tuple[Scenes, int, int]:
        """A batch on the card, and how many rows of triangles and lamps it needs."""
        meshes, poses, styles, *_ = instances(batch)
        first, lamp_first = sizes(self._atlas, meshes)
        light = lights(batch.weather, batch.intensity, batch.sun)
        own = Scenes(views(batch.camera, width, height), light, meshes, poses, styles, batch.fall_seed, first, lamp_first)
        sent = Scenes(*(lane.sent(name, values) for name, values in zip(Scenes._fields, own, strict=True)))
        return sent, int(first[-1]), int(lamp_first[-1])

    @contextmanager
    def _stage(self, lane: _Lane, name: str) -> Iterator[None]:
        """Note when a stage begins and ends on the card, if somebody wants to know."""
        if self.events is None:
            yield
            return
        begun, ended = cuda.event(), cuda.event()
        begun.record(lane.stream)
        yield
        ended.record(lane.stream)
        self.events.append((name, begun, ended))


def _is_out_of_memory(error: Exception) -> bool:
    """Whether an error of numba's CUDA, whose kinds differ from version to version, says that memory does not suffice."""
    return isinstance(error, MemoryError) or "OUT_OF_MEMORY" in str(error)
