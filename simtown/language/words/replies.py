"""Reads what a model replies to a question, and scores it. Needs the standard library alone.

The rule, which docs/gym.md has in full: thinking is not said. The last <answer>...</answer> counts alone;
else JSON with a key "answer"; else what is stated last, as in "the answer is ..." or a LaTeX box; else what
is nothing but an answer; else the only answer that the whole text names. Two different answers are none, and
so is "maybe".
"""

from __future__ import annotations

import html
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from simtown.language.words.reply_numbers import METRES, NUMBER, OTHER_UNIT, UNCLEAR, in_digits, value_of
from simtown.language.words.reply_words import (
    ABOUT,
    AND_ONE,
    ANY,
    AROUND,
    ASKS,
    BESIDE,
    BOX,
    CANNOT_TELL,
    CLAUSE,
    CONDITION,
    IN_TOTAL,
    JOINED,
    LETTER,
    LETTERS,
    LIMIT,
    LIMIT_BEHIND,
    LIST_ITEM,
    MARKUP,
    MAYBE,
    NOT,
    NUMBERED,
    ONE_AND,
    OR,
    OTHERWISE,
    PART,
    PARTED,
    PARTLY,
    PERCENT,
    PLACED,
    REASON,
    REFUSES,
    RESULT,
    REVISES,
    SINCE,
    SPELLINGS,
    STATED,
    STOP,
    THINKING_BEGINS,
    THINKING_ENDS,
    TOTAL,
    TOTAL_GOES_ON,
    UNITLESS,
    UNSURE,
    WHOLE,
    WORD,
    WORDS,
    ZERO,
    pattern,
)

#: What rounding may add to a miss, metres.
EXACT = 1e-9
#: Why a reply has an answer that it does not state by itself.
IN_PASSING = "the only answer that it names"


class Reply(NamedTuple):
    """The answer that a reply gives.

    Attributes:
        answer: as the closed vocabulary spells it, any length as "6.2 m"; None if there is none.
        why: where it was found, or why there is none.
    """

    answer: str | None
    why: str


@dataclass(frozen=True)
class Gold:
    """The right answer to a question.

    Attributes:
        type: a key of :data:`WORDS`, as in ``simtown.language.meaning.answers.ANSWERS``.
        answer: the text in a data set's vocabulary: "yes", "3", "taxi", "5 m", "cannot tell".
        choices: all answers that the question may have, or () for any.
        tolerance: of a length: how many metres a right answer may be off.
        number: of a length: the true metres.
    """

    type: str
    answer: str
    choices: tuple[str, ...] = ()
    tolerance: float | None = None
    number: float | None = None


def score_reply(text: Any, gold: Gold, names: Mapping[str, str] | None = None) -> float:
    """1.0 if a reply gives the right answer, else 0.0; `text` and `names` as for :func:`read_reply`."""
    return float(is_right(read_reply(text, gold.type, gold.choices, names).answer, gold))


def is_right(answer: str | None, gold: Gold) -> bool:
    """Whether an answer, as the closed vocabulary spells it, is right; None is not."""
    return miss(answer, gold) <= EXACT


def miss(answer: str | None, gold: Gold) -> float:
    """By how much an answer misses the right one.

    0 for a right answer; of counts the difference, of lengths the metres beyond the tolerance; infinity for
    other wrong answers and for None.
    """
    numbers = gold.type in ("count", "metres") and CANNOT_TELL not in (answer, gold.answer)
    if answer is None or not numbers:
        return 0.0 if answer == gold.answer else math.inf
    true = float(gold.answer.split()[0]) if gold.number is None else gold.number
    return max(abs(float(answer.split()[0]) - true) - (gold.tolerance or 0.0), 0.0)


def read_reply(
    text: Any, type: str, choices: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Reply:
    """The answer that a reply gives, by the rule above.

    Args:
        text: what the model wrote: a text, a list of texts or of content parts with a "text", or None.
        type: of the answer, a key of :data:`WORDS`.
        choices: all answers that the question may have, or () for any. If "cannot tell" is not among them,
            it is not an answer.
        names: what else answers are called: {"cab": "taxi", "taxis": "taxi"}; a capital letter is the letter
            of an option.
    """
    names = names or {}
    letters = {name: answer for name, answer in names.items() if len(name) == 1 and name.isupper()}
    spoken = tuple(item for item in names.items() if item[0] not in letters)
    reader = _Reader(type, letters, *_vocabulary(type, tuple(choices), spoken))
    reply = _read(reader, _text_of(text), type)
    unasked = reply.answer == CANNOT_TELL and choices and CANNOT_TELL not in choices
    return Reply(None, "it cannot tell") if unasked else reply


def _text_of(reply: Any) -> str:
    """The text of a reply that is a text, a content part, a list of these, or None."""
    if isinstance(reply, Mapping):
        reply = reply.get("text")
    if isinstance(reply, list | tuple):
        return "\n".join(map(_text_of, reply))
    return "" if reply is None else str(reply)


def _read(reader: _Reader, text: str, type: str) -> Reply:
    said = _said(text)
    if said is None:
        return Reply(None, "its thinking never ends")
    tags = re.findall(r"<answer>((?:(?!<answer>).)*?)</answer>", said, re.I | re.S)
    tags = tags or re.findall(r"<answer>(.*)", said, re.I | re.S)
    if tags:
        return reader.read(_plain(tags[-1], type), "in its answer tags")
    if (value := _json_answer(said)) is not None:
        return reader.read(_plain(value, type), "in its JSON")
    text = _plain(_with_boxes(said), type)
    if type == "count" and len(LIST_ITEM.findall(text)) > 1:
        text = LIST_ITEM.sub("", text)
    if type == "count" and len(PART.findall(text)) > 1:
        text = PART.sub(rf"\1 {UNCLEAR}", text)
    if ASKS.fullmatch(text):
        return Reply(None, "it asks")
    sentences = _sentences(STATED.sub(lambda stated: stated[0].replace("\n", " "), text))
    statements = {place: STATED.split(sentence)[1:] for place, sentence in enumerate(sentences)}
    stated = [place for place, said in statements.items() if said and said[-1].strip(" .:")]
    if not stated:
        return _read_unstated(reader, text)
    last = stated[-1]
    reply = reader.read(statements[last][-1], "stated")
    lines = [place for place in stated if BOX not in sentences[last] + sentences[place]]
    answers = {reader.read(statements[place][-1], "").answer for place in lines}
    answers |= {*map(reader.bare, sentences[last + 1 :])}
    return reader.agree(answers - {None} | {reply.answer}, "stated") if reply.answer else reply


def _read_unstated(reader: _Reader, text: str) -> Reply:
    """Read a text without "the answer is" or a box."""
    sentences = _sentences(text)
    concluding = [sentence for sentence in sentences if RESULT.match(sentence)]
    answers = {reader.read(last, "").answer for last in concluding[-1:]} | {*map(reader.bare, sentences)}
    if answers - {None}:
        return reader.agree(answers - {None}, "its only bare answer")
    return reader.read(text, IN_PASSING)


def _said(text: str) -> str | None:
    """The text outside blocks of thinking; None if the last block never ends."""
    *blocks, rest = THINKING_ENDS.split(text)
    said: list[str] = []
    for block in blocks:
        before, *thought = THINKING_BEGINS.split(block, maxsplit=1)
        if thought:
            said.append(before)
        else:
            said.clear()  # a block that a prompt began
    return None if THINKING_BEGINS.search(rest) else " ".join([*said, rest])


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in STOP.split(text) if sentence.strip()]


def _json_answer(text: str) -> str | None:
    """The last JSON object's value of "answer", or for its only key; None if there is none."""
    answer, end = None, 0
    text = re.sub(r"(?<!\\)\\(?=text|math|frac|boxed)", r"\\\\", text)  # LaTeX that JSON would escape
    for brace in list(re.finditer(r'\{\s*"', text))[-99:]:
        if brace.start() < end:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        keys = {re.sub(r"\W|_", "", key.lower()): key for key in value}
        found = [keys[key] for key in ("answer", "finalanswer", "response", "result") if key in keys]
        found = found or ([*keys.values()] if len(keys) == 1 else [])
        if found:
            given, unit = value[found[0]], keys.get("unit", keys.get("units"))
            answer = str(given) if isinstance(given, dict) else _text_of(given)
            answer = " ".join([answer, _text_of(value.get(unit)), *OTHER_UNIT.findall(found[0])])
    return answer


def _with_boxes(text: str) -> str:
    r"""A text in which ⟦...⟧ stands for each \boxed{...}; braces are counted."""
    opened: list[re.Match[str]] = []
    signs = [*text]
    for brace in re.finditer(r"f?box(?:ed)?\s*\{|[{}]", text):
        if brace[0] != "}":
            opened.append(brace)
        elif opened and len((box := opened.pop())[0]) > 1:
            signs[box.end() - 1], signs[brace.start()] = BOX, "⟧"
    return "".join(signs)


def _plain(text: str, type: str) -> str:
    """A text without markup, in which each sign has one spelling; numbers are in digits."""
    text = _replaced(html.unescape(text), SPELLINGS)
    text = _replaced(unicodedata.normalize("NFKC", text), MARKUP).strip()
    return in_digits(text) if type in ("count", "metres") else text


def _replaced(text: str, table: Mapping[str, str]) -> str:
    for expression, replacement in table.items():
        text = re.sub(expression, replacement, text, flags=re.I | re.S)
    return text


@lru_cache(64)
def _vocabulary(
    type: str, choices: tuple[str, ...], names: tuple[tuple[str, str], ...]
) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of the names of all answers, the longest first, and the answers by :func:`_key` of a name."""
    said: dict[str, str] = {CANNOT_TELL: CANNOT_TELL}
    for answer, other_words in WORDS[type].items():
        said |= {word: answer for word in (answer, *other_words.split(",")) if word}
    if type not in ("count", "metres"):
        said |= {choice: choice for choice in choices} | {answer: answer for _, answer in names}
    said |= dict(names)
    escaped = map(re.escape, sorted(said, key=len, reverse=True))
    names_pattern = "|".join(re.sub(r"(\\[ -]|-)+", "[ -]*", name) for name in escaped)
    return pattern(rf"(?<!\w)(?:{UNSURE}|{names_pattern})(?!\w)"), {_key(name): said[name] for name in said}


def _key(name: str) -> str:
    return re.sub(r"[ -]+", "", name.lower())


class _Mention(NamedTuple):
    """A place where an answer is named; "" is a number that answers nothing. The weight 0 is in passing."""

    start: int
    end: int
    answer: str
    weight: int = 1


class _Number(NamedTuple):
    """A number of a text; its value is NaN if it has no single one."""

    start: int
    end: int
    value: float
    unit: str
    weight: int


@dataclass(frozen=True)
class _Reader:
    """Finds answers of one type in a text without markup."""

    type: str
    letters: dict[str, str]
    pattern: re.Pattern[str]
    answers: dict[str, str]

    def read(self, text: str, why: str) -> Reply:
        """The only answer that a text names."""
        mentions = [mention for sentence in _sentences(text) for mention in self._mentions(sentence)]
        weight = max((mention.weight for mention in mentions), default=0)
        answers = {mention.answer for mention in mentions if mention.weight == weight}
        if answers <= {CANNOT_TELL} and REFUSES.search(text):
            return Reply(None, "it refuses")
        if MAYBE.search(text) and answers - {CANNOT_TELL}:
            return Reply(None, "it says maybe")
        return self.agree(answers, why)

    def agree(self, answers: Set[str | None], why: str) -> Reply:
        """The only one of some answers."""
        if len(answers) == 1:
            (answer,) = answers
            return Reply(answer, why) if answer else Reply(None, "its number is not an answer")
        several = ", ".join(sorted(answer or "?" for answer in answers))
        return Reply(None, f"it gives several answers: {several}" if several else "it names no answer")

    def bare(self, sentence: str) -> str | None:
        """The answer of a sentence that says nothing else, or corrects another, else None."""
        rest, end = "", 0
        for mention in sorted(self._mentions(sentence)):
            rest += sentence[end : mention.start] + " "
            end = max(end, mention.end)
        is_bare = AROUND.fullmatch(rest + sentence[end:]) or REVISES.match(sentence)
        return self.read(sentence, "").answer if end and is_bare else None

    def _mentions(self, text: str) -> list[_Mention]:
        numbers = {"count": self._counts, "metres": self._lengths, "hidden": self._shares}.get(self.type)
        mentions = [*self._options(text), *self._named(text)]
        if clause := CLAUSE.search(text):
            in_passing = clause.start()
            mentions = [said._replace(weight=said.weight * (said.start < in_passing)) for said in mentions]
        mentions += numbers(text) if numbers else ()
        return [*mentions, *self._alternatives(text, mentions)]

    def _alternatives(self, text: str, mentions: list[_Mention]) -> Iterator[_Mention]:
        """Answers that "or" joins to something else that is not an answer."""
        starts = {mention.start: mention for mention in mentions}
        ends = {mention.end: mention for mention in mentions}
        for found in OR.finditer(text):
            joined = [side for side in (ends.get(found.start()), starts.get(found.end())) if side]
            if len(joined) == 1 and joined[0].answer != CANNOT_TELL:
                yield joined[0]._replace(answer="")

    def _named(self, text: str) -> Iterator[_Mention]:
        before, said_no = _Mention(0, 0, ""), False
        for found in self.pattern.finditer(text):
            start, end = found.span()
            answer = self.answers.get(_key(found[0]), CANNOT_TELL)
            gap = text[max(before.end, start - 40) : start]
            is_also = said_no and " or " in gap and JOINED.fullmatch(gap)
            said_no, weight = bool(is_also or NOT.search(gap)), 1
            if answer == CANNOT_TELL:
                said_no = False
            elif self.type == "truth":
                if found[0].lower() == "no" and ANY.match(text, end):
                    continue
                if said_no and found[0].lower() not in ("yes", "no"):
                    answer, said_no = {"yes": "no", "no": "yes"}[answer], False
                weight *= not (self.letters and "correct" in found[0].lower())
            elif self.type == "hidden":
                answer = "" if LIMIT.search(gap) else answer
            elif self.type in ("kind", "group"):
                aside = BESIDE.search(gap) or (not before.weight and JOINED.fullmatch(gap))
                weight *= not aside and not text.startswith("'s", end)
            elif self.type in ("direction", "box", "lane", "weather"):
                weight *= not PLACED.match(text, end)
            elif self.type in ("picture", "seat", "place"):
                weight *= not WHOLE.search(gap)
                answer = "" if LIMIT.search(gap) or SINCE.search(gap) else answer
            is_other = self.type in OTHERWISE and OTHERWISE[self.type].match(text, end)
            if is_other or CONDITION.match(text, end) or (self.type != "hidden" and PARTLY.search(gap)):
                answer = ""
            before = _Mention(start, end, answer, weight)
            if not said_no:
                yield before

    def _options(self, text: str) -> Iterator[_Mention]:
        """Letters of options."""
        letters = LETTERS.get(self.type, {}) | self.letters
        for found in LETTER.finditer(text) if letters else ():
            letter = next(filter(None, found.groups())).upper()
            if letter in letters and not NOT.search(_before(text, found.start())):
                yield _Mention(*found.span(), letters[letter])

    def _numbers(self, text: str, decimal_comma: str = "") -> Iterator[_Number]:
        """Numbers that are not denied. What stands behind "because" weighs 0, what stands behind "so" 2."""
        reason, results = REASON.search(text), [*RESULT.finditer(text)]
        for number in NUMBER.finditer(text):
            start, end = number.span()
            before = _before(text, start)
            if NOT.search(before) or NUMBERED.search(before):
                continue
            hedges = (
                LIMIT.search(before),
                LIMIT_BEHIND.match(text, end),
                CONDITION.match(text, end),
                "+" in number[0],
            )
            value = math.nan if any(hedges) else value_of(number["digits"], decimal_comma)
            weight = int(not (reason and reason.start() < start))
            if results and results[-1].end() <= start:
                weight = 2
            yield _Number(start, end, value, (number["unit"] or "").lower(), weight)

    def _counts(self, text: str) -> list[_Mention]:
        counts = [_Mention(*none.span(), "0") for none in ZERO.finditer(text)]
        for start, end, value, unit, weight in self._numbers(text):
            before = _before(text, start)
            unclear = value % 1 or unit or ABOUT.search(before)
            unclear = unclear or PERCENT.match(text, end) or text[end : end + 1].isalnum()
            unclear = unclear or AND_ONE.match(text, end) or ONE_AND.search(before)
            if TOTAL.search(before) and TOTAL_GOES_ON.match(text, end):
                unclear = True
            elif TOTAL.search(before) or IN_TOTAL.match(text, end):
                weight = 2
            elif WHOLE.search(before) or PERCENT.match(text, end):
                weight = 0
            counts.append(_Mention(start, end, "" if unclear else f"{value:.0f}", weight))
        gaps = [text[count.end : following.start] for count, following in pairwise(counts)]
        parts = [int(part.answer or 0) for part in counts[1:]]
        is_list = len(parts) > 1 and re.search("[:(—]", gaps[0]) and all(map(WORD.search, gaps[1:]))
        if is_list and min(parts) > 0 and counts[0].answer == str(sum(parts)):
            return counts[:1]
        is_parted = any(map(PARTED.match, gaps))
        if is_parted and len({count[2:] for count in counts}) == 1:  # as in 3 cars and 3 vans
            return [counts[0]._replace(answer="")]
        return counts

    def _lengths(self, text: str) -> list[_Mention]:
        numbers = [*self._numbers(text, ".")]
        with_unit = [number for number in numbers if number.unit]
        alone = [] if OTHER_UNIT.search(text) else numbers
        lengths: list[_Mention] = []
        first = unit = 0.0
        for number in with_unit or [number for number in alone if UNITLESS.match(text, number.end)]:
            own = METRES[number.unit or "m"]
            length = number.value * own
            start, end = number[:2]
            gap = text[lengths[-1].end : start] if lengths else "first"
            if own < unit and re.fullmatch(r" ?(?:and |, )?", gap):
                length += first  # 5 feet 6 inches
                start = lengths.pop().start
            elif lengths and own != unit and abs(length - first) <= 0.05 * first:
                lengths[-1] = lengths[-1]._replace(end=end)  # 5 m (16 feet)
                continue
            first, unit = length, own
            answer = "" if math.isnan(length) else f"{length:.12g} m"
            lengths.append(_Mention(start, end, answer, number.weight))
        return lengths

    def _shares(self, text: str) -> Iterator[_Mention]:
        for start, end, value, _, weight in self._numbers(text):
            if percent := PERCENT.match(text, end):
                answer = "" if math.isnan(value) else [*WORDS["hidden"]][(value > 0) + (value > 100 / 3)]
                yield _Mention(start, percent.end(), answer, weight)


def _before(text: str, at: int) -> str:
    """The few words of a text before a place; a slice of fixed length keeps the time of reading linear."""
    return text[max(0, at - 40) : at]
