"""Relations between solid things: on, next to, near, far from, between, facing, overtaking.

Unlike :mod:`simtown.language.meaning.relations`, which data sets ask about, these need shapes and motion, so
only a :class:`~simtown.Town` answers them; no data set's bytes depend on this module. Each is again a signed
distance in metres, positive where the relation holds; within the relation's margin of zero its truth is
undefined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simtown.assets.street.road_surface import NEAR_KERB, NEAR_PAVEMENT, PAVEMENT_EDGE, REACH, ROAD_EDGE
from simtown.language.meaning.limits import BESIDE, CONTACT, FAR, NEAR, SOLID_MARGINS
from simtown.scenes.footprints import depths, hull, separation


@dataclass(frozen=True)
class Solid:
    """A thing as these relations see it.

    Attributes:
        outline: (k, 2) convex, counter-clockwise, metres.
        base: its lowest height.
        top: its height above a point (x, y), nan beside it.
        middle: (2,) its origin.
        front: the direction it looks in, radians.
        track: (t, 2) where its middle was, last one now, or None.
    """

    outline: np.ndarray
    base: float
    top: Callable[[float, float], float]
    middle: np.ndarray
    front: float = 0.0
    track: np.ndarray | None = None


def distance(a: Solid, b: Solid) -> float:
    """Metres between the outlines of two things; negative where they overlap."""
    return separation(a.outline, b.outline)


def on(a: Solid, b: Solid) -> float:
    """Depth of a's middle inside b's outline; negative beside it, or above or below b's top there."""
    depth = float(depths(a.middle[None], b.outline)[0])
    height = b.top(*a.middle)
    if depth < 0 or not np.isfinite(height):
        return -abs(depth)
    off = abs(a.base - height) - CONTACT
    return depth if off <= 0 else -off


def between(a: Solid, b: Solid, c: Solid) -> float:
    """Depth of a's middle in the hull of b and c, where straight lines from b to c run through it."""
    return float(betweens([a], [(b, c)])[0, 0])


def betweens(subjects: list[Solid], pairs: list[tuple[Solid, Solid]]) -> np.ndarray:
    """(m, n) :func:`between` of n things and m pairs of others."""
    middles = np.array([s.middle for s in subjects]).reshape(-1, 2)
    ends = {id(end): end for pair in pairs for end in pair}
    inside = {key: depths(middles, end.outline) for key, end in ends.items()}
    margins = np.empty((len(pairs), len(subjects)))
    for k, (b, c) in enumerate(pairs):
        whole = depths(middles, hull(np.concatenate([c.outline, b.outline])))
        margins[k] = np.minimum(whole, -np.maximum(inside[id(b)], inside[id(c)]))
    return margins


def facing(a: Solid, b: Solid) -> float:
    """Distance inside b's outline at which the line of a's sight passes, seen from a; negative if it misses
    b.
    """
    forward = np.array([np.cos(a.front), np.sin(a.front)])
    to = b.outline - a.middle
    ahead, aside = to @ forward, to @ np.array([-forward[1], forward[0]])
    miss = float(min(aside.max(), -aside.min()))
    if miss <= 0:
        return miss
    after, across = np.roll(ahead, -1), np.roll(aside, -1)
    crosses = (aside < 0) != (across < 0)
    met = ahead[crosses] + (after - ahead)[crosses] * aside[crosses] / (aside - across)[crosses]
    return min(miss, float(met.max()))


def overtaking(a: Solid, b: Solid) -> float:
    """Distance by which a was behind b, or is ahead of it now, whichever is less: positive where it went
    past.

    Both must have moved, the same way; without a track nothing overtakes.
    """
    if a.track is None or b.track is None or len(a.track) < 2 or len(b.track) != len(a.track):
        return -float("inf")
    way_a, way_b = a.track[-1] - a.track[0], b.track[-1] - b.track[0]
    length = float(np.hypot(*way_b))
    if length == 0 or way_a @ way_b <= 0:
        return -float("inf")
    lead = (a.track - b.track) @ (way_b / length)
    return float(min(-lead[0], lead[-1]))


@dataclass(frozen=True)
class SolidRelation:
    """A relation of a subject to an object, or to two.

    `measure` gives the metres by which it holds; within `margin` of zero the truth is undefined.
    """

    name: str
    measure: Callable[..., float]
    margin: float


#: Every relation of solids, by its name.
SOLID_RELATIONS: dict[str, SolidRelation] = {
    name: SolidRelation(name, measure, SOLID_MARGINS[name])
    for name, measure in (
        ("on", on),
        ("next to", lambda a, b: BESIDE - distance(a, b)),
        ("near", lambda a, b: NEAR - distance(a, b)),
        ("far from", lambda a, b: distance(a, b) - FAR),
        ("between", between),
        ("facing", facing),
        ("overtaking", overtaking),
    )
}


def truth(margin: float, least: float) -> bool | None:
    """Whether a relation of this margin holds; None where it is undefined, within `least` of zero."""
    return None if abs(margin) <= least else margin > 0


def _strip(low: float, high: float) -> Solid:
    corners = np.array([[-REACH, low], [REACH, low], [REACH, high], [-REACH, high]])
    return Solid(corners, 0.0, lambda x, y: 0.0, np.array([0.0, (low + high) / 2]))


#: What the ground is made of: things that one can be on.
SURFACES: dict[str, tuple[Solid, ...]] = {
    "road": (_strip(NEAR_KERB, ROAD_EDGE),),
    "sidewalk": (_strip(ROAD_EDGE, PAVEMENT_EDGE), _strip(NEAR_PAVEMENT, NEAR_KERB)),
    "lawn": (_strip(PAVEMENT_EDGE, 130.0), _strip(-40.0, NEAR_PAVEMENT)),
}
