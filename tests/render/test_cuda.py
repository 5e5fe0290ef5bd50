"""The CUDA renderer: its kernels in numba's simulator (cuda_cases.py), compiled for a card, and what is said where there is none."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simtown.render import engines
from simtown.render.engines import CardError, CardWarning, rasteriser, settled
from simtown.render.raster import Raster
from tests.conftest import HANGS

CASES = Path(__file__).with_name("cuda_cases.py")


def simulate(marks):
    """Run cuda_cases.py where every thread of the card is one of Python's."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    words = [sys.executable, "-m", "pytest", str(CASES), "-q", "-x", "-m", marks, "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


def test_simulated_kernels_draw_what_the_processor_draws():
    out = simulate("not slow")
    assert "passed" in out
    assert "skipped" not in out, "the simulator was not on"


@pytest.mark.slow
def test_simulated_kernels_draw_whole_streets():
    assert "1 passed" in simulate("slow")


def signatures():
    """The kernels and numba's types of their arguments, from arrays of the sizes that the engine makes."""
    from numba import typeof, types

    from simtown.assets.atlas import atlas
    from simtown.render.cuda.arrange import arrange
    from simtown.render.cuda.draw import draw, overlay
    from simtown.render.cuda.scenes import Scenes, Town, Work, work_layout
    from simtown.render.raster import tables

    own = dict(zip(("palette", "kinds", "tints", "casts"), tables(), strict=True))
    town = Town(*(own[name] if name in own else getattr(atlas(), name) for name in Town._fields))
    work = Work(**{name: np.zeros(*shape) for name, shape in work_layout(2, 3, 10, 1).items()})
    shapes = ((2, 15), "f4"), ((2, 29), "f4"), ((2, 3), "i4"), ((2, 3, 6), "f4"), ((2, 3), "u2"), ((2,), "u4"), ((3,), "i4"), ((7,), "i4")
    scenes = Scenes(*(np.zeros(*shape) for shape in shapes))
    t, s, w, whole = typeof(town), typeof(scenes), typeof(work), types.int64
    rgb, depth, ids = (typeof(np.zeros(shape, kind)) for shape, kind in (((1, 1, 1, 3), "u1"), ((1, 1, 1), "f4"), ((1, 1, 1), "u1")))
    return {
        "arrange": (arrange, (t, s, w, whole, whole)),
        "draw": (draw, (s, w, whole, whole, whole, whole, types.boolean, rgb, depth, ids)),
        "overlay": (overlay, (t, s, w, whole, whole, whole, rgb)),
    }


@pytest.mark.parametrize("name", ["arrange", "draw", "overlay"])
def test_kernels_compile_for_a_card_and_round_after_every_operation(name, monkeypatch):
    """Without a card, but with its compiler: machine code in which no multiplication and addition are one."""
    pytest.importorskip("numba_cuda", reason="needs numba-cuda: pip install '.[cuda]'")
    from numba import cuda

    dispatcher, nvvm = pytest.importorskip("numba.cuda.dispatcher"), pytest.importorskip("numba.cuda.cudadrv.nvvm")
    try:
        nvvm.NVVM()
    except Exception as error:
        pytest.skip(f"needs NVVM ({str(error).splitlines()[0]}): pip install '.[cuda]'")
    from simtown.render.cuda.card import uncontracted

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
    kernel, signature = signatures()[name]
    with uncontracted():
        code, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0))
    assert "mul.rn.f32" in code
    for word in ("fma.", "sqrt.approx", "div.approx", "div.full", ".ftz"):
        assert word not in code, word


# without a card


def without_a_card(monkeypatch, reason="there is no CUDA driver on this machine: install one, or use --device cpu"):
    def check():
        raise CardError(reason)

    monkeypatch.setattr(engines, "_check_card", check)


def test_auto_falls_back_with_one_line(monkeypatch):
    without_a_card(monkeypatch)
    told = []
    assert settled("auto", told.append) == "cpu"
    assert len(told) == 1
    assert "driver" in told[0]
    assert isinstance(rasteriser("cpu"), Raster)
    with pytest.raises(CardError, match="--device cpu"):
        settled("cuda", told.append)
    with pytest.raises(CardError, match="--device cpu"):
        rasteriser("cuda")
    with pytest.raises(ValueError, match="choose cpu, cuda or auto"):
        settled("tpu", told.append)
    assert len(told) == 1


@pytest.mark.parametrize(("reason", "words"), [
    ("CudaSupportError: Error at driver init: CUDA driver library cannot be found.", "no CUDA driver"),
    ("[222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "too old"),
    ("CudaAPIError: [35] CUDA_ERROR_INSUFFICIENT_DRIVER", "too old"),
    ("NvvmSupportError: libNVVM cannot be found", "'.[cuda]'"),
    ("CudaAPIError: [999] " + 50 * "unknown ", "does not work"),
])  # fmt: skip
def test_reasons_are_told_in_words(reason, words):
    from simtown.render.cuda.card import _why

    told = _why(reason)
    assert words in told
    assert len(told) < 250


def test_macos_is_not_sent_to_an_extra_that_installs_nothing(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(CardError, match="macOS has no CUDA"):
        settled("cuda", print)


@pytest.fixture
def no_card(monkeypatch):
    """Also for processes: numba sees no driver."""
    monkeypatch.setenv("NUMBA_DISABLE_CUDA", "1")
    without_a_card(monkeypatch)


def test_commands_refuse_cuda_without_a_card(cli, plain, tmp_path, no_card):
    made = tmp_path / "town"
    for words in (["generate", "--n", 4, "--out", made], ["render", f"{plain}/train:0", "--out", tmp_path / "a.png"]):
        cli(*words, "--device", "cuda").refuses("driver", "--device cpu")
        cli(*words, "--device", "tpu").refuses("cpu, cuda or auto")
    assert not list(tmp_path.iterdir()), "nothing was begun"
    cli("render", f"{plain}/train:0", "--renderer", "opengl", "--device", "cuda").refuses("opengl")


def test_auto_draws_the_same_without_a_card(cli, plain, tmp_path, no_card):
    (message,) = cli("render", f"{plain}/train:0", "--size", 48, "--out", tmp_path / "a.png", "--device", "auto").succeeds().messages
    assert "drawing on the processor" in message
    cli("render", f"{plain}/train:0", "--size", 48, "--out", tmp_path / "b.png").succeeds()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_our_warnings_are_one_line_and_others_are_as_ever():
    from simtown.cli.app import _as_line

    assert _as_line("half as many", CardWarning, "a.py", 3) == "simtown: half as many\n"
    assert "a.py:3: UserWarning: other" in _as_line("other", UserWarning, "a.py", 3)


def test_nothing_of_cuda_is_imported_unasked():
    script = "import sys, simtown.cli, simtown.render.engines, simtown.datasets.job; from simtown.render.raster import Raster; Raster(); "
    script += "sys.exit(any(name.startswith(('numba.cuda', 'simtown.render.cuda')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], timeout=HANGS).returncode == 0


@pytest.mark.slow  # most of it warms up on whole streets
def test_generate_draws_a_set_on_the_card_with_the_processors_bytes(tmp_path, simtown, contents):
    """In the simulator, in worker processes of its own."""
    words = [*simtown, "generate", "--entities", "3", "--n", "2", "--val", "0", "--test", "0", "--size", "32", "--workers", "1"]
    for device in ("cuda", "cpu"):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [*words, "--device", device, "--out", tmp_path / device], env=environment, capture_output=True, text=True, timeout=HANGS
        )
        assert done.returncode == 0, done.stderr
    besides = ("timings.json", "preview.png")
    assert contents(tmp_path / "cuda", besides) == contents(tmp_path / "cpu", besides)


@pytest.mark.slow  # whole streets in the simulator
def test_bench_measures_the_card(tmp_path, simtown):
    """In the simulator, whose clock is no clock: that every part of it runs."""
    words = [
        *simtown,
        "bench",
        "render",
        "--device",
        "cuda",
        "--size",
        "32",
        "--scenes",
        "1",
        "--repeats",
        "1",
        "--out",
        tmp_path / "a.csv",
    ]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines[2:]] == ["raster cuda", '"raster cuda']
    assert "simulator" in lines[0]
