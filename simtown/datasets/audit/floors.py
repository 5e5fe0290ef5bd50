"""The floor of sequences: accuracy of one picture alone, and of all pictures without their order.

A small model learns from what a picture shows, by the true boxes, so it needs no training of eyes. The order
of pictures is hidden by sorting each number over them: two examples that show the same pictures in another
order are the same to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from simtown.datasets.audit.findings import Finding, wilson
from simtown.datasets.audit.small_models import trees
from simtown.datasets.family_questions import families_of
from simtown.datasets.reading.reader import Dataset
from simtown.language.asking.sequences import REVERSED
from simtown.language.meaning.programs import ENTITY

#: Examples that are read at most; fewer of a family than LEAST teach nothing. How much better than the best
#: constant answer one picture may be.
MOST, LEAST, ALLOWED = 60_000, 400, 0.1
_COLUMNS = ("family", "value", "shared", "program", "boxes", "visible", "scene/entity", "scene/pose")
_ADVICE = (
    "A model that sees a single picture beats the best constant answer by more than a tenth, or one that "
    "does not know the order solves pairs of reversed pictures: find what gives the answer away."
)


def floor_findings(dataset: Dataset, name: str) -> Iterator[Finding]:
    """Findings for each family of a split: of reversed pairs, and of those that share a picture."""
    from threadpoolctl import threadpool_limits

    split = dataset[name]
    columns = split.rows(_COLUMNS, np.arange(min(len(split), MOST) // 2 * 2))
    seen, back = shown(columns), columns["shared"] == REVERSED
    for place, family in enumerate(families_of(dataset.settings)):
        for pairs, of_pairs in (("reversed pairs", back), ("pairs that share a picture", ~back)):
            rows = np.flatnonzero((columns["family"] == place) & of_pairs)
            check, where = f"one picture by {family.name}", f"{name}, {pairs}"
            if 0 < len(rows) < LEAST:
                few = f"not tested: {len(rows):,} examples, {LEAST} are needed"
                yield Finding(check, where, few, status="note")
            elif len(rows):
                with threadpool_limits(1):
                    yield _floor(check, where, seen[rows], columns["value"][rows])


def shown(columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """(n, P, k) float64: what each picture shows of every vehicle, those that are asked about first.

    Of each: its box, its visible share, its kind, whether it heads right, and whether its kind is asked for.
    """
    entity, visible = columns["scene/entity"].astype(np.int64), columns["visible"]
    asked = (columns["program"][:, None] == (ENTITY + entity)[..., None]).any(axis=2)
    right = np.cos(columns["scene/pose"][..., 2]) > 0
    still = np.stack([entity, right, asked], axis=2)[:, None]
    still = np.broadcast_to(still, (*visible.shape, still.shape[-1]))
    parts = np.concatenate([columns["boxes"], visible[..., None], still], axis=3)
    # the box of a vehicle beyond an edge says which edge, but nothing of it is shown
    size = columns["boxes"][..., 2:] - columns["boxes"][..., :2]
    parts = np.where((size > 0).all(axis=3, keepdims=True), parts, 0)
    order = np.argsort(~asked, axis=1, kind="stable")
    parts = np.take_along_axis(parts, order[:, None, :, None], axis=2)
    return parts.reshape(*visible.shape[:2], -1)


def _floor(check: str, where: str, seen: np.ndarray, value: np.ndarray) -> Finding:
    """The finding of pairs of examples: the second half is asked what the first half teaches."""
    cut = len(value) // 4 * 2
    truth, pictures = value[cut:], seen.shape[1]
    constant = float(np.bincount(truth).max() / len(truth))

    def right(features: np.ndarray) -> np.ndarray:
        model = trees().fit(features[:cut], value[:cut])
        return np.asarray(model.predict(features[cut:]) == truth)

    alone = [int(right(seen[:, picture]).sum()) for picture in range(pictures)]
    blind = right(np.sort(seen, axis=1).reshape(len(seen), -1))
    pairs = float(blind.reshape(-1, 2).all(axis=1).mean())
    shares = [count / len(truth) for count in alone]
    least, _ = wilson(max(alone), len(truth), pictures)
    told = least > constant + ALLOWED or ("reversed" in where and pairs > 0)
    each = ", ".join(f"{share:.1%}" for share in shares)
    figure = (
        f"pictures 1 to {pictures} alone {each} of {len(truth):,}; constant {constant:.1%}; "
        f"order-blind {blind.mean():.1%}, {pairs:.1%} of pairs"
    )
    measured = {"alone": shares, "n": len(truth), "constant": constant, "pairs": pairs}
    details = measured | {"order_blind": float(blind.mean())}
    return Finding(check, where, figure, _ADVICE, status="warn" if told else "note", details=details)
