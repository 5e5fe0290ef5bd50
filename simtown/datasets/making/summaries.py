"""Counts over a run of examples: enough to describe a data set without reading its rows.

Every shard keeps the summary of its examples, and the manifest the sum of each split (docs/data-format.md).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

#: Counts by what is counted; the place of a count in its list is the number that it counts.
Summary = dict[str, list[int]]
#: Distances of margins from 0 are counted by the half metre; the last count is of all from 31.5 m on.
MARGIN_STEPS, MARGINS = 2, 64


def lengths(names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The length of each list of a summary, with these :func:`simtown.datasets.names.names`."""
    n = {name: len(entries) for name, entries in names.items()}
    if "families" in n:
        own = {"family": n["families"], "value": n["answers"], "reply": n["families"] * n["answers"]}
        own["kind"] = n["entities"]
    else:
        own = dict.fromkeys(("subject", "object", "distractor"), n["entities"])
        own |= {"relation": n["relations"], "phrasing": n["phrasings"]}
    street = {"weather": n["weathers"], "paint": 1 + n["paints"], "hidden": 2, "margin": MARGINS}
    return {"answer": 2, **own, **street}


def count(columns: Mapping[str, np.ndarray], sizes: Mapping[str, int]) -> Summary:
    """Count n examples, by their columns; `sizes` are :func:`lengths`.

    Returns:
        Lists of counts. "answer": no, yes. "weather": by number. "paint": vehicles in their kind's own paint,
        then in each of PAINTS. "hidden": examples whose vehicles are all wholly visible, and the others.
        "margin": distance of the margin from 0, by the half metre. Of the paper's questions "subject",
        "object": entities in that role; "distractor": entities of vehicles that are not asked about;
        "relation", "phrasing": by number. Of families "family", "value" (answers), "kind" (of vehicles), and
        "reply", the answers of each family, one family after the other.

    Raises:
        ValueError: a number is out of range.
    """
    entity, present = columns["scene/entity"], columns["scene/entity"] >= 0
    distance = np.abs(columns["margin"][np.isfinite(columns["margin"])]) * np.float32(MARGIN_STEPS)
    counted = {
        "weather": columns["scene/weather"],
        "paint": columns["scene/paint"][present].astype(np.int64) + 1,
        "hidden": _hidden(columns["visible"], present),
        "margin": np.minimum(distance, MARGINS - 1),  # the distances are exact: times a power of two
        "kind": entity[present],
    }
    if "reply" in sizes:
        counted["reply"] = columns["family"].astype(np.int64) * sizes["value"] + columns["value"]
    else:
        slots = np.arange(entity.shape[1])
        asked = (slots == columns["subject_slot"][:, None]) | (slots == columns["object_slot"][:, None])
        counted["distractor"] = entity[~asked & present]
    result = {}
    for name, size in sizes.items():
        numbers = counted[name] if name in counted else columns[name]
        result[name] = np.bincount(numbers.astype(np.int64), minlength=size).tolist()
        if len(result[name]) > size:
            raise ValueError(f"'{name}' holds a number that stands for nothing")
    return result


def _hidden(visible: np.ndarray, present: np.ndarray) -> np.ndarray:
    """(n,) bool, in which examples something is hidden: in any picture of a sequence."""
    hidden = visible < 1
    return np.asarray(((hidden if hidden.ndim == 2 else hidden.any(axis=1)) & present).any(axis=1))


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
