"""Psychometric curves: known observers, refusals, and what must not move a threshold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from simtown.complexity.psychometric import compare, fit_curve
from tests.complexity.observers import OBSERVERS, Observer


def coverage(n, observer, simulations, seed=0):
    """The share of intervals that hold the threshold, and of answers that have a threshold."""
    rng = np.random.default_rng(seed)
    curves = [fit_curve(observer.answers(n, rng)) for _ in range(simulations)]
    held = [curve.low <= observer.threshold <= curve.high for curve in curves if not curve.problem]
    return np.mean(held), len(held) / simulations


def test_intervals_hold_the_threshold():
    held, usable = np.transpose([coverage(n, observer, 5) for n, observer in OBSERVERS])
    assert held.mean() > 0.85
    assert usable.mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("n", "observer"), OBSERVERS, ids=str)
def test_intervals_hold_the_threshold_in_95_of_100(n, observer):
    held, usable = coverage(n, observer, 200, seed=1)
    assert 0.92 <= held <= 0.98
    assert usable > 0.95


@pytest.mark.slow
def test_intervals_hold_the_threshold_where_the_luck_of_a_picture_is_shared():
    """300 questions, 10 about each picture, which one number decides."""
    observer, held = Observer(2.0), []
    for seed in range(200):
        rng, picture = np.random.default_rng(seed), np.arange(300) // 10
        answers = observer.answers(300, rng)
        right = rng.random(30)[picture] < observer.accuracy(answers.x, answers.yes)
        curve = fit_curve(answers._replace(right=right, cluster=picture))
        if not curve.problem:
            held.append(curve.low <= observer.threshold <= curve.high)
    assert len(held) > 150
    assert 0.92 <= np.mean(held) <= 0.985


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.floats(0.3, 0.7), st.floats(0, 0.1))
def test_a_fit_is_as_likely_as_any_other(seed, bias, lapse):
    """The oracle: the likelihood written anew, and a search without slopes from the curve on."""
    answers = Observer(2.0, lapse=lapse, bias=bias).answers(600, np.random.default_rng(seed))
    curve = fit_curve(answers)

    def cost(p):
        own = Observer(np.exp(p[0]), np.exp(p[1]), *np.clip(p[2:], (0, 0.01), (0.25, 0.99)))
        right = np.clip(own.accuracy(answers.x, answers.yes), 1e-9, 1 - 1e-9)
        return -np.log(np.where(answers.right, right, 1 - right)).sum()

    fitted = [np.log(curve.threshold), np.log(curve.spread), curve.lapse, curve.bias]
    better = optimize.minimize(cost, fitted, method="Nelder-Mead")
    assert better.fun > cost(fitted) - 0.01


@settings(max_examples=10)
@given(st.integers(0, 2**31), st.floats(0.01, 100))
def test_units_direction_and_the_name_of_yes_do_not_matter(seed, unit):
    answers = Observer(2.0, bias=0.6).answers(500, np.random.default_rng(seed))
    curve, larger = fit_curve(answers), fit_curve(answers._replace(x=unit * answers.x))
    assert larger.threshold == pytest.approx(unit * curve.threshold, rel=0.01)
    falling = fit_curve(answers._replace(x=1 / answers.x), falls=True)
    assert falling.threshold == pytest.approx(1 / curve.threshold, rel=0.01)
    assert 1 / falling.high == pytest.approx(curve.low, rel=0.02)
    swapped = fit_curve(answers._replace(yes=-answers.yes))
    assert swapped.threshold == pytest.approx(curve.threshold, rel=0.01)
    assert swapped.bias == pytest.approx(1 - curve.bias, abs=0.02)


def dipped(answers):
    """Accuracy that rises, falls and rises."""
    return answers._replace(right=answers.right & ((answers.x < 3) | (answers.x > 4)))


def of_three_values(answers):
    return answers._replace(x=np.digitize(answers.x, [1, 3]) + 1.0)


REFUSED = {
    "none": (0, Observer(2.0), "0 answers"),
    "few": (80, Observer(2.0), "80"),
    "blind": (800, Observer(1e6), "never reached: 5"),
    "sees everything": (800, Observer(1e-6), "always above"),
    "reached only beyond": (2000, Observer(9.0, spread=0.15), "never reached"),
    "reached before": (2000, Observer(0.45, spread=0.15), "always above"),
    "low ceiling": (2000, Observer(1.0, lapse=0.4), "75% nowhere"),
    "dip": (2000, Observer(2.0), "no curve that rises", dipped),
    "three values": (800, Observer(2.0), "3 different values", of_three_values),
}


@pytest.mark.parametrize("name", REFUSED)
def test_answers_that_cannot_hold_a_threshold_have_none(name):
    n, observer, why, *changes = REFUSED[name]
    answers = observer.answers(n, np.random.default_rng(0))
    for change in changes:
        answers = change(answers)
    curve = fit_curve(answers)
    assert why in curve.problem
    assert np.isnan(curve.threshold)


def test_models_are_compared_question_by_question():
    rng = np.random.default_rng(0)
    answers, better = Observer(3.0).answers(800, rng), Observer(1.2)
    other = answers._replace(right=rng.random(800) < better.accuracy(answers.x, answers.yes))
    difference, low, high = compare(answers, other, resamples=100)
    assert low < difference < high
    assert low < 1.8 < high
    assert compare(answers, answers, resamples=20) == (0, 0, 0)


def test_answers_that_are_repeated_about_a_picture_tell_nothing_new():
    answers = Observer(2.0).answers(400, np.random.default_rng(3))
    once = fit_curve(answers)
    often = fit_curve(answers.rows(np.repeat(np.arange(400), 5)))
    assert often.threshold == pytest.approx(once.threshold, rel=0.01)
    assert often.low <= once.low * 1.02
    assert often.high >= once.high * 0.98
    assert often.p == pytest.approx(once.p, abs=0.01)


def test_guessers_about_few_pictures_show_no_trend():
    """All answers about a picture are one guess, and x belongs to the picture, too."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        picture, x = np.arange(400) // 10, np.exp(rng.normal(size=40))
        answers = Observer(1e6).answers(400, rng)
        right = (rng.random(40) < 0.5)[picture]
        found.append(fit_curve(answers._replace(x=x[picture], right=right, cluster=picture)).p < 0.05)
    assert np.mean(found) < 0.2
