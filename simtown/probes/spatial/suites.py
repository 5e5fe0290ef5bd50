"""Test suites: a corpus's phrases in bins by their relation, and the same phrases with another in its place.

A phrase belongs to the bin of its longest relation, the first of several as long (section 4 of Ghanimifard
and Dobnik 2019). What is left of it is a frame. Different phrases, also of different contexts, may leave the
same frame: it is scored once, and counts as often as it was seen.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from simtown.probes.spatial.lexicon import CONTEXTS, lexicon

#: Words before and after a relation.
Frame = tuple[str, str]


class Suites(NamedTuple):
    """Bins of a corpus.

    Attributes:
        contexts: (m,) names of the bins, in the order of Figure 3.
        frames: distinct ones, sorted.
        counts: (m, f) int64, how many phrases of each bin leave each frame.
        seen: {surface form: phrases of the corpus that hold it as their relation}.
        phrases: how many were read.
        kept: how many of them have only words that are common enough.
    """

    contexts: tuple[str, ...]
    frames: tuple[Frame, ...]
    counts: np.ndarray
    seen: dict[str, int]
    phrases: int
    kept: int


def find(tokens: Sequence[str], forms: Container[tuple[str, ...]], longest: int) -> tuple[int, int] | None:
    """Where the longest of the forms stands in the tokens, from-to; the first of several as long, or None.

    >>> find("cup on top of the table".split(), {("on",), ("on", "top", "of")}, 3)
    (1, 4)
    """
    for length in range(min(longest, len(tokens)), 0, -1):
        for begin in range(len(tokens) - length + 1):
            if tuple(tokens[begin : begin + length]) in forms:
                return begin, begin + length
    return None


def substitute(frame: Frame, relation: str) -> str:
    """The phrase with the relation in the frame's gap."""
    return " ".join(part for part in (frame[0], relation, frame[1]) if part)


def collect(
    sentences: Iterable[Sequence[str]],
    *,
    contexts: Sequence[str] = CONTEXTS,
    common: Container[str] | None = None,
    least: int = 10,
    most: int = 200,
    seed: int = 0,
) -> Suites:
    """Read the sentences, token lists in lower case, once and keep a random sample of each context's.

    Args:
        contexts: relations that become bins.
        common: words that a phrase may have; None: any.
        least: contexts with fewer phrases are left out.
        most: phrases of a context that are kept at most (a reservoir: all are as likely).
    """
    forms = {tuple(form.split()) for form in lexicon()} | {tuple(c.split()) for c in contexts}
    longest = max(map(len, forms))
    bins: dict[str, list[Frame]] = {context: [] for context in contexts}
    draws = {context: np.random.default_rng([seed, i]) for i, context in enumerate(contexts)}
    seen: Counter[str] = Counter()
    phrases = kept = 0
    for tokens in sentences:
        phrases += 1
        if common is not None and not all(token in common for token in tokens):
            continue
        kept += 1
        place = find(tokens, forms, longest)
        if place is None:
            continue
        relation = " ".join(tokens[slice(*place)])
        seen[relation] += 1
        if relation not in bins:
            continue
        frame = " ".join(tokens[: place[0]]), " ".join(tokens[place[1] :])
        sample = bins[relation]
        if len(sample) < most:
            sample.append(frame)
        elif (at := int(draws[relation].integers(seen[relation]))) < most:  # Vitter's algorithm R
            sample[at] = frame
    chosen = tuple(c for c in contexts if seen[c] >= least)
    if len(chosen) < 2:
        few = f"{len(chosen)} contexts have at least {least}; give a larger corpus or a smaller `least`"
        raise ValueError(f"{phrases:,} phrases hold too few spatial relations: {few}")
    frames = tuple(sorted({frame for c in chosen for frame in bins[c]}))
    number = {frame: i for i, frame in enumerate(frames)}
    counts = [np.bincount([number[frame] for frame in bins[c]], minlength=len(frames)) for c in chosen]
    return Suites(chosen, frames, np.array(counts, dtype=np.int64), dict(seen), phrases, kept)
