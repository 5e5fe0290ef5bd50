"""Tables of the main grid and of grids like it: needs, ratios, exponents, accuracies, two by two."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from simtown.complexity.finished_runs import model_order
from simtown.complexity.needs import Accuracies, Findings, yes
from simtown.core.tables import Table
from tools.parts.results import (
    BY_CHANCE,
    FIXED,
    LITERAL,
    MAIN,
    MAIN_GRID,
    STRUCTURED,
    UNSTRUCTURED,
    Results,
    name_of,
    percent,
)

#: What tables call the rules.
RULES = {
    "isotonic": "isotonic rule, with intervals",
    "smallest": "the paper's rule, the smallest set that reached it",
}
#: What an accuracy is measured on.
MEASURES = ("validation", "reweighted", "test")


def glance(results: Results) -> str:
    """Needs for 90 % by model and world, and how many times the PBN's they are."""
    report = results.report(MAIN_GRID)
    ratios = {(x.upper, x.entities, x.distractor): x for x in _main(report.ratios) if x.known}
    rows = []
    for need in _main(report.rows):
        world = need.entities, need.distractor
        factor = ratios.get((need.model, *world), "" if need.model == STRUCTURED else "–")
        rows.append(
            [
                name_of(need.model),
                yes(need.distractor),
                need.entities,
                need.seeds_fewest,
                str(need),
                str(factor),
            ]
        )
    return Table(
        ["model", "distractor", "entities", "seeds", "needed for 90 %", "× the PBN's"], rows
    ).markdown(2)


def needs(results: Results) -> str:
    return needs_of(results.report(MAIN_GRID))


def needs_of(report: Findings) -> str:
    """A table for each condition and rule."""
    parts = []
    for distractor in sorted({curve.distractor for curve in report.curves}):
        for rule, text in RULES.items():
            rows = [row for row in report.rows if (row.distractor, row.rule) == (distractor, rule)]
            lines = _by_target(
                report,
                rows,
                lambda x: [name_of(x.model), x.entities, x.seeds_fewest],
                str if rule == "isotonic" else lambda x: x.text(x.samples),
            )
            condition = f"With{'' if distractor else 'out'} a distractor"
            head = ["model", "entities", "seeds", *map(percent, report.targets)]
            parts += [f"{condition}, {text}:", Table(head, lines).markdown(1)]
    return "\n\n".join(parts)


def ratios(results: Results) -> str:
    return ratios_of(results.report(MAIN_GRID))


def ratios_of(report: Findings) -> str:
    """How many times as many examples each model needs as the Place-Binder Network."""
    known = [x for x in report.ratios if x.rule == "isotonic" and x.known]
    lines = _by_target(report, known, lambda x: [name_of(x.upper), yes(x.distractor), x.entities], str)
    return Table(["model", "distractor", "entities", *map(percent, report.targets)], lines).markdown(2)


def additional(results: Results) -> str:
    """Samples needed in the largest world less those in the smallest, by model."""
    report = results.report(MAIN_GRID)
    known = [x for x in report.additions if x.rule == "isotonic" and x.known]
    lines = _by_target(
        report,
        known,
        lambda x: [_difference(x.model), yes(x.distractor), f"{x.few} to {x.many}"],
        lambda x: f"{x}, {x.verdict}" if x.verdict else str(x),
    )
    return Table(["model", "distractor", "entities", *map(percent, report.targets)], lines).markdown(3)


def exponents(results: Results) -> str:
    """Exponents by both rules, their sensitivity to bounded worlds, and the verdict on differences."""
    cases: dict[tuple[bool, float, str], dict[str, Any]] = {}
    for x in results.report(MAIN_GRID).exponents:
        if x.known:
            cases.setdefault((x.distractor, x.target, x.model), {})[x.rule] = x
    lines = []
    for (distractor, target, model), by_rule in cases.items():
        main = by_rule.get("isotonic") or by_rule["smallest"]
        lines.append(
            [
                _difference(model),
                yes(distractor),
                percent(target),
                f"{main.uncensored} of {main.worlds}",
                *(str(by_rule.get(rule, "–")) for rule in RULES),
                main.sensitivity or "–",
                {"decided": "yes", "": ""}.get(main.verdict, "no"),
            ]
        )
    head = ["model", "distractor", "target", "worlds with a need", *RULES]
    return Table([*head, "sensitivity (isotonic)", "interval excludes 0"], lines).markdown(3)


def factors(results: Results) -> str:
    """By which factor structure and boxes lower the need: the parts of the lead, and their effects."""
    cases: dict[tuple[bool, int, float], dict[str, Any]] = {}
    for x in results.effects():
        cases.setdefault((x.distractor, x.entities, x.target), {})[x.name] = x
    parts = []
    for names in (
        ("lead", "structure", "boxes", "structure over boxes"),
        (
            *("structure without boxes", "structure with boxes"),
            *("boxes without structure", "boxes with structure", "interaction"),
        ),
    ):
        lines = [
            [
                *(yes(distractor), entities, percent(target), min(x.seeds for x in effects.values())),
                *(str(effects.get(name, "–")) for name in names),
            ]
            for (distractor, entities, target), effects in cases.items()
            if len(effects) > 1  # more than the lead of the paper's two models
        ]
        parts.append(Table(["distractor", "entities", "target", "seeds", *names], lines).markdown(1))
    return "\n\n".join(parts)


def accuracies(results: Results) -> str:
    """Every cell's accuracy by three measures."""
    lines = [
        [name_of(x.model), yes(x.distractor), x.entities, f"{x.size:,}", x.seeds, *_measures(x)]
        for x in results.report(MAIN_GRID).accuracies
    ]
    return Table(["model", "distractor", "entities", "examples", "seeds", *MEASURES], lines).markdown(2)


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
    left: dict[tuple[bool, str], dict[int, list[float]]] = {}  # infinity: never
    for run, curve in results.cells():
        validations = zip(curve["step"], curve["val_accuracy"], strict=True)
        first = next((step for step, accuracy in validations if accuracy >= BY_CHANCE), np.inf)
        worlds = left.setdefault((run["data"]["distractor"], run["model"]), {})
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


def stopping(results: Results) -> str:
    """The paper's stopping rule: sizes, needs and ratios."""
    return grid(results, LITERAL)


def grid(results: Results, folder: str) -> str:
    """Sizes, needs and ratios of a grid beside the main one."""
    report = results.report(folder)
    return "\n\n".join([_sizes(results, folder), needs_of(report), ratios_of(report)])


def _sizes(results: Results, folder: str) -> str:
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
    return Table(["model", "distractor", "entities", "seeds", "examples"], lines).markdown(5)


def _main(findings: Iterable[Any]) -> list[Any]:
    """Those by the isotonic rule, for 90 %."""
    return [x for x in findings if (x.target, x.rule) == (MAIN, "isotonic")]


def _by_target(
    report: Findings,
    findings: Iterable[Any],
    case: Callable[[Any], list[Any]],
    text: Callable[[Any], str],
) -> list[list[Any]]:
    """A line for each case, with a column for each target."""
    cases: dict[tuple[Any, ...], dict[float, Any]] = {}
    for finding in findings:
        cases.setdefault(tuple(case(finding)), {})[finding.target] = finding
    return [
        [*first, *(text(by_target[t]) if t in by_target else "–" for t in report.targets)]
        for first, by_target in cases.items()
    ]


def _difference(model: str) -> str:
    """A model's name, or "CNN-LSTM − PBN" for a difference."""
    return " − ".join(name_of(part) for part in model.split(" - "))


def _measures(cell: Accuracies) -> list[str]:
    shares = cell.validation, cell.reweighted, cell.test
    return ["–" if np.isnan(share) else f"{share:.3f}" for share in shares]
