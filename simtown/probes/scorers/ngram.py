"""An n-gram model with interpolated Kneser-Ney smoothing (Kneser and Ney 1995; Chen and Goodman 1999)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log

import numpy as np

from simtown.probes.corpus import TOKEN
from simtown.probes.scorers.base import Ability, Scorer, TokenScores
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.spelling import Policy, Tokens, spell, split_at_blank, words_of
from simtown.visualgenome.clean import folded

#: Token numbers: begins a sentence, ends it, and stands for a word that the corpus has not.
START, END, UNKNOWN = 0, 1, 2


class NGram(Scorer):
    """An n-gram model of words in lower case and marks of punctuation, as
    :func:`simtown.probes.corpus.tokenise` cuts them.

    A gap is filled behind what stands before it; the rest of the context is not seen.

    Args:
        sentences: token lists.
        order: of the longest n-grams.
        discount: taken from every count; by default estimated for each order as n1 / (n1 + 2 n2).
    """

    abilities: frozenset[Ability] = frozenset({"class_logprobs", "sequence_logprobs"})
    forward = True
    limitation = "is an n-gram model and has no vectors: give a neural model or word vectors"

    def __init__(
        self,
        name: str,
        sentences: Iterable[Sequence[str]],
        order: int = 3,
        discount: float | None = None,
        policy: Policy = "left-to-right",
    ) -> None:
        self.name, self.order, self._policy = name, order, policy
        self._numbers: dict[str, int] = {}
        grams: list[Counter[Tokens]] = [Counter() for _ in range(order)]
        for sentence in sentences:
            words = (self._numbers.setdefault(word, len(self._numbers) + 3) for word in sentence)
            tokens = (START, *words, END)
            for k, counter in enumerate(grams, start=1):
                counter.update(zip(*(tokens[i:] for i in range(k)), strict=False))
        if not self._numbers:
            raise ValueError(f"{name} holds no words: give a text with words in it")
        del grams[0][START,]
        self._levels = [_Level(counts, discount) for counts in _adjusted(grams)]
        self._uniform = 1 / (len(self._numbers) + 2)  # all words, the end, and the unknown one

    def probability(self, token: int, history: Tokens) -> float:
        """Of a token number behind at most order - 1 others."""
        p = self._uniform
        for k in range(len(history) + 1):
            p = self._levels[k].probability(token, history[len(history) - k :], p)
        return p

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        spellings = spell(targets, self.spelling, self._policy)
        befores = (self._tokens(split_at_blank(context)[0])[0] for context in contexts)
        histories, where = distinct(tuple(before)[1 - self.order :] for before in befores)
        spelled = spellings.spellings
        scores = np.array([[sum(self._logs(tokens, h)) for tokens in spelled] for h in histories])
        return spellings.totals(scores.reshape(len(histories), len(spelled)))[where]

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        """Log-probability of every token behind those before it; the end of a text is not counted."""
        scores = []
        for text, begin in zip(texts, begins or [0] * len(texts), strict=True):
            (start, *tokens), words = self._tokens(text)
            context = len(self._tokens(text[:begin])[1])
            logprobs = np.array(self._logs(tokens, (start,)), dtype=np.float64)
            scores.append(TokenScores(logprobs[context:], words[context:]))
        return scores

    def _logs(self, tokens: Sequence[int], history: Tokens) -> list[float]:
        logprobs = []
        for token in tokens:
            history = history[max(0, len(history) - self.order + 1) :]
            logprobs.append(log(self.probability(token, history)))
            history = (*history, token)
        return logprobs

    def _tokens(self, text: str) -> tuple[list[int], np.ndarray]:
        """START and the token numbers of a text, and the words to which these belong."""
        text = folded(text)
        matches = list(TOKEN.finditer(text))
        tokens = [START, *(self._numbers.get(match[0], UNKNOWN) for match in matches)]
        return tokens, words_of(text, [match.span() for match in matches])

    def spelling(self, word: str, lead: str = " ") -> Tokens | None:
        (_, *tokens), _ = self._tokens(word)
        return tuple(tokens) if tokens and UNKNOWN not in tokens else None


class _Level:
    """The n-grams of one order: a discounted share of their counts, and the rest for the order below."""

    def __init__(self, counts: dict[Tokens, int], discount: float | None) -> None:
        self._counts = counts
        once, twice = (sum(n == k for n in counts.values()) for k in (1, 2))
        self._discount = discount if discount is not None else (once / (once + 2 * twice) if once else 0.5)
        self._sums: Counter[Tokens] = Counter()
        self._kinds: Counter[Tokens] = Counter()
        for gram, n in counts.items():
            self._sums[gram[:-1]] += n
            self._kinds[gram[:-1]] += 1

    def probability(self, token: int, history: Tokens, below: float) -> float:
        """Of a token behind a history of this order's length, given what the order below says."""
        total = self._sums.get(history)
        if not total:
            return below
        left = max(self._counts.get((*history, token), 0) - self._discount, 0.0)
        return (left + self._discount * self._kinds[history] * below) / total


def _adjusted(grams: list[Counter[Tokens]]) -> list[dict[Tokens, int]]:
    """Counts of the longest n-grams; of shorter ones, the words that stand before them, if any can."""
    counts: list[dict[Tokens, int]] = []
    for shorter, longer in pairwise(grams):
        before = Counter(gram[1:] for gram in longer)
        counts.append({gram: n if gram[0] == START else before[gram] for gram, n in shorter.items()})
    return [*counts, dict(grams[-1])]
