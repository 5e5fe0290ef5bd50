"""A graphics card through CUDA's driver: the few functions that the engine needs."""

import ctypes
import sys
from typing import Any, NamedTuple

import numpy as np

from simtown.core.extras import how_to_install
from simtown.render.cuda import compiler
from simtown.render.frames import CardError

#: Cards older than this have too little shared memory for a block of `draw`.
OLDEST = (8, 0)
_OUT_OF_MEMORY, _NO_DEVICE = 2, 100
#: Insufficient driver, system driver mismatch, unsupported PTX version.
_TOO_OLD = (35, 803, 222)


class CardMemoryError(CardError):
    """The card's memory is full."""


class Launch(NamedTuple):
    """The launch of a kernel.

    Attributes:
        grid: blocks each way.
        threads: of a block.
        shared: bytes of dynamic shared memory of a block.
    """

    grid: tuple[int, int, int]
    threads: int
    shared: int = 0


class _Driver:
    """CUDA's driver, and card `number` of it, before anything is begun there. Raises CardError, as Card."""

    def __init__(self, number: int = 0) -> None:
        if sys.platform == "darwin":  # the extra "cuda" installs nothing there
            raise CardError("macOS has no CUDA")
        try:
            from cuda.bindings import driver, nvrtc
        except ImportError as error:
            missing = f"drawing on a card needs cuda-core and cuda-bindings ({error})"
            raise CardError(f"{missing}: {how_to_install('cuda')}") from error
        self.names = driver
        try:
            driver.cuInit(0)
        except Exception as error:  # the bindings' own, when they find no library
            raise CardError("there is no CUDA driver on this machine: install one") from error
        self.call(driver.cuInit, 0)
        self.device = self.call(driver.cuDeviceGet, number)
        known, name = driver.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY"
        parts = [getattr(known, f"{name}_{part}") for part in ("MAJOR", "MINOR")]
        major, minor = (self.call(driver.cuDeviceGetAttribute, part, self.device) for part in parts)
        model = self.call(driver.cuDeviceGetName, 128, self.device).split(b"\0")[0].decode()
        version = self.call(driver.cuDriverGetVersion)
        self.arch = _architecture(model, (major, minor), version // 1000, nvrtc)
        cuda = f"{version // 1000}.{version % 1000 // 10}"
        self.name = f"{model} (compute capability {major}.{minor}, driver of CUDA {cuda})"

    def call(self, function: Any, *arguments: Any) -> Any:
        """The result of a function of the driver. Raises CardError."""
        status, *result = function(*arguments)
        if status:
            raise _error(int(status), getattr(status, "name", str(status)))
        return result[0] if result else None


def _error(code: int, name: str) -> CardError:
    """The meaning of a CUDA error, and its remedy."""
    if code == _OUT_OF_MEMORY:
        remedy = "end other programs that use it, or draw fewer pictures at once"
        return CardMemoryError(f"the card's memory is full: {remedy}")
    if code == _NO_DEVICE:
        return CardError("there is no graphics card that CUDA can use on this machine")
    if code in _TOO_OLD:
        return CardError("the graphics driver is too old for this CUDA: update it")
    return CardError(f"the graphics card does not work (CUDA says {name})")


class Card:
    """Card `number` of this machine.

    Addresses are integers; streams, events, kernels and arguments are the driver's own objects. Work on a
    stream runs in order, later than the call that queues it. Every method may raise CardError, also for work
    that was queued before.

    Attributes:
        name: with compute capability and versions, in one line.
        kind: DLPack's type and number of the device whose memory this is.

    Raises:
        CardError: there is no driver, no card or no compiler, or one of them is too old.
    """

    def __init__(self, number: int = 0) -> None:
        opened = _Driver(number)
        self._driver, self._call, self._arch = opened.names, opened.call, opened.arch
        self._context = self._call(self._driver.cuDevicePrimaryCtxRetain, opened.device)
        self.name, self.kind = opened.name, (2, number)
        self.use()

    def use(self) -> None:
        """Prepare the calling thread for the other methods."""
        self._call(self._driver.cuCtxSetCurrent, self._context)

    def kernel(self, name: str, most_shared: int = 0) -> Any:
        """Compile and load a kernel; its blocks take at most so many bytes of dynamic shared memory."""
        driver = self._driver
        module = self._call(driver.cuModuleLoadData, compiler.cubin(name, self._arch))
        function = self._call(driver.cuModuleGetFunction, module, name.encode())
        if most_shared:
            attribute = driver.CUfunction_attribute
            size = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            share = attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
            for which, value in ((size, most_shared), (share, 100)):
                self._call(driver.cuFuncSetAttribute, function, which, value)
        return function

    def allocate(self, size: int) -> int:
        """The address of so many bytes. Raises CardMemoryError."""
        return int(self._call(self._driver.cuMemAlloc, size))

    def free(self, address: int) -> None:
        """Give memory back when all that was queued is done."""
        self.use()
        self._call(self._driver.cuMemFree, address)

    def pinned(self, size: int) -> np.ndarray:
        """(size,) uint8 in the processor's memory, which the card reads and writes without help."""
        address = self._call(self._driver.cuMemHostAlloc, size, self._driver.CU_MEMHOSTALLOC_PORTABLE)
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def unpin(self, memory: np.ndarray) -> None:
        """Give back what :meth:`pinned` gave."""
        self._call(self._driver.cuMemFreeHost, memory.ctypes.data)

    def stream(self) -> Any:
        """A new stream, which waits for no other, not even for the default stream."""
        return self._call(self._driver.cuStreamCreate, self._driver.CUstream_flags.CU_STREAM_NON_BLOCKING)

    def foreign(self, handle: int) -> Any:
        """Somebody else's stream, by the number that CUDA knows it by."""
        return self._driver.CUstream(handle)

    def event(self, timed: bool = False) -> Any:
        flags = self._driver.CUevent_flags
        kind = flags.CU_EVENT_DEFAULT if timed else flags.CU_EVENT_DISABLE_TIMING
        return self._call(self._driver.cuEventCreate, kind)

    def record(self, event: Any, stream: Any) -> None:
        """The event happens when all that was queued on the stream is done."""
        self._call(self._driver.cuEventRecord, event, stream)

    def wait(self, stream: Any, event: Any) -> None:
        """Make work that is queued on the stream from now on run after the event."""
        self._call(self._driver.cuStreamWaitEvent, stream, event, 0)

    def synchronize(self, event: Any) -> None:
        """Return when the event has happened."""
        self._call(self._driver.cuEventSynchronize, event)

    def drain(self, stream: Any) -> None:
        """Return when all that was queued on the stream is done."""
        self._call(self._driver.cuStreamSynchronize, stream)

    def elapsed(self, begin: Any, end: Any) -> float:
        """Seconds between two timed events that have happened."""
        return float(self._call(self._driver.cuEventElapsedTime, begin, end)) / 1e3

    def upload(self, address: int, source: int, size: int, stream: Any) -> None:
        """Queue a copy of so many bytes from the processor's memory to the card's."""
        self._call(self._driver.cuMemcpyHtoDAsync, address, source, size, stream)

    def download(self, target: int, address: int, size: int, stream: Any) -> None:
        """Queue a copy of so many bytes from the card's memory to the processor's."""
        self._call(self._driver.cuMemcpyDtoHAsync, target, address, size, stream)

    def argument(self, address: int) -> Any:
        """The one argument of a kernel: an address."""
        value = np.array([address], dtype=np.uint64)
        return np.array([value.ctypes.data], dtype=np.uint64), value  # CUDA takes addresses of arguments

    def launch(self, kernel: Any, how: Launch, stream: Any, argument: Any) -> None:
        """Queue a kernel."""
        block = (how.threads, 1, 1)
        self._call(self._driver.cuLaunchKernel, kernel, *how.grid, *block, how.shared, stream, argument[0], 0)

    def device_of(self, address: int) -> int:
        """The number of the card in whose memory an address lies. Raises CardError if it lies in none."""
        attribute = self._driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self._call(self._driver.cuPointerGetAttribute, attribute, address))


def _architecture(model: str, capability: tuple[int, int], driver: int, nvrtc: Any) -> str:
    """The architecture to compile for: the newest that both the card and the compiler know.

    Raises CardError.
    """
    if capability < OLDEST:
        has, needed = (".".join(map(str, version)) for version in (capability, OLDEST))
        raise CardError(f"the card {model} is too old: it has compute capability {has}; {needed} is needed")
    try:
        version, supported = nvrtc.nvrtcVersion(), nvrtc.nvrtcGetSupportedArchs()
    except Exception as error:  # the bindings' own, when they find no library
        raise CardError(f"CUDA's compiler NVRTC is not installed: {how_to_install('cuda')}") from error
    (_, major, minor), (_, architectures) = version, supported
    if driver < major:
        compiled = f"CUDA's compiler is {major}.{minor}"
        raise CardError(f"the graphics driver knows CUDA {driver}, and {compiled}: update the driver")
    alike = [arch for arch in architectures if arch // 10 == capability[0] and arch % 10 <= capability[1]]
    if not alike:
        remedy = "update nvidia-cuda-nvrtc"
        raise CardError(f"CUDA's compiler {major}.{minor} does not know the card {model}: {remedy}")
    return f"sm_{max(alike)}"


def check_card() -> None:
    """Raises CardError unless there is a card for which the kernels can be compiled; keeps the kernels."""
    arch = _Driver().arch
    for name in compiler.STAGES:
        compiler.cubin(name, arch)
