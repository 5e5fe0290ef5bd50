"""Soft prompt tuning (section 4.2; Qin and Eisner 2021): learned offsets to the embeddings of
a template's words, so that the model predicts the true distribution.

A template's words keep their embeddings; what is learned are offsets, zero at first, added at each of their
positions to what enters the network, and with `deep` to what enters every layer. Subject, gap and special
tokens have none, and the model itself stays as it is. The templates form a mixture, whose weights are fitted
by expectation and maximisation: the loss is that of the mixture, whose gradient is the expected one, and
after each pass a template's weight is its mean responsibility.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file

from simtown.core.files import replacing
from simtown.probes.items import ItemAnswers, ItemSet
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.batching import together
from simtown.probes.scorers.huggingface import projected_at
from simtown.probes.scorers.masked import Masked
from simtown.probes.scorers.spelling import lead_of, spell

#: Adam's step, subjects a batch, most passes, passes without progress after which it stops (section 5.1 and
#: the release).
LEARNING_RATE, BATCH, EPOCHS, PATIENCE = 1e-3, 32, 16, 4
#: Every so-many-th train subject is held out to stop by.
HELD_OUT = 10


def masked_of(scorer: Scorer) -> Masked:
    """The masked model behind a scorer. Raises UnableError for a scorer of another kind."""
    inner = scorer.uncached()
    if not isinstance(inner, Masked):
        needed = "soft prompts and distillation need one, such as hf:bert-base-uncased"
        raise UnableError(f"{scorer.name} is not a masked language model: {needed}")
    return inner


class PromptRows(NamedTuple):
    """Subjects in one template, as int64 tensors.

    Attributes:
        ids: (n, t) token numbers.
        real: (n, t) 1 where a token is no padding.
        gap: (n,) places of the gap.
        own: (n, w) places of the template's own tokens.
    """

    ids: torch.Tensor
    real: torch.Tensor
    gap: torch.Tensor
    own: torch.Tensor


def rows(scorer: Masked, template: str, subjects: Sequence[str]) -> PromptRows:
    """Token numbers of a template filled with each subject and a mask."""
    begin, end = scorer.ends
    parts = template.replace("[X]", "\0X\0").replace("[Y]", "\0Y\0").split("\0")
    lines, gaps = [], []
    own: list[list[int]] = []
    for subject in subjects:
        line, gap, before = list(begin), 0, ""
        own.append([])
        for part in parts:
            text = {"X": subject, "Y": "a"}.get(part, part)
            tokens = scorer.piece_ids(text.rstrip(), lead_of(before))
            if part == "Y":
                gap, tokens = len(line), (scorer.tokenizer.mask_token_id,)
            elif part != "X":
                own[-1] += range(len(line), len(line) + len(tokens))
            line += tokens
            before += text
        lines.append([*line, *end])
        gaps.append(gap)
    places = np.array(own, dtype=np.int64).reshape(len(subjects), -1)
    return PromptRows(*scorer.padded(lines), scorer.tensor(gaps), scorer.tensor(places))


def _layers(model: Any) -> list[Any]:
    """The layers of a transformer, in order, of which each is a module of its own."""
    for part in ("encoder", "transformer"):
        layers = getattr(getattr(model.base_model, part, None), "layer", None)
        if layers is not None:
            return list(layers)
    raise UnableError("this model's layers share weights or are of unknown kind: give `use=tuned-embeddings`")


class Mixture(torch.nn.Module):
    """Soft prompts of one relation.

    Attributes:
        members: for each class the numbers of its words' spellings, made of first sub-words.
        rows: the subjects in each of the t templates.
        offsets: a parameter a template, (layers or 1, its own tokens, d of the widest states).
        log_weights: (t,) of the mixture.
    """

    def __init__(self, scorer: Masked, data: ItemSet, deep: bool):
        super().__init__()
        spelled = spell(data.words, scorer.spelling, "first")
        self._scorer, self.members = scorer, spelled.members
        self._tokens = scorer.tensor([tokens[0] for tokens in spelled.spellings])
        self._layers = _layers(scorer.model) if deep else []
        self.rows = [rows(scorer, template, data.subjects) for template in data.templates]
        layers, size = max(len(self._layers), 1), scorer.model.get_input_embeddings().embedding_dim
        if deep:  # the layers' states may be wider than the embeddings, as in ELECTRA and MobileBERT
            size = max(size, scorer.model.config.hidden_size)
        shapes = [(layers, these.own.shape[1], size) for these in self.rows]
        self.offsets = torch.nn.ParameterList([torch.zeros(s, device=scorer.device) for s in shapes])
        weights = torch.full((len(self.rows),), -float(np.log(len(self.rows))), device=scorer.device)
        self.register_buffer("log_weights", weights)

    def forward(self, which: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """(n, c) log-probability of the mixture, and (t, n, c) of each template with its weight."""
        by_template = []
        for number, these in enumerate(self.rows):
            lengths = these.real[which].sum(1).cpu().numpy()
            parts = together(lengths, equal=self._scorer.sees_padding)
            logprobs = torch.cat([self._at_gap(number, which[part], lengths[part].max()) for part in parts])
            by_template.append(logprobs[np.argsort(np.concatenate(parts))])
        each = torch.stack(by_template) + self.log_weights[:, None, None]
        return each.logsumexp(0), each

    def _at_gap(self, number: int, which: np.ndarray, length: int) -> torch.Tensor:
        """(n, c) log-probability, over the whole vocabulary, of the classes at the gap of one template."""
        ids, real, gap, own = (part[which] for part in self.rows[number])
        embedded = self._scorer.model.get_input_embeddings()(ids[:, :length])
        embedded = _add(embedded, self.offsets[number][0], own)
        at_gap = projected_at(self._scorer.model, range(len(gap)), gap.tolist())
        with self._perturbed(self.offsets[number], own), at_gap as logits_of:
            logits = logits_of(self._scorer.model(inputs_embeds=embedded, attention_mask=real[:, :length]))
        logprobs = (logits - logits.logsumexp(1, keepdim=True))[:, self._tokens]
        floor = torch.full((len(logprobs),), -torch.inf, device=logprobs.device)
        return torch.stack([logprobs[:, m].logsumexp(1) if m else floor for m in self.members], dim=1)

    @contextmanager
    def _perturbed(self, offsets: torch.Tensor, places: torch.Tensor) -> Iterator[None]:
        """Offsets of the layers after the first, whose input is the embeddings with theirs."""

        def hook(offset: torch.Tensor) -> Callable[[Any, Any], Any]:
            return lambda module, inputs: (_add(inputs[0], offset, places), *inputs[1:])

        layers = list(zip(self._layers, offsets, strict=False))[1:]
        handles = [layer.register_forward_pre_hook(hook(offset)) for layer, offset in layers]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def _add(hidden: torch.Tensor, offset: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """(n, t, d) hidden states with the first d columns of (w, ≥ d) offsets at (n, w) places."""
    size = hidden.shape[-1]
    index = places[..., None].expand(-1, -1, size)
    return hidden.scatter_add(1, index, offset[:, :size].expand(len(hidden), -1, -1).to(hidden.dtype))


def tune(
    scorer: Scorer,
    data: ItemSet,
    seed: int,
    deep: bool,
    save: Path | None = None,
    progress: Callable[[int], object] = lambda more: None,
) -> tuple[ItemAnswers, dict[str, Any]]:
    """What a mixture of prompts, tuned on the train subjects, says of the test; notes with losses by pass.

    Args:
        seed: of the order of train subjects.
        deep: offsets at every layer, or at the embeddings alone.
        save: a .safetensors file for the prompts.
        progress: takes the number of newly finished passes.
    """
    mixture = Mixture(masked_of(scorer), data, deep)
    unknown = [data.classes[g] for g in np.unique(data.gold[data.train]) if not mixture.members[g]]
    if unknown:
        problem = f"{scorer.name} does not know the word '{unknown[0]}', right for some train subjects"
        raise ValueError(f"{problem}: give another model")
    history = _learn(mixture, data, np.random.default_rng(seed), progress)
    if save is not None:
        with replacing(save) as temporary:
            save_file({name: tensor.cpu() for name, tensor in mixture.state_dict().items()}, temporary)
    weights = dict(zip(data.templates, mixture.log_weights.exp().tolist(), strict=True))
    answers = ItemAnswers.of(data, data.test, said(mixture, data.test), "tuned")
    return answers, {"held_out_loss": history, "weights": weights}


def _learn(
    mixture: Mixture, data: ItemSet, rng: np.random.Generator, progress: Callable[[int], object]
) -> list[float]:
    """Tune the prompts until the held-out loss no longer falls, and keep the best; the losses by pass."""
    train = np.flatnonzero(data.train)
    held_out = train[::HELD_OUT]
    learned = np.setdiff1d(train, held_out)
    optimiser = torch.optim.Adam(mixture.offsets.parameters(), lr=LEARNING_RATE)
    history = [_loss(mixture, data, held_out)]
    best, since = copy.deepcopy(mixture.state_dict()), 0
    for _ in range(EPOCHS):
        responsibilities: list[torch.Tensor] = []
        for batch in np.array_split(rng.permutation(learned), -(-len(learned) // BATCH)):
            total, each = mixture(batch)
            gold = torch.as_tensor(data.gold[batch], device=total.device)[:, None]
            loss = -total.gather(1, gold).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                at = each.gather(2, gold.expand(len(each), -1, 1))[..., 0]
                responsibilities.append((at - at.logsumexp(0)).exp())
        mixture.log_weights = torch.cat(responsibilities, dim=1).mean(1).clamp_min(1e-12).log()
        history.append(_loss(mixture, data, held_out))
        progress(1)
        since = 0 if history[-1] < min(history[:-1]) else since + 1
        if since == 0:
            best = copy.deepcopy(mixture.state_dict())
        elif since == PATIENCE:
            break
    mixture.load_state_dict(best)
    return history


def said(mixture: Mixture, which: np.ndarray) -> np.ndarray:
    """(m, c) float64 log-probabilities of the mixture about some subjects."""
    with torch.no_grad():
        batches = np.array_split(which, -(-len(which) // 64))
        return np.concatenate([mixture(batch)[0].double().cpu().numpy() for batch in batches])


def _loss(mixture: Mixture, data: ItemSet, which: np.ndarray) -> float:
    return float(-said(mixture, which)[np.arange(len(which)), data.gold[which]].mean())
