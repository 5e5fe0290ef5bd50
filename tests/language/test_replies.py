"""Replies of models: read by one rule, scored without a way to gain from hedging."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simtown.language.families import ANSWERS, CANNOT_TELL
from simtown.language.grammar import spoken_names
from simtown.language.nouns import plural
from simtown.language.replies import WORDS, Gold, read_reply, score_reply

ROWS = [
    line.split(" | ", 2)
    for line in Path(__file__).with_name("replies.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
#: Questions with all answers that they may have, and what may stand around and between answers.
QUESTIONS = st.sampled_from([*ANSWERS]).flatmap(
    lambda type: st.tuples(st.just(type), st.permutations(ANSWERS[type][:7]))
)
AROUND = st.sampled_from((
    "{}", " {} ", "\n\n{}\n", "**{}**", "*{}*", "`{}`", "<b>{}</b>", '"{}"', "{}.", "# {}", "```\n{}\n```",
    "$\\text{{{}}}$", "\\boxed{{\\text{{{}}}}}", "Answer: {}", "**Answer:** {}", "The answer is {}.",
    '{{"answer": "{}"}}', "<answer>{}</answer>", "<think>Hm.</think>{}",
))  # fmt: skip
BETWEEN = st.sampled_from(
    [", ", " ", " or ", " and ", "\n", "; ", " / ", ". ", "|", "\n- ", ": ", "\n\n", "? "]
)
PIECES = (
    "yes", "no", "3", "½", "(", "A", "\\boxed{", "}", "{", '{"answer":', "<answer>", "</answer>", "<think>",
    "taxi", "</think>", "Answer:", "6", "m", "'", ",", ".", "-", "not", "\n", "of", "total", " ", "half a",
    "%", "1e9",
)  # fmt: skip
CASES = st.sampled_from([str, str.upper, str.lower, str.title])


def read(text, type, choices=()):
    return read_reply(text, type, choices, spoken_names(type)).answer


@pytest.mark.parametrize("type", ANSWERS)
def test_phrasings_are_read_as_the_rule_says(type):
    rows = [
        (head, wanted, text.replace("⏎", "\n")) for head, wanted, text in ROWS if head.split(":")[0] == type
    ]
    for head, wanted, text in rows:
        letters = dict(zip("ABCDEFGH", filter(None, head.partition(":")[2].split(",")), strict=False))
        found = read_reply(text, type, (), spoken_names(type) | letters)
        assert (found.answer or "-") == wanted, (text, found)
    assert len(rows) > 10


@given(QUESTIONS, AROUND, AROUND, CASES, st.integers(0, 50))
def test_case_and_markup_lose_nothing(question, inner, outer, case, spaces):
    type, (answer, *_) = question
    text = outer.format(inner.format(" " * spaces + case(answer)) + "\n" * spaces)
    assert read(text, type) == answer


@given(QUESTIONS, AROUND, BETWEEN, CASES, st.data())
def test_all_answers_at_once_score_nothing(question, around, between, case, data):
    type, choices = question
    text = around.format(case(between.join(choices)))
    gold = data.draw(st.sampled_from([*choices, CANNOT_TELL]))
    number = float(gold.split()[0]) if type == "metres" and gold != CANNOT_TELL else None
    assert score_reply(text, Gold(type, gold, (*choices, CANNOT_TELL), 0.5, number), spoken_names(type)) == 0


@given(st.sampled_from([*ANSWERS]), st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@example("count", "9" * 5000)
@example("truth", '{"a":' * 2000)
def test_any_text_is_read(type, text):
    found = read(text, type)
    if found is not None and type != "metres" and found != CANNOT_TELL:
        assert found in ANSWERS[type] or (type == "count" and found.isdecimal())


def test_the_words_are_those_of_the_closed_vocabulary():
    assert WORDS.keys() == ANSWERS.keys()
    assert all({*words} == {*ANSWERS[type]} for type, words in WORDS.items() if words)


@pytest.mark.parametrize("type", ["kind", "group"])
def test_every_name_and_its_plural_is_read(type):
    for answer in ANSWERS[type]:
        for form in (answer, plural(answer), f"The {answer.upper()}!", answer.replace("-", " ")):
            assert read(form, type) == answer


def test_a_length_is_right_within_the_tolerance():
    gold = Gold("metres", "6 m", (), tolerance=0.5, number=6.2)
    right = ["6 m", "6.7", "5.7 m", "20 feet", "620 cm", "about six metres"]
    wrong = ["5.6 m", "6.8 m", "6 km", "6 ft", "6 pixels", "cannot tell", "", "5.9 to 6.4 m"]
    assert [score_reply(text, gold) for text in right + wrong] == [1] * len(right) + [0] * len(wrong)


def test_cannot_tell_is_an_answer_where_it_may_be():
    assert read("I'm not sure.", "truth", ("no", "yes")) is None
    assert read("I'm not sure.", "truth", ("no", "yes", CANNOT_TELL)) == CANNOT_TELL
