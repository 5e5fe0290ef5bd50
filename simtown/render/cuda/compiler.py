"""Kernels from their sources: compiled by NVRTC for a card at first use, and kept in the user's cache."""

import re
from typing import Any

from simtown.core.extras import how_to_install
from simtown.kernels.compiling import HERE
from simtown.render.frames import CardError

#: The card's own files, and those that the processor's compiler reads too.
KERNELS, COMMON = HERE / "card", HERE / "common"
#: The kernels that draw a launch, in the order in which they run.
STAGES = ("setup", "arrange", "draw", "wet", "overlay")
#: Every operation rounds by itself, as the processor's do: no multiplication and addition become one.
OPTIONS: dict[str, Any] = {"std": "c++17", "fma": False}
_INCLUDE = re.compile(r'^#include "(\w+\.(?:cuh|hpp))"\n', re.MULTILINE)


def source(name: str) -> str:
    """The file of a kernel, with the files that it includes put in their places, each once."""
    included: set[str] = set()

    def text(file: str) -> str:
        if file in included:
            return ""
        included.add(file)
        folder = COMMON if file.endswith("hpp") else KERNELS
        lines = (folder / file).read_text(encoding="utf-8").replace("#pragma once\n", "")
        return _INCLUDE.sub(lambda match: text(match[1]), lines)

    return text(f"{name}.cu")


def cubin(name: str, arch: str) -> bytes:
    """Machine code of a kernel for an architecture such as "sm_90".

    It is cached by its source, its options and the compiler's version.

    Raises:
        CardError: there is no compiler, or it refuses the source.
    """
    try:
        from cuda.core import Program, ProgramOptions
        from cuda.core.utils import FileStreamProgramCache
    except ImportError as error:
        raise CardError(f"drawing on a card needs cuda-core ({error}): {how_to_install('cuda')}") from error
    try:
        program = Program(source(name), "c++", ProgramOptions(arch=arch, **OPTIONS))
        try:
            with FileStreamProgramCache() as kept:
                return bytes(program.compile("cubin", cache=kept).code)
        except OSError:  # the cache's folder cannot be written
            return bytes(program.compile("cubin").code)
    except Exception as error:  # of several kinds, by what is missing and by the version
        reason = " ".join(str(error).split())
        if "nvrtc" in reason.lower() and "DynamicLibNotFound" in type(error).__name__:
            raise CardError(f"CUDA's compiler NVRTC is not installed: {how_to_install('cuda')}") from error
        raise CardError(f"the kernel {name} cannot be compiled for {arch} ({reason[:200]})") from error
