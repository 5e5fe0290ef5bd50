"""The search for races against a model of it: random programs of a few accesses, of which the model knows
which pairs are ordered.
"""

from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from tests.cuda.compiler import compile_ptx
from tests.cuda.emulator import Kernel, Memory

BLOCKS, THREADS, STEPS = 2, 64, 12
NOTHING, LOAD, STORE, ATOMIC, LOAD_BYTE, STORE_BYTE, BARRIER, WARP_BARRIER, HALF_BARRIER = range(9)
#: Every thread runs its program: in each step one access, at a byte, or a barrier of all.
SOURCE = """extern "C" __global__ void k(const int* program, unsigned char* target, int* sink) {
    int me = blockIdx.x * 64 + threadIdx.x, sum = 0;
    %s
    for (int step = 0; step < 12; step++) {
        int kind = program[(step * 128 + me) * 2], at = program[(step * 128 + me) * 2 + 1];
        if (kind == 1) sum += *(int*)(target + at);
        if (kind == 2) *(int*)(target + at) = sum;
        if (kind == 3) atomicAdd((int*)(target + at), sum);
        if (kind == 4) sum += target[at];
        if (kind == 5) target[at] = sum;
        if (kind == 6) __syncthreads();
        if (kind == 7) __syncwarp();
        if (kind == 8) __syncwarp(0xffffu << (threadIdx.x & 16));
    }
    sink[me] = sum;
}"""
IN_SHARED = (
    "__shared__ __align__(8) unsigned char shared[8]; if (threadIdx.x < 8) shared[threadIdx.x] = 0; "
    "__syncthreads(); target = shared;"
)


def program(rng: np.random.Generator) -> tuple[np.ndarray, list[tuple[int, int, int, int]]]:
    """A random program, (steps, threads of all blocks, kind and byte), and its accesses: step, thread, kind,
    byte.
    """
    code = np.zeros((STEPS, BLOCKS * THREADS, 2), np.int32)
    kinds = rng.choice([BARRIER, WARP_BARRIER, HALF_BARRIER, NOTHING], STEPS, p=[0.15, 0.25, 0.15, 0.45])
    code[:, :, 0] = kinds[:, None]
    threads = rng.choice([0, 1, 17, 32, 33, 64, 65, 96], rng.integers(2, 5), replace=False)
    accesses = []
    for _ in range(rng.integers(2, 7)):
        step = int(rng.choice(np.append(np.flatnonzero(kinds == NOTHING), STEPS - 1)))
        thread = int(rng.choice(threads))
        kind = int(rng.choice([LOAD, STORE, ATOMIC, LOAD_BYTE, STORE_BYTE], p=[0.3, 0.2, 0.25, 0.15, 0.1]))
        if code[step, thread, 0] == NOTHING:
            at = int(rng.integers(0, 4)) if kind in (LOAD_BYTE, STORE_BYTE) else 0
            code[step, thread] = kind, at
            accesses.append((step, thread, kind, at))
    return code, accesses


def race(code: np.ndarray, accesses: list[tuple[int, int, int, int]], shared: bool) -> bool:
    """Whether two accesses of a byte, at least one of which writes, are not ordered.

    Two atomics are no race.
    """
    for first, second in combinations(sorted(accesses), 2):
        (step, thread, kind, at), (later, other, its_kind, its_at) = first, second
        bytes_ = [
            {at} if kind >= LOAD_BYTE else {0, 1, 2, 3} for kind, at in ((kind, at), (its_kind, its_at))
        ]
        writes = {STORE, ATOMIC, STORE_BYTE} & {kind, its_kind}
        if not writes or not bytes_[0] & bytes_[1] or kind == its_kind == ATOMIC or thread == other:
            continue
        if thread // THREADS != other // THREADS:
            if shared:
                continue
            return True
        between = set(code[step:later, thread, 0].tolist())
        ordered = BARRIER in between
        if thread // 32 == other // 32:
            ordered |= WARP_BARRIER in between or (HALF_BARRIER in between and thread // 16 == other // 16)
        if not ordered:
            return True
    return False


@pytest.mark.parametrize("shared", [False, True])
def test_a_race_is_reported_exactly_where_there_is_one(shared):
    kernel = Kernel(compile_ptx(SOURCE % (IN_SHARED if shared else "")))
    rng, memory, verdicts = np.random.default_rng(3), Memory(1), []
    target = memory.put("target", np.zeros(8, np.uint8))
    sink = memory.put("sink", np.zeros(BLOCKS * THREADS, np.int32))
    given = memory.put("program", np.zeros((STEPS, BLOCKS * THREADS, 2), np.int32))
    for number in range(400):
        given[...], accesses = program(rng)
        wanted = race(given, accesses, shared)
        counters = kernel.run(memory, [given, target, sink], (BLOCKS,), THREADS, seed=number)
        assert set(counters.fault_counts) <= {"race"}, counters.faults
        assert ("race" in counters.fault_counts) == wanted, (
            number,
            accesses,
            given[:, 0, 0].tolist(),
            counters.faults,
        )
        verdicts.append(wanted)
    assert 100 < sum(verdicts) < 300
