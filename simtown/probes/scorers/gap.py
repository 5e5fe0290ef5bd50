"""Where things stand in a text: the gap of a context, and the whitespace-separated words of its tokens."""

import re
from collections.abc import Sequence

import numpy as np

from simtown.probes.scorers.base import BLANK


def split_at_blank(context: str) -> tuple[str, str]:
    """What stands before and after the gap.

    Raises:
        ValueError: there is not exactly one gap.
    """
    before, *after = context.split(BLANK)
    if len(after) != 1:
        raise ValueError(f"a context has one {BLANK}, not {len(after)}: '{context}'")
    return before, after[0]


def lead_of(before: str) -> str:
    """The end of a text, from its last space on, behind which a word stands: " " or ' "'; "" without text."""
    return re.findall(r"\s?\S*\Z", before)[0]


def words_of(text: str, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
    """(t,) int64: the whitespace-separated word, from 0, in which each token begins.

    `offsets` are (t) characters (from, to) of the tokens.
    """
    starts = [match.start() for match in re.finditer(r"\S+", text)]
    places = [visible(text, *span) for span in offsets]
    return np.searchsorted(starts, np.array(places, dtype=np.int64), side="right") - 1


def visible(text: str, begin: int, end: int) -> int:
    """Where a token's first visible character is: byte-level tokenizers count the space before it."""
    while begin < end - 1 and text[begin].isspace():
        begin += 1
    return begin


def touching(text: str, offsets: Sequence[tuple[int, int]], begin: int, end: int) -> list[int]:
    """Numbers of the tokens that hold any of the characters `begin` to `end`."""
    return [i for i, (a, b) in enumerate(offsets) if b > a and visible(text, a, b) < end and b > begin]
