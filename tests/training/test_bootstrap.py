"""Seeds, intervals and resampling."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simtown.training.bootstrap import interval, median, resampled_accuracies
from simtown.training.complexity import estimate
from simtown.training.curves import ABOVE, BELOW, RULES
from simtown.training.results import Run


def test_kaplan_meier_by_hand():
    limits = np.full(5, 20000.0)
    assert median(np.array([1000, 2000, 3000, 4000, 5000.0]), 500, limits) == 3000
    assert median(np.array([1000, 2000, ABOVE, ABOVE, ABOVE]), 500, limits) == ABOVE  # 3 of 5 never
    # Two seeds were trained up to 1,500 only: survival 4/5 at 1,000, then 4/5 · 1/2 at 3,000, then 0.
    early = np.array([20000, 1500, 1500, 20000, 20000.0])
    assert median(np.array([1000, ABOVE, ABOVE, 3000, 8000]), 500, early) == 3000
    assert median(np.array([BELOW, BELOW, BELOW, 3000, ABOVE]), 500, limits) == BELOW
    assert median(np.array([ABOVE] * 5), 500, limits) == ABOVE
    assert median(np.array([700.0]), 500, limits[:1]) == 700


def test_interval_ends_are_replicates_and_may_be_censored():
    values = np.arange(1.0, 101)
    assert interval(values) == (3, 98)
    assert interval(np.array([BELOW] * 3 + [5.0] * 94 + [ABOVE] * 3)) == (BELOW, ABOVE)
    low, high = interval(np.array([np.nan] * 10 + [1.0] * 90))
    assert (low, high) == (-np.inf, np.inf)  # a tenth of the replicates say nothing


@pytest.fixture
def covered(sizes, accuracy_of, simulate):
    def covered(seeds, repetitions, items=500):
        """How often the intervals of N* (isotonic) hold the truth, and of how many."""
        middles = {("cnn-lstm", 5): 1200.0, ("pbn", 5): 700.0}
        targets, shifts = (0.75, 0.9), np.exp(0.2 * stats.norm.ppf(np.linspace(0.0005, 0.9995, 2001)))
        truth = {}
        for model, k in middles:
            population = np.mean([accuracy_of(sizes, middles[model, k] * g) for g in (shifts if seeds > 1 else [1.0])], axis=0)[None]
            truth[model] = RULES["isotonic"](sizes, population, np.full(6, float(items * seeds)), np.array(targets))[:, 0]
        hits = []
        for start in range(repetitions):
            runs = simulate(middles, seeds, items, scatter=0.2 if seeds > 1 else 0.0, start=start)
            for row in estimate(runs, targets=targets, replicates=200, seed=start).rows:
                if row.rule == "isotonic":
                    hits.append(row.low <= truth[row.model][targets.index(row.target)] <= row.high)
        return sum(hits), len(hits)

    return covered


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_intervals_cover_the_truth(seeds, covered):
    """At least nearly 95 %: a binomial with the 8 intervals of a repetition taken for 2 independent ones would allow this often."""
    hits, count = covered(seeds, 40)
    assert hits / count > 0.95 - 3 * np.sqrt(0.95 * 0.05 / (count / 4))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2, 3, 5, 10])
def test_intervals_cover_the_truth_often(seeds, covered):
    hits, count = covered(seeds, 300)
    assert 0.91 < hits / count < 0.995


def test_the_same_items_are_drawn_for_all_runs_of_a_test_set(exact):
    run = exact("pbn", 5, 500, 0.7)
    twin, stranger = replace(run, model="cnn-lstm"), replace(run, model="cnn-lstm", test_id="other")
    first, second, third = (a[:, 0] for a in resampled_accuracies([[run], [twin], [stranger]], 200, 0))
    np.testing.assert_array_equal(first, second)
    assert (first[1:] != third[1:]).any()
    for accuracy in (first, third):
        assert accuracy[0] == pytest.approx(0.7)
        assert accuracy[1:].std() == pytest.approx(np.sqrt(0.7 * 0.3 / 400), rel=0.2)


def test_a_paired_ratio_is_narrower_than_an_unpaired_one(sizes, accuracy_of):
    """Two models that fail on nearly the same items: most of the luck of the test set cancels."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=500)
    runs = []
    for model, middle in (("cnn-lstm", 2000.0), ("pbn", 1000.0)):
        for n in sizes:
            luck = np.sqrt(0.98) * hard + np.sqrt(0.02) * rng.normal(size=500)
            runs.append(Run(model, 5, False, int(n), 0, "t", luck < stats.norm.ppf(accuracy_of(n, middle))))
    unpaired = [replace(r, test_id="u") if r.model == "pbn" else r for r in runs]
    (x,), (y,) = ([r for r in estimate(rs, targets=(0.8,), replicates=500).ratios if r.rule == "isotonic"] for rs in (runs, unpaired))
    assert x.low < 2 < x.high
    assert np.log(x.high / x.low) < 0.6 * np.log(y.high / y.low)
    assert "not paired" in estimate(unpaired, replicates=40).notes[0]


def test_seeds_missing_at_the_large_sizes(simulate):
    runs = [r for r in simulate({("pbn", 5): 900.0}, seeds=3) if r.seed == 0 or r.train_size < 10000]
    found = estimate(runs, replicates=60)
    assert found.table()[0]["seeds"] == "1–3"
    assert np.isfinite(found.curves[0].accuracy).all()
