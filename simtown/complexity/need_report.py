"""The report of many runs, or of others' results, in tables and figures.

:func:`simtown.complexity.estimate.estimate` finds what it says.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from simtown.complexity.bootstrap import DATA, ITEMS, LEVEL, WEIGHTS, marked
from simtown.complexity.cell_table import is_table
from simtown.complexity.csv_results import read_csv
from simtown.complexity.curves import ABOVE, BELOW, RULES
from simtown.complexity.estimate import TARGETS, estimate
from simtown.complexity.finished_runs import counts, read_and_count
from simtown.complexity.quantities import Accuracies, Addition, BothReach, Exponent, Findings, Ratio
from simtown.core.files import as_json, save_text
from simtown.core.tables import Table
from simtown.core.untrusted import markdown
from simtown.core.version import __version__


def report(
    paths: Sequence[Path],
    out: Path,
    *,
    targets: Sequence[float] = TARGETS,
    replicates: int = 1000,
    seed: int = 0,
    family: str = "",
) -> Findings:
    """Read runs or one CSV of results, estimate, and write tables and figures.

    The files are complexity.md, .csv, .json, four more CSVs, samples.png and learning.png. With a `family`,
    only its test questions count.

    Raises:
        FileNotFoundError: a path does not exist, or holds no finished run.
        DamagedError: a file of a run is damaged.
        ValueError: the table is damaged, the runs cannot be compared, or :func:`estimate` raises it.
    """
    from simtown.complexity.learning_figure import learning
    from simtown.complexity.needs_figure import samples

    tables = [path for path in paths if path.suffix.lower() == ".csv" and not is_table(path)]
    if tables and family:
        raise ValueError(f"{tables[0]} is a table of results, without families: leave `family` out")
    if tables and len(paths) > 1:
        raise ValueError(f"{tables[0]} is a table of results: give it alone")
    source: dict[str, Any]
    if tables:
        runs, reference, worlds = read_csv(tables[0])
        source = {"reference": reference, "world": "world" if worlds else ""}
    else:
        runs, skipped = read_and_count(paths, family)
        source = {"skipped": skipped}
    findings = estimate(runs, targets=targets, replicates=replicates, seed=seed, **source)
    if family:
        findings.notes.insert(0, f"only the test questions of the family {family} count")
    out.mkdir(parents=True, exist_ok=True)
    write_tables(findings, out)
    samples(findings, out / "samples.png")
    learning(findings, out / "learning.png", chance=not any(run.asks for run in runs))
    return findings


#: What complexity.json says first of an estimate, as it is.
_COPIED = ("targets", "seed", "replicates", "runs", "skipped", "notes")


def write_tables(report: Findings, out: Path) -> None:
    """Write complexity.md, .json, .csv (the rows), and CSVs of exponents, ratios, additions and accuracies.

    Each file is whole, or the old one stays.
    """
    kinds = {"exponents": Exponent, "ratios": Ratio, "additions": Addition, "accuracies": Accuracies}
    rows = [_plain(row, ("samples", "low", "high")) for row in report.rows]
    lists = {name: [_plain(entry) for entry in getattr(report, name)] for name in kinds}
    content = {
        "format": "simtown-complexity",
        "simtown": __version__,
        "level": LEVEL,
        **{name: getattr(report, name) for name in _COPIED},
        "rows": rows,
        **lists,
        "both_reach": [asdict(entry) for entry in report.both_reach],
        "curves": [
            {field.name: as_json(getattr(curve, field.name)) for field in fields(curve) if field.repr}
            for curve in report.curves
        ],
    }
    save_text(out / "complexity.json", json.dumps(content, indent=1, allow_nan=False) + "\n")
    save_text(out / "complexity.csv", Table.of_records(rows).csv())
    for name, kind in kinds.items():
        columns = [field.name for field in fields(kind)]
        save_text(out / f"complexity-{name}.csv", Table.of_records(lists[name], columns).csv())
    save_text(out / "complexity.md", _page(report))


def _plain(finding: Any, censored: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of a finding with numbers that JSON has.

    An N* becomes a number, or null beside its state; any other number that is not finite becomes null.
    """
    result: dict[str, Any] = {}
    for key, value in asdict(finding).items():
        if key in censored:
            state = {BELOW: "left-censored", ABOVE: "right-censored"}.get(value, "exact")
            if key == "samples" and finding.jumps:
                state = "between"
            result |= {key: round(value, 1) if state == "exact" else None, f"{key}_state": state}
        else:
            result[key] = as_json(round(value, 6) if isinstance(value, float) else value)
    return result


# complexity.md

_NEED_TEXT = (
    "By the isotonic rule: a fit that never falls, joined by a cubic in log n that never falls either, with "
    "its interval. Beside it the smallest trained size that reached the target, which is the paper's rule. "
    "*Between*: the curve jumps between two sizes, or has no trained size beyond them, so nothing says where."
)
#: What the intervals do not hold.
_SCOPES = {
    ITEMS: (
        '**Where there is one seed ("items only (too narrow)"), the interval covers the choice of test '
        "items only**, not the luck of training: in simulated experiments 26 to 80 % of such intervals "
        "hold the truth."
    ),
    WEIGHTS: (
        '**Where all seeds share one data set ("weights and items (too narrow)")**, the interval holds '
        "for that data set alone: fewer than 95 % of such intervals hold the truth over data sets."
    ),
    DATA: (
        'Where all seeds share one world ("(of one world)"), the interval holds for these kinds of '
        "vehicles alone, not for another choice of as many."
    ),
}
_EXPONENT_TEXT = (
    "N* grows as {world}^exponent: maximum likelihood with normal scatter of log N*, in which a censored "
    "world says only that N* lies beyond its limit. An end of an interval that is missing is unknown. The "
    'range after "else" shows how much an exponent hinges on censored worlds: each is left out, or its bound '
    'is taken for its need. A difference is "decided" if its interval excludes 0, on one side, in all these '
    "cases and holds more than the luck of one data set."
)
_ADDITION_TEXT = (
    "Samples needed in the largest world less those in the smallest, which is the paper's own way to "
    'compare growth ("less additional data as entity count increases"). Two numbers are bounds: N* of a '
    "censored world is known no better."
)
_RATIO_TEXT = (
    "Paired: in a replicate, models tested on the same set see the same drawn items, and models of the "
    "same seeds the same drawn seeds."
)
_ACCURACY_TEXT = (
    "Means over seeds. Validation examples are drawn as training examples are; reweighted by equation "
    "1; test examples are uniform."
)
_HELD_OUT_TEXT = (
    " Held out: compositions that training never shows; seen: test questions, which hold none of them, with "
    "families as frequent."
)


def _page(report: Findings) -> str:
    overs = dict.fromkeys(row.interval_over for row in report.rows)
    parts = [
        "# Samples needed",
        f"{report.runs} run{'s' if report.runs > 1 else ''}; {LEVEL:.0%} intervals from "
        f"{report.replicates:,} bootstrap replicates (seed {report.seed}). "
        "`>`: not reached on the largest set. `≤`: reached on the smallest already.",
        *(_SCOPES[over] for over in overs if over in _SCOPES),
    ]
    if report.skipped:
        parts.append(f"Left out, not finished: {markdown(counts(report.skipped))}.")
    parts += [f"Note: {markdown(note)}." for note in report.notes]
    parts += ["## Needs", _NEED_TEXT, Table.of_records(report.table()).markdown(), *_next_sizes(report)]

    def of_model(x: Exponent | Addition) -> dict[str, str]:
        head = report.head(x.model, 0, x.distractor)
        return {name: cell for name, cell in head.items() if name != report.world}

    def of_pair(x: Ratio) -> dict[str, str]:
        head = report.head(f"{x.upper} / {x.lower}", x.entities, x.distractor)
        return {"models": head.pop("model"), **head, "target": f"{x.target:.4g}"}

    exponents, unknown = _by_rule(report.exponents, lambda x: {**of_model(x), "target": f"{x.target:.4g}"})
    ratios, _ = _by_rule(report.ratios, of_pair)
    additions, _ = _by_rule(
        report.additions,
        lambda x: {**of_model(x), report.world: f"{x.few} → {x.many}", "target": f"{x.target:.4g}"},
    )
    if exponents:
        parts += ["## Exponent", _EXPONENT_TEXT.format(world=report.world), exponents]
    if unknown:
        parts.append(_no_exponent(unknown))
    if ratios:
        parts += ["## Ratio of samples needed", _RATIO_TEXT, ratios]
    if additions:
        parts += ["## Additional data", _ADDITION_TEXT, additions]
    return "\n\n".join([*parts, *_both_reach(report), *_accuracies(report)]) + "\n"


def _next_sizes(report: Findings) -> list[str]:
    """A sentence about the sizes that would say where curves that jump reach their targets."""
    sizes: dict[str, dict[str, None]] = {}
    for row in report.rows:
        if row.jumps and row.next_size:
            names = map(str, report.head(row.model, row.entities, False).values())
            sizes.setdefault(" ".join([*names][:2]), {})[f"{row.next_size:,}"] = None
    texts = (f"{markdown(name)}: {', '.join(own)}" for name, own in sizes.items())
    return [f"Sizes worth training next: {'; '.join(texts)}."] if sizes else []


def _by_rule(
    findings: Sequence[Any], case: Callable[[Any], dict[str, str]]
) -> tuple[str, list[dict[str, str]]]:
    """A table with a line for each case and a column for each rule, or "" if nothing is known.

    Also the cases that it leaves out, since nothing is known of them. `case` gives the first cells of a
    finding's line.
    """
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    for finding in findings:
        lines.setdefault(tuple(case(finding).values()), {})[finding.rule] = finding
    known, unknown = [], []
    for by_rule in lines.values():
        main = by_rule["isotonic"]
        if any(finding.known for finding in by_rule.values()):
            values = {rule: _value(by_rule[rule]) for rule in RULES}
            verdict = {} if isinstance(main, Ratio) else {"verdict": main.verdict if main.known else ""}
            known.append(case(main) | values | {"interval over": marked(main.interval_over)} | verdict)
        else:
            unknown.append(case(main))
    return Table.of_records(known).markdown() if known else "", unknown


def _value(finding: Any) -> str:
    if not finding.known:
        return "–"
    if isinstance(finding, Exponent) and finding.uncensored < finding.worlds:
        text = f"{finding}; {finding.uncensored} of {finding.worlds} worlds uncensored"
        return f"{text}, else {finding.sensitivity}" if finding.sensitivity else text
    return str(finding)


def _no_exponent(unknown: Sequence[dict[str, str]]) -> str:
    targets: dict[str, list[str]] = {}
    for line in unknown:
        name = line["model"] + ", distractor" * (line.get("distractor") == "yes")
        targets.setdefault(name, []).append(line["target"])
    which = "; ".join(f"{name} at {', '.join(levels)}" for name, levels in targets.items())
    return f"No exponent, because two worlds that are not censored are needed: {markdown(which)}."


def _both_reach(report: Findings) -> list[str]:
    sentences = [
        f"{markdown(x.upper)} and {markdown(x.lower)} both reach "
        f"{x.target:.4g}{', with distractor,' if x.distractor else ''} on: {_sets(report, x)}."
        for x in report.both_reach
        if x.sets
    ]
    title = "## Sets on which both models reach a target"
    return [title, "Models compared on the same sets, as the paper does.", *sentences] if sentences else []


def _sets(report: Findings, pair: BothReach) -> str:
    """`31 entities 20,000 and 40,000; 60 entities 40,000`."""
    sizes: dict[int, list[str]] = {}
    for entities, n in pair.sets:
        sizes.setdefault(entities, []).append(f"{n:,}")
    world = {"entities": "{} entities ", "world": "world {} "}.get(report.world, "")
    return "; ".join(world.format(entities) + " and ".join(numbers) for entities, numbers in sizes.items())


def _accuracies(report: Findings) -> list[str]:
    if not any(np.isfinite([x.validation, x.held_out]).any() for x in report.accuracies):
        return []
    held_out = any(np.isfinite(x.held_out) for x in report.accuracies)
    lines = [
        {
            **report.head(x.model, x.entities, x.distractor),
            "samples": f"{x.size:,}",
            "seeds": str(x.seeds),
            "validation": _share(x.validation),
            "reweighted validation": _share(x.reweighted),
            "uniform test": _share(x.test),
            **({"held out": _share(x.held_out), "seen": _share(x.seen)} if held_out else {}),
        }
        for x in report.accuracies
    ]
    measures, text = ("five", _ACCURACY_TEXT + _HELD_OUT_TEXT) if held_out else ("three", _ACCURACY_TEXT)
    return [f"## Accuracy by {measures} measures", text, Table.of_records(lines).markdown()]


def _share(accuracy: float) -> str:
    return "–" if np.isnan(accuracy) else f"{accuracy:.3f}"
