"""Reading what a model replied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Gold(NamedTuple):
    """The right answer to a question, and what it is compared with."""

    type: str
    answer: str
    choices: tuple[str, ...] = ()
    tolerance: float | None = None
    number: float | None = None


def score_reply(text: str, gold: Gold, names: Mapping[str, str] | None = None) -> float:
    """1 for a right reply, 0 for any other."""
    return float(text.strip() == gold.answer)
