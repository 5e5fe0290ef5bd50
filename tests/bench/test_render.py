"""bench render: its figures against a clock of our own, its files, and what it refuses."""

import csv
import io
import sys

import numpy as np
import pytest
from PIL import Image

from simtown.bench import engines, render
from simtown.bench.engines import RasterEngine, the_scenes
from simtown.render.frames import CardError


class Steady:
    """An engine that takes some seconds a scene, and the first time a second more."""

    def __init__(self, name, each):
        self.name, self.each, self.stages, self.drawn = name, each, {}, []

    def draw(self, scenes):
        first = not self.drawn
        self.drawn.append(len(scenes))
        self.stages["draw"] = self.stages.get("draw", 0.0) + self.each
        return self.each * len(scenes) + first

    def memory(self):
        return 3 << 20


def measured(monkeypatch, makers, sizes, counts):
    """The rows, and the messages about absent engines."""
    monkeypatch.setattr(render, "engines_of", lambda device: makers)
    messages = []
    timings = render.measure("cpu", sizes, counts, 3, messages.append, lambda n: None)
    return [row for rows in timings for row in rows], messages


def test_figures_are_the_engines_own_clock_without_the_warm_up(monkeypatch):
    engine = Steady("steady", 0.001)
    (row,), _ = measured(monkeypatch, {"steady": lambda size: engine}, [32], [4])
    assert engine.drawn == [4] * 4
    assert (row.engine, row.size, row.scenes) == ("steady", 32, 4)
    assert (row.fps, row.fps_low, row.fps_high, row.milliseconds) == (1000, 1000, 1000, 1.0)
    assert (row.stages, row.megabytes) == ("draw 100%", 3)
    assert row.triangles_per_second == pytest.approx(1000 * 6000, rel=0.3)


def test_absent_engines_are_named_once_and_slow_ones_spared(monkeypatch):
    def absent(size):
        raise CardError("no card")

    slow, quick = Steady("slow", 3.0), Steady("quick", 0.001)
    makers = {"card": absent, "slow": lambda size: slow, "quick": lambda size: quick}
    rows, messages = measured(monkeypatch, makers, [32, 48], [2, 16])
    assert messages == ["without card: no card"]
    assert [(r.engine, r.size, r.scenes) for r in rows] == [
        (e, s, n) for s in (32, 48) for e, n in (("slow", 2), ("quick", 2), ("quick", 16))
    ]
    assert max(slow.drawn) == 2


def test_scenes_repeat_beyond_those_that_differ(monkeypatch):
    monkeypatch.setattr(engines, "DISTINCT", 6)
    scenes = the_scenes(10)
    assert np.array_equal(scenes.pose[6:], scenes.pose[:4])
    assert not np.array_equal(scenes.pose[5], scenes.pose[0])


def test_the_command_prints_a_table_and_writes_a_csv_and_a_picture(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "engines_of", lambda device: {"raster cpu": RasterEngine})
    monkeypatch.setattr(render, "PATIENCE", float("inf"))  # no batch is left out, however busy the machine is
    out = tmp_path / "speed.csv"
    words = ["--device", "cpu", "--size", "32,48", "--scenes", "1,3", "--repeats", 2, "--out", out]
    outcome = cli("bench", "render", *words).succeeds()
    assert "raster cpu" in outcome.out
    first, rest = out.read_text(encoding="utf-8").split("\n", 1)
    assert first.startswith("# ")
    rows = list(csv.DictReader(io.StringIO(rest)))
    assert [(r["size"], r["scenes"]) for r in rows] == [(s, n) for s in ("32", "48") for n in ("1", "3")]
    assert all(float(r["fps_low"]) <= float(r["fps"]) <= float(r["fps_high"]) for r in rows)
    with Image.open(out.with_suffix(".png")) as picture:
        assert len(picture.convert("RGB").getcolors(10**6)) > 20


def test_a_missing_library_is_noticed_before_anything_is_measured(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    cli("bench", "render", "--device", "cpu", "--out", tmp_path / "a.csv").refuses("matplotlib", "'.[train]'")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--size", "x"], "--size"),
        (["--size", "16"], "32 to 4096"),
        (["--scenes", "0"], "--scenes"),
        (["--repeats", "0"], "--repeats"),
        (["--device", "tpu"], "cpu, cuda or auto"),
        (["--device", "cuda"], "no CUDA driver"),
        (["--out", "a.txt"], ".csv"),
    ],
)
def test_what_cannot_be_is_refused(cli, words, message, tmp_path, monkeypatch, no_card):
    monkeypatch.chdir(tmp_path)
    cli("bench", "render", *words).refuses(message)
    assert not list(tmp_path.iterdir())
