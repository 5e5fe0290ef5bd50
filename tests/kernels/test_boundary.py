"""What crosses the boundary to the kernels is checked."""

import numpy as np
import pytest

from simtown import kernels
from simtown.kernels import CANARY, KernelsError, Library
from simtown.kernels.compiling import HERE, compile_kernels, levels_here

GIVEN = {
    "key": np.zeros(2, dtype=np.uint64),
    "index": np.arange(3),
    "attempt": np.zeros(3, dtype=np.int64),
    "out": np.zeros((3, 5), dtype=np.uint64),
}


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("index", np.arange(3, dtype=np.int32)),
        ("index", np.arange(6)[::2]),
        ("index", np.arange(4)),  # as many as there are attempts
        ("key", np.zeros(3, dtype=np.uint64)),
        ("out", np.zeros(15, dtype=np.uint64)),
        ("out", np.zeros((5, 3), dtype=np.uint64).T),
        ("out", np.broadcast_to(np.uint64(0), (3, 5))),
    ],
)
def test_a_wrong_array_is_an_error_and_never_a_crash(name, wrong):
    with pytest.raises(
        TypeError, match=f"draw_bits: {name if name != 'index' or len(wrong) < 4 else 'attempt'} is"
    ):
        kernels.call("draw_bits", **GIVEN | {name: wrong})


def test_what_an_entry_point_does_not_take_is_an_error():
    with pytest.raises(TypeError, match="more"):
        kernels.call("draw_bits", **GIVEN, more=GIVEN["key"])


def test_a_level_without_a_library_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "LIBRARIES", tmp_path)
    kernels.library.cache_clear()
    try:
        with pytest.raises(KernelsError, match="install simtown again"):
            kernels.library()
        monkeypatch.setenv(kernels.LEVEL, "pdp-11")
        with pytest.raises(KernelsError, match=levels_here()[0]):
            kernels.library()
    finally:
        kernels.library.cache_clear()


@pytest.mark.parametrize("flag", ["-ffp-contract=fast", "-ffast-math"])
def test_the_canary_dies_of_other_flags(flag, tmp_path):
    """A compiler that contracts (where the processor can) or reorders would make other bytes."""
    if "contract" in flag and levels_here()[0] == "x86-64-v2":
        pytest.skip("this processor has no fused multiplication and addition")
    sources = [HERE / "processor" / "canary.cpp"]
    compile_kernels(tmp_path / "canary.so", levels_here()[0], [flag], sources=sources)
    assert Library(tmp_path / "canary.so").call("canary", **CANARY) == 1
