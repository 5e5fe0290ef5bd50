"""Files that are whole or not there, and directories that one process at a time may write."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


class ForeignDirectoryError(ValueError):
    """The directory holds something that is not what this command makes; nothing in it was touched."""


class DamagedError(RuntimeError):
    """Files are not what they should be; the message names the file and what to do."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to; it takes the place of `path` when the block ends well, and goes otherwise."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def json_text(content: Any) -> str:
    """The one way in which JSON files are written: the same content is the same text."""
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def save_json(path: Path, content: Any) -> None:
    """Write a JSON file so that it is either the old one or the new one, whenever the power fails."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(json_text(content))
        file.flush()
        os.fsync(file.fileno())


def load_json(path: Path, form: str, command: str) -> dict[str, Any]:
    """A JSON file that `command` wrote and that calls its format `form`.

    Raises:
        DamagedError: it is not readable. ForeignDirectoryError: it is something else's.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DamagedError(
            f"{path} is damaged: it cannot be read as JSON ({error}); put back a copy of it, or run {command} again with another --out"
        ) from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise ForeignDirectoryError(f"{path} was not made by {command} (its format is not '{form}'): give another directory")
    return content


def versions(*libraries: str) -> dict[str, str]:
    """What is installed of each, "unknown" where nothing says."""
    found = {}
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


@contextlib.contextmanager
def claimed(directory: Path, command: str) -> Iterator[None]:
    """Make the directory if need be and keep other processes of the same command out of it. Raises ForeignDirectoryError."""
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ForeignDirectoryError(f"{directory} is being written by another {command}: wait for it or give another --out") from None
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def whole(directory: Path, command: str) -> Iterator[Path]:
    """A directory to fill: it takes the name `directory` when the block ends well, and goes otherwise.

    Raises:
        ForeignDirectoryError: something is there already, or another process is writing it.
    """
    if directory.is_symlink() or directory.is_file() or (directory.is_dir() and any(directory.iterdir())):
        raise ForeignDirectoryError(f"{directory} is there already, and {command} writes over nothing: move it away or give another --out")
    temporary = directory.with_name(f".{directory.name}.simtown-partial")
    with claimed(temporary, command):
        try:
            for leftover in temporary.iterdir():  # of a run that was killed
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
            yield temporary
            temporary.rename(directory)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
