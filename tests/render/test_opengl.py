"""Two engines, one street: the rasteriser against OpenGL, object by object and pixel by pixel."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from simtown.assets.atlas import atlas
from simtown.assets.frequencies import frequencies
from simtown.language.asking.paper import Recipe, sample
from simtown.render.frames import Frames
from simtown.render.instances import instances
from simtown.render.raster import Raster
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS
from tests.conftest import HANGS

SIZE = 256
#: An edge this near to a pixel's middle (pixels) is a tie: corners are snapped to 1/512 of a pixel here, to
#: 1/256 there.
NEAR_TIE = 1 / 256


class Pair(NamedTuple):
    """The same scenes by both engines."""

    batch: SceneBatch
    raster: Frames
    opengl: Frames


def scenes(n, seed=1, weathers=WEATHERS, **options):
    recipe = Recipe(seed, "train", *frequencies("vg", 60), weathers=weathers, **options)
    return sample(recipe, np.arange(n)).scene


@pytest.fixture(scope="module", params=[False, True], ids=["pairs", "distractor"])
def pair(request, opengl):
    batch = scenes(16, 1 + request.param, distractor=request.param)
    assert set(batch.weather) == set(range(len(WEATHERS)))
    return Pair(batch, Raster().render(batch, SIZE, SIZE), opengl.render(batch, SIZE, SIZE))


def test_ids_agree(pair):
    equal = pair.raster.ids == pair.opengl.ids
    assert equal.mean() >= 0.9998
    assert equal.mean(axis=(1, 2)).min() >= 0.998


def projected(batch, n, slot):
    """Pixel coordinates (t, 3, 2) of the corners of a slot's triangles, in float64."""
    a = atlas()
    meshes, poses, *_ = instances(batch[n : n + 1])
    mesh, (px, py, pz, c, s, scale) = meshes[0, slot], poses[0, slot].astype(float)
    v = a.vertices[a.vertex_start[mesh] : a.vertex_start[mesh + 1]].astype(float) * scale
    view = views(batch.camera[n : n + 1], SIZE, SIZE)[0].astype(float)
    spots = np.stack([px + c * v[:, 0] - s * v[:, 1], py + s * v[:, 0] + c * v[:, 1], pz + v[:, 2]], axis=1)
    right, up, far = ((spots - view[:3]) @ axis for axis in view[3:12].reshape(3, 3))
    share = view[12] / np.maximum(far, 1e-3)
    corners = np.stack([view[13] + share * right, view[14] - share * up], axis=1)
    return corners[a.triangles[a.triangle_start[mesh] : a.triangle_start[mesh + 1]] - a.vertex_start[mesh]]


def edge_distance(pair, n, instance, x, y):
    """Distance in pixels from (x, y) to the nearest projected edge of an instance, in float64."""
    start = projected(pair.batch, n, instance)
    along = np.roll(start, -1, axis=1) - start
    point = np.array([x, y]) - start
    t = np.clip((point * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12), 0, 1)
    return float(np.sqrt(((point - t[..., None] * along) ** 2).sum(-1).min()))


def test_ids_differ_only_in_ties(pair):
    """Corners are snapped to 1/512 of a pixel or to 1/256, depth to 18 bits or 24; nothing else differs."""
    for n, y, x in np.argwhere(pair.raster.ids != pair.opengl.ids):
        seen = {int(pair.raster.ids[n, y, x]), int(pair.opengl.ids[n, y, x])}
        near, far = sorted([float(pair.raster.depth[n, y, x]), float(pair.opengl.depth[n, y, x])])
        if far - near <= 1e-4 * near:
            continue  # two things that reach into each other
        away = min(edge_distance(pair, n, i, x + 0.5, y + 0.5) for i in seen - {0})
        assert away <= NEAR_TIE, (n, y, x, seen)


def smooth(depth):
    """Where a pixel and its four neighbours lie in one plane: there 1/depth is linear in the picture."""
    q = 1 / depth
    bend = np.full(depth.shape, np.inf)
    bend[:, 1:-1, 1:-1] = np.maximum(
        np.abs(q[:, 1:-1, :-2] + q[:, 1:-1, 2:] - 2 * q[:, 1:-1, 1:-1]),
        np.abs(q[:, :-2, 1:-1] + q[:, 2:, 1:-1] - 2 * q[:, 1:-1, 1:-1]),
    )
    return (bend <= 1e-4 * q) & (q > 0)


def test_depth_agrees(pair):
    a, b = pair.raster.depth, pair.opengl.depth
    sky = np.isinf(a) != np.isinf(b)
    assert sky.mean() <= 1e-4
    even = (pair.raster.ids == pair.opengl.ids) & smooth(a) & smooth(b)
    assert even.sum() > 0.5 * np.isfinite(b).sum()
    off = np.abs(a[even] - b[even]) / b[even]
    assert off.max() <= 1e-4
    assert np.quantile(off, 0.99) <= 1.5e-5  # a step of OpenGL's 24 bits at the far hills is 7e-6


@pytest.mark.parametrize(("width", "height"), [(64, 32), (96, 160), (32, 32), (320, 100)])
def test_other_shapes(opengl, width, height):
    batch = scenes(12, distractor=True)
    a, b = Raster().render(batch, width, height), opengl.render(batch, width, height)
    assert (a.ids == b.ids).mean() >= 0.9995
    assert (np.isinf(a.depth) == np.isinf(b.depth)).mean() >= 0.9995


def test_moved_and_turned_camera(opengl):
    batch = scenes(12, distractor=True, jitter=1.0)
    turn = np.random.default_rng(0).uniform(-1, 1, (len(batch), 2))
    batch.camera[:, 3:5] += (turn * [0.2, 0.1]).astype(np.float32)
    a, b = Raster().render(batch, SIZE, SIZE), opengl.render(batch, SIZE, SIZE)
    assert (a.ids == b.ids).mean() >= 0.9998
    assert np.abs(a.rgb.astype(int) - b.rgb).mean() <= 5.0


@pytest.mark.parametrize("weather", WEATHERS)
def test_colours_agree(opengl, weather):
    """Faces of vehicles have the same colours; OpenGL's ground and sky are simpler: no clouds, no mirrors."""
    batch = scenes(4, 5, (weather,))
    frames = Raster().render(batch, SIZE, SIZE)
    off = np.abs(frames.rgb.astype(int) - opengl.render(batch, SIZE, SIZE).rgb)
    vehicle = (frames.ids > 0) & (frames.ids <= batch.entity.shape[1])
    assert off.mean() <= 8.0
    assert np.median(off[vehicle]) <= 1


MISSING = "import sys; sys.modules['pyrender'] = None; "
CASES = {"": (MISSING, "pip install '.[opengl]'"), "osmesa": ("", "libegl1 libegl-mesa0 libgl1-mesa-dri")}


@pytest.mark.parametrize("platform", CASES)
def test_says_what_is_missing(platform):
    pytest.importorskip("OpenGL", reason="needs PyOpenGL: pip install '.[opengl]'")
    before, cure = CASES[platform]
    command = [sys.executable, "-c", f"{before}from simtown.render.opengl import OpenGL; OpenGL()"]
    settings = os.environ | ({"PYOPENGL_PLATFORM": platform} if platform else {})
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=HANGS)
    message = done.stderr.splitlines()[-1]
    assert message.startswith("simtown.render.opengl.NoOpenGLError: ")
    assert cure in message
