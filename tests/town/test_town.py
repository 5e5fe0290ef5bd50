"""The town's verbs and paints: what they change and refuse; examples come back as the same pictures."""

import itertools
import re
import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simtown
from simtown.assets.catalogue import BODIES, ENTITIES, NAMED_BY_COLOUR, PROPS, STREET
from simtown.language.meaning.nouns import NOUNS
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP, separation
from simtown.scenes.scene import Scene, SceneBatch, Vehicle, Weather
from simtown.town import Thing, Town, TownError
from simtown.town.things import label
from tests.every import for_every

SMALL = (128, 72)


def refuses(*words):
    """A TownError whose message holds the words."""
    pattern = "".join(f"(?=.*{w})" for w in words)
    return pytest.raises(TownError, match=f"(?s){pattern}")


@pytest.fixture
def empty():
    """A bare road."""
    return Town.from_scene(Scene())


@pytest.mark.parametrize("seed", range(6))
def test_a_random_town_is_whole_and_the_same_every_time(seed):
    one, two, other = Town.random(seed), Town.random(seed), Town.random(seed + 1)
    assert one.to_scene() == two.to_scene() != other.to_scene()
    assert len(one.vehicles) == len({t.kind for t in one.vehicles}) == 3
    assert {t.group for t in one} >= {"vehicle", "building", "tree"}
    assert np.array_equal(one.render(SMALL).rgb, two.render(SMALL).rgb)
    for thing in one.things:
        town = Town.random(seed)
        town.move(thing.name)  # stays where it is: nothing of a random street stands in anything else


@pytest.mark.parametrize("seed", range(6))
def test_an_empty_street_is_the_random_one_without_anybody(seed):
    town, full = Town(seed), Town.random(seed, weather="clear")
    assert {t.group for t in town} <= {"building", "tree", "furniture", "cloud"}
    assert town.to_scene().props == [p for p in full.to_scene().props if GROUP[p.kind] != "person"]
    assert (town.weather, town.vehicles) == (Weather(), [])


@pytest.mark.parametrize("fixture", ["plain", "rich"])
def test_stored_examples_come_back_as_the_same_bytes(fixture, request):
    data = simtown.open_dataset(request.getfixturevalue(fixture))
    for i in range(0, len(data.train), 3):
        example = data.train[i]
        town = Town.from_scene(example.scene)
        assert town.to_scene() == example.scene
        h, w = example.image.shape[:2]
        frame = town.render((w, h))
        assert np.array_equal(frame.rgb, example.image)
        if example.mask is not None:
            stored, drawn = (ids * (ids <= len(town.vehicles)) for ids in (example.mask, frame.ids))
            assert np.array_equal(drawn, stored)
            assert np.array_equal(frame.depth, example.depth)


@for_every([*ENTITIES, *PROPS])
def test_everything_in_the_catalogue_can_be_placed(kind):
    town = Town.from_scene(Scene())
    thing = town.place(kind, x=0.0)
    frame = town.render(SMALL)
    assert thing.name == kind
    assert frame.names == ({1: kind} if kind in ENTITIES else {2: kind})
    assert kind in STREET["cloud"] or frame.mask(thing).sum() > 2  # a cloud may be above the picture


@pytest.mark.parametrize("group", ["vehicle", *STREET])
def test_a_group_draws_one_of_its_kinds(group, empty):
    drawn = [empty.place(group, x=20.0 * i) for i in range(9)]
    assert {t.group for t in drawn} == {group}
    assert len({t.kind for t in drawn}) > 1


def test_without_a_place_a_free_one_is_found(empty):
    for _ in range(4):
        empty.place("taxi")
    for kind in ("mailbox", "woman", "oak", "cottage"):
        for _ in range(3):
            empty.place(kind)
    for a, b in itertools.combinations(empty, 2):
        assert separation(a.outline, b.outline) >= 0
    assert [t.name for t in empty.vehicles] == ["taxi", "taxi 2", "taxi 3", "taxi 4"]
    with refuses("no free place for a tram", "remove"):
        for _ in range(9):
            empty.place("tram")


def test_lanes(empty):
    near, far = empty.place("taxi", x=0, lane="near"), empty.place("sedan", x=0, lane="far")
    assert (near.y, near.yaw) == (-1.85, 0.0)
    assert (far.y, far.yaw) == (1.85, np.pi)
    assert empty.place("scooter", lane="far").y > 0 > empty.place("microcar", lane="near").y


def test_what_overlaps_is_refused_naming_both(empty):
    empty.place("taxi", x=0.0)
    with refuses("sedan", "overlap the taxi"):
        empty.place("sedan", x=1.0)
    assert len(empty) == 1
    empty.place("sedan", x=6.0)
    with refuses("sedan", "overlap the taxi"):
        empty.move("sedan", dx=-4.0)
    assert empty["sedan"].x == 6.0
    empty.place("bus shelter", x=0.0, y=0.0)
    with refuses("taxi", "overlap the bus shelter"):
        empty.turn("taxi", np.pi / 2)
    assert empty["taxi"].yaw == 0.0
    empty.remove("bus shelter")
    assert empty.turn("taxi", np.pi / 2).yaw == np.pi / 2


@given(
    st.sampled_from(ENTITIES), st.sampled_from(ENTITIES), st.floats(-6, 6), st.floats(-3, 3), st.floats(-4, 4)
)
def test_a_place_is_refused_exactly_where_outlines_meet(first, second, x, y, yaw):
    town = Town.from_scene(Scene([Vehicle(first, 0.0, 0.0)]))
    gap = separation(town.vehicles[0].outline, Thing(second, x, y, yaw=yaw).outline)
    try:
        town.place(second, x, y, yaw)
    except TownError:
        assert gap < 0
    else:
        assert gap >= -1e-6


@for_every(sorted(k for k, group in GROUP.items() if group != "cloud"))
def test_what_is_put_on_a_thing_stands_on_it(kind):
    empty = Town.from_scene(Scene())
    for style, yaw in ((0, 0.8), (1, -2.0)):
        below = empty.place(kind, x=3.0, y=8.0, yaw=yaw, style=None if kind in ENTITIES else style)
        upper = empty.place("woman", on=below)
        assert empty.truth(SMALL)[upper].on == [below.name]
        assert empty.ask(f"Is the {upper.name} on the {label(below)}?", everywhere=True)
        assert upper.z == pytest.approx(below.top(upper.x, upper.y))
        # the centroid, as the sum of a fan of triangles, unless nothing is there
        outline = below.outline
        edge = np.roll(outline, -1, axis=0)
        (ax, ay), (bx, by) = (outline - outline[0]).T, (edge - outline[0]).T
        areas = ax * by - ay * bx
        centroid = areas @ (outline[0] + outline + edge) / 3 / areas.sum()
        if np.isfinite(below.top(*centroid)):
            assert [upper.x, upper.y] == pytest.approx(centroid.tolist(), abs=1e-6)
        empty.clear()


def test_weather_light_and_camera_change_the_picture():
    town = Town.random(1)
    pictures = {town.render(SMALL).rgb.tobytes()}
    for attribute, value in (
        ("weather", "night"),
        ("weather", Weather("clear", 1.0)),
        ("light", (-1.0, 0.2)),
        ("camera", replace(town.camera, x=3.0, yaw=0.2)),
    ):
        setattr(town, attribute, value)
        pictures.add(town.render(SMALL).rgb.tobytes())
    assert len(pictures) == 5
    assert town.light.azimuth == -1.0


def test_a_weather_by_its_name_is_a_clear_case_of_it():
    town = Town.random(3)
    sun = town.light
    for value, intensity in (("Snow", 0.7), (("snow", 0.9), 0.9), (["RAIN", 0], 0.0)):
        town.weather = value
        assert (town.weather.intensity, town.light) == (intensity, sun)
    assert town.weather.kind == "rain"
    town.weather = simtown.Weather("fog", 0.2)
    assert town.weather == Weather("fog", 0.2)
    winter = Town.random(3, weather="snow")
    assert (winter.weather.kind, winter.weather.intensity) == ("snow", 0.7)
    assert any(t.kind.endswith(" bare") for t in winter.props)
    assert [t.kind for t in winter.vehicles] == [t.kind for t in Town.random(3).vehicles]
    assert Town.random(3, weather=("dusk", 0.3)).light.elevation < 0.56


def test_capitals_and_blanks_in_names_do_not_matter(empty):
    engine = empty.place("Fire  Truck", x=0.0, lane="Near", paint="NAVY")
    empty.place("suv", x=9.0)
    assert (engine.kind, engine.paint, empty["suv"].kind) == ("fire truck", "navy", "SUV")
    assert empty["Fire Truck"] is empty["TRUCK"] is engine
    assert empty.ask("Is the Fire Truck left of the suv?", everywhere=True)
    assert np.array_equal(empty.truth(SMALL).mask("FIRE truck"), empty.render(SMALL).mask(engine))


#: Limits of x, y, z, yaw, pitch, focal and bottom.
CAMERAS = [(-20, 20), (-15, 8), (0.3, 3.0), (-3.2, 3.2), (-1.2, 1.2), (0.3, 2.0), (-2.0, 0.5)]


@given(
    st.sampled_from([(128, 72), (64, 128), (256, 64)]),
    st.builds(Camera, *(st.floats(low, high) for low, high in CAMERAS)),
)
def test_a_camera_sees_all_ground_or_is_refused(size, camera):
    """Rays of the pinhole model against the plane z = 0: where they meet the street, no sky is drawn."""
    town = Town.from_scene(Scene())
    try:
        town.camera = camera
    except TownError as error:
        assert town.camera == Camera()
        town.camera = replace(camera, z=float(re.search(r"a z of ([\d.]+) or more", str(error))[1]))
    truth = town.truth(size)
    w, h = size
    pixels = np.stack([*np.meshgrid(np.arange(w) + 0.5, np.arange(h) + 0.5), np.ones((h, w))])
    rays = np.tensordot(np.linalg.inv(truth.intrinsics), pixels, 1)
    rays = np.tensordot(truth.extrinsics[:3, :3].T, rays, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = -town.camera.z / rays[2]
        x, y = town.camera.x + depth * rays[0], town.camera.y + depth * rays[1]
    street = (rays[2] < 0) & (np.abs(x) < 100) & (y > -30) & (y < 30)
    assert np.isfinite(truth.depth[street]).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_wide_picture_shows_the_sky_and_more_to_both_sides(seed):
    town = Town.random(seed)
    square, wide = town.truth(128), town.truth((320, 128))
    assert np.array_equal(wide.ids[:, 96:224], square.ids)
    assert np.isinf(wide.depth[0]).any()
    assert set(square.related) < set(wide.related)
    drawn = Raster().render(SceneBatch.of([town.to_scene((320, 128))]), 320, 128)
    assert np.array_equal(drawn.rgb[0], wide.rgb)
    stored = Town.from_scene(Scene())
    assert stored.to_scene((320, 128)) == Scene()


UNSEEN = [("sedan", {"x": 2.0, "y": 30.0}, "hidden by the cinema")]
UNSEEN += [("taxi", {"x": 60.0}, "outside the picture"), ("bin", {"x": 0.0, "y": -11.5}, "nearer than 2 m")]
UNSEEN += [("oak", {"x": -1.0, "y": -9.5}, "cut open, since nothing nearer than 2 m is drawn")]
UNSEEN += [("taxi", {"x": 8.0, "lane": "near"}, "")]


@pytest.mark.parametrize(("kind", "place", "why"), UNSEEN)
def test_a_thing_that_is_not_seen_says_why(kind, place, why):
    town = Town.random(3)
    thing = town.place(kind, **place)
    assert town.unseen(thing) == why
    assert repr(thing).partition("; ")[2] == (f"{why}>" if why else "")
    seen = why == "" or why.startswith("cut")
    assert (thing.name in town.seen()) is seen
    assert (f"{thing.name}" in repr(town.render()).partition("not in view")[2]) is not seen
    if thing.group == "vehicle":
        assert (f"{thing.name} (not in view)" in repr(town)) is not seen


def test_a_frame_shows_itself_and_knows_who_is_where(tmp_path):
    town = Town.random(4)
    frame = town.render(SMALL)
    decoded = cv2.imdecode(np.frombuffer(frame._repr_png_(), np.uint8), cv2.IMREAD_COLOR)[..., ::-1]
    assert np.array_equal(decoded, frame.rgb)
    frame.save(tmp_path / "town.png")
    expected = Raster().render(SceneBatch.of([town.to_scene()]), *SMALL)
    assert np.array_equal(frame.depth, expected.depth[0])
    assert set(np.unique(frame.ids)) <= {0, *frame.names}
    assert np.isfinite(frame.depth[frame.mask(town.vehicles[0])]).all()
    with refuses("nothing is called 'unicorn'"):
        frame.mask("unicorn")


def test_without_pybullet_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    with pytest.raises(TownError, match=r"\[physics\]"):
        Town.random(0).step(0.1)


def test_the_page_says_what_runs(tmp_path, monkeypatch):
    """Every example of docs/town.md, in order."""
    pytest.importorskip("pybullet", reason="needs pybullet: pip install '.[physics]'")
    page = Path(__file__).parents[2] / "docs" / "town.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(block, names)
    assert names["town"].time == pytest.approx(4.0)


SIZE = (256, 144)


@pytest.fixture
def town():
    return Town.from_scene(Scene(), seed=2)


def test_a_vehicle_is_placed_in_a_paint_and_painted_anew(town):
    car = town.place("sedan", x=0.0, paint="red")
    plain = town.place("taxi", x=8.0, lane="far")
    assert (car.paint, plain.paint) == ("red", None)
    pictures = []
    for paint in ("red", "lime", BODIES["sedan"], None):
        car.paint = paint
        pictures.append(town.render(SIZE).rgb.tobytes())
    assert pictures[2] == pictures[3]
    assert len(set(pictures)) == 3


def test_a_scene_and_its_town_hold_the_same_paints(town):
    town.place("sedan", x=0.0, paint="red")
    town.place("tram", x=0.0, lane="far")
    scene = town.to_scene()
    assert [v.paint for v in scene.vehicles] == ["red", None]
    assert Town.from_scene(Scene.from_json(scene.to_json())).to_scene() == scene


@pytest.mark.parametrize("noun", ["car", "vehicle", "truck", "pickup"])
def test_a_noun_with_a_paint_means_a_kind_that_may_have_it(noun, town):
    for _ in range(4):
        thing = town.place(noun, paint="purple")
        assert thing.paint == "purple"
        assert thing.kind in NOUNS.get(noun, (noun,))
        assert thing.kind not in NAMED_BY_COLOUR
        town.remove(thing)


def test_another_kind_keeps_the_paint_if_it_may(town):
    car = town.place("sedan", x=0.0, paint="red")
    assert town.change(car, kind="taxi").paint == "red"
    assert town.change(car, kind="green car").paint is None
    assert town.change(car, kind="SUV", paint="navy").paint == "navy"
    town.change(car, kind="truck", paint="mint")
    assert car.paint == "mint"
    assert town.change(car, kind="mailbox").paint is None


UNPAINTED = [("red truck", "blue", ["red truck", "its name says its colour"])]
UNPAINTED += [("red truck", "red", ["its name says its colour"])]
UNPAINTED += [(kind, "red", ["only vehicles"]) for kind in ("mailbox", "tree")]
UNPAINTED += [("sedan", "sky blue", ["unknown paint 'sky blue'", "sky"]), ("sedan", "", ["unknown paint"])]
UNPAINTED += [("sedan", "Rde", ["did you mean red"]), ("sedan", "zzz", ["choose among white"])]
UNPAINTED += [("sedan", 3, ["paint is 3", "'red'"])]


@pytest.mark.parametrize(("kind", "paint", "words"), UNPAINTED)
def test_what_cannot_be_painted(kind, paint, words, town):
    with pytest.raises(TownError) as refused:
        town.place(kind, x=0.0, paint=paint)
    assert len(town) == 0
    thing = town.place(kind, x=0.0)
    before = town.to_scene()
    with pytest.raises(TownError) as kept:
        thing.paint = paint
    assert town.to_scene() == before
    for word in words:
        assert word in str(refused.value)
        assert word in str(kept.value)
    with pytest.raises(TownError):
        Town.from_scene(Scene([Vehicle(kind, 0.0, -1.8, 0.0, paint)]))


def test_the_truth_tells_paints(town):
    town.place("sedan", x=-3.0, paint="red")
    town.place("taxi", x=4.0)
    town.place("mailbox", x=0.0)
    truth = town.truth(SIZE)
    assert [t.paint for t in truth.things] == ["red", BODIES["taxi"], None]
    painted = [(node["name"], node["paint"]) for node in truth.graph()["nodes"]]
    assert painted == [(t.name, t.paint) for t in truth.things]
    assert "A sedan, painted red, stands" in town.describe()
    assert "A taxi stands" in town.describe()


def test_a_question_means_the_paint_and_names_the_kind(town):
    town.place("sedan", x=-3.0, paint="red")
    town.place("taxi", x=4.0, paint="black")
    assert town.ask("Is the sedan left of the taxi?").truth
    assert town.ask("Is a red car left of the taxi?")
    town.place("red car", x=9.0)
    assert town.ask("Is a red car left of the taxi?")  # a sedan that is painted red is one, too
    assert not town.ask("Is the red car left of the taxi?", everywhere=True)  # the one of that name


@pytest.mark.parametrize("camera", ["low", "corner", "bird", Camera(x=30.0), Camera(x=-12.0, yaw=-0.6)])
def test_what_is_placed_without_a_place_is_where_the_camera_looks(camera):
    town = Town()
    town.camera = camera
    assert town.place("taxi").name in town.seen()
