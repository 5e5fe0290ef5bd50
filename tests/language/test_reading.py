"""The grammar reads every text of every family back to the program that it was made from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.entities import ENTITIES
from simtown.core.streams import Draws
from simtown.language.asking.families import families
from simtown.language.asking.question_world import AskedWorld
from simtown.language.asking.templates import Drawer, NoWordsError
from simtown.language.meaning import programs
from simtown.language.meaning.programs import decode, encode
from simtown.language.words.grammar import parse
from simtown.language.words.wording import fill
from simtown.scenes.weather import WEATHERS

TEXTS = [
    (family, template, text)
    for family in families().values()
    for template in family.templates
    for text in template.texts
]
AMERICAN = {"colour": "color", "kerb": "curb", "metres": "meters", "grey": "gray"}
PAINTS = st.sampled_from([np.zeros(0), np.full(36, 1 / 36)])


@pytest.mark.parametrize(("family", "template", "text"), TEXTS, ids=lambda value: str(value)[:40])
@settings(max_examples=8)
@given(st.data(), PAINTS, st.integers(2, 8), st.integers(30, len(ENTITIES)))
def test_every_text_is_read_back_to_its_program(family, template, text, data, paint, most, entities):
    chances = np.where(np.arange(len(ENTITIES)) < entities, 1.0, 0.0)
    world = AskedWorld.of(chances, paint, WEATHERS, 2, most)
    numbers = np.random.default_rng(data.draw(st.integers(0, 2**32))).random(400)
    try:
        program, slots = Drawer(world, Draws(numbers)).question(template)
    except NoWordsError:
        return
    question = fill(text, slots)
    read, notes, negated = parse(ENTITIES, question)
    if family.name == "paper":  # whose "a bus" is the only one there
        read = programs.parse(str(read).replace("a(", "the("))
    assert (str(read), notes, negated) == (str(program), [], False), question
    assert decode(encode(read)) == program
    for word, american in AMERICAN.items():
        question = question.replace(word, american)
    assert parse(ENTITIES, question.upper().rstrip("?."))[0] == parse(ENTITIES, fill(text, slots))[0]
