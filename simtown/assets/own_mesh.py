"""Meshes of one's own, from GLB and OBJ files as they are: brought into the town's frame, size and palette.

What becomes of a file: all parts with the transforms of the scene graph; the forward axis to +x and up to +z;
scaled to its length; its middle at x = y = 0, its lowest point on the ground. Textures and vertex colours
become one colour a face, and that the nearest of the palette. :mod:`simtown.assets.mending` does the rest.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.mending import MOST_FACES, MOST_FACING, facing, lengths, simplified, solid, too_many
from simtown.assets.mesh import Mesh, VehicleKind
from simtown.assets.palette import MATERIALS, PAINTS, material
from simtown.core.files import KindsError
from simtown.core.untrusted import only_pictures

#: Most faces of a file.
LARGEST = 200_000
#: Largest length, width and height, and least of each, metres: the town's largest vehicles, and a bit.
LARGEST_SIZE, LEAST_SIZE = (7.0, 2.5, 4.0), (0.3, 0.1, 0.2)
#: Metres by which a vehicle may stand above the ground, or beside its middle: wheels have corners.
NEAR = 0.12
#: What is less opaque than this is glass.
_CLEAR = 0.75
#: Places of a face at which its texture is read: the middles of the cells of a triangular grid.
_STEPS = 10
#: Parts of a vehicle that are no plain paint, and which a colour may come to.
_PARTS = ("tyre", "hub", "steel", "dark", "trim")
#: These only if the colour is the very one: so exports of simtown come back with their glass and lamps.
_EXACT = ("glass", "window", "lamp glow", "headlamp", "taillamp", "beacon red", "beacon blue", "beacon amber")
#: The largest difference of a linear channel in [0, 1] between a colour and itself in a file of 8 bits.
_SAME = 0.003
#: From linear RGB to what the eye's three cones get, and from its cube root to Oklab.
_CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]])
_OPPONENTS = np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])


class _Faces(NamedTuple):
    """Faces as a file has them.

    Attributes:
        corners: (t, 3, 3) float64.
        colour: (t, 4) float64 linear RGB and opacity in [0, 1].
        name: (t,) the material that each face has in the file.
    """

    corners: np.ndarray
    colour: np.ndarray
    name: np.ndarray


def read(file: Path, about: Mapping[str, Any], files: Mapping[str, bytes]) -> tuple[Mesh, str]:
    """The mesh of a file, and the paint of its body.

    Args:
        file: the TOML file, for messages.
        about: its content, as docs/own-kinds.md says.
        files: the mesh's file first, then those that it names.

    Raises:
        KindsError: the mesh cannot be used; the message names the file and says what to change.
    """
    name, is_glb = next(iter(files)), next(iter(files)).lower().endswith(".glb")
    where = file.with_name(name)
    if not is_glb and not {"length", "forward", "up"} <= about.keys():
        raise KindsError(f"{file}: an OBJ file has no metres and axes: give `length`, `forward` and `up`")
    faces = _load(where, files, about.get("node"))
    up, forward = about.get("up", "+y"), about.get("forward", "+z")
    corners = faces.corners @ _axes(file, up, forward).T
    corners = _standing(corners, about.get("length"))
    materials, body = _materials(file, about, faces)
    mesh = solid(corners, materials)
    if not len(mesh.triangles):
        raise KindsError(f"{where} has only faces without area: export it again, uncompressed")
    if too_many(mesh):
        mesh = simplified(mesh)
        mesh = Mesh(_standing(mesh.vertices, about.get("length")), mesh.triangles, mesh.materials)
    return _checked(str(where), mesh), body


def made(where: str, kind: VehicleKind) -> Mesh:
    """The mesh of a kind of a program, on the ground and in the middle. Raises KindsError."""
    if kind.body not in PAINTS:
        raise KindsError(f"{where}: the body's paint '{kind.body}' is none of {', '.join(PAINTS)}")
    try:
        mesh = kind.make()
        is_whole = len(mesh.triangles) and np.isfinite(mesh.vertices[mesh.triangles]).all()
    except Exception as error:  # the user's own code
        raise KindsError(f"{where} cannot be made: {error!r:.200}") from error
    if not is_whole:
        raise KindsError(f"{where} has no faces, or coordinates that are not finite numbers: mend `make`")
    return _checked(where, Mesh(_standing(mesh.vertices), mesh.triangles, mesh.materials))


def _checked(where: str, mesh: Mesh) -> Mesh:
    """The mesh. Raises KindsError if it is too large or small, or has too many faces."""
    size = np.ptp(mesh.bounds, axis=0)
    for limit, word, over in (
        (LARGEST_SIZE, "most", size > LARGEST_SIZE),
        (LEAST_SIZE, "least", size < LEAST_SIZE),
    ):
        if over.any():
            measured, possible = (" x ".join(f"{x:.3g}" for x in each) for each in (size, limit))
            scales = np.array(limit) / np.maximum(size, 1e-9)
            fits = size[0] * (scales.min() if word == "most" else scales.max())
            remedy = f"give a `length` of at {word} {fits:.3g}, or other axes as `forward` and `up`"
            rule = f"{measured} m long, wide and high, and a vehicle at {word} {possible}"
            raise KindsError(f"{where} is {rule}: {remedy}")
    if too_many(mesh):
        count = f"{where} has {len(mesh.triangles):,} faces, of which {facing(mesh):,} face one viewer"
        raise KindsError(
            f"{count}: a vehicle has at most {MOST_FACES:,}, and {MOST_FACING:,} face one viewer"
        )
    return mesh


def _load(where: Path, files: Mapping[str, bytes], node: str | None) -> _Faces:
    import trimesh

    content, ending = next(iter(files.values())), where.suffix[1:].lower()
    try:
        with only_pictures():
            scene = trimesh.load(
                io.BytesIO(content), file_type=ending, resolver=dict(files), force="scene", process=False
            )
        assert isinstance(scene, trimesh.Scene)
        nodes = scene.graph.nodes_geometry
        if node is not None:
            if node not in scene.graph.nodes:
                names = ", ".join(sorted(map(str, nodes))[:12])
                raise KindsError(f"{where} has no part '{node}': give one of {names} as `node`")
            nodes = [part for part in nodes if part in scene.graph.transforms.successors(node)]
        parts = [
            _part(scene.geometry[geometry], transform, ending == "glb")
            for part in nodes
            for transform, geometry in [scene.graph.get(part, node)]
            if isinstance(scene.geometry[geometry], trimesh.Trimesh)
        ]
    except KindsError:
        raise
    except Exception as error:  # trimesh raises all kinds
        raise KindsError(f"{where} cannot be read as {ending.upper()}: {error!r:.200}") from error
    count = sum(len(part.corners) for part in parts)
    if not 0 < count <= LARGEST:
        limit = f"give a mesh of at most {LARGEST:,}" if count else "give a mesh of triangles"
        raise KindsError(f"{where} has {f'{count:,}' if count else 'no'} faces: {limit}")
    faces = _Faces(*map(np.concatenate, zip(*parts, strict=True)))
    if not np.isfinite(faces.corners).all():
        raise KindsError(f"{where} has coordinates that are not finite numbers: export it again")
    return faces


def _part(mesh: Any, transform: np.ndarray, is_glb: bool) -> _Faces:
    """The faces of one part, moved to its place; a transform that mirrors would turn them inside out."""
    corners = np.asarray(mesh.vertices, dtype=np.float64)[mesh.faces]
    with np.errstate(invalid="ignore"):  # whether all are finite is asked later
        placed = sum(corners[..., i, None] * transform[:3, i] for i in range(3)) + transform[:3, 3]
    if np.linalg.det(transform[:3, :3]) < 0:
        placed = placed[:, ::-1]
    colour, name = _colours(mesh, is_glb)
    return _Faces(placed, np.clip(colour, 0, 1), np.full(len(placed), name, dtype=object))


def _colours(mesh: Any, is_glb: bool) -> tuple[np.ndarray, str]:
    """(t, 4) linear colour and opacity of the faces of a part, and the name of its material."""
    visual, faces = mesh.visual, np.asarray(mesh.faces)
    colour, name = np.ones((len(faces), 4)), ""
    if visual.kind != "texture":
        if visual.kind is None:
            return colour * [*_linear(np.full(3, 0.6)), 1.0], name
        drawn = np.asarray(visual.face_colors, dtype=np.float64) / 255
        return drawn if is_glb else _without_gamma(drawn), name
    look = visual.material
    name = str(getattr(look, "name", None) or "")
    picture = getattr(look, "baseColorTexture" if is_glb else "image", None)
    if is_glb and look.baseColorFactor is not None:
        colour *= np.asarray(look.baseColorFactor, dtype=np.float64) / 255
    elif not is_glb and picture is None:
        colour *= _without_gamma(np.asarray(look.main_color, dtype=np.float64) / 255)
    if picture is not None and visual.uv is not None and len(visual.uv):
        colour *= _texels(picture, np.nan_to_num(np.asarray(visual.uv, dtype=np.float64))[faces])
    if (corner_colours := visual.vertex_attributes.get("color")) is not None:
        values = np.asarray(corner_colours)
        scale = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 1.0
        mean = (values / scale)[faces].mean(axis=1)
        colour[:, : mean.shape[1]] *= mean
    if not is_glb:
        colour[:, 3] = float(look.kwargs.get("d", [1.0])[0])
    elif look.alphaMode in (None, "OPAQUE"):
        colour[:, 3] = 1.0
    return colour, name


def _texels(picture: Any, corners: np.ndarray) -> np.ndarray:
    """(t, 4) linear mean of a picture over triangles with (t, 3, 2) texture coordinates."""
    pixels = np.asarray(picture.convert("RGBA"), dtype=np.float64) / 255
    high, wide = pixels.shape[:2]
    steps = [((i + 1 / 3) / _STEPS, (j + 1 / 3) / _STEPS) for i in range(_STEPS) for j in range(_STEPS - i)]
    total = np.zeros((len(corners), 4))
    for s, t in steps:
        u, v = (corners[:, 0] * (1 - s - t) + corners[:, 1] * s + corners[:, 2] * t).T
        column, row = (u % 1.0 * wide).astype(int) % wide, ((1 - v) % 1.0 * high).astype(int) % high
        total += _without_gamma(pixels[row, column])
    return total / len(steps)


def _linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _without_gamma(srgb: np.ndarray) -> np.ndarray:
    """Linear colours of (..., 4) sRGB ones; the opacity stays."""
    return np.concatenate([_linear(srgb[..., :3]), srgb[..., 3:]], axis=-1)


def _axes(file: Path, up: str, forward: str) -> np.ndarray:
    """(3, 3) the turn from a file's axes to the town's: forward to +x, up to +z."""
    axes = {
        sign + name: np.eye(3)[i] * (1 if sign == "+" else -1)
        for sign in "+-"
        for i, name in enumerate("xyz")
    }
    if up not in axes or forward not in axes or up[1] == forward[1]:
        given = f"`forward` is '{forward}' and `up` is '{up}'"
        raise KindsError(f"{file}: {given}: give two different axes of +x, -x, +y, -y, +z and -z")
    return np.stack([axes[forward], np.cross(axes[up], axes[forward]), axes[up]])


def _standing(corners: np.ndarray, length: float | None = None) -> np.ndarray:
    """Corners (..., 3) scaled to a length, with their middle at x = y = 0, on the ground.

    Without a length they stay where they are if that is so already, but for `NEAR`.
    """
    flat = corners.reshape(-1, 3)
    low, high = flat.min(axis=0), flat.max(axis=0)
    foot = np.array([*(low + high)[:2] / 2, low[2]])
    if not length:
        return corners if (np.abs(foot) < NEAR).all() else corners - foot
    result: np.ndarray = (corners - foot) * (length / max(high[0] - low[0], 1e-12))
    return result


def _materials(file: Path, about: Mapping[str, Any], faces: _Faces) -> tuple[np.ndarray, str]:
    """(t,) the palette's material of each face, and the paint of the body.

    The body is of the material that `paint` names; without that it is the paint of the largest area, and is
    never exchanged.
    """
    known = sorted(set(faces.name))
    for key, names in (
        ("paint", [about["paint"]] if "paint" in about else []),
        ("materials", about.get("materials", {})),
    ):
        for name in names:
            if name not in known and not (key == "paint" and name in PAINTS):
                has = ", ".join(filter(None, known)) or "none with a name"
                raise KindsError(f"{file}: `{key}` names '{name}', but the materials of the mesh are: {has}")
    linear = faces.colour[:, :3]
    result = _nearest(linear, (*PAINTS, *_PARTS))
    for exact in _EXACT:
        own_colour = _linear(np.array(MATERIALS[material(exact)].colour))
        result[(np.abs(linear - own_colour) < _SAME).all(axis=1)] = material(exact)
    result[faces.colour[:, 3] < _CLEAR] = material("glass")
    for name, chosen in about.get("materials", {}).items():
        if chosen not in (*PAINTS, *_PARTS, *_EXACT):
            raise KindsError(f"{file}: `materials` gives '{name}' the unknown material '{chosen}'")
        result[faces.name == name] = material(chosen)
    p, q, r = faces.corners.swapaxes(0, 1)
    area = lengths(np.cross(q - p, r - p))
    own = np.ones(len(result), dtype=bool)
    if "paint" in about:
        own = faces.name == about["paint"] if about["paint"] in known else result == material(about["paint"])
        if not own.any():
            raise KindsError(
                f"{file}: no face comes to the paint {about['paint']}: name a material of the mesh"
            )
    weight = np.bincount(result[own], area[own], len(MATERIALS))[: len(PAINTS)]
    body = PAINTS[weight.argmax() if weight.any() else _nearest(linear[own].mean(axis=0)[None], PAINTS)[0]]
    if "paint" in about:
        others = ~own & (result == material(body))
        result[others] = _nearest(
            linear[others], tuple(paint for paint in (*PAINTS, *_PARTS) if paint != body)
        )
        result[own] = material(body)
    return result, body


def _nearest(linear: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(n,) the materials of these names whose colours look most like (n, 3) linear colours."""
    numbers = np.array([material(name) for name in names])
    table = _seen(_linear(np.array([MATERIALS[number].colour for number in numbers])))
    return numbers[np.square(_seen(linear)[:, None] - table).sum(axis=2).argmin(axis=1)]


def _seen(linear: np.ndarray) -> np.ndarray:
    """(n, 3) Oklab (Ottosson, 2020) of linear colours, in which distances are as people see them."""
    return np.cbrt(linear @ _CONES.T) @ _OPPONENTS.T
