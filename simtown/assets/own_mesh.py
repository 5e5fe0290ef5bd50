"""Meshes of one's own, from GLB and OBJ files as they are: brought into the town's frame, size and palette.

What becomes of a file: all parts with the transforms of the scene graph; the forward axis to +x and up to +z;
scaled to its length; its middle at x = y = 0, its lowest point on the ground. Textures and vertex colours
become one colour a face, and that the nearest of the palette. :mod:`simtown.assets.mending` does the rest.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import msgspec
import numpy as np

from simtown.assets.mending import MOST_FACES, simplified, solid
from simtown.assets.mesh import Mesh, VehicleKind, face_normals, lengths
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.core.files import KindsError
from simtown.core.untrusted import inside, only_pictures, read_bytes

#: Most faces of a file.
LARGEST = 200_000
#: Largest length, width and height, and least of each, metres: the town's largest vehicles, and a bit.
LARGEST_SIZE, LEAST_SIZE = (7.0, 2.5, 4.0), (0.3, 0.1, 0.2)
#: Metres by which a vehicle may stand above the ground, or beside its middle: wheels have corners.
NEAR = 0.12
#: How a file of each kind names those that belong to it: materials and pictures.
_NAMED = {
    ".glb": rb'"uri"\s*:\s*"([^":]+\.(?i:png|jpe?g|bin))"',
    ".obj": rb"(?m)^mtllib[ \t]+(.+?)\s*$",
    ".mtl": rb"(?mi)^\s*map_Kd[ \t]+(.+?)\s*$",
}
#: What is less opaque than this is glass.
_CLEAR = 0.75
#: Places of a face at which its texture is read: the middles of the cells of a triangular grid.
_STEPS = 10
#: What a colour may come to: paints, and parts of a vehicle that are no plain paint.
_COLOURS = (*PAINTS, "tyre", "hub", "steel", "dark", "trim")
#: These only if the colour is the very one: so exports of simtown come back with their glass and lamps.
_EXACT = ("glass", "window", "lamp glow", "headlamp", "taillamp", "beacon red", "beacon blue", "beacon amber")
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


def files_of(mesh: Path) -> dict[str, bytes]:
    """The content of a mesh's file, and of the materials and pictures that belong to it, by name.

    Raises KindsError if one is missing.
    """
    files, names = dict[str, bytes](), [mesh.name]
    for name in names:  # which grows
        path = inside(mesh.parent, unquote(name))
        if not path.is_file():
            raise KindsError(f"{mesh} needs {name}: put the file into {mesh.parent}")
        files[name] = read_bytes(path, follow=False)
        for part in re.findall(_NAMED.get(path.suffix.lower(), b"(?!)"), files[name]):
            if (other := part.decode("utf-8", "replace")) not in names:
                names.append(other)
    return files


def read(file: Path, about: KindFile, where: Path) -> tuple[Mesh, str]:
    """The mesh of a kind with this TOML file and this mesh's file, and the paint of its body.

    Raises KindsError if the mesh cannot be used; the message names the file and says what to change.
    """
    is_glb = where.suffix.lower() == ".glb"
    if not is_glb and None in (about.length, about.forward, about.up):
        raise KindsError(f"{file}: an OBJ file has no metres and axes: give length, forward and up")
    corners, colour, names = _load(where, about.node, is_glb)
    up, forward = about.up or "+y", about.forward or "+z"
    if up[1] == forward[1]:
        raise KindsError(f"{file}: forward is '{forward}' and up is '{up}': give two different axes")
    x, z = (np.eye(3)["xyz".index(axis)] * float(f"{sign}1") for sign, axis in (forward, up))
    materials, body = _materials(file, about, corners, colour, names)
    mesh = solid(_standing(corners @ np.stack([x, np.cross(z, x), z]).T, about.length), materials)
    if len(mesh.triangles) > MOST_FACES:
        mesh = simplified(mesh)
        mesh = Mesh(_standing(mesh.vertices, about.length), mesh.triangles, mesh.materials)
    return _checked(str(where), mesh), body


def made(where: str, kind: VehicleKind) -> Mesh:
    """The mesh of a kind of a program, on the ground and in the middle. Raises KindsError."""
    try:
        body, mesh = kind.body, kind.make()
        mesh = Mesh(_standing(mesh.vertices), mesh.triangles, mesh.materials)
    except Exception as error:  # the user's own code
        raise KindsError(f"{where} cannot be made: {error!r:.200}") from error
    if body not in PAINTS:
        raise KindsError(f"{where}: the body's paint '{body}' is none of {', '.join(PAINTS)}")
    return _checked(where, mesh)


def _checked(where: str, mesh: Mesh) -> Mesh:
    """The mesh. Raises KindsError if it is too large or small, or has too many faces."""
    size = np.ptp(mesh.bounds, axis=0)
    with np.errstate(divide="ignore"):
        least, most = (np.array(LEAST_SIZE) / size).max(), (np.array(LARGEST_SIZE) / size).min()
    if not least <= 1 <= most:
        sizes = [" x ".join(f"{x:.3g}" for x in each) for each in (size, LEAST_SIZE, LARGEST_SIZE)]
        rule = "{} m long, wide and high, and a vehicle at least {} and at most {}".format(*sizes)
        fits = f"{size[0] * least + 0.005:.2f} to {size[0] * most - 0.005:.2f}"
        remedy = f"give a length of {fits}, or other axes as forward and up"
        raise KindsError(f"{where} is {rule}: {remedy}")
    if len(mesh.triangles) > MOST_FACES:
        raise KindsError(f"{where} has {len(mesh.triangles):,} faces: a vehicle has at most {MOST_FACES:,}")
    return mesh


def _load(where: Path, node: str | None, is_glb: bool) -> list[np.ndarray]:
    """The faces of a file, or of a node of it, that have an area.

    They are (t, 3, 3) corners, (t, 4) linear colours and opacity in [0, 1], and (t,) names of materials.
    """
    import trimesh

    files, ending = files_of(where), where.suffix[1:].lower()
    content = io.BytesIO(files[where.name])
    try:
        with only_pictures(), np.errstate(invalid="ignore"):
            scene: Any = trimesh.load(content, ending, resolver=files, force="scene", process=False)
            nodes = scene.graph.nodes_geometry
            below = nodes if node is None else scene.graph.transforms.successors(node)
            parts = []
            for part in filter(below.__contains__, nodes):
                transform, name = scene.graph.get(part, node)
                if isinstance(scene.geometry[name], trimesh.Trimesh):
                    parts.append(_part(scene.geometry[name], transform, is_glb))
    except Exception as error:  # trimesh raises all kinds
        raise KindsError(f"{where} cannot be read as {ending.upper()}: {error!r:.200}") from error
    count = sum(len(corners) for corners, _, _ in parts)
    if not 0 < count <= LARGEST:
        names = ", ".join(sorted(map(str, nodes))[:12])
        limit = f"give an uncompressed mesh of 1 to {LARGEST:,} triangles, or as node one of {names}"
        raise KindsError(f"{where} has {count:,} faces with an area: {limit}")
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def _part(mesh: Any, transform: np.ndarray, is_glb: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faces of one part, moved to its place."""
    corners = sum(mesh.triangles[..., i, None] * transform[:3, i] for i in range(3)) + transform[:3, 3]
    if np.linalg.det(transform[:3, :3]) < 0:  # a mirror, which would turn them inside out
        corners = corners[:, ::-1]
    colour, name = _colours(mesh, is_glb)
    kept = lengths(face_normals(corners)) > 0
    return corners[kept], np.clip(colour, 0, 1)[kept], np.full(kept.sum(), name, dtype=object)


def _colours(mesh: Any, is_glb: bool) -> tuple[np.ndarray, str]:
    """(t, 4) linear colour and opacity of the faces of a part, and the name of its material."""
    visual, faces = mesh.visual, np.asarray(mesh.faces)
    linear = np.asarray if is_glb else _linear
    if visual.kind != "texture":
        return linear(visual.face_colors / 255), ""
    look, colour = visual.material, np.ones((len(faces), 4))
    picture = look.baseColorTexture if is_glb else look.image
    factor = look.baseColorFactor if is_glb else None if picture else look.diffuse
    if factor is not None:
        colour *= linear(np.asarray(factor) / 255)
    if picture is not None and visual.uv is not None and len(visual.uv):
        colour *= _texels(picture, np.nan_to_num(visual.uv)[faces])
    if (corner_colours := visual.vertex_attributes.get("color")) is not None:
        scale = np.iinfo(corner_colours.dtype).max if corner_colours.dtype.kind in "iu" else 1.0
        mean = (corner_colours / scale)[faces].mean(axis=1)
        colour[:, : mean.shape[1]] *= mean
    if not is_glb:
        colour[:, 3] = float(look.kwargs.get("d", [1.0])[0])
    elif look.alphaMode in (None, "OPAQUE"):
        colour[:, 3] = 1.0
    return colour, str(look.name or "")


def _texels(picture: Any, corners: np.ndarray) -> np.ndarray:
    """(t, 4) linear mean of a picture over triangles with (t, 3, 2) texture coordinates."""
    pixels = np.asarray(picture.convert("RGBA")) / 255
    high, wide = pixels.shape[:2]
    steps = [((i + 1 / 3) / _STEPS, (j + 1 / 3) / _STEPS) for i in range(_STEPS) for j in range(_STEPS - i)]
    total = np.zeros((len(corners), 4))
    for s, t in steps:
        u, v = (corners[:, 0] * (1 - s - t) + corners[:, 1] * s + corners[:, 2] * t).T
        column, row = (u % 1.0 * wide).astype(int) % wide, ((1 - v) % 1.0 * high).astype(int) % high
        total += _linear(pixels[row, column])
    return total / len(steps)


def _linear(srgb: np.ndarray) -> np.ndarray:
    """Linear colours of (..., 3) sRGB ones, or of (..., 4) with an opacity, which stays."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return np.concatenate([linear[..., :3], srgb[..., 3:]], axis=-1)


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
    linear, has = colour[:, :3], ", ".join(sorted(filter(None, {*names}))) or "none with a name"
    result = _nearest(linear, _COLOURS)
    for exact in _EXACT:
        own_colour = _linear(np.array(MATERIALS[material(exact)].colour))
        result[(np.abs(linear - own_colour) < _SAME).all(axis=1)] = material(exact)
    result[colour[:, 3] < _CLEAR] = material("glass")
    for name, chosen in about.materials.items():
        if name not in names or chosen not in (*_COLOURS, *_EXACT):
            known = (
                f"the materials of the mesh are: {has}, and of the town: {', '.join((*_COLOURS, *_EXACT))}"
            )
            raise KindsError(f"{file}: materials has {name} = '{chosen}', but {known}")
        result[names == name] = material(chosen)
    body = (names == about.paint) | (about.paint is None)
    if not body.any() and about.paint in PAINTS:
        body = result == material(about.paint)
    if not body.any():
        raise KindsError(f"{file}: paint is '{about.paint}', but the materials of the mesh are: {has}")
    area = np.bincount(result[body], lengths(face_normals(corners[body])), len(MATERIALS))[: len(PAINTS)]
    paint = area.argmax() if area.any() else _nearest(linear[body].mean(axis=0)[None], PAINTS)[0]
    if about.paint is not None:
        others = ~body & (result == paint)
        result[others] = _nearest(linear[others], tuple(name for name in _COLOURS if name != PAINTS[paint]))
        result[body] = paint
    return result, PAINTS[paint]


def _nearest(linear: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(n,) the materials of these names whose colours look most like (n, 3) linear colours."""
    numbers = np.array([material(name) for name in names])
    table = _seen(_linear(np.array([MATERIALS[number].colour for number in numbers])))
    return numbers[np.square(_seen(linear)[:, None] - table).sum(axis=2).argmin(axis=1)]


def _seen(linear: np.ndarray) -> np.ndarray:
    """(n, 3) Oklab (Ottosson, 2020) of linear colours, in which distances are as people see them."""
    return np.cbrt(linear @ _CONES.T) @ _OPPONENTS.T
