"""A grid of studies: models x data x ways of asking, each cell a command `simtown probe STUDY ...` with a directory of its own.

A TOML file says which. Every key but `study` is an option of the study's command; a list stands for several cells:

    version = 1
    [[grid]]
    study = "physical"
    data = "physical-commonsense"
    model = ["glove:glove.840B.300d.txt", "hf:bert-base-uncased", "majority"]
    task = ["OP", "OA"]
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, product
from pathlib import Path
from typing import Any

from simtown.cluster import Cluster
from simtown.files import DamagedError, RefusedError, check_name, claimed, clear_leftovers, folder, load_json, read_toml, save_json
from simtown.processes import Outcome, Subprocesses, default_workers, ending

NAME, FORMAT, VERSION = "grid.json", "simtown probe grid", 1
#: Options of the studies' commands that a grid may set: none that names where something is written. A stranger's grid can say what is read
#: and which model is asked, and that is what it is for.
OPTIONS: dict[str, frozenset[str]] = {
    "physical": frozenset({"data", "model", "task", "set", "as", "head", "protocol", "seed"}),
    "visual": frozenset({"data", "model", "task", "as", "protocol", "seed"}),
    "spatial": frozenset({"model", "corpus", "rare", "least", "most", "seed"}),
}
#: Those that take no value.
FLAGS: dict[str, frozenset[str]] = {"physical": frozenset({"tune"}), "visual": frozenset(), "spatial": frozenset({"held-out"})}
#: Cells of a grid at most: each is a process of its own.
MOST_CELLS = 10_000


class GridError(ValueError):
    """A grid that cannot be; the message names the file and the key."""


@dataclass(frozen=True)
class Cell:
    """One study of one model.

    Attributes:
        name: of its directory.
        words: of its command, from the study's name on, without --out.
    """

    name: str
    words: tuple[str, ...]


def read(path: Path) -> list[Cell]:
    """The cells of a TOML file, in its order. Raises FileNotFoundError, GridError, RefusedError."""
    try:
        content = read_toml(path)
    except RefusedError:
        raise
    except ValueError as error:
        raise GridError(f"{path} cannot be read as TOML: {error}") from error
    if content.get("version") != VERSION or not isinstance(content.get("grid"), list) or set(content) != {"version", "grid"}:
        raise GridError(f"{path} must have version = {VERSION} and [[grid]] tables, and nothing else")
    many = sum(_size(table) for table in content["grid"])
    if many > MOST_CELLS:
        raise GridError(f"{path} is a grid of {many:,} cells, more than {MOST_CELLS:,}: split it")
    cells = [cell for table in content["grid"] for cell in _cells(path, table)]
    twice = sorted(name for name, times in Counter(cell.name for cell in cells).items() if times > 1)
    if twice:
        raise GridError(f"{path}: two cells have the same settings, {twice[0]}: remove one")
    return cells


def _size(table: object) -> int:
    return math.prod(len(value) for value in table.values() if isinstance(value, list)) if isinstance(table, dict) else 0


def _cells(path: Path, table: object) -> Iterator[Cell]:
    study = table.get("study") if isinstance(table, dict) else None
    if not isinstance(table, dict) or not isinstance(study, str) or study not in OPTIONS:
        raise GridError(f"{path}: study must be {', '.join(OPTIONS)}, not {study!r}")
    axes = {key: value if isinstance(value, list) else [value] for key, value in table.items() if key != "study"}
    for key, values in axes.items():
        flag = key in FLAGS[study]
        told = bool(values) and all(isinstance(v, bool) if flag else isinstance(v, str | int | float) and v is not True for v in values)
        if not told or key not in OPTIONS[study] | FLAGS[study]:
            raise GridError(
                f"{path}: '{key}' must be an option of simtown probe {study} without its dashes that does not say where to write: "
                f"{', '.join(sorted(OPTIONS[study] | FLAGS[study]))}; and its value a text, a number, true for what takes none, or a list "
                "of these"
            )
    for chosen in product(*axes.values()):
        options = dict(zip(axes, chosen, strict=True))
        differ = [str(value) for key, value in options.items() if key == "model" or len(axes[key]) > 1]
        name = "-".join(re.sub(r"[^\w.]+", ".", part).strip(".")[-60:] for part in (study, *differ))
        words = [(f"--{key}",) if value is True else (f"--{key}", str(value)) for key, value in options.items() if value is not False]
        yield Cell(check_name(name, f"{path}: the cell"), (study, *chain(*words)))


def run(cells: list[Cell], out: Path, jobs: int, done: Callable[[Cell, str], None], cluster: Cluster | None = None) -> Outcome:
    """Run every cell that is not done: `jobs` at once, or on the machines of a cluster, all of which must reach `out` under the same path.

    A cell that fails does not stop the others, and is tried again by the next call.

    Args:
        done: told of every cell as it ends, with what went wrong or "".

    Raises:
        ForeignDirectoryError: `out` is something else. DamagedError: its grid.json cannot be read.
    """
    with claimed(out, FORMAT):
        there = _there(out)
        clear_leftovers(out, lambda name: name == NAME)
        missing = [cell for cell in cells if there.get(cell.name) not in (_digest(cell), list(cell.words))]  # words: of an older simtown
        before, failed = len(cells) - len(missing), dict[str, str]()
        save_json(out / NAME, {"format": FORMAT, "done": there})
        with closing(_on_cluster(missing, out, cluster) if cluster else _here(missing, out, jobs)) as ended:
            for cell, error in ended:
                if error:
                    failed[cell.name] = error
                else:
                    there[cell.name] = _digest(cell)
                    save_json(out / NAME, {"format": FORMAT, "done": there})
                done(cell, error)
        return Outcome(before, len(missing) - len(failed), failed)


def _digest(cell: Cell) -> str:
    """What a cell's command is known by: its words may name folders of this machine, and grid.json is for others, too."""
    return sha256("\0".join(cell.words).encode(errors="surrogateescape")).hexdigest()


def _there(out: Path) -> dict[str, Any]:
    """The cells that are done, and what their commands are known by."""
    if not (out / NAME).exists():
        return {}
    found = load_json(out / NAME, FORMAT, FORMAT).get("done")
    if not isinstance(found, dict):
        raise DamagedError(
            f"{out / NAME} is damaged: delete it and run the same command again, which then finds out what each cell has done"
        )
    return found


def _here(cells: list[Cell], out: Path, jobs: int) -> Generator[tuple[Cell, str], None, None]:
    threads = max(1, default_workers() // jobs)
    studies = Subprocesses()
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(_study, cell, str(out.resolve()), os.getcwd(), threads, studies): cell for cell in cells}
        try:
            for ended in as_completed(running):
                yield running[ended], ended.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            studies.stop()
            raise


def _on_cluster(cells: list[Cell], out: Path, cluster: Cluster) -> Generator[tuple[Cell, str], None, None]:
    for cell, told in cluster.map(_study, cells, (str(out.resolve()), os.getcwd(), 1)):
        yield cell, f"{type(told).__name__}: {told}" if isinstance(told, Exception) else told


def _study(cell: Cell, out: str, home: str, threads: int, studies: Subprocesses | None = None) -> str:
    """The command in a process of its own, which continues what an earlier one left; what went wrong, or ""."""
    try:
        place = folder(Path(out), cell.name)
    except (OSError, RefusedError) as error:
        return str(error)
    words = [sys.executable, "-P", "-m", "simtown", "probe", *cell.words, "--out", str(place)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    code, err = (studies or Subprocesses()).run(words, cwd=home, env=environment)
    if not code:
        return ""
    lines = [line.removeprefix("simtown: ") for line in err.splitlines() if line.strip()]
    return lines[-1] if lines else f"its process {ending(code)}"
