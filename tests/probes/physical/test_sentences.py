"""Sentences: correct English, and the released ones word for word."""

import csv
import gzip

import pytest

from simtown.probes.physical import physical_release, sentences
from simtown.probes.physical.decisions import build
from simtown.probes.physical.physical_release import Object, Property

NAMES = [
    ("accordion", "a_tool", "An accordion is a tool.", "Is an accordion a tool?"),
    ("unicycle", "a_tool", "A unicycle is a tool.", "Is a unicycle a tool?"),
    ("scissors", "a_tool", "Scissors are tools.", "Are scissors tools?"),
    ("boots", "pairs", "Boots come in pairs.", "Do boots come in pairs?"),
    ("boots", "has_peel", "Boots have peels.", "Do boots have peels?"),
    ("baseball_bat", "squishy", "A baseball bat is squishy.", "Is a baseball bat squishy?"),
    ("lemon", "has_peel", "A lemon has a peel.", "Does a lemon have a peel?"),
]


@pytest.mark.parametrize(("left", "right", "text", "question"), NAMES)
def test_english(release, tasks, left, right, text, question):
    made = sentences.sentence(tasks["situated-OP"], (left, right))
    assert made.text == text
    assert made.text[slice(*made.left)].lower() == release.objects[left].context
    assert made.text[slice(*made.right)].removesuffix("s") == release.properties[right].context.removesuffix(
        "s"
    )
    assert sentences.question(tasks["situated-OP"], (left, right)) == question


def test_the_other_tasks(tasks):
    made = sentences.sentence(tasks["situated-OA"], ("baseball_bat", "eat"))
    assert (made.text, made.text[slice(*made.left)], made.text[slice(*made.right)]) == (
        "He ate the baseball bat.",
        "bat",
        "ate",
    )
    made = sentences.sentence(tasks["situated-AP"], ("peel", "has_peel"))
    assert made.text == "If you can peel something, then it has a peel."
    assert made.left[1] < made.right[0]
    assert sentences.question(tasks["situated-OA"], ("boots", "feed")) == "Can you feed boots?"
    assert (
        sentences.question(tasks["situated-AP"], ("feed", "squishy"))
        == "If you can feed something, is it squishy?"
    )


def test_mass_nouns_need_no_article():
    rice = Object("rice", "rice", "rice", "rice")
    white = Property("white", "is white", "white", "white", "perceptual")
    assert sentences.object_property(rice, white).text == "Rice is white."
    assert sentences.object_property(rice, white, "released").text == "A rice is white."


@pytest.mark.parametrize(
    ("verb", "released", "correct"),
    [("sing", "sung", "sang"), ("pay", "payed", "paid"), ("lift", "lifted", "lifted")],
)
def test_past_tenses(verb, released, correct):
    assert sentences.past(verb, "released") == released
    assert sentences.past(verb) == correct


RELEASED = [
    ("OP", "unicycle", "a_tool", "An unicycle is a tool.", "unicycle", "tool"),
    ("OP", "boots", "pairs", "A boots comes in pairs.", "boots", "pairs"),
    ("OA", "baseball_bat", "ride", "He rode the baseball bat.", "bat", "rode"),
    ("AP", "peel", "has_peel", "If you can peel something, then it has a peel.", "peel", "peel"),
]


@pytest.mark.parametrize(("task", "left", "right", "text", "left_word", "right_word"), RELEASED)
def test_sentences_in_the_releases_english(tasks, task, left, right, text, left_word, right_word):
    made = sentences.sentence(tasks[f"situated-{task}"], (left, right), "released")
    assert (made.text, made.text[slice(*made.left)], made.text[slice(*made.right)]) == (
        text,
        left_word,
        right_word,
    )


def test_every_sentence_of_the_small_world_has_its_words(release):
    _every_sentence_has_its_words(release)


def test_every_released_sentence(reference):
    """All 57,140, and the words that the release looks up in them."""
    release = physical_release.read(reference)
    tasks = {name: build(release, f"situated-{name}") for name in ("OP", "OA", "AP")}
    with (
        gzip.open(reference / "sentences/index.csv.gz", "rt") as index,
        gzip.open(reference / "sentences/sentences.txt.gz", "rt") as texts,
    ):
        for row, text in zip(csv.DictReader(index), texts, strict=True):
            made = sentences.sentence(tasks[row["task"]], tuple(row["uids"].split("/")), "released")
            words = (made.text[slice(*made.left)].lower(), made.text[slice(*made.right)])
            assert (made.text, *words) == (text.rstrip("\n"), row["word1"], row["word2"])


def test_every_corrected_sentence_has_its_words(reference):
    _every_sentence_has_its_words(physical_release.read(reference))


def _every_sentence_has_its_words(release):
    tasks = {"situated-OP": build(release, "situated-OP")}
    for left in release.objects:
        for right in release.properties:
            made = sentences.sentence(tasks["situated-OP"], (left, right))
            assert made.text[slice(*made.left)].lower() == release.objects[left].context
            assert made.text[0].isupper()
            assert made.text[slice(*made.right)].startswith(release.properties[right].context)
            assert sentences.question(tasks["situated-OP"], (left, right)).endswith("?")
