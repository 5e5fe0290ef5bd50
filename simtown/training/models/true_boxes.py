"""An oracle baseline: a transformer that receives the true boxes and only has to understand the question."""

from __future__ import annotations

import torch
from torch import nn

from simtown.training.models.token_encoder import SPREAD, Reader, token_size, transformer
from simtown.training.world import Batch, World


class TrueBoxes(nn.Module):
    """The true boxes of both vehicles, with their kinds, and the question's words in one transformer.

    The class token decides. It sees no picture. Nor does it know which vehicle is the subject: the two box
    tokens have no position, so the transformer gives the same answer whichever comes first, and only the
    words tell the roles apart. A distractor's box is not among them. Without dropout, which only delays it:
    there are no pictures to learn by heart.

    Args:
        world: sizes.
        dropout: share of units dropped after attention and inside each layer.
        width: units of a token are 96 times this, rounded to a multiple of the four attention heads.
        layers: of the transformer.
    """

    #: A picture alone cannot be asked about.
    needs_true_boxes = True

    def __init__(self, world: World, dropout: float = 0.0, width: float = 1.0, layers: int = 2) -> None:
        super().__init__()
        size = token_size(96, width)
        self.place = nn.Linear(4, size)
        self.kind = nn.Embedding(world.entities, size)
        nn.init.normal_(self.kind.weight, std=SPREAD)
        self.read = Reader(world, size)
        self.encode = transformer(size, layers, dropout)
        self.decide = nn.Linear(size, 1)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) logits."""
        vehicles = self.place(batch.boxes) + self.kind(torch.stack([batch.subject, batch.object], dim=1))
        tokens, padding = self.read(batch.tokens, vehicles)
        logits: torch.Tensor = self.decide(self.encode(tokens, src_key_padding_mask=padding)[:, 0]).squeeze(1)
        return logits
