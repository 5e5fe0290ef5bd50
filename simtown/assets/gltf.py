"""GLB files: the faces of their scene, at rest.

What a file says is applied, or changes neither shape nor colour, or is refused by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote

import numpy as np

from simtown.assets.faces import CLAMP, MIRROR, REPEAT, Part, Texture, check_corners
from simtown.core.exact import sincos
from simtown.core.files import KindsError
from simtown.core.untrusted import parse_json, parse_picture

#: Extensions that are applied, and then those that change neither shape nor colour: light, shine and notes.
_KNOWN = re.compile(
    "KHR_(materials_transmission|mesh_quantization|texture_transform"
    "|materials_(anisotropy|clearcoat|dispersion|emissive_strength|ior|iridescence|sheen|specular|unlit|variants)"
    "|materials_(diffuse_transmission|volume)|animation_pointer|lights_punctual|xmp|xmp_json_ld)"
    "|EXT_lights_(ies|image_based)"
)
#: NumPy's letters for the types of numbers from 5120 on, and how many of them a row has.
_LETTERS, _WIDTHS = "bBhH_If", {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
#: The types of accessors by what they are for: their shapes, and types of numbers.
_ROLES = {
    "POSITION": ("VEC3", range(5120, 5127)),
    "COLOR_": ("VEC3 VEC4", range(5120, 5127)),
    "TEXCOORD_": ("VEC2", range(5120, 5127)),
    "indices": ("SCALAR", (5121, 5123, 5125)),
}
#: Where a node stands, if it has no matrix.
_PLACING = {"translation", "rotation", "scale"}
#: Tables of as many rows as a file may have corners: places, colours, coordinates and the like.
_TABLES = 5


def _numbers(about: Mapping[str, Any], key: str, *default: float) -> np.ndarray:
    """The numbers of a list, as many as its default has. Raises KindsError."""
    values = about.get(key, default)
    if len(values) != len(default) or not {*map(type, values)} <= {int, float}:
        raise KindsError(f"its {key} is not a list of {len(default)} numbers: export it again")
    return np.array(values, dtype=float)


def _transform(node: dict[str, Any]) -> np.ndarray:
    """(4, 4) of a node in the one above it."""
    from trimesh.transformations import quaternion_matrix

    if "matrix" in node:
        matrix = _numbers(node, "matrix", *range(16)).reshape(4, 4).T
        if (matrix[3] != (0, 0, 0, 1)).any() or _PLACING & node.keys():
            raise KindsError("a node's matrix is projective, or stands beside others: apply it")
        return matrix
    result: np.ndarray = quaternion_matrix(np.roll(_numbers(node, "rotation", 0, 0, 0, 1), 1))
    result[:3, :3] *= _numbers(node, "scale", 1, 1, 1)
    result[:3, 3] = _numbers(node, "translation", 0, 0, 0)
    return result


def _extensions(value: Any) -> Iterator[str]:
    """The names of all extensions in a part of the document."""
    if isinstance(value, dict):
        yield from value.get("extensions", ())
        value = [*value.values()]
    for part in value if isinstance(value, list) else ():
        yield from _extensions(part)


def _rows(values: np.ndarray, rows: np.ndarray, name: str) -> np.ndarray:
    """The rows of (n, c) values that (m,) indices name. Raises KindsError if one is not there."""
    if rows.max(initial=-1) >= len(values):
        raise KindsError(
            f"its indices reach {rows.max()}, and {name} has {len(values)} rows: export it again"
        )
    return values[rows]


def _check_bytes(view: int, begin: int, size: int, most: int) -> None:
    """Raises KindsError if some bytes do not lie among as many as there are at most."""
    if begin < 0 or begin + size > most:
        raise KindsError(f"its bufferViews {view} reaches beyond its bytes: export it again")


class Glb:
    """A GLB file.

    Args:
        content: of the file.
        files: contents of those beside it, by their names in it.

    Attributes:
        names: of the tables and pictures beside it.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError, here and in `parts`.
    """

    def __init__(self, content: bytes, files: Mapping[str, bytes]) -> None:
        if not content.startswith(b"glTF\2\0\0\0"):
            raise KindsError("it does not begin as GLB 2.0 does: export it again")
        size = int.from_bytes(content[8:12], "little")
        if len(content) < size:
            raise KindsError(f"it is cut off after {len(content):,} of {size:,} bytes: copy it again")
        end = 20 + int.from_bytes(content[12:16], "little")
        chunks = content[16:20] + content[end + 4 : end + 8]
        if end > size or chunks not in (b"JSONBIN\0", b"JSON"):
            raise KindsError("its chunks are not one of JSON and one of numbers: export it again")
        self.document = parse_json(content[20:end])
        about = self.document.get("asset", {})
        version = str(about.get("minVersion", about.get("version", "2.0")))
        if not re.fullmatch(r"2\.0" if "minVersion" in about else r"2\.\d+", version):
            raise KindsError(f"it is of glTF {version:.20}: export it as glTF 2.0")
        used = {*self.document.get("extensionsRequired", ()), *_extensions(self.document)}
        unknown = sorted(name for name in used if not _KNOWN.fullmatch(name))
        if unknown:
            remedy = "export it without, uncompressed, with PNG or JPEG textures"
            raise KindsError(f"it uses {', '.join(unknown)}: {remedy}")
        tables = [*self.document.get("buffers", ()), *self.document.get("images", ())]
        self.names = [unquote(table["uri"]) for table in tables if "uri" in table]
        self.files = {"": content[end + 8 :], **files}
        self.texture, self.mesh, self.values = cache(self._texture), cache(self._mesh), cache(self._values)
        self.rows = 0

    def _get(self, table: str, number: int | None) -> Any:
        """A row of a table of the document; without a number {}."""
        if number is None:
            return {}
        rows = self.document.get(table, ())
        if not 0 <= number < len(rows):
            raise KindsError(f"it has no {table} {number}: export it again")
        return rows[number]

    def parts(self, name: str | None) -> list[tuple[np.ndarray, Part]]:
        """The parts of the scene, or of a node in its own axes, each with its (4, 4) transform."""
        if name is None:
            roots = self._get("scenes", self.document.get("scene", 0))["nodes"]
        else:
            nodes = self.document["nodes"]
            names = [str(node.get("name", number)) for number, node in enumerate(nodes)]
            if name not in names:
                raise KindsError(f"it has no node '{name}': give as node one of {', '.join(names):.500}")
            roots = [names.index(name)]
            for key in ("matrix", *_PLACING):
                nodes[roots[0]].pop(key, None)
        waiting, reached = [(root, np.eye(4)) for root in roots], set[int]()
        drawn, corners = list[tuple[np.ndarray, int]](), 0
        while waiting:
            number, above = waiting.pop()
            if number in reached:
                raise KindsError(f"its node {number} has two parents, or is its own: export it again")
            reached.add(number)
            node = self._get("nodes", number)
            transform = above @ _transform(node)
            waiting += [(child, transform) for child in node.get("children", ())]
            if "mesh" in node:
                mesh = self._get("meshes", node["mesh"])
                if "skin" in node:
                    raise KindsError("it has a skin: apply the pose of its bones, and export it without them")
                if any(node.get("weights", mesh.get("weights", ()))):
                    raise KindsError(
                        "its shape keys (morph targets) are in use: apply them, and export it again"
                    )
                corners += sum(map(self._count, mesh["primitives"]))
                drawn.append((transform, node["mesh"]))
        check_corners(corners)
        return [(transform, part) for transform, mesh in drawn for part in self.mesh(mesh)]

    def _count(self, primitive: dict[str, Any]) -> int:
        """The number of corners of all triangles of a primitive."""
        if (mode := primitive.get("mode", 4)) != 4:
            raise KindsError(f"it has points, lines, strips or fans (mode {mode}): export triangles alone")
        corners = primitive.get("indices", primitive["attributes"]["POSITION"])
        count: int = self._get("accessors", corners)["count"]
        if count % 3:
            raise KindsError(f"it has {count} corners in a row, which are not triangles: export it again")
        return count

    def _mesh(self, number: int) -> list[Part]:
        return [self._part(primitive) for primitive in self._get("meshes", number)["primitives"]]

    def _part(self, primitive: dict[str, Any]) -> Part:
        """The faces of a primitive."""
        rows = np.arange(self._count(primitive))
        if "indices" in primitive:
            rows = self.values(primitive["indices"], "indices")[:, 0].astype(int)

        def of_corners(attribute: str) -> np.ndarray:
            values = self.values(primitive["attributes"][attribute], attribute)
            return _rows(values, rows, attribute).reshape(-1, 3, values.shape[1])

        material = self._get("materials", primitive.get("material"))
        base = material.get("pbrMetallicRoughness", {})
        corners = of_corners("POSITION")
        colour = np.tile(_numbers(base, "baseColorFactor", 1, 1, 1, 1), (len(corners), 1))
        if "COLOR_0" in primitive["attributes"]:
            tint = of_corners("COLOR_0").mean(axis=1)
            colour[:, : tint.shape[1]] *= tint
        part = Part(corners, material.get("name", ""), colour)
        glass = material.get("extensions", {}).get("KHR_materials_transmission", {})
        if "transmissionTexture" in glass:
            raise KindsError("it has a transmissionTexture, which is not read: give its mean as a factor")
        if (mode := material.get("alphaMode", "OPAQUE")) not in ("OPAQUE", "MASK", "BLEND"):
            raise KindsError(f"its alphaMode is {mode!s:.40}, which is not of glTF: export it again")
        part.opacity = 1.0 - glass.get("transmissionFactor", 0.0)
        if mode == "BLEND":
            part.colour[:, 3] *= part.opacity
            part.opacity = None
        if mode == "MASK":
            part.cutoff = material.get("alphaCutoff", 0.5)
        if "baseColorTexture" in base:
            about = base["baseColorTexture"]
            placing = about.get("extensions", {}).get("KHR_texture_transform", {})
            sine, cosine = sincos(placing.get("rotation", 0.0))
            turn = np.array([[cosine, -sine], [sine, cosine]])
            places = of_corners(f"TEXCOORD_{placing.get('texCoord', about.get('texCoord', 0))}")
            part.places = places * _numbers(placing, "scale", 1, 1) @ turn + _numbers(placing, "offset", 0, 0)
            part.texture = self.texture(about["index"])
        return part

    def _texture(self, number: int) -> Texture:
        texture = self._get("textures", number)
        image = self._get("images", texture["source"])
        content = self._view(image["bufferView"]) if "bufferView" in image else self._content(image)
        sampler = self._get("samplers", texture.get("sampler"))
        wraps = [sampler.get(side, REPEAT) for side in ("wrapS", "wrapT")]
        if not {*wraps} <= {REPEAT, CLAMP, MIRROR}:
            raise KindsError(f"its textures wrap as {wraps!s:.40}, which is not of glTF: export it again")
        return Texture(parse_picture(bytes(content), f"texture {number}"), wraps)

    def _values(self, number: int, name: str) -> np.ndarray:
        """(n, c) the numbers of an accessor, of as many and such numbers as its name demands."""
        about = self._get("accessors", number)
        kinds, types = _ROLES[name.rstrip("0123456789")]
        if about["type"] not in kinds.split() or about["componentType"] not in types:
            what = f"{about['type']} of componentType {about['componentType']}"
            raise KindsError(f"its {name} cannot be {what}: export it again")
        values = self._table(about)
        if "sparse" in about:
            sparse = about["sparse"]
            rows = self._table({"type": "SCALAR", **sparse, **sparse["indices"]})[:, 0].astype(int)
            _rows(values, rows, name)
            values[rows] = self._table({**about, "byteOffset": 0, **sparse, **sparse["values"]})
        return values

    def _table(self, about: dict[str, Any]) -> np.ndarray:
        """(n, c) the numbers at a place of a view, normalised ones in [0, 1] or [-1, 1]; or zeros."""
        shape = about["count"], _WIDTHS[about["type"]]
        self.rows += about["count"]
        check_corners(self.rows // _TABLES)
        if "bufferView" not in about:
            return np.zeros(shape)
        number = np.dtype(f"<{_LETTERS[about['componentType'] - 5120]}")
        view, width = self._get("bufferViews", about["bufferView"]), number.itemsize * shape[1]
        steps = view.get("byteStride", width), number.itemsize
        if steps[0] < width:
            raise KindsError(f"its rows of {width} bytes overlap: export it again")
        content, begin = self._view(about["bufferView"]), about.get("byteOffset", 0)
        _check_bytes(about["bufferView"], begin, steps[0] * (shape[0] - 1) + width, len(content))
        values = np.ndarray(shape, number, content, begin, steps).astype(float)
        if shape[1] == 1 and values.min(initial=0) < 0:
            raise KindsError("its indices are negative: export it again")
        return np.maximum(values / np.iinfo(number).max, -1.0) if about.get("normalized") else values

    def _view(self, number: int) -> np.ndarray:
        view = self._get("bufferViews", number)
        buffer = self._get("buffers", view["buffer"])
        content = self._content(buffer)
        size, begin = view["byteLength"], view.get("byteOffset", 0)
        _check_bytes(number, begin, size, min(len(content), buffer["byteLength"]))
        return np.frombuffer(content, np.uint8)[begin : begin + size]

    def _content(self, about: dict[str, Any]) -> bytes:
        """The content of a buffer or an image; that without an address is the binary part."""
        return self.files[unquote(about.get("uri", ""))]
