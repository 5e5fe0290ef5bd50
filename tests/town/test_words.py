"""Towns in words: facts, statements, and two things exchanged."""

import pytest

from simtown import Town
from simtown.town.checks import TownError

TURNED = {"left of": "right of", "in front of": "behind"}
TURNED |= {back: relation for relation, back in TURNED.items()}


@pytest.fixture
def town():
    town = Town()
    town.place("taxi", x=-3.0, y=-1.6)
    town.place("city bus", x=5.0, y=1.6)
    return town


def test_facts_are_what_the_town_answers(town):
    facts = [fact for fact in town.facts() if {fact.subject, fact.object} == {"taxi", "city bus"}]
    assert {fact.relation for fact in facts} >= {"left of", "right of", "in front of", "behind"}
    for fact in facts:
        if fact.relation in TURNED:
            answer = town.ask(f"Is the {fact.subject} {fact.relation} the {fact.object}?")
            assert answer.truth
            assert answer.margin == pytest.approx(fact.margin, abs=1e-3)


def test_an_exchange_turns_relations_round(town):
    before = {fact[:3] for fact in town.facts()}
    places = [(thing.x, thing.y) for thing in town.vehicles]
    town.exchange("taxi", "city bus")
    assert [(thing.x, thing.y) for thing in town.vehicles] == places[::-1]
    after = {fact[:3] for fact in town.facts()}
    for subject, relation, other in before:
        if {subject, other} == {"taxi", "city bus"} and relation in TURNED:
            assert (subject, TURNED[relation], other) in after
    town.exchange("taxi", "city bus")
    assert {fact[:3] for fact in town.facts()} == before


def test_an_exchange_without_room_changes_nothing(town):
    town.place("sedan", x=1.2, y=-1.6)  # a bus has no room beside it
    places = [(thing.x, thing.y) for thing in town.vehicles]
    with pytest.raises(TownError, match="sedan"):
        town.exchange("taxi", "city bus")
    assert [(thing.x, thing.y) for thing in town.vehicles] == places


QUESTIONS = [
    "Is the taxi left of the bus?",
    "Is the bus left of the taxi?",
    "How many vehicles are there?",
    "What colour is the taxi?",
    "Is there a tram?",
    "Which lane is the bus in?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_statement_is_true(town, question):
    statement = town.ask(question).statement()
    assert statement.endswith(".")
    assert town.ask(statement.rstrip(".") + ", isn't it?").truth


def test_what_has_no_sentence_says_why(town):
    answer = town.ask("How far is the taxi from the bus?")
    assert answer.statement().rstrip(".").lower() == answer.why.lower()


def test_what_is_too_close_is_not_stated(town):
    town["taxi"].x = town["city bus"].x = 0.0
    with pytest.raises(TownError, match="clear"):
        town.ask("Is the taxi left of the bus?").statement()
