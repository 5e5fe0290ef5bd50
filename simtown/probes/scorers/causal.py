"""Causal language models: GPT-2 and its kin, and our own LSTM. What stands behind a gap is not seen."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from simtown.probes.quiet import quietly
from simtown.probes.scorers.base import Ability, TokenScores
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.gap import lead_of, split_at_blank, words_of
from simtown.probes.scorers.huggingface import (
    ROUNDING,
    Query,
    ScorerSettings,
    Transformer,
    logprobs_of,
    projected_at,
)
from simtown.probes.scorers.spelling import Spellings, Tokens, spell


class Causal(Transformer):
    """A causal language model.

    A text stands behind the token that begins texts (or ends them), so that its first word too is scored.
    """

    abilities: frozenset[Ability] = frozenset({"class_logprobs", "sequence_logprobs", "embed", "word_vector"})
    forward = True

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        starts = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id)
        start = next((token for token in starts if token is not None), None)
        if start is None:
            raise ValueError(
                f"{name} has no token that begins a text (neither bos_token nor eos_token in its tokenizer), "
                "so the first word would have no probability: give another model"
            )
        self._start = int(start)
        if _looks_ahead(model.eval(), self._start):
            raise ValueError(
                f"{name} is no causal language model, though its config.json says so: what it says of a "
                "token depends on those behind it; give a causal or a masked language model"
            )
        super().__init__(name, model, tokenizer, settings)

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        """(n, c) float64 natural log-probability of each target behind what stands before the gap.

        See :meth:`simtown.probes.scorers.base.Scorer.class_logprobs`. Several sub-words: by the settings'
        policy.
        """
        beginnings = [split_at_blank(context)[0] for context in contexts]
        unique, where = distinct((text.rstrip(), lead_of(text)) for text in beginnings)
        logprobs = np.full((len(unique), len(targets)), np.nan)
        for lead in sorted({lead for _, lead in unique}):
            spellings = spell(targets, partial(self.spelling, lead=lead), self.settings.policy)
            chosen = [i for i, (_, other) in enumerate(unique) if other == lead]
            rows = [(self._start, *self.token_ids(unique[i][0])) for i in chosen]
            longest = max((len(tokens) - 1 for tokens in spellings.spellings), default=0)
            for i, row in zip(chosen, rows, strict=True):
                self._check(len(row) + longest, unique[i][0])
            logprobs[chosen] = spellings.totals(self._behind(rows, spellings))
        return logprobs[where]

    def _behind(self, rows: list[Tokens], spellings: Spellings) -> np.ndarray:
        """(n, s) float64 log-probability of every spelling behind every row.

        A row is read once, whatever the number of spellings: what follows goes on from its state.
        """
        scores = np.zeros((len(rows), len(spellings.spellings)))
        if not spellings.spellings:
            return scores
        first, first_of = distinct(tokens[0] for tokens in spellings.spellings)
        longer = [number for number, tokens in enumerate(spellings.spellings) if len(tokens) > 1]
        stems, stem_of = distinct(spellings.spellings[number][:-1] for number in longer)
        for batch in self._batches(rows, equal=True):
            ids = self.tensor([rows[b] for b in batch])
            length = ids.shape[1]
            with projected_at(self.model, range(len(batch)), [length - 1] * len(batch)) as logits_of:
                output = self.model(input_ids=ids, use_cache=True)
            logprobs = logprobs_of(logits_of(output), self.tensor(first).expand(len(batch), -1))
            scores[batch] = logprobs[:, first_of]
            state = getattr(output, "past_key_values", None)
            kept = hasattr(state, "batch_repeat_interleave")  # some models keep no state for several rows
            longest = length + max(map(len, stems), default=0)
            size = max(1, self._budget // longest // len(batch))
            for begin in range(0, len(stems), size):
                block = stems[begin : begin + size]
                spelled = [
                    (s, k - begin) for s, k in zip(longer, stem_of, strict=True) if k // size * size == begin
                ]
                # for every row, every spelling of the block and each sub-word but the first: where it is read
                looks = [
                    (r * len(block) + k, at, spellings.spellings[s][at + 1])
                    for r in range(len(batch))
                    for s, k in spelled
                    for at in range(len(spellings.spellings[s]) - 1)
                ]
                lines, columns, tokens = (np.array(side) for side in zip(*looks, strict=True))
                past: Any = None
                if kept:
                    inputs = self.padded(block)[0].repeat(len(batch), 1)
                    past = copy.deepcopy(state)
                    past.batch_repeat_interleave(len(block))
                else:
                    inputs = self.padded([rows[b] + stem for b in batch for stem in block])[0]
                    columns += length
                with projected_at(self.model, lines, columns) as logits_of:
                    output = self.model(input_ids=inputs, past_key_values=past, use_cache=kept)
                logprobs = logprobs_of(logits_of(output), self.tensor(tokens)[:, None])
                starts = np.cumsum([0] + [len(spellings.spellings[s]) - 1 for s, _ in spelled])[:-1]
                sums = np.add.reduceat(logprobs.reshape(len(batch), -1), starts, axis=1)
                scores[np.ix_(batch, [s for s, _ in spelled])] += sums
        return scores

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probability of every token behind those before it. The end of a text is not counted.

        Texts that begin alike share the projection to the vocabulary, the dearest part of a small model: each
        distinct beginning is asked once for all the tokens that follow it somewhere.
        """
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=False)
        next_tokens: dict[Tokens, dict[int, int]] = {}  # of each beginning, {token: its number}
        queries: list[Query] = []
        looks: list[tuple[Tokens, int]] = []
        for encoding, text in zip(encoded, unique, strict=True):
            row = (self._start, *encoding.ids)
            self._check(len(row), text)
            for at in range(len(row) - 1):
                beginning, token = row[: at + 1], row[at + 1]
                if beginning not in next_tokens:
                    next_tokens[beginning] = {}
                    queries.append(Query(row, at, next_tokens[beginning]))
                looks.append(
                    (beginning, next_tokens[beginning].setdefault(token, len(next_tokens[beginning])))
                )
        answers = dict(zip(next_tokens, self.logprobs_at(queries), strict=True))
        logprobs = np.array([answers[beginning][number] for beginning, number in looks])
        ends = np.cumsum([len(encoding.ids) for encoding in encoded])[:-1]
        scores = [
            TokenScores(row, words_of(text, encoding.offsets))
            for row, text, encoding in zip(np.split(logprobs, ends), unique, encoded, strict=True)
        ]
        return [scores[place] for place in where]


def _looks_ahead(model: Any, start: int) -> bool:
    """Whether another last token changes what the model says before it."""
    rows = torch.tensor([[start] * 4, [start] * 3 + [0 if start else 1]], device=model.device)
    with quietly(), torch.no_grad():
        first, second = model(input_ids=rows).logits[:, :-1].double().log_softmax(-1)
    return bool((first - second).abs().max() > ROUNDING)
