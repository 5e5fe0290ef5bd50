"""OBJ files, and the MTL files of their materials, statement by statement."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress

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
#: The scale or the offset of a texture, of which the third number is for textures with a depth.
_OPTION = re.compile(r"-([so])\s+([-+.\de]+)\s+([-+.\de]+)(?:\s+[-+.\de]+)?\s+")
#: The statements of an MTL file about one material, by their first words: places and rests.
_Material = dict[str, tuple[str, str]]


def _statements(file: str, content: bytes) -> Iterator[tuple[str, str, str]]:
    r"""The place, the first word and the rest of each statement; a "\" at the end of a line continues it."""
    begun = ""
    for number, line in enumerate(re.split(r"\r\n?|\n", content.decode("utf-8-sig", "replace")), 1):
        words = (begun + line).strip()
        begun = ""
        if words.startswith("#"):
            continue
        if words.endswith("\\"):
            begun = f"{words[:-1]} "
        elif words:
            word, *rest = words.split(maxsplit=1)
            yield f"{file}, line {number}", word, "".join(rest)


def files_named(file: str, content: bytes) -> list[str]:
    """The names of the materials that an OBJ file needs, or of the pictures of an MTL file.

    Raises KindsError.
    """
    names = []
    for place, word, rest in _statements(file, content):
        if word == "mtllib":
            names += [name.strip() for name in re.findall(r".+?\.mtl(?=\s|$)|.+", rest, re.IGNORECASE)]
        elif word.lower() == "map_kd":
            names.append(_map(place, rest)[1])
    return names


def _map(place: str, rest: str) -> tuple[dict[str, tuple[float, float]], str]:
    """The scale "s" and the offset "o" of a texture, and its file."""
    options = {"s": (1.0, 1.0), "o": (0.0, 0.0)}
    while option := _OPTION.match(rest):
        options[option[1]] = float(option[2]), float(option[3])
        rest = rest[option.end() :]
    if rest.startswith("-"):
        raise KindsError(f"{place}: change map_Kd: only -s and -o, each with 2 or 3 numbers, are read")
    return options, rest


def _numbers(place: str, rest: str, *counts: int) -> list[float]:
    """The numbers of a statement, as many as one of the counts, without a comment behind them."""
    words = rest.partition("#")[0].split()
    with suppress(ValueError):
        if len(words) in counts:
            return [float(word) for word in words]
    expected = " or ".join(map(str, counts))
    raise KindsError(f"{place}: '{rest:.40}' is not {expected} numbers: write them as in 0.5 0.5 1")


def _materials(file: str, content: bytes) -> dict[str, _Material]:
    """The materials of an MTL file by name."""
    materials, material = dict[str, _Material](), _Material()
    for place, word, rest in _statements(file, content):
        if word == "newmtl":
            material = materials[" ".join(rest.split())] = {"kd": ("", str(_LIGHT_GREY))}
        material[word.lower()] = place, rest
    return materials


def _part(
    name: str, material: _Material, files: Mapping[str, bytes], vertices: np.ndarray, places: np.ndarray
) -> Part:
    """The faces of a material, of (t, 3, 6) corners with sRGB colours, and (t, 3, 2) texture coordinates.

    What a corner lacks is NaN.
    """
    for word in {"map_d", "decal"} & {*material}:
        raise KindsError(f"{material[word][0]}: remove {word}, which is not read, or export a GLB file")
    opacity = 1.0 - _numbers(*material.get("tr", ("", "0")), 1)[0]
    if "d" in material:
        (opacity,) = _numbers(*material["d"], 1)
    own_colour = np.nan_to_num(vertices[..., 3:], nan=1.0 if name else _LIGHT_GREY)
    colour = np.insert(linear(own_colour.mean(axis=1)), 3, 1.0, axis=1)
    part = Part(vertices[..., :3], name, colour, opacity)
    if "map_kd" in material:  # programs write any Kd beside it
        options, picture = _map(*material["map_kd"])
        part.texture = Texture(parse_picture(files[picture], f"texture {picture}"))
        part.places = np.array([0.0, 1.0]) + (places * options["s"] + options["o"]) * [1.0, -1.0]
    else:
        colour[:, :3] *= linear(np.array(_numbers(*material["kd"], 1, 3)))
    return part


def read_obj(file: str, files: Mapping[str, bytes]) -> list[Part]:
    """The parts of an OBJ file, one a material.

    Args:
        file: its name.
        files: its content, and those of the files that belong to it, by name.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError.
    """
    materials, material = {"": {"kd": ("", "1")}}, ""
    for other in files_named(file, files[file]):
        materials |= _materials(other, files[other])
    vertices, places = list[list[float]](), list[list[float]]()
    faces, count = defaultdict[str, list[tuple[int, int]]](list), 0
    for place, word, rest in _statements(file, files[file]):
        if word == "v":
            vertices.append(_numbers(place, rest, 3, 6))
        elif word == "vt":
            places.append(_numbers(place, rest, 2, 3)[:2])
        elif word == "usemtl":
            material = " ".join(rest.split())
            if material not in materials:
                raise KindsError(f"{place}: no file of mtllib has the material '{material}': add it")
        elif word == "f":
            corners = [f"{corner}//".split("/") for corner in rest.partition("#")[0].split()]
            polygon = [(_row(v, vertices), _row(t, places)) for v, t, *_ in corners]
            fan = _fan(place, np.array([vertices[v][:3] for v, _ in polygon]))
            faces[material] += [polygon[i] for i in fan]
            count += len(fan)
        elif word not in _WITHOUT_EFFECT:
            raise KindsError(f"{place}: {word} is not read: export a mesh of triangles")
        check_corners(max(count, len(vertices), len(places)))
    missing = [np.nan] * 6  # in the last row, which is row -1 too
    vertex_table = np.array([[*vertex, *missing][:6] for vertex in [*vertices, missing]])
    place_table = np.array([*places, missing[:2]])
    parts = []
    for name, rows in reversed(faces.items()):
        vertex, place_of = np.array(rows, dtype=int).reshape(-1, 3, 2).transpose(2, 0, 1)
        parts.append(_part(name, materials[name], files, vertex_table[vertex], place_table[place_of]))
    return parts


def _fan(place: str, corners: np.ndarray) -> list[int]:
    """The corners of the triangles of a polygon, which share one that sees all others. Raises KindsError."""
    count, first = len(corners), 0
    if count > LARGEST_POLYGON:
        raise KindsError(f"{place}: a face of {count:,} corners: triangulate it")
    if count > 3:
        spokes = corners - corners[:, None]
        normals = np.cross(spokes, np.roll(spokes, -1, axis=1))  # of each edge with each corner
        whole = normals[0].sum(axis=0)
        sees = (dots(normals, whole) >= -_FLAT * dots(whole, whole)).all(axis=1)
        first = int(sees.argmax())
        if not sees[first]:
            raise KindsError(f"{place}: a face of {count} corners is bent inwards too far: triangulate it")
    return [(first + i) % count for k in range(1, count - 1) for i in (0, k, k + 1)]


def _row(number: str, table: list[list[float]]) -> int:
    """The row that a face names, from 1 on or back from -1; -1 if it names none."""
    index = int(number or 0)
    return max(index + len(table), -1) if index < 0 else index - 1
