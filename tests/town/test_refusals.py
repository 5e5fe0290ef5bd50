"""Every public verb and property, given what is not of its type or out of its range: one clear TownError, and
nothing changed.
"""

import re
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from simtown.page.server import play
from simtown.scenes.camera import Camera
from simtown.scenes.scene import Prop, Scene, Vehicle, Weather
from simtown.town import Thing, Town, TownError, saving
from simtown.town.things import overlapping
from tests.every import for_every

SMALL = (64, 36)


def town():
    """A taxi, a bicycle, a bench and a man on a bare road."""
    vehicles = [Vehicle("taxi", 0.0, -1.85), Vehicle("bicycle", 3.5, -1.85)]
    return Town.from_scene(Scene(vehicles, [Prop("bench", 4.0, 5.6), Prop("man", 0.0, 5.0)]))


def state(town):
    """All that a verb could change."""
    kept = [{f.name: getattr(t, f.name) for f in fields(t) if f.name != "track"} for t in town.things]
    return town.to_scene(), town.time, kept, [t.track for t in town.things], saving.encode(town)


TEXTS = [5, None, 1.5, ["taxi"], {}, b"taxi", object()]
NUMBERS = ["a", "1", [1.0], {}, object(), float("nan"), float("inf"), True, 1j, np.array([1.0])]
NUMBERS += [10**400, -(10**5000), Fraction(10**400), np.float32("inf"), np.bool_(True)]
PAIRS = [5, None, "ab", (1,), (1, 2, 3), ("a", 1), (1, "a"), (float("nan"), 1), {1, 2}, object()]
PAIRS += [np.array(5.0), (10**400, 10**5000), np.ones((2, 2)), (np.bool_(True), 1)]

VERBS = {
    "place kind": (lambda t, v: t.place(v, x=9.0), [*TEXTS, "banana", "", "Taxi 2"]),
    "place x": (lambda t, v: t.place("sedan", x=v), [*NUMBERS, 1e6]),
    "place yaw": (lambda t, v: t.place("sedan", x=9.0, yaw=v), [*NUMBERS, 90, -6.3]),
    "place z": (lambda t, v: t.place("bin", x=9.0, z=v), [*NUMBERS, None, -1.0, 1e6]),
    "place scale": (lambda t, v: t.place("bin", x=9.0, scale=v), [*NUMBERS, None, 0.0, -1.0, 100.0]),
    "place style": (lambda t, v: t.place("bin", x=9.0, style=v), [*NUMBERS, 1.5, -1, 65536]),
    "place lane": (lambda t, v: t.place("sedan", lane=v), [5, "left", ["near"], object(), True, np.ones(2)]),
    "place on": (lambda t, v: t.place("woman", on=v),
                 [5, 10**5000, "unicorn", ["bench"], object(), True, Thing("bench", 0.0, 0.0)]),
    "become": (lambda t, v: t.become(v), TEXTS),
    "a vehicle on": (lambda t, v: t.place("sedan", on=v), ["bench", "taxi"]),
    "place on, x": (lambda t, v: t.place("woman", x=v, on="bench"), [*NUMBERS, 400.0]),
    "a vehicle's z": (lambda t, v: t.place("sedan", x=9.0, z=v), [1.0]),
    "move what": (lambda t, v: t.move(v, dx=0.1), [*TEXTS, "unicorn"]),
    "move dx": (lambda t, v: t.move("taxi", v), [*NUMBERS, None, 1e6, 3.5]),
    "move dz": (lambda t, v: t.move("man", dz=v), [*NUMBERS, None, 1e6, -1.0]),
    "move x": (lambda t, v: t.move("taxi", x=v), [*NUMBERS, 3.5]),
    "move z": (lambda t, v: t.move("taxi", z=v), [*NUMBERS, 1.0]),
    "turn what": (lambda t, v: t.turn(v, 0.1), [*TEXTS, "unicorn"]),
    "turn by": (lambda t, v: t.turn("taxi", v), [*NUMBERS, None, 90]),
    "remove": (lambda t, v: t.remove("taxi", v), [*TEXTS, "unicorn", Thing("taxi", 0.0, 0.0)]),
    "clear": (lambda t, v: t.clear(v), [5, 1.5, ["tree"], {}, "animals", object()]),
    "drive what": (lambda t, v: t.drive(v, 1.0), [*TEXTS, "unicorn", "bench"]),
    "drive speed": (lambda t, v: t.drive("taxi", v), [*NUMBERS, None, -99.0, 99.0]),
    "drive a man backwards": (lambda t, v: t.drive("man", v), [-1.0]),
    "drive then": (lambda t, v: t.drive("taxi", 1.0, v, 1.0), [*NUMBERS, None, 99.0]),
    "drive at": (lambda t, v: t.drive("taxi", 1.0, 2.0, v), [*NUMBERS, None, -1.0]),
    "drive a man at two speeds": (lambda t, v: t.drive("man", 1.0, v, 1.0), [2.0]),
    "at": (lambda t, v: t.at(v), [*NUMBERS, None, -1.0, 1e9]),
    "step": (lambda t, v: t.step(v), [*NUMBERS, None, 0.0, -1.0, 1e9]),
    "ask": (lambda t, v: t.ask(v), [*TEXTS, "", "taxi", "?" * 10000]),
    "render": (lambda t, v: t.render(v), [*PAIRS, (8, 8), (64.5, 36), (10**9, 36), (True, True)]),
    "[]": (lambda t, v: t[v], [*TEXTS, "unicorn"]),
    "weather": (lambda t, v: setattr(t, "weather", v),
                [*TEXTS, "hail", ("hail", 0.5), ("snow", 9), Weather("hail")]),
    "weather's intensity": (lambda t, v: setattr(t, "weather", Weather("rain", v)),
                            [*NUMBERS, None, -0.1, 1.1]),
    "weather's kind": (lambda t, v: setattr(t, "weather", Weather(v)), [*TEXTS, np.ones(2), "hail"]),
    "weather's seed": (lambda t, v: setattr(t, "weather", Weather("rain", seed=v)),
                       [*NUMBERS, None, -1, 2**32, 0.5]),
    "light": (lambda t, v: setattr(t, "light", v), [*PAIRS, (0.0, 0.0), (0.0, -1.0), (0.0, 2.0)]),
    "camera": (lambda t, v: setattr(t, "camera", v), [*TEXTS, (0.0,) * 7]),
    **{f"camera's {f.name}": (lambda t, v, name=f.name: setattr(t, "camera", replace(Camera(), **{name: v})),
                              [*NUMBERS, None]) for f in fields(Camera)},
    "seed": (lambda t, v: Town(v), [*NUMBERS, None, 1.5, 2**63]),
    "vehicles": (lambda t, v: Town.random(0, v), [*NUMBERS, None, 1.5, -1, 9]),
    "questions": (lambda t, v: t.questions(v), [*NUMBERS, None, 1.5, 0]),
    "example": (lambda t, v: t.example("Is there a taxi?", v), [*PAIRS, (8, 8)]),
    "film seconds": (lambda t, v: t.film(v), [*NUMBERS, None, 0.0, 1e9]),
    "film pictures": (lambda t, v: t.film(1.0, v), [*NUMBERS, None, 1.5, 1, 1e9]),
    "film size": (lambda t, v: t.film(1.0, 2, v), PAIRS),
    "film's file": (lambda t, v: t.film(1.0, 2).save(v), ["film.avi", "nowhere/film.gif"]),
    "play": (play, [*NUMBERS, None, 1.5, -1, 65_536]),
    "from_scene": (lambda t, v: Town.from_scene(v),
                   [5, None, "scene", {}, Scene([Vehicle("ufo", 0.0, 0.0)])]),
    "from_scene, a vehicle's x": (lambda t, v: Town.from_scene(Scene([Vehicle("taxi", v, 0.0)])),
                                  [*NUMBERS, None, 1e6]),
    "from_scene, a weather": (lambda t, v: Town.from_scene(Scene(weather=v)),
                              [5, None, "snow", Weather("hail"), Weather(intensity=9.0)]),
    "from_scene, a camera": (lambda t, v: Town.from_scene(Scene(camera=v)),
                             [5, None, Camera(focal=0.0), Camera(x="a")]),
    "from_scene, too many": (lambda t,
                             v: Town.from_scene(Scene([], [Prop("bench", 2.0 * i, 0.0) for i in range(v)])),
                             [251]),
    "a frame's mask": (lambda t, v: t.render(SMALL).mask(v), [*TEXTS, "unicorn"]),
    "a thing's kind": (lambda t, v: setattr(t["bicycle"], "kind", v), [*TEXTS, "banana", "tram"]),
    "a thing's x": (lambda t, v: setattr(t["bicycle"], "x", v), [*NUMBERS, None, 1e6, 0.0]),
    "a thing's yaw": (lambda t, v: setattr(t["bicycle"], "yaw", v), [*NUMBERS, None]),
    "a thing's scale": (lambda t, v: setattr(t["bench"], "scale", v), [*NUMBERS, None, 0.0, 19.0]),
    "a thing's style": (lambda t, v: setattr(t["bench"], "style", v), [*NUMBERS, None, 1.5, -1, 65536]),
    "a thing's pace": (lambda t, v: setattr(t["taxi"], "pace", v), [*NUMBERS, None, -99.0, 99.0]),
    "a bench's pace": (lambda t, v: setattr(t["bench"], "pace", v), [1.0]),
    "a thing's velocity": (lambda t, v: setattr(t["taxi"], "velocity", v),
                           [5, None, "abc", (1, 2), ("a", 0, 0), (1.0, 2.0, 1e9)]),
    "a thing's spin": (lambda t, v: setattr(t["taxi"], "spin", v), [*NUMBERS, None, 1e9]),
    "a thing's name": (lambda t, v: setattr(t["taxi"], "name", v), ["bicycle", "bob", 5]),
    "a thing's group": (lambda t, v: setattr(t["taxi"], "group", v), ["tree"]),
    "a thing's typo": (lambda t, v: setattr(t["taxi"], "colour", v), ["red"]),
    "a new thing's kind": (lambda t, v: Thing(v, 0.0, 0.0), [*TEXTS, "banana"]),
    "a thing's top": (lambda t, v: t["taxi"].top(v, 0.0), ["a", None, [1.0]]),
}  # fmt: skip


CASES = [(name, value) for name, (_, values) in VERBS.items() for value in values]


@for_every(CASES)
def test_what_is_of_no_use_is_one_clear_error_and_changes_nothing(name, value):
    street = town()
    before = state(street)
    with pytest.raises(TownError) as refused:
        VERBS[name][0](street, value)
    message = str(refused.value)
    assert issubclass(refused.type, TownError)
    assert "\n" not in message
    assert len(message) < 700
    assert ":" in message  # what is wrong: what to do
    assert state(street) == before


scalars = st.text(), st.floats(), st.integers(), st.none(), st.booleans(), st.binary()
anything = st.one_of(*scalars, st.lists(st.floats()))


@given(st.sampled_from(sorted(VERBS)), anything)
def test_nothing_but_a_town_error_is_ever_raised(name, value):
    much = name.startswith(("film", "play")) or name in ("seed", "vehicles", "from_scene, too many")
    assume(not much)  # these do much with a good value
    assume(name != "step" or not isinstance(value, int | float))
    street = town()
    before = state(street)
    try:
        VERBS[name][0](street, value)
    except TownError:
        assert state(street) == before


numbers = st.floats(-9, 9)
kinds = st.sampled_from(["taxi", "bicycle", "tram", "bench", "man", "oak", "vehicle", "person", "car"])
attributes = st.sampled_from(["x", "y", "z", "yaw", "scale"])
steps = st.one_of(
    st.tuples(st.just("place"), kinds, numbers, numbers),
    st.tuples(st.just("set"), attributes, st.integers(0, 9), numbers),
    st.tuples(st.sampled_from(["kind", "remove"]), kinds, st.integers(0, 9), numbers),
)


@given(st.lists(steps, max_size=12))
def test_whatever_is_done_nothing_overlaps_and_every_name_is_one_things(sequence):
    street = town()
    for verb, what, which, value in sequence:
        thing = street.things[int(which) % len(street)]
        with suppress(TownError):
            if verb == "place":
                street.place(what, x=which, y=value)
            elif verb == "set":
                setattr(thing, what, value)
            elif verb == "kind":
                thing.kind = what
            elif len(street) > 1:
                street.remove(thing)
    assert all(overlapping(t, street.things) is None for t in street)
    names = [t.name for t in street]
    assert len(set(names)) == len(names)
    assert all(t.name in (t.kind, *(f"{t.kind} {i}" for i in range(2, len(street) + 13))) for t in street)
    assert Town.from_scene(street.to_scene()).to_scene() == street.to_scene()
    cars, props = len(street.vehicles), len(street.props)
    props_from = 1 + max(cars, 1)
    assert [*street.render(SMALL).names] == [*range(1, 1 + cars), *range(props_from, props_from + props)]


def test_the_numbers_of_numpy_are_numbers():
    street = town()
    for value in (np.float32(1.5), np.float64(1.5), np.int64(2), 2):
        bollard = street.place("bollard", x=value, y=20.0)
        assert type(bollard.x) is float
        street.remove(bollard)
    street.light = np.array([-1.0, 0.5])
    street["taxi"].velocity = np.array([1.0, 0.0, 0.0])
    assert street["taxi"].velocity == (1.0, 0.0, 0.0)
    assert street.render(np.array(SMALL)).rgb.shape == (36, 64, 3)
    assert street.place("bin", x=20.0, style=np.uint16(7)).style == 7


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda t: t.turn("taxi", 90), "90 degrees is 1.571"),
        (lambda t: t.place("sedan", x=9.0, yaw=-45), "-45 degrees is -0.7854"),
        (lambda t: setattr(t, "wether", "snow"), "did you mean weather?"),
        (lambda t: setattr(t, "weather", "sno"), "did you mean snow?"),
        (lambda t: t.place("sedan", x=9.0, color="red"), "did you mean paint?"),
        (lambda t: setattr(t["taxi"], "colour", "red"), "did you mean paint?"),
        (lambda t: t["bycicle"], "did you mean bicycle?"),
        (lambda t: setattr(t, "time", 3.0), "choose among weather, light, camera"),
        (lambda t: t.place("sedan", banana=1), "choose among x, y, yaw,"),
        (lambda t: t.place("taxi " * 9**6), "...: "),
        (lambda t: setattr(t["taxi"], "paint", "re\nd" * 9**5), "...: choose among"),
        *[
            (lambda t, path=path, act=act: getattr(t, act)(path), ": give a text such as 'town.json'")
            for path in (b"town.json", 7.5, ["town.json"], "to\0wn.json")
            for act in ("save", "load")
        ],
    ],
)
def test_what_was_meant_is_named(wrong, words):
    street = town()
    before = state(street)
    with pytest.raises(TownError, match=re.escape(words)):
        wrong(street)
    assert state(street) == before


@given(st.floats(-2 * np.pi, 2 * np.pi))
@example(2 * np.pi)
def test_any_angle_is_a_direction(angle):
    """Every angle within a turn stands for the direction that sine and cosine give it, and can be drawn."""
    street = Town.from_scene(Scene([Vehicle("taxi", 0.0, 0.0)]))
    street["taxi"].yaw, street.light = angle, (angle, 0.5)
    street.camera = replace(street.camera, yaw=angle)
    frame = street.render(SMALL)
    kept = [street["taxi"].yaw, street.camera.yaw, street.light.azimuth]
    assert max(map(abs, kept)) <= 2 * np.pi
    assert kept == [angle] * 3
    for _ in range(3):
        street.turn("taxi", angle)
    assert np.cos(street["taxi"].yaw) == pytest.approx(np.cos(4 * angle), abs=1e-9)
    street["taxi"].yaw = angle
    again = Town.from_scene(street.to_scene())
    assert again.to_scene() == street.to_scene()
    assert np.array_equal(again.render(SMALL).rgb, frame.rgb)


def test_an_assignment_is_checked_as_a_move_is():
    street = town()
    bicycle = street["bicycle"]
    with pytest.raises(TownError, match=r"the bicycle .* would overlap the taxi"):
        bicycle.x = 1.0
    assert bicycle.x == 3.5
    bicycle.x = 3.0
    assert street.to_scene().vehicles[1].x == 3.0
    bicycle.x += 0.5
    bicycle.yaw, bicycle.y = 0.3, -2.0
    assert street.to_scene().vehicles[1] == Vehicle("bicycle", 3.5, -2.0, 0.3)
    for kind, words in (("bicicle", "did you mean bicycle"), ("tram", "the tram .* would overlap the taxi")):
        with pytest.raises(TownError, match=words):
            bicycle.kind = kind
    assert (bicycle.kind, bicycle.name) == ("bicycle", "bicycle")
    bicycle.kind = "scooter"
    assert (bicycle.kind, bicycle.name, street["scooter"]) == ("scooter", "scooter", bicycle)
    for name in ("kind", "x", "velocity"):
        with pytest.raises(TownError, match=f"{name} cannot be deleted"):
            delattr(bicycle, name)
    bicycle.x, bicycle.kind = 20.0, "car"
    assert bicycle.name == bicycle.kind == street.to_scene().vehicles[1].entity
    gone = street["taxi"]
    street.remove(gone)
    gone.x = 1.0  # is nobody's any more
    assert street.place("taxi", x=0.0).x == 0.0


def test_a_picture_is_saved_or_the_error_says_how(tmp_path):
    frame = town().render(SMALL)
    for name in ("street", "street.xyz"):
        with pytest.raises(TownError, match=r"\.png"):
            frame.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_more_than_can_be_drawn_is_a_clear_error():
    crowd = [Vehicle("hay wagon", 4.0 * (i % 15) - 28.0, 4.0 * (i // 15)) for i in range(250)]
    street = Town.from_scene(Scene(crowd))
    for verb in (street.render, street.truth, lambda: street.ask("Is a hay wagon near a vehicle?")):
        with pytest.raises(TownError, match=r"more triangles than .* take things out of the town"):
            verb()


def test_names_stay_and_free_names_are_taken_again():
    street = town()
    second = street.place("taxi", x=-8.0)
    street.remove("taxi")
    assert street["taxi 2"] is second
    assert street.place("taxi", x=20.0).name == "taxi"
    assert second.name == "taxi 2"


def test_a_group_fits_at_a_given_place_if_one_of_its_kinds_does():
    for seed in range(12):
        street = Town.from_scene(Scene([Vehicle("taxi", 0.0, -1.85), Vehicle("sedan", 7.0, -1.85)]), seed)
        assert street.place("vehicle", x=3.5, y=-1.85).group == "vehicle"
        with pytest.raises(TownError, match="no kind of vehicle"):
            street.place("vehicle", x=0.0, y=-1.85)
