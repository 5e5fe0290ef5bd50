"""Studies of items: subjects, classes and what is right, asked by templates or by a head on vectors.

A study of one's own is an :class:`ItemStudy` with items::

    STUDY = ItemStudy("sounds", make_items("sounds", ["cow", "dog"], ["moo", "bark"], ["a [X] says [Y] ."]))
    runner.run(STUDY, Path(), ItemSettings("hf:bert-base-uncased"), Path("sounds-bert"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core.options import option
from simtown.probes.study import (
    Study,
    StudySettings,
    SummaryTable,
    TaskRequest,
    TaskResult,
)

if TYPE_CHECKING:
    from simtown.probes.items import ItemSet
    from simtown.probes.printed import PrintedTable

USES = ("prompts", "head")
PROTOCOLS = ("paper", "release", "corrected")


@dataclass(frozen=True)
class ItemSettings(StudySettings):
    """What decides the numbers, besides the data.

    Attributes:
        use: prompts (zero-shot), head, another one of the study's ways, or None: what the model can do.
        protocol: see :mod:`simtown.probes.elicit`.
        seed: of the head's solver.
    """

    use: str | None = option(
        None,
        "How the model is used: prompts (zero-shot) or head (logistic regression on its vectors). "
        "Default: prompts where it has probabilities of words.",
        choices=USES,
        flag="as",
    )
    protocol: str = option(
        "corrected",
        "Rules where paper and code differ: paper, release or corrected "
        "(docs/reproduce/visual-commonsense.md).",
        choices=PROTOCOLS,
    )
    seed: int = option(0, "Seed of the head's solver.", low=0, high=2**32 - 1)

    @property
    def policy(self) -> str:
        """For classes of several sub-words: the first stands for all in the paper."""
        return "left-to-right" if self.protocol == "corrected" else "first"


class ItemStudy(Study):
    """A study of sets of items: every set is a task.

    Args:
        name: of the study.
        items: a set of items for each task.
    """

    title = "A study of one's own items."
    settings = ItemSettings

    def __init__(self, name: str = "", *items: ItemSet) -> None:
        if name:
            self.name = name
        self.items = {item_set.relation: item_set for item_set in items}
        self.task_names = self.task_names or tuple(self.items)

    def open(self, source: Path, settings: Any) -> Any:
        """The items; `source` is for studies that read them."""
        return self.items

    def item_set(self, data: Any, task: str) -> ItemSet:
        """The items of a task."""
        items: ItemSet = data[task]
        return items

    def digest(self, data: Any, task: str) -> str:
        from simtown.probes import item_results

        return item_results.digest(self.item_set(data, task))

    def ask(self, request: TaskRequest) -> TaskResult:
        from simtown.probes import item_results

        return item_results.ask(request, self.item_set(request.data, request.task))

    def table(self, content: Mapping[str, Any]) -> SummaryTable:
        """See :meth:`simtown.probes.study.Study.table`. Columns without any number are left out."""
        from simtown.probes import item_results

        return item_results.trimmed(item_results.table(self.all_lines(content), item_results.EXPLAINED_ITEMS))

    def all_lines(self, content: Mapping[str, Any]) -> list[dict[str, str]]:
        """The rows of the table of scores."""
        return [
            line for task in self.task_names if task in content["tasks"] for line in self.lines(content, task)
        ]

    def lines(self, content: Mapping[str, Any], task: str) -> list[dict[str, str]]:
        """The rows of a task in the table of scores, by column."""
        from simtown.probes import item_results

        return item_results.lines(task, content["tasks"][task])

    def draw(self, out: Path, task: str, content: Mapping[str, Any], data: Any) -> None:
        from simtown.core.untrusted import figure_text
        from simtown.probes import judging, plots
        from simtown.probes.result_files import short_model

        summary = judging.in_order(content["tasks"][task])
        title = figure_text(f"{task}, {short_model(str(content['settings']['model']))}")
        if next(iter(summary["modes"].values()))["classes"]:
            plots.rank_correlations(out / f"{task}.png", summary, title)
        else:
            plots.accuracies(out / f"{task}.png", summary, title)

    def remarks(self, content: Mapping[str, Any]) -> list[str]:
        """How many items a model has no answer to."""
        remarks = []
        for task, summary in content["tasks"].items():
            for mode, asked in summary.get("modes", {}).items():
                numbers = asked["groups"]["all"]
                if unanswered := numbers.get("unanswered"):
                    remarks.append(
                        f"{task}, {mode}: no answer to {unanswered:,} of {numbers['n']:,} items, since the "
                        "model knows none of their classes; they count as wrong"
                    )
        return remarks

    def compare(self, a: Path, b: Path) -> list[PrintedTable]:
        from simtown.probes import item_results

        return item_results.compared(self, a, b)
