"""Tables of the main grid: needs, ratios, exponents, accuracies, two by two, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simtown.complexity.factors import Effect
from simtown.complexity.finished_runs import Run, model_order
from simtown.complexity.needs import Accuracies, Findings, Need, yes
from tools.parts.claims import DECIDED, MAIN
from tools.parts.results import FIXED, STRUCTURED, UNSTRUCTURED, Results
from tools.parts.words import NOTHING_YET, condition, factor, markdown, name_of, paragraphs, percent

if TYPE_CHECKING:
    from simtown.training.plan import SweepPlan

#: What tables call the rules.
RULE_WORDS = {
    "isotonic": "isotonic rule, with intervals",
    "smallest": "the paper's rule, the smallest set that reached it",
}
#: Effects of one factor at each level of the other.
SIMPLE_EFFECTS = (
    "structure without boxes",
    "structure with boxes",
    "boxes without structure",
    "boxes with structure",
)
#: What an accuracy is measured on.
MEASURES = ("validation", "reweighted", "test")
#: What no validation of a model that answers by chance reaches: a thousand coins, tossed for each validation
#: of a search, reach it once in a hundred searches.
BY_CHANCE = 0.56
#: The presets of the main grid.
GRIDS = ("grid",)


def needs(results: Results) -> str:
    """Samples needed, by the isotonic and by the paper's rule; a table for each condition and rule."""
    return needs_of(results.report)


def needs_of(report: Findings | None) -> str:
    if report is None:
        return NOTHING_YET
    parts = []
    for distractor in sorted({curve.distractor for curve in report.curves}):
        for rule, words in RULE_WORDS.items():
            lines: dict[tuple[str, int], list[Need]] = {}
            for row in report.rows:
                if (row.distractor, row.rule) == (distractor, rule):
                    lines.setdefault((row.model, row.entities), []).append(row)
            body = []
            for (model, entities), rows in lines.items():
                samples = [str(row) if rule == "isotonic" else row.text(row.samples) for row in rows]
                body.append([name_of(model), str(entities), str(rows[0].seeds_fewest), *samples])
            head = ["model", "entities", "seeds", *(percent(t) for t in report.targets)]
            parts += [f"{condition(distractor).capitalize()}, {words}:", markdown(head, body, 1)]
    return paragraphs(*parts)


def ratios(results: Results) -> str:
    """How many times as many examples each model needs as the Place-Binder Network."""
    return (results.report and ratios_of(results.report)) or NOTHING_YET


def ratios_of(report: Findings) -> str:
    """The same of one grid; nothing if there is no ratio yet."""
    telling = [x for x in report.ratios if x.rule == "isotonic" and x.known]
    if not telling:
        return ""
    body = []
    for distractor, model, entities in dict.fromkeys((x.distractor, x.upper, x.entities) for x in telling):
        cells = {
            x.target: x
            for x in telling
            if (x.distractor, x.upper, x.entities) == (distractor, model, entities)
        }
        factors = [str(cells[target]) if target in cells else "–" for target in report.targets]
        body.append([name_of(model), yes(distractor), str(entities), *factors])
    return markdown(["model", "distractor", "entities", *(percent(t) for t in report.targets)], body, 2)


def additional(results: Results) -> str:
    """Samples needed in the largest world less those in the smallest, by model."""
    report = results.report
    telling = [x for x in report.additions if x.rule == "isotonic" and x.known] if report else []
    if report is None or not telling:
        return NOTHING_YET
    body = []
    for distractor, model, few, many in dict.fromkeys(
        (x.distractor, x.model, x.few, x.many) for x in telling
    ):
        cells = {
            x.target: x
            for x in telling
            if (x.distractor, x.model, x.few, x.many) == (distractor, model, few, many)
        }
        differences = [
            with_verdict(str(cells[t]), cells[t].verdict) if t in cells else "–" for t in report.targets
        ]
        body.append([difference_of(model), yes(distractor), f"{few} to {many}", *differences])
    return markdown(["model", "distractor", "entities", *(percent(t) for t in report.targets)], body, 3)


def exponents(results: Results) -> str:
    """Exponents by the isotonic and by the paper's rule, their sensitivity to bounded worlds, and the verdict
    on differences.
    """
    report = results.report
    telling = [x for x in report.exponents if x.known] if report else []
    if not telling:
        return NOTHING_YET
    body = []
    for distractor, target, model in dict.fromkeys((x.distractor, x.target, x.model) for x in telling):
        cells = {
            x.rule: x for x in telling if (x.distractor, x.target, x.model) == (distractor, target, model)
        }
        values = [str(cells[rule]) if rule in cells else "–" for rule in RULE_WORDS]
        main = cells.get("isotonic") or cells["smallest"]
        worlds = f"{main.uncensored} of {main.worlds}"
        body.append(
            [
                difference_of(model),
                yes(distractor),
                percent(target),
                worlds,
                *values,
                main.sensitivity or "–",
                {DECIDED: "yes", "": ""}.get(main.verdict, "no"),
            ]
        )
    head = [
        "model",
        "distractor",
        "target",
        "worlds with a need",
        "isotonic",
        "smallest",
        "sensitivity (isotonic)",
        "interval excludes 0",
    ]
    words = (
        "In some replicates of the bootstrap fewer than two worlds have a known need, so that they give no "
        "exponent. If these are many, the share of the others stands in place of an interval."
    )
    return paragraphs(words, markdown(head, body, 3))


def difference_of(model: str) -> str:
    """A model's name, or "CNN-LSTM − PBN" for a difference."""
    return " − ".join(name_of(part) for part in model.split(" - "))


def with_verdict(words: str, outcome: str) -> str:
    return f"{words}, {outcome}" if outcome else words


def accuracies(results: Results) -> str:
    """Every cell's accuracy by three measures."""
    if results.report is None:
        return NOTHING_YET
    body = [
        [name_of(a.model), yes(a.distractor), str(a.entities), f"{a.size:,}", str(a.seeds), *measures(a)]
        for a in results.report.accuracies
    ]
    return markdown(["model", "distractor", "entities", "examples", "seeds", *MEASURES], body, 2)


def measures(cell: Accuracies) -> list[str]:
    return [
        "–" if np.isnan(value) else f"{value:.3f}" for value in (cell.validation, cell.reweighted, cell.test)
    ]


def both(results: Results) -> str:
    """The sets on which both models of the paper reach 90 %, with what each measure says of them.

    The main grid trains each model near its own need, so its sets are seldom shared. A grid of fixed
    sizes comes first.
    """
    reports = [report for report in (results.beside(FIXED), results.report) if report]
    if not reports:
        return NOTHING_YET
    return next(
        filter(None, map(both_of, reports)),
        "No set so far on which both models were trained and both reach 90 %.",
    )


def both_of(report: Findings | None) -> str:
    """The same of one grid; nothing if there is no such set."""
    if report is None:
        return ""
    cells = {(a.model, a.distractor, a.entities, a.size): a for a in report.accuracies}
    shared = [
        (x.distractor, entities, size)
        for x in report.both_reach
        if (x.upper, x.lower, x.target) == (UNSTRUCTURED, STRUCTURED, MAIN)
        for entities, size in x.sets
    ]
    if not shared:
        return ""
    body, gaps = [], []
    for world in shared:
        pair = [cells[model, *world] for model in (UNSTRUCTURED, STRUCTURED)]
        gaps.append(
            [b - a for a, b in zip(*((c.validation, c.reweighted, c.test) for c in pair), strict=True)]
        )
        measured = [f"{a} / {b}" for a, b in zip(*map(measures, pair), strict=True)]
        body.append([yes(world[0]), str(world[1]), f"{world[2]:,}", *measured])
    mean = np.nanmean(np.abs(gaps), axis=0)
    sets = f"{len(shared)} set{'s' if len(shared) > 1 else ''}"
    words = (
        f"Both models were trained on {sets} on which both reach 90 % of the test. There the two "
        f"differ by {100 * mean[0]:.1f} points of validation accuracy in the mean, {100 * mean[1]:.1f} "
        f"points of reweighted validation accuracy and {100 * mean[2]:.1f} points of test accuracy. CNN-LSTM "
        "/ PBN:"
    )
    return paragraphs(words, markdown(["distractor", "entities", "examples", *MEASURES], body, 1))


def chance(results: Results) -> str:
    """Steps for which models answered by chance, and in how many runs they never did better."""
    left: dict[tuple[str, bool], dict[int, list[float]]] = {}  # infinity: never
    for run, curve in results.curves():
        validations = zip(curve["step"], curve["val_accuracy"], strict=True)
        first = next((step for step, accuracy in validations if accuracy >= BY_CHANCE), np.inf)
        key = run["model"], run["data"]["distractor"]
        left.setdefault(key, {}).setdefault(run["data"]["entities"], []).append(first)
    if not left:
        return NOTHING_YET
    worlds = sorted({entities for by_world in left.values() for entities in by_world})
    body = [
        [name_of(model), yes(distractor), *(steps_words(left[model, distractor].get(k, [])) for k in worlds)]
        for model, distractor in sorted(left, key=lambda key: (key[1], model_order(key[0])))
    ]
    words = (
        f"Steps until a validation first reached {percent(BY_CHANCE)}: the median of all runs, and in "
        "brackets the most. *never*: runs that stopped before it."
    )
    head = ["model", "distractor", *(f"{k} entities" for k in worlds)]
    return paragraphs(words, markdown(head, body, 2))


def steps_words(steps: Sequence[float]) -> str:
    """Steps of runs, infinite in those that never left chance: `705 (3,055), never in 6 of 30`."""
    finite = [step for step in steps if np.isfinite(step)]
    known = f"{np.median(finite):,.0f} ({max(finite):,})" if finite else ""
    lost = len(steps) - len(finite)
    never = f"never in {lost} of {len(steps)}" if lost else ""
    return ", ".join(filter(None, (known, never))) or "–"


def progress(results: Results) -> str:
    """How many cells of the main grid are finished, and which of its searches are over."""
    from simtown.training import plan  # PyTorch

    return progress_of(
        [plan.read(preset, "cpu") for preset in GRIDS if preset in plan.PRESETS], results.runs()
    )


def progress_of(plans: Sequence[SweepPlan], runs: Sequence[Run]) -> str:
    """The same of any adaptive plans."""
    from simtown.training.schedule import Schedule

    accuracy = {
        (r.model, r.entities, r.distractor, r.train_size, r.seed): float(r.correct.mean()) for r in runs
    }
    over: dict[tuple[str, int, bool], int] = {}  # seeds with which the search for 90 % is over
    searches = finished = 0
    for planned in plans:
        keys = {
            c.name: (c.fit.model, c.data.entities, c.data.distractor, c.fit.train_size, c.fit.seed)
            for c in planned.cells
        }
        schedule = Schedule(planned, {name: accuracy[key] for name, key in keys.items() if key in accuracy})
        searches, finished = searches + len(list(schedule.searches())), finished + schedule.over()
        for curve in planned.curves:
            key = curve.model, curve.entities, curve.distractor
            seeds = len(next(iter(curve.sizes.values()))) if schedule.next_size(MAIN, curve) is None else 0
            over[key] = max(over.get(key, 0), seeds)
    models = sorted({model for model, _, _ in over}, key=model_order)
    body = []
    for distractor, entities in sorted({(distractor, entities) for _, entities, distractor in over}):
        states = []
        for model in models:
            cells = sum(key[:3] == (model, entities, distractor) for key in accuracy)
            with_seeds = over.get((model, entities, distractor))
            state = f"{with_seeds} seeds" if with_seeds else "begun"
            states.append("" if with_seeds is None else f"{state} ({cells})" if cells else "–")
        body.append([yes(distractor), str(entities), *states])
    words = (
        f"{len(runs):,} cells are finished; {finished} of {searches} planned searches (a target, a model, a "
        "world, a number of seeds) are over. The table says with how many seeds the search for 90 % is "
        "over, and in brackets how many cells there are. An empty field is not planned."
    )
    return paragraphs(words, markdown(["distractor", "entities", *map(name_of, models)], body, 1))


def factors(results: Results) -> str:
    """By which factor structure and boxes lower the need, by world and target: the parts of the lead, and the
    effects behind them.
    """
    cells: dict[tuple[bool, int, float], dict[str, Effect]] = {}
    for x in results.effects:
        cells.setdefault((x.distractor, x.entities, x.target), {})[x.name] = x
    cells = {
        world: its for world, its in cells.items() if len(its) > 1
    }  # more than the lead of the paper's two models
    if not cells:
        return NOTHING_YET
    parts = []
    for names in (("lead", "structure", "boxes", "structure over boxes"), (*SIMPLE_EFFECTS, "interaction")):
        body = [
            [
                yes(d),
                str(k),
                percent(t),
                str(min(x.seeds for x in its.values())),
                *(factor(its[n]) if n in its else "–" for n in names),
            ]
            for (d, k, t), its in cells.items()
        ]
        parts.append(markdown(["distractor", "entities", "target", "seeds", *names], body, 1))
    return paragraphs(*parts)
