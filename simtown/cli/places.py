"""Places that commands read and write: which folder a name means, and checks that outputs are new
and local.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from simtown.cli.command import RefusalError
from simtown.core.missing import no_path, no_record
from simtown.core.terminal import complain
from simtown.datasets import addresses
from simtown.datasets.addresses import path_of, url_of


def name_of(dataset: str) -> str:
    """The name of a data set: the last part of its path or URL; RefusalError if a file cannot have it."""
    name = addresses.name_of(dataset)
    if not name:
        raise RefusalError(f"{dataset} has no name that the output could have: give --out")
    return name


def beside(dataset: str, suffix: str) -> Path:
    """The place of an output: town-SUFFIX beside the directory town, or here if the data set is a URL."""
    name = f"{name_of(dataset)}-{suffix}"
    if url_of(dataset):
        return Path(name)
    path = path_of(dataset)
    home = Path(os.path.abspath(path)) if path.name in ("", "..") else path
    return home.with_name(name)


def local(path: Path, option: str = "--out") -> Path:
    """The path that an option names; RefusalError for a URL, of which Path would make a folder "s3:"."""
    if url := url_of(path):
        raise RefusalError(f"{option} {url} is a URL, and this command writes to this machine: give a path")
    return path_of(path)


def local_directory(path: Path, option: str = "--out") -> Path:
    """The path of a directory to read or to make; RefusalError for a URL or a file."""
    path = local(path, option)
    if path.exists() and not path.is_dir():
        raise RefusalError(f"{option} {path} is a file: give a directory, which is made if it is missing")
    return path


def local_file(path: Path, option: str = "--out") -> Path:
    """The path of a new file; RefusalError if it is a URL or there already, or cannot be written."""
    path = local(path, option)
    if not path.parent.is_dir():
        missing = f"there is no directory {path.parent}"
        raise RefusalError(f"{option} {path}: {missing}; make it first, or give another {option}")
    if os.path.lexists(path):
        raise RefusalError(f"{path} exists; remove it or pass another {option}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise RefusalError(f"{option} {path}: nothing may be written in {path.parent}; give another {option}")
    return path


def png_file(path: Path | None, name: str, *others: str) -> Path:
    """The path of a picture to write, by default of a name of ours; RefusalError as :func:`local_file`'s."""
    if path is not None:
        require_suffix(path, ".png", *others)
    return local_file(Path(name) if path is None else path)


def require_suffix(path: Path, *suffixes: str) -> None:
    """Raises RefusalError if --out does not end in one of these."""
    if path.suffix.lower() not in suffixes:
        raise RefusalError(f"--out {path} must end in {' or '.join(suffixes)}")


def there(path: Path) -> Path:
    """The path; RefusalError if there is no such file or folder."""
    if not path.exists():
        raise RefusalError(no_path(path, "file" if path.suffix else "file or folder"))
    return path


#: The word for the newest folder of a kind.
LATEST = "latest"
DATASET = "Directory or URL of a data set: its name, the name up to a hyphen, or latest."
#: Most names that a message lists.
_MOST = 5


def meant(place: Path, what: str, records: Sequence[str], homes: Sequence[str] = ()) -> Path:
    """The folder that a name means: itself, the newest ("latest"), or the only one whose name begins so.

    What it begins with ends before a hyphen: simtown-20-100 is the beginning of simtown-20-100-seed3, not of
    simtown-20-1000.

    It says on stderr which one it took, unless the name was whole.

    Args:
        place: as it was given; its last part may be "latest" or a name up to a hyphen.
        what: the kind of folder, for messages.
        records: patterns of files, one of which a folder of this kind has.
        homes: where a name alone is looked up, besides the working directory.

    Raises:
        RefusalError: several names begin so, or one that goes on without a hyphen, or there is no newest one.
    """
    if os.path.lexists(place) or place.name in ("", ".."):
        return place
    latest = place.name == LATEST
    parents = [place.parent, *map(Path, homes if len(place.parts) == 1 else ())]
    times: dict[Path, float] = {}
    for folder in (folder for parent in parents if parent.is_dir() for folder in parent.iterdir()):
        if latest or folder.name.startswith(place.name):
            files = [file for pattern in records for file in folder.glob(pattern)]
            times |= {folder: max(file.stat().st_mtime for file in files)} if files else {}
    if latest and not times:
        looked = " or in ".join("this folder" if parent == Path() else str(parent) for parent in parents)
        raise RefusalError(f"{place}: there is no {what} in {looked}")
    beginning = f"{place.name.rstrip('-')}-"
    matching = [folder for folder in times if latest or f"{folder.name}-".startswith(beginning)]
    if times and len(matching) != 1 and not latest:
        names = sorted(map(str, matching or times))
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        candidates = f"{' or '.join(names[:_MOST])}{more}"
        raise RefusalError(f"{place} may be {candidates}: write more of the name, or {LATEST}")
    if not times:
        return place
    chosen = max(matching, key=lambda folder: (times[folder], folder))
    complain(f"note: {place} is {chosen}")
    return chosen


def holding(what: str, record: str, command: str, *homes: str) -> Callable[[Path], Path]:
    """A function that returns the folder that a name means; RefusalError if it has no file `record`."""

    def check(directory: Path) -> Path:
        directory = meant(directory, what, [record], homes)
        if not (directory / record).is_file():
            raise RefusalError(no_record(directory, what, record, command))
        return directory

    return check


run_named = holding("run", "run.json", "simtown fit", "runs")


def _dataset_path(place: str) -> str:
    return place if url_of(place) else str(meant(path_of(place), "data set", [addresses.MANIFEST]))


def dataset_named(place: str) -> str:
    """The data set that a name means, or a URL; FileNotFoundError if there is none."""
    place = _dataset_path(place)
    addresses.require_dataset(place)
    return place


def example_named(where: str) -> str:
    """The address of an example, whose data set a name means; raises as parse_address."""
    folder, slash, rest = where.rpartition("/")
    where = f"{_dataset_path(folder)}/{rest}" if slash and addresses.is_address(where) else where
    addresses.parse_address(where)
    return where


def stored_named(where: str) -> str:
    """An example, if the words look like the address of one, or else a data set."""
    return example_named(where) if addresses.is_address(where) else dataset_named(where)


def answers_named(directory: Path) -> Path:
    """Results of simtown evaluate, or a run, that a name means; RefusalError if there is no such folder."""
    records, homes = ("summary.json", "run.json"), ("evaluations", "runs")
    return there(meant(directory, "evaluation or run", records, homes))


def runs_named(place: Path) -> Path:
    """The sweep that a name means, any folder of runs, or a file; RefusalError if it is not there."""
    return there(meant(place, "sweep", ["runs/*/run.json"]))
