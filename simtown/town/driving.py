"""How vehicles and walkers decide: accelerations from what is around them. Plain functions of numbers; :mod:`physics` applies them.

Cars follow the Intelligent Driver Model (Treiber, Hennecke and Helbing 2000, "Congested traffic states in empirical observations
and microscopic simulations") and steer as Stanley did (Thrun et al. 2006). People follow the social force model (Helbing and
Molnár 1995, "Social force model for pedestrian dynamics").
"""

from __future__ import annotations

import math

import numpy as np

#: The driver: greatest comfortable acceleration and braking (m/s²), time headway (s), gap at a standstill (m), exponent.
ACCELERATION, BRAKING, HEADWAY, JAM_GAP, EXPONENT = 1.5, 2.0, 1.2, 2.0, 4
#: The walker: seconds to regain pace, strength (m/s²) and reach (m) of what pushes it away, and how far from an edge it feels it.
RELAXATION, PUSH, REACH = 0.5, 5.0, 0.4
#: What people push is turned by this (radians), so that two who meet head on pass on the right instead of standing.
ASIDE = 0.35


def follow(speed: float, desired: float, gap: float = math.inf, closing: float = 0.0) -> float:
    """The Intelligent Driver Model's acceleration, m/s².

    Args:
        speed: now, m/s.
        desired: on a free road, m/s, above 0.
        gap: metres to the bumper ahead, inf where nothing is.
        closing: how much faster than it one is, m/s.
    """
    free = 1.0 - (max(speed, 0.0) / desired) ** EXPONENT
    if math.isinf(gap):
        return ACCELERATION * free
    wanted = JAM_GAP + max(0.0, speed * HEADWAY + speed * closing / (2.0 * math.sqrt(ACCELERATION * BRAKING)))
    return ACCELERATION * (free - (wanted / max(gap, 0.05)) ** 2)


def steer(heading_error: float, offset: float, speed: float, length: float) -> float:
    """Stanley's rule: the yaw rate (rad/s) that brings a vehicle of a `length` (m) back to its line.

    `heading_error` is the line's direction minus the vehicle's, radians; `offset` how far it is to the left of the line, metres.
    """
    angle = heading_error - math.atan2(1.2 * offset, max(speed, 0.5))
    return speed / max(0.6 * length, 0.8) * math.tan(min(max(angle, -0.5), 0.5))


def walk(velocity: np.ndarray, desired: np.ndarray, away: np.ndarray, gaps: np.ndarray, people: np.ndarray) -> np.ndarray:
    """The social force's acceleration, (2,) m/s².

    Args:
        velocity, desired: (2,) m/s.
        away: (n, 2) unit vectors from everything around.
        gaps: (n,) metres to it.
        people: (n,) bool, whether it is a person.
    """
    c, s = math.cos(ASIDE), math.sin(ASIDE)
    turned = np.where(people[:, None], away @ np.array([[c, s], [-s, c]]), away)
    pushes = PUSH * np.exp(-np.maximum(gaps, -REACH) / REACH)
    wanted: np.ndarray = (desired - velocity) / RELAXATION + (pushes[:, None] * turned).sum(axis=0)
    return wanted
