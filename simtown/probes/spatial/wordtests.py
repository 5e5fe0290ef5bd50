"""Two tests with right answers: analogies of opposites, and the odd one out (section 5 of Ghanimifard and
Dobnik 2019).

Every question is right or wrong, so that two kinds of vectors can be compared question by question; questions
about the same words stand and fall together, so that they are drawn together for intervals.
"""

from collections.abc import Container, Iterable, Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np

from simtown.probes import measures
from simtown.probes.spatial.lexicon import KINDS, OPPOSITES
from simtown.probes.spatial.spaces import MEASURES, REPLICATES, Measure, Vectors, cosine, matrix, unit


class Analogy(NamedTuple):
    """A question: a1 is to its opposite a2 as b1 is to what? b2 is right; `candidates` are the choices."""

    a1: str
    a2: str
    b1: str
    b2: str
    candidates: tuple[str, ...]


class Trio(NamedTuple):
    """A question: which of the three is odd? The first two are words of a kind."""

    one: str
    other: str
    odd: str


class WordAnswers(NamedTuple):
    """Whether each of n questions was answered right; those with the same group are drawn together."""

    right: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, right: np.ndarray, words: Iterable[Iterable[str]]) -> "WordAnswers":
        """Answers to questions, which are drawn together if they are about the same words."""
        numbers: dict[frozenset[str], int] = {}
        return cls(right, np.array([numbers.setdefault(frozenset(key), len(numbers)) for key in words]))

    @property
    def accuracy(self) -> float:
        return float(self.right.mean())

    def replicates(self, seed: int = 0) -> np.ndarray:
        """(REPLICATES,) accuracy where groups of questions are drawn with replacement."""
        sizes = np.bincount(self.groups)
        times = measures.group_draws(len(sizes), REPLICATES, seed)
        return (times @ np.bincount(self.groups, self.right)) / (times @ sizes)


def analogies(opposites: Sequence[tuple[str, str]] = OPPOSITES) -> list[Analogy]:
    """All questions of two pairs in every order, 120 for 6 pairs; candidates are all words but the given."""
    words = [word for pair in opposites for word in pair]
    questions = []
    for p, q in permutations(opposites, 2):
        for (a1, a2), (b1, b2) in product((p, p[::-1]), (q, q[::-1])):
            candidates = tuple(word for word in words if word not in (a1, a2, b1))
            questions.append(Analogy(a1, a2, b1, b2, candidates))
    return questions


def trios(kinds: Sequence[Sequence[str]] = KINDS) -> list[Trio]:
    """Every two words of a kind with every word of another: 88 sets, which the paper counts in 6 orders."""
    pairs = [(*two, kind) for kind in kinds for two in combinations(kind, 2)]
    words = [(odd, kind) for kind in kinds for odd in kind]
    return [Trio(one, other, odd) for one, other, own in pairs for odd, kind in words if kind is not own]


def questions_of(relations: Container[str]) -> tuple[list[Analogy], list[Trio]]:
    """The analogies and odd ones out whose words are all among the relations."""
    opposites = [pair for pair in OPPOSITES if all(word in relations for word in pair)]
    return analogies(opposites), trios([[word for word in kind if word in relations] for kind in KINDS])


def answer_analogies(vectors: Vectors, questions: Sequence[Analogy], normalised: bool = False) -> WordAnswers:
    """A question is right if b2 has the largest product (`normalised`: cosine) with a2 - a1 + b1."""
    words = list(dict.fromkeys(word for q in questions for word in (q.a1, q.a2, q.b1, *q.candidates)))
    number, rows = {word: i for i, word in enumerate(words)}, matrix(vectors, words)
    products = rows @ (unit(rows) if normalised else rows).T
    right = []
    for q in questions:
        scores = products[number[q.a2]] - products[number[q.a1]] + products[number[q.b1]]
        best = scores[[number[word] for word in q.candidates]].argmax()
        right.append(q.candidates[best] == q.b2)
    return WordAnswers.of(np.array(right), (q[:4] for q in questions))


def answer_trios(vectors: Vectors, questions: Sequence[Trio], measure: Measure = cosine) -> WordAnswers:
    """A question is right if the two words of a kind are the most alike of the three."""
    words = list(dict.fromkeys(word for q in questions for word in q))
    number, alike = {word: i for i, word in enumerate(words)}, measure(matrix(vectors, words))
    one, other, odd = np.array([[number[word] for word in q] for q in questions]).T
    right = (alike[one, other] > alike[one, odd]) & (alike[one, other] > alike[other, odd])
    return WordAnswers.of(right, (q[:2] for q in questions))


def answer_all(
    vectors: Vectors, questions: Sequence[Analogy], sets: Sequence[Trio]
) -> dict[str, WordAnswers]:
    """What vectors answer in every test that has a question."""
    answers = {"analogy": answer_analogies(vectors, questions)} if questions else {}
    if sets:
        answers |= {f"odd_one_out_{name}": answer_trios(vectors, sets, m) for name, m in MEASURES.items()}
    return answers


class AccuracyDifference(NamedTuple):
    """The accuracy of one kind of vectors less another's, its 95 % interval, and McNemar's exact p."""

    difference: float
    low: float
    high: float
    p: float


def compare(a: WordAnswers, b: WordAnswers) -> AccuracyDifference:
    """Compare two kinds of vectors, question by question, on the same questions."""
    low, high = measures.interval(a.replicates() - b.replicates())
    return AccuracyDifference(a.accuracy - b.accuracy, low, high, measures.mcnemar(a.right, b.right).exact)
