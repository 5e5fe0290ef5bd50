"""Paints in a town: placed, changed, refused, told, and kept by a scene."""

import pytest

from simtown.assets.catalogue import BODIES, NAMED_BY_COLOUR
from simtown.scenes.scene import Scene, Vehicle
from simtown.town import Town, TownError
from simtown.town.nouns import NOUNS

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


@pytest.mark.parametrize(
    ("kind", "paint", "words"),
    [
        ("red truck", "blue", ["red truck", "its name says its colour"]),
        ("red truck", "red", ["its name says its colour"]),
        ("mailbox", "red", ["only vehicles"]),
        ("tree", "red", ["only vehicles"]),
        ("sedan", "sky blue", ["unknown paint 'sky blue'", "sky"]),
        ("sedan", "Red", ["did you mean red"]),
        ("sedan", "zzz", ["the paints are white"]),
        ("sedan", 3, ["paint is 3", "'red'"]),
        ("sedan", "", ["unknown paint"]),
    ],
)
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
    assert [(node["name"], node["paint"]) for node in truth.graph()["nodes"]] == [
        (t.name, t.paint) for t in truth.things
    ]
    assert "A sedan, painted red, stands" in town.describe()
    assert "A taxi stands" in town.describe()


def test_a_question_means_the_kind_whatever_its_paint(town):
    town.place("sedan", x=-3.0, paint="red")
    town.place("taxi", x=4.0, paint="black")
    assert town.ask("Is the sedan left of the taxi?").truth
    assert not town.ask("Is a red car left of the taxi?").truth
