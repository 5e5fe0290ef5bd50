"""The kernel `overlay`, its PTX run on the emulator over pictures of noise, against what effects.py lays over
the same ones.
"""

import numpy as np
import pytest

pytest.importorskip("cuda.bindings", reason="needs cuda-bindings: pip install '.[dev]'")

from simtown.assets.atlas import atlas
from simtown.render import effects
from simtown.render.fill import FULL
from simtown.render.instances import instances
from simtown.render.light import AMOUNT, LAMPS, STARS, lights
from simtown.render.raster import _meshes, tables
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch
from simtown.scenes.weather import WEATHERS
from tests.render.emulated import Launch, faults_without_barriers
from tests.render.streets import close_up, crowded, streets


def pictures(launch: Launch, sky: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Colours and nearness, neither from a renderer: noise, sky above, and the ground's own nearness below
    but for some things on it.
    """
    n, height, width = len(launch.arrays["rgb"]), *launch.arrays["rgb"].shape[1:3]
    random = np.random.default_rng(2)
    rgb = random.integers(0, 256, (n, height, width, 3)).astype(np.uint8)
    depth = launch.arrays["rows"]["depth"][:, 1::2]
    ground = np.where(depth > 0, FULL / 65536 / np.maximum(depth, 2.0), 0)
    nearness = np.repeat(ground[:, :, None], width, axis=2)
    things = (
        random.random((n, height // 4 + 1, width // 4 + 1))
        .repeat(4, axis=1)
        .repeat(4, axis=2)[:, :height, :width]
    )
    nearness = np.where(things < 0.3, things * 60000, np.where(things > 0.8, 0, nearness)).astype(np.uint16)
    nearness[:, : int(sky * height)] = 0
    return rgb, nearness


def laid_over(batch: SceneBatch, rgb: np.ndarray, nearness: np.ndarray) -> np.ndarray:
    """The pictures with the processor's stars, halos, rain and snow over them."""
    rgb, (n, height, width, _) = rgb.copy(), rgb.shape
    meshes, poses, *_ = instances(batch)
    light = lights(batch.weather, batch.intensity, batch.sun)
    view = views(batch.camera, width, height)
    town = _meshes(atlas())
    looks = tuple(tables()[:3])
    for i in range(n):
        size = width, height, nearness[i], rgb[i]
        if light[i, STARS] > 0:
            effects.light_stars(view[i], light[i], batch.fall_seed[i], *size)
        if light[i, LAMPS] > 0:
            effects.glow_lamps(view[i], light[i], town, looks, meshes[i], poses[i], *size)
        if light[i, AMOUNT] > 0:
            effects.let_fall(view[i], light[i], batch.fall_seed[i], *size)
    return rgb


def prepared(batch: SceneBatch, width: int, height: int) -> tuple[Launch, np.ndarray, np.ndarray]:
    """A launch up to `overlay`, and its pictures and nearness."""
    launch = Launch(batch, width, height)
    launch.run("setup", (len(batch),))
    rgb, nearness = pictures(launch)
    layered = (lights(batch.weather, batch.intensity, batch.sun)[:, [STARS, LAMPS, AMOUNT]] > 0).any(axis=1)
    launch.put("rgb", rgb)
    launch.put("failed", np.zeros(len(batch), np.uint8))
    for n in np.flatnonzero(layered):  # of other scenes `draw` writes none
        launch.put("nearness", nearness[n], n)
    return launch, rgb, nearness


def check(batch: SceneBatch, width: int, height: int, bands: int, seed: int = 0) -> None:
    launch, rgb, nearness = prepared(batch, width, height)
    expected = laid_over(batch, rgb, nearness)
    assert (expected != rgb).any()
    launch.run("overlay", (bands, len(batch)), seed=seed)
    assert (launch.arrays["rgb"] == expected).all()


@pytest.mark.parametrize(("width", "height", "bands"), [(32, 32, 1), (64, 64, 3), (97, 97, 4), (128, 64, 2)])
def test_streets_in_every_weather(width, height, bands):
    check(streets(len(WEATHERS)), width, height, bands, seed=width)


def test_things_close_up_by_level_and_tilted_cameras():
    check(close_up(), 64, 48, 2)


def test_more_than_is_listed_at_a_time():
    batch = crowded(len(WEATHERS))
    batch.intensity[:] = 1.0
    check(batch, 128, 32, 1)


def test_a_scene_that_is_not_drawn_is_left_alone():
    launch, rgb, _ = prepared(streets(len(WEATHERS)), 32, 32)
    launch.put("failed", np.ones(len(rgb), np.uint8))
    launch.run("overlay", (1, len(rgb)))
    assert (launch.arrays["rgb"] == rgb).all()


def test_every_barrier_is_needed():
    batch = crowded(3)
    batch.weather[:], batch.intensity[:] = [WEATHERS.index(x) for x in ("rain", "snow", "night")], 1.0
    assert all(faults_without_barriers(lambda: prepared(batch, 48, 160)[0], "overlay", (2, len(batch))))
