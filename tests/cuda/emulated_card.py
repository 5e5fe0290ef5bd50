"""A card for the engine (simtown.render.cuda.card.Card) that the emulator plays: the project's own launches,
without a card.
"""

import contextlib
import ctypes
import functools
import random
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from simtown.render.cuda.card import CardMemoryError, Launch
from simtown.render.cuda.compiler import source
from tests.cuda.compiler import compile_ptx
from tests.cuda.emulator import Counters, Kernel, Memory

Work = Callable[[], None]


@functools.cache
def _compiled(name: str) -> Kernel:
    """A kernel of the package, once a process."""
    text = compile_ptx(source(name), name=f"{name}.cu")
    return Kernel(text, name)


class Stream:
    """Work that runs in order. Each item is work, or an event's occurrence to wait for."""

    def __init__(self) -> None:
        self.items: deque[Work | Occurrence] = deque()


class Occurrence:
    """A recording of an event, which has happened when all before it on its stream is done."""

    def __init__(self, stream: Stream) -> None:
        self.stream, self.happened = stream, False

    def happen(self) -> None:
        self.happened = True


class Event:
    """Its last recording."""

    last: Occurrence | None = None


class EmulatedCard:
    """Runs the kernels' real PTX on the processor and asserts that nothing in it is at fault.

    Args:
        megabytes: the card's memory.
        late: do everything as late as streams and events allow; otherwise at once. What lacks an event then
            comes out wrong.
        seed: of the order of blocks, warps and lanes, and, if late, of what else runs early.
        check: whether races and reads of what nobody wrote are looked for.
    """

    name, kind = "emulated card", (1, 0)

    def __init__(self, megabytes: int = 1024, late: bool = False, seed: int = 0, check: bool = True) -> None:
        self.memory = Memory(megabytes)
        self.late, self.check = late, check
        self.early = 0.2  # how often something else runs meanwhile
        self.launches: list[tuple[str, Counters]] = []
        self._random = random.Random(seed)
        self.streams: list[Stream] = []
        self.foreign_streams: dict[int, Stream] = {}
        self.pinned_memory: dict[int, np.ndarray] = {}

    def use(self) -> None:
        pass

    def kernel(self, name: str, most_shared: int = 0) -> tuple[str, Kernel, int]:
        return name, _compiled(name), most_shared

    def allocate(self, size: int) -> int:
        try:
            return self.memory.allocate(size)
        except MemoryError as error:
            raise CardMemoryError(str(error)) from error

    def free(self, address: int) -> None:
        for stream in self.streams:
            self.drain(stream)
        self.memory.free(address)

    def pinned(self, size: int) -> np.ndarray:
        memory = np.full(size, 0xEE, dtype=np.uint8)
        self.pinned_memory[memory.ctypes.data] = memory
        return memory

    def unpin(self, memory: np.ndarray) -> None:
        del self.pinned_memory[memory.ctypes.data]

    def stream(self) -> Stream:
        self.streams.append(Stream())
        return self.streams[-1]

    def foreign(self, handle: int) -> Stream:
        if handle not in self.foreign_streams:
            self.foreign_streams[handle] = self.stream()
        return self.foreign_streams[handle]

    def event(self, timed: bool = False) -> Event:
        return Event()

    def record(self, event: Event, stream: Stream) -> None:
        event.last = Occurrence(stream)
        self.queue(stream, event.last.happen)

    def wait(self, stream: Stream, event: Event) -> None:
        if event.last is not None:
            self.queue(stream, event.last)

    def synchronize(self, event: Event) -> None:
        if event.last is not None:
            self._until(event.last)

    def drain(self, stream: Stream) -> None:
        while stream.items:
            self._step(stream)

    def elapsed(self, begin: Event, end: Event) -> float:
        assert begin.last is not None and begin.last.happened  # noqa: PT018
        assert end.last is not None and end.last.happened  # noqa: PT018
        return 1.0

    def upload(self, address: int, source: int, size: int, stream: Stream) -> None:
        pinned = self._host(source, size)
        given = (
            np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(source)).copy()
            if pinned is None
            else pinned
        )

        def copy() -> None:
            target = self.memory.view(address, size)
            target[...] = given
            self.memory.written(target)

        self.queue(stream, copy)

    def download(self, target: int, address: int, size: int, stream: Stream) -> None:
        into = self._host(target, size)
        assert into is not None, "a copy to memory that is not pinned"

        def copy() -> None:
            into[...] = self.memory.view(address, size)

        self.queue(stream, copy)

    def argument(self, address: int) -> bytes:
        return np.array([address], dtype=np.uint64).tobytes()

    def launch(self, kernel: tuple[str, Kernel, int], how: Launch, stream: Stream, argument: bytes) -> None:
        name, code, most_shared = kernel
        assert how.shared <= most_shared
        seed = self._random.randrange(1 << 30)

        def run() -> None:
            counters = code.run(
                self.memory, argument, how.grid, how.threads, how.shared, seed=seed, check=self.check
            )
            assert not counters.faults, "\n".join([f"{name} {how}", *counters.faults])
            self.launches.append((name, counters))

        self.queue(stream, run)

    def device_of(self, address: int) -> int:
        self.memory.view(address, 1)
        return self.kind[1]

    # the order of work

    @contextlib.contextmanager
    def only_what_must_be(self) -> Iterator[None]:
        """In this block nothing runs early."""
        early, self.early = self.early, 0.0
        yield
        self.early = early

    def queue(self, stream: Stream, work: Work | Occurrence) -> None:
        """Put work on a stream; tests stand for a caller's own work with it."""
        stream.items.append(work)
        if not self.late:
            self.drain(stream)

    def _until(self, occurrence: Occurrence) -> None:
        """Do what has to be done before an event, and now and then something else."""
        while not occurrence.happened:
            assert occurrence.stream.items, "nothing is queued that an event waits for"
            self._step(occurrence.stream)
            others = [stream for stream in self.streams if stream.items]
            if others and self._random.random() < self.early:
                self._step(self._random.choice(others))

    def _step(self, stream: Stream) -> None:
        """Do the next item of a stream."""
        if isinstance(first := stream.items[0], Occurrence):
            self._until(first)
        if stream.items and stream.items[0] is first:  # waiting may have done it already
            stream.items.popleft()
            if not isinstance(first, Occurrence):
                first()

    def _host(self, address: int, size: int) -> np.ndarray | None:
        """A part of pinned memory, None if it lies elsewhere."""
        for start, memory in self.pinned_memory.items():
            if start <= address and address + size <= start + len(memory):
                return memory[address - start :][:size]
        return None


class OnCard:
    """A caller's array on an emulated card, as PyTorch and CuPy show theirs."""

    def __init__(
        self, card: EmulatedCard, shape: tuple[int, ...], dtype: Any, stream: int | None = None
    ) -> None:
        self.shape = shape
        self.values = card.memory.empty("a caller's array", shape, dtype)
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": self.values.dtype.str,
            "data": (self.values.ctypes.data, False),
            "stream": stream,
        }
