"""Samples needed, exponents and ratios, on learning curves whose truth is known."""

import random
import warnings

import numpy as np
import pytest

from simtown.training.complexity import estimate
from simtown.training.curves import ABOVE, BELOW


def test_share_of_seeds_that_reached_the_target(exact):
    runs = [exact("pbn", 5, n, share, seed) for seed, top in enumerate((0.99, 0.99, 0.8)) for n, share in ((500, 0.6), (5000, top))]
    rows = {(r.target, r.rule): r for r in estimate(runs, replicates=40).rows}
    assert rows[0.9, "smallest"].seeds_reached == 2
    assert rows[0.9, "smallest"].median == 5000
    assert rows[0.75, "smallest"].seeds_reached == rows[0.75, "smallest"].seeds == 3


def test_another_model_or_another_order_changes_nothing(simulate):
    both = simulate({("cnn-lstm", 5): 1200.0, ("pbn", 5): 700.0, ("pbn", 15): 900.0})
    shuffled = random.Random(0).sample(both, len(both))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (estimate(runs, replicates=60) for runs in (both, shuffled))
        alone = estimate([run for run in both if run.model == "pbn"], replicates=60)
    assert repr(first.rows + first.exponents + first.ratios) == repr(second.rows + second.exponents + second.ratios)
    assert repr([r for r in first.rows if r.model == "pbn"]) == repr(alone.rows)
    assert repr(first.rows) != repr(estimate(both, replicates=60, seed=1).rows)


def test_censored_on_both_sides(sizes, exact):
    runs = [exact("pbn", 5, n, a) for n, a in zip(sizes, (0.96, 0.97, 0.98, 0.98, 0.98, 0.98), strict=True)]
    runs += [exact("cnn-lstm", 5, n, a) for n, a in zip(sizes, (0.5, 0.5, 0.5, 0.5, 0.6, 0.7), strict=True)]
    found = estimate(runs, replicates=100, targets=(0.65, 0.8, 0.9))
    for row in found.rows:
        if row.model == "pbn" or row.target > 0.65:
            assert row.samples == row.low == row.high == (BELOW if row.model == "pbn" else ABOVE)
            assert str(row) == ("≤ 500" if row.model == "pbn" else "> 20,000")
    beyond = [x for x in found.ratios if x.target > 0.65]
    assert len(beyond) == 2 * 2
    for x in beyond:
        assert (x.at_least, x.at_most, x.low, x.high) == (40, np.inf, 40, np.inf)
        assert str(x) == "> 40 (from 40)"
    assert all("1 world" in e.reason and not e.telling for e in found.exponents)
    assert not found.notes


def test_a_model_that_reaches_nothing_has_a_note_instead_of_exponents_and_ratios(exact, simulate):
    runs = simulate({("pbn", 5): 700.0, ("pbn", 15): 900.0, ("cnn-lstm", 5): 900.0, ("cnn-lstm", 15): 2000.0})
    stuck = [exact("question-only", k, n, 0.55, test=f"test-{k}") for k in (5, 15) for n in (500, 20000)]
    first, second = estimate(runs, replicates=40), estimate(runs + stuck, replicates=40)
    assert repr(first.exponents + first.ratios) == repr(second.exponents + second.ratios)
    assert {str(r) for r in second.rows if r.model == "question-only"} == {"> 20,000"}
    assert second.notes == ["question-only reached no target in any world, so it is left out of exponents and ratios"]


def test_a_model_may_reach_nothing_in_one_setting_only(exact):
    cells = [(k, n, d) for k in (5, 60) for n in (500, 5000) for d in (False, True)]
    runs = [exact("pbn", k, n, 0.99 if n == 5000 else 0.5, test=f"{k}", distractor=d) for k, n, d in cells]
    runs += [exact("x", k, n, 0.9 if n == 5000 and not d else 0.5, test=f"{k}", distractor=d) for k, n, d in cells]
    found = estimate(runs, replicates=40)
    assert found.notes == ["x reached no target in any world with distractor, so it is left out of exponents and ratios with distractor"]
    assert {(e.model, e.distractor) for e in found.exponents} == {("pbn", False), ("pbn", True), ("x", False), ("x - pbn", False)}
    assert not any(x.distractor for x in found.ratios)


def test_exponents_of_a_sweep(simulate):
    worlds = (5, 15, 31, 60)
    runs = simulate(
        {("cnn-lstm", k): 900 * (k / 5) ** 0.8 for k in worlds} | {("pbn", k): 600 * (k / 5) ** 0.3 for k in worlds}, items=1000
    )
    found = {(e.model, e.target): e for e in estimate(runs, replicates=200, targets=(0.75,)).exponents if e.rule == "isotonic"}
    for model, truth in (("cnn-lstm", 0.8), ("pbn", 0.3), ("cnn-lstm - pbn", 0.5)):
        e = found[model, 0.75]
        assert e.low < truth < e.high
        assert e.value == pytest.approx(truth, abs=0.2)
    assert str(found["pbn", 0.75]).startswith(f"{found['pbn', 0.75].value:.2f} (")


def test_an_exponent_of_one_uncensored_world_is_not_identifiable(exact):
    runs = [exact("pbn", 5, n, a) for n, a in ((500, 0.6), (5000, 0.95))] + [exact("pbn", 60, n, 0.6) for n in (500, 5000)]
    for e in estimate(runs, replicates=40, targets=(0.9,)).exponents:
        assert np.isnan(e.value)
        assert "not identifiable" in str(e)


@pytest.mark.parametrize("wrong", [{"targets": ()}, {"targets": (75,)}, {"targets": (0.9, float("nan"))}, {"replicates": 5}])
def test_settings_that_make_no_sense(wrong, exact):
    with pytest.raises(ValueError, match=r"targets must be|replicates"):
        estimate([exact("pbn", 5, 500, 0.6)], **wrong)
