"""The colours that a viewer sees of vehicles, and so the true distribution of each kind's colours.

The paints of a kind's mesh are fixed, except for its body, whose paint a scene may exchange. Which of them
face the viewer depends on the vehicle's place and heading in the latent scene. Tyres, glass, lamps and
chassis are not paint, and people on a vehicle are not part of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from simtown import kernels
from simtown.assets.atlas import NO_PAINT, atlas
from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import COLOUR_WORDS, MATERIALS
from simtown.language.meaning.limits import CLEAR_COLOUR
from simtown.scenes.scene import SceneBatch

#: Every colour word, in the order of the palette's table.
COLOURS: tuple[str, ...] = tuple(COLOUR_WORDS)
#: (materials, colours) float64, 1 where a material is a paint of that colour.
_SHOWN = np.array(
    [[material.name in paints for paints in COLOUR_WORDS.values()] for material in MATERIALS], float
)
#: A colour that is seen more than this names a vehicle, also where its body has another.
_NAMING = 0.25
#: Shares are added up as whole numbers of this part of one.
_UNITS = 2**32


def seen(scenes: SceneBatch) -> np.ndarray:
    """Shares of each colour in the paint that faces the viewer: (n, v, c) float64.

    Rows sum to 1, or are zeros if no paint has the name of a colour. A triangle counts by its solid angle,
    even if something hides it.
    """
    shares = np.zeros((*scenes.entity.shape, len(COLOURS)))
    kernels.call(
        "see_colours",
        **_faces(),
        entity=scenes.entity.astype(np.int64),
        pose=np.ascontiguousarray(scenes.pose, dtype=np.float32),
        camera=np.ascontiguousarray(scenes.camera, dtype=np.float32),
        body=colour_of()[scenes.body_paints()],
        shares=shares,
    )
    return shares


@cache
def _faces() -> dict[str, np.ndarray]:
    """The painted faces of all vehicles: middles, areas times normals, and colours; -1 is the body's."""
    town = atlas()
    every = slice(0, town.triangle_start[len(ENTITIES)])
    colour = np.where(town.body[every], np.int8(-1), colour_of()[town.materials[every]])
    painted = ((colour >= 0) | town.body[every]) & ~town.people[every]
    p, q, r = (town.vertices[town.triangles[every][painted, k]].astype(np.float64) for k in range(3))
    start = np.concatenate([[0], np.cumsum(painted)])[town.triangle_start[: len(ENTITIES) + 1]]
    return {
        "start": start.astype(np.int64), "middle": (p + q + r) / 3, "area": np.cross(q - p, r - p) / 2,
        "colour": colour[painted],
    }  # fmt: skip


@cache
def colour_of() -> np.ndarray:
    """(256,) int8 place in COLOURS of every paint or other material, -1 if it has no name of a colour."""
    table = np.full(NO_PAINT + 1, -1, dtype=np.int8)
    table[: len(MATERIALS)] = np.where(_SHOWN.any(axis=1), _SHOWN.argmax(axis=1), -1)
    return table


def clear(shares: np.ndarray, body: np.ndarray) -> np.ndarray:
    """(..., c) bool: where `body`, (..., c) bool, marks a colour that the shares of :func:`seen` make clear.

    No other colour may be more, as the white box of a blue truck is.
    """
    enough = (shares >= CLEAR_COLOUR) & (shares == shares.max(axis=-1, keepdims=True))
    return np.asarray(body & enough)


def named(scenes: SceneBatch) -> np.ndarray:
    """:func:`seen` for the colours that name a vehicle: of its body, the commonest, those of a quarter."""
    shares, present = seen(scenes), scenes.entity >= 0
    body = np.zeros(shares.shape, dtype=bool)
    body[present] = _SHOWN[scenes.body_paints()[present]] > 0
    shares[~(body | (shares > _NAMING) | (shares == shares.max(axis=2, keepdims=True)))] = 0
    whole = shares.sum(axis=2, keepdims=True)
    return np.divide(shares, whole, out=shares, where=whole > 0)


def by_kind(entity: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(entities, c) float64: the mean of :func:`seen` over all vehicles of each kind, NaN if there are none.

    This is the true distribution of the colours that people see of a kind.
    """
    count = np.bincount(entity[entity >= 0], minlength=len(ENTITIES))[:, None]
    with np.errstate(invalid="ignore"):
        return np.asarray(colour_sums(entity, shares) / count / _UNITS)


def colour_sums(entity: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(entities, c) int64: the sum of shares over all vehicles of each kind, in units of 2^-32.

    They are whole numbers, so the sums of the parts of a split add up to those of the split in any order.
    """
    present = entity >= 0
    sums = np.zeros((len(ENTITIES), len(COLOURS)), dtype=np.int64)
    np.add.at(sums, entity[present].astype(np.int64), np.rint(shares[present] * _UNITS).astype(np.int64))
    return sums
