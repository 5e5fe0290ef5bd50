"""CUDA C++ to PTX and machine code, by NVRTC, as the package compiles its kernels: every operation rounds
once.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from cuda.bindings import nvrtc

_OPTIONS = ("--fmad=false", "--std=c++17", "-default-device", "-lineinfo")


@cache
def compile_ptx(source: str, arch: str = "compute_90", name: str = "kernel.cu") -> str:
    """The PTX of a source text, with line information: the emulator's messages name lines of `name`.

    Raises:
        RuntimeError: the source has an error; the message is the compiler's.
    """
    program, _ = _compile(source, name, f"-arch={arch}")
    text = _filled(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    _check(nvrtc.nvrtcDestroyProgram(program))
    return text.rstrip(b"\0").decode()


@cache
def compile_cubin(source: str, arch: str = "sm_90", name: str = "kernel.cu") -> tuple[bytes, str]:
    """The machine code of a source text, which a card runs, and what the assembler in NVRTC reports of it.

    Raises:
        RuntimeError: as `compile_ptx`.
    """
    program, log = _compile(source, name, f"-arch={arch}", "--ptxas-options=-v")
    code = _filled(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    _check(nvrtc.nvrtcDestroyProgram(program))
    return code, log


def _compile(source: str, name: str, *options: str) -> tuple[Any, str]:
    """NVRTC's program and its log."""
    program = _check(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    given = [option.encode() for option in (*options, *_OPTIONS)]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(given), given)
    log = _filled(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
    if int(error):
        raise RuntimeError(log.decode(errors="replace").strip("\0 \n"))
    return program, log.decode(errors="replace")


def _filled(size_of: Callable[..., Any], fill: Callable[..., Any], program: Any) -> bytes:
    """The bytes that NVRTC writes where it is told.

    They are one more than it needs: Python has every object of one byte only once, and what is written into
    it shows everywhere.
    """
    size = _check(size_of(program))
    room = bytes(size + 1)
    _check(fill(program, room))
    return room[:size]


def _check(result: tuple[Any, ...]) -> Any:
    """What a call of NVRTC gives back."""
    error, *values = result
    if int(error):
        raise RuntimeError(f"NVRTC: {error}")
    return values[0] if values else None
