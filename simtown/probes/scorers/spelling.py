"""Words in texts and at gaps, and words of several sub-words, by an explicit policy.

A model's vocabulary holds pieces of words; a class such as "turquoise" may be two of them. What its
probability then is, is a choice:

* ``first``: that of its first sub-word (Zhang et al. 2022, and what fill-mask pipelines do without saying
  so).
* ``drop``: none; only words of one sub-word are compared.
* ``joint``: all its sub-words masked at once, their log-probabilities added as if they were independent.
* ``left-to-right``: as many masks, filled from the left, each sub-word predicted from those before it (Kauf
  and Ivanova 2023).

A causal model has the chain rule: for it, the last two are the same and exact.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

#: Where a context has its gap.
BLANK = "[BLANK]"

Policy = Literal["first", "drop", "joint", "left-to-right"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
Tokens = tuple[int, ...]


class Spellings(NamedTuple):
    """Targets as token numbers: each distinct spelling once.

    Attributes:
        spellings: distinct token sequences, none empty.
        members: for every target the numbers of its spellings, [] where it has none.
    """

    spellings: list[Tokens]
    members: list[list[int]]

    def totals(self, scores: np.ndarray) -> np.ndarray:
        """(n, c) log-probabilities of the targets from (n, s) of their spellings.

        Synonyms' probabilities add up; a target without a spelling is NaN.
        """
        totals = np.full((len(scores), len(self.members)), np.nan)
        for c, members in enumerate(self.members):
            if members:
                totals[:, c] = np.logaddexp.reduce(scores[:, members], axis=1)
        return totals


def synonyms_of(target: str | Sequence[str]) -> list[str]:
    """The words of a target, each once."""
    return [target] if isinstance(target, str) else list(dict.fromkeys(target))


def add_synonyms(known: Mapping[str, float], targets: Sequence[str | Sequence[str]]) -> list[float]:
    """Log-probability of each target from those of words; NaN if none of its words is known."""
    of_words = ([known[word] for word in synonyms_of(target) if word in known] for target in targets)
    return [float(np.logaddexp.reduce(own)) if own else np.nan for own in of_words]


def spell(
    targets: Sequence[str | Sequence[str]], tokens_of: Callable[[str], Tokens | None], policy: Policy
) -> Spellings:
    """Targets, words or several synonyms each, under a policy for words of several sub-words.

    `tokens_of` gives a word's token numbers, None if the model does not know it.
    """
    numbers: dict[Tokens, int] = {}
    members = []
    for target in targets:
        words = synonyms_of(target)
        if not words or not all(word.strip() for word in words):
            raise ValueError(f"a target must be a word or several synonyms, not {target!r}")
        spellings = [tokens for word in words if (tokens := tokens_of(word))]
        if policy == "first":
            spellings = [tokens[:1] for tokens in spellings]
        if policy == "drop":
            spellings = [tokens for tokens in spellings if len(tokens) == 1]
        members.append(sorted({numbers.setdefault(tokens, len(numbers)) for tokens in spellings}))
    return Spellings(list(numbers), members)


def split_at_blank(context: str) -> tuple[str, str]:
    """What stands before and after the gap. Raises ValueError unless there is exactly one gap."""
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
