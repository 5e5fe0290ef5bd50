"""The accuracy of a run, on what, and how sure that is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from simtown.complexity.intervals import share
from simtown.datasets.reading.reader import Dataset, Split
from simtown.language.meaning.relations import LATERAL, RELATION_NAMES, RELATIONS, margins, separations
from simtown.training import family_scores
from simtown.training.models.layers import answer_loss
from simtown.training.sources import ExampleSource, chunks

#: Examples at once where nothing is learned.
BATCH = 512
_TRIPLE = ("subject", "relation", "object")


@torch.inference_mode()
def logits_of(
    model: nn.Module, source: ExampleSource, n: int, progress: Callable[[int], object] = lambda examples: None
) -> tuple[np.ndarray, float]:
    """(n,) or (n, answers) float32 logits of a source's first n examples, and their mean cross-entropy.

    The model is left in evaluation mode. `progress` receives the number of examples it was newly asked about.
    """
    model.eval()
    parts, loss = [], 0.0
    for batch in source.batches(chunks(n, BATCH)):
        logits = model(batch).float()
        loss += float(answer_loss(logits, batch.answer, "sum"))
        parts.append(logits.cpu().numpy())
        progress(len(logits))
    return np.concatenate(parts), loss / n


def accuracy_in_words(test: Mapping[str, Any]) -> str:
    """The accuracy of what :func:`measure` returns, with its interval."""
    interval = f"95 %: {test['low']:.3f} to {test['high']:.3f}, n {test['n']:,}"
    return f"test accuracy {test['accuracy']:.3f} ({interval})"


def _triples(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n,) int64, one number for each (subject, relation, object)."""
    subject, relation, obj = (columns[name].astype(np.int64) for name in _TRIPLE)
    return (subject * 100 + relation) * 10_000 + obj


def _frequencies(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(entities,) training frequencies as subject and as object, by rank."""
    resolved = dataset.manifest["settings"]
    return np.array(resolved["subject_frequencies"]), np.array(resolved["object_frequencies"])


def deciles(dataset: Dataset) -> np.ndarray:
    """(entities,) int64: the tenth of the entities, by training frequency, to which each rank belongs.

    0 is the most frequent tenth.
    """
    subjects, objects = _frequencies(dataset)
    rank = np.argsort(np.argsort(-(subjects + objects) / 2, kind="stable"))
    return rank * 10 // len(rank)


def _ranks(dataset: Dataset, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """(n,) ranks of the kinds of all subjects and objects of a split."""
    ranks = dataset.settings.ranks
    return ranks[split.column("subject")], ranks[split.column("object")]


def inverse_frequency(dataset: Dataset, split: Split) -> np.ndarray:
    """(n,) float64 weights of equation 1, 1 / (p(subject) p(object)) of training examples, with mean 1."""
    subjects, objects = _frequencies(dataset)
    subject, obj = _ranks(dataset, split)
    weights: np.ndarray = 1 / np.maximum(subjects[subject] * objects[obj], 1e-12)
    return weights / weights.mean()


def right(
    dataset: Dataset, split: Split, logits: np.ndarray, answers: Sequence[str] | None = None
) -> np.ndarray:
    """(n,) bool: which questions of a split are answered right; `answers` as for :func:`measure`."""
    if not dataset.settings.asks:
        return (logits > 0) == split.column("answer")
    texts = dataset.names["answers"]
    return family_scores.right(split, texts, logits.argmax(axis=1), answers or texts)


def measure(
    dataset: Dataset,
    test: np.ndarray,
    val: np.ndarray,
    train_size: int | None,
    answers: Sequence[str] | None = None,
    compositions: np.ndarray | None = None,
) -> dict[str, Any]:
    """Accuracy on the uniform test set, overall and in parts, and on validation reweighted by equation 1.

    Args:
        dataset: that the run is tested on.
        test: logits of the whole test split.
        val: logits of the whole validation split.
        train_size: training examples seen (None for an endless stream).
        answers: of questions of families, if the run has others than the data set.
        compositions: logits of the whole split of held-out compositions, if there is one.

    Returns:
        Of questions of families, see :func:`family_scores.measure`.
        Shares with Wilson intervals: "accuracy", "low", "high", "n" of the test set; "relations" by name;
        "deciles" by number, a question counting for its rarer entity; "seen" and "unseen" (subject, relation,
        object) triples; "validation" plain, and "reweighted" by inverse training frequency with its effective
        sample size.
    """
    if dataset.settings.asks:
        named = answers or dataset.names["answers"]
        shares = family_scores.measure(dataset, test, val, train_size, named)
        if compositions is not None:
            shares["held_out"] = family_scores.of_compositions(dataset, test, compositions, named)
        return shares
    split, tenths = dataset.test, deciles(dataset)
    correct = (test > 0) == split.column("answer")
    relation = split.column("relation")
    subject, obj = _ranks(dataset, split)
    rarer = np.maximum(tenths[subject], tenths[obj])
    out: dict[str, Any] = dict(share(correct) or {})
    out["relations"] = {RELATION_NAMES[r]: share(correct[relation == r]) for r in np.unique(relation)}
    out["deciles"] = {str(tenth): share(correct[rarer == tenth]) for tenth in np.unique(rarer)}
    if train_size is not None:
        known = np.zeros(0, dtype=np.int64)
        for _, columns in dataset.train.stream(_TRIPLE, 1024, end=train_size):
            known = np.union1d(known, _triples(columns))
        seen = np.isin(_triples({name: split.column(name) for name in _TRIPLE}), known)
        out["seen"], out["unseen"] = share(correct[seen]), share(correct[~seen])
    if len(val):
        correct_val = (val > 0) == dataset.val.column("answer")
        weights = inverse_frequency(dataset, dataset.val)
        out["validation"] = share(correct_val)
        accuracy, effective = (correct_val * weights).mean(), weights.sum() ** 2 / (weights**2).sum()
        reweighted = {"accuracy": float(accuracy), "effective_n": float(effective)}
        out["reweighted"] = {**reweighted, "n": len(correct_val)}
    return out


def references(dataset: Dataset) -> dict[str, float]:
    """Test accuracy of what does not learn.

    Returns:
        "chance"; "majority", the training set's more frequent answer; "oracle", the logical form evaluated on
        the latent scene (1.0); "oracle_on_boxes", the same read off the true boxes: middles for left and
        right, lower edges for nearer and farther. Of families see :func:`family_scores.references`.
    """
    if dataset.settings.asks:
        return family_scores.references(dataset)
    answer, (no, yes) = dataset.test.column("answer"), dataset.summary("train")["answer"]
    answers = {"majority": yes >= no, "oracle": oracle(dataset.test)}
    answers["oracle_on_boxes"] = oracle_on_boxes(dataset.test)
    return {"chance": 0.5} | {name: float((answer == given).mean()) for name, given in answers.items()}


def oracle(split: Split) -> np.ndarray:
    """(n,) bool answers of every question's logical form on its latent scene."""
    scenes = split.scenes()
    names = ("relation", "subject_slot", "object_slot")
    relation, subject, obj = (split.column(name).astype(np.int64) for name in names)
    return margins(separations(scenes.pose, scenes.camera), relation, subject, obj) > 0


def oracle_on_boxes(split: Split) -> np.ndarray:
    """(n,) bool answers by the true boxes alone."""
    axes, signs = np.array([r.axis for r in RELATIONS]), np.array([r.sign for r in RELATIONS])
    boxes, rows, relation = split.column("boxes"), np.arange(len(split)), split.column("relation")
    subject, obj = boxes[rows, split.column("subject_slot")], boxes[rows, split.column("object_slot")]
    across = (subject[:, 0] + subject[:, 2]) - (obj[:, 0] + obj[:, 2])  # positive: subject farther right
    deep = obj[:, 3] - subject[:, 3]  # positive: subject farther away
    return np.where(axes[relation] == LATERAL, across, deep) * signs[relation] > 0
