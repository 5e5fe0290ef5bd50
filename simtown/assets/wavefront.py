"""OBJ files, and the MTL files of their materials, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from simtown.assets.faces import Part, Texture, check_counts, linear
from simtown.assets.mesh import dots, face_normals
from simtown.core.files import KindsError
from simtown.core.untrusted import parse_picture

#: Most corners of a polygon.
LARGEST_POLYGON = 1_000
#: A triangle of a polygon may look back by this part of its area: corners are rounded.
_FLAT = 1e-4
#: The sRGB colour of what has none: light grey.
_LIGHT_GREY = [0.8]
#: Statements of an OBJ file that change neither shape nor colour: names, groups, smoothing, normals.
_WITHOUT_EFFECT = ("o", "g", "s", "mg", "vn", "mtllib", "lod", "shadow_obj", "trace_obj")
#: An option of a texture that is applied or filters it, with its values.
_OPTION = re.compile(
    r"-(s|o|clamp|blend[uv]|boost|texres)((?:\s+(?:on|off|[-+]?\d*\.?\d+)(?=\s)){1,3})\s+", re.IGNORECASE
)


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


def _map(place: str, rest: str) -> tuple[dict[str, list[str]], str]:
    """The options of a texture by name, and its file."""
    options = dict[str, list[str]]()
    while rest.startswith("-"):
        option = _OPTION.match(rest)
        if option is None:
            raise KindsError(f"{place}: change map_Kd: of its options only -s, -o and -clamp are read")
        options[option[1].lower()] = option[2].split()
        rest = rest[option.end() :]
    return options, rest


def _numbers(place: str, rest: str, *counts: int) -> list[float]:
    """The numbers of a statement, as many as one of the counts, without a comment behind them."""
    words = rest.partition("#")[0].split()
    try:
        if len(words) in counts:
            return list(map(float, words))
    except ValueError:
        pass
    expected = " or ".join(map(str, counts))
    raise KindsError(f"{place}: '{rest:.40}' is not {expected} numbers: write them as in 0.5 0.5 1")


def _materials(file: str, files: Mapping[str, bytes]) -> dict[str, Part]:
    """The materials of an MTL file by name, as parts without faces.

    Their places are the (2, 2) scale of texture coordinates, and what is added to them.
    """
    materials = dict[str, Part]()
    part, has_opacity = _plain(), False
    for place, word, rest in _statements(file, files[file]):
        match word.lower():
            case "newmtl":
                name, has_opacity = " ".join(rest.split()), False
                part = materials[name] = _plain(name)
            case "kd" if not part.texture:
                part.colour = _opaque(_numbers(place, rest, 1, 3))
            case "d":
                (part.opacity,) = _numbers(place, rest, 1)
                has_opacity = True
            case "tr" if not has_opacity:
                part.opacity = 1.0 - _numbers(place, rest, 1)[0]
            case "map_kd":
                options, picture = _map(place, rest)
                wrap = "clamp" if options.get("clamp") == ["on"] else "repeat"
                part.texture = Texture(parse_picture(files[picture], f"texture {picture}"), (wrap, wrap))
                part.colour = np.ones(4)  # since programs write any Kd beside it
                across, up = [*map(float, options.get("s", ())), 1.0, 1.0][:2]
                right, above = [*map(float, options.get("o", ())), 0.0, 0.0][:2]
                part.places = np.array([[across, -up], [right, 1.0 - above]])  # pictures begin at the top
            case "map_d" | "decal":
                raise KindsError(f"{place}: remove {word}, which is not read, or export a GLB file")
    return materials


def _opaque(srgb: list[float]) -> np.ndarray:
    """(4,) linear colour of one for all channels or three."""
    return np.append(linear(np.resize(srgb, 3)), 1.0)


def _plain(name: str = "") -> Part:
    return Part(np.zeros((0, 3, 3)), name, _opaque(_LIGHT_GREY), opacity=1.0)


def read_obj(file: str, files: Mapping[str, bytes]) -> list[Part]:
    """The parts of an OBJ file, one a material.

    Args:
        file: its name.
        files: its content, and those of the files that belong to it, by name.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError.
    """
    materials, material = {"": _plain()}, ""
    for other in files_named(file, files[file]):
        materials |= _materials(other, files)
    vertices, places = list[list[float]](), list[list[float]]()
    faces = dict[str, list[tuple[int, int]]]()
    count = 0
    for place, word, rest in _statements(file, files[file]):
        match word:
            case "v":
                vertices.append(_numbers(place, rest, 3, 4, 6, 7))
            case "vt":
                places.append(_numbers(place, rest, 2, 3)[:2])
            case "usemtl":
                material = " ".join(rest.split())
                if material not in materials:
                    raise KindsError(f"{place}: no file of mtllib has the material '{material}': add it")
            case "f":
                corners = [f"{corner}//".split("/") for corner in rest.partition("#")[0].split()]
                if len(corners) > LARGEST_POLYGON:
                    raise KindsError(f"{place}: a face of {len(corners):,} corners: triangulate it")
                named = [(_row(v, vertices), _row(t or "0", places)) for v, t, *_ in corners]
                fan = _fan(place, named, vertices)
                faces.setdefault(material, []).extend(fan)
                count += len(fan) // 3
            case word if word not in _WITHOUT_EFFECT:
                raise KindsError(f"{place}: {word} is not read: export a mesh of triangles")
        check_counts(count, max(len(vertices), len(places)))
    points = np.array([vertex[:3] for vertex in vertices])
    tints = np.array([vertex[3:6] if len(vertex) > 4 else [1.0] * 3 for vertex in vertices])
    parts = []
    for name, rows in reversed(faces.items()):
        vertex, place_of = np.array(rows).reshape(-1, 3, 2).transpose(2, 0, 1)
        part = replace(materials[name], corners=points[vertex], places=None)
        frame = materials[name].places
        if vertex.min(initial=0) < 0 or (frame is not None and place_of.min(initial=0) < 0):
            raise KindsError(f"{file}: faces of the material '{name}' lack corners, or texture coordinates")
        if max(map(len, vertices)) > 4:
            part.tints = linear(tints[vertex].mean(axis=1, keepdims=True))
            part.colour = part.colour if name else np.ones(4)
        if frame is not None:
            part.places = np.array(places)[place_of] * frame[0] + frame[1]
        parts.append(part)
    return parts


def _fan(place: str, named: list[tuple[int, int]], vertices: list[list[float]]) -> list[tuple[int, int]]:
    """The corners of the triangles of a polygon, which share one that sees all others. Raises KindsError."""
    last = len(named) - 1
    fan = [(0, 1, 2), (2, 3, 0)] if last == 3 else [(0, i, i + 1) for i in range(1, last)]
    for first in range(len(named)):
        turned = named[first:] + named[:first]
        corners = [turned[i] for triangle in fan for i in triangle]
        if last < 3:
            return corners
        normals = face_normals(np.array([vertices[v][:3] for v, _ in corners]).reshape(-1, 3, 3))
        whole = normals.sum(axis=0)
        if not (dots(normals, whole) < -_FLAT * dots(whole, whole)).any():
            return corners
    raise KindsError(f"{place}: a face of {last + 1} corners is bent inwards too far: triangulate it")


def _row(number: str, table: list[list[float]]) -> int:
    """The row that a face names, from 1 on or back from -1; negative if it is not there."""
    return int(number) + (len(table) if number.startswith("-") else -1)
