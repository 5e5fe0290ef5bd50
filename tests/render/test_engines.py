"""What draws: the processor, or a graphics card where one can; and what is said where none can."""

import subprocess
import sys

import pytest

from simtown.render import engines
from simtown.render.cuda import engine
from simtown.render.engines import CardError, CardWarning, rasteriser, settled
from simtown.render.frames import CardRenderer
from simtown.render.raster import Raster
from tests.conftest import HANGS


def test_auto_draws_on_the_processor_with_one_line(no_card):
    told = []
    assert [settled(device, told.append) for device in ("cpu", "auto")] == ["cpu", "cpu"]
    assert len(told) == 1
    assert "processor" in told[0]
    assert "no CUDA driver" in told[0]
    assert isinstance(rasteriser("cpu"), Raster)
    with pytest.raises(CardError, match=r"no CUDA driver.*--device cpu"):
        settled("cuda", told.append)
    with pytest.raises(ValueError, match="choose cpu, cuda or auto"):
        settled("tpu", told.append)
    assert len(told) == 1


def test_the_card_is_chosen_where_it_works(monkeypatch):
    monkeypatch.setattr(engines, "_check_card", lambda: None)
    monkeypatch.setattr(engine, "Cuda", lambda: "the card's")
    told = []
    assert [settled(device, told.append) for device in ("cpu", "cuda", "auto")] == ["cpu", "cuda", "cuda"]
    assert not told
    assert rasteriser("cuda") == "the card's"
    assert not isinstance(rasteriser("cpu"), CardRenderer)


def test_what_is_too_large_for_a_card_is_drawn_by_the_processor(monkeypatch):
    monkeypatch.setattr(engines, "_check_card", lambda: None)
    told = []
    assert settled("auto", told.append, 2048, 256) == "cpu"
    assert "up to 1024 pixels each side, not 2048x256" in told[0]
    with pytest.raises(CardError, match=r"up to 1024 .*--device cpu"):
        settled("cuda", told.append, 32, 1025)


def test_macos_is_not_sent_to_an_extra_that_installs_nothing(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(CardError, match="macOS has no CUDA"):
        settled("cuda", print)


def test_commands_refuse_to_draw_on_a_card_that_is_not_there(cli, plain, tmp_path, no_card):
    made = tmp_path / "town"
    for words in (["generate", "--n", 4, "--out", made], ["render", f"{plain}/train:0", "--out", tmp_path / "a.png"]):
        cli(*words, "--device", "cuda").refuses("--device cuda", "no CUDA driver", "--device cpu")
        cli(*words, "--device", "tpu").refuses("cpu, cuda or auto")
    assert not list(tmp_path.iterdir()), "nothing was begun"
    cli("render", f"{plain}/train:0", "--renderer", "opengl", "--device", "cuda").refuses("opengl")


def test_auto_draws_the_same_as_the_processor(cli, plain, tmp_path, no_card):
    (message,) = cli("render", f"{plain}/train:0", "--size", 48, "--out", tmp_path / "a.png", "--device", "auto").succeeds().messages
    assert "drawing on the processor" in message
    cli("render", f"{plain}/train:0", "--size", 48, "--out", tmp_path / "b.png").succeeds()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_our_warnings_are_one_line_and_others_are_as_ever():
    from simtown.terminal import _as_line

    assert _as_line("half as many", CardWarning, "a.py", 3) == "simtown: half as many\n"
    assert "a.py:3: UserWarning: other" in _as_line("other", UserWarning, "a.py", 3)


def test_nothing_of_cuda_is_imported_by_drawing():
    script = "import sys, simtown.cli, simtown.render.engines, simtown.datasets.job; from simtown.render.raster import Raster; Raster(); "
    script += "sys.exit(any(name.startswith(('cuda', 'simtown.render.cuda')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], timeout=HANGS).returncode == 0
