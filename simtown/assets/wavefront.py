"""OBJ files, and the MTL files of their materials, statement by statement."""

from __future__ import annotations

import re
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
        raise KindsError(
            f"{place}: change map_Kd: of its options only -s and -o with two or three numbers are read"
        )
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
            material = materials[" ".join(rest.split())] = {}
        material[word.lower()] = place, rest
    return materials


def _part(
    name: str,
    material: _Material,
    files: Mapping[str, bytes],
    corners: np.ndarray,
    tints: np.ndarray,
    places: np.ndarray,
) -> Part:
    """The part of a material with (t, 3, 3) corners, (t, 3) sRGB colours and (t, 3, 2) texture coordinates."""
    for word in {"map_d", "decal"} & {*material}:
        raise KindsError(f"{material[word][0]}: remove {word}, which is not read, or export a GLB file")
    colour = linear(tints)
    part = Part(corners, name, np.insert(colour, 3, 1.0, axis=1))
    return part
