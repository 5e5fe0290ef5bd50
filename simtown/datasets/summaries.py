"""What a run of examples holds, counted: enough to describe a data set without reading its rows.

Every shard keeps the summary of its examples, and the manifest the sum of each split (docs/data-format.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

#: Counts by what is counted; the place of a count in its list is the number that it counts.
Summary = dict[str, list[int]]
#: Distances of margins from 0 are counted by the half metre; the last count is of all from 31.5 m on.
MARGIN_STEPS, MARGINS = 2, 64
#: The columns that a summary is counted from.
COLUMNS = (
    "answer", "subject", "object", "subject_slot", "object_slot", "relation", "phrasing", "margin", "visible",
    "scene/entity", "scene/paint", "scene/weather",
)  # fmt: skip


def lengths(names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How many counts each list of a summary has, with these :func:`simtown.datasets.names.names`."""
    of_kinds = dict.fromkeys(("subject", "object", "distractor"), len(names["entities"]))
    if "families" in names:
        families = {"family": len(names["families"]), "value": len(names["answers"])}
        families["reply"] = families["family"] * families["value"]
        own = {
            "kind": len(names["entities"]),
            "weather": len(names["weathers"]),
            "paint": 1 + len(names["paints"]),
        }
        return {"answer": 2, **families, **own, "hidden": 2, "margin": MARGINS}
    named = {name: len(names[f"{name}s"]) for name in ("relation", "phrasing", "weather")}
    return {
        "answer": 2,
        **of_kinds,
        **named,
        "paint": 1 + len(names["paints"]),
        "hidden": 2,
        "margin": MARGINS,
    }


def count(columns: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> Summary:
    """Count n examples, by their COLUMNS; `sizes` are :func:`lengths`.

    Returns:
        Lists of counts. "answer": no, yes. "subject", "object": entities in that role. "distractor": entities
        of vehicles that are not asked about. "relation", "phrasing", "weather": by number. "paint": vehicles
        in their kind's own paint, then in each of PAINTS. "hidden": examples whose vehicles are all wholly
        visible, and the others. "margin": distance of the margin from 0, by the half metre.

    Raises:
        ValueError: a number is out of range.
    """
    entity = columns["scene/entity"]
    if "family" in sizes:
        return _count_families(columns, sizes)
    slots = np.arange(entity.shape[1])
    in_question = (slots == columns["subject_slot"][:, None]) | (slots == columns["object_slot"][:, None])
    distance = np.abs(columns["margin"]) * np.float32(MARGIN_STEPS)  # a power of two: exact
    counted = {
        "answer": columns["answer"],
        "subject": columns["subject"],
        "object": columns["object"],
        "distractor": entity[~in_question & (entity >= 0)],
        "relation": columns["relation"],
        "phrasing": columns["phrasing"],
        "weather": columns["scene/weather"],
        "paint": columns["scene/paint"][entity >= 0].astype(np.int64) + 1,
        "hidden": (columns["visible"] < 1).any(axis=1),
        "margin": np.minimum(distance, MARGINS - 1).astype(np.int64),
    }
    return _counts(counted, sizes)


def _count_families(columns: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> Summary:
    """As :func:`count` for questions of families: "family", "value" (answers), "kind" (of vehicles).

    "reply" has the answers of each family, one family after the other (:func:`replies`).
    """
    present = columns["scene/entity"] >= 0
    margin = columns["margin"][np.isfinite(columns["margin"])] * np.float32(MARGIN_STEPS)
    counted = {
        "answer": columns["answer"],
        "family": columns["family"],
        "value": columns["value"],
        "reply": columns["family"].astype(np.int64) * sizes["value"] + columns["value"],
        "kind": columns["scene/entity"][present],
        "weather": columns["scene/weather"],
        "paint": columns["scene/paint"][present].astype(np.int64) + 1,
        "hidden": ((columns["visible"] < 1) & present).any(axis=1),
        "margin": np.minimum(np.abs(margin), MARGINS - 1).astype(np.int64),
    }
    return _counts(counted, sizes)


def _counts(counted: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> Summary:
    result = {}
    for name, numbers in counted.items():
        result[name] = np.bincount(numbers.astype(np.int64), minlength=sizes[name]).tolist()
    beyond = [name for name, counts in result.items() if len(counts) > sizes[name]]
    if beyond:
        raise ValueError(f"'{beyond[0]}' holds a number that stands for nothing")
    return result


def replies(summary: Summary) -> np.ndarray:
    """(families, answers) int64: how often each family has each answer."""
    return np.array(summary["reply"]).reshape(len(summary["family"]), len(summary["value"]))


def total(parts: Iterable[Summary], sizes: Mapping[str, int]) -> Summary:
    """The sum of summaries; all counts are 0 if there are none."""
    result = {name: [0] * size for name, size in sizes.items()}
    for part in parts:
        for name, counts in part.items():
            result[name] = [before + more for before, more in zip(result[name], counts, strict=True)]
    return result


def median_margin(summary: Summary) -> float:
    """The median distance of margins from 0, metres, interpolated within its half metre; nan if none."""
    counts = np.array(summary["margin"])
    if not counts.sum():
        return float("nan")
    before = np.cumsum(counts) - counts
    step = int(np.searchsorted(before, counts.sum() / 2)) - 1
    return float(step + (counts.sum() / 2 - before[step]) / counts[step]) / MARGIN_STEPS
