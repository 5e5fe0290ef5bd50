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

from pathlib import Path
from typing import Any

from simtown.columns import FLAG, NUMBER, TEXT
from simtown.files import save_text
from simtown.probes.results import NAME, Study
from simtown.probes.visual.dataset import GROUPS
from simtown.quoting import csv_text, markdown, markdown_table, title_of

TASKS = ("color", "shape", "material", "cooccurrence", "size")
STUDY = Study(
    "simtown probe visual",
    "simtown visual commonsense",
    frozenset({NAME, "summary.csv", "summary.md", "prompts", *(f"{t}{end}" for t in TASKS for end in (".parquet", ".png"))}),
)

_SIZES = {"method": TEXT, "noun": TEXT, "size": TEXT, "score": NUMBER}
_COMPARED = {"mode": TEXT, "subject": TEXT, "group": TEXT, "rho": NUMBER, "right": FLAG}


def rows(path: Path, task: str) -> dict[str, list[Any]]:
    """What is compared of a task's rows, or drawn of size's, read back by column. Raises DamagedError."""
    found: dict[str, list[Any]] = STUDY.table(path, task, _SIZES if task == "size" else _COMPARED).to_pydict()
    return found


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
    page = [f"# {markdown(title_of(content['settings']['model']))}", "", markdown_table([HEADS, *table]), "",
          "score: mean Spearman ρ over subjects ± sd, times 100 (of size: rank partition, per cent; projection: one ρ over "
          "nouns); in brackets 95 % bootstrap intervals over subjects; prior: the train subjects' mean distribution (of size: a random "
          "order); ceiling: the best that a ranking without ties can reach; choice of 2: the best class against a wrong one."]  # fmt: skip
    save_text(path / "summary.csv", csv_text([HEADS, *table]))
    save_text(path / "summary.md", "\n".join(page) + "\n")
