"""The random street behind the road: a row of buildings, trees, mailboxes, furniture, people and clouds.

Things stand in cells, one to a cell, so nothing overlaps and every slot of the batch is one place in the row.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, mesh_in_pose, pose_of
from simtown.assets.street.people import SIDEWAYS
from simtown.scenes.weather import WEATHERS
from simtown.streams import Stream

BUILDINGS, LAMPS, PAVEMENT, BACK, CLOUDS = 7, 4, 8, 4, 3
#: Trees stand where two buildings meet, so that they hide no shop; hedges and flowers before all buildings but the outermost.
TREES, HEDGES = BUILDINGS - 1, BUILDINGS - 2
#: Prop slots of a sampled street.
SLOTS = BUILDINGS + LAMPS + PAVEMENT + TREES + HEDGES + BACK + CLOUDS
#: Width of a cell of the pavement, how far a thing may stand from its cell's middle, and the greatest scale of a person.
CELL, SHIFT, TALLEST = 3.0, 0.1, 1.06
#: Where fronts of buildings stand, metres from the road's middle, and the scales between which they vary.
FRONT, LEAST, MOST = 10.4, 0.97, 1.13
_MAILBOXES = ("mailbox", "pillar box")
_HEDGES = ("bush", "hedge", "picket fence", "planter", "lilac planter")
_WIDE = ("bus shelter", "fountain", "arm lamp", "street lamp")


@lru_cache(maxsize=1)
def _kinds() -> dict[str, np.ndarray]:
    """Numbers of PROPS, by the part they play."""

    def numbers(names: tuple[str, ...]) -> np.ndarray:
        return np.array([PROPS.index(n) for n in names], dtype=np.int16)

    leafy = tuple(t for t in STREET["tree"] if not t.endswith(" bare") and t not in _HEDGES)
    small = tuple(f for f in STREET["furniture"] if f not in (*_MAILBOXES, *_WIDE, *_HEDGES) and _reach(f) <= CELL / 2 - SHIFT)
    people = tuple(p for p in STREET["person"] if _reach(p) * TALLEST <= CELL / 2 - SHIFT)
    return {
        "building": numbers(STREET["building"]),
        "tree": numbers(leafy),
        "winter": numbers(_bare(leafy)),
        "mailbox": numbers(_MAILBOXES),
        "small": numbers(small),
        "person": numbers(people),
        "sideways": numbers(SIDEWAYS),
        "hedge": numbers(_HEDGES),
        "winter hedge": numbers(_bare(_HEDGES)),
        "cloud": numbers(STREET["cloud"]),
        "lamp": numbers(("street lamp",)),
    }  # fmt: skip


def _bare(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same plants in winter."""
    return tuple(f"{n} bare" if f"{n} bare" in PROPS else n for n in names)


def _reach(name: str) -> float:
    """Greatest distance of a kind's footprint from its middle, metres, however it is turned and whatever its pose."""
    poses = {len(ENTITIES) + mesh_in_pose(name, pose) for pose in range(POSES)}
    corners = np.concatenate([atlas().mesh(number).vertices[:, :2] for number in poses])
    return float(np.sqrt((corners * corners).sum(axis=1).max()))


def _pick(kinds: np.ndarray, u: np.ndarray) -> np.ndarray:
    return kinds[(u * len(kinds)).astype(np.int64)]


def _facing(person: np.ndarray, style: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Yaws of people by (…) numbers in [-1, 1]: who walks goes along the pavement, whoever stands looks more or less at the road."""
    along = np.where(s < 0, -1.0, 1.0) + 0.75 * s
    turn = np.choose(pose_of(style), [1.2 * s, along, 0.6 * s])
    return turn - np.where(np.isin(person, _kinds()["sideways"]), 1.1, 0.0)


def draw_street(stream: Stream, index: np.ndarray, weather: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Streets of the examples `index`, in their `weather` (trees stand bare in snow).

    Returns:
        prop (n, SLOTS) int16, prop_pose (n, SLOTS, 5) float32, prop_style (n, SLOTS) uint16, as in SceneBatch.
    """
    n, kinds = len(index), _kinds()
    u = stream.uniform(index, SLOTS * 5).reshape(n, SLOTS, 5)
    prop = np.full((n, SLOTS), -1, dtype=np.int16)
    pose = np.zeros((n, SLOTS, 5))
    pose[:, :, 4] = 1.0
    style = (stream.bits(index, SLOTS, attempt=1) >> np.uint64(48)).astype(np.uint16)
    ends = np.cumsum([0, BUILDINGS, LAMPS, PAVEMENT, TREES, HEDGES, BACK, CLOUDS])
    rows, lamps, walk, trees, hedges, back, sky = (slice(a, b) for a, b in itertools.pairwise(ends))
    snowy = (weather == WEATHERS.index("snow"))[:, None]
    calm = np.isin(weather, [WEATHERS.index(w) for w in ("clear", "dusk", "snow")])[:, None]

    # buildings: side by side from left to right, with small gaps now and then
    shuffled = stream.bits(index, len(kinds["building"]), attempt=2).argsort(axis=1, kind="stable")
    prop[:, rows] = kinds["building"][shuffled[:, :BUILDINGS]]  # no kind twice in a row of houses
    pose[:, rows, 4] = LEAST + (MOST - LEAST) * u[:, rows, 4]
    half = atlas().bounds[:, 1, 0][prop[:, rows].astype(np.int64) + len(ENTITIES)].astype(np.float64) * pose[:, rows, 4]
    gaps = np.where(u[:, rows, 1] < 0.55, 0.12, 0.3 + 2.2 * (u[:, rows, 1] - 0.55))
    right = np.cumsum(2 * half + gaps, axis=1)
    pose[:, rows, 0] = right - half - gaps - right[:, -1:] * 0.5 + 4.0 * (u[:, :1, 2] - 0.5)
    pose[:, rows, 1] = FRONT + 0.8 * u[:, rows, 3]

    # lanterns along the kerb, evenly
    prop[:, lamps] = kinds["lamp"][0]
    pose[:, lamps, 0] = 7.8 * (np.arange(LAMPS) - 1.5) + 4.0 * (u[:, lamps.start : lamps.start + 1, 0] - 0.5)
    pose[:, lamps, 1] = 4.1

    # the pavement: people, furniture, mailboxes, or nothing
    choice = u[:, walk, 0]
    prop[:, walk] = np.select(
        [choice < 0.28, choice < 0.52, choice < 0.70],
        [_pick(kinds["person"], u[:, walk, 1]), _pick(kinds["small"], u[:, walk, 1]), _pick(kinds["mailbox"], u[:, walk, 1])],
        -1,
    )
    pose[:, walk, 0] = CELL * (np.arange(PAVEMENT) - (PAVEMENT - 1) / 2) + 2 * SHIFT * (u[:, walk, 2] - 0.5)
    pose[:, walk, 1] = 5.45 + 0.4 * u[:, walk, 3]
    pose[:, walk, 3] = np.where(choice < 0.28, _facing(prop[:, walk], style[:, walk], 2 * u[:, walk, 4] - 1), 0.3 * (u[:, walk, 4] - 0.5))
    pose[:, walk, 4] = np.where(choice < 0.28, 0.92 + (TALLEST - 0.92) * u[:, walk, 2], 1.0)

    # the strip before the houses, and trees that look over the roofs
    wild = np.where(snowy, _pick(kinds["winter"], u[:, trees, 1]), _pick(kinds["tree"], u[:, trees, 1]))
    prop[:, trees] = np.where(u[:, trees, 0] < 0.62, wild, -1)
    pose[:, trees, 0] = (pose[:, rows, 0] + half)[:, :-1] + 0.5 * gaps[:, :-1] + 0.6 * (u[:, trees, 2] - 0.5)
    pose[:, trees, 1] = 7.9 + 0.5 * u[:, trees, 3]
    pose[:, trees, 3] = 6.2 * u[:, trees, 4]
    pose[:, trees, 4] = 0.75 + 0.35 * u[:, trees, 3]
    low = np.where(snowy, _pick(kinds["winter hedge"], u[:, hedges, 1]), _pick(kinds["hedge"], u[:, hedges, 1]))
    prop[:, hedges] = np.where(u[:, hedges, 0] < 0.6, low, -1)
    room = np.maximum(half[:, 1:-1] - 1.9, 0.0)  # so much to either side of the middle is free of trees
    pose[:, hedges, 0] = pose[:, rows, 0][:, 1:-1] + room * (2 * u[:, hedges, 2] - 1)
    pose[:, hedges, 1] = 7.3 + 0.4 * u[:, hedges, 3]
    prop[:, back] = np.where(snowy, _pick(kinds["winter"], u[:, back, 1]), _pick(kinds["tree"], u[:, back, 1]))
    pose[:, back, 0] = 8.5 * (np.arange(BACK) - (BACK - 1) / 2) + 4.0 * (u[:, back, 2] - 0.5)
    pose[:, back, 1] = 20.0 + 6.0 * u[:, back, 3]
    pose[:, back, 3] = 6.2 * u[:, back, 4]
    pose[:, back, 4] = 1.3 + 0.7 * u[:, back, 3]

    prop[:, sky] = np.where(calm & (u[:, sky, 0] < 0.8), _pick(kinds["cloud"], u[:, sky, 1]), -1)
    pose[:, sky, 0] = 38.0 * (np.arange(CLOUDS) - (CLOUDS - 1) / 2) + 18.0 * (u[:, sky, 2] - 0.5)
    pose[:, sky, 1] = 88.0 + 8.0 * u[:, sky, 3]
    pose[:, sky, 2] = 22.0 + 16.0 * u[:, sky, 4]
    pose[:, sky, 4] = 1.0 + 0.8 * u[:, sky, 3]

    return prop, pose.astype(np.float32), style
