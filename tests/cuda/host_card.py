"""A card for the engine (simtown.render.cuda.card.Card) that the processor plays: the project's own launches
and kernels, compiled as C++ behind shim.hpp by the clang in the package ziglang.

Every access to memory is checked: a launch fails if threads race, read what nobody wrote, or leave an array.
"""

import contextlib
import ctypes
import functools
import hashlib
import mmap
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simtown.render.cuda.card import CardMemoryError, Launch
from simtown.render.cuda.compiler import source

Work = Callable[[], None]

_SHIM = Path(__file__).with_name("shim.hpp")
_KEPT = Path(__file__).parents[2] / ".pytest_cache" / "kernels"  # what is compiled
_SPACE = 1 << 36  # bytes of addresses; the system gives memory to those that are used
_UNWRITTEN, _WRITTEN = 1, 1 << 9  # in shim.hpp's Touch.wrote
_FOUND = "array-bounds,alignment,float-cast-overflow"
_OPTIONS = (
    "-std=c++17 -nostdinc++ -fno-exceptions -fno-rtti -fPIC -fno-stack-protector -O2 -w -ffp-contract=off "
    f"-fwrapv -fno-vectorize -fno-slp-vectorize -U_FORTIFY_SOURCE -fsanitize=thread "
    f"-Xclang -fsanitize={_FOUND} -Xclang -fsanitize-recover={_FOUND}"
).split()
_START = """
extern "C" HOST bool start(host::Machine* machine, const void* argument, const unsigned* grid, int threads,
                           uint64_t shared, uint64_t seed)
{{
    return run(machine, "{name}", (void (*)(const void*)){name}, argument, grid, threads, shared, seed);
}}
"""


class _Machine(ctypes.Structure):
    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("size", ctypes.c_uint64),
        ("touches", ctypes.c_void_p),
        ("clock", ctypes.c_uint64),
        ("report", ctypes.c_char * 4096),
    )


@functools.cache
def compiled(name: str, text: str) -> Any:
    """The function `start` of a kernel's source text, compiled for the processor."""
    text = re.sub(
        r"extern __shared__ __align__\(16\) (\w+) (\w+)\[\];", r"\1* \2 = (\1*)host::dynamic;", text
    )
    text = re.sub(r'asm volatile\("red\.shared\.max\.u32[^;]*;[^;]*;', "raise_shared(at, value);", text)
    text = f'{_SHIM.read_text()}\n#line 1 "{name}.cu"\n{text}{_START.format(name=name)}'
    sse = ["-march=x86_64_v3"] if platform.machine() == "x86_64" else []
    options = [*_OPTIONS, *sse]
    kept = _KEPT / f"{name}-{hashlib.sha256(repr((text, options)).encode()).hexdigest()[:16]}.so"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            path = Path(folder, name)
            path.with_suffix(".cpp").write_text(text)
            zig("cc", *options, "-c", f"{path}.cpp", "-o", f"{path}.o")
            zig("ld.lld", "-shared", f"{path}.o", "-o", f"{path}.so")
            path.with_suffix(".so").replace(kept)
    start = ctypes.CDLL(str(kept)).start
    start.restype = ctypes.c_bool
    start.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
    return start


def zig(*words: object) -> None:
    """Run a program of ziglang, which is a C compiler among others."""
    with tempfile.TemporaryDirectory() as cache:
        settings = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        command = [sys.executable, "-m", "ziglang", *map(str, words)]
        done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _addresses(size: int) -> np.ndarray:
    """(size,) uint8 without memory behind it."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), np.uint8)


class Memory:
    """A card's memory of some megabytes, whose new arrays are full of `filling`.

    No address is used twice, and pages between arrays belong to none.
    """

    def __init__(self, megabytes: int, filling: int) -> None:
        self.limit, self.used, self._filling, self._next = megabytes << 20, 0, filling, 0
        self._bytes, self._sizes = _addresses(_SPACE), {}
        self._touches = _addresses(8 * _SPACE).view(np.uint32).reshape(-1, 2)  # shim.hpp's struct Touch
        self.machine = _Machine(self._bytes.ctypes.data, _SPACE, self._touches.ctypes.data, 1)

    def allocate(self, size: int) -> int:
        """The address of new bytes. Raises CardMemoryError."""
        if self.used + size > self.limit:
            raise CardMemoryError(f"{size} bytes: {self.used} of {self.limit} are in use")
        start, page = self._next, mmap.PAGESIZE
        self._next += (-(-size // page) + 1) * page
        self._bytes[start : start + size] = self._filling
        self._mark(start, size, _UNWRITTEN)
        self.used += size
        self._sizes[start] = size
        return self._bytes.ctypes.data + start

    def free(self, address: int) -> None:
        start = address - self._bytes.ctypes.data
        size = self._sizes.pop(start)
        self.used -= size
        self._mark(start, size, 0)

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes from an address on: (size,) uint8. They lie within one array."""
        start = address - self._bytes.ctypes.data
        assert any(a <= start and start + size <= a + n for a, n in self._sizes.items()), "no such array"
        return self._bytes[start : start + size]

    def written(self, array: np.ndarray) -> None:
        """Note that the host has written an array, or a contiguous part of one."""
        self._mark(array.ctypes.data - self._bytes.ctypes.data, array.nbytes, _WRITTEN)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """A new array, whose `.ctypes.data` is its address on the card."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.view(self.allocate(size), size).view(dtype).reshape(shape)

    def _mark(self, start: int, size: int, mark: int) -> None:
        self._touches[start : start + size] = mark, 0


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


class HostCard:
    """Runs the kernels on the processor and asserts that nothing in them is at fault.

    Args:
        megabytes: the card's memory.
        late: do everything as late as streams and events allow; otherwise at once. What lacks an event then
            comes out wrong.
        seed: of the order of blocks, warps and lanes, and, if late, of what else runs early.
        sources: source texts of kernels that take the place of the package's.
    """

    name, kind = "the processor as a card", (1, 0)

    def __init__(
        self,
        megabytes: int = 1024,
        late: bool = False,
        seed: int = 0,
        sources: dict[str, str] | None = None,
    ) -> None:
        self.memory = Memory(megabytes, 0x11 if seed % 2 else 0xEE)
        self.late, self._sources = late, sources or {}
        self.early = 0.2  # how often something else runs meanwhile
        self.launches: list[str] = []
        self._random = random.Random(seed)
        self.streams: list[Stream] = []
        self.foreign_streams: dict[int, Stream] = {}
        self.pinned_memory: dict[int, np.ndarray] = {}

    def use(self) -> None:
        pass

    def kernel(self, name: str, most_shared: int = 0) -> tuple[str, Any, int]:
        return name, compiled(name, self._sources.get(name) or source(name)), most_shared

    def allocate(self, size: int) -> int:
        return self.memory.allocate(size)

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
        given = self._host(source, size)
        if given is None:
            given = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(source)).copy()

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

    def argument(self, address: int) -> int:
        return address

    def launch(self, kernel: tuple[str, Any, int], how: Launch, stream: Stream, argument: int) -> None:
        name, start, most_shared = kernel
        assert how.shared <= most_shared
        seed, machine = self._random.randrange(1 << 30), self.memory.machine
        grid = (ctypes.c_uint * 3)(*how.grid)

        def run() -> None:
            passed = start(ctypes.byref(machine), argument, grid, how.threads, how.shared, seed)
            assert passed, machine.report.decode()
            self.launches.append(name)

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
