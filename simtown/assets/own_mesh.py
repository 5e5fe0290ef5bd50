"""Meshes of one's own, from GLB and OBJ files as they are: brought into the town's frame, size and palette.

What becomes of a file: all parts with the transforms of the scene graph; the forward axis to +x and up to +z;
scaled to its length; its middle at x = y = 0, its lowest point on the ground. Textures and vertex colours
become one colour a face, and that the nearest of the palette. :mod:`simtown.assets.mending` does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote

import msgspec
import numpy as np

from simtown.assets import gltf, wavefront
from simtown.assets.faces import Part, check_counts, linear
from simtown.assets.mending import MOST_FACES, simplified, solid
from simtown.assets.mesh import Mesh, VehicleKind, face_normals, lengths
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.core.files import KindsError
from simtown.core.untrusted import RefusedError, inside, read_bytes

#: Largest length, width and height, and least of each, metres: the town's largest vehicles, and a bit.
LARGEST_SIZE, LEAST_SIZE = (7.0, 2.5, 4.0), (0.3, 0.1, 0.2)
#: Metres by which a vehicle may stand above the ground, or beside its middle: wheels have corners.
NEAR = 0.12
#: Metres by which rounding may change a size.
_ROUNDING = 1e-3
#: How a file of each kind names those that belong to it: materials and pictures.
_NAMED = {".glb": "uri", ".obj": "mtllib", ".mtl": "map_Kd"}
#: What is less opaque than this is glass.
_CLEAR = 0.75
#: What only people are made of.
_PEOPLE = ("skin", "skin dark")
#: What a colour may come to: paints, and parts of a vehicle that are no plain paint.
_COLOURS = (*(paint for paint in PAINTS if paint not in _PEOPLE), "tyre", "hub", "steel", "dark", "trim")
#: These only if the colour is the very one: so exports of simtown come back with their glass and lamps.
_LAMPS = ("window", "lamp glow", "headlamp", "taillamp", "beacon red", "beacon blue", "beacon amber")
_EXACT = ("glass", *_LAMPS, *_PEOPLE)
#: The largest difference of a linear channel in [0, 1] between a colour and itself in a file of 8 bits.
_SAME = 0.003
#: From linear RGB to what the eye's three cones get, and from its cube root to Oklab.
_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]])
_OPPONENTS = np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
_Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]


class KindFile(msgspec.Struct, forbid_unknown_fields=True):
    """What a TOML file says of a kind, as docs/own-kinds.md has it."""

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
def _reading(mesh: Path, remedy: str = "") -> Iterator[None]:
    """Errors of the readers become KindsErrors that name the mesh's file."""
    try:
        yield
    except (KindsError, RefusedError) as error:
        raise KindsError(f"{mesh}: {remedy}{error}") from error
    except Exception as error:  # a damaged file raises all kinds
        raise KindsError(f"{mesh} cannot be read as {mesh.suffix[1:].upper()}: {error!r:.200}") from error


def files_of(mesh: Path) -> dict[str, bytes]:
    """The content of a mesh's file, and of the materials and pictures that belong to it, by name.

    Raises KindsError if one is missing or cannot be read.
    """
    files, named = dict[str, bytes](), [(mesh.name, mesh.name, "")]
    for name, on_disk, remedy in named:  # which grows
        if name in files:
            continue
        with _reading(mesh, remedy):
            if {*name} & {"\\", ":"}:
                raise RefusedError(f"'{name}' is not the name of a file beside it")
            path = inside(mesh.parent, on_disk)
        if not path.is_file():
            raise KindsError(f"{mesh} needs {name}: put the file into {mesh.parent}")
        content = files[name] = read_bytes(path, follow=False)
        ending = path.suffix.lower()
        with _reading(mesh):
            others: dict[str, str] = {}
            if ending == ".glb":
                others = {uri: unquote(uri) for uri in gltf.files_named(content)}
            elif ending in (".obj", ".mtl"):
                others = {other: other for other in wavefront.files_named(name, content)}
        named += [(*other, f"change {_NAMED[ending]} in {name}: ") for other in others.items()]
    return files


def read(file: Path, about: KindFile, where: Path) -> tuple[Mesh, str]:
    """The mesh of a kind with this TOML file and this mesh's file, and the paint of its body.

    Raises KindsError if the mesh cannot be used; the message names the file and says what to change.
    """
    is_glb = where.suffix.lower() == ".glb"
    if not is_glb and None in (about.length, about.forward, about.up):
        raise KindsError(f"{file}: an OBJ file has no metres and axes: give `length`, `forward` and `up`")
    corners, colour, names = _load(where, about.node)
    up, forward = about.up or "+y", about.forward or "+z"
    if up[1] == forward[1]:
        raise KindsError(f"{file}: `forward` is '{forward}' and `up` is '{up}': give two different axes")
    x, z = (np.eye(3)["xyz".index(axis)] * float(f"{sign}1") for sign, axis in (forward, up))
    corners = _standing(corners @ np.stack([x, np.cross(z, x), z]).T, about.length)
    advice = "give a `length` of {}, or other axes as `forward` and `up`"
    _check_size(str(where), corners.reshape(-1, 3), advice)  # before they are rounded
    materials, body = _materials(file, about, corners, colour, names)
    mesh = solid(corners, materials)
    if len(mesh.triangles) > MOST_FACES:
        mesh = simplified(mesh)
        mesh = Mesh(_standing(mesh.vertices, about.length), mesh.triangles, mesh.materials)
    return _checked(str(where), mesh, advice), body


def made(where: str, kind: VehicleKind) -> Mesh:
    """The mesh of a kind of a program, on the ground and in the middle. Raises KindsError."""
    try:
        body, mesh = kind.body, kind.make()
        mesh = Mesh(_standing(mesh.vertices), mesh.triangles, mesh.materials)
    except Exception as error:  # the user's own code
        raise KindsError(f"{where} cannot be made: {error!r:.200}") from error
    if body not in PAINTS:
        raise KindsError(f"{where}: the body's paint '{body}' is none of {', '.join(PAINTS)}")
    return _checked(where, mesh, "make it {} m long")


def _checked(where: str, mesh: Mesh, advice: str) -> Mesh:
    """The mesh. Raises KindsError, also if it has no faces or too many."""
    _check_size(where, mesh.vertices, advice)
    if not 0 < len(mesh.triangles) <= MOST_FACES:
        raise KindsError(f"{where} has {len(mesh.triangles):,} faces: a vehicle has 1 to {MOST_FACES:,}")
    return mesh


def _check_size(where: str, points: np.ndarray, advice: str) -> None:
    """Raises KindsError unless (n, 3) points are neither too large nor too small.

    The advice has a place for the lengths that fit.
    """
    size, least, most = np.ptp(points, axis=0), np.array(LEAST_SIZE), np.array(LARGEST_SIZE)
    if not ((size >= least - _ROUNDING).all() and (size <= most + _ROUNDING).all()):
        sizes = [" x ".join(f"{x:.3g}" for x in each) for each in (size, LEAST_SIZE, LARGEST_SIZE)]
        rule = "{} m long, wide and high, and a vehicle at least {} and at most {}".format(*sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            shortest = f"{size[0] * (least / size).max() + 0.005:.2f}"
            longest = f"{size[0] * (most / size).min() - 0.005:.2f}"
        remedy = "no length fits its proportions: change them, or which axes are its front and its top"
        if float(shortest) <= float(longest):
            remedy = advice.format(f"{shortest} to {longest}")
        raise KindsError(f"{where} is {rule}: {remedy}")


def _load(where: Path, node: str | None) -> list[np.ndarray]:
    """The faces of a file, or of a node of it, that have an area.

    They are (t, 3, 3) corners, (t, 4) linear colours and opacity in [0, 1], and (t,) names of materials.
    """
    files = files_of(where)
    with _reading(where), np.errstate(invalid="ignore", over="ignore"):
        if where.suffix.lower() == ".glb":
            parts = gltf.Glb(files[where.name], files).parts(node)
        elif node is not None:
            raise KindsError("an OBJ file has no nodes: leave `node` out")
        else:
            parts = [(np.eye(4), part) for part in wavefront.read_obj(where.name, files)]
        textures = {part.texture for _, part in parts if part.texture}
        check_counts(pixels=sum(prod(texture.picture.size) for texture in textures))
        faces = [np.concatenate(arrays) for arrays in zip(*(_moved(*each) for each in parts), strict=True)]
        if not faces or not len(faces[0]):
            raise KindsError("it has 0 faces with an area: give a mesh of triangles")
    return faces


def _moved(transform: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faces of one part that have an area, at its place. Raises KindsError if a number is not finite."""
    corners = sum(part.corners[..., i, None] * transform[:3, i] for i in range(3)) + transform[:3, 3]
    for numbers in (corners, part.places, part.tints, part.colour, part.opacity, part.cutoff):
        if numbers is not None and not np.isfinite(numbers).all():
            raise KindsError("it has corners or colours that are not finite (NaN): export it again")
    if np.linalg.det(transform[:3, :3]) < 0:  # a mirror, which would turn them inside out
        corners = corners[:, ::-1]
    colours = np.clip(part.colours, 0, 1)
    kept = (lengths(face_normals(corners)) > 0) & ~np.isnan(colours[:, 3])
    return corners[kept], colours[kept], np.full(kept.sum(), str(part.name), dtype=object)


def _standing(corners: np.ndarray, length: float | None = None) -> np.ndarray:
    """Corners (..., 3) scaled to a length, with their middle at x = y = 0, on the ground.

    Without a length they stay where they are if that is so already, but for `NEAR`.
    """
    low, high = np.min(corners.reshape(-1, 3), axis=0), np.max(corners.reshape(-1, 3), axis=0)
    foot = np.array([*(low + high)[:2] / 2, low[2]])
    if not length:
        return corners if (np.abs(foot) < NEAR).all() else corners - foot
    result: np.ndarray = (corners - foot) * (length / max(high[0] - low[0], 1e-12))
    return result


def _materials(
    file: Path, about: KindFile, corners: np.ndarray, colour: np.ndarray, names: np.ndarray
) -> tuple[np.ndarray, str]:
    """(t,) the palette's material of each face, and the paint of the body.

    The body is of the material that `paint` names; without that it is the paint of the largest area, and is
    never exchanged.
    """
    seen, has = colour[:, :3], ", ".join(sorted(filter(None, {*names}))) or "none with a name"
    result = _nearest(seen, _COLOURS)
    for exact in _EXACT:
        own_colour = linear(np.array(MATERIALS[material(exact)].colour))
        result[(np.abs(seen - own_colour) < _SAME).all(axis=1)] = material(exact)
    result[colour[:, 3] < _CLEAR] = material("glass")
    for name, chosen in about.materials.items():
        if name not in names or chosen not in (*_COLOURS, *_EXACT):
            known = (
                f"the materials of the mesh are: {has}, and of the town: {', '.join((*_COLOURS, *_EXACT))}"
            )
            raise KindsError(f"{file}: `materials` has {name} = '{chosen}', but {known}")
        result[names == name] = material(chosen)
    body = (names == about.paint) | (about.paint is None)
    for nearest in (result, _nearest(seen, PAINTS)):  # since white, for one, comes to a trim
        if not body.any() and about.paint in PAINTS:
            body = nearest == material(about.paint)
    if not body.any():
        raise KindsError(f"{file}: `paint` is '{about.paint}', but the materials of the mesh are: {has}")
    area = np.bincount(result[body], lengths(face_normals(corners[body])), len(MATERIALS))[: len(PAINTS)]
    paint = area.argmax() if area.any() else _nearest(seen[body].mean(axis=0)[None], PAINTS)[0]
    if about.paint is not None:
        others = ~body & (result == paint)
        result[others] = _nearest(seen[others], tuple(name for name in _COLOURS if name != PAINTS[paint]))
        result[body] = paint
    return result, PAINTS[paint]


def _nearest(colours: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(n,) the materials of these names whose colours look most like (n, 3) linear ones."""
    numbers = np.array([material(name) for name in names])
    table = _seen(linear(np.array([MATERIALS[number].colour for number in numbers])))
    return numbers[np.square(_seen(colours)[:, None] - table).sum(axis=2).argmin(axis=1)]


def _seen(colours: np.ndarray) -> np.ndarray:
    """(n, 3) Oklab (Ottosson, 2020) of linear colours, in which distances are as people see them."""
    return np.cbrt(colours @ _CONES.T) @ _OPPONENTS.T
