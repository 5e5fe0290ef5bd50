"""Drivers' and walkers' rules, against what their papers derive."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.sparse import csgraph, lil_array

from simtown.town.motion import driving


@given(st.floats(0.1, 0.95), st.floats(3, 20))
def test_equilibrium_gap_is_the_published_one(share, desired):
    """Treiber et al. 2000, equation 7: at v = share v0 and nothing closing, the acceleration is 0 at this
    gap.
    """
    speed = share * desired
    gap = (driving.JAM_GAP + speed * driving.HEADWAY) / math.sqrt(1 - share**driving.EXPONENT)
    assert driving.follow(speed, desired, gap, 0.0) == pytest.approx(0.0, abs=1e-9)
    assert driving.follow(speed, desired, gap * 1.1, 0.0) > 0 > driving.follow(speed, desired, gap * 0.9, 0.0)


def test_a_free_road_brings_the_wanted_speed():
    solution = integrate.solve_ivp(lambda _, v: [driving.follow(v[0], 10.0)], (0, 60), [0.0], max_step=0.1)
    assert (np.diff(solution.y[0]) > -1e-9).all()
    assert solution.y[0, -1] == pytest.approx(10.0, abs=0.05)
    assert driving.follow(0.0, 10.0) == driving.ACCELERATION


@settings(max_examples=25)
@given(st.floats(3, 15), st.floats(20, 100), st.floats(0, 12))
def test_nobody_hits_what_is_ahead(speed, gap, ahead):
    """Followed at the step of the physics, a car behind one that goes on at its speed, or stands, never
    closes the gap.
    """
    tick, v, s = 1 / 60, speed, max(gap, speed**2 / 4)
    for _ in range(60 * 70):
        v = max(v + tick * driving.follow(v, 15.0, s, v - ahead), 0.0)
        s += tick * (ahead - v)
        assert s > 0
    assert v == pytest.approx(min(ahead, 15.0), abs=0.5)


@given(st.floats(-2, 2), st.floats(-0.4, 0.4), st.floats(2, 15))
def test_steering_comes_back_to_the_line(offset, heading, speed):
    tick = 1 / 60
    for _ in range(60 * 15):
        heading += tick * driving.steer(-heading, offset, speed, 4.5)
        offset += tick * speed * math.sin(heading)
    assert abs(offset) < 0.02
    assert abs(heading) < 0.02


def price(rows, row, cost):
    """What a path costs, sidesteps before it begins included."""
    first = rows[0]
    passed = range(min(first, row + 1), max(first, row - 1) + 1) if first != row else ()
    sidestep = sum(driving.SIDESTEP_PRICE + driving.SIDESTEP_SHARE * cost[0, r] for r in passed if r != row)
    changes = np.diff(rows)
    assert (np.abs(changes) <= driving.SWERVE).all()
    return sidestep + cost[np.arange(len(cost)), rows].sum() + driving.SWERVE_PRICE * (changes**2).sum()


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 1000), st.data())
def test_a_path_costs_as_little_as_dijkstras(columns, rows, seed, data):
    row = data.draw(st.integers(0, rows - 1))
    cost = np.random.default_rng(seed).choice([0.0, 0.5, 3.0, 100.0], (columns, rows))
    # nodes: the first column before the path begins, then all columns, then the end
    graph = lil_array((rows * (columns + 1) + 1, rows * (columns + 1) + 1))
    for r in range(rows):
        graph[r, rows + r] = cost[0, r] + 1e-9  # scipy takes 0 for no edge
        for to in {r - 1, r + 1} & set(range(rows)):
            graph[r, to] = driving.SIDESTEP_PRICE + driving.SIDESTEP_SHARE * cost[0, to]
        for k in range(1, columns):
            for to in range(max(r - driving.SWERVE, 0), min(r + driving.SWERVE + 1, rows)):
                change = driving.SWERVE_PRICE * (to - r) ** 2
                graph[k * rows + r, (k + 1) * rows + to] = cost[k, to] + change + 1e-9
        graph[columns * rows + r, (columns + 1) * rows] = 1e-9
    least = csgraph.dijkstra(graph.tocsr(), indices=row)[-1]
    assert price(driving.path(cost, row), row, cost) == pytest.approx(least, abs=1e-6)


def test_walkers_regain_their_pace_and_are_pushed_to_the_right():
    desired, nobody = np.array([1.4, 0.0]), (np.zeros((0, 2)), np.zeros(0))
    assert np.allclose(driving.walk(np.zeros(2), desired, *nobody), desired / driving.RELAXATION)
    assert np.allclose(driving.walk(desired, desired, *nobody), 0.0)
    ahead = driving.walk(desired, desired, np.array([[-1.0, 0.0]]), np.array([0.5]))
    assert ahead[0] < 0
    assert ahead[1] < 0  # right of someone who walks along +x
    far = driving.walk(desired, desired, np.array([[-1.0, 0.0]]), np.array([3.0]))
    assert np.hypot(*far) < 0.05 * np.hypot(*ahead)
