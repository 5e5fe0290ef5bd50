"""Numbers of replies. All notations are first rewritten as digits; what has no single value as :data:`UNCLEAR`."""

from __future__ import annotations

import re
import unicodedata

from simtown.language.reply_words import THAT_ONE, pattern

#: Stands for a number without a single value, such as a range.
UNCLEAR = "∅"
#: Metres of a unit.
METRES = {
    "m": 1.0, "metre": 1.0, "meter": 1.0, "mètre": 1.0, "metro": 1.0, "米": 1.0, "公尺": 1.0,
    "cm": 0.01, "centimetre": 0.01, "centimeter": 0.01, "厘米": 0.01, "mm": 0.001,
    "km": 1e3, "kilometre": 1e3, "kilometer": 1e3, "公里": 1e3, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048,
    "'": 0.3048, "inches": 0.0254, "inch": 0.0254, "yard": 0.9144, "yd": 0.9144,
}  # fmt: skip

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_FROM_TWO = (
    "deux trois quatre cinq six sept huit neuf dix",
    "zwei drei vier fünf sechs sieben acht neun zehn",
    "dos tres cuatro cinco seis siete ocho nueve diez",
    "二 三 四 五 六 七 八 九 十",
)
_HAN = "零一二两兩三四五六七八九十百"
_VALUES = {word: value for value, word in enumerate(_ONES.split())}
for _word, _value in [*_VALUES.items()][1:10]:
    _VALUES[f"{_word} hundred"] = 100 * _value
for _tens, _word in enumerate(_TENS.split(), 2):
    _VALUES[_word] = 10 * _tens
    for _one in _ONES.split()[1:10]:
        _VALUES[f"{_word} {_one}"] = 10 * _tens + _VALUES[_one]
for _words in _FROM_TWO:
    _VALUES |= {word: value for value, word in enumerate(_words.split(), 2)}
_VALUES |= {"a hundred": 100, "a dozen": 12, "一": 1, "两": 2, "兩": 2, "零": 0}


_CARDINAL = "|".join(sorted((word for word in _VALUES if " " not in word), key=len, reverse=True))
_SCALE = "hundred|thousand|million|dozen|half|halves|(?:third|quarter|fifth|tenth)s?"
#: A run of number words, which is read as a whole.
_WORDS = pattern(
    rf"(?<![\w-])(?:half an?(?= )|(?:an? (?:hundred|thousand|million|dozen)|{_CARDINAL})"
    rf"(?:(?:[ -]| and (?:an? )?| point )(?:{_CARDINAL}|{_SCALE}))*)(?!\w|-[a-z])|"
    rf"[{_HAN}]+(?=[辆輛个個台部只米])"
)
_FRACTION = re.compile(r"(?<![\w.,/])(?:(\d{1,9}) )?(\d{1,9})/(\d{1,9})(?![\w/])")
_DIGITS = rf"-?\d+(?:[.,]\d+)*|{UNCLEAR}"
#: Operators whose neighbours may have units and nouns, and those between bare numbers.
_OPERATOR = r"[+×÷·±−^]|\b(?:plus|minus|times|divided by|multiplied by)\b"
_BETWEEN = rf"(?<=[\d{UNCLEAR}])(?: ?(?:[-–—~∼/x&]|\.\.+|to|or|and|bis|à|或|到|至) ?|,? )(?=[\d{UNCLEAR}])"
_EQUALS = r"=|\bequals\b"
_ARITHMETIC = pattern(f"{_OPERATOR}|{_BETWEEN}")
_NOUNS = r"[a-z :()\[\]-]{0,40}?"
_EXPRESSION = pattern(
    rf"(?<![\w.,/])(?:{_DIGITS})(?:(?:{_NOUNS}(?:{_OPERATOR}|{_EQUALS}){_NOUNS}|{_BETWEEN})(?:{_DIGITS}))+"
)
_UNIT = "|".join(sorted(METRES, key=len, reverse=True))
NUMBER = pattern(
    rf"(?P<digits>(?<![\w.,/])(?:{_DIGITS}))(?:[ +-]{{0,2}}(?P<unit>{_UNIT})(?:s|n)?(?![a-z\d_/]))?"
)
#: Signs of mathematics beside which no number is an answer, as in > 3 or √9; arrows and "=" announce one.
_SIGNS = "".join(
    sign for sign in map(chr, range(0x3000)) if unicodedata.category(sign) == "Sm" and sign not in "=~≈|→⇒"
)
SIGN_BEFORE = re.compile(rf"(?<![-=])[{re.escape(_SIGNS)}*/^] ?$|\d ?(?:[-–~]|to) ?$")
SIGN_BEHIND = re.compile(rf" ?[{re.escape(_SIGNS)}*/^]")


def in_digits(text: str) -> str:
    """Rewrite number words, fractions and expressions as digits or, without a single value, as UNCLEAR."""
    text = _WORDS.sub(_spelled, text)
    text = re.sub(r"(\d) and a half\b", r"\1.5", text)
    text = _FRACTION.sub(_divided, text)
    return _EXPRESSION.sub(_worked_out, text)


def value_of(digits: str, decimal_comma: str) -> float | None:
    """The value of digits; None if UNCLEAR, negative, or if commas mark neither thousands nor decimals."""
    digits = re.sub(r",(?=\d{3}(?!\d))", "", digits).replace(",", decimal_comma or ",")
    return float(digits) if re.fullmatch(r"\d{1,9}(?:\.\d+)?", digits) else None


def _spelled(run: re.Match[str]) -> str:
    """Digits for a run of number words."""
    words = run[0].lower().replace("-", " ")
    if words.startswith("half"):
        return "0.5"
    if words == "one" and THAT_ONE.search(run.string, max(0, run.start() - 9), run.start()):
        return run[0]
    words, *half = words.split(" and a half")
    whole, *decimals = words.split(" point ")
    value = str(_VALUES.get(whole, UNCLEAR))
    places = [str(_VALUES.get(word, UNCLEAR)) for word in " ".join(decimals).split()] + ["5"] * len(half)
    if places:
        value += "." + "".join(places)
    if UNCLEAR in value or any(len(place) > 1 for place in places):
        value = UNCLEAR
    return f" {value} " if whole[0] in _HAN else value


def _divided(fraction: re.Match[str]) -> str:
    """Digits for a proper fraction, perhaps behind a whole number."""
    whole, numerator, denominator = (int(part or 0) for part in fraction.groups())
    return f"{whole + numerator / denominator:.9g}" if numerator < denominator else UNCLEAR


def _worked_out(expression: re.Match[str]) -> str:
    """The results that an expression states, else its sum; an equation such as 5 m = 500 cm stays."""
    sides = re.split(_EQUALS, expression[0])
    results = [side.strip() for side in sides if not _ARITHMETIC.search(side)]
    if results:
        return " = ".join(results)
    parts = [*NUMBER.finditer(expression[0])]
    values = [value_of(part["digits"], ".") for part in parts if not part["unit"]]
    is_sum = {*_ARITHMETIC.findall(expression[0])} <= {"+", "plus"} and len(values) == len(parts)
    return UNCLEAR if None in values or not is_sum else f"{sum(values):.9g}"
