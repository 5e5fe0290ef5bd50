"""The report of many runs: what :func:`simtown.training.complexity.estimate` finds, as Markdown, CSV, JSON and figures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import simtown
from simtown.files import replacing
from simtown.training.bootstrap import LEVEL, Curve
from simtown.training.complexity import TARGETS, estimate
from simtown.training.curves import ABOVE, BELOW, MISFIT, RULES
from simtown.training.findings import Exponent, Ratio, Report, Row, yes
from simtown.training.results import counts, read_and_count


def report(paths: Sequence[Path], out: Path, *, targets: Sequence[float] = TARGETS, replicates: int = 1000, seed: int = 0) -> Report:
    """Read the runs, estimate, and write complexity.md, .csv, .json, two more CSVs, samples.png and learning.png into `out`.

    Raises:
        FileNotFoundError, DamagedError, ValueError: as :func:`read_runs` and :func:`estimate`.
    """
    from simtown.training import figures

    runs, skipped = read_and_count(paths)
    result = estimate(runs, targets=targets, replicates=replicates, seed=seed, skipped=skipped)
    out.mkdir(parents=True, exist_ok=True)
    write_tables(result, out)
    figures.samples(result, out / "samples.png")
    figures.learning(result, out / "learning.png")
    return result


def write_tables(report: Report, out: Path) -> None:
    """complexity.md, .json and .csv (the rows), complexity-exponents.csv and complexity-ratios.csv; each file whole or not at all."""
    rows = [_plain(asdict(row), ("samples", "low", "high", "median")) for row in report.rows]
    exponents, compared = ([_plain(asdict(x), ()) for x in xs] for xs in (report.exponents, report.ratios))
    told = {
        "format": "simtown-complexity", "simtown": simtown.__version__, "level": LEVEL, "targets": report.targets, "seed": report.seed,
        "replicates": report.replicates, "runs": report.runs, "skipped": report.skipped, "notes": report.notes, "rows": rows,
        "exponents": exponents, "ratios": compared, "curves": [_learning(curve) for curve in report.curves],
    }  # fmt: skip
    pages = {
        "complexity.json": json.dumps(told, indent=1, allow_nan=False) + "\n",
        "complexity.csv": _csv(rows, Row),
        "complexity-exponents.csv": _csv(exponents, Exponent),
        "complexity-ratios.csv": _csv(compared, Ratio),
        "complexity.md": _markdown(report),
    }
    for name, page in pages.items():
        with replacing(out / name) as temporary:
            temporary.write_text(page, encoding="utf-8")


def _plain(record: dict[str, Any], censored: Sequence[str]) -> dict[str, Any]:
    """Numbers that JSON has: an N* becomes a number or null beside its state, any other number that is not finite null."""
    result: dict[str, Any] = {}
    for key, value in record.items():
        number = isinstance(value, float)
        if key in censored:
            state = "none" if np.isnan(value) else {BELOW: "left-censored", ABOVE: "right-censored"}.get(value, "exact")
            result |= {key: round(value, 1) if state == "exact" else None, f"{key}_state": state}
        else:
            result[key] = (round(value, 6) if np.isfinite(value) else None) if number else value
    return result


def _learning(curve: Curve) -> dict[str, Any]:
    return {
        "model": curve.model, "entities": curve.entities, "distractor": curve.distractor, "sizes": curve.sizes.tolist(),
        "accuracy": curve.accuracy.tolist(), "low": curve.low.tolist(), "high": curve.high.tolist(), "seeds": list(curve.seeds),
        "runs": [[None if np.isnan(p) else p for p in row] for row in curve.runs.tolist()],
    }  # fmt: skip


def _csv(records: Sequence[dict[str, Any]], kind: type) -> str:
    names = list(records[0]) if records else list(kind.__dataclass_fields__)  # type: ignore[attr-defined]
    page = io.StringIO()
    writer = csv.DictWriter(page, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return page.getvalue()


_RULES = {
    "smallest": "The smallest trained size that reaches the target (the paper's rule)",
    "isotonic": "A fit that never falls, with straight lines in log n between the sizes",
    "power": "An inverse power law a - b n^-c by weighted least squares. Accuracy that stays at chance and then takes off follows no such "
    "law: where the last column tells of a misfit, do not believe these numbers; exponents and ratios from them are left out",
}
_MISFITTED = f'Power laws that miss an accuracy by more than {MISFIT * 100:.0f} points are left out ("misfit").'


def _markdown(report: Report) -> str:
    lines = [
        "# Samples needed",
        f"{report.runs} runs; {LEVEL:.0%} intervals from {report.replicates:,} bootstrap replicates (seed {report.seed}). "
        "`>`: not reached on the largest set. `≤`: reached on the smallest already.",
    ]
    if any(row.interval_over == "items only" for row in report.rows):
        lines.append("**Where there is one seed, the interval covers the choice of test items only**, not the luck of a training run.")
    if report.skipped:
        lines.append(f"Left out, not finished: {counts(report.skipped)}.")
    lines += [f"Note: {note}." for note in report.notes]
    table = report.table()
    lines += ["## At a glance", "By the isotonic rule (below).", _grid(list(table[0]), [list(row.values()) for row in table])]
    for rule, words in _RULES.items():
        head = ["model", "entities", "distractor", "target", "samples", "low", "high", "interval over", "median over seeds", "reached by"]
        head += ["misfit"] * (rule == "power")
        lines += [f"## By the {rule} rule", f"{words}.", _grid(head, [_cells(row) for row in report.rows if row.rule == rule])]
    lines += _exponents(report.exponents) + _ratios(report.ratios)
    return "\n\n".join(lines) + "\n"


def _exponents(exponents: Sequence[Exponent]) -> list[str]:
    table, untold = _by_rule(exponents, ["model", "distractor", "target"], lambda e: (e.model, yes(e.distractor), f"{e.target:.4g}"))
    lines = []
    if table:
        lines += [
            "## Exponent",
            "N* grows as entities^exponent: maximum likelihood with normal scatter of log N*, in which a censored world says only that N* "
            f"lies beyond its limit. An end of an interval that is missing is unknown. {_MISFITTED}",
            table,
        ]
    targets: dict[str, list[str]] = {}
    for model, distractor, target in untold:
        targets.setdefault(f"{model}{', distractor' if distractor == 'yes' else ''}", []).append(target)
    if targets:
        which = "; ".join(f"{name} at {', '.join(found)}" for name, found in targets.items())
        lines.append(f"No exponent, because two worlds that are not censored are needed: {which}.")
    return lines


def _ratios(found: Sequence[Ratio]) -> list[str]:
    head = ["models", "entities", "distractor", "target"]
    table, _ = _by_rule(found, head, lambda x: (f"{x.upper} / {x.lower}", str(x.entities), yes(x.distractor), f"{x.target:.4g}"))
    words = f"Paired: in a replicate, models tested on the same set see the same drawn items. {_MISFITTED}"
    return ["## Ratio of samples needed", words, table] if table else []


_Found = TypeVar("_Found", bound=Exponent | Ratio)


def _by_rule(found: Sequence[_Found], head: list[str], key: Callable[[_Found], tuple[str, ...]]) -> tuple[str, list[tuple[str, ...]]]:
    """A table with a column a rule, of the lines and rules that tell anything, or ""; and the keys of the other lines."""
    lines: dict[tuple[str, ...], dict[str, _Found]] = {}
    for x in found:
        lines.setdefault(key(x), {})[x.rule] = x
    told = {words for words, cells in lines.items() if any(x.telling for x in cells.values())}
    rules = [rule for rule in RULES if any(x.telling for x in found if x.rule == rule)]
    body = [[*words, *(_cell(cells.get(rule)) for rule in rules)] for words, cells in lines.items() if words in told]
    return _grid([*head, *rules], body) if body else "", [words for words in lines if words not in told]


def _cell(found: Exponent | Ratio | None) -> str:
    if found is None:
        return "–"
    if found.misfit > MISFIT:
        return "misfit"
    if isinstance(found, Exponent) and not found.reason and found.uncensored < found.worlds:
        return f"{found}; {found.uncensored} of {found.worlds} worlds uncensored"
    return str(found) if found.telling else "–"


def _cells(row: Row) -> list[str]:
    cells = [row.model, str(row.entities), yes(row.distractor), f"{row.target:.4g}", *map(row.text, (row.samples, row.low, row.high))]
    cells += [row.interval_over, row.text(row.median), f"{row.seeds_reached} of {row.seeds} seeds"]
    if row.rule == "power":
        cells.append("too few sizes" if np.isnan(row.misfit) else f"up to {row.misfit * 100:.0f} points" if row.misfit > MISFIT else "")
    return cells


def _grid(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body))
