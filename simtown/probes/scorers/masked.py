"""Masked language models: BERT and its kin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from simtown.probes.scorers.base import Ability, TokenScores
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.gap import lead_of, split_at_blank, words_of
from simtown.probes.scorers.spelling import Tokens, spell
from simtown.probes.scorers.transformer import ScorerSettings, Transformer, Variant, logprobs_of


class MaskedQuery(NamedTuple):
    """A question to a masked language model.

    Attributes:
        ids: tokens of a text with masks in it.
        at: the position that is asked about.
        tokens: (w,) tokens whose log-probabilities are wanted there.
    """

    ids: Tokens
    at: int
    tokens: np.ndarray


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
        """(n, c) float64 natural log-probability of each target at the gap of each context, given what stands
        on both sides of it.

        See :meth:`simtown.probes.scorers.base.Scorer.class_logprobs`. Several sub-words: by the settings'
        policy.
        """
        policy = self.settings.policy
        logprobs = np.full((len(contexts), len(targets)), np.nan)
        gaps = self._gaps(contexts)
        for lead in sorted({lead for *_, lead in gaps}):
            spellings = spell(targets, partial(self.word_ids, lead=lead), policy)
            steps = spellings.steps(policy)
            rows = [i for i, gap in enumerate(gaps) if gap[2] == lead]
            questions = []
            for i in rows:
                before, after, _ = gaps[i]
                for step in steps:
                    masks = (self._mask,) * (step.length - len(step.filled))
                    self._check(len(before) + step.length + len(after), contexts[i])
                    questions.append(
                        MaskedQuery(before + step.filled + masks + after, len(before) + step.at, step.tokens)
                    )
            answers = self._answers(questions)
            scores = np.zeros((len(rows), len(spellings.spellings)))
            for r in range(len(rows)):
                for step in steps:
                    for logprob, cells in zip(next(answers), step.cells, strict=True):
                        scores[r, cells] += logprob
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
        """Pseudo-log-likelihood: every token's log-probability with itself masked, and what the settings'
        variant masks with it.

        "original" (Salazar et al. 2020): itself alone. "within_word_l2r" (Kauf and Ivanova 2023): the word's
        later tokens too. "whole_word": the whole word. A word is here what the tokenizer's first step takes
        for one: "mat." is two.
        """
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=True)
        questions = [
            question
            for encoding in encoded
            for question in _masked(encoding, self._mask, self.settings.variant)
        ]
        answers = self._answers(questions)
        scores = []
        for text, encoding in zip(unique, encoded, strict=True):
            real = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
            logprobs = np.array([next(answers)[0] for _ in real], dtype=np.float64)
            scores.append(TokenScores(logprobs, words_of(text, [encoding.offsets[i] for i in real])))
        return [scores[place] for place in where]

    def _answers(self, questions: Sequence[MaskedQuery]) -> Iterator[np.ndarray]:
        """(w,) float64 log-probabilities for every question, in their order."""
        rows, where = distinct(question.ids for question in questions)
        asking: list[list[int]] = [[] for _ in rows]
        for number, place in enumerate(where):
            asking[place].append(number)
        answers: list[np.ndarray] = [np.empty(0)] * len(questions)
        for batch in self._batches(rows):
            ids, real = self.padded([rows[b] for b in batch])
            requests = [(line, number) for line, b in enumerate(batch) for number in asking[b]]
            wanted = np.zeros(
                (len(requests), max(len(questions[number].tokens) for _, number in requests)), dtype=np.int64
            )
            for k, (_, number) in enumerate(requests):
                wanted[k, : len(questions[number].tokens)] = questions[number].tokens
            logits, _ = self.logits_at(
                [line for line, _ in requests],
                [questions[number].at for _, number in requests],
                input_ids=ids,
                attention_mask=real,
            )
            for (_, number), logprobs in zip(requests, logprobs_of(logits, self.tensor(wanted)), strict=True):
                answers[number] = logprobs[: len(questions[number].tokens)]
        return iter(answers)


def _masked(encoding: Any, mask: int, variant: Variant) -> Iterator[MaskedQuery]:
    """A question for every token of an encoded text but the special ones."""
    ids, words = encoding.ids, encoding.word_ids
    for i, special in enumerate(encoding.special_tokens_mask):
        if special:
            continue
        if variant == "original":
            hidden = {i}
        else:
            hidden = {
                j for j, word in enumerate(words) if word == words[i] and (variant == "whole_word" or j >= i)
            }
        yield MaskedQuery(
            tuple(mask if j in hidden else token for j, token in enumerate(ids)), i, np.array(ids[i : i + 1])
        )
