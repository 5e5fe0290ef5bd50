"""A grid of studies: models x data x ways of asking, each cell a command `simtown probe STUDY ...` with a
directory of its own.

A TOML file says which (docs/probes.md has one). Every key but `study` is an option of the study's command; a
list stands for several cells.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import file_digest, sha256
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from simtown.core.cluster import Cluster
from simtown.core.files import claimed, clear_leftovers, save_json
from simtown.core.options import options_of
from simtown.core.pool import Processes, Report
from simtown.core.pretrained import CONTENT
from simtown.core.processes import Outcome, default_workers, ending
from simtown.core.runs import load_json
from simtown.core.untrusted import RefusedError, check_name, folder, open_regular, read_toml
from simtown.probes.studies import STUDIES
from simtown.probes.study_settings import ScorerOptions

NAME, FORMAT, VERSION = "grid.json", "simtown probe grid", 1


class GridError(ValueError):
    """A file does not describe a grid; the message names the file and the key."""


class GridCell(NamedTuple):
    """One study of one model.

    Attributes:
        name: of its directory.
        words: of its command, from the study's name on, without --out.
        files: the data and the model that it names, which need not be files, each with patterns of what is
            read in a folder.
    """

    name: str
    words: tuple[str, ...]
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()


def read(path: Path) -> list[GridCell]:
    """The cells of a TOML file, in its order.

    Raises:
        FileNotFoundError: no such file.
        GridError: the file does not describe a grid; the message names the key.
        RefusedError: the file is not a regular file.
    """
    try:
        content = read_toml(path)
    except RefusedError:
        raise
    except ValueError as error:
        raise GridError(f"{path} cannot be read as TOML: {error}") from error
    tables = content.get("grid")
    if content != {"version": VERSION, "grid": tables} or not isinstance(tables, list):
        raise GridError(f"{path} must have version = {VERSION} and [[grid]] tables, and nothing else")
    cells: dict[str, GridCell] = {}
    for cell in (cell for table in tables for cell in _cells(path, table)):
        if any(set(cell.words) == set(other.words) for other in cells.values()):
            raise GridError(f"{path}: two cells have the same settings, {cell.name}: remove one")
        if cell.name in cells:  # of another table, which differs in what a name does not tell
            cell = cell._replace(name=f"{cell.name}-{_hash(cell.words)[:8]}")
        cells[check_name(cell.name, f"{path}: the cell")] = cell
    return list(cells.values())


def _cells(path: Path, table: Any) -> Iterator[GridCell]:
    """The cells of a table."""
    name = table.get("study") if isinstance(table, dict) else table
    if name not in [*STUDIES]:
        raise GridError(f"{path}: study must be {', '.join(STUDIES)}, not {name!r}")
    study = STUDIES[name]
    options_by_name = options_of(study.settings) | options_of(ScorerOptions)
    del options_by_name["cache"]  # no option says where to write
    flags = {
        about.flag or key.replace("_", "-"): kind is bool for key, (kind, about) in options_by_name.items()
    }
    flags[study.source] = False
    settings = {key: value for key, value in table.items() if key != "study"}
    axes = {key: value if isinstance(value, list) else [value] for key, value in settings.items()}
    for key, values in axes.items():
        kind = bool if flags.get(key) else (str, int, float)
        if key not in flags or not values or not all(isinstance(value, kind) for value in values):
            raise GridError(
                f"{path}: '{key}' must be an option of simtown probe {name} without its dashes "
                f"({', '.join(sorted(flags))}), and its value a text, a number, true for what takes none, or "
                "a list of these"
            )
    for chosen in product(*axes.values()):
        options = {key: value for key, value in zip(axes, chosen, strict=True) if value is not False}
        data = str(options.get(study.source, ""))
        words = [f"--{key}" if value is True else f"--{key}={value}" for key, value in options.items()]
        if study.positional:
            place = data if not data.startswith("-") else f"./{data}"
            words = [place if word == f"--{study.source}={data}" else word for word in words]
        differ = [name, *(str(options.get(key)) for key in axes if key == "model" or len(axes[key]) > 1)]
        title = "-".join(re.sub(r"[^\w.]+", ".", part).strip(".")[-60:] for part in differ)
        model = str(options.get("model", "")).partition(":")[2]
        files = ((data, study.reads), (model, tuple(f"*{end}" for end in CONTENT)))
        yield GridCell(title, (name, *words), tuple(file for file in files if file[0]))


def run(
    cells: list[GridCell],
    out: Path,
    jobs: int,
    on_end: Callable[[GridCell, str], object],
    cluster: Cluster | None = None,
) -> Outcome:
    """Run every cell that is not done.

    A cell that fails does not stop the others, and is tried again by the next call.

    Args:
        cells: of :func:`read`.
        out: the directory of the grid; all machines of a cluster must reach it under the same path.
        jobs: cells that run at once on this machine.
        on_end: called with every cell as it ends, and with what went wrong or "".
        cluster: machines to run on instead of this one.

    Raises:
        ForeignDirectoryError: `out` is something else.
        DamagedError: its grid.json cannot be read.
    """
    with claimed(out, FORMAT):
        done: dict[str, str] = {}
        if (out / NAME).exists():
            done = load_json(out / NAME, FORMAT, FORMAT)["done"]
        clear_leftovers(out, lambda name: name == NAME)
        content = {file: _content(*file) for file in {file for cell in cells for file in cell.files}}
        digests = {cell.name: _hash((*cell.words, *(content[file] for file in cell.files))) for cell in cells}
        missing = [cell for cell in cells if done.get(cell.name) != digests[cell.name]]
        outcome = Outcome(len(cells) - len(missing), 0, {})
        save_json(out / NAME, {"format": FORMAT, "done": done})
        pool = cluster or Processes(max(1, min(jobs, len(missing))))
        shared = (str(out.resolve()), os.getcwd(), 1 if cluster else max(1, default_workers() // jobs))
        with closing(pool.outcomes(_study, missing, shared)) as ended:
            for cell, error in ended:
                if isinstance(error, Exception):
                    error = f"{type(error).__name__}: {error}"
                if error:
                    outcome.failed[cell.name] = error
                else:
                    done[cell.name] = digests[cell.name]
                    save_json(out / NAME, {"format": FORMAT, "done": done})
                on_end(cell, error)
        return replace(outcome, now=len(missing) - len(outcome.failed))


def _hash(words: Iterable[str]) -> str:
    """A digest, since a cell's words may name folders of this machine, and grid.json is for others, too."""
    return sha256("\0".join(words).encode(errors="surrogateescape")).hexdigest()


def _content(place: str, patterns: tuple[str, ...]) -> str:
    """A digest of a file, or of the files in a folder that match; "" for what cannot be read."""
    path, words = Path(place), []
    try:
        matching = {file for pattern in patterns for file in path.glob(pattern) if file.is_file()}
        for file in sorted(matching) if path.is_dir() else [path]:
            with open_regular(file) as content:
                digest = file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
                words += [str(file.relative_to(path)), digest]
    except (OSError, RefusedError):
        return ""
    return _hash(words)


#: A command that does not outlive the worker that started it.
_COMMAND = "from simtown.core.processes import end_with; end_with({}); from simtown.cli import main; main()"


def _study(cell: GridCell, report: Report, out: str, home: str, threads: int) -> str:
    """Run the command in a process of its own; it continues an earlier one. Returns what failed, or ""."""
    try:
        place = folder(Path(out), cell.name)
    except (OSError, RefusedError) as error:
        return str(error)
    words = [sys.executable, "-P", "-c", _COMMAND.format(os.getpid()), "probe", *cell.words]
    words += ["--out", str(place)]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": path}
    streams: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=home, env=environment, **streams) as process:
        try:
            err = process.communicate()[1]
        except BaseException:
            process.terminate()
            raise
    if not process.returncode:
        return ""
    lines = [line.removeprefix("simtown: ") for line in err.splitlines() if line.strip()]
    return lines[-1] if lines else f"its process {ending(process.returncode)}"
