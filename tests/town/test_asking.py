"""Ordinary questions to a town: what is right was read off its truth by hand, or is found by brute force."""

import itertools
import math
import re
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simtown.assets.catalogue import ENTITIES, NAMED_BY_COLOUR, PROPS
from simtown.assets.entities import with_article
from simtown.language.meaning.nouns import NOUNS, called_by, plural, similar_names
from simtown.language.words.grammar import language
from simtown.scenes.footprints import GROUP
from simtown.scenes.scene import Prop, Scene, Vehicle
from simtown.town import Town, TownError, saving
from simtown.town.answering import NoAnswerError
from simtown.town.things import the
from tests.every import for_every


@cache
def street(seed=3):
    """The random street of a seed with a fire truck, in snow."""
    town = Town.random(seed=seed)
    with suppress(TownError):
        town.place("fire truck", x=2.0)
    town.weather = "snow"
    return town


@cache
def truth(seed=3):
    return street(seed).truth()


#: A value a line, then questions that have it. "!" is a question that is refused, "?" one too close to say.
PLAIN = """
True: Is the fire truck right of the scooter? Is the fire truck right of the scooter
True: Is the fire truck to the right of the scooter? Is the fire truck on the right of the scooter?
False: Is the fire truck on the left side of the scooter? is fire truck left of mail van
True: Is the scooter to the left of the fire truck? The scooter is left of the fire truck, isn't it?
True: Is there a fire truck? Are there any trees? Is there a person on the sidewalk? Is there a lorry?
False: Is there a bus? Are there any buses? Are there three scooters? Is there a fire chief car?
True: Are there four vehicles? Are there at least 3 vehicles? Are there more buildings than trees?
4: How many vehicles are there? How many vehicles can you see? How many street lamps are there?
1: How many kick scooters are there? How many red vehicles are there?
1: How many vehicles are facing the fire truck?
3: How many vehicles are left of the fire truck? How many vehicles are near the fire truck?
2: How many people are there? How many scooters are there?
2: How many vehicles are left of the fire truck and right of the scooter?
0: How many taxis are there? How many vehicles are left of the scooter?
["mail van", "scooter", "kick scooter"]: What is near the fire truck? Which vehicles are near the fire truck?
["fire truck", "kick scooter", "mail van"]: What is the vehicle right of the scooter?
["grandmother", "man"]: Who is left of the fire truck? Which people are on the sidewalk?
"fire truck": Which vehicle is nearest? Which vehicle is red? What is the biggest vehicle?
"scooter": What is the leftmost vehicle? Which is closer, the scooter or the kick scooter?
"mail van": Which vehicle is closest to the fire truck? What is bigger, the scooter or the mail van?
"cinema": Which building is the tallest?
True: Is the leftmost vehicle a scooter? Is the biggest vehicle the fire truck?
"navy": What colour is the mail van? What is the color of the mail van?
True: Is the fire truck red? Is the mail van blue? Is any vehicle green? Is there a fire engine?
False: Is the red vehicle left of the scooter? Is the scooter grey? Are all vehicles red?
True: Is it snowing? Does it snow? Isn't it snowing? Is the weather snowy?
False: Is it night? Is it sunny? Is it raining? Does the fire truck face left? Is the fire truck facing left?
"snow": What is the weather? What's the weather like?
"in the near lane, 2.00 m right of the middle, 9.54 m from the viewer": Where is the fire truck?
1.97: How far is the fire truck from the scooter? How far apart are the scooter and the fire truck?
9.54: How far away is the fire truck?
"right": Which direction does the fire truck face? Which way is the fire truck heading?
False: Is the kick scooter hidden? Is the pillar box visible? Is the scooter nearest to the mail van?
True: Can you see the cinema? Is the pillar box hidden? Is the mail van partly hidden?
True: Is the fire truck closer than the scooter? Is the fire truck bigger than the scooter?
False: Is the fire truck beside the scooter? Is the fire truck smaller than every vehicle?
True: Are all vehicles left of the fire truck? Is any tree behind the cinema? Is anything left of the scooter?
False: Is every vehicle left of the scooter? Is everything on the road? Is nothing left of the fire truck?
False: Is the mail van left of the fire truck and the scooter? Is the fire truck not right of the scooter?
True: Isn't the scooter left of the fire truck? Is the scooter not on the sidewalk?
True: Is the firetruck right of the scooter? Is the truk right of the scoter? Is the man on the pavement?
?: Is the fire truck next to the mail van? Is the fire truck behind the scooter? What is next to the mail van?
!: Is the fire chief car left of the scooter? Is the vehicle right of the scooter?
!: Is anyone driving the truck?
!: Are there chairs? Are there plants? Are there two people and a van in the far lane?
!: What is red? How many things are red? Is nothing pink? Are the others red? Is the truck on its left?
True: Is anything red? Do vehicles outnumber people in the near lane?
False: Is everything red? Is there a fire truck or a bus left of the cinema? Are there no scooters or buses?
!: Do people outnumber scooters in the far lane? How many red trucks and vans are there? Is man a dog or cat?
!: Does the man face away from the truck? Is the truck taller than a scooter or van? Is there another truck?
!: Is the taxi red? What colour is the bakery? Do you like snow? Is the mailbox left of the fire truck?
"""


def table(text):
    """The questions of a text, each with its value."""
    lines = [line.partition(": ") for line in text.replace("scooter Is", "scooter? Is").strip().splitlines()]
    return [(q.strip(), value) for value, _, questions in lines for q in re.findall(r"[^?.]+[?.]", questions)]


@for_every(table(PLAIN))
def test_plain_questions(question, expected):
    check(street(), question, expected)


def check(town, question, expected):
    """That a town gives the answer of a table."""
    if expected == "!":
        with pytest.raises(TownError, match="I can answer"):
            town.ask(question)
        return
    answer = town.ask(question)
    assert answer.value == (None if expected == "?" else eval(expected)), answer
    assert answer.truth is (answer.value if isinstance(answer.value, bool) else None)


ANIMALS = {
    "Are there any animals? Is there a sheep? Does the cow face left? Does the puppy face right?": True,
    "Is the cow left of the dog? Is there a cat?": False,
    "How many animals are there? How many dogs are there?": None,  # somebody walks one
    "How many sheep are there? How many sheep are right of the dog?": 2,
    "Which animal is nearest to the cow? What is nearest to the cow?": "dog",
    "What is nearest to the dog?": None,
}


@pytest.mark.parametrize(("questions", "expected"), ANIMALS.items())
def test_animals_are_counted_and_named(questions, expected):
    town = Town.from_scene(Scene([]))
    for kind, x in (("dog", -1.0), ("cow", 2.0), ("sheep", 6.0), ("sheep", 8.5), ("person with dog", -3.9)):
        town.place(kind, x=x)
    for question in questions.split("? "):
        assert town.ask(question).value == expected, question


@cache
def crowd():
    """A street where one thing hides others, and where some names are words for more kinds, too."""
    town = Town.from_scene(Scene([]))
    for kind, x, y, yaw in (
        ("white van", -6.0, -1.85, 0.0),
        ("police van", -1.0, -1.85, 0.0),
        ("garbage truck", 4.0, 1.85, math.pi),
        ("red pickup", 4.6, -1.85, math.pi),
        ("coupe", 4.0, 9.0, 0.0),
    ):
        town.place(kind, x=x, y=y, yaw=yaw)
    for kind, x in (("man with black hair", -3.9), ("person with umbrella", 1.0), ("pillar box", -1.5)):
        town.place(kind, x=x)
    return town


#: As PLAIN, about the crowd.
KINDS_OF_QUESTIONS = """
"left": Is the police van left or right of the coupe?
"left": Is the police van to the right or to the left of the coupe?
"right": Is the red pickup on the left or on the right of the white van?
"right": Is the coupe on the left or the right?
"behind": Is the coupe in front of or behind the red pickup?
"behind": Is the garbage truck behind or in front of the white van?
"nearer": Is the red pickup nearer or farther than the coupe?
"nearer": Is the police van closer or further than the coupe?
"smaller": Is the coupe bigger or smaller than the garbage truck?
"smaller": Is the man smaller or taller than the garbage truck?
"green": Is the garbage truck green or yellow? Is the garbage truck brown or green?
"neither": Is the red pickup blue or green? Is it foggy or snowing?
"neither": Is the coupe on the road or on the sidewalk?
"clear": Is it sunny or cloudy? Is the weather rainy or clear? Is it snowing or is it sunny?
"day": Is it day or night? Is it nighttime or daytime? What time of day is it?
"near": Is the police van in the near lane or the far lane? Is the white van in the far or the near lane?
"viewer": Is the man facing the viewer or away? Does the man face left or the viewer?
"police van": Is the police van a taxi or a police van?
"police van": Is the second van from the left a tram or a police van?
"vehicles": Are there more people or vehicles? Are there more vehicles or more trees?
"still": Is the coupe moving or parked? Is the red pickup driving or stopped?
False: Is it either foggy or raining? Is the coupe either red or blue? Is it night time? Is it dark?
True: Is the coupe hidden by the garbage truck? Does the garbage truck hide the coupe?
True: Is the coupe partly hidden by a truck?
["garbage truck"]: Which vehicles are hiding the coupe? Which trucks is the coupe hidden by?
["coupe"]: Name the vehicles behind the garbage truck. List all cars. Which cars are hidden by a truck?
"garbage truck": Name the biggest truck. Which truck hides the coupe? Name the truck in the far lane.
2: How many vans are not ambulances? How many white vans are there? Count the trucks.
2: Tell me how many trucks there are. How many people are there?
True: Are the two trucks facing the same way? Are the two vans in the same lane? Do the two vans face right?
False: Do the two trucks have the same colour? Is anyone on the road?
False: Is the garbage truck overtaken by the coupe?
True: Is there a person with an umbrella? Is someone holding an umbrella? Is everyone on the street?
True: Is there a man?
True: Is there a mailbox? Is there a pickup? Is there a white truck or a red truck?
True: Is there a van on the street?
"man with black hair": Name the man left of the mailbox. Which person is leftmost?
?: Is there a sports car? How many men are there? Is there a woman?
!: Do the three trucks face the same way? How many things are red? Which people are red?
"""


@for_every(table(KINDS_OF_QUESTIONS))
def test_kinds_of_questions(question, expected):
    check(crowd(), question, expected)


def test_a_hidden_thing_of_the_name_is_meant_where_hidden_things_count():
    town = Town.from_scene(Scene([Vehicle("kick scooter", 0.0, 0.0), Vehicle("scooter", 0.0, 60.0)]))
    town.place("bakery", x=0.0)
    assert town.ask("Is the scooter hidden?").truth is True
    assert town.ask("Is the kick scooter hidden?").truth is False
    answer = town.ask("What colour is the scooter?", everywhere=True)
    assert answer.value == "mint"
    assert "not as the kick scooter" in answer.why


def test_the_form_of_a_question_prints_as_a_program():
    form = "count(filter(filter(all(vehicle), has(colour, red)), related(left of, the(all(cinema)))))"
    assert str(street().ask("How many vehicles that are red are left of the cinema?").form) == form
    form = "more(count(all(tree)), count(all(building)))"
    assert str(street().ask("Are there more trees than buildings?").form) == form


def test_an_answer_says_what_kind_of_answer_it_is():
    yes, count = street().ask("Is it snowing?"), street().ask("How many vehicles?")
    close = street().ask("What is next to the mail van?")
    assert (str(yes)[:5], str(count)[:3], str(close)[:18]) == ("yes: ", "4: ", "too close to say: ")
    for answer in (count, close):
        with pytest.raises(TownError, match=r"not a yes/no question|no clear answer"):
            bool(answer)


def test_the_negated_form_is_spelt_out_and_corrections_are_said():
    why = street().ask("Is the truk not right of the scooter?").why
    assert "'not to the right of the scooter' is false; 'truk' is read as 'truck'" in why
    assert "'it is not so' is false" in street().ask("Isn't the fire truck right of the scooter?").why
    with pytest.raises(TownError, match=r"no fire chief car in this town \(there is a fire truck\)"):
        street().ask("Is the fire chief car left of the scooter?")
    with pytest.raises(TownError, match=r"\(kick scooter, mail van, scooter, fire truck\)"):
        street().ask("Is the vehicle right of the scooter?")


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_reader_would_call_so_is_there(seed):
    kinds = {street(seed)[name].kind for name in street(seed).seen()}
    nouns = [noun for noun in (*NOUNS, *GROUP) if kinds & {*called_by(noun)} and noun not in NAMED_BY_COLOUR]
    nouns = [noun for noun in nouns if noun != "cloud" and GROUP.get(noun) != "cloud" and " bare" not in noun]
    wrong = [noun for noun in nouns if street(seed).ask(f"Is there {with_article(noun)}?").truth is not True]
    assert len(nouns) > 20
    assert not wrong


SORTS = {"tractr": True, "trucc": True, "shed": False, "tre": False, "busses": True}


@for_every(SORTS.items())
def test_a_vehicle_is_offered_for_a_vehicle_alone(word, is_vehicle):
    vehicles = [*ENTITIES, *map(plural, ENTITIES)]
    names = similar_names(word, [*vehicles, *PROPS, *map(plural, PROPS)], 5, 0.4)
    assert {name in vehicles for name in names} == {is_vehicle}
    with pytest.raises(TownError) as refused:
        Town.from_scene(Scene((), [Prop("bush", 4.0, 5.6), Prop("oak", 9.0, 9.6)]))["bus"]
    assert "did you mean" not in str(refused.value)


#: What is refused, with a question that is offered instead.
OFFERED = {
    "How many red things are there?": "How many red vehicles are there?",
    "Which objects are green?": "Which vehicles are green?",
    "What is red?": "Which vehicle is red?",
    "Is the coupe gladly left of the garbage truck?": "Is the coupe left of the garbage truck?",
    "How many wheely vehicles are there?": "How many vehicles are there?",
}


@for_every(OFFERED.items())
def test_what_is_offered_is_answered(question, other):
    with pytest.raises(NoAnswerError) as refused:
        crowd().ask(question)
    assert other in refused.value.offered
    assert all(crowd().ask(offered).value is not None for offered in refused.value.offered)


# Brute force, from the truth

nouns = st.sampled_from(["vehicle", "building", "tree", "person", "furniture", "street lamp", "taxi"])
relations = st.sampled_from(["left of", "right of", "in front of", "behind", "next to", "near", "far from"])
seeds = st.integers(0, 5)


def alike(seed, noun):
    """Names of the things that are seen and that a noun means."""
    kinds = NOUNS.get(noun, (noun,))
    return [t.name for t in truth(seed).things if t.kind in kinds and t.name in truth(seed).related]


def phrase(seed, name):
    """The words that mean the thing of a name."""
    return f"{name} 1" if len(alike(seed, name)) > 1 else the(name)


def holds(seed, relation, subject, other):
    """1, -1 or 0, as the truth has it."""
    named = truth(seed).related.index
    return int(truth(seed).truths[relation][named(subject), named(other)])


def three_valued(values, join):
    """All or any of 1, -1 and 0 by Kleene's logic: True, False or None."""
    return {1: True, -1: False, 0: None}[join(values)]


@given(seeds, nouns, relations, st.integers(0, 40))
def test_counts_sets_and_quantifiers_are_those_of_brute_force(seed, noun, relation, number):
    town, related = street(seed), truth(seed).related
    other = related[number % len(related)]
    values = {n: holds(seed, relation, n, other) for n in alike(seed, noun) if n != other}
    opposites = [-v for v in values.values()]
    many, tail = plural(noun), f"{relation} {phrase(seed, other)}?"
    count = town.ask(f"How many {many} are {tail}").value
    assert count == (None if 0 in values.values() else sum(v == 1 for v in values.values()))
    listed = town.ask(f"Which {many} are {tail}").value
    certain = {n for n, v in values.items() if v == 1}
    assert listed is None if not certain and 0 in values.values() else set(listed) == certain
    if values:
        assert town.ask(f"Are all {many} {tail}").truth is three_valued(values.values(), min)
        assert town.ask(f"Is there a {noun} {tail}").truth is three_valued(values.values(), max)
        assert town.ask(f"Are any {many} {tail}").truth is three_valued(values.values(), max)
        assert town.ask(f"Is no {noun} {tail}").truth is three_valued(opposites, min)
        assert town.ask(f"Are all {many} not {tail}").truth is three_valued(opposites, min)


@given(seeds, nouns, relations, relations, st.integers(0, 40))
def test_and_or_follow_kleene(seed, noun, first, second, number):
    pairs = list(itertools.permutations(alike(seed, noun), 2))
    assume(pairs)
    pair = pairs[number % len(pairs)]
    subject, other = (phrase(seed, name) for name in pair)
    values = [holds(seed, r, *pair) for r in (first, second)]
    for word, join in (("and", min), ("or", max)):
        answer = street(seed).ask(f"Is {subject} {first} {other} {word} {second} {other}?")
        assert answer.truth is three_valued(values, join)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noun", ["vehicle", "building", "tree"])
def test_superlatives_are_those_of_the_boxes(seed, noun):
    things = [truth(seed)[name] for name in alike(seed, noun)]
    for word, size in (("tallest", lambda s: s[2]), ("biggest", lambda s: np.cbrt(np.prod(s)))):
        keys = {t.name: float(size(t.size)) for t in things}
        best, *rest = sorted(keys, key=keys.get, reverse=True)
        clear = not rest or keys[best] - keys[rest[0]] > 0.1
        assert street(seed).ask(f"Which {noun} is {word}?").value == (best if clear else None)


# Refusals and examples


@pytest.mark.parametrize("seed", range(3))
def test_refusals_give_three_questions_that_have_answers(seed):
    distance = "What is the distance from the tanker truck to the box truck?"
    for question in ("Why?", distance, "Is the unicorn left of a taxi?", "Is the tank hidden?"):
        with pytest.raises(TownError) as refused:
            street(seed).ask(question)
        offered = str(refused.value).partition("I can answer ")[2].strip("'").split("', '")
        assert len(offered) == 3
        assert all(street(seed).ask(other).value is not None for other in offered)


@pytest.mark.parametrize("seed", range(3))
def test_ten_questions_have_true_answers_and_change_nothing(seed):
    town = street(seed)
    before = saving.encode(town)
    questions = town.questions(10)
    assert len(questions) == len({q for q, _ in questions}) == 10
    assert len({q.split()[0] for q, _ in questions}) > 4
    assert {type(v) for _, v in questions} >= {bool, int, str}
    assert [(q, town.ask(q).value) for q, _ in questions] == questions == town.questions(10)
    assert saving.encode(town) == before
    assert not [q for q, _ in street(11).questions(60) if "the news van from the news van" in q]
    assert Town.from_scene(Scene()).questions(5)


words = st.sampled_from(sorted(language().words | {"taxi", "fire", "truck", "scooter", "red", "left of"}))


@given(st.one_of(st.text(max_size=400), st.lists(words, max_size=30).map(" ".join)))
def test_any_text_has_an_answer_or_is_refused(text):
    with suppress(TownError):
        str(street().ask(text))


LONG = ("Is a thing ", "left of a thing "), ("How many things are ", "near every thing ")
LONG += ("Is a thing ", "nearest "), ("How many things are ", "and a ")


@pytest.mark.slow
@pytest.mark.parametrize(("question", "part"), LONG)
def test_long_questions_are_bounded(question, part):
    with suppress(TownError):
        street().ask(f"{question}{part * 40}"[:380])


def test_what_faces_what_turns_with_the_camera():
    town = Town.from_scene(Scene([Vehicle("taxi", 0.0, 0.0, yaw=0.7)]))
    assert town.ask("Does the taxi face right?").truth is None
    town.turn("taxi", 0.8)
    assert town.ask("Which way does the taxi face?").value == "away"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the rightmost vehicle a car, a bus or another vehicle?", "other"),
        ("Is the rightmost vehicle a bus?", "no"),
        ("Is the rightmost vehicle right of the bus?", "yes"),
        ("Is the bus left of the rightmost vehicle?", "yes"),
        ("Which lane is the rightmost vehicle in?", None),
        ("What is the rightmost vehicle?", None),
    ],
)
def test_what_is_the_same_for_all_that_may_be_meant_is_said(question, answer):
    """A street sweeper and a combine harvester stand too close to say which is rightmost."""
    town = Town()
    town.place("street sweeper", x=4.0, lane="near")
    town.place("combine harvester", x=5.2, lane="far")
    town.place("bus", x=-6.0)
    reply = town.ask(question)
    if answer is None:
        assert "too close to say" in str(reply)
    else:
        assert str(reply).startswith(answer)


def test_what_is_true_whichever_is_leftmost_is_said():
    places = ("bicycle", 0.0, -1.85), ("coach", 0.05, 1.85), ("taxi", 9.0, -4.7)
    town = Town.from_scene(Scene([Vehicle(kind, x, y, 0.0) for kind, x, y in places]))
    assert town.ask("Which vehicle is leftmost?").value is None
    assert town.ask("Is there a taxi in the same lane as the leftmost vehicle?").truth is False
