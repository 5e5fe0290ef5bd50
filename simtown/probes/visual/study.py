"""Colour, shape, material, size and co-occurrence of things (Zhang et al. 2022): ``simtown probe visual``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simtown.probes.item_study import ItemStudy
from simtown.probes.study import Source, SummaryTable, TaskRequest, TaskResult
from simtown.probes.visual.settings import TASKS, VisualSettings, visual_record

if TYPE_CHECKING:
    import numpy as np

    from simtown.core.runs import RunRecord
    from simtown.probes.items import ItemSet
    from simtown.probes.printed import PrintedTable


class VisualData(Protocol):
    """Where items come from: the release, or what was mined."""

    folder: Path

    def tasks(self) -> tuple[str, ...]: ...

    def dataset(self, relation: str) -> ItemSet: ...

    def sizes(self) -> Mapping[str, Sequence[str]]: ...

    def templates(self, relation: str) -> tuple[str, ...]: ...

    def counts(self, relation: str) -> tuple[tuple[str, ...], np.ndarray]: ...


@dataclass(frozen=True)
class VisualSource:
    """The data of a run, with the items that were read.

    Attributes:
        data: the release, or what was mined.
        items: by task; filled as tasks are asked about.
    """

    data: VisualData
    items: dict[str, ItemSet] = field(default_factory=dict)


class VisualStudy(ItemStudy):
    """What things look like."""

    name = "visual"
    title = "Colour, shape, material, size, co-occurrence of things."
    about = (
        "Ask a model what things look like, without training it or by a head on its vectors, and compare "
        "with what was seen (Zhang et al. 2022).\n\nWrites every subject's result as Parquet, the means "
        "with intervals, prior and ceiling as JSON, CSV and Markdown, and a picture a task.\n\n"
        "Start with: simtown probe visual --task color --model glove:glove.txt --data VL-commonsense "
        "--out color-glove\n"
        "(VL-commonsense: a clone of github.com/ChenyuHeidiZhang/VL-commonsense, or what simtown probe "
        "visual mine made)."
    )
    source = Source(
        "data",
        "A clone of github.com/ChenyuHeidiZhang/VL-commonsense, or a directory made by simtown probe "
        "visual mine.",
    )
    settings = VisualSettings
    task_names = TASKS
    published = tuple(f"vicomte-table{number}" for number in (1, 2, 3, 4, 5, 6, 9, 11))

    @cached_property
    def record(self) -> RunRecord:
        """The file that says what a directory of its results is."""
        return visual_record()

    def open(self, source: Path, settings: Any) -> VisualSource:
        from simtown.probes.visual.mined import open_data

        return VisualSource(open_data(source))

    def tasks(self, data: VisualSource, settings: Any) -> tuple[str, ...]:
        if settings.task != "all":
            names: tuple[str, ...] = settings.task_names
            return names
        return tuple(task for task in TASKS if task in data.data.tasks())

    def item_set(self, data: VisualSource, task: str) -> ItemSet:
        """The items of a task."""
        if task not in data.items:
            data.items[task] = data.data.dataset(task)
        return data.items[task]

    def digest(self, data: VisualSource, task: str) -> str:
        from simtown.probes.visual import sizes

        return sizes.digest(data.data.sizes()) if task == "size" else super().digest(data, task)

    def ask(self, request: TaskRequest) -> TaskResult:
        use = request.settings.use
        if request.task == "size":
            from simtown.probes.visual import sizes

            return sizes.ask(request)
        if use not in ("tuned", "tuned-embeddings"):
            return super().ask(request)
        from simtown.core.untrusted import folder
        from simtown.probes import item_results
        from simtown.probes.visual import soft_prompts

        data = self.item_set(request.data, request.task)
        progress = request.bars(f"{use}, {data.relation}, passes", soft_prompts.EPOCHS)
        prompts = folder(request.out, "prompts") / f"{data.relation}.safetensors"
        scorer = request.scorer(request.settings.policy)
        result, notes = soft_prompts.tune(
            scorer, data, request.settings.seed, use == "tuned", prompts, progress
        )
        return item_results.result_of(data, use, [result], notes)

    def table(self, content: Mapping[str, Any]) -> SummaryTable:
        from simtown.probes import item_results

        return item_results.table(self.all_lines(content))

    def lines(self, content: Mapping[str, Any], task: str) -> list[dict[str, str]]:
        """The rows of a task in the table of scores, by column."""
        from simtown.probes.visual import sizes

        return sizes.lines(content["tasks"][task]) if task == "size" else super().lines(content, task)

    def remarks(self, content: Mapping[str, Any]) -> list[str]:
        """How many items a model has no answer to, and which nouns of size it cannot say."""
        from simtown.probes.visual import sizes

        size = content["tasks"].get("size")
        return super().remarks(content) + (sizes.remarks(size) if size else [])

    def draw(self, out: Path, task: str, content: Mapping[str, Any], data: Any) -> None:
        if task != "size":
            super().draw(out, task, content, data)
            return
        from simtown.probes.visual import sizes

        sizes.draw(out, content)

    def reproduce(self, table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
        from simtown.probes.visual.release import VisualRelease
        from simtown.probes.visual.tables import TABLES

        tables = TABLES[table](VisualRelease(data), runs)
        return tables, [f"{printed.title}: {verdict}" for printed in tables if (verdict := printed.verdict())]


VISUAL = VisualStudy()
