"""Soft prompt tuning (section 4.2; Qin and Eisner 2021): learned offsets to the embeddings of
a template's words, so that the model predicts the true distribution.

A template's words keep their embeddings; what is learned are offsets, zero at first, added at each of their
positions to what enters the network, and with `deep` to what enters every layer. Subject, gap and special
tokens have none, and the model itself stays as it is. The templates form a mixture, whose weights are fitted
by expectation and maximisation: the loss is that of the mixture, whose gradient is the expected one, and
after each pass a template's weight is its mean responsibility.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from simtown.core.files import replacing
from simtown.probes.items import ItemAnswers, ItemSet
from simtown.probes.scorers.base import Scorer, UnableError
from simtown.probes.scorers.batching import together
from simtown.probes.scorers.gap import lead_of
from simtown.probes.scorers.huggingface import projected_at
from simtown.probes.scorers.masked import Masked
from simtown.probes.scorers.spelling import spell

#: Adam's step, subjects a batch, most passes, passes without progress after which it stops (section 5.1 and
#: the release).
LEARNING_RATE, BATCH, EPOCHS, PATIENCE = 1e-3, 32, 16, 4
#: Every so-many-th train subject is held out to stop by.
HELD_OUT = 10


def masked_of(scorer: Scorer) -> Masked:
    """The masked model behind a scorer.

    Raises:
        UnableError: the scorer is of another kind.
    """
    inner = scorer.uncached()
    if not isinstance(inner, Masked):
        raise UnableError(
            f"{scorer.name} is not a masked language model: soft prompts and distillation need one, such as "
            "hf:bert-base-uncased"
        )
    return inner


@dataclass(frozen=True)
class PromptRows:
    """Subjects in one template.

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

    def of(self, which: torch.Tensor, length: int | None = None) -> PromptRows:
        """Some of the rows, of so many tokens."""
        return PromptRows(
            self.ids[which, :length], self.real[which, :length], self.gap[which], self.own[which]
        )


def rows(scorer: Masked, template: str, subjects: list[str]) -> PromptRows:
    """Token numbers of a template filled with each subject and a mask."""
    mask = int(scorer.tokenizer.mask_token_id)
    enclosed = scorer.tokenizer(scorer.tokenizer.mask_token)["input_ids"]
    at = enclosed.index(mask)
    parts = template.replace("[X]", "\0X\0").replace("[Y]", "\0Y\0").split("\0")
    ids: list[list[int]] = []
    gaps: list[int] = []
    own: list[list[int]] = []
    for subject in subjects:
        line = list(enclosed[:at])
        mine: list[int] = []
        gap = 0
        for before, part in zip(["", *parts], parts, strict=False):
            if part == "Y":
                gap = len(line)
                line.append(mask)
            elif part == "X":
                line += scorer.piece_ids(subject, lead_of(before))
            else:
                tokens = scorer.token_ids(part.rstrip())
                mine += range(len(line), len(line) + len(tokens))
                line += tokens
        line += enclosed[at + 1 :]
        ids.append(line)
        gaps.append(gap)
        own.append(mine)
    padded, real = scorer.padded(ids)
    return PromptRows(
        padded,
        real,
        scorer.tensor(gaps),
        scorer.tensor(np.array(own, dtype=np.int64).reshape(len(subjects), -1)),
    )


def _layers(model: Any) -> list[Any]:
    """The layers of a transformer, in order.

    Raises:
        UnableError: they are not found, or are one module used again and again.
    """
    for path in ("encoder.layer", "transformer.layer"):
        module = model.base_model
        for name in path.split("."):
            module = getattr(module, name, None)
        if module is not None:
            return list(module)
    raise UnableError(
        "this model shares weights between its layers, or has layers of an unknown kind: give "
        "`use=tuned-embeddings`"
    )


class Mixture(torch.nn.Module):
    """Soft prompts of one relation. words: for each class the token numbers that count for it, made of first
    sub-words.

    Attributes:
        offsets: a parameter a template, (layers or 1, its own tokens, d).
        log_weights: (t,) of the mixture.
    """

    def __init__(
        self,
        scorer: Masked,
        templates: tuple[str, ...],
        own: list[int],
        members: list[list[int]],
        tokens: list[int],
        deep: bool,
    ):
        super().__init__()
        self._scorer, self._members, self.templates = scorer, members, templates
        self._tokens = scorer.tensor(tokens)
        self._layers = _layers(scorer.model) if deep else []
        size = scorer.model.get_input_embeddings().embedding_dim
        self.offsets = torch.nn.ParameterList(
            [torch.zeros(max(len(self._layers), 1), n, size, device=scorer.device) for n in own]
        )
        self.register_buffer(
            "log_weights", torch.full((len(templates),), -float(np.log(len(templates))), device=scorer.device)
        )

    def forward(self, number: int, these: PromptRows) -> torch.Tensor:
        """(n, c) log-probability over the whole vocabulary of the classes at the gap of template `number`."""
        if not self._scorer.sees_padding:
            return self._together(number, these)
        lengths = these.real.sum(1).cpu().numpy()
        parts = together(lengths, equal=True)
        logprobs = [
            self._together(number, these.of(self._scorer.tensor(rows), lengths[rows[0]])) for rows in parts
        ]
        return torch.cat(logprobs)[self._scorer.tensor(np.argsort(np.concatenate(parts)))]

    def _together(self, number: int, these: PromptRows) -> torch.Tensor:
        """(n, c) as of :meth:`forward`, in one batch."""
        offsets = self.offsets[number]
        embedded = self._scorer.model.get_input_embeddings()(these.ids)
        embedded = self._add(embedded, offsets[0], these.own)
        at_gap = projected_at(self._scorer.model, range(len(these.gap)), these.gap.tolist())
        with self._perturbed(offsets, these.own), at_gap as logits_of:
            logits = logits_of(self._scorer.model(inputs_embeds=embedded, attention_mask=these.real))
        logprobs = (logits - logits.logsumexp(1, keepdim=True))[:, self._tokens]
        floor = torch.full((len(logprobs),), -torch.inf, device=logprobs.device)
        return torch.stack([logprobs[:, m].logsumexp(1) if m else floor for m in self._members], dim=1)

    def mixed(self, every: list[PromptRows]) -> tuple[torch.Tensor, torch.Tensor]:
        """(n, c) log-probability of the mixture, and (t, n, c) of each template with its weight."""
        each = torch.stack([self(t, these) + self.log_weights[t] for t, these in enumerate(every)])
        return each.logsumexp(0), each

    @staticmethod
    def _add(hidden: torch.Tensor, offset: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        index = places[..., None].expand(-1, -1, hidden.shape[-1])
        return hidden.scatter_add(1, index, offset.expand(len(hidden), -1, -1).to(hidden.dtype))

    @contextmanager
    def _perturbed(self, offsets: torch.Tensor, places: torch.Tensor) -> Iterator[None]:
        """Offsets of the layers after the first, whose input is the embeddings with theirs."""

        def hook(offset: torch.Tensor) -> Callable[[Any, Any], Any]:
            return lambda module, given: (self._add(given[0], offset, places), *given[1:])

        handles = [
            layer.register_forward_pre_hook(hook(offsets[i])) for i, layer in enumerate(self._layers) if i
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def tune(
    scorer: Scorer,
    data: ItemSet,
    seed: int,
    deep: bool,
    save: Path | None = None,
    progress: Callable[[int], object] = lambda more: None,
) -> tuple[ItemAnswers, dict[str, Any]]:
    """Prompts tuned on the train subjects' best classes, and what their mixture says of the test; notes with
    the losses by pass.

    Args:
        scorer: a masked language model.
        data: the items.
        seed: of the order of train subjects.
        deep: offsets at every layer, or at the embeddings alone.
        save: a .safetensors file for the prompts, in a folder that is there.
        progress: takes the number of newly finished passes.

    Raises:
        UnableError: the scorer is no masked language model.
        ValueError: it does not know a class that is right for a train subject.
    """
    model = masked_of(scorer)
    spelled = spell(data.words, model.spelling, "first")
    unknown = [data.classes[g] for g in np.unique(data.gold[data.train]) if not spelled.members[g]]
    if unknown:
        raise ValueError(
            f"{scorer.name} does not know the word '{unknown[0]}', the right answer for some train "
            "subjects: give another model"
        )
    every = [rows(model, template, list(data.subjects)) for template in data.templates]
    mixture = Mixture(
        model,
        data.templates,
        [these.own.shape[1] for these in every],
        spelled.members,
        [s[0] for s in spelled.spellings],
        deep,
    )
    gold = model.tensor(data.gold)
    train = np.flatnonzero(data.train)
    held_out = train[::HELD_OUT]
    learned = np.setdiff1d(train, held_out)
    history = _learn(mixture, every, gold, learned, held_out, np.random.default_rng(seed), progress)
    if save is not None:
        with replacing(save) as temporary:
            save_file({name: tensor.cpu() for name, tensor in mixture.state_dict().items()}, temporary)
    notes = {
        "held_out_loss": history,
        "weights": dict(zip(data.templates, mixture.log_weights.exp().tolist(), strict=True)),
    }
    return ItemAnswers.of(data, data.test, said(mixture, every, data.test), "tuned"), notes


def _learn(
    mixture: Mixture,
    every: list[PromptRows],
    gold: torch.Tensor,
    learned: np.ndarray,
    held_out: np.ndarray,
    rng: np.random.Generator,
    progress: Callable[[int], object],
) -> list[float]:
    """Tune the prompts until the held-out loss no longer falls, and keep the best; the losses by pass."""
    optimiser = torch.optim.Adam(mixture.offsets.parameters(), lr=LEARNING_RATE)
    history = [_loss(mixture, every, gold, held_out)]
    best, since = copy.deepcopy(mixture.state_dict()), 0
    for _ in range(EPOCHS):
        responsibilities: list[torch.Tensor] = []
        for batch in np.array_split(rng.permutation(learned), -(-len(learned) // BATCH)):
            which = torch.as_tensor(batch, device=gold.device)
            total, each = mixture.mixed([these.of(which) for these in every])
            gold_of_batch = gold[which][:, None]
            loss = -total.gather(1, gold_of_batch).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                at = each.gather(2, gold_of_batch.expand(len(each), -1, 1))[..., 0]
                responsibilities.append((at - at.logsumexp(0)).exp())
        mixture.log_weights = torch.cat(responsibilities, dim=1).mean(1).clamp_min(1e-12).log()
        history.append(_loss(mixture, every, gold, held_out))
        progress(1)
        since = 0 if history[-1] < min(history[:-1]) else since + 1
        if since == 0:
            best = copy.deepcopy(mixture.state_dict())
        elif since == PATIENCE:
            break
    mixture.load_state_dict(best)
    return history


def said(mixture: Mixture, every: list[PromptRows], which: np.ndarray) -> np.ndarray:
    """(m, c) float64 log-probabilities of the mixture."""
    logprobs = []
    with torch.no_grad():
        for batch in np.array_split(which, -(-len(which) // 64)):
            place = torch.as_tensor(batch, device=every[0].ids.device)
            logprobs.append(mixture.mixed([these.of(place) for these in every])[0].double().cpu().numpy())
    return np.concatenate(logprobs)


def _loss(mixture: Mixture, every: list[PromptRows], gold: torch.Tensor, which: np.ndarray) -> float:
    scores = said(mixture, every, which)
    return float(-scores[np.arange(len(which)), gold.cpu().numpy()[which]].mean())
