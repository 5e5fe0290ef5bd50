"""A batch in emulated memory, as the card's kernels take it, to run some of them and read their results."""

from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

from simtown.render.cuda import layout
from simtown.scenes.scene import SceneBatch
from tests.cuda.emulated_card import EmulatedCard
from tests.cuda.emulator import Counters

#: Threads of a block of each kernel.
THREADS = {"setup": 128, "overlay": 256}


class Launch:
    """A launch of n scenes: its job and arrays, which kernels fill.

    `arrays` holds a view of every array by its name in job.cuh.
    """

    def __init__(self, batch: SceneBatch, width: int, height: int) -> None:
        self.size = layout.needs().size(batch, width, height)
        self.card = EmulatedCard(megabytes=512)
        self.memory = self.card.memory
        tables, numbers = layout.town()
        columns = {
            name: getattr(batch, name).astype(kind) for name, (_, kind) in layout.columns(self.size).items()
        }
        self.arrays = {name: self.memory.put(name, values) for name, values in {**tables, **columns}.items()}
        self.arrays |= {
            name: self.memory.empty(name, shape, kind)
            for name, (shape, kind) in layout.work(self.size).items()
        }
        self.arrays["rgb"] = self.memory.empty("rgb", (len(batch), height, width, 3), np.uint8)
        job = np.zeros((), layout.JOB)
        for name, values in numbers.items():
            job["town"][name] = values
        for name, array in self.arrays.items():
            (job["town"] if name in tables else job)[name] = array.ctypes.data
        job["scenes"], job["width"], job["height"] = len(batch), width, height
        for name in (
            "vehicles",
            "props",
            "slots",
            "most_faces",
            "most_pieces",
            "most_larges",
            "ground_faces",
        ):
            job[name] = getattr(self.size, name)
        job["lamps"] = self.size.most_lamps
        self.job = self.memory.put("job", job)

    def put(self, name: str, values: np.ndarray, row: int | slice = slice(None)) -> None:
        """Write what another kernel would have left in an array, or in a row of it."""
        part = self.arrays[name][row]
        part[...] = values
        self.memory.written(part)

    def run(self, name: str, grid: tuple[int, ...], seed: int = 0, check: bool = True) -> Counters:
        """Run a kernel; asserts that nothing was at fault."""
        _, kernel, _ = self.card.kernel(name)
        counters = kernel.run(self.memory, [self.job], grid, THREADS[name], seed=seed, check=check)
        assert not counters.faults, "\n".join(counters.faults)
        return counters


def faults_without_barriers(
    launch: Callable[[], Launch], name: str, grid: tuple[int, ...]
) -> Iterator[list[str]]:
    """What the emulator finds at fault in a kernel when it lacks a barrier, for every barrier; `launch` makes
    ready what it takes.
    """
    _, kernel, _ = EmulatedCard().kernel(name)
    for i in range(len(kernel.barriers)):
        ready, without = launch(), copy(kernel)
        without.drop_barrier = i
        yield without.run(ready.memory, [ready.job], grid, THREADS[name], seed=i).faults
