"""The emulator itself: every check is seen to fire, and arithmetic equals NumPy's."""

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from tests.cuda.compiler import compile_ptx
from tests.cuda.emulator import Kernel, Memory
from tests.cuda.ptx import UnsupportedError

HEAD = 'typedef unsigned u32; typedef unsigned long long u64;\nextern "C" __global__ void '


def kernel(body: str, parameters: str = "int* out, const int* given, int n", **options) -> Kernel:
    return Kernel(compile_ptx(f"{HEAD} k({parameters}) {{\n{body}\n}}"), **options)


def launch(made: Kernel, given=0, n=0, size=1024, threads=64, blocks=1, dynamic=0, seed=0, start=0):
    """Run a kernel of (out, given, n); returns its counters and what it wrote."""
    memory = Memory(16)
    out = memory.put("out", np.full(size, start, np.int32))
    given = memory.put("given", np.arange(4096, dtype=np.int32) if np.isscalar(given) else given)
    return made.run(memory, [out, given, n], (blocks,), threads, dynamic, seed), out


# What a correct kernel does

REVERSE = "__shared__ int part[64]; int i = threadIdx.x; part[i] = i + n; __syncthreads(); out[blockIdx.x * 64 + i] = part[63 - i];"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_correct_kernel(seed):
    counters, out = launch(kernel(REVERSE), n=5, blocks=3, seed=seed)
    assert counters.faults == []
    assert out[:192].tolist() == [63 - i + 5 for i in range(64)] * 3


def test_blocks_warps_and_lanes_run_in_another_order_for_another_seed():
    made = kernel("out[atomicAdd(out + 1023, 1)] = blockIdx.x * 64 + threadIdx.x;")
    orders = [launch(made, blocks=4, seed=seed)[1][:256].tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted(orders[2]) == list(range(256))
    for unit in (64, 32, 1):  # blocks, warps, lanes
        assert len({tuple(x // unit for x in order) for order in orders}) == 2


# Every check fires


def faults(counters) -> set[str]:
    return set(counters.fault_counts)


def test_race_in_shared_memory_names_the_line_the_array_and_both_threads():
    counters, _ = launch(kernel("__shared__ int part[64];\nint i = threadIdx.x;\npart[i] = i;\nout[i] = part[i ^ 32];"))
    assert "race" in faults(counters)
    assert any("kernel.cu:5" in message and "part" in message and "and thread" in message for message in counters.faults), counters.faults


@pytest.mark.parametrize(
    "body", ["out[0] = threadIdx.x;", "out[threadIdx.x / 2] = 1;", "if (threadIdx.x) out[threadIdx.x] = out[0]; else out[0] = 1;"]
)
def test_race_in_global_memory(body):
    assert faults(launch(kernel(body))[0]) == {"race"}


def test_race_between_blocks():
    assert faults(launch(kernel("out[threadIdx.x] = 1;"), blocks=2)[0]) == {"race"}
    assert faults(
        launch(kernel("if (blockIdx.x) out[threadIdx.x] = out[threadIdx.x + 64]; else out[threadIdx.x + 64] = 1;"), blocks=2)[0]
    ) == {"race"}


def test_neighbouring_bytes_are_no_race():
    counters, out = launch(kernel("((unsigned char*)out)[threadIdx.x] = threadIdx.x;"))
    assert counters.faults == []
    assert out.view(np.uint8)[:64].tolist() == list(range(64))
    assert faults(launch(kernel("((unsigned char*)out)[threadIdx.x] = 1; if (threadIdx.x == 5) out[0] = 1;"))[0]) == {"race"}


def test_atomics_are_no_race_but_a_plain_read_beside_them_is():
    counters, out = launch(kernel("atomicAdd(out, 2); atomicMax(out + 1, (int)threadIdx.x);"), blocks=2)
    assert counters.faults == []
    assert out[:2].tolist() == [256, 63]
    assert faults(launch(kernel("atomicAdd(out, 2); out[threadIdx.x + 1] = out[0];"))[0]) == {"race"}
    assert launch(kernel("atomicAdd(out, 2); out[threadIdx.x + 1] = *(volatile int*)out;"))[0].faults == []


EXCHANGE = "__shared__ int part[64]; int i = threadIdx.x; part[i] = i; %s out[i] = part[i ^ 1];"


def test_warp_barrier_orders_its_lanes():
    assert launch(kernel(EXCHANGE % "__syncwarp();"))[0].faults == []
    assert "race" in faults(launch(kernel(EXCHANGE % ""))[0])
    assert "race" in faults(launch(kernel(EXCHANGE % "__shfl_sync(~0u, i, 0);"))[0])  # says nothing of memory
    pairs = "u32 pair = 3u << (i & 30); __syncwarp(pair);"
    assert launch(kernel(EXCHANGE % pairs))[0].faults == []
    assert "race" in faults(launch(kernel((EXCHANGE % pairs).replace("i ^ 1", "i ^ 2")))[0])


@pytest.mark.parametrize("index", [-1, 1024, 1025, -10_000_000, 100_000_000])
def test_out_of_bounds_in_global_memory(index):
    counters, _ = launch(kernel("out[n] = 1;"), n=index)
    assert faults(counters) == {"out of bounds"}
    if index == 1024:
        assert "out + 4096" in counters.faults[0]


@pytest.mark.parametrize("index", [64, -1, 1000, 20_000])
def test_out_of_bounds_in_shared_memory(index):
    body = "__shared__ int one[64], two[64]; one[threadIdx.x] = two[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = %s[n];"
    for array in ("one", "two"):
        assert faults(launch(kernel(body % array), n=index)[0]) == {"out of bounds"}


def test_out_of_bounds_in_dynamic_shared_memory():
    made = kernel("extern __shared__ int part[]; part[threadIdx.x] = 1; out[threadIdx.x] = part[threadIdx.x];")
    assert launch(made, dynamic=256)[0].faults == []
    assert faults(launch(made, dynamic=252)[0]) == {"out of bounds"}


def test_freed_array():
    memory = Memory(1)
    out, given = memory.put("out", np.zeros(64, np.int32)), memory.put("given", np.zeros(64, np.int32))
    made = kernel("out[threadIdx.x] = given[threadIdx.x];")
    params = [out.ctypes.data, given.ctypes.data, 0]
    assert made.run(memory, params, (1,), 64).faults == []
    memory.free(params[1])
    assert faults(made.run(memory, params, (1,), 64)) == {"out of bounds"}


def test_misaligned():
    assert faults(launch(kernel("*(int*)((char*)out + n) = 1;"), n=2, threads=32)[0]) == {"misaligned", "race"}
    assert faults(launch(kernel("if (threadIdx.x == 0) *(int2*)(out + n) = make_int2(1, 2);"), n=1)[0]) == {"misaligned"}
    body = "__shared__ short part[64]; part[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = *(int*)(part + 2 * n);"
    assert faults(launch(kernel(body))[0]) == {"misaligned"}  # nothing says where an array of shorts begins


def test_read_before_written():
    memory = Memory(1)
    out, given = memory.put("out", np.zeros(64, np.int32)), memory.empty("given", 64, np.int32)
    made = kernel("out[threadIdx.x] = given[threadIdx.x];")
    counters = made.run(memory, [out, given, 0], (1,), 32)
    assert counters.fault_counts == {"read before it was written": 32}
    memory.written(given[:32])
    assert made.run(memory, [out, given, 0], (1,), 32).faults == []
    assert faults(made.run(memory, [out, given, 0], (1,), 64)) == {"read before it was written"}
    assert made.run(memory, [out, given, 0], (1,), 64, check=False).faults == []


def test_shared_and_local_memory_read_before_written():
    assert faults(launch(kernel("__shared__ int part[64]; if (n) part[threadIdx.x] = 1; out[threadIdx.x] = part[threadIdx.x];"))[0]) == {
        "read before it was written"
    }
    body = "int own[20]; for (int i = 0; i < n; i++) own[(i * 7) % 20] = i; out[threadIdx.x] = own[(threadIdx.x * n) % 20];"
    assert faults(launch(kernel(body), n=3)[0]) == {"read before it was written"}
    assert launch(kernel(body), n=20)[0].faults == []


def test_written_during_the_launch_but_read_as_constant():
    counters, _ = launch(kernel("out[threadIdx.x] = 1; out[threadIdx.x + 64] = __ldg(out + threadIdx.x);"))
    assert faults(counters) == {"written during the launch, but read as constant"}


def test_divergent_barrier():
    assert faults(launch(kernel("if (threadIdx.x < 40) __syncthreads(); out[threadIdx.x] = 1;"))[0]) == {
        "barrier not reached by all threads"
    }
    two = "if (threadIdx.x < 32) { __syncthreads(); out[0] = 1; } else { __syncthreads(); out[1] = 1; }"
    assert "barrier not reached by all threads" in faults(launch(kernel(two))[0])


def test_lanes_that_are_missing():
    assert faults(launch(kernel("if (threadIdx.x & 1) out[threadIdx.x] = __shfl_sync(~0u, n, 0); else __syncthreads();"))[0]) == {
        "a lane's partners are missing"
    }
    assert faults(launch(kernel("out[threadIdx.x] = __shfl_sync(0xffffu << (threadIdx.x & 16), threadIdx.x, 3);"))[0]) == {
        "shuffle from a lane that takes no part"
    }


def test_division_by_zero_and_endless_loops():
    assert faults(launch(kernel("out[threadIdx.x] = given[threadIdx.x] / n;"))[0]) == {"division by zero"}
    memory = Memory(1)
    made = kernel("volatile int* p = out; while (*p == 0);")
    out = memory.put("out", np.zeros(1, np.int32))
    assert faults(made.run(memory, [out, out, 0], (1,), 32, steps=1000)) == {"ran too long"}


def test_each_barrier_left_out_is_noticed():
    body = """__shared__ int part[256]; int i = threadIdx.x;
        part[i] = given[i]; __syncthreads();
        for (int step = 128; step; step >>= 1) {
            if (i < step) part[i] += part[i + step];
            __syncthreads();
        }
        if (i < 32) { part[i + 64] = i; __syncwarp(); out[1 + i] = part[64 + (i ^ 1)]; }
        if (i == 64) out[0] = part[0];"""
    made = kernel(body)
    counters, out = launch(made, threads=256)
    assert counters.faults == []
    assert out[0] == sum(range(256))
    assert len(made.barriers) >= 3
    for number in range(len(made.barriers)):
        counters, _ = launch(kernel(body, drop_barrier=number), threads=256)
        assert "race" in faults(counters), made.barriers[number]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("out[0] = __float_as_int(__fdividef(n, 3.0f));", "div.approx"),
        ("out[0] = __float_as_int(__sinf(n));", "sin.approx"),
        ("out[0] = __float_as_int(__fmaf_rn(n, 3.0f, 1.0f));", "fma.rn"),
        ("out[0] = clock();", "%clock"),
        ("atomicAdd((float*)out, 1.0f);", "red.global.add.f32|atom.global.add.f32"),
        ('asm volatile("mov.u32 %0, %%smid;" : "=r"(out[0]));', "%smid"),
    ],
)
def test_what_is_not_known_is_refused_by_name(body, name):
    with pytest.raises(UnsupportedError, match=name):
        kernel(body)


def test_calls_are_refused():
    source = "__noinline__ __device__ int f(int* x) { return x[3] + x[x[0]]; }\n" + HEAD + "k(int* out) { out[0] = f(out) + f(out + 8); }"
    with pytest.raises(UnsupportedError, match="call"):
        Kernel(compile_ptx(source))


def test_memory_is_limited():
    memory = Memory(1)
    first = memory.allocate(1 << 20)
    with pytest.raises(MemoryError):
        memory.allocate(1)
    memory.free(first)
    with pytest.raises(ValueError, match="no array begins"):
        memory.free(first)
    second = memory.allocate(100)
    assert second != first
    assert len(memory.view(second + 10, 90)) == 90
    with pytest.raises(ValueError, match="do not lie within one array"):
        memory.view(second + 10, 91)
