"""Parsing questions: the inverse of the phrasings of :mod:`simtown.language.questions`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from simtown.language.questions import words


def any_of(phrases: Iterable[str], name: str) -> str:
    """A pattern, called `name`, for any of some phrases, as :func:`words` writes them; the longest first."""
    longest_first = sorted({" ".join(words(p)) for p in phrases}, key=len, reverse=True)
    return f"(?P<{name}>{'|'.join(map(re.escape, longest_first))})"


def match(question: str, forms: Iterable[str], slots: Mapping[str, str]) -> dict[str, str | None] | None:
    """The content of the slots of the first form that matches a question, or None.

    `forms` have slots such as "{s}", each a word of its own or followed by punctuation; `slots` has their
    patterns with named groups.
    """
    normalised = " ".join(words(question))
    for form in forms:
        pattern = " ".join(slots.get(word, re.escape(word)) for word in words(form))
        if slots_match := re.fullmatch(pattern, normalised):
            return slots_match.groupdict()
    return None
