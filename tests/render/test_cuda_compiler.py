"""Kernels from their sources: includes, the cache, errors, and what the compiled kernels take of a card."""

import io
import re
import sys

import pytest

pytest.importorskip("cuda.core", reason="needs cuda-core: pip install '.[dev]'")

from simtown.render.cuda import compiler
from simtown.render.cuda.card import _architecture
from simtown.render.cuda.lane import shared_bytes
from simtown.render.frames import CardError

#: Registers of a thread with which so many blocks fit a multiprocessor as the kernels were written for.
MOST_REGISTERS = {"setup": 96, "arrange": 80, "draw": 80, "wet": 128, "overlay": 64}
#: Shared memory of a multiprocessor of the oldest cards with 228 KB, less what a block takes for itself.
MULTIPROCESSOR, OF_A_BLOCK = 228 * 1024, 1024

FILES = {
    "a.cuh": "#pragma once\nstruct A { int n; };\n",
    "b.cuh": '#pragma once\n#include "a.cuh"\nstruct B { A a; };\n',
    "good.cu": '// B\n#include "b.cuh"\n#include "a.cuh"\n'
    'extern "C" __global__ void good(B* b) { b->a.n = 1; }\n',
    "bad.cu": 'extern "C" __global__ void bad() { nothing(); }\n',
}


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(compiler, "KERNELS", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_file_is_included_once(kernels):
    text = compiler.source("good")
    assert text.count("struct A") == text.count("struct B") == 1
    assert text.index("// B") < text.index("struct A") < text.index("struct B") < text.index("void good")
    assert "#" not in text


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_what_is_compiled_is_kept_by_source_and_architecture(kernels):
    first = compiler.cubin("good", "sm_90")
    (kept,) = files_in(kernels / "cache")
    assert kept.read_bytes() == first == compiler.cubin("good", "sm_90")
    assert first.startswith(b"\x7fELF")
    compiler.cubin("good", "sm_80")
    (kernels / "a.cuh").write_text("struct A { int more, n; };\n", encoding="utf-8")
    assert compiler.cubin("good", "sm_90") != first
    assert len(files_in(kernels / "cache")) == 3


def test_without_a_folder_for_what_is_kept_it_is_compiled_every_time(kernels, monkeypatch):
    (kernels / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(kernels / "file"))
    assert compiler.cubin("good", "sm_90").startswith(b"\x7fELF")


def test_reasons_are_told_in_words(kernels, monkeypatch):
    with pytest.raises(CardError, match=r"kernel bad .*sm_90 .*nothing") as refused:
        compiler.cubin("bad", "sm_90")
    assert "\n" not in str(refused.value)
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(CardError, match=r"needs cuda-core.*\.\[cuda\]"):
        compiler.cubin("good", "sm_90")


class NoCompiler:
    def nvrtcVersion(self):  # noqa: N802  (NVIDIA's name)
        raise RuntimeError("libnvrtc.so cannot be found")


class Compiler:
    def nvrtcVersion(self):  # noqa: N802
        return 0, 13, 0

    def nvrtcGetSupportedArchs(self):  # noqa: N802
        return 0, [75, 80, 86, 90, 100, 120]


def test_the_newest_architecture_that_card_and_compiler_know():
    for capability, name in {(8, 0): "sm_80", (8, 9): "sm_86", (9, 0): "sm_90", (12, 1): "sm_120"}.items():
        assert _architecture("card", capability, 13, Compiler()) == name
    for capability, driver, nvrtc, words in (
        ((7, 5), 13, Compiler(), r"too old.* 7\.5; 8\.0"),
        ((11, 0), 13, Compiler(), "does not know the card card: update nvidia-cuda-nvrtc"),
        ((9, 0), 12, Compiler(), r"knows CUDA 12, and CUDA's compiler is 13\.0: update the driver"),
        ((9, 0), 13, NoCompiler(), r"NVRTC is not installed: .*\.\[cuda\]"),
    ):
        with pytest.raises(CardError, match=words):
            _architecture("card", capability, driver, nvrtc)


def resources(name):
    """Registers of a thread, bytes of its stack and spills, static shared memory of a block."""
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch="sm_90", ptxas_options=["-v"], **compiler.OPTIONS)
    program, log = Program(compiler.source(name), "c++", options), io.StringIO()
    program.compile("cubin", logs=log)
    text = log.getvalue()
    patterns = (r"Used (\d+) registers", r"(\d+) bytes (?:stack|spill)", r"(\d+) bytes smem")
    return [sum(map(int, re.findall(pattern, text))) for pattern in patterns]


@pytest.mark.parametrize("name", compiler.STAGES)
def test_what_a_kernel_takes_of_a_card(name):
    registers, kept, shared = resources(name)
    assert registers <= MOST_REGISTERS[name]
    assert kept == 0
    if name == "draw":  # three blocks share a multiprocessor
        assert all(3 * (shared + shared_bytes(h) + OF_A_BLOCK) <= MULTIPROCESSOR for h in (32, 97, 256, 1024))
