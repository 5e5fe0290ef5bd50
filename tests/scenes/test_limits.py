"""The limits of a scene and of a picture, each at its edge: docs/decisions.md lists them."""

import numpy as np
import pytest

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.language.sampler import Recipe, sample
from simtown.render.frames import LARGEST, SMALLEST
from simtown.render.instances import instances
from simtown.render.raster import MOST_TRIANGLES, Raster
from simtown.scenes.placement import MOST_VEHICLES, apart
from simtown.scenes.scene import empty_batch
from simtown.scenes.silhouette import framed, visibility


def facing(mesh, poses, eyes):
    """How many triangles of a mesh in (n, 6) poses (see instances) face (n, 3) eyes: (n,) int."""
    a = atlas()
    normals = a.normals[a.triangle_start[mesh] : a.triangle_start[mesh + 1]].astype(np.float64)
    x, y, z, c, s, scale = poses.astype(np.float64).T
    dx, dy, dz = (eyes - np.stack([x, y, z], axis=1)).T
    eye = np.stack([c * dx + s * dy, c * dy - s * dx, dz], axis=1) / scale[:, None]
    return (eye @ normals[:, :3].T > normals[:, 3]).sum(axis=1)


@pytest.fixture(scope="module")
def streets():
    """(scenes, triangles of each street that face the camera)."""
    even = np.full(len(ENTITIES), 1 / len(ENTITIES))
    scenes = sample(Recipe(0, "train", even, even, jitter=1.0), np.arange(1500)).scene
    scenes.entity[:] = -1
    meshes, poses, *_ = instances(scenes)
    total = np.zeros(len(scenes), dtype=int)
    for mesh in np.unique(meshes[meshes >= 0]):
        rows, slots = np.nonzero(meshes == mesh)
        np.add.at(total, rows, facing(mesh, poses[rows, slots], scenes.camera[rows, :3]))
    return scenes, total


def test_eight_of_the_heaviest_vehicles_fit_the_fullest_street(streets):
    """However they are turned: all triangles that face the camera have numbers."""
    scenes, total = streets
    yaws = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    poses = np.stack([0 * yaws, 0 * yaws, 0 * yaws, np.cos(yaws), np.sin(yaws), 1 + 0 * yaws], axis=1)
    eyes = np.tile(scenes.camera[0, :3], (72, 1))
    heaviest = max(int(facing(mesh, poses, eyes).max()) for mesh in range(len(ENTITIES)))
    assert MOST_VEHICLES * heaviest + total.max() < MOST_TRIANGLES


def test_eight_vehicles_in_the_fullest_street_are_drawn(streets):
    scenes, total = streets
    count = np.diff(atlas().triangle_start)[: len(ENTITIES)]
    batch = empty_batch(1, MOST_VEHICLES, scenes.prop.shape[1])
    fullest = int(total.argmax())
    for name in ("prop", "prop_pose", "prop_style"):
        getattr(batch, name)[:] = getattr(scenes, name)[fullest]
    batch.entity[:] = np.argsort(-count)[:MOST_VEHICLES]
    batch.pose[0] = [(7.0 * (i % 4 - 1.5), 8.0 * (i // 4) - 1.0, 0.7 * i) for i in range(MOST_VEHICLES)]
    assert apart(batch.entity.astype(np.int64), batch.pose).all()
    ids = Raster().render(batch, 512, 512).ids
    assert len(np.unique(ids[(ids > 0) & (ids <= MOST_VEHICLES)])) >= 6  # the others lie beyond the edges
    assert visibility(batch.entity, batch.pose, batch.camera).shape == (1, MOST_VEHICLES)
    assert framed(batch.entity, batch.pose, batch.camera).shape == (1,)


@pytest.mark.parametrize("side", [SMALLEST - 1, SMALLEST, LARGEST, LARGEST + 1])
def test_sides_of_pictures_keep_to_their_range(side):
    for width, height in ((side, SMALLEST), (SMALLEST, side)):
        if SMALLEST <= side <= LARGEST:
            rgb = Raster().render(empty_batch(1, 1, 1), width, height, geometry=False).rgb
            assert rgb.shape == (1, height, width, 3)
        else:
            with pytest.raises(ValueError, match="out of range"):
                Raster().render(empty_batch(1, 1, 1), width, height)
