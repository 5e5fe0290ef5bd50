"""How many frames of our own lie between a command and its work: the path is short."""

import sys
from pathlib import Path

import pytest

import simtown
from simtown.render.raster import Raster

PACKAGE = str(Path(simtown.__file__).parent)


def own_frames():
    """The functions of ours that wait for the caller's caller, the innermost first."""
    frame, names = sys._getframe(2), []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
        frame = frame.f_back
    return names


@pytest.fixture
def seen(monkeypatch):
    """seen(owner, name): frames of ours above each call of a function, which is called as ever."""

    def watch(owner, name):
        stacks, original = [], getattr(owner, name)

        def watched(*words, **more):
            stacks.append(own_frames())
            return original(*words, **more)

        monkeypatch.setattr(owner, name, watched)
        return stacks

    return watch


def test_from_the_command_to_the_first_pixel(seen, cli, tmp_path):
    stacks = seen(Raster, "render")
    words = ("--entities", 5, "--n", 4, "--val", 0, "--test", 0, "--size", 32, "--workers", 1)
    cli("generate", *words, "--out", tmp_path / "town").succeeds()
    generated = [stack for stack in stacks if "job.generate" in stack or "generate.generate" in stack]
    assert generated
    assert max(map(len, generated)) <= 10, generated[0]


def test_from_the_command_to_backward(seen, cli, plain, tmp_path):
    torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    stacks = seen(torch.Tensor, "backward")
    words = ("--max-steps", 2, "--batch", 8, "--device", "cpu", "--out", tmp_path / "run")
    cli("fit", plain, "--model", "question-only", *words).succeeds()
    assert stacks
    assert max(map(len, stacks)) <= 5, stacks[0]
