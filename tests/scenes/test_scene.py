"""The latent state as JSON and arrays, the limits of docs/decisions.md, and the pinhole projection."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.language.asking.paper import Recipe, sample
from simtown.render.frames import LARGEST, SMALLEST
from simtown.render.instances import instances
from simtown.render.raster import MOST_TRIANGLES, Raster
from simtown.scenes.camera import NOMINAL, Camera, views
from simtown.scenes.placement import MOST_VEHICLES
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather, empty_batch
from simtown.scenes.weather import WEATHERS
from tests.kernels.pieces import pieces

exact = st.floats(-1000, 1000)
single = st.floats(-1000, 1000, width=32).map(lambda x: x + 0.0)


def scenes(number):
    vehicles = st.builds(Vehicle, st.sampled_from(ENTITIES), number, number, number)
    props = st.builds(Prop, st.sampled_from(PROPS), *[number] * 5, st.integers(0, 65535))
    sky = (st.sampled_from(WEATHERS), st.floats(0, 1, width=32), number, number)
    weather = st.builds(Weather, *sky, st.integers(0, 2**32 - 1))
    camera = st.builds(Camera, *[number] * 5, st.floats(0.125, 1000, width=32), number)
    return st.builds(Scene, st.lists(vehicles, max_size=3), st.lists(props, max_size=4), weather, camera)


@pytest.fixture(scope="module")
def batch():
    even = np.full(30, 1 / 30)
    return sample(Recipe(3, "train", even, even, distractor=True, jitter=0.4), np.arange(24)).scene


@given(scenes(exact))
def test_json_both_ways(scene):
    assert Scene.from_json(scene.to_json()) == scene


@given(st.lists(scenes(single), min_size=1, max_size=4))
def test_a_batch_gives_its_scenes_back(many):
    batch = SceneBatch.of(many)
    assert len(batch) == len(many)
    assert [batch.scene(i) for i in range(len(many))] == many


def test_sampled_scenes_round_trip(batch):
    for i in range(len(batch)):
        scene = batch.scene(i)
        assert Scene.from_json(scene.to_json()) == scene
        again = SceneBatch.of([scene])
        assert again.scene(0) == scene
        kept = batch.prop[i] >= 0
        assert 0 < kept.sum() < len(kept)  # empty slots close up
        for f in fields(SceneBatch):
            ours, theirs = getattr(batch, f.name), getattr(again, f.name)
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours[i][kept] if f.name.startswith("prop") else ours[i], theirs[0])


def test_rows_of_a_batch(batch):
    for rows in (slice(3, 9, 2), np.array([7, 7, 0]), np.arange(24) % 5 == 0):
        part = batch[rows]
        for f in fields(SceneBatch):
            assert np.array_equal(getattr(part, f.name), getattr(batch, f.name)[rows])


def test_empty_batch_is_the_default_scene():
    batch = empty_batch(2, 2, 3)
    scene = batch.scene(1)
    assert scene.vehicles == scene.props == []
    assert scene.weather.kind == Weather().kind == "clear"
    assert np.allclose(list(asdict(scene.camera).values()), list(asdict(Camera()).values()), rtol=1e-6)
    assert SceneBatch.of([Scene()]).sun.tolist() == batch.sun[:1].tolist()
    assert SceneBatch.of([Scene()]).intensity.tolist() == batch.intensity[:1].tolist()


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (Scene([Vehicle("hovercraft", 0.0, 0.0)]), "unknown vehicle 'hovercraft'"),
        (Scene([Vehicle("school buss", 0.0, 0.0)]), "unknown vehicle 'school buss': did you mean school bus"),
        (Scene(props=[Prop("dragon", 0.0, 0.0)]), "unknown street kind 'dragon'"),
        (Scene(weather=Weather("hail")), "unknown weather 'hail'"),
    ],
)
def test_unknown_names_are_errors(scene, message):
    with pytest.raises(ValueError, match=message):
        SceneBatch.of([scene])


@pytest.mark.parametrize("most", [2**16 - 1, 2**32 - 1])
@pytest.mark.parametrize("value", [-1, 0, 7, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 10**30, 1.5, "a", None])
def test_styles_and_seeds_are_stored_or_refused(value, most):
    """What a batch takes, it gives back; and it takes what JSON takes."""
    if most == 2**16 - 1:
        scene, name = Scene(props=[Prop("bench", 0.0, 0.0, style=value)]), "prop.style"
    else:
        scene, name = Scene(weather=Weather(seed=value)), "weather.seed"
    if isinstance(value, int) and 0 <= value <= most:
        stored = SceneBatch.of([scene]).scene(0)
        assert [p.style for p in stored.props] == [p.style for p in scene.props]
        assert stored.weather.seed == scene.weather.seed
        assert Scene.from_json(scene.to_json()) == scene
        return
    with pytest.raises(ValueError, match=f"{name} is .* from 0 to {most}"):
        SceneBatch.of([scene])
    with pytest.raises((ValueError, TypeError), match=f"{name} is "):
        Scene.from_json(scene.to_json())


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


@pytest.mark.parametrize("side", [SMALLEST - 1, SMALLEST, LARGEST, LARGEST + 1])
def test_sides_of_pictures_keep_to_their_range(side):
    for width, height in ((side, SMALLEST), (SMALLEST, side)):
        if SMALLEST <= side <= LARGEST:
            rgb = Raster().render(empty_batch(1, 1, 1), width, height, geometry=False).rgb
            assert rgb.shape == (1, height, width, 3)
        else:
            with pytest.raises(ValueError, match="out of range"):
                Raster().render(empty_batch(1, 1, 1), width, height)


F = np.float32

ranges = ((-5, 5), (-18, -12), (1, 9), (-0.5, 0.5), (-0.25, 0.25), (0.5, 2), (-0.75, -0.25))
cameras = st.builds(Camera, *(st.floats(low, high, width=32) for low, high in ranges))
places = st.tuples(*(st.floats(*ends) for ends in ((-6, 6), (-2, 20), (-1, 5), (-7, 7), (0.5, 2))))
vertices = st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 4))
sizes = st.tuples(st.integers(32, 1024), st.integers(32, 1024))


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def pinhole(camera, width, height):
    """3×4 matrix K [R | -R eye] to homogeneous pixels (x right, y down): first pitched, then yawed."""
    eye = np.array([camera.x, camera.y, camera.z])
    right, forward, up = (rotation("z", camera.yaw) @ rotation("x", camera.pitch)).T
    R = np.stack([right, -up, forward])
    f = camera.focal * min(width, 16 / 9 * height)
    K = np.array([[f, 0, width / 2], [0, f, height + f * camera.bottom], [0, 0, 1]])
    return K @ np.column_stack([R, -R @ eye])


def placed(x, y, z, yaw, scale):
    """4×4 matrix from an object's frame to the world's."""
    matrix = np.eye(4)
    matrix[:3, :3] = scale * rotation("z", yaw)
    matrix[:3, 3] = x, y, z
    return matrix


def projected(camera, size, pose, points):
    """Through simtown: (n, 3) image x, y and depth."""
    x, y, z, yaw, scale = pose
    view = views(camera.row()[None], *size)[0]
    place = np.array([x, y, z, np.cos(yaw), np.sin(yaw), scale], dtype=np.float32)
    columns, out = np.ascontiguousarray(points.T, dtype=np.float32), np.zeros((4, len(points)), np.float32)
    pieces().call("project_points", view=view, pose=place, points=columns, out=out)
    assert np.allclose(out[3], 1 / np.maximum(out[2], F(1e-3)), rtol=1e-6)
    return out[:3].T


@given(cameras, sizes, places, st.lists(vertices, min_size=1, max_size=8))
def test_projection_is_the_pinhole_matrix(camera, size, pose, points):
    points = np.array(points)
    homogeneous = np.column_stack([points, np.ones(len(points))]).T
    u, v, depth = pinhole(camera, *size) @ placed(*pose) @ homogeneous
    got = projected(camera, size, pose, points)
    assert np.allclose(got[:, 2], depth, atol=2e-5)
    fine = depth > 2.0
    scale = camera.focal * min(size[0], 16 / 9 * size[1])
    assert np.allclose(got[fine, :2], np.stack([u / depth, v / depth], axis=1)[fine], atol=1e-5 * scale)


@given(cameras, sizes)
def test_view_axes_are_orthonormal_and_right_handed(camera, size):
    row = views(camera.row()[None], *size)[0].astype(np.float64)
    right, up, forward = row[3:6], row[6:9], row[9:12]
    axes = np.stack([right, up, -forward])  # as in OpenGL
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-6)
    assert row[:3] == pytest.approx([camera.x, camera.y, camera.z])
    assert right[2] == 0  # no roll


def test_points_behind_the_camera_stay_finite():
    got = projected(Camera(), NOMINAL, (0, 0, 0, 0, 1), np.array([[0.0, -20.0, 1.0], [1.0, Camera().y, 0.0]]))
    assert np.isfinite(got).all()
    assert got[0, 2] < 0
