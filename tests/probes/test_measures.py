"""Scores and tests against scikit-learn, scipy, plain loops and numbers worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from simtown.probes import measures
from simtown.probes.measures import Confusion

decisions = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=1, max_size=60)


def _counts(rows):
    items, label, said = (np.array(column) for column in zip(*rows, strict=True))
    return items, label, said, Confusion.per_item(items, label, said, 5)


@given(decisions)
def test_f1_is_scikit_learns(rows):
    items, label, said, counts = _counts(rows)
    assert float(measures.micro_f1(counts)) == pytest.approx(metrics.f1_score(label, said, zero_division=0))
    asked = [items == i for i in range(5) if label[items == i].any()]
    each = [metrics.f1_score(label[own], said[own], zero_division=0) for own in asked]
    assert float(measures.macro_f1(counts)) == pytest.approx(np.mean(each) if each else 0)


@given(decisions)
def test_the_papers_macro_f1_is_the_harmonic_mean_of_two_means(rows):
    items, label, said, counts = _counts(rows)
    precision, recall = [], []
    for i in range(5):
        y, z = label[items == i], said[items == i]
        if y.any():
            precision.append((y & z).sum() / z.sum() if z.any() else 1.0)
            recall.append((y & z).sum() / y.sum())
    p, r = (np.mean(v) if v else 0.0 for v in (precision, recall))
    assert float(measures.macro_f1_of_means(counts)) == pytest.approx(2 * p * r / (p + r) if p + r else 0)


@given(decisions, st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_an_item_that_counts_twice_is_two_items(rows, times):
    counts = _counts(rows)[-1]
    repeated = Confusion(*(np.repeat(c, times) for c in (counts.tp, counts.fp, counts.fn, counts.tn)))
    expected = float(measures.macro_f1_of_means(repeated))
    assert float(measures.macro_f1_of_means(counts, np.array(times))) == pytest.approx(expected)


def test_mcnemar_by_hand():
    right_a = np.repeat([True, True, False, False], [50, 15, 5, 30])
    right_b = np.repeat([True, False, True, False], [50, 15, 5, 30])
    ours = measures.mcnemar(right_a, right_b)
    assert (ours.only_a, ours.only_b) == (15, 5)
    # chi-squared with one degree of freedom
    chances = [math.erfc(math.sqrt(square / 20 / 2)) for square in (100, 81)]
    assert [ours.plain, ours.corrected] == pytest.approx(chances)
    assert ours.exact == pytest.approx(2 * sum(math.comb(20, k) for k in range(6)) / 2**20)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=50))
def test_mcnemar_takes_no_side_and_agrees_with_itself(rows):
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    first, second = measures.mcnemar(a, b), measures.mcnemar(b, a)
    for test in ("plain", "corrected", "exact"):
        assert getattr(first, test) == pytest.approx(getattr(second, test))
    assert first.plain <= first.corrected + 1e-12
    assert measures.mcnemar(a, a).plain == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_is_its_definition(p):
    n, ranked = len(p), sorted(p)
    ranks = np.argsort(np.argsort(p, kind="stable"))
    expected = [min(1.0, *(ranked[j] * n / (j + 1) for j in range(rank, n))) for rank in ranks]
    assert measures.benjamini_hochberg(p) == pytest.approx(expected)


def test_no_subjects_and_nan_make_no_test():
    assert measures.spearman(np.arange(5), np.array([1, 2, 3, 5, 4])).rho == pytest.approx(0.9)
    assert math.isnan(measures.spearman(np.arange(5), np.ones(5)).rho)
    nothing = measures.difference(np.array([0.5, math.nan]), np.array([math.nan, 0.5]))
    assert nothing.n == 0
    assert np.isnan([nothing.mean, nothing.paired, nothing.welch]).all()
    adjusted = measures.benjamini_hochberg([0.01, math.nan, 0.04])
    assert adjusted == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)


@given(st.lists(st.floats(-1, 1) | st.just(math.nan), max_size=9), st.integers(1, 30))
def test_an_interval_does_not_depend_on_how_many_are_drawn_at_once(values, block):
    values = np.array(values, dtype=float)
    kept = values[~np.isnan(values)]
    before, measures.BLOCK = measures.BLOCK, block
    try:
        ours = measures.mean_interval(values, replicates=50, seed=3)
    finally:
        measures.BLOCK = before
    if not len(kept):
        assert np.isnan(ours).all()
        return
    means = measures.group_draws(len(kept), 50, 3) @ kept / len(kept)
    assert ours == pytest.approx(np.quantile(means, [0.025, 0.975]))
