"""Run the PTX of CUDA kernels on the processor, thread by thread, with every access checked.

    memory = Memory(megabytes=64)
    numbers = memory.put("numbers", np.arange(256, dtype=np.int32))
    total = memory.put("total", np.zeros(1, np.int32))
    kernel = Kernel(ptx, "add_up")
    counters = kernel.run(memory, [numbers, total, 256], grid=(1, 1, 1), threads=256)
    assert not counters.faults

The machine looks for races, accesses outside an array, misaligned accesses, reads of what nobody wrote, and
barriers that not all threads reach. It runs blocks, warps and lanes in an order that depends on the seed. It
counts warp instructions, sectors of global memory and turns of shared memory.

What it cannot see:

- Time: there are no caches, latencies or clocks. SASS instructions are estimated.
- Errors of ptxas, a driver, streams or copies: what runs is PTX.
- Races on paths that the given numbers do not take. Volatile and relaxed loads are compared with earlier
  stores alone.
- Lanes in lock-step: they run a basic block one after the other. Blocks run one after the other too, so one
  that waits for another hangs.
- What a register holds before it is written, and the bits of a NaN.

Arithmetic that might be contracted, approximations, calls, sums of floats by atomics, and whatever else is
not known are refused by name.
"""

import ctypes
import hashlib
import os
import shutil
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
from tests.cuda.memory import Memory
from tests.cuda.ptx import Instruction, Parameter, parse
from tests.cuda.translate import translate

__all__ = ["Counters", "Kernel", "Memory"]

#: The same order as in machine.c.
FAULTS = (
    "out of bounds",
    "ran too long",
    "misaligned",
    "race",
    "written during the launch, but read as constant",
    "read before it was written",
    "barrier not reached by all threads",
    "division by zero",
    "a lane's partners are missing",
    "shuffle from a lane that takes no part",
)
_SPACES = ("global", "shared", "local", "parameter")
_KEPT = 3  # faults of a kind
#: Floats: one rounding an operation. -O1 takes twice as long to compile a kernel, and runs it no faster.
_GCC = ("gcc", "-Og", "-shared", "-fPIC", "-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
_MOST_SHARED = 227 << 10  # bytes a block, of an H100 or H200
_LOCK = threading.Lock()  # a library holds the state of the launch that runs


class _Fault(ctypes.Structure):
    _fields_ = [
        (x, ctypes.c_int64)
        for x in ("line", "space", "array", "offset", "thread", "block", "other_thread", "other_block")
    ]


class _Launch(ctypes.Structure):
    _fields_ = [(x, ctypes.c_void_p) for x in ("parameters", "tables", "memory")]
    _fields_ += [(x, ctypes.c_uint64) for x in ("parameter_bytes", "seed", "steps")]
    _fields_ += [
        (x, ctypes.c_int32) for x in ("grid_x", "grid_y", "grid_z", "threads", "dynamic", "check", "dropped")
    ]


class _Counters(ctypes.Structure):
    _fields_ = [(x, ctypes.c_double) for x in ("instructions", "unscaled_sass", "lanes", "critical")]
    _fields_ += [
        (x, 3 * ctypes.c_double)
        for x in ("global_requests", "global_sectors", "shared_requests", "shared_waves")
    ]
    _fields_ += [(x, ctypes.c_double) for x in ("local", "clamped")]
    _fields_ += [("faults", len(FAULTS) * ctypes.c_int64), ("kept", len(FAULTS) * (_KEPT * _Fault))]


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
        """Warp instructions in SASS, estimated: by kinds of instructions, scaled to the true length of the
        kernel.
        """
        return self.unscaled_sass * self.kernel.scale

    @property
    def active(self) -> float:
        """Lanes at work of the 32, on average."""
        return self.lanes / max(self.instructions, 1)

    def by_source(self) -> dict[str, float]:
        """SASS instructions of every source line, estimated, the most expensive first.

        The PTX must have line information.
        """
        out: dict[str, float] = {}
        for visits, block in zip(self.visits, self.kernel.program.blocks, strict=True):
            for instruction in block:
                out[instruction.source] = (
                    out.get(instruction.source, 0) + visits * instruction.cost * self.kernel.scale
                )
        return dict(sorted(out.items(), key=lambda item: -item[1]))

    def by_phase(self) -> list[float]:
        """Estimated SASS instructions from one barrier of the block to the next, in the order of the text."""
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
        UnsupportedError: the kernel has an instruction that the emulator does not know.
    """

    def __init__(self, text: str, entry: str | None = None, drop_barrier: int | None = None) -> None:
        self.text, self.drop_barrier = text, drop_barrier
        self.program = parse(text, entry)
        self._library = _compile(translate(self.program))

    @property
    def parameters(self) -> list[Parameter]:
        """Their names, offsets, sizes in bytes and types."""
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
            memory: where its arrays are.
            params: as bytes, laid out as the kernel declares them; or one value a parameter: a number, an
                array of `memory`, or bytes.
            grid: blocks in x, y and z.
            threads: of a block, a multiple of 32; blocks are one-dimensional.
            dynamic_shared_bytes: of a block.
            seed: of the order of blocks, warps and lanes.
            check: whether to look for races and for reads of what nobody wrote. Bounds and alignment are
                always checked.
            steps: basic blocks that the warps of a block of threads may run before they are taken to hang.

        Raises:
            ValueError: a card would refuse the launch.
        """
        program = self.program
        raw = params if isinstance(params, bytes) else _pack(program.parameters, params)
        blocks = (*grid, 1, 1)[:3]
        self._admit(len(raw), blocks, threads, dynamic_shared_bytes)
        tables = memory.tables(hashlib.sha256(self.text.encode()).hexdigest(), program)
        given = ctypes.create_string_buffer(raw, len(raw))
        addresses = (ctypes.c_uint64 * len(tables))(*tables)
        launch = _Launch(
            *(ctypes.addressof(x) for x in (given, addresses, memory.c)),
            *(len(raw), seed, steps, *blocks, threads, dynamic_shared_bytes, check),
            -1 if self.drop_barrier is None else self.drop_barrier,
        )
        counted, visits = _Counters(), (ctypes.c_int64 * len(program.blocks))()
        with _LOCK:
            self._library.run(ctypes.byref(launch), ctypes.byref(counted), visits)
        return Counters(
            self,
            *(getattr(counted, name) for name in ("instructions", "unscaled_sass", "lanes", "critical")),
            *(
                list(getattr(counted, name))
                for name in ("global_requests", "global_sectors", "shared_requests", "shared_waves")
            ),
            *(counted.local, counted.clamped),
            faults=[
                self._message(memory, kind, x)
                for kind, n, kept in zip(FAULTS, counted.faults, counted.kept, strict=True)
                for x in kept[:n]
            ],
            fault_counts={kind: n for kind, n in zip(FAULTS, counted.faults, strict=True) if n},
            visits=list(visits),
        )

    def _admit(self, parameter_bytes: int, blocks: tuple[int, ...], threads: int, dynamic: int) -> None:
        """Refuse what a card would refuse, and blocks that are not of whole warps."""
        program = self.program
        declared = max((x.offset + x.size for x in program.parameters), default=0)
        if parameter_bytes != declared:
            raise ValueError(f"{program.entry} takes {declared} bytes of parameters, not {parameter_bytes}")
        if threads % 32 or not 32 <= threads <= program.most_threads:
            raise ValueError(
                f"{program.entry} takes whole warps, up to {program.most_threads} threads a block, "
                f"not {threads}"
            )
        if min(blocks) < 1 or max(blocks[1:]) > 65_535:
            raise ValueError(f"a grid of {blocks}: 1 to 65535 blocks in y and z")
        if (shared := dynamic + sum(x.size for x in program.shared.values())) > _MOST_SHARED:
            raise ValueError(f"{shared} bytes of shared memory: a block has {_MOST_SHARED}")

    def _message(self, memory: Memory, kind: str, fault: _Fault) -> str:
        """One line: what, where in the PTX and the source, which array, which threads."""
        source = next(
            (
                f" ({x.source})"
                for block in self.program.blocks
                for x in block
                if x.line == fault.line and x.source
            ),
            "",
        )
        words = [kind, f"line {fault.line} of {self.program.entry}'s PTX{source}"]
        if fault.array >= 0:
            names = list(self.program.shared)
            words.append(
                memory.where(fault.array, fault.offset)
                if fault.space == 0
                else f"shared array {names[fault.array]} + {fault.offset}"
            )
        elif kind == "out of bounds":
            words.append(f"{_SPACES[fault.space]} memory at {fault.offset & (2**64 - 1):#x}")
        words.append(
            f"thread {fault.thread} of block {fault.block}" if fault.thread >= 0 else f"block {fault.block}"
        )
        if fault.other_thread >= 0:
            words.append(f"and thread {fault.other_thread} of block {fault.other_block}")
        return ", ".join(words)


def _pack(parameters: Iterable[Parameter], values: Sequence[Any]) -> bytes:
    """Values as the bytes of a kernel's parameters."""
    out = bytearray()
    for parameter, value in zip(parameters, values, strict=True):
        out += b"\0" * (parameter.offset - len(out)) + _bytes(parameter, value)
    return bytes(out)


def _bytes(parameter: Parameter, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if parameter.type in ("f32", "f64"):
        return np.dtype(f"f{parameter.size}").type(value).tobytes()
    number = value.ctypes.data if isinstance(value, np.ndarray) else int(value)
    return (number % 256**parameter.size).to_bytes(parameter.size, "little")


def _folder() -> Path:
    """Where compiled kernels are kept: a folder that no other user can write."""
    folder = Path(tempfile.gettempdir()) / f"simtown-emulator-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o022:
        return Path(tempfile.mkdtemp(prefix="simtown-emulator-"))
    return folder


def _compile(source: str) -> ctypes.CDLL:
    """The C program as a library, compiled unless that of the same source is there.

    Raises:
        FileNotFoundError: there is no gcc.
    """
    digest = hashlib.sha256("\0".join([source, *_GCC]).encode()).hexdigest()[:24]
    library = _folder() / f"{digest}.so"
    if not library.exists():
        if not shutil.which(_GCC[0]):
            raise FileNotFoundError("the emulator needs gcc. On Debian: apt-get install gcc libc6-dev")
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            written, made = Path(scratch) / "kernel.c", Path(scratch) / "kernel.so"
            written.write_text(source, encoding="utf-8")
            subprocess.run([*_GCC, str(written), "-o", str(made), "-lm"], check=True)
            os.replace(made, library)  # another process may have made it meanwhile
    return ctypes.CDLL(str(library))
