"""The parts of docs/reproduce/sample-complexity.md that are made from committed results: tables, and sentences with a verdict.

Cells of the published grid lie in sample-complexity/, cells of other grids in folders of their own below it. "Holds", "does not hold" and
"undecided" follow from a 95 % interval by :func:`verdict`, never from a hand.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from simtown.training.complexity import TARGETS, estimate
from simtown.training.factors import EFFECTS, Effect, effects
from simtown.training.figures import NAMES
from simtown.training.findings import Report, Row
from simtown.training.results import Run, model_order, read_runs
from simtown.visualgenome.frequencies import frequencies, table

#: The accuracy of sentences, and the worlds of the paper.
MAIN, PAPER_WORLDS = 0.9, (5, 15, 31, 60)
#: The two models of the paper.
STRUCTURED, UNSTRUCTURED = "pbn", "cnn-lstm"
#: With fewer seeds than this nothing is decided.
FEWEST_SEEDS = 3
HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "undecided", "not measured yet"
NOTHING_YET = "Not measured yet: no cell of this part is finished."
#: What tables call the rules.
RULE_WORDS = {"isotonic": "isotonic rule, with intervals", "smallest": "the paper's rule, the smallest set that reached it"}
#: Folder of the cells at 128 × 128.
LARGER = "128x128"
#: By how much another trial must beat the defaults, and how many trials a model has (benchmarks/search.py).
SEARCH_MARGIN, SEARCH_TRIALS = 0.02, 8


@dataclass(frozen=True)
class Results:
    """The committed results, read when first needed.

    Attributes:
        folder: benchmarks/results, or another with the same layout.
    """

    folder: Path

    def runs(self, grid: str = "") -> list[Run]:
        """The cells of the published grid, or of a grid in a folder below it."""
        files = sorted((self.folder / "sample-complexity" / grid).glob("*.json"))
        return read_runs(files) if files else []

    @cached_property
    def report(self) -> Report | None:
        """What the published grid says; None before its first cell."""
        runs = self.runs()
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

    def draw(self, folder: Path) -> None:
        """Draw the figures of the published grid, once it has cells."""
        from simtown.training import figures

        if self.report:
            figures.samples(self.report, folder / "sample-complexity.png")
            figures.learning(self.report, folder / "learning-curves.png")


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


def yes(value: bool) -> str:
    return "yes" if value else "no"


def world_words(entities: int, distractor: bool) -> str:
    return f"with {entities} entities{' and a distractor' if distractor else ''}"


def counted(seeds: int) -> str:
    return f"{seeds} seed{'s' * (seeds != 1)}"


def verdict(low: float, high: float, neutral: float, seeds: int) -> str:
    """Whether an interval lies above `neutral` (the statement holds), below it (it does not), or holds it."""
    if seeds < FEWEST_SEEDS or np.isnan(low) or np.isnan(high):
        return UNMEASURED
    return HOLDS if low > neutral else FAILS if high < neutral else UNDECIDED


# What holds, what does not, what is open


@dataclass(frozen=True)
class Claim:
    """A statement about one case, what the results say of it, and the figure behind that."""

    statement: str
    case: str
    verdict: str
    figure: str = ""


def fewer(report: Report | None, distractor: bool, entities: int) -> Claim:
    """The Place-Binder Network needs fewer examples than the CNN-LSTM, in one world."""
    words = "The PBN needs fewer examples than the CNN-LSTM for 90 %", world_words(entities, distractor)
    key = (UNSTRUCTURED, STRUCTURED, entities, distractor, MAIN, "isotonic")
    found = [x for x in report.ratios if (x.upper, x.lower, x.entities, x.distractor, x.target, x.rule) == key] if report else []
    if not found or report is None:
        return Claim(*words, UNMEASURED)
    seeds = fewest_seeds(row for row in report.rows if row.model in key[:2] and (row.entities, row.distractor) == (entities, distractor))
    return Claim(*words, verdict(found[0].low, found[0].high, 1, seeds), f"{found[0]} times fewer, {counted(seeds)}")


def grows(report: Report | None, distractor: bool) -> Claim:
    """The CNN-LSTM's exponent is the larger one."""
    words = "The need of the CNN-LSTM for 90 % grows with a larger exponent than the PBN's", condition(distractor)
    key = (f"{UNSTRUCTURED} - {STRUCTURED}", distractor, MAIN, "isotonic")
    found = [x for x in report.exponents if (x.model, x.distractor, x.target, x.rule) == key] if report else []
    if not found or report is None:
        return Claim(*words, UNMEASURED)
    if found[0].reason:
        return Claim(*words, UNMEASURED, found[0].reason)
    seeds = fewest_seeds(row for row in report.rows if row.model in (STRUCTURED, UNSTRUCTURED) and row.distractor == distractor)
    return Claim(*words, verdict(found[0].low, found[0].high, 0, seeds), f"difference {found[0]}, {counted(seeds)}")


def fewest_seeds(rows: Iterable[Row]) -> int:
    return min(row.seeds_fewest for row in rows)


def explanations(results: Results) -> list[Claim]:
    """Structure gives more of the lead than boxes do, by world, at 90 %."""
    statement = "Structure explains more of the PBN's lead at 90 % than being told boxes does"
    found = []
    for x in results.effects:
        if x.name == "structure over boxes" and x.target == MAIN:
            parts = {e.name: e for e in results.effects if (e.distractor, e.entities, e.target) == (x.distractor, x.entities, MAIN)}
            saved = [f"{name} {factor(parts[name])} times" for name in ("structure", "boxes") if name in parts]
            figure = f"fewer examples by {', by '.join(saved)}; {counted(x.seeds)}" if saved else counted(x.seeds)
            found.append(Claim(statement, world_words(x.entities, x.distractor), verdict(x.low, x.high, 1, x.seeds), figure))
    return found or [Claim(statement, "", UNMEASURED)]


def claims(results: Results) -> list[Claim]:
    """The paper's statements, and ours about two by two, each with its verdict."""
    found = [fewer(results.report, d, k) for d in (False, True) for k in PAPER_WORLDS]
    found += [grows(results.report, d) for d in (False, True)]
    return found + explanations(results)


def verdicts(results: Results) -> str:
    """Claims in three groups; the cases of a statement stand in one line."""
    groups = {"What holds": (HOLDS,), "What does not hold": (FAILS,), "What is open": (UNDECIDED, UNMEASURED)}
    found = claims(results)
    parts = []
    for title, words in groups.items():
        lines = []
        for statement, said in dict.fromkeys((c.statement, c.verdict) for c in found if c.verdict in words):
            cases = [c for c in found if (c.statement, c.verdict) == (statement, said)]
            everywhere = said == UNMEASURED and cases == [c for c in found if c.statement == statement]
            told = "; ".join(f"{c.case} ({c.figure})" if c.figure else c.case for c in cases)
            lines.append(f"- {statement}: {' '.join([said] * (len(words) > 1) + [told] * (not everywhere))}.")
        parts += [f"**{title}.**", "\n".join(lines)] if lines else [f"**{title}.** Nothing so far."]
    return paragraphs(*parts)


# Tables


def needs(results: Results) -> str:
    """Samples needed, by the isotonic and by the paper's rule; a table for each condition and rule."""
    return needs_of(results.report)


def needs_of(report: Report | None) -> str:
    if report is None:
        return NOTHING_YET
    parts = []
    for distractor in sorted({curve.distractor for curve in report.curves}):
        for rule, words in RULE_WORDS.items():
            lines: dict[tuple[str, int], list[Row]] = {}
            for row in report.rows:
                if (row.distractor, row.rule) == (distractor, rule):
                    lines.setdefault((row.model, row.entities), []).append(row)
            body = []
            for (model, entities), rows in lines.items():
                told = [str(row) if rule == "isotonic" else row.text(row.samples) for row in rows]
                body.append([name_of(model), str(entities), str(rows[0].seeds_fewest), *told])
            head = ["model", "entities", "seeds", *(percent(t) for t in report.targets)]
            parts += [f"{condition(distractor).capitalize()}, {words}:", markdown(head, body, 1)]
    return paragraphs(*parts)


def ratios(results: Results) -> str:
    """How many times as many examples each model needs as the Place-Binder Network."""
    return ratios_of(results.report)


def ratios_of(report: Report | None) -> str:
    found = [x for x in report.ratios if x.rule == "isotonic" and x.telling] if report else []
    if report is None or not found:
        return NOTHING_YET
    body = []
    for distractor, model, entities in dict.fromkeys((x.distractor, x.upper, x.entities) for x in found):
        cells = {x.target: x for x in found if (x.distractor, x.upper, x.entities) == (distractor, model, entities)}
        told = [str(cells[target]) if target in cells else "–" for target in report.targets]
        body.append([name_of(model), yes(distractor), str(entities), *told])
    return markdown(["model", "distractor", "entities", *(percent(t) for t in report.targets)], body, 2)


def later(results: Results) -> str:
    """A part that has no results yet."""
    return NOTHING_YET


def pictures(results: Results) -> str:
    """Needs and ratios at 128 × 128 pixels."""
    runs = results.runs(LARGER)
    report = estimate(runs) if runs else None
    return paragraphs(needs_of(report), ratios_of(report)) if report else NOTHING_YET


# Two by two


def factor(effect: Effect) -> str:
    """An effect in words: `11 (8.0 to 15)`, or a bound: `> 11 (from 8.0)`."""

    def number(value: float) -> str:
        return f"{value:.2g}" if value < 10 else f"{value:,.0f}"

    low_known, high_known = effect.low > 0, effect.high < np.inf
    if effect.at_least == effect.at_most:
        point = number(effect.at_least)
    elif effect.at_least > 0:
        point = f"> {number(effect.at_least)}"
    elif effect.at_most < np.inf:
        point = f"< {number(effect.at_most)}"
    else:
        return "unknown"
    if low_known and high_known:
        return f"{point} ({number(effect.low)} to {number(effect.high)})"
    if low_known:
        return f"{point} (from {number(effect.low)})"
    return f"{point} (up to {number(effect.high)})" if high_known else point


def factors(results: Results) -> str:
    """By which factor structure and boxes lower the need, by world and target."""
    body = []
    for distractor, entities, target in dict.fromkeys((x.distractor, x.entities, x.target) for x in results.effects):
        cells = {x.name: x for x in results.effects if (x.distractor, x.entities, x.target) == (distractor, entities, target)}
        if len(cells) > 1:  # more than the lead of the paper's two models
            told = [factor(cells[name]) if name in cells else "–" for name in EFFECTS]
            body.append([yes(distractor), str(entities), percent(target), str(min(x.seeds for x in cells.values())), *told])
    return markdown(["distractor", "entities", "target", "seeds", *EFFECTS], body, 1) if body else NOTHING_YET


# The search of section 6.5


def search(results: Results) -> str:
    """What the search tried, a line a model, and what its rule chooses."""
    body = []
    for path in sorted((results.folder / "search").glob("*.csv"), key=lambda path: model_order(path.stem)):
        accuracy = {(int(t["trial"]), int(t["seed"])): float(t["val_accuracy"]) for t in results.csv(f"search/{path.name}")}
        first = {trial: value for (trial, seed), value in accuracy.items() if seed == 0}
        if 0 in first:
            others = {trial: value for trial, value in first.items() if trial}
            best = max(others, key=lambda trial: others[trial]) if others else None
            told = f"{others[best]:.3f}" if best else "–"
            body.append([name_of(path.stem), str(len(first)), f"{first[0]:.3f}", told, chosen(accuracy, best, len(first))])
    return markdown(["model", "trials", "the defaults", "best other trial", "chosen"], body, 1) if body else NOTHING_YET


def chosen(accuracy: dict[tuple[int, int], float], best: int | None, trials: int) -> str:
    """What the rule of the search says; accuracy by (trial, seed)."""
    if trials < SEARCH_TRIALS or best is None:
        return f"open, {trials} of {SEARCH_TRIALS} trials"
    if accuracy[best, 0] - accuracy[0, 0] <= SEARCH_MARGIN:
        return "the defaults"
    if not {(best, 1), (0, 1)} <= accuracy.keys():
        return "open, the second seed is missing"
    return f"trial {best}" if accuracy[best, 1] - accuracy[0, 1] > SEARCH_MARGIN else "the defaults"


# The world


def shares(results: Results) -> str:
    """What the two readings of section 6.3 make of the most common entity, and how often "no" would name an absent kind."""
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
    """Share of "no" questions that would name a kind that is not in the scene, if every false question of equation 5 counted.

    Args:
        subject, obj: (k,) probabilities. Half of the questions about the two kinds of a scene are taken to be false.
    """
    scene = np.outer(subject, obj)
    np.fill_diagonal(scene, 0)
    scene /= scene.sum()  # probability of a scene's two kinds
    named = np.outer(subject, obj) + np.outer(obj, subject)  # that a question names both, in either order
    return float((scene * (1 - named) / (1 - named / 2)).sum())


# The first version of the world


def version1(results: Results) -> str:
    """The small preset's needs in version 1 of the world, while their files are kept."""
    rows = [row for row in results.csv("small-complexity.csv") if row["rule"] in RULE_WORDS]
    if not rows:
        return ""

    def need(row: dict[str, str], end: str = "samples") -> str:
        bounds = {"left-censored": f"≤ {int(row['smallest']):,}", "right-censored": f"> {int(row['largest']):,}"}
        return bounds.get(row[f"{end}_state"]) or f"{float(row[end]):,.0f}"

    lines: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        point, low, high = need(row), need(row, "low"), need(row, "high")
        exact = row["rule"] == "smallest" or point == low == high
        lines.setdefault((row["model"], row["entities"], row["rule"]), []).append(point if exact else f"{point} ({low} to {high})")
    words = (
        "### Version 1 of the world\n\nThese runs were made in another version of the world with the old preset `small`: one seed, no "
        "distractor, 64 × 32. Their intervals hold the choice of test items only and are too narrow, so they decide nothing. The files are "
        "`benchmarks/results/small-complexity*.csv`."
    )
    body = [[name_of(model), entities, rule, *told] for (model, entities, rule), told in lines.items()]
    return paragraphs(words, markdown(["model", "entities", "rule", *(percent(t) for t in TARGETS)], body, 3))


# Figures and README


def figure(results: Results) -> str:
    """What the figures are drawn from."""
    if results.report is None:
        return (
            "The figure is of version 1 of the world ([below](#version-1-of-the-world)): three worlds, one seed, no distractor. It decides "
            "nothing. The cells of the grid of five seeds replace it as they finish."
        )
    worlds = len({(curve.entities, curve.distractor) for curve in results.report.curves})
    models = len({curve.model for curve in results.report.curves})
    return (
        f"Drawn from {results.report.runs:,} finished cells: {models} models, {worlds} worlds (with and without distractor counted apart). "
        "Bars are 95 % intervals; arrows mark bounds."
    )


def readme(results: Results) -> str:
    """What the README says of the experiment: how much less data, and which of structure and boxes explains the lead."""
    found = [fewer(results.report, False, k) for k in PAPER_WORLDS]
    held = [f"{c.case} {c.figure}" for c in found if c.verdict == HOLDS]
    lead = f"The Place-Binder Network needs fewer examples for 90 % than the CNN-LSTM: {'; '.join(held)}." if held else ""
    return " ".join(filter(None, (lead, explained(results))))


def explained(results: Results) -> str:
    """One sentence: which of structure and boxes explains the lead."""
    measured = [c for c in explanations(results) if c.verdict != UNMEASURED]
    if not measured:
        return "Whether the Place-Binder Network's lead comes from its structure or from being told where things stand is being measured."
    words = {HOLDS: "more from structure", FAILS: "more from boxes", UNDECIDED: "undecided"}
    told = "; ".join(f"{c.case}, {words[c.verdict]} ({c.figure})" for c in measured)
    return f"Whether the lead comes from its structure or from being told boxes: {told}."


PARTS: dict[str, Callable[[Results], str]] = {
    part.__name__: part for part in (figure, verdicts, needs, ratios, pictures, factors, search, shares, version1, readme)
} | dict.fromkeys(("progress", "additional", "exponents", "accuracies", "both"), later)
