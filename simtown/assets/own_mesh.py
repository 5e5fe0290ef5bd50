"""Meshes of one's own, from GLB and OBJ files as they are: brought into the town's frame, size and palette.

What becomes of a file: all parts with the transforms of the scene graph; the forward axis to +x and up to +z;
scaled to its length; its middle at x = y = 0, its lowest point on the ground. Textures and vertex colours
become one colour a face, and that the nearest of the palette. :mod:`simtown.assets.mending` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from simtown.assets import gltf, wavefront
from simtown.assets.faces import Part, linear
from simtown.assets.mending import MOST_FACES, simplified, solid
from simtown.assets.mesh import Mesh, VehicleKind, dots, face_normals, lengths
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.core.files import KindsError
from simtown.core.own_code import own_code
from simtown.core.untrusted import RefusedError, cause, inside, read_bytes

#: Largest length, width and height, and least of each, metres: the town's largest vehicles, and a bit.
LARGEST_SIZE, LEAST_SIZE = (7.0, 2.5, 4.0), (0.3, 0.1, 0.2)
#: Metres by which a vehicle may stand above the ground, or beside its middle: wheels have corners.
NEAR = 0.12
#: Metres by which rounding may change a size.
_ROUNDING = 1e-3
#: Most pixels of all textures of a file.
MOST_PIXELS = 2**26
#: What is less opaque than this is glass.
_CLEAR = 0.75
#: What a colour comes to only if it is the very one: so exports of simtown come back with glass and lamps.
_EXACT = (
    "glass", "window", "lamp glow", "headlamp", "taillamp", "beacon red", "beacon blue", "beacon amber",
    "skin", "skin dark",
)  # fmt: skip
#: What else a colour may come to: paints, and parts of a vehicle that are no plain paint.
_COLOURS = tuple(name for name in (*PAINTS, "tyre", "hub", "steel", "dark", "trim") if name not in _EXACT)
#: (m, 3) linear colours of all materials of the town.
_PALETTE = linear(np.array([each.colour for each in MATERIALS]))
#: The largest difference of a linear channel in [0, 1] between a colour and itself in a file of 8 bits.
_SAME = 0.003
#: From linear RGB to what the eye's three cones get, and from its cube root to Oklab.
_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]])
_OPPONENTS = np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
_Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class KindFile(msgspec.Struct, forbid_unknown_fields=True):
    """A kind's TOML file, as docs/own-kinds.md has it."""

    name: str = ""
    plural: str = ""
    group: str = "vehicle"
    mesh: str = ""
    node: str | None = None
    length: Annotated[float, msgspec.Meta(gt=0, lt=100)] | None = None
    forward: _Axis | None = None
    up: _Axis | None = None
    paint: str | None = None
    materials: dict[str, str] = {}


@contextmanager
def _reading(mesh: Path) -> Iterator[None]:
    """Errors of the readers become KindsErrors that name the mesh's file."""
    try:
        yield
    except (KindsError, RefusedError) as error:
        raise KindsError(f"{mesh}: {error}") from error
    except Exception as error:  # a damaged file raises all kinds, and NumPy plain ValueErrors
        why = "its numbers do not fit together" if type(error) is ValueError else cause(error)
        form = mesh.suffix[1:].upper()
        raise KindsError(f"{mesh} cannot be read as {form}: {why:.200}: export it again") from error


def files_of(mesh: Path) -> dict[str, bytes]:
    """The content of a mesh's file, and of the materials and pictures that belong to it, by name.

    Raises KindsError if one is missing or cannot be read.
    """
    files, waiting = dict[str, bytes](), [(mesh.name, "")]
    for name, remedy in waiting:  # which grows
        if name in files:
            continue
        with _reading(mesh):
            if {*name} & {"\\", ":"}:
                raise KindsError(f"'{name:.80}' is not the name of a file beside it: {remedy}")
            path = inside(mesh.parent, name)
            if not path.is_file():
                raise KindsError(f"it needs {name:.80}: put the file into {mesh.parent}")
            content = files[name] = read_bytes(path, follow=False)
        with _reading(path):
            ending = path.suffix.lower()
            others: list[str] = []
            if ending == ".glb":
                others = gltf.Glb(content, {}).names
            if ending in (".obj", ".mtl"):
                others = wavefront.files_named(content)
            statement = "map_Kd" if ending == ".mtl" else "mtllib" if ending == ".obj" else "uri"
            waiting += [(other, f"change {statement} in {name}") for other in others]
    return files


def read(file: Path, about: KindFile, where: Path) -> tuple[Mesh, str]:
    """The mesh of a kind with this TOML file and this mesh's file, and the paint of its body.

    Raises KindsError if the mesh cannot be used; the message names the file and says what to change.
    """
    if where.suffix.lower() == ".obj" and None in (about.length, about.forward, about.up):
        raise KindsError(f"{file}: an OBJ file has no metres and axes: give length, forward and up")
    corners, colour, names = _load(where, about.node)
    up, forward = about.up or "+y", about.forward or "+z"
    if up[1] == forward[1]:
        raise KindsError(f"{file}: forward is '{forward}' and up is '{up}': give two different axes")
    x, z = (np.eye(3)["xyz".index(axis)] * float(f"{sign}1") for sign, axis in (forward, up))
    standing = _standing(dots(corners[..., None, :], np.stack([x, np.cross(z, x), z])), about.length)
    _check_size(where, standing.reshape(-1, 3))
    materials, body = _materials(file, about, corners, colour, names)
    mesh = solid(standing, materials)
    if len(mesh.triangles) > MOST_FACES:
        mesh = simplified(mesh)
        mesh = Mesh(_standing(mesh.vertices, about.length), mesh.triangles, mesh.materials)
    _check_faces(where, mesh)
    return mesh, body


def made(where: str, kind: VehicleKind) -> Mesh:
    """The mesh of a kind of a program, on the ground and in the middle. Raises KindsError."""
    with own_code(lambda words: KindsError(f"{where} cannot be made: {words}")):
        body, mesh = kind.body, kind.make()
        mesh = Mesh(_standing(mesh.vertices), mesh.triangles, mesh.materials)
    if body not in PAINTS:
        raise KindsError(f"{where}: the body's paint '{body}' is none of {', '.join(PAINTS)}")
    _check_size(where, mesh.vertices)
    _check_faces(where, mesh)
    return mesh


def _check_faces(where: object, mesh: Mesh) -> None:
    """Raises KindsError if a mesh has none or too many; `where` says whose it is."""
    count = len(mesh.triangles)
    if not 0 < count <= MOST_FACES:
        raise KindsError(f"{where} has {count:,} faces: a vehicle has at least 1 and at most {MOST_FACES:,}")


def _check_size(where: object, points: np.ndarray) -> None:
    """Raises KindsError if (n, 3) points are too far apart or too close."""
    size, least, most = np.ptp(points, axis=0), np.array(LEAST_SIZE), np.array(LARGEST_SIZE)
    if not ((size >= least - _ROUNDING) & (size <= most + _ROUNDING)).all():
        proportions = size[0] / np.maximum(size, 1e-300)
        shortest = f"{(proportions * least).max() + 0.005:.2f}"
        longest = f"{(proportions * most).min() - 0.005:.2f}"
        remedy = "no length fits its proportions: change them"
        if float(shortest) <= float(longest):
            remedy = f"give a length of {shortest} to {longest}"
        rule = f"{size.round(2)} m long, wide and high, and a vehicle from {least} to {most}"
        raise KindsError(f"{where} is {rule}: {remedy}, or other axes as its front and its top")


def _load(where: Path, node: str | None) -> list[np.ndarray]:
    """The faces of a file, or of a node of it, that have an area.

    They are (t, 3, 3) corners, (t, 4) linear colours and opacity in [0, 1], and (t,) names of materials.
    """
    files = files_of(where)
    with _reading(where), np.errstate(invalid="ignore", over="ignore"):
        if where.suffix.lower() == ".glb":
            parts = gltf.Glb(files[where.name], files).parts(node)
        elif node is not None:
            raise KindsError("an OBJ file has no nodes: leave node out")
        else:
            parts = [(np.eye(4), part) for part in wavefront.read_obj(files[where.name], files)]
        textures = {part.texture for _, part in parts if part.texture}
        pixels = sum(prod(texture.picture.size) for texture in textures)
        if pixels > MOST_PIXELS:
            raise KindsError(f"its textures have {pixels:,} pixels: reduce them to at most {MOST_PIXELS:,}")
        faces = [np.concatenate(arrays) for arrays in zip(*(_moved(*each) for each in parts), strict=True)]
        if not faces or not len(faces[0]):
            raise KindsError("it has 0 faces with an area: give a mesh of triangles")
    return faces


def _moved(transform: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faces of one part that have an area, at its place. Raises KindsError if a number is not finite."""
    corners = dots(part.corners[..., None, :], transform[:3, :3]) + transform[:3, 3]
    for numbers in (corners, part.places, part.colour, part.opacity, part.cutoff):
        if numbers is not None and not np.isfinite(numbers).all():
            wrong = f"its material '{part.name}' has corners, texture coordinates or colours"
            raise KindsError(f"{wrong} that are missing or not finite (NaN): export it again")
    if (np.abs(part.colour - 0.5) > 0.501).any():
        raise KindsError(f"its material '{part.name}' has colours outside 0 to 1: write 1 for 255")
    if np.linalg.det(transform[:3, :3]) < 0:  # a mirror, which would turn them inside out
        corners = corners[:, ::-1]
    colours = part.colours.clip(0, 1)
    kept = (lengths(face_normals(corners)) > 0) & ~np.isnan(colours[:, 3])
    return corners[kept], colours[kept], np.full(kept.sum(), str(part.name), dtype=object)


def _standing(corners: np.ndarray, length: float | None = None) -> np.ndarray:
    """Corners (..., 3) scaled to a length, with their middle at x = y = 0, on the ground.

    Without a length they stay where they are if that is so already, but for `NEAR`.
    """
    points = corners.reshape(-1, 3)
    foot = (points.min(axis=0) + points.max(axis=0)) / 2
    foot[2] = points[:, 2].min()
    if length:
        return (corners - foot) * (length / max(np.ptp(points[:, 0]), 1e-12))
    return corners if (np.abs(foot) < NEAR).all() else corners - foot


def _materials(
    file: Path, about: KindFile, corners: np.ndarray, colour: np.ndarray, names: np.ndarray
) -> tuple[np.ndarray, str]:
    """(t,) the palette's material of each face, and the paint of the body.

    The body is of the material that `paint` names; without that it is the paint of the largest area, and is
    never exchanged.
    """
    seen, has = colour[:, :3], ", ".join(sorted(filter(None, {*names}))) or "none with a name"
    result = _nearest(seen, _COLOURS)
    for exact in map(material, _EXACT):
        result[(np.abs(seen - _PALETTE[exact]) < _SAME).all(axis=1)] = exact
    result[colour[:, 3] < _CLEAR] = material("glass")
    town = *_COLOURS, *_EXACT
    for name, chosen in about.materials.items():
        if name not in names or chosen not in town:
            known = f"the materials of the mesh are: {has}, and of the town: {', '.join(town)}"
            raise KindsError(f"{file}: materials has {name} = '{chosen}', but {known}")
        result[names == name] = material(chosen)
    body = (names == about.paint) | (about.paint is None)
    for nearest in (result, _nearest(seen, PAINTS)):  # since white, for one, comes to a trim
        if not body.any() and about.paint in PAINTS:
            body = nearest == material(about.paint)
    if not body.any():
        raise KindsError(f"{file}: paint is '{about.paint}', but the materials of the mesh are: {has}")
    area = np.bincount(result[body], lengths(face_normals(corners[body])), len(MATERIALS))[: len(PAINTS)]
    paint = area.argmax() if area.any() else _nearest(seen[body].mean(axis=0)[None], PAINTS)[0]
    if about.paint is not None:
        others = ~body & (result == paint)
        result[others] = _nearest(seen[others], tuple(name for name in _COLOURS if name != PAINTS[paint]))
        result[body] = paint
    return result, PAINTS[paint]


def _nearest(colours: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """(n,) the materials of these names whose colours look most like (n, 3) linear ones."""
    numbers = np.array([material(name) for name in names])
    distances = np.square(_seen(colours)[:, None] - _seen(_PALETTE[numbers])).sum(axis=2)
    return numbers[distances.argmin(axis=1)]


def _seen(colours: np.ndarray) -> np.ndarray:
    """(n, 3) Oklab (Ottosson, 2020) of linear colours, in which distances are as people see them."""
    return np.cbrt(colours @ _CONES.T) @ _OPPONENTS.T
