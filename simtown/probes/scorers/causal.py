"""Causal language models: GPT-2 and its kin, and our own LSTM. What stands behind a gap is not seen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from simtown.probes.quiet import quietly
from simtown.probes.scorers.base import Ability, TokenScores
from simtown.probes.scorers.batching import distinct, shared
from simtown.probes.scorers.gap import lead_of, split_at_blank, words_of
from simtown.probes.scorers.spelling import Spellings, Tokens, spell
from simtown.probes.scorers.transformer import ROUNDING, ScorerSettings, Transformer, logprobs_of

#: Fewest tokens that rows of a batch must share for reading them once to be worth while.
SHARED = 8


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
        super().__init__(name, model, tokenizer, settings)

    def _examine(self, model: Any) -> None:
        """See :meth:`simtown.probes.scorers.transformer.Transformer._examine`.

        Raises ValueError, too, where another last token changes what the model says before it.
        """
        super()._examine(model)
        rows = torch.tensor([[self._start] * 4, [self._start] * 3 + [0 if self._start else 1]])
        with quietly(), torch.no_grad():
            first, second = model(input_ids=rows).logits[:, :-1].double().log_softmax(-1)
        if (first - second).abs().max() > ROUNDING:
            raise ValueError(
                f"{self.name} is no causal language model, though its config.json says so: what it says of a "
                "token depends on those behind it; give a causal or a masked language model"
            )

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        """(n, c) float64 natural log-probability of each target behind what stands before the gap; the rest
        of the context is not seen.

        See :meth:`simtown.probes.scorers.base.Scorer.class_logprobs`. Several sub-words: by the settings'
        policy.
        """
        logprobs = np.full((len(contexts), len(targets)), np.nan)
        beginnings = [before for before, _ in map(split_at_blank, contexts)]
        unique, where = distinct(
            zip((text.rstrip() for text in beginnings), map(lead_of, beginnings), strict=True)
        )
        places = np.array(where)
        for lead in sorted({lead for _, lead in unique}):
            spellings = spell(targets, partial(self.word_ids, lead=lead), self.settings.policy)
            chosen = [i for i, (_, other) in enumerate(unique) if other == lead]
            rows = [
                (self._start, *self.token_ids(unique[i][0])) if unique[i][0] else (self._start,)
                for i in chosen
            ]
            more = max((len(s) - 1 for s in spellings.spellings), default=0)
            for i, row in zip(chosen, rows, strict=True):
                self._check(len(row) + more, unique[i][0])
            totals = spellings.totals(self._behind(rows, spellings))
            for i, line in zip(chosen, totals, strict=True):
                logprobs[places == i] = line
        return logprobs

    def _behind(self, rows: list[Tokens], spellings: Spellings) -> np.ndarray:
        """(n, s) float64 log-probability of every spelling behind every row.

        A row is read once, whatever the number of spellings.
        """
        scores = np.zeros((len(rows), len(spellings.spellings)))
        if not spellings.spellings:
            return scores
        first, which = distinct(tokens[0] for tokens in spellings.spellings)
        stems, stem_of = distinct(tokens[:-1] for tokens in spellings.spellings if len(tokens) > 1)
        more = max(map(len, stems), default=0)
        longer = [s for s, tokens in enumerate(spellings.spellings) if len(tokens) > 1]
        for batch in self._batches(rows, equal=True):
            logits, cache = self._ends([rows[b] for b in batch])
            wanted = self.tensor(first).expand(len(batch), -1)
            scores[batch] = logprobs_of(logits, wanted)[:, which]
            each = max(1, self._budget // (len(rows[batch[0]]) + more) // len(batch))
            for begin in range(0, len(stems), each):
                block = stems[begin : begin + each]
                mine = [
                    (s, stem_of[k] - begin)
                    for k, s in enumerate(longer)
                    if begin <= stem_of[k] < begin + each
                ]
                logprobs = self._continued(
                    [rows[b] for b in batch], cache, block, [(spellings.spellings[s], k) for s, k in mine]
                )
                scores[np.ix_(batch, [s for s, _ in mine])] += logprobs
        return scores

    def _ends(self, rows: Sequence[Tokens]) -> tuple[torch.Tensor, Any]:
        """(n, v) logits behind rows of one length, and the state to go on from, None for a model that keeps
        none.
        """
        length, n = len(rows[0]), len(rows)
        _, past, common = self._opening(rows, min(shared(rows), length - 1))
        ids = self.tensor([row[common:] for row in rows])
        logits, output = self.logits_at(
            range(n), [ids.shape[1] - 1] * n, input_ids=ids, past_key_values=past, use_cache=True
        )
        return logits, _kept(output)

    def _opening(self, rows: Sequence[Tokens], common: int) -> tuple[np.ndarray, Any, int]:
        """What all rows begin with, read once if it is worth while.

        Returns: (c,) log-probabilities of tokens 1 to c of any row, the state behind c tokens for every row,
        and c; or nothing, None and 0.
        """
        if len(rows) > 1 and common >= SHARED:
            begin = self.tensor([rows[0][: common + 1]])
            logits, output = self.logits_at(
                [0] * common, range(common), input_ids=begin[:, :-1], use_cache=True
            )
            cache = _kept(output)
            if cache is not None:
                cache.batch_repeat_interleave(len(rows))
                return logprobs_of(logits, begin[0, 1:, None])[:, 0], cache, common
        return np.empty(0), None, 0

    def _continued(
        self,
        rows: Sequence[Tokens],
        cache: Any,
        stems: Sequence[Tokens],
        spelled: Sequence[tuple[Tokens, int]],
    ) -> np.ndarray:
        """(n, len(spelled)) float64: log-probability of all but the first token of (spelling, number of its
        stem) behind each row.
        """
        n, m = len(rows), len(stems)
        if cache is None:
            padded, past, offset = (
                self.padded([row + stem for row in rows for stem in stems])[0],
                None,
                len(rows[0]),
            )
        else:
            padded, past, offset = self.padded(list(stems))[0].repeat(n, 1), copy.deepcopy(cache), 0
            past.batch_repeat_interleave(m)
        looks = [
            (r * m + k, at, tokens[at + 1])
            for r in range(n)
            for tokens, k in spelled
            for at in range(len(tokens) - 1)
        ]
        lines, columns, tokens = zip(*looks, strict=True)
        logits, _ = self.logits_at(
            lines,
            [offset + at for at in columns],
            input_ids=padded,
            past_key_values=past,
            use_cache=past is not None,
        )
        logprobs = logprobs_of(logits, self.tensor(tokens)[:, None])[:, 0].reshape(n, -1)
        ends = np.cumsum([0] + [len(tokens) - 1 for tokens, _ in spelled])[:-1]
        return np.add.reduceat(logprobs, ends, axis=1)

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probability of every token behind those before it. The end of a text is not counted."""
        return self._scores(texts, self._conditional)

    def shared_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """:meth:`sequence_logprobs`, with the projection to the vocabulary made once for each beginning.

        Sixty-seven relations in one frame share its beginning, and frames that begin alike share the relation
        too: few of the places where a next token is asked for are different. The projection is the dearest
        part of a small model.
        """
        return self._scores(texts, self._conditional_by_beginning)

    def _scores(
        self, texts: Sequence[str], conditional: Callable[[Sequence[Tokens]], list[np.ndarray]]
    ) -> list[TokenScores]:
        """Scores of texts, of which `conditional` reads a batch of rows."""
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=False)
        rows = [(self._start, *encoding.ids) for encoding in encoded]
        row_logprobs: list[np.ndarray] = [np.empty(0)] * len(rows)
        for row, text in zip(rows, unique, strict=True):
            self._check(len(row), text)
        for batch in self._batches(rows):
            for b, logprobs in zip(batch, conditional([rows[b] for b in batch]), strict=True):
                row_logprobs[b] = logprobs
        scores = [
            TokenScores(row_logprobs[i], words_of(unique[i], encoded[i].offsets)) for i in range(len(rows))
        ]
        return [scores[place] for place in where]

    def _conditional(self, rows: Sequence[Tokens]) -> list[np.ndarray]:
        """For every row the (t - 1,) float64 log-probabilities of its tokens but the first.

        What all begin with is read once.
        """
        head, past, common = self._opening(rows, min(shared(rows), min(map(len, rows)) - 1) - 1)
        looks = [
            (i, at, row[common + at + 1]) for i, row in enumerate(rows) for at in range(len(row) - common - 1)
        ]
        lines, columns, tokens = zip(*looks, strict=True)
        ids, _ = self.padded([row[common:] for row in rows])
        logits, _ = self.logits_at(
            lines, columns, input_ids=ids, past_key_values=past, use_cache=past is not None
        )
        logprobs = logprobs_of(logits, self.tensor(tokens)[:, None])[:, 0]
        ends = np.cumsum([len(row) - common - 1 for row in rows])[:-1]
        return [np.concatenate([head, tail]) for tail in np.split(logprobs, ends)]

    def _conditional_by_beginning(self, rows: Sequence[Tokens]) -> list[np.ndarray]:
        """For every row the (t - 1,) float64 log-probabilities of its tokens but the first."""
        places: dict[Tokens, int] = {}
        lines: list[int] = []
        columns: list[int] = []
        place_of: list[int] = []
        for line, row in enumerate(rows):
            for at in range(len(row) - 1):
                place = places.setdefault(row[: at + 1], len(places))
                if place == len(lines):
                    lines.append(line)
                    columns.append(at)
                place_of.append(place)
        ids, _ = self.padded(rows)
        logits, _ = self.logits_at(lines, columns, input_ids=ids)
        tokens = self.tensor([token for row in rows for token in row[1:]])
        picked = self.tensor(place_of)
        logprobs = (logits[picked, tokens].double() - logits.logsumexp(1).double()[picked]).cpu().numpy()
        return np.split(logprobs, np.cumsum([len(row) - 1 for row in rows])[:-1])


def _kept(output: Any) -> Any:
    """The model's state if it is one that can be handed out to several rows, None otherwise."""
    cache = getattr(output, "past_key_values", None)
    return cache if hasattr(cache, "batch_repeat_interleave") else None
