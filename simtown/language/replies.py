"""Reads what a model replies to a question, and scores it. Needs the standard library alone.

The rule, which docs/gym.md has in full: thinking is not said. The last <answer>...</answer> counts alone;
else JSON with a key "answer"; else what is stated last, as in "the answer is ..." or a LaTeX box; else what
is nothing but an answer; else the only answer that the whole text names. Two different answers are none, and
so is "maybe".
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from simtown.language.reply_numbers import METRES, NUMBER, SIGN_BEFORE, SIGN_BEHIND, in_digits, value_of
from simtown.language.reply_words import (
    ABOUT,
    ANY,
    AROUND,
    BESIDE,
    CANNOT_TELL,
    CLAUSE,
    CONCLUDES,
    IN_TOTAL,
    JOINED,
    LETTER,
    LETTERS,
    LIMIT,
    LIMIT_BEHIND,
    LIST_ITEM,
    MAYBE,
    NOT,
    OR_BEFORE,
    OR_BEHIND,
    PERCENT,
    PLACED,
    REASON,
    REFUSES,
    RESULT,
    STATED,
    STOP,
    THINKING,
    TOTAL,
    TOTAL_GOES_ON,
    UNITLESS,
    UNSURE,
    WORDS,
    ZERO,
    pattern,
)  # fmt: skip


class Reply(NamedTuple):
    """What a reply says.

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
        type: a key of :data:`WORDS`, as in ``simtown.language.families.ANSWERS``.
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
    answer = read_reply(text, gold.type, gold.choices, names).answer
    if answer is None or gold.type != "metres" or CANNOT_TELL in (answer, gold.answer):
        return float(answer == gold.answer)
    true = float(gold.answer.split()[0]) if gold.number is None else gold.number
    return float(abs(float(answer.split()[0]) - true) <= (gold.tolerance or 0.0) + 1e-9)


def read_reply(
    text: Any, type: str, choices: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Reply:
    """The answer that a reply gives, by the rule above.

    Args:
        text: what the model wrote: a text, a list of texts or of content parts with a "text", or None.
        type: of the answer, a key of :data:`WORDS`.
        choices: all answers that the question may have, or () for any. If "cannot tell" is not among them,
            it is no answer.
        names: what else answers are called: {"cab": "taxi", "taxis": "taxi"}; a capital letter is the letter
            of an option.
    """
    names = {**names} if names else {}
    letters = {name: answer for name, answer in names.items() if len(name) == 1 and name.isupper()}
    spoken = tuple((name, answer) for name, answer in names.items() if name not in letters)
    reader = _Reader(type, letters, *_vocabulary(type, tuple(choices), spoken))
    reply = _read(reader, _normal(_text_of(text)), type)
    unasked = reply.answer == CANNOT_TELL and choices and CANNOT_TELL not in choices
    return Reply(None, "it cannot tell") if unasked else reply


def _text_of(reply: Any) -> str:
    """The text of a reply that is a text, a content part, a list of these, or None."""
    if isinstance(reply, Mapping):
        reply = reply.get("text", reply.get("content"))
    if isinstance(reply, list | tuple):
        return "\n".join(map(_text_of, reply))
    return "" if reply is None else str(reply)


def _normal(text: str) -> str:
    """A text in which each sign has one spelling, and none of the loops in which a model got caught."""
    text = re.sub(r"(\S.{0,40}?\s)\1{9,}", r"\1\1", html.unescape(text), flags=re.S)
    text = re.sub("[¼-¾⅐-⅞]", r" \g<0>", re.sub("[²³⁰-⁹]", r"^\g<0>", text))
    text = unicodedata.normalize("NFKC", text)
    for spelling, sign in {"’": "'", "⁄": "/", ">=": "≥", "<=": "≤", "+/-": "±"}.items():
        text = text.replace(spelling, sign)
    text = re.sub(r"(?<=\d)( ?)\*\1(?=\d)", "×", text)
    return re.sub(r"(?<=[㐀-鿿])(?=[a-z\d])|(?<=[a-z\d])(?=[㐀-鿿])", " ", text, flags=re.I)


def _read(reader: _Reader, text: str, type: str) -> Reply:
    said = _said(text)
    if said is None:
        return Reply(None, "its thinking never ends")
    tags = re.findall(r"<answer>((?:(?!<answer>).)*?)</answer>", said, re.I | re.S)
    tags = tags or re.findall(r"<answer>(.*)", said, re.I | re.S)
    if tags:
        return reader.read(_plain(_unmarked(tags[-1]), type), "in its answer tags")
    if (value := _json_answer(said, type)) is not None:
        return reader.read(_plain(_unmarked(value), type), "in its JSON")
    text = _unmarked(said)
    if type == "count" and len(re.findall(LIST_ITEM, text)) > 1:
        text = re.sub(LIST_ITEM, "", text)
    stops = [stop.start() for stop in STOP.finditer(text)] + [len(text)]
    ends = {stops[bisect_left(stops, line.end())]: line for line in STATED.finditer(text)}
    lines = [(line.start(), line.end(), end) for end, line in ends.items()]
    lines = [line for line in lines if text[line[1] : line[2]].strip(" .:")]
    stated = max([*_boxes(text), *lines], default=None)
    if stated is None:
        sentences = _sentences(_plain(text, type))
        answers = {reader.bare(sentence) for sentence in sentences}
        concluding = [sentence for sentence in sentences if CONCLUDES.match(sentence)]
        answers |= {reader.read(last, "").answer for last in concluding[-1:]}
        if answers - {None}:
            return reader.agree(answers - {None}, "its only bare answer")
        return reader.read(_plain(text, type), "the only answer that it names")
    _, start, end = stated
    reply = reader.read(_plain(text[start:end], type), "stated")
    answers = {
        reader.read(_plain(text[line[1] : line[2]], type), "").answer for line in lines if stated in lines
    }
    answers |= {reader.bare(sentence) for sentence in _sentences(_plain(text[end:], type))}
    return reader.agree(answers - {None} | {reply.answer}, "stated") if reply.answer else reply


def _said(text: str) -> str | None:
    """What stands outside of blocks of thinking; None if the last block never ends."""
    first, *rest = THINKING.split(text)
    said, thinks = [first], False
    for opening, part in zip(rest[::3], rest[2::3], strict=True):
        said = said if thinks or opening else []  # a block that a prompt began
        thinks = bool(opening)
        said += [] if thinks else [part]
    return None if thinks else " ".join(said)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in STOP.split(text) if sentence.strip()]


def _json_answer(text: str, type: str) -> str | None:
    """What the last JSON object gives for "answer", or for its only key; None if there is none."""
    answer, end = None, 0
    for brace in list(re.finditer(r'\{\s*"', text))[-99:]:
        if brace.start() < end:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        keys = {re.sub(r"\W|_", "", key.lower()): key for key in value} if isinstance(value, dict) else {}
        found = [keys[key] for key in ("answer", "finalanswer", "response", "result") if key in keys]
        found = found or ([*keys.values()] if len(keys) == 1 else [])
        if found:
            given = value[found[0]]
            if isinstance(given, bool):
                given = ("no", "yes")[given] if type == "truth" else ""
            answer = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
    return answer


def _boxes(text: str) -> Iterator[tuple[int, int, int]]:
    r"""Start, start of the content, and end of the content of each \boxed{...}; braces are counted."""
    opened: list[re.Match[str]] = []
    for brace in re.finditer(r"f?box(?:ed)?\s*\{|[{}]", text):
        if brace[0] != "}":
            opened.append(brace)
        elif opened and len((box := opened.pop())[0]) > 1:
            yield box.start(), box.end(), brace.start()


def _unmarked(text: str) -> str:
    """A text without the marks of Markdown, HTML and code."""
    text = text.replace("<|begin_of_box|>", r"\boxed{").replace("<|end_of_box|>", "}")
    text = re.sub(r"<[a-z/|!][^<>\n]{0,40}>", " ", text, flags=re.I)
    text = re.sub(r"[*`#\"\u201c\u201d|_]", " ", text)
    text = re.sub(r"\bapprox\.", "approximately", text, flags=re.I)
    return re.sub(r"(\d) ?' ?(\d+)\b", r"\1 feet \2 inches", text)


def _plain(text: str, type: str) -> str:
    """A text without LaTeX, with single spaces, and numbers in digits. A command that may calculate is ±."""
    text = re.sub(r"\\[dt]?frac *\{(\d+)\} *\{(\d+)\}", r" \1/\2", text)
    text = re.sub(r"\\(?:approx|sim)\b", "≈", text)
    text = re.sub(r"\\+(?:(?:text|math|[bf]*box|left|right|q?quad|n)[a-z]* ?|[()\[\],;!: ])|\$", " ", text)
    text = re.sub(r"[{}]", "", re.sub(r"\\+[a-zA-Z]+", "±", text))
    text = re.sub(r"(?<!\d)(?<!\d )[~∼≈] ?(?=\d)", "about ", text)
    text = re.sub(r"[^\S\n]+", " ", re.sub(r"~(?! ?\d)|\\", " ", text)).strip()
    return in_digits(text) if type in ("count", "metres") else text


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
    split = (re.split("[ -]+", name) for name in sorted(said, key=len, reverse=True))
    names_pattern = "|".join("[ -]*".join(map(re.escape, parts)) for parts in split)
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
    """A number of a text: its place, its value or None if it has no single one, and its unit in lower case."""

    start: int
    end: int
    value: float | None
    unit: str
    weight: int


class _Reader:
    """Finds answers of one type in a text without markup."""

    def __init__(
        self, type: str, letters: dict[str, str], pattern: re.Pattern[str], answers: dict[str, str]
    ) -> None:
        self._type, self._letters, self._pattern, self._answers = type, letters, pattern, answers

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
            return Reply(answer, why) if answer else Reply(None, "its number is no answer")
        several = ", ".join(sorted(answer or "?" for answer in answers))
        return Reply(None, f"it gives several answers: {several}" if several else "it names no answer")

    def bare(self, sentence: str) -> str | None:
        """The answer of a sentence that says nothing else, else None."""
        rest, end = "", 0
        for mention in sorted(self._mentions(sentence)):
            rest += sentence[end : mention.start] + " "
            end = max(end, mention.end)
        return self.read(sentence, "").answer if end and AROUND.fullmatch(rest + sentence[end:]) else None

    def _mentions(self, text: str) -> list[_Mention]:
        numbers = {"count": self._counts, "metres": self._lengths, "hidden": self._shares}.get(self._type)
        mentions = [*self._options(text), *self._named(text), *(numbers(text) if numbers else ())]
        return mentions + [*self._alternatives(text, mentions)]

    def _alternatives(self, text: str, mentions: list[_Mention]) -> Iterator[_Mention]:
        """Whatever else is joined to an answer by "or", and is not itself an answer."""
        starts = {mention.start for mention in mentions}
        ends = {mention.end for mention in mentions}
        for start, end, answer, weight in mentions:
            behind = OR_BEHIND.match(text, end)
            before = OR_BEFORE.search(_before(text, start))
            is_open = (behind and behind.end() not in starts) or (
                before and start - len(before[0]) not in ends
            )
            if is_open and answer != CANNOT_TELL:
                yield _Mention(start, end, "", weight)

    def _named(self, text: str) -> Iterator[_Mention]:
        clause = CLAUSE.search(text)
        before = _Mention(0, 0, "")
        for found in self._pattern.finditer(text):
            start, end = found.span()
            answer, gap = self._answers.get(_key(found[0]), CANNOT_TELL), text[before.end : start]
            said_no, weight = bool(NOT.search(gap)), int(not (clause and clause.start() < start))
            if answer == CANNOT_TELL:
                said_no = False
            elif self._type == "truth":
                if found[0].lower() == "no" and ANY.match(text, end):
                    continue
                if said_no and found[0].lower() not in ("yes", "no"):
                    answer, said_no = {"yes": "no", "no": "yes"}[answer], False
                weight *= not (self._letters and "correct" in found[0].lower())
            elif self._type == "hidden":
                answer = "" if LIMIT.search(gap) else answer
            elif self._type in ("kind", "group"):
                aside = BESIDE.search(gap) or (not before.weight and JOINED.fullmatch(gap))
                weight *= not aside and not text.startswith("'s", end)
            elif self._type in ("direction", "box", "lane", "weather"):
                weight *= not PLACED.match(text, end)
            before = _Mention(start, end, answer, weight)
            if not said_no:
                yield before

    def _options(self, text: str) -> Iterator[_Mention]:
        """Letters of options."""
        letters = LETTERS.get(self._type, {}) | self._letters
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
            if NOT.search(before):
                continue
            hedged = LIMIT.search(before) or SIGN_BEFORE.search(before) or "+" in number[0]
            hedged = hedged or LIMIT_BEHIND.match(text, end) or SIGN_BEHIND.match(text, end)
            value = None if hedged else value_of(number["digits"], decimal_comma)
            weight = int(not (reason and reason.start() < start))
            if results and results[-1].end() <= start:
                weight = 2
            yield _Number(start, end, value, (number["unit"] or "").lower(), weight)

    def _counts(self, text: str) -> list[_Mention]:
        counts = [_Mention(*none.span(), "0") for none in ZERO.finditer(text)]
        for start, end, value, unit, weight in self._numbers(text):
            before = _before(text, start)
            unclear = value is None or value != round(value) or unit or ABOUT.search(before)
            unclear = unclear or PERCENT.match(text, end) or text[end : end + 1].isalnum()
            if TOTAL.search(before) or IN_TOTAL.match(text, end):
                unclear, weight = unclear or TOTAL_GOES_ON.match(text, end), 2
            elif re.search(r"\bof (?:the )?$", before):
                weight = 0
            counts.append(_Mention(start, end, "" if unclear else f"{value:.0f}", weight))
        parts = [int(part.answer or 0) for part in counts[1:] if re.match(" [a-z]", text[part.end :], re.I)]
        if len(parts) == len(counts) - 1 > 1 and min(parts) > 0 and counts[0].answer == str(sum(parts)):
            return counts[: 1 if re.search("[:(—]", text[counts[0].end : counts[1].start]) else None]
        return counts

    def _lengths(self, text: str) -> list[_Mention]:
        numbers = [*self._numbers(text, ".")]
        with_unit = [number for number in numbers if number.unit]
        lengths: list[_Mention] = []
        first = unit = 0.0
        for number in with_unit or [number for number in numbers if UNITLESS.match(text, number.end)]:
            own = METRES[number.unit or "m"]
            length = (number.value or 0) * own
            start, end = number[:2]
            gap = text[lengths[-1].end : start] if lengths else "first"
            if own < unit and re.fullmatch(r" ?(?:and |, )?", gap):
                length += first  # 5 feet 6 inches
                start = lengths.pop().start
            elif lengths and own != unit and abs(length - first) <= 0.05 * first:
                lengths[-1] = lengths[-1]._replace(end=end)  # 5 m (16 feet)
                continue
            first, unit = length, own
            answer = "" if number.value is None else f"{length:.12g} m"
            lengths.append(_Mention(start, end, answer, number.weight))
        return lengths

    def _shares(self, text: str) -> Iterator[_Mention]:
        for start, end, value, _, weight in self._numbers(text):
            if percent := PERCENT.match(text, end):
                place = 0 if value == 0 else 1 + (value is not None and value > 100 / 3)
                answer = "" if value is None else [*WORDS["hidden"]][place]
                yield _Mention(start, percent.end(), answer, weight)


def _before(text: str, at: int) -> str:
    """The few words of a text before a place; a slice of fixed length keeps the time of reading linear."""
    return text[max(0, at - 40) : at]
