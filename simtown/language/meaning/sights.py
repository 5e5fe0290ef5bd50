"""Which things beside the road can be seen, so that programs may count and name them.

A thing is seen if enough of it shows: in pixels of the nominal picture, and as a share of its outline within
the picture, through fog that is thin enough. It is absent if nothing of it shows, and in between a question
must not hang on it. What hides what is found from the scene alone, by outlines from front to back
(simtown/kernels/processor/sights.hpp).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np

from simtown import kernels
from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.core.exact import sincos
from simtown.language.meaning.limits import THING_LIGHT, THING_PIXELS, THING_SHARE
from simtown.language.meaning.nouns import called_by, perhaps_called_by
from simtown.scenes.camera import NOMINAL, WIDEST
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import street_shapes
from simtown.scenes.weather import FOG_THICK, WEATHERS


def street_sights(scenes: SceneBatch, size: tuple[int, int] = NOMINAL) -> np.ndarray:
    """Which street things are seen, in pictures of the shape of `size` (width and height, pixels).

    Returns:
        (n, p) int8: 1 where a prop is seen, 0 where it is hardly seen, -1 where there is none in sight.
    """
    pixels, whole = street_pixels(scenes, size)
    sure = (pixels >= THING_PIXELS) & (pixels >= THING_SHARE * whole) & (_light(scenes) >= THING_LIGHT)
    return np.where(sure, 1, np.where(pixels > 0, 0, -1)).astype(np.int8)


def _light(scenes: SceneBatch) -> np.ndarray:
    """(n, p) float64 share of each prop's light that comes through fog."""
    x, y, _, yaw = scenes.camera.astype(np.float64)[:, :4, None].transpose(1, 0, 2)
    s, c = sincos(yaw)
    ahead = (scenes.prop_pose[..., 1] - y) * c - (scenes.prop_pose[..., 0] - x) * s
    low, high = FOG_THICK
    thick = np.where(scenes.weather == WEATHERS.index("fog"), low + (high - low) * scenes.intensity, 0.0)
    return np.asarray(np.exp(-np.minimum((thick[:, None] * ahead) ** 4, 700.0)))


def street_pixels(scenes: SceneBatch, size: tuple[int, int] = NOMINAL) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of street things, counted in a picture of the shape of `size` with about as many pixels as the
    nominal one. Runs without the GIL.

    Returns:
        seen: (n, p) float32 pixels of each prop that nothing hides, in those of the nominal picture.
        whole: (n, p) float32 pixels of its outline within the picture, hidden parts included.
    """
    wide = size[0] / size[1]
    height = round(float(np.sqrt(NOMINAL[0] * NOMINAL[1] / wide)))
    width = round(height * wide)
    meshes, v = scenes.meshes(), scenes.entity.shape[1]
    seen, whole = np.zeros((2, *meshes.shape), dtype=np.float32)
    kernels.call(
        "see_streets",
        **street_shapes(),
        mesh=meshes,
        pose=scenes.mesh_poses(),
        camera=np.ascontiguousarray(scenes.camera, dtype=np.float32),
        width=width,
        height=height,
        seen=seen,
        whole=whole,
    )
    scale = np.float32((NOMINAL[0] / min(width, WIDEST * height)) ** 2)
    return scale * seen[:, v:], scale * whole[:, v:]


def also_shown(kinds: Collection[str]) -> frozenset[str]:
    """Kinds that could be taken for such things, or whose own meshes show some: a bicycle has a rider.

    Where one of these is in sight, how many things of `kinds` the picture shows is not clear.
    """
    alike = [
        others for things, others in (*_alike(), (STREET["person"], _with_people())) if {*things} & {*kinds}
    ]
    return frozenset().union(*alike) - frozenset(kinds)


#: People who may sit on a bench of their own.
_SITTING = ("man with black hair", "elder with cane", "grandmother", "person with pram")
#: Street things, and what could be taken for them or has some.
_ALIKE = (
    (STREET["tree"], ("square", "park")),
    (("dog",), ("person with dog",)),
    (("duck",), ("park",)),
    (("horse",), ("horse cart",)),
    (("cow",), ("cattle truck",)),
    (("bench",), ("square", "park", "bus shelter", *_SITTING)),
    (("fountain", "planter", "lilac planter"), ("square",)),
    (("stop sign",), ("school bus",)),
)


@cache
def _alike() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Of all street things what could be taken for them."""
    return (*_ALIKE, *(((kind,), (*called_by(kind), *perhaps_called_by(kind))) for kind in PROPS))


@cache
def _with_people() -> tuple[str, ...]:
    """Vehicles on which a person is to be seen."""
    faces = np.flatnonzero(atlas().people)
    kinds = np.unique(atlas().triangle_start.searchsorted(faces, side="right") - 1)
    return tuple(ENTITIES[kind] for kind in kinds)
