"""The two rules, against scipy's fit and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.interpolate import PchipInterpolator

from simtown.complexity.curves import ABOVE, BELOW, RULES, isotonic_fit
from tests.complexity.simulated import SIZES

quick = settings(max_examples=60)
TARGETS = np.array([0.75, 0.85, 0.9, 0.95])


@st.composite
def curves(draw):
    """Sizes, accuracies of one seed, and weights."""
    points = st.tuples(st.integers(0, 400), st.sampled_from([400.0, 800.0, 2000.0]))
    drawn = draw(st.dictionaries(st.integers(10, 99_999), points, min_size=1, max_size=8))
    right, weights = zip(*drawn.values(), strict=True)
    return np.array(sorted(drawn)), np.array([right]) / 400, np.array(weights)


@quick
@given(curves())
def test_smallest_is_the_first_size_that_reaches_the_target(curve):
    sizes, accuracy, weight = curve
    for target, n in zip(TARGETS, RULES["smallest"](sizes, accuracy, weight, TARGETS)[:, 0], strict=True):
        there = [size for size, a in zip(sizes, accuracy[0], strict=True) if a >= target]
        assert n == (ABOVE if not there else BELOW if there[0] == sizes[0] else there[0])


@quick
@given(curves())
def test_the_isotonic_fit_is_scipys(curve):
    _, accuracy, weight = curve
    fit = isotonic_fit(accuracy, weight)[0]
    np.testing.assert_allclose(fit, optimize.isotonic_regression(accuracy[0], weights=weight).x, atol=1e-12)


def test_isotonic_is_scipys_cubic_in_log_n():
    accuracy = np.array([0.5, 0.6, 0.8, 0.8, 0.9, 0.97])
    cubic = PchipInterpolator(np.log(SIZES), accuracy)
    targets = np.array([0.55, 0.7, 0.79, 0.85, 0.935])
    found = RULES["isotonic"](SIZES, accuracy[None], np.ones(6), targets)[:, 0]
    for target, n in zip(targets, found, strict=True):
        low, high = SIZES[accuracy < target][-1], SIZES[accuracy >= target][0]
        assert n == pytest.approx(
            np.exp(optimize.brentq(lambda x, t=target: cubic(x) - t, np.log(low), np.log(high)))
        )
    censored = RULES["isotonic"](SIZES, accuracy[None], np.ones(6), np.array([0.5, 0.8, 0.98]))[:, 0]
    assert censored == pytest.approx([BELOW, 2000, ABOVE])


def test_isotonic_of_two_sizes_is_a_straight_line_in_log_n():
    found = RULES["isotonic"](SIZES[:2], np.array([[0.5, 0.7]]), np.ones(2), np.array([0.6]))
    assert found[0, 0] == pytest.approx(np.sqrt(500 * 1000))
    one = RULES["isotonic"](SIZES[:1], np.array([[0.7]]), np.ones(1), np.array([0.6, 0.8]))
    assert one[:, 0].tolist() == [BELOW, ABOVE]


@quick
@given(curves(), st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6, unique=True))
def test_samples_grow_with_the_target_and_stay_within_the_sizes(curve, targets):
    sizes, accuracy, weight = curve
    for rule in RULES.values():
        n = rule(sizes, accuracy, weight, np.array(sorted(targets)))[:, 0]
        assert (np.diff(np.where(n == ABOVE, 1e9, n)) >= -1e-6).all()
        inside = n[(n != ABOVE) & (n != BELOW)]
        assert ((inside >= sizes[0]) & (inside <= sizes[-1])).all()
