"""The card: whether there is one that works, and the CPU's functions compiled for it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
from numba import config, cuda

from simtown.extras import how_to_install
from simtown.render.engines import CardError


@cache
def on_card(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The device function of a :data:`simtown.exact.kernel`, from the same source, and of the kernels that it calls."""
    source: Any = kernel.py_func  # type: ignore[attr-defined]
    used = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    names = {name: on_card(value) if hasattr(value, "py_func") else value for name, value in used.items()}
    own = {**names, "__name__": source.__module__, "__builtins__": builtins}
    return cuda.jit(device=True)(FunctionType(source.__code__, own, source.__name__))


#: A decorator for kernels, compiled once a machine; 80 registers let three blocks of 256 threads share a multiprocessor of 65,536.
#: No optimisation at link time: the linker would contract what NVVM was told not to.
entry = cuda.jit(cache=True) if config.ENABLE_CUDASIM else cuda.jit(cache=True, max_registers=80, lto=False)


@contextmanager
def uncontracted() -> Iterator[None]:
    """Kernels compiled in this block round after every operation, as the CPU's do: NVVM otherwise makes one of a * b + c.

    numba has no option for it and hands no options through, so the call to NVVM is given one on the way.
    """
    if config.ENABLE_CUDASIM:
        yield
        return
    nvvm: Any = import_module("numba.cuda.cudadrv.nvvm")
    before = nvvm.compile_ir
    nvvm.compile_ir = lambda code, **options: before(code, **options, fma=False)
    try:
        yield
    finally:
        nvvm.compile_ir = before


@cuda.jit
def _touch(array):  # type: ignore[no-untyped-def]
    array[0] = 1


def check_card() -> None:
    """Raises CardError, in one line, unless a kernel can be compiled and run here."""
    try:
        if cuda.is_available():
            if not config.ENABLE_CUDASIM and find_spec("numba_cuda") is None:
                raise CardError(f"CUDA needs numba-cuda: {how_to_install('cuda')}, or use --device cpu")
            touched = cuda.to_device(np.zeros(1, dtype=np.int32))
            _touch[1, 1](touched)
            if touched.copy_to_host()[0] == 1:
                return
        reason = str(cuda.cuda_error() or "no card was found")
    except CardError:
        raise
    except Exception as error:  # numba's own kinds differ from version to version
        reason = f"{type(error).__name__}: {error}"
    raise CardError(f"{_why(' '.join(reason.split()))}, or use --device cpu")


def _why(reason: str) -> str:
    """What an error of CUDA means, and what to do."""
    if any(word in reason for word in ("INSUFFICIENT_DRIVER", "UNSUPPORTED_PTX", "driver version is insufficient")):
        return "the graphics driver is too old for this CUDA: update it"
    if "driver library cannot be found" in reason or "libcuda" in reason:
        return "there is no CUDA driver on this machine: install one"
    if "nvvm" in reason.lower():
        return f"CUDA's compiler is not installed: {how_to_install('cuda')}"
    return f"CUDA does not work on this machine ({reason[:160]}): repair its installation"


def describe_card() -> str:
    """Name, compute capability and CUDA version of the card, in one line."""
    if config.ENABLE_CUDASIM:
        return "numba's CUDA simulator"
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    capability, runtime = (".".join(map(str, numbers)) for numbers in (device.compute_capability, cuda.runtime.get_version()))
    return f"{name} (compute capability {capability}, CUDA {runtime})"
