"""The unstructured baseline: CNN-LSTM (Figure 2, section 6.5), also with boxes, and without a picture."""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from simtown.training.models import layers
from simtown.training.models.layers import HEAD, QuestionEncoder, decider
from simtown.training.world import Batch, World


class CnnLstm(nn.Module):
    """Picture and question meet as two vectors, and a perceptron decides.

    Three 3×3 convolutions of stride 2 (20, 50, 100 filters), each followed by batch norm, ReLU and dropout;
    an LSTM (hidden 128) over the question's words; both joined and topped with the perceptron of section 6.5
    and one logit, or :func:`simtown.training.models.layers.decider` where there are more answers.

    Args:
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
        filters = layers.scaled(self.filters, width)
        self.cnn = nn.Sequential(*layers.stages(3 * world.pictures, *filters, dropout=dropout), nn.Flatten())
        self.question = QuestionEncoder(world.words, embedding, hidden)
        seen = filters[-1] * layers.half(world.height, 3) * layers.half(world.width, 3)
        self.decide = decider(seen + hidden, world, init)

    def joint(self, batch: Batch) -> torch.Tensor:
        """(b, features) float32: what the convolutions say of the picture, and the LSTM of the question."""
        return torch.cat([self.cnn(batch.image), self.question(batch.tokens)], dim=1)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        return self.decide(self.joint(batch)).squeeze(1)


class OrderBlind(CnnLstm):
    """The CNN-LSTM that does not know the order of the pictures.

    The same convolutions see every picture, and their features are averaged. If it is above chance where
    pairs show one sequence in both orders, something else than the order tells the answer.
    """

    def __init__(self, world: World, **options: Any) -> None:
        super().__init__(replace(world, pictures=1), **options)

    def joint(self, batch: Batch) -> torch.Tensor:
        """See :meth:`CnnLstm.joint`."""
        pictures = batch.image.unflatten(1, (-1, 3))
        seen = self.cnn(pictures.flatten(0, 1)).unflatten(0, pictures.shape[:2])
        # float64 adds the same numbers to the same sum in any order
        mean = seen.double().mean(1).to(seen.dtype)
        return torch.cat([mean, self.question(batch.tokens)], dim=1)


class OnePicture(CnnLstm):
    """The CNN-LSTM that sees one picture of a sequence alone: the floor of what needs several.

    Args:
        picture: its number, from 1 on. The others are those of :class:`CnnLstm`.
    """

    def __init__(self, world: World, picture: int = 1, **options: Any) -> None:
        if not 1 <= picture <= world.pictures:
            raise ValueError(f"there is no picture {picture}: choose one from 1 to {world.pictures}")
        super().__init__(replace(world, pictures=1), **options)
        self.picture = picture

    def joint(self, batch: Batch) -> torch.Tensor:
        """See :meth:`CnnLstm.joint`."""
        alone = batch.image[:, 3 * self.picture - 3 : 3 * self.picture]
        return torch.cat([self.cnn(alone), self.question(batch.tokens)], dim=1)


class CnnLstmBoxes(CnnLstm):
    """The CNN-LSTM that is also told where both vehicles are.

    It is the same network with a second linear layer beside the answer's.

    The perceptron's last 25 hidden units give the answer, through the four numbers, and both boxes, through a
    layer of their own. So the supervision is the Place-Binder Network's (same boxes, loss and weight) and
    reaches all that it reaches there: convolutions, question and every hidden layer of the perceptron.
    Nothing tells the model that the answer follows from the boxes: that would be structure.

    Args:
        box_weight: weight of the boxes' loss. The others are those of :class:`CnnLstm`.
    """

    def __init__(self, world: World, box_weight: float = 30.0, **others: Any) -> None:
        super().__init__(world, **others)
        self.box_weight = box_weight
        self.locate = nn.Linear(HEAD[-2], 2 * 4)

    def places_and_logits(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """(2, b, 4) boxes of subject and object, and (b,) logits."""
        features = self.joint(batch)
        perceptron, answer = self.decide
        *hidden_layers, four_numbers = perceptron
        for layer in hidden_layers:
            features = layer(features)
        boxes = self.locate(features).view(-1, 2, 4).transpose(0, 1)
        return boxes, answer(four_numbers(features)).squeeze(1)

    def boxes(self, batch: Batch) -> torch.Tensor:
        """(2, b, 4) boxes of subject and object, see :class:`simtown.training.world.Batch`."""
        return self.places_and_logits(batch)[0]

    def loss(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The joint loss, and the logits."""
        boxes, logits = self.places_and_logits(batch)
        return layers.joint_loss(logits, boxes, batch, self.box_weight), logits


class QuestionOnly(nn.Module):
    """The CNN-LSTM without its picture: if it is above chance, the words give a hint."""

    def __init__(self, world: World, embedding: int = 64, hidden: int = 128) -> None:
        super().__init__()
        self.question = QuestionEncoder(world.words, embedding, hidden)
        self.decide = decider(hidden, world)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        return self.decide(self.question(batch.tokens)).squeeze(1)


class PictureOnly(nn.Module):
    """The CNN-LSTM that is told a question's family instead of its words.

    If it is above the best constant answer of a family, pictures of that family hint at the answer.

    Args:
        embedding: size of a family's embedding. The others are those of :class:`CnnLstm`.
    """

    def __init__(
        self,
        world: World,
        embedding: int = 64,
        dropout: float = 0.1,
        init: str = "orthogonal",
        width: float = 1.0,
    ) -> None:
        super().__init__()
        filters = layers.scaled(CnnLstm.filters, width)
        self.cnn = nn.Sequential(*layers.stages(3 * world.pictures, *filters, dropout=dropout), nn.Flatten())
        self.family = nn.Embedding(world.families, embedding)
        seen = filters[-1] * layers.half(world.height, 3) * layers.half(world.width, 3)
        self.decide = decider(seen + embedding, world, init)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits."""
        return self.decide(torch.cat([self.cnn(batch.image), self.family(batch.family)], dim=1)).squeeze(1)
