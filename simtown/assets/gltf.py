"""GLB files: the faces of their scene, at rest.

What a file says is applied, or changes neither shape nor colour, or is refused by its name.
"""

from __future__ import annotations

import json
import re
import struct
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from simtown.assets.faces import Part, Texture, check_counts
from simtown.core.exact import sincos
from simtown.core.files import KindsError
from simtown.core.untrusted import parse_picture

#: Extensions that are applied, and then those that change neither shape nor colour: light, shine and notes.
_KNOWN = re.compile(
    "KHR_(materials_transmission|mesh_quantization|texture_transform"
    "|materials_(anisotropy|clearcoat|dispersion|emissive_strength|ior|iridescence|sheen|specular|unlit|variants)"
    "|materials_(diffuse_transmission|volume)|animation_pointer|lights_punctual|xmp|xmp_json_ld)"
    "|EXT_lights_(ies|image_based)"
)
#: How the names of pictures and tables beside a file end.
_BESIDE = (".png", ".jpg", ".jpeg", ".bin")
_NUMBERS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
#: Bones that differ by this part of their largest number do the same.
_SAME_BONE = 1e-3
_WRAPS = {10497: "repeat", 33071: "clamp", 33648: "mirror"}


def _split(content: bytes) -> tuple[Any, bytes]:
    """The JSON document of a GLB file and its binary part. Raises ValueError or struct.error."""
    if struct.unpack_from("<4sI4x4x4s", content) != (b"glTF", 2, b"JSON"):
        raise ValueError("it does not begin as GLB 2.0 does")
    end = 20 + struct.unpack_from("<I", content, 12)[0]
    return json.loads(content[20:end]), content[end + 8 :]


def files_named(content: bytes) -> list[str]:
    """The names of the pictures and tables beside a GLB file, as it has them."""
    document, _ = _split(content)
    parts = [part for key, value in document.items() if key in ("buffers", "images") for part in value]
    return [part["uri"] for part in parts if part.get("uri", "").lower().endswith(_BESIDE)]


def _extensions(value: Any) -> Iterator[str]:
    """The names of all extensions that a document has or lists."""
    if isinstance(value, list):
        for part in value:
            yield from _extensions(part)
    if isinstance(value, dict):
        for key, part in value.items():
            if key.startswith("extensions"):  # and extensionsUsed, extensionsRequired
                yield from part
            if key != "extras":
                yield from _extensions(part)


def _transform(node: dict[str, Any]) -> np.ndarray:
    """(4, 4) of a node in the one above it."""
    from trimesh.transformations import quaternion_matrix, translation_matrix

    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    turn = quaternion_matrix(np.roll(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), 1))
    place, scale = node.get("translation", np.zeros(3)), node.get("scale", np.ones(3))
    result: np.ndarray = translation_matrix(place) @ turn @ np.diag([*scale, 1.0])
    return result


class Glb:
    """A GLB file.

    Args:
        content: of the file.
        files: contents of those beside it, by their names in it.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError and struct.error, here and in `parts`.
    """

    def __init__(self, content: bytes, files: Mapping[str, bytes]) -> None:
        self.document, binary = _split(content)
        unknown = sorted(name for name in {*_extensions(self.document)} if not _KNOWN.fullmatch(name))
        if unknown:
            remedy = "export it without, uncompressed, with PNG or JPEG textures"
            raise KindsError(f"it uses {', '.join(unknown)}: {remedy}")
        self.files = {"": binary, **files}
        self.content, self.texture, self.part = cache(self._content), cache(self._texture), cache(self._part)

    def parts(self, name: str | None) -> list[tuple[np.ndarray, Part]]:
        """The parts of the scene, or of a node in its own axes, each with its (4, 4) transform."""
        transforms, scene = self._transforms(name), self._transforms(None)
        drawn, faces = list[tuple[np.ndarray, int, int]](), 0
        for number, transform in transforms.items():
            node = self.document["nodes"][number]
            if "mesh" not in node:
                continue
            mesh = self.document["meshes"][node["mesh"]]
            if any(node.get("weights", mesh.get("weights", ()))):
                raise KindsError("its shape keys (morph targets) are in use: apply them, and export it again")
            if "skin" in node:
                bone = self._bone(self.document["skins"][node["skin"]], scene)
                transform = transform @ np.linalg.inv(scene[number]) @ bone  # wherever it hangs itself
            for place, primitive in enumerate(mesh["primitives"]):
                faces += self._face_count(primitive)
                drawn.append((transform, node["mesh"], place))
        check_counts(faces)
        return [(transform, self.part(*which)) for transform, *which in drawn]

    def _transforms(self, name: str | None) -> dict[int, np.ndarray]:
        """The (4, 4) of all nodes of the scene, or of a node and those below it, in its axes."""
        nodes, unmoved = self.document.get("nodes", []), np.eye(4)
        result = dict[int, np.ndarray]()
        if name is None:
            roots = self.document.get("scenes", [{}])[self.document.get("scene", 0)].get("nodes", [])
        else:
            names = [node.get("name", str(number)) for number, node in enumerate(nodes)]
            if name not in names:
                drawn = sorted(known for known, node in zip(names, nodes, strict=True) if "mesh" in node)
                raise KindsError(f"it has no node '{name}': give as node one of {', '.join(drawn[:12])}")
            result[names.index(name)] = unmoved
            roots = nodes[names.index(name)].get("children", [])
        waiting = [(root, unmoved) for root in roots]
        while waiting:
            number, above = waiting.pop()
            if number in result:
                raise KindsError(f"its node {number} hangs on two nodes, or on itself: export it again")
            result[number] = above @ _transform(nodes[number])
            waiting += [(child, result[number]) for child in nodes[number].get("children", [])]
        return result

    def _bone(self, skin: dict[str, Any], scene: Mapping[int, np.ndarray]) -> np.ndarray:
        """The (4, 4) of all bones of a skin, at rest. Raises KindsError if they pose it."""
        bones = np.stack([scene[joint] for joint in skin["joints"]])
        if "inverseBindMatrices" in skin:
            bones = bones @ self._values(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        if np.abs(bones - bones[0]).max() > _SAME_BONE * np.abs(bones).max():
            raise KindsError("it has a skin that its bones pose: apply the pose, and export it without bones")
        return bones[0]

    def _face_count(self, primitive: dict[str, Any]) -> int:
        if (mode := primitive.get("mode", 4)) != 4:
            raise KindsError(f"it has points, lines, strips or fans (mode {mode}): export triangles alone")
        corners = primitive.get("indices", primitive["attributes"]["POSITION"])
        count: int = self.document["accessors"][corners]["count"]
        return count // 3

    def _part(self, mesh: int, place: int) -> Part:
        """The faces of a primitive."""
        primitive = self.document["meshes"][mesh]["primitives"][place]
        attributes = primitive["attributes"]
        rows = np.arange(3 * self._face_count(primitive))
        if "indices" in primitive:
            rows = self._values(primitive["indices"])[rows, 0]

        def of_corners(attribute: str) -> np.ndarray:
            values = self._values(attributes[attribute])
            return values[rows.reshape(-1, 3)]

        material = self.document["materials"][primitive["material"]] if "material" in primitive else {}
        base = material.get("pbrMetallicRoughness", {})
        colour = base.get("baseColorFactor", np.ones(4))
        part = Part(of_corners("POSITION"), material.get("name", ""), colour)
        match material.get("alphaMode", "OPAQUE"):
            case "OPAQUE":
                clear = material.get("extensions", {}).get("KHR_materials_transmission", {})
                part.opacity = 1.0 - clear.get("transmissionFactor", 0.0)
            case "MASK":
                part.cutoff = material.get("alphaCutoff", 0.5)
        if "COLOR_0" in attributes:
            part.tints = of_corners("COLOR_0")
        if "baseColorTexture" in base:
            about = base["baseColorTexture"]
            placing = about.get("extensions", {}).get("KHR_texture_transform", {})
            sine, cosine = sincos(placing.get("rotation", 0.0))
            turn = np.array([[cosine, -sine], [sine, cosine]])
            places = of_corners(f"TEXCOORD_{placing.get('texCoord', about.get('texCoord', 0))}")
            part.places = places * placing.get("scale", 1.0) @ turn + placing.get("offset", 0.0)
            part.texture = self.texture(about["index"])
        return part

    def _texture(self, number: int) -> Texture:
        texture = self.document["textures"][number]
        image = self.document["images"][texture["source"]]
        content = self._view(image["bufferView"]) if "bufferView" in image else self.content(image["uri"])
        sampler = self.document["samplers"][texture["sampler"]] if "sampler" in texture else {}
        wraps = [_WRAPS[sampler.get(side, 10497)] for side in ("wrapS", "wrapT")]
        return Texture(parse_picture(bytes(content), f"texture {image.get('uri', str(number)):.80}"), wraps)

    def _values(self, number: int) -> np.ndarray:
        """(n, c) the numbers of an accessor, normalised ones in [0, 1] or [-1, 1]."""
        about = self.document["accessors"][number]
        check_counts(corners=about["count"])
        values = np.zeros((about["count"], _WIDTHS[about["type"]]), _NUMBERS[about["componentType"]])
        if "bufferView" in about:
            values = self._table(about, values)
        if "sparse" in about:
            sparse = about["sparse"]
            rows = np.zeros((sparse["count"], 1), _NUMBERS[sparse["indices"]["componentType"]])
            rows = self._table(sparse["indices"], rows)[:, 0]
            values = values.copy()
            values[rows] = self._table(sparse["values"], values[rows])
        return np.maximum(values / np.iinfo(values.dtype).max, -1.0) if about.get("normalized") else values

    def _table(self, place: dict[str, Any], like: np.ndarray) -> np.ndarray:
        """The numbers at a place of a view, of the shape and dtype of another array."""
        view = self.document["bufferViews"][place["bufferView"]]
        row = view.get("byteStride", like.itemsize * like.shape[1])
        content, start = self._view(place["bufferView"]), place.get("byteOffset", 0)
        return np.ndarray(like.shape, like.dtype, content, start, (row, like.itemsize))

    def _view(self, number: int) -> memoryview:
        view = self.document["bufferViews"][number]
        content = self.content(self.document["buffers"][view["buffer"]].get("uri", ""))
        return memoryview(content)[view.get("byteOffset", 0) :][: view["byteLength"]]

    def _content(self, uri: str) -> bytes:
        """The content of a file beside this one, or in its name; without a name the binary part."""
        if uri.startswith("data:"):
            return b64decode(uri.partition(",")[2])
        if uri not in self.files:
            raise KindsError(f"it needs '{uri:.80}': have PNG or JPEG textures, in the file or beside it")
        return self.files[uri]
