"""Small models that see only a part of each example: an accuracy above chance means a shortcut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simtown.core.pool import Report
from simtown.datasets.audit.columns import role_boxes, triples
from simtown.datasets.audit.findings import Finding, wilson
from simtown.datasets.reader import Handle, Split
from simtown.datasets.settings import Settings

#: Examples a probe learns from at most; fewer than LEAST teach it nothing. Its pictures have SIDE × SIDE
#: pixels.
MOST, LEAST, SIDE = 12_000, 200, 10
#: Pixels that are read at once.
_PIXELS = 8_000_000


def question(split: Split, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """(n, 6) int64: subject, relation, object, phrasing, subject with relation, and the whole triple."""
    columns = split.rows(("subject", "relation", "object", "phrasing"), rows)
    subject, relation, obj, phrasing = (
        columns[name].astype(np.int64) for name in ("subject", "relation", "object", "phrasing")
    )
    return np.stack([subject, relation, obj, phrasing, subject * 100 + relation, triples(columns)], axis=1)


def picture(split: Split, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """(n, SIDE * SIDE * 3) float32: the picture, very small."""
    import cv2

    at_once = max(1, min(500, _PIXELS // (settings.width * settings.height)))
    small = [
        cv2.resize(image, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        for part in np.array_split(rows, len(rows) // at_once + 1)
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

    return make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=0.3, solver="liblinear", random_state=0)
    )


def _trees() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=8, learning_rate=0.1, early_stopping=False, random_state=0
    )


#: By the part that they see: how it becomes numbers, and the model.
PROBES: dict[str, tuple[Callable[[Split, np.ndarray, Settings], np.ndarray], Callable[[], Any]]] = {
    "question": (question, _words),
    "picture": (picture, _trees),
    "position": (position, _trees),
}


def _answers(split: Split, rows: np.ndarray) -> np.ndarray:
    """(n,) bool."""
    return split.rows(("answer",), rows)["answer"].astype(bool)


def probe(name: str, report: Report, handle: Handle) -> list[Finding]:
    """A piece of work: train the probe of this name on four fifths of the first MOST training examples.

    It is tested on the last fifth, and on the test split.
    """
    from scipy.stats import binom
    from threadpoolctl import threadpool_limits

    (see, model), dataset = PROBES[name], handle.open()
    settings, n = dataset.settings, min(len(dataset.train), MOST) // 10 * 10
    if n < LEAST:
        few = f"not tested: {len(dataset.train):,} training examples, {LEAST} are needed"
        return [Finding(f"{name} only", "train", few, "", status="note")]
    cut, answer = n * 4 // 5, _answers(dataset.train, np.arange(n))
    seen = see(dataset.train, np.arange(n), settings)
    with threadpool_limits(1):  # one thread is fastest for so little work
        trained = model().fit(seen[:cut], answer[:cut])
    predictions = {"train, held out": (trained.predict(seen[cut:]), answer[cut:])}
    if len(dataset.test):
        rows = np.arange(min(len(dataset.test), MOST))
        predictions["test"] = (
            trained.predict(see(dataset.test, rows, settings)),
            _answers(dataset.test, rows),
        )
    findings = []
    for where, (predicted, truth) in predictions.items():
        correct, count = int((predicted == truth).sum()), len(truth)
        chance = max(truth.mean(), 1 - truth.mean())
        low, high = wilson(correct, count)
        interval = f"95 %: {low:.1%} to {high:.1%}"
        findings.append(
            Finding(
                f"{name} only",
                where,
                f"{correct / count:.1%} right ({interval}) of {count:,}; chance {chance:.1%}",
                f"A small model that sees nothing but the {name} beats chance: find what gives the answer "
                "away and generate the data set again.",
                float(binom.sf(correct - 1, count, chance)),
                details={
                    "right": correct,
                    "n": count,
                    "low": low,
                    "high": high,
                    "chance": float(chance),
                    "learned_from": cut,
                },
            )
        )
    return findings
