"""The six steps: each alone, together, and what holds for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.assets.frequencies import table
from simtown.visualgenome import clean
from simtown.visualgenome.clean import Cleaner, plain

PLAIN = {"  ON  Top\tof ": "on top of", "man’s": "man's", "t-shirt.": "t-shirt", "1/2 cup!": "1/2 cup"}


@pytest.mark.parametrize(("raw", "text"), [*PLAIN.items(), ("?!", ""), ("", ""), ("U\u0308nder", "ünder")])
def test_plain(raw, text):
    assert plain(raw) == text


#: What each step makes of entities, and of predicates.
ENTITIES = {
    "be": {"bikes are": "bikes", "human being": "human being"},
    "determiners": {"the ground": "ground", "his left hand": "left hand", "a": "a"},
    "lemmas": {"trees": "tree", "leaves": "leaf"} | {same: same for same in ("people", "man's", "graffiti")},
    "spelling": {"umbrela": "umbrella", "buliding": "building", "lable": "label"}
    | {same: same for same in ("zzzzqqq", "b52")},
    "nouns": {"red hydrant": "hydrant", "man's shirt": "shirt", "right hand": "hand", "leg of man": "leg"}
    | {"large wooden dining table": "dining table"}
    | {same: same for same in ("stop sign", "hot dog", "white")},
}
PREDICATES = {
    "be": {"is on": "on", "are being held by": "held by", "is": ""},
    "determiners": {"on the": "on", "in his hand": "in hand"},
    "lemmas": {"wearing": "wear", "lying on": "lie on", "covered in": "cover in", "in hands of": "in hand of"}
    | {same: same for same in ("left of", "on ground")},
    "spelling": {"hodling": "holding"},
    "nouns": {"on top of": "on top of"},
}


@pytest.mark.parametrize("step", ENTITIES)
def test_each_step_alone(step):
    cleaner = Cleaner([step])
    assert {entity: cleaner.entity(entity) for entity in ENTITIES[step]} == ENTITIES[step]
    assert {words: cleaner.predicate(words) for words in PREDICATES[step]} == PREDICATES[step]


def test_spelling_believes_the_corpus():
    """A word used often is no slip, unless its neighbour is used ten times as often."""

    def corrected(word, **counts):
        return Cleaner(["spelling"], counts).predicate(word)

    assert corrected("backsplash") == "backslash"
    assert corrected("backsplash", backsplash=400) == "backsplash"
    assert corrected("backsplash", backsplash=400, backslash=4000) == "backslash"
    assert corrected("attatched", attatched=57) == "attatched"
    assert corrected("attatched to", attatched=57, attach=10_000) == "attached to"


def test_together():
    cleaner = Cleaner()
    for (subject, predicate, obj), clean_triple in (
        (("The red hydrants", "are on the", "Sidewalk"), ("hydrant", "on", "sidewalk")),
        (("a young man", "is WEARING a", "blue t-shirt"), ("man", "wear", "t-shirt")),
        (("umbrelas", "wears", "hat"), ("umbrella", "wear", "hat")),
        (("man", "is the", "..."), ("man", "", "")),
    ):
        assert (cleaner.entity(subject), cleaner.predicate(predicate), cleaner.entity(obj)) == clean_triple


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


@given(st.lists(words, max_size=6).map(" ".join) | st.text(max_size=20))
def test_any_text_comes_out_plain_and_the_same_again(text):
    """Lower case, no stray spaces, determiners or "to be", no more words; a second cleaner agrees."""
    cleaner = Cleaner()
    entity, predicate = cleaner.entity(text), cleaner.predicate(text)
    for result in (entity, predicate):
        assert result == plain(result)
        assert len(result.split()) <= len(plain(text).split())
    assert not set(predicate.split()) & (clean._BE | clean._DETERMINERS)
    assert (entity, predicate) == (Cleaner().entity(text), Cleaner().predicate(text))
