"""Decisions of drivers and walkers: accelerations from what is around them, as plain functions of numbers.

Cars follow the Intelligent Driver Model (Treiber, Hennecke and Helbing 2000, "Congested traffic states in
empirical observations and microscopic simulations") and steer as Stanley did (Thrun et al. 2006). People
take the cheapest path over a small grid ahead of them (dynamic programming), and keep apart from each other
by the social force model (Helbing and Molnár 1995, "Social force model for pedestrian dynamics").
"""

import math

import numpy as np

from simtown import kernels

#: The driver: greatest comfortable acceleration and braking (m/s²), time headway (s), gap at a standstill
#: (m), exponent.
ACCELERATION, BRAKING, HEADWAY, JAM_GAP, EXPONENT = 1.5, 2.0, 1.2, 2.0, 4
#: The walker: seconds to regain pace, strength (m/s²) and reach (m) of the push of another one.
RELAXATION, PUSH, REACH = 0.5, 5.0, 0.4
#: The force between two people is turned by this angle (radians), so that two who meet head on pass each
#: other on the right instead of standing.
ASIDE = 0.35
#: A path over a grid: the most rows by which it changes from one column to the next, the price of a change
#: by one row; the price grows with the square of the change. Before a path begins, a walker may sidestep: the
#: price of a row, and the share of the cost of being there.
SWERVE, SWERVE_PRICE = 4, 0.125
SIDESTEP_PRICE, SIDESTEP_SHARE = 1.0, 0.25


def follow(speed: float, desired: float, gap: float = math.inf, closing: float = 0.0) -> float:
    """The Intelligent Driver Model's acceleration, m/s².

    Args:
        speed: now, m/s.
        desired: on a free road, m/s, above 0.
        gap: metres to the bumper ahead; inf if there is none.
        closing: how much faster than that one the vehicle is, m/s.
    """
    free = 1.0 - (max(speed, 0.0) / desired) ** EXPONENT
    if math.isinf(gap):
        return ACCELERATION * free
    braking_distance = speed * closing / (2.0 * math.sqrt(ACCELERATION * BRAKING))
    desired_gap = JAM_GAP + max(0.0, speed * HEADWAY + braking_distance)
    return ACCELERATION * (free - (desired_gap / max(gap, 0.05)) ** 2)


def steer(heading_error: float, offset: float, speed: float, length: float) -> float:
    """Stanley's rule: the yaw rate, rad/s, that brings a vehicle back to its line.

    Args:
        heading_error: the line's direction minus the vehicle's, radians.
        offset: how far the vehicle is to the left of the line, m.
        speed: of the vehicle, m/s.
        length: of the vehicle, m.
    """
    angle = heading_error - math.atan2(1.2 * offset, max(speed, 0.5))
    return speed / max(0.6 * length, 0.8) * math.tan(min(max(angle, -0.5), 0.5))


def path(cost: np.ndarray, row: int) -> np.ndarray:
    """The cheapest path over a grid, from its first column to its last, by dynamic programming.

    Args:
        cost: (k, r) float64 of being at each of r rows in each of k columns.
        row: where the walker is in the first column.

    Returns:
        (k,) int64 rows; the first is another than `row` if the walker has to sidestep before it goes on.
    """
    taken = np.zeros(len(cost), dtype=np.int64)
    prices = np.array([SWERVE_PRICE, SIDESTEP_PRICE, SIDESTEP_SHARE])
    kernels.call(
        "find_path", cost=np.ascontiguousarray(cost), prices=prices, row=row, swerve=SWERVE, taken=taken
    )
    return taken


def walk(velocity: np.ndarray, desired: np.ndarray, away: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The social force's acceleration, (2,) m/s².

    Args:
        velocity: (2,) m/s, now.
        desired: (2,) m/s, on a free way.
        away: (n, 2) unit vectors from n people around.
        gaps: (n,) metres to them.
    """
    c, s = math.cos(ASIDE), math.sin(ASIDE)
    turned = away @ np.array([[c, s], [-s, c]])
    pushes = PUSH * np.exp(-np.maximum(gaps, -REACH) / REACH)
    acceleration: np.ndarray = (desired - velocity) / RELAXATION + (pushes[:, None] * turned).sum(axis=0)
    return acceleration
