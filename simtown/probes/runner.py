"""The one way in which a study is run: one model, any of the study's tasks, one directory.

================= ==========================================================
file              content
================= ==========================================================
summary.json      the settings, and for each task its scores with intervals
summary.csv .md   the scores as a table
TASK.parquet      one row an item
TASK.png          the task's picture
================= ==========================================================

The same settings continue where an earlier run ended; others are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simtown.core.files import ForeignDirectoryError
from simtown.core.version import __version__
from simtown.probes.bars import Bars, no_bars
from simtown.probes.model_names import without_folders
from simtown.probes.release_files import understood
from simtown.probes.result_files import load
from simtown.probes.scorers.base import Scorer
from simtown.probes.study import SUMMARY, ScorerOptions, Study, StudySettings, TaskRequest


def run(
    study: Study,
    source: Path,
    settings: StudySettings,
    out: Path,
    scorer_options: ScorerOptions | None = None,
    bars: Bars = no_bars,
) -> dict[str, Any]:
    """Ask about every task that the directory lacks, and write everything.

    Args:
        study: what is run.
        source: the study's data.
        settings: of the study.
        out: the directory of results, made or continued.
        scorer_options: how the model is run and read.
        bars: opens a progress bar.

    Returns: the content of the directory's record.

    Raises:
        ValueError: a setting is not possible.
        UnableError: the model cannot do what is asked of it.
        ForeignDirectoryError: the directory holds something else, or results with other settings or data.
        DamagedError: the data, or a file of the directory, is damaged.
    """
    settings.check()
    options = scorer_options or ScorerOptions()
    data = study.open(source, settings)
    tasks = study.tasks(data, settings)
    with understood(source):
        digests = {task: study.digest(data, task) for task in tasks}
    kept = study.settings_record(data, settings) | options.changed()
    fresh: dict[str, Any] = {
        "version": __version__,
        "settings": kept | {"model": without_folders(settings.model)},
    }
    if study.record.schema is not None:
        fresh["tasks"] = {}
    scorers: dict[str, Scorer] = {}

    def scorer(policy: str = "left-to-right", *, forced: bool = False) -> Scorer:
        wanted = policy if forced or options.policy is None else options.policy
        if wanted not in scorers:
            chosen = ScorerOptions(
                options.device, options.dtype, wanted, options.variant, options.tokens, options.cache
            )
            scorers[wanted] = chosen.open(settings.model)
        return scorers[wanted]

    with study.record.opened(out, fresh, _settings, lambda path: load(study.record, path)) as content:
        written = False

        def finish() -> None:
            with understood(out / SUMMARY, "give another `out`"):
                for task in content.get("tasks", ()):
                    if not (out / f"{task}.png").is_file():
                        study.draw(out, task, content, data)
                study.write_summary(out, content)

        try:
            for task in tasks:
                digest = digests[task]
                if study.is_done(out, content, task):
                    if content["tasks"][task].get("data") != digest:
                        raise ForeignDirectoryError(
                            f"{out} holds results on other {task} data: give another `out`"
                        )
                    continue
                with understood(source):
                    result = study.ask(TaskRequest(task, data, settings, out, scorer, bars, options))
                if digest is not None:
                    result.summary["data"] = digest
                (out / f"{task}.png").unlink(missing_ok=True)
                study.write_task(out, content, task, result)
                written = True
        except Exception:
            if written:
                finish()
            if [path.name for path in out.iterdir() if not path.name.startswith(".")] == [study.record.name]:
                (out / study.record.name).unlink()  # nothing was done: another command may have the directory
            raise
        finish()
    return content


def _settings(content: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in a record, with the model as others may know it: older records have the whole path."""
    settings = dict(content["settings"])
    if isinstance(settings.get("model"), str):
        settings["model"] = without_folders(settings["model"])
    return settings
