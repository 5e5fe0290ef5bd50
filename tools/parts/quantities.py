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

from simtown.assets.catalogue import ENTITIES
from simtown.complexity.growth import contrast
from simtown.complexity.quantities import factor_text
from simtown.language.words.questions import FAMILIES
from tools import hero
from tools.parts import speed
from tools.parts.results import FIXED, LITERAL, MAIN, MAIN_GRID, UNSTRUCTURED, Results, main, percent

MARK = re.compile(r"<!-- = (.+?) -->")
#: A number, perhaps with an interval, as a pattern.
NUMBER = r"(?:> )?-?\d[\d.,]*(?:\s+\((?:at\s+least|at\s+most|[-\d.,]+\s+to)\s+[-\d.,]+\))?"
#: An interval in brackets, which no sentence gives without such a comment.
_INTERVAL = re.compile(r"\((?:at (?:least|most) [-\d.,]+|[-\d.,]+ to [-\d.,]+)\)")
#: By kind: the findings among which it is, and the fields that its words give.
_FINDINGS = {
    "need": ("rows", "model", "entities"),
    "ratio": ("ratios", "upper", "entities"),
    "addition": ("additions", "model"),
    "exponent": ("exponents", "model"),
}


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
    """The number of a name, as a page writes it. Raises KeyError for a kind that does not exist."""
    kind, *words = (word.strip() for word in name.split(","))
    grid = next((word for word in words if (results.folder / word).is_dir()), MAIN_GRID)
    about = [word for word in words if word not in ("distractor", grid)]
    distractor = "distractor" in words
    if kind in _FINDINGS:
        findings, *fields = _FINDINGS[kind]
        return _one(main(getattr(results.report(grid), findings)), distractor, fields, about)
    if kind == "factor":
        effects = [x for x in results.effects() if x.target == MAIN]
        return _one(effects, distractor, ["name", "entities"], about)
    return _KINDS[kind](results, grid, *about)


def _one(findings: list[Any], distractor: bool, fields: list[str], words: list[str]) -> str:
    (finding,) = (
        x
        for x in findings
        if x.distractor == distractor and [str(getattr(x, field)) for field in fields] == words
    )
    return str(finding)


def _harder(results: Results, grid: str, model: str, entities: str) -> str:
    """By which factor a distractor raises a model's need, in one world."""
    report = results.report(grid)
    curves = {c.distractor: c for c in report.curves if (c.model, c.entities) == (model, int(entities))}
    t = report.targets.index(MAIN)
    ends, _ = contrast((1, -1), (curves[True], curves[False]), "isotonic", t, factor=True)
    return factor_text(*ends)


def _gap(results: Results, _: str, measure: str) -> str:
    """Mean distance of the paper's two models on the sets that both reach, in points."""
    report = results.report(FIXED)
    cells = {(a.model, a.entities, a.size): getattr(a, measure) for a in report.accuracies}
    (pair,) = (x for x in report.both_reach if (x.upper, x.target) == (UNSTRUCTURED, MAIN))
    gaps = [cells[pair.lower, *cell] - cells[pair.upper, *cell] for cell in pair.sets]
    return f"{100 * np.mean(np.abs(gaps)):.1f}"


def _replays(results: Results, _: str, grids: str, what: str) -> str:
    """What benchmarks/results/adaptive.csv says: needs and time of adaptive sizes against fixed ones."""
    rows = [row for row in results.csv("adaptive.csv") if ("slope" in row["grid"]) == (grids == "simulated")]
    times = np.array([(row["time"], row["fixed_time"]) for row in rows], dtype=float)
    shares = times[:, 0] / times[:, 1]
    return {
        "found": f"{sum(row['within'] == 'yes' for row in rows)} of {len(rows)}",
        "time": percent(times[:, 0].sum() / times[:, 1].sum()),
        "range": f"{100 * shares.min():.0f} to {100 * shares.max():.0f} %",
    }[what]


def _shared(results: Results, _: str) -> str:
    """How many runs of the paper's rule were trained under the other one."""
    runs = [run for run, _ in results.cells(LITERAL)]
    return f"{sum('trained_with' in run for run in runs)} of {len(runs)}"


def _count(results: Results, grid: str, what: str) -> str:
    runs = [run for run, _ in results.cells()]
    return {
        "drawn": f"{results.report(grid).runs:,}",
        "cells": f"{len(runs):,}",
        "models": str(len({run["model"] for run in runs})),
        "kinds": str(len(ENTITIES)),
        "families": str(len(FAMILIES)),
        "on a card": str(sum(run["settings"]["device"] == "cuda" for run in runs)),
    }[what]


def _hero(results: Results, _: str) -> str:
    """How far apart the two vehicles are that the caption of README.md's picture asks about, metres."""
    return f"{abs(hero.street().ask(hero.QUESTION).margin):.0f}"


_KINDS: dict[str, Callable[..., str]] = {
    "measured": speed.measured,
    "machine": speed.machine,
    "hero": _hero,
    "harder": _harder,
    "gap": _gap,
    "replays": _replays,
    "count": _count,
    "shared": _shared,
}
