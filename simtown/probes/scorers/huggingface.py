"""What all Hugging Face models share: tokens and their words, batches, logits where they are needed, states.

The vocabulary projection is the dearest part of a small model, and few positions of a batch need it: a hook
on the tower keeps the hidden states of those alone, whatever the architecture's head.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import GELU
from transformers.activations import NewGELUActivation

from simtown.core.pretrained import quietly
from simtown.core.progress import progress_of
from simtown.probes.scorers.base import Ability, Pooling, Scorer, ScorerSettings, Spans, TokenScores
from simtown.probes.scorers.batching import OPEN, Tree, buckets, distinct
from simtown.probes.scorers.spelling import (
    Tokens,
    lead_of,
    spell,
    split_at_blank,
    touching,
    visible,
    words_of,
)

#: Most numbers that one batch's logits may hold: 1 GiB of float32.
LOGITS = 1 << 28
#: What rounding changes at most in a state computed in float32, as a share of its largest number or of 1.
ROUNDING = 1e-4


class Transformer(Scorer):
    """A tower with a tokenizer: hidden states of texts, and vectors of words. Subclasses add the output head.

    Args:
        model: any module that takes input_ids and attention_mask as transformers' models do.
        truncate: cut texts that are too long for the model instead of refusing them.

    Attributes:
        sees_padding: whether a token's state depends on the padding behind the text, as where a model mixes
            all positions. A batch for such a model has texts of one length.
    """

    abilities: frozenset[Ability] = frozenset({"embed", "word_vector"})
    #: Tokens that a text stands behind.
    lead: Tokens = ()
    #: Whether a whole text's vector is the model's own projection (CLIP's).
    projects = False
    limitation = "has no language-modelling head, so no probabilities: give a masked or a causal model"

    def __init__(
        self, name: str, model: Any, tokenizer: Any, settings: ScorerSettings, *, truncate: bool = False
    ) -> None:
        if not tokenizer.is_fast:
            raise ValueError(f"{name} has no fast tokenizer (tokenizer.json): give another model")
        self.name, self.tokenizer, self.settings, self.truncate = name, tokenizer, settings, truncate
        tokenizer.backend_tokenizer.no_padding()  # sentence encoders save theirs
        tokenizer.backend_tokenizer.no_truncation()
        self.device = torch.device(settings.device)
        self.longest = min(tokenizer.model_max_length, positions(model))
        self._pad = tokenizer.pad_token_id or 0
        vocabulary = max(getattr(model.config.get_text_config(), "vocab_size", 1), 1)
        self._budget = max(1, min(settings.tokens, LOGITS // vocabulary))
        self.model = model.eval().requires_grad_(False).to(self.device, getattr(torch, settings.dtype))
        for module in self.model.modules():
            if isinstance(module, NewGELUActivation):
                module.forward = GELU("tanh").forward  # the same in one step
        self.sees_padding = sees_padding(model, tokenizer)

    def token_ids(self, text: str) -> Tokens:
        """Token numbers without the special ones."""
        return tuple(self.tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids)

    def piece_ids(self, word: str, lead: str = " ") -> Tokens:
        """Token numbers of a word behind `lead`, see :func:`simtown.probes.scorers.spelling.lead_of`.

        Found behind a text with this end, since tokenizers differ in where they put the space; behind another
        mark if the tokenizer makes one piece of the text's end and the word's beginning.
        """
        own = f"a{lead}" if lead[:1].isspace() else lead
        for before in (own, 'a "') if lead.strip() else (own,):
            start, whole = self.token_ids(before.rstrip()), self.token_ids(before + word)
            if whole[: len(start)] == start:
                return whole[len(start) :]
        return self.token_ids(word)

    def spelling(self, word: str, lead: str = " ") -> Tokens | None:
        """Token numbers of a word as of :meth:`piece_ids`; None if one of them is the unknown token."""
        tokens = self.piece_ids(word, lead)
        return None if not tokens or self.tokenizer.unk_token_id in tokens else tokens

    def _encoded(self, texts: Sequence[str], *, special: bool) -> list[Any]:
        """`tokenizers.Encoding` of every text, none too long or empty."""
        if not texts:
            return []
        more = {"truncation": True, "max_length": self.longest} if self.truncate else {"verbose": False}
        encodings = list(self.tokenizer(list(texts), add_special_tokens=special, **more).encodings)
        for text, encoding in zip(texts, encodings, strict=True):
            if not text.strip():
                raise ValueError(f"{self.name} was given an empty text")
            self._check_length(len(encoding) + len(self.lead), text)
        return encodings

    def _check_length(self, tokens: int, text: str) -> None:
        if tokens > self.longest:
            problem = f"{self.name} takes at most {self.longest} tokens, and this text has {tokens}"
            raise ValueError(f"{problem}; give shorter texts: '{text[:60]}…'")

    def _batches(self, rows: Sequence[Sequence[int]], *, equal: bool = False) -> Iterator[list[int]]:
        """Numbers of the rows, batch by batch; draws the bar. equal: only rows of one length in a batch."""
        with progress_of(self.name, len(rows), self.settings.progress) as progress, torch.inference_mode():
            for batch in buckets(rows, self._budget, equal=equal or self.sees_padding):
                yield batch
                progress(len(batch))

    def padded(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(n, t) int64 token numbers, filled up on the right, and (n, t) int64, 1 where they are real."""
        lengths = np.array([len(row) for row in rows])
        real = np.arange(lengths.max()) < lengths[:, None]
        ids = np.full(real.shape, self._pad, dtype=np.int64)
        ids[real] = np.concatenate(rows)
        return self.tensor(ids), self.tensor(real)

    def tensor(self, numbers: Any) -> torch.Tensor:
        """An int64 tensor on the device."""
        return torch.as_tensor(np.asarray(numbers, dtype=np.int64), device=self.device)

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        """Layer 0 is the embeddings; without spans special tokens count, too, so that "first" is [CLS]."""
        unique, where = distinct(texts)
        encoded = self._encoded(unique, special=True)
        chosen: list[list[tuple[int, list[int]]]] = [[] for _ in unique]
        for i, place in enumerate(where):
            tokens = list(range(len(encoded[place].ids)))
            if spans is not None:
                tokens = touching(unique[place], encoded[place].offsets, *spans[i])
                if not tokens:
                    characters = f"the characters {spans[i]} of '{unique[place]}'"
                    raise ValueError(f"{characters} touch no token of {self.name}")
            chosen[place].append((i, tokens))
        rows = [encoding.ids for encoding in encoded]
        vectors: list[np.ndarray] = [np.empty(0)] * len(texts)
        for batch in self._batches(rows):
            ids, real = self.padded([rows[b] for b in batch])
            if self.projects and spans is None and layer == -1:
                whole = self.model(input_ids=ids, attention_mask=real).text_embeds.float().cpu().numpy()
                for b, vector in zip(batch, whole, strict=True):
                    for i, _ in chosen[b]:
                        vectors[i] = vector
                continue
            output = self.model.base_model(input_ids=ids, attention_mask=real, output_hidden_states=True)
            layers = output.hidden_states
            if not -len(layers) <= layer < len(layers):
                raise ValueError(f"{self.name} has layers 0 to {len(layers) - 1}, not {layer}")
            for b, state in zip(batch, layers[layer].float(), strict=True):
                for i, tokens in chosen[b]:
                    if pooling == "mean":
                        pooled = state[self.tensor(tokens)].mean(0)
                    else:
                        pooled = state[tokens[0 if pooling == "first" else -1]]
                    vectors[i] = pooled.cpu().numpy()
        return np.array(vectors, dtype=np.float32)

    def word_vector(self, word: str) -> np.ndarray | None:
        """The mean of the input embeddings of the word's sub-words."""
        tokens = self.spelling(word)
        if tokens is None:
            return None
        with torch.inference_mode():
            return self.model.get_input_embeddings()(self.tensor(tokens)).float().mean(0).cpu().numpy()


class Encoder(Transformer):
    """A tower that was trained to give a text one vector.

    A text that is too long for it is cut, as its own library does.

    Args:
        model: as :class:`Transformer` takes it: name, model, tokenizer,
            settings.
        pooling: how it makes the vector: "mean" over all tokens, "first", "last", or "projection" where the
            model has its own (CLIP).
        normalise: whether to length 1.
    """

    def __init__(self, *model: Any, pooling: str, normalise: bool) -> None:
        super().__init__(*model, truncate=True)
        self._pooling, self._normalise, self.projects = pooling, normalise, pooling == "projection"

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        """A whole text at the last layer is pooled as the encoder was trained; else as of any transformer."""
        if spans is not None or layer != -1 or not texts:
            return super().embed(texts, spans, layer, pooling)
        vectors = super().embed(texts, None, -1, self._pooling)  # type: ignore[arg-type]
        if self._normalise:
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
        return vectors

    def word_vector(self, word: str) -> np.ndarray | None:
        """The tower's vector of the word as a text."""
        return None if self.spelling(word) is None else self.embed([word])[0]


class LanguageModel(Transformer):
    """A tower with the head of a language model: what masked and causal ones share."""

    abilities: frozenset[Ability] = frozenset({"class_logprobs", "sequence_logprobs", "embed", "word_vector"})

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        logprobs = np.full((len(contexts), len(targets)), np.nan)
        leads, where = distinct(lead_of(split_at_blank(context)[0]) for context in contexts)
        pieces = (partial(self.spelling, lead=lead) for lead in leads)
        spellings = [spell(targets, pieces_of, self.settings.policy) for pieces_of in pieces]
        for spelled in (one for i, one in enumerate(spellings) if one not in spellings[:i]):
            rows = [i for i, place in enumerate(where) if spellings[place] == spelled]
            if spelled.spellings:
                scores = self._at_gaps([contexts[i] for i in rows], spelled.spellings)
                logprobs[rows] = spelled.totals(scores)
        return logprobs

    def _at_gaps(self, contexts: Sequence[str], spellings: Sequence[Tokens]) -> np.ndarray:
        """(n, s) log-probabilities of the spellings at the gap of each context."""
        raise NotImplementedError

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        unique, where = distinct(zip(texts, begins or [0] * len(texts), strict=True))
        encoded = self._encoded([text for text, _ in unique], special=not self.forward)
        scored, words = [], []
        for encoding, (text, begin) in zip(encoded, unique, strict=True):
            special, offsets = encoding.special_tokens_mask, encoding.offsets
            own = [place for place, is_special in enumerate(special) if not is_special]
            if begin:
                own = [place for place in own if visible(text, *offsets[place]) >= begin]
            scored.append(own)
            words.append(words_of(text, [offsets[place] for place in own]))
        rows, looks = self._looks(encoded, scored)
        logprobs = np.split(self.look_logprobs(rows, looks), np.cumsum([len(own) for own in scored])[:-1])
        scores = [TokenScores(*pair) for pair in zip(logprobs, words, strict=True)]
        return [scores[place] for place in where]

    def _looks(self, encoded: Sequence[Any], scored: Sequence[list[int]]) -> tuple[list[Tokens], np.ndarray]:
        """Rows to read and looks at them, as of :meth:`look_logprobs`, one a scored token of every text.

        Args:
            encoded: `tokenizers.Encoding` of the texts.
            scored: of every text the places of the tokens to score.
        """
        raise NotImplementedError

    def look_logprobs(
        self, rows: Sequence[Sequence[int]], looks: np.ndarray, trees: Sequence[Tree] = ()
    ) -> np.ndarray:
        """(q,) float64 log-probabilities of tokens.

        Args:
            rows: distinct rows of token numbers; each is read once.
            looks: (q, 3) int64: number of a row, position in it, and the token that may stand there (of a
                causal model: behind it).
            trees: whose nodes the rows are; () for rows that are texts.
        """
        order = np.argsort(looks[:, 0], kind="stable")
        starts = np.searchsorted(looks[order, 0], np.arange(len(rows) + 1))
        logprobs = np.empty(len(looks))
        for batch in self._batches(rows):
            chosen = [order[starts[b] : starts[b + 1]] for b in batch]
            ids, real = self.padded([rows[b] for b in batch])
            inputs = {"input_ids": ids, "attention_mask": real}
            if any(trees[b].branches for b in batch if trees):
                inputs |= self._as_trees([trees[b] for b in batch])
            asked = np.concatenate(chosen)
            lines = np.repeat(np.arange(len(batch)), [len(own) for own in chosen])
            places, column = np.unique(lines * ids.shape[1] + looks[asked, 1], return_inverse=True)
            row_of, column_of = np.divmod(places, ids.shape[1])
            with projected_at(self.model, row_of, column_of) as logits_of:
                logits = logits_of(self.model(**inputs))
            logprobs[asked] = logits.log_softmax(1)[column, looks[asked, 2]].cpu().numpy()
        return logprobs

    def _as_trees(self, trees: Sequence[Tree]) -> dict[str, torch.Tensor]:
        """The inputs by which each node of a batch of trees sees its own row alone, at its own position."""
        depths, real = self.padded([tree.depths for tree in trees])
        ends, _ = self.padded([tree.ends for tree in trees])
        ends = torch.where(real > 0, ends, OPEN)  # padding sees something: nothing would be no number
        at = torch.arange(ends.shape[1], device=self.device)
        seen = (at <= at[:, None]) & (at[:, None] < ends[:, None, :])
        unseen = torch.finfo(self.model.dtype).min
        mask = torch.zeros(seen.shape, dtype=self.model.dtype, device=self.device).masked_fill(~seen, unseen)
        return {"attention_mask": mask[:, None], "position_ids": depths * real}


@contextmanager
def projected_at(
    model: Any, rows: Sequence[int] | np.ndarray, columns: Sequence[int] | np.ndarray
) -> Iterator[Callable[[Any], torch.Tensor]]:
    """Within, the head of the model sees the tower's hidden states at r positions of the batch alone.

    Gives what takes the model's output and returns (r, v) float32 logits at (rows[i], columns[i]). Some
    models have no tower, or call a part of it: then the head projects all positions.
    """
    at = (torch.as_tensor(rows), torch.as_tensor(columns))
    picked: list[bool] = []

    def pick(module: Any, given: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[at][None]
        picked.append(True)
        return output

    def logits_of(output: Any) -> torch.Tensor:
        return (output.logits[0] if picked else output.logits[at]).float()

    tower = model.base_model
    handle = None if tower is model else tower.register_forward_hook(pick)
    try:
        yield logits_of
    finally:
        if handle is not None:
            handle.remove()


def rounding(model: Any) -> float:
    """What rounding changes at most in a state of a model, as a share of its largest number or of 1."""
    return max(ROUNDING, 4 * torch.finfo(model.dtype).eps)


def sees_padding(model: Any, tokenizer: Any) -> bool:
    """Whether the states of a text's tokens change when padding is added, whatever the mask."""
    # tokens by number: no text has some in every vocabulary
    pad, longest = tokenizer.pad_token_id or 0, min(tokenizer.model_max_length, positions(model))
    row = [token for token in range(min(8, len(tokenizer))) if token != pad][: max(1, longest // 2)]
    states = []
    for padding in (0, len(row)):
        ids = torch.tensor([row + [pad] * padding], device=model.device)
        real = torch.tensor([[1] * len(row) + [0] * padding], device=model.device)
        with quietly(), torch.no_grad():
            state = model.base_model(input_ids=ids, attention_mask=real).last_hidden_state
        states.append(state[0, : len(row)])
    alone, padded = states
    return bool((alone - padded).abs().max() > rounding(model) * alone.abs().max().clamp_min(1))


def positions(model: Any) -> int:
    """How many tokens a model has positions for."""
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 0
    if positions < 1:  # XLNet has relative ones, and says -1
        return 10**9
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            return int(positions - padding - 1)  # RoBERTa counts from the position of padding
    return int(positions)
