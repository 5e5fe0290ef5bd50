"""bench render: its figures against a clock of our own, its files, and what it refuses."""

import csv
import io
import sys

import numpy as np
import pytest
from PIL import Image

from simtown.bench import engines, render
from simtown.bench.engines import RasterEngine
from simtown.bench.render import EngineTiming, the_scenes
from simtown.render.frames import CardError


class Steady:
    """An engine that takes a millisecond a scene, and the first time a second more."""

    def __init__(self, name="steady", each=0.001):
        self.name, self.each, self.stages, self.drawn = name, each, {}, []

    def draw(self, scenes):
        first = not self.drawn
        self.drawn.append(len(scenes))
        self.stages["draw"] = self.stages.get("draw", 0.0) + self.each
        return self.each * len(scenes) + first

    def memory(self):
        return 3 << 20


def measured(monkeypatch, makers, **more):
    monkeypatch.setattr(render, "engines_of", lambda device: makers)
    absent_engines = []
    rows = [
        row
        for rows in render.measure(
            "cpu", more.get("sizes", [32]), more.get("counts", [4]), 3, absent_engines.append, lambda n: None
        )
        for row in rows
    ]
    return rows, absent_engines


def test_figures_are_the_engines_own_clock_without_the_warm_up(monkeypatch):
    engine = Steady()
    (row,), absent_engines = measured(monkeypatch, {"steady": lambda size: engine})
    assert engine.drawn == [4] * 4
    assert (row.engine, row.size, row.scenes, row.fps, row.fps_low, row.fps_high) == (
        "steady",
        32,
        4,
        1000,
        1000,
        1000,
    )
    assert (row.milliseconds, row.stages, row.megabytes) == (1.0, "draw 100%", 3)
    assert row.triangles_per_second == pytest.approx(1000 * 6000, rel=0.3)
    assert not absent_engines


def test_engines_that_are_not_here_are_told_once_and_slow_ones_spared(monkeypatch):
    def absent(size):
        raise CardError("no card")

    slow, quick = Steady("slow", 3.0), Steady("quick")
    makers = {"card": absent, "slow": lambda size: slow, "quick": lambda size: quick}
    rows, absent_engines = measured(monkeypatch, makers, sizes=[32, 48], counts=[2, 16])
    assert absent_engines == ["without card: no card"]
    assert [(r.engine, r.size, r.scenes) for r in rows] == [
        (e, s, n) for s in (32, 48) for e, n in (("slow", 2), ("quick", 2), ("quick", 16))
    ]
    assert max(slow.drawn) == 2


def test_scenes_repeat_beyond_those_that_differ(monkeypatch):
    monkeypatch.setattr(render, "DISTINCT", 6)
    scenes = the_scenes(10)
    assert len(scenes) == 10
    assert np.array_equal(scenes.pose[6:], scenes.pose[:4])
    assert not np.array_equal(scenes.pose[5], scenes.pose[0])


@pytest.mark.parametrize(
    ("clock", "stages"),
    [
        ((0.0, 5.0, 5.0, 6.0), {"prepare": 1.0, "draw": 4.0}),
        ((0.0, 5.0, 5.0, 15.0), {"prepare": 5.0, "draw": 0.0}),  # something else had the processor meanwhile
    ],
)
def test_the_rasterisers_stages_are_its_whole_time(clock, stages, monkeypatch):
    engine = RasterEngine(32)
    monkeypatch.setattr(engines, "perf_counter", iter(clock).__next__)
    assert engine.draw(the_scenes(2)) == 5.0
    assert engine.stages == stages
    assert engine.memory() > 2**20


def test_parts_of_a_batch_are_all_of_it():
    scenes = the_scenes(7)
    parts = engines._pieces(scenes, 3)
    assert [len(p) for p in parts] == [3, 3, 1]
    assert np.array_equal(np.concatenate([p.pose for p in parts]), scenes.pose)


def test_the_command_prints_a_table_and_writes_a_csv_and_a_picture(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "engines_of", lambda device: {"raster cpu": RasterEngine})
    monkeypatch.setattr(render, "PATIENCE", float("inf"))  # no batch is left out, however busy the machine is
    out = tmp_path / "speed.csv"
    outcome = cli(
        "bench",
        "render",
        "--device",
        "cpu",
        "--size",
        "32,48",
        "--scenes",
        "1,3",
        "--repeats",
        2,
        "--out",
        out,
    ).succeeds()
    assert "raster cpu" in outcome.out
    assert str(out) in outcome.out
    first, rest = out.read_text(encoding="utf-8").split("\n", 1)
    assert first.startswith("# ")
    assert "numba" in first
    rows = list(csv.DictReader(io.StringIO(rest)))
    assert [(r["size"], r["scenes"]) for r in rows] == [(s, n) for s in ("32", "48") for n in ("1", "3")]
    for row in rows:
        assert float(row["fps_low"]) <= float(row["fps"]) <= float(row["fps_high"])
        rounding = 0.05 * float(row["milliseconds"]) + 0.5e-5 * float(row["fps"])
        assert float(row["fps"]) * float(row["milliseconds"]) == pytest.approx(1000, abs=1.01 * rounding)
    with Image.open(out.with_suffix(".png")) as picture:
        assert picture.width > 1000
        assert len(picture.convert("RGB").getcolors(10**6)) > 20


def test_a_missing_library_is_noticed_before_anything_is_measured(cli, tmp_path, monkeypatch):
    def measure(*arguments):
        raise AssertionError("measured first")

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(render, "measure", measure)
    cli("bench", "render", "--device", "cpu", "--out", tmp_path / "a.csv").refuses("matplotlib", "'.[train]'")
    assert not list(tmp_path.iterdir())


def test_the_picture_shows_every_engine(tmp_path):
    rows = [
        EngineTiming(e, s, n, 10.0 * n, 9.0 * n, 11.0 * n, 1, 0.1, "", 1)
        for e in ("a", "b")
        for s in (64, 128)
        for n in (1, 16)
    ]
    render.plot(rows, "here", tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


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
        (["--size", ""], "--size"),
    ],
)
def test_what_cannot_be_is_refused(cli, words, message, tmp_path, monkeypatch, no_card):
    monkeypatch.chdir(tmp_path)
    cli("bench", "render", *words).refuses(message)
    assert not list(tmp_path.iterdir())
