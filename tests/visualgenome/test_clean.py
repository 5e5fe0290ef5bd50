"""The six steps: each alone, together, and what holds for any text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.assets.frequencies import table
from simtown.visualgenome import clean
from simtown.visualgenome.clean import Cleaner, plain

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
        ("be", "bikes are", "bikes"),
        ("be", "human being", "human being"),
        ("determiners", "the ground", "ground"),
        ("determiners", "his left hand", "left hand"),
        ("determiners", "a", "a"),
        ("lemmas", "trees", "tree"),
        ("lemmas", "leaves", "leaf"),
        ("lemmas", "people", "people"),
        ("lemmas", "man's", "man's"),
        ("lemmas", "graffiti", "graffiti"),
        ("spelling", "umbrela", "umbrella"),
        ("spelling", "buliding", "building"),
        ("spelling", "lable", "label"),
        ("spelling", "zzzzqqq", "zzzzqqq"),
        ("spelling", "b52", "b52"),
        ("nouns", "red hydrant", "hydrant"),
        ("nouns", "stop sign", "stop sign"),
        ("nouns", "man's shirt", "shirt"),
        ("nouns", "right hand", "hand"),
        ("nouns", "leg of man", "leg"),
        ("nouns", "large wooden dining table", "dining table"),
        ("nouns", "hot dog", "hot dog"),
        ("nouns", "white", "white"),
    ],
)
def test_entities(step, entity, result):
    assert Cleaner([step]).entity(entity) == result


@pytest.mark.parametrize(
    ("step", "predicate", "result"),
    [
        ("be", "is on", "on"),
        ("be", "are being held by", "held by"),
        ("be", "is", ""),
        ("determiners", "on the", "on"),
        ("determiners", "in his hand", "in hand"),
        ("lemmas", "wearing", "wear"),
        ("lemmas", "lying on", "lie on"),
        ("lemmas", "left of", "left of"),
        ("lemmas", "on ground", "on ground"),
        ("lemmas", "covered in", "cover in"),
        ("lemmas", "in hands of", "in hand of"),
        ("spelling", "hodling", "holding"),
        ("nouns", "on top of", "on top of"),
    ],
)
def test_predicates(step, predicate, result):
    assert Cleaner([step]).predicate(predicate) == result


def test_spelling_believes_the_corpus():
    """A word used often is no slip, unless its neighbour is used ten times as often; published counts hold
    lemmas only.
    """

    def corrected(word, **counts):
        return Cleaner(["spelling"], counts).predicate(word)

    assert corrected("backsplash") == "backslash"
    assert corrected("backsplash", backsplash=400) == "backsplash"
    assert corrected("backsplash", backsplash=400, backslash=4000) == "backslash"
    assert corrected("attatched", attatched=57) == "attatched"
    assert corrected("attatched to", attatched=57, attach=10_000) == "attached to"


@pytest.mark.parametrize(
    ("triple", "result"),
    [
        (("The red hydrants", "are on the", "Sidewalk"), ("hydrant", "on", "sidewalk")),
        (("a young man", "is WEARING a", "blue t-shirt"), ("man", "wear", "t-shirt")),
        (("umbrelas", "wears", "hat"), ("umbrella", "wear", "hat")),
        (("man", "is the", "..."), ("man", "", "")),
    ],
)
def test_together(triple, result):
    cleaner = Cleaner()
    subject, predicate, obj = triple
    assert (cleaner.entity(subject), cleaner.predicate(predicate), cleaner.entity(obj)) == result


def test_steps_are_switched_by_name_and_run_in_their_order():
    assert Cleaner([]).entity("The Red hydrants") == "the red hydrants"
    assert Cleaner(["determiners"]).entity("The Red hydrants") == "red hydrants"
    assert Cleaner(["lemmas", "spelling"]).entity("umbrelas") == "umbrella"


def test_the_towns_entities_are_clean_already():
    """Names of the shipped table pass all steps unchanged, so counts that name them keep their names."""
    cleaner = Cleaner()
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
    cleaner = Cleaner()
    entity, predicate = cleaner.entity(text), cleaner.predicate(text)
    for result in (entity, predicate):
        assert result == plain(result)
        assert len(result.split()) <= len(plain(text).split())
    assert not set(predicate.split()) & (clean._BE | clean._DETERMINERS)
    assert (entity, predicate) == (Cleaner().entity(text), Cleaner().predicate(text))
