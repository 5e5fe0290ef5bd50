"""The report of many runs, or of others' results, in tables and figures.

:func:`simtown.complexity.estimate.estimate` finds what it says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from simtown.complexity.bootstrap import DATA, ITEMS, LEVEL, WEIGHTS, BootstrapCurve, marked
from simtown.complexity.csv_results import read_table
from simtown.complexity.curves import ABOVE, BELOW, RULES
from simtown.complexity.estimate import TARGETS, estimate
from simtown.complexity.finished_runs import counts, read_and_count
from simtown.complexity.needs import Accuracies, Addition, BothReach, Exponent, Findings, Need, Ratio
from simtown.core.files import as_json, save_text
from simtown.core.tables import csv_text, markdown_table
from simtown.core.untrusted import markdown
from simtown.core.version import __version__


def report(
    paths: Sequence[Path],
    out: Path,
    *,
    targets: Sequence[float] = TARGETS,
    replicates: int = 1000,
    seed: int = 0,
) -> Findings:
    """Read runs or one CSV of results, estimate, and write tables and figures.

    The files are complexity.md, .csv, .json, four more CSVs, samples.png and learning.png.

    Raises:
        FileNotFoundError: a path is not there, or holds no finished run.
        DamagedError: a file of a run is damaged.
        ValueError: the table is damaged, the runs cannot be compared, or :func:`estimate` raises it.
    """
    from simtown.complexity.learning_figure import learning
    from simtown.complexity.needs_figure import samples

    tables = [path for path in paths if path.suffix.lower() == ".csv"]
    if tables and len(paths) > 1:
        raise ValueError(
            f"{tables[0]} is a table of results: give it alone, not with "
            f"{next(p for p in paths if p != tables[0])}"
        )
    if tables:
        table = read_table(tables[0])
        result = estimate(
            table.runs,
            targets=targets,
            replicates=replicates,
            seed=seed,
            reference=table.reference,
            world="world" if table.worlds else "",
        )
    else:
        runs, skipped = read_and_count(paths)
        result = estimate(runs, targets=targets, replicates=replicates, seed=seed, skipped=skipped)
    out.mkdir(parents=True, exist_ok=True)
    write_tables(result, out)
    samples(result, out / "samples.png")
    learning(result, out / "learning.png")
    return result


def write_tables(report: Findings, out: Path) -> None:
    """Write complexity.md, .json, .csv (the rows), and CSVs of exponents, ratios, additions and accuracies.

    Each file is whole, or the old one stays.
    """
    rows = [_plain(asdict(row), ("samples", "low", "high", "median")) for row in report.rows]
    lists: dict[str, tuple[Sequence[Any], type]] = {
        "exponents": (report.exponents, Exponent),
        "ratios": (report.ratios, Ratio),
        "additions": (report.additions, Addition),
        "accuracies": (report.accuracies, Accuracies),
    }
    plain = {name: [_plain(asdict(entry), ()) for entry in entries] for name, (entries, _) in lists.items()}
    content = {
        "format": "simtown-complexity",
        "simtown": __version__,
        "level": LEVEL,
        "targets": report.targets,
        "seed": report.seed,
        "replicates": report.replicates,
        "runs": report.runs,
        "skipped": report.skipped,
        "notes": report.notes,
        "rows": rows,
        **plain,
        "both_reach": [asdict(entry) for entry in report.both_reach],
        "curves": [_learning(curve) for curve in report.curves],
    }
    pages = {
        "complexity.json": json.dumps(content, indent=1, allow_nan=False) + "\n",
        "complexity.csv": _csv(rows, Need),
        **{f"complexity-{name}.csv": _csv(plain[name], kind) for name, (_, kind) in lists.items()},
        "complexity.md": _markdown(report),
    }
    for name, page in pages.items():
        save_text(out / name, page)


def _plain(record: dict[str, Any], censored: Sequence[str]) -> dict[str, Any]:
    """A record with numbers that JSON has.

    An N* becomes a number, or null beside its state; any other number that is not finite becomes null.
    """
    result: dict[str, Any] = {}
    for key, value in record.items():
        number = isinstance(value, float)
        if key in censored:
            state = {BELOW: "left-censored", ABOVE: "right-censored"}.get(value, "exact")
            result |= {key: round(value, 1) if state == "exact" else None, f"{key}_state": state}
        else:
            result[key] = as_json(round(value, 6) if number else value)
    return result


def _learning(curve: BootstrapCurve) -> dict[str, Any]:
    return {
        "model": curve.model,
        "entities": curve.entities,
        "distractor": curve.distractor,
        "sizes": curve.sizes.tolist(),
        "accuracy": curve.accuracy.tolist(),
        "low": curve.low.tolist(),
        "high": curve.high.tolist(),
        "interval_over": curve.interval_over,
        "seeds": list(curve.seeds),
        "runs": as_json(curve.runs),
    }


def _csv(records: Sequence[dict[str, Any]], kind: type) -> str:
    names = list(records[0]) if records else list(kind.__dataclass_fields__)  # type: ignore[attr-defined]
    return csv_text([names, *([record[name] for name in names] for record in records)])


# complexity.md

_RULES = {
    "smallest": "The smallest trained size that reaches the target. This is the paper's rule",
    "isotonic": (
        "A fit that never falls, joined by a cubic in log n that never falls either. It is ours, as are "
        "intervals and censoring"
    ),
}


def _markdown(report: Findings) -> str:
    lines = [
        "# Samples needed",
        f"{report.runs} runs; {LEVEL:.0%} intervals from {report.replicates:,} bootstrap replicates (seed "
        f"{report.seed}). `>`: not reached on the largest set. `≤`: reached on the smallest already.",
        *_scope(report),
    ]
    if report.skipped:
        lines.append(f"Left out, not finished: {markdown(counts(report.skipped))}.")
    lines += [f"Note: {markdown(note)}." for note in report.notes]
    table = report.table()
    words = (
        "By the isotonic rule with its interval, and beside it the smallest trained set that reached the "
        "target (the paper's rule)."
    )
    lines += [
        "## At a glance",
        words,
        markdown_table([list(table[0]), *(list(row.values()) for row in table)]),
    ]
    for rule, words in _RULES.items():
        head = [
            *report.head("", 0, False),
            "target",
            "samples",
            "low",
            "high",
            "interval over",
            "median over seeds",
            "reached by",
        ]
        body = [_cells(report, row) for row in report.rows if row.rule == rule]
        lines += [f"## By the {rule} rule", f"{words}.", markdown_table([head, *body])]
    lines += (
        _exponents(report) + _ratios(report) + _additions(report) + _both_reach(report) + _accuracies(report)
    )
    return "\n\n".join(lines) + "\n"


def _scope(report: Findings) -> list[str]:
    """What the intervals do not hold."""
    overs = dict.fromkeys(row.interval_over for row in report.rows)
    words = {
        ITEMS: (
            '**Where there is one seed ("items only: too narrow"), the interval covers the choice of test '
            "items only**, not the luck of training: in simulated experiments 17 to 74 % of such intervals "
            "hold the truth."
        ),
        WEIGHTS: (
            '**Where all seeds share one data set ("weights and items: too narrow")**, the interval holds '
            "for that data set alone: fewer than 95 % of such intervals hold the truth over data sets."
        ),
        DATA: (
            'Where all seeds share one world ("of one world"), the interval holds for these kinds of '
            "vehicles alone, not for another choice of as many."
        ),
    }
    return [words[over] for over in overs if over in words]


def _cells(report: Findings, row: Need) -> list[str]:
    cells = [*report.head(row.model, row.entities, row.distractor).values(), f"{row.target:.4g}"]
    cells += [row.text(n) for n in (row.samples, row.low, row.high)]
    return [
        *cells,
        marked(row.interval_over),
        row.text(row.median),
        f"{row.seeds_reached} of {row.seeds} seeds",
    ]


def _exponents(report: Findings) -> list[str]:
    def key(x: Exponent) -> tuple[str, ...]:
        return *_of_model(report, x.model, x.distractor), f"{x.target:.4g}"

    head = [*_of_model(report, "model", "distractor"), "target"]
    table, unknown = _by_rule(report.exponents, head, key)
    lines = []
    if table:
        lines += [
            "## Exponent",
            f"N* grows as {report.world}^exponent: maximum likelihood with normal scatter of log N*, in "
            "which a censored world says only that N* lies beyond its limit. An end of an interval that is "
            'missing is unknown. The range after "else" shows how much an exponent hinges on censored '
            'worlds: each is left out, or its bound is taken for its need. A difference is "decided" if '
            "its interval excludes 0, on one side, in all these cases and holds more than the luck of one "
            "data set.",
            table,
        ]
    targets: dict[str, list[str]] = {}
    for *words, target in unknown:
        targets.setdefault(
            ", ".join([words[0], *(["distractor"] if words[1:] == ["yes"] else [])]), []
        ).append(target)
    if targets:
        which = "; ".join(f"{name} at {', '.join(targets_of)}" for name, targets_of in targets.items())
        lines.append(f"No exponent, because two worlds that are not censored are needed: {markdown(which)}.")
    return lines


def _of_model(report: Findings, model: str, distractor: Any) -> list[str]:
    """The first cells of a line about a model, whatever its world."""
    if report.world != "entities":
        return [model]
    return [
        model,
        distractor if isinstance(distractor, str) else report.head(model, 0, distractor)["distractor"],
    ]


def _ratios(report: Findings) -> list[str]:
    def key(x: Ratio) -> tuple[str, ...]:
        return *report.head(f"{x.upper} / {x.lower}", x.entities, x.distractor).values(), f"{x.target:.4g}"

    head = ["models", *list(report.head("", 0, False))[1:], "target"]
    table, _ = _by_rule(report.ratios, head, key)
    words = (
        "Paired: in a replicate, models tested on the same set see the same drawn items, and models of the "
        "same seeds the same drawn seeds."
    )
    return ["## Ratio of samples needed", words, table] if table else []


def _additions(report: Findings) -> list[str]:
    def key(x: Addition) -> tuple[str, ...]:
        return *_of_model(report, x.model, x.distractor), f"{x.few} → {x.many}", f"{x.target:.4g}"

    head = [*_of_model(report, "model", "distractor"), report.world, "target"]
    table, _ = _by_rule(report.additions, head, key)
    words = (
        "Samples needed in the largest world less those in the smallest, which is the paper's own way to "
        'compare growth ("less additional '
        'data as entity count increases"). Two numbers are bounds: N* of a censored world is known no better.'
    )
    return ["## Additional data", words, table] if table else []


def _both_reach(report: Findings) -> list[str]:
    lines = [
        f"{markdown(x.upper)} and {markdown(x.lower)} both reach "
        f"{x.target:.4g}{', with distractor,' if x.distractor else ''} on: {_sets(report, x)}."
        for x in report.both_reach
        if x.sets
    ]
    head = [
        "## Sets on which both models reach a target",
        "Models compared on the same sets, as the paper does.",
    ]
    return [*head, *lines] if lines else []


def _sets(report: Findings, pair: BothReach) -> str:
    """`31 entities 20,000 and 40,000; 60 entities 40,000`."""
    sizes: dict[int, list[str]] = {}
    for entities, n in pair.sets:
        sizes.setdefault(entities, []).append(f"{n:,}")
    words = {"entities": "{} entities ", "world": "world {} "}.get(report.world, "")
    return "; ".join(words.format(entities) + " and ".join(numbers) for entities, numbers in sizes.items())


def _accuracies(report: Findings) -> list[str]:
    if not any(np.isfinite(x.validation) for x in report.accuracies):
        return []
    head = [
        *report.head("", 0, False),
        "samples",
        "seeds",
        "validation",
        "reweighted validation",
        "uniform test",
    ]
    body = [
        [
            *report.head(x.model, x.entities, x.distractor).values(),
            f"{x.size:,}",
            str(x.seeds),
            *("–" if np.isnan(a) else f"{a:.3f}" for a in (x.validation, x.reweighted, x.test)),
        ]
        for x in report.accuracies
    ]
    words = (
        "Means over seeds. Validation examples are drawn as training examples are; reweighted by equation "
        "1; test examples are uniform."
    )
    return ["## Accuracy by three measures", words, markdown_table([head, *body])]


_Finding = TypeVar("_Finding", bound=Exponent | Ratio | Addition)


def _by_rule(
    findings: Sequence[_Finding], head: list[str], key: Callable[[_Finding], tuple[str, ...]]
) -> tuple[str, list[tuple[str, ...]]]:
    """A table with a column for each rule, or "" if nothing is known; and the lines that it leaves out.

    A line of which nothing is known is left out. `key` gives the first cells of a finding's line.
    """
    lines: dict[tuple[str, ...], dict[str, _Finding]] = {}
    for finding in findings:
        lines.setdefault(key(finding), {})[finding.rule] = finding
    known = {first for first, rules in lines.items() if any(finding.telling for finding in rules.values())}
    body = [
        [*first, *(_cell(rules[rule]) for rule in RULES), *_ending(rules["isotonic"])]
        for first, rules in lines.items()
        if first in known
    ]
    verdict = ["verdict"] * any(not isinstance(finding, Ratio) for finding in findings)
    table = markdown_table([[*head, *RULES, "interval over", *verdict], *body]) if body else ""
    return table, [first for first in lines if first not in known]


def _ending(finding: Exponent | Ratio | Addition) -> list[str]:
    """What the interval holds, and of a difference whether it decides."""
    return [marked(finding.interval_over)] + (
        [] if isinstance(finding, Ratio) else [finding.verdict if finding.telling else ""]
    )


def _cell(finding: Exponent | Ratio | Addition) -> str:
    if not finding.telling:
        return "–"
    if isinstance(finding, Exponent) and finding.uncensored < finding.worlds:
        words = f"{finding}; {finding.uncensored} of {finding.worlds} worlds uncensored"
        return f"{words}, else {finding.sensitivity}" if finding.sensitivity else words
    return str(finding)
