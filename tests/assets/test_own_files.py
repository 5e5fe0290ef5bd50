"""Files of meshes as programs write them: a feature is drawn as its format says, or refused by its name."""

import io
import json
import re
import struct
from contextlib import suppress

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.assets.entities import ENTITIES
from simtown.assets.gltf import Glb
from simtown.assets.mesh import face_normals
from simtown.assets.own import VARIABLE, load
from simtown.assets.palette import MATERIALS, material
from simtown.assets.wavefront import read_obj
from simtown.core.files import KindsError
from tests.assets.test_own_kinds import python
from tests.hostile.marks import IN_PYTHON, damages

BOX = trimesh.creation.box((1, 1, 2))
CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def picture(left=(216, 53, 47), right=(47, 111, 208), ending="PNG", size=(8, 8)):
    """A picture of two halves, red and blue."""
    image, content = Image.new("RGBA" if len(left) > 3 else "RGB", size, left), io.BytesIO()
    image.paste(right, (size[0] // 2, 0, *size))
    image.save(content, ending)
    return content.getvalue()


class Writer:
    """A GLB file of a box with one material, which tests change before it is written."""

    def __init__(self):
        self.content, self.views, self.accessors = b"", [], []
        primitive = {"attributes": {"POSITION": self.add(BOX.vertices, "f4")}, "material": 0}
        primitive["indices"] = self.add(BOX.faces.reshape(-1, 1), "u2")
        self.primitive, self.base, self.node = primitive, {}, {"mesh": 0}
        self.material, self.mesh = {"pbrMetallicRoughness": self.base}, {"primitives": [primitive]}
        self.document = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [self.node]}
        self.document |= {"meshes": [self.mesh], "materials": [self.material], "bufferViews": self.views}
        self.document |= {"accessors": self.accessors}

    def view(self, content, **more):
        self.content += b"\0" * (-len(self.content) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.content), "byteLength": len(content), **more})
        self.content += content
        return len(self.views) - 1

    def add(self, values, kind, **more):
        """The number of a new accessor of (n, c) values."""
        values = np.asarray(values).astype(f"<{kind}")
        about = {"componentType": CODES[kind], "count": len(values), "type": SHAPES[values.shape[1]]}
        self.accessors.append({"bufferView": self.view(values.tobytes()), **about, **more})
        return len(self.accessors) - 1

    def everywhere(self, *value, kind="f4", **more):
        """The number of an accessor that has one value at all corners."""
        return self.add(np.tile(value, (len(BOX.vertices), 1)), kind, **more)

    def extend(self, part, name, value):
        self.document.setdefault("extensionsUsed", []).append(name)
        part.setdefault("extensions", {})[name] = value

    def bytes(self):
        self.document["buffers"] = [{"byteLength": len(self.content)}]
        text = json.dumps(self.document).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        chunks += struct.pack("<I4s", len(self.content), b"BIN\0") + self.content
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def colours(monkeypatch, folder, content, name="own.glb", about=""):
    """The materials of a mesh's faces."""
    (folder / name).write_bytes(content)
    (folder / "own.toml").write_text(about)
    monkeypatch.setenv(VARIABLE, str(folder))
    mesh, _ = load(ENTITIES)[0].read()
    return {MATERIALS[m].name for m in mesh.materials}


def textured(u=0.25, content=None, wrap=10497, kind="f4", material=(), **info):
    """A change: a texture, read at (u, 0.5)."""

    def change(w):
        most = 1 if kind == "f4" else np.iinfo(kind).max
        coordinates = w.everywhere(u * most, most / 2, kind=kind, normalized=kind != "f4")
        w.primitive["attributes"][f"TEXCOORD_{info.get('texCoord', 0)}"] = coordinates
        w.document["images"] = [{"bufferView": w.view(content or picture())}]
        w.document["samplers"] = [{"wrapS": wrap}]
        w.document["textures"] = [{"source": 0, "sampler": 0}]
        w.base["baseColorTexture"] = {"index": 0, **info}
        w.material.update(material)

    return change


def placed(u=0.25, **transform):
    return textured(u, extensions={"KHR_texture_transform": transform})


def masked(u, **more):
    halves = picture((216, 53, 47, 200), (47, 111, 208, 20))
    return textured(u, halves, material={"alphaMode": "MASK", **more})


def tinted(w):
    w.primitive["attributes"]["COLOR_0"] = w.everywhere(0, 0, 255, kind="u1", normalized=True)
    del w.primitive["material"]


def clear(w):
    w.extend(w.material, "KHR_materials_transmission", {"transmissionFactor": 0.9})


DRAWN = {
    "white without a material": (lambda w: w.primitive.pop("material"), "trim"),
    "uint8 coordinates": (textured(0.75, kind="u1"), "blue"),
    "uint16 coordinates": (textured(0.75, kind="u2"), "blue"),
    "second coordinates": (textured(0.75, texCoord=1), "blue"),
    "offset": (placed(offset=[0.5, 0.0]), "blue"),
    "scale": (placed(scale=[3.0, 1.0]), "blue"),
    "rotation": (placed(u=0.1, rotation=np.pi / 2, offset=[0.2, 0.0]), "blue"),  # v = 0.5 turns to u
    "rotation back": (placed(u=0.1, rotation=-np.pi / 2, offset=[0.8, 0.0]), "red"),
    "clamp": (textured(1.2, wrap=33071), "blue"),
    "mirror": (textured(1.2, wrap=33648), "blue"),
    "repeat": (textured(1.2), "red"),
    "mask": (masked(0.25), "red"),
    "low mask": (masked(0.75, alphaCutoff=0.05), "blue"),
    "colours of corners": (tinted, "blue"),
    "transmission": (clear, "glass"),
    "a name that is a number": (lambda w: w.material.update(name=5), "trim"),
    "whole numbers": (lambda w: w.base.update(baseColorFactor=[0, 0, 1, 1]), "blue"),
    "a whole texture": (lambda w: (textured(0.75)(w), w.base.update(baseColorFactor=[1, 1, 1, 1])), "blue"),
    "jpeg": (textured(0.75, picture(ending="JPEG")), "blue"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "colour"), DRAWN.values(), ids=DRAWN)
def test_a_glb_file_has_the_colours_that_it_says(monkeypatch, tmp_path, change, colour):
    writer = Writer()
    change(writer)
    assert colours(monkeypatch, tmp_path, writer.bytes()) == {colour}


def beside(uri):
    return lambda w: w.document.update(images=[{"uri": uri}])


def below(table, key, number=-1):
    """A number of a row or a place that is not there, though Python counts back from the end."""

    def change(w):
        textured()(w)
        w.document[table][0][key] = number

    return change


def signed_indices(w):
    w.primitive["indices"] = w.add(BOX.faces.reshape(-1, 1) - 8, "i1")


def tables(w):
    """A table without numbers in the file, for more primitives than there is memory."""
    w.accessors += [{"componentType": 5126, "count": 600_000, "type": "VEC3"} for _ in range(100)]
    w.mesh["primitives"] = [{**w.primitive, "attributes": {"POSITION": 2 + n}} for n in range(100)]


def of(attribute, width, kind="f4"):
    """A table of an attribute, or of indices, in another form than its own."""

    def change(w):
        textured()(w)
        values = w.everywhere(*[0.5] * width, kind=kind) if attribute else w.add(BOX.faces, kind)
        (w.primitive["attributes"] if attribute else w.primitive)[attribute or "indices"] = values

    return change


def not_a_number(w):
    w.primitive["attributes"]["POSITION"] = w.add(np.where(BOX.vertices > 0.9, np.nan, BOX.vertices), "f4")


def many(nodes, faces):
    """As many nodes with one mesh, whose table is missing: it must not be read."""

    def change(w):
        w.accessors[w.primitive["indices"]] = {"componentType": 5123, "count": 3 * faces, "type": "SCALAR"}
        w.document |= {"nodes": [w.node] * nodes, "scenes": [{"nodes": [*range(nodes)]}]}

    return change


def large_picture():
    content = io.BytesIO()
    Image.new("1", (9_000, 9_000)).save(content, "PNG")
    return content.getvalue()


EXTENSIONS = (
    "KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_materials_pbrSpecularGlossiness",
    "EXT_texture_webp", "KHR_texture_basisu", "EXT_mesh_gpu_instancing", "ACME_own",
)  # fmt: skip
REFUSED = {
    **{name: (lambda w, name=name: w.extend(w.node, name, {}), f"it uses {name}") for name in EXTENSIONS},
    "required": (lambda w: w.document.update(extensionsRequired=["ACME_other"]), "it uses ACME_other"),
    **{f"mode {n}": (lambda w, n=n: w.primitive.update(mode=n), f"(mode {n})") for n in (0, 1, 2, 3, 5, 6)},
    "version 1": (lambda w: w.document["asset"].update(version="1.1"), "glTF 1.1"),
    "a later version": (lambda w: w.document["asset"].update(minVersion="2.1"), "glTF 2.1"),
    "webp": (beside("skin.webp"), "needs skin.webp"),
    "query": (beside("skin.png?v=2"), "skin.png?v=2"),
    "drive": (beside("C:/skin.png"), "'C:/skin.png' is not"),
    "data address": (beside("data:image/png;base64,iVBORw0KGgo="), "'data:image/png"),
    "bmp": (textured(content=picture(ending="BMP")), "not a PNG or JPEG"),
    "gif": (textured(content=picture(ending="GIF")), "not a PNG or JPEG"),
    "coordinates": (placed(texCoord=2), "TEXCOORD_2"),
    "shape keys": (lambda w: w.mesh.update(weights=[0.5]), "shape keys"),
    "skin": (lambda w: w.node.update(skin=0), "a skin"),
    "place": (below("bufferViews", "byteOffset", -96), "beyond its bytes"),
    "view": (below("accessors", "bufferView"), "bufferViews -1"),
    "material": (lambda w: w.primitive.update(material=-1), "materials -1"),
    "source": (below("textures", "source"), "images -1"),
    "sampler": (below("textures", "sampler"), "samplers -1"),
    "node": (below("scenes", "nodes", [-1]), "nodes -1"),
    "signed indices": (signed_indices, "indices cannot be SCALAR"),
    "tables": (tables, "corners"),
    "loop": (lambda w: w.node.update(children=[0]), "two parents"),
    "NaN": (not_a_number, "not finite"),
    "hole": (masked(0.75), "0 faces"),
    **{f"{name} of {n}": (of(name, n), f"{name} cannot be VEC{n}") for name, n in
       (("POSITION", 4), ("POSITION", 2), ("COLOR_0", 2), ("TEXCOORD_0", 3), ("TEXCOORD_0", 4))},
    "rows of indices": (of("", 3, "u2"), "indices cannot be VEC3"),
    "rows that overlap": (lambda w: w.views[0].update(byteStride=8), "overlap"),
    "half a triangle": (lambda w: w.accessors[1].update(count=34), "34 corners"),
    "bright": (lambda w: w.base.update(baseColorFactor=[0, 128, 255, 1]), "colours outside 0 to 1"),
    "3,000 nodes": (many(3_000, 100), "900,000 corners"),
    "20,000 boxes": (many(20_000, 12), "720,000 corners"),
    "many corners": (lambda w: w.accessors[0].update(count=2_000_000), "beyond its bytes"),
    "9,000²": (textured(content=large_picture()), "81,000,000 pixels"),
    "short": (lambda w: w.views[0].update(byteLength=20), "beyond its bytes"),
    "colour of NaN": (lambda w: w.base.update(baseColorFactor=[np.nan, 0, 0, 1]), "not finite"),
    "opacity of NaN": (lambda w: w.base.update(baseColorFactor=[1, 0, 0, np.nan]), "not finite"),
    "cutoff of NaN": (lambda w: w.material.update(alphaMode="MASK", alphaCutoff=np.nan), "not finite"),
    "tiny": (lambda w: w.node.update(scale=[1e-6] * 3), "give a length of 0.41 to 5.00"),
    "enormous": (lambda w: w.node.update(scale=[1e200] * 3), "give a length of 0.41 to 5.00"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_read_of_a_glb_file_is_named(monkeypatch, tmp_path, change, words):
    writer = Writer()
    change(writer)
    with pytest.raises(ValueError, match="own") as raised:
        colours(monkeypatch, tmp_path, writer.bytes())
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_damaged_glb_file_is_drawn_or_refused_in_words(monkeypatch, tmp_path):
    writer = Writer()
    textured()(writer)
    (tmp_path / "own.toml").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    said = set()
    for damaged in damages(writer.document):
        writer.document = damaged
        (tmp_path / "own.glb").write_bytes(writer.bytes())
        try:
            load(ENTITIES)[0].read()
        except KindsError as error:
            said.add(str(error))
    assert not [words for words in said if IN_PYTHON.search(words)]
    assert len(said) > 50


@given(
    st.sampled_from([*CODES]),
    st.booleans(),
    st.sampled_from(["plain", "strided", "sparse", "bare"]),
    st.randoms(),
)
def test_corners_are_those_that_were_written(kind, normalized, layout, random):
    """Whole and normalised numbers, in rows with gaps, partly replaced, and without a view."""
    generator = np.random.default_rng(random.randrange(10**6))
    most = 1 if kind == "f4" else np.iinfo(kind).max
    values = (generator.uniform(-1 if kind[0] != "u" else 0, 1, (8, 3)) * most).astype(f"<{kind}")
    normalized = normalized and kind != "f4"
    w = Writer()
    place = w.primitive["attributes"]["POSITION"] = w.add(values, kind, normalized=normalized)
    about = w.accessors[place]
    if layout == "strided":
        rows = np.zeros((8, 40), np.uint8)
        rows[:, 4 : 4 + 3 * values.itemsize] = values.view(np.uint8).reshape(8, -1)
        about |= {"bufferView": w.view(rows.tobytes(), byteStride=40), "byteOffset": 4}
    if layout in ("sparse", "bare"):
        chosen = np.sort(generator.choice(8, 3, replace=False))
        new = values[::-1][:3].copy()
        indices = {"bufferView": w.view(chosen.astype("u2").tobytes()), "componentType": CODES["u2"]}
        about["sparse"] = {"count": 3, "indices": indices, "values": {"bufferView": w.view(new.tobytes())}}
        if layout == "bare":
            del about["bufferView"]
            values[:] = 0
        values[chosen] = new
    wanted = np.maximum(values / most, -1) if normalized else values
    ((_, part),) = Glb(w.bytes(), {}).parts(None)
    assert part.corners == pytest.approx(wanted[BOX.faces])


SQUARE = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 0 1 1\nvt 0.75 0.5\n"
FACES = "f 4/1 3/1 2/1 1/1\nf 5/1 6/1 7/1 8/1\nf 1/1 2/1 6/1 5/1\nf -6/-1 -5/-1 -1/-1 -2/-1\n"
USED = f"mtllib a.mtl\n{SQUARE}usemtl Body\n{FACES}"
RED, BLUE = "newmtl Body\nKd 0.84 0.2 0.18\n", "Kd 0.18 0.43 0.81\n"
GREEN = "Gr\udcfcn"  # a byte of latin-1
POINTS = [(i % 2 + 0.2) * np.exp(1j * np.pi * i / 6) for i in range(12)]
STAR = "".join(f"v {point.real} {point.imag} 0\n" for point in POINTS)
STAR += f"f {' '.join(map(str, range(1, 13)))}"
NEEDLES = "v 0 0 0\nv 2 0 0\nv 1 1e-5 0\nv 0 1 1\nv 2 1 1\nv 1 1 1.00001\nf 1 2 3\nf 4 5 6\n"
#: An OBJ file, its MTL file, and a colour or what the message says.
WRITTEN = {
    "no material": (SQUARE + FACES, "", "hub"),
    "no Kd": (USED, "newmtl Body\nNs 10\n", "hub"),
    "comment": (USED, f"# by hand\n{RED[:-1]} # warm\n", "red"),
    "BOM and CRLF": ("\ufeff" + USED.replace("\n", "\r\n"), "\ufeff" + RED.replace("\n", "\r\n"), "red"),
    "continued": (USED.replace("usemtl Body", "usemtl \\\nBody"), RED, "material '\\'"),
    "latin-1": (USED.replace("Body", GREEN), RED.replace("Body", GREEN) + f"newmtl Gr\udcf6n\n{BLUE}", "red"),
    "face without corners": (f"{USED}f\n", RED, "red"),
    "comment with a backslash": (f"# C:\\models\\\n{USED}", RED, "red"),
    "bytes": (USED, "newmtl Body\nKd 12 0 200\n", "colours outside 0 to 1"),
    "one level": (USED, "newmtl Body\nKd 0.14\n", "black"),
    "two files": (USED.replace("a.mtl", "b.mtl a.mtl"), RED, "red"),
    "a space": (USED.replace("a.mtl", "b c.mtl a.mtl"), RED, "red"),
    "texture": (USED, f"{RED}map_Kd a.png\n", "blue"),
    "unscaled texture": (USED, f"{RED}map_Kd -s 1 1 1 a.png\n", "blue"),
    "moved texture": (USED, f"{RED}map_Kd -o 0.5 0 0 a.png\n", "red"),
    "scaled texture": (USED, f"{RED}map_Kd -s 3 1 1 -o 0 0 a.png\n", "red"),
    "glass": (USED, f"{RED}d 0.3\n", "glass"),
    "Tr": (USED, f"{RED}Tr 0.7\n", "glass"),
    "d before Tr": (USED, f"{RED}d 1\nTr 1\n", "red"),
    "colours of corners": (re.sub("(?m)^v .*", r"\g<0> .18 .43 .81", SQUARE) + FACES, "", "blue"),
    "decimal commas": (USED, "newmtl Body\nKd 0,8 0,2 0,1\n", "a.mtl: 'Kd 0,8 0,2 0,1'"),
    "spectral": (USED, "newmtl Body\nKd spectral a.rfl\n", "Kd spectral"),
    "-halo": (USED, f"{RED}d -halo 0.5\n", "a.mtl: 'd -halo"),
    "backslash": (USED, f"{RED}map_Kd maps\\a.png\n", "change map_Kd in a.mtl"),
    "drive": (USED, f"{RED}map_Kd C:/a.png\n", "change map_Kd in a.mtl"),
    "above": (USED, f"{RED}map_Kd ../a.png\n", "'../a.png'"),
    "option": (USED, f"{RED}map_Kd -mm 0 2 a.png\n", "a.mtl: change map_Kd"),
    "opacity texture": (USED, f"{RED}map_d a.png\n", "map_d"),
    "drive of materials": (USED.replace("a.mtl", "C:\\a.mtl"), RED, "change mtllib in own.obj"),
    "another name": (USED.replace("Body\n", "Boddy\n"), RED, "no file of mtllib"),
    "no coordinates": (re.sub("/-?1", "", USED), f"{RED}map_Kd a.png\n", "texture coordinates"),
    "lines": (f"{USED}l 1 2\n", RED, "'l 1 2' is not read"),
    "absent corner": (USED.replace("f 5/1", "f 0/1"), RED, "missing"),
    "later corner": (USED.replace("f 5/1", "f 99/1"), RED, "'f 99/1 6/1 7/1 8/1' has a corner"),
    "later coordinates": (USED.replace("f 5/1", "f 5/99"), RED, "vt 99"),
    "continued face": (f"{USED}f 1 2 \\\n3\n", RED, "in one line"),
    "NaN": (USED.replace("v 2 0 0", "v nan 0 0"), RED, "not finite"),
    "a number of Python": (USED.replace("v 2 0 0", "v 0_2 0 0"), RED, "'v 0_2 0 0' has not 3"),
    "Kd of inf": (USED, "newmtl Body\nKd inf 0 0\n", "not finite"),
    "percent": (USED.replace("a.mtl", "100%25.mtl"), RED, "red"),
    "needles": (NEEDLES, "", "0 faces"),
    "polygon": (f"{USED}f {'1/1 ' * 50_000}\n", RED, "a face of 50,000 corners"),
    "star": (STAR, "", "bent inwards"),
    "faces": (SQUARE + "f 1 2 3\n" * 200_001, "", "600,003 corners"),
}  # fmt: skip


@pytest.mark.parametrize(("obj", "mtl", "said"), WRITTEN.values(), ids=WRITTEN)
def test_an_obj_file_is_drawn_as_programs_write_it(monkeypatch, tmp_path, obj, mtl, said):
    for name, content in {
        "a.mtl": mtl,
        "100%25.mtl": mtl,
        "b.mtl": "newmtl Other\n",
        "b c.mtl": "# nothing\n",
    }.items():
        (tmp_path / name).write_bytes(content.encode(errors="surrogateescape"))
    (tmp_path / "a.png").write_bytes(picture())
    about, content = 'length = 2\nforward = "+x"\nup = "+z"', obj.encode(errors="surrogateescape")
    if said in {each.name for each in MATERIALS}:
        assert colours(monkeypatch, tmp_path, content, "own.obj", about) == {said}
        return
    with pytest.raises(ValueError, match=r"own|a\.mtl: ") as raised:
        colours(monkeypatch, tmp_path, content, "own.obj", about)
    assert said in str(raised.value)


@given(st.integers(5, 20), st.floats(0.2, 0.9), st.integers(0, 19))
def test_a_face_of_many_corners_has_its_own_area(count, notch, start):
    """A disc that one corner cuts into, whichever corner comes first."""
    turn = np.linspace(0, 2 * np.pi, count, endpoint=False)
    reach = np.where(np.arange(count) == 1, notch, 1.0)
    disc = np.roll(np.stack([reach * np.cos(turn), reach * np.sin(turn), 0 * turn], axis=1), start, axis=0)
    content = "".join(f"v {x} {y} {z}\n" for x, y, z in disc) + f"f {' '.join(map(str, range(1, count + 1)))}"
    (part,) = read_obj(content.encode(), {})
    x, y, _ = disc.T
    area = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
    assert np.abs(face_normals(part.corners)[:, 2]).sum() == pytest.approx(area, rel=1e-3)


def test_grey_is_never_skin(monkeypatch, tmp_path):
    """Triangles of all greys; a rider's skin comes back, which is the very colour."""
    skin = MATERIALS[material("skin")].colour
    corners = [
        f"v {x} {y} {z} {c[0]} {c[1]} {c[2]}"
        for c in [*np.tile(np.arange(256) / 255, (3, 1)).T, skin]
        for x, y, z in np.random.default_rng(int(999 * c[0])).random((3, 3))
    ]
    faces = [f"f {i} {i + 1} {i + 2}" for i in range(1, len(corners), 3)]
    about = 'length = 2\nforward = "+x"\nup = "+z"'
    content = "\n".join([*corners, *faces]).encode()
    found = colours(monkeypatch, tmp_path, content, "own.obj", about)
    assert ("skin" in found, "skin dark" in found) == (True, False)


@given(st.tuples(*[st.floats(-9, 2).map(np.exp2)] * 3))
def test_advice_can_be_followed(tmp_path_factory, size):
    folder = tmp_path_factory.mktemp("advice")
    content = trimesh.creation.box(size).export(file_type="glb")
    with pytest.MonkeyPatch.context() as patch:
        with suppress(ValueError):
            colours(patch, folder, content)
            return
        with pytest.raises(ValueError, match=r"no length fits|give a length") as raised:
            colours(patch, folder, content)
        for length in re.findall(r"(?:length of|to) ([\d.]+)", str(raised.value).partition("give")[2]):
            colours(patch, folder, content, about=f"length = {length}")


BAD_NAMES = "trucks,Children,cannot tell,Yes,no,left of,next-to,navy,Gray,eleven,third,the weather,nobody"
NAMES = dict.fromkeys(re.split(",", BAD_NAMES), False) | {"night boat": True, "farmer's cart": True}
TRY = f"""
import json, os, numpy, trimesh
from pathlib import Path
trimesh.creation.box((1, 1, 2)).export("a.glb")
done = {{}}
for name in {[*NAMES]}:
    Path("a.toml").write_text(f'name = "{{name}}"\\nmesh = "a.glb"\\npaint = "white"')
    if not (child := os.fork()):
        import simtown
        simtown.use_kinds(".")
        try:
            town = simtown.Town()
        except ValueError as error:
            os._exit(2 * (name in str(error)))
        town.place(name, x=1)
        again = {{}}
        exec(town.program(), again)
        os._exit(again["town"].to_scene() == town.to_scene())
    done[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(done))
"""


def test_a_name_means_nothing_else_and_survives_a_program(tmp_path):
    """Answers, relations, colours and numbers are refused; a town of others is made again by its program."""
    assert python(TRY, tmp_path) == {name: 1 if is_good else 2 for name, is_good in NAMES.items()}
