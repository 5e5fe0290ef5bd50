"""The shim finds what is wrong with a kernel: each check, tried on a kernel that breaks it."""

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from simtown.render.cuda.card import CardMemoryError, Launch
from tests.cuda.host_card import HostCard

THREADS, BLOCKS = 64, 3
SUM = """
    __shared__ int part[64];
    part[threadIdx.x] = given[threadIdx.x];
    for (int step = 32; step; step >>= 1) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
"""
WARP_SUM = """
    int sum = given[threadIdx.x];
    for (int away = 16; away; away /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, away);
    if (threadIdx.x % 32 == 0) atomicAdd(out + blockIdx.x, sum);
"""


def run(body, seed=0):
    """What a kernel with pointers `given` (0, 1, 2 ...) and `out` (zeros) leaves in `out`."""
    text = f"""
        struct Job {{ const int* given; int* out; }};
        extern "C" __global__ void k(const Job* job)
        {{
            const int* given = job->given;
            int* out = job->out;
            {body}
        }}"""
    card = HostCard(1, seed=seed, sources={"k": text})
    given, out = card.memory.empty((THREADS,), np.int32), card.memory.empty((BLOCKS,), np.int32)
    job = card.memory.empty((2,), np.uint64)
    addresses = [given.ctypes.data, out.ctypes.data]
    for array, values in ((given, np.arange(THREADS)), (out, 0), (job, addresses)):
        array[:] = values
        card.memory.written(array)
    launch = Launch((BLOCKS, 1, 1), THREADS)
    card.launch(card.kernel("k"), launch, card.stream(), card.argument(job.ctypes.data))
    return out.tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("body", [SUM, WARP_SUM])
def test_sums(body, seed):
    assert run(body, seed) == [THREADS * (THREADS - 1) // 2] * BLOCKS


RACE, UNWRITTEN, SHARED = "since the last barrier", "which nobody wrote", "__shared__ int a[64];"
FAULTS = [
    (SUM.replace("__syncthreads();", ""), RACE),
    (WARP_SUM.replace("atomicAdd(out + blockIdx.x, sum)", "out[blockIdx.x] += sum"), RACE),
    (f"{SHARED} a[threadIdx.x] = 1; out[blockIdx.x] = a[threadIdx.x ^ 1];", RACE),
    (f"{SHARED} if (threadIdx.x) a[threadIdx.x] = 1; __syncthreads(); out[blockIdx.x] = a[0];", UNWRITTEN),
    ("__shared__ int a[4]; a[given[threadIdx.x]] = 1;", "index out of bounds"),
    ("if (given[threadIdx.x + 1] < 0) out[0] = 1;", "reads out of bounds"),
    ("if (threadIdx.x == 0) out[blockIdx.x + 1] = 1;", "writes out of bounds"),
    ("if (threadIdx.x == 0) *(volatile int*)nullptr = 1;", "no card's memory"),
    ("if (threadIdx.x < 2) out[0] = ((const int4*)(given + threadIdx.x))->x;", "misaligned"),
    ("if (threadIdx.x == 0) out[blockIdx.x] = (int)(given[5] * 1e9f);", "too large for its integer"),
    ("threadIdx.x % 2 ? __syncwarp() : (void)__any_sync(0xffffffffu, true);", "while its warp calls"),
    ("if (threadIdx.x % 2) __syncwarp(); else __syncthreads();", "waits for its warp forever"),
]


@pytest.mark.parametrize(("body", "fault"), FAULTS)
def test_faults_are_found(body, fault):
    with pytest.raises(AssertionError, match=f"k, block .*{fault}"):
        run(body)


def test_memory_runs_out_and_comes_back():
    card = HostCard(1)
    address = card.allocate(1 << 20)
    with pytest.raises(CardMemoryError):
        card.allocate(1)
    card.free(address)
    assert card.allocate(1) != address
