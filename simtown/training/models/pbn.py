"""The structured model: Place-Binder Network (Figures 3 and 4, sections 3 and 6.5)."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from simtown.training.models import layers
from simtown.training.models.layers import HEAD, perceptron
from simtown.training.models.stage import Label, Places, Stage
from simtown.training.world import Batch, World


class LabelledConvolution(nn.Module):
    """A 3×3 convolution of stride 2 over a picture with a label's embedding as constant channels.

    The label's channels are the same everywhere, so what they add is the same at all places that have the
    same of the kernel's nine taps: a (b, kinds, filters) product instead of a convolution, and the picture is
    convolved once for any number of labels. Up to rounding the paper's form: constant channels, concatenated.
    """

    kinds: torch.Tensor
    taps: torch.Tensor

    def __init__(self, embedding: int, filters: int, height: int, width: int) -> None:
        super().__init__()
        self.conv = layers.convolution(3 + embedding, filters)
        ones = torch.ones(1, 1, height, width)
        inside = F.unfold(ones, 3, padding=1, stride=2)[0].T  # 1 where a tap falls into the picture
        taps, kind_of = torch.unique(inside, dim=0, return_inverse=True)
        self.register_buffer("taps", taps, persistent=False)
        self.register_buffer("kinds", F.one_hot(kind_of).float(), persistent=False)
        self.places = Places.of_kinds(kind_of.view(layers.half(height, 1), layers.half(width, 1)).numpy())

    def forward(self, image: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, Label]:
        """(b, 3, h, w) pictures and (slots, b, embedding) labels → (b, filters, h / 2, w / 2) maps of the
        pictures, and what the labels add to them.
        """
        seen = F.conv2d(image, self.conv.weight[:, :3], stride=2, padding=1)
        kernels = self.taps @ self.conv.weight[:, 3:].flatten(2).permute(1, 2, 0)  # embedding, kind, filter
        added = (labels.flatten(0, 1) @ kernels.flatten(1)).view(-1, *kernels.shape[1:])
        return seen, Label(added, self.kinds, self.places)


class BoundingBox(nn.Module):
    """A box for a label, the module of Figure 4: label embedding and picture in, a box out.

    One set of weights serves every slot. Three 3×3 convolutions of stride 2 (32, 64, 64 filters, times
    `width`), then fully connected layers (128, 100, 50, 25, 25, 4).
    """

    filters = (32, 64, 64)

    def __init__(self, world: World, embedding: int, dropout: float, init: str, width: float) -> None:
        super().__init__()
        filters = layers.scaled(self.filters, width)
        self.label = nn.Embedding(world.entities, embedding)
        self.look = LabelledConvolution(embedding, filters[0], world.height, world.width)
        self.cnn = nn.Sequential(
            Stage(filters[0], dropout), *layers.stages(*filters, dropout=dropout), nn.Flatten()
        )
        seen = filters[-1] * layers.half(world.height, 3) * layers.half(world.width, 3)
        self.locate = perceptron(seen, *HEAD, init=init)

    def forward(self, image: torch.Tensor, entities: torch.Tensor) -> torch.Tensor:
        """(b, 3, h, w) pictures and (slots, b) entities → (slots, b, 4) boxes, see
        :class:`simtown.training.world.Batch`.
        """
        stage, *others = self.cnn
        maps = stage(*self.look(image, self.label(entities)))
        for layer in others:
            maps = layer(maps)
        boxes: torch.Tensor = self.locate(maps)
        return boxes.view(*entities.shape, 4)


class PlaceBinder(nn.Module):
    """Two boxes and a predicate's embedding decide (Figure 3); boxes and answer are learned together.

    loss = binary cross-entropy + box_weight × smooth L1 of the two boxes.

    Args:
        embedding: size of an entity's embedding.
        predicate: size of a relation's embedding.
        dropout: share of channels dropped after each convolution.
        hidden: size of the final perceptron's two hidden layers.
        box_weight: weight of the boxes' loss.
        init: see :data:`simtown.training.models.layers.INITS`.
        width: size of the convolutional network; the paper's numbers of filters are multiplied by it.
    """

    def __init__(
        self,
        world: World,
        *,
        embedding: int = 16,
        predicate: int = 16,
        dropout: float = 0.1,
        hidden: int = 32,
        box_weight: float = 30.0,
        init: str = "orthogonal",
        width: float = 1.0,
    ) -> None:
        super().__init__()
        self.box_weight = box_weight
        self.find = BoundingBox(world, embedding, dropout, init, width)
        self.predicate = nn.Embedding(world.relations, predicate)
        self.verify = perceptron(2 * 4 + predicate, hidden, hidden, 1, init=init)

    def boxes(self, batch: Batch) -> torch.Tensor:
        """(2, b, 4) boxes of subject and object."""
        return self.find(batch.image, torch.stack([batch.subject, batch.object]))

    def decide(self, boxes: torch.Tensor, relation: torch.Tensor) -> torch.Tensor:
        """(b,) logits from (2, b, 4) boxes and (b,) relations."""
        facts = torch.cat([boxes[0], boxes[1], self.predicate(relation)], dim=1)
        return self.verify(facts).squeeze(1)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) logits."""
        return self.decide(self.boxes(batch), batch.relation)

    def loss(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """The joint loss, and the logits."""
        boxes = self.boxes(batch)
        logits = self.decide(boxes, batch.relation)
        return layers.joint_loss(logits, boxes, batch, self.box_weight), logits


class PlaceBinderNoBoxes(PlaceBinder):
    """The Place-Binder Network that is never told a box: the same structure, learned from answers alone.

    Nothing but the answer says what its two times four numbers mean, so they are no places to show. Arguments
    as of :class:`PlaceBinder`.
    """

    fixed = ("box_weight",)

    def __init__(self, world: World, **options: Any) -> None:
        super().__init__(world, box_weight=0.0, **options)
