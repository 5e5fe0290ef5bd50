"""Masked language models: BERT and its kin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from simtown.probes.scorers.base import Ability, ScorerSettings, TokenScores, Variant
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.gap import lead_of, split_at_blank, words_of
from simtown.probes.scorers.huggingface import Query, Transformer
from simtown.probes.scorers.spelling import Policy, Tokens, spell


class Masked(Transformer):
    """A masked language model."""

    abilities: frozenset[Ability] = frozenset({"class_logprobs", "sequence_logprobs", "embed", "word_vector"})
    forward = False

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        super().__init__(name, model, tokenizer, settings)
        if tokenizer.mask_token_id is None:
            raise ValueError(
                f"{name} has no mask token in its tokenizer, which a masked language model needs: give "
                "another model"
            )
        self._mask: int = tokenizer.mask_token_id

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        policy = self.settings.policy
        logprobs = np.full((len(contexts), len(targets)), np.nan)
        gaps = self._gaps(contexts)
        for lead in sorted({lead for *_, lead in gaps}):
            spellings = spell(targets, partial(self.spelling, lead=lead), policy)
            looks = _looks(spellings.spellings, policy)
            rows = [i for i, gap in enumerate(gaps) if gap[2] == lead]
            queries = []
            for i in rows:
                before, after, _ = gaps[i]
                for (length, filled, at), numbers_of in looks.items():
                    hidden = (self._mask,) * (length - len(filled))
                    ids = before + filled + hidden + after
                    self._check_length(len(ids), contexts[i])
                    queries.append(Query(ids, len(before) + at, list(numbers_of)))
            scores = np.zeros((len(rows), len(spellings.spellings)))
            answers = iter(self.query_logprobs(queries))
            for row in range(len(rows)):
                for numbers_of in looks.values():
                    for answer, numbers in zip(next(answers), numbers_of.values(), strict=True):
                        scores[row, numbers] += answer
            logprobs[rows] = spellings.totals(scores)
        return logprobs

    def _gaps(self, contexts: Sequence[str]) -> list[tuple[Tokens, Tokens, str]]:
        """For every context the token numbers before and after its gap, and the space before it."""
        halves = [split_at_blank(context) for context in contexts]
        # Without the space: in training, the word that a mask replaced had it in its first piece. Some
        # tokenizers would make it a piece of its own.
        masked = [before.rstrip() + self.tokenizer.mask_token + after for before, after in halves]
        gaps = []
        for context, encoding, (before, _) in zip(
            contexts, self._encoded(masked, special=True), halves, strict=True
        ):
            ids = tuple(encoding.ids)
            if ids.count(self._mask) != 1:
                raise ValueError(
                    f"a sentence must have one gap and must not hold {self.tokenizer.mask_token} itself: "
                    f"'{context}'"
                )
            at = ids.index(self._mask)
            gaps.append((ids[:at], ids[at + 1 :], lead_of(before)))
        return gaps

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """Pseudo-log-likelihood: every token's log-probability with itself masked, and more by the variant.

        "original" (Salazar et al. 2020): itself alone. "within_word_l2r" (Kauf and Ivanova 2023): the word's
        later tokens too. "whole_word": the whole word. A word is here what the tokenizer's first step takes
        for one: "mat." is two.
        """
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=True)
        queries = [query for code in encoded for query in _masked(code, self._mask, self.settings.variant)]
        logprobs = np.array([answer[0] for answer in self.query_logprobs(queries)])
        scores = []
        begin = 0
        for text, encoding in zip(unique, encoded, strict=True):
            real = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
            words = words_of(text, [encoding.offsets[i] for i in real])
            scores.append(TokenScores(logprobs[begin : begin + len(real)], words))
            begin += len(real)
        return [scores[place] for place in where]


def _looks(
    spellings: Sequence[Tokens], policy: Policy
) -> dict[tuple[int, Tokens, int], dict[int, list[int]]]:
    """The looks at a gap that score every spelling, whose log-probability is the sum over its looks.

    Returns: {(sub-words of the gap, those filled in from the left, which one is looked at): {token: numbers
    of the spellings that it counts for}}.
    """
    looks: dict[tuple[int, Tokens, int], dict[int, list[int]]] = {}
    for number, tokens in enumerate(spellings):
        for at, token in enumerate(tokens):
            look = (len(tokens), () if policy == "joint" else tokens[:at], at)
            looks.setdefault(look, {}).setdefault(token, []).append(number)
    return looks


def _masked(encoding: Any, mask: int, variant: Variant) -> Iterator[Query]:
    """A query for every token of an encoded text but the special ones."""
    ids, words = encoding.ids, encoding.word_ids
    for i, special in enumerate(encoding.special_tokens_mask):
        if special:
            continue
        hidden = {i}
        if variant != "original":
            same_word = {j for j, word in enumerate(words) if word == words[i]}
            hidden = same_word if variant == "whole_word" else {j for j in same_word if j >= i}
        yield Query(tuple(mask if j in hidden else token for j, token in enumerate(ids)), i, ids[i : i + 1])
