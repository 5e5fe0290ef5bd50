"""FiLM: the question modulates a residual network.

Perez et al. (2018), "FiLM: Visual Reasoning with a General Conditioning Layer".
"""

import torch
from torch import nn

from simtown.training.models.layers import QuestionEncoder, perceptron, scaled, stages, with_coordinates
from simtown.training.world import Batch, World


class FilmBlock(nn.Module):
    """A residual block whose feature maps the question scales and shifts, as in the paper's Figure 3.

    1×1 convolution over maps and coordinates, ReLU; 3×3 convolution, batch norm without weights of its own,
    FiLM, ReLU; plus what entered the 3×3 convolution.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(channels + 2, channels, 1)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels, affine=False)

    def forward(self, x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """(b, channels, h, w) maps, (b, channels) scale and shift → (b, channels, h, w)."""
        x = torch.relu(self.enter(with_coordinates(x)))
        modulated = scale[:, :, None, None] * self.norm(self.conv(x)) + shift[:, :, None, None]
        return x + torch.relu(modulated)


class Film(nn.Module):
    """A residual network that an LSTM's reading of the question modulates (FiLM).

    Convolutions of stride 2, residual blocks, the maximum over places, a perceptron.

    Smaller than the paper's: three convolutions of stride 2 (24, 48, 96 filters) trained from the pixels,
    where the paper has four of 128 or a pretrained ResNet; three blocks of 96 maps instead of four of 128; an
    LSTM instead of a GRU of 4,096; 128 instead of 512 maps before the maximum and 128 instead of 1,024 units
    after it; no weight decay; dropout of whole channels after the first convolutions.

    Args:
        blocks: residual blocks. The others are those of :class:`simtown.training.models.cnn_lstm.CnnLstm`.
    """

    filters = (24, 48, 96)
    top = 128

    def __init__(
        self,
        world: World,
        embedding: int = 64,
        dropout: float = 0.1,
        width: float = 1.0,
        hidden: int = 128,
        blocks: int = 3,
    ) -> None:
        super().__init__()
        filters = scaled(self.filters, width)
        channels = filters[-1]
        self.stem = nn.Sequential(*stages(3 * world.pictures, *filters, dropout=dropout))
        self.question = QuestionEncoder(world.words, embedding, hidden)
        self.modulate = nn.Linear(hidden, blocks * 2 * channels)
        self.blocks = nn.ModuleList(FilmBlock(channels) for _ in range(blocks))
        self.last = nn.Conv2d(channels + 2, self.top, 1)
        self.decide = perceptron(self.top, self.top, world.answers)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        x = self.stem(batch.image)
        modulation = self.modulate(self.question(batch.tokens)).view(len(batch), len(self.blocks), 2, -1)
        for number, block in enumerate(self.blocks):
            x = block(x, 1 + modulation[:, number, 0], modulation[:, number, 1])
        strongest = torch.relu(self.last(with_coordinates(x))).amax((2, 3))
        return self.decide(strongest).squeeze(1)
