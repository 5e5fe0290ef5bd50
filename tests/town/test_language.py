"""Every family of questions, asked in a town: read as meant, and answered as the geometry has it."""

import math
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES
from simtown.assets.frequencies import frequencies
from simtown.assets.palette import COLOUR_WORDS
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import Recipe, sample
from simtown.language.asking.search import ask_families
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.relations import DRIVER_RELATIONS, RELATION_NAMES, own_separations
from simtown.language.words.captions import captions
from simtown.language.words.grammar import parse
from simtown.scenes.scene import Scene, Vehicle
from simtown.town import Town, TownError
from tests.every import for_every

QUESTIONS = (Path(__file__).parent / "questions.txt").read_text(encoding="utf-8").splitlines()[1:]


@for_every(QUESTIONS)
def test_natural_questions_are_read_as_meant(line):
    question, _, form = line.partition(" = ")
    assert str(parse(["bus", "taxi", "tram"], question)[0]) == form


@cache
def street():
    """A street with vehicles in both lanes and one parked at the kerb."""
    places = {
        "taxi": (-6.0, -1.85),
        "coach": (3.0, 1.85),
        "ambulance": (2.5, -4.7),
        "fire truck": (6.5, -1.85),
    }
    town = Town.from_scene(Scene([Vehicle(kind, x, y, math.pi * (y > 0)) for kind, (x, y) in places.items()]))
    town.change("taxi", paint="yellow")
    return town


#: A value a line, its margin in metres if it has one, then questions that have it. "?" is too close to say.
VALUES = """
"ambulance": What kind of vehicle is parked? What type of vehicle is parked at the curb?
"fire truck": What kind of vehicle is the rightmost one? What kind of vehicle is the first from the right?
"fire truck": What kind of vehicle is the red one? What sort of vehicle is red?
"coach": What kind of vehicle is in the far lane? Which kind of vehicle is second from the left?
"parked": Is the ambulance in the near lane, in the far lane or parked? Which lane is the ambulance in?
"yellow": What color is the taxi? What is the colour of the vehicle that is yellow?
True: Is the coach the third vehicle from the right? Is the taxi the leftmost of the vehicles?
True 3.70: From the taxi's driver's view, is the coach on the left?
True 3.70: Does the taxi's driver see the coach on the left?
False -3.70: Is the coach on the right of the taxi's driver?
False -3.70: For the driver of the taxi, is the coach on the right?
True 9.00: From the coach driver's point of view, is the taxi in front?
True 9.00: Is the taxi ahead of the coach's driver?
"none of it": How much of the taxi is hidden?
"car": Is the taxi a bus, a truck or a car? What group does the taxi belong to?
False: Is there an ambulance and no taxi? Are there more buses than cars? Is there neither a bus nor a taxi?
2: How many vehicles are neither red nor yellow? How many vehicles are red or parked?
1: How many vehicles are in the far lane? How many taxis are there?
False: Is the coach in the same lane as the taxi? Do the taxi and the coach face the same way?
?: Is the fire truck behind the taxi? What colour is the vehicle behind the taxi?
True: The taxi is yellow. There is a taxi in the near lane. There is a coach and no tram, isn't there?
True: Is the vehicle left of the one in the far lane yellow?
True: Is the vehicle behind the ambulance and left of the coach a taxi?
"yellow": What colour is the vehicle left of the bus behind the parked vehicle?
"ambulance" 1.25: What kind of vehicle is the second from the right?
"""
TABLE = [
    (value, question + mark)
    for value, questions in (line.split(": ") for line in VALUES.strip().splitlines())
    for question, mark in re.findall(r" ?([^?.]+)([?.])", questions)
]


@for_every(TABLE)
def test_values_with_the_margin_that_decides(expected, question):
    answer = street().ask(question)
    value, _, margin = expected.partition('" ' if expected[0] == '"' else " ")
    assert answer.value == (None if value == "?" else eval(value + '"' * (value.count('"') % 2))), answer
    assert not margin or answer.margin == pytest.approx(float(margin), abs=0.005)


def test_a_box_is_that_of_the_pixels_that_are_seen():
    answer = street().ask("Where in the picture is the coach?")
    assert answer.value == street().truth()["coach"].seen
    assert "1024 x 576" in answer.why


SAME = {
    "truth": lambda value, answer: value is (answer == "yes"),
    "lane": lambda value, answer: answer.startswith(value),
    "metres": lambda value, answer: f"{round(value)} m" == answer,
    "colour": lambda value, answer: value in COLOUR_WORDS[answer.replace("grey", "gray")],
    "box": lambda value, answer: len(value) == 4,
}


@pytest.mark.slow
def test_towns_answer_as_data_sets_do():
    """Two evaluators that share no code: that of data sets, over many scenes at once, and the town's."""
    recipe = source_of(Settings(questions=("all",), seed=4)).recipe("train")
    batch = ask_families(recipe, np.arange(100))
    for number, question in enumerate(batch.words):
        family = recipe.families[batch.family[number]]
        answer = ANSWERS[family.answer][batch.answer[number]]
        reply = Town.from_scene(batch.scene.scene(number)).ask(question)
        same = SAME.get(family.answer, lambda value, answer: str(value) == answer)
        assert same(reply.value, answer), (question, answer, reply)


poses = st.tuples(st.floats(-15, 15), st.floats(-5, 15), st.floats(-3.1, 3.1))


@given(poses, poses)
def test_what_a_driver_sees_is_the_turned_scene(subject, driver):
    """Turn the street until the driver looks along +x: what is beside, and what is ahead, are y and x."""
    offset = complex(subject[0] - driver[0], subject[1] - driver[1]) * np.exp(-1j * driver[2])
    own = own_separations(np.array([[subject, driver]], dtype=np.float64))[0, :, 0, 1]
    assert own == pytest.approx([-offset.imag, offset.real], abs=1e-9)
    town = Town.from_scene(Scene([Vehicle("taxi", *subject), Vehicle("tram", *driver)]))
    margins = (offset.imag, -offset.imag, offset.real, -offset.real)
    words = ("on the left", "on the right", "ahead", "behind")
    for relation, margin, seen in zip(DRIVER_RELATIONS, margins, words, strict=True):
        answer = town.ask(f"From the view of the tram's driver, is the taxi {seen}?", everywhere=True)
        assert answer.margin == pytest.approx(margin, abs=1e-4)
        assert answer.truth is (None if abs(answer.margin) <= relation.margin else bool(margin > 0))


def test_only_what_looks_somewhere_has_a_view():
    town = Town.random(seed=3)
    assert town.ask("From the man's view, is the scooter on the left?").value is not None
    with pytest.raises(TownError, match="the market hall looks nowhere"):
        town.ask("Is the scooter on the left of the market hall's driver?")


@cache
def street_and_truth(seed):
    town = Town.random(seed=seed)
    return town, town.truth()


@settings(max_examples=30)
@given(st.integers(0, 3), st.integers(1, 4), st.sampled_from(["left", "right"]))
def test_the_nth_from_a_side_is_that_of_the_sorted_slopes(seed, number, side):
    town, truth = street_and_truth(seed)
    things = [town[name] for name in sorted(town.seen()) if town[name].group == "vehicle"]
    assume(len(things) >= number)
    ordered = sorted(things, key=lambda t: t.x / (t.y - town.camera.y), reverse=side == "right")
    ordinal = ("first", "second", "third", "fourth")[number - 1]
    answer = town.ask(f"Which vehicle is {ordinal} from the {side}?")
    assert answer.value in (None, ordered[number - 1].name)
    place = [t.name for t in ordered].index(ordered[number - 1].name)
    named = [truth.related.index(t.name) for t in ordered]
    clear = np.delete(truth.truths[f"{side} of"][named[place]][named], place)
    assert (answer.value is not None) == bool(clear.all())


def test_who_is_not_the_nearest_is_known_though_two_others_are_as_near():
    sides = [Vehicle("taxi", -3.0, -1.85), Vehicle("sedan", 3.0, -1.85)]
    town = Town.from_scene(Scene([*sides, Vehicle("tram", 0.0, 1.85)]))
    assert town.ask("Is the tram the nearest vehicle?").truth is False
    assert town.ask("Is the taxi the nearest vehicle?").truth is None
    assert town.ask("What kind of vehicle is nearest?").value is None


# Captions and descriptions


def test_captions_are_statements_that_are_true():
    subject, obj = frequencies("uniform", len(ENTITIES))
    papers = sample(Recipe(5, "train", subject, obj, relations=RELATION_NAMES), np.arange(80)).scene
    busy = ask_families(
        source_of(Settings(questions=("weather",), entities=8)).recipe("train"), np.arange(40)
    ).scene
    for scenes in (papers, busy):
        told = 0
        for number in range(len(scenes)):
            town = Town.from_scene(scenes.scene(number))
            for line in captions(scenes[number : number + 1], 5, "train", bias=0.3, start=number):
                answer = town.ask(line, everywhere=True)
                doubtful = answer.truth is None and "has(colour" in str(answer.form)  # two colours, or olive
                assert answer.truth is True or doubtful, (line, answer)
                told += answer.truth is True
        assert told > 2 * len(scenes)


@pytest.mark.parametrize("seed", range(5))
def test_descriptions_are_statements_that_are_true(seed):
    town = Town.random(seed=seed)
    for kind in ("vehicle", "vehicle", "taxi"):
        with suppress(TownError):
            town.place(kind, paint="crimson" if kind == "taxi" else None)
    if seed % 2:
        town.change(town.vehicles[0], velocity=(4.0, 0.0, 0.0))
    for sentence in town.describe().split(". "):
        answer = town.ask(sentence, everywhere=True)
        assert answer.truth is True, (sentence, answer)


# What is not understood

NEAREST = {
    "Is the taxi happily left of the coach?": "Is the taxi left of the coach?",
    "Is taxi yellow the?": "Is taxi yellow?",
    "Is the taxi kind of left of the coach?": "Is the taxi left of the coach?",
    "How many big vehicles are really there?": "How many vehicles are there?",
    "Is the limo left of the coach?": "Is the ambulance left of the coach?",
    "Iz the taxy left of the coach?": "Is the taxi left of the coach?",
}


@pytest.mark.parametrize(("question", "nearest"), NEAREST.items())
def test_what_is_not_understood_gets_the_nearest_form_that_is(question, nearest):
    with pytest.raises(TownError) as refused:
        street().ask(question)
    offered = str(refused.value).partition("I can answer ")[2].strip("'").split("', '")
    assert nearest in offered
    assert all(street().ask(other).value is not None for other in offered)
