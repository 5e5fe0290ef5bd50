"""What crosses the boundary to the kernels is checked."""

import sys

import numpy as np
import pytest

from simtown import kernels
from simtown.kernels import CANARY, KernelsError, Library
from simtown.kernels.compiling import HERE, LIBRARIES, compile_kernels, levels_here, name_of

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


@pytest.fixture
def clone(monkeypatch, tmp_path):
    """The folder of an installed simtown's libraries; the sources that run have none of their own."""
    monkeypatch.setattr(kernels, "LIBRARIES", tmp_path / "clone" / "simtown" / "kernels" / "lib")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    about, libraries = tmp_path / "simtown-9.dist-info", tmp_path / "simtown" / "kernels" / "lib"
    for folder in (about, libraries, tmp_path / "clone"):
        folder.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: simtown\nVersion: 9\n")
    kernels.library.cache_clear()
    yield libraries
    kernels.library.cache_clear()


def test_a_clone_takes_the_kernels_of_the_same_sources_that_are_installed(clone):
    (clone / name_of(levels_here()[0])).symlink_to(LIBRARIES / name_of(levels_here()[0]))
    assert kernels.library().call("canary", **CANARY) == 0


@pytest.mark.parametrize(
    ("record", "level", "part"),
    [
        ("setup.cfg", None, "install simtown again"),
        ("pyproject.toml", None, "pip install -e ."),
        ("pyproject.toml", "pdp-11", levels_here()[0]),
    ],
)
def test_without_a_library_of_the_same_sources_one_is_told_what_to_do(
    clone, record, level, part, monkeypatch
):
    (clone / f"{levels_here()[0]}-0123456789ab.so").symlink_to(LIBRARIES / name_of(levels_here()[0]))
    (kernels.LIBRARIES.parents[2] / record).touch()
    if level:
        monkeypatch.setenv(kernels.LEVEL, level)
    with pytest.raises(KernelsError, match=part):
        kernels.library()


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["-ffp-contract=fast", "-ffast-math"])
def test_the_canary_dies_of_other_flags(flag, tmp_path):
    """A compiler that contracts (where the processor can) or reorders would make other bytes."""
    if "contract" in flag and levels_here()[0] == "x86-64-v2":
        pytest.skip("this processor has no fused multiplication and addition")
    sources = [HERE / "processor" / "canary.cpp"]
    compile_kernels(tmp_path / "canary.so", levels_here()[0], [flag], sources=sources)
    assert Library(tmp_path / "canary.so").call("canary", **CANARY) == 1
