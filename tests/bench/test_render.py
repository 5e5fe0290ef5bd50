"""bench render: its figures against a clock of our own, its files, and what it refuses."""

import csv
import io
import sys

import numpy as np
import pytest
from PIL import Image

from simtown.bench import engines, render
from simtown.bench.engines import ENGINES, the_scenes
from simtown.render.frames import CardError


class Clock:
    """A clock that engines move on by some seconds a scene, and the first time by a second more."""

    def __init__(self):
        self.now, self.drawn = 0.0, {}

    def __call__(self):
        return self.now

    def engine(self, name, each):
        def draw(scenes):
            self.now += each * len(scenes) + (name not in self.drawn)
            self.drawn.setdefault(name, []).append(len(scenes))

        return lambda size: draw


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(render, "perf_counter", clock)
    return clock


def measured(monkeypatch, makers, sizes, counts):
    """The rows, and the messages about absent engines."""
    monkeypatch.setattr(render, "engines_of", lambda device: makers)
    messages = []
    timings = render.measure("cpu", sizes, counts, 3, messages.append, lambda n: None)
    return [row for rows in timings for row in rows], messages


def test_figures_are_those_of_the_clock_without_the_warm_up(monkeypatch, clock):
    (row,), _ = measured(monkeypatch, {"steady": clock.engine("steady", 0.001)}, [32], [4])
    assert clock.drawn == {"steady": [4] * 4}
    assert (row.engine, row.size, row.scenes) == ("steady", 32, 4)
    assert (row.fps, row.fps_low, row.fps_high, row.milliseconds) == (1000, 1000, 1000, 1.0)
    assert row.triangles_per_second == pytest.approx(1000 * 6000, rel=0.3)


def test_absent_engines_are_named_once_and_slow_ones_spared(monkeypatch, clock):
    def absent(size):
        raise CardError("no card")

    makers = {"card": absent, "slow": clock.engine("slow", 3.0), "quick": clock.engine("quick", 0.001)}
    rows, messages = measured(monkeypatch, makers, [32, 48], [2, 16])
    assert messages == ["without card: no card"]
    assert [(r.engine, r.size, r.scenes) for r in rows] == [
        (e, s, n) for s in (32, 48) for e, n in (("slow", 2), ("quick", 2), ("quick", 16))
    ]
    assert max(clock.drawn["slow"]) == 2


def test_scenes_repeat_beyond_those_that_differ(monkeypatch):
    monkeypatch.setattr(engines, "DISTINCT", 6)
    scenes = the_scenes(10)
    assert np.array_equal(scenes.pose[6:], scenes.pose[:4])
    assert not np.array_equal(scenes.pose[5], scenes.pose[0])


def test_the_command_prints_a_table_and_writes_a_csv_and_a_picture(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "engines_of", lambda device: {"raster cpu": ENGINES["raster cpu"]})
    monkeypatch.setattr(render, "PATIENCE", float("inf"))  # no batch is left out, however busy the machine is
    out = tmp_path / "speed.csv"
    words = ["--device", "cpu", "--size", "32,48", "--scenes", "1,3", "--repeats", 2, "--out", out]
    assert "raster cpu" in cli("bench", "render", *words).succeeds().out
    first, rest = out.read_text(encoding="utf-8").split("\n", 1)
    assert first.startswith("# ")
    rows = list(csv.DictReader(io.StringIO(rest)))
    assert [(r["size"], r["scenes"]) for r in rows] == [(s, n) for s in ("32", "48") for n in ("1", "3")]
    assert all(float(r["fps_low"]) <= float(r["fps"]) <= float(r["fps_high"]) for r in rows)
    with Image.open(out.with_suffix(".png")) as picture:
        assert picture.convert("RGB").getcolors(20) is None


@pytest.mark.parametrize(
    "words", ["--size x", "--size 16", "--scenes 0", "--repeats 0", "--device tpu", "--out a.txt"]
)
def test_what_cannot_be_is_refused(cli, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    option, value = words.split()
    cli("bench", "render", option, value).refuses({"16": "32 to 4096", "a.txt": ".csv"}.get(value, value))
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_noticed_before_anything_is_measured(cli, tmp_path, monkeypatch, no_card):
    monkeypatch.chdir(tmp_path)
    cli("bench", "render", "--device", "cuda").refuses("no CUDA driver")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    cli("bench", "render").refuses("matplotlib")
    assert not list(tmp_path.iterdir())
