"""Drivers' and walkers' rules, against what their papers derive."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from simtown.town import driving

quick = settings(max_examples=100)


@quick
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
    solution = integrate.solve_ivp(lambda _, v: [driving.follow(v[0], 10.0)], (0, 60), [0.0], max_step=0.1).y[
        0
    ]
    assert (np.diff(solution) > -1e-9).all()
    assert solution[-1] == pytest.approx(10.0, abs=0.05)
    assert driving.follow(0.0, 10.0) == driving.ACCELERATION


@settings(quick, max_examples=25)
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


@quick
@given(st.floats(-2, 2), st.floats(-0.4, 0.4), st.floats(2, 15))
def test_steering_comes_back_to_the_line(offset, heading, speed):
    tick = 1 / 60
    for _ in range(60 * 15):
        heading += tick * driving.steer(-heading, offset, speed, 4.5)
        offset += tick * speed * math.sin(heading)
    assert abs(offset) < 0.02
    assert abs(heading) < 0.02


def test_walkers_regain_their_pace_and_are_pushed_to_the_right():
    desired = np.array([1.4, 0.0])
    none = np.zeros((0, 2)), np.zeros(0), np.zeros(0, dtype=bool)
    assert np.allclose(driving.walk(np.zeros(2), desired, *none), desired / driving.RELAXATION)
    assert np.allclose(driving.walk(desired, desired, *none), 0.0)
    for person in (True, False):
        ahead = driving.walk(desired, desired, np.array([[-1.0, 0.0]]), np.array([0.5]), np.array([person]))
        assert ahead[0] < 0
        assert (ahead[1] < 0) == person  # right of someone who walks along +x
        far = driving.walk(desired, desired, np.array([[-1.0, 0.0]]), np.array([3.0]), np.array([person]))
        assert np.hypot(*far) < 0.05 * np.hypot(*ahead)
