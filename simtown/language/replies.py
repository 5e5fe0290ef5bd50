"""Reads what a model replies to a question, and scores it. Needs the standard library alone.

The rule, which docs/gym.md has in full: thinking is not said. The last <answer>...</answer> counts alone;
else JSON with a key "answer"; else what is stated last, as in "the answer is ..." or a LaTeX box; else what
is nothing but an answer; else the only answer that the whole text names. Two different answers are none, and
so is "maybe".
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

CANNOT_TELL = "cannot tell"
#: What may be said for each answer of a type, beside the answer itself; kinds and groups are the caller's.
WORDS: dict[str, dict[str, str]] = {
    "truth": {"yes": "yeah,yep,yup,true,correct", "no": "nope,nah,false,incorrect,untrue,wrong"},
    "count": {}, "kind": {}, "group": {}, "metres": {},
    "colour": {
        "black": "", "blue": "", "brown": "", "grey": "gray", "green": "", "orange": "", "pink": "",
        "purple": "violet", "red": "", "silver": "", "white": "", "yellow": "",
    },
    "lane": {
        "near lane": "near,nearer,nearest,closer,closest", "parked": "parking",
        "far lane": "far,farther,further,farthest,furthest",
    },
    "direction": {
        "right": "rightward,rightwards", "left": "leftward,leftwards",
        "away": "away from the viewer,away from the camera,away from me,away from us",
        "viewer": "camera,observer,towards me,toward me,towards us,toward us",
    },
    "weather": {
        "clear": "sunny", "cloudy": "overcast,clouds", "rain": "rainy,raining", "fog": "foggy,mist,misty",
        "snow": "snowy,snowing", "dusk": "twilight,sunset", "night": "nighttime",
    },
    "hidden": {
        "none of it": "none,nothing,not hidden,isn't hidden,not at all,fully visible,completely visible",
        "less than a third": "less than 1/3,less than one third,under a third,below a third,a quarter",
        "more than a third": "more than 1/3,more than one third,over a third,above a third,half,most of it,"
                             "all of it,two thirds,completely hidden",
    },
    "box": {"left third": "left", "middle third": "middle,centre,center,central", "right third": "right"},
}  # fmt: skip
_UNSURE = (
    "not sure,can't be sure,unsure,uncertain,don't know,do not know,no idea,unknown,unclear,ambiguous,"
    "undetermined,too close to say,too close to call,too close to tell,no way to tell,no way to know,"
    "not enough information"
)
_UNABLE = "cannot,can't,can not,cannot be,can't be,unable to,possible to,impossible to,hard to,difficult to"
_VERBS = ("tell", "told", "say", "determine", "determined")
_pattern = partial(re.compile, flags=re.I)
_REFUSES = _pattern(
    r"\bas an ai\b|\b(?:can't|cannot|can not|(?:un|not )able to|don't|do not) (?:\w+ly )?(?:see|view|process|"
    r"analy[sz]e|access|assist|help|answer|have)\b|\bno (?:image|picture|photo)|\bplease (?:provide|upload)"
)
_STATED = _pattern(
    r"\b(?:answer|ans|option|choice)(?: to (?:the|this|your) question)?[^\w\n]{0,4}?"
    r"(?:\s*(?:is|would be|should be|must be)\b[ :]*|\s*(?:[:=\u2013\u2014]|->|=>|- ))\s*"
)
_CONCLUDES = _pattern(r"\W*(?:so|therefore|thus|hence|in conclusion|overall|in summary)\b")
_STOP = re.compile(r"(?:[.!?;]+(?=\s|$)|\n)+")
_LIST = re.compile(r"^ *\d+[.)] +(?=[^\W\d])", re.M)
_NOT = _pattern(
    r"(?:\b(?:not|no|never|neither|nor|without|rather than|instead of)|n't)"
    r"(?: (?:an?|the|in|on|to|facing|really|actually|be|is|it))* ?$"
)
_BESIDE = _pattern(
    r"\b(?:of|behind|besides?|than|between|from|to|by|near|past|with|against|before|after|opposite|under|"
    r"above|below|beyond|alongside) (?:(?:the|an?|this|that|its|other|nearest) )*$"
)
_JOINED = _pattern(r" ?(?:,|and|or|, and) (?:(?:the|an?) )?")
_CLAUSE = _pattern(r"\b(?:because|since|as|which|while|whereas|although|though)\b")
_PLACED = _pattern(r" (?:of|the|to|an?|behind|next|in front|beside|that|view|edge)\b")
_MAYBE = _pattern(r"\b(?:maybe|perhaps|possibly|might|either)\b")
#: What may stand around an answer in a sentence that says nothing else.
_AROUND = _pattern(
    r"\W*(?:(?:an?|the|it|it's|its|is|that|that's|this|there|they|are|in|on|at|to|towards?|facing|faces|answer|"
    r"option|choice|actually|wait|or|and|sorry|correction|rather|oh|hmm|well|so|i|think|believe|would|say|"
    r"exactly|only|just|final|my|vehicles?|colou?r|probably|definitely|instead|be|no|yes|lane)\b\W*)*"
)
#: What follows "no" where it means "not any", as in "no taxi"; and where a count is 0.
_ANY = _pattern(
    r" (?!(?:it|it's|its|there|the[ny]?|th[ai][st]|i|we|you|and|or|yes|because|as|since|but|not|for|an?|is|"
    r"no)\b)[a-z]"
)
_ZERO = _pattern(
    r"\bnone\b|(?:\bnot|n't) (?:have |see )?any\b|"
    r"\bno(?= [a-z])(?! (?:way|doubt|idea|image|picture|information|one|more|less|fewer)\b)"
)
_LETTER = re.compile(
    r"\(([A-Za-z])\)|(?<![\w'(-])([B-HJ-Z])(?![\w'-])|\b(?:option|choice) ([A-Za-z])(?![\w'])|"
    r"(?<![\w'(-])([AI])(?= ?(?:[).:,;/&]|$|(?:and|or|is)\b))|^\W*([a-z])\W*$"
)
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_ONES += " sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(re.split(" ", _ONES))}
for _ten, _word in enumerate(re.split(" ", _TENS), 2):
    _VALUES |= {f"{_word} {unit}": 10 * _ten + n for unit, n in [*_VALUES.items()][1:10]} | {_word: 10 * _ten}
_METRES = {
    "m": 1.0, "metre": 1.0, "meter": 1.0, "cm": 0.01, "centimetre": 0.01, "centimeter": 0.01, "mm": 0.001,
    "km": 1e3, "kilometre": 1e3, "kilometer": 1e3, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048, "'": 0.3048,
    "inches": 0.0254, "inch": 0.0254, "yard": 0.9144, "yd": 0.9144,
}  # fmt: skip
_UNIT = "|".join(sorted(_METRES, key=len, reverse=True))
_WORDED = "|".join(sorted(_VALUES, key=len, reverse=True)).replace(" ", "[ -]")
_NUMBER = _pattern(
    rf"(?:(?P<digits>(?<![\w.,/])-?\d+(?:[.,]\d+)*)(?!/)|(?<![\w-])(?P<half>half an?)(?= )|"
    rf"(?<![\w-])(?P<words>{_WORDED})(?P<plus> and a half)?(?!\w|-[a-z]))(?: ?(?P<unit>{_UNIT})s?(?![\w/]))?"
)
_ABOUT = _pattern(r"\b(?:about|around|approximately|roughly|circa|some|nearly|almost)(?: the)? $")
_LIMIT = _pattern(
    r"\b(?:at (?:least|most)|up to|(?:more|less|fewer) than|over|under|between|above|below|or)(?: about)? $"
)
_RANGE = _pattern(
    rf"\+|-?ish\b| or (?:more|fewer|less|so)\b| ?(?:to|-|\u2013|\u2014|or) ?(?:about )?(?:\d|{_WORDED})"
)
_FROM = _pattern(rf"(?:\d|\b(?:{_WORDED})) ?(?:to|-|\u2013|\u2014|or|and|,|) ?$")
_ONE = _pattern(r"\b(?:the|this|that|each|which|another|other|first|last) $")
_TOTAL = _pattern(r"\btotal(?: of|:| is| number is)? $")
#: What follows a length without a unit.
_UNITLESS = _pattern(r" ?(?:$|[^\w\s%\u00b0/']|(?:away|apart)\b)")


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


def score_reply(text: str, gold: Gold, names: Mapping[str, str] | None = None) -> float:
    """1.0 if a reply gives the right answer, else 0.0; `names` as for :func:`read_reply`."""
    answer = read_reply(text, gold.type, gold.choices, names).answer
    if answer is None or gold.type != "metres" or CANNOT_TELL in (answer, gold.answer):
        return float(answer == gold.answer)
    true = float(gold.answer.split()[0]) if gold.number is None else gold.number
    return float(abs(float(answer.split()[0]) - true) <= (gold.tolerance or 0.0) + 1e-9)


def read_reply(
    text: str, type: str, choices: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Reply:
    """The answer that a reply gives, by the rule above.

    Args:
        text: what the model wrote.
        type: of the answer, a key of :data:`WORDS`.
        choices: all answers that the question may have, or () for any. If "cannot tell" is not among them,
            it is no answer.
        names: what else answers are called: {"cab": "taxi", "taxis": "taxi"}; a capital letter is the letter
            of an option.
    """
    names = {**names} if names else {}
    letters = {name: answer for name, answer in names.items() if len(name) == 1 and name.isupper()}
    spoken = tuple((name, answer) for name, answer in names.items() if name not in letters)
    reply = _read(_Reader(type, letters, *_vocabulary(type, tuple(choices), spoken)), text, type)
    unasked = reply.answer == CANNOT_TELL and choices and CANNOT_TELL not in choices
    return Reply(None, "it cannot tell") if unasked else reply


def _read(reader: _Reader, text: str, type: str) -> Reply:
    text = unicodedata.normalize("NFKC", text.replace("\u00bd", ".5")).replace("\u2019", "'")
    text, ended = _said(text)
    if not ended:
        return Reply(None, "its thinking never ends")
    tags = re.findall(r"<answer>((?:(?!<answer>).)*?)</answer>", text, re.I | re.S)
    tags = tags or re.findall(r"<answer>(.*)", text, re.I | re.S)
    if tags:
        return reader.read(_plain(_unmarked(tags[-1])), "in its answer tags")
    if (value := _json_answer(text, type)) is not None:
        return reader.read(_plain(_unmarked(value)), "in its JSON")
    text = _unmarked(text)
    if type == "count" and len(re.findall(_LIST, text)) > 1:
        text = re.sub(_LIST, "", text)
    stops = [stop.start() for stop in _STOP.finditer(text)] + [len(text)]
    ends = {stops[bisect_left(stops, line.end())]: line for line in _STATED.finditer(text)}
    lines = [(line.start(), line.end(), text[line.end() : end]) for end, line in ends.items()]
    stated = max([*_boxes(text), *(line for line in lines if line[2].strip(" .:"))], default=None)
    if stated is None:
        sentences = _sentences(_plain(text))
        answers = {reader.bare(sentence) for sentence in sentences}
        concluding = [sentence for sentence in sentences if _CONCLUDES.match(sentence)]
        answers |= {reader.read(last, "").answer for last in concluding[-1:]}
        if answers - {None}:
            return reader.agree(answers - {None}, "its only bare answer")
        return reader.read(_plain(text), "the only answer that it names")
    reply = reader.read(_plain(stated[2]), "stated")
    answers = {reader.read(_plain(line[2]), "").answer for line in lines if stated in lines}
    answers |= {reader.bare(sentence) for sentence in _sentences(_plain(text[stated[1] + len(stated[2]) :]))}
    return reader.agree(answers - {None} | {reply.answer}, "stated") if reply.answer else reply


def _said(text: str) -> tuple[str, bool]:
    """What stands outside of blocks of thinking, and whether the last block ends."""
    first, *rest = re.split(r"<(/?)think(?:ing)?>", text, flags=re.I)
    said, thinks = [first], False
    for slash, part in zip(rest[::2], rest[1::2], strict=True):
        said = said if thinks or not slash else []  # a block that a prompt began
        thinks = not slash
        said += [] if thinks else [part]
    return " ".join(said), not thinks


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _STOP.split(text) if sentence.strip()]


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


def _boxes(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Start, start of the content, and content of each \boxed{...}; braces are counted."""
    opened: list[re.Match[str]] = []
    for brace in re.finditer(r"f?box(?:ed)?\s*\{|[{}]", text):
        if brace[0] != "}":
            opened.append(brace)
        elif opened and len((box := opened.pop())[0]) > 1:
            yield box.start(), box.end(), text[box.end() : brace.start()]


def _unmarked(text: str) -> str:
    """A text without the marks of Markdown, HTML and code."""
    text = re.sub(r"<[^<>\n]{1,40}>", " ", text)
    text = re.sub(r"[*`#\"\u201c\u201d|_]", " ", text)
    text = re.sub(r"\bapprox\.", "approximately", text, flags=re.I)
    return re.sub(r"(\d) ?' ?(\d+)\b", r"\1 feet \2 inches", text)


def _plain(text: str) -> str:
    """A text without LaTeX, with single spaces."""
    text = re.sub(r"[{}]", "", re.sub(r"\\+(?:[a-zA-Z]+ ?|[()\[\],;!: ])|\$", " ", text))
    text = re.sub(r"[~\u2248] ?(?=\d)", "about ", text)
    return re.sub(r"[^\S\n]+", " ", re.sub(r"[~\\]", " ", text)).strip()


@lru_cache(64)
def _vocabulary(
    type: str, choices: tuple[str, ...], names: tuple[tuple[str, str], ...]
) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of the names of all answers, the longest first, and the answers by :func:`_key` of a name."""
    said = dict.fromkeys(_UNSURE.split(","), CANNOT_TELL)
    said |= {f"{unable} {verb}": CANNOT_TELL for unable in _UNABLE.split(",") for verb in _VERBS}
    for answer, words in WORDS[type].items():
        said |= {word: answer for word in (answer, *words.split(",")) if word}
    if type not in ("count", "metres"):
        said |= {choice: choice for choice in choices} | {answer: answer for _, answer in names}
    said |= dict(names)
    split = (re.split("[ -]+", name) for name in sorted(said, key=len, reverse=True))
    names_pattern = "|".join("[ -]*".join(map(re.escape, words)) for words in split)
    return _pattern(rf"(?<!\w)(?:{names_pattern})(?!\w)"), {_key(name): said[name] for name in said}


def _key(name: str) -> str:
    return re.sub(r"[ -]+", "", name.lower())


class _Mention(NamedTuple):
    """A place where an answer is named; "" is a number that answers nothing. The weight 0 is in passing."""

    start: int
    end: int
    answer: str
    weight: int = 1


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
        if answers <= {CANNOT_TELL} and _REFUSES.search(text):
            return Reply(None, "it refuses")
        if _MAYBE.search(text) and answers - {CANNOT_TELL}:
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
        mentions = self._mentions(sentence)
        rest = sentence
        for mention in sorted(mentions, reverse=True):
            rest = f"{rest[: mention.start]} {rest[mention.end :]}"
        return self.read(sentence, "").answer if mentions and _AROUND.fullmatch(rest) else None

    def _mentions(self, text: str) -> list[_Mention]:
        numbers = {"count": self._counts, "metres": self._lengths, "hidden": self._shares}.get(self._type)
        return [*self._options(text), *self._named(text), *(numbers(text) if numbers else ())]

    def _named(self, text: str) -> Iterator[_Mention]:
        clause = _CLAUSE.search(text)
        before = _Mention(0, 0, "")
        for found in self._pattern.finditer(text):
            answer, gap = self._answers[_key(found[0])], text[before.end : found.start()]
            after = text[found.end() :]
            said_no, weight = bool(_NOT.search(gap)), int(not (clause and clause.start() < found.start()))
            if answer == CANNOT_TELL:
                said_no = False
            elif self._type == "truth":
                if found[0].lower() == "no" and _ANY.match(after):
                    continue
                if said_no and found[0].lower() not in ("yes", "no"):
                    answer, said_no = {"yes": "no", "no": "yes"}[answer], False
                weight *= not (self._letters and "correct" in found[0].lower())
            elif self._type == "hidden":
                answer = "" if _LIMIT.search(gap) else answer
            elif self._type in ("kind", "group"):
                aside = _BESIDE.search(gap) or (not before.weight and _JOINED.fullmatch(gap))
                weight *= not aside and not after.startswith("'s")
            elif self._type in ("direction", "box", "lane", "weather"):
                weight *= not _PLACED.match(after)
            before = _Mention(found.start(), found.end(), answer, weight)
            if not said_no:
                yield before

    def _options(self, text: str) -> Iterator[_Mention]:
        """Letters of options."""
        for found in _LETTER.finditer(text) if self._letters else ():
            letter = next(filter(None, found.groups())).upper()
            if letter in self._letters and not _NOT.search(text[: found.start()][-40:]):
                yield _Mention(found.start(), found.end(), self._letters[letter])

    def _counts(self, text: str) -> list[_Mention]:
        counts = [_Mention(none.start(), none.end(), "0") for none in _ZERO.finditer(text)]
        for number in _NUMBER.finditer(text):
            before, after = text[: number.start()][-40:], text[number.end() :][:40]
            if _NOT.search(before) or (number[0].lower() == "one" and _ONE.search(before)):
                continue
            value = _value(number, "")
            unclear = number["unit"] or value != round(abs(value)) or re.match(r" ?(?:%|percent)|\w", after)
            unclear = unclear or _ABOUT.search(before) or _LIMIT.search(before) or _RANGE.match(after)
            is_total = _TOTAL.search(before) or re.match(r"[\w -]* in total", after)
            weight = 2 if is_total else int(not re.search(r"\bof (?:the )?$", before))
            counts.append(_Mention(number.start(), number.end(), "" if unclear else f"{value:.0f}", weight))
        parts = [int(part.answer or 0) for part in counts[1:] if re.match(" [a-z]", text[part.end :], re.I)]
        if len(parts) == len(counts) - 1 > 1 and min(parts) > 0 and counts[0].answer == str(sum(parts)):
            return counts[: 1 if re.search("[:(\u2014]", text[counts[0].end : counts[1].start]) else None]
        return counts

    def _lengths(self, text: str) -> list[_Mention]:
        numbers = [
            number for number in _NUMBER.finditer(text) if not _NOT.search(text[: number.start()][-40:])
        ]
        with_unit = [number for number in numbers if number["unit"]]
        lengths: list[_Mention] = []
        first = unit = 0.0
        for number in with_unit or [n for n in numbers if _UNITLESS.match(text, n.end())]:
            before, after = text[: number.start()][-40:], text[number.end() :][:40]
            own = _METRES[(number["unit"] or "m").lower()]
            length = _value(number, ".") * own
            gap = text[lengths[-1].end : number.start()] if lengths else "first"
            if own < unit and re.fullmatch(r" ?(?:and |, )?", gap):
                length += first  # 5 feet 6 inches
                lengths.pop()
            elif lengths and own != unit and abs(length - first) <= 0.05 * first:
                continue  # 5 m (16 feet)
            first, unit = length, own
            unclear = length < 0 or any((_LIMIT.search(before), _FROM.search(before), _RANGE.match(after)))
            lengths.append(_Mention(number.start(), number.end(), "" if unclear else f"{length:.12g} m"))
        return lengths

    def _shares(self, text: str) -> list[_Mention]:
        shares = []
        for share in re.finditer(r"(\d+(?:\.\d+)?) ?(?:%|percent)", text):
            place = 0 if float(share[1]) == 0 else 1 + (float(share[1]) > 100 / 3)
            answer = "" if _LIMIT.search(text[: share.start()][-40:]) else [*WORDS["hidden"]][place]
            shares.append(_Mention(share.start(), share.end(), answer))
        return shares


def _value(number: re.Match[str], decimal_comma: str) -> float:
    """What a match of _NUMBER stands for; -1 if its commas mark neither thousands nor decimals."""
    if not number["digits"]:
        words = (number["words"] or "zero").lower().replace("-", " ")
        return _VALUES[words] + 0.5 * bool(number["half"] or number["plus"])
    digits = re.sub(r",(?=\d{3}(?!\d))", "", number["digits"]).replace(",", decimal_comma or ",")
    return float(digits) if re.fullmatch(r"\d{1,9}(?:\.\d+)?", digits) else -1.0
