"""Kinds of one's own: files as they are become vehicles, and a data set of them is proven or refused."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial, SimpleMaterial

from simtown.assets.entities import ENTITIES
from simtown.assets.mending import MOST_FACES
from simtown.assets.mesh import face_normals
from simtown.assets.own import VARIABLE, load
from simtown.assets.palette import MATERIALS, PAINTS
from simtown.core.files import KindsError
from tests.conftest import HANGS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-kinds.md").read_text(encoding="utf-8")
EXAMPLE, _, PROGRAM = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def python(code, folder, *kinds):
    """What a program prints as JSON, in a process with these kinds."""
    names = {VARIABLE: ",".join(map(str, kinds)), "PYTHONPATH": str(ROOT)}
    command, more = [sys.executable, "-c", code], {"capture_output": True, "text": True, "timeout": HANGS}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **names}, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The page's example, and a duck-sized dinghy in an OBJ file with a material file."""
    folder = tmp_path_factory.mktemp("example")
    subprocess.run([sys.executable, "-c", EXAMPLE], cwd=folder, check=True)
    dinghy = trimesh.creation.box((0.9, 0.5, 2.0))
    dinghy.visual = TextureVisuals(material=SimpleMaterial(name="hull", diffuse=[216, 53, 47, 255]))
    dinghy.export(folder / "kinds" / "dinghy.obj", mtl_name="dinghy.mtl")
    about = 'group = "boat"\nlength = 2.0\nforward = "+z"\nup = "+y"\npaint = "hull"\n'
    (folder / "kinds" / "dinghy.toml").write_text(about)
    return folder


def read(monkeypatch, folder, shape, about=""):
    """The mesh and the body's paint of a kind with this shape and these lines of TOML."""
    shape.export(folder / "own.glb")
    (folder / "own.toml").write_text(about)
    monkeypatch.setenv(VARIABLE, str(folder))
    return load(ENTITIES)[0].read()


def painted(shape, *colour, name="Body", **look):
    """The shape with one material, whose factors are linear."""
    shape.visual = TextureVisuals(material=PBRMaterial(name=name, baseColorFactor=colour, **look))
    return shape


def volume(mesh):
    corners = mesh.vertices[mesh.triangles]
    return (corners[:, 0] * face_normals(corners)).sum() / 6


BLOCK = trimesh.creation.box(bounds=[[0, 0, 0], [0.4, 0.4, 0.4]])
LARGE = st.floats(0.4, 1.5)


@given(st.lists(st.tuples(st.integers(0, 10**6), LARGE, LARGE, LARGE, st.booleans()), min_size=1, max_size=5))
@settings(max_examples=25)
def test_parts_keep_the_transforms_of_the_scene_graph(tmp_path_factory, parts):
    """Nested, turned, stretched and mirrored parts: their corners and volumes are those of the products."""
    scene, corners, total, parent, frame = trimesh.Scene(), [], 0.0, None, np.eye(4)
    for i, (seed, x, y, z, mirrored) in enumerate(parts):
        move = trimesh.transformations.random_rotation_matrix(np.random.default_rng(seed).random(3))
        move = move @ np.diag([-x if mirrored else x, y, z, 1.0])
        move[:3, 3] = np.random.default_rng(seed).uniform(-2, 2, 3)
        box = trimesh.creation.box((1, 1, 1))
        scene.add_geometry(box, node_name=f"part {i}", parent_node_name=parent, transform=move)
        parent, frame = f"part {i}", frame @ move
        corners.append(box.vertices @ frame[:3, :3].T + frame[:3, 3])
        total += abs(np.linalg.det(frame[:3, :3]))
    corners = np.concatenate(corners)[:, [2, 0, 1]]  # glTF's front is z, its left x, and y is up
    factor = 2.4 / np.ptp(corners, axis=0).max()
    corners *= factor
    with pytest.MonkeyPatch.context() as patch:
        mesh, _ = read(patch, tmp_path_factory.mktemp("parts"), scene, f"length = {np.ptp(corners[:, 0])}")
    corners -= [*(corners.min(axis=0) + corners.max(axis=0))[:2] / 2, corners[:, 2].min()]
    assert np.abs(corners[:, None] - mesh.vertices).max(axis=2).min(axis=1).max() < 1e-3
    assert volume(mesh) == pytest.approx(total * factor**3, rel=0.02, abs=2e-3)


@pytest.mark.parametrize(("forward", "up"), [("+x", "+y"), ("-y", "-z"), ("-z", "+y")])
def test_axes_of_an_obj_file(monkeypatch, tmp_path, forward, up):
    """A wedge that rises to the back, as its file's axes say."""
    axis = dict(zip(("+x", "+y", "+z", "-x", "-y", "-z"), [*np.eye(3), *-np.eye(3)], strict=True))
    corners = [(x, y, z) for y in (-0.4, 0.4) for x, z in ((-1, 0), (-1, 1), (1, 0))]
    wedge = trimesh.convex.convex_hull(corners)
    wedge.vertices @= np.stack([axis[forward], np.cross(axis[up], axis[forward]), axis[up]])
    wedge.export(tmp_path / "wedge.obj")
    (tmp_path / "wedge.toml").write_text(f'length = 3\nforward = "{forward}"\nup = "{up}"')
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    mesh = load(ENTITIES)[0].read()[0]
    assert mesh.bounds == pytest.approx(np.array([[-1.5, -0.6, 0], [1.5, 0.6, 1.5]]), abs=1e-3)
    assert mesh.vertices[mesh.vertices[:, 2] > 0.1, 0] == pytest.approx(-1.5, abs=1e-3)


def test_an_inverted_closed_part_is_turned_outwards_and_an_open_one_has_two_sides(monkeypatch, tmp_path):
    inverted = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    inverted.invert()
    mesh, _ = read(monkeypatch, tmp_path, inverted, "length = 1")
    assert len(mesh.triangles) == len(inverted.faces)
    assert volume(mesh) == pytest.approx(-inverted.volume, rel=1e-2)
    half = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    half.update_faces(half.triangles_center[:, 1] > 0)
    mesh, _ = read(monkeypatch, tmp_path, half, "length = 1")
    assert len(mesh.triangles) == 2 * len(half.faces)
    assert volume(mesh) == pytest.approx(0, abs=1e-6)


def textured(left):
    """An upright sheet with the left or the right half of a picture: green, or as much black as white."""
    picture = np.zeros((64, 64, 3), dtype=np.uint8)
    picture[:, :32], picture[np.arange(64) // 4 % 2 == 0, 32:] = (63, 163, 77), 255
    low, high = (0.02, 0.45) if left else (0.5, 1)
    corners = [[0, 0, 0], [0.4, 0, 0], [0.4, 0.4, 0], [0, 0.4, 0]]
    sheet = trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], process=False)
    uv = [[low, 0.1], [high, 0.1], [high, 0.9], [low, 0.9]]
    sheet.visual = TextureVisuals(np.array(uv), PBRMaterial(baseColorTexture=Image.fromarray(picture)))
    return sheet


def test_colours_come_down_to_the_nearest_material_of_each_face(monkeypatch, tmp_path):
    """Textures, linear factors, opacity, a chosen material; only faces of the body have its paint."""
    linear = ((np.array(MATERIALS[PAINTS.index("red")].colour) + 0.055) / 1.055) ** 2.4
    red = [*np.round(255 * linear).astype(int), 255]
    wanted = [
        (textured(left=True), {"green"}),
        (textured(left=False), {"silver"}),  # the mean of light, which is lighter than that of numbers
        (painted(BLOCK.copy(), *red), {"red"}),
        (painted(BLOCK.copy(), *red, name="Seats"), {"brick"}),
        (painted(BLOCK.copy(), 10, 20, 90, 90, name="Pane", alphaMode="BLEND"), {"glass"}),
        (painted(BLOCK.copy(), 0, 0, 0, 90, name="Solid"), {"black"}),  # glTF: opaque, whatever the number
        (painted(BLOCK.copy(), 0, 255, 0, 255, name="Lights"), {"headlamp"}),
    ]
    scene = trimesh.Scene()
    for place, (shape, _) in enumerate(wanted):
        scene.add_geometry(shape, transform=trimesh.transformations.translation_matrix([place, 0, 0]))
    about = 'forward = "+x"\npaint = "Body"\n[materials]\nLights = "headlamp"'
    mesh, body = read(monkeypatch, tmp_path, scene, about)
    place = np.rint(mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] - mesh.bounds[0, 0] - 0.2)
    found = [{MATERIALS[m].name for m in mesh.materials[place == i]} for i in range(len(wanted))]
    assert (body, found) == ("red", [names for _, names in wanted])


@pytest.mark.slow
def test_twenty_thousand_faces_are_simplified_and_the_shape_stays(monkeypatch, tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=5)
    ball.apply_transform(np.diag([0.9, 0.8, 1.6, 1]))
    mesh, _ = read(monkeypatch, tmp_path, ball, "length = 3.2")
    assert len(mesh.triangles) <= MOST_FACES < 20_000 < len(ball.faces)
    assert volume(mesh) == pytest.approx(ball.volume, rel=0.01)
    distance = np.sqrt((((mesh.vertices - [0, 0, 0.8]) / [1.6, 0.9, 0.8]) ** 2).sum(axis=1))
    assert np.abs(distance - 1).max() < 0.02
    sheet = trimesh.creation.box((2, 0.8, 2)).subdivide_loop(0)
    for _ in range(5):
        sheet = sheet.subdivide()
    sheet.update_faces(sheet.triangles_center[:, 1] > -0.39)  # a box without its floor
    mesh, _ = read(monkeypatch, tmp_path, sheet, "length = 2")
    assert mesh.bounds == pytest.approx(np.array([[-1, -1, 0], [1, 1, 0.8]]), abs=0.02)


BOX = trimesh.creation.box((1, 1, 2))
#: Lines of TOML, the shape, and what the message says.
BAD = {
    "key": ("lenght = 3", BOX, "unknown key 'lenght'"),
    "length": ("length = nan", BOX, "length must be a number"),
    "axes": ('forward = "+y"', BOX, "forward is '+y' and up is '+y'"),
    "taken": ('name = "Taxi"', BOX, "there is a Taxi already"),
    "name": ('name = "a\\u202eb"', BOX, "cannot name a kind"),
    "outside": ('mesh = "../own.glb"', BOX, "not the name of a file inside"),
    "absent": ('mesh = "b.glb"', BOX, "b.glb is not one GLB or OBJ file"),
    "paint": ('paint = "Body"', BOX, "the materials of the mesh are: none with a name"),
    "materials": ('materials = { Body = "velvet" }', BOX, "materials has Body = 'velvet'"),
    "node": ('node = "door"', BOX, "one of geometry_0"),
    "large": ("length = 20", BOX, "a length of 0.41 to 5.00, or"),
    "endless": ("", trimesh.Trimesh(np.full((3, 3), np.inf), [[0, 1, 2]], process=False), "not finite"),
    "faces": ("length = 3", trimesh.creation.icosphere(subdivisions=7), "has 983,040 corners"),
    "no faces": ("length = 3", trimesh.PointCloud(np.eye(3)), "points"),
    "no area": ("length = 3", trimesh.Trimesh(np.eye(3), [[0, 1, 1]], process=False), "has 0 faces"),
    "proportions": ("", trimesh.creation.box((0.1, 5, 2)), "no length fits"),
}  # fmt: skip


@pytest.mark.parametrize(("about", "shape", "words"), BAD.values(), ids=BAD)
def test_what_cannot_be_used_is_one_line_that_names_the_file(monkeypatch, tmp_path, about, shape, words):
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        read(monkeypatch, tmp_path, shape, about)
    assert re.search(r"^[^\n]*own\.[^\n]*$", str(raised.value))


def test_a_mesh_in_a_folder_below_with_its_picture_beside_it(monkeypatch, tmp_path):
    """As most free vehicles come: a GLB file that names its picture."""
    shape, picture = BOX.copy(), Image.new("RGB", (16, 16), (63, 163, 77))
    shape.visual = TextureVisuals(np.full((8, 2), 0.5), PBRMaterial(baseColorTexture=picture))
    named = rb'"images":[{"uri":"my%20sk\u0069n.png"}]'
    content = shape.export(file_type="glb")
    (tmp_path / "models").mkdir()
    content = re.sub(rb'"images":.*?\]', lambda found: named.ljust(len(found[0])), content)
    (tmp_path / "models" / "box.glb").write_bytes(content)
    with pytest.raises(KindsError, match=r"box.glb.* my skin.png"):
        read(monkeypatch, tmp_path, BOX, 'mesh = "models/box.glb"')
    picture.save(tmp_path / "models" / "my skin.png")
    (tmp_path / "._own.toml").write_bytes(b"\x00\x05\x16\x07\xff")  # as macOS leaves beside each file
    assert read(monkeypatch, tmp_path, BOX, 'mesh = "models/box.glb"')[1] == "green"


def test_an_obj_file_needs_what_it_names_and_says_nothing_of_metres(monkeypatch, example, tmp_path):
    folder = shutil.copytree(example / "kinds", tmp_path / "kinds")
    monkeypatch.setenv(VARIABLE, str(folder))
    assert [kind.read()[1] for kind in load(ENTITIES)] == ["red", "orange"]
    (folder / "dinghy.toml").write_text("length = 2")
    with pytest.raises(KindsError, match="length, forward and up"):
        load(ENTITIES)[0].read()
    (folder / "dinghy.mtl").unlink()
    with pytest.raises(KindsError, match=r"dinghy.obj.* dinghy.mtl"):
        load(ENTITIES)


@pytest.mark.parametrize("places", [",", "a,,b", "a,", ", a", " "])
def test_an_empty_name_among_the_folders_of_the_variable_is_refused(monkeypatch, places):
    monkeypatch.setenv(VARIABLE, places)
    with pytest.raises(KindsError, match=f"{VARIABLE}={places} has an empty name"):
        load(ENTITIES)


def test_kinds_of_a_program(tmp_path):
    (tmp_path / "garage.py").write_text(PROGRAM + "BAD = {'bad car': VehicleKind(lambda: 1 / 0, 'red')}\n")
    code = "import json; from simtown import Town; t = Town(); t.place('rocket car')\n"
    code += "print(json.dumps([t.ask(f'How many {n}s are there?').value for n in ('car', 'rocket car')]))"
    assert python(code, tmp_path, "garage:KINDS") == [1, 1]
    code = "import json, simtown\ntry: simtown.Settings()\nexcept ValueError as e: print(json.dumps(str(e)))"
    assert "garage:BAD, bad car cannot be made: ZeroDivisionError" in python(code, tmp_path, "garage:BAD")
    (tmp_path / "script.py").write_text("raise SystemExit(0)")
    for name in ("garage:NOTHING", "script:KINDS"):
        assert "cannot be imported" in python(code, tmp_path, name)
    code = "import json, simtown; simtown.Settings()\ntry: simtown.use_kinds('x:Y')\n"
    assert "imported already" in python(code + "except ValueError as e: print(json.dumps(str(e)))", tmp_path)


@pytest.mark.slow
def test_a_data_set_is_proven_and_refused_without_its_kinds(shell, together, example, tmp_path, plain):
    """A world of nothing else; a changed mesh is refused; data sets without own kinds do not notice."""
    folder = shutil.copytree(example / "kinds", tmp_path / "kinds")
    sizes = ["--n", 8, "--val", 2, "--test", 2, "--size", 48, "--workers", 1, "--paint", "uniform", "--out"]
    calls = [["generate", "--entities", 2, *sizes, "boats"], ["verify", "boats", "--workers", 1]]
    calls += [["verify", plain, "--workers", 1], ["info", "boats/train:0"]]
    calls += [["generate", "--questions", "all", "--entities", 6, *sizes, "asked"]]
    calls += [["verify", "asked", "--workers", 1]]

    def with_kinds(*calls):
        return together(*([*call, f"--kinds={folder}"] for call in calls), cwd=tmp_path)

    said = [outcome.succeeds().out for outcome in with_kinds(*calls)][3]
    assert {"dinghy", "hovercraft"} <= {*said.split()}
    manifest = json.loads((tmp_path / "boats" / "manifest.json").read_text())
    assert [record.split()[0] for record in manifest["settings"]["own_kinds"]] == ["dinghy", "hovercraft"]
    assert manifest["vocabulary"][-2:] == ["dinghy", "hovercraft"]
    shell("info", "boats", cwd=tmp_path).refuses("has the kind 'dinghy'", "--kinds")
    with (folder / "hovercraft.glb").open("ab") as file:
        file.write(b" ")
    for outcome in with_kinds(["verify", "boats"], ["gallery", "boats"]):
        outcome.refuses("another mesh or TOML file of 'hovercraft'", str(folder / "hovercraft.toml"))
    about = 'length = 2.0\nforward = "+z"\nup = "+y"\n'
    (folder / "dinghy.toml").write_text(about)
    (refused,) = with_kinds(["generate", "--questions", "all", *sizes, "red", "--hold-out", "dinghy+red"])
    refused.refuses("dinghy+red holds out nothing")  # without `paint` it keeps its own
    for name, words in {"bus": "is a noun of the town", "moved": "means something else"}.items():
        (folder / "dinghy.toml").write_text(f'name = "{name}"\n{about}')
        (refused,) = with_kinds(["generate", "--entities", 2, *sizes, "bus"])
        refused.refuses(f"'{name}' {words}")


EXPORTED = ("taxi", "fire truck", "school bus", "bicycle", "tram", "food truck", "police car", "excavator")
EXPORT = f"""
import json
from pathlib import Path
from simtown.datasets.showing.export_scene import glb
from simtown.scenes.scene import Scene, SceneBatch, Vehicle
for name in {EXPORTED}:
    batch = SceneBatch.of([Scene(vehicles=(Vehicle(name, 1.5, -1.2, 0.3),))])
    Path(f"{{name}}.glb").write_bytes(glb(batch))
    about = f'name = "{{name[:9]}} copy"\\nnode = "01 {{name}}"\\nforward = "+x"\\nup = "+z"\\n'
    Path(f"{{name}}.toml").write_text(about)
print(0)
"""
COMPARE = f"""
import json, numpy as np
from simtown.assets.entities import ENTITIES, OWN
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.render.raster import Raster
from simtown.render.renderers import make_renderer
from tests.render.test_cuda_pictures import different
settings = Settings(entities=8, frequencies="uniform", seed=3)
copies = sample(source_of(settings).recipe("train"), np.arange(120)).scene
real = copies[np.arange(120)]  # a copy
own = {{len(ENTITIES) - len(OWN) + i: ENTITIES.index(name) for i, name in enumerate(sorted({EXPORTED}))}}
real.entity = np.vectorize(own.get)(copies.entity).astype(copies.entity.dtype)
a, b = (Raster().render(batch, 128, 128) for batch in (real, copies))
drawn = dict(ids=float((a.ids == b.ids).mean()), rgb=float((a.rgb == b.rgb).all(axis=3).mean()))
gl, card = make_renderer("opengl").render(copies[:4], 128, 128), different(copies[:4], 64, 48, seed=1)
print(json.dumps(drawn | {{"opengl": float((gl.ids == b.ids[:4]).mean()), "card": card}}))
"""


@pytest.mark.slow
def test_our_own_exports_come_back_and_all_renderers_draw_them(tmp_path):
    for module in ("pyrender", "ziglang"):
        pytest.importorskip(module, reason=f"needs {module}: pip install '.[dev]'")
    python(EXPORT, tmp_path)
    drawn = python(COMPARE, tmp_path, tmp_path)
    assert min(drawn["ids"], drawn["opengl"]) >= 0.999
    assert (drawn["rgb"] > 0.98, drawn["card"]) == (True, [])
