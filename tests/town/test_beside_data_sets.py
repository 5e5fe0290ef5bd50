"""A town beside data sets: the same answer where they have one, and a note where they find it too close."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from simtown.assets.palette import COLOUR_WORDS
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import CLOSE, KNOWN
from simtown.language.meaning.programs import OVER_TIME, ProgramError, answer_type, check, encode
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import visibility
from simtown.scenes.weather import WEATHERS
from simtown.town import Town, TownError
from simtown.town.things import scene_of
from tests.language.plain import plain_scenes

SIZE = (256, 144)


def oracle(town):
    """The oracle of data sets' evaluator, of what a town's picture shows."""
    seen = town.seen()
    vehicles = [t for t in town.vehicles if t.name in seen]
    batch = SceneBatch.of([scene_of([*vehicles, *town.props], town.weather, town.to_scene().camera)])
    return next(plain_scenes(batch, visibility(batch.entity, batch.pose, batch.camera), SIZE))


def same(form, value, answer, number):
    """Whether a town's value is an answer of data sets, as the oracle has it."""
    kind = answer_type(form)
    if kind == "metres":
        return value == pytest.approx(number, abs=0.006)
    if kind == "box":
        return len(value) == 4
    word = ANSWERS[kind][answer]
    if kind == "colour":
        return value in COLOUR_WORDS[word.replace("grey", "gray")]
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return str(value) == word.removesuffix(" lane")


def shows_what_data_sets_miss(town, plain):
    """Whether something shows a pixel or two where its outline shows nothing."""
    return any(
        sight < 0 and thing.name in town.seen() for thing, sight in zip(town.props, plain.sights, strict=True)
    )


def compare(town, plain, replies):
    """How often each state occurs, and whether the town has an answer."""
    states = Counter()
    for reply in replies:
        try:
            check(reply.form)
            encode(reply.form)
        except ProgramError:
            assert not reply.close
            continue
        if reply.form.words & OVER_TIME.keys():  # of data sets, sequences alone have these
            assert not reply.close
            continue
        state, answer, number, _ = plain.value(reply.form)
        states[state, reply.value is not None] += 1
        close = state == CLOSE and reply.value is not None
        if state == KNOWN and reply.value is None:  # of two blues a town says neither
            assert "colour" in str(reply.form) or "hidden" in str(reply.form), reply
        elif state == KNOWN and not same(reply.form, reply.value, answer, number):
            assert shows_what_data_sets_miss(town, plain), (reply.question, reply, answer)
            assert answer_type(reply.form) in ("truth", "count")
            states["missed"] += 1
            close = True
        assert reply.close == close, (reply.question, reply)
        assert ("within the margin of data sets" in str(reply)) == reply.close
    return states


def replies_of(town, questions):
    for question in questions:
        try:
            yield town.ask(question)
        except TownError:
            continue


def compare_families(n, seed):
    """Questions of all families, asked about the streets that others of them were drawn for."""
    batch = source_of(Settings(questions=("all",), seed=seed)).draw("train", np.arange(n))
    states = Counter()
    for number in range(n):
        town = Town.from_scene(batch.scene.scene(number))
        questions = [batch.words[(number + step) % n] for step in (0, 1, 7, 11)]
        states += compare(town, oracle(town), replies_of(town, questions))
    return states


@pytest.mark.slow
def test_a_town_answers_as_data_sets_do_or_says_that_they_find_it_too_close():
    states = compare_families(50, 4)
    assert states[KNOWN, True] > 80
    assert states[CLOSE, True] > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5, 9))
def test_many_towns_answer_as_data_sets_do(seed):
    states = compare_families(600, seed)
    assert states[CLOSE, True] > 50
    assert states["missed"] < 0.01 * states.total()


@pytest.mark.slow
def test_ordinary_questions_about_random_towns_have_the_answers_of_data_sets():
    states = Counter()
    for seed in range(4):
        town = Town.random(seed=seed, vehicles=2 + seed, weather=(WEATHERS[seed + 1], 0.2 + 0.2 * seed))
        replies = [town.ask(question) for question, _ in town.questions(40)]
        states += compare(town, oracle(town), replies)
    assert states[KNOWN, True] > 50


def test_a_town_of_one_vehicle_or_none_is_compared_too():
    town = Town()
    for vehicles in (0, 1):
        questions = "Is there a taxi?", "How many trees are there?", "Is a house left of the taxi?"
        states = compare(town, oracle(town), replies_of(town, questions))
        assert states[KNOWN, True] > vehicles
        if not vehicles:
            town.place("taxi", x=0.0)


def test_no_note_where_data_sets_cannot_ask():
    town = Town.random(seed=2)
    assert not any(
        town.ask(question, everywhere=True).close for question, _ in islice(town.questions(20), 20)
    )
    assert not any(
        reply.close for reply in replies_of(town, ["What is near the first vehicle from the left?"])
    )
