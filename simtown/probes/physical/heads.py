"""What is trained on fixed vectors: the paper's perceptron, and logistic regression (section "Finetuning").

A head is a frozen dataclass of its hyperparameters with one method, `fit`, from :class:`Inputs` and
:class:`Decisions` to the probability of yes for every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from simtown.probes.physical.pairs import Decisions, Inputs

#: Takes the number of newly finished steps.
ProgressCallback = Callable[[int], object]


class Head(Protocol):
    """Anything that learns from vectors."""

    @property
    def steps(self) -> int:
        """How many steps `fit` reports."""
        ...

    def candidates(self) -> tuple[Head, ...]:
        """What tuning chooses among, this head's own hyperparameters included."""
        ...

    def fit(self, inputs: Inputs, train: Decisions, seed: int, progress: ProgressCallback) -> np.ndarray:
        """(u,) float64 probability of yes for every pair."""
        ...


@dataclass(frozen=True)
class Perceptron:
    """One hidden layer and a squared error, by full-batch gradient descent with momentum.

    The released code trains it in this way.

    Attributes:
        hidden: units.
        learning_rate: times `decay` every `every` epochs.
        momentum: of the descent.
        weight_decay: strength of the L2 penalty.
        decay: factor on the learning rate.
        every: epochs between two decays.
        epochs: steps, each on all rows.
    """

    hidden: int = 128
    learning_rate: float = 1.0
    momentum: float = 0.9
    weight_decay: float = 0.01
    decay: float = 0.8
    every: int = 30
    epochs: int = 300

    @property
    def steps(self) -> int:
        return self.epochs

    def candidates(self) -> tuple[Perceptron, ...]:
        """Weight decays around the released one; at 0.1 and 0.001 it learns nothing (F1 = 0), so the paper's
        authors.
        """
        return tuple(replace(self, weight_decay=w) for w in (0.003, 0.01, 0.03))

    def fit(self, inputs: Inputs, train: Decisions, seed: int, progress: ProgressCallback) -> np.ndarray:
        """See :class:`Head`. Weights begin from N(0, 1), biases at 0.01."""
        import torch

        inputs = inputs.standardised(train.counts)
        random = torch.Generator().manual_seed(seed)
        tables = [torch.from_numpy(t) for t in inputs.tables]
        index = [torch.from_numpy(i) for i in inputs.index]
        counts, positives = (
            torch.from_numpy((x / train.counts.sum()).astype(np.float32))
            for x in (train.counts, train.positives)
        )
        first = [torch.randn(t.shape[1], self.hidden, generator=random).requires_grad_() for t in tables]
        second = torch.randn(self.hidden, generator=random).requires_grad_()
        biases = [torch.full((n,), 0.01, requires_grad=True) for n in (self.hidden, 1)]

        def said(pairs: torch.Tensor | None = None) -> torch.Tensor:
            # A word's part of the hidden layer is the same in all its pairs: multiplied once, then looked up.
            parts = [
                (t @ w)[i if pairs is None else i[pairs]]
                for t, w, i in zip(tables, first, index, strict=True)
            ]
            return torch.sigmoid(torch.relu(sum(parts) + biases[0]) @ second + biases[1])

        optimiser = torch.optim.SGD(
            [*first, second, *biases],
            lr=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
        )
        schedule = torch.optim.lr_scheduler.StepLR(optimiser, self.every, self.decay)
        shown = counts.nonzero()[:, 0]
        counts, positives = counts[shown], positives[shown]
        for _ in range(self.epochs):
            yes = said(shown)
            loss = (
                counts * yes**2 - 2 * positives * yes
            ).sum()  # the mean squared error, without its constant
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            progress(1)
        with torch.inference_mode():
            result: np.ndarray = said().double().numpy()
        return result


@dataclass(frozen=True)
class Logistic:
    """Logistic regression.

    With word vectors, each right-hand item has a regression of its own on the left word, since a sum cannot
    tell which word goes with which. A right-hand item with one label in train keeps it; one that never occurs
    is yes, as in the majority baseline.

    Attributes:
        C: inverse strength of the L2 penalty.
        iterations: of the solver at most.
    """

    C: float = 1.0
    iterations: int = 1000

    @property
    def steps(self) -> int:
        return 1

    def candidates(self) -> tuple[Logistic, ...]:
        return tuple(replace(self, C=c) for c in (0.1, 0.316, 1.0, 3.16, 10.0))

    def fit(self, inputs: Inputs, train: Decisions, seed: int, progress: ProgressCallback) -> np.ndarray:
        """See :class:`Head`."""
        if inputs.separate:
            vectors = inputs.matrix(slice(-1))
            result = np.ones(inputs.pairs)
            for item in np.unique(inputs.right):
                here = inputs.right == item
                result[here] = self._one(vectors[here], train.counts[here], train.positives[here], seed)
        else:
            result = self._one(
                inputs.standardised(train.counts).matrix(), train.counts, train.positives, seed
            )
        progress(1)
        return result

    def _one(self, vectors: np.ndarray, counts: np.ndarray, positives: np.ndarray, seed: int) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        yes, no = positives.sum(), (counts - positives).sum()
        if yes == 0 or no == 0:
            return np.full(len(vectors), float(no == 0))
        # A pair with both labels is two examples with their counts.
        X = np.concatenate([vectors, vectors])
        y = np.repeat([True, False], len(vectors))
        weight = np.concatenate([positives, counts - positives])
        model = LogisticRegression(C=self.C, max_iter=self.iterations, random_state=seed)
        model.fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
        result: np.ndarray = model.predict_proba(vectors)[:, 1]
        return result


HEADS: dict[str, Head] = {"mlp": Perceptron(), "logistic": Logistic()}
