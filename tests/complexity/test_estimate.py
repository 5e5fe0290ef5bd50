"""Samples needed, exponents and ratios, on learning curves whose truth is known."""

import random
import warnings
from dataclasses import replace

import numpy as np
import pytest

from simtown.complexity.curves import ABOVE, BELOW
from simtown.complexity.estimate import estimate
from simtown.complexity.quantities import Addition
from tests.complexity.simulated import SIZES, exact, simulate


def test_share_of_seeds_that_reached_the_target():
    tops = [*enumerate((0.99, 0.99, 0.8))]
    runs = [exact("pbn", 5, n, a, seed) for seed, top in tops for n, a in ((500, 0.6), (5000, top))]
    rows = {(r.target, r.rule): r for r in estimate(runs, replicates=40).rows}
    assert rows[0.9, "smallest"].seeds_reached == 2
    assert rows[0.75, "smallest"].seeds_reached == rows[0.75, "smallest"].seeds == 3


def test_another_model_or_another_order_changes_nothing():
    both = simulate({("cnn-lstm", 5): 1200.0, ("pbn", 5): 700.0, ("pbn", 15): 900.0})
    shuffled = random.Random(0).sample(both, len(both))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (estimate(runs, replicates=60) for runs in (both, shuffled))
        alone = estimate([run for run in both if run.model == "pbn"], replicates=60)
    whole = [repr(report.rows + report.exponents + report.ratios) for report in (first, second)]
    assert whole[0] == whole[1]
    assert repr([r for r in first.rows if r.model == "pbn"]) == repr(alone.rows)
    assert repr(first.rows) != repr(estimate(both, replicates=60, seed=1).rows)


def test_censored_on_both_sides():
    runs = [exact("pbn", 5, n, a) for n, a in zip(SIZES, (0.96, 0.97, 0.98, 0.98, 0.98, 0.98), strict=True)]
    runs += [exact("cnn-lstm", 5, n, a) for n, a in zip(SIZES, (0.5, 0.5, 0.5, 0.5, 0.6, 0.7), strict=True)]
    found = estimate(runs, replicates=100, targets=(0.65, 0.8, 0.9))
    for row in found.rows:
        if row.model == "pbn" or row.target > 0.65:
            assert row.samples == row.low == row.high == (BELOW if row.model == "pbn" else ABOVE)
            assert str(row) == ("≤ 500" if row.model == "pbn" else "> 20,000")
    beyond = [x for x in found.ratios if x.target > 0.65]
    assert len(beyond) == 2 * 2
    for x in beyond:
        assert (x.at_least, x.at_most, x.low, x.high) == pytest.approx((40, np.inf, 40, np.inf))
        assert str(x) == "> 40 (at least 40)"
    assert all("1 world" in e.reason and not e.known for e in found.exponents)
    assert not found.notes


def test_a_model_may_reach_nothing_in_one_setting_only():
    cells = [(k, n, d) for k in (5, 60) for n in (500, 5000) for d in (False, True)]
    runs = [exact("pbn", k, n, 0.99 if n == 5000 else 0.5, test=f"{k}", distractor=d) for k, n, d in cells]
    shares = [0.9 if n == 5000 and not d else 0.5 for _, n, d in cells]
    both = zip(cells, shares, strict=True)
    runs += [exact("x", k, n, share, test=f"{k}", distractor=d) for (k, n, d), share in both]
    found = estimate(runs, replicates=40)
    assert found.notes == [
        "x reached no target in any world with distractor, with 5,000 samples at most, so it is left out of "
        "exponents and ratios with distractor"
    ]
    named = {(e.model, e.distractor) for e in found.exponents}
    assert named == {("pbn", False), ("pbn", True), ("x", False), ("x - pbn", False)}
    assert not any(x.distractor for x in found.ratios)


def test_exponents_of_a_sweep():
    needs = {("cnn-lstm", k): 900 * (k / 5) ** 0.8 for k in (5, 15, 31, 60)}
    needs |= {("pbn", k): 600 * (k / 5) ** 0.3 for k in (5, 15, 31, 60)}
    exponents = estimate(simulate(needs, items=1000), replicates=200, targets=(0.75,)).exponents
    found = {(e.model, e.target): e for e in exponents if e.rule == "isotonic"}
    for model, truth in (("cnn-lstm", 0.8), ("pbn", 0.3), ("cnn-lstm - pbn", 0.5)):
        e = found[model, 0.75]
        assert e.low < truth < e.high
        assert e.value == pytest.approx(truth, abs=0.2)
    assert str(found["pbn", 0.75]).startswith(f"{found['pbn', 0.75].value:.2f} (")


def test_settings_that_make_no_sense():
    for targets in ((), (75,), (0.9, float("nan")), (0.9, 0.90001)):
        with pytest.raises(ValueError, match="`targets` must"):
            estimate([exact("pbn", 5, 500, 0.6)], targets=targets)
    with pytest.raises(ValueError, match="replicates"):
        estimate([exact("pbn", 5, 500, 0.6)], replicates=5)


def grown(needs, seeds=3, scatter=0.04):
    """Runs whose N* at 0.7 is the need, as far below or above it with every seed; None: below all sets."""
    runs = []
    for (model, k), need in needs.items():
        sizes = (1000, 2000) if need is None else (need // 2, need * 2)
        for s in range(seeds):
            off = scatter * (s - (seeds - 1) / 2)
            for n, share in zip(sizes, (0.85, 0.9) if need is None else (0.6, 0.8), strict=True):
                run = exact(model, k, n, share + off, s, test=f"{model}{k}{s}")
                runs.append(replace(run, data_seed=s, world_seed=s))
    return runs


def test_an_exponent_tells_how_much_it_hinges_on_a_censored_world():
    needs = {("pbn", 5): None, ("pbn", 15): 2000, ("pbn", 31): 2400}
    needs |= {("cnn-lstm", k): 400 * k for k in (5, 15, 31)}
    found = {(e.model, e.rule): e for e in estimate(grown(needs), targets=(0.7,), replicates=200).exponents}
    pbn, cnn, difference = (found[model, "isotonic"] for model in ("pbn", "cnn-lstm", "cnn-lstm - pbn"))
    without = np.log(2400 / 2000) / np.log(31 / 15)
    bound = np.polyfit(np.log([5, 15, 31]), np.log([1000, 2000, 2400]), 1)[0]
    assert (pbn.worlds, pbn.uncensored) == (3, 2)
    slopes = sorted((pbn.value, without, bound))
    assert (pbn.least, pbn.most) == pytest.approx((slopes[0], slopes[-1]), abs=1e-6)
    assert pbn.sensitivity == f"{pbn.least:.2f} to {pbn.most:.2f}"
    assert (cnn.least, cnn.most) == pytest.approx((1, 1))
    assert cnn.sensitivity == cnn.verdict == pbn.verdict == ""
    assert (difference.least, difference.most) == pytest.approx((1 - pbn.most, 1 - pbn.least), abs=1e-6)


def test_a_difference_is_decided_only_if_its_interval_says_so_and_holds_enough():
    far = {("cnn-lstm", k): 40 * k**2 for k in (5, 15, 31)} | {("pbn", k): 400 for k in (5, 15, 31)}
    near = {(model, k): 400 * k for model in ("cnn-lstm", "pbn") for k in (5, 15, 31)}

    def verdicts(needs, seeds=3, **changes):
        runs = [replace(run, **changes) for run in grown(needs, seeds, scatter=0.01)]
        found = estimate(runs, targets=(0.7,), replicates=200)
        both = [*found.exponents, *found.additions]
        return {x.verdict for x in both if x.rule == "isotonic" and " - " in x.model}

    assert verdicts(far) == {"decided"}
    assert verdicts(near) == {"undecided"}
    assert verdicts(far, data_seed=0, world_seed=0) == {"undecided"}  # one data set
    assert verdicts(far, seeds=1) == {"undecided"}
    hinging = {("cnn-lstm", 5): 2000, ("cnn-lstm", 15): 6000, ("cnn-lstm", 31): 9000}
    hinging |= {("pbn", 5): None, ("pbn", 15): 4000, ("pbn", 31): 4400}
    found = estimate(grown(hinging, scatter=0.01), targets=(0.7,), replicates=200)
    (difference,) = (e for e in found.exponents if " - " in e.model and e.rule == "isotonic")
    assert difference.least < 0 < difference.most
    assert difference.verdict == "undecided"


def test_a_difference_of_exponents_is_of_the_worlds_that_both_know():
    growing = {("pbn", 5): 2000, ("pbn", 15): 2400, ("pbn", 31): 16000}
    same = {("cnn-lstm", k): need for (_, k), need in growing.items()}
    fewer = {("cnn-lstm", k): growing["pbn", k] for k in (5, 15)}

    def between(needs):
        found = estimate(grown(needs), targets=(0.7,), replicates=200).exponents
        return [e for e in found if " - " in e.model and e.rule == "isotonic"]

    (alike,), (in_two,) = between(growing | same), between(growing | fewer)
    assert (alike.worlds, in_two.worlds) == (3, 2)
    for difference in (alike, in_two):
        assert abs(difference.value) < 1e-9
        assert difference.verdict == "undecided"
    assert not between(growing | {("cnn-lstm", 60): 2000})


def test_additional_data_and_the_sets_on_which_both_reach():
    needs = {("pbn", 5): None, ("pbn", 31): 2400}
    needs |= {("cnn-lstm", 5): 2000, ("cnn-lstm", 31): 10000, ("cnn-lstm", 60): 40000}
    found = estimate(grown(needs), targets=(0.7, 0.8), replicates=60)
    added = {x.model: x for x in found.additions if (x.target, x.rule) == (0.7, "isotonic")}
    assert {(x.few, x.many) for x in added.values()} == {(5, 31)}  # the worlds that both know
    extents = {model: (x.at_least, x.at_most) for model, x in added.items()}
    assert extents["pbn"] == pytest.approx((1400, 2400))
    assert extents["cnn-lstm"] == pytest.approx((8000, 8000))
    assert extents["cnn-lstm - pbn"] == pytest.approx((5600, 6600))
    assert str(added["pbn"]).startswith("1,400 to 2,400 (")
    assert all(x.low <= x.at_least <= x.at_most <= x.high for x in added.values())
    both = {x.target: x.sets for x in found.both_reach}
    assert both == {0.7: (), 0.8: ()}
    more = grown(needs) + grown({("pbn", 31): 10000})
    assert estimate(more, targets=(0.7,), replicates=60).both_reach[0].sets == ((31, 20000),)


TOLD, UNTOLD = [(-100, 200), (50, np.inf), (-np.inf, -50)], [(-50, np.inf), (-np.inf, 50), (-np.inf, np.inf)]


@pytest.mark.parametrize(("at_least", "at_most"), TOLD + UNTOLD)
def test_a_bound_on_the_far_side_of_zero_tells_nothing(at_least, at_most):
    added = Addition("pbn", False, 0.9, "isotonic", 5, 15, at_least, at_most, at_least, at_most, "items")
    assert added.known == (str(added) != "unknown") == ((at_least, at_most) in TOLD)


def test_accuracies_are_means_over_seeds_by_three_measures():
    runs = [exact("pbn", 5, 500, share, seed) for seed, share in enumerate((0.6, 0.7))]
    runs = [replace(run, validation=run.correct.mean() + 0.1, reweighted=None) for run in runs]
    (cell,) = estimate(runs, replicates=40).accuracies
    assert (cell.model, cell.entities, cell.size, cell.seeds) == ("pbn", 5, 500, 2)
    assert (cell.validation, cell.test) == pytest.approx((0.75, 0.65))
    assert np.isnan(cell.reweighted)
