"""Layers that models share: the convolutions and the perceptron of the paper's section 6.5."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from simtown.training.models.stage import Stage
from simtown.training.world import Batch, World

#: Hidden sizes of the multilayer perceptron that tops a convolutional network (section 6.5).
HEAD = (128, 100, 50, 25, 25, 4)
#: Units of each hidden layer where there are more answers than yes and no.
WIDE = 256


def half(size: int, times: int) -> int:
    """Size of a side after so many 3×3 convolutions of stride 2 and padding 1."""
    for _ in range(times):
        size = (size + 1) // 2
    return size


def scaled(filters: tuple[int, int, int], width: float) -> tuple[int, int, int]:
    """The filters of three convolutions times `width`, rounded, at least one each."""
    first, second, third = (max(1, round(number * width)) for number in filters)
    return first, second, third


def convolution(before: int, after: int) -> nn.Conv2d:
    """3×3, stride 2; its bias would be lost in the batch norm that follows."""
    return nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False)


def stages(*channels: int, dropout: float) -> list[nn.Module]:
    """A convolution and what follows it for every two neighbours among these numbers of channels."""
    pairs = [(convolution(before, after), Stage(after, dropout)) for before, after in pairwise(channels)]
    return [layer for pair in pairs for layer in pair]


#: How hidden layers of a perceptron may be initialised: PyTorch's way, whose signal shrinks by √3 a layer, or
#: so that it stays.
INITS = ("default", "orthogonal")


class Wide(nn.Linear):
    """A fully connected layer for thousands of inputs of one sign: a plain one in another unit of weights.

    Every step of Adam moves every weight by about the learning rate, whatever the number of inputs; behind a
    ReLU all of a unit's weights move alike, its sum moves by that times the sum of its inputs, about 1, and
    most units are dead after a few steps. So inputs are divided by the root of their number, and the weights
    start that much larger: the same function, moved more slowly.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x * self.in_features**-0.5)


def perceptron(*sizes: int, init: str = "orthogonal") -> nn.Sequential:
    """Fully connected layers with ReLU between them; the last is linear.

    Raises ValueError for an unknown `init`.
    """
    if init not in INITS:
        raise ValueError(f"unknown init '{init}': choose {' or '.join(INITS)}")
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [(nn.Linear if layers else Wide)(before, after), nn.ReLU()]
    if init == "orthogonal":
        for layer in layers[:-2:2]:
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
    with torch.no_grad():
        layers[0].weight *= sizes[0] ** 0.5
    return nn.Sequential(*layers[:-1])


def with_coordinates(maps: torch.Tensor) -> torch.Tensor:
    """(b, channels, h, w) maps → (b, channels + 2, h, w): x and y of each cell's middle, from -1 to 1."""
    b, _, h, w = maps.shape
    y, x = (torch.arange(1 - n, n, 2, device=maps.device, dtype=maps.dtype) / n for n in (h, w))
    places = torch.stack(torch.meshgrid(x, y, indexing="xy"))
    return torch.cat([maps, places.expand(b, -1, -1, -1)], dim=1)


class QuestionEncoder(nn.Module):
    """Embedding and LSTM over a question's tokens (section 6.5: one layer, hidden size 128).

    (b, length) int64 tokens, padded with 0 at the end → (b, hidden) state after the last real token.
    """

    def __init__(self, words: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, embedding)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.device.type == "cpu":  # where a question that comes twice costs twice
            different, which = torch.unique(tokens, dim=0, return_inverse=True)
            return self._encode(different).index_select(0, which)
        return self._encode(tokens)

    def _encode(self, tokens: torch.Tensor) -> torch.Tensor:
        last = (tokens != 0).sum(1) - 1
        # what lies behind every question's end is not read, so it need not be computed
        longest = int(last.max()) + 1
        states, _ = self.lstm(self.embed(tokens[:, : max(longest, 1)]))
        return states[torch.arange(len(tokens), device=tokens.device), last.clamp(min=0)]


def decider(inputs: int, world: World, init: str = "orthogonal") -> nn.Sequential:
    """(b, inputs) features → (b, world.answers) logits, by the perceptron of section 6.5 for yes or no.

    Its four last numbers cannot tell many answers apart: for these it has two hidden layers of WIDE units.
    """
    if world.answers == 1:
        # four numbers, as section 6.5 has them, without ReLU: four such units die within a few hundred steps
        # at chance, and all is over
        return nn.Sequential(perceptron(inputs, *HEAD, init=init), nn.Linear(HEAD[-1], 1))
    return perceptron(inputs, WIDE, WIDE, world.answers, init=init)


def answer_loss(logits: torch.Tensor, answer: torch.Tensor, reduction: str = "mean") -> torch.Tensor:
    """Cross-entropy of (b,) logits of yes with (b,) float32 answers, or of (b, answers) logits with places.

    A place of -1 counts for nothing.
    """
    if answer.is_floating_point():
        return F.binary_cross_entropy_with_logits(logits, answer, reduction=reduction)
    return F.cross_entropy(logits, answer, reduction=reduction, ignore_index=-1)


def joint_loss(logits: torch.Tensor, boxes: torch.Tensor, batch: Batch, box_weight: float) -> torch.Tensor:
    """Binary cross-entropy of (b,) logits + box_weight × smooth L1 of the (2, b, 4) boxes: a scalar."""
    box_loss = F.smooth_l1_loss(boxes, batch.boxes.transpose(0, 1))
    return answer_loss(logits, batch.answer) + box_weight * box_loss
