"""CUDA C++ to PTX, by NVRTC, as the package compiles its kernels: without contraction, so that every operation rounds once."""

from functools import cache

from cuda.bindings import nvrtc

_OPTIONS = (b"--fmad=false", b"--std=c++17", b"-default-device", b"-lineinfo")


@cache
def compile_ptx(source: str, arch: str = "compute_90", name: str = "kernel.cu") -> str:
    """The PTX of a source text, with line information: the emulator's messages name lines of `name`.

    Raises:
        RuntimeError: the source has an error; the message is the compiler's.
    """
    program = _check(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    options = [f"-arch={arch}".encode(), *_OPTIONS]
    failed = int(nvrtc.nvrtcCompileProgram(program, len(options), options)[0])
    log = b" " * _check(nvrtc.nvrtcGetProgramLogSize(program))
    _check(nvrtc.nvrtcGetProgramLog(program, log))
    if failed:
        raise RuntimeError(log.decode(errors="replace").strip("\0 \n"))
    text = b" " * _check(nvrtc.nvrtcGetPTXSize(program))
    _check(nvrtc.nvrtcGetPTX(program, text))
    return text.rstrip(b"\0").decode()


def _check(result):
    error, *values = result
    if int(error):
        raise RuntimeError(f"NVRTC: {error}")
    return values[0] if values else None
