"""A directory of results: one model, any of the tasks.

===================
==================================================================================================================
file                content
=================== ==================================================================================
summary.json        the settings; for each task scores, intervals, unknown words, tuning, F1 by item
summary.csv .md     the scores, a row a task
summary.tex         the model's row of Table 2
SET-TASK.parquet    left, right, object (text), label, said (bool), score (float64): one row a decision
SET-TASK.png        Figure 2
=================== ==================================================================================

See :mod:`simtown.probes.runner`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from simtown.core.columns import FLAG, NUMBER, TEXT
from simtown.core.files import DamagedError, save_text
from simtown.core.tables import latex_table
from simtown.core.untrusted import latex
from simtown.probes import statistics
from simtown.probes.physical import metrics
from simtown.probes.physical.datasets import CATEGORIES, PhysicalRelease
from simtown.probes.physical.models import DecidedItems
from simtown.probes.physical.published import printed
from simtown.probes.physical.settings import TITLES, physical_record
from simtown.probes.physical.tasks import KINDS, DecisionRows, Kind
from simtown.probes.result_files import read_rows, short_model
from simtown.probes.study import SummaryTable

_COLUMNS = {"left": TEXT, "right": TEXT, "object": TEXT, "label": FLAG, "said": FLAG, "score": NUMBER}


def fingerprint(release: PhysicalRelease) -> str:
    """A digest of everything that was read."""
    digest = blake2b(digest_size=8)
    for part in (
        release.objects,
        release.properties,
        {k: v.tolist() for k, v in release.abstract.items()},
        [(i.annotation, i.object, i.properties.tolist(), i.yes, i.no) for i in release.instances],
        {k: sorted(v) for k, v in release.splits.items()},
        release.answers,
    ):
        digest.update(repr(part).encode())
    return digest.hexdigest()


def decisions(path: Path, title: str) -> DecidedItems:
    """A task's decisions, read back.

    Raises:
        DamagedError: the rows are missing, none, or damaged.
    """
    rows = read_rows(physical_record(), path, title, _COLUMNS)
    if not rows.num_rows:
        raise DamagedError(
            f"{path / title}.parquet holds no decisions: delete it and run {physical_record().command} again"
        )
    names, codes = zip(
        *(
            np.unique(np.asarray(rows[c]).astype(str), return_inverse=True)
            for c in ("left", "right", "object")
        ),
        strict=True,
    )
    lefts, rights, groups = (tuple(str(x) for x in n) for n in names)
    label, decided, score = (np.asarray(rows[c]) for c in ("label", "said", "score"))
    kinds: tuple[Kind, Kind] = KINDS[title.partition("-")[2]]
    return DecidedItems(
        kinds, lefts, rights, groups, DecisionRows(codes[0], codes[1], label, codes[2]), decided, score
    )


def table(judged: DecidedItems) -> pa.Table:
    """A row a decision."""
    rows = judged.rows
    named = [
        pa.array(np.asarray(names, dtype=object)[codes]).cast(pa.string())
        for names, codes in (
            (judged.lefts, rows.left),
            (judged.rights, rows.right),
            (judged.groups, rows.group),
        )
    ]
    return pa.table(dict(zip(_COLUMNS, [*named, rows.label, judged.said, judged.score], strict=True)))


def describe(judged: DecidedItems, release: PhysicalRelease) -> dict[str, Any]:
    """The summary of one task: scores, 95 % intervals over objects, F1 and accuracy by item, correlations
    with frequency, notes.
    """
    rows, decided = judged.rows, judged.said
    replicates = metrics.replicator(rows, judged.kinds[0] == "object")(decided)
    f1 = {
        kind: metrics.f1_by_item(items, rows.label, decided, names)
        for kind, items, names in (
            (judged.kinds[0], rows.left, judged.lefts),
            (judged.kinds[1], rows.right, judged.rights),
        )
    }
    content: dict[str, Any] = {
        "decisions": len(rows),
        "scores": asdict(metrics.scores(rows, decided)),
        "intervals": {name: statistics.interval(values) for name, values in replicates.items()},
        "f1": f1,
        "frequency": {
            kind: asdict(frequency_correlation(f1[kind], release.frequencies[kind]))
            for kind in f1
            if kind != "object"
        },
        **judged.notes,
    }
    if judged.kinds[1] == "property":
        each = metrics.accuracy_by_item(rows.right, rows.label, decided, judged.rights)
        content["accuracy"] = each
        content["accuracy_by_category"] = {
            c: float(np.mean([a for uid, a in each.items() if release.properties[uid].category == c]))
            for c in CATEGORIES
            if any(release.properties[uid].category == c for uid in each)
        }
    return content


def frequency_correlation(f1: dict[str, float], frequencies: dict[str, float]) -> statistics.Correlation:
    """Spearman's correlation of items' F1 with how often they are written about (Figure 2 c, d)."""
    names = [n for n in f1 if n in frequencies]
    return statistics.spearman(np.array([frequencies[n] for n in names]), np.array([f1[n] for n in names]))


def columns(title: str) -> tuple[str, str, str]:
    """What Table 2 calls a task's three columns: "obj", "prop", "μF1"."""
    short = {"object": "obj", "property": "prop", "affordance": "aff"}
    left, right = KINDS[title.partition("-")[2]]
    return short[left], short[right], "μF1"


#: Columns of summary.csv, and the lines below summary.md that explain them.
_HEAD = (
    "task",
    "decisions",
    "macro_f1_left",
    "macro_f1_right",
    "micro_f1",
    "micro_f1_low",
    "micro_f1_high",
    "mean_f1_left",
    "mean_f1_right",
    "accuracy",
)
_EXPLAINED = (
    "macro_f1: harmonic mean of mean precision and mean recall, as the paper prints it; mean_f1: the "
    "usual mean of F1s; left, right:",
    "over the first and the second of the task's two kinds; low, high: 95 % bootstrap interval over test "
    "objects.",
)


def score_table(content: Mapping[str, Any]) -> SummaryTable:
    """The scores, a row a task."""
    rows: list[tuple[str | float | int, ...]] = []
    for title in (t for t in TITLES if t in content["tasks"]):
        task = content["tasks"][title]
        s = task["scores"]
        f1 = (s["left"], s["right"], s["micro"], *task["intervals"]["micro"], s["left_mean"], s["right_mean"])
        rows.append((title, task["decisions"], *f1, s["accuracy"]))
    return SummaryTable(_HEAD, rows, _EXPLAINED, words=1)


def write_latex(path: Path, model: str, table: SummaryTable) -> None:
    """The model's row of Table 2."""
    titles = [str(row[0]) for row in table.rows]
    cells = [printed(float(value)).removeprefix("0") for row in table.rows for value in row[2:5]]
    groups = [f"\\multicolumn{{3}}{{c}}{{{title}}}" for title in titles]
    heads = [c.replace("μ", r"$\mu$") for title in titles for c in columns(title)]
    row = [latex(short_model(model)), *cells]
    save_text(path, latex_table("l" + "rrr" * len(titles), [["", *groups], ["", *heads]], [row]))
