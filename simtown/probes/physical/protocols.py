"""Where the paper, its released code and good practice part: three named sets of choices."""

from __future__ import annotations

from dataclasses import dataclass

from simtown.probes.physical.features import StandIn
from simtown.probes.physical.finetune import Loss
from simtown.probes.physical.sentences import English
from simtown.probes.physical.tuning import Folds
from simtown.probes.scorers.base import Pooling


@dataclass(frozen=True)
class Protocol:
    """What differs.

    Attributes:
        english: of the sentences.
        folds: of cross-validation.
        loss: of fine-tuning.
        unknown: what stands in for a word without a vector.
        pooling: of a language model's sentence vector: its first token, or the mean.
    """

    english: English
    folds: Folds
    loss: Loss
    unknown: StandIn
    pooling: Pooling


PROTOCOLS = {
    "paper": Protocol("released", "rows", "squared", "zeros", "first"),
    "release": Protocol("released", "rows", "cross-entropy", "zeros", "first"),
    "corrected": Protocol("corrected", "objects", "cross-entropy", "random", "mean"),
}
