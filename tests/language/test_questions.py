"""Questions in words: texts, the vocabulary and tokens."""

from hashlib import sha256
from itertools import product

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words import questions, tokens
from simtown.language.words.questions import LENGTH, PAD, PHRASINGS, UNKNOWN, text, vocabulary, words


@pytest.mark.parametrize(
    ("question", "phrasing"),
    [
        ("Is a red truck left of a green car?", 0),
        ("Is the red truck left of the green car?", 1),
        ("Is there a red truck left of the green car?", 2),
        ("Does the red truck stand left of the green car?", 3),
        ("The red truck is left of the green car, isn't it?", 4),
    ],
)
def test_phrasings(question, phrasing):
    assert text("red truck", "left of", "green car", phrasing) == question


def test_every_article_suits_its_name():
    """No name here starts with a silent h or a sounded u; whoever adds one sees this fail."""
    vowels = {name for name in ENTITIES if questions.with_article(name).startswith("an ")}
    assert {"ambulance", "SUV", "excavator", "ice-cream van", "orange car"} <= vowels
    assert all(name[0].lower() in "aeiou" or name == "SUV" for name in vowels)
    silent = ("hour", "honest", "heir", "x-", "A", "E", "I", "O", "U")
    assert not [name for name in set(ENTITIES) - vowels if name.startswith(silent)]
    assert not [name for name in vowels if name.startswith(("u", "eu", "one"))]


#: Tokens in order, of the paper's questions and of families': how many there were, and their digest. New ones
#: go to the end.
VOCABULARIES = {vocabulary: (127, "a7cb2627a7cba2e5"), tokens.vocabulary: (322, "4c22fe8378666eb4")}


@pytest.mark.parametrize("kind", VOCABULARIES)
def test_no_number_of_a_token_ever_changes(kind):
    count, digest = VOCABULARIES[kind]
    assert len(kind()) == len({*kind()}) >= count
    assert sha256("\n".join(kind()[:count]).encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("phrasing", range(len(PHRASINGS)))
@pytest.mark.parametrize("relation", RELATION_NAMES)
def test_every_question_fits(relation, phrasing):
    """All pairs of names are too many: each name with each of the longest and the shortest, both ways."""
    tokens = vocabulary()
    others = sorted(ENTITIES, key=lambda n: (len(words(n)), len(n)))
    for name, other in product(ENTITIES, (others[0], others[-1], others[-2])):
        for s, o in ((name, other), (other, name)):
            question = text(s, relation, o, phrasing)
            numbers = questions.encode(question)
            assert numbers.shape == (LENGTH,)
            assert numbers.dtype == np.uint8
            assert UNKNOWN not in numbers
            length = np.count_nonzero(numbers)
            assert (numbers[length:] == PAD).all()
            assert [tokens[i] for i in numbers[:length]] == words(question)
            assert len(question.encode()) <= 96


def test_too_long_a_question_is_an_error():
    assert np.count_nonzero(questions.encode("is " * LENGTH)) == LENGTH
    with pytest.raises(ValueError, match="broadcast"):
        questions.encode("is " * (LENGTH + 1))


def test_ask_is_text_and_encode_row_by_row():
    rng = np.random.default_rng(0)
    n = 300
    subject, obj = rng.integers(0, len(ENTITIES), (2, n))
    relation, phrasing = rng.integers(0, len(RELATION_NAMES), n), rng.integers(0, len(PHRASINGS), n)
    texts, tokens = questions.ask(subject, relation, obj, phrasing)
    assert texts.dtype == "S96"
    assert tokens.dtype == np.uint8
    assert tokens.shape == (n, LENGTH)
    for i in range(n):
        expected = text(ENTITIES[subject[i]], RELATION_NAMES[relation[i]], ENTITIES[obj[i]], phrasing[i])
        assert texts[i].decode() == expected
        assert np.array_equal(tokens[i], questions.encode(expected))
