"""Words of several sub-words, by an explicit policy.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

Policy = Literal["first", "drop", "joint", "left-to-right"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
Tokens = tuple[int, ...]


@dataclass(frozen=True)
class Spellings:
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


def spell(
    targets: Sequence[str | Sequence[str]], tokens_of: Callable[[str], Tokens | None], policy: Policy
) -> Spellings:
    """Targets, words or several synonyms each, under a policy for words of several sub-words.

    `tokens_of` gives a word's token numbers, None if the model does not know it.
    """
    numbers: dict[Tokens, int] = {}
    members = []
    for target in targets:
        words = [target] if isinstance(target, str) else list(target)
        if not words or not all(word.strip() for word in words):
            raise ValueError(f"a target must be a word or several synonyms, not {target!r}")
        spellings = [tokens for word in words if (tokens := tokens_of(word))]
        if policy == "first":
            spellings = [tokens[:1] for tokens in spellings]
        if policy == "drop":
            spellings = [tokens for tokens in spellings if len(tokens) == 1]
        members.append(sorted({numbers.setdefault(tokens, len(numbers)) for tokens in spellings}))
    return Spellings(list(numbers), members)
