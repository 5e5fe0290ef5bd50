"""The card: whether there is one that works, and the CPU's functions compiled for it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any

from numba import config, cuda

from simtown.render.engines import CardError


@lru_cache(maxsize=None)
def on_card(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The device function of a :data:`simtown.exact.kernel`, from the same source, and of the kernels that it calls."""
    source: Any = kernel.py_func  # type: ignore[attr-defined]
    used = {name: source.__globals__[name] for name in source.__code__.co_names if name in source.__globals__}
    names = {name: on_card(value) if hasattr(value, "py_func") else value for name, value in used.items()}
    own = {**names, "__name__": source.__module__, "__builtins__": builtins}
    return cuda.jit(device=True)(FunctionType(source.__code__, own, source.__name__))


@contextmanager
def uncontracted() -> Iterator[None]:
    """Kernels compiled in this block round after every operation, as the CPU's do: NVVM otherwise makes one of a * b + c.

    numba has no option for it and hands no options through, so the call to NVVM is given one on the way.
    """
    if config.ENABLE_CUDASIM:
        yield
        return
    nvvm = import_module("numba.cuda.cudadrv.nvvm")
    before = nvvm.compile_ir
    nvvm.compile_ir = lambda code, **options: before(code, **options, fma=False)
    try:
        yield
    finally:
        nvvm.compile_ir = before


def check_card() -> None:
    """Raises CardError, in one line, unless kernels can be run here."""
    if config.ENABLE_CUDASIM:
        return
    try:
        if cuda.is_available():
            cuda.current_context()
            return
        reason = str(getattr(cuda, "cuda_error", lambda: None)() or "no CUDA driver or no card was found")
    except Exception as error:  # numba's own kinds differ from version to version
        reason = f"{type(error).__name__}: {error}"
    if "INSUFFICIENT_DRIVER" in reason or "UNSUPPORTED_PTX" in reason:
        raise CardError("the graphics driver is too old for this CUDA: update it, or use --device cpu")
    raise CardError(f"CUDA does not work here ({' '.join(reason.split())[:160]}): install a driver and 'simtown[cuda]', or use --device cpu")


def describe_card() -> dict[str, str]:
    """Name, compute capability and driver of the card, and the version of numba's CUDA."""
    if config.ENABLE_CUDASIM:
        return {"card": "simulator", "capability": "", "cuda": "", "numba": import_module("numba").__version__}
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    runtime = ".".join(map(str, cuda.runtime.get_version()))
    return {"card": name, "capability": ".".join(map(str, device.compute_capability)), "cuda": runtime, "numba": getattr(cuda, "__version__", "")}
