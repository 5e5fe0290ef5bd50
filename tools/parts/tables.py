"""Tables of the main grid and of grids like it: needs, ratios, exponents, accuracies, two by two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from simtown.complexity.finished_runs import model_order
from simtown.complexity.model_looks import name_of
from simtown.complexity.quantities import Accuracies, Addition, Findings, Need, yes
from simtown.core.tables import Table
from tools.parts.results import (
    BY_CHANCE,
    FIXED,
    MAIN,
    MAIN_GRID,
    STRUCTURED,
    UNSTRUCTURED,
    Results,
    isotonic,
    main,
    percent,
)

#: The rules, in the order of tables: the isotonic one has intervals, the other one is the paper's.
RULES = ("isotonic", "smallest")
#: What an accuracy is measured on.
MEASURES = ("validation", "reweighted", "test")


def worlds(results: Results) -> str:
    """Needs for 90 % of the paper's two models in each world, with and without a distractor."""
    head = ["kinds", "distractor", name_of(UNSTRUCTURED), name_of(STRUCTURED), "times as many"]
    return Table(head, _worlds(results, str)).markdown(0)


def panel(results: Results) -> str:
    """README.md's table: the worlds without a distractor, needs without their intervals."""

    def need(x: Need) -> str:
        return str(x) if x.jumps else x.text(x.samples)

    film = {x.entities: need(x) for x in main(results.report(MAIN_GRID).rows) if x.model == "film"}
    rows = _worlds(results, need)
    lines = [
        [kinds, unstructured, film.get(kinds, "–"), *others]
        for kinds, distractor, unstructured, *others in rows
        if distractor == "no"
    ]
    head = ["kinds", *map(name_of, (UNSTRUCTURED, "film", STRUCTURED)), "CNN-LSTM / PBN (95 %)"]
    return Table(head, lines).markdown(0)


def _worlds(results: Results, text: Callable[[Any], str]) -> list[list[Any]]:
    """Kinds, distractor, the two needs as text and their ratio."""
    report, lines = results.report(MAIN_GRID), []
    need = {(x.model, x.entities, x.distractor): text(x) for x in main(report.rows)}
    for x in main(report.ratios):
        if x.upper == UNSTRUCTURED:
            needed = [need[model, x.entities, x.distractor] for model in (UNSTRUCTURED, STRUCTURED)]
            lines.append([x.entities, yes(x.distractor), *needed, str(x)])
    return lines


def needs(results: Results, folder: str = MAIN_GRID) -> Table:
    """Needs by model and world, for each rule; the isotonic one has intervals."""
    report = results.report(folder)

    def case(x: Need) -> dict[str, Any]:
        first = {"rule": x.rule, "distractor": yes(x.distractor), "model": name_of(x.model)}
        return first | {"entities": x.entities, "seeds": x.seeds_fewest}

    rows = sorted(report.rows, key=lambda x: (x.distractor, list(RULES).index(x.rule)))
    return _by_target(report, rows, case, lambda x: str(x) if x.rule == "isotonic" else x.text(x.samples))


def ratios(results: Results, folder: str = MAIN_GRID) -> Table:
    """How many times as many examples each model needs as the Place-Binder Network."""
    report = results.report(folder)
    return _by_target(report, isotonic(report.ratios), _case, str)


def additional(results: Results) -> Table:
    """Samples needed in the largest world less those in the smallest, by model."""
    report = results.report(MAIN_GRID)
    return _by_target(
        report, isotonic(report.additions), _case, lambda x: f"{x}, {x.verdict}" if x.verdict else str(x)
    )


def _case(x: Any) -> dict[str, Any]:
    """The first cells of the line of a ratio or an addition."""
    model, world = (x.model, f"{x.few} to {x.many}") if isinstance(x, Addition) else (x.upper, x.entities)
    return {"model": _difference(model), "distractor": yes(x.distractor), "entities": world}


def exponents(results: Results) -> Table:
    """Exponents by both rules, their sensitivity to bounded worlds, and the verdict on differences."""
    cases: dict[tuple[bool, float, str], dict[str, Any]] = defaultdict(dict)
    for x in results.report(MAIN_GRID).exponents:
        if x.known:
            cases[x.distractor, x.target, x.model][x.rule] = x
    lines = []
    for (distractor, target, model), by_rule in cases.items():
        x = by_rule.get("isotonic") or by_rule["smallest"]
        excludes = {"decided": "yes", "": ""}.get(x.verdict, "no")
        case = [_difference(model), yes(distractor), percent(target), f"{x.uncensored} of {x.worlds}"]
        by_rules = [by_rule.get(rule, "–") for rule in RULES]
        lines.append([*case, *by_rules, x.sensitivity or "–", excludes])
    head = ["model", "distractor", "target", "worlds with a need", *RULES]
    return Table([*head, "sensitivity (isotonic)", "interval excludes 0"], lines)


def factors(results: Results) -> Table:
    """By which factor structure and boxes lower the need: the parts of the lead, and their effects."""
    cases: dict[tuple[bool, int, float], dict[str, Any]] = defaultdict(dict)
    for x in results.effects():
        cases[x.distractor, x.entities, x.target][x.name] = x
    names = ["lead", "structure", "boxes", "structure over boxes"]
    names += ["structure without boxes", "structure with boxes"]
    names += ["boxes without structure", "boxes with structure", "interaction"]
    lines = [
        [yes(distractor), entities, percent(target), min(x.seeds for x in effects.values())]
        + [effects.get(name, "–") for name in names]
        for (distractor, entities, target), effects in cases.items()
        if len(effects) > 1  # more than the lead of the paper's two models
    ]
    return Table(["distractor", "entities", "target", "seeds", *names], lines)


def accuracies(results: Results) -> Table:
    """Every cell's accuracy by three measures."""
    lines = [
        [name_of(x.model), yes(x.distractor), x.entities, x.size, x.seeds, *_measures(x)]
        for x in results.report(MAIN_GRID).accuracies
    ]
    return Table(["model", "distractor", "entities", "examples", "seeds", *MEASURES], lines)


def both(results: Results) -> str:
    """The sets on which both models of the paper reach 90 %, with what each measure says of them.

    The main grid trains each model near its own need, so its sets are seldom shared; these are of the grid of
    fixed sizes.
    """
    report = results.report(FIXED)
    cells = {(a.model, a.distractor, a.entities, a.size): a for a in report.accuracies}
    lines = []
    for x in report.both_reach:
        if (x.upper, x.lower, x.target) == (UNSTRUCTURED, STRUCTURED, MAIN):
            for entities, size in x.sets:
                pair = [_measures(cells[model, x.distractor, entities, size]) for model in (x.upper, x.lower)]
                shown = [f"{a} / {b}" for a, b in zip(*pair, strict=True)]
                lines.append([yes(x.distractor), entities, f"{size:,}", *shown])
    return Table(["distractor", "entities", "examples", *MEASURES], lines).markdown(1)


def chance(results: Results) -> str:
    """Steps for which models answered by chance, and in how many runs they never did better."""
    left: dict[tuple[bool, str], dict[int, list[float]]] = defaultdict(dict)  # infinity: never
    for run, curve in results.cells():
        validations = zip(curve["step"], curve["val_accuracy"], strict=True)
        first = next((step for step, accuracy in validations if accuracy >= BY_CHANCE), np.inf)
        worlds = left[run["data"]["distractor"], run["model"]]
        worlds.setdefault(run["data"]["entities"], []).append(first)
    every = sorted({entities for worlds in left.values() for entities in worlds})
    lines = [
        [name_of(model), yes(distractor), *(_steps(worlds.get(k, [])) for k in every)]
        for (distractor, model), worlds in sorted(left.items(), key=lambda x: (x[0][0], model_order(x[0][1])))
    ]
    return Table(["model", "distractor", *(f"{k} entities" for k in every)], lines).markdown(2)


def _steps(steps: list[float]) -> str:
    """Steps of runs, infinite in those that never left chance: `705 (3,055), never in 6 of 30`."""
    finite = [step for step in steps if np.isfinite(step)]
    known = [f"{np.median(finite):,.0f} ({max(finite):,})"] if finite else []
    lost = len(steps) - len(finite)
    return ", ".join([*known, *([f"never in {lost} of {len(steps)}"] if lost else [])]) or "–"


def sizes(results: Results, folder: str) -> Table:
    """The sizes that are finished with all seeds, and how many of their runs ended at chance."""
    stuck = {
        (run["model"], run["data"]["distractor"], run["data"]["entities"], run["train_size"], run["seed"])
        for run, curve in results.cells(folder)
        if max(curve["val_accuracy"]) < BY_CHANCE
    }
    lines = []
    for curve in results.report(folder).curves:
        world = curve.model, curve.distractor, curve.entities
        lost = {size: sum((*world, size, seed) in stuck for seed in curve.seeds) for size in curve.sizes}
        sizes = ", ".join(f"{size:,}" + f" ({count})" * bool(count) for size, count in lost.items())
        lines.append([name_of(curve.model), yes(curve.distractor), curve.entities, len(curve.seeds), sizes])
    return Table(["model", "distractor", "entities", "seeds", "examples"], lines)


def _by_target(
    report: Findings,
    findings: Iterable[Any],
    case: Callable[[Any], dict[str, Any]],
    text: Callable[[Any], str],
) -> Table:
    """A line for each case, with a column for each target; `case` gives its first cells by column."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for x in findings:
        first = case(x)
        empty = first | dict.fromkeys(map(percent, report.targets), "–")
        lines.setdefault(tuple(first.values()), empty)[percent(x.target)] = text(x)
    return Table.of_records(list(lines.values()))


def _difference(model: str) -> str:
    """A model's name, or "CNN-LSTM − PBN" for a difference."""
    return " − ".join(name_of(part) for part in model.split(" - "))


def _measures(cell: Accuracies) -> list[str]:
    shares = cell.validation, cell.reweighted, cell.test
    return ["–" if np.isnan(share) else f"{share:.3f}" for share in shares]
