"""A small head on a frozen encoder: every word looks at the picture, then the words are read."""

import torch
from torch import nn

from simtown.training.encoder import open_encoder
from simtown.training.models.layers import decider
from simtown.training.models.transformer import spread
from simtown.training.world import Batch, World

#: Numbers that a word takes over from what it sees, and the share of them that is dropped. With more, the
#: head learns its training pictures by heart.
SEEN, FORGOTTEN = 16, 0.5


class Head(nn.Module):
    """Words that look at the places of a frozen encoder, and an LSTM that reads them with what they saw.

    Each word attends to the features of all places. It gets where it looked, a mean of learned positions, and
    a little of what is there. The encoder is not a part of the module: it does not learn, and its weights are
    neither counted nor kept.

    Args:
        encoder: hf:ID-OR-DIR or clip:ID-OR-DIR (:func:`simtown.training.encoder.open_encoder`).
        digest: of the encoder's files, which are refused if they have another.
        embedding: size of a word's embedding, and of a place's.
        hidden: size of the LSTM's state.
        dropout: share of units of a place that are dropped.
    """

    #: Parameters that the model's name sets, so they are not options.
    fixed = ("encoder",)

    def __init__(
        self,
        world: World,
        encoder: str,
        digest: str = "",
        embedding: int = 64,
        hidden: int = 128,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.encoder = open_encoder(encoder, digest)
        self.enter = nn.Sequential(nn.Linear(self.encoder.channels, embedding), nn.LayerNorm(embedding))
        self.drop, self.forget = nn.Dropout(dropout), nn.Dropout(FORGOTTEN)
        self.position = spread(self.encoder.places, embedding)
        self.take = nn.Linear(embedding, SEEN)
        self.embed, self.ask = nn.Embedding(world.words, embedding), nn.Linear(embedding, embedding)
        self.lstm = nn.LSTM(2 * embedding + SEEN, hidden, batch_first=True)
        self.decide = decider(hidden, world)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(b,) or (b, answers) logits, for pictures or for the encoder's features in their place."""
        features = batch.image
        if features.dim() == 4:
            features = self.encoder.encode(((features + 1) * 127.5).round().byte().permute(0, 2, 3, 1))
        places = self.drop(self.enter(features.to(self.position.dtype)))
        last = (batch.tokens != 0).sum(1) - 1
        words = self.embed(batch.tokens[:, : int(last.max()) + 1])
        looks = (self.ask(words) @ places.transpose(1, 2) * words.shape[-1] ** -0.5).softmax(-1)
        where, what = looks @ self.position.expand(len(places), -1, -1), looks @ self.take(places)
        states, _ = self.lstm(torch.cat([words, where, self.forget(what)], dim=2))
        return self.decide(states[torch.arange(len(last), device=last.device), last]).squeeze(1)
