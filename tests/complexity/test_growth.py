"""Slopes over worlds, ratios of models and effects two by two, where some needs are censored."""

import warnings
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run
from simtown.complexity.growth import LEAST_SCATTER, WorldNeeds, contrast, slopes
from tools.parts.factors import DESIGN, EFFECTS, effects


def test_slope_without_censoring_is_least_squares():
    rng = np.random.default_rng(0)
    k = np.array([5, 15, 31, 60])
    n = np.exp(5 + 0.7 * np.log(k) + rng.normal(scale=0.3, size=(20, 4)))
    expected = [stats.linregress(np.log(k), np.log(row)).slope for row in n]
    np.testing.assert_allclose(slopes(k, n, np.full(4, 1.0), np.full(4, 1e9)), expected, rtol=1e-9)


def censored(rng, k, exponent, rows, scatter=0.3, largest=9000.0, smallest=700.0):
    n = np.exp(np.log(300) + exponent * np.log(k) + rng.normal(scale=scatter, size=(rows, len(k))))
    known = np.where(n > largest, ABOVE, np.where(n < smallest, BELOW, n))
    return known, np.full(len(k), smallest), np.full(len(k), largest)


def test_the_censored_slope_is_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(1)
    k = np.array([3, 5, 8, 15, 24, 31, 45, 60])
    n, low, high = censored(rng, k, 0.8, 12)
    x = np.log(k)
    for row, found in zip(n, slopes(k, n, low, high), strict=True):
        z = np.log(np.where(row == ABOVE, high, np.where(row == BELOW, low, row)))

        def loss(p, row=row, z=z):
            scatter = np.exp(p[2])
            u = (z - p[0] - p[1] * x) / scatter
            parts = np.where(row == BELOW, stats.norm.logcdf(u), stats.norm.logpdf(u) - p[2])
            return -np.where(row == ABOVE, stats.norm.logsf(u), parts).sum()

        bounds = [(None, None), (None, None), (np.log(LEAST_SCATTER), 3)]
        how = {"method": "L-BFGS-B", "options": {"maxiter": 2000, "ftol": 1e-14}}
        theirs = optimize.minimize(loss, (5.0, 0.5, np.log(0.5)), bounds=bounds, **how)
        assert found == pytest.approx(theirs.x[1], abs=2e-3)


def test_the_censored_slope_beats_dropping_censored_worlds():
    k = np.array([3, 5, 8, 15, 24, 31, 45, 60])
    n, low, high = censored(np.random.default_rng(2), k, 0.8, 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = slopes(k, n, low, high)
    known = [(row > 0) & np.isfinite(row) for row in n]
    pairs = [(np.log(k[ok]), np.log(row[ok])) for row, ok in zip(n, known, strict=True) if ok.sum() > 1]
    dropped = np.array([stats.linregress(*pair).slope for pair in pairs])
    assert abs(np.median(found) - 0.8) < 0.05
    assert abs(np.median(dropped) - 0.8) > 2 * abs(np.median(found) - 0.8)
    assert np.nanmean((found - 0.8) ** 2) < np.mean((dropped - 0.8) ** 2)


def test_slope_of_two_worlds_on_a_line_with_a_third_beyond():
    k = np.array([5, 15, 60])
    n = np.array([[1000, 3000, ABOVE], [1000, 1100, ABOVE], [1000, ABOVE, ABOVE], [BELOW, 3000, 4000]])
    found = slopes(k, n, np.full(3, 500.0), np.full(3, 10000.0))
    assert found[0] == pytest.approx(1, abs=1e-4)  # the line reaches 12,000 there: nothing to correct
    assert found[1] > np.log(1.1) / np.log(3) + 0.3  # pulled up by the world that was not reached
    assert np.isnan(found[2])
    assert found[3] > np.log(4 / 3) / np.log(4)


def known(need):
    """A curve of a model that needs so many; sizes from 20 to 20,000."""
    samples = {"isotonic": np.full((1, 41), need)}
    return SimpleNamespace(samples=samples, sizes=np.array([20, 20000]), over=("items only",))


NEEDS = st.lists(st.sampled_from([BELOW, ABOVE, 30.0, 400.0, 9000.0]), min_size=4, max_size=4)
CONTRASTS = [*EFFECTS.values(), (-1, 1, 1, -1), (-1, 1, 0, 0)]


@settings(max_examples=100)
@given(NEEDS, st.lists(st.floats(0.01, 1), min_size=4, max_size=4), st.sampled_from(CONTRASTS), st.booleans())
def test_bounds_hold_what_censoring_leaves_open(needs, shares, coefficients, factor):
    """Whatever the needs are that censoring hides, ratios and additional data lie within their bounds."""
    hidden = {BELOW: lambda share: 20 * share, ABOVE: lambda share: 20000 / share}
    value, used = 0.0, []
    for coefficient, need, share in zip(coefficients, needs, shares, strict=True):
        if coefficient:
            actual = hidden.get(need, lambda share, need=need: need)(share)
            value += coefficient * (np.log(actual) if factor else actual)
            used.append((coefficient, need))
    numbers, uses = zip(*used, strict=True)
    (least, most, low, high), over = contrast(numbers, [known(n) for n in uses], "isotonic", 0, factor=factor)
    value = np.exp(value) if factor else value
    assert least - 1e-6 * abs(least) <= value <= most + 1e-6 * abs(most)
    assert (least == most) == (not {BELOW, ABOVE} & set(uses))
    assert (low, high, over) == (least, most, "items only")


def test_every_censored_world_is_treated_otherwise():
    k = np.array([5, 15, 31, 60])
    samples = np.array([[BELOW, 2000, 3000, ABOVE], [700, 2000, 3000, 8000]])

    def of(n, samples):
        return WorldNeeds(k[:n], samples, np.full(n, 500), np.full(n, 9000))

    table = of(4, samples)
    assert table.uncensored == 2
    assert table.treatments() == [(5, True), (60, True), (5, False)]
    line = np.log(3000 / 2000) / np.log(31 / 15)
    left = np.polyfit(np.log(k[1:]), np.log([2000, 3000, 8000]), 1)[0]
    np.testing.assert_allclose(table.slopes((5, True))[1], left)
    assert table.slopes((60, True))[0] > line  # what is left is a bound below
    bound = of(3, np.array([[500, 2000, 3000]])).slopes()
    np.testing.assert_allclose(of(3, samples[:1, :3]).slopes((5, False)), bound)
    assert np.isnan(of(2, samples[:, :2]).slopes((5, True))).all()


SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000)


def runs_of(needs, sizes=SIZES, seeds=(0, 1, 2), items=1000, entities=15):
    """Runs whose mean accuracy crosses 0.9 at the need of each model; a seed moves it by a few per cent."""
    found = []
    for model, need in needs.items():
        for n, seed in product(sizes, seeds):
            distance = np.log(n / need) + 0.05 * (seed - np.mean(seeds))
            accuracy = 0.5 + 0.49 / (1 + np.exp(-1.5 * distance - np.log(0.4 / 0.09)))
            correct = np.arange(items) < round(accuracy * items)
            found.append(Run(model, entities, False, n, seed, "t", correct))
    return found


def effects_at(report, target=0.9):
    t = report.targets.index(target)
    return {e.name: e for e in effects(report.curves, report.targets) if e.target == report.targets[t]}


def test_effects_of_known_needs_are_their_ratios():
    needs = dict(zip(DESIGN, (6000, 3000, 400, 300), strict=True))
    found = effects_at(estimate(runs_of(needs), targets=[0.9], replicates=60))
    assert found.keys() == EFFECTS.keys()
    expected = {"structure without boxes": 15, "structure with boxes": 10, "structure": 150**0.5}
    expected |= {"boxes without structure": 2, "boxes with structure": 4 / 3, "boxes": (8 / 3) ** 0.5}
    expected |= {"lead": 20, "structure over boxes": 7.5, "interaction": 10 / 15}
    for name, factor in expected.items():
        effect = found[name]
        ends = effect.at_least, effect.at_most
        assert ends == pytest.approx((factor, factor), rel=0.1), name  # sizes lie a factor of two apart
        assert effect.low / 1.001 < effect.at_least < effect.high * 1.001, name
    assert found["structure over boxes"].low > 1


def test_a_bounded_need_bounds_the_effects_in_which_it_stands():
    needs = dict(zip(DESIGN, (10**6, 3000, 400, 1), strict=True))  # never reached; reached at once
    found = effects_at(estimate(runs_of(needs), targets=[0.9], replicates=60))
    assert found["lead"].at_least == pytest.approx(SIZES[-1] / SIZES[0])
    assert found["lead"].at_most == found["lead"].high == np.inf
    neither = found["structure over boxes"]  # neither of its two is bounded
    assert neither.at_least == neither.at_most
    one_each_way = found["interaction"]  # nothing is known
    assert (one_each_way.at_least, one_each_way.at_most) == (0, np.inf)


def test_with_models_missing_the_effects_of_the_others_are_left():
    runs = runs_of({"cnn-lstm": 6000, "pbn": 300, "film": 1000})
    found = effects_at(estimate(runs, targets=[0.9], replicates=60))
    assert found.keys() == {"lead"}
