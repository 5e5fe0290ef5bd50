"""The three rules and their fits, against scipy's and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from simtown.training.curves import ABOVE, BELOW, RULES, isotonic_fit, power_fit, power_misfit

quick = settings(max_examples=60)
TARGETS = np.array([0.75, 0.85, 0.9, 0.95])
curves = st.integers(1, 8).flatmap(
    lambda s: st.tuples(
        st.lists(st.integers(10, 99_999), min_size=s, max_size=s, unique=True).map(lambda n: np.array(sorted(n))),
        st.lists(st.integers(0, 400).map(lambda c: c / 400), min_size=s, max_size=s).map(lambda a: np.array([a])),
        st.lists(st.sampled_from([400.0, 800.0, 2000.0]), min_size=s, max_size=s).map(np.array),
    )
)


@quick
@given(curves)
def test_smallest_is_the_first_size_that_reaches_the_target(curve):
    sizes, accuracy, weight = curve
    for target, n in zip(TARGETS, RULES["smallest"](sizes, accuracy, weight, TARGETS)[:, 0], strict=True):
        there = [size for size, a in zip(sizes, accuracy[0], strict=True) if a >= target]
        assert n == (ABOVE if not there else BELOW if there[0] == sizes[0] else there[0])


@quick
@given(curves)
def test_the_isotonic_fit_is_scipys(curve):
    _, accuracy, weight = curve
    fit = isotonic_fit(accuracy, weight)[0]
    np.testing.assert_allclose(fit, optimize.isotonic_regression(accuracy[0], weights=weight).x, atol=1e-12)


def test_isotonic_interpolates_in_log_n(sizes):
    accuracy = np.array([[0.5, 0.6, 0.8, 0.8, 0.9, 0.97]])
    n = RULES["isotonic"](sizes, accuracy, np.ones(6), np.array([0.5, 0.7, 0.8, 0.935, 0.98]))[:, 0]
    assert n == pytest.approx([BELOW, np.sqrt(1000 * 2000), 2000, np.sqrt(10000 * 20000), ABOVE])


def test_isotonic_pools_a_fall(sizes):
    accuracy = np.array([[0.5, 0.9, 0.7, 0.9, 0.9, 0.9]])  # 0.9 and 0.7 become 0.8 twice
    n = RULES["isotonic"](sizes, accuracy, np.ones(6), np.array([0.8, 0.85]))[:, 0]
    assert n == pytest.approx([1000, np.sqrt(2000 * 5000)])


@quick
@given(curves, st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6, unique=True))
def test_samples_grow_with_the_target_and_stay_within_the_sizes(curve, targets):
    sizes, accuracy, weight = curve
    for rule in RULES.values():
        n = rule(sizes, accuracy, weight, np.array(sorted(targets)))[:, 0]
        if np.isnan(n).all():
            assert len(sizes) < 3
            continue
        assert (np.diff(np.where(n == ABOVE, 1e9, n)) >= -1e-6).all()
        inside = n[(n != ABOVE) & (n != BELOW)]
        assert ((inside >= sizes[0]) & (inside <= sizes[-1])).all()


@pytest.mark.parametrize("truth", [(0.99, 0.45, 0.5), (0.95, 0.4, 1.2), (1.0, 0.5, 0.3), (0.8, 0.3, 2.0)])
def test_power_recovers_its_own_law(truth, sizes):
    a, b, c = truth
    accuracy = (a - b * (sizes / sizes[0]) ** -c)[None]
    found = [float(p[0]) for p in power_fit(sizes, accuracy, np.full(6, 2000.0))]
    assert found == pytest.approx(truth, abs=2e-3)
    for target, n in zip(TARGETS, RULES["power"](sizes, accuracy, np.full(6, 2000.0), TARGETS)[:, 0], strict=True):
        closed = sizes[0] * (b / (a - target)) ** (1 / c) if a > target else ABOVE
        assert n == pytest.approx(ABOVE if closed > sizes[-1] else BELOW if closed <= sizes[0] else closed, rel=5e-3)


def test_power_is_as_good_as_scipys_fit(sizes):
    rng = np.random.default_rng(0)
    accuracy = np.clip(0.97 - 0.4 * (sizes / 500) ** -0.6 + rng.normal(scale=0.02, size=(30, 6)), 0, 1)
    weight = np.full(6, 1000.0)
    a, b, c = power_fit(sizes, accuracy, weight)
    for i, y in enumerate(accuracy):
        shrunk = (y * weight + 2) / (weight + 4)
        sigma = np.sqrt(shrunk * (1 - shrunk) / weight)

        def law(n, a, b, c):
            return a - b * (n / 500) ** -c

        theirs, _ = optimize.curve_fit(law, sizes, y, (0.9, 0.4, 0.5), sigma, bounds=((0, 0, 0.02), (1, np.inf, 20)), max_nfev=20_000)
        errors = [(((y - law(sizes, *p)) / sigma) ** 2).sum() for p in ((a[i], b[i], c[i]), theirs)]
        assert errors[0] <= errors[1] * (1 + 1e-4)
        assert a[i] <= 1


def test_a_power_law_is_not_stretched_beyond_the_largest_size(sizes):
    accuracy = (1 - 0.5 * (sizes / sizes[0]) ** -0.3)[None]  # reaches 0.9 at 107,000
    assert RULES["power"](sizes, accuracy, np.full(6, 1e6), np.array([0.9]))[0, 0] == ABOVE


def test_power_needs_three_sizes(sizes):
    assert np.isnan(RULES["power"](sizes[:2], np.array([[0.6, 0.9]]), np.ones(2), TARGETS)).all()


def test_misfit_is_the_largest_distance_from_the_law(sizes):
    weight = np.full(6, 2000.0)
    law = 0.99 - 0.45 * (sizes / sizes[0]) ** -0.5
    assert power_misfit(sizes, law, weight) < 1e-3
    assert power_misfit(sizes, np.array([0.5, 0.5, 0.5, 0.95, 0.97, 0.98]), weight) > 0.05
    assert np.isnan(power_misfit(sizes[:2], law[:2], weight[:2]))
