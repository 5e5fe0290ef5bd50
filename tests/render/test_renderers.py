"""What draws: the processor, or a graphics card where one can; and what is said where none can."""

import subprocess
import sys

import numpy as np
import pytest

from simtown.render.cuda import card, engine
from simtown.render.frames import CardError, CardRenderer
from simtown.render.raster import Raster
from simtown.render.renderers import RENDERERS, choose_device, make_renderer
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather
from tests.conftest import HANGS


@pytest.fixture(params=RENDERERS)
def renderer(request):
    try:
        return make_renderer(request.param)
    except (CardError, ImportError) as error:
        pytest.skip(f"needs what draws {request.param}: {error}")


def test_every_renderer_keeps_the_contract(renderer):
    """Shapes, dtypes, ids of slots, depth where something stands, and scenes drawn alone as in a batch."""
    taxi, tree = Vehicle("taxi", 0.0, -1.85, 0.0), Prop("oak", 6.0, 7.9)
    scenes = [Scene([taxi], [tree]), Scene([], [tree], Weather("night", 1.0)), Scene([taxi], [])]
    batch = SceneBatch.of(scenes)
    frames = renderer.render(batch, 96, 64)
    assert (frames.rgb.shape, frames.rgb.dtype) == ((3, 64, 96, 3), np.uint8)
    assert (frames.depth.shape, frames.depth.dtype) == ((3, 64, 96), np.float32)
    assert (frames.ids.shape, frames.ids.dtype) == ((3, 64, 96), np.uint8)
    assert [set(np.unique(ids)) for ids in frames.ids] == [{0, 1, 2}, {0, 2}, {0, 1}]
    assert np.isfinite(frames.depth[frames.ids > 0]).all()
    assert np.isinf(frames.depth[:, 0]).any(), "the sky is infinitely far away"
    for i in range(3):
        alone = renderer.render(batch[i : i + 1], 96, 64)
        assert all(np.array_equal(getattr(alone, name)[0], getattr(frames, name)[i]) for name in vars(frames))
    plain = renderer.render(batch, 96, 64, geometry=False)
    assert np.array_equal(plain.rgb, frames.rgb)
    assert len(plain.depth) == len(plain.ids) == 0
    for size in ((31, 64), (64, 4097)):
        with pytest.raises(ValueError, match="out of range"):
            renderer.render(batch, *size)


def test_auto_draws_on_the_processor_with_one_line(no_card):
    lines = []
    assert [choose_device(device, lines.append) for device in ("cpu", "auto")] == ["cpu", "cpu"]
    assert len(lines) == 1
    assert "processor" in lines[0]
    assert "no CUDA driver" in lines[0]
    assert isinstance(make_renderer("cpu"), Raster)
    with pytest.raises(CardError, match=r"no CUDA driver.*`device=cpu`"):
        choose_device("cuda", lines.append)
    with pytest.raises(ValueError, match="cpu or cuda"):
        choose_device("tpu", lines.append)
    assert len(lines) == 1


def test_the_card_is_chosen_where_it_works(monkeypatch):
    monkeypatch.setattr(card, "check_card", lambda: None)
    monkeypatch.setattr(engine, "Cuda", lambda: "the card's")
    lines = []
    chosen = [choose_device(device, lines.append) for device in ("cpu", "cuda", "auto")]
    assert chosen == ["cpu", "cuda", "cuda"]
    assert not lines
    assert make_renderer("cuda") == "the card's"
    assert not isinstance(make_renderer("cpu"), CardRenderer)


def test_what_is_too_large_for_a_card_is_drawn_by_the_processor(monkeypatch):
    monkeypatch.setattr(card, "check_card", lambda: None)
    lines = []
    assert choose_device("auto", lines.append, 2048, 256) == "cpu"
    assert "up to 1024 pixels each side, not 2048x256" in lines[0]
    with pytest.raises(CardError, match=r"up to 1024 .*`device=cpu`"):
        choose_device("cuda", lines.append, 32, 1025)


def test_macos_is_not_sent_to_an_extra_that_installs_nothing(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(CardError, match="macOS"):
        choose_device("cuda", print)


def test_commands_refuse_to_draw_on_a_card_that_is_not_there(cli, plain, tmp_path, no_card):
    out = tmp_path / "town"
    render = ["render", f"{plain}/train:0", "--out", tmp_path / "a.png"]
    for words in (["generate", "--n", 4, "--out", out], render):
        cli(*words, "--device", "cuda").refuses("--device cuda", "no CUDA driver", "--device cpu")
        cli(*words, "--device", "tpu").refuses("auto, cpu or cuda")
    assert not list(tmp_path.iterdir()), "nothing was begun"
    cli("render", f"{plain}/train:0", "--renderer", "opengl", "--device", "cuda").refuses("opengl")


def test_nothing_of_cuda_is_imported_by_drawing():
    script = "import sys, simtown.cli, simtown.render.renderers, simtown.datasets.making.generate; "
    script += "from simtown.render.renderers import make_renderer; make_renderer('cpu'); "
    script += "sys.exit(any(name.startswith(('cuda', 'simtown.render.cuda')) for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], timeout=HANGS).returncode == 0
