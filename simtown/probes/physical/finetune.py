"""Training a whole BERT-type model on the sentences (section "Finetuning": for BERT, found vital).

Adam with linear warm-up over a tenth of the steps and linear decay, batches of 64 sentences of at most 20
tokens, 5 epochs (1 for AP).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simtown.core.pretrained import load_model, load_tokenizer, model_directory
from simtown.probes.scorers.batching import together
from simtown.training.fit_settings import device_of

Loss = Literal["squared", "cross-entropy"]


@dataclass(frozen=True)
class FineTuning:
    """Hyperparameters. The paper says squared error; its release trains with cross-entropy.

    Attributes:
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
        self,
        place: str,
        texts: list[str],
        pair: np.ndarray,
        label: np.ndarray,
        seed: int,
        *,
        progress: Callable[[int], object],
        device: str = "auto",
    ) -> np.ndarray:
        """Train the model of a hub id or directory, and give (u,) float64 probability of yes for every text.

        Args:
            place: hub id or local directory of the pretrained model.
            texts: (u,) a sentence a pair.
            pair: (n,) int64, the text of each training row.
            label: (n,) bool.
            seed: of new weights, dropout and the order of rows.
            progress: takes the number of newly finished steps.

        Raises as :func:`simtown.probes.scorers.opening.open_scorer`.
        """
        import torch
        import torch.nn.functional as F
        import transformers

        from simtown.probes.scorers import huggingface

        device = device_of(device)
        torch.manual_seed(seed)
        path = model_directory(place, hub=True)
        tokenizer = load_tokenizer(path)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        squared = self.loss == "squared"
        kind = transformers.AutoModelForSequenceClassification
        model = load_model(path, kind, complete=False, num_labels=1 if squared else 2)
        model.config.pad_token_id = tokenizer.pad_token_id
        codes = tokenizer(texts, truncation=True, max_length=self.length)["input_ids"]
        lengths = np.array([len(code) for code in codes])
        equal = huggingface.sees_padding(model.eval(), tokenizer)
        model.to(device).train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=self.learning_rate, weight_decay=0.01)
        total = self.steps(len(pair))
        warm = max(1, round(self.warm_up * total))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda s: min((s + 1) / warm, (total - s) / max(1, total - warm))
        )

        def logits(chosen: np.ndarray) -> Any:
            parts = together(lengths[chosen], equal=equal)
            batches = [{"input_ids": [codes[i] for i in chosen[rows]]} for rows in parts]
            each = [model(**tokenizer.pad(batch, return_tensors="pt").to(device)).logits for batch in batches]
            return torch.cat(each)[np.argsort(np.concatenate(parts))]

        random = np.random.default_rng(seed)
        for _ in range(self.epochs):
            order = random.permutation(len(pair))
            for start in range(0, len(order), self.batch):
                rows = order[start : start + self.batch]
                target = torch.from_numpy(label[rows]).to(device)
                out = logits(pair[rows])
                if squared:
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
        with torch.inference_mode():
            every = np.arange(len(texts))
            out = torch.cat([logits(every[start : start + 256]) for start in range(0, len(texts), 256)])
            yes = torch.sigmoid(out.double()[:, 0]) if squared else out.double().softmax(-1)[:, 1]
        return yes.cpu().numpy()
