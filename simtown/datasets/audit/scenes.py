"""Repetition, leaks, and questions that cannot be answered: duplicate scenes, overlap, margins, occlusion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simtown.datasets.audit.columns import triples
from simtown.datasets.audit.findings import Finding
from simtown.datasets.reader import Dataset, Split
from simtown.datasets.settings import SPLITS
from simtown.language.relations import RELATIONS
from simtown.scenes.placement import LEAST_VISIBLE

#: Metres beyond a relation's own margin within which a question is close.
CLOSE = 0.25
#: Visible share below which a vehicle counts as hidden in good part.
HIDDEN = 0.6


def scene_keys(split: Split) -> np.ndarray:
    """(n,) bytes: equal for scenes with the same vehicles at the same places before the same camera, whatever the light and the street."""
    parts = [split.column(f"scene/{name}") for name in ("entity", "pose", "camera")]
    rows = np.concatenate([np.ascontiguousarray(p).reshape(len(p), -1).view(np.uint8) for p in parts], axis=1)
    return np.ascontiguousarray(rows).view(f"V{rows.shape[1]}")[:, 0]


def repeated(dataset: Dataset) -> Iterator[Finding]:
    """Scenes that occur twice within a split, or in two splits."""
    keys = {name: scene_keys(dataset[name]) for name in SPLITS if len(dataset[name])}
    for name, mine in keys.items():
        _, first, group = np.unique(mine, return_index=True, return_inverse=True)
        copies = np.flatnonzero(first[group] != np.arange(len(mine)))
        twice, pairs = len(copies), [[int(i), int(first[group[i]])] for i in copies[:10]]
        example = f"; first: {name} {pairs[0][0]} repeats {name} {pairs[0][1]}" if pairs else ""
        yield Finding(
            "duplicate scenes", name, f"{twice:,} of {len(mine):,} repeat another{example}",
            "Remove the repeated scenes, or make the data anew: they count as more examples than they are.",
            status="warn" if twice else "pass", details={"repeated": twice, "n": len(mine), "first": pairs},
        )  # fmt: skip
    for name in ("val", "test"):
        if name in keys and "train" in keys:
            seen = np.isin(keys[name], keys["train"])
            example = f"; first: {name} {np.flatnonzero(seen)[0]}" if seen.any() else ""
            yield Finding(
                "scenes seen in training", name, f"{int(seen.sum()):,} of {len(seen):,} are training scenes{example}",
                f"Make the {name} examples anew with another seed, or remove these scenes from training: accuracy there is remembered.",
                status="warn" if seen.any() else "pass",
                details={"seen": int(seen.sum()), "n": len(seen), "first": [int(i) for i in np.flatnonzero(seen)[:10]]},
            )  # fmt: skip
            asked = triples(dataset[name])
            known = np.isin(asked, triples(dataset.train))
            yield Finding(
                "questions seen in training", name,
                f"{known.mean():.1%} of {len(asked):,} ask about a subject, relation and object that training asks about", "",
                status="note", details={"seen": int(known.sum()), "n": len(asked), "triples": len(np.unique(asked))},
            )  # fmt: skip


def margins(split: Split, name: str) -> Finding:
    """Questions whose relation is too close to call."""
    distance = np.abs(split.column("margin").astype(np.float64))
    least = np.array([r.margin for r in RELATIONS])[split.column("relation")]
    ambiguous, close = int((distance < least - 1e-6).sum()), float((distance < least + CLOSE).mean())
    return Finding(
        "ambiguous margins", name,
        f"{ambiguous:,} of {len(distance):,} too close to call, {close:.1%} less than {CLOSE} m from that; "
        f"median margin {np.median(distance):.2f} m",
        "Remove questions whose vehicles stand nearer to each other than the relation's margin: the picture does not answer them.",
        status="warn" if ambiguous else "pass", details={"ambiguous": ambiguous, "close": close, "median_m": float(np.median(distance))},
    )  # fmt: skip


def occlusion(split: Split, name: str) -> Finding:
    """Vehicles asked about that another vehicle hides."""
    slots = np.stack([split.column("subject_slot"), split.column("object_slot")], axis=1).astype(np.int64)
    visible = np.take_along_axis(split.column("visible"), slots, axis=1).min(axis=1)
    under, hidden = int((visible < LEAST_VISIBLE - 1e-6).sum()), float((visible < HIDDEN).mean())
    return Finding(
        "occlusion", name,
        f"{under:,} of {len(visible):,} ask about a vehicle under {LEAST_VISIBLE:.0%} visible, {hidden:.1%} under {HIDDEN:.0%}; "
        f"least {visible.min():.0%}",
        f"Remove questions about vehicles of which less than {LEAST_VISIBLE:.0%} can be seen.",
        status="warn" if under else "pass", details={"under": under, "hidden": hidden, "least": float(visible.min())},
    )  # fmt: skip
