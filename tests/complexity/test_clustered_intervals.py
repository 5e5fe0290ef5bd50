"""Intervals of shares and differences: formulas written anew, published examples, and clusters."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial

from simtown.complexity.intervals import difference, holm, paired_difference, share, standard_error

right = st.lists(st.booleans(), min_size=2, max_size=60)


def clustered_error(values, clusters):
    """The formula of Miller (2024), as evaluation programs have it: outer products within clusters."""
    mean, names = np.mean(values), np.unique(clusters)
    variance = 0.0
    for name in names:
        rest = values[clusters == name] - mean
        variance += np.outer(rest, rest).sum()
    return np.sqrt(variance * len(names) / (len(names) - 1)) / len(values)


def test_the_clustered_standard_error_of_800_rows():
    rng = np.random.default_rng(5)
    clusters = rng.integers(0, 150, 800)
    values = np.where(rng.random(800) < 0.6, rng.random(150)[clusters] < 0.6, rng.random(800) < 0.5)
    expected = clustered_error(values.astype(float), clusters)
    assert standard_error(values, clusters) == pytest.approx(expected, rel=1e-12)
    shuffled = rng.permutation(800)
    assert standard_error(values[shuffled], clusters[shuffled]) == pytest.approx(expected, rel=1e-12)


@given(right)
def test_without_clusters_a_share_has_wilsons_interval(answers):
    found = share(answers)
    wilson = binomtest(sum(answers), len(answers)).proportion_ci(0.95, method="wilson")
    assert (found["low"], found["high"]) == pytest.approx((wilson.low, wilson.high), abs=1e-9)
    assert share(answers, range(len(answers))) == found


@given(right, st.integers(2, 5))
def test_an_answer_that_is_repeated_tells_nothing_new(answers, times):
    """The interval of answers that all stand together is hardly narrower than that of one a cluster."""
    once = share(answers)
    often = share(np.repeat(answers, times), np.repeat(np.arange(len(answers)), times))
    assert often["accuracy"] == pytest.approx(once["accuracy"])
    assert often["high"] - often["low"] >= 0.98 * (once["high"] - once["low"])


def test_differences_of_published_examples():
    """Tango (1998), table III, a hundred times: 4,400 pairs, of which 100 differ, where the likelihood ratio
    hardly counts; Newcombe (1998), 56/70 less 48/80.
    """
    found = paired_difference([False] * 100 + [True] * 4_300, [True] * 4_400)
    assert (found["low"], found["high"]) == pytest.approx((-0.027565, -0.018722), abs=1e-6)
    assert (found["one"], found["other"], found["clusters"]) == (0, 100, 4_400)
    unpaired = difference(share([1] * 56 + [0] * 14), share([1] * 48 + [0] * 32))
    assert unpaired == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 9)), min_size=2, max_size=60))
def test_a_difference_has_a_width_and_turns_with_its_models(rows):
    one, other, clusters = zip(*rows, strict=True)
    found, turned = paired_difference(one, other, clusters), paired_difference(other, one, clusters)
    assert -1 <= found["low"] <= found["difference"] <= found["high"] <= 1
    assert found["high"] - found["low"] > 0.01
    assert (-turned["high"], -turned["low"]) == pytest.approx((found["low"], found["high"]), abs=1e-6)
    assert turned["p"] == found["p"]


@pytest.mark.parametrize("shares", [(0.005, 0.095), (0.05, 0.05), (0.08, 0.02), (0.098, 0.002), (0.3, 0)])
def test_a_difference_of_thirty_pictures_holds_the_truth(shares):
    """Over all outcomes, if each picture is gained or lost with these probabilities."""
    chance = multinomial(30, [*shares, 1 - sum(shares)])
    gained, lost, place = *shares, np.arange(30)
    coverage = 0.0
    for up, down in product(range(31), repeat=2):
        if up + down <= 30 and (likely := chance.pmf([up, down, 30 - up - down])) > 1e-9:
            found = paired_difference(place < up, place >= 30 - down)
            coverage += likely * (found["low"] <= gained - lost <= found["high"])
    assert 0.92 <= coverage <= 0.98


def test_two_samples_without_an_error_may_still_differ():
    _, low, high = difference(share([1] * 20), share([1] * 20))
    assert low < -0.1
    assert high > 0.1
    assert share([]) is None


def test_holm_of_an_example():
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
