"""Replies of models: read by one rule, scored without a way to gain from hedging."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.nouns import plural
from simtown.language.words.grammar import spoken_names
from simtown.language.words.replies import WORDS, Gold, read_reply, score_reply

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
#: How model families wrap an answer {0}, some beside another answer {1}.
STYLES = st.sampled_from((
    "{0}", "**{0}**", "Answer: {0}", "The answer is {0}.", "Final answer: **{0}**", "\\boxed{{{0}}}", "- {0}",
    "<think>{1}</think>{0}", "◁think▷{1}? No.◁/think▷{0}", "[THINK]{1}[/THINK]\n{0}", '{{"answer": "{0}"}}',
    "<|channel|>analysis<|message|>{1}<|end|><|start|>assistant<|channel|>final<|message|>{0}<|return|>",
    "<reasoning>{1}</reasoning><answer>{0}</answer>", "I see {1} of them.\n\nAnswer: {0}", "答案：{0}",
    "La réponse est {0}.", "Die Antwort ist {0}.", "Respuesta: {0}",
))  # fmt: skip
#: Texts that mean the number {n}, and texts that mean none or another, where n = a + b.
VALUES = st.sampled_from((
    "{n}", "{n}.0", "{word}", "{a} + {b} = {n}", "{n} = {a} + {b}", "{a}+{b}={n}", "{a} plus {b} equals {n}",
    "\\text{{{n}}}", "$ {a} + {b} = {n} $", "{a} × {b} = {n}", "{a}*{b} = {n}", "{n}。",
))  # fmt: skip
HEDGES = st.sampled_from((
    ">{n}", "≥ {n}", "&lt; {n}", "{n} ± {a}", "± {n}", "{a}~{n}", "{a}..{n}", "{a} – {n}", "{a} or {n}",
    "√{n}", "{n}^{a}", "{n}²", "{a} × {n}", "{n} - {a}", "{n} ÷ {a}", "{n} or more", "{n} or several",
    "at least {n}", "{word} hundred", "{word} thirds", "\\sqrt{{{n}}}", "\\geq {n}", "{n}+", "至少{n}",
    "zwischen {a} und {n}",
))  # fmt: skip
WORDS_TO_14 = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
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


@given(VALUES, STYLES, st.integers(1, 7), st.integers(1, 7), st.sampled_from(["count", "metres"]))
def test_a_value_is_read_in_any_style(value, style, a, b, type):
    text = style.format(value.format(n=a + b, a=a, b=b, word=WORDS_TO_14.split()[a + b]), a)
    assert read(text, type) == f"{a + b}" + " m" * (type == "metres"), text


@given(
    HEDGES, STYLES, st.integers(1, 7), st.integers(1, 7), st.sampled_from([("count", ""), ("metres", " m")])
)
def test_no_part_of_a_hedge_is_read_in_any_style(hedge, style, a, b, type_and_unit):
    type, unit = type_and_unit
    text = style.format(hedge.format(n=a + b, a=a, word=WORDS_TO_14.split()[a + b]) + unit, a)
    assert read(text, type) is None, text


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (None, None), ([], None), ({}, None), (["no"], "no"), ([{"type": "text", "text": "yes"}], "yes"),
        ([{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "yes"}], "yes"),
        ([{"type": "text", "text": "yes"}, "no"], None), ([None, "<think>no"], None),
    ],
)  # fmt: skip
def test_a_reply_in_parts_is_its_text(reply, answer):
    assert read(reply, "truth") == answer
    assert score_reply(reply, Gold("truth", "yes")) == (answer == "yes")


@pytest.mark.parametrize(
    ("part", "type", "answer"),
    [
        ("yes ", "truth", "yes"),
        ("5 m ", "metres", "5 m"),
        ("no!", "truth", "no"),
        ("2 + 1 + ", "count", None),
    ],
)
def test_a_loop_of_a_megabyte_is_read(part, type, answer):
    assert read(part * (1_000_000 // len(part)), type) == answer


@pytest.mark.parametrize(
    "part", ["1,", "1^", ".", "\\", "<think>", "<answer>", "\\boxed{", '{"', "not.", "one-", "a"]
)
def test_the_time_of_reading_is_linear(part):
    """Were it quadratic, this would take minutes."""
    for type in ("truth", "count", "metres", "kind"):
        read(part * (30_000 // len(part)), type)
        read("".join(f"{number} m {part}no taxi" for number in range(3_000)), type)
