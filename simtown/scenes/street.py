"""The random street behind the road: a row of buildings, trees, mailboxes, furniture, people and clouds.

Things stand in cells, one to a cell, so nothing overlaps and every slot of the batch is one place in the row.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.scenes.weather import WEATHERS
from simtown.streams import Stream

BUILDINGS, LAMPS, PAVEMENT, LAWN, BACK, CLOUDS = 8, 4, 10, 9, 5, 4
#: Prop slots of a sampled street.
SLOTS = BUILDINGS + LAMPS + PAVEMENT + LAWN + BACK + CLOUDS
#: Width of a cell of the pavement, how far a thing may stand from its cell's middle, and the greatest scale of a person.
CELL, SHIFT, TALLEST = 3.0, 0.1, 1.06
#: Where fronts of buildings stand, metres from the road's middle.
FRONT = 10.4
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
        "hedge": numbers(_HEDGES),
        "winter hedge": numbers(_bare(_HEDGES)),
        "cloud": numbers(STREET["cloud"]),
        "lamp": numbers(("street lamp",)),
    }  # fmt: skip


def _bare(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same plants in winter."""
    return tuple(f"{n} bare" if f"{n} bare" in PROPS else n for n in names)


def _reach(name: str) -> float:
    """Greatest distance of a kind's footprint from its middle, metres, however it is turned."""
    corners = np.abs(atlas().bounds[len(ENTITIES) + PROPS.index(name), :, :2]).max(axis=0).astype(np.float64)
    return float(np.sqrt(corners[0] * corners[0] + corners[1] * corners[1]))


def _pick(kinds: np.ndarray, u: np.ndarray) -> np.ndarray:
    return kinds[(u * len(kinds)).astype(np.int64)]


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
    ends = np.cumsum([0, BUILDINGS, LAMPS, PAVEMENT, LAWN, BACK, CLOUDS])
    rows, lamps, walk, lawn, back, sky = (slice(a, b) for a, b in itertools.pairwise(ends))
    snowy = (weather == WEATHERS.index("snow"))[:, None]
    calm = np.isin(weather, [WEATHERS.index(w) for w in ("clear", "cloudy", "dusk", "snow")])[:, None]

    # buildings: side by side from left to right, with small gaps now and then
    shuffled = stream.bits(index, len(kinds["building"]), attempt=2).argsort(axis=1, kind="stable")
    prop[:, rows] = kinds["building"][shuffled[:, :BUILDINGS]]  # no kind twice in a row of houses
    half = atlas().bounds[:, 1, 0][prop[:, rows].astype(np.int64) + len(ENTITIES)].astype(np.float64)
    gaps = np.where(u[:, rows, 1] < 0.55, 0.12, 0.3 + 2.2 * (u[:, rows, 1] - 0.55))
    right = np.cumsum(2 * half + gaps, axis=1)
    whole = right[:, -1:]
    pose[:, rows, 0] = right - half - gaps - whole * 0.5 + 4.0 * (u[:, :1, 2] - 0.5)
    pose[:, rows, 1] = FRONT + 0.8 * u[:, rows, 3]

    # lanterns along the kerb, evenly
    prop[:, lamps] = kinds["lamp"][0]
    pose[:, lamps, 0] = 7.5 * (np.arange(LAMPS) - 1.5) + 4.0 * (u[:, lamps.start : lamps.start + 1, 0] - 0.5)
    pose[:, lamps, 1] = 4.1

    # the pavement: people, furniture, mailboxes, or nothing
    choice = u[:, walk, 0]
    prop[:, walk] = np.select(
        [choice < 0.25, choice < 0.50, choice < 0.66],
        [_pick(kinds["person"], u[:, walk, 1]), _pick(kinds["small"], u[:, walk, 1]), _pick(kinds["mailbox"], u[:, walk, 1])],
        -1,
    )
    pose[:, walk, 0] = CELL * (np.arange(PAVEMENT) - (PAVEMENT - 1) / 2) + 2 * SHIFT * (u[:, walk, 2] - 0.5)
    pose[:, walk, 1] = 5.45 + 0.4 * u[:, walk, 3]
    pose[:, walk, 3] = np.where(choice < 0.25, 6.2 * u[:, walk, 4], 0.3 * (u[:, walk, 4] - 0.5))
    pose[:, walk, 4] = np.where(choice < 0.25, 0.92 + (TALLEST - 0.92) * u[:, walk, 2], 1.0)

    # the strip before the houses, and trees that look over the roofs
    choice = u[:, lawn, 0]
    trees = np.where(snowy, _pick(kinds["winter"], u[:, lawn, 1]), _pick(kinds["tree"], u[:, lawn, 1]))
    low = np.where(snowy, _pick(kinds["winter hedge"], u[:, lawn, 1]), _pick(kinds["hedge"], u[:, lawn, 1]))
    prop[:, lawn] = np.select([choice < 0.36, choice < 0.62], [trees, low], -1)
    pose[:, lawn, 0] = 2.9 * (np.arange(LAWN) - (LAWN - 1) / 2) + 1.2 * (u[:, lawn, 2] - 0.5)
    pose[:, lawn, 1] = 7.7 + 0.5 * u[:, lawn, 3]
    pose[:, lawn, 3] = np.where(choice < 0.36, 6.2 * u[:, lawn, 4], 0.0)
    pose[:, lawn, 4] = np.where(choice < 0.36, 0.7 + 0.3 * u[:, lawn, 3], 1.0)
    prop[:, back] = np.where(snowy, _pick(kinds["winter"], u[:, back, 1]), _pick(kinds["tree"], u[:, back, 1]))
    pose[:, back, 0] = 7.0 * (np.arange(BACK) - (BACK - 1) / 2) + 4.0 * (u[:, back, 2] - 0.5)
    pose[:, back, 1] = 20.0 + 6.0 * u[:, back, 3]
    pose[:, back, 3] = 6.2 * u[:, back, 4]
    pose[:, back, 4] = 1.3 + 0.7 * u[:, back, 3]

    prop[:, sky] = np.where(calm & (u[:, sky, 0] < 0.8), _pick(kinds["cloud"], u[:, sky, 1]), -1)
    pose[:, sky, 0] = 30.0 * (np.arange(CLOUDS) - (CLOUDS - 1) / 2) + 18.0 * (u[:, sky, 2] - 0.5)
    pose[:, sky, 1] = 88.0 + 8.0 * u[:, sky, 3]
    pose[:, sky, 2] = 22.0 + 16.0 * u[:, sky, 4]
    pose[:, sky, 4] = 1.0 + 0.8 * u[:, sky, 3]

    style = (stream.bits(index, SLOTS, attempt=1) >> np.uint64(48)).astype(np.uint16)
    return prop, pose.astype(np.float32), style
