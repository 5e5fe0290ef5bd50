"""Training a whole BERT-type model on the sentences (section "Finetuning": for BERT, found vital).

Adam with linear warm-up over a tenth of the steps and linear decay, batches of 64 sentences of at most 20
tokens, 5 epochs (1 for AP).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simtown.probes.scorers import opening
from simtown.probes.scorers.batching import together

Loss = Literal["squared", "cross-entropy"]


@dataclass(frozen=True)
class FineTuning:
    """Hyperparameters. The paper says squared error; its release trains with cross-entropy.

    Attributes:
        loss: squared or cross-entropy.
        epochs: passes over the rows.
        learning_rate: Adam's, after warm-up.
        warm_up: share of the steps.
        batch: sentences a step.
        length: tokens of a sentence at most.
    """

    loss: Loss = "cross-entropy"
    epochs: int = 5
    learning_rate: float = 5e-5
    warm_up: float = 0.1
    batch: int = 64
    length: int = 20

    def steps(self, rows: int) -> int:
        """Optimiser steps on so many training rows."""
        return self.epochs * -(-rows // self.batch)


def fit(
    place: str,
    texts: list[str],
    pair: np.ndarray,
    label: np.ndarray,
    settings: FineTuning,
    seed: int,
    progress: Callable[[int], object],
    device: str = "auto",
) -> np.ndarray:
    """Train on rows and give (u,) float64 probability of yes for every text.

    Args:
        place: hub id or local directory of the pretrained model.
        texts: (u,) a sentence a pair.
        pair: (n,) int64, the text of each training row.
        label: (n,) bool.
        settings: hyperparameters.
        seed: of new weights, dropout and the order of rows.
        progress: takes the number of newly finished steps.
        device: auto, cpu, cuda, or another of PyTorch's names.

    Raises:
        ValueError: there is no such device.
        FileNotFoundError: no such model, here or on the hub.
        DamagedError: it cannot be loaded.
    """
    import torch
    import torch.nn.functional as F

    device = opening.device_of(device)
    torch.manual_seed(seed)
    tokenizer, model = _load(place, 1 if settings.loss == "squared" else 2)
    codes = tokenizer(texts, truncation=True, max_length=settings.length)["input_ids"]
    equal = _sees_padding(tokenizer, model, codes[0])
    model.to(device).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    total = settings.steps(len(pair))
    warm = max(1, round(settings.warm_up * total))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda s: min((s + 1) / warm, (total - s) / max(1, total - warm))
    )
    lengths = np.array([len(code) for code in codes])

    def logits(chosen: np.ndarray) -> Any:
        parts = together(lengths[chosen], equal=equal)
        batches = [{"input_ids": [codes[i] for i in chosen[rows]]} for rows in parts]
        each = [model(**tokenizer.pad(batch, return_tensors="pt").to(device)).logits for batch in batches]
        return torch.cat(each)[np.argsort(np.concatenate(parts))]

    random = np.random.default_rng(seed)
    for _ in range(settings.epochs):
        order = random.permutation(len(pair))
        for start in range(0, len(order), settings.batch):
            rows = order[start : start + settings.batch]
            target = torch.from_numpy(label[rows]).to(device)
            out = logits(pair[rows])
            if settings.loss == "squared":
                loss = F.mse_loss(torch.sigmoid(out[:, 0]), target.float())
            else:
                loss = F.cross_entropy(out, target.long())
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            progress(1)
    model.eval()
    result = np.empty(len(texts))
    with torch.inference_mode():
        for start in range(0, len(texts), 256):
            out = logits(np.arange(start, min(start + 256, len(texts)))).double()
            yes = torch.sigmoid(out[:, 0]) if settings.loss == "squared" else out.softmax(-1)[:, 1]
            result[start : start + 256] = yes.cpu().numpy()
    return result


def _sees_padding(tokenizer: Any, model: Any, code: list[int]) -> bool:
    """Whether what the model says of a text depends on the padding beside it, as it does if all positions are
    mixed or pooled, whatever the mask.
    """
    import torch

    code = code[:8]  # the same with padding is not too long for a model
    with torch.inference_mode():
        alone, padded = (
            model.eval()(
                **tokenizer.pad(
                    {"input_ids": [code]}, padding="max_length", max_length=length, return_tensors="pt"
                )
            ).logits
            for length in (len(code), 2 * len(code))
        )
    return not torch.allclose(alone, padded, rtol=1e-4, atol=1e-5)


def _load(place: str, outputs: int) -> tuple[Any, Any]:
    import transformers

    path = opening.model_directory(place, hub=True)
    tokenizer = opening.load_tokenizer(path)
    model, _ = opening.load_model(path, transformers.AutoModelForSequenceClassification, num_labels=outputs)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id
    return tokenizer, model
