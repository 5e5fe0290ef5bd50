"""The parts of pages that are made from committed results: tables, and sentences with a verdict. All but one
are of docs/reproduce/sample-complexity.md.

Cells of the published grid lie in sample-complexity/, cells of another grid in a folder of its own beside it.
"Holds", "does not hold" and "undecided" follow from a 95 % interval by :func:`verdict`, never from a hand.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simtown.assets.frequencies import frequencies, table
from simtown.training.bootstrap import interval, narrowest, too_narrow
from simtown.training.complexity import TARGETS, estimate
from simtown.training.curves import ABOVE
from simtown.training.factors import Effect, contrasted, effects, log_bounds
from simtown.training.figures import NAMES
from simtown.training.findings import Accuracies, Findings, Need, yes
from simtown.training.results import Run, model_order, read_runs

if TYPE_CHECKING:
    from simtown.training.plan import SweepPlan

#: The accuracy of sentences, and the worlds and the largest set of the paper.
MAIN, PAPER_WORLDS, LARGEST = 0.9, (5, 15, 31, 60), 60_000
#: The two models of the paper.
STRUCTURED, UNSTRUCTURED = "pbn", "cnn-lstm"
#: How findings name what the two differ by, and what they say of a difference.
DIFFERENCE, DECIDED = f"{UNSTRUCTURED} - {STRUCTURED}", "decided"
#: With fewer seeds than this nothing is decided.
FEWEST_SEEDS = 3
HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "undecided", "not measured yet"
NOTHING_YET = "Not measured yet."
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
#: The presets of the published grid.
GRIDS = ("grid",)
#: Folder of the cells of benchmarks/presets/pictures-128.toml.
LARGER = "pictures-128"
#: Folder of the cells of benchmarks/presets/paper-rule-64.toml.
LITERAL = "paper-rule-64"
#: Folder of the cells of benchmarks/presets/fixed-15.toml.
FIXED = "fixed-15"
#: What the best validation of a model that answers by chance stays below: a thousand coins, tossed for each
#: validation of a search, reach it once in a hundred searches.
BY_CHANCE = 0.56


@dataclass(frozen=True)
class Results:
    """The committed results, read when first needed.

    Attributes:
        folder: benchmarks/results, or another with the same layout.
    """

    folder: Path

    def runs(self, name: str = "sample-complexity") -> list[Run]:
        """The cells of the published grid, or of another by the name of its folder."""
        files = sorted(
            (self.folder / name).glob("*.json")
        )  # not below: a folder of fixed sizes may lie there
        return read_runs(files) if files else []

    @cached_property
    def report(self) -> Findings | None:
        """What the published grid says; None before its first cell."""
        runs = whole(self.runs())
        return estimate(runs) if runs else None

    def beside(self, name: str) -> Findings | None:
        """What a grid beside the published one says, by its folder's name; None before its first cell."""
        runs = whole(self.runs(name))
        return estimate(runs) if runs else None

    @cached_property
    def effects(self) -> list[Effect]:
        """Two by two, from the published grid."""
        return effects(self.report.curves, self.report.targets) if self.report else []

    def csv(self, name: str) -> list[dict[str, str]]:
        """The lines of a CSV file without its comments; none if there is no such file."""
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    @property
    def growing(self) -> bool:
        """Whether both models of the paper were measured in two worlds: a figure of fewer shows no growth."""
        curves = self.report.curves if self.report else []
        worlds = [
            {c.entities for c in curves if c.model == model and not c.distractor}
            for model in (STRUCTURED, UNSTRUCTURED)
        ]
        return len(worlds[0] & worlds[1]) > 1

    def draw(self, folder: Path) -> None:
        """Draw the figures of the published grid, once it shows growth."""
        from simtown.training import figures

        if self.report and self.growing:
            figures.samples(self.report, folder / "sample-complexity.png")
            figures.learning(self.report, folder / "learning-curves.png")


def whole(runs: Sequence[Run]) -> list[Run]:
    """Of every curve the sizes at which all its seeds are finished.

    A grid that is running has sizes that lack some. So a curve counts with its first m seeds, at the sizes
    that have all of these, where m is the number that leaves most runs.
    """
    curves: dict[tuple[str, int, bool], dict[int, dict[int, Run]]] = {}
    for run in runs:
        curves.setdefault((run.model, run.entities, run.distractor), {}).setdefault(run.train_size, {})[
            run.seed
        ] = run
    chosen = []
    for sizes in curves.values():
        seeds = sorted({seed for finished in sizes.values() for seed in finished})
        kept: list[Run] = []
        for m in range(len(seeds), 0, -1):
            first = seeds[:m]
            complete = [
                finished[seed]
                for finished in sizes.values()
                if set(first) <= finished.keys()
                for seed in first
            ]
            kept = max(kept, complete, key=len)
        chosen += kept
    return chosen


# Words


def markdown(head: Sequence[str], body: Iterable[Sequence[str]], words: int) -> str:
    """A table whose first `words` columns are words, the others numbers."""
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *body))


def paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def name_of(model: str) -> str:
    return NAMES.get(model, model)


def condition(distractor: bool) -> str:
    return "with a distractor" if distractor else "without a distractor"


def world_words(entities: int, distractor: bool) -> str:
    return f"with {entities} entities{' and a distractor' if distractor else ''}"


def verdict(low: float, high: float, neutral: float, seeds: int, over: str) -> str:
    """Whether an interval lies above `neutral` (the statement holds), below it (it does not), or holds it.

    Args:
        seeds: of the curve that has fewest.
        over: what the interval holds, as :func:`simtown.training.bootstrap.interval_over` says it.
    """
    if seeds < FEWEST_SEEDS or too_narrow(over) or np.isnan(low) or np.isnan(high):
        return UNMEASURED
    return HOLDS if low > neutral else FAILS if high < neutral else UNDECIDED


# What holds, what does not, what is open


@dataclass(frozen=True)
class Claim:
    """A statement about one case, what the results say of it, and the figure behind that with the seeds that
    it rests on.
    """

    statement: str
    case: str
    verdict: str
    figure: str = ""
    seeds: int = 0

    def __str__(self) -> str:
        """The case, its figure, and the seeds."""
        seeds = f"{self.seeds} seed{'s' * (self.seeds != 1)}" if self.seeds else ""
        details = ", ".join(filter(None, (self.figure, seeds)))
        return ": ".join(filter(None, (self.case, details)))


def fewer(report: Findings | None, distractor: bool, entities: int) -> Claim:
    """The Place-Binder Network needs fewer examples than the CNN-LSTM, in one world."""
    words = "The PBN needs fewer examples than the CNN-LSTM for 90 %", world_words(entities, distractor)
    key = (UNSTRUCTURED, STRUCTURED, entities, distractor, MAIN, "isotonic")
    matching = (
        [x for x in report.ratios if (x.upper, x.lower, x.entities, x.distractor, x.target, x.rule) == key]
        if report
        else []
    )
    if not matching or report is None:
        return Claim(*words, UNMEASURED)
    ratio, seeds = matching[0], fewest_seeds(report, distractor, {entities})
    return Claim(
        *words, verdict(ratio.low, ratio.high, 1, seeds, ratio.interval_over), f"{ratio} times fewer", seeds
    )


def grows(report: Findings | None, distractor: bool) -> Claim:
    """The CNN-LSTM's exponent is the larger one, however bounded worlds are treated."""
    words = (
        "The need of the CNN-LSTM for 90 % grows with a larger exponent than the PBN's",
        condition(distractor),
    )
    key = (DIFFERENCE, distractor, MAIN, "isotonic")
    matching = (
        [x for x in report.exponents if (x.model, x.distractor, x.target, x.rule) == key] if report else []
    )
    if not matching or report is None:
        return Claim(*words, UNMEASURED)
    if matching[0].reason:
        return Claim(*words, UNMEASURED, matching[0].reason)
    difference, seeds = matching[0], fewest_seeds(report, distractor)
    outcome = verdict(difference.low, difference.high, 0, seeds, difference.interval_over)
    figure = (
        f"difference of exponents {difference}{spread(difference.sensitivity)}, {difference.worlds} worlds"
    )
    return Claim(
        *words,
        UNDECIDED if outcome != UNMEASURED and difference.verdict != DECIDED else outcome,
        figure,
        seeds,
    )


def adds(report: Findings | None, distractor: bool) -> Claim:
    """From the smallest to the largest world the CNN-LSTM's need grows by more examples."""
    words = (
        "The PBN needs less additional data for 90 % from the smallest to the largest world than the "
        "CNN-LSTM",
        condition(distractor),
    )
    key = (DIFFERENCE, distractor, MAIN, "isotonic")
    matching = (
        [x for x in report.additions if (x.model, x.distractor, x.target, x.rule) == key] if report else []
    )
    if not matching or report is None:
        return Claim(*words, UNMEASURED)
    less, seeds = matching[0], fewest_seeds(report, distractor, {matching[0].few, matching[0].many})
    figure = f"{less} fewer from {less.few} to {less.many} entities"
    return Claim(*words, verdict(less.low, less.high, 0, seeds, less.interval_over), figure, seeds)


def harder(report: Findings | None, model: str, entities: int) -> Claim:
    """A distractor raises a model's need, in one world."""
    words = (
        f"With a distractor the {name_of(model)} needs more examples for 90 % than without",
        f"with {entities} entities",
    )
    curves = (
        {c.distractor: c for c in report.curves if (c.model, c.entities) == (model, entities)}
        if report
        else {}
    )
    if report is None or len(curves) < 2:
        return Claim(*words, UNMEASURED)
    t = report.targets.index(MAIN)
    bounds = [
        log_bounds(curves[distractor].samples["isotonic"][t], curves[distractor].sizes)
        for distractor in (True, False)
    ]
    least, most = contrasted([1, -1], bounds)
    ends = interval(least[1:])[0], interval(most[1:])[1]
    seeds = min(curve.fewest for curve in curves.values())
    outcome = verdict(*ends, 0, seeds, narrowest(*(curve.interval_over for curve in curves.values())))
    return Claim(*words, outcome, between(*np.exp([least[0], most[0], *ends])) + " times as many", seeds)


def misses(report: Findings | None) -> Claim:
    """With a distractor the CNN-LSTM does not reach some target with the paper's largest set."""
    words = f"With a distractor the CNN-LSTM does not always reach a target with {LARGEST:,} examples", ""
    rows = (
        [r for r in report.rows if r.model == UNSTRUCTURED and r.distractor and r.rule == "isotonic"]
        if report
        else []
    )
    rows = [r for r in rows if r.seeds_fewest >= FEWEST_SEEDS and not too_narrow(r.interval_over)]
    missed = [r for r in rows if r.low == ABOVE and r.largest >= LARGEST]
    if missed:
        return Claim(
            words[0], "; ".join(f"{percent(r.target)} with {r.entities} entities" for r in missed), HOLDS
        )
    reached = (
        {r.entities for r in rows if r.high < ABOVE and r.target == max(t for t in report.targets)}
        if report
        else set()
    )
    return Claim(*words, FAILS if reached >= set(PAPER_WORLDS) else UNDECIDED if rows else UNMEASURED)


def fewest_seeds(report: Findings, distractor: bool, worlds: set[int] | None = None) -> int:
    """Seeds of the curve of the paper's two models that has fewest, in some worlds or in all."""
    curves = [
        c for c in report.curves if c.model in (STRUCTURED, UNSTRUCTURED) and c.distractor == distractor
    ]
    return min(curve.fewest for curve in curves if worlds is None or curve.entities in worlds)


def spread(sensitivity: str) -> str:
    """What an exponent becomes if bounded worlds are treated otherwise."""
    return f", {sensitivity} if bounded worlds are treated otherwise" if sensitivity else ""


def explanations(results: Results) -> list[Claim]:
    """Structure gives more of the lead than boxes do, by world, at 90 %."""
    statement = "Structure explains more of the PBN's lead at 90 % than being told boxes does"
    by_world = []
    for x in results.effects:
        if x.name == "structure over boxes" and x.target == MAIN:
            parts = {
                e.name: e
                for e in results.effects
                if (e.distractor, e.entities, e.target) == (x.distractor, x.entities, MAIN)
            }
            factors = ", ".join(
                f"{name} {factor(parts[name])} times fewer examples"
                for name in ("structure", "boxes")
                if name in parts
            )
            outcome = verdict(x.low, x.high, 1, x.seeds, x.interval_over)
            by_world.append(
                Claim(statement, world_words(x.entities, x.distractor), outcome, factors, x.seeds)
            )
    return by_world or [Claim(statement, "", UNMEASURED)]


def claims(results: Results) -> list[Claim]:
    """The paper's statements, and ours about two by two, each with its verdict."""
    statements = [fewer(results.report, d, k) for d in (False, True) for k in PAPER_WORLDS]
    statements += [
        harder(results.report, model, k) for model in (UNSTRUCTURED, STRUCTURED) for k in PAPER_WORLDS
    ]
    statements.append(misses(results.report))
    statements += [adds(results.report, d) for d in (False, True)]
    statements += [grows(results.report, d) for d in (False, True)]
    return statements + explanations(results)


def verdicts(results: Results) -> str:
    """Claims in three groups; the cases of a statement stand in one line."""
    groups = {"What holds": (HOLDS,), "What does not hold": (FAILS,), "What is open": (UNDECIDED, UNMEASURED)}
    all_claims = claims(results)
    parts = []
    for title, words in groups.items():
        lines = []
        for statement, outcome in dict.fromkeys(
            (c.statement, c.verdict) for c in all_claims if c.verdict in words
        ):
            cases = [c for c in all_claims if (c.statement, c.verdict) == (statement, outcome)]
            everywhere = outcome == UNMEASURED and cases == [
                c for c in all_claims if c.statement == statement
            ]
            details = "" if everywhere else "; ".join(filter(None, map(str, cases)))
            first = f"{statement}: {outcome}" if len(words) > 1 else statement
            lines.append(". ".join(filter(None, (f"- {first}", details[:1].upper() + details[1:]))) + ".")
        parts += [f"**{title}.**", "\n".join(lines)] if lines else [f"**{title}.** Nothing so far."]
    return paragraphs(*parts)


# Tables


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
    return ratios_of(results.report)


def ratios_of(report: Findings | None) -> str:
    telling = [x for x in report.ratios if x.rule == "isotonic" and x.telling] if report else []
    if report is None or not telling:
        return NOTHING_YET
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
    telling = [x for x in report.additions if x.rule == "isotonic" and x.telling] if report else []
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
    telling = [x for x in report.exponents if x.telling] if report else []
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
                main.verdict,
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
        "0 is excluded",
    ]
    return markdown(head, body, 3)


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

    The published grid trains each model near its own need, so its sets are seldom shared. A grid of fixed
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
    words = (
        f"Both models were trained on {len(shared)} sets on which both reach 90 % of the test. There the two "
        f"differ by {100 * mean[0]:.1f} points of validation accuracy in the mean, {100 * mean[1]:.1f} "
        f"points of reweighted validation accuracy and {100 * mean[2]:.1f} points of test accuracy. CNN-LSTM "
        "/ PBN:"
    )
    return paragraphs(words, markdown(["distractor", "entities", "examples", *MEASURES], body, 1))


def progress(results: Results) -> str:
    """How many cells of the published grid are finished, and which of its searches are over."""
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


def pictures(results: Results) -> str:
    """Needs and ratios at 128 × 128 pixels."""
    return needs_and_ratios(results.beside(LARGER))


def stopping(results: Results) -> str:
    """Needs, ratios and shared sets under the paper's stopping rule."""
    report = results.beside(LITERAL)
    return paragraphs(needs_and_ratios(report), both_of(report))


def needs_and_ratios(report: Findings | None) -> str:
    """Two tables of a grid beside the published one."""
    return paragraphs(needs_of(report), ratios_of(report)) if report else NOTHING_YET


# Two by two


def factor(effect: Effect) -> str:
    """An effect in words."""
    return between(effect.at_least, effect.at_most, effect.low, effect.high)


def between(at_least: float, at_most: float, low: float, high: float) -> str:
    """A factor with its interval: `11 (8.0 to 15)`, or a bound: `> 11 (from 8.0)`."""

    def number(value: float) -> str:
        return f"{value:.2g}" if value < 10 else f"{value:,.0f}"

    if at_least == at_most:
        point = number(at_least)
    elif at_least > 0:
        point = f"> {number(at_least)}"
    elif at_most < np.inf:
        point = f"< {number(at_most)}"
    else:
        return "unknown"
    if low > 0 and high < np.inf:
        return f"{point} ({number(low)} to {number(high)})"
    if low > 0:
        return f"{point} (from {number(low)})"
    return f"{point} (up to {number(high)})" if high < np.inf else point


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


# What the placement of sizes saves


def placement(results: Results) -> str:
    """What benchmarks/adaptive.py found: needs and time of adaptive sizes against fixed ones."""
    rows = results.csv("adaptive.csv")
    simulated = [row for row in rows if "slope" in row["grid"]]
    measured = [row for row in rows if row not in simulated]
    return (
        paragraphs(replays("simulated grids", simulated), replays("the grid of fixed sizes", measured))
        or NOTHING_YET
    )


def replays(grids: str, rows: list[dict[str, str]]) -> str:
    """A sentence about the replays of some grids; nothing if there are none."""
    if not rows:
        return ""
    same = sum(row["within"] == "yes" for row in rows)
    shares = [float(row["time"]) / float(row["fixed_time"]) for row in rows]
    share = sum(float(row["time"]) for row in rows) / sum(float(row["fixed_time"]) for row in rows)
    sizes = " or ".join(sorted({row["sizes"] for row in rows}, key=int))
    return (
        f"Replayed on {grids} with all of {sizes} sizes (`benchmarks/results/adaptive.csv`), {same} of "
        f"{len(rows)} searches found the need within its interval, in {percent(share)} of the time of all "
        f"sizes (a single search: {100 * min(shares):.0f} to {100 * max(shares):.0f} %)."
    )


# The search of section 6.5


def search(results: Results) -> str:
    """What the search tried, a line a model, and what its rule chooses."""
    body = []
    for path in sorted((results.folder / "search").glob("*.csv"), key=lambda path: model_order(path.stem)):
        trials = results.csv(f"search/{path.name}")
        accuracy = {
            int(trial["trial"]): float(trial["val_accuracy"]) for trial in trials if trial["seed"] == "0"
        }
        others = [value for number, value in accuracy.items() if number]
        best = [
            f"{values[0]:.3f}" if values else "–"
            for values in ([accuracy[0]] if 0 in accuracy else [], sorted(others, reverse=True))
        ]
        body.append([name_of(path.stem), str(len(accuracy)), *best, chosen(trials)])
    return (
        markdown(["model", "trials", "the defaults", "best other trial", "chosen"], body, 1)
        if body
        else NOTHING_YET
    )


def chosen(trials: list[dict[str, str]]) -> str:
    """What the rule of benchmarks/search.py says of a model's trials; a search in which nothing was learned
    chooses nothing.
    """
    from benchmarks.search import TRIALS, challenger  # PyTorch

    missing = TRIALS - sum(trial["seed"] == "0" for trial in trials)
    if missing > 0:
        return f"open: {missing} trial{'s are' if missing > 1 else ' is'} missing"
    if max(float(trial["val_accuracy"]) for trial in trials) < BY_CHANCE:
        return "nothing: no trial left chance"
    best = challenger(trials, 0)
    if best is None:
        return "the defaults"
    again = [trial for trial in trials if trial["seed"] == "1" and int(trial["trial"]) in (0, best)]
    if len(again) < 2:
        return "open: the second seed is missing"
    return "the defaults" if challenger(again, 1) is None else f"trial {best}"


# The world


def shares(results: Results) -> str:
    """What the two readings of section 6.3 make of the most common entity, and how often "no" would name an
    absent kind.
    """
    counts = np.array([line[1:] for line in table()], dtype=float)
    ranked = -np.sort(-counts, axis=0)
    body = []
    for k in PAPER_WORLDS:
        subject, obj = frequencies("vg", k)
        two = ranked[:k] / ranked[:k].sum(axis=0)
        tops = [subject.max(), two[0, 0], obj.max(), two[0, 1]]
        body.append([str(k), *(f"{top:.2f}" for top in tops), f"{100 * absent(subject, obj):.1f} %"])
    head = [
        "entities",
        "top subject, here",
        "by two rankings",
        "top object, here",
        "by two rankings",
        '"no" about an absent kind, by the letter',
    ]
    return markdown(head, body, 0)


def absent(subject: np.ndarray, obj: np.ndarray) -> float:
    """Share of "no" questions that would name a kind that is not in the scene, if every false question of
    equation 5 counted.

    Args:
        subject, obj: (k,) probabilities. Half of the questions about the two kinds of a scene are taken to be
            false.
    """
    scene = np.outer(subject, obj)
    np.fill_diagonal(scene, 0)
    scene /= scene.sum()  # probability of a scene's two kinds
    named = np.outer(subject, obj) + np.outer(obj, subject)  # that a question names both, in either order
    return float((scene * (1 - named) / (1 - named / 2)).sum())


# Other conditions, and the first version of the world


def need_words(row: dict[str, str]) -> str:
    """A need in a line of a table that `simtown complexity` wrote, with its interval unless the rule is the
    paper's.
    """

    def words(end: str) -> str:
        bounds = {
            "left-censored": f"≤ {int(row['smallest']):,}",
            "right-censored": f"> {int(row['largest']):,}",
        }
        return bounds.get(row[f"{end}_state"]) or f"{float(row[end]):,.0f}"

    point, low, high = words("samples"), words("low"), words("high")
    return point if row["rule"] == "smallest" or point == low == high else f"{point} ({low} to {high})"


def skew(results: Results) -> str:
    """What the skew of the frequencies does to the need of the Place-Binder Network
    (benchmarks/conditions.py).
    """
    rows = [row for row in results.csv("skew-complexity.csv") if row["rule"] == "isotonic"]
    if not rows:
        return NOTHING_YET
    worlds = sorted({int(row["entities"]) for row in rows})
    needed = {
        (row["model"], int(row["entities"])): f"{need_words(row)}, {row['seeds_fewest']} seeds"
        for row in rows
    }
    slopes = {
        row["model"]: row for row in results.csv("skew-complexity-exponents.csv") if row["rule"] == "isotonic"
    }
    body = []
    for name in dict.fromkeys(row["model"] for row in rows):
        cells = [needed.get((name, entities), "–") for entities in worlds]
        others = [row for model, row in slopes.items() if model.startswith(f"{name} - ")]
        body.append(
            [
                name,
                *cells,
                slope_words(slopes.get(name)),
                *(f"{slope_words(row)}, {row['verdict']}" for row in others),
            ]
        )
    body = [[*line, "–"][: len(worlds) + 3] for line in body]
    head = [
        "frequencies",
        *(f"{entities} entities" for entities in worlds),
        "exponent",
        "less the first line's",
    ]
    return paragraphs(
        "![Samples needed under other frequencies](../gallery/skew.png)", markdown(head, body, 1)
    )


def growth(results: Results) -> str:
    """Time and memory of every command at every size (benchmarks/growth.py)."""
    rows = results.csv("growth.csv")
    sizes = sorted({int(row["examples"]) for row in rows})
    cells = {
        (row["command"], int(row["examples"])): f"{float(row['seconds']):.0f} s, {row['megabytes']} MB"
        for row in rows
    }
    commands = dict.fromkeys(row["command"] for row in rows)
    return markdown(
        ["command", *(f"{size:,}" for size in sizes)],
        [[command, *(cells.get((command, size), "–") for size in sizes)] for command in commands],
        1,
    )


def slope_words(row: dict[str, str] | None) -> str:
    """An exponent in a line of a table that `simtown complexity` wrote."""
    if row is None or row["reason"] or not row["value"]:
        return "–"
    has_interval = row["low"] and row["high"]
    return f"{float(row['value']):.2f}" + (
        f" ({float(row['low']):.2f} to {float(row['high']):.2f})" if has_interval else ""
    )


def version1(results: Results) -> str:
    """The small preset's needs in version 1 of the world, while their files are kept."""
    rows = [row for row in results.csv("small-complexity.csv") if row["rule"] in RULE_WORDS]
    if not rows:
        return ""

    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        lines.setdefault((row["model"], row["entities"], row["rule"]), []).append(need_words(row))
    words = (
        "### Version 1 of the world\n\nThese runs were made in another version of the world with the old "
        "preset `small`: one seed, no "
        "distractor, 64 × 32. Their intervals hold the choice of test items only and are too narrow, so they "
        "decide nothing. The files are "
        "`benchmarks/results/small-complexity*.csv`."
    )
    body = [[name_of(model), entities, rule, *samples] for (model, entities, rule), samples in lines.items()]
    return paragraphs(words, markdown(["model", "entities", "rule", *(percent(t) for t in TARGETS)], body, 3))


# Figures and README


def figure(results: Results) -> str:
    """What the figures are drawn from."""
    if results.report is None or not results.growing:
        return (
            "The figure is of version 1 of the world ([below](#version-1-of-the-world)): three worlds, one "
            "seed, no distractor. It decides nothing. The grid of five seeds replaces it as soon as both "
            "models are measured in two worlds."
        )
    worlds = len({(curve.entities, curve.distractor) for curve in results.report.curves})
    models = len({curve.model for curve in results.report.curves})
    return (
        f"Drawn from {results.report.runs:,} cells, of sizes at which all seeds are finished: {models} "
        f"models, {worlds} worlds (with and without distractor counted apart). Bars are 95 % intervals; "
        "arrows mark bounds."
    )


def readme(results: Results) -> str:
    """What the README says of the experiment: how much less data, and which of structure and boxes explains
    the lead.
    """
    if results.report is None or not results.growing:
        old = "The figure is of version 1 of the world, with one seed: it decides nothing."
        return f"{old} {explained(results)}"
    comparisons = [fewer(results.report, False, k) for k in PAPER_WORLDS]
    leads = [f"{c.figure} {c.case}" for c in comparisons if c.verdict == HOLDS]
    lead = (
        f"The Place-Binder Network needs fewer examples for 90 % than the CNN-LSTM: {'; '.join(leads)}."
        if leads
        else ""
    )
    return " ".join(filter(None, (lead, explained(results))))


def explained(results: Results) -> str:
    """One sentence: which of structure and boxes explains the lead."""
    words = {
        HOLDS: "more from structure than from being told where things stand",
        FAILS: "more from being told where things stand than from structure",
        UNDECIDED: "undecided",
    }
    measured = [
        f"{c.case} {words[c.verdict]} ({c.figure})" for c in explanations(results) if c.verdict in words
    ]
    if not measured:
        return (
            "Whether the Place-Binder Network's lead comes from its structure or from being told where "
            "things stand is being measured."
        )
    return f"Where its lead comes from: {'; '.join(measured)}."


_PARTS = (
    figure,
    verdicts,
    progress,
    needs,
    ratios,
    additional,
    exponents,
    factors,
    accuracies,
    both,
    stopping,
    pictures,
    placement,
    search,
)
PARTS: dict[str, Callable[[Results], str]] = {
    part.__name__: part for part in (*_PARTS, search, shares, skew, growth, version1, readme)
}
