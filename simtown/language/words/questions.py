"""Questions in words: text and token ids of (subject, relation, object) over a fixed vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from simtown.assets.entities import CATALOGUE, ENTITIES, with_article
from simtown.core.files import KindsError
from simtown.language.meaning.relations import RELATION_NAMES

if TYPE_CHECKING:
    import numpy as np

#: Phrasings; number 0 is the paper's. {s} and {o} are bare names, {a_s} and {a_o} have their article.
PHRASINGS: tuple[str, ...] = (
    "Is {a_s} {r} {a_o}?",
    "Is the {s} {r} the {o}?",
    "Is there {a_s} {r} the {o}?",
    "Does the {s} stand {r} the {o}?",
    "The {s} is {r} the {o}, isn't it?",
)
#: What a data set may ask for: the paper's phrasing alone, or one of the first five at random.
STYLES: dict[str, tuple[int, ...]] = {"paper": (0,), "varied": (0, 1, 2, 3, 4)}
#: The families of questions that data sets may ask beside the paper's: the tables of families.toml.
FAMILIES: tuple[str, ...] = tuple(
    re.findall(
        r"^\[(?!paper\])([\w-]+)\]$",
        files("simtown.language.asking").joinpath("families.toml").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)
#: How many phrasings, relations and entities there were in each release that added some. The words of a row
#: come before those of the next (append, do not change).
RELEASES: tuple[tuple[int, int, int], ...] = ((5, 4, 102),)
#: Tokens of the longest question, padding included.
LENGTH = 16
PAD, UNKNOWN = 0, 1
#: Words of a vocabulary, whose numbers are stored in 8 bits.
_MOST_TOKENS = 256


def text(subject: str, relation: str, obj: str, phrasing: int = 0) -> str:
    """The question in words."""
    return PHRASINGS[phrasing].format(
        s=subject, o=obj, a_s=with_article(subject), a_o=with_article(obj), r=relation
    )


def words(question: str) -> list[str]:
    """Lower-case tokens; punctuation stands alone, hyphens and apostrophes stay inside words."""
    return question.lower().replace("?", " ?").replace(",", " ,").split()


def _forms(phrasings: Iterable[int], relations: Sequence[str]) -> list[str]:
    return [text("a", relation, "an", phrasing) for phrasing in phrasings for relation in relations]


@lru_cache(maxsize=1)
def vocabulary() -> tuple[str, ...]:
    """Every token in a fixed order, number 0 padding and number 1 unknown.

    Release by release come the words of phrasings, of relations, then of entities.
    """
    tokens: dict[str, None] = {"<pad>": None, "<unk>": None}
    for phrasings, relations, entities in (*RELEASES, (len(PHRASINGS), len(RELATION_NAMES), len(ENTITIES))):
        for phrase in [*_forms(range(phrasings), RELATION_NAMES[:relations]), *ENTITIES[:entities]]:
            tokens.update(dict.fromkeys(words(phrase)))
    if len(tokens) > _MOST_TOKENS:
        many = f"the names of --kinds make {len(tokens):,} words"
        raise KindsError(f"{many}, and a vocabulary has at most {_MOST_TOKENS}: give fewer kinds")
    return tuple(tokens)


@lru_cache(maxsize=64)
def vocabulary_for(style: str, relations: tuple[str, ...], own_kinds: int = 0) -> tuple[str, ...]:
    """The vocabulary as far as a data set of a style, relations and so many kinds of one's own needs it.

    A word that only later relations or phrasings have is not in it.
    """
    phrasings, first_relations, _ = RELEASES[0]
    forms = _forms({*range(phrasings), *STYLES[style]}, (*RELATION_NAMES[:first_relations], *relations))
    numbers = {word: number for number, word in enumerate(vocabulary())}
    names = ENTITIES[: len(CATALOGUE) + own_kinds]
    last = max(numbers[word] for phrase in [*forms, *names] for word in words(phrase))
    return vocabulary()[: last + 1]


@lru_cache(maxsize=1)
def _numbers(tokens: tuple[str, ...]) -> dict[str, int]:
    return {token: number for number, token in enumerate(tokens)}


def encode(question: str) -> np.ndarray:
    """(LENGTH,) uint8 token ids, padded with PAD.

    Words outside the vocabulary become UNKNOWN; too long a text raises ValueError.
    """
    import numpy as np

    tokens = words(question)
    numbers = _numbers(vocabulary())
    out = np.zeros(LENGTH, dtype=np.uint8)
    out[: len(tokens)] = [numbers.get(t, UNKNOWN) for t in tokens]
    return out


@lru_cache(maxsize=65536)
def _both(subject: int, relation: int, obj: int, phrasing: int) -> tuple[bytes, bytes]:
    question = text(ENTITIES[subject], RELATION_NAMES[relation], ENTITIES[obj], phrasing)
    return question.encode(), encode(question).tobytes()


def ask(
    subject: np.ndarray, relation: np.ndarray, obj: np.ndarray, phrasing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Texts and tokens of n questions, from (n,) entity, relation, entity and phrasing numbers.

    Returns:
        (n,) bytes strings ("S96", UTF-8) and (n, LENGTH) uint8.
    """
    import numpy as np

    rows = [
        _both(*q)
        for q in zip(subject.tolist(), relation.tolist(), obj.tolist(), phrasing.tolist(), strict=True)
    ]
    tokens = np.frombuffer(b"".join(t for _, t in rows), dtype=np.uint8).reshape(len(rows), LENGTH)
    return np.array([q for q, _ in rows], dtype="S96"), tokens
