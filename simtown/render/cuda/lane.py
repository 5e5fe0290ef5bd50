"""A lane: a queue of launches on a card, with memory of its own.

While one lane's pictures are drawn, another is filled.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from simtown.render.cuda import layout
from simtown.render.cuda.card import Card, Launch
from simtown.render.cuda.layout import BAND, JOB, STRIP, Size
from simtown.scenes.scene import SceneBatch

#: Rows of pixels of a block of `overlay`.
OVERLAID = 64
#: Layouts that a lane keeps, so that batches of ever other sizes do not fill the memory with them.
MOST_PLANS = 64
#: Numbers of a job that are those of its size.
_COUNTS = ("vehicles", "props", "slots", "width", "height", "ground_faces")
_MOST = ("most_faces", "most_pieces", "most_larges")


def shared_bytes(height: int) -> int:
    """Shared memory of a block of `draw`: four bytes a sample of its strip and band, rounded up to 16."""
    return -(-4 * (2 * STRIP + 1) * (2 * min(BAND, height) + 1) // 16) * 16


class _Plan:
    """A launch of one size: its job, where the columns of a batch lie in what is sent, and its kernels."""

    def __init__(
        self, size: Size, job: np.ndarray, staging: np.ndarray, columns: Mapping[str, int], sent: int
    ) -> None:
        self.job, self.bytes = job, sent
        self.failed = int(job["failed"])
        self.columns: list[tuple[str, np.ndarray]] = []
        for name, (shape, kind) in layout.columns(size).items():
            column = staging[columns[name] :][: layout.size_in_bytes(shape, kind)]
            self.columns.append((name, column.view(kind).reshape(shape)))
        n, strips, bands = size.scenes, -(-size.width // STRIP), -(-size.height // BAND)
        self.setup, self.arrange = Launch((n, 1, 1), 128), Launch((n, 1, 1), 256)
        self.draw = Launch((strips, bands, n), 256, shared_bytes(size.height))
        self.wet = Launch((strips, bands, n), 256) if size.wet else None
        self.overlay = Launch((-(-size.height // OVERLAID), n, 1), 256) if size.layered else None


class Lane:
    """A stream, and the memory of the launch that is under way on it.

    Attributes:
        stream: of the card.
        arranged: the event after which the memory of the launch's scenes may be filled anew, and its flags be
            read.
        done: the event after which the pictures of the launch are there.
        marks: of every launch the stages and the timed events at their ends, if it is a list.
    """

    def __init__(self, card: Card, kernels: Mapping[str, Any], town: np.ndarray) -> None:
        self.stream, self.arranged, self.done = card.stream(), card.event(), card.event()
        self.marks: list[list[tuple[str, Any]]] | None = None
        self._card, self._kernels, self._town = card, kernels, town
        self._held: dict[str, tuple[int, int]] = {}
        self._pinned: dict[str, np.ndarray] = {}
        self._plans: dict[Size, _Plan] = {}
        self._spare: list[Any] = []  # timed events
        self._flags = np.zeros(0, dtype=np.uint8)

    def memory(self, name: str, size: int) -> int:
        """The address of at least so many bytes on the card, kept from launch to launch.

        Raises CardMemoryError.
        """
        address, capacity = self._held.get(name, (0, 0))
        if capacity < size:
            self._plans.clear()
            if capacity:
                del self._held[name]
                self._card.drain(self.stream)
                self._card.free(address)
            address = self._card.allocate(size)
            self._held[name] = (address, size)
        return address

    def pinned(self, name: str, size: int) -> np.ndarray:
        """At least so many bytes that the card can copy from and to, kept from launch to launch."""
        if name not in self._pinned or len(self._pinned[name]) < size:
            self._plans.clear()
            if name in self._pinned:
                self._card.drain(self.stream)
                self._card.unpin(self._pinned.pop(name))
            self._pinned[name] = self._card.pinned(size)
        return self._pinned[name]

    def bytes(self) -> int:
        """Bytes of the card's memory that are kept for working."""
        return sum(size for _, size in self._held.values())

    def forget(self) -> None:
        """Give all memory back."""
        self._card.drain(self.stream)
        while self._held:
            self._card.free(self._held.popitem()[1][0])
        while self._pinned:
            self._card.unpin(self._pinned.popitem()[1])
        self._plans.clear()

    def begin(
        self, batch: SceneBatch, rows: slice, size: Size, pictures: Mapping[str, int], after: list[Any]
    ) -> None:
        """Queue the kernels that draw the rows of a batch; the launch before is arranged.

        Args:
            batch: of scenes.
            rows: of the batch, to draw.
            size: of the launch: that of the rows.
            pictures: addresses of the rows' "rgb", "depth" and "ids"; what is left out is not drawn.
            after: events before which nothing is written there.

        Raises:
            CardMemoryError: the card's memory does not suffice.
        """
        plan, card, stream = self._plan(size), self._card, self.stream
        for name in ("rgb", "depth", "ids"):
            plan.job[name] = pictures.get(name, 0)
        base, source, flags, staged, argument = self._sent
        staged[...] = plan.job
        for name, column in plan.columns:
            np.copyto(column, getattr(batch, name)[rows])
        if self.marks is not None:
            self.marks.append([])
        self.mark("")
        card.upload(base, source, plan.bytes, stream)
        self.mark("upload")
        self._launch("setup", plan.setup, argument)
        self._launch("arrange", plan.arrange, argument)
        card.download(flags, plan.failed, size.scenes, stream)
        card.record(self.arranged, stream)
        for event in after:
            card.wait(stream, event)
        self._launch("draw", plan.draw, argument)
        if plan.wet:
            self._launch("wet", plan.wet, argument)
        if plan.overlay:
            self._launch("overlay", plan.overlay, argument)

    def failed(self, count: int) -> np.ndarray:
        """Numbers of those of the launch's scenes that were not drawn, when it is arranged."""
        self._card.synchronize(self.arranged)
        return np.flatnonzero(self._flags[:count])

    def mark(self, stage: str) -> None:
        """Note that a stage of the launch ends here, if somebody wants to know how long they take."""
        if self.marks is not None:
            event = self._spare.pop() if self._spare else self._card.event(timed=True)
            self._card.record(event, self.stream)
            self.marks[-1].append((stage, event))

    def stages(self) -> dict[str, float]:
        """Seconds of every stage since `marks` was set to a list; it is None afterwards."""
        seconds: dict[str, float] = {}
        self._card.drain(self.stream)
        for launch in self.marks or []:
            for (_, begin), (stage, end) in itertools.pairwise(launch):
                seconds[stage] = seconds.get(stage, 0.0) + self._card.elapsed(begin, end)
            self._spare += [event for _, event in launch]
        self.marks = None
        return seconds

    def _launch(self, name: str, how: Launch, argument: Any) -> None:
        self._card.launch(self._kernels[name], how, self.stream, argument)
        self.mark(name)

    def _plan(self, size: Size) -> _Plan:
        """The plan of launches of this size, in memory that is large enough for them.

        Raises CardMemoryError.
        """
        plan = self._plans.get(size)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            columns, sent = layout.offsets(layout.columns(size), start=JOB.itemsize)
            staging, self._flags = self.pinned("staging", sent), self.pinned("flags", size.scenes)
            base = self.memory("sent", sent)
            job = np.zeros((), dtype=JOB)
            job["town"] = self._town
            for name, offset in columns.items():
                job[name] = base + offset
            for name, (shape, kind) in layout.work(size).items():
                job[name] = self.memory(name, layout.size_in_bytes(shape, kind))
            for name in _COUNTS + _MOST:
                job[name] = getattr(size, name)
            job["scenes"], job["lamps"] = size.scenes, size.most_lamps
            staged = staging[: JOB.itemsize].view(JOB).reshape(())
            argument = self._card.argument(base)
            self._sent = base, staging.ctypes.data, self._flags.ctypes.data, staged, argument
            plan = self._plans[size] = _Plan(size, job, staging, columns, sent)
        return plan
