"""Objects, properties and affordances (Forbes, Holtzman and Choi 2019): ``simtown probe physical``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.probes.physical.settings import TITLES, PhysicalSettings, physical_record
from simtown.probes.study import Source, Study, SummaryTable, TaskRequest, TaskResult

if TYPE_CHECKING:
    from simtown.core.runs import RunRecord
    from simtown.probes.physical.datasets import PhysicalRelease
    from simtown.probes.printed import PrintedTable


class PhysicalStudy(Study):
    """Which objects have which properties, and what can be done with them."""

    name = "physical"
    title = "Objects, properties, affordances: run a model on the tasks."
    about = (
        "Ask which objects have which properties, what can be done with them, and what the one says of "
        "the other (Forbes et al., 2019).\n\nWrites every decision as Parquet, the scores as JSON, CSV, "
        "Markdown and LaTeX, and Figure 2 as a picture a task."
    )
    source = Source("data", "A clone of github.com/mbforbes/physical-commonsense, or its folder data.")
    settings = PhysicalSettings
    task_names = TITLES
    published = ("forbes-table1", "forbes-table2")

    @cached_property
    def record(self) -> RunRecord:
        """The file that says what a directory of its results is."""
        return physical_record()

    def open(self, source: Path, settings: Any) -> PhysicalRelease:
        from simtown.probes.physical.datasets import read

        return read(source)

    def tasks(self, data: Any, settings: PhysicalSettings) -> tuple[str, ...]:
        from simtown.probes.physical.tasks import chosen

        return tuple(f"{set_name}-{task}" for set_name, task in chosen(settings.task, settings.set_name))

    def settings_record(self, data: Any, settings: PhysicalSettings) -> dict[str, Any]:
        from simtown.probes.physical.results import fingerprint

        return super().settings_record(data, settings) | {"data": fingerprint(data)}

    def ask(self, request: TaskRequest) -> TaskResult:
        from simtown.probes.physical import results
        from simtown.probes.physical.models import judge
        from simtown.probes.physical.tasks import build

        set_name, _, name = request.task.partition("-")
        scorer = request.scorer() if request.settings.needs_model() else None

        task = build(request.data, set_name, name)
        decided = judge(
            request.data,
            task,
            request.settings,
            scorer,
            partial(request.bars, f"{request.task}, steps"),
            request.options,
        )
        return TaskResult(results.table(decided), results.describe(decided, request.data))

    def table(self, content: Mapping[str, Any]) -> SummaryTable:
        from simtown.probes.physical import results

        return results.score_table(content)

    def write_summary(self, out: Path, content: Mapping[str, Any]) -> None:
        """Write the tables of all tasks, also the model's row of Table 2 as LaTeX."""
        from simtown.probes.physical import results

        super().write_summary(out, content)
        results.write_latex(out / "summary.tex", content["settings"]["model"], self.table(content))

    def draw(self, out: Path, task: str, content: Mapping[str, Any], data: PhysicalRelease) -> None:
        from simtown.probes.physical import figures

        figures.figure2(task, content["settings"]["model"], content["tasks"][task], data, out / f"{task}.png")

    def remarks(self, content: Mapping[str, Any]) -> list[str]:
        """Which words a model does not know."""
        remarks = []
        for task, summary in content["tasks"].items():
            for kind, unknown in summary.get("unknown", {}).items():
                if words := unknown["words"]:
                    some = ", ".join(words[:5]) + (", …" if len(words) > 5 else "")
                    remarks.append(
                        f"{task}: {len(words)} words unknown, of {unknown['of']} {kind} names: {some}"
                    )
        return remarks

    def compare(self, a: Path, b: Path) -> list[PrintedTable]:
        from simtown.probes.physical import compare

        return compare.compared(a, b)

    def reproduce(self, table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
        from simtown.probes.physical import reproduce
        from simtown.probes.physical.datasets import read

        return reproduce.printed_table(table, read(data), runs)


PHYSICAL = PhysicalStudy()
