"""Scores of a run on the paper's questions or on those of families: accuracies with their intervals.

:func:`scores_of` is the place that asks which questions a data set has.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from simtown.complexity.intervals import share
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.proving.twin_groups import group_outcomes
from simtown.datasets.reading.reader import SCENE_COLUMNS, Dataset, Split
from simtown.datasets.sequence_questions import SEQUENCE_COLUMNS, stored_values
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.evaluate import KNOWN
from simtown.language.meaning.relations import LATERAL, RELATION_NAMES, RELATIONS, margins, separations
from simtown.training.models.layers import answer_loss
from simtown.training.sources import ExampleSource, chunks

#: Examples at once where nothing is learned.
BATCH = 512
_TRIPLE = ("subject", "relation", "object")
#: The answers that are distances, in metres.
_METRES = {text: float(number) for number, text in enumerate(ANSWERS["metres"])}


class Scores(Protocol):
    """Scores of a run on a data set."""

    def right(self, split: Split, logits: np.ndarray) -> np.ndarray:
        """(n,) bool: which questions of a split are answered right."""

    def columns(self, logits: np.ndarray) -> dict[str, np.ndarray]:
        """Columns to store of each test question, besides whether its answer is right."""

    def measure(self, logits: Mapping[str, np.ndarray], train_size: int | None) -> dict[str, Any]:
        """Accuracy on the test set, overall and in parts, as shares with Wilson intervals.

        Args:
            logits: of whole splits, by name: "test", and perhaps "val" and that of held-out compositions.
            train_size: training examples seen (None for an endless stream).

        Returns:
            "accuracy", "low", "high", "n" of the test set; "validation"; and the parts that the class names.
        """

    def references(self) -> dict[str, float]:
        """Test accuracy of what does not learn."""


def scores_of(dataset: Dataset, answers: Sequence[str] | None = None) -> Scores:
    """The scores on a data set; `answers`: those of families, if the run has others than the data set."""
    return FamilyScores(dataset, answers) if dataset.settings.has_families else PaperScores(dataset)


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
    """The accuracy of what :meth:`Scores.measure` returns, with its interval."""
    interval = f"95 %: {test['low']:.3f} to {test['high']:.3f}, n {test['n']:,}"
    return f"test accuracy {test['accuracy']:.3f} ({interval})"


class PaperScores:
    """Scores on the paper's questions.

    Parts: "relations" by name; "deciles" by number, a question counting for its rarer entity; "seen" and
    "unseen" (subject, relation, object) triples; "reweighted", the validation set by inverse training
    frequency (equation 1), with its effective sample size.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset

    def right(self, split: Split, logits: np.ndarray) -> np.ndarray:
        """See :meth:`Scores.right`."""
        return np.asarray((logits > 0) == split.column("answer"))

    def columns(self, logits: np.ndarray) -> dict[str, np.ndarray]:
        """See :meth:`Scores.columns`: "logit" (n,) float32."""
        return {"logit": logits}

    def measure(self, logits: Mapping[str, np.ndarray], train_size: int | None) -> dict[str, Any]:
        """See :meth:`Scores.measure`."""
        dataset, split, tenths = self._dataset, self._dataset.test, deciles(self._dataset)
        correct = self.right(split, logits["test"])
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
        if "val" in logits:
            correct_val = self.right(dataset.val, logits["val"])
            weights = inverse_frequency(dataset, dataset.val)
            out["validation"] = share(correct_val)
            accuracy, effective = (correct_val * weights).mean(), weights.sum() ** 2 / (weights**2).sum()
            reweighted = {"accuracy": float(accuracy), "effective_n": float(effective)}
            out["reweighted"] = {**reweighted, "n": len(correct_val)}
        return out

    def references(self) -> dict[str, float]:
        """See :meth:`Scores.references`.

        Returns:
            "chance"; "majority", the training set's more frequent answer; "oracle", the logical form
            evaluated on the latent scene (1.0); "oracle_on_boxes", the same read off the true boxes: middles
            for left and right, lower edges for nearer and farther.
        """
        test = self._dataset.test
        answer, (no, yes) = test.column("answer"), self._dataset.summary("train")["answer"]
        answers = {"majority": yes >= no, "oracle": oracle(test), "oracle_on_boxes": oracle_on_boxes(test)}
        return {"chance": 0.5} | {name: float((answer == given).mean()) for name, given in answers.items()}


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


class FamilyScores:
    """Scores on questions of families.

    Every share of a part has the mean "confidence" and "chance", the share that the best constant answers of
    its families would have. Parts: "families" by name, with their kind of "answer"; "kinds" by kind of
    answer. "unseen": test questions whose answer no training example has, with these "answers". "twins":
    "single", "pair", "group" and "consistency"
    (:func:`simtown.datasets.proving.twin_groups.group_outcomes`), if pictures come in twos. "held_out":
    :meth:`held_out`, if there are held-out compositions.
    """

    def __init__(self, dataset: Dataset, answers: Sequence[str] | None = None) -> None:
        self._dataset = dataset
        self._texts: Sequence[str] = dataset.names["answers"]
        self._answers = answers or self._texts

    def right(self, split: Split, logits: np.ndarray) -> np.ndarray:
        """See :meth:`Scores.right`. A distance is also right within the stored tolerance."""
        given = logits.argmax(axis=1)
        place = {text: number for number, text in enumerate(self._answers)}
        true = np.array([place.get(text, -1) for text in self._texts])[split.column("value")]
        metres = np.array([_METRES.get(text, np.nan) for text in self._answers])
        return (given == true) | _near(split, metres[given])

    def columns(self, logits: np.ndarray) -> dict[str, np.ndarray]:
        """See :meth:`Scores.columns`.

        "given" (n,) int16, the place of the model's answer among the data set's, its "confidence" (n,)
        float32, and "family" (n,) uint8.
        """
        given, family = logits.argmax(axis=1).astype(np.int16), self._dataset.test.column("family")
        return {"given": given, "confidence": _confidence(logits), "family": family}

    def measure(self, logits: Mapping[str, np.ndarray], train_size: int | None) -> dict[str, Any]:
        """See :meth:`Scores.measure`."""
        dataset, split, names = self._dataset, self._dataset.test, self._dataset.names["families"]
        value, family = split.column("value"), split.column("family")
        correct, sure = self.right(split, logits["test"]), _confidence(logits["test"])

        def part(rows: np.ndarray) -> dict[str, Any]:
            means = {"confidence": float(sure[rows].mean()), "chance": float(self._constants[rows].mean())}
            return (share(correct[rows], split.clusters[rows]) or {}) | means

        kinds = self._kinds
        present = [number for number in range(len(names)) if (family == number).any()]
        kind_of = np.array(kinds)[family]
        known = set(self._answers)
        if train_size is not None:
            known &= {self._texts[number] for number in np.unique(dataset.train.column("value")[:train_size])}
        unseen = np.array([text not in known for text in self._texts])
        out = part(np.ones(len(split), dtype=bool))
        out["families"] = {names[i]: {"answer": kinds[i], **part(family == i)} for i in present}
        out["kinds"] = {kind: part(kind_of == kind) for kind in dict.fromkeys(kinds[i] for i in present)}
        listed = [self._texts[number] for number in np.unique(value) if unseen[number]]
        of_unseen = unseen[value]
        shares = share(correct[of_unseen], split.clusters[of_unseen])
        out["unseen"] = {"answers": listed, **(shares or {"n": 0})}
        if dataset.settings.twins:
            per_picture = dataset.settings.questions_per_picture
            outcomes = group_outcomes(split.column("group"), correct, per_picture)
            out["twins"] = {name: share(*outcome) for name, outcome in outcomes.items()}
        if "val" in logits:
            out["validation"] = share(self.right(dataset.val, logits["val"]))
        if COMPOSITION in logits:
            out["held_out"] = self.held_out(logits)
        return out

    def held_out(self, logits: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Accuracy on held-out compositions, and on the test questions of the same families.

        Returns:
            A share with its Wilson interval; "families" by name, each a share, with "seen", the share on test
            questions of that family, None if there are none. "seen": the accuracy on test if its families
            were as frequent as among the compositions; None if it lacks one.
        """
        names = self._dataset.names["families"]
        by_family = {}
        for name in (COMPOSITION, "test"):
            split = self._dataset[name]
            correct, family = self.right(split, logits[name]), split.column("family")
            by_family[name] = {names[i]: correct[family == i] for i in np.unique(family).tolist()}
        held, tested = by_family.values()
        every = np.concatenate(list(held.values()))
        shares = {
            name: {**(share(rows) or {}), "seen": share(tested.get(name, []))} for name, rows in held.items()
        }
        seen = None
        if held.keys() <= tested.keys():
            seen = sum(len(rows) * float(tested[name].mean()) for name, rows in held.items()) / len(every)
        return {**(share(every) or {}), "families": shares, "seen": seen}

    def references(self) -> dict[str, float]:
        """See :meth:`Scores.references`: the best constant of each family, and the stored programs."""
        return {"chance": float(self._constants.mean()), "oracle": float(self.oracle().mean())}

    def oracle(self) -> np.ndarray:
        """(n,) bool: which test questions the evaluator answers as stored, from program and scene."""
        split, settings = self._dataset.test, self._dataset.settings
        names = (*SCENE_COLUMNS, "program", "visible", *(SEQUENCE_COLUMNS if settings.sequence else ()))
        values = stored_values({name: split.column(name) for name in names}, settings)
        columns = (split.column("family"), values.answer, values.state)
        given = [
            ANSWERS[self._kinds[family]][answer] if state == KNOWN else CANNOT_TELL
            for family, answer, state in zip(*(column.tolist() for column in columns), strict=True)
        ]
        return np.array(given) == np.array(self._texts)[split.column("value")]

    @cached_property
    def _constants(self) -> np.ndarray:
        """(n,) bool: which test questions the best constant answer of their family answers right.

        The best is that of the test set itself, so no constant answer scores more.
        """
        split = self._dataset.test
        value, family = split.column("value"), split.column("family")
        result = np.zeros(len(split), dtype=bool)
        for number in np.unique(family):
            rows = family == number
            candidates = [
                (value == i) | _near(split, _METRES.get(text, np.nan)) for i, text in enumerate(self._texts)
            ]
            best = max(candidates, key=lambda correct: int(correct[rows].sum()))
            result[rows] = best[rows]
        return result

    @cached_property
    def _kinds(self) -> list[str]:
        """The kind of answer of each family, a key of ANSWERS, by the answers to its test questions."""
        texts, split = np.array(self._texts), self._dataset.test
        value, family = split.column("value"), split.column("family")
        kinds = []
        for number in range(len(self._dataset.names["families"])):
            found = {*texts[np.unique(value[family == number])]} - {CANNOT_TELL}
            kinds.append(next(kind for kind, answers in ANSWERS.items() if found <= {*answers}))
        return kinds


def _near(split: Split, metres: np.ndarray | float) -> np.ndarray:
    """(n,) bool: whether distances are within the tolerance; False for questions of other answers."""
    off = np.abs(metres - split.column("number").astype(np.float64))
    return off <= split.column("tolerance")


def _confidence(logits: np.ndarray) -> np.ndarray:
    """(n,) float32 probability that a model gives its own answer, from (n, answers) logits."""
    return 1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)
