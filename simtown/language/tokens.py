"""Words of the questions of all families, as numbers: a fixed vocabulary, whatever a data set asks."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from simtown.assets.entities import CATALOGUE, OWN
from simtown.language import wording
from simtown.language.families import families
from simtown.language.forms import ORDINALS
from simtown.language.nouns import ANIMAL_NOUNS, STREET_NOUNS, VEHICLE_NOUNS, plural
from simtown.language.programs import COLOURS
from simtown.language.questions import PAD, UNKNOWN

#: Tokens of the longest question, padding included.
LENGTH = 48
#: Families whose words come first; those of later ones follow all others, so that no number changes.
FIRST = 24


def words(question: str) -> list[str]:
    """Lower-case tokens; punctuation and the 's of "the taxi's" stand alone."""
    return re.findall(r"'s|[a-z0-9][a-z0-9'-]*(?<!')(?=\W|$)|[^\w\s]", question.lower().replace("'s", " 's"))


@cache
def vocabulary(own_kinds: int = len(OWN)) -> tuple[str, ...]:
    """Every token: padding, unknown, the words of the kinds, then those of nouns and families.

    The words of so many kinds of one's own are the last.
    """
    texts = [" ".join(text for t in own.templates for text in t.texts) for own in families().values()]
    first = STREET_NOUNS[: -len(ANIMAL_NOUNS)]
    phrases = [
        *CATALOGUE, *map(plural, CATALOGUE), *VEHICLE_NOUNS, *map(plural, VEHICLE_NOUNS), *COLOURS,
        *first, *map(plural, first), *wording.RELATIONS.values(), *wording.DRIVERS.values(),
        *wording.SEEN.values(), *wording.LANES.values(), *wording.DIRECTIONS.values(), *wording.FROM,
        *wording.FROM.values(), *ORDINALS, "nearer to the viewer than farther from bigger smaller",
        *texts[:FIRST], "a an the not that is are neither nor and or any", *ANIMAL_NOUNS,
        *map(plural, ANIMAL_NOUNS), *texts[FIRST:],
        *(f"{noun} {plural(noun)}" for kind in OWN[:own_kinds] for noun in (kind.name, kind.group)),
    ]  # fmt: skip
    tokens: dict[str, None] = {"<pad>": None, "<unk>": None}
    for phrase in phrases:
        tokens.update(dict.fromkeys(words(re.sub(r"\{[^}]*\}", " ", phrase))))
    return tuple(tokens)


@cache
def _numbers() -> dict[str, int]:
    return {word: number for number, word in enumerate(vocabulary())}


def encode(question: str) -> np.ndarray:
    """(LENGTH,) uint16 token ids, padded with PAD; unknown words are UNKNOWN, more than LENGTH are cut."""
    out = np.full(LENGTH, PAD, dtype=np.uint16)
    ids = [_numbers().get(word, UNKNOWN) for word in words(question)][:LENGTH]
    out[: len(ids)] = ids
    return out
