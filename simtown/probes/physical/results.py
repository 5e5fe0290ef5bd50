"""A directory of results: one model, any of the tasks.

=================== ==================================================================================================================
file                content
=================== ==================================================================================================================
summary.json        the settings, and for each task its scores, their intervals, unknown words, tuning, F1 by item
summary.csv .md     the scores, a row a task
summary.tex         the model's row of Table 2
SET-TASK.parquet    left, right, object (text), label, said (bool), score (float64): one row a decision
SET-TASK.png        Figure 2
=================== ==================================================================================================================

The same settings continue where an earlier run ended; others are refused.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from simtown.columns import FLAG, NUMBER, TEXT
from simtown.files import DamagedError, save_text
from simtown.probes import statistics
from simtown.probes.physical import metrics
from simtown.probes.physical.datasets import CATEGORIES, Release
from simtown.probes.physical.models import Judged
from simtown.probes.physical.published import printed
from simtown.probes.physical.tasks import ALL, KINDS, Kind, Rows
from simtown.probes.results import NAME, Study
from simtown.quoting import csv_text, latex, markdown, markdown_table, title_of

TITLES = tuple(f"{s}-{t}" for s, t in ALL)
_COLUMNS = ("left", "right", "object", "label", "said", "score")
STUDY = Study(
    "simtown probe physical",
    "simtown physical commonsense",
    frozenset({NAME, "summary.csv", "summary.md", "summary.tex", *(f"{t}{end}" for t in TITLES for end in (".parquet", ".png"))}),
)


def decisions(path: Path, title: str) -> Judged:
    """A task's decisions, read back. Raises DamagedError."""
    table = STUDY.table(path, title, dict(zip(_COLUMNS, (TEXT, TEXT, TEXT, FLAG, FLAG, NUMBER), strict=True)))
    if not table.num_rows:
        raise DamagedError(f"{path / title}.parquet holds no decisions: delete it and run {STUDY.command} again")
    names, codes = zip(*(np.unique(np.asarray(table[c]).astype(str), return_inverse=True) for c in _COLUMNS[:3]), strict=True)
    lefts, rights, groups = (tuple(str(x) for x in n) for n in names)
    label, said, score = (np.asarray(table[c]) for c in _COLUMNS[3:])
    kinds: tuple[Kind, Kind] = KINDS[title.partition("-")[2]]
    return Judged(kinds, lefts, rights, groups, Rows(codes[0], codes[1], label, codes[2]), said, score)


def table(judged: Judged) -> pa.Table:
    """A row a decision."""
    rows = judged.rows
    named = [pa.array(np.asarray(names, dtype=object)[codes]).cast(pa.string()) for names, codes in
             ((judged.lefts, rows.left), (judged.rights, rows.right), (judged.groups, rows.group))]  # fmt: skip
    return pa.table(dict(zip(_COLUMNS, [*named, rows.label, judged.said, judged.score], strict=True)))


def describe(judged: Judged, release: Release) -> dict[str, Any]:
    """The summary of one task: scores, 95 % intervals over objects, F1 and accuracy by item, correlations with frequency, notes."""
    rows, said = judged.rows, judged.said
    replicates = metrics.replicator(rows, judged.kinds[0] == "object")(said)
    f1 = {kind: metrics.f1_by_item(items, rows.label, said, names)
          for kind, items, names in ((judged.kinds[0], rows.left, judged.lefts), (judged.kinds[1], rows.right, judged.rights))}  # fmt: skip
    content: dict[str, Any] = {
        "decisions": len(rows),
        "scores": asdict(metrics.scores(rows, said)),
        "intervals": {name: statistics.interval(values) for name, values in replicates.items()},
        "f1": f1,
        "frequency": {kind: asdict(frequency_correlation(f1[kind], release.frequencies[kind])) for kind in f1 if kind != "object"},
        **judged.notes,
    }
    if judged.kinds[1] == "property":
        each = metrics.accuracy_by_item(rows.right, rows.label, said, judged.rights)
        content["accuracy"] = each
        content["accuracy_by_category"] = {
            c: float(np.mean([a for uid, a in each.items() if release.properties[uid].category == c])) for c in CATEGORIES
            if any(release.properties[uid].category == c for uid in each)
        }  # fmt: skip
    return content


def frequency_correlation(f1: dict[str, float], frequencies: dict[str, float]) -> statistics.Correlation:
    """Spearman's correlation of items' F1 with how often they are written about (Figure 2 c, d)."""
    names = [n for n in f1 if n in frequencies]
    return statistics.spearman(np.array([frequencies[n] for n in names]), np.array([f1[n] for n in names]))


def short(model: str) -> str:
    """A model's name with its last folder alone: "sentence:all-minilm/model"."""
    kind, colon, place = title_of(model).partition(":")
    return f"{kind}{colon}{'/'.join(Path(place).parts[-2:])}"


def columns(title: str) -> tuple[str, str, str]:
    """What Table 2 calls a task's three columns: "obj", "prop", "μF1"."""
    short = {"object": "obj", "property": "prop", "affordance": "aff"}
    left, right = KINDS[title.partition("-")[2]]
    return short[left], short[right], "μF1"


def write_tables(path: Path, content: dict[str, Any]) -> None:
    """summary.csv, .md and .tex, from what summary.json says."""
    head = ("task", "decisions", "macro_f1_left", "macro_f1_right", "micro_f1", "micro_f1_low", "micro_f1_high", "mean_f1_left",
            "mean_f1_right", "accuracy")  # fmt: skip
    rows: list[tuple[str | float | int, ...]] = []
    for title in (t for t in TITLES if t in content["tasks"]):
        task = content["tasks"][title]
        s = task["scores"]
        rows.append((title, task["decisions"], s["left"], s["right"], s["micro"], *task["intervals"]["micro"], s["left_mean"],
                     s["right_mean"], s["accuracy"]))  # fmt: skip

    def shown(value: str | float | int) -> str:
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    model = short(content["settings"]["model"])
    explained = (
        "macro_f1: harmonic mean of mean precision and mean recall, as the paper prints it; mean_f1: the usual mean of F1s; left, right:",
        "over the first and the second of the task's two kinds; low, high: 95 % bootstrap interval over test objects.",
    )
    grid = markdown_table([head, *([shown(c) for c in row] for row in rows)], ["---"] + ["---:"] * (len(head) - 1))
    page = "\n".join([f"# {markdown(model)}", "", grid, "", *explained])
    cells = [printed(float(value)).removeprefix("0") for row in rows for value in row[2:5]]
    groups = [f"\\multicolumn{{3}}{{c}}{{{row[0]}}}" for row in rows]
    tex = [f"\\begin{{tabular}}{{l{'rrr' * len(rows)}}}", "\\hline", " & ".join(["", *groups]) + r" \\",
           " & ".join(["", *(c.replace("μ", r"$\mu$") for row in rows for c in columns(str(row[0])))]) + r" \\", "\\hline",
           " & ".join([latex(model), *cells]) + r" \\", "\\hline", "\\end{tabular}"]  # fmt: skip
    for end, text in (("csv", csv_text([head, *rows])), ("md", f"{page}\n"), ("tex", "\n".join(tex) + "\n")):
        save_text(path / f"summary.{end}", text)
