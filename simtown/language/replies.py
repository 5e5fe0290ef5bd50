# ruff: noqa: E501
"""Reads what a model replies to a question, and scores it. Needs the standard library alone.

How a reply is read, in this order:

1. What stands between <think> and </think> is thought, not said. Thinking that never ends is no answer.
2. The last complete <answer>...</answer> counts alone; an empty one is no answer.
3. Else JSON with a key "answer"; else the last stated answer: a LaTeX box, "Answer: ..." or "the answer is
   ...", up to the end of its sentence. Answers stated in two such lines must agree, and a later sentence that
   is nothing but another answer contradicts.
4. Else sentences or lines that are nothing but an answer, and sentences that begin with "so" or "therefore".
   They must agree.
5. Else the whole text, if it names one answer.

Names of answers are whole words, the longest first, in any case and markup. A name after "not" is not
meant; the name of a thing that another is "left of" or "behind" counts if no other does. Two different
answers are none. "Maybe" is no answer. "Cannot tell", "not sure" and the like are the answer "cannot tell". A
truth is yes, no, true, false and the like: a bare "there is no taxi" says neither. A count is one whole
number in digits or words: "about 3", "at least 3" and "3-4" are none. A length is a number of metres, or one with a
unit of length; "about 6 m" is 6 m, "at least 6 m" is none; it is right within the tolerance of
the question.
Letters are read if the choices are given: A is the first of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

CANNOT_TELL = "cannot tell"


def _words(text: str) -> list[str]:
    return text.split()


_NUMBER_WORDS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_VALUES = {word: value for value, word in enumerate(_NUMBER_WORDS)} | {"a dozen": 12, "a single": 1}
for _place, _ten in enumerate(_TENS, 2):
    _VALUES[_ten] = 10 * _place
    _VALUES |= {f"{_ten} {word}": 10 * _place + n for n, word in enumerate(_NUMBER_WORDS[:10]) if n}
#: Metres in each unit of length.
_UNITS = {
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters", "mtr", "mtrs"), 1.0),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), 0.01),
    **dict.fromkeys(("mm", "millimetre", "millimetres", "millimeter", "millimeters"), 0.001),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), 1000.0),
    **dict.fromkeys(("ft", "foot", "feet", "'"), 0.3048),
    **dict.fromkeys(("in", "inch", "inches"), 0.0254),
    **dict.fromkeys(("yd", "yds", "yard", "yards"), 0.9144),
}
#: What may be said for each answer of a type, beside the answer itself; kinds and groups are the caller's.
WORDS: dict[str, dict[str, str]] = {
    "truth": {
        "yes": "yes,yeah,yep,yup,true,correct,affirmative,that's right,that is right",
        "no": "no,nope,nah,false,incorrect,negative,untrue,wrong",
    },
    "colour": {
        **dict.fromkeys(_words("black blue brown orange pink red white yellow"), ""),
        "green": "",
        "grey": "gray",
        "purple": "violet",
        "silver": "silvery",
    },
    "lane": {
        "near lane": "near,nearer,nearest,close lane,closer,closest,nearside lane",
        "far lane": "far,farther,further,farthest,furthest",
        "parked": "parking,parking strip,parking lane,parking space",
    },
    "direction": {
        "right": "rightward,rightwards",
        "left": "leftward,leftwards",
        "away": "away from the viewer,away from the camera,away from me,away from us,away from you",
        "viewer": "the camera,camera,towards me,toward me,towards us,toward us,at me,at us,the observer",
    },
    "weather": {
        "clear": "sunny,sunshine,clear sky,clear skies,clear weather,fine weather",
        "cloudy": "overcast,clouds,clouded",
        "rain": "rainy,raining,rains",
        "fog": "foggy,mist,misty",
        "snow": "snowy,snowing,snows",
        "dusk": "twilight,sunset",
        "night": "nighttime,night time,at night",
    },
    "hidden": {
        "none of it": "none,nothing,not hidden,isn't hidden,not at all,fully visible,completely visible,0 %",
        "less than a third": ",".join(
            f"{less} {third}"
            for less in ("less than", "under", "below", "fewer than")
            for third in ("a third", "one third", "1/3", "33 %")
        ),
        "more than a third": ",".join(
            f"{more} {third}"
            for more in ("more than", "over", "above", "greater than")
            for third in ("a third", "one third", "1/3", "33 %")
        ),
    },
    "box": {
        "left third": "left,leftmost third",
        "middle third": "middle,centre,center,central third,centre third,center third",
        "right third": "right,rightmost third",
    },
    **{type: {} for type in ("count", "kind", "group", "metres")},
}
_UNSURE = (
    "cannot tell,can't tell,can not tell,cannot be told,not sure,unsure,don't know,do not know,unknown,unclear,"
    "cannot determine,can't determine,can not determine,cannot be determined,can't be determined,undetermined,"
    "indeterminate,unable to determine,unable to tell,not possible to determine,not possible to tell,"
    "impossible to tell,impossible to say,impossible to determine,hard to tell,hard to say,difficult to tell,"
    "difficult to say,cannot say,can't say,too close to say,too close to call,too close to tell,"
    "not enough information,insufficient information,no way to tell,no way to know,ambiguous,undecidable"
)
_REFUSAL = re.compile(
    r"\bas an ai\b|\b(?:can't|cannot|can not|unable to|not able to|couldn't|don't|do not) "
    r"(?:directly |actually )?(?:see|view|process|analy[sz]e|access|assist|help|answer|open|have access to|"
    r"have the ability to)\b|\bno (?:image|picture|photo) (?:was|is|has been|provided|attached)|"
    r"\bplease (?:provide|upload|share|attach)",
    re.I,
)
_THOUGHT = r"(?:think|thinking|thought|reasoning)"
_STATED = re.compile(
    r"\banswer(?: to (?:the|this|your) question)?\W{0,4}?"
    r"(?:\s*(?:is|would be|should be|must be|will be)\b\s*[:\-]*|\s*(?:[:=]|->|=>|[\u2013\u2014\u2192-] ))[^\S\n]*",
    re.I,
)
_CONCLUDED = re.compile(r"^\W*(?:so|therefore|thus|hence|in conclusion|overall|in summary)\b", re.I)
_SENTENCE_END = re.compile(r"(?:[.!?;]+(?=\s|$)|\n)+")
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|rather than|instead of)|n't)"
    r"(?:\s+(?:a|an|the|in|on|to|facing|really|actually|be|is|it))*\s*$",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:of|behind|beside|besides|than|between|from|to|by|near|past|with|against|before|after|opposite|"
    r"under|above|below|beyond|alongside)\s+(?:(?:the|a|an|this|that|its|other)\s+)*$",
    re.I,
)
_JOINED = re.compile(r"\s*(?:,|and|or|,\s*and)\s*(?:(?:the|a|an)\s+)?$", re.I)
_SUBORDINATE = re.compile(r"\b(?:because|since|as|which|while|whereas|although|though|even though)\b", re.I)
_PLACED = re.compile(
    r"\s+(?:of|side|hand|the|to|a|an|behind|next|in front|beside|that|view|edge|lane)\b", re.I
)
_FILLERS = frozenset(
    _words(
        "a an the it it's is its that that's this they are there in on at to towards toward facing faces answer "
        "option choice actually wait or and sorry correction rather oh hmm well so i think believe would say said "
        "exactly only just final correct my vehicle vehicles colour color maybe probably definitely certainly "
        "instead be one kind no yes lane"
    )
)
_ABOUT = r"(?:about|around|approximately|approx|roughly|circa|ca|some|nearly|almost|maybe|perhaps)"
_BOUND = (
    r"(?:at least|at most|up to|more than|less than|fewer than|over|under|between|above|below|or|minimum of|"
    r"maximum of|exceeds|exceeding)"
)
_AFTER = r"(?:\+|\s*(?:or (?:more|fewer|less|so)|ish|and more|(?:to|-|\u2013|or|\u2014)\s*(?:\d|{words})))"
_WORDED = "|".join(re.escape(w).replace(r"\ ", "[ -]") for w in sorted(_VALUES, key=len, reverse=True))
_NUMBER = (
    rf"(?P<digits>(?<![\w.,/])-?\d+(?:[.,]\d+)*)|(?<![\w-])(?P<half>half an?)(?= )|"
    rf"(?<![\w-])(?P<words>{_WORDED})(?P<and_half> and a half)?(?!-?\w)"
)
_COUNT = re.compile(
    rf"(?:{_NUMBER})(?![\w/%\u00b0]|\s*(?:%|percent\b|(?:{'|'.join(map(re.escape, _UNITS))})(?!\w)(?! the| a)))|"
    r"\b(?P<none>none|no(?= [a-z])(?! (?:one|more|less|fewer|way|doubt|idea|image|picture)\b)|(?:not|n't) "
    r"(?:have |see )?any)\b",
    re.I,
)
_METRES = re.compile(
    rf"(?:{_NUMBER})(?:\s*(?P<unit>{'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})(?![\w/]))?"
    r"(?:\s*(?P<inches>\d+(?:\.\d+)?)(?:\s*(?:in|inch|inches)\b)?(?!\s*\w))?(?P<more>\s*[\w%\u00b0/]+)?",
    re.I,
)
_HEDGE = re.compile(rf"\b{_ABOUT}\.?(?: \w+)?\s*$", re.I)
_LIMIT = re.compile(rf"\b{_BOUND}(?: about)?\s*$", re.I)
_RANGE = re.compile(_AFTER.replace("{words}", _WORDED), re.I)
_MAYBE = re.compile(r"\b(?:maybe|perhaps|possibly|might|either)\b", re.I)


@dataclass(frozen=True)
class Reply:
    """What a reply says: an answer of the closed vocabulary ("6.2 m" for a length), or None; and why."""

    answer: str | None
    why: str


@dataclass(frozen=True)
class Gold:
    """The right answer to a question.

    Attributes:
        type: a key of :data:`WORDS`, as in ``simtown.language.families.ANSWERS``.
        answer: the text in a data set's vocabulary, such as "yes", "3", "taxi", "5 m" or "cannot tell".
        choices: the answers that letters stand for, the first is A; () if no letters were shown.
        tolerance: of a length: how many metres a right answer may be off.
        number: of a length: the true metres.

    Raises:
        ValueError: nobody could give this answer.
    """

    type: str
    answer: str
    choices: tuple[str, ...] = ()
    tolerance: float | None = None
    number: float | None = None

    def __post_init__(self) -> None:
        """Refuses an answer that no reply can give."""
        if self.type not in WORDS:
            raise ValueError(f"no answers have the type '{self.type}': choose among {', '.join(WORDS)}")
        if self.answer == CANNOT_TELL:
            return
        known = WORDS[self.type]
        if not self.answer.strip() or (known and self.answer not in known):
            raise ValueError(f"'{self.answer}' is no answer of the type {self.type}: {', '.join(known)}")
        if self.type in ("count", "metres") and read_reply(self.answer, self.type).answer != self.answer:
            raise ValueError(f"'{self.answer}' is no answer of the type {self.type}")
        if self.choices and self.type != "metres" and self.answer not in self.choices:
            raise ValueError(f"the answer '{self.answer}' is not among the choices {', '.join(self.choices)}")


def score_reply(text: str, gold: Gold, names: Mapping[str, str] | None = None) -> float:
    """1.0 if a reply gives the right answer, else 0.0; `names` as for :func:`read_reply`."""
    answer = read_reply(text, gold.type, gold.choices, names).answer
    if answer is None:
        return 0.0
    if gold.type != "metres" or CANNOT_TELL in (answer, gold.answer):
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
        choices: the answers that letters stand for, the first is A; () if no letters were shown.
        names: answers by what they may be called, beside themselves: {"cab": "taxi", "taxis": "taxi"}.
            An empty answer is a name that means none.

    Returns:
        The answer, or None if there is no single one.
    """
    reader = _Reader(type, tuple(choices), tuple((names or {}).items()))
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    text = re.sub(rf"<{_THOUGHT}>.*?</{_THOUGHT}>", " ", text, flags=re.I | re.S)
    text = re.split(rf"</{_THOUGHT}>", text, flags=re.I)[-1]
    if re.search(rf"<{_THOUGHT}>", text, re.I):
        return Reply(None, "its thinking never ends")
    if not text.strip():
        return Reply(None, "it is empty")
    opened = text.lower().rfind("<answer>", 0, text.lower().rfind("</answer>") + 1 or None)
    if opened >= 0:
        inside = re.split(r"</answer>", text[opened + len("<answer>") :], flags=re.I)[0]
        return reader.read(_unmarked(inside), "in its answer tags")
    if (value := _json_answer(text, type)) is not None:
        return reader.read(_unmarked(value), "in its JSON")
    text = _unmarked(text, keep_boxes=True)
    statements = [(start, end, inside, True) for start, end, inside in _boxes(text)]
    for line in _STATED.finditer(text):
        start = line.end()
        while start < len(text) and text[start].isspace():
            start += 1
        stop = _SENTENCE_END.search(text, start)
        end = stop.start() if stop else len(text)
        if text[start:end].strip(" .:"):
            statements.append((line.start(), end, text[start:end], False))
    if statements:
        last = max(statements)
        reply = reader.read(_plain(last[2]), "stated")
        lines = [s for s in statements if not s[3] and not last[3]]
        agreed = {reader.read(_plain(s[2]), "").answer for s in lines} | {reply.answer}
        later = {reader.bare(_plain(sentence)) for sentence in _sentences(text[last[1] :])} - {None}
        return reader.agree(agreed | later, "stated") if reply.answer else reply
    text = _plain(text)
    found = {reader.bare(sentence) for sentence in _sentences(text)} - {None}
    concluded = [sentence for sentence in _sentences(text) if _CONCLUDED.match(sentence)]
    found |= {reader.read(sentence, "").answer for sentence in concluded[-1:]} - {None}
    if found:
        return reader.agree(found, "its only bare answer")
    return reader.read(text, "the only answer that it names")


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def _json_answer(text: str, type: str) -> str | None:
    """What the last JSON object of a text gives for "answer", or for its only key; None if there is none."""
    answer = None
    end = 0
    for brace in list(re.finditer(r"\{\s*\"", text))[:100]:
        if brace.start() < end:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        keys = {key.lower().replace(" ", "_"): key for key in value}
        key = next((keys[k] for k in ("answer", "final_answer", "response", "result") if k in keys), None)
        key = next(iter(value)) if len(value) == 1 else key
        if key is not None:
            given = value[key]
            if isinstance(given, bool):
                given = ("no", "yes")[given] if type == "truth" else ""
            answer = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
    return answer


def _boxes(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Start, end and content of each \boxed{...}; braces are counted."""
    for box in re.finditer(r"\\*f?box(?:ed)?\s*\{", text):
        depth = 1
        for place in range(box.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if not depth:
                yield box.start(), place + 1, text[box.end() : place]
                break


def _unmarked(text: str, keep_boxes: bool = False) -> str:
    """A text without the marks of Markdown, HTML and code."""
    text = re.sub(r"<[^<>\n]{1,40}>", " ", text)
    text = re.sub(r"[*`#\"\u201c\u201d|]|(?<!\w)_|_(?!\w)", "", text).replace("_", " ")
    text = re.sub(r"\bapprox\.", "approximately", text, flags=re.I)
    return text if keep_boxes else _plain(text)


def _plain(text: str) -> str:
    """A text without LaTeX, with single spaces."""
    text = re.sub(r"\\[a-zA-Z]+ ?|\\[()\[\],;!: ]|\$", " ", text)
    text = re.sub(r"[~\u2248](?=\s*\d)", "about ", re.sub(r"[{}]", "", text)).replace("~", " ")
    return re.sub(r"[^\S\n]+", " ", text.replace("\\", " ")).strip()


@dataclass(frozen=True)
class _Mention:
    start: int
    end: int
    answer: str
    strong: bool = True


class _Reader:
    """Finds the answers of one type that a text without markup names."""

    def __init__(self, type: str, choices: tuple[str, ...], names: tuple[tuple[str, str], ...]) -> None:
        self._type, self._choices = type, choices
        self._pattern, self._answers = _vocabulary(type, choices, names)

    def read(self, text: str, why: str) -> Reply:
        """The answer that a text names."""
        mentions = list(self._mentions(text))
        strong = [mention for mention in mentions if mention.strong] or mentions
        if strong and all(mention.answer == CANNOT_TELL for mention in strong) and _REFUSAL.search(text):
            strong = []
        if not strong:
            return Reply(None, "it refuses" if _REFUSAL.search(text) else "it names no answer")
        if _MAYBE.search(text) and {mention.answer for mention in strong} != {CANNOT_TELL}:
            return Reply(None, "it says maybe")
        return self.agree({mention.answer for mention in strong}, why)

    def agree(self, answers: set[str | None], why: str) -> Reply:
        """The only one of some answers."""
        if len(answers) == 1:
            answer = answers.pop()
            return Reply(answer or None, why if answer else "its number is no answer")
        return Reply(None, f"it gives several answers: {', '.join(sorted(a or '?' for a in answers))}")

    def bare(self, sentence: str) -> str | None:
        """The answer of a sentence that says nothing else."""
        mentions = list(self._mentions(sentence))
        if len({mention.answer for mention in mentions}) != 1:
            return None
        rest = "".join(
            " " if any(m.start <= place < m.end for m in mentions) else letter
            for place, letter in enumerate(sentence)
        )
        if {*re.findall(r"[\w']+", rest.lower())} <= _FILLERS:
            return self.read(sentence, "").answer
        return None

    def _mentions(self, text: str) -> Iterator[_Mention]:
        yield from self._letters(text)
        if self._type in ("count", "metres"):
            yield from self._numbers(text)
        before = _Mention(0, 0, "", True)
        for found in self._pattern.finditer(text):
            answer = self._answers[_key(found[0])]
            gap, after = text[before.end : found.start()], text[found.end() :][:20]
            negated = bool(_NEGATED.search(gap)) and answer != CANNOT_TELL
            if self._type == "truth" and answer != CANNOT_TELL:
                if found[0].lower() == "no" and _DETERMINER.match(after):
                    continue
                if negated and found[0].lower() not in ("yes", "no"):
                    answer, negated = {"yes": "no", "no": "yes"}[answer], False
            strong = not _SUBORDINATE.search(_SENTENCE_END.split(text[: found.start()])[-1])
            if self._type in ("kind", "group"):
                beside = _BESIDE.search(gap) or (not before.strong and _JOINED.fullmatch(gap))
                strong = strong and not beside and not after.startswith("'s")
            elif self._type in ("direction", "box", "lane", "weather"):
                strong = strong and not _PLACED.match(after) and not re.search(r"\bon (?:the|its) $", gap)
            before = _Mention(found.start(), found.end(), answer, strong)
            if answer and not negated:
                yield before

    def _letters(self, text: str) -> Iterator[_Mention]:
        """Letters that stand for choices."""
        if not self._choices:
            return
        for found in _LETTER.finditer(text):
            place = ord(next(filter(None, found.groups())).upper()) - ord("A")
            if 0 <= place < len(self._choices) and not _NEGATED.search(text[: found.start()]):
                yield _Mention(found.start(), found.end(), self._choices[place])

    def _numbers(self, text: str) -> Iterator[_Mention]:
        """Numbers: counts as "3" and lengths as "6.2 m", "" where the rule takes none."""
        pattern = _COUNT if self._type == "count" else _METRES
        found = [number for number in pattern.finditer(text) if not _NEGATED.search(text[: number.start()])]
        if self._type == "metres" and any(number["unit"] for number in found):
            found = [number for number in found if number["unit"]]
        for number in found:
            read = _count if self._type == "count" else _metres
            yield _Mention(number.start(), number.end(), read(number, text))


@lru_cache(64)
def _vocabulary(
    type: str, choices: tuple[str, ...], names: tuple[tuple[str, str], ...]
) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of all names of a type's answers, the longest first, and the answers by the names' keys."""
    said = dict.fromkeys(_UNSURE.split(","), CANNOT_TELL)
    for answer, words in WORDS[type].items():
        said |= {word: answer for word in (answer, *words.split(",")) if word}
    if type not in ("count", "metres"):
        said |= {choice: choice for choice in choices}
    said |= dict(names) | {answer: answer for answer in dict(names).values() if answer}
    ordered = sorted(said, key=len, reverse=True)
    inner = "|".join(r"[ -]*".join(map(re.escape, re.split(r"[ -]+", name))) for name in ordered)
    return re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.I), {_key(name): said[name] for name in said}


def _value(number: re.Match[str], decimal_comma: bool) -> float:
    if number["half"]:
        return 0.5
    if number["words"]:
        value = _VALUES[re.sub(r"[ -]+", " ", number["words"].lower())]
        return value + (0.5 if number["and_half"] else 0.0)
    digits = re.sub(r",(?=\d{3}(?!\d))", "", number["digits"])
    digits = digits.replace(",", ".") if decimal_comma else digits
    return float(digits) if re.fullmatch(r"-?\d+(?:\.\d+)?", digits) else float("nan")


def _count(number: re.Match[str], text: str) -> str:
    if number["none"]:
        return "0"
    value = _value(number, decimal_comma=False)
    before, after = text[: number.start()], text[number.end() :]
    hedged = _HEDGE.search(before) or _LIMIT.search(before) or _RANGE.match(after)
    return f"{value:.12g}" if value == value and not hedged else ""


def _metres(number: re.Match[str], text: str) -> str:
    value = _value(number, decimal_comma=True) * _UNITS[(number["unit"] or "m").lower()]
    before, after = text[: number.start()], text[number.end() :]
    if number["inches"]:
        value += float(number["inches"]) * _UNITS["inch"]
    hedged = _LIMIT.search(before) or _RANGE.match(after)
    return f"{value:.12g} m" if value == value and not hedged else ""


_DETERMINER = re.compile(
    r" (?!(?:it|there|the|they|this|that|its|it's|i|we|you|and|or|yes|because|as|since|but|not|for|a|an|is)\b)[a-z]",
    re.I,
)
_LETTER = re.compile(
    r"\(([A-Za-z])\)|(?<![\w'(-])([B-HJ-Z])(?![\w'-])|\b(?:option|choice)\s+([A-Za-z])(?![\w'])|"
    r"(?<![\w'(-])([AI])(?=\s*(?:[).:,;/&]|$|(?:and|or|is)\b))|^\W*([a-z])\W*$"
)


def _key(name: str) -> str:
    return re.sub(r"[\s-]+", "", name.lower())
