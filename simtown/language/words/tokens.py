"""Words of the questions of all families, as numbers: a fixed vocabulary, whatever a data set asks.

It is vocabulary.txt, a word a line. A new word goes to the end, so that no number changes.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import numpy as np

from simtown.assets.entities import OWN
from simtown.language.meaning.nouns import plural
from simtown.language.words.questions import PAD, UNKNOWN

#: Tokens of the longest question, padding included.
LENGTH = 48


def words(question: str) -> list[str]:
    """Lower-case tokens; punctuation and the 's of "the taxi's" stand alone."""
    return re.findall(r"'s|[a-z0-9][a-z0-9'-]*(?<!')(?=\W|$)|[^\w\s]", question.lower().replace("'s", " 's"))


@cache
def vocabulary(own_kinds: int = len(OWN)) -> tuple[str, ...]:
    """Every token: the lines of vocabulary.txt, then the words of so many kinds of one's own."""
    shipped = files("simtown.language.words").joinpath("vocabulary.txt").read_text(encoding="utf-8").split()
    nouns = [noun for kind in OWN[:own_kinds] for noun in (kind.name, kind.group)]
    own = words(" ".join(f"{noun} {plural(noun)}" for noun in nouns))
    return tuple(dict.fromkeys([*shipped, *own]))


@cache
def _numbers() -> dict[str, int]:
    return {word: number for number, word in enumerate(vocabulary())}


def encode(question: str) -> np.ndarray:
    """(LENGTH,) uint16 token ids, padded with PAD; unknown words are UNKNOWN, more than LENGTH are cut."""
    out = np.full(LENGTH, PAD, dtype=np.uint16)
    ids = [_numbers().get(word, UNKNOWN) for word in words(question)][:LENGTH]
    out[: len(ids)] = ids
    return out
