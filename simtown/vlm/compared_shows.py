"""Reading and seeing compared: the same questions with a text, the picture, both, and neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simtown.complexity.intervals import paired_difference, share
from simtown.core.tables import Table

Row = Mapping[str, Any]
#: How columns call the shows.
_VERBS = {"text": "reads", "picture": "sees", "both": "both", "none": "neither"}
#: Shows whose difference is told.
_COMPARED = (("picture", "text"), ("both", "text"), ("both", "picture"))
#: Metres of margin between the rows of the table.
_MARGINS = (1.0, 2.0, 4.0)


def compare_shows(tasks: Mapping[str, Sequence[Row]], entities: int) -> Table:
    """Accuracies and their paired differences, by family, margin, vehicles and size of the world.

    Args:
        tasks: the rows of each show (:mod:`simtown.vlm.vlm_run`), of the same examples in one order.
        entities: kinds of vehicles in the world.
    """
    shows = [name for name in _VERBS if name in tasks]
    pairs = [pair for pair in _COMPARED if {*pair} <= {*shows}]
    columns = ["part", "n"]
    for name in shows:
        columns += [_VERBS[name], f"{_VERBS[name]} (95 %)"]
    for one, other in pairs:
        columns.append(f"{_VERBS[one]} - {_VERBS[other]}")
    right = {name: np.array([row["right"] for row in tasks[name]]) for name in shows}
    rows = tasks[shows[0]]
    clusters = np.array([row["cluster"] for row in rows])
    lines = []
    for part, which in _parts(rows, entities):
        line: list[object] = [part, int(which.sum())]
        for name in shows:
            it = share(right[name][which], clusters[which]) or {}
            line += [it["accuracy"], f"{it['low']:.3f}-{it['high']:.3f}"]
        for one, other in pairs:
            it = paired_difference(right[one][which], right[other][which], clusters[which])
            line.append(_difference(it))
        lines.append(line)
    return Table(tuple(columns), lines)


def interference(tasks: Mapping[str, Sequence[Row]]) -> str:
    """By how much a picture beside the text hurts, in words."""
    if not {"text", "both"} <= tasks.keys():
        return "Interference: not measured; it needs the shows text and both."
    both, text = (np.array([row["right"] for row in tasks[name]]) for name in ("both", "text"))
    it = paired_difference(both, text, [row["cluster"] for row in tasks["text"]])
    verdict = "the picture hurts" if it["high"] < 0 else "none is measurable"
    return f"Interference, accuracy with both less with the text: {_difference(it)}: {verdict}."


def _difference(it: Mapping[str, float]) -> str:
    return f"{it['difference']:+.3f} ({it['low']:+.3f} to {it['high']:+.3f})"


def _parts(rows: Sequence[Row], entities: int) -> Iterator[tuple[str, np.ndarray]]:
    """Names of parts of the questions, and which belong to each."""
    yield f"all, {entities} kinds in the world", np.ones(len(rows), dtype=bool)
    families = np.array([row["relation"] or row["family"] for row in rows])
    for family in np.unique(families) if len({*families}) > 1 else ():
        yield str(family), families == family
    margins = np.array([row["margin"] for row in rows])
    for low, high in zip((0.0, *_MARGINS), (*_MARGINS, np.inf), strict=True):
        which = (margins >= low) & (margins < high)
        if which.any():
            yield f"margin {low:g} m or more" if high == np.inf else f"margin {low:g} to {high:g} m", which
    vehicles = np.array([row["vehicles"] for row in rows])
    for count in np.unique(vehicles):
        yield f"{count} vehicles", vehicles == count
