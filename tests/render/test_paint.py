"""An exchanged paint changes the pixels of bodies, in both engines, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from simtown.assets.catalogue import BODIES, ENTITIES
from simtown.assets.frequencies import frequencies
from simtown.assets.palette import PAINTS
from simtown.language.asking.paper import Recipe, sample
from simtown.render.light import WET, lights
from simtown.render.raster import Raster
from simtown.scenes.placement import LANES
from simtown.scenes.scene import SceneBatch, empty_batch
from tests.every import for_every


def scenes(n: int = 28) -> SceneBatch:
    """Busy streets in every weather, their vehicles in paints of their own."""
    return sample(Recipe(2, "train", *frequencies("uniform", 60), jitter=0.5), np.arange(n)).scene


def painted(batch: SceneBatch, paint: str) -> SceneBatch:
    return replace(batch, paint=np.where(batch.entity >= 0, PAINTS.index(paint), -1).astype(np.int8))


def portraits(kind: str, paints: range, yaw: float = 0.0) -> SceneBatch:
    """One vehicle alone in each paint."""
    batch = empty_batch(len(paints), 1, 1)
    batch.entity[:], batch.paint[:, 0] = ENTITIES.index(kind), paints
    batch.pose[:, 0] = (0.0, LANES[0][0], yaw)
    batch.camera[:, 5], batch.camera[:, 6] = 1.6, -0.53
    return batch


def grown(mask: np.ndarray, by: int) -> np.ndarray:
    """A (..., h, w) mask with all pixels that are so near to it."""
    out = mask.copy()
    for _ in range(by):
        for axis in (-2, -1):
            for step in (1, -1):
                out = out | np.roll(out, step, axis)
    return out


@pytest.mark.parametrize("engine", ["raster", "opengl"])
def test_own_paint_is_no_change_and_another_changes_vehicles_alone(engine, request):
    renderer = request.getfixturevalue("opengl") if engine == "opengl" else Raster()
    batch = scenes()
    before = renderer.render(batch, 128, 128)
    own = replace(batch, paint=batch.body_paints().astype(np.int8))
    assert np.array_equal(before.rgb, renderer.render(own, 128, 128).rgb)
    after = renderer.render(painted(batch, "magenta"), 128, 128)
    assert np.array_equal(before.ids, after.ids)
    assert np.array_equal(before.depth, after.depth)
    changed = (before.rgb != after.rgb).any(axis=-1)
    assert changed.any(axis=(1, 2)).all()
    vehicles = (before.ids > 0) & (before.ids <= batch.entity.shape[1])
    nearby = grown(vehicles, 2)
    dry = lights(batch.weather, batch.intensity, batch.sun)[:, WET] == 0  # a wet road mirrors vehicles
    assert dry.sum() > 10
    assert not (changed & ~nearby)[dry].any()


def test_engines_agree_on_painted_bodies(opengl):
    batch = scenes(14)
    errors = []
    for scene in (batch, painted(batch, "lime")):
        ours, theirs = Raster().render(scene, 192, 192), opengl.render(scene, 192, 192)
        body = (ours.ids == theirs.ids) & (ours.ids > 0) & (ours.ids <= 2)
        errors.append(np.abs(ours.rgb[body].astype(int) - theirs.rgb[body]).mean())
    assert errors[1] < errors[0] + 2


@for_every(ENTITIES)
def test_every_kind_is_drawn_in_every_paint(kind):
    """Each picture differs, and the more of a channel a paint has, the brighter the pixels that change."""
    pictures = Raster().render(portraits(kind, range(-1, len(PAINTS))), 64, 48, geometry=False).rgb
    own, rest = pictures[0], pictures[1:]
    assert np.array_equal(rest[PAINTS.index(BODIES[kind])], own)
    assert len({picture.tobytes() for picture in rest}) == len(PAINTS)
    changes = (rest != rest[0]).any(axis=(0, 3))
    black, white = (rest[PAINTS.index(name)][changes].astype(int) for name in ("black", "white"))
    assert (white >= black).all()
    assert (white - black).mean() > 20
