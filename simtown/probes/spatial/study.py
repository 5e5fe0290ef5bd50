"""Spatial relations by perplexity (Ghanimifard and Dobnik 2019): ``simtown probe spatial``.

Its directory is not that of the other studies, since its results are matrices: ``run.json`` has the settings,
``scores.npy`` what the model said, ``matrix.tsv`` and ``matrix-sentence.tsv`` the perplexities by token and
by sentence, ``p-vectors.tsv`` and ``embeddings.tsv`` the vectors, ``figure3`` the heat map, ``summary`` the
rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.probes.spatial.settings import FORMAT, OWNED, RUN, SUMMARY, SpatialSettings
from simtown.probes.study import Source, Study, TaskRequest, TaskResult

if TYPE_CHECKING:
    from simtown.core.runs import RunRecord
    from simtown.probes.printed import PrintedTable
    from simtown.probes.spatial.results import SpatialCorpus


class SpatialStudy(Study):
    """Every spatial relation in every other's place."""

    name = "spatial"
    title = "Spatial relations: perplexity vectors of a language model."
    about = (
        "Put every spatial relation in every other's place and see how perplexed a model is (Ghanimifard "
        "and Dobnik, 2019).\n\nPhrases of the corpus are binned by the relation they hold. 67 relations "
        "in up to 57 such contexts make the matrix of perplexities; its rows are the relations' "
        "P-vectors, which are tested by analogies, odd ones out and clusters. --model, --corpus and --out "
        "are needed."
    )
    source = Source(
        "corpus", "Text, one phrase a line, or Visual Genome's region_descriptions.json; packed or not."
    )
    settings = SpatialSettings
    task_names = ("relations",)
    published = ("spatial-figure3", "spatial-analogy", "spatial-odd-one-out", "spatial-similarity")
    ending = "Everything is in {out}; the heat map is {out}/figure3.png and .svg"

    @cached_property
    def record(self) -> RunRecord:
        """The file that says what a directory of its results is."""
        from simtown.core.runs import RunRecord

        return RunRecord(RUN, FORMAT, self.command, OWNED)

    def open(self, source: Path, settings: Any) -> SpatialCorpus:
        from simtown.probes.spatial.results import open_corpus

        return open_corpus(source)

    def settings_record(self, data: SpatialCorpus, settings: Any) -> dict[str, Any]:
        return super().settings_record(data, settings) | {"corpus": data.digest}

    def is_done(self, out: Path, content: Mapping[str, Any], task: str) -> bool:
        """Never: what the model said is kept as it comes, and the rest takes seconds."""
        return False

    def ask(self, request: TaskRequest) -> TaskResult:
        from simtown.probes.spatial.results import run

        return TaskResult({}, run(request))

    def write_task(self, out: Path, content: dict[str, Any], task: str, result: TaskResult) -> None:
        """Write summary.json and summary.md."""
        from simtown.core.files import as_json, save_json, save_text
        from simtown.core.quoting import title_of
        from simtown.probes.spatial.results import page

        summary = as_json(result.summary)
        save_json(out / f"{SUMMARY}.json", summary)
        save_text(out / f"{SUMMARY}.md", page(title_of(content["settings"]["model"]), summary))

    def write_summary(self, out: Path, content: Mapping[str, Any]) -> None:
        """Nothing is left to write."""

    def compare(self, a: Path, b: Path) -> list[PrintedTable]:
        from simtown.probes.spatial.compare import compared

        return compared(a, b)

    def reproduce(self, table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
        from simtown.probes.spatial.reproduce import printed_table

        return printed_table(table, data, runs)


SPATIAL = SpatialStudy()
