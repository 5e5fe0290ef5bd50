"""The structs of job.cuh as NumPy types, and how a launch's memory on the card is laid out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, IN_POSE, POSES
from simtown.assets.palette import MATERIALS
from simtown.render.light import AMOUNT, LAMPS, STARS, SUN, TABLE, WET
from simtown.render.mesh_tables import bases, girths, tables
from simtown.scenes.scene import SceneBatch

#: Arrays begin at multiples of this many bytes, as the card's memory does.
ALIGNMENT = 256
#: Columns of samples and rows of pixels of a block of `draw` (a strip and a band of the picture).
STRIP, BAND = 32, 128
#: Ground that is wetter than this mirrors (see resolve_colour in raster.hpp).
MIRRORS = 0.2
#: Numbers of job.cuh: floats from one row of light and of views to the next, edges of a shadow.
LIGHT_STRIDE, VIEW_STRIDE, MOST_EDGES = 48, 16, 16


def _struct(**kinds: Any) -> np.dtype[Any]:
    """A C struct of these fields: a type, or a type and how many of it."""
    rows = [(name, *kind) if isinstance(kind, tuple) else (name, kind) for name, kind in kinds.items()]
    return np.dtype(rows, align=True)


def _numbers(kind: str, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), kind)


_TOWN = (
    "vertices triangles normals triangle_start hull hull_start lamps lamp_start radius girths bases roles "
    "own_paint in_pose palette kinds tints looks"
)
TOWN = _struct(**_numbers("u8", _TOWN), **_numbers("i4", "entities meshes materials poses"))
_PLACED: dict[str, Any] = {"matrix": ("f4", 12), "eye": ("f4", 3), "sun": ("f4", 3), "pose": ("f4", 6)}
PLACE = _struct(**_PLACED, mesh="i4", look="u4", pad=("u4", 2))
_SKY = _numbers("u4", "sky_rg sky_b cloud_rg cloud_b under_rg under_b")
ROW = _struct(**_numbers("f4", "depth air x y dx dy"), **_SKY)
SHAPE = _struct(**_numbers("i2", "top bottom left right"), **_numbers("i4", "number edges"))
CONTACT = _struct(**_numbers("f4", "x y c s half_u half_v strength pad"))
POOL = _struct(**_numbers("f4", "x y c s along across"), **_numbers("u4", "rg b"))
HALO = _struct(**_numbers("f4", "x y radius depth r g b pad"))
BOX = _struct(**_numbers("i2", "left right top bottom"))
_STEPS, _TAG = _numbers("u4", "value step_x step_y"), _numbers("u2", "tag pad")
RECORD = _struct(e=("i4", 3), **_STEPS, **_numbers("i2", "ax ay bx by"), inverse=("f4", 3), **_TAG)
LARGE = _struct(e=("i8", 3), inverse=("f8", 3), **_numbers("i4", "ax ay bx by"), **_STEPS, **_TAG, box=BOX)
COUNTS = _struct(**_numbers("i4", "faces pieces larges shadows contacts pools halos pad"))
_COLUMNS = {field.name: "u8" for field in fields(SceneBatch)}
_WORK = (
    "views lights rows places ends counts shadow_shapes shadow_edges contact_shapes contacts pool_shapes "
    "pools halos faces packed flats planes owners boxes records lengths larges samples failed nearness "
    "rgb depth ids"
)
_SIZE = "scenes vehicles props slots width height lamps most_faces most_pieces most_larges ground_faces pad"
JOB = _struct(town=TOWN, **_COLUMNS, **_numbers("u8", _WORK), **_numbers("i4", _SIZE))
#: The structs by their names in job.cuh.
STRUCTS: Mapping[str, np.dtype[Any]] = {
    "Town": TOWN, "Place": PLACE, "Row": ROW, "Shape": SHAPE, "Contact": CONTACT, "Pool": POOL, "Halo": HALO,
    "Box": BOX, "Record": RECORD, "Large": LARGE, "Counts": COUNTS, "Job": JOB,
}  # fmt: skip

#: Shape and type of an array.
Shaped = tuple[tuple[int, ...], np.dtype[Any]]


class Size(NamedTuple):
    """What decides the layout of a launch's memory.

    Attributes:
        scenes: of the launch.
        vehicles: vehicle slots of a scene.
        props: prop slots of a scene.
        width: pixels.
        height: pixels.
        most_faces: triangles of all things of the fullest scene.
        ground_faces: triangles of the ground.
        most_lamps: lamps of all things of a scene.
        wet: whether the ground of a scene may mirror.
        layered: whether something may lie over a picture.
    """

    scenes: int
    vehicles: int
    props: int
    width: int
    height: int
    most_faces: int
    ground_faces: int
    most_lamps: int
    wet: bool
    layered: bool

    @property
    def slots(self) -> int:
        """Of a scene: the ground, vehicles and props."""
        return 1 + self.vehicles + self.props

    @property
    def most_pieces(self) -> int:
        """Triangles and parts of cut ones for which there is room."""
        return self.most_faces * 5 // 4 + 256

    @property
    def most_larges(self) -> int:
        """Of these, those whose edges need 64 bits: few in a small picture, more in a large one."""
        return min(self.most_pieces, max(1024, self.width * self.height // 256))


def columns(size: Size) -> dict[str, Shaped]:
    """The arrays of a :class:`SceneBatch`, as they are sent to the card."""
    n, v, p = size.scenes, size.vehicles, size.props
    vehicles: dict[str, Any] = {"entity": ((n, v), "i2"), "pose": ((n, v, 3), "f4"), "paint": ((n, v), "i1")}
    props: dict[str, Any] = {"prop": ((n, p), "i2"), "prop_pose": ((n, p, 5), "f4")}
    props["prop_style"] = ((n, p), "u2")
    weather: dict[str, Any] = {"weather": ((n,), "u1"), "intensity": ((n,), "f4"), "sun": ((n, 2), "f4")}
    others: dict[str, Any] = {"fall_seed": ((n,), "u4"), "camera": ((n, 7), "f4")}
    return _shaped({**vehicles, **props, **weather, **others})


def _shaped(arrays: Mapping[str, tuple[tuple[int, ...], Any]]) -> dict[str, Shaped]:
    return {name: (shape, np.dtype(kind)) for name, (shape, kind) in arrays.items()}


def work(size: Size) -> dict[str, Shaped]:
    """The arrays that the kernels fill for each other."""
    n, slots, lamps, high = size.scenes, size.slots, size.most_lamps, 2 * size.height + 1
    faces, tags, pieces = size.most_faces, size.most_faces + 1, size.most_pieces
    ground = size.ground_faces + 1
    scenes: dict[str, Any] = {"failed": ((n,), "u1"), "counts": ((n,), COUNTS), "rows": ((n, high), ROW)}
    scenes |= {"views": ((n, VIEW_STRIDE), "f4"), "lights": ((n, LIGHT_STRIDE), "f4")}
    things: dict[str, Any] = {"places": ((n, slots), PLACE), "ends": ((n, slots + 1), "i4")}
    things |= {"shadow_shapes": ((n, slots), SHAPE), "shadow_edges": ((n, slots, MOST_EDGES, 4), "f4")}
    things |= {"contact_shapes": ((n, slots), SHAPE), "contacts": ((n, slots), CONTACT)}
    light: dict[str, Any] = {"halos": ((n, lamps), HALO)}
    light |= {"pool_shapes": ((n, 2 * lamps), SHAPE), "pools": ((n, 2 * lamps), POOL)}
    triangles: dict[str, Any] = {"faces": ((n, faces), "u4"), "packed": ((n, tags), "u8")}
    triangles |= {"owners": ((n, tags), "u1")}
    triangles |= {"flats": ((n, ground, 4), "f4"), "planes": ((n, tags, 4), "f4")}
    triangles |= {"boxes": ((n, pieces), BOX), "records": ((n, pieces), RECORD)}
    triangles |= {"lengths": ((n, pieces), "u1"), "larges": ((n, size.most_larges), LARGE)}
    shapes: dict[str, Any] = {**scenes, **things, **light, **triangles}
    if size.wet:
        shapes["samples"] = ((n, -(-size.width // STRIP), high, 2 * STRIP + 1), "u4")
    if size.layered:
        shapes["nearness"] = ((n, size.height, size.width), "u2")
    return _shaped(shapes)


def size_in_bytes(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """Of an array."""
    return math.prod(shape) * kind.itemsize


def offsets(arrays: Mapping[str, Shaped], start: int = 0) -> tuple[dict[str, int], int]:
    """Where arrays lie one behind the other, from byte `start` on, and where the last one ends."""
    places = {}
    for name, (shape, kind) in arrays.items():
        places[name] = start
        start += _up(size_in_bytes(shape, kind), ALIGNMENT)
    return places, start


def town() -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """What never changes: the arrays of struct Town, and its numbers."""
    a, (palette, kinds, tints, roles) = atlas(), tables()
    extra = a.materials.astype(np.int32) | a.parts.astype(np.int32) << 8 | a.body.astype(np.int32) << 16
    rows = {"vertices": a.vertices, "hull": a.hull, "palette": palette, "tints": tints}
    arrays: dict[str, np.ndarray] = {}
    for name, values in rows.items():  # a fourth number, 0, in each row of three: a card reads all at once
        arrays[name] = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, 1)])
    for name in ("triangle_start", "hull_start", "lamp_start"):
        arrays[name] = getattr(a, name).astype(np.int32)
    arrays |= {"triangles": np.column_stack([a.triangles, extra]), "normals": a.normals}
    arrays |= {"radius": a.radius, "girths": girths(a), "bases": bases(a), "roles": roles, "kinds": kinds}
    in_pose = (len(ENTITIES) + IN_POSE).astype(np.int16)
    arrays |= {"lamps": a.lamps[:, :4], "own_paint": a.own_paint, "in_pose": in_pose, "looks": TABLE}
    numbers = {"entities": len(ENTITIES), "meshes": len(a.radius)}
    numbers |= {"materials": len(MATERIALS), "poses": POSES}
    return {name: np.ascontiguousarray(values) for name, values in arrays.items()}, numbers


class MemoryNeeds(NamedTuple):
    """What every kind of thing and every weather needs of a launch's memory.

    Attributes:
        ground_faces: triangles of the ground.
        vehicles: (kinds + 1,) int64 triangles << 16 | lamps of every kind; the last row is an empty slot's.
        props: the same, of every kind in its fullest pose.
        wet: (weathers,) bool, whether the ground may mirror.
        layered: (weathers,) bool, whether something may lie over the pictures.
    """

    ground_faces: int
    vehicles: np.ndarray
    props: np.ndarray
    wet: np.ndarray
    layered: np.ndarray

    def size(self, batch: SceneBatch, width: int, height: int) -> Size:
        """What the launches of a batch need.

        Room for triangles and lamps is rounded up, so that like batches lie in memory alike.
        """
        full = self.vehicles.take(batch.entity).sum(axis=1) + self.props.take(batch.prop).sum(axis=1)
        faces, lamps = self.ground_faces + (int(full.max()) >> 16), int((full & 0xFFFF).max())
        wet, layered = bool(self.wet.take(batch.weather).any()), bool(self.layered.take(batch.weather).any())
        slots, room = (batch.entity.shape[1], batch.prop.shape[1]), {"most_lamps": _up(lamps, 32)}
        room |= {"most_faces": _up(faces, 1024), "ground_faces": self.ground_faces}
        return Size(len(batch), *slots, width, height, **room, wet=wet, layered=layered)


def _up(count: int, step: int) -> int:
    """The first multiple of `step` that is at least `count` and not 0."""
    return max(-(-count // step), 1) * step


@lru_cache(maxsize=1)
def needs() -> MemoryNeeds:
    """Those of the town, worked out once a process."""
    a = atlas()
    full = np.diff(a.triangle_start) << 16 | np.diff(a.lamp_start)
    in_pose = full[len(ENTITIES) + IN_POSE]
    props = (in_pose >> 16).max(axis=1) << 16 | (in_pose & 0xFFFF).max(axis=1)
    most = TABLE.max(axis=1)  # of a mixture of two looks, the larger number is the most
    layered = (most[:, [LAMPS - SUN, AMOUNT - SUN, STARS - SUN]] > 0).any(axis=1)
    vehicles, wet = np.append(full[: len(ENTITIES)], 0), most[:, WET - SUN] > MIRRORS
    return MemoryNeeds(int(full[a.ground] >> 16), vehicles, np.append(props, 0), wet, layered)
