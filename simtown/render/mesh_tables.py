"""Tables of the atlas and the palette that every rasteriser shares, computed once."""

import itertools
from functools import lru_cache

import numpy as np

from simtown.assets.atlas import Atlas, atlas
from simtown.assets.catalogue import ENTITIES, STREET, STREET_MESHES
from simtown.assets.palette import CLOTH_TINTS, MATERIALS, ROOF_TINTS, WALL_TINTS, rgb_table

#: Bits of a mesh: it casts a shadow, it stands on the ground, it is a vehicle.
CASTS, STANDS, VEHICLE = 1, 2, 4
#: Metres: what lies lower counts for the dark under a thing; what is no higher lies flat on the ground.
LOW, FLAT = 0.5, 0.12


def bases(a: Atlas) -> np.ndarray:
    """(m, 4) float32 middle and half sizes, metres, of the lowest half metre of every mesh."""
    rectangles = np.zeros((len(a.radius), 4))
    for m, (start, stop) in enumerate(itertools.pairwise(a.vertex_start)):
        vertices = a.vertices[start:stop].astype(np.float64)
        low = vertices[vertices[:, 2] < LOW]
        if len(low):
            smallest, largest = low[:, :2].min(axis=0), low[:, :2].max(axis=0)
            rectangles[m] = *(smallest + largest) / 2, *(largest - smallest) / 2
    return rectangles.astype(np.float32)


def girths(a: Atlas) -> np.ndarray:
    """(m,) float32 radius of every mesh about the upright line through its origin, metres, rounded up."""
    square = a.vertices[:, 0].astype(np.float64) ** 2 + a.vertices[:, 1].astype(np.float64) ** 2
    return (np.sqrt(np.maximum.reduceat(square, a.vertex_start[:-1])) + 1e-3).astype(np.float32)


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The tables of the palette and of the meshes' roles.

    Returns:
        Colours (c, 3) float32 and kinds (c,) uint8 of the materials, tints (3, TINTS, 3) float32, and roles
            (m,) uint8 of the meshes (see ground).
    """
    palette = np.array([m.colour for m in MATERIALS], dtype=np.float32)
    kinds = np.array([m.kind for m in MATERIALS], dtype=np.uint8)
    tints = np.stack([rgb_table(t) for t in (WALL_TINTS, ROOF_TINTS, CLOTH_TINTS)])
    high_or_long = {*STREET["building"], *STREET["cloud"]}
    low = [kind not in high_or_long for kind, _ in STREET_MESHES]
    raised = atlas().bounds[len(ENTITIES) :, 1, 2] > FLAT
    roles = np.full(len(ENTITIES) + len(STREET_MESHES) + 1, CASTS | STANDS | VEHICLE, dtype=np.uint8)
    roles[len(ENTITIES) :] = np.where(raised & [*low, False], CASTS | STANDS, 0)  # the last is the ground
    return palette, kinds, tints, roles


@lru_cache(maxsize=1)
def town() -> dict[str, np.ndarray]:
    """The atlas and the palette as the kernels take them."""
    a, (palette, kinds, tints, roles) = atlas(), tables()
    names = (
        "columns", "vertex_start", "triangles", "triangle_start", "normals", "materials", "parts", "body",
        "hull", "hull_start", "lamps", "lamp_start", "radius",
    )  # fmt: skip
    own = {name: getattr(a, name) for name in names} | {"bases": bases(a), "girths": girths(a)}
    return own | {"palette": palette, "kinds": kinds, "tints": tints, "roles": roles}
