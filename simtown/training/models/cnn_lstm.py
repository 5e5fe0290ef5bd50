"""The unstructured baseline: CNN-LSTM (Figure 2, sections 3 and 6.5)."""

from __future__ import annotations

import torch
from torch import nn

from simtown.training.models.layers import HEAD, QuestionEncoder, Stage, convolution, half, perceptron, scaled
from simtown.training.world import Batch, World


class CnnLstm(nn.Module):
    """Picture and question meet as two vectors, and a perceptron decides.

    Three 3×3 convolutions of stride 2 (20, 50, 100 filters), each followed by batch norm, ReLU and dropout; an LSTM (hidden 128) over
    the question's words; both joined and topped with the perceptron of section 6.5 and one logit.

    Args:
        world: sizes.
        embedding: size of a word's embedding.
        dropout: share of channels dropped after each convolution.
        init: see :data:`simtown.training.models.layers.INITS`.
        width: size of the convolutional network; the paper's numbers of filters are multiplied by it.
        hidden: size of the LSTM's state.
    """

    filters = (20, 50, 100)

    def __init__(
        self,
        world: World,
        embedding: int = 64,
        dropout: float = 0.1,
        init: str = "orthogonal",
        width: float = 1.0,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        one, two, three = scaled(self.filters, width)
        self.cnn = nn.Sequential(
            *(convolution(3, one), Stage(one, dropout)),
            *(convolution(one, two), Stage(two, dropout)),
            *(convolution(two, three), Stage(three, dropout)),
            nn.Flatten(),
        )
        self.question = QuestionEncoder(world.words, embedding, hidden)
        seen = three * half(world.height, 3) * half(world.width, 3)
        # four numbers, as section 6.5 has them, without ReLU: four such units die within a few hundred steps at chance, and all is over
        self.decide = nn.Sequential(perceptron(seen + hidden, *HEAD, init=init), nn.Linear(HEAD[-1], 1))

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) logits."""
        both = torch.cat([self.cnn(batch.image), self.question(batch.tokens)], dim=1)
        logits: torch.Tensor = self.decide(both).squeeze(1)
        return logits
