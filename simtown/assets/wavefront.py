"""OBJ files, and the MTL files of their materials, statement by statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from simtown.assets.faces import Part, Texture, check_counts, linear
from simtown.assets.mesh import dots, face_normals
from simtown.core.files import KindsError
from simtown.core.untrusted import RefusedError, parse_picture

#: Most corners of a polygon.
LARGEST_POLYGON = 1_000
#: The sRGB colour of what has none: light grey.
_LIGHT_GREY = 0.8
#: A triangle of a polygon may look back by this part of its area, as corners are rounded.
_FLAT = 1e-4
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
    """The names of the files that an OBJ file (materials) or an MTL file (pictures) needs. Raises KindsError."""
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

    Their `places` are (2, 2) the scale of texture coordinates, and what is added to them.
    """
    written = dict[str, dict[str, tuple[str, str]]]()
    current = dict[str, tuple[str, str]]()
    for place, word, rest in _statements(file, files[file]):
        key = word.lower()
        if key == "newmtl":
            current = written[" ".join(rest.split())] = {}
        elif key in ("map_d", "decal"):
            raise KindsError(f"{place}: remove {word}, which is not read, or export a GLB file")
        current[key] = place, rest
    return {name: _material(name, statements, files) for name, statements in written.items()}


def _material(name: str, statements: Mapping[str, tuple[str, str]], files: Mapping[str, bytes]) -> Part:
    def numbers(key: str, default: float, *counts: int) -> list[float]:
        return _numbers(*statements[key], *counts) if key in statements else [default]

    colour = linear(np.resize(numbers("kd", _LIGHT_GREY, 1, 3), 3))
    (clear,) = numbers("tr", 0.0, 1)
    (opacity,) = numbers("d", 1.0 - clear, 1)
    part = Part(np.zeros((0, 3, 3)), name, (*colour, opacity))
    if "map_kd" in statements:
        place, rest = statements["map_kd"]
        options, file = _map(place, rest)
        try:
            picture = parse_picture(files[file])
        except RefusedError as error:
            raise KindsError(f"{place}: {file} cannot be used: {error}") from None
        wrap = "clamp" if options.get("clamp") == ["on"] else "repeat"
        part.texture, part.colour = Texture(picture, (wrap, wrap), "RGB"), (1.0, 1.0, 1.0, opacity)
        across, up = [*map(float, options.get("s", ())), 1.0, 1.0][:2]
        right, above = [*map(float, options.get("o", ())), 0.0, 0.0][:2]
        part.places = np.array([[across, -up], [right, 1.0 - above]])  # pictures begin at the top
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
    vertices, places, faces = list[list[float]](), list[list[float]](), 0
    polygons = dict[str, list[list[tuple[int, int]]]]()
    materials = {"": Part(np.zeros((0, 3, 3)), "", (*linear(np.full(3, _LIGHT_GREY)), 1.0))}
    for other in files_named(file, files[file]):
        materials |= _materials(other, files)
    material = ""
    for place, word, rest in _statements(file, files[file]):
        if word == "v":
            vertices.append(_numbers(place, rest, 3, 4, 6, 7))
        elif word == "vt":
            places.append(_numbers(place, rest, 2, 3)[:2])
        elif word == "usemtl":
            material = " ".join(rest.split())
            if material not in materials:
                raise KindsError(f"{place}: no file of mtllib has the material '{material}': add it")
        elif word == "f":
            corners = [f"{corner}/0".split("/") for corner in rest.partition("#")[0].split()]
            if len(corners) > LARGEST_POLYGON:
                raise KindsError(f"{place}: a face of {len(corners):,} corners: triangulate it")
            faces += max(len(corners) - 2, 0)
            polygons.setdefault(material, []).append(
                [(_index(v, vertices), _index(t or "0", places)) for v, t, *_ in corners]
            )
        elif word not in _WITHOUT_EFFECT:
            raise KindsError(f"{place}: {word} is not read: export a mesh of triangles")
        check_counts(faces, max(len(vertices), len(places)))
    points = np.array([vertex[:3] for vertex in vertices])
    has_colours = max(map(len, vertices), default=0) > 4
    colours = np.array([vertex[3:6] if len(vertex) > 4 else [1.0] * 3 for vertex in vertices])
    parts = []
    for name, faces_of in reversed(polygons.items()):
        corners = np.array([corner for polygon in faces_of for corner in polygon])
        if corners[:, 0].min() < 0:
            raise ValueError(f"a face of {name} names a corner before the first one")
        rows = _triangles(points[corners[:, 0]], np.array([len(polygon) for polygon in faces_of]))
        vertex, place_of = corners[rows].transpose(2, 0, 1)
        part = replace(materials[name], corners=points[vertex], places=None)
        if has_colours:
            part.tints = linear(colours[vertex].mean(axis=1, keepdims=True))
            part.colour = part.colour if name else (1.0, 1.0, 1.0, 1.0)
        if (frame := materials[name].places) is not None:
            if place_of.min() < 0:
                raise KindsError(f"{file}: faces of {name} have no texture coordinates: unwrap them")
            part.places = np.array(places)[place_of] * frame[0] + frame[1]
        parts.append(part)
    return parts


def _index(number: str, table: list[list[float]]) -> int:
    """The row that a face names, from 1 on or back from -1; -1 for 0, which names none."""
    return int(number) + (len(table) if number.startswith("-") else -1)


def _triangles(points: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(t, 3) rows of (c, 3) points: the triangles of polygons with so many corners each.

    All triangles of a polygon share a corner from which they look one way. Raises KindsError if it has none.
    """
    first = np.cumsum(counts) - counts
    triangles, owners = [], []
    for count in np.unique(counts):
        owner = np.flatnonzero(counts == count)
        rows = first[owner, None] + np.arange(count)
        for _ in range(count):
            later = rows[:, 2:]
            fans = np.stack([0 * later + rows[:, :1], rows[:, 1:-1], later], axis=2).reshape(-1, 3)
            normals = face_normals(points[fans]).reshape(*later.shape, 3)
            whole = normals.sum(axis=1, keepdims=True)
            is_folded = (dots(normals, whole) < -_FLAT * dots(whole, whole)).any(axis=1)
            rows[is_folded] = np.roll(rows[is_folded], 1, axis=1)
            if not is_folded.any():
                break
        else:
            raise KindsError(f"it has a face of {count} corners that is bent inwards too far: triangulate it")
        triangles.append(fans)
        owners.append(np.repeat(owner, count - 2))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(triangles)[order]
