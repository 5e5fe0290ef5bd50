"""Where commands write: names after the data set, on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from simtown.cli.app import RefusalError


def name_of(dataset: str) -> str:
    """What a data set is called: the last part of its path or URL. Raises RefusalError if that is no name for a file."""
    from simtown.datasets import stores

    name = stores.name_of(dataset)
    if not name:
        raise RefusalError(f"{dataset} has no name to call the output after: give --out")
    return name


def beside(dataset: str, suffix: str) -> Path:
    """Where something made of a data set goes: town-SUFFIX beside the directory town; in the working directory if town is a URL."""
    from simtown.datasets.stores import path_of, url_of

    name = f"{name_of(dataset)}-{suffix}"
    if url_of(dataset):
        return Path(name)
    path = path_of(dataset)
    home = Path(os.path.abspath(path)) if path.name in ("", "..") else path
    return home.with_name(name)


def local(path: Path, option: str = "--out") -> Path:
    """The path that an option names. Raises RefusalError for a URL: a Path made of one is a folder called s3: or the like."""
    from simtown.datasets.stores import path_of, url_of

    if url := url_of(path):
        raise RefusalError(f"{option} {url} is a URL, and this command writes to this machine: give a path")
    return path_of(path)


def local_file(path: Path, option: str = "--out") -> Path:
    """The same for a file to write. Raises RefusalError, before any work is done, if the directory for it is missing, too."""
    path = local(path, option)
    if not path.parent.is_dir():
        raise RefusalError(f"{option} {path}: there is no directory {path.parent}; make it first, or give another {option}")
    return path
