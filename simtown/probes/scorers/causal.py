"""Causal language models: GPT-2 and its kin, and our own LSTM. What stands behind a gap is not seen."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from simtown.core.pretrained import quietly
from simtown.probes.scorers.base import ScorerSettings
from simtown.probes.scorers.batching import distinct
from simtown.probes.scorers.huggingface import ROUNDING, LanguageModel, logprobs_of, projected_at
from simtown.probes.scorers.spelling import Tokens, split_at_blank


class Causal(LanguageModel):
    """A causal language model.

    A text stands behind the token that begins texts (or ends them), so that its first word too is scored. The
    end of a text is not counted.
    """

    forward = True

    def __init__(self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings) -> None:
        starts = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id)
        start = next((token for token in starts if token is not None), None)
        if start is None:
            without = "so the first word would have no probability: give another model"
            raise ValueError(f"{name} has no token that begins a text (bos_token, eos_token), {without}")
        self._start = int(start)
        if _looks_ahead(model.eval(), self._start):
            other = "give a causal or a masked language model"
            raise ValueError(
                f"{name} is not a causal language model, though its config.json says so: {other}"
            )
        super().__init__(name, model, tokenizer, settings)

    def _at_gaps(self, contexts: Sequence[str], spellings: Sequence[Tokens]) -> np.ndarray:
        """A beginning is read once, whatever the number of spellings: what follows goes on from its state."""
        unique, where = distinct(split_at_blank(context)[0].rstrip() for context in contexts)
        rows = [(self._start, *self.token_ids(text)) for text in unique]
        for text, row in zip(unique, rows, strict=True):
            self._check_length(len(row) + max(map(len, spellings)) - 1, text)
        scores = np.zeros((len(rows), len(spellings)))
        first, first_of = distinct(tokens[0] for tokens in spellings)
        for batch in self._batches(rows, equal=True):
            ids = self.tensor([rows[b] for b in batch])
            with projected_at(self.model, range(len(batch)), [ids.shape[1] - 1] * len(batch)) as logits_of:
                output = self.model(input_ids=ids, use_cache=True)
            answers = logprobs_of(logits_of(output), self.tensor(first).expand(len(batch), -1))
            scores[batch] = answers[:, first_of]
            state = getattr(output, "past_key_values", None)
            for inputs, (lines, columns, tokens, numbers) in self._continuations(ids, spellings, state):
                with projected_at(self.model, lines, columns) as logits_of:
                    output = self.model(**inputs)
                answers = logprobs_of(logits_of(output), self.tensor(tokens)[:, None])[:, 0]
                for number, answer in zip(numbers, answers.reshape(len(numbers), -1), strict=True):
                    scores[batch, number] += answer
        return scores[where]

    def _continuations(
        self, ids: torch.Tensor, spelled: Sequence[Tokens], state: Any
    ) -> Iterator[tuple[dict[str, Any], tuple[list[int], list[int], list[int], list[int]]]]:
        """What goes on from rows of one length to all sub-words but the first, in blocks of their stems.

        Gives inputs of the model, which go on from its `state` if it can be repeated, and where to look: row,
        column and token of every look, and the number of the spelling for each `len(ids)` looks.
        """
        longer = [number for number, tokens in enumerate(spelled) if len(tokens) > 1]
        stems, stem_of = distinct(spelled[number][:-1] for number in longer)
        repeatable = hasattr(state, "batch_repeat_interleave")
        n, length = ids.shape
        size = max(1, self._budget // (length + max(map(len, stems), default=0)) // n)
        for begin in range(0, len(stems), size):
            block, _ = self.padded(stems[begin : begin + size])
            inputs: dict[str, Any] = {"input_ids": block.repeat(n, 1)}
            if repeatable:
                past = copy.deepcopy(state)
                past.batch_repeat_interleave(len(block))
                inputs |= {"past_key_values": past, "use_cache": True}
            else:
                rows = ids.repeat_interleave(len(block), 0)
                inputs["input_ids"] = torch.cat([rows, inputs["input_ids"]], dim=1)
            looks = [
                (number, stem - begin, at, token)
                for number, stem in zip(longer, stem_of, strict=True)
                if begin <= stem < begin + size
                for at, token in enumerate(spelled[number][1:], start=0 if repeatable else length)
            ]
            lines = [line for _, stem, _, _ in looks for line in range(stem, n * len(block), len(block))]
            columns = [at for _, _, at, _ in looks for _ in range(n)]
            tokens = [token for *_, token in looks for _ in range(n)]
            yield inputs, (lines, columns, tokens, [number for number, *_ in looks])

    def _looks(self, encoding: Any, text: str) -> Iterator[tuple[Tokens, int, int]]:
        row = (self._start, *encoding.ids)
        self._check_length(len(row), text)
        return ((row, at, token) for at, token in enumerate(row[1:]))


def _looks_ahead(model: Any, start: int) -> bool:
    """Whether another last token changes what the model says before it."""
    rows = torch.tensor([[start] * 4, [start] * 3 + [0 if start else 1]], device=model.device)
    with quietly(), torch.no_grad():
        first, second = model(input_ids=rows).logits[:, :-1].double().log_softmax(-1)
    return bool((first - second).abs().max() > ROUNDING)
