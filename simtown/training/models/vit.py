"""A small vision transformer that reads the question beside the patches.

After Dosovitskiy et al., 2021, and Kim et al., 2021, "ViLT".
"""

from __future__ import annotations

import torch
from torch import nn

from simtown.training.models.token_encoder import Reader, spread, token_size, transformer
from simtown.training.world import Batch, World

#: Side of a patch, pixels.
PATCH = 8


class VisionTransformer(nn.Module):
    """Patches of 8 × 8 pixels and the question's words in one transformer; the class token decides.

    Much smaller than both papers' (three layers of 96 instead of twelve of 768), without pretraining, and
    layer norm comes before attention, which trains without a warm-up. Positions are learned. Dropout 0.1 as
    in the other models. A picture whose sides are no multiples of 8 is padded with grey.

    Args:
        world: sizes.
        dropout: share of units dropped after attention and inside each layer.
        width: units of a token are 96 times this, rounded to a multiple of the four attention heads.
        layers: of the transformer.
    """

    def __init__(self, world: World, dropout: float = 0.1, width: float = 1.0, layers: int = 3) -> None:
        super().__init__()
        size = token_size(96, width)
        self.patch = nn.Conv2d(3, size, PATCH, stride=PATCH)
        self.margin = (-world.width % PATCH, -world.height % PATCH)
        patches = (world.width + self.margin[0]) // PATCH * ((world.height + self.margin[1]) // PATCH)
        self.position = spread(patches, size)
        self.read = Reader(world, size)
        self.encode = transformer(size, layers, dropout)
        self.decide = nn.Linear(size, 1)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) logits."""
        image = nn.functional.pad(batch.image, (0, self.margin[0], 0, self.margin[1]))
        patches = self.patch(image).flatten(2).transpose(1, 2) + self.position
        tokens, padding = self.read(batch.tokens, patches)
        logits: torch.Tensor = self.decide(self.encode(tokens, src_key_padding_mask=padding)[:, 0]).squeeze(1)
        return logits
