"""What accuracy a run has, on what, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy.stats import binomtest
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from simtown.datasets.reader import SCENE_COLUMNS, Dataset, Split
from simtown.language.relations import LATERAL, RELATION_NAMES, RELATIONS, margins, separations
from simtown.training.sources import BLOCK, ExampleSource, chunks

#: Examples at once where nothing is learned.
BATCH = 512


@torch.inference_mode()
def logits_of(
    model: nn.Module,
    source: ExampleSource,
    n: int,
    progress: Callable[[int], object] = lambda examples: None,
) -> tuple[np.ndarray, float]:
    """(n,) float32 logits of a source's first n examples, and their mean cross-entropy.

    The model is left in evaluation mode. `progress` receives the number of examples it was newly asked about.
    """
    model.eval()
    parts, loss = [], 0.0
    for batch in source.batches(chunks(n, BATCH)):
        logits = model(batch).float()
        loss += float(binary_cross_entropy_with_logits(logits, batch.answer, reduction="sum"))
        parts.append(logits.cpu().numpy())
        progress(len(logits))
    return np.concatenate(parts), loss / n


def share(correct: np.ndarray) -> dict[str, float] | None:
    """The share of (n,) right answers, with its 95 % Wilson score interval; None where nothing was asked."""
    if not len(correct):
        return None
    right, n = int(correct.sum()), len(correct)
    interval = binomtest(right, n).proportion_ci(0.95, method="wilson")
    return {"accuracy": right / n, "low": float(interval.low), "high": float(interval.high), "n": n}


def answers(split: Split) -> np.ndarray:
    """(n,) bool: the true answers of a split."""
    return _gathered(split, ("answer",), lambda column: column["answer"], np.bool_)


def _gathered(
    split: Split, names: Sequence[str], make: Callable[[dict[str, np.ndarray]], np.ndarray], dtype: Any
) -> np.ndarray:
    """(n,) of `dtype`: make(columns) for all rows of a split.

    The columns are read some rows at a time, and only the results are kept.
    """
    result = np.empty(len(split), dtype=dtype)
    for begin, column in split.stream(names, BLOCK):
        values = make(column)
        result[begin : begin + len(values)] = values
    return result


_TRIPLE = ("subject", "relation", "object")


def _triples(column: dict[str, np.ndarray]) -> np.ndarray:
    """(n,) int64, one number for each (subject, relation, object)."""
    subject, relation, obj = (column[name].astype(np.int64) for name in _TRIPLE)
    return (subject * 100 + relation) * 10_000 + obj


def triples(split: Split, n: int) -> np.ndarray:
    """The different (subject, relation, object) of a split's first n examples as ascending int64 numbers."""
    numbers = np.zeros(0, dtype=np.int64)
    for _, column in split.stream(_TRIPLE, BLOCK, end=n):
        numbers = np.union1d(numbers, _triples(column))
    return numbers


def deciles(dataset: Dataset) -> np.ndarray:
    """(entities,) int64: the tenth of the entities, by training frequency, to which each rank belongs.

    0 is the most frequent tenth.
    """
    resolved = dataset.manifest["settings"]
    frequency = (np.array(resolved["subject_frequencies"]) + np.array(resolved["object_frequencies"])) / 2
    rank = np.argsort(np.argsort(-frequency, kind="stable"))
    tenths: np.ndarray = rank * 10 // len(rank)
    return tenths


def inverse_frequency(dataset: Dataset, split: Split) -> np.ndarray:
    """(n,) float64 weights of equation 1, 1 / (p(subject) p(object)) of training examples, with mean 1."""
    resolved, ranks = dataset.manifest["settings"], dataset.settings.ranks
    subjects, objects = (np.array(resolved[f"{role}_frequencies"]) for role in ("subject", "object"))

    def weigh(column: dict[str, np.ndarray]) -> np.ndarray:
        result: np.ndarray = 1 / np.maximum(
            subjects[ranks[column["subject"]]] * objects[ranks[column["object"]]], 1e-12
        )
        return result

    weights = _gathered(split, ("subject", "object"), weigh, np.float64)
    return weights / weights.mean()


def measure(dataset: Dataset, test: np.ndarray, val: np.ndarray, train_size: int | None) -> dict[str, Any]:
    """Accuracy on the uniform test set, overall and in parts, and on validation reweighted by equation 1.

    Args:
        dataset: that the run is tested on.
        test: (n,) float logits of the whole test split.
        val: (n,) float logits of the whole validation split.
        train_size: training examples seen (None for an endless stream).

    Returns:
        Shares with Wilson intervals: "accuracy", "low", "high", "n" of the test set; "relations" by name;
        "deciles" by number, a question counting for its rarer entity; "seen" and "unseen" (subject, relation,
        object) triples; "validation" plain, and "reweighted" by inverse training frequency with its effective
        sample size.
    """
    split, ranks, tenth = dataset.test, dataset.settings.ranks, deciles(dataset)
    correct = (test > 0) == answers(split)
    relation = _gathered(split, ("relation",), lambda column: column["relation"], np.uint8)
    rarer = _gathered(
        split,
        ("subject", "object"),
        lambda column: np.maximum(tenth[ranks[column["subject"]]], tenth[ranks[column["object"]]]),
        np.int64,
    )
    out: dict[str, Any] = dict(share(correct) or {})
    out["relations"] = {RELATION_NAMES[r]: share(correct[relation == r]) for r in np.unique(relation)}
    out["deciles"] = {str(d): share(correct[rarer == d]) for d in np.unique(rarer)}
    if train_size is not None:
        trained_on = triples(dataset.train, train_size)
        seen = _gathered(split, _TRIPLE, lambda column: np.isin(_triples(column), trained_on), np.bool_)
        out["seen"], out["unseen"] = share(correct[seen]), share(correct[~seen])
    if len(val):
        correct_val = (val > 0) == answers(dataset.val)
        weights = inverse_frequency(dataset, dataset.val)
        out["validation"] = share(correct_val)
        out["reweighted"] = {
            "accuracy": float((correct_val * weights).mean()),
            "effective_n": float(weights.sum() ** 2 / (weights**2).sum()),
            "n": len(correct_val),
        }
    return out


def references(dataset: Dataset) -> dict[str, float]:
    """Test accuracy of what does not learn.

    Returns:
        "chance"; "majority", the training set's more frequent answer; "oracle", the logical form evaluated on
        the latent scene (1.0); "oracle_on_boxes", the same read off the true boxes: middles for left and
        right, lower edges for nearer and farther.
    """
    answer, (no, yes) = answers(dataset.test), dataset.summary("train")["answer"]
    predictions = {
        "majority": np.full(len(answer), yes >= no),
        "oracle": oracle(dataset.test),
        "oracle_on_boxes": oracle_on_boxes(dataset.test),
    }
    return {
        "chance": 0.5,
        **{name: float((predicted == answer).mean()) for name, predicted in predictions.items()},
    }


def _slots(column: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return column["subject_slot"].astype(np.int64), column["object_slot"].astype(np.int64)


def oracle(split: Split) -> np.ndarray:
    """(n,) bool answers of every question's logical form on its latent scene."""

    def evaluate(column: dict[str, np.ndarray]) -> np.ndarray:
        scenes, relation = split.scenes_of(column), column["relation"].astype(np.int64)
        result: np.ndarray = margins(separations(scenes.pose, scenes.camera), relation, *_slots(column)) > 0
        return result

    return _gathered(split, ("relation", "subject_slot", "object_slot", *SCENE_COLUMNS), evaluate, np.bool_)


def oracle_on_boxes(split: Split) -> np.ndarray:
    """(n,) bool answers by the true boxes alone."""
    axes, signs = np.array([r.axis for r in RELATIONS]), np.array([r.sign for r in RELATIONS])

    def evaluate(column: dict[str, np.ndarray]) -> np.ndarray:
        boxes, rows, relation = column["boxes"], np.arange(len(column["boxes"])), column["relation"]
        subject, obj = (boxes[rows, slot] for slot in _slots(column))
        across = (subject[:, 0] + subject[:, 2]) - (obj[:, 0] + obj[:, 2])  # positive: subject farther right
        deep = obj[:, 3] - subject[:, 3]  # positive: subject farther away
        result: np.ndarray = np.where(axes[relation] == LATERAL, across, deep) * signs[relation] > 0
        return result

    return _gathered(split, ("boxes", "relation", "subject_slot", "object_slot"), evaluate, np.bool_)
