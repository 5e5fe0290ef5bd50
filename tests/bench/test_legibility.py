"""The judge of benchmarks/legibility.py: it measures what it says."""

import importlib
from math import log
from pathlib import Path

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.render.raster import Raster
from simtown.scenes.placement import half_sizes
from simtown.scenes.silhouette import framed

ROOT = Path(__file__).parents[2]
SIZE = 64
#: Kinds that nobody takes for each other.
UNLIKE = [ENTITIES.index(name) for name in ("school bus", "bicycle", "excavator", "red car", "tram")]


@pytest.fixture(scope="module")
def legibility():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("legibility")


def shares(legibility, names, verdicts):
    return {(part, name): percent for part, name, _, _, percent in legibility.report(names, verdicts)}


def test_twins_cannot_be_told_apart(legibility):
    twins = [UNLIKE[0], UNLIKE[0]]
    for verdicts in legibility.examine(twins, "night", SIZE, 2).values():
        assert (verdicts.cost[:, 0] == verdicts.cost[:, 1]).all()
        percent = shares(legibility, ["one", "other"], verdicts)
        assert percent["overall", "right"] == 50
        assert percent["nearest", "one > other"] == percent["nearest", "other > one"] == 0


@pytest.mark.parametrize("weather", ["clear", "fog", "night"])
def test_unlike_kinds_are_told_and_an_empty_street_tells_nothing(legibility, weather):
    for seen, verdicts in legibility.examine(UNLIKE, weather, SIZE, 3, threads=2).items():
        percent = shares(legibility, [ENTITIES[kind] for kind in UNLIKE], verdicts)
        assert percent["overall", "right"] == 100, seen
        # chance is a fifth: of 30 guesses more than half are right once in 10,000 times
        assert percent["control", "vehicle left out"] <= 50, seen


def test_the_cost_is_that_of_the_best_shift(legibility):
    draw = np.random.default_rng(0)
    rows, columns, margin = 7, 9, (2, 1)
    seen = draw.uniform(0, 255, (3, 3 * rows, columns)).astype(np.float32)
    middle = draw.uniform(0, 255, (4, 3 * rows, columns)).astype(np.float32)
    deviation = draw.uniform(0, 60, middle.shape).astype(np.float32)
    judged = legibility.judge(seen, legibility.Known(middle, deviation, middle > 0), margin)
    width = np.maximum(deviation, legibility.NOTICED).reshape(4, 3, rows, columns).astype(np.float64)
    inner = (..., slice(margin[1], rows - margin[1]), slice(margin[0], columns - margin[0]))
    for q, picture in enumerate(seen.reshape(3, 3, rows, columns)):
        for k, centre in enumerate(middle.reshape(4, 3, rows, columns)):
            sums = []
            for dy in range(-margin[1], margin[1] + 1):
                for dx in range(-margin[0], margin[0] + 1):
                    gap = np.abs(np.roll(picture, (dy, dx), axis=(1, 2)) - centre)[inner]
                    value = (
                        np.log(2 * width[k][inner])
                        + np.maximum(gap - legibility.NOTICED, 0) / width[k][inner]
                    )
                    sums.append(np.minimum(value, log(256 * legibility.ODD)).sum())
            assert judged[q, k] == pytest.approx(min(sums), rel=1e-5)


@pytest.mark.parametrize("lane", [0, 1])
def test_a_place_says_nothing_about_the_kind(legibility, lane):
    everything = list(range(len(ENTITIES)))
    longest = int(half_sizes()[:, 0].argmax())
    for seed in range(20):
        place = legibility.find_place(seed, lane, "clear", everything, SIZE)
        batch = legibility.streets(place, "asked", 20, "clear")
        batch.entity[:, 0] = longest
        legibility.stray(batch, place, "asked", legibility.ASTRAY)
        assert framed(batch.entity, batch.pose, batch.camera).all()
        assert (batch.pose[:, 0, 1] > 0).all() == (lane == 1)
        x0, y0, x1, y1 = place.window
        ids = Raster().render(batch[:1], SIZE, SIZE).ids[0]
        assert (ids == 1).sum() == (ids[y0:y1, x0:x1] == 1).sum() > 0
