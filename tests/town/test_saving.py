"""Towns as files and as programs, and the cameras with names."""

import json
import pickle
from contextlib import suppress
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.scenes.camera import CAMERAS, Camera
from simtown.scenes.scene import Scene, Vehicle, Weather
from simtown.scenes.weather import WEATHERS
from simtown.town import Thing, Town, TownError, saving

STARTS = st.sampled_from([
    lambda seed: Town(seed),
    lambda seed: Town.random(seed),
    lambda seed: Town.random(seed, 1, ["Snow", 0.9]),
    lambda seed: Town.random(seed, 2, Weather("fog", 0.2)),
    lambda seed: Town.from_scene(Scene([Vehicle("sedan", 1.0, -1.85, 0.0, "red")]), seed=seed),
])  # fmt: skip
VERBS = st.lists(
    st.one_of(
        st.tuples(st.just("place"), st.sampled_from(["bus", "woman", "mailbox", "cloud", "taxi"])),
        st.tuples(st.sampled_from(["remove", "repeat", "ride"]), st.integers(0, 40)),
        st.tuples(st.just("move"), st.integers(0, 40), st.floats(-3, 3), st.floats(-2, 2)),
        st.tuples(st.just("drive"), st.integers(0, 40), st.floats(0, 4)),
        st.tuples(st.just("weather"), st.sampled_from(WEATHERS), st.floats(0, 1)),
        st.tuples(st.just("light"), st.floats(-3, 3), st.floats(0.1, 1.5)),
        st.tuples(st.just("camera"), st.sampled_from([*CAMERAS, Camera(x=1.0), Camera(z=6.0, yaw=0.2)])),
    ),
    max_size=8,
)


def apply(town, verbs):
    """What a person may do to a town; what it refuses changes nothing."""
    for verb, first, *rest in verbs:
        with suppress(TownError):
            thing = town.things[first % len(town)] if isinstance(first, int) and len(town) else None
            if verb == "place":
                town.place(first)
            elif verb in ("weather", "light"):
                setattr(town, verb, (first, *rest))
            elif verb == "camera":
                town.camera = first
            elif verb == "repeat":
                town.place(thing.kind)
            elif verb == "ride":
                town.place("man", on=thing)
            elif thing is not None:
                getattr(town, verb)(thing, *rest)


def made_by(text):
    """The town that a program makes."""
    names = {}
    exec(text, names)
    return names["town"]


def state(town):
    """All that decides how a town looks and goes on."""
    things = [
        (t.name, t.velocity, t.spin, t.pace, t.way, None if t.track is None else t.track.tolist())
        for t in town
    ]
    return town.to_scene(128), town.to_scene((320, 128)), town.seed, town.time, things


@given(STARTS, st.integers(0, 3), VERBS)
def test_a_town_comes_back_from_its_file_and_from_its_program(tmp_path_factory, start, seed, verbs):
    town = start(seed)
    apply(town, verbs)
    path = tmp_path_factory.mktemp("town") / "town.json"
    town.save(path)
    again = Town.load(path)
    assert state(again) == state(town)
    assert again.program() == town.program()
    assert pickle.loads(pickle.dumps(town)).program() == town.program()
    assert made_by(town.program()).to_scene() == town.to_scene()
    assert [again.place("vehicle", x=300.0).kind, again.place("bench", x=300.0).style] == [
        town.place("vehicle", x=300.0).kind,
        town.place("bench", x=300.0).style,
    ]


def test_a_program_is_what_a_person_would_write():
    town = Town.random(seed=3, vehicles=4)
    town.remove(town.vehicles[0])
    first, second = town.vehicles[:2]
    engine = town.place("fire truck", x=30.0)
    town.drive(engine, 4.0)
    town.move(first, dx=0.5)
    town.weather = "snow"
    town.camera = "bird"
    lines = town.program().splitlines()
    assert lines[:3] == ["from simtown import Town", "", "town = Town.random(seed=3, vehicles=4)"]
    assert lines[-4:] == [
        'town.place("fire truck", x=30.0, y=-1.85)',
        'town.drive("fire truck", 4.0)',
        'town.weather = "snow"',
        'town.camera = "bird"',
    ]
    assert len(lines) == 9
    assert f'"{second.name}"' not in "".join(lines)
    assert Town().program() == "from simtown import Town\n\ntown = Town()\n"


def test_two_vehicles_that_changed_places_and_a_crash_have_programs_too():
    town = Town()
    town.place("taxi", x=0.0)
    town.place("bus", x=20.0)
    scene = Scene([Vehicle("taxi", 0.0, 0.0), Vehicle("sedan", 0.5, 0.0)])
    for crashed in (Town.from_scene(scene, seed=5), town):
        text = crashed.program()
        assert made_by(text).to_scene() == crashed.to_scene()
        assert made_by(text).seed == crashed.seed


def test_a_saved_town_moves_on_as_if_it_had_never_been_saved(tmp_path):
    pytest.importorskip("pybullet", reason="needs pybullet: pip install '.[physics]'")
    town = Town.random(seed=3)
    for vehicle in town.vehicles:
        town.drive(vehicle, 3.0)
    town.step(0.5)
    town.save(tmp_path / "town.json")
    town.change(town.vehicles[0], velocity=town.vehicles[0].velocity)  # bodies are made again, as when loaded
    again = Town.load(tmp_path / "town.json")
    for _ in range(3):
        for both in (town, again):
            both.step(0.2)
        assert state(again) == state(town)
    question = "Is the scooter overtaking the kick scooter?"
    assert str(again.ask(question, everywhere=True)) == str(town.ask(question, everywhere=True))


DAMAGE = [(["format"], "x"), (["seed"], "a"), (["time"], -1), (["weather", "kind"], "hail"), (["draws"], -1)]
DAMAGE += [(["camera", "z"], 0.0), (["things", 0, "kind"], "ufo"), (["things", 0, "name"], "a\nb")]
DAMAGE += [(["things", 0, "x"], 1e9), (["things", 0, "name"], "oak 2"), (["things", 0, "paint"], "red")]
DAMAGE += [(["began", "how"], "bogus"), (["began", "vehicles"], 9), (["began", "weather"], "bogus")]
DAMAGE += [(["began", "weather"], ["snow", 2]), (["began", "weather"], {"kind": "rain", "seed": -1})]
DAMAGE += [(["things", 0, "track"], [[0, 0]]), (["things", 0, "way"], [1e9, 0]), (["tracks"], [[2.0, {}]])]
DAMAGE += [(["extra"], 1), (["tracks"], [[0.0, {"ufo": [0, 0]}]]), (["things"], [{}] * 2), (["began"], {})]


@pytest.mark.parametrize(("what", "value"), DAMAGE)
def test_a_file_that_is_no_saved_town_is_refused_in_one_line(what, value, tmp_path):
    path = tmp_path / "town.json"
    Town(1).save(path)
    saved = part = json.loads(path.read_text())
    for key in what[:-1]:
        part = part[key]
    part[what[-1]] = value
    path.write_text(json.dumps(saved))
    with pytest.raises(TownError, match=r"^\S*town.json is not a saved town: .+$"):
        Town.load(path)


SAVED = json.loads(saving.encode(Town.random(3, 2, ("snow", 0.5))))
LEAVES = [("began", "vehicles"), ("began", "weather"), ("began", "weather", 0), ("began", "weather", 1)]
LEAVES += [(part, key) for part in ("weather", "camera") for key in SAVED[part]]
LEAVES += [("things", 0, key) for key in (*vars(Thing("taxi", 0.0, 0.0)), "kind")] + [("seed",), ("time",)]
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 2**31), st.floats(width=32), st.text(max_size=9)
)
VALUES = st.one_of(scalars, st.sampled_from(["snow", "bus"]), st.lists(scalars, max_size=3), st.just({}))


@given(st.sampled_from(LEAVES), VALUES)
def test_a_changed_file_is_refused_or_a_town_like_any_other(leaf, value):
    saved = part = deepcopy(SAVED)
    for key in leaf[:-1]:
        part = part[key]
    part[leaf[-1]] = value
    try:
        town = saving.decode(Town, json.dumps(saved))
    except TownError:
        return
    assert made_by(town.program()).to_scene() == town.to_scene()
    assert state(saving.decode(Town, saving.encode(town))) == state(town)
    town.render((64, 36))


def test_other_files_are_refused_in_one_line(tmp_path):
    for text in ("", "[]", "{", '"\\ud800"', "[" * 100_000, "\x00"):
        (tmp_path / "town.json").write_text(text)
        with pytest.raises(TownError, match=r"town.json is not a saved town: [^\n]+$"):
            Town.load(tmp_path / "town.json")
    with pytest.raises(TownError, match=r"none.town.json cannot be written"):
        Town().save(tmp_path / "none" / "town.json")
    with pytest.raises(TownError, match="there is no file"):
        Town.load(tmp_path / "other.json")
    with pytest.raises(TownError, match="cannot be read"):
        Town.load(tmp_path)
    with pytest.raises(TownError, match=r"end it in \.json"):
        Town().save(tmp_path / "town.png")


@pytest.mark.parametrize("name", CAMERAS)
def test_a_camera_with_a_name_sees_the_road_and_its_vehicles(name):
    town = Town.random(seed=5, weather="clear")
    town.camera = name.upper()
    assert town.camera == CAMERAS[name]
    frame = town.render((256, 144))
    assert sum(t.name in frame.seen() for t in town.vehicles) >= 2
    assert np.isfinite(frame.depth[-20:]).all()
    with pytest.raises(TownError, match="one of street, low, corner, bird"):
        town.camera = "moon"


@given(
    st.builds(
        Camera,
        st.floats(-8, 8),
        st.floats(-18, -9),
        st.floats(4, 25),
        st.floats(-0.9, 0.9),
        st.floats(-1.1, 0.1),
    ),
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-3, 3)), min_size=2, max_size=4, unique=True),
)
def test_left_and_behind_are_what_the_picture_shows(camera, places):
    """Left of is where the feet are left in the picture, and of two in a row the higher one is behind."""
    town = Town.from_scene(Scene([Vehicle("scooter", x, y) for x, y in places]))
    try:
        town.camera = camera
    except TownError:
        return
    truth = town.truth((256, 144))
    feet = np.array([[truth[name].x, truth[name].y, 0.0, 1.0] for name in truth.related]).reshape(-1, 4)
    seen = (feet @ truth.extrinsics.T)[:, :3] @ truth.intrinsics.T
    x, y = (seen[:, :2] / seen[:, 2:]).T
    i, j = np.nonzero(truth.truths["left of"] == 1)
    assert (x[i] < x[j]).all()
    assert np.array_equal(truth.truths["left of"], truth.truths["right of"].T)
    i, j = np.nonzero(truth.truths["behind"] == 1)
    assert (y[i] < y[j]).all()
