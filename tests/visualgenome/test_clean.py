"""The six steps: each alone, together, and what holds for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.frequencies import table
from simtown.visualgenome import clean
from simtown.visualgenome.clean import (
    Be,
    Cleaner,
    Determiners,
    Lemmas,
    Nouns,
    Spelling,
    Triple,
    plain,
    steps,
)
from simtown.visualgenome.clean_settings import STEPS

quick = settings(max_examples=80)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  ON  Top\tof ", "on top of"),
        ("man’s", "man's"),
        ("t-shirt.", "t-shirt"),
        ("1/2 cup!", "1/2 cup"),
        ("?!", ""),
        ("", ""),
        ("Ünder", "ünder"),
    ],
)
def test_plain(raw, text):
    assert plain(raw) == text


@pytest.mark.parametrize(
    ("step", "entity", "result"),
    [
        (Be(), "bikes are", "bikes"),
        (Be(), "human being", "human being"),
        (Determiners(), "the ground", "ground"),
        (Determiners(), "some of the trees", "of trees"),
        (Determiners(), "his left hand", "left hand"),
        (Determiners(), "a", "a"),
        (Lemmas(), "trees", "tree"),
        (Lemmas(), "leaves", "leaf"),
        (Lemmas(), "women", "woman"),
        (Lemmas(), "people", "people"),
        (Lemmas(), "bus", "bus"),
        (Lemmas(), "man's", "man's"),
        (Lemmas(), "graffiti", "graffiti"),
        (Spelling(), "umbrela", "umbrella"),
        (Spelling(), "buliding", "building"),
        (Spelling(), "lable", "label"),
        (Spelling(), "frisbee", "frisbee"),
        (Spelling(), "zzzzqqq", "zzzzqqq"),
        (Spelling(), "xyz", "xyz"),
        (Spelling(), "b52", "b52"),
        (Nouns(), "red hydrant", "hydrant"),
        (Nouns(), "two people", "people"),
        (Nouns(), "fire hydrant", "fire hydrant"),
        (Nouns(), "stop sign", "stop sign"),
        (Nouns(), "man's shirt", "shirt"),
        (Nouns(), "right hand", "hand"),
        (Nouns(), "leg of man", "leg"),
        (Nouns(), "large wooden dining table", "dining table"),
        (Nouns(), "hot dog", "hot dog"),
        (Nouns(), "white", "white"),
    ],
)
def test_entities(step, entity, result):
    assert step.entity(entity) == result


@pytest.mark.parametrize(
    ("step", "predicate", "result"),
    [
        (Be(), "is on", "on"),
        (Be(), "are being held by", "held by"),
        (Be(), "is", ""),
        (Determiners(), "on the", "on"),
        (Determiners(), "in his hand", "in hand"),
        (Determiners(), "a", ""),
        (Lemmas(), "wearing", "wear"),
        (Lemmas(), "has", "have"),
        (Lemmas(), "lying on", "lie on"),
        (Lemmas(), "laying on", "lay on"),
        (Lemmas(), "left of", "left of"),
        (Lemmas(), "on ground", "on ground"),
        (Lemmas(), "covered in", "cover in"),
        (Lemmas(), "in hands of", "in hand of"),
        (Lemmas(), "inside", "inside"),
        (Spelling(), "hodling", "holding"),
        (Spelling(), "behind", "behind"),
        (Nouns(), "on top of", "on top of"),
    ],
)
def test_predicates(step, predicate, result):
    assert step.predicate(predicate) == result


def test_spelling_believes_the_corpus():
    """A word used often is no slip, unless its neighbour is used ten times as often; published counts hold
    lemmas only.
    """
    assert Spelling().entity("backsplash") == "backslash"
    assert Spelling({"backsplash": 400}).entity("backsplash") == "backsplash"
    assert Spelling({"backsplash": 400, "backslash": 4000}).entity("backsplash") == "backslash"
    assert Spelling({"attatched": 57}).predicate("attatched") == "attatched"
    assert Spelling({"attatched": 57, "attach": 10_000}).predicate("attatched to") == "attached to"


@pytest.mark.parametrize(
    ("triple", "result"),
    [
        (("The red hydrants", "are on the", "Sidewalk"), ("hydrant", "on", "sidewalk")),
        (("a young man", "is WEARING a", "blue t-shirt"), ("man", "wear", "t-shirt")),
        (("umbrelas", "wears", "hat"), ("umbrella", "wear", "hat")),
        (("man", "is the", "horse"), None),
        (("", "on", "horse"), None),
        (("man", "on", "..."), None),
    ],
)
def test_together(triple, result):
    assert Cleaner(steps())(Triple(*triple)) == (result and Triple(*result))


def test_steps_are_switched_by_name_and_run_in_their_order():
    assert [s.name for s in steps(["nouns", "be"])] == ["be", "nouns"]
    assert [s.name for s in steps()] == [name for name in STEPS if name != "rare"]
    assert steps([]) == []
    assert Cleaner([]).entity("The Red hydrants") == "the red hydrants"
    assert Cleaner(steps(["determiners"])).entity("The Red hydrants") == "red hydrants"


def test_every_string_is_cleaned_once():
    calls = []

    class Step(Be):
        def entity(self, text):
            calls.append(text)
            return text

    cleaner = Cleaner([Step()])
    for _ in range(3):
        assert cleaner(Triple("Man", "on", "Horse")) == Triple("man", "on", "horse")
        assert cleaner(Triple("Horse", "under", "Man"))
    assert calls == ["man", "horse"]


def test_the_towns_entities_are_clean_already():
    """Names of the shipped table pass all steps unchanged, so counts that name them keep their names."""
    cleaner = Cleaner(steps())
    assert [cleaner.entity(name) for name, *_ in table()] == [name for name, *_ in table()]


WORDS = (
    "the", "a", "is", "are", "red", "young", "men", "trees", "wearing", "on", "of", "in", "left", "sitting",
    "umbrela", "hydrant", "stop", "sign", "man's", "top", "2", "writing", "leaves", "and", "dog's", "hot",
)  # fmt: skip
words = st.sampled_from(WORDS)


@quick
@given(st.lists(words, max_size=6).map(" ".join) | st.text(max_size=20))
def test_any_text_comes_out_plain_and_the_same_again(text):
    """Lower case, no stray spaces; determiners and "to be" gone; never longer by words; a second cleaner
    agrees.
    """
    cleaner = Cleaner(steps())
    entity, predicate = cleaner.entity(text), cleaner.predicate(text)
    for result in (entity, predicate):
        assert result == plain(result)
        assert len(result.split()) <= len(plain(text).split())
    assert not set(predicate.split()) & (clean._BE | clean._DETERMINERS)
    assert (entity, predicate) == (Cleaner(steps()).entity(text), Cleaner(steps()).predicate(text))
