"""Films of a town: places in closed form, the answers of data sets, and paths that cannot be."""

import numpy as np
import pytest

from simtown import Settings, generate, open_dataset
from simtown.town import Town, TownError
from tests.town.test_saving import made_by


def road(*driving):
    """A town of vehicles (kind, x, y, yaw, then what `drive` takes)."""
    town = Town()
    for kind, x, y, yaw, *speeds in driving:
        thing = town.place(kind, x=x, y=y, yaw=yaw)
        if speeds:
            town.drive(thing, *speeds)
    return town


RIGHT, LEFT = (-1.85, 0.0), (1.85, np.pi)
#: A taxi overtakes a motorcycle and passes a hydrant; a van backs up in the other lane.
STREET = (
    ("taxi", -6.0, -2.9, 0.0, 3.0),
    ("motorcycle", -3.0, -0.4, 0.0, 0.5),
    ("mail van", 3.0, 1.85, np.pi, -1.0, 0.0, 2.0),
)


@pytest.fixture(scope="module")
def street():
    town = road(*STREET)
    town.clear("furniture")
    town.place("hydrant", x=0.0)
    return town


def test_vehicles_are_where_their_speeds_take_them(street):
    film = street.film(seconds=4, pictures=5, size=(64, 36))
    xs = [[vehicle.x for vehicle in scene.vehicles] for scene in film.scenes]
    assert xs == [[-6, -3, 3], [-3, -2.5, 4], [0, -2, 5], [3, -1.5, 5], [6, -1, 5]]
    assert (street["taxi"].x, street.time) == (-6.0, 0.0)
    for number, second in enumerate(film.seconds.tolist()):
        later = street.at(second)
        assert [v.x for v in later.vehicles] == xs[number]
        assert np.array_equal(film[number].ids, later.render((64, 36)).ids)
        assert film.truth(number)["taxi"].box == later.truth((64, 36))["taxi"].box
    assert np.array_equal(film.pictures[0], street.render((64, 36)).rgb)
    assert street.at(1.0).at(3.0)["mail van"].x == 5.0
    assert street.at(3.0).ask("Is the taxi overtaking the motorcycle?")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Does the taxi overtake the motorcycle?", True),
        ("Does the mail van overtake the taxi?", False),
        ("Which way does the mail van go?", "right"),
        ("Does the mail van drive backwards?", True),
        ("Is the taxi driving forwards or backwards?", "forwards"),
        ("Does the mail van stop?", True),
        ("Is the taxi faster than the mail van?", True),
        ("Which vehicle is the fastest?", "taxi"),
        ("How many vehicles pass the hydrant?", 1),
        ("What passes the motorcycle?", ["taxi"]),
        ("Does the taxi pass the motorcycle before the mail van does?", True),
        ("In which picture is the taxi nearest to the hydrant?", "picture 3"),
        ("Is the taxi moving?", True),
        ("Is the taxi left of the motorcycle?", True),  # now
    ],
)
def test_questions_are_about_the_film(street, question, value):
    reply = street.ask(question)
    assert reply.value == value
    assert reply.why


def test_what_no_picture_shows_is_too_close_and_what_never_happens_is_refused(street):
    far = road(*STREET, ("sedan", 200.0, *RIGHT, 2.0))
    assert far.ask("Which way does the sedan go?", everywhere=True).value is None
    with pytest.raises(TownError, match="nothing drives"):
        road(("taxi", 0.0, *RIGHT), ("bus", 8.0, *LEFT)).ask("Does the taxi pass the city bus?")


def test_a_town_has_the_answers_of_a_data_set(tmp_path):
    generate(Settings(sequence="time", n=42, val=2, test=2, width=64, height=48), tmp_path / "data")
    split = open_dataset(tmp_path / "data").train
    names = ("scene/entity", "scene/motion", "scene/seconds", "order")
    columns = split.rows(names, np.arange(len(split)))
    for number, (entity, motion, seconds, order) in enumerate(zip(*(columns[n] for n in names), strict=True)):
        example = split[number]
        town = Town.from_scene(example.scenes[0])
        start, backwards = float(seconds[order[0]]), order[0] > order[-1]
        speeds = motion[entity >= 0].astype(float).tolist()
        for thing, (first, then, change) in zip(town.vehicles, speeds, strict=True):
            change -= start
            if backwards:
                first, then, change = -then, -first, -change
            way = 1 if np.cos(thing.yaw) > 0 else -1
            first = then if change <= 0 else first
            town.drive(thing, way * first, *(() if first == then else (way * then, change)))
        reply = town.film(example.seconds[-1], len(example.seconds)).ask(example.question)
        value = reply.value if reply.truth is None else "yes" if reply.truth else "no"
        assert str(value) == example.reply, (example.question, reply)


def test_motion_is_saved_and_written_as_verbs(street, tmp_path):
    street.save(tmp_path / "town.json")
    scene = Town.from_scene(street.to_scene())
    scene.drive("mail van", -1.0, then=0.0, at=2.0)
    for town in (Town.load(tmp_path / "town.json"), made_by(street.program()), made_by(scene.program())):
        assert town.at(4.0)["mail van"].x == 5.0
    assert 'town.drive("mail van", -1.0, then=0.0, at=2.0)' in street.program()


@pytest.mark.parametrize(
    ("driving", "words"),
    [
        ([("taxi", -8.0, *RIGHT, 3.0), ("bus", 0.0, *RIGHT)], "taxi runs into the .* within 4 s"),
        ([("taxi", -8.0, *RIGHT, 3.0), ("sedan", 0.0, *RIGHT, 3.0, 0.0, 1.0)], "runs into"),
        ([("taxi", 0.0, *RIGHT, 50.0, 60.0, 1.0), ("bus", 400.0, *LEFT)], None),
        ([("taxi", 400.0, *RIGHT, 50.0)], "leaves the street"),
        ([("taxi", 0.0, 0.0, 1.5, 1.0)], "does not face along the street"),
        ([("taxi", -8.0, *RIGHT, 3.0), ("sedan", 0.0, *RIGHT, 3.0)], None),
        ([("taxi", -8.0, *RIGHT, 3.0), ("sedan", 8.0, *LEFT, 3.0)], None),
    ],
)
def test_a_path_that_cannot_be_is_one_clear_error(driving, words):
    town = road(*driving)
    if words is None:
        assert len(town.film()) == 5
    else:
        with pytest.raises(TownError, match=words):
            town.film()
