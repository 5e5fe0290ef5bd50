"""Runs that never learn, curves that fall or jump, and the size that is worth training next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.complexity.bootstrap import curve_of_scores
from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.estimate import estimate
from simtown.complexity.irregular import held, stuck_runs
from simtown.complexity.size_search import worth_training
from tests.complexity.simulated import SIZES, exact

LAW = np.array([0.6, 0.72, 0.81, 0.88, 0.91, 0.93])
NOISE = np.random.default_rng(0).normal(0, 0.005, (6, 5))


def curve(scores, target=0.85):
    return curve_of_scores(SIZES, scores, [target], replicates=200)


def test_a_run_that_stays_at_chance_is_named_and_the_need_is_of_the_others():
    scores = LAW[:, None] + NOISE
    scores[3, 1] = 0.58
    found, other = curve(scores), curve(scores[:, [0, 2, 3, 4]])
    assert np.argwhere(found.stuck).tolist() == [[3, 1]]
    assert found.samples["isotonic"][0, 0] == pytest.approx(other.samples["isotonic"][0, 0], rel=0.02)
    assert found.accuracy[3] == pytest.approx(scores[3].mean())  # the mean itself is of all
    runs = [exact("pbn", 5, n, a, s) for n, row in zip(SIZES, scores, strict=True) for s, a in enumerate(row)]
    report = estimate(runs, targets=(0.85,), replicates=60)
    assert "1 of 30 runs never learned (seed 1 with 5,000 samples)" in report.notes[0]
    assert {r.stuck for r in report.rows} == {0, 1}


@pytest.mark.parametrize("shape", ["late", "noisy", "one seed"])
def test_a_late_or_noisy_run_is_not_stuck(shape):
    scores = LAW[:, None] + NOISE
    if shape == "late":
        scores = np.where(np.arange(6)[:, None] < np.array([2, 2, 2, 2, 3]), 0.5, 0.97) + NOISE
    if shape == "noisy":
        scores += 20 * NOISE
    assert not stuck_runs(scores[:, :1] if shape == "one seed" else scores).any()


@settings(max_examples=40)
@given(st.integers(0, 999), st.floats(0, 1), st.floats(0.1, 1))
def test_stuck_runs_do_not_depend_on_the_order_of_seeds(seed, chance, share):
    rng = np.random.default_rng(seed)
    scores = share * (LAW[:, None] + 0.01 * rng.normal(size=(6, 4)))
    scores[rng.uniform(size=(6, 4)) < 0.1] = chance * scores.min()
    order = rng.permutation(4)
    assert (stuck_runs(scores)[:, order] == stuck_runs(scores[:, order])).all()


def test_the_need_of_a_curve_that_falls_is_the_size_from_which_the_target_holds():
    down = np.array([0.6, 0.9, 0.7, 0.8, 0.88, 0.92])
    found = curve(down[:, None] + NOISE)
    assert found.falls
    assert SIZES[3] < found.samples["isotonic"][0, 0] < SIZES[4]
    assert found.samples["smallest"][0, 0] == SIZES[1]
    assert not curve(LAW[:, None] + NOISE).falls
    assert curve(down[::-1, None] + NOISE).samples["isotonic"][0, 0] == ABOVE
    np.testing.assert_array_equal(held(np.array([[3.0, 1, 2]])), [[1, 1, 2]])


def test_a_jump_is_a_bracket_with_a_size_to_train_next():
    step = np.where(np.arange(6) < 3, 0.5, 0.97)
    runs = [
        exact("pbn", 5, n, a, s, test=f"{n}{s}") for n, a in zip(SIZES, step, strict=True) for s in range(3)
    ]
    (need,) = (r for r in estimate(runs, targets=(0.9,), replicates=100).rows if r.rule == "isotonic")
    assert need.jumps
    assert str(need) == "between 2,000 and 5,000"
    assert need.next_size == 3200
    edges = [exact("pbn", 5, n, a, s) for n, a in ((500, 0.6), (1000, 0.8)) for s in range(3)]
    (need,) = (r for r in estimate(edges, targets=(0.7,), replicates=40).rows if r.rule == "isotonic")
    assert need.jumps
    assert need.next_size == 2000  # what lies beyond says how even the curve is


@pytest.mark.parametrize(
    ("sizes", "need", "jumps", "size"),
    [
        ([100, 200], ABOVE, False, 400),
        ([100, 200], BELOW, False, 50),
        ([100, 200, 400, 800], 280.0, True, 280),
        ([100, 200, 400, 800], 290.0, False, 290),
        ([100, 200, 400, 800], 205.0, False, None),
        ([100, 200, 400, 800], 150.0, True, 50),
        ([1], BELOW, False, None),
    ],
)
def test_the_size_worth_training_next(sizes, need, jumps, size):
    assert worth_training(sizes, need, jumps) == size
