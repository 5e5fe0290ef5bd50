"""The random street behind the road: a row of buildings, trees, mailboxes, furniture, people and clouds.

Things stand in cells, one to a cell, so nothing overlaps and every slot of the batch is one place in the row.
"""

from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from simtown import kernels
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, mesh_in_pose
from simtown.assets.palette import TINTS
from simtown.assets.street.people import SIDEWAYS
from simtown.core.streams import Stream
from simtown.scenes.weather import BARE_TREES, HAS_CLOUDS

BUILDINGS, LAMPS, PAVEMENT, BACK, CLOUDS = 7, 4, 8, 4, 3
#: Trees stand where two buildings meet, so that they hide no shop; hedges and flowers before all buildings
#: but the outermost.
TREES, HEDGES = BUILDINGS - 1, BUILDINGS - 2
#: Prop slots of a sampled street.
SLOTS = BUILDINGS + LAMPS + PAVEMENT + TREES + HEDGES + BACK + CLOUDS
#: The slots of the pavement's cells, and all that are before or between the buildings.
PAVEMENT_SLOTS = range(BUILDINGS + LAMPS, BUILDINGS + LAMPS + PAVEMENT)
ROADSIDE_SLOTS = range(BUILDINGS, SLOTS - BACK - CLOUDS)
#: Width of a cell of the pavement, how far a thing may stand from its cell's middle, and the greatest scale
#: of a person.
CELL, SHIFT, TALLEST = 3.0, 0.1, 1.06
#: Everything that a street may have, as :func:`kernel_kinds` names it.
PropKinds = dict[str, Any]
#: Where fronts of buildings stand, metres from the road's middle, and the scales between which they vary.
FRONT, LEAST, MOST = 10.4, 0.97, 1.13
_MAILBOXES = ("mailbox", "pillar box")
_HEDGES = ("bush", "hedge", "picket fence", "planter", "lilac planter")
_WIDE = ("bus shelter", "fountain", "arm lamp", "street lamp")


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


@lru_cache(maxsize=1)
def kernel_kinds() -> PropKinds:
    """Everything that a street may have, and what weathers do to it, as the kernels take them.

    Numbers of PROPS stand by the part they play, each (k,) int16: `tree` has leaves and `winter` is the same
    in snow, `small` furniture fits into a cell of the pavement, `sideways` are people who stand so. Half the
    width of every kind, metres, is `prop_half`, (props,) float64.
    """
    leafy = tuple(t for t in STREET["tree"] if not t.endswith(" bare") and t not in _HEDGES)
    large = {*_MAILBOXES, *_WIDE, *_HEDGES}
    names = {
        "building": STREET["building"],
        "tree": leafy,
        "winter": _bare(leafy),
        "mailbox": _MAILBOXES,
        "small": [f for f in STREET["furniture"] if f not in large and _reach(f) <= CELL / 2 - SHIFT],
        "person": [p for p in STREET["person"] if _reach(p) * TALLEST <= CELL / 2 - SHIFT],
        "sideways": SIDEWAYS,
        "hedge": _HEDGES,
        "winter_hedge": _bare(_HEDGES),
        "cloud": STREET["cloud"],
        "lamp": ("street lamp",),
    }
    return {
        **{part: np.array([PROPS.index(n) for n in kinds], dtype=np.int16) for part, kinds in names.items()},
        "prop_half": atlas().bounds[len(ENTITIES) : len(ENTITIES) + len(PROPS), 1, 0].astype(np.float64),
        "tints": TINTS,
        "poses": POSES,
        "bare_trees": np.array(BARE_TREES),
        "has_clouds": np.array(HAS_CLOUDS),
    }


@lru_cache(maxsize=1)
def pavement_kinds() -> frozenset[int]:
    """Numbers of the kinds of PROPS that fit into a cell of the pavement."""
    parts = [kernel_kinds()[part].tolist() for part in ("person", "small", "mailbox")]
    return frozenset([*chain(*parts), *map(PROPS.index, STREET["animal"])])


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
    kernels.call(
        "draw_streets",
        **kernel_kinds(),
        key=stream.key,
        index=np.ascontiguousarray(index, dtype=np.int64),
        weather=weather.astype(np.uint8),
        prop=prop,
        prop_pose=pose,
        prop_style=style,
    )
    return prop, pose, style
