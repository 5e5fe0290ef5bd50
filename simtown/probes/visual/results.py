"""A directory of results: one model asked in one way about any of the relations.

================ =====================================================================================================================
file             content
================ =====================================================================================================================
summary.json     the settings, and for each task its means with intervals, by group and by class
summary.csv .md  the means, a row a task, mode and group
TASK.parquet     one row a subject and mode: group, best class, what was said, right, ρ, prior's ρ, ceiling, log-probabilities
TASK.png         ρ by group and by class between prior and ceiling; of size: rank partition and projections (Figures 3, 4)
================ =====================================================================================================================

The same settings continue where an earlier run ended; others are refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import simtown
from simtown.files import DamagedError, ForeignDirectoryError, claimed, replacing, save_json
from simtown.probes.visual.dataset import GROUPS

NAME, FORMAT, SCHEMA = "summary.json", "simtown visual commonsense", 1
TASKS = ("color", "shape", "material", "cooccurrence", "size")
_OWN = {NAME, "summary.csv", "summary.md", "prompts", *(f"{t}{end}" for t in TASKS for end in (".parquet", ".png"))}


class Directory:
    """Results that are being written; open one with :func:`opened`."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path, self.content = path, content

    def has(self, task: str) -> bool:
        return task in self.content["tasks"] and (self.path / f"{task}.parquet").is_file()

    def add(self, task: str, rows: dict[str, Any], told: dict[str, Any]) -> None:
        """Write a task's rows, then its summary, whose presence says that the rows are whole."""
        with replacing(self.path / f"{task}.parquet") as temporary:
            pq.write_table(pa.table(rows), temporary)
        self.content["tasks"][task] = finite(told)
        save_json(self.path / NAME, self.content)


@contextmanager
def opened(path: Path, settings: dict[str, Any]) -> Iterator[Directory]:
    """The directory, new or continued, kept for this process.

    Raises:
        ForeignDirectoryError: it holds something else, results with other settings, or is being written.
    """
    with claimed(path, "simtown probe visual"):
        if (path / NAME).exists():
            content = load(path)
            changed = [f"{key}: {json.dumps(content['settings'].get(key))} there, {json.dumps(value)} now"
                       for key, value in settings.items() if content["settings"].get(key) != value]  # fmt: skip
            if changed:
                raise ForeignDirectoryError(f"{path} holds results with other settings ({'; '.join(changed)}): give another --out")
        else:
            strange = sorted(p.name for p in path.iterdir() if p.name not in _OWN and not p.name.endswith(".tmp"))
            if strange:
                raise ForeignDirectoryError(f"{path} holds {strange[0]}, which simtown probe visual did not make: give another --out")
            content = {"format": FORMAT, "schema": SCHEMA, "version": simtown.__version__, "settings": settings, "tasks": {}}
            save_json(path / NAME, content)
        yield Directory(path, content)


def load(path: Path) -> dict[str, Any]:
    """What summary.json says. Raises FileNotFoundError, DamagedError, ForeignDirectoryError."""
    file = path / NAME
    if not file.is_file():
        raise FileNotFoundError(f"{path} holds no results (no {NAME}): make them with simtown probe visual")
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        known = (content["format"], content["schema"]) == (FORMAT, SCHEMA) and isinstance(content["tasks"], dict)
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{file} is damaged ({error}): delete the directory and make it again") from error
    if not known:
        raise ForeignDirectoryError(f"{file} was not made by this version of simtown probe visual")
    return content


def rows(path: Path, task: str) -> dict[str, list[Any]]:
    """A task's rows, read back by column. Raises DamagedError."""
    file = path / f"{task}.parquet"
    try:
        found: dict[str, list[Any]] = pq.read_table(file).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise DamagedError(f"{file} is missing or damaged ({error}): delete it and run simtown probe visual again") from error
    return found


def finite(content: Any) -> Any:
    """JSON has no NaN: null."""
    if isinstance(content, dict):
        return {k: finite(v) for k, v in content.items()}
    if isinstance(content, list):
        return [finite(v) for v in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def lines(content: dict[str, Any]) -> list[dict[str, str]]:
    """One line a task, mode and group: what the tables show. Numbers are times 100."""

    def mean(told: dict[str, Any] | None, *, spread: bool = False) -> str:
        if not told or told["mean"] is None:
            return ""
        sd = f" ± {100 * told['sd']:.1f}" if spread else ""
        return f"{100 * told['mean']:.1f}{sd} [{100 * told['low']:.1f}, {100 * told['high']:.1f}]"

    def share(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.1f}"

    def small(p: float | None) -> str:
        return "" if p is None else f"{p:.2g}"

    found = []
    for task in (t for t in TASKS if t in content["tasks"]):
        told = content["tasks"][task]
        if task == "size":
            for name, one in told["partition"].items():
                found.append({"task": task, "mode": name, "n": str(one["n"]), "score": mean(one, spread=True),
                              "prior": share(one["chance"]), "ceiling": share(one["perfect"])})  # fmt: skip
            if told.get("projection"):
                one = told["projection"]
                found.append({"task": task, "mode": "projection ρ with size", "n": str(one["n"]),
                              "score": f"{share(one['rho'])} (p = {one['p']:.2g})", "prior": "0.0",
                              "ceiling": share(one["ceiling"])})  # fmt: skip
            continue
        for mode, one in told["modes"].items():
            for group in (g for g in ("all", *GROUPS) if g in one["groups"]):
                numbers = one["groups"][group]
                above = numbers.get("above_prior") or {}
                found.append({
                    "task": task, "mode": mode, "group": group, "n": str(numbers["n"]), "score": mean(numbers.get("rho"), spread=True),
                    "prior": share(numbers.get("prior_rho")), "ceiling": share(numbers.get("ceiling_rho")),
                    "above prior": share(above.get("mean")), "paired p": small(above.get("paired_p")),
                    "Welch p": small(above.get("welch_p")),
                    "Acc@1": mean(numbers["accuracy"]), "prior Acc@1": share(numbers["prior_accuracy"]),
                    "choice of 2": mean(numbers["choice"]),
                })  # fmt: skip
    return found


HEADS = (
    "task",
    "mode",
    "group",
    "n",
    "score",
    "prior",
    "ceiling",
    "above prior",
    "paired p",
    "Welch p",
    "Acc@1",
    "prior Acc@1",
    "choice of 2",
)


def write_tables(path: Path, content: dict[str, Any]) -> None:
    """summary.csv and .md."""
    table = [[line.get(head, "") for head in HEADS] for line in lines(content)]
    csv = [",".join(f'"{cell}"' if "," in cell else cell for cell in row) for row in (list(HEADS), *table)]
    md = [f"# {content['settings']['model']}", "", *(f"| {' | '.join(row)} |" for row in (list(HEADS), ["---"] * len(HEADS), *table)), "",
          "score: mean Spearman ρ over subjects ± sd, times 100 (of size: rank partition, per cent; projection: one ρ over "
          "nouns); in brackets 95 % bootstrap intervals over subjects; prior: the train subjects' mean distribution (of size: a random "
          "order); ceiling: the best that a ranking without ties can reach; choice of 2: the best class against a wrong one."]  # fmt: skip
    for end, text in (("csv", csv), ("md", md)):
        with replacing(path / f"summary.{end}") as temporary:
            temporary.write_text("\n".join(text) + "\n", encoding="utf-8")
