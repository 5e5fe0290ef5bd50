"""What a town answers: about what is seen, in words that give distances, by the formulas of docs/town.md."""

import itertools
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import simtown
from simtown.assets.catalogue import ENTITIES, STREET
from simtown.language.meaning import solids
from simtown.language.meaning.nouns import NOUNS
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP, hull, separation
from simtown.scenes.scene import Prop, Scene, Vehicle
from simtown.town import Town, TownError, evaluating
from simtown.town.relating import MARGINS, measure, table
from simtown.town.things import the

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "town.md").read_text(encoding="utf-8")


def blocks(path):
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def far_taxi():
    """A fire truck that is seen, a taxi 80 m to the right of it."""
    return Town.from_scene(Scene([Vehicle("fire truck", 0.0, -1.85), Vehicle("taxi", 80.0, -1.85)]))


def test_what_is_outside_the_picture_gives_no_answer(far_taxi):
    for question in ("Is the fire truck left of the taxi?", "Is the taxi on the road?"):
        with pytest.raises(TownError, match=r"the taxi is outside the picture: .*everywhere=True"):
            far_taxi.ask(question)
    for question in ("Is a taxi right of the fire truck?", "Is the fire truck far from a vehicle?"):
        answer = far_taxi.ask(question)
        assert answer.truth is False
        assert "outside the picture" in answer.why
        assert far_taxi.ask(question, everywhere=True)
    assert far_taxi.ask("Is the taxi right of the fire truck?", everywhere=True)
    far_taxi.camera = replace(far_taxi.camera, x=80.0)
    assert far_taxi.ask("Is the taxi on the road?")
    with pytest.raises(TownError, match="the fire truck is outside the picture"):
        far_taxi.ask("Is the fire truck on the road?")


def test_what_is_hidden_gives_no_answer():
    town = Town.from_scene(Scene([Vehicle("coach", 0.0, -1.85), Vehicle("kick scooter", 0.0, 1.85)]))
    with pytest.raises(TownError, match="the kick scooter is hidden"):
        town.ask("Is the kick scooter behind the coach?")
    assert town.ask("Is the kick scooter behind the coach?", everywhere=True)
    town.move("kick scooter", dx=7.0)
    assert town.ask("Is the kick scooter behind the coach?")


def test_the_taxi_is_the_one_that_is_seen(far_taxi):
    far_taxi.place("taxi", x=6.0, y=-1.85)
    assert far_taxi.ask("Is the taxi right of the fire truck?").why.startswith("taxi 2 ")
    with pytest.raises(TownError, match="taxi 1, taxi 2"):
        far_taxi.ask("Is the taxi right of the fire truck?", everywhere=True)


def test_what_is_seen_is_what_truth_relates():
    town = Town.random(seed=5)
    town.place("taxi", x=40.0)
    related = town.truth().related
    for thing in [t for t in town.things if t.group != "cloud"]:
        name = f"{thing.name} 1" if thing.name == thing.kind else thing.name
        if thing.name in related:
            town.ask(f"Is {name} on the road?")
            continue
        with pytest.raises(TownError, match=r"outside the picture|is hidden"):
            town.ask(f"Is {name} on the road?")


def test_left_and_right_mean_nothing_behind_the_camera():
    town = Town.from_scene(Scene([Vehicle("fire truck", 0.0, -1.85), Vehicle("taxi", 9.0, -30.0)]))
    for relation, other in itertools.product(("left of", "right of"), ("taxi", "fire truck")):
        answer = town.ask(f"Is a vehicle {relation} the {other}?", everywhere=True)
        assert answer.truth is False
        assert "the taxi is behind the camera" in answer.why
    assert town.ask("Is the taxi in front of the fire truck?", everywhere=True)


KINDS = ["taxi", "bicycle", "city bus", "oak", "mailbox", "man", "cottage"]
crowds = st.lists(
    st.tuples(st.sampled_from(KINDS), st.floats(-12, 12), st.floats(-5, 14), st.floats(-3, 3)), max_size=9
)
nouns = st.sampled_from(["vehicle", "tree", "person", "furniture", "mailbox"])


@given(crowds, nouns, nouns, nouns)
def test_between_is_answered_by_the_best_of_all_cases(crowd, subject, first, second):
    """Against brute force: every subject with every pair, measured alone."""
    town = Town.from_scene(Scene())
    for kind, x, y, yaw in crowd:
        with suppress(TownError):
            town.place(kind, x=x, y=y, yaw=yaw)
    answer = town.ask(f"Is a {subject} between a {first} and a {second}?", everywhere=True)
    cases = {
        (a.name, b.name, c.name): measure("between", town.camera, a.solid(), b.solid(), c.solid())
        for a, b, c in itertools.permutations(town.things, 3)
        if all(t.kind in NOUNS.get(n, [n]) for t, n in zip((a, b, c), (subject, first, second), strict=True))
    }
    if not cases:
        assert (answer.truth, answer.margin) == (False, -np.inf)
        assert "there is no" in answer.why
        return
    best = max(cases.values())
    assert answer.margin == pytest.approx(best, abs=1e-8)
    assert answer.truth is (None if abs(answer.margin) <= MARGINS["between"] else answer.margin > 0)
    named = [key for key, margin in cases.items() if margin == pytest.approx(answer.margin, abs=1e-8)]
    assert any(all(the(name) in answer.why for name in key) for key in named) or "outline" in answer.why
    assert answer.why.startswith("at best, ") is (len(cases) > 1 and not answer.truth)


def test_between_measures_many_cases_together(monkeypatch):
    """Of 40 things there are 59,280 cases and 780 pairs."""
    places = np.random.default_rng(0).uniform((-60, 5), (60, 60), (40, 2))
    town = Town.from_scene(Scene([], [Prop("mailbox", *place) for place in places.tolist()]))
    hulls, measured = [], []
    monkeypatch.setattr(solids, "hull", lambda points: hulls.append(1) or hull(points))
    monkeypatch.setattr(evaluating, "measure", lambda *case: measured.append(1) or measure(*case))
    assert town.ask("Is a mailbox between a mailbox and a mailbox?", everywhere=True)
    assert len(hulls) <= 781  # once a pair, and once for the answer
    assert len(measured) == 1


@pytest.mark.parametrize("path", ["README.md", "docs/town.md"])
def test_the_first_question_of_a_page_has_a_clear_answer(path):
    code = next(b for b in blocks(path) if ".ask(" in b)
    before, _, after = code.partition("town.ask(")
    names = {"simtown": simtown}
    exec(before, names)
    question = re.match(r'\s*"([^"]*)"', after)[1]
    answer = names["town"].ask(question)
    assert answer.truth is not None, answer
    assert str(answer).startswith(re.search(r"# (.*)", after)[1].rstrip(" ."))


def test_the_answers_of_the_page_are_those_of_its_town():
    names = {}
    exec("\n".join(next(b for b in blocks("docs/town.md") if ".ask(" in b).splitlines()[:4]), names)
    rows = re.findall(r"^\| ([A-Z][^|]*\?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 15
    for question, expected in rows:
        try:
            reply = str(names["town"].ask(question))
        except TownError as error:
            reply = f"refused: {str(error).partition(' I can answer ')[0]} I can answer ..."
        assert reply == expected


@pytest.mark.parametrize("noun", NOUNS)
def test_group_nouns_work_wherever_a_noun_is_taken(noun):
    town = Town.from_scene(Scene())
    thing = town.place(noun, x=0.0)
    assert thing.kind in NOUNS[noun]
    assert town[noun] is town.move(noun, dx=1.0) is thing
    assert town.ask(f"Is the {noun} on the road?", everywhere=True).truth is (thing.group == "vehicle")
    town.place(noun, x=60.0)
    with pytest.raises(TownError, match="there are 2"):
        town.ask(f"Is the {noun} on the road?", everywhere=True)
    with pytest.raises(TownError, match=f"'{noun}' may mean 2 things .*{thing.name}"):
        town[noun]
    town.place("fountain" if noun != "furniture" else "taxi", x=30.0)
    town.clear(noun)
    assert len(town) == 1


def test_nouns_hold_the_kinds_that_are_called_so():
    for noun, kinds in NOUNS.items():
        assert set(kinds) <= set(GROUP)
        assert noun not in GROUP  # a kind's name means that kind alone
        assert {k for k in GROUP if k.endswith(f" {noun}") and GROUP[k] == GROUP[kinds[0]]} <= set(kinds)
    assert {"vehicle", "car", "bus", "truck", "van", *STREET} <= set(NOUNS)


@pytest.mark.parametrize(
    "meaning", ["near means under 4 m", "next to means under 1.5 m", "far from means over 10 m"]
)
@pytest.mark.parametrize("dx", [0.0, 1.5, 2.2, 3.5, 6.0, 7.5])
def test_reasons_give_the_distance_of_outlines(meaning, dx):
    town = Town.from_scene(Scene([Vehicle("scooter", -6.0, -1.85), Vehicle("bicycle", -3.8 + dx, -1.85)]))
    gap = separation(town["scooter"].outline, town["bicycle"].outline)
    answer = town.ask(f"Is the scooter {meaning.partition(' means')[0]} the bicycle?")
    assert f"{gap:.2f} m apart; {meaning}" in answer.why
    assert ("too close to say" in str(answer)) is (answer.truth is None)


def test_of_several_the_nearest_case_is_told():
    cars = [Vehicle("taxi", -5.0, -1.85), Vehicle("sedan", 5.0, -1.85), Vehicle("bicycle", 4.0, 1.85)]
    town = Town.from_scene(Scene(cars))
    only, best = "no: the bicycle and the taxi are", "no: at best, the taxi and the sedan are 6."
    assert str(town.ask("Is a bicycle near the taxi?")).startswith(only)
    assert str(town.ask("Is the taxi near a vehicle?")).startswith(best)


FORMULAS = dict(re.findall(r"^\| ([a-z -]+) \| `(.*?)` \|", PAGE, re.MULTILINE))
FRAME = dict(re.findall(r"`(right|ahead|depth) = (.*?)`", PAGE))
places = st.tuples(st.floats(-20, 20), st.floats(-8, 20), st.floats(-6, 6))
limits = [(-4, 4), (-20, -12), (3, 9), (-0.3, 0.3), (-0.3, 0.3), (0.5, 2)]
cameras = st.builds(Camera, *(st.floats(low, high) for low, high in limits))


def test_the_page_gives_the_formula_and_the_margin_of_every_relation():
    rows = re.findall(r"^\| ([a-z -]+) \|.*\| ([\d.]+) m \|$", PAGE, re.MULTILINE)
    assert {name: float(least) for name, least in rows} == MARGINS
    solid = {"on", "between", "facing", "overtaking"}
    assert set(FORMULAS) == set(MARGINS) - solid
    assert set(FRAME) == {"right", "ahead", "depth"}


@given(st.sampled_from(ENTITIES), st.sampled_from(ENTITIES), places, places, cameras)
def test_the_formulas_of_the_page_are_the_code(subject, other, first, second, camera):
    town = Town.from_scene(Scene([Vehicle(subject, *first), Vehicle(other, *second)], camera=camera))
    things = town.vehicles
    names = {"gap": separation(things[0].outline, things[1].outline)}
    names |= {"cos": np.cos, "sin": np.sin, "front_o": things[1].front}
    for letter, thing in zip("so", things, strict=True):
        names |= {f"x_{letter}": thing.x, f"y_{letter}": thing.y}
        for axis, formula in FRAME.items():
            values = {"x": thing.x, "y": thing.y, "camera": camera, "cos": np.cos, "sin": np.sin}
            values["ahead"] = names.get(f"ahead_{letter}")
            names[f"{axis}_{letter}"] = eval(formula, values)
    assume(min(names["depth_s"], names["depth_o"]) > 1.0)
    matrices = table(camera, [t.solid() for t in things])
    for relation, formula in FORMULAS.items():
        expected = eval(formula, names)
        margin = measure(relation, camera, things[0].solid(), things[1].solid())
        assert margin == pytest.approx(expected, rel=1e-4, abs=1e-4)
        assert matrices[relation][0, 1] == pytest.approx(margin, abs=1e-9)
