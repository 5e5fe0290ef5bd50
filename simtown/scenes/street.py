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

BUILDINGS, LAMPS, PAVEMENT, LAWN, BACK, CLOUDS = 8, 4, 13, 9, 5, 4
#: Prop slots of a sampled street.
SLOTS = BUILDINGS + LAMPS + PAVEMENT + LAWN + BACK + CLOUDS
#: Where fronts of buildings stand, metres from the road's middle.
FRONT = 9.4
_MAILBOXES = ("mailbox", "pillar box")
_HEDGES = ("bush", "hedge", "picket fence", "planter", "lilac planter")
_WIDE = ("bus shelter", "fountain", "arm lamp", "street lamp")


@lru_cache(maxsize=1)
def _kinds() -> dict[str, np.ndarray]:
    """Numbers of PROPS, by the part they play."""

    def numbers(names: tuple[str, ...]) -> np.ndarray:
        return np.array([PROPS.index(n) for n in names], dtype=np.int16)

    leafy = tuple(t for t in STREET["tree"] if not t.endswith(" bare") and t not in _HEDGES)
    winter = tuple(f"{t} bare" if f"{t} bare" in PROPS else t for t in leafy)
    small = tuple(f for f in STREET["furniture"] if f not in (*_MAILBOXES, *_WIDE, *_HEDGES))
    return {
        "building": numbers(STREET["building"]), "tree": numbers(leafy), "winter": numbers(winter), "mailbox": numbers(_MAILBOXES),
        "small": numbers(small), "person": numbers(STREET["person"]), "hedge": numbers(_HEDGES), "cloud": numbers(STREET["cloud"]),
        "lamp": numbers(("street lamp",)),
    }  # fmt: skip


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
    prop[:, rows] = _pick(kinds["building"], u[:, rows, 0])
    half = atlas().bounds[:, 1, 0][prop[:, rows].astype(np.int64) + len(ENTITIES)].astype(np.float64)
    gaps = np.where(u[:, rows, 1] < 0.55, 0.12, 0.3 + 2.2 * (u[:, rows, 1] - 0.55))
    right = np.cumsum(2 * half + gaps, axis=1)
    whole = right[:, -1:]
    pose[:, rows, 0] = right - half - gaps - whole * 0.5 + 4.0 * (u[:, :1, 2] - 0.5)
    pose[:, rows, 1] = FRONT + 0.8 * u[:, rows, 3]

    # lanterns along the kerb, evenly
    prop[:, lamps] = kinds["lamp"][0]
    pose[:, lamps, 0] = 7.5 * (np.arange(LAMPS) - 1.5) + 4.0 * (u[:, lamps.start : lamps.start + 1, 0] - 0.5)
    pose[:, lamps, 1] = 4.25

    # the pavement: people, furniture, mailboxes, or nothing
    choice = u[:, walk, 0]
    prop[:, walk] = np.select(
        [choice < 0.20, choice < 0.40, choice < 0.54],
        [_pick(kinds["person"], u[:, walk, 1]), _pick(kinds["small"], u[:, walk, 1]), _pick(kinds["mailbox"], u[:, walk, 1])],
        -1,
    )
    pose[:, walk, 0] = 1.9 * (np.arange(PAVEMENT) - (PAVEMENT - 1) / 2) + 0.9 * (u[:, walk, 2] - 0.5)
    pose[:, walk, 1] = 5.0 + 1.1 * u[:, walk, 3]
    pose[:, walk, 3] = np.where(choice < 0.20, 6.2 * u[:, walk, 4], 0.3 * (u[:, walk, 4] - 0.5))
    pose[:, walk, 4] = np.where(choice < 0.20, 0.92 + 0.16 * u[:, walk, 2], 1.0)

    # the strip before the houses, and trees that look over the roofs
    choice = u[:, lawn, 0]
    trees = np.where(snowy, _pick(kinds["winter"], u[:, lawn, 1]), _pick(kinds["tree"], u[:, lawn, 1]))
    prop[:, lawn] = np.select([choice < 0.42, choice < 0.66], [trees, _pick(kinds["hedge"], u[:, lawn, 1])], -1)
    pose[:, lawn, 0] = 2.9 * (np.arange(LAWN) - (LAWN - 1) / 2) + 1.2 * (u[:, lawn, 2] - 0.5)
    pose[:, lawn, 1] = 7.3 + 0.9 * u[:, lawn, 3]
    pose[:, lawn, 3] = np.where(choice < 0.42, 6.2 * u[:, lawn, 4], 0.0)
    pose[:, lawn, 4] = np.where(choice < 0.42, 0.75 + 0.4 * u[:, lawn, 3], 1.0)
    prop[:, back] = np.where(snowy, _pick(kinds["winter"], u[:, back, 1]), _pick(kinds["tree"], u[:, back, 1]))
    pose[:, back, 0] = 7.0 * (np.arange(BACK) - (BACK - 1) / 2) + 4.0 * (u[:, back, 2] - 0.5)
    pose[:, back, 1] = 19.0 + 6.0 * u[:, back, 3]
    pose[:, back, 3] = 6.2 * u[:, back, 4]
    pose[:, back, 4] = 1.3 + 0.7 * u[:, back, 3]

    prop[:, sky] = np.where(calm & (u[:, sky, 0] < 0.8), _pick(kinds["cloud"], u[:, sky, 1]), -1)
    pose[:, sky, 0] = 30.0 * (np.arange(CLOUDS) - (CLOUDS - 1) / 2) + 18.0 * (u[:, sky, 2] - 0.5)
    pose[:, sky, 1] = 88.0 + 8.0 * u[:, sky, 3]
    pose[:, sky, 2] = 22.0 + 16.0 * u[:, sky, 4]
    pose[:, sky, 4] = 1.0 + 0.8 * u[:, sky, 3]

    style = (stream.bits(index, SLOTS, attempt=1) >> np.uint64(48)).astype(np.uint16)
    return prop, pose.astype(np.float32), style
