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
from simtown.scenes.camera import NEAR, views
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS
from tests.conftest import HANGS

SIZE = 256
#: Objects of fewer pixels than this in both pictures are not judged alone.
LEAST_PIXELS = 200
#: An edge this near to a pixel's middle (pixels) is a tie: corners are snapped to 1/512 of a pixel here, to
#: 1/256 there.
NEAR_TIE = 1 / 256
#: Greatest share of ties among all pixels of a batch.
MOST_TIES = 0.01


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


def overlaps(pair: Pair, ties: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Intersection over union of every object large enough, vehicles and props; pixels in `ties` count for
    neither engine.
    """
    vehicles: list[float] = []
    props: list[float] = []
    for n in range(len(pair.batch)):
        a, b = pair.raster.ids[n], pair.opengl.ids[n]
        large = np.maximum(*(np.bincount(ids.ravel(), minlength=256) for ids in (a, b))) > LEAST_PIXELS
        if ties is not None:
            a, b = a[~ties[n]], b[~ties[n]]
        in_a, in_b, in_both = (np.bincount(ids.ravel(), minlength=256) for ids in (a, b, a[a == b]))
        for i in np.flatnonzero(large):
            if i > 0:
                (vehicles if i <= pair.batch.entity.shape[1] else props).append(
                    in_both[i] / (in_a[i] + in_b[i] - in_both[i])
                )
    return np.array(vehicles), np.array(props)


def test_ids_agree(pair: Pair) -> None:
    equal = pair.raster.ids == pair.opengl.ids
    assert equal.mean() >= 0.9998
    assert equal.mean(axis=(1, 2)).min() >= 0.998


def test_every_object_overlaps(pair: Pair) -> None:
    """On every pixel; ties bring a few of a thousand objects below 0.99."""
    vehicles, props = overlaps(pair)
    assert len(vehicles) > 200
    assert len(props) > 1000
    assert vehicles.mean() >= 0.9995
    assert props.mean() >= 0.9995
    everything = np.concatenate([vehicles, props])
    assert (everything < 0.99).mean() <= 0.005
    assert everything.min() >= 0.9


def test_every_object_overlaps_without_ties(pair: Pair) -> None:
    """Each one by more than 0.99, ties left out: pixels so near to a projected edge that the snapping of
    corners decides.
    """
    ties = np.stack([tie_pixels(pair.batch, n) for n in range(len(pair.batch))])
    assert ties.mean() <= MOST_TIES
    everything = np.concatenate(overlaps(pair, ties))
    assert len(everything) > 1200
    assert everything.min() >= 0.999


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


def tie_pixels(batch: SceneBatch, n: int) -> np.ndarray:
    """(h, w) bool: pixels whose middle lies within NEAR_TIE of an edge of any projected triangle of a thing,
    seen or not.

    Each edge is walked pixel by pixel along the axis in which it is longer.
    """
    slots = np.flatnonzero(instances(batch[n : n + 1])[0][0] >= 0)[1:]
    corners, depth = (
        np.concatenate(parts)
        for parts in zip(*(projected(batch, n, int(slot)) for slot in slots), strict=True)
    )
    corners = corners[depth.min(axis=1) >= NEAR]
    start, along = corners.reshape(-1, 2), (np.roll(corners, -1, axis=1) - corners).reshape(-1, 2)
    ties = np.zeros((SIZE, SIZE), dtype=bool)
    for major in (0, 1):
        chosen = (np.abs(along).argmax(axis=1) == major) & (along[:, major] != 0)
        at, step = start[chosen], along[chosen]
        ends = np.stack([at[:, major], at[:, major] + step[:, major]])
        first = np.maximum(np.ceil(ends.min(axis=0) - NEAR_TIE - 0.5), 0).astype(int)
        count = np.maximum(
            np.minimum(np.floor(ends.max(axis=0) + NEAR_TIE - 0.5), SIZE - 1).astype(int) + 1 - first, 0
        )
        edge = np.repeat(np.arange(len(at)), count)
        pixel = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count) + first[edge]
        slope = step[edge, 1 - major] / step[edge, major]
        across = at[edge, 1 - major] + (pixel + 0.5 - at[edge, major]) * slope
        other = np.floor(across).astype(int)
        near = np.abs(across - other - 0.5) <= NEAR_TIE * np.sqrt(1 + slope**2)
        near &= (other >= 0) & (other < SIZE)
        row, column = (other, pixel) if major == 0 else (pixel, other)
        ties[row[near], column[near]] = True
    return ties


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
    moved = Pair(batch, a, b)
    assert (a.ids == b.ids).mean() >= 0.9998
    assert np.concatenate(overlaps(moved)).mean() >= 0.9995
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


def test_same_scene_twice_is_the_same(engine: OpenGL) -> None:
    batch = scenes(4, distractor=True)
    first, second = engine.render(batch, 64, 64), OpenGL().render(batch[1:3], 64, 64)
    for name in ("rgb", "depth", "ids"):
        np.testing.assert_array_equal(getattr(first, name)[1:3], getattr(second, name))


def test_colour_alone(engine: OpenGL) -> None:
    batch = scenes(6, distractor=True, weathers=("night", "clear"))
    alone = engine.render(batch, 96, 64, geometry=False)
    np.testing.assert_array_equal(alone.rgb, engine.render(batch, 96, 64).rgb)
    assert alone.ids.shape == alone.depth.shape == (0, 64, 96)


def test_size_out_of_range(engine: OpenGL) -> None:
    with pytest.raises(ValueError, match="out of range"):
        engine.render(scenes(2, distractor=False), 5000, 64)


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
