"""What is trained on fixed vectors: the paper's perceptron, and logistic regression (section "Finetuning");
and the baselines, which read no text (section "Baselines"): the majority, a coin, the expert.

A head is a frozen dataclass of its hyperparameters. Its method `fit` takes :class:`Inputs`, the pair of each
training row (n,) and the row's label (n,), and gives (u,) float64 the probability of yes for every pair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simtown.probes.physical.inputs import Inputs
from simtown.probes.physical.physical_release import Answers, Decisions, PhysicalTask
from simtown.probes.physical.scores import scores

#: Takes the number of newly finished steps.
Advance = Callable[[int], object]
Folds = Literal["rows", "objects"]
#: Folds of cross-validation.
K = 5


@dataclass(frozen=True)
class Perceptron:
    """One hidden layer and a squared error, by full-batch gradient descent with momentum, as released.

    Attributes:
        learning_rate: times `decay` every `every` epochs.
        weight_decay: strength of the L2 penalty.
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
        """How many steps `fit` reports."""
        return self.epochs

    def fit(
        self, inputs: Inputs, pair: np.ndarray, label: np.ndarray, seed: int, progress: Advance
    ) -> np.ndarray:
        """Train. Weights begin from N(0, 1), biases at 0.01."""
        import torch

        counts, positives = inputs.counted(pair, label)
        inputs = inputs.standardised(counts)
        random = torch.Generator().manual_seed(seed)
        tables = [torch.from_numpy(table) for table in inputs.tables]
        index = [torch.from_numpy(rows) for rows in inputs.index]
        first = [torch.randn(t.shape[1], self.hidden, generator=random).requires_grad_() for t in tables]
        second = torch.randn(self.hidden, generator=random).requires_grad_()
        biases = [torch.full((n,), 0.01, requires_grad=True) for n in (self.hidden, 1)]

        def forward(pairs: torch.Tensor | slice) -> torch.Tensor:
            # A word's part of the hidden layer is the same in all its pairs: multiplied once, then looked up.
            parts = [(t @ w)[i[pairs]] for t, w, i in zip(tables, first, index, strict=True)]
            return torch.sigmoid(torch.relu(sum(parts) + biases[0]) @ second + biases[1])

        parameters, rate, decay = [*first, second, *biases], self.learning_rate, self.weight_decay
        optimiser = torch.optim.SGD(parameters, lr=rate, momentum=self.momentum, weight_decay=decay)
        schedule = torch.optim.lr_scheduler.StepLR(optimiser, self.every, self.decay)
        shown = torch.from_numpy(np.flatnonzero(counts))
        parts = ((x / counts.sum()).astype(np.float32) for x in (counts, positives))
        weight, target = (torch.from_numpy(part)[shown] for part in parts)
        for _ in range(self.epochs):
            yes = forward(shown)
            loss = (weight * yes**2 - 2 * target * yes).sum()  # the mean squared error, less a constant
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            progress(1)
        with torch.inference_mode():
            result: np.ndarray = forward(slice(None)).double().numpy()
        return result


@dataclass(frozen=True)
class Logistic:
    """Logistic regression.

    With word vectors, each right-hand item has a regression of its own on the left word, since a sum cannot
    tell which word goes with which. A right-hand item with one label in train keeps it; one that never occurs
    is yes, as in the majority baseline.

    Attributes:
        C: inverse strength of the L2 penalty.
    """

    C: float = 1.0
    iterations: int = 1000

    @property
    def steps(self) -> int:
        """How many steps `fit` reports."""
        return 1

    def fit(
        self, inputs: Inputs, pair: np.ndarray, label: np.ndarray, seed: int, progress: Advance
    ) -> np.ndarray:
        """Train one regression or, with word vectors, one for each right-hand item."""
        counts, positives = inputs.counted(pair, label)
        progress(1)
        if not inputs.words:
            return self._regress(inputs.standardised(counts).matrix(), counts, positives, seed)
        left, right = inputs.index
        result = np.ones(len(right))
        for item in np.unique(right):
            pairs = right == item
            vectors = inputs.tables[0][left[pairs]]
            result[pairs] = self._regress(vectors, counts[pairs], positives[pairs], seed)
        return result

    def _regress(self, vectors: np.ndarray, counts: np.ndarray, yes: np.ndarray, seed: int) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        times = np.stack([yes, counts - yes])  # a pair with both labels is two examples
        if not times.any(axis=1).all():
            return np.full(len(vectors), float(not times[1].any()))
        negative, pair = np.nonzero(times)
        model = LogisticRegression(C=self.C, max_iter=self.iterations, random_state=seed)
        model.fit(vectors[pair], negative == 0, sample_weight=times[negative, pair])
        return model.predict_proba(vectors)[:, 1]


Head = Perceptron | Logistic
HEADS: dict[str, Head] = {"mlp": Perceptron(), "logistic": Logistic()}
#: What tuning chooses among. At a weight decay of 0.1 or 0.001 the perceptron learns nothing (F1 = 0), as the
#: paper's authors report.
CANDIDATES: dict[str, list[Head]] = {
    "mlp": [Perceptron(weight_decay=w) for w in (0.003, 0.01, 0.03)],
    "logistic": [Logistic(C=c) for c in (0.1, 0.316, 1.0, 3.16, 10.0)],
}


def folds(rows: Decisions, kind: Folds, seed: int, k: int = K) -> list[np.ndarray]:
    """k masks (n,) of the rows that are held out: every row in one of them (section "Finetuning").

    The release draws folds over rows, so that an object's other rows stand in the training part: its score is
    too good. Folds of objects keep an object's rows together, as train and test are kept apart. Raises
    ValueError for fewer rows or objects than folds.
    """
    units = np.arange(len(rows)) if kind == "rows" else np.unique(rows.object, return_inverse=True)[1]
    count = int(units.max()) + 1
    if count < k:
        raise ValueError(f"{k} folds need at least {k} {kind}, not {count}")
    fold = np.empty(count, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(count)] = np.arange(count) % k
    return [fold[units] == i for i in range(k)]


def cross_validate(
    head: Head,
    inputs: Inputs,
    rows: Decisions,
    pair: np.ndarray,
    kind: Folds,
    seed: int,
    *,
    progress: Advance,
) -> float:
    """A head's mean micro F1 over the folds that are held out."""
    micro = []
    for held_out in folds(rows, kind, seed):
        score = head.fit(inputs, pair[~held_out], rows.label[~held_out], seed, progress)
        micro.append(scores(rows.where(held_out), score[pair[held_out]] > 0.5)["micro"])
    return float(np.mean(micro))


def majority(task: PhysicalTask, seed: int) -> Answers:
    """The label that the right-hand item has most often in train; the one seen first in a tie, yes if never
    seen.
    """
    labels: dict[str, list[bool]] = {}
    for right, label in zip(task.train.right.tolist(), task.train.label.tolist(), strict=True):
        labels.setdefault(right, []).append(label)
    usual = {right: (2 * sum(seen), seen[0]) > (len(seen), False) for right, seen in labels.items()}
    return task.test, np.array([usual.get(right, True) for right in task.test.right.tolist()])


def random(task: PhysicalTask, seed: int) -> Answers:
    """A fair coin for every test decision."""
    return task.test, np.random.default_rng(seed).random(len(task.test)) < 0.5


def human(task: PhysicalTask, seed: int) -> Answers:
    """The expert's answers to some of the test."""
    return task.release.answers[task.title]


BASELINES = {"majority": majority, "random": random, "human": human}
