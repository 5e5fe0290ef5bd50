"""Two tests with right answers: analogies of opposites, and the odd one out (section 5 of Ghanimifard and
Dobnik 2019).

Every question is right or wrong, so that two spaces can be compared question by question; questions about the
same words stand and fall together, so that they are drawn together for intervals.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from simtown.probes import measures
from simtown.probes.spatial.lexicon import KINDS, OPPOSITES
from simtown.probes.spatial.spaces import MEASURES, Measure, Space, cosine, unit

#: Bootstrap replicates of an interval.
REPLICATES = 2000


@dataclass(frozen=True)
class Analogy:
    """A question: a1 is to a2 as b1 is to what?

    Attributes:
        a1: a word.
        a2: its opposite.
        b1: another word.
        b2: the right answer, the opposite of b1.
        candidates: the words to choose among.
    """

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
    """Two words of a kind and an odd one.

    Attributes:
        one: a word of the kind.
        other: another word of the kind.
        odd: a word of another kind.
    """

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
    """All questions of two pairs in every order, 120 for 6 pairs; candidates are all words but the given."""
    words = [w for pair in opposites for w in pair]
    questions = []
    for p, q in permutations(opposites, 2):
        for (a1, a2), (b1, b2) in product((p, p[::-1]), (q, q[::-1])):
            questions.append(Analogy(a1, a2, b1, b2, tuple(w for w in words if w not in (a1, a2, b1))))
    return questions


def trios(kinds: Sequence[Sequence[str]] = KINDS) -> list[Trio]:
    """Every two words of a kind with every word of another: 88 sets, which the paper counts in all 6 orders
    (528 items).
    """
    return [
        Trio(a, b, odd)
        for kind in kinds
        for a, b in combinations(kind, 2)
        for other in kinds
        if other is not kind
        for odd in other
    ]


def answer_analogies(space: Space, questions: Sequence[Analogy], normalised: bool = False) -> Answers:
    """A question is right if b2 has the largest dot product with a2 - a1 + b1 among the candidates.

    Args:
        space: the vectors.
        questions: what is asked.
        normalised: bring the candidates' vectors to length 1 first (cosines).

    Raises:
        ValueError: a word has no vector.
    """
    words = list(dict.fromkeys(w for q in questions for w in (q.a1, q.a2, q.b1, *q.candidates)))
    at, matrix = {w: i for i, w in enumerate(words)}, space.matrix(words)
    likeness = matrix @ (unit(matrix) if normalised else matrix).T
    correct = []
    for q in questions:
        scores = likeness[at[q.a2]] - likeness[at[q.a1]] + likeness[at[q.b1]]
        candidates = [at[w] for w in q.candidates]
        correct.append(candidates[int(scores[candidates].argmax())] == at[q.b2])
    return Answers(np.array(correct), _numbers([q.group for q in questions]))


def answer_trios(space: Space, questions: Sequence[Trio], measure: Measure = cosine) -> Answers:
    """A question is right if the two words of a kind are the most alike of the three.

    Raises:
        ValueError: a word has no vector.
    """
    words = list(dict.fromkeys(w for q in questions for w in (q.one, q.other, q.odd)))
    at, alike = {w: i for i, w in enumerate(words)}, measure(space.matrix(words))
    one, other, odd = (
        np.array([at[getattr(q, name)] for q in questions]) for name in ("one", "other", "odd")
    )
    correct = (alike[one, other] > alike[one, odd]) & (alike[one, other] > alike[other, odd])
    return Answers(correct, _numbers([q.group for q in questions]))


def questions_of(relations: Container[str]) -> tuple[list[Analogy], list[Trio]]:
    """The analogies and odd ones out whose words are all among the relations."""
    opposites = [pair for pair in OPPOSITES if all(word in relations for word in pair)]
    kinds = [[word for word in kind if word in relations] for kind in KINDS]
    return analogies(opposites), trios(kinds)


def answer_all(space: Space, questions: Sequence[Analogy], sets: Sequence[Trio]) -> dict[str, Answers]:
    """What a space answers in every test that has a question."""
    answers = {"analogy": answer_analogies(space, questions)} if questions else {}
    if sets:
        answers |= {f"odd_one_out_{name}": answer_trios(space, sets, m) for name, m in MEASURES.items()}
    return answers


def _numbers(keys: Sequence[frozenset[str]]) -> np.ndarray:
    places: dict[frozenset[str], int] = {}
    return np.array([places.setdefault(key, len(places)) for key in keys])


def accuracies(answers: Answers, seed: int = 0) -> np.ndarray:
    """(REPLICATES,) accuracy where groups of questions are drawn with replacement."""
    count = int(answers.groups.max()) + 1
    times = measures.group_draws(count, REPLICATES, seed)
    rights = np.bincount(answers.groups, answers.right, count)
    result: np.ndarray = (times @ rights) / (times @ np.bincount(answers.groups, minlength=count))
    return result


@dataclass(frozen=True)
class AccuracyDifference:
    """Two spaces on the same questions.

    Attributes:
        difference: accuracy of the first less that of the second.
        low: of its 95 % interval.
        high: of its 95 % interval.
        p: McNemar's, exact.
    """

    difference: float
    low: float
    high: float
    p: float


def compare(a: Answers, b: Answers) -> AccuracyDifference:
    """Compare two spaces question by question.

    Raises:
        ValueError: the questions differ.
    """
    if not np.array_equal(a.groups, b.groups):
        raise ValueError("two spaces can be compared on the same questions only")
    low, high = measures.interval(accuracies(a) - accuracies(b))
    return AccuracyDifference(a.accuracy - b.accuracy, low, high, measures.mcnemar(a.right, b.right).exact)
