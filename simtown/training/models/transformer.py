"""Transformers: one that sees patches of the picture, and an oracle baseline that receives the true boxes.

After Dosovitskiy et al., 2021, and Kim et al., 2021, "ViLT".
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from simtown.training.world import Batch, World

#: Side of a patch, pixels.
PATCH = 8
HEADS = 4
#: Standard deviation of fresh embeddings: words and positions count alike, and drown no layer.
SPREAD = 0.1


def spread(*shape: int) -> nn.Parameter:
    """A fresh embedding."""
    return nn.Parameter(torch.randn(*shape) * SPREAD)


def token_size(size: int, width: float) -> int:
    """`size` units times `width`, rounded to a multiple of the attention heads."""
    return max(1, round(size * width / HEADS)) * HEADS


class Reader(nn.Module):
    """The tokens of a transformer: one that decides, those of what is seen, the question's words in order."""

    def __init__(self, world: World, size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(world.words, size)
        nn.init.normal_(self.embed.weight, std=SPREAD)
        self.position = spread(world.length, size)
        self.decider = spread(1, 1, size)

    def forward(self, words: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(b, length) int64 words padded with 0 and (b, n, size) tokens of what is seen → (b, 1 + n + length,
        size) tokens, the first of which decides, and bool: padding, which nothing attends to.
        """
        question = self.embed(words) + self.position
        tokens = torch.cat([self.decider.expand(len(words), -1, -1), seen, question], dim=1)
        padding = nn.functional.pad(words == 0, (1 + seen.shape[1], 0), value=False)
        return tokens, padding


class TokenEncoder(nn.TransformerEncoder):
    """PyTorch's encoder, which learns with plain products on a processor.

    In bfloat16 the gradients of its fused attention take most of a step there.
    """

    def forward(self, tokens: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        """Attention with the interface of PyTorch's."""
        learns = tokens.device.type == "cpu" and torch.is_grad_enabled()
        with sdpa_kernel(SDPBackend.MATH) if learns else nullcontext():
            return super().forward(tokens, *args, **options)


def transformer(size: int, layers: int, dropout: float) -> TokenEncoder:
    """Layers of self-attention and two linear layers, layer norm first: so it needs no warm-up."""
    first = {"batch_first": True, "norm_first": True}
    layer = nn.TransformerEncoderLayer(size, HEADS, size * 8 // 3, dropout, "gelu", **first)
    encoder = TokenEncoder(layer, layers, nn.LayerNorm(size), enable_nested_tensor=False)
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)  # PyTorch would start all layers alike, as copies of one
    return encoder


class VisionTransformer(nn.Module):
    """Patches of 8 × 8 pixels and the question's words in one transformer; the class token decides.

    Much smaller than both papers' (three layers of 96 instead of twelve of 768), without pretraining, and
    layer norm comes before attention, which trains without a warm-up. Positions are learned. Dropout 0.1 as
    in the other models. A picture whose sides are no multiples of 8 is padded with grey.

    Args:
        dropout: share of units dropped after attention and inside each layer.
        width: units of a token are 96 times this, rounded to a multiple of the four attention heads.
        layers: of the transformer.
    """

    def __init__(self, world: World, dropout: float = 0.1, width: float = 1.0, layers: int = 3) -> None:
        super().__init__()
        size = token_size(96, width)
        self.patch = nn.Conv2d(3 * world.pictures, size, PATCH, stride=PATCH)
        self.margin = (-world.width % PATCH, -world.height % PATCH)
        patches = (world.width + self.margin[0]) // PATCH * ((world.height + self.margin[1]) // PATCH)
        self.position = spread(patches, size)
        self.read = Reader(world, size)
        self.encode = transformer(size, layers, dropout)
        self.decide = nn.Linear(size, world.answers)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        image = nn.functional.pad(batch.image, (0, self.margin[0], 0, self.margin[1]))
        patches = self.patch(image).flatten(2).transpose(1, 2) + self.position
        tokens, padding = self.read(batch.tokens, patches)
        return self.decide(self.encode(tokens, src_key_padding_mask=padding)[:, 0]).squeeze(1)


class TrueBoxes(nn.Module):
    """The true boxes of both vehicles, with their kinds, and the question's words in one transformer.

    The class token decides. It sees no picture. Nor does it know which vehicle is the subject: the two box
    tokens have no position, so the transformer gives the same answer whichever comes first, and only the
    words tell the roles apart. A distractor's box is not among them. Without dropout, which only delays it:
    there are no pictures to learn by heart. Arguments as of :class:`VisionTransformer`.
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
        return self.decide(self.encode(tokens, src_key_padding_mask=padding)[:, 0]).squeeze(1)
