"""Where things stand in a text: the gap of a context, and the whitespace-separated words that tokens belong
to.
"""

from __future__ import annotations

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
    """The space that stands before a gap, if any."""
    return " " if before[-1:].isspace() else ""


def words_of(text: str, offsets: Sequence[tuple[int, int]]) -> np.ndarray:
    """(t,) int64: the whitespace-separated word, from 0, in which each token begins. offsets: characters
    from-to of the tokens.
    """
    starts = np.array(
        [c for c in range(len(text)) if not text[c].isspace() and (c == 0 or text[c - 1].isspace())],
        dtype=np.int64,
    )
    return (
        np.searchsorted(
            starts, np.array([visible(text, *span) for span in offsets], dtype=np.int64), side="right"
        )
        - 1
    )


def check_spans(texts: Sequence[str], spans: Sequence[tuple[int, int]] | None) -> None:
    """Check that every text has a span, if there are any.

    Raises:
        ValueError: the numbers of texts and spans differ.
    """
    if spans is not None and len(spans) != len(texts):
        raise ValueError(f"{len(texts)} texts need as many spans, not {len(spans)}")


def visible(text: str, begin: int, end: int) -> int:
    """Where a token's first visible character is: byte-level tokenizers count the space before it."""
    while begin < end - 1 and text[begin].isspace():
        begin += 1
    return begin


def touching(text: str, offsets: Sequence[tuple[int, int]], begin: int, end: int) -> list[int]:
    """Numbers of the tokens that hold any of the characters `begin` to `end`."""
    return [i for i, (a, b) in enumerate(offsets) if b > a and visible(text, a, b) < end and b > begin]
