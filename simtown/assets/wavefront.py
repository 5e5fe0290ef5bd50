"""OBJ files, and the MTL files of their materials, statement by statement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from simtown.assets.faces import Part, Texture, check_corners, linear
from simtown.assets.mesh import dots
from simtown.core.files import KindsError
from simtown.core.untrusted import parse_picture

#: Most corners of a polygon.
LARGEST_POLYGON = 1_000
#: A triangle of a polygon may look back by this part of its area: corners are rounded.
_FLAT = 1e-4
#: The sRGB colour of what has none: light grey.
_LIGHT_GREY = 0.8
#: Statements of an OBJ file that change neither shape nor colour: names, groups, smoothing, normals.
_WITHOUT_EFFECT = ("o", "g", "s", "mg", "vn", "mtllib", "lod", "shadow_obj", "trace_obj")
#: The signs of numbers, of NaN and of infinity: Python reads 1_000 as well.
_DIGITS = re.compile(r"[-+.a-zA-Z0-9\s]*")
#: An option of a texture that scales or shifts its coordinates, by one to three numbers.
_OPTION = re.compile(r"-([so])((?: [-+]?\d*\.?\d+){1,3}) ")
#: A corner of a face: rows of its place, its texture coordinates and its normal.
_CORNER = re.compile(r"([-+]?\d{1,9})?(/([-+]?\d{1,9})?)*")
#: A name of materials, which may have spaces if it ends as usual.
_LIBRARY = re.compile(r"\S.*?\.mtl(?=\s|$)|\S.*", re.IGNORECASE)


def _statements(content: bytes) -> Iterator[tuple[str, str]]:
    """The first word and the rest of each statement, with single spaces."""
    for line in content.removeprefix(b"\xef\xbb\xbf").splitlines():
        word, _, rest = b" ".join(line.split()).decode(errors="surrogateescape").partition(" ")
        if word and not word.startswith("#"):
            yield word, rest


def files_named(content: bytes) -> list[str]:
    """The names of the materials that an OBJ file needs, or of the pictures of an MTL file.

    Raises KindsError.
    """
    names = []
    for word, rest in _statements(content):
        if word == "mtllib":
            names += _LIBRARY.findall(rest)
        elif word.lower() == "map_kd":
            names.append(_texture(rest)[0])
    return names


def _texture(rest: str) -> tuple[str, np.ndarray, np.ndarray]:
    """The file of a texture, and the (2,) scale and (2,) shift of its coordinates. Raises KindsError."""
    scale, shift = np.ones(2), np.zeros(2)
    while option := _OPTION.match(rest):
        numbers = np.array([float(number) for number in option[2].split()[:2]])
        changed = scale if option[1] == "s" else shift
        changed[: len(numbers)] = numbers
        rest = rest[option.end() :]
    if rest.startswith("-"):
        raise KindsError(f"change map_Kd {rest:.60}: of its options only -s and -o are read")
    return rest, scale, shift


def _numbers(word: str, rest: str, *counts: int) -> list[float]:
    """The numbers of a statement, as many as one of the counts, without a comment behind them."""
    try:
        text = rest.partition("#")[0]
        numbers = [float(number) for number in text.split()] if _DIGITS.fullmatch(text) else []
    except ValueError:
        numbers = []
    if len(numbers) not in counts:
        expected = " or ".join(map(str, counts))
        raise KindsError(f"'{word} {rest:.60}' has not {expected} numbers: write them as in 0.5 0.5 1")
    return numbers


def _materials(content: bytes) -> dict[str, dict[str, str]]:
    """The statements of each material of an MTL file, by their first words."""
    materials, material = dict[str, dict[str, str]](), dict[str, str]()
    for word, rest in _statements(content):
        if word == "newmtl":
            material = materials[rest] = {"kd": str(_LIGHT_GREY)}
        material[word.lower()] = rest
    return materials


def _part(
    name: str, material: dict[str, str], files: Mapping[str, bytes], vertices: np.ndarray, places: np.ndarray
) -> Part:
    """The faces of a material, of (t, 3, 6) corners with sRGB colours, and (t, 3, 2) texture coordinates.

    What a corner lacks is NaN.
    """
    for word in {"map_d", "decal"} & {*material}:
        raise KindsError(f"the material '{name}' has {word}, which is not read: export a GLB file")
    opacity = 1.0 - _numbers("Tr", material.get("tr", "0"), 1)[0]
    if "d" in material:
        (opacity,) = _numbers("d", material["d"], 1)
    own_colours = np.nan_to_num(vertices[..., 3:], nan=1.0 if name else _LIGHT_GREY)
    colours = np.insert(linear(own_colours.mean(axis=1)), 3, 1.0, axis=1)
    part = Part(vertices[..., :3], name, colours, opacity)
    if "map_kd" in material:  # programs write any Kd beside it
        picture, scale, shift = _texture(material["map_kd"])
        part.texture = Texture(parse_picture(files[picture], f"texture {picture}"))
        part.places = np.array([0.0, 1.0]) + (places * scale + shift) * [1.0, -1.0]
    else:
        colours[:, :3] *= linear(np.array(_numbers("Kd", material["kd"], 1, 3)))
    return part


def read_obj(content: bytes, files: Mapping[str, bytes]) -> list[Part]:
    """The parts of an OBJ file, one a material.

    Args:
        content: of the file.
        files: the contents of the files that belong to it, by name.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError.
    """
    materials, material = {"": {"kd": "1"}}, ""
    libraries = dict[str, str]()
    for library in files_named(content):
        own = _materials(files[library])
        materials |= own
        libraries |= dict.fromkeys(own, library)
    vertices, places = list[list[float]](), list[list[float]]()
    faces, count = defaultdict[str, list[tuple[int, int]]](list), 0
    for word, rest in _statements(content):
        if word == "v":
            vertices.append(_numbers(word, rest, 3, 6))
        elif word == "vt":
            places.append(_numbers(word, rest, 2, 3)[:2])
        elif word == "usemtl":
            material = rest
            if material not in materials:
                raise KindsError(f"no file of mtllib has the material '{material}' of usemtl: add it")
        elif word == "f":
            corners = rest.partition("#")[0].split()
            if not all(map(_CORNER.fullmatch, corners)):
                raise KindsError(f"'f {rest:.60}' is not read: write its corners as 1/1/1, in one line")
            named = [f"{corner}//".split("/") for corner in corners]
            polygon = [(_row(v, vertices), _row(t, places)) for v, t, *_ in named]
            if max(polygon, default=(0,))[0] >= len(vertices):
                raise KindsError(f"'f {rest:.60}' has a corner that no v before it gives: export it again")
            fan = _fan(np.array([vertices[v][:3] for v, _ in polygon]))
            faces[material] += [polygon[i] for i in fan]
            count += len(fan)
        elif word not in _WITHOUT_EFFECT:
            raise KindsError(f"'{word} {rest:.60}' is not read: export a mesh of triangles")
        check_corners(max(count, len(vertices), len(places)))
    missing = [np.nan] * 6  # of the last row, which is row -1 too
    vertex_table = np.array([[*vertex, *missing][:6] for vertex in [*vertices, missing]])
    place_table = np.array([*places, missing[:2]])
    parts = []
    for name, rows in faces.items():
        vertex, place = np.array(rows, dtype=int).reshape(-1, 3, 2).transpose(2, 0, 1)
        if place.max(initial=-1) >= len(place_table):
            raise KindsError(
                f"its faces name vt {place.max() + 1}, and it has {len(places)}: export it again"
            )
        try:
            parts.append(_part(name, materials[name], files, vertex_table[vertex], place_table[place]))
        except KindsError as error:
            raise KindsError(f"{libraries.get(name, 'its faces')}: {error}") from None
    return parts


def _fan(corners: np.ndarray) -> list[int]:
    """The corners of the triangles of a polygon, which share one that sees all others. Raises KindsError."""
    count, first = len(corners), 0
    if count > LARGEST_POLYGON:
        raise KindsError(f"it has a face of {count:,} corners: triangulate it")
    if count > 3:
        spokes = corners - corners[:, None]
        normals = np.cross(spokes, np.roll(spokes, -1, axis=1))  # of each edge with each corner
        whole = normals[0].sum(axis=0)
        is_hidden = (dots(normals, whole) < -_FLAT * dots(whole, whole)).max(axis=1)
        first = int(is_hidden.argmin())
        if is_hidden[first]:
            raise KindsError(f"it has a face of {count} corners that is bent inwards too far: triangulate it")
    return [(first + i) % count for k in range(1, count - 1) for i in (0, k, k + 1)]


def _row(number: str, table: list[list[float]]) -> int:
    """The row that a face names, from 1 on or back from -1; -1 if it names none."""
    index = int(number or 0)
    return max(index + len(table), -1) if index < 0 else index - 1
