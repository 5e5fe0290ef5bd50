"""What all Hugging Face models share: loading from a directory, tokens and their words, batches, hidden
states.

The vocabulary projection is the dearest part of a small model, and few positions of a batch need it: a hook
on the tower keeps the hidden states of those alone, whatever the architecture's head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch

from simtown.probes.bars import metered
from simtown.probes.quiet import quietly
from simtown.probes.scorers.base import Ability, Pooling, Scorer
from simtown.probes.scorers.batching import buckets, distinct
from simtown.probes.scorers.gap import check_spans, touching
from simtown.probes.scorers.spelling import Policy, Tokens

Variant = Literal["original", "within_word_l2r", "whole_word"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
#: Most numbers that one batch's logits may hold: 1 GiB of float32.
LOGITS = 1 << 28
#: What rounding changes at most in a state computed in float32, as a share of its largest number or of 1.
ROUNDING = 1e-4


@dataclass(frozen=True)
class ScorerSettings:
    """How a model is run and read.

    Attributes:
        device: "auto", "cpu", "cuda", or any name PyTorch knows.
        dtype: of the weights, "float32", "bfloat16" or "float16"; logits are normalised in float32 whatever
            it is.
        policy: see :mod:`simtown.probes.scorers.spelling`.
        variant: of pseudo-log-likelihood.
        tokens: of a batch at most, padding included.
        progress: whether long work draws a bar on stderr.
    """

    device: str = "auto"
    dtype: str = "float32"
    policy: Policy = "left-to-right"
    variant: Variant = "original"
    tokens: int = 1024
    progress: bool = False


class Transformer(Scorer):
    """A tower with a tokenizer: hidden states of texts, and vectors of words. Subclasses add the
    model's output head.

    Args:
        name: as reports call it.
        model: any module that takes input_ids and attention_mask as transformers' models do.
        tokenizer: a fast one.
        truncate: cut texts that are too long for the model instead of refusing them.

    Attributes:
        sees_padding: whether a token's state depends on the padding behind the text. A batch for such a model
            has texts of one length.
    """

    abilities: frozenset[Ability] = frozenset({"embed", "word_vector"})
    limitation = "has no language-modelling head, so no probabilities: give a masked or a causal model"

    def __init__(
        self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings, *, truncate: bool = False
    ) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise ValueError(
                f"{name} has no fast tokenizer (tokenizer.json), which is needed to find where "
                "in a text each token stands: give another model"
            )
        self.name, self.tokenizer, self.settings, self.truncate = name, tokenizer, settings, truncate
        auto = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(auto if settings.device == "auto" else settings.device)
        config = model.config
        self.longest = min(tokenizer.model_max_length, _positions(model))
        self._pad = tokenizer.pad_token_id or 0
        self._budget = max(1, min(settings.tokens, LOGITS // max(getattr(config, "vocab_size", 1), 1)))
        self._carrier = self.token_ids("a")
        model.eval().requires_grad_(False)
        self._examine(model)  # in float32, whose rounding is small
        self.model = model.to(self.device, getattr(torch, settings.dtype))

    # Tokens
    # ----------------------------------------------------------------------------------------------

    def token_ids(self, text: str) -> Tokens:
        """Token numbers without the special ones."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def piece_ids(self, word: str, lead: str = " ") -> Tokens:
        """Token numbers of a word, the unknown one among them, as of :meth:`word_ids`.

        Found behind another word, since tokenizers differ in where they put the space.
        """
        if lead:
            whole = self.token_ids(f"a {word}")
            if whole[: len(self._carrier)] == self._carrier:
                return whole[len(self._carrier) :]
        return self.token_ids(word)

    def word_ids(self, word: str, lead: str = " ") -> Tokens | None:
        """Token numbers of a word that stands after a space, or where `lead` is empty first in a text; None
        if it is unknown.
        """
        tokens = self.piece_ids(word, lead)
        unknown = self.tokenizer.unk_token_id
        return None if not tokens or unknown in tokens else tokens

    def spelling(self, word: str, lead: str = " ") -> Tokens | None:
        """See :meth:`simtown.probes.scorers.base.Scorer.spelling`: the word's token numbers."""
        return self.word_ids(word, lead)

    def _encoded(self, texts: Sequence[str], *, special: bool) -> list[Any]:
        """`tokenizers.Encoding` of every text.

        Raises:
            ValueError: a text is too long, or empty.
        """
        if not texts:
            return []
        more = {"truncation": True, "max_length": self.longest} if self.truncate else {"verbose": False}
        encodings = list(self.tokenizer(list(texts), add_special_tokens=special, **more).encodings)
        for text, encoding in zip(texts, encodings, strict=True):
            if not text.strip():
                raise ValueError(f"{self.name} was given an empty text")
            self._check(len(encoding.ids), text)
        return encodings

    def _check(self, tokens: int, text: str) -> None:
        if tokens > self.longest:
            raise ValueError(
                f"{self.name} takes at most {self.longest} tokens, and this text has {tokens}; give "
                f"shorter texts: '{text[:60]}…'"
            )

    # Batches
    # ----------------------------------------------------------------------------------------------

    def _examine(self, model: Any) -> None:
        """Find out whether a token's state depends on the padding behind the text.

        Some models mix or pool all positions, whatever the mask.

        Raises:
            ValueError: the model cannot read a text, or has not one state for each token.
        """
        # tokens by number: no text has some in every vocabulary
        row = [token for token in range(min(8, len(self.tokenizer))) if token != self._pad]
        row = row[: max(1, self.longest // 2)]
        states = []
        for padding in (0, len(row)):
            ids = torch.tensor([[*row, *[self._pad] * padding]])
            real = torch.tensor([[1] * len(row) + [0] * padding])
            try:
                with quietly(), torch.no_grad():
                    state = model.base_model(input_ids=ids, attention_mask=real).last_hidden_state
                if state.shape[1] != ids.shape[1]:
                    raise ValueError("it has not one state for each token")
            except Exception as error:  # every architecture has its own
                raise ValueError(
                    f"{self.name} cannot read a text as a language model or an encoder does "
                    f"({type(error).__name__}: {str(error).partition(chr(10))[0][:200]}): give another model"
                ) from error
            states.append(state[0, : len(row)].double())
        alone, padded = states
        difference = float((alone - padded).abs().max())
        self.sees_padding = difference > ROUNDING * max(1.0, float(alone.abs().max()))

    def _batches(self, rows: Sequence[Sequence[int]], *, equal: bool = False) -> Iterator[list[int]]:
        """Numbers of the rows, batch by batch; draws the bar. equal: only rows of one length in a batch."""
        with metered(self.name, len(rows), self.settings.progress) as progress, torch.inference_mode():
            for batch in buckets(rows, self._budget, equal=equal or self.sees_padding):
                yield batch
                progress(len(batch))

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(n, t) int64 token numbers, filled up on the right, and (n, t) int64, 1 where they are real; on the
        device.
        """
        longest = max(map(len, rows))
        ids = np.full((len(rows), longest), self._pad, dtype=np.int64)
        real = np.zeros((len(rows), longest), dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            real[i, : len(row)] = 1
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(real).to(self.device)

    def tensor(self, numbers: Sequence[int] | Sequence[Sequence[int]] | np.ndarray) -> torch.Tensor:
        return torch.as_tensor(np.asarray(numbers, dtype=np.int64), device=self.device)

    def logits_at(
        self, rows: Sequence[int], columns: Sequence[int], **inputs: Any
    ) -> tuple[torch.Tensor, Any]:
        """(r, v) float32 logits at the r positions (rows[i], columns[i]) of a batch, and all that the model
        said.
        """
        at = (self.tensor(rows), self.tensor(columns))
        tower = self.model.base_model
        if tower is self.model:  # no tower to hook on to
            output = self.model(**inputs)
            return output.logits[at].float(), output
        with _only(tower, at) as picked:
            output = self.model(**inputs)
        return (output.logits[0] if picked else output.logits[at]).float(), output

    # Vectors
    # ----------------------------------------------------------------------------------------------

    def embed(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None = None,
        layer: int = -1,
        pooling: Pooling = "mean",
    ) -> np.ndarray:
        """(n, d) float32: hidden states of a layer (0: the embeddings, -1: the last) pooled over the tokens
        that touch a span.

        Without spans all tokens count, the special ones too, so that "first" is a BERT's [CLS]. Raises
        ValueError for a span that touches no token and for a layer that is not there.
        """
        check_spans(texts, spans)
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=True)
        chosen: list[list[tuple[int, list[int]]]] = [[] for _ in unique]
        for i, place in enumerate(where):
            text = unique[place]
            tokens = (
                list(range(len(encoded[place].ids)))
                if spans is None
                else touching(text, encoded[place].offsets, *spans[i])
            )
            if not tokens:
                raise ValueError(
                    f"the characters {spans[i] if spans else ''} of '{text}' touch no token of {self.name}"
                )
            chosen[place].append((i, tokens))
        rows = [encoding.ids for encoding in encoded]
        vectors: np.ndarray | None = None
        for batch in self._batches(rows):
            ids, real = self.padded([rows[b] for b in batch])
            states = self._states(ids, real, layer)
            if vectors is None:
                vectors = np.empty((len(texts), states.shape[-1]), dtype=np.float32)
            for b, state in zip(batch, states, strict=True):
                for i, tokens in chosen[b]:
                    vectors[i] = _pool(state, self.tensor(tokens), pooling).cpu().numpy()
        return np.empty((0, 0), dtype=np.float32) if vectors is None else vectors

    def _states(self, ids: torch.Tensor, real: torch.Tensor, layer: int) -> torch.Tensor:
        """(n, t, d) float32 hidden states of a layer."""
        states = self.model.base_model(
            input_ids=ids, attention_mask=real, output_hidden_states=True
        ).hidden_states
        if not -len(states) <= layer < len(states):
            raise ValueError(f"{self.name} has layers 0 to {len(states) - 1}, not {layer}")
        return states[layer].float()

    def word_vector(self, word: str) -> np.ndarray | None:
        """(d,) float32: mean of the input embeddings of the word's sub-words, None for a word with an unknown
        one.
        """
        tokens = self.word_ids(word)
        if tokens is None:
            return None
        with torch.inference_mode():
            return self.model.get_input_embeddings()(self.tensor(tokens)).float().mean(0).cpu().numpy()


@contextmanager
def _only(tower: Any, at: tuple[torch.Tensor, torch.Tensor]) -> Iterator[list[bool]]:
    """Whatever stands on the tower sees its hidden states at these positions alone, as one row.

    Gives a list that is empty as long as the model has not called its tower: some call a part of it.
    """
    picked: list[bool] = []

    def pick(module: Any, given: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[at][None]
        picked.append(True)
        return output

    handle = tower.register_forward_hook(pick)
    try:
        yield picked
    finally:
        handle.remove()


def _positions(model: Any) -> int:
    """How many tokens a model has positions for."""
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    if positions < 1:  # XLNet has relative ones, and says -1
        return 10**9
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return int(positions - padding - 1)  # RoBERTa counts from the position of padding
    return int(positions)


def logprobs_of(logits: torch.Tensor, tokens: torch.Tensor) -> np.ndarray:
    """(r, w) float64 log-probabilities of (r, w) token numbers under (r, v) logits."""
    return (logits.gather(1, tokens).double() - logits.logsumexp(1, keepdim=True).double()).cpu().numpy()


def _pool(state: torch.Tensor, tokens: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """(d,) of (t, d) hidden states."""
    if pooling == "mean":
        return state[tokens].mean(0)
    return state[tokens[0 if pooling == "first" else -1]]
