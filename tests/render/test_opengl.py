"""Two engines, one street: what the rasteriser draws is compared with OpenGL, object by object and pixel by
pixel.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from simtown.assets.atlas import atlas
from simtown.assets.frequencies import frequencies
from simtown.language.sampler import Recipe, sample
from simtown.render.frames import Frames
from simtown.render.instances import instances
from simtown.render.opengl import NoOpenGLError, OpenGL
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


@pytest.fixture(scope="module")
def engine() -> OpenGL:
    try:
        return OpenGL()
    except NoOpenGLError as error:
        pytest.skip(f"needs pyrender and OpenGL: {error}")


def scenes(
    n: int, distractor: bool, weathers: tuple[str, ...] = WEATHERS, jitter: float = 0.0, seed: int = 1
) -> SceneBatch:
    subject, obj = frequencies("vg", 60)
    recipe = Recipe(seed, "train", subject, obj, distractor=distractor, weathers=weathers, jitter=jitter)
    return sample(recipe, np.arange(n)).scene


@pytest.fixture(scope="module", params=[False, True], ids=["pairs", "distractor"])
def pair(request: pytest.FixtureRequest, engine: OpenGL) -> Pair:
    batch = scenes(110, request.param, seed=1 + request.param)
    assert set(batch.weather) == set(range(len(WEATHERS)))
    return Pair(batch, Raster(2).render(batch, SIZE, SIZE), engine.render(batch, SIZE, SIZE))


def test_ids_agree(pair: Pair) -> None:
    equal = pair.raster.ids == pair.opengl.ids
    assert equal.mean() >= 0.9998
    assert equal.mean(axis=(1, 2)).min() >= 0.998


def projected(batch: SceneBatch, n: int, slot: int) -> tuple[np.ndarray, np.ndarray]:
    """A slot's triangles in float64: corners' pixel coordinates (t, 3, 2) and depths (t, 3)."""
    a = atlas()
    meshes, poses, *_ = instances(batch[n : n + 1])
    mesh, (px, py, pz, c, s, scale) = meshes[0, slot], poses[0, slot].astype(float)
    v = a.vertices[a.vertex_start[mesh] : a.vertex_start[mesh + 1]].astype(float) * scale
    view = views(batch.camera[n : n + 1], SIZE, SIZE)[0].astype(float)
    away = (
        np.stack([px + c * v[:, 0] - s * v[:, 1], py + s * v[:, 0] + c * v[:, 1], pz + v[:, 2]], axis=1)
        - view[:3]
    )
    depth = np.maximum(away @ view[9:12], 1e-3)
    spots = np.stack(
        [view[13] + view[12] * (away @ view[3:6]) / depth, view[14] - view[12] * (away @ view[6:9]) / depth],
        axis=1,
    )
    triangles = a.triangles[a.triangle_start[mesh] : a.triangle_start[mesh + 1]] - a.vertex_start[mesh]
    return spots[triangles], depth[triangles]


def edge_distance(pair: Pair, n: int, instance: int, x: float, y: float) -> float:
    """Distance in pixels from (x, y) to the nearest projected edge of an instance, in float64."""
    start = projected(pair.batch, n, instance)[0]
    along = np.roll(start, -1, axis=1) - start
    point = np.array([x, y]) - start
    t = np.clip((point * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12), 0, 1)
    return float(np.sqrt(((point - t[..., None] * along) ** 2).sum(-1).min()))


def test_ids_differ_only_in_ties(pair: Pair) -> None:
    """Corners are snapped to 1/512 of a pixel here and to 1/256 there; depth has 18 bits here, 24 there.

    Nothing else differs.
    """
    for n, y, x in np.argwhere(pair.raster.ids != pair.opengl.ids):
        seen = {int(pair.raster.ids[n, y, x]), int(pair.opengl.ids[n, y, x])}
        near, far = sorted([float(pair.raster.depth[n, y, x]), float(pair.opengl.depth[n, y, x])])
        if far - near <= 1e-4 * near:
            continue  # two things that reach into each other
        assert min(edge_distance(pair, n, i, x + 0.5, y + 0.5) for i in seen - {0}) <= NEAR_TIE, (
            n,
            y,
            x,
            seen,
        )


def smooth(depth: np.ndarray) -> np.ndarray:
    """Where a pixel and its four neighbours lie in one plane: there 1/depth is linear in the picture."""
    q = 1 / depth
    bend = np.full(depth.shape, np.inf)
    bend[:, 1:-1, 1:-1] = np.maximum(
        np.abs(q[:, 1:-1, :-2] + q[:, 1:-1, 2:] - 2 * q[:, 1:-1, 1:-1]),
        np.abs(q[:, :-2, 1:-1] + q[:, 2:, 1:-1] - 2 * q[:, 1:-1, 1:-1]),
    )
    result: np.ndarray = (bend <= 1e-4 * q) & (q > 0)
    return result


def test_depth_agrees(pair: Pair) -> None:
    a, b = pair.raster.depth, pair.opengl.depth
    sky = np.isinf(a) != np.isinf(b)
    assert sky.mean() <= 1e-4
    even = (pair.raster.ids == pair.opengl.ids) & smooth(a) & smooth(b)
    assert even.sum() > 0.5 * np.isfinite(b).sum()
    off = np.abs(a[even] - b[even]) / b[even]
    assert off.max() <= 1e-4
    assert np.quantile(off, 0.99) <= 1.5e-5  # a step of OpenGL's 24 bits at the far hills is 7e-6


@pytest.mark.parametrize(("width", "height"), [(64, 32), (96, 160), (32, 32), (320, 100)])
def test_other_shapes(engine: OpenGL, width: int, height: int) -> None:
    batch = scenes(12, distractor=True)
    a, b = Raster().render(batch, width, height), engine.render(batch, width, height)
    assert b.rgb.shape == (12, height, width, 3)
    assert [f.dtype.name for f in (b.rgb, b.depth, b.ids)] == ["uint8", "float32", "uint8"]
    assert (a.ids == b.ids).mean() >= 0.9995
    assert (np.isinf(a.depth) == np.isinf(b.depth)).mean() >= 0.9995


def test_moved_and_turned_camera(engine: OpenGL) -> None:
    batch = scenes(12, distractor=True, jitter=1.0)
    turn = np.random.default_rng(0).uniform(-1, 1, (len(batch), 2))
    camera = batch.camera.copy()
    camera[:, 3:5] += (turn * [0.2, 0.1]).astype(np.float32)
    batch = replace(batch, camera=camera)
    a, b = Raster().render(batch, SIZE, SIZE), engine.render(batch, SIZE, SIZE)
    assert (a.ids == b.ids).mean() >= 0.9998
    assert np.abs(a.rgb.astype(int) - b.rgb).mean() <= 5.0


@pytest.mark.parametrize("weather", WEATHERS)
def test_colours_agree(engine: OpenGL, weather: str) -> None:
    """Of 255 levels: faces of vehicles have the same colours; ground and sky are simpler in OpenGL (no
    clouds, no mirrors).
    """
    batch = scenes(10, distractor=False, weathers=(weather,), seed=5)
    frames = Raster().render(batch, SIZE, SIZE)
    off = np.abs(frames.rgb.astype(int) - engine.render(batch, SIZE, SIZE).rgb)
    vehicle = (frames.ids > 0) & (frames.ids <= batch.entity.shape[1])
    assert off.mean() <= 8.0
    assert np.median(off[vehicle]) <= 1


CREATE = """
import simtown.render.opengl as m
try:
    m.OpenGL()
except ImportError as e:
    print(type(e).__name__, e)
"""


def created(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_says_that_pyrender_is_missing() -> None:
    message = created("import sys\nsys.modules['pyrender'] = None\n" + CREATE)
    assert (
        message == "NoOpenGLError the opengl renderer needs pyrender: "
        "pip install '.[opengl]' in a checkout of simtown"
    )


def test_says_what_gives_a_platform() -> None:
    pytest.importorskip("OpenGL", reason="needs PyOpenGL: pip install '.[opengl]'")
    message = created(CREATE, PYOPENGL_PLATFORM="osmesa")
    assert message.startswith("NoOpenGLError no OpenGL through osmesa")
    assert "libegl1 libegl-mesa0 libgl1-mesa-dri" in message
    assert "\n" not in message
