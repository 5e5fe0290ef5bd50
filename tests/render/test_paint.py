"""An exchanged paint changes the pixels of bodies, in both engines, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from simtown.assets.atlas import NO_PAINT, atlas
from simtown.assets.catalogue import BODIES, ENTITIES, STREET_MESHES
from simtown.assets.frequencies import frequencies
from simtown.assets.palette import PAINTS, material
from simtown.language.sampler import Recipe, sample
from simtown.render.instances import instances
from simtown.render.light import WET, lights
from simtown.render.raster import Raster
from simtown.scenes.camera import views
from simtown.scenes.paint import body_paints
from simtown.scenes.placement import LANES
from simtown.scenes.scene import SceneBatch, empty_batch


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


def test_the_atlas_knows_bodies():
    town = atlas()
    paints = [material(BODIES[name]) for name in ENTITIES]
    assert town.own_paint.tolist() == paints + [NO_PAINT] * (len(STREET_MESHES) + 1)
    for number in range(len(town.radius)):
        own = slice(*town.triangle_start[number : number + 2])
        body = (town.materials[own] == town.own_paint[number]) & (number < len(ENTITIES))
        assert np.array_equal(town.body[own], body)
        assert town.body[own].any() == (number < len(ENTITIES))


def test_instances_name_the_material_of_every_body():
    batch = empty_batch(2, 2, 1)
    batch.entity[0], batch.entity[1, 0], batch.prop[1] = [2, 7], 2, 0
    batch.paint[0, 1] = PAINTS.index("mint")
    paints = instances(batch)[4]
    assert paints.dtype == np.uint8
    own = material(BODIES[ENTITIES[2]])
    assert paints[0].tolist() == [NO_PAINT, own, material("mint"), NO_PAINT]
    assert paints[1].tolist() == [NO_PAINT, own, NO_PAINT, NO_PAINT]


@pytest.mark.parametrize("engine", ["raster", "opengl"])
def test_own_paint_is_no_change_and_another_changes_vehicles_alone(engine, request):
    renderer = request.getfixturevalue("opengl") if engine == "opengl" else Raster()
    batch = scenes()
    before = renderer.render(batch, 128, 128)
    own = replace(batch, paint=body_paints(batch.entity, batch.paint).astype(np.int8))
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


@pytest.mark.parametrize(("kind", "yaw"), [("sedan", 0.0), ("tractor", 0.0), ("fire truck", np.pi)])
def test_only_pixels_with_a_sample_of_the_body_change(kind, yaw):
    """The triangle of each of a pixel's nine samples is found by casting a ray at all triangles."""
    width, height = 64, 48
    batch = portraits(kind, range(PAINTS.index("red"), PAINTS.index("red") + 2), yaw)
    pictures = Raster().render(batch, width, height).rgb.astype(int)
    body = body_samples(batch, width, height)
    changed = (pictures[0] != pictures[1]).any(axis=-1)
    assert changed.sum() > 30
    # a sample on an edge may go to either triangle
    touched, possible = (
        np.stack([mask[i : i + 2 * height : 2, j : j + 2 * width : 2] for i in range(3) for j in range(3)])
        for mask in (body, grown(body, 1))
    )
    assert not (changed & ~possible.any(axis=0)).any()
    assert changed[touched.all(axis=0)].all()


def body_samples(batch: SceneBatch, width: int, height: int) -> np.ndarray:
    """(2 height + 1, 2 width + 1) bool, where the first vehicle shows its body, two samples a pixel."""
    view = views(batch.camera, width, height)[0].astype(float)
    x, y = (np.arange(2 * n + 1) / 2 for n in (width, height))
    across, up = (x - view[13]) / view[12], (view[14] - y) / view[12]
    rays = view[9:12] + across[None, :, None] * view[3:6] + up[:, None, None] * view[6:9]
    town, number = atlas(), int(batch.entity[0, 0])
    mesh, own = town.mesh(number), slice(*town.triangle_start[number : number + 2])
    vehicle_x, vehicle_y, yaw = batch.pose[0, 0].astype(float)
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    p, q, r = ((mesh.vertices @ turn.T + [vehicle_x, vehicle_y, 0])[mesh.triangles[:, k]] for k in range(3))
    nearest, shows = np.full(rays.shape[:2], np.inf), np.zeros(rays.shape[:2], dtype=bool)
    for a, b, c, is_body in zip(p, q, r, town.body[own], strict=True):
        normal = np.cross(b - a, c - a)
        if normal @ (view[:3] - a) <= 0:
            continue
        slope = rays @ normal
        away = normal @ (a - view[:3]) / np.where(slope == 0, -1e-12, slope)
        hit = view[:3] + away[..., None] * rays
        inside = np.ones(away.shape, dtype=bool)
        for start, stop in ((a, b), (b, c), (c, a)):
            inside &= np.cross(stop - start, hit - start) @ normal >= 0
        closer = inside & (away > 0) & (away < nearest)
        nearest[closer], shows[closer] = away[closer], is_body
    return shows


@pytest.mark.parametrize("kind", ENTITIES)
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
