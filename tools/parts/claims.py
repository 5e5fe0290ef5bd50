"""Sentences with a verdict: what holds, what does not, what is open.

A verdict follows from a 95 % interval by :func:`verdict`, never from a hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.assets.catalogue import SIZES, VERSION
from simtown.complexity.bootstrap import interval, narrowest, too_narrow
from simtown.complexity.curves import ABOVE
from simtown.complexity.factors import contrasted, log_bounds
from simtown.complexity.needs import Findings
from tools.parts.results import LITERAL, STRUCTURED, UNSTRUCTURED, Results, shows_growth
from tools.parts.words import between, condition, factor, name_of, paragraphs, percent, world_words

#: The accuracy of sentences, and the worlds and the largest set of the paper.
MAIN, PAPER_WORLDS, LARGEST = 0.9, (5, 15, 31, 60), 60_000
#: These, and the whole catalogue.
WORLDS = (*PAPER_WORLDS, SIZES[VERSION])
#: How findings name what the two differ by, and what they say of a difference.
DIFFERENCE, DECIDED = f"{UNSTRUCTURED} - {STRUCTURED}", "decided"
#: With fewer seeds than this nothing is decided.
FEWEST_SEEDS = 3
HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "undecided", "not measured yet"


def verdict(low: float, high: float, neutral: float, seeds: int, over: str) -> str:
    """Whether an interval lies above `neutral` (the statement holds), below it (it does not), or holds it.

    Args:
        seeds: of the curve that has fewest.
        over: what the interval holds, as :func:`simtown.complexity.bootstrap.interval_over` says it.
    """
    if seeds < FEWEST_SEEDS or too_narrow(over) or np.isnan(low) or np.isnan(high):
        return UNMEASURED
    return HOLDS if low > neutral else FAILS if high < neutral else UNDECIDED


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


def lead(report: Findings | None, distractor: bool, entities: int) -> Claim:
    """The CNN-LSTM needs more examples than the Place-Binder Network, in one world."""
    words = "The CNN-LSTM needs more examples for 90 % than the PBN", world_words(entities, distractor)
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
        *words, verdict(ratio.low, ratio.high, 1, seeds, ratio.interval_over), f"{ratio} times as many", seeds
    )


def differences(rows: Iterable[Any], distractor: bool) -> list[Any]:
    """Of exponents or additions that of the CNN-LSTM less the Place-Binder Network's, if it is there."""
    key = (DIFFERENCE, distractor, MAIN, "isotonic")
    return [row for row in rows if (row.model, row.distractor, row.target, row.rule) == key]


def grows(report: Findings | None, distractor: bool) -> Claim:
    """The CNN-LSTM's exponent is the larger one, however bounded worlds are treated."""
    words = (
        "The need of the CNN-LSTM for 90 % grows with a larger exponent than the PBN's",
        condition(distractor),
    )
    matching = differences(report.exponents, distractor) if report else []
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
    matching = differences(report.additions, distractor) if report else []
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
    statement = "Structure lowers the need for 90 % more than box supervision does"
    by_world = []
    for x in results.effects:
        if x.name == "structure over boxes" and x.target == MAIN:
            parts = {
                e.name: e
                for e in results.effects
                if (e.distractor, e.entities, e.target) == (x.distractor, x.entities, MAIN)
            }
            factors = ", ".join(
                f"{words} by a factor of {factor(parts[name])}"
                for name, words in (("structure", "structure"), ("boxes", "box supervision"))
                if name in parts
            )
            outcome = verdict(x.low, x.high, 1, x.seeds, x.interval_over)
            by_world.append(
                Claim(statement, world_words(x.entities, x.distractor), outcome, factors, x.seeds)
            )
    return by_world or [Claim(statement, "", UNMEASURED)]


def claims(results: Results) -> list[Claim]:
    """The paper's statements, and ours about two by two, each with its verdict."""
    distractors = [
        harder(results.report, model, k) for model in (UNSTRUCTURED, STRUCTURED) for k in PAPER_WORLDS
    ]
    return [
        *lead_claims(results.report),
        *distractors,
        misses(results.report),
        *growth_claims(results.report),
        *explanations(results),
    ]


def verdicts(results: Results) -> str:
    """What holds, what does not, and what is open in the main grid."""
    return grouped(claims(results))


def lead_claims(report: Findings | None) -> list[Claim]:
    """That the CNN-LSTM needs more examples, in each of the paper's worlds, and in ours if measured."""
    every = [(k, lead(report, distractor, k)) for distractor in (False, True) for k in WORLDS]
    return [claim for k, claim in every if k in PAPER_WORLDS or claim.verdict != UNMEASURED]


def growth_claims(report: Findings | None) -> list[Claim]:
    """The paper's statements about growth, as additional data and as exponents."""
    return [claim(report, distractor) for claim in (adds, grows) for distractor in (False, True)]


def grouped(all_claims: list[Claim]) -> str:
    """Claims in three groups; the cases of a statement stand in one line."""
    groups = {"What holds": (HOLDS,), "What does not hold": (FAILS,), "What is open": (UNDECIDED, UNMEASURED)}
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


def figure(results: Results) -> str:
    """What the figures are drawn from."""
    if results.report is None or not shows_growth(results.report):
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
    """What the README says of the experiment: how much less data, which of structure and boxes explains the
    lead, and how needs grow.
    """
    if results.report is None or not shows_growth(results.report):
        old = "The figure is of version 1 of the world, with one seed: it decides nothing."
        return f"{old} {explained(results)}"
    comparisons = [lead(results.report, False, k) for k in WORLDS]
    leads = [f"{c.figure} {c.case}" for c in comparisons if c.verdict == HOLDS]
    words = (
        "To reach 90 % test accuracy, the CNN-LSTM needs more examples than the Place-Binder Network (in "
        f"brackets 95 % intervals): {'; '.join(leads)}."
        if leads
        else ""
    )
    return " ".join(filter(None, (words, explained(results), growing(results))))


def growing(results: Results) -> str:
    """Two sentences on growth without a distractor: additional data, and exponents by both stopping rules."""
    additional = adds(results.report, False)
    data = (
        f"The Place-Binder Network also needs less additional data as the world grows: {additional.figure}."
        if additional.verdict == HOLDS
        else ""
    )
    exponents = {HOLDS: "smaller", FAILS: "larger"}
    ours, literal = grows(results.report, False), grows(results.beside(LITERAL), False)
    if ours.verdict not in exponents:
        return data
    other = (
        f", but with the {exponents[literal.verdict]} one under the paper's stopping rule"
        if literal.verdict in exponents and literal.verdict != ours.verdict
        else ""
    )
    exponent = f"Its need grows with the {exponents[ours.verdict]} exponent{other}."
    return " ".join(filter(None, (data, exponent)))


def explained(results: Results) -> str:
    """One sentence: which of structure and boxes explains the lead."""
    words = {
        HOLDS: "Structure lowers the need more than box supervision does",
        FAILS: "Box supervision lowers the need more than structure does",
        UNDECIDED: "Whether structure or box supervision lowers the need more is undecided",
    }
    measured = [
        (words[c.verdict], f"{c.case} {c.figure}") for c in explanations(results) if c.verdict in words
    ]
    if not measured:
        return (
            "Whether the Place-Binder Network's lead comes from its structure or from box supervision is "
            "being measured."
        )
    return " ".join(
        f"{outcome}: {'; '.join(case for said, case in measured if said == outcome)}."
        for outcome in dict.fromkeys(outcome for outcome, _ in measured)
    )
