"""What a kernel takes of a card, by ptxas and nvdisasm: limits that a test can hold a kernel to."""

import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from tests.cuda.compiler import compile_ptx
from tests.cuda.emulator import Kernel
from tests.cuda.resources import measure, measure_source

SUM = """extern "C" __global__ void __launch_bounds__(256) total(const float* given, float* out) {
    __shared__ float part[256];
    part[threadIdx.x] = given[threadIdx.x];
    for (int step = 128; step; step >>= 1) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) out[0] = part[0] / 3.0f;
}"""


def test_a_small_kernel():
    text = compile_ptx(SUM)
    taken = measure(text)
    assert taken.spill_stores == taken.spill_loads == taken.stack == 0
    assert taken.registers <= 32
    assert taken.shared == 1024
    assert 50 < taken.body < taken.sass < 300  # a division that rounds once is a routine
    assert Kernel(text).scale == pytest.approx(1, abs=0.5)


def test_what_nvrtc_makes_is_much_like_what_ptxas_makes():
    made, assembled = measure_source(SUM), measure(compile_ptx(SUM))
    assert (made.stack, made.spill_stores, made.spill_loads, made.shared) == (0, 0, 0, 1024)
    assert made.registers == pytest.approx(assembled.registers, abs=8)
    assert made.body == pytest.approx(assembled.body, rel=0.2)


def test_spills_are_seen():
    numbers = "\n".join(f"float x{i} = given[{i} * blockDim.x];" for i in range(64))
    body = f"{numbers}\n__syncthreads();\n" + "\n".join(
        f"given[{i} * gridDim.x] = x{i} + x{63 - i};" for i in range(64)
    )
    source = f'extern "C" __global__ void __launch_bounds__(1024, 2) k(volatile float* given) {{ {body} }}'
    for taken in (measure(compile_ptx(source)), measure_source(source)):
        assert taken.registers <= 32
        assert taken.spill_stores > 0
        assert taken.spill_loads > 0


def test_another_architecture_and_a_source_that_is_refused():
    assert measure(compile_ptx(SUM, "compute_80"), arch="sm_80").shared == 1024
    with pytest.raises(RuntimeError, match="ptxas"):
        measure(compile_ptx(SUM), "total", "sm_80")
    with pytest.raises(RuntimeError, match=r"kernel.cu\(1\): error"):
        compile_ptx("int x = y;")


def test_an_empty_log_is_written_into_no_byte_that_python_shares():
    compile_ptx("__global__ void nothing() {}", name="quiet.cu")
    assert b"a b".split(bytes([32])) == [b"a", b"b"]
    assert b" "[0] == 32
