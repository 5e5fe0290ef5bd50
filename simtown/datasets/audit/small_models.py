"""Small models that see only a part of each example: an accuracy above chance means a shortcut."""

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np

from simtown.core.pool import Report
from simtown.datasets.audit.features import role_boxes, triples
from simtown.datasets.audit.findings import Finding
from simtown.datasets.reading.reader import Dataset, Split
from simtown.datasets.settings import Settings

#: Examples a model learns from at most; fewer than LEAST teach it nothing. Its pictures have SIDE × SIDE
#: pixels.
MOST, LEAST, SIDE = 12_000, 200, 10


def question(split: Split, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """(n, 6) int64: subject, relation, object, phrasing, subject with relation, and the whole triple."""
    names = ("subject", "relation", "object", "phrasing")
    columns = split.rows(names, rows)
    words = np.stack([columns[name].astype(np.int64) for name in names], axis=1)
    return np.column_stack([words, words[:, 0] * 100 + words[:, 1], triples(columns)])


def picture(split: Split, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """(n, SIDE * SIDE * 3) float32: the picture, very small."""
    small = [
        cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        for part in np.array_split(rows, len(rows) // settings.at_once(500) + 1)
        for image in split.images(part)
    ]
    return np.stack(small).reshape(len(rows), -1).astype(np.float32)


def position(split: Split, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """(n, 11) float64: both boxes, their sizes' ratio and their middles' distances."""
    boxes = role_boxes(split.rows(("subject_slot", "object_slot", "boxes"), rows), settings)
    middle, size = (boxes[..., :2] + boxes[..., 2:]) / 2, np.maximum(boxes[..., 2:] - boxes[..., :2], 1e-6)
    ratio = size[:, 0].prod(axis=1, keepdims=True) / size[:, 1].prod(axis=1, keepdims=True)
    return np.concatenate([boxes.reshape(len(rows), -1), ratio, middle[:, 0] - middle[:, 1]], axis=1)


def _words() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    model = LogisticRegression(C=0.3, solver="liblinear", random_state=0)
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), model)


def trees() -> Any:
    """A fresh classifier: few boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    size = {"max_iter": 40, "max_leaf_nodes": 8, "learning_rate": 0.1}
    return HistGradientBoostingClassifier(**size, early_stopping=False, random_state=0)


#: By the part that they see: how it becomes numbers, and the model.
MODELS: dict[str, tuple[Callable[[Split, np.ndarray, Settings], np.ndarray], Callable[[], Any]]] = {
    "question": (question, _words),
    "picture": (picture, trees),
    "position": (position, trees),
}


def probe(name: str, report: Report, dataset: Dataset) -> list[Finding]:
    """A piece of work: train the model of this name on four fifths of the first MOST training examples.

    It is tested on the last fifth, and on the test split.
    """
    from threadpoolctl import threadpool_limits

    (see, model), train, test = MODELS[name], dataset.train, dataset.test
    n = min(len(dataset.train), MOST) // 10 * 10
    if n < LEAST:
        few = f"not tested: {len(train):,} training examples, {LEAST} are needed"
        return [Finding(f"{name} only", "train", few, status="note")]

    def examples(split: Split, count: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(count)
        return see(split, rows, dataset.settings), split.rows(("answer",), rows)["answer"].astype(bool)

    seen, answer = examples(train, n)
    cut = n * 4 // 5
    with threadpool_limits(1):  # one thread is fastest for so little work
        trained = model().fit(seen[:cut], answer[:cut])
    exams = {"train, held out": (seen[cut:], answer[cut:])}
    if len(test):
        exams["test"] = examples(test, min(len(test), MOST))
    advice = (
        f"A small model that sees nothing but the {name} beats chance: find what gives the answer away "
        "and generate the data set again."
    )
    findings = []
    for where, (shown, truth) in exams.items():
        right, chance = int((trained.predict(shown) == truth).sum()), max(truth.mean(), 1 - truth.mean())
        measured = (f"{name} only", where, right, len(truth), {"chance": float(chance)}, advice)
        findings.append(Finding.of_accuracy(*measured, learned_from=cut))
    return findings
