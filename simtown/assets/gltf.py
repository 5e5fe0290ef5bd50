"""GLB files: the faces of their scene, at rest.

What a file says is applied, or changes neither shape nor colour, or is refused by its name.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import numpy as np

from simtown.assets.faces import Part, Texture, check_counts
from simtown.core.exact import sincos
from simtown.core.files import KindsError
from simtown.core.untrusted import RefusedError, parse_picture

#: Extensions that are applied, and those that change neither shape nor colour: light, shine and notes.
_KNOWN = frozenset(
    "KHR_materials_transmission KHR_mesh_quantization KHR_texture_transform "
    "EXT_lights_ies EXT_lights_image_based KHR_animation_pointer KHR_lights_punctual KHR_materials_anisotropy "
    "KHR_materials_clearcoat KHR_materials_dispersion KHR_materials_emissive_strength KHR_materials_ior "
    "KHR_materials_iridescence KHR_materials_sheen KHR_materials_specular KHR_materials_unlit "
    "KHR_materials_variants KHR_materials_volume KHR_xmp KHR_xmp_json_ld".split()
)
#: How the names of pictures and tables beside a file end.
_BESIDE = (".png", ".jpg", ".jpeg", ".bin")
_NUMBERS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_WRAPS = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6


def _chunks(content: bytes) -> tuple[Any, bytes]:
    """The JSON document of a GLB file and its binary part. Raises ValueError or struct.error."""
    if struct.unpack_from("<4sI", content) != (b"glTF", 2):
        raise ValueError("it does not begin as GLB 2.0 does")
    chunks, start = dict[bytes, bytes](), 12
    while start + 8 <= len(content):
        size, kind = struct.unpack_from("<I4s", content, start)
        chunks.setdefault(kind, content[start + 8 :][:size])
        start += 8 + size
    return msgspec.json.decode(chunks[b"JSON"]), chunks.get(b"BIN\0", b"")


def files_named(content: bytes) -> list[str]:
    """The names of the pictures and tables beside a GLB file, as it has them."""
    document, _ = _chunks(content)
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
    turn = quaternion_matrix(np.roll(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), 1))
    scale = np.diag([*node.get("scale", (1.0, 1.0, 1.0)), 1.0])
    result: np.ndarray = translation_matrix(node.get("translation", (0.0, 0.0, 0.0))) @ turn @ scale
    return result


def read_glb(content: bytes, files: Mapping[str, bytes], node: str | None) -> list[tuple[np.ndarray, Part]]:
    """The parts of a GLB file's scene, or of a node of it, each with its (4, 4) transform.

    Args:
        content: of the GLB file.
        files: contents of the files beside it, by their names in it.
        node: its name; the parts are then in its own axes.

    Raises:
        KindsError: it has something that is not read, or too much of it; the message says what to change.
        ValueError: it is damaged; also others, such as LookupError and struct.error.
    """
    return _Glb(content, files).parts(node)


class _Glb:
    """A GLB file."""

    def __init__(self, content: bytes, files: Mapping[str, bytes]) -> None:
        self.document, binary = _chunks(content)
        unknown = sorted({*_extensions(self.document)} - _KNOWN)
        if unknown:
            remedy = "export it without, uncompressed, with PNG or JPEG textures"
            raise KindsError(f"it uses {', '.join(unknown)}: {remedy}")
        self.files = {"": binary, **files}
        self.transforms = dict[int, np.ndarray]()
        self.content, self.texture, self.part = cache(self._content), cache(self._texture), cache(self._part)

    def parts(self, name: str | None) -> list[tuple[np.ndarray, Part]]:
        """See :func:`read_glb`."""
        self._walk(name)
        drawn, faces = list[tuple[Any, ...]](), 0
        for number, transform in self.transforms.items():
            node = self.document["nodes"][number]
            mesh = self.document["meshes"][node["mesh"]] if "mesh" in node else {"primitives": []}
            if any(node.get("weights", mesh.get("weights", ()))):
                raise KindsError("its shape keys (morph targets) are in use: apply them, and export it again")
            for place, primitive in enumerate(mesh["primitives"]):
                if count := self._face_count(primitive):
                    faces += count
                    is_posed = "skin" in node  # by its bones, wherever it hangs itself
                    drawn.append(
                        (np.eye(4) if is_posed else transform, node["mesh"], place, node.get("skin"))
                    )
        check_counts(faces)
        return [(transform, self.part(*which)) for transform, *which in drawn]

    def _walk(self, name: str | None) -> None:
        """Find the transforms of all nodes of the scene, or of a node and those below it, in its axes."""
        nodes, unmoved = self.document.get("nodes", []), np.eye(4)
        if name is None:
            scenes = self.document.get("scenes", [{}])
            roots = scenes[self.document.get("scene", 0)].get("nodes", [])
        else:
            names = [node.get("name", str(number)) for number, node in enumerate(nodes)]
            if name not in names:
                drawn = sorted(known for known, node in zip(names, nodes, strict=True) if "mesh" in node)
                raise KindsError(f"it has no node '{name}': give as `node` one of {', '.join(drawn[:12])}")
            self.transforms[names.index(name)] = unmoved
            roots = nodes[names.index(name)].get("children", [])
        waiting = [(root, unmoved) for root in roots]
        while waiting:
            number, above = waiting.pop()
            if number in self.transforms:
                raise KindsError(f"its node {number} hangs on two nodes, or on itself: export it again")
            self.transforms[number] = above @ _transform(nodes[number])
            waiting += [(child, self.transforms[number]) for child in nodes[number].get("children", [])]

    def _face_count(self, primitive: dict[str, Any]) -> int:
        mode = primitive.get("mode", _TRIANGLES)
        if mode not in (_TRIANGLES, _STRIP, _FAN):
            raise KindsError(f"it has points or lines (mode {mode}): delete what is not a face")
        corners = primitive.get("indices", primitive["attributes"]["POSITION"])
        count: int = self.document["accessors"][corners]["count"]
        return count // 3 if mode == _TRIANGLES else count - 2

    def _part(self, mesh: int, place: int, skin: int | None) -> Part:
        """The faces of a primitive, posed by a skin."""
        primitive = self.document["meshes"][mesh]["primitives"][place]
        attributes, mode = primitive["attributes"], primitive.get("mode", _TRIANGLES)
        step = np.arange(self._face_count(primitive))[:, None]
        rows = step + [0, 1, 2]
        if mode == _TRIANGLES:
            rows += 2 * step
        elif mode == _FAN:
            rows[:, 0] = 0
        else:
            rows[1::2, :2] = rows[1::2, 1::-1]
        if "indices" in primitive:
            rows = self._values(primitive["indices"])[rows, 0]
        corners = self._values(attributes["POSITION"]).astype(float)
        if skin is not None:
            corners = self._posed(corners, attributes, skin)
        material = self.document["materials"][primitive["material"]] if "material" in primitive else {}
        base = material.get("pbrMetallicRoughness", {})
        part = Part(
            corners[rows], material.get("name", ""), base.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0))
        )
        part.alpha, part.cutoff = material.get("alphaMode", "OPAQUE"), material.get("alphaCutoff", 0.5)
        clear = material.get("extensions", {}).get("KHR_materials_transmission", {}).get("transmissionFactor")
        if clear and part.alpha == "OPAQUE":
            part.alpha, part.colour = "BLEND", (*part.colour[:3], 1.0 - clear)
        if "COLOR_0" in attributes:
            part.tints = self._values(attributes["COLOR_0"])[rows]
        if "baseColorTexture" in base:
            about = base["baseColorTexture"]
            placing = about.get("extensions", {}).get("KHR_texture_transform", {})
            name = f"TEXCOORD_{placing.get('texCoord', about.get('texCoord', 0))}"
            if name not in attributes:
                raise KindsError(f"a part with the material '{part.name}' has no {name}: unwrap it")
            sine, cosine = sincos(placing.get("rotation", 0.0))
            turn = np.array([[cosine, -sine], [sine, cosine]])
            places = self._values(attributes[name])[rows] * placing.get("scale", 1.0)
            part.places = places @ turn + placing.get("offset", 0.0)
            part.texture = self.texture(about["index"])
        return part

    def _texture(self, number: int) -> Texture:
        texture = self.document["textures"][number]
        image = self.document["images"][texture["source"]]
        content = self._view(image["bufferView"]) if "bufferView" in image else self.content(image["uri"])
        try:
            picture = parse_picture(bytes(content))
        except RefusedError as error:
            raise KindsError(f"its texture {image.get('uri', number)} cannot be used: {error}") from None
        sampler = self.document["samplers"][texture["sampler"]] if "sampler" in texture else {}
        return Texture(picture, tuple(_WRAPS[sampler.get(key, 10497)] for key in ("wrapS", "wrapT")))

    def _posed(self, corners: np.ndarray, attributes: Mapping[str, int], skin: int) -> np.ndarray:
        """(v, 3) corners where the bones of a skin have them."""
        about = self.document["skins"][skin]
        if not self.transforms.keys() >= {*about["joints"]}:
            raise KindsError("a skin has bones outside of what is drawn: leave `node` out, or apply the skin")
        bones = np.stack([self.transforms[joint] for joint in about["joints"]])
        if "inverseBindMatrices" in about:
            bones = bones @ self._values(about["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        total = np.zeros((len(corners), 4, 4))
        for name in (name for name in attributes if name.startswith("JOINTS_")):
            joints = self._values(attributes[name])
            weights = self._values(attributes[name.replace("JOINTS", "WEIGHTS")])
            for joint, weight in zip(joints.T, weights.T, strict=True):
                total += weight[:, None, None] * bones[joint]
        posed: np.ndarray = (total[:, :3, :3] * corners[:, None]).sum(axis=2) + total[:, :3, 3]
        return posed

    def _values(self, number: int) -> np.ndarray:
        """(n, c) the numbers of an accessor, normalised ones in [0, 1] or [-1, 1]."""
        about = self.document["accessors"][number]
        kind, width = np.dtype(_NUMBERS[about["componentType"]]), _WIDTHS[about["type"]]
        check_counts(0, about["count"])
        values = np.zeros((about["count"], width), kind)
        if "bufferView" in about:
            values = self._table(about, values)
        if "sparse" in about:
            sparse = about["sparse"]
            kinds = _NUMBERS[sparse["indices"]["componentType"]]
            rows = self._table(sparse["indices"], np.zeros((sparse["count"], 1), kinds))[:, 0]
            values = values.copy()
            values[rows] = self._table(sparse["values"], values[rows])
        return np.maximum(values / np.iinfo(kind).max, -1.0) if about.get("normalized") else values

    def _table(self, place: dict[str, Any], like: np.ndarray) -> np.ndarray:
        """The numbers at a place of a view, of the shape and dtype of another array."""
        view, size = self.document["bufferViews"][place["bufferView"]], like.itemsize
        strides = view.get("byteStride", size * like.shape[1]), size
        content = self._view(place["bufferView"])
        return np.ndarray(like.shape, like.dtype, content, place.get("byteOffset", 0), strides)

    def _view(self, number: int) -> memoryview:
        view = self.document["bufferViews"][number]
        content = self.content(self.document["buffers"][view["buffer"]].get("uri", ""))
        return memoryview(content)[view.get("byteOffset", 0) :][: view["byteLength"]]

    def _content(self, uri: str) -> bytes:
        """The content of a file beside this one, or in its name; without a name the binary part."""
        if uri.startswith("data:"):
            return b64decode(uri.partition(",")[2])
        if uri not in self.files:
            raise KindsError(f"it needs '{uri}': have textures as PNG or JPEG files, in it or beside it")
        return self.files[uri]
