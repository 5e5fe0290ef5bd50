"""The numbers that stand in sentences, by the name that a comment behind each gives it.

    The CNN-LSTM needs 27 (16 to 49)<!-- = ratio, cnn-lstm, 5 --> times as many examples.

A name has a kind, what it is about, and, if it is not the main grid's without a distractor, a distractor and
the grid: `ratio, cnn-lstm, 5, distractor, paper-rule-64`. All are by the isotonic rule, for 90 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from simtown.complexity.factors import compared
from simtown.complexity.needs import factor_text
from tools.parts.results import FIXED, LITERAL, MAIN, MAIN_GRID, UNSTRUCTURED, Results, percent

MARK = re.compile(r"<!-- = (.+?) -->")
#: An interval in brackets, which no sentence gives without such a comment.
_INTERVAL = re.compile(r"\((?:(?:from|up to) [-\d.,]+|[-\d.,]+ to [-\d.,]+)\)")


def differences(text: str, results: Results) -> Iterator[str]:
    """What sentences say otherwise than the results, and intervals without a name."""
    for mark in MARK.finditer(text):
        expected = quantity(results, mark[1])
        before = " ".join(text[max(0, mark.start() - 200) : mark.start()].split())
        if not before.endswith(expected):
            yield f"'{before[-len(expected) - 10 :]}' should end with '{expected}' ({mark[1]})"
    for interval in _INTERVAL.finditer(text) if MARK.search(text) else ():
        if not text.startswith("<!-- = ", interval.end()):
            yield f"the interval {interval[0]} has no name: write <!-- = KIND, ... --> behind it"


def quantity(results: Results, name: str) -> str:
    """The number of a name, as a page writes it."""
    kind, *words = (word.strip() for word in name.split(","))
    distractor = "distractor" in words
    grid = next((word for word in words if (results.folder / word).is_dir()), MAIN_GRID)
    about = [word for word in words if word not in ("distractor", grid)]
    return _KINDS[kind](results, grid, distractor, *about)


def _one(findings: list[Any], **fields: Any) -> Any:
    (finding,) = (x for x in findings if all(getattr(x, name) == value for name, value in fields.items()))
    return finding


def _need(results: Results, grid: str, distractor: bool, model: str, entities: str) -> str:
    case = {"model": model, "entities": int(entities), "distractor": distractor}
    return str(_one(results.report(grid).rows, **case, target=MAIN, rule="isotonic"))


def _ratio(results: Results, grid: str, distractor: bool, model: str, entities: str) -> str:
    case = {"upper": model, "entities": int(entities), "distractor": distractor}
    return str(_one(results.report(grid).ratios, **case, target=MAIN, rule="isotonic"))


def _addition(results: Results, grid: str, distractor: bool, model: str) -> str:
    return str(
        _one(results.report(grid).additions, model=model, distractor=distractor, target=MAIN, rule="isotonic")
    )


def _exponent(results: Results, grid: str, distractor: bool, model: str) -> str:
    return str(
        _one(results.report(grid).exponents, model=model, distractor=distractor, target=MAIN, rule="isotonic")
    )


def _factor(results: Results, _: str, distractor: bool, name: str, entities: str) -> str:
    case = {"name": name, "entities": int(entities), "distractor": distractor}
    return str(_one(results.effects(), **case, target=MAIN))


def _harder(results: Results, grid: str, _: bool, model: str, entities: str) -> str:
    """By which factor a distractor raises a model's need, in one world."""
    report = results.report(grid)
    curves = {c.distractor: c for c in report.curves if (c.model, c.entities) == (model, int(entities))}
    ends, _over = compared([1, -1], [curves[True], curves[False]], report.targets.index(MAIN))
    return factor_text(*map(float, np.exp(ends)))


def _gap(results: Results, _: str, __: bool, measure: str) -> str:
    """Mean distance of the paper's two models on the sets that both reach, in points."""
    report = results.report(FIXED)
    cells = {(a.model, a.entities, a.size): getattr(a, measure) for a in report.accuracies}
    (pair,) = (x for x in report.both_reach if (x.upper, x.target) == (UNSTRUCTURED, MAIN))
    gaps = [cells[pair.lower, *cell] - cells[pair.upper, *cell] for cell in pair.sets]
    return f"{100 * np.mean(np.abs(gaps)):.1f}"


def _replays(results: Results, _: str, __: bool, grids: str, what: str) -> str:
    """What benchmarks/adaptive.py found: needs and time of adaptive sizes against fixed ones."""
    rows = [row for row in results.csv("adaptive.csv") if ("slope" in row["grid"]) == (grids == "simulated")]
    shares = [float(row["time"]) / float(row["fixed_time"]) for row in rows]
    total = sum(float(row["time"]) for row in rows) / sum(float(row["fixed_time"]) for row in rows)
    return {
        "found": f"{sum(row['within'] == 'yes' for row in rows)} of {len(rows)}",
        "time": percent(total),
        "range": f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
    }[what]


def _shared(results: Results, _: str, __: bool) -> str:
    """How many runs of the paper's rule were trained under the other one (benchmarks/stopping.py)."""
    runs = [run for run, _ in results.cells(LITERAL)]
    return f"{sum('trained_with' in run for run in runs)} of {len(runs)}"


def _count(results: Results, grid: str, _: bool, what: str) -> str:
    runs = [run for run, _ in results.cells()]
    return {
        "drawn": f"{results.report(grid).runs:,}",
        "cells": f"{len(runs):,}",
        "models": str(len({run["model"] for run in runs})),
        "on a card": str(sum(run["settings"]["device"] == "cuda" for run in runs)),
    }[what]


_KINDS: dict[str, Callable[..., str]] = {
    "need": _need,
    "ratio": _ratio,
    "addition": _addition,
    "exponent": _exponent,
    "factor": _factor,
    "harder": _harder,
    "gap": _gap,
    "replays": _replays,
    "count": _count,
    "shared": _shared,
}
