"""Two tests with right answers: analogies of opposites, and the odd one out (section 5 of Ghanimifard and Dobnik 2019).

Every question is right or wrong, so that two spaces can be compared question by question; questions about the same words stand and fall
together, so that they are drawn together for intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from simtown.probes import statistics
from simtown.probes.spatial.relations import KINDS, OPPOSITES
from simtown.probes.spatial.vectors import Measure, Space, cosine, unit

#: Bootstrap replicates of an interval.
REPLICATES = 2000


@dataclass(frozen=True)
class Analogy:
    """a1 is to a2 as b1 is to b2, to be found among the candidates."""

    a1: str
    a2: str
    b1: str
    b2: str
    candidates: tuple[str, ...]

    @property
    def group(self) -> frozenset[str]:
        """What is drawn together for intervals: the two pairs of opposites."""
        return frozenset((self.a1, self.a2, self.b1, self.b2))


@dataclass(frozen=True)
class Trio:
    """Two words of a kind and an odd one."""

    one: str
    other: str
    odd: str

    @property
    def group(self) -> frozenset[str]:
        """What is drawn together for intervals: the two words of a kind."""
        return frozenset((self.one, self.other))


@dataclass(frozen=True)
class Answers:
    """What a space got right.

    Attributes:
        right: (n,) bool.
        groups: (n,) int64, questions with the same number are drawn together.
    """

    right: np.ndarray
    groups: np.ndarray

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())


def analogies(opposites: Sequence[tuple[str, str]] = OPPOSITES) -> list[Analogy]:
    """All questions of two pairs in every order: 120 for 6 pairs. Candidates are all words but the three that are given."""
    words = [w for pair in opposites for w in pair]
    made = []
    for p, q in permutations(opposites, 2):
        for (a1, a2), (b1, b2) in product((p, p[::-1]), (q, q[::-1])):
            made.append(Analogy(a1, a2, b1, b2, tuple(w for w in words if w not in (a1, a2, b1))))
    return made


def trios(kinds: Sequence[Sequence[str]] = KINDS) -> list[Trio]:
    """Every two words of a kind with every word of another: 88 sets, which the paper counts in all 6 orders (528 items)."""
    return [Trio(a, b, odd) for kind in kinds for a, b in combinations(kind, 2) for other in kinds if other is not kind for odd in other]


def answer_analogies(space: Space, questions: Sequence[Analogy], normalised: bool = False) -> Answers:
    """A question is right if b2 has the largest dot product with a2 - a1 + b1 among the candidates.

    normalised: the candidates' vectors are brought to length 1 first (cosines). Raises ValueError for a word without a vector.
    """
    words = list(dict.fromkeys(w for q in questions for w in (q.a1, q.a2, q.b1, *q.candidates)))
    at, matrix = {w: i for i, w in enumerate(words)}, space.matrix(words)
    likeness = matrix @ (unit(matrix) if normalised else matrix).T
    right = []
    for q in questions:
        scores = likeness[at[q.a2]] - likeness[at[q.a1]] + likeness[at[q.b1]]
        candidates = [at[w] for w in q.candidates]
        right.append(candidates[int(scores[candidates].argmax())] == at[q.b2])
    return Answers(np.array(right), _numbers([q.group for q in questions]))


def answer_trios(space: Space, questions: Sequence[Trio], measure: Measure = cosine) -> Answers:
    """A question is right if the two words of a kind are the most alike of the three. Raises ValueError for a word without a vector."""
    words = list(dict.fromkeys(w for q in questions for w in (q.one, q.other, q.odd)))
    at, alike = {w: i for i, w in enumerate(words)}, measure(space.matrix(words))
    one, other, odd = (np.array([at[getattr(q, name)] for q in questions]) for name in ("one", "other", "odd"))
    right = (alike[one, other] > alike[one, odd]) & (alike[one, other] > alike[other, odd])
    return Answers(right, _numbers([q.group for q in questions]))


def _numbers(keys: Sequence[frozenset[str]]) -> np.ndarray:
    places: dict[frozenset[str], int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys])


def accuracies(answers: Answers, seed: int = 0) -> np.ndarray:
    """(REPLICATES,) accuracy where groups of questions are drawn with replacement."""
    count = int(answers.groups.max()) + 1
    times = statistics.group_draws(count, REPLICATES, seed)
    rights = np.bincount(answers.groups, answers.right, count)
    result: np.ndarray = (times @ rights) / (times @ np.bincount(answers.groups, minlength=count))
    return result


@dataclass(frozen=True)
class Difference:
    """Two spaces on the same questions: accuracy of the first less that of the second, its 95 % interval, McNemar's exact p."""

    difference: float
    low: float
    high: float
    p: float


def compare(a: Answers, b: Answers) -> Difference:
    """Raises ValueError where the questions differ."""
    if not np.array_equal(a.groups, b.groups):
        raise ValueError("two spaces can be compared on the same questions only")
    low, high = statistics.interval(accuracies(a) - accuracies(b))
    return Difference(a.accuracy - b.accuracy, low, high, statistics.mcnemar(a.right, b.right).exact)
