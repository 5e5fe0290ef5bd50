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


def written(body: str) -> str:
    """A module of one kernel k(out), written by hand: what compilers rarely make."""
    registers = ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<4>;"
    head = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n.param .u64 .ptr .align 4 out\n)"
    )
    return f"{head}\n{{\n{registers}\n{body}\nret;\n}}\n"


def launch(made: Kernel, given=0, n=0, size=1024, threads=64, blocks=1, dynamic=0, seed=0, start=0):
    """Run a kernel of (out, given, n); returns its counters and what it wrote."""
    memory = Memory(16)
    out = memory.put("out", np.full(size, start, np.int32))
    given = memory.put("given", np.arange(4096, dtype=np.int32) if np.isscalar(given) else given)
    return made.run(memory, [out, given, n], (blocks,), threads, dynamic, seed), out


# What a correct kernel does

REVERSE = (
    "__shared__ int part[64]; int i = threadIdx.x; part[i] = i + n; __syncthreads(); "
    "out[blockIdx.x * 64 + i] = part[63 - i];"
)


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
    for unit in (64, 32):  # blocks, warps
        assert len({tuple(x // unit for x in order) for order in orders}) == 2
    made = kernel("out[atomicAdd(out + 1023, 1)] = threadIdx.x;")
    assert {tuple(launch(made, threads=32, seed=seed)[1][:32].tolist()) for seed in range(8)} == {
        (*range(32),),
        (*reversed(range(32)),),
    }


def test_what_lanes_do_together():
    body = """int i = threadIdx.x, lane = i & 31, x = given[i] * 7 % 13; u32 low = 0xffffu << (lane & 16);
        int* mine = out + i * 16;
        mine[0] = __shfl_sync(~0u, x, lane * 5, 8); mine[1] = __shfl_up_sync(~0u, x, 3);
        mine[2] = __shfl_down_sync(~0u, x, 3, 8);
        mine[3] = __shfl_xor_sync(low, x, 5);
        mine[4] = __ballot_sync(~0u, x > 6); mine[5] = __any_sync(low, x == 12);
        mine[6] = __all_sync(~0u, x < 13);
        mine[7] = __match_any_sync(~0u, x); int same;
        mine[8] = __match_all_sync(low, n, &same); mine[9] = same;
        mine[10] = __reduce_add_sync(low, x); mine[11] = __reduce_min_sync(~0u, (u32)x);
        mine[12] = __syncthreads_count(x == 3); mine[13] = !!__syncthreads_or(x == 12);
        mine[14] = !!__syncthreads_and(x < 12);
        if (lane % 3 == 0) mine[15] = __ballot_sync(0x49249249u, x > 6);
        else mine[15] = __activemask() != 0;"""
    counters, out = launch(kernel(body), n=4)
    assert counters.faults == []
    i = np.arange(64)
    x, lane = i * 7 % 13, i % 32
    warps, halves = x.reshape(2, 32), x.reshape(4, 16)
    mask = lambda rows: np.left_shift(1, np.arange(rows.shape[1])) @ rows.T  # noqa: E731
    wanted = [
        x[i - lane % 8 + lane * 5 % 8],
        np.where(lane < 3, x, x[i - 3]),
        np.where(lane % 8 + 3 > 7, x, x[np.minimum(i + 3, 63)]),
        x[i ^ 5],
        np.repeat(mask(warps > 6), 32),
        np.repeat((halves == 12).any(1), 16),
        np.ones(64),
        [mask((warps[k // 32] == x[k])[None])[0] for k in i],
        0xFFFF << (lane & 16),
        np.ones(64),
        np.repeat(halves.sum(1), 16),
        np.repeat(warps.min(1), 32),
        np.full(64, (x == 3).sum()),
        np.ones(64),
        np.zeros(64),
        np.where(lane % 3 == 0, np.repeat(mask((warps > 6) & (np.arange(32) % 3 == 0)), 32), 1),
    ]
    for column, numbers in enumerate(wanted):
        assert (
            out.view(np.uint32).reshape(64, 16)[:, column].tolist()
            == np.array(numbers).astype(np.uint32).tolist()
        ), column


def test_atomics_of_every_kind():
    body = """int i = threadIdx.x; u64* wide = (u64*)(out + 16);
        __shared__ int part[2]; if (i == 0) part[0] = part[1] = 1; __syncthreads();
        atomicAdd(out, i); atomicMax(out + 1, i); atomicMin(out + 2, -i); atomicOr(out + 3, 1 << (i & 7));
        atomicAnd(out + 4, ~(1 << (i & 3)));
        atomicXor(out + 5, i); atomicExch(out + 6, 9); atomicCAS(out + 7, 0, 5);
        atomicMax((u32*)out + 8, 0x80000000u + i);
        atomicAdd(wide, 1ull << 33); atomicMax(wide + 1, (u64)i << 40);
        atomicAdd(part, 1); atomicSub(part + 1, 1);
        __syncthreads(); if (i == 0) { out[9] = part[0]; out[10] = part[1]; }"""
    counters, out = launch(kernel(body))
    assert counters.faults == []
    xor = np.bitwise_xor.reduce(np.arange(64))
    assert out[:11].tolist() == [2016, 63, -63, 255, 0, xor, 9, 5, -(2**31) + 63, 65, -63]
    assert out[16:20].view(np.uint64).tolist() == [64 << 33, 63 << 40]


def test_structs_tables_and_generic_addresses():
    """A struct by value, one behind a pointer, constant and global tables, and pointers of which only the run
    tells where they point.
    """
    source = """struct Job { int* out; short4 boxes[3]; float scale; unsigned char flags[3]; };
        __constant__ float SCALES[4] = {1.5f, -2.0f, 0.25f, 3.0f};
        __device__ const short STEPS[5] = {1, -2, 3, -4, 5};
        __device__ int counter = 40; __device__ int zeros[3];
        extern "C" __global__ void k(const Job* job, Job copy) {
            __shared__ int part[64]; int i = threadIdx.x; part[i] = -i; __syncthreads();
            int own[8]; for (int j = 0; j < 8; j++) own[(j * copy.flags[1]) % 8] = j + i;
            const int* from = i % 3 == 0 ? part + 8 : i % 3 == 1 ? copy.out + 64 : own;
            job->out[i] = from[i % 8] + copy.boxes[i % 3].y;
            job->out[i + 128] = (int)(SCALES[i % 4] * copy.scale * job->scale) + STEPS[i % 5] + zeros[i % 3];
            if (i == 0) atomicAdd(&counter, 2);
            if (i == 1) job->out[300] = STEPS[copy.boxes[2].w];
        }
        extern "C" __global__ void count(int* out) { out[threadIdx.x] = counter; }"""
    memory = Memory(1)
    out = memory.put("out", np.full(512, 7, np.int32))
    job = np.zeros(
        1,
        np.dtype(
            [("out", "u8"), ("boxes", "i2", (3, 4)), ("scale", "f4"), ("flags", "u1", 3), ("end", "u1")]
        ),
    )
    job["out"] = out.ctypes.data
    job["boxes"] = np.arange(12).reshape(3, 4) % 5
    job["scale"] = 2.0
    job["flags"] = (1, 3, 5)
    text = compile_ptx(source)
    made = Kernel(text, "k")
    assert [x.offset for x in made.parameters] == [0, 8]
    assert made.run(memory, [memory.put("job", job), job.tobytes()], (1,), 64).faults == []
    i = np.arange(64)
    own = np.array([list(range(8)).index(j) for j in range(8)]) * 3 % 8  # where own[j] was written from
    own = np.argsort(own)
    y = job["boxes"][0, :, 1]
    assert out[:64].tolist() == [[-(8 + k % 8), 7, own[k % 8] + k][k % 3] + y[k % 3] for k in i]
    scales, steps = np.array([1.5, -2, 0.25, 3]), np.array([1, -2, 3, -4, 5])
    assert out[128:192].tolist() == ((scales[i % 4] * 4).astype(int) + steps[i % 5]).tolist()
    again = made.run(memory, [memory.put("job", job), job.tobytes()], (1,), 64)
    assert again.faults == []
    Kernel(text, "count").run(memory, [out], (1,), 32)
    assert out[:32].tolist() == [44] * 32  # kernels of a module share its variables
    elsewhere = Memory(1)
    out = elsewhere.put("out", np.zeros(32, np.int32))
    Kernel(text, "count").run(elsewhere, [out], (1,), 32)
    assert out.tolist() == [40] * 32


@pytest.mark.parametrize(
    ("threads", "grid", "dynamic"),
    [(33, 1, 0), (512, 1, 0), (0, 1, 0), (64, 0, 0), (64, (1, 70_000), 0), (64, 1, 300_000)],
)
def test_launches_that_a_card_would_refuse(threads, grid, dynamic):
    source = (
        "extern __shared__ int part[];\n"
        + HEAD
        + "__launch_bounds__(256) k(int* out) { out[threadIdx.x] = 1; }"
    )
    memory = Memory(1)
    with pytest.raises(ValueError, match=r"\d"):
        Kernel(compile_ptx(source)).run(
            memory,
            [memory.empty("out", 512, np.int32)],
            grid if isinstance(grid, tuple) else (grid,),
            threads,
            dynamic,
        )


def test_guarded_instructions_jump_tables_and_inner_registers():
    text = written(
        """ld.param.u64 %rd0, [out];
        mov.u32 %r0, %tid.x;
        mad.wide.u32 %rd1, %r0, 4, %rd0;
        setp.lt.u32 %p1, %r0, 40;
        and.b32 %r1, %r0, 3;
        mov.u32 %r2, 7;
        @%p1 add.u32 %r2, %r2, 100;
        @!%p1 ld.global.u32 %r2, [%rd0+516];
        @%p1 red.global.add.u32 [%rd0+512], 1;
        TABLE: .branchtargets ZERO, ONE, TWO, TWO;
        brx.idx %r1, TABLE;
        ONE:
        { .reg .b32 half; mov.b64 {half, %r3}, %rd0; sub.u32 %r2, %r2, half; add.u32 %r2, %r2, half; }
        { .reg .pred %p1; setp.ge.u32 %p1, %r0, 0; @%p1 add.u32 %r2, %r2, 1000; }
        bra ZERO;
        TWO:
        mov.f32 %f1, 0f40200000;
        mov.b32 %r3, %f1;
        shr.u32 %r3, %r3, 28;
        add.u32 %r2, %r2, %r3;
        ZERO:
        setp.lt.and.u32 %p2|%p3, %r0, 50, !%p1;
        @%p3 ret;
        setp.gt.u32 %p4, %r0, 100;
        @%p4 bra LATE;
        @!%p2 st.global.u32 [%rd1], %r2;
        @%p2 st.global.u32 [%rd1], -1;
        LATE:"""
    )
    memory = Memory(1)
    out = memory.put("out", np.full(256, 5, np.int32))
    counters = Kernel(text).run(memory, [out], (1,), 64)
    assert counters.faults == []
    i = np.arange(64)
    added = np.array([0, 1000, 4, 4])[i % 4]
    assert out[:64].tolist() == np.select([i < 40, i < 50], [107 + added, -1], 5).tolist()
    assert out[128] == 5 + 40
    assert counters.global_requests == [1, 3, 2]


# Every check fires


def faults(counters) -> set[str]:
    return set(counters.fault_counts)


def test_race_in_shared_memory_names_the_line_the_array_and_both_threads():
    counters, _ = launch(
        kernel("__shared__ int part[64];\nint i = threadIdx.x;\npart[i] = i;\nout[i] = part[i ^ 32];")
    )
    assert "race" in faults(counters)
    assert any(
        "kernel.cu:5" in message and "part" in message and "and thread" in message
        for message in counters.faults
    ), counters.faults


@pytest.mark.parametrize(
    "body",
    [
        "out[0] = threadIdx.x;",
        "out[threadIdx.x / 2] = 1;",
        "if (threadIdx.x) out[threadIdx.x] = out[0]; else out[0] = 1;",
    ],
)
def test_race_in_global_memory(body):
    assert faults(launch(kernel(body))[0]) == {"race"}


def test_race_between_blocks():
    assert faults(launch(kernel("out[threadIdx.x] = 1;"), blocks=2)[0]) == {"race"}
    assert faults(
        launch(
            kernel(
                "if (blockIdx.x) out[threadIdx.x] = out[threadIdx.x + 64]; else out[threadIdx.x + 64] = 1;"
            ),
            blocks=2,
        )[0]
    ) == {"race"}


def test_neighbouring_bytes_are_no_race():
    counters, out = launch(kernel("((unsigned char*)out)[threadIdx.x] = threadIdx.x;"))
    assert counters.faults == []
    assert out.view(np.uint8)[:64].tolist() == list(range(64))
    assert faults(
        launch(kernel("((unsigned char*)out)[threadIdx.x] = 1; if (threadIdx.x == 5) out[0] = 1;"))[0]
    ) == {"race"}


def test_atomics_are_no_race_but_a_plain_read_beside_them_is():
    counters, out = launch(kernel("atomicAdd(out, 2); atomicMax(out + 1, (int)threadIdx.x);"), blocks=2)
    assert counters.faults == []
    assert out[:2].tolist() == [256, 63]
    assert faults(launch(kernel("atomicAdd(out, 2); out[threadIdx.x + 1] = out[0];"))[0]) == {"race"}
    assert launch(kernel("atomicAdd(out, 2); out[threadIdx.x + 1] = *(volatile int*)out;"))[0].faults == []


@pytest.mark.parametrize("seed", range(6))
def test_races_in_every_order(seed):
    """Of a store with reads of two warps, one of which it is ordered behind; and of a thread that stores, and
    adds with the others.
    """
    assert faults(
        launch(kernel("int x = out[0]; __syncwarp(); if (threadIdx.x == 32) out[0] = x + 1;"), seed=seed)[0]
    ) == {"race"}
    assert faults(
        launch(kernel("if (threadIdx.x == 0) out[0] = 0; atomicAdd(out, 1);"), threads=32, seed=seed)[0]
    ) == {"race"}


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
    body = (
        "__shared__ int one[64], two[64]; one[threadIdx.x] = two[threadIdx.x] = 1; __syncthreads(); "
        "out[threadIdx.x] = %s[n];"
    )
    for array in ("one", "two"):
        assert faults(launch(kernel(body % array), n=index)[0]) == {"out of bounds"}


def test_out_of_bounds_in_dynamic_shared_memory():
    made = kernel(
        "extern __shared__ int part[]; part[threadIdx.x] = 1; out[threadIdx.x] = part[threadIdx.x];"
    )
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
    assert faults(launch(kernel("*(int*)((char*)out + n) = 1;"), n=2, threads=32)[0]) == {
        "misaligned",
        "race",
    }
    assert faults(launch(kernel("if (threadIdx.x == 0) *(int2*)(out + n) = make_int2(1, 2);"), n=1)[0]) == {
        "misaligned"
    }
    body = (
        "__shared__ short part[64]; part[threadIdx.x] = 1; __syncthreads(); "
        "out[threadIdx.x] = *(int*)(part + 2 * n);"
    )
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
    assert faults(
        launch(
            kernel(
                "__shared__ int part[64]; if (n) part[threadIdx.x] = 1; out[threadIdx.x] = part[threadIdx.x];"
            )
        )[0]
    ) == {"read before it was written"}
    body = (
        "int own[20]; for (int i = 0; i < n; i++) own[(i * 7) % 20] = i; "
        "out[threadIdx.x] = own[(threadIdx.x * n) % 20];"
    )
    assert faults(launch(kernel(body), n=3)[0]) == {"read before it was written"}
    once = (
        "__shared__ int part[64]; if (blockIdx.x == n) part[threadIdx.x] = 1; "
        "out[threadIdx.x + 64 * blockIdx.x] = part[threadIdx.x];"
    )
    assert (
        faults(launch(kernel(once), n=1, blocks=2)[0])
        == faults(launch(kernel(once), n=0, blocks=2)[0])
        == {"read before it was written"}
    )
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
    assert faults(
        launch(
            kernel("if (threadIdx.x & 1) out[threadIdx.x] = __shfl_sync(~0u, n, 0); else __syncthreads();")
        )[0]
    ) == {"a lane's partners are missing"}
    assert faults(
        launch(kernel("out[threadIdx.x] = __shfl_sync(0xffffu << (threadIdx.x & 16), threadIdx.x, 3);"))[0]
    ) == {"shuffle from a lane that takes no part"}


def test_lanes_that_ended_are_not_waited_for():
    counters, out = launch(
        kernel("if (threadIdx.x % 3 == 0) return; out[threadIdx.x] = __ballot_sync(~0u, 1);"), threads=32
    )
    assert counters.faults == []
    assert out.view(np.uint32)[:4].tolist() == [0, 0xB6DB6DB6, 0xB6DB6DB6, 0]
    late = (
        "if (threadIdx.x % 3) out[threadIdx.x] = __ballot_sync(~0u, 1); "
        "else { if (n) out[threadIdx.x] = 5; return; }"
    )
    counters, out = launch(kernel(late), n=1, threads=32)
    assert counters.faults == []
    assert out.view(np.uint32)[:4].tolist() == [5, 0xB6DB6DB6, 0xB6DB6DB6, 5]


def test_lanes_wait_for_those_that_are_late():
    """Even lanes go back to the ballot at once, odd lanes later: as if a compiler had not let them meet
    before.
    """
    text = written(
        """mov.u32 %r0, %tid.x;
        and.b32 %r1, %r0, 1;
        setp.eq.u32 %p1, %r1, 0;
        setp.ne.u32 %p2, %r0, 99;
        mov.u32 %r2, 3;
        mov.u32 %r3, 0;
        TOP:
        vote.sync.ballot.b32 %r4, %p2, -1;
        popc.b32 %r4, %r4;
        add.u32 %r3, %r3, %r4;
        sub.u32 %r2, %r2, 1;
        setp.ne.u32 %p3, %r2, 0;
        @!%p1 bra ODD;
        @%p3 bra TOP;
        bra END;
        ODD:
        @%p3 bra TOP;
        END:
        ld.param.u64 %rd0, [out];
        mad.wide.u32 %rd1, %r0, 4, %rd0;
        st.global.u32 [%rd1], %r3;"""
    )
    memory = Memory(1)
    out = memory.put("out", np.zeros(64, np.int32))
    counters = Kernel(text).run(memory, [out], (1,), 64)
    assert counters.faults == []
    assert out.tolist() == [96] * 64
    assert max(counters.visits) > 2 * 3  # lanes came to the ballot and waited


def test_lanes_that_name_other_partners():
    named = "out[threadIdx.x] = __ballot_sync(threadIdx.x < 16 ? ~0u : 0xffff0000u, 1);"
    assert faults(launch(kernel(named), threads=32)[0]) == {"a lane's partners are missing"}
    assert faults(launch(kernel("out[threadIdx.x] = __ballot_sync(2, 1);"), threads=32)[0]) == {
        "a lane's partners are missing"
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
        ('asm volatile("cp.async.wait_all;");', "cp.async"),
        ('asm volatile("mov.u32 %0, %%smid;" : "=r"(out[0]));', "%smid"),
    ],
)
def test_what_is_not_known_is_refused_by_name(body, name):
    with pytest.raises(UnsupportedError, match=name):
        kernel(body)


def test_calls_are_refused():
    source = (
        "__noinline__ __device__ int f(int* x) { return x[3] + x[x[0]]; }\n"
        + HEAD
        + "k(int* out) { out[0] = f(out) + f(out + 8); }"
    )
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


# Counts


def test_counts_of_a_kernel_known_by_hand():
    """32 lanes read 128 neighbouring bytes, write 32 words 128 bytes apart, and turn over shared memory with
    conflicts of two.
    """
    body = """__shared__ int part[128]; int i = threadIdx.x;
        part[i * 2] = given[i]; __syncthreads(); if (i < 8) atomicAdd(part, 1);
        out[i * 32] = part[i * 2 ^ 2];"""
    counters, _ = launch(kernel(body), threads=32)
    assert counters.global_requests == [1, 1, 0]
    assert counters.global_sectors == [4, 32, 0]
    assert counters.shared_requests == [1, 1, 1]
    assert counters.shared_waves == [2, 2, 8]
    assert counters.clamped == 0
    assert 0 < counters.sass == counters.unscaled_sass * counters.kernel.scale
    assert sum(counters.by_phase()) == pytest.approx(counters.sass) == sum(counters.by_source().values())
    assert next(iter(counters.by_source())) == "kernel.cu:4"


def test_lanes_that_part_meet_again():
    """A branch costs both sides; behind it the warp is whole."""
    loop = "int x = 0; for (int j = 0; j < 100; j++) x = x * 3 + given[j + n]; out[threadIdx.x] = x;"
    whole = launch(kernel(f"{loop}"))[0]
    assert whole.active == 32
    parted = launch(kernel(f"if (threadIdx.x & 1) {{ {loop} }} else {{ {loop.replace('* 3', '* 5')} }}"))[0]
    assert parted.instructions == pytest.approx(2 * whole.instructions, rel=0.1)
    assert 16 <= parted.active < 18


def test_conversions_that_are_clamped_are_counted():
    counters, out = launch(kernel("out[threadIdx.x] = (int)(given[threadIdx.x] * 1e8f);"))
    assert counters.clamped == 64 - 22
    assert out[:64].max() == 2**31 - 1
