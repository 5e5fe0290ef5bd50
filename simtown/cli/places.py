"""Where commands read and write: what they read is there, and what they write is new, on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from simtown.cli.command import RefusalError
from simtown.core.missing import no_path, no_record
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


def png_file(path: Path | None, name: str) -> Path:
    """The path of a picture to write, by default of a name of ours; RefusalError as :func:`local_file`'s."""
    if path is not None:
        require_suffix(path, ".png")
    return local_file(Path(name) if path is None else path)


def require_suffix(path: Path, suffix: str) -> None:
    """Raises RefusalError if --out does not end so."""
    if path.suffix.lower() != suffix:
        raise RefusalError(f"--out {path} must end in {suffix}")


def there(path: Path) -> None:
    """Raises RefusalError if there is no such file or folder."""
    if not path.exists():
        raise RefusalError(no_path(path, "file" if path.suffix else "file or folder"))


def holding(what: str, record: str, command: str) -> Callable[[Path], None]:
    """A function that raises RefusalError if a directory has no file of the name `record`."""

    def check(directory: Path) -> None:
        if not (directory / record).is_file():
            raise RefusalError(no_record(directory, what, record, command))

    return check
