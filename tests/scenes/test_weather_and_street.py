"""Weather and the random street behind the road."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import ConvexHull

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, POSES, PROPS, STREET, STREET_MESHES, mesh_in_pose, pose_of
from simtown.assets.street.people import SIDEWAYS
from simtown.assets.street.road_surface import NEAR_KERB, ROAD_EDGE
from simtown.core.streams import Stream
from simtown.render.instances import instances
from simtown.scenes import street as streets
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import number, outline
from simtown.scenes.scene import Prop, Scene, SceneBatch
from simtown.scenes.street import FRONT, draw_street
from simtown.scenes.weather import WEATHERS, draw_weather

COUNT = 420
INDEX = np.arange(COUNT)
PARTS = ("buildings", "lamps", "pavement", "trees", "hedges", "back", "clouds")
ENDS = np.cumsum([0, *(getattr(streets, part.upper()) for part in PARTS)])
ROWS = dict(zip(PARTS, map(slice, ENDS[:-1], ENDS[1:]), strict=True))


@given(st.lists(st.sampled_from(WEATHERS), min_size=1, max_size=7, unique=True))
def test_only_allowed_weather(allowed):
    drawn = draw_weather(Stream(0, "train", "weather"), np.arange(300), tuple(allowed))
    assert {WEATHERS[w] for w in drawn["weather"]} == set(allowed)


def test_weather_is_uniform_over_the_allowed():
    allowed = ("rain", "night", "clear", "fog")
    drawn = draw_weather(Stream(0, "train", "weather"), np.arange(8000), allowed)
    assert stats.chisquare([(drawn["weather"] == WEATHERS.index(w)).sum() for w in allowed]).pvalue > 1e-4
    assert stats.kstest(drawn["intensity"], "uniform").pvalue > 1e-4
    assert stats.kstest(drawn["fall_seed"] / 2.0**32, "uniform").pvalue > 1e-4


def test_weather_draws_do_not_depend_on_the_batch_or_the_allowed():
    stream = Stream(1, "val", "weather")
    whole, some = (draw_weather(stream, rows, WEATHERS) for rows in (np.arange(20), np.array([9, 3, 3])))
    for name in ("weather", "intensity", "sun", "fall_seed"):
        assert np.array_equal(some[name], whole[name][[9, 3, 3]])
    clear = draw_weather(stream, np.arange(20), ("clear",))
    assert np.array_equal(clear["intensity"], whole["intensity"])
    assert np.array_equal(clear["fall_seed"], whole["fall_seed"])


def test_unknown_weather_is_an_error():
    for allowed, words in ((("clear", "hail"), "hail"), ((), "choose among"), (("Clear",), "Clear.*clear")):
        with pytest.raises(ValueError, match=words):
            draw_weather(Stream(0, "train", "weather"), np.arange(3), allowed)


@pytest.fixture(scope="module")
def street():
    """(prop, pose, style, weather) of streets in every weather."""
    weather = (INDEX % len(WEATHERS)).astype(np.uint8)
    return *draw_street(Stream(0, "train", "street"), INDEX, weather), weather


def in_pose(prop, style):
    """(n, p) numbers of the street's meshes: of kinds in the poses that styles pick."""
    table = np.array([[mesh_in_pose(name, pose) for pose in range(POSES)] for name in PROPS])
    return table[prop, pose_of(style)]


@pytest.fixture(scope="module")
def extents(street):
    """(n, SLOTS, 2, 2) least and greatest x and y of every thing by all its vertices; NaN for empty slots."""
    prop, pose, style, _ = street
    out, meshes = np.full((*prop.shape, 2, 2), np.nan), in_pose(prop, style)
    for mesh in np.unique(meshes[prop >= 0]):
        at = np.nonzero((meshes == mesh) & (prop >= 0))
        v = atlas().mesh(len(ENTITIES) + int(mesh)).vertices
        x, y, _, yaw, scale = pose[at].astype(np.float64).T[:, :, None]
        c, s = np.cos(yaw) * scale, np.sin(yaw) * scale
        wx, wy = x + c * v[:, 0] - s * v[:, 1], y + s * v[:, 0] + c * v[:, 1]
        out[at] = np.stack([np.stack([w.min(axis=1), w.max(axis=1)], axis=-1) for w in (wx, wy)], axis=1)
    return out


def test_every_slot_holds_its_own_kinds(street):
    prop, _, _, _ = street
    groups = {name: {PROPS[k] for k in prop[:, rows].ravel() if k >= 0} for name, rows in ROWS.items()}
    assert groups["buildings"] == set(STREET["building"])
    assert groups["lamps"] == {"street lamp"}
    assert groups["clouds"] == set(STREET["cloud"])
    assert groups["pavement"] >= {"mailbox", "pillar box", *STREET["person"]}
    assert groups["pavement"] <= set(STREET["person"]) | set(STREET["furniture"])
    assert groups["trees"] <= set(STREET["tree"]) - set(streets._HEDGES)
    assert groups["hedges"] <= {f"{name}{bare}" for name in streets._HEDGES for bare in ("", " bare")}
    assert groups["back"] <= set(STREET["tree"])
    assert (prop[:, ROWS["buildings"]] >= 0).all()


@pytest.mark.parametrize("kind", STREET["animal"])
def test_an_animal_has_room_in_a_cell_of_the_pavement(kind):
    vertices = atlas().mesh(len(ENTITIES) + mesh_in_pose(kind, 0)).vertices
    assert np.hypot(vertices[:, 0], vertices[:, 1]).max() <= streets.CELL / 2 - streets.SHIFT


def test_buildings_stand_side_by_side(extents):
    row = extents[:, ROWS["buildings"], 0]
    gaps = row[:, 1:, 0] - row[:, :-1, 1]
    assert 0.05 < gaps.min() < gaps.max() < 2.5
    middle = (row[:, 0, 0] + row[:, -1, 1]) / 2
    assert np.abs(middle).max() < 3.5


def test_buildings_fill_the_picture(extents):
    """From edge to edge of the nominal frame at the front's distance, and nearly of one twice as wide."""
    row = extents[:, ROWS["buildings"], 0]
    width = (FRONT - Camera().y) / Camera().focal
    assert (row[:, 0, 0] < -width / 2).mean() > 0.97
    assert (row[:, -1, 1] > width / 2).mean() > 0.97
    assert np.median(row[:, -1, 1] - row[:, 0, 0]) > 2 * width
    assert (row[:, -1, 1] - row[:, 0, 0]).min() > 1.4 * width


def test_things_keep_off_the_road_and_pavement_things_stay_before_the_buildings(extents):
    near, far = extents[..., 1, 0], extents[..., 1, 1]
    assert not ((far > NEAR_KERB) & (near < ROAD_EDGE)).any()
    assert np.nanmax(far[:, ROWS["pavement"]]) < FRONT - 1.0


def test_trees_stand_between_buildings(extents, street):
    """Stems, so that no shop is hidden; hedges stand before buildings, clear of those stems."""
    prop, pose, _, _ = street
    row, trees, hedges = (extents[:, ROWS[name], 0] for name in ("buildings", "trees", "hedges"))
    stem = np.where(prop[:, ROWS["trees"]] >= 0, pose[:, ROWS["trees"], 0], np.nan)
    assert np.nanmax(stem - row[:, 1:, 0]) < 0.31
    assert np.nanmax(row[:, :-1, 1] - stem) < 0.31
    assert np.isfinite(stem).mean() > 0.5
    gaps = np.concatenate([(stem[:, 1:] - hedges[..., 1]).ravel(), (hedges[..., 0] - stem[:, :-1]).ravel()])
    assert np.nanmin(gaps) > 0.2
    assert np.isfinite(hedges).mean() > 0.5
    assert np.isfinite(trees).all(axis=-1).any()


def test_people_of_every_pose_turn_as_it_suits(street):
    """People walk along the pavement, either way; people who sit or wave look more or less at the road."""
    prop, pose, style, _ = street
    walk = ROWS["pavement"]
    kinds, yaw, poses = prop[:, walk], pose[:, walk, 3].astype(np.float64), pose_of(style[:, walk])
    sideways = np.isin(kinds, [PROPS.index(name) for name in SIDEWAYS])
    front = yaw + np.where(sideways, 1.1, 0.0)  # from the viewer's side towards +x
    people = np.isin(kinds, [PROPS.index(name) for name in STREET["person"]])
    for stance, (least, most) in enumerate(((-1.21, 1.21), (-1.76, 1.76), (-0.61, 0.61))):
        some = front[people & (poses == stance)]
        assert len(some) > 100
        assert least <= some.min() < some.max() <= most
        assert 0.3 < (some > 0).mean() < 0.7
    assert (np.abs(front[people & (poses == 1)]) > 0.99).all()


def penetration(a, b):
    """How deep two convex polygons reach into each other, metres (negative where they are apart)."""
    depths = []
    for polygon in (a, b):
        edges = np.roll(polygon, -1, axis=0) - polygon
        across = np.stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)
        p, q = a @ across, b @ across
        reach = np.minimum(p.max(axis=0), q.max(axis=0)) - np.maximum(p.min(axis=0), q.min(axis=0))
        depths.append(reach.min())
    return min(depths)


def test_pavement_things_do_not_run_into_each_other(street):
    """As the module says; by convex footprints below head height, with 0.15 m to spare."""
    prop, pose, style, _ = street
    walk = ROWS["pavement"]
    meshes = np.where(prop[:, walk] >= 0, in_pose(prop, style)[:, walk], -1)
    footprints = {}
    for mesh in np.unique(meshes)[1:]:
        v = atlas().mesh(len(ENTITIES) + int(mesh)).vertices
        v = v[v[:, 2] < 2.0][:, :2]
        footprints[mesh] = v[ConvexHull(v).vertices]
    crashes = []
    for row, places in zip(meshes, pose[:, walk].astype(np.float64), strict=True):
        things = []
        for mesh, (x, y, _, yaw, scale) in zip(row, places, strict=True):
            if mesh >= 0:
                turn = scale * np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
                things.append((STREET_MESHES[mesh], footprints[mesh] @ turn + [x, y]))
        crashes += [(a, b) for (a, p), (b, q) in pairwise(things) if penetration(p, q) > 0.15]
    assert not crashes


def test_trees_stand_bare_in_snow_alone(street):
    prop, _, _, weather = street
    snowy = weather == WEATHERS.index("snow")
    bare = np.array([name.endswith(" bare") for name in PROPS])
    sheds = np.array([f"{name} bare" in PROPS and name not in streets._HEDGES for name in PROPS])
    leafless, leafy = (np.where(prop >= 0, table[prop], False) for table in (bare, sheds))
    assert not leafy[snowy].any()
    assert not leafless[~snowy].any()
    assert leafless[snowy].any(axis=1).all()
    assert leafy[~snowy].any()


def test_snow_changes_trees_only(street):
    prop, pose, style, _ = street
    leafy = np.array([PROPS.index(name.removesuffix(" bare")) for name in PROPS] + [-1])
    for weather in range(len(WEATHERS)):
        other = draw_street(Stream(0, "train", "street"), INDEX, np.full(COUNT, weather, dtype=np.uint8))
        assert np.array_equal(other[1], pose)
        assert np.array_equal(other[2], style)
        assert np.array_equal(leafy[other[0][:, : ENDS[-2]]], leafy[prop[:, : ENDS[-2]]])


def test_clouds_hang_high_and_in_fair_weather_only(street):
    prop, pose, _, weather = street
    sky = ROWS["clouds"]
    assert (pose[:, sky, 2] > 20).all()
    # under a cover of clouds single ones are not seen
    foul = np.isin(weather, [WEATHERS.index(w) for w in ("cloudy", "rain", "fog", "night")])
    assert (prop[foul][:, sky] == -1).all()
    assert (prop[~foul][:, sky] >= 0).any(axis=1).mean() > 0.95  # all three are missing in 0.8 % of them


def test_street_does_not_depend_on_the_batch(street):
    rows = np.array([17, 3, 3, 400])
    some = draw_street(Stream(0, "train", "street"), rows, street[3][rows])
    for part, whole in zip(some, street[:3], strict=True):
        assert np.array_equal(part, whole[rows])


def test_a_style_picks_the_pose_that_is_drawn_and_that_takes_room():
    """Every pose has the kind's name; outlines on the ground are those of the mesh that is drawn."""
    scenes = [Scene(props=[Prop("woman", 0.0, 5.0, style=100 * pose + 7)]) for pose in range(POSES)]
    batch = SceneBatch.of(scenes)
    drawn = instances(batch)[0][:, -1]
    assert len(set(drawn.tolist())) == POSES
    assert [batch.scene(i).props[0].kind for i in range(POSES)] == ["woman"] * POSES
    for pose, mesh in enumerate(drawn.tolist()):
        assert mesh == number("woman", 100 * pose + 7)
        low, high = atlas().bounds[mesh, :, :2]
        corners = outline("woman", 100 * pose + 7)
        assert np.allclose([corners.min(axis=0), corners.max(axis=0)], [low, high])
