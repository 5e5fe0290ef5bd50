"""The rasteriser: pixels of the scene alone, geometry against a ray caster, and its limits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import sample
from simtown.render.frames import Frames
from simtown.render.instances import instances
from simtown.render.raster import MOST_TRIANGLES, Raster
from simtown.scenes.camera import NEAR, Camera, views
from simtown.scenes.placement import LANES
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather, empty_batch
from simtown.scenes.weather import WEATHERS

SETTINGS = Settings(entities=102, frequencies="uniform", distractor=True, jitter=1.0, seed=11)


@pytest.fixture(scope="module")
def batch():
    """Forty sampled scenes, of all weathers."""
    scenes = sample(source_of(SETTINGS).recipe("train"), np.arange(40)).scene
    assert set(scenes.weather) == set(range(len(WEATHERS)))
    return scenes


@pytest.fixture(scope="module")
def raster():
    return Raster()


@pytest.fixture(scope="module")
def drawn(raster, batch):
    return raster.render(batch, 64, 48)


def same(a: Frames, b: Frames):
    return all(np.array_equal(getattr(a, f), getattr(b, f)) for f in ("rgb", "depth", "ids"))


def part(frames: Frames, rows):
    return Frames(frames.rgb[rows], frames.depth[rows], frames.ids[rows])


def shown(raster, scenes, size):
    """Pictures of readable scenes, and the view of the first, float64."""
    batch = SceneBatch.of(scenes)
    return raster.render(batch, size, size), views(batch.camera, size, size)[0].astype(float)


def weathered(batch, intensity=0.5):
    """The first street of a batch in every weather."""
    scenes = batch[np.zeros(len(WEATHERS), dtype=np.int64)]
    scenes.weather[:] = np.arange(len(WEATHERS))
    scenes.intensity[:] = intensity
    return scenes


def test_one_raster_serves_several_threads_at_once(raster, batch, drawn):
    jobs = [(slice(i, i + 8), size) for i in (0, 8, 16, 24, 32) for size in ((64, 48), (40, 33))] * 2
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda job: raster.render(batch[job[0]], *job[1]), jobs))
    for (rows, size), frames in zip(jobs, together, strict=True):
        if size == (64, 48):
            assert same(frames, part(drawn, rows))
        else:
            assert same(frames, Raster().render(batch[rows], *size))


def test_a_scene_looks_alike_alone_and_in_any_company(raster, batch, drawn):
    for i in range(0, 40, 7):
        assert same(raster.render(batch[i : i + 1], 64, 48), part(drawn, slice(i, i + 1)))
    order = np.random.default_rng(0).permutation(40)
    assert same(raster.render(batch[order], 64, 48), part(drawn, order))


def test_a_batch_is_left_as_it_was(raster, batch):
    before = batch[np.arange(40)]
    raster.render(batch, 32, 32)
    assert all(np.array_equal(getattr(batch, f), getattr(before, f)) for f in SceneBatch.__dataclass_fields__)


def test_empty_slots_may_stand_anywhere(raster, batch):
    """Taking empty slots out, or adding some, changes the ids alone."""
    compact = SceneBatch.of([batch.scene(i) for i in range(6)])
    assert compact.prop.shape[1] < batch.prop.shape[1]
    one, other = raster.render(batch[:6], 64, 48), raster.render(compact, 64, 48)
    assert np.array_equal(one.rgb, other.rgb)
    assert np.array_equal(one.depth, other.depth)
    assert np.array_equal(one.ids[one.ids < 4], other.ids[one.ids < 4])


SIZES = [(32, 32), (33, 47), (47, 33), (4096, 32), (32, 4096), (1024, 1024), (97, 193), (255, 127)]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_size_shows_the_road_where_the_camera_says(width, height, raster):
    scenes = empty_batch(2, 1, 1)
    scenes.camera[1] = Camera(x=1.0, y=-15.2, z=6.1, yaw=0.06, pitch=-0.04).row()
    frames = raster.render(scenes, width, height)
    assert frames.rgb.shape == (2, height, width, 3)
    view = views(scenes.camera, width, height).astype(float)
    seen = 0
    for n in range(2):
        for y, paint in ((-1.85, "road"), (1.85, "road"), (5.3, "stone"), (12.0, "grass"), (40.0, "grass")):
            x, row, depth = spot(view[n], (1.2, y, 0.0))
            column, line = int(np.floor(x)), int(np.floor(row))
            if not (1 <= column < width - 1 and 1 <= line < height - 1):
                continue
            seen += 1
            assert frames.depth[n, line, column] == pytest.approx(depth, rel=0.2)
            red, green, blue = frames.rgb[n, line, column].astype(int)
            if paint == "grass":
                assert green > max(red, blue) + 15
            else:
                assert max(red, green, blue) - min(red, green, blue) < 40
                road = frames.rgb[n, int(spot(view[n], (1.2, 1.85, 0.0))[1]), column].astype(int).sum()
                lighter = red + green + blue > road + 60
                assert lighter == (paint == "stone"), "pavements are lighter than the road"
    assert seen >= 6


def spot(view, point):
    """Pixel coordinates and depth of a point, by the pinhole model."""
    d = np.asarray(point) - view[:3]
    right, up, far = d @ view[3:6], d @ view[6:9], d @ view[9:12]
    return view[13] + view[12] * right / far, view[14] - view[12] * up / far, far


BAD = {"entity": len(ENTITIES), "prop": len(PROPS), "paint": -2, "weather": len(WEATHERS), "pose": np.nan}
# 0 is also the focal length: reflections in a wet street would have no end
BAD |= {"prop_pose": np.inf, "intensity": 1.5, "sun": 1e7, "camera": 0.0}


@pytest.mark.parametrize(("column", "value"), BAD.items())
def test_a_scene_whose_numbers_stand_for_nothing_is_refused_and_named(column, value, raster, batch):
    scenes = batch[np.arange(4)]
    getattr(scenes, column)[2] = value
    with pytest.raises(ValueError, match="scene 2 "):
        raster.render(scenes, 64, 48)


def test_a_larger_picture_is_the_same_picture(raster, batch):
    """Averaged down, a picture of four times the pixels is nearly the small one."""
    falling = [WEATHERS.index("rain"), WEATHERS.index("snow")]
    dry = batch[np.flatnonzero(~np.isin(batch.weather, falling))[:10]]
    small = raster.render(dry, 64, 64).rgb.astype(float)
    large = raster.render(dry, 256, 256).rgb.astype(float)
    down = large.reshape(len(dry), 64, 4, 64, 4, 3).mean(axis=(2, 4))
    assert np.abs(down - small).mean() < 6
    assert np.abs(np.roll(down, 2, axis=2) - small).mean() > 2 * np.abs(down - small).mean()


def rays(view, width, height):
    """Directions of the rays through pixel middles, (h, w, 3), one metre deep."""
    x = (np.arange(width) + 0.5 - view[13]) / view[12]
    y = (view[14] - np.arange(height) - 0.5) / view[12]
    return view[9:12] + x[None, :, None] * view[3:6] + y[:, None, None] * view[6:9]


def cast(batch, n, width, height):  # noqa: PLR0914 - an algorithm in its own terms
    """Depth and instance id of every pixel of scene n, ray by ray and by triangle, by Möller and Trumbore."""
    a, view = atlas(), views(batch.camera, width, height)[n].astype(float)
    meshes, poses, _, ids, _ = instances(batch)
    direction = rays(view, width, height).reshape(-1, 3)
    best, number = np.full(len(direction), np.inf), np.zeros(len(direction), dtype=int)
    for k in np.flatnonzero(meshes[n] >= 0):
        mesh, (x, y, z, c, s, scale) = a.mesh(int(meshes[n, k])), poses[n, k].astype(float)
        turn = scale * np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        corners = (mesh.vertices @ turn.T + (x, y, z))[mesh.triangles]
        p, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        facing = ((view[:3] - p) * np.cross(u, v)).sum(axis=1) > 0
        p, u, v = p[facing], u[facing], v[facing]
        normal, from_eye = np.cross(u, v), view[:3] - p
        across = direction @ normal.T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = -(from_eye * normal).sum(axis=1) / across
            b0 = direction @ np.cross(from_eye, v).T / across
            b1 = -(direction @ np.cross(from_eye, u).T) / across
        hit = (across < 0) & (b0 >= 0) & (b1 >= 0) & (b0 + b1 <= 1) & (depth >= NEAR)
        depth = np.where(hit, depth, np.inf).min(axis=1, initial=np.inf)
        nearer = depth < best
        best[nearer], number[nearer] = depth[nearer], ids[k]
    return best.reshape(height, width), number.reshape(height, width)


def agrees_with_rays(raster, batch, n, width, height):
    """Compare a scene with the ray caster, but for edges (corners lie on 1/512 pixel); returns its ids."""
    frames = raster.render(batch[n : n + 1], width, height)
    depth, ids = cast(batch, n, width, height)
    assert (frames.ids[0] == ids).mean() > 0.985
    assert (np.isfinite(depth) == np.isfinite(frames.depth[0])).mean() > 0.985
    comparable = np.isfinite(depth) & np.isfinite(frames.depth[0]) & (frames.ids[0] == ids)
    assert (np.abs(frames.depth[0][comparable] / depth[comparable] - 1) < 1e-3).mean() > 0.985
    return np.unique(ids)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("size", [(36, 32), (32, 48)])
def test_ids_and_depth_are_those_of_a_ray_caster(n, size, raster, batch):
    assert len(agrees_with_rays(raster, batch, n, *size)) > 10


IN_THE_STREET = [Camera(y=0.0, z=1.5), Camera(x=2.0, y=0.0, z=1.5, yaw=1.4)]
INSIDE = [Camera(y=11.0, z=2.0, yaw=2.6), Camera(x=1.0, y=5.2, z=1.0, yaw=-2.0, pitch=-0.3)]


@pytest.mark.parametrize("camera", IN_THE_STREET + INSIDE)
def test_what_crosses_the_near_plane_is_cut_where_it_should_be(camera, raster, batch):
    """From the middle of the street, from inside a house, from among the people on the pavement."""
    scenes = batch[np.arange(3)]  # a copy
    scenes.camera[:] = camera.row()
    assert len(np.unique(np.concatenate([agrees_with_rays(raster, scenes, n, 40, 40) for n in range(3)]))) > 5


def test_depth_is_infinite_exactly_where_nothing_is_hit(drawn, batch):
    assert (drawn.depth >= NEAR * 0.999).all()
    assert np.isfinite(drawn.depth[drawn.ids > 0]).all()
    slots = 1 + batch.entity.shape[1] + batch.prop.shape[1]
    empty = np.concatenate([np.zeros((40, 1), bool), batch.entity < 0, batch.prop < 0], axis=1)
    for n in range(40):
        numbers = np.unique(drawn.ids[n])
        assert numbers.max() < slots
        assert not empty[n, numbers].any(), "an id of an empty slot"
        sky, ground = np.isinf(drawn.depth[n]), np.isfinite(drawn.depth[n]) & (drawn.ids[n] == 0)
        assert sky.any()
        assert ground.any()
        assert np.isinf(drawn.depth[n, 0]).any()
        assert np.isfinite(drawn.depth[n, -1]).all()


def test_the_sky_is_where_no_light_falls_through_things(raster):
    """An empty street: the sky begins above the hills, and every ray below the horizon meets the ground."""
    scenes = empty_batch(1, 1, 1)
    frames = raster.render(scenes, 96, 96)
    down = rays(views(scenes.camera, 96, 96)[0].astype(float), 96, 96)[..., 2]
    reach = -5.6 / down  # metres to where z is 0
    assert np.isfinite(frames.depth[0][(down < 0) & (reach < 100)]).all()
    assert np.isinf(frames.depth[0][down > 0.25]).all()
    assert (frames.ids == 0).all()


ABOVE = [Camera(), Camera(x=3, y=-12, z=4, yaw=0.3, pitch=-0.2), Camera(z=9, pitch=-0.6)]


def test_every_instance_is_as_far_as_it_stands(raster):
    """Also from inside the street and inside houses: depth of an instance lies within its bounding sphere."""
    scenes = sample(source_of(SETTINGS).recipe("val"), np.arange(60)).scene
    chance = np.random.default_rng(0)
    wild = scenes[np.arange(60)]
    for column, (low, high) in enumerate([(-8, 8), (-12, 14), (0.3, 4), (-3.1, 3.1), (-0.8, 0.8)]):
        wild.camera[:, column] = chance.uniform(low, high, 60)
    for some in (scenes, wild):
        frames = raster.render(some, 48, 40)
        assert (frames.depth >= NEAR * 0.999).all()
        meshes, poses, *_ = instances(some)
        view = views(some.camera, 48, 40).astype(float)
        wrong = total = 0
        for n in range(60):
            middle = (poses[n, :, :3] - view[n, :3]) @ view[n, 9:12]
            reach = atlas().radius[np.maximum(meshes[n], 0)] * poses[n, :, 5]
            mine = frames.ids[n] > 0
            k = frames.ids[n][mine]
            wrong += (np.abs(frames.depth[n][mine] - middle[k]) > reach[k] + 0.01).sum()
            total += mine.sum()
        assert total > 10_000
        assert wrong <= total * 1e-4


LOW = [Camera(y=0.0, z=1.5), Camera(y=0.0, z=0.05), Camera(y=0.0, z=1.0, yaw=1.57)]
IN_A_HOUSE = [Camera(y=11.0, z=2.0), Camera(y=11.0, z=2.0, yaw=3.1)]
STEEP = [Camera(y=0.0, z=1.5, pitch=-1.5), Camera(y=0.0, z=1.5, pitch=1.5)]
AWAY = [Camera(z=-3.0), Camera(y=200.0, z=5.0), Camera(x=1e4, y=1e4, z=1e4)]
LENSES = [Camera(focal=0.01), Camera(focal=50.0), Camera(bottom=5.0)]


@pytest.mark.parametrize("camera", [*LOW, *IN_A_HOUSE, *STEEP, *AWAY, *LENSES])
def test_cameras_in_odd_places_draw_something_finite(camera, raster, batch):
    scenes = weathered(batch)
    scenes.camera[:] = camera.row()
    frames = raster.render(scenes, 48, 40)
    assert (frames.depth > 0).all()
    assert np.isfinite(frames.depth[frames.ids > 0]).all()


def test_a_wall_across_the_near_plane_is_cut_not_dropped(raster):
    """A house beside the eye, as long before it as behind it, fills its side of the picture."""
    number = len(ENTITIES) + PROPS.index("market hall")
    front, wide = -float(atlas().bounds[number, 0, 1]), float(atlas().bounds[number, 1, 0])
    assert wide > 2 * NEAR
    eye = Camera(x=front + 1.0, y=0.0, z=2.0, yaw=0.3)
    hall = Prop("market hall", 0.0, 0.0, yaw=np.pi / 2)
    batch = SceneBatch.of([Scene(props=[hall], camera=eye), Scene(camera=eye)])
    frames = raster.render(batch, 64, 64)
    agrees_with_rays(raster, batch, 0, 40, 40)
    assert (frames.ids[0][:, :16] == 2).mean() > 0.5
    assert frames.depth[0][frames.ids[0] == 2].min() == pytest.approx(NEAR, rel=0.15)
    assert (frames.ids[1] == 0).all()


def test_a_scene_of_too_many_triangles_names_the_limit(raster):
    # each before the last: all are seen
    crowd = [Prop(STREET["building"][i % 4], -8.0 + 2 * (i % 9), 34 - 0.1 * i) for i in range(250)]
    few, many = Scene(props=crowd[:10]), Scene(props=crowd)
    batch = SceneBatch.of([few, few, many, few])
    with pytest.raises(ValueError, match=f"scene 2 .*{MOST_TRIANGLES}"):
        raster.render(batch, 512, 512)
    assert raster.render(SceneBatch.of([few]), 64, 64).ids.any(), "the raster works on"


def test_as_many_things_as_ids_are_drawn_and_no_more(raster):
    """Ids are bytes: slot 256 must not pass for slot 0."""
    fits, crowd = (
        Scene(props=[Prop("mailbox", 0.0, 500.0)] * n + [Prop("mailbox", 0.0, 5.0)]) for n in (253, 255)
    )
    assert set(np.unique(shown(raster, [fits], 256)[0].ids)) == {0, 255}
    with pytest.raises(ValueError, match="at most 255"):
        shown(raster, [crowd], 64)


@pytest.mark.parametrize("intensity", [0.0, 0.5, 1.0])
def test_every_weather_is_another_picture(intensity, raster, batch):
    scenes = weathered(batch, intensity)
    frames = raster.render(scenes, 96, 96)
    for i in range(len(WEATHERS)):
        for j in range(i):
            assert np.abs(frames.rgb[i].astype(int) - frames.rgb[j]).mean() > 4, (WEATHERS[i], WEATHERS[j])
    assert (frames.ids == frames.ids[0]).all(), "weather moves nothing"
    assert (frames.depth == frames.depth[0]).all()


#: Least mean difference of pictures at intensity 0.1 and 1.0, of 255 levels.
LEAST_DIFFERENCE = dict(zip(WEATHERS, (16.4, 27.6, 27.4, 29.2, 23.2, 46.8, 28.6), strict=True))


@pytest.mark.parametrize("weather", WEATHERS)
def test_intensity_is_seen(weather, raster, batch):
    scenes = batch[np.arange(8)]
    scenes.weather[:] = WEATHERS.index(weather)
    pictures = []
    for intensity in (0.1, 1.0):
        scenes.intensity[:] = intensity
        pictures.append(raster.render(scenes, 96, 96).rgb.astype(int))
    assert np.abs(pictures[1] - pictures[0]).mean() > LEAST_DIFFERENCE[weather]


#: Least mean difference, of 255 levels, between the pixels of a vehicle and the same street without it.
LEAST_CONTRAST = 14


@pytest.mark.parametrize("weather", ["fog", "night", "rain", "snow", "dusk"])
def test_every_vehicle_stands_out_in_the_strongest_weather(weather, raster, batch):
    props, sky = batch.scene(0).props, Weather(weather, 1.0)
    for y, yaw in LANES:
        scenes = [Scene([Vehicle(name, 0.0, y, yaw)], props, sky) for name in ENTITIES]
        frames, _ = shown(raster, [*scenes, Scene([], props, sky)], 128)
        empty = frames.rgb[-1].astype(int)
        for i, name in enumerate(ENTITIES):
            own = frames.ids[i] == 1
            assert np.abs(frames.rgb[i].astype(int) - empty)[own].mean() > LEAST_CONTRAST, name


@pytest.mark.parametrize("weather", ["rain", "snow"])
def test_what_falls_depends_on_its_seed_alone(weather, raster, batch):
    scenes = batch[np.zeros(3, dtype=np.int64)]
    scenes.weather[:], scenes.intensity[:], scenes.fall_seed[:] = WEATHERS.index(weather), 1.0, (5, 5, 6)
    one, again, other = raster.render(scenes, 96, 96).rgb
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("weather", WEATHERS)
def test_a_picture_drawn_in_strips_is_the_picture(weather, batch, monkeypatch):
    """Byte for byte, with halos, rain, shadows and reflections across the seams."""
    scenes = batch[np.arange(4)]
    scenes.weather[:], scenes.intensity[:] = WEATHERS.index(weather), (0.3, 0.6, 0.9, 1.0)
    whole = Raster().render(scenes, 150, 96)
    for pixels in (64, 17):
        monkeypatch.setattr("simtown.render.raster.STRIP", pixels * (2 * 96 + 1))
        assert same(Raster().render(scenes, 150, 96), whole)


def test_styles_are_seen(raster):
    kind = STREET["building"][0]
    scenes = [Scene(props=[Prop(kind, 0.0, 10.0, style=s)]) for s in (0, 1, 2, 2)]
    pictures = shown(raster, scenes, 64)[0].rgb
    assert np.array_equal(pictures[2], pictures[3])
    assert len({picture.tobytes() for picture in pictures}) > 1
