"""The structs of the kernels as NumPy types, and how a launch's memory on the card is laid out."""

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, IN_POSE, POSES
from simtown.assets.palette import MATERIALS
from simtown.render.cuda.compiler import source
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


#: A struct of fields alone, and fields of one type.
_STRUCT = re.compile(r"struct (?:\w+\(16\) )?(\w+) \{([^{}]*)\};")
_FIELDS = re.compile(r"(?:const )?(\w+)(\*?) ([^;]+);")
_PLAIN = {
    "float": "f4", "double": "f8",
    "s8": "i1", "s16": "i2", "s32": "i4", "s64": "i8",
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
}  # fmt: skip
#: The structs of a launch, whose fields are read from the sources of the kernels.
_NAMES = "Pose Matrix Point Contact Town Place Row Shape Pool Halo Box Record Large Counts Job"


def _read_structs() -> tuple[dict[str, np.dtype[Any]], dict[str, np.dtype[Any]]]:
    """The structs by name; and what their pointers point to, by the name of the field."""
    known = {name: np.dtype(kind) for name, kind in _PLAIN.items()}
    targets = {}
    sources = re.sub("//.*", "", source("setup"))
    for struct, fields in _STRUCT.findall(sources):
        if struct not in _NAMES.split():
            continue
        rows: list[Any] = []
        for kind, pointer, declared in _FIELDS.findall(fields):
            for field in declared.split(","):
                name, *counts = re.findall(r"\w+", field)
                if pointer:
                    targets[name] = known[kind]
                rows.append((name, known["u64" if pointer else kind], tuple(map(int, counts))))
        known[struct] = np.dtype(rows, align=True)
    return {name: known[name] for name in _NAMES.split()}, targets


STRUCTS, _TARGETS = _read_structs()
TOWN, JOB = STRUCTS["Town"], STRUCTS["Job"]

#: Shape and type of an array.
Shaped = tuple[tuple[int, ...], np.dtype[Any]]


class Size(NamedTuple):
    """The sizes that decide the layout of a launch's memory.

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
        """Slots of a scene: the ground, vehicles and props."""
        return 1 + self.vehicles + self.props

    @property
    def most_pieces(self) -> int:
        """Triangles and parts of cut ones for which there is room."""
        return self.most_faces * 5 // 4 + 256

    @property
    def most_larges(self) -> int:
        """Large triangles whose edges need 64 bits: few in a small picture, more in a large one."""
        return min(self.most_pieces, max(1024, self.width * self.height // 256))


def columns(size: Size) -> dict[str, Shaped]:
    """The arrays of a :class:`SceneBatch`, as they are sent to the card."""
    n, v, p = size.scenes, size.vehicles, size.props
    shapes: dict[str, tuple[int, ...]] = {"entity": (n, v), "pose": (n, v, 3), "paint": (n, v)}
    shapes |= {"prop": (n, p), "prop_pose": (n, p, 5), "prop_style": (n, p)}
    shapes |= {"weather": (n,), "intensity": (n,), "sun": (n, 2), "fall_seed": (n,), "camera": (n, 7)}
    return _shaped(shapes)


def _shaped(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Shaped]:
    return {name: (shape, _TARGETS[name]) for name, shape in shapes.items()}


def work(size: Size) -> dict[str, Shaped]:
    """The arrays that the kernels fill for each other."""
    n, slots, lamps, high = size.scenes, size.slots, size.most_lamps, 2 * size.height + 1
    faces, tags, pieces = size.most_faces, size.most_faces + 1, size.most_pieces
    ground = size.ground_faces + 1
    shapes: dict[str, tuple[int, ...]] = {"failed": (n,), "counts": (n,), "rows": (n, high)}
    shapes |= {"views": (n, VIEW_STRIDE), "lights": (n, LIGHT_STRIDE)}
    shapes |= {"places": (n, slots), "ends": (n, slots + 1)}
    shapes |= {"shadow_shapes": (n, slots), "shadow_edges": (n, slots, MOST_EDGES, 4)}
    shapes |= {"contact_shapes": (n, slots), "contacts": (n, slots)}
    shapes |= {"halos": (n, lamps), "pool_shapes": (n, 2 * lamps), "pools": (n, 2 * lamps)}
    shapes |= {"faces": (n, faces), "packed": (n, tags), "owners": (n, tags)}
    shapes |= {"flats": (n, ground, 4), "planes": (n, tags, 4)}
    shapes |= {"boxes": (n, pieces), "records": (n, pieces), "lengths": (n, pieces)}
    shapes["larges"] = (n, size.most_larges)
    if size.wet:
        shapes["samples"] = (n, -(-size.width // STRIP), high, 2 * STRIP + 1)
    if size.layered:
        shapes["nearness"] = (n, size.height, size.width)
    return _shaped(shapes)


def size_in_bytes(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """Bytes of an array."""
    return math.prod(shape) * kind.itemsize


def offsets(arrays: Mapping[str, Shaped], start: int = 0) -> tuple[dict[str, int], int]:
    """Offsets of arrays that lie one behind the other from byte `start` on, and the end of the last one."""
    places = {}
    for name, (shape, kind) in arrays.items():
        places[name] = start
        start += _up(size_in_bytes(shape, kind), ALIGNMENT)
    return places, start


def town() -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """The parts that never change: the arrays of struct Town, and its numbers."""
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
    """Memory of a launch that every kind of thing and every weather needs.

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
        """The size that the launches of a batch need.

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
    """Memory needs of the town, computed once a process."""
    a = atlas()
    full = np.diff(a.triangle_start) << 16 | np.diff(a.lamp_start)
    in_pose = full[len(ENTITIES) + IN_POSE]
    props = (in_pose >> 16).max(axis=1) << 16 | (in_pose & 0xFFFF).max(axis=1)
    most = TABLE.max(axis=1)  # of a mixture of two looks, the larger number is the most
    layered = (most[:, [LAMPS - SUN, AMOUNT - SUN, STARS - SUN]] > 0).any(axis=1)
    vehicles, wet = np.append(full[: len(ENTITIES)], 0), most[:, WET - SUN] > MIRRORS
    return MemoryNeeds(int(full[a.ground] >> 16), vehicles, np.append(props, 0), wet, layered)
