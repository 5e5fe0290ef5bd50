"""Numbers of replies: all notations are rewritten as digits, or as :data:`UNCLEAR`, before they are read."""

from __future__ import annotations

import math
import re

from simtown.language.words.reply_words import pattern

#: Stands for a number without a single value, such as a range.
UNCLEAR = "∅"
#: Metres of a unit.
METRES = {
    unit: metres
    for units, metres in {
        "m metre meter mètre metro 米 公尺": 1.0, "cm centimetre centimeter 厘米": 0.01,
        "dm": 0.1, "mm": 0.001,
        "km kilometre kilometer 公里": 1e3, "ft feet foot '": 0.3048,
        "inches inch": 0.0254, "yard yd": 0.9144,
    }.items()
    for unit in units.split()
}  # fmt: skip

#: Words for 0, 1, 2 and so on.
_WORDS_BY_VALUE = """\
zero 零
one 一
two deux zwei dos 二 两 兩
three trois drei tres 三
four quatre vier cuatro 四
five cinq fünf cinco 五
six sechs seis 六
seven sept sieben siete 七
eight huit acht ocho 八
nine neuf neun nueve 九
ten dix zehn diez 十
eleven
twelve
thirteen
fourteen
fifteen
sixteen
seventeen
eighteen
nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES: dict[str, float] = {
    word: value for value, line in enumerate(_WORDS_BY_VALUE.splitlines()) for word in line.split()
}
_ONES = [(f" {word}", value) for word, value in _VALUES.items() if 0 < value < 10]
for _value, _word in enumerate(_TENS.split(), 2):
    _VALUES |= {_word + one: 10 * _value + value for one, value in [("", 0), *_ONES]}
_VALUES |= {"one hundred": 100, "a hundred": 100, "a dozen": 12, "half a": 0.5, "half an": 0.5}
_HAN = "零一二两兩三四五六七八九十百"

_NUMERAL = "|".join(_VALUES)
_SCALE = "hundred|thousand|million|dozen|half|halves|(?:third|quarter|fifth|tenth)s?"
#: A run of number words, which is read as a whole. "One" as in "the one" is not a number.
_WORDS = pattern(
    r"(?<![\w-])(?=[^\W\d])"
    r"(?:(?!one\b)|(?<!the )(?<!this )(?<!that )(?<!each )(?<!which )(?<!other )(?<!first )(?<!last ))"
    rf"(?:{_NUMERAL})(?:(?:[ -]| and (?:an? )?| point )(?:{_NUMERAL}|{_SCALE}))*(?!\w|-[a-z])|"
    rf"[{_HAN}]+(?=[辆輛个個台部只米])"
)
_FRACTION = re.compile(r"(?<![\w.,/])(?:(\d{1,9}) )?(\d{1,9})/(\d{1,9})(?![\w/])")
_DIGITS = rf"-?\d+(?:[.,]\d+)*|{UNCLEAR}"
#: Operators whose neighbours may have units and nouns, and those between bare numbers.
_OPERATOR = r"[+×÷·±−^√]|\b(?:plus|minus|times|divided by|multiplied by)\b"
_JOINS = r"[-–—~∼]{1,3}|[←-⇿⟰-⟿]|[/x&]|\.\.+|vs\.?|versus|to|by|or|and|bis|à|ou|o|oder|et|und|y|或|到|至"
_BETWEEN = rf"(?<=[\d{UNCLEAR}])(?: ?(?:{_JOINS}) ?|,? )(?=[\d{UNCLEAR}])"
_EQUALS = r"=|\bequals\b"
_ARITHMETIC = pattern(f"{_OPERATOR}|{_BETWEEN}|{UNCLEAR}| - ")
_NOUNS = r"[a-z :()\[\]-]{0,40}?"
_EXPRESSION = pattern(
    rf"(?:√ ?|(?<![\w.,/]))(?:{_DIGITS})"
    rf"(?:(?:{_NOUNS}(?:{_OPERATOR}|- (?=[^=\n]{{0,40}}=)|{_EQUALS}){_NOUNS}|{_BETWEEN})(?:{_DIGITS}))+"
)
_UNIT = "|".join(METRES)
NUMBER = pattern(
    rf"(?P<digits>(?<![\w.,/])(?:{_DIGITS}))(?:[ +-]{{0,2}}(?P<unit>{_UNIT})(?:s|n)?(?![a-zà-ÿ\d_/]))?"
)
#: A unit that is not a metre, away from a number.
OTHER_UNIT = pattern(
    r"(?<![a-z])(?:[cdkm]m|(?:centi|deci|milli|kilo)met(?:er|re)s?|ft|feet|foot|inch(?:es)?|yards?|yd|miles?)(?![a-z])|[厘公][米里]"
)
_SUM = pattern(rf"(?!.*\d ?(?:{_UNIT})(?:s|n)?\b)\d+(?:{_NOUNS}(?:\+|plus){_NOUNS}\d+)+")


def in_digits(text: str) -> str:
    """Rewrite number words, fractions and expressions as digits or, without a single value, as UNCLEAR."""
    text = _WORDS.sub(_spelled, text)
    text = _FRACTION.sub(_divided, text)
    return _EXPRESSION.sub(_worked_out, text)


def value_of(digits: str, decimal_comma: str) -> float:
    """The value of digits; NaN if UNCLEAR, negative, or if commas mark neither thousands nor decimals."""
    digits = re.sub(r",(?=\d{3}(?!\d))", "", digits).replace(",", decimal_comma or ",")
    return float(digits) if re.fullmatch(r"\d{1,9}(?:\.\d+)?", digits) else math.nan


def _spelled(run: re.Match[str]) -> str:
    """Digits for a run of number words."""
    words = run[0].lower().replace("-", " ").replace(" and a half", " point five")
    digits = ".".join(str(_VALUES.get(part, UNCLEAR)) for part in words.split(" point "))
    digits = UNCLEAR if UNCLEAR in digits else digits
    return f" {digits} " if words[0] in _HAN else digits


def _divided(fraction: re.Match[str]) -> str:
    """Digits for a proper fraction, perhaps behind a whole number."""
    whole, numerator, denominator = (int(part or 0) for part in fraction.groups())
    return f"{whole + numerator / denominator:.9g}" if numerator < denominator else UNCLEAR


def _worked_out(expression: re.Match[str]) -> str:
    """The results that an expression states, else its sum; an equation such as 5 m = 500 cm stays."""
    text = expression[0]
    results = [side.strip() for side in re.split(_EQUALS, text) if not _ARITHMETIC.search(side)]
    if not results and _SUM.fullmatch(text):
        results = [str(sum(map(int, re.findall(r"\d+", text))))]
    return " = ".join(results) or UNCLEAR
