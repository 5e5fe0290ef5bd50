"""The package's own card (Card), NVIDIA's bindings and all, over a driver that computes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="needs cuda-core: pip install '.[dev]'")
pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from simtown.bench.engines import the_scenes
from simtown.render.cuda.engine import Cuda
from tests.conftest import HANGS
from tests.cuda.host_card import zig

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_driver_is_called_as_it_should_be(tmp_path):
    zig("cc", "-fPIC", "-O2", "-w", "-c", ROOT / "tests" / "cuda" / "driver.c", "-o", tmp_path / "driver.o")
    library = tmp_path / "libcuda.so.1"
    zig("ld.lld", "-shared", "-soname", library.name, tmp_path / "driver.o", "-o", library)
    paths = [str(tmp_path), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    settings = os.environ | {"LD_LIBRARY_PATH": ":".join(paths), "FAKE_LOG": str(tmp_path / "launches")}
    command = [sys.executable, "-m", "tests.cuda.driver_cases"]
    done = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all cases passed\n"


class IdleCard:
    """A card that does nothing and counts what is asked of it."""

    name, kind = "idle card", (2, 0)

    def __init__(self):
        self.calls = 0

    def __getattr__(self, name):
        def does_nothing(*arguments, **more):
            self.calls += 1
            if name == "pinned":
                return np.zeros(*arguments, dtype=np.uint8)
            return 0 if name == "device_of" else 4096

        return does_nothing


def calls(engine, scenes, at_once):
    """Calls of the card, and of any function, while a batch is drawn for the third time."""
    batch, counted = the_scenes(scenes), [0]
    engine.launch = at_once
    frames = engine.empty(scenes, 128, 128)
    for _ in range(2):
        engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
    before = engine.card.calls

    def count(frame, event, argument):
        counted[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        engine.draw_into(batch, frames.rgb, frames.depth, frames.ids)
    finally:
        sys.setprofile(None)
    return engine.card.calls - before, counted[0]


def test_a_launch_costs_the_host_little_and_a_scene_nothing():
    engine = Cuda(IdleCard())
    one, four, larger = calls(engine, 16, 16), calls(engine, 64, 16), calls(engine, 128, 32)
    assert four[0] - one[0] <= 3 * 12, "calls of the card for three more launches"
    assert four[1] - one[1] <= 3 * 150, "calls of functions for three more launches"
    assert larger == four, "scenes are looked at one by one"
