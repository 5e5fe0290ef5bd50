"""A GLB file, drawn by three.js in a real browser, shows each vehicle where raster does, in its colours."""

import base64
import io
import zipfile
from importlib.resources import files

import numpy as np
import pytest
from PIL import Image

from simtown.assets.catalogue import ENTITIES
from simtown.assets.palette import MATERIALS
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.showing.export_scene import glb
from simtown.render.raster import Raster
from simtown.scenes.camera import views

WIDE, HIGH = 320, 160
PAGE = """<!doctype html><body style="margin:0"><canvas id="c" width="{w}" height="{h}"></canvas>
<script>{three}</script><script>
const camera = new THREE.PerspectiveCamera();
const renderer = new THREE.WebGLRenderer({{ canvas: c, preserveDrawingBuffer: true }});
camera.position.set({x}, {z}, {minus_y});
camera.projectionMatrix.set({fx}, 0, {sx}, 0,  0, {fy}, {sy}, 0,  0, 0, -1.002, -2,  0, 0, -1, 0);
camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
const bytes = Uint8Array.from(atob("{glb}"), (l) => l.charCodeAt(0)).buffer;
new THREE.GLTFLoader().parse(bytes, "", (gltf) => {{
  const scene = new THREE.Scene(), names = [];
  scene.add(gltf.scene);
  scene.add(new THREE.AmbientLight(0xffffff, 1));
  window.draw = (flat) => {{
    gltf.scene.traverse((node) => {{
      if (!node.isMesh) return;
      node.coloured ??= node.material;
      const slot = Number((node.userData.name ?? node.name ?? node.parent.name).slice(0, 2));
      const plain = new THREE.MeshBasicMaterial({{ color: slot, side: THREE.DoubleSide }});
      node.material = flat ? plain : node.coloured;
    }});
    renderer.outputEncoding = flat ? THREE.LinearEncoding : THREE.sRGBEncoding;
    renderer.render(scene, camera);
    return c.toDataURL("image/png").split(",")[1];
  }};
  gltf.scene.traverse((node) => node.isMesh && names.push(node.userData.name ?? node.name));
  window.names = names;
}}, (error) => {{ window.names = [String(error)]; }});
</script>"""


@pytest.fixture(scope="module")
def scene(rich):
    return open_dataset(rich).train.scenes(slice(4, 5))


@pytest.fixture(scope="module")
def file(scene, tmp_path_factory):
    path = tmp_path_factory.mktemp("glb") / "scene.glb"
    path.write_bytes(glb(scene))
    return path


def three() -> str:
    """three.js with its glTF loader, as trimesh bundles it for notebooks."""
    bundle = files("trimesh") / "resources" / "templates" / "viewer.zip"
    if not bundle.is_file():
        pytest.skip("needs a trimesh that bundles three.js: pip install -c constraints.txt trimesh")
    with zipfile.ZipFile(io.BytesIO(bundle.read_bytes())) as archive:
        page = archive.read("viewer.html.template").decode()
    start, end = page.index("<script>") + len("<script>"), page.find("var camera,controls,scene")
    if end < 0 or "THREE.GLTFLoader=" not in page:
        pytest.skip("needs a trimesh that bundles three.js as page: pip install -c constraints.txt trimesh")
    return page[start:end]


def drawn(browser, flat):
    """(h, w, 3) uint8: what the page draws."""
    content = base64.b64decode(browser.execute_script(f"return draw({flat})"))
    return np.array(Image.open(io.BytesIO(content)).convert("RGB"))


def test_three_js_shows_what_raster_shows(scene, file, browser, until, tmp_path):
    view = views(scene.camera, WIDE, HIGH)[0].astype(float)
    x, y, z, focal, cx, cy = *view[:3], *view[12:15]
    assert view[3:12] == pytest.approx(
        [1, 0, 0, 0, 0, 1, 0, 1, 0], abs=0.05
    )  # it looks along y, but for jitter
    camera = {"x": x, "z": z, "minus_y": -y, "fx": 2 * focal / WIDE, "fy": 2 * focal / HIGH}
    camera |= {"sx": 1 - 2 * cx / WIDE, "sy": 2 * cy / HIGH - 1}
    content = base64.b64encode(file.read_bytes()).decode()
    (tmp_path / "page.html").write_text(PAGE.format(w=WIDE, h=HIGH, three=three(), glb=content, **camera))
    browser.get_log("browser")
    browser.get(f"file://{tmp_path}/page.html")
    names = until(lambda: browser.execute_script("return window.names"))
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
    shown_kinds = {name[3:].replace(" ", "_") for name in names}
    assert {ENTITIES[e].replace(" ", "_") for e in scene.entity[0]} <= shown_kinds
    shown, picture = drawn(browser, "true")[..., 2], drawn(browser, "false")
    frames = Raster().render(scene, WIDE, HIGH)
    for slot in range(len(scene.entity[0])):
        ours, theirs = frames.ids[0] == slot + 1, shown == slot + 1
        assert (ours & theirs).sum() / (ours | theirs).sum() > 0.9
    palette = (np.array([m.colour for m in MATERIALS]) * 255).round()
    slots = 1 + np.arange(len(scene.entity[0]))
    vehicles = picture[np.isin(frames.ids[0], slots) & np.isin(shown, slots)]
    far = np.abs(vehicles[:, None, :].astype(float) - palette).max(axis=2).min(axis=1)
    # under even white light a matte thing has the palette's colours, but for edges
    assert (far < 6).mean() > 0.9
