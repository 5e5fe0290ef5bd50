"""Where an adaptive sweep trains: searches end, whatever the curve, and find what the whole grid finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.complexity import size_search
from simtown.complexity.curves import isotonic
from simtown.complexity.size_search import crossing, first_size, ladder, need, next_size

accuracies = st.floats(0.5, 1.0)
ladders = st.sampled_from([20, 31, 500, 6_000, 60_000]).map(ladder)
firsts = st.floats(1, 1e6)
targets = st.floats(0.51, 0.99)


def search(rungs, curve, target, first, margin=size_search.MARGIN):
    """All that a search trains, in its order."""
    known = {}
    while (n := next_size(rungs, known, target, first, margin)) is not None:
        assert n in rungs
        assert n not in known, "no size is trained twice"
        known[n] = curve[n]
    return known


def test_the_ladder_climbs_in_small_steps_and_holds_the_papers_sizes():
    rungs = np.array(ladder(60_000))
    assert set(rungs) >= {2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000}
    assert rungs[0] == 20
    assert rungs[-1] == 60_000
    assert (rungs % 2 == 0).all(), "the first n examples are balanced"
    assert (rungs[1:] / rungs[:-1]).max() < 1.7
    assert ladder(90)[-1] == 90


@given(ladders, st.data(), targets, firsts, st.integers(0, 2))
def test_a_search_of_a_curve_that_never_falls_ends_at_its_crossing(rungs, data, target, first, margin):
    heights = sorted(data.draw(st.lists(accuracies, min_size=len(rungs), max_size=len(rungs))))
    curve = dict(zip(rungs, heights, strict=True))
    low, high = crossing(search(rungs, curve, target, first, margin), target)
    below = [n for n in rungs if curve[n] < target - 1e-9]
    above = [n for n in rungs if curve[n] >= target]
    assert low == (below[-1] if below else None)
    assert high == (above[0] if above else None)


@given(ladders, st.data(), targets, firsts)
def test_a_search_of_any_curve_ends_with_a_bracket_of_neighbours_or_at_an_end(rungs, data, target, first):
    heights = data.draw(st.lists(accuracies, min_size=len(rungs), max_size=len(rungs)))
    known = search(rungs, dict(zip(rungs, heights, strict=True)), target, first)
    low, high = crossing(known, target)
    if low is None:
        assert high == rungs[0]
    elif high is None:
        assert low == rungs[-1]
    else:
        place = rungs.index(low)
        assert rungs.index(high) == place + 1
        assert set(rungs[max(place - 1, 0) : place + 3]) <= set(known), "one rung beyond either side"


def test_a_dip_above_the_target_sends_the_search_up():
    rungs = ladder(1_000)
    known = {500: 0.80, 700: 0.91, 1_000: 0.88}
    assert next_size(rungs, {500: 0.80, 700: 0.88}, 0.9) == 1_000
    assert crossing(known, 0.9) == (1_000, None)
    assert next_size(rungs, known, 0.9) is None, "the largest size does not reach it"


def test_an_accuracy_on_the_target_reaches_it_whatever_rounding_says():
    assert crossing({10: 0.5, 20: 0.1 + 0.2 + 0.6 - 1e-16}, 0.9) == (10, 20)


BEGINS = [({}, size_search.FIRST), ({(15, True): 600.0}, 1_200)]
BEGINS += [({(15, False): 1_500.0}, 3_000)]  # as many times as many entities
BEGINS += [({(15, False): 1_500.0, (5, False): 500.0 / 3}, 6_000)]  # exponent 2
BEGINS += [({(15, False): 1_500.0, (5, False): 3_000.0}, 1_500)]  # no world needs less for being larger
#: The same world with other seeds, or with a distractor.
BEGINS += [({(15, d): 9.0, (30, d): 700.0}, 700) for d in (False, True)]


@pytest.mark.parametrize(("known", "about"), BEGINS)
def test_a_world_begins_where_the_others_tell_it_to(known, about):
    assert first_size(30, False, known) == pytest.approx(about)


def test_needs_of_a_search_are_those_of_the_whole_curve():
    """Of noisy curves whose truth is known: the rule that reads needs finds the same on a few sizes."""
    rng, rungs = np.random.default_rng(0), ladder(60_000)
    for slope in (1.0, 1.6, 3.0):
        for middle in np.exp(rng.uniform(np.log(100), np.log(20_000), 8)):
            middles = middle * np.exp(0.2 * rng.normal(size=(5, len(rungs))))
            truth = 0.5 + 0.49 / (1 + (middles / np.array(rungs)) ** slope)
            curve = dict(zip(rungs, rng.binomial(2_000, truth).mean(axis=0) / 2_000, strict=True))
            known = search(rungs, curve, 0.9, middle * 3)
            heights = [(np.array(n), np.array([[curve[x] for x in n]])) for n in (rungs, sorted(known))]
            whole, some = (isotonic(*two, np.ones(len(two[0])), np.array([0.9]))[0, 0] for two in heights)
            assert len(known) < len(rungs) / 2
            assert some == whole or abs(np.log(some / whole)) < 0.2
            if 0 < some < np.inf:
                assert abs(np.log(need(known, 0.9) / some)) < 0.5
