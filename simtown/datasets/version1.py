"""Data sets of version 1 of the world: what their shards do not have, and what their numbers mean today.

Entities, relations, weathers and phrasings keep their numbers in every version. Street kinds are numbered
group by group, so their numbers change when a group grows; here they are listed by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from simtown.assets.catalogue import PROPS

#: Prop slots of a scene.
SLOTS = 40
#: Street kinds by number.
PROP_NAMES: tuple[str, ...] = (
    "cottage", "gabled house", "bungalow", "villa", "timbered house", "canal house",
    "town house", "blue town house", "terrace", "bakery", "cafe", "grocer", "bookshop", "florist",
    "corner shop", "apartments", "tall apartments", "mansion flats", "office tower", "hotel", "bank",
    "garage", "fire station", "church", "town hall", "school", "cinema", "market hall", "round tree",
    "round tree bare", "poplar", "poplar bare", "birch", "birch bare", "oak", "oak bare", "apple tree",
    "apple tree bare", "willow", "willow bare", "bush", "bush bare", "hedge", "hedge bare", "conifer",
    "spruce", "pine", "mailbox", "pillar box", "street lamp", "arm lamp", "hydrant", "bench", "picket fence",
    "bin", "phone box", "bus stop", "bus shelter", "stop sign", "speed-limit sign", "crossing sign",
    "parking meter", "planter", "lilac planter", "bollard", "newspaper stand", "news kiosk", "cafe table",
    "blue cafe table", "traffic light", "street clock", "sandwich board", "fountain", "woman",
    "woman with black hair", "man", "man with black hair", "child", "elder with cane", "grandmother",
    "jogger", "person with dog", "person with umbrella", "person with pram", "postman", "gardener",
    "small cloud", "long cloud", "tall cloud",
)  # fmt: skip


@lru_cache(maxsize=1)
def _numbers() -> np.ndarray:
    """Today's number of every street kind of version 1; the last entry is for -1, the empty slot."""
    return np.array(
        [PROPS.index(name) if name in PROPS else -1 for name in PROP_NAMES] + [-1], dtype=np.int16
    )


def read(stored: Callable[[str, Any], np.ndarray], name: str, rows: Any) -> np.ndarray:
    """Rows of an array of a shard of version 1 in today's form.

    Vehicles have their own paint, and street kinds have today's numbers. A number that is no street kind of
    version 1 becomes one that is none in any version.

    Args:
        stored: reads rows of an array by its name, as they are stored.
        name: of the array.
        rows: to read.
    """
    if name == "scene/paint":
        return np.full(stored("scene/entity", rows).shape, -1, dtype=np.int8)
    values = stored(name, rows)
    if name != "scene/prop":
        return values
    exists = (values >= -1) & (values < len(PROP_NAMES))
    return np.where(exists, _numbers()[np.where(exists, values, -1)], np.int16(np.iinfo(np.int16).max))
