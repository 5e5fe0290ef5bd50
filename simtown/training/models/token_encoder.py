"""What the transformers share: how they read a question, and the encoder itself."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from simtown.training.world import World

HEADS = 4
#: Standard deviation of fresh embeddings: words and positions count alike, and neither drowns what the layers
#: add.
SPREAD = 0.1


def spread(*shape: int) -> nn.Parameter:
    """A fresh embedding."""
    return nn.Parameter(torch.randn(*shape) * SPREAD)


def token_size(size: int, width: float) -> int:
    """`size` units times `width`, rounded to a multiple of the attention heads."""
    return max(1, round(size * width / HEADS)) * HEADS


class Reader(nn.Module):
    """The tokens of a transformer: one that decides, those of what is seen, the question's words in order.

    Args:
        world: sizes.
        size: of a token.
    """

    def __init__(self, world: World, size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(world.words, size)
        nn.init.normal_(self.embed.weight, std=SPREAD)
        self.position = spread(world.length, size)
        self.decider = spread(1, 1, size)

    def forward(self, words: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(b, length) int64 words padded with 0, and (b, n, size) tokens of what is seen.

        Returns:
            (b, 1 + n + length, size) tokens, the first of which decides, and (b, 1 + n + length) bool:
            padding, which nothing attends to.
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
        """As PyTorch's."""
        learns = tokens.device.type == "cpu" and torch.is_grad_enabled()
        with sdpa_kernel(SDPBackend.MATH) if learns else nullcontext():
            return super().forward(tokens, *args, **options)


def transformer(size: int, layers: int, dropout: float) -> TokenEncoder:
    """Layers of self-attention and two linear layers, layer norm first: so it needs no warm-up."""
    layer = nn.TransformerEncoderLayer(
        size,
        HEADS,
        dim_feedforward=size * 8 // 3,
        dropout=dropout,
        activation="gelu",
        batch_first=True,
        norm_first=True,
    )
    encoder = TokenEncoder(layer, layers, nn.LayerNorm(size), enable_nested_tensor=False)
    for parameter in encoder.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)  # PyTorch would start all layers alike, as copies of one
    return encoder
