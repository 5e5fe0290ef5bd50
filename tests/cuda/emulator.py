"""Run the PTX of CUDA kernels on the processor, thread by thread, with every access checked.

    memory = Memory(megabytes=64)
    numbers = memory.put("numbers", np.arange(256, dtype=np.int32))
    total = memory.put("total", np.zeros(1, np.int32))
    kernel = Kernel(ptx, "add_up")
    counters = kernel.run(memory, [numbers, total, 256], grid=(1, 1, 1), threads=256)
    assert not counters.faults

The machine looks for races, accesses outside an array, misaligned accesses, reads of what nobody wrote, and barriers that not all threads
reach. It runs blocks, warps and lanes in an order that depends on the seed. It counts warp instructions, sectors of global memory and
turns of shared memory. It knows no time: no caches, latencies or clocks. An error of ptxas, a driver or a launch cannot be seen.
"""

import ctypes
import hashlib
import mmap
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tests.cuda import resources
from tests.cuda.ptx import Instruction, Parameter, Program, parse
from tests.cuda.translate import translate

FAULTS = ("out of bounds", "ran too long", "misaligned", "race", "written during the launch, but read as constant", "read before it was written",
          "barrier not reached by all threads", "division by zero", "a lane's partners are missing", "shuffle from a lane that takes no part")  # fmt: skip
SPACES = ("global", "shared", "local", "parameters")
#: Without -O2, which takes twice as long to compile a kernel. Floats: one rounding an operation.
GCC = ("gcc", "-O1", "-shared", "-fPIC", "-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
_KEPT = 3
_SLOT = 30  # log2 of the bytes from the beginning of an array to that of the next: what overruns an array does not meet another
_SLOTS = 1024
_CELL = np.dtype([("writer", "u8"), ("reader", "u8")])
_LOCK = threading.Lock()  # a library holds the state of the launch that runs


class _Fault(ctypes.Structure):
    _fields_ = [(x, ctypes.c_int64) for x in ("line", "space", "array", "offset", "thread", "block", "other_thread", "other_block")]  # noqa: RUF012


class _Array(ctypes.Structure):
    _fields_ = [
        *((x, ctypes.c_void_p) for x in ("data", "written", "words", "bytes")),
        ("size", ctypes.c_uint64),
        ("align", ctypes.c_uint64),
    ]  # noqa: RUF012


class _Memory(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("arrays", ctypes.c_void_p), ("slots", ctypes.c_uint64), ("clock", ctypes.c_uint64)]  # noqa: RUF012


class _Launch(ctypes.Structure):
    _fields_ = [*((x, ctypes.c_void_p) for x in ("parameters", "tables", "memory")),
                *((x, ctypes.c_uint64) for x in ("parameter_bytes", "seed", "steps")),
                *((x, ctypes.c_int32) for x in ("grid_x", "grid_y", "grid_z", "threads", "dynamic", "check", "dropped"))]  # fmt: skip # noqa: RUF012


class _Counters(ctypes.Structure):
    _fields_ = [*((x, ctypes.c_double) for x in ("instructions", "sass", "lanes", "critical")),
                *((x, 3 * ctypes.c_double) for x in ("global_requests", "global_sectors", "shared_requests", "shared_waves")),
                ("local", ctypes.c_double), ("clamped", ctypes.c_double),
                ("faults", len(FAULTS) * ctypes.c_int64), ("kept", len(FAULTS) * (_KEPT * _Fault))]  # fmt: skip # noqa: RUF012


class Memory:
    """Global memory: arrays that can be freed, and for every byte whether it was written and who touched it last.

    Arrays lie a gigabyte apart, so that an index out of bounds meets no other array. Addresses are the processor's own.

    Args:
        megabytes: how much may be allocated at a time.
    """

    def __init__(self, megabytes: int) -> None:
        self.limit, self.used = megabytes << 20, 0
        # Addresses without memory behind them: the system gives a page when it is first written.
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
        self._map = mmap.mmap(-1, _SLOTS << _SLOT, flags=private)
        self._bytes = np.frombuffer(self._map, np.uint8)
        self._base = self._bytes.ctypes.data
        self._names: dict[int, str] = {}  # slot to name
        self._kept: dict[int, tuple[np.ndarray, ...]] = {}  # what the machine knows of an array's bytes
        self._tables: dict[str, list[int]] = {}  # addresses of the variables of modules
        self._next = 0
        self._arrays = (_Array * _SLOTS)()
        self.c = _Memory(self._base, ctypes.addressof(self._arrays), _SLOTS, 1)

    def allocate(self, size: int, name: str = "") -> int:
        """The address of `size` new bytes that hold no values.

        Raises:
            MemoryError: more than `megabytes` would be allocated.
        """
        if self.used + size > self.limit or len(self._names) == _SLOTS:
            raise MemoryError(
                f"{size} bytes for {name or 'an array'}: {self.used} of {self.limit} bytes are in use, {len(self._names)} arrays"
            )
        if size > 1 << (_SLOT - 1):
            raise MemoryError(f"an array of {size} bytes is too large for the emulator")
        while self._next in self._names:
            self._next = (self._next + 1) % _SLOTS
        slot = self._next
        self._next = (slot + 1) % _SLOTS  # what was freed is used again as late as can be: an old address stays wrong for long
        words = -(-size // 4)
        kept = np.zeros(size, np.uint8), np.zeros(words, _CELL), np.zeros(4 * words, _CELL)
        address = self._base + (slot << _SLOT)
        self._arrays[slot] = _Array(address, *(x.ctypes.data for x in kept), size, 256)
        self._names[slot], self._kept[slot] = name or f"array {slot}", kept
        self._bytes[slot << _SLOT : (slot << _SLOT) + size] = 0xEE
        self.used += size
        return address

    def free(self, address: int) -> None:
        """Give an array back; any later access to it is out of bounds.

        Raises:
            ValueError: no array begins there.
        """
        slot, offset = divmod(address - self._base, 1 << _SLOT)
        if slot not in self._names or offset:
            raise ValueError(f"no array begins at {address:#x}")
        size = self._arrays[slot].size
        self._arrays[slot] = _Array()
        self.used -= size
        self._map.madvise(mmap.MADV_DONTNEED, slot << _SLOT, -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE)
        del self._names[slot], self._kept[slot]

    def view(self, address: int, size: int) -> np.ndarray:
        """The bytes from an address on: (size,) uint8.

        Raises:
            ValueError: they do not lie within one array.
        """
        slot, offset = self._find(address, size)
        return self._bytes[(slot << _SLOT) + offset :][:size]

    def put(self, name: str, values: Any) -> np.ndarray:
        """A new array with a copy of the values; `.ctypes.data` is its address on the card."""
        values = np.ascontiguousarray(values)
        array = self.empty(name, values.shape, values.dtype)
        array[...] = values
        self.written(array)
        return array

    def empty(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        """A new array without values: a kernel that reads it before it is written is at fault."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.view(self.allocate(size, name), size).view(dtype).reshape(shape)

    def written(self, array: np.ndarray) -> None:
        """Note that the host has written an array, or a contiguous part of one."""
        self.mask(array)[:] = 1

    def mask(self, array: np.ndarray) -> np.ndarray:
        """For every byte of an array whether it was ever written: (bytes,) uint8, a view."""
        slot, offset = self._find(array.ctypes.data, array.nbytes)
        return self._kept[slot][0][offset : offset + array.nbytes]

    def where(self, slot: int, offset: int) -> str:
        """A place as a message names it."""
        return f"{self._names.get(slot, 'no array')} + {offset}"

    def tables(self, key: str, program: Program) -> list[int]:
        """The addresses of a module's variables, which all its kernels share."""
        addresses = self._tables.setdefault(key, [])
        for table in list(program.tables.values())[len(addresses) :]:
            addresses.append(self.put(table.name, np.frombuffer(table.values, np.uint8)).ctypes.data)
        return addresses

    def _find(self, address: int, size: int) -> tuple[int, int]:
        slot, offset = divmod(address - self._base, 1 << _SLOT)
        if slot not in self._names or offset + size > self._arrays[slot].size:
            raise ValueError(f"{size} bytes at {address:#x} do not lie within one array")
        return slot, offset


@dataclass
class Counters:
    """What a launch did. Each `list[float]` is of loads, stores and atomics."""

    kernel: "Kernel"
    instructions: float  #: of warps, in PTX
    unscaled_sass: float  #: of warps, in SASS: estimated by kinds of instructions alone
    lanes: float  #: the same instructions, of lanes
    critical: float  #: `unscaled_sass` of the slowest warp between barriers, summed
    global_requests: list[float]
    global_sectors: list[float]
    shared_requests: list[float]
    shared_waves: list[float]  #: turns of shared memory: one a request where no banks conflict
    local: float  #: accesses of lanes to local memory
    clamped: float  #: conversions to integers whose value did not fit
    faults: list[str] = field(default_factory=list)  #: up to three of each kind, each in a line
    fault_counts: dict[str, int] = field(default_factory=dict)
    visits: list[int] = field(default_factory=list)  #: how often warps ran each basic block

    @property
    def sass(self) -> float:
        """Warp instructions in SASS, estimated: by kinds of instructions, scaled to the true length of the kernel."""
        return self.unscaled_sass * self.kernel.scale

    @property
    def active(self) -> float:
        """Lanes at work of the 32, on average."""
        return self.lanes / max(self.instructions, 1)

    def by_source(self) -> dict[str, float]:
        """SASS instructions of every source line, estimated, the most expensive first. The PTX must have line information."""
        out: dict[str, float] = {}
        for visits, block in zip(self.visits, self.kernel.program.blocks, strict=True):
            for instruction in block:
                out[instruction.source] = out.get(instruction.source, 0) + visits * instruction.cost * self.kernel.scale
        return dict(sorted(out.items(), key=lambda item: -item[1]))

    def by_phase(self) -> list[float]:
        """SASS instructions from one barrier of the block to the next, estimated, in the order of the text."""
        out = [0.0]
        for visits, block in zip(self.visits, self.kernel.program.blocks, strict=True):
            out[-1] += visits * sum(x.cost for x in block) * self.kernel.scale
            if block and block[-1].name.startswith(("bar.sync", "bar.red")):
                out.append(0.0)
        return out


class Kernel:
    """One kernel of a module in PTX, compiled for the processor.

    Args:
        text: the module, compiled with --fmad=false.
        entry: which kernel; not needed if there is one.
        drop_barrier: leave out this one of `barriers`, from 0, as a test of the checks.

    Raises:
        Unsupported: the kernel has an instruction that the emulator does not know.
    """

    def __init__(self, text: str, entry: str | None = None, drop_barrier: int | None = None) -> None:
        self.text, self.drop_barrier = text, drop_barrier
        self.program = parse(text, entry)
        self._library = _compile(self.program.entry, translate(self.program))

    @property
    def parameters(self) -> list[Parameter]:
        return self.program.parameters

    @property
    def barriers(self) -> list[Instruction]:
        """Its barriers: bar.sync and bar.red of blocks, bar.warp.sync of warps."""
        return self.program.barriers

    @cached_property
    def scale(self) -> float:
        """The kernel's true length in SASS over the estimated one."""
        return resources.measure(self.text, self.program.entry).body / self.program.length

    def run(
        self,
        memory: Memory,
        params: bytes | Sequence[Any],
        grid: tuple[int, ...],
        threads: int,
        dynamic_shared_bytes: int = 0,
        seed: int = 0,
        check: bool = True,
        steps: int = 10**7,
    ) -> Counters:
        """Launch it.

        Args:
            params: as bytes, laid out as the kernel declares them; or one value a parameter: a number, an array of `memory`, or bytes.
            grid: blocks in x, y and z.
            threads: of a block, a multiple of 32; blocks are one-dimensional.
            seed: of the order of blocks, warps and lanes.
            check: whether to look for races and for reads of what nobody wrote. Bounds and alignment are always checked.
            steps: basic blocks that the warps of a block of threads may run before they are taken to hang.
        """
        if threads % 32 or not 32 <= threads <= 1024:
            raise ValueError(f"{threads} threads a block: the emulator takes whole warps, up to 1024 threads")
        raw = params if isinstance(params, bytes) else _pack(self.parameters, params)
        tables = memory.tables(hashlib.sha256(self.text.encode()).hexdigest(), self.program)
        buffer, addresses = ctypes.create_string_buffer(raw, len(raw)), (ctypes.c_uint64 * (len(tables) or 1))(*tables)
        x, y, z = (*grid, 1, 1)[:3]
        dropped = -1 if self.drop_barrier is None else self.drop_barrier
        launch = _Launch(ctypes.addressof(buffer), ctypes.addressof(addresses), ctypes.addressof(memory.c), len(raw), seed, steps,
                         x, y, z, threads, dynamic_shared_bytes, check, dropped)  # fmt: skip
        c, visits = _Counters(), (ctypes.c_int64 * len(self.program.blocks))()
        with _LOCK:
            self._library.run(ctypes.byref(launch), ctypes.byref(c), visits)
        messages = [
            self._message(memory, kind, fault)
            for kind, count, kept in zip(FAULTS, c.faults, c.kept, strict=True)
            for fault in kept[: min(count, _KEPT)]
        ]
        return Counters(self, c.instructions, c.sass, c.lanes, c.critical, *map(list, (c.global_requests, c.global_sectors, c.shared_requests,
                        c.shared_waves)), c.local, c.clamped, messages, {k: n for k, n in zip(FAULTS, c.faults, strict=True) if n}, list(visits))  # fmt: skip

    def _message(self, memory: Memory, kind: str, fault: _Fault) -> str:
        """One line: what, where in the PTX and the source, which array, which threads."""
        words = [kind, f"line {fault.line} of {self.program.entry}'s PTX{self._source(fault.line)}"]
        if kind in FAULTS[:1] + FAULTS[2:6]:
            place = f"offset {fault.offset:#x}"
            if fault.array >= 0:
                shared = list(self.program.shared)
                place = memory.where(fault.array, fault.offset) if fault.space == 0 else f"{shared[fault.array]} + {fault.offset}"
            words.append(f"{SPACES[fault.space]}: {place}")
        words.append((f"thread {fault.thread} of " if fault.thread >= 0 else "") + f"block {fault.block}")
        if fault.other_thread >= 0:
            words.append(f"and thread {fault.other_thread} of block {fault.other_block}")
        return ", ".join(words)

    def _source(self, line: int) -> str:
        return next((f" ({x.source})" for block in self.program.blocks for x in block if x.line == line and x.source), "")


def _pack(parameters: Iterable[Parameter], values: Sequence[Any]) -> bytes:
    """Values as the bytes of a kernel's parameters."""
    out = bytearray()
    for parameter, value in zip(parameters, values, strict=True):
        if isinstance(value, np.ndarray):
            value = value.ctypes.data
        if not isinstance(value, bytes):
            floats = {"f32": np.float32, "f64": np.float64}
            value = (
                floats[parameter.type](value).tobytes()
                if parameter.type in floats
                else (int(value) % 256**parameter.size).to_bytes(parameter.size, "little")
            )
        if len(value) != parameter.size:
            raise ValueError(f"{parameter.name} has {parameter.size} bytes, not {len(value)}")
        out += b"\0" * (parameter.offset - len(out)) + value
    return bytes(out)


def _folder() -> Path:
    """Where compiled kernels are kept: one folder a user, which no other can write."""
    folder = Path(tempfile.gettempdir()) / f"simtown-emulator-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022 or folder.is_symlink():
        return Path(tempfile.mkdtemp(prefix="simtown-emulator-"))
    return folder


def _compile(entry: str, source: str) -> ctypes.CDLL:
    """The C program as a library, compiled unless one of the same source is there."""
    digest = hashlib.sha256("\0".join([source, *GCC]).encode()).hexdigest()[:24]
    library = _folder() / f"{digest}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            written, made = Path(scratch) / f"{entry[:40]}.c", Path(scratch) / "kernel.so"
            written.write_text(source)
            subprocess.run([*GCC, str(written), "-o", str(made), "-lm"], check=True)
            os.replace(made, library)
    return ctypes.CDLL(str(library))
