"""The base class of studies: data, questions and scores. :mod:`simtown.probes.runner` does everything else.

A study says which tasks it has, how it asks a language model about one of them, how it sums the answers up
and what its paper printed. The runner opens models and directories, continues what was stopped, and writes
rows, summaries, tables and pictures. :mod:`simtown.probes.studies` lists the studies; the commands under
``simtown probe`` are made from that list.

This module and the settings of every study import nothing heavy, since ``simtown --help`` reads them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core import options
from simtown.core.options import option, recorded
from simtown.probes.bars import Bars, no_bars

if TYPE_CHECKING:
    import pyarrow as pa

    from simtown.core.runs import RunRecord
    from simtown.probes.printed import PrintedTable
    from simtown.probes.scorers.base import Scorer

#: The file that says what a directory of results is, and the version of its format.
SUMMARY, SCHEMA = "summary.json", 1


def weights_digest(model: str) -> str:
    """A digest of the files of a model; "" for one that is not in a file or directory."""
    place = model.partition(":")[2]
    if not place or not Path(place).exists():
        return ""
    from simtown.probes.scorers.cache import fingerprint

    return fingerprint(Path(place))


@dataclass(frozen=True)
class Source:
    """How a study's command is given its data.

    Attributes:
        name: of the option or argument.
        help: what ``--help`` says of it.
        argument: whether it is an argument and no option.
    """

    name: str
    help: str
    argument: bool = False


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study; a subclass adds its own and checks them.

    Attributes:
        model: how the scorer is opened, see :func:`simtown.probes.scorers.open_scorer`.
    """

    model: str = option(help="A language model: hf:ID-OR-DIR, lstm:DIR, glove:FILE, ngram:CORPUS, ...")

    def check(self) -> None:
        """Raises ValueError if a value is not among the possible ones."""
        options.check(self)

    def needs_model(self) -> bool:
        """Whether a scorer has to be opened."""
        return True


@dataclass(frozen=True)
class ScorerOptions:
    """How a language model is run and read; options of every study's command.

    Attributes:
        device: auto, cpu, cuda, or another of PyTorch's names.
        dtype: of the weights.
        policy: for words of several sub-words; None: what suits the study.
        variant: of a masked model's pseudo-log-likelihood.
        tokens: of a batch at most.
        cache: a directory that keeps the answers for another time.
    """

    device: str = option("auto", "Where the model runs: auto, cpu or cuda.", recorded=False)
    dtype: str = option("float32", "Numbers of the model: float32, bfloat16 or float16.")
    policy: str | None = option(
        None,
        "How words of several sub-words are scored: first, drop, joint or left-to-right. "
        "Default: as the study does.",
    )
    variant: str = option(
        "original", "Pseudo-log-likelihood of masked models: original, within_word_l2r or whole_word."
    )
    tokens: int = option(
        1024, "Tokens of a batch at most; a GPU takes more than a CPU.", low=1, recorded=False
    )
    cache: Path | None = option(
        None, "A directory that keeps the model's answers for other studies.", recorded=False
    )

    def changed(self) -> dict[str, Any]:
        """The values that decide the numbers and are not the default."""
        usual = ScorerOptions()
        return {name: value for name, value in recorded(self).items() if value != getattr(usual, name)}

    def open(self, model: str, policy: str = "left-to-right") -> Scorer:
        """The scorer of a model, with a bar on stderr for long work; `policy` is that of the study."""
        from simtown.probes.scorers import open_scorer

        return open_scorer(
            model,
            device=self.device,
            dtype=self.dtype,
            policy=self.policy or policy,  # type: ignore[arg-type]
            variant=self.variant,
            tokens=self.tokens,
            cache=self.cache,
            progress=True,
        )


@dataclass(frozen=True)
class TaskRequest:
    """What a study has at hand to ask a language model about one task.

    Attributes:
        task: its name.
        data: what :meth:`Study.open` gave.
        settings: of the study.
        out: the directory of results.
        scorer: opens the model with a policy for words of several sub-words, unless the user chose one; the
            same model twice is opened once.
        bars: opens a progress bar.
        options: how the model is run; `scorer` heeds them, for a study that opens it otherwise.
    """

    task: str
    data: Any
    settings: Any
    out: Path
    scorer: Callable[..., Scorer]
    bars: Bars = no_bars
    options: ScorerOptions = ScorerOptions()


@dataclass(frozen=True)
class TaskResult:
    """What a language model said in one task.

    Attributes:
        rows: columns with a row an item; written as Parquet.
        summary: scores with their intervals; written as JSON, where numbers that are not finite become null.
    """

    rows: Mapping[str, Any] | pa.Table
    summary: dict[str, Any]


@dataclass(frozen=True)
class SummaryTable:
    """A table of all tasks' scores, for summary.csv and summary.md.

    Attributes:
        head: names of the columns.
        rows: cells, texts or numbers.
        explained: lines below the table that say what the columns mean.
        words: how many columns, from the left, hold words and not numbers; None: all.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | float | int]]
    explained: Sequence[str] = ()
    words: int | None = None


def results_record(study: str, tasks: Sequence[str], form: str = "", files: Sequence[str] = ()) -> RunRecord:
    """The file that says what a directory of a study's results is.

    Args:
        study: its name.
        tasks: all that a directory may have.
        form: what the file calls the format; "": the command.
        files: files and folders that the study writes besides summaries, and the rows and picture of a task.
    """
    from simtown.core.runs import RunRecord

    command = f"simtown probe {study}"
    owned = {SUMMARY, "summary.csv", "summary.md", *files}
    owned |= {f"{task}{end}" for task in tasks for end in (".parquet", ".png")}
    return RunRecord(SUMMARY, form or command, command, frozenset(owned), SCHEMA)


class Study(ABC):
    """A study of what text knows. A subclass fills in what follows; see :mod:`simtown.probes.item_study`.

    Attributes:
        name: of its command, ``simtown probe NAME``.
        title: a few words for the list of commands.
        about: what ``--help`` says.
        source: the option, or argument, that names its data.
        settings: the dataclass of its settings.
        task_names: all tasks that a directory of results may have, in the order of tables.
        published: the names of the printed tables that it reproduces.
        ending: said when a run is finished, with {out} for the directory.
    """

    name: str
    title: str = ""
    about: str = ""
    source: Source = Source("data", "The data of the study.")
    settings: type[StudySettings] = StudySettings
    task_names: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    ending: str = "Everything is in {out}; figures: {out}/*.png"

    @property
    def command(self) -> str:
        """The command that makes its results."""
        return f"simtown probe {self.name}"

    @cached_property
    def record(self) -> RunRecord:
        """The file that says what a directory of its results is."""
        return results_record(self.name, self.task_names)

    @abstractmethod
    def open(self, source: Path, settings: Any) -> Any:
        """Open the data that a path names."""

    def tasks(self, data: Any, settings: Any) -> tuple[str, ...]:
        """The tasks to ask about. Raises ValueError if the settings name another one."""
        return self.task_names

    def settings_record(self, data: Any, settings: Any) -> dict[str, Any]:
        """What decides the numbers, as the directory's record keeps it: the settings, and what the model's
        files hold.
        """
        return recorded(settings) | {"weights": weights_digest(settings.model)}

    def digest(self, data: Any, task: str) -> str | None:
        """A digest of one task's data, kept in its summary; None where :meth:`settings_record` has it."""
        return None

    @abstractmethod
    def ask(self, request: TaskRequest) -> TaskResult:
        """Ask a language model about one task."""

    def is_done(self, out: Path, content: Mapping[str, Any], task: str) -> bool:
        """Whether a directory of results has the task."""
        return task in content["tasks"] and (out / f"{task}.parquet").is_file()

    def write_task(self, out: Path, content: dict[str, Any], task: str, result: TaskResult) -> None:
        """Write the rows of a task, then its summary, whose presence says that the rows are whole."""
        from simtown.core.files import as_json
        from simtown.probes.result_files import write_rows

        write_rows(out / f"{task}.parquet", result.rows)
        content["tasks"][task] = as_json(result.summary)
        self.record.save(out, content)

    def write_summary(self, out: Path, content: Mapping[str, Any]) -> None:
        """Write the tables of all tasks."""
        from simtown.probes.result_files import write_tables

        write_tables(out, content["settings"]["model"], self.table(content))

    def table(self, content: Mapping[str, Any]) -> SummaryTable:
        """The scores of all tasks, from what summary.json says."""
        raise NotImplementedError

    def draw(self, out: Path, task: str, content: Mapping[str, Any], data: Any) -> None:
        """Draw a task's picture, OUT/TASK.png, from what its summary says; nothing by default."""
        return

    def remarks(self, content: Mapping[str, Any]) -> list[str]:
        """Lines to print below the tables at the end of a run."""
        return []

    def compare(self, a: Path, b: Path) -> list[PrintedTable]:
        """Differences of two directories of results, with intervals and paired tests."""
        raise NotImplementedError

    def reproduce(self, table: str, data: Path, runs: Sequence[Path]) -> tuple[list[PrintedTable], list[str]]:
        """A printed table beside ours, and lines on how many numbers agree.

        Args:
            table: one of :attr:`published`.
            data: what the paper's authors released.
            runs: directories of results to add.
        """
        raise NotImplementedError
