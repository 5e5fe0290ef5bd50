"""A study is a value: settings, items for each task, how a model is asked, and what its answers come to.

:func:`run` runs a study of one model into one directory of results (:mod:`simtown.probes.report`). The same
settings continue where an earlier run ended; others are refused. :mod:`simtown.probes.studies` lists the
studies of the command line; :func:`simtown.probes.item_study.item_study` makes one of items of your own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simtown.core.files import ForeignDirectoryError, as_json, save_text
from simtown.core.options import recorded
from simtown.core.pretrained import fingerprint
from simtown.core.progress import Bars, no_bars
from simtown.core.runs import RunRecord
from simtown.core.version import __version__
from simtown.probes import report
from simtown.probes.model_names import without_folders
from simtown.probes.report import SCHEMA, SUMMARY, Results
from simtown.probes.reproduce import PrintedTable
from simtown.probes.scorers.base import Scorer
from simtown.probes.study_settings import ScorerOptions, StudySettings


@dataclass(frozen=True)
class TaskRequest:
    """What a study has at hand to ask a language model about one task.

    Attributes:
        items: of the task, as :attr:`Study.items` gave them.
        out: the directory of results.
        scorer: gives the model with a policy for words of several sub-words, unless the user chose one or it
            is `forced`; a model is opened once.
        bars: opens a progress bar.
        options: how the model is run, for a study that opens it itself.
    """

    task: str
    items: Any
    settings: Any
    out: Path
    scorer: Callable[..., Scorer]
    bars: Bars = no_bars
    options: ScorerOptions = field(default_factory=ScorerOptions)


@dataclass(frozen=True)
class TaskResult:
    """What a language model answered in one task.

    Attributes:
        rows: columns with a row an item; written as Parquet.
        summary: scores with their intervals; written as JSON, where numbers that are not finite become null.
    """

    rows: Mapping[str, Any]
    summary: dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A study of what text knows.

    Attributes:
        name: of its command, ``simtown probe NAME``.
        settings: the dataclass of its settings.
        tasks: all tasks that a directory of results may have, in the order of tables.
        items: from the path of the data and the settings to the items of each task to ask about.
        digest: of one task's items.
        ask: asks a language model about one task.
        pages: {name of a file: text}, the scores of all tasks; one is ``summary.md``.
        draw: draws the picture of a task, given its items: ``TASK.png``.
        compare: tables of the differences of two directories of results.
        printed: {name of a printed table: makes it beside ours}, from the path of what the paper's authors
            released and the directories of results to add.
        files: names of what the study writes besides.
        form: what summary.json calls the format; "": the command.
        source: the option of its command that names the data.
        positional: whether that is an argument and not an option.
        reads: if the data is a folder, patterns of the files in it that the study reads.
    """

    name: str
    settings: type[StudySettings]
    tasks: tuple[str, ...]
    items: Callable[[Path, Any], Mapping[str, Any]]
    digest: Callable[[Any], str]
    ask: Callable[[TaskRequest], TaskResult]
    pages: Callable[[Results], Mapping[str, str]]
    draw: Callable[[Results, str, Any], object]
    compare: Callable[[Results, Results], list[PrintedTable]]
    printed: Mapping[str, Callable[[Path, Sequence[Path]], list[PrintedTable]]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    form: str = ""
    source: str = "data"
    positional: bool = False
    reads: tuple[str, ...] = ()

    @property
    def record(self) -> RunRecord:
        """The record of its directories of results."""
        owned = {SUMMARY, "summary.csv", "summary.md", *self.files}
        owned |= {f"{task}{end}" for task in self.tasks for end in (".parquet", ".png")}
        command = f"simtown probe {self.name}"
        return RunRecord(SUMMARY, self.form or command, command, frozenset(owned), SCHEMA)


def run(
    study: Study,
    source: Path,
    settings: StudySettings,
    out: Path,
    options: ScorerOptions | None = None,
    bars: Bars = no_bars,
) -> Results:
    """Ask about every task of the data `source` that the directory `out` lacks, and write everything.

    Raises:
        SettingsError: a setting is impossible.
        UnableError: the model cannot do what is asked of it.
        ForeignDirectoryError: the directory holds something else, or results with other settings or data.
        DamagedError: the data, or a file of the directory, is damaged.
    """
    settings.check()
    options = options or ScorerOptions()
    items = study.items(source, settings)
    kept = recorded(settings) | options.changed()
    place = settings.model.partition(":")[2]
    weights = fingerprint(Path(place)) if place and Path(place).exists() else ""
    kept |= {"model": without_folders(settings.model), "weights": weights}
    scorers: dict[str, Scorer] = {}

    def scorer(policy: str = "left-to-right", *, forced: bool = False) -> Scorer:
        chosen = policy if forced or options.policy is None else options.policy
        if chosen not in scorers:
            scorers[chosen] = replace(options, policy=chosen).open(settings.model)
        return scorers[chosen]

    fresh: dict[str, Any] = {"version": __version__, "settings": kept, "tasks": {}, "data": {}}
    record = study.record
    with record.opened(out, fresh) as content:
        results = Results(out, content)
        try:
            for task, asked in items.items():
                digest, rows, picture = study.digest(asked), out / f"{task}.parquet", out / f"{task}.png"
                if content["data"].get(task, digest) != digest:
                    problem = f"{out} holds results on other {task} data"
                    raise ForeignDirectoryError(f"{problem}: give another `out`")
                if task not in results.tasks or not rows.is_file():
                    content["data"][task] = digest
                    record.save(out, content)
                    result = study.ask(TaskRequest(task, asked, settings, out, scorer, bars, options))
                    picture.unlink(missing_ok=True)
                    report.write_rows(rows, result.rows)
                    results.tasks[task] = as_json(result.summary)
                    record.save(out, content)
                if not picture.is_file():
                    study.draw(results, task, asked)
        finally:
            if results.tasks:
                for name, text in study.pages(results).items():
                    save_text(out / name, text)
            elif [path.name for path in out.iterdir() if not path.name.startswith(".")] == [SUMMARY]:
                (out / SUMMARY).unlink()  # nothing was done: another command may have the directory
    return results
