"""A baseline that learns: what the question alone gives away."""

from __future__ import annotations

import torch
from torch import nn

from simtown.training.models.layers import HEAD, QuestionEncoder, perceptron
from simtown.training.world import Batch, World


class QuestionOnly(nn.Module):
    """The CNN-LSTM without its picture: if it is above chance, the words give a hint."""

    def __init__(self, world: World, embedding: int = 64, hidden: int = 128) -> None:
        super().__init__()
        self.question = QuestionEncoder(world.words, embedding, hidden)
        self.decide = nn.Sequential(perceptron(hidden, *HEAD), nn.Linear(HEAD[-1], 1))

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) logits."""
        logits: torch.Tensor = self.decide(self.question(batch.tokens)).squeeze(1)
        return logits
