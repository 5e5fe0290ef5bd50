"""k-fold cross-validation over the training rows (section "Finetuning", k = 5).

The release draws folds over rows, so that an object's other rows stand in the training part: its score is too
good. Grouped folds keep an object's rows together, as train and test are kept apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simtown.probes.physical.heads import Head, ProgressCallback
from simtown.probes.physical.metrics import scores
from simtown.probes.physical.pairs import Decisions, Inputs
from simtown.probes.physical.tasks import DecisionRows

Folds = Literal["rows", "objects"]
K = 5


@dataclass(frozen=True)
class Tried:
    """A candidate of the tuning.

    Attributes:
        head: with its hyperparameters.
        micro: micro F1 in each held-out fold.
    """

    head: Head
    micro: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.micro))


def folds(rows: DecisionRows, kind: Folds, seed: int, k: int = K) -> list[np.ndarray]:
    """k masks (n,) of the rows that are held out: every row in one of them.

    Raises ValueError with fewer groups than folds.
    """
    units = np.arange(len(rows)) if kind == "rows" else np.unique(rows.group, return_inverse=True)[1]
    count = int(units.max()) + 1
    if count < k:
        raise ValueError(f"{k} folds need at least {k} {kind}, not {count}")
    fold = np.empty(count, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(count)] = np.arange(count) % k
    return [fold[units] == i for i in range(k)]


def tune(
    heads: Sequence[Head],
    inputs: Inputs,
    rows: DecisionRows,
    pair: np.ndarray,
    kind: Folds,
    seed: int,
    progress: ProgressCallback,
) -> list[Tried]:
    """Every candidate's micro F1 over the folds, the best first.

    Args:
        heads: the candidates.
        inputs: vectors of pairs.
        rows: the training rows.
        pair: (n,) the pair of each.
        kind: what folds keep together.
        seed: of folds and heads.
        progress: takes the number of newly finished steps.
    """
    tried = []
    masks = folds(rows, kind, seed)
    for head in heads:
        micro = []
        for held_out in masks:
            decided = (
                head.fit(
                    inputs, Decisions.of(rows.where(~held_out), pair[~held_out], inputs.pairs), seed, progress
                )
                > 0.5
            )
            micro.append(scores(rows.where(held_out), decided[pair[held_out]]).micro)
        tried.append(Tried(head, tuple(micro)))
    return sorted(tried, key=lambda t: -t.mean)
