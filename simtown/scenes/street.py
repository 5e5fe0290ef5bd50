"""The random street behind the road: a row of buildings, trees, mailboxes, furniture, people and clouds.

Things stand in cells, one to a cell, so nothing overlaps and every slot of the batch is one place in the row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, mesh_in_pose, pose_of
from simtown.assets.street.people import SIDEWAYS
from simtown.core.exact import inner_kernel, kernel
from simtown.core.streams import Stream, fill, uniform
from simtown.scenes.weather import WEATHER_KINDS

BUILDINGS, LAMPS, PAVEMENT, BACK, CLOUDS = 7, 4, 8, 4, 3
#: Trees stand where two buildings meet, so that they hide no shop; hedges and flowers before all buildings
#: but the outermost.
TREES, HEDGES = BUILDINGS - 1, BUILDINGS - 2
#: Prop slots of a sampled street.
SLOTS = BUILDINGS + LAMPS + PAVEMENT + TREES + HEDGES + BACK + CLOUDS
#: Width of a cell of the pavement, how far a thing may stand from its cell's middle, and the greatest scale
#: of a person.
CELL, SHIFT, TALLEST = 3.0, 0.1, 1.06
#: Where fronts of buildings stand, metres from the road's middle, and the scales between which they vary.
FRONT, LEAST, MOST = 10.4, 0.97, 1.13
_MAILBOXES = ("mailbox", "pillar box")
_HEDGES = ("bush", "hedge", "picket fence", "planter", "lilac planter")
_BARE_TREES, _CLOUDS = (
    np.array([getattr(kind, name) for kind in WEATHER_KINDS]) for name in ("bare_trees", "clouds")
)
_0, _1, _2 = (np.int64(number) for number in range(3))
_LARGEST = np.uint64(2**64 - 1)
_WIDE = ("bus shelter", "fountain", "arm lamp", "street lamp")


class PropKinds(NamedTuple):
    """Numbers of PROPS by the part they play, each (k,) int16.

    Attributes:
        building: houses.
        tree: with leaves.
        winter: trees in snow.
        mailbox: all kinds of them.
        small: furniture that fits into a cell of the pavement.
        person: people.
        sideways: people who stand sideways.
        hedge: hedges, fences and flowers.
        winter_hedge: the same in snow.
        cloud: single clouds.
        lamp: lanterns.
        half: (props,) float64 half the width of every kind, metres.
    """

    building: np.ndarray
    tree: np.ndarray
    winter: np.ndarray
    mailbox: np.ndarray
    small: np.ndarray
    person: np.ndarray
    sideways: np.ndarray
    hedge: np.ndarray
    winter_hedge: np.ndarray
    cloud: np.ndarray
    lamp: np.ndarray
    half: np.ndarray


class Draft(NamedTuple):
    """Memory in which a street is made.

    Attributes:
        bits: (5 SLOTS,) uint64 random words.
        u: (SLOTS, 5) float64 uniform numbers.
        x: (BUILDINGS,) float64 middle of every building, metres.
        half: (BUILDINGS,) float64 half its width.
        gap: (BUILDINGS,) float64 the gap to its right.
        right: (BUILDINGS,) float64 where that gap ends.
    """

    bits: np.ndarray
    u: np.ndarray
    x: np.ndarray
    half: np.ndarray
    gap: np.ndarray
    right: np.ndarray


def draft() -> Draft:
    """Memory for :func:`street_of`, for one thread."""
    return Draft(
        np.zeros(5 * SLOTS, dtype=np.uint64), np.zeros((SLOTS, 5)), *(np.zeros(BUILDINGS) for _ in range(4))
    )


@lru_cache(maxsize=1)
def kinds() -> PropKinds:
    """Everything that a street may have."""

    def numbers(names: tuple[str, ...]) -> np.ndarray:
        return np.array([PROPS.index(n) for n in names], dtype=np.int16)

    leafy = tuple(t for t in STREET["tree"] if not t.endswith(" bare") and t not in _HEDGES)
    small = tuple(
        f
        for f in STREET["furniture"]
        if f not in (*_MAILBOXES, *_WIDE, *_HEDGES) and _reach(f) <= CELL / 2 - SHIFT
    )
    people = tuple(p for p in STREET["person"] if _reach(p) * TALLEST <= CELL / 2 - SHIFT)
    return PropKinds(
        building=numbers(STREET["building"]),
        tree=numbers(leafy),
        winter=numbers(_bare(leafy)),
        mailbox=numbers(_MAILBOXES),
        small=numbers(small),
        person=numbers(people),
        sideways=numbers(SIDEWAYS),
        hedge=numbers(_HEDGES),
        winter_hedge=numbers(_bare(_HEDGES)),
        cloud=numbers(STREET["cloud"]),
        lamp=numbers(("street lamp",)),
        half=atlas().bounds[len(ENTITIES) : len(ENTITIES) + len(PROPS), 1, 0].astype(np.float64),
    )


def _bare(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same plants in winter."""
    return tuple(f"{n} bare" if f"{n} bare" in PROPS else n for n in names)


def _reach(name: str) -> float:
    """Greatest distance of a kind's footprint from its middle, metres, however it is turned and whatever its
    pose.
    """
    poses = {len(ENTITIES) + mesh_in_pose(name, pose) for pose in range(POSES)}
    corners = np.concatenate([atlas().mesh(number).vertices[:, :2] for number in poses])
    return float(np.sqrt((corners * corners).sum(axis=1).max()))


_pose_of = inner_kernel(pose_of)


@inner_kernel
def _pick(numbers, u):  # type: ignore[no-untyped-def]
    return numbers[int(u * len(numbers))]


@inner_kernel
def _facing(person, style, s, sideways):  # type: ignore[no-untyped-def]
    """Yaw of a person by a number in [-1, 1].

    People walk along the pavement; people who stand look more or less at the road.
    """
    pose = _pose_of(style)
    turn = 1.2 * s if pose == 0 else (-1.0 if s < 0 else 1.0) + 0.75 * s if pose == 1 else 0.6 * s
    for kind in sideways:
        if person == kind:
            return turn - 1.1
    return turn


@inner_kernel
def street_of(key, index, weather, kinds, draft, prop, pose, style):  # type: ignore[no-untyped-def]
    """The street of one example, in its weather, into rows of :func:`draw_street`'s arrays."""
    bits, u, x, half, gap, right = draft
    fill(key, index, _0, bits)
    for i in range(SLOTS):
        for k in range(5):
            u[i, k] = uniform(bits[5 * i + k])
    fill(key, index, _1, bits[:SLOTS])
    for i in range(SLOTS):
        style[i] = bits[i] >> np.uint64(48)
        for k in range(4):
            pose[i, k] = 0.0
        pose[i, 4] = 1.0
    trees, hedges = (kinds.winter, kinds.winter_hedge) if _BARE_TREES[weather] else (kinds.tree, kinds.hedge)

    # buildings: side by side from left to right, with small gaps now and then, no kind twice
    fill(key, index, _2, bits[: len(kinds.building)])
    end = 0.0
    for i in range(BUILDINGS):
        least = 0
        for k in range(1, len(kinds.building)):
            if bits[k] < bits[least]:
                least = k
        bits[least] = _LARGEST  # this kind is used
        prop[i] = kinds.building[least]
        scale = LEAST + (MOST - LEAST) * u[i, 4]
        half[i] = kinds.half[prop[i]] * scale
        gap[i] = 0.12 if u[i, 1] < 0.55 else 0.3 + 2.2 * (u[i, 1] - 0.55)
        end += 2 * half[i] + gap[i]
        right[i] = end
        pose[i, 1], pose[i, 4] = FRONT + 0.8 * u[i, 3], scale
    for i in range(BUILDINGS):
        x[i] = right[i] - half[i] - gap[i] - end * 0.5 + 4.0 * (u[0, 2] - 0.5)
        pose[i, 0] = x[i]

    # lanterns along the kerb, evenly
    for i in range(LAMPS):
        slot = BUILDINGS + i
        prop[slot] = kinds.lamp[0]
        pose[slot, 0], pose[slot, 1] = 7.8 * (i - 1.5) + 4.0 * (u[BUILDINGS, 0] - 0.5), 4.1

    # the pavement: people, furniture, mailboxes, or nothing
    for i in range(PAVEMENT):
        slot = BUILDINGS + LAMPS + i
        choice, which, shift, depth, turn = u[slot, 0], u[slot, 1], u[slot, 2], u[slot, 3], u[slot, 4]
        pose[slot, 0] = CELL * (i - (PAVEMENT - 1) / 2) + 2 * SHIFT * (shift - 0.5)
        pose[slot, 1] = 5.45 + 0.4 * depth
        pose[slot, 3] = 0.3 * (turn - 0.5)
        if choice < 0.28:
            prop[slot] = _pick(kinds.person, which)
            pose[slot, 3] = _facing(prop[slot], style[slot], 2 * turn - 1, kinds.sideways)
            pose[slot, 4] = 0.92 + (TALLEST - 0.92) * shift
        elif choice < 0.52:
            prop[slot] = _pick(kinds.small, which)
        else:
            prop[slot] = _pick(kinds.mailbox, which) if choice < 0.70 else -1

    # the strip before the houses, and trees that look over the roofs
    for i in range(TREES):
        slot = BUILDINGS + LAMPS + PAVEMENT + i
        prop[slot] = _pick(trees, u[slot, 1]) if u[slot, 0] < 0.62 else -1
        pose[slot, 0] = x[i] + half[i] + 0.5 * gap[i] + 0.6 * (u[slot, 2] - 0.5)
        pose[slot, 1] = 7.9 + 0.5 * u[slot, 3]
        pose[slot, 3], pose[slot, 4] = 6.2 * u[slot, 4], 0.75 + 0.35 * u[slot, 3]
    for i in range(HEDGES):
        slot = BUILDINGS + LAMPS + PAVEMENT + TREES + i
        prop[slot] = _pick(hedges, u[slot, 1]) if u[slot, 0] < 0.6 else -1
        room = max(half[i + 1] - 1.9, 0.0)  # so much to either side of the middle is free of trees
        pose[slot, 0], pose[slot, 1] = x[i + 1] + room * (2 * u[slot, 2] - 1), 7.3 + 0.4 * u[slot, 3]
    for i in range(BACK):
        slot = BUILDINGS + LAMPS + PAVEMENT + TREES + HEDGES + i
        prop[slot] = _pick(trees, u[slot, 1])
        pose[slot, 0] = 8.5 * (i - (BACK - 1) / 2) + 4.0 * (u[slot, 2] - 0.5)
        pose[slot, 1] = 20.0 + 6.0 * u[slot, 3]
        pose[slot, 3], pose[slot, 4] = 6.2 * u[slot, 4], 1.3 + 0.7 * u[slot, 3]

    for i in range(CLOUDS):
        slot = SLOTS - CLOUDS + i
        prop[slot] = _pick(kinds.cloud, u[slot, 1]) if _CLOUDS[weather] and u[slot, 0] < 0.8 else -1
        pose[slot, 0] = 38.0 * (i - (CLOUDS - 1) / 2) + 18.0 * (u[slot, 2] - 0.5)
        pose[slot, 1] = 88.0 + 8.0 * u[slot, 3]
        pose[slot, 2], pose[slot, 4] = 22.0 + 16.0 * u[slot, 4], 1.0 + 0.8 * u[slot, 3]


@kernel
def _draw_street(key, index, weather, kinds, draft, prop, pose, style):  # type: ignore[no-untyped-def]
    for n in range(len(index)):
        street_of(key, index[n], weather[n], kinds, draft, prop[n], pose[n], style[n])


def draw_street(
    stream: Stream, index: np.ndarray, weather: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Streets of the examples `index`, in their `weather` (trees stand bare in snow).

    Returns:
        prop (n, SLOTS) int16, prop_pose (n, SLOTS, 5) float32, prop_style (n, SLOTS) uint16, as in
        SceneBatch.
    """
    n = len(index)
    prop, pose = np.zeros((n, SLOTS), dtype=np.int16), np.zeros((n, SLOTS, 5), dtype=np.float32)
    style = np.zeros((n, SLOTS), dtype=np.uint16)
    _draw_street(
        stream.key,
        np.ascontiguousarray(index, dtype=np.int64),
        weather.astype(np.uint8),
        kinds(),
        draft(),
        prop,
        pose,
        style,
    )
    return prop, pose, style
