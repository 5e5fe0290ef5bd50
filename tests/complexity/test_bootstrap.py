"""Seeds, intervals and resampling."""

import importlib
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from simtown.complexity.bootstrap import (
    curve_of,
    interval,
    interval_over,
    marked,
    narrowest,
    resampled_accuracies,
    too_narrow,
)
from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import Run
from tests.complexity.simulated import SIZES, accuracy_of, exact, simulate


def test_interval_ends_are_replicates_and_may_be_censored():
    values = np.arange(1.0, 101)
    assert interval(values) == (3, 98)
    assert interval(np.array([BELOW] * 3 + [5.0] * 94 + [ABOVE] * 3)) == (BELOW, ABOVE)
    low, high = interval(np.array([np.nan] * 10 + [1.0] * 90))
    assert (low, high) == (-np.inf, np.inf)  # a tenth of the replicates say nothing


@pytest.fixture(scope="module")
def coverage():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        yield importlib.import_module("intervals")


def covered(coverage, number, seeds, experiments):
    """Share of intervals that hold the truth, by quantity, in a scenario of benchmarks/intervals.py."""
    lines = coverage.measure(coverage.SCENARIOS[number], seeds, experiments, replicates=160)
    return {line["quantity"]: line["coverage"] for line in lines}


def test_intervals_over_seeds_cover_the_truth_and_those_over_items_do_not(coverage):
    """Of 240 needs in 40 experiments, the same each time; benchmarks/results/coverage.csv has more."""
    five = covered(coverage, 0, 5, 40)
    assert min(five.values()) > 0.85
    assert covered(coverage, 0, 1, 15)["need"] < 0.75


@pytest.mark.parametrize(
    ("number", "spacing", "claims"), [(0, 4, True), (2, 1.4, True), (2, 10, False), (3, 2, False)]
)
def test_a_place_between_two_sizes_is_claimed_only_where_the_curve_is_even(coverage, number, spacing, claims):
    line = coverage.measure_shape(coverage.SHAPES[number], spacing, 5, 30, replicates=80)
    assert (line["claimed"] > 0.9, line["claimed"] < 0.1) == (claims, not claims)
    assert (line["coverage"] if claims else line["coverage_of_refused"]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("number", [0, 2, 3, 4, 5])
def test_intervals_cover_the_truth_often(seeds, number, coverage):
    assert min(covered(coverage, number, seeds, 150).values()) > 0.89


def runs_of(shares, data=None, world=None, size=500, model="pbn", entities=5, items=400):
    """A run a seed with these shares of right answers, on items of its own."""
    runs = []
    for s, share in enumerate(shares):
        seeds = data and data[s], world and world[s]
        correct = np.arange(items) < round(share * items)
        runs.append(Run(model, entities, False, size, s, f"{model}{s}", correct, *seeds))
    return runs


VARIED = [((0, 0, 0), (0, 0, 0), "weights and items"), (None, None, "seeds and items")]
VARIED += [(data, (0, 0, 0), "weights, data and items") for data in ((0, 1, 2), (0, 1, 1))]
VARIED += [((0, 1, 2), (0, 1, 2), "weights, data, world and items")]


@pytest.mark.parametrize(("data", "world", "over"), VARIED)
def test_an_interval_names_what_varied(data, world, over):
    runs = runs_of((0.6, 0.7, 0.8), data, world)
    assert interval_over(runs) == over
    assert interval_over(runs[:1]) == "items only"
    one_more = replace(runs[0], train_size=1000)  # of one size one run is known
    assert interval_over([*runs, one_more]) == "items only"
    assert too_narrow(over) == (over == "weights and items")
    assert ("too narrow" in marked(over)) == too_narrow(over)
    assert narrowest(over, "items only", over) == "items only"


def test_the_label_says_what_varied_around_the_need():
    runs = [
        Run("pbn", 5, False, n, s, f"{n}{s}", np.arange(400) < 400 * share, s if n > 900 else 0, 0)
        for n, share in ((500, 0.55), (800, 0.6), (1000, 0.7), (2000, 0.8), (4000, 0.9))
        for s in range(3)
    ]
    found = estimate(runs, targets=(0.58, 0.75), replicates=40).rows
    assert {(r.target, r.interval_over) for r in found if r.rule == "isotonic"} == {
        (0.58, "weights and items"),
        (0.75, "weights, data and items"),
    }


def curve(runs, replicates=4000):
    (accuracies,) = resampled_accuracies([runs], replicates, 0)
    return curve_of(runs, accuracies, np.array([0.7]), 0)


def test_an_interval_over_seeds_is_students():
    """Seeds with items of their own: the interval of a mean of five, as scipy computes it."""
    shares = (0.62, 0.66, 0.7, 0.71, 0.76)
    found = curve(runs_of(shares, items=10_000))
    expected = stats.t.interval(0.95, 4, np.mean(shares), stats.sem(shares))
    assert (found.low[0], found.high[0]) == pytest.approx(expected, abs=0.006)


def test_runs_of_one_data_set_are_drawn_together():
    """Ten runs on five data sets, equal within each, know no more than five."""
    shares = (0.62, 0.66, 0.7, 0.71, 0.76)
    five = curve(runs_of(shares, data=range(5), world=[0] * 5))
    ten = curve(runs_of(shares * 2, data=[*range(5), *range(5)], world=[0] * 10))
    assert (ten.low[0], ten.high[0]) == pytest.approx((five.low[0], five.high[0]), abs=1e-12)
    apart = curve(runs_of(shares * 2))
    assert apart.high[0] - apart.low[0] < 0.8 * (five.high[0] - five.low[0])


def test_the_luck_of_items_counts_once():
    """Seeds that answer the same items right leave only the luck of the items; independent answers none."""
    same = [exact("pbn", 5, 500, 0.7, seed) for seed in range(5)]
    found = curve(same)
    assert found.high[0] - found.low[0] == pytest.approx(2 * 1.96 * np.sqrt(0.7 * 0.3 / 400), rel=0.1)
    rng = np.random.default_rng(0)
    alone = [replace(run, correct=rng.random(20_000) < 0.7) for run in same]
    wide = curve(alone, 500)
    shares = [run.correct.mean() for run in alone]
    students = np.subtract(*stats.t.interval(0.95, 4, np.mean(shares), stats.sem(shares))[::-1])
    assert wide.high[0] - wide.low[0] == pytest.approx(students, rel=0.25)


def test_seeds_are_drawn_together_for_all_models_and_worlds():
    """A second model that needs twice as many with every seed: their ratio is about 2."""
    means = zip((500, 700, 1000, 1400, 2000, 2800), (0.54, 0.61, 0.67, 0.73, 0.78, 0.82), strict=True)
    shares = {n: (mean - 0.02, mean, mean + 0.02) for n, mean in means}
    worlds, models = (5, 15), {"pbn": 1, "cnn-lstm": 2}
    runs = [
        Run(model, k, False, n * times, s, f"{model}{k}{s}", np.arange(400) < 400 * share, s, s)
        for (model, times), k, (n, its) in product(models.items(), worlds, shares.items())
        for s, share in enumerate(its)
    ]
    found = estimate(runs, targets=(0.7,), replicates=200)
    for ratio in found.ratios:
        if ratio.rule == "isotonic":
            assert ratio.at_least == pytest.approx(2)
            assert 1.8 < ratio.low < 2 < ratio.high < 2.2
    (row,) = (r for r in found.rows if (r.model, r.entities, r.rule) == ("pbn", 5, "isotonic"))
    assert row.high > 1.3 * row.low
    for exponent in found.exponents:
        assert (exponent.low, exponent.high) == pytest.approx((0, 0), abs=0.1)


def test_the_same_items_are_drawn_for_all_runs_of_a_test_set():
    run = exact("pbn", 5, 500, 0.7)
    twin, stranger = replace(run, model="cnn-lstm"), replace(run, model="cnn-lstm", test_id="other")
    first, second, third = (a[:, 0] for a in resampled_accuracies([[run], [twin], [stranger]], 200, 0))
    np.testing.assert_array_equal(first, second)
    assert (first[1:] != third[1:]).any()
    for accuracy in (first, third):
        assert accuracy[0] == pytest.approx(0.7)
        assert accuracy[1:].std() == pytest.approx(np.sqrt(0.7 * 0.3 / 400), rel=0.2)


def test_a_paired_ratio_is_narrower_than_an_unpaired_one():
    """Two models that fail on nearly the same items: most of the luck of the test set cancels."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=500)
    runs = []
    for model, middle in (("cnn-lstm", 2000.0), ("pbn", 1000.0)):
        for n in SIZES:
            luck = np.sqrt(0.98) * hard + np.sqrt(0.02) * rng.normal(size=500)
            runs.append(Run(model, 5, False, int(n), 0, "t", luck < stats.norm.ppf(accuracy_of(n, middle))))
    unpaired = [replace(r, test_id="u") if r.model == "pbn" else r for r in runs]
    ratios = [estimate(rs, targets=(0.8,), replicates=500).ratios for rs in (runs, unpaired)]
    (x,), (y,) = ([r for r in found if r.rule == "isotonic"] for found in ratios)
    assert x.low < 2 < x.high
    assert np.log(x.high / x.low) < 0.6 * np.log(y.high / y.low)
    assert "not paired" in estimate(unpaired, replicates=40).notes[0]


def test_sizes_without_all_seeds_do_not_count():
    runs = [r for r in simulate({("pbn", 5): 900.0}, seeds=3) if r.seed == 0 or r.train_size < 10000]
    found = estimate(runs, replicates=60)
    assert found.table()[0]["seeds"] == "3"
    assert found.curves[0].sizes[-1] == 5000
    assert found.notes[0].startswith("2 of 14 runs are left out")


def test_the_page_on_intervals_shows_the_measured_coverage(coverage):
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reproduce" / "intervals.md").read_text(encoding="utf-8")
    lines = coverage.read_rows(root / "benchmarks" / "results" / "coverage.csv")
    assert coverage.table(lines) in page
    shapes = coverage.read_rows(root / "benchmarks" / "results" / "coverage-shapes.csv")
    assert coverage.shapes_table(shapes) in page
    for line in shapes:  # what is claimed is covered
        if float(line["claimed"]) >= coverage.MOST:
            assert float(line["coverage"]) > 0.91, line
    for line in lines:  # what is not marked is covered
        if marked(line["interval_over"]) == line["interval_over"]:
            assert float(line["coverage"]) > 0.9, line
