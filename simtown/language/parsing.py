"""Reading questions: the phrasings of :mod:`simtown.language.questions`, backwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from simtown.language.questions import words


def any_of(phrases: Iterable[str], name: str) -> str:
    """A pattern, called `name`, of any one of some phrases, the longest first, as :func:`words` writes them."""
    known = sorted({" ".join(words(p)) for p in phrases}, key=len, reverse=True)
    return f"(?P<{name}>{'|'.join(map(re.escape, known))})"


def match(question: str, forms: Iterable[str], slots: Mapping[str, str]) -> dict[str, str | None] | None:
    """What stands in the slots of the first form that a question has, or None.

    `forms` hold slots such as "{s}", each a word of its own or followed by punctuation; `slots` gives their patterns with named groups.
    """
    asked = " ".join(words(question))
    for form in forms:
        pattern = " ".join(slots.get(word, re.escape(word)) for word in words(form))
        if found := re.fullmatch(pattern, asked):
            return found.groupdict()
    return None
