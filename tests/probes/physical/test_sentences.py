"""Sentences: correct English, and the released ones word for word."""

import csv
import gzip

import pytest

from simtown.probes.physical import physical_release, sentences
from simtown.probes.physical.physical_release import Object, Property

PAIRS = [
    ("OP", "accordion", "a_tool", "An accordion is a tool.", "Is an accordion a tool?"),
    ("OP", "unicycle", "a_tool", "A unicycle is a tool.", "Is a unicycle a tool?"),
    ("OP", "scissors", "a_tool", "Scissors are tools.", "Are scissors tools?"),
    ("OP", "boots", "pairs", "Boots come in pairs.", "Do boots come in pairs?"),
    ("OP", "boots", "has_peel", "Boots have peels.", "Do boots have peels?"),
    ("OP", "baseball_bat", "squishy", "A baseball bat is squishy.", "Is a baseball bat squishy?"),
    ("OP", "lemon", "has_peel", "A lemon has a peel.", "Does a lemon have a peel?"),
    ("OA", "baseball_bat", "eat", "He ate the baseball bat.", "Can you eat a baseball bat?"),
    ("OA", "boots", "feed", "He fed the boots.", "Can you feed boots?"),
]
FED = "If you can feed something, "
PAIRS += [("AP", "feed", "squishy", f"{FED}then it is squishy.", f"{FED}is it squishy?")]


@pytest.mark.parametrize(("name", "left", "right", "text", "question"), PAIRS)
def test_english(tasks, name, left, right, text, question):
    task = tasks[f"situated-{name}"]
    assert sentences.sentence(task, left, right).text == text
    assert sentences.question(task, left, right) == question


def test_mass_nouns_need_no_article():
    rice = Object("rice", "rice", "rice", "rice")
    white = Property("white", "is white", "white", "white", "perceptual")
    assert sentences.statement(rice, white) == "Rice is white."
    assert sentences.statement(rice, white, "released") == "A rice is white."


def test_past_tenses():
    assert [sentences.past(verb) for verb in ("sing", "pay", "lift")] == ["sang", "paid", "lifted"]
    released = [sentences.past(verb, "released") for verb in ("sing", "pay", "lift")]
    assert released == ["sung", "payed", "lifted"]


RELEASED = [
    ("OP", "unicycle", "a_tool", "An unicycle is a tool.", "unicycle", "tool"),
    ("OP", "boots", "pairs", "A boots comes in pairs.", "boots", "pairs"),
    ("OA", "baseball_bat", "ride", "He rode the baseball bat.", "bat", "rode"),
    ("AP", "peel", "has_peel", "If you can peel something, then it has a peel.", "peel", "peel"),
]


@pytest.mark.parametrize(("name", "left", "right", "text", "left_word", "right_word"), RELEASED)
def test_sentences_in_the_releases_english(tasks, name, left, right, text, left_word, right_word):
    made = sentences.sentence(tasks[f"situated-{name}"], left, right, "released")
    words = made.text[slice(*made.left)], made.text[slice(*made.right)]
    assert (made.text, *words) == (text, left_word, right_word)


def test_every_released_sentence(reference):
    """All 57,140, and the words that the release looks up in them."""
    release = physical_release.read(reference)
    tasks = {name: release.task(f"situated-{name}") for name in ("OP", "OA", "AP")}
    with (
        gzip.open(reference / "sentences/index.csv.gz", "rt") as index,
        gzip.open(reference / "sentences/sentences.txt.gz", "rt") as texts,
    ):
        for row, text in zip(csv.DictReader(index), texts, strict=True):
            made = sentences.sentence(tasks[row["task"]], *row["uids"].split("/"), "released")
            words = (made.text[slice(*made.left)].lower(), made.text[slice(*made.right)])
            assert (made.text, *words) == (text.rstrip("\n"), row["word1"], row["word2"])


@pytest.mark.parametrize("which", ["release", "reference"])
def test_every_corrected_sentence_has_its_words(which, request):
    data = request.getfixturevalue(which)
    release = data if which == "release" else physical_release.read(data)
    task = release.task("situated-OP")
    for (left, right), made in zip(task.pairs.names(), sentences.sentences(task), strict=True):
        assert made.text[slice(*made.left)].lower() == release.objects[left].context
        assert made.text[0].isupper()
        assert made.text[slice(*made.right)].startswith(release.properties[right].context)
        assert sentences.question(task, left, right).endswith("?")
