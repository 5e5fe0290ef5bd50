"""Relation network (Santoro et al., 2017, "A simple neural network module for relational reasoning")."""

import torch
import torch.nn.functional as F
from torch import nn

from simtown.training.models import layers
from simtown.training.models.layers import QuestionEncoder, perceptron, with_coordinates
from simtown.training.world import Batch, World

#: Cells of the last feature map at most: each is paired with each.
MOST_CELLS = 64


class Standardised(nn.BatchNorm1d):
    """Batch norm of (b, features); of a single example, an epoch's last, by the running statistics."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training and len(x) == 1:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(x)


class RelationNetwork(nn.Module):
    """A perceptron looks at every pair of cells beside the question, another at the sum over all pairs.

    A cell of the last feature map, with its coordinates, stands for an object, as in the paper. Smaller than
    the paper's: three convolutions of stride 2 (32, 64, 64 filters) instead of four of 24, and more of 64
    where the map would have over MOST_CELLS cells; `relation` layers of 64 instead of four of 256, since
    there is one to run for each of 1,024 pairs; after the mean over pairs (the sum in another unit, so that
    its size does not grow with the picture) 256, 256, 1 with dropout, as in the paper. Layer norm of the
    question, batch norm of that mean and orthogonal first weights are additions, without which it hardly left
    chance.

    Args:
        dropout: share of channels dropped after each convolution, and of units before the last layer.
        relation: units of each layer that looks at a pair. The others are those of
            :class:`simtown.training.models.cnn_lstm.CnnLstm`.
    """

    filters = (32, 64, 64)

    def __init__(
        self,
        world: World,
        embedding: int = 64,
        dropout: float = 0.1,
        width: float = 1.0,
        hidden: int = 128,
        relation: int = 64,
    ) -> None:
        super().__init__()
        filters = [*layers.scaled(self.filters, width)]
        while layers.half(world.width, len(filters)) * layers.half(world.height, len(filters)) > MOST_CELLS:
            filters.append(filters[-1])
        self.cnn = nn.Sequential(*layers.stages(3 * world.pictures, *filters, dropout=dropout))
        self.question = QuestionEncoder(world.words, embedding, hidden)
        self.normalise = nn.LayerNorm(hidden)  # a fresh LSTM's state is a tenth as large as a cell's features
        self.first = nn.Linear(filters[-1] + 2, relation)
        self.second = nn.Linear(filters[-1] + 2, relation, bias=False)
        self.asked = nn.Linear(hidden, relation, bias=False)
        self.relate = nn.Sequential(
            *(nn.ReLU(inplace=True), nn.Linear(relation, relation)),
            *(nn.ReLU(inplace=True), nn.Linear(relation, relation)),
            nn.ReLU(inplace=True),
        )
        for layer in (self.first, self.second, self.asked, self.relate[1], self.relate[3]):
            # PyTorch's own start shrinks what the pairs say at every layer
            nn.init.orthogonal_(layer.weight, 2**0.5)
        # examples differ little in a mean over a thousand pairs, of which a few matter
        top = perceptron(relation, 256, 256)
        last = (nn.ReLU(), nn.Dropout(dropout), nn.Linear(256, world.answers))
        self.decide = nn.Sequential(Standardised(relation), top, *last)

    def pairs(self, cells: torch.Tensor, question: torch.Tensor) -> torch.Tensor:
        """(b, relation) mean over all pairs of (b, n, features) cells, given the (b, hidden) question.

        The first layer is linear in (one cell, other cell, question) and so is a sum of three products, which
        are made once for each cell.
        """
        other = self.second(cells) + self.asked(question)[:, None]
        layer = self.first(cells)[:, :, None] + other[:, None]
        return self.relate(layer).mean((1, 2))

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        cells = with_coordinates(self.cnn(batch.image)).flatten(2).transpose(1, 2)
        pairs = self.pairs(cells, self.normalise(self.question(batch.tokens)))
        return self.decide(pairs).squeeze(1)
