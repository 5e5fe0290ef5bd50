"""Files that are written whole or not at all.

Every file is written under a random name that nothing had before, and renamed when it is complete.
"""

import contextlib
import errno
import fcntl
import json
import math
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simtown.core.untrusted import read_json

#: Names of temporary files, with the name that the file gets when it is complete, and of directories.
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp(\.\w+)?", re.DOTALL)
_PARTIAL = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.simtown-partial", re.DOTALL)
#: The file in a directory that says what it was made of.
ORIGIN = ".simtown.json"


class ForeignDirectoryError(ValueError):
    """The directory holds something that this command does not make; nothing in it was touched."""


class KindsError(ValueError):
    """A kind of one's own that cannot be used, is missing or has changed; the message names it."""


class DamagedError(RuntimeError):
    """A file is not what it should be; the message names it and says what to do."""


def is_disk_full(error: OSError) -> bool:
    """Whether an error of the operating system or of HDF5 says that the disk is full."""
    words = ("No space left", f"errno = {errno.ENOSPC}")
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or any(part in str(error) for part in words)


def cache_home() -> Path:
    """The folder of files that simtown can make or fetch again; the variable SIMTOWN_CACHE names another
    place.
    """
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "simtown"
    return Path(os.environ.get("SIMTOWN_CACHE") or own)


@contextlib.contextmanager
def replacing(path: Path, ending: str = "") -> Iterator[Path]:
    """A new, empty file beside `path` to write to, which replaces `path` if the block ends well.

    If the process is killed, it is left over; :func:`becoming` knows it by its name. The `ending` is for a
    library that chooses a format by it.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp{ending}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666))
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def becoming(name: str) -> str | None:
    """The name that the temporary file `name` was to get; None if it is not the name of a temporary file."""
    match = _TEMPORARY.fullmatch(name)
    return match["name"] if match else None


def clear_leftovers(directory: Path, ours: Callable[[str], bool]) -> None:
    """Remove temporary files of killed processes that were to get a name that is `ours`."""
    for path in directory.iterdir():
        name = becoming(path.name)
        if name is not None and ours(name) and stat.S_ISREG(path.lstat().st_mode):
            path.unlink(missing_ok=True)


def as_json(content: Any) -> Any:
    """The content as a JSON file gives it back: lists for tuples and arrays, None for NaN and infinity."""
    if isinstance(content, Mapping):
        return {key: as_json(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [as_json(value) for value in content]
    if hasattr(content, "tolist"):
        return as_json(content.tolist())
    return None if isinstance(content, float) and not math.isfinite(content) else content


def json_text(content: Any) -> str:
    """The text of a JSON file; the same content is always the same text."""
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def save_all(contents: Mapping[Path, bytes]) -> None:
    """Write several files, or none of them if the disk has no room for all."""
    with contextlib.ExitStack() as stack:
        for path, content in contents.items():
            with open(stack.enter_context(replacing(path)), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())


def save_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one, whenever the power fails."""
    save_all({path: content})


def save_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, as :func:`save_bytes` does."""
    save_bytes(path, text.encode())


def save_json(path: Path, content: Any) -> None:
    """Write a JSON file, as :func:`save_bytes` does."""
    save_text(path, json_text(content))


@contextlib.contextmanager
def claimed(directory: Path, command: str) -> Iterator[None]:
    """Make the directory if need be, and keep other processes of the same command out of it.

    Raises ForeignDirectoryError if another process is writing it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            busy = f"{directory} is being written by another {command}"
            raise ForeignDirectoryError(f"{busy}: wait for it or give another `directory`") from None
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def whole(directory: Path, command: str, origin: Mapping[str, Any] | None = None) -> Iterator[Path]:
    """A directory to fill, which gets the name `directory` if the block ends well and is removed otherwise.

    It keeps its `origin`, all that decides its content, if there is one (:func:`is_complete`).

    Raises ForeignDirectoryError if the directory is not empty, or another process is writing it.
    """
    if directory.is_symlink() or directory.is_file() or (directory.is_dir() and any(directory.iterdir())):
        present = f"{directory} is there already, and {command} overwrites nothing"
        raise ForeignDirectoryError(f"{present}: move it away or give another `directory`")
    directory.parent.mkdir(parents=True, exist_ok=True)
    for path in directory.parent.iterdir():
        match = _PARTIAL.fullmatch(path.name)
        if match and match["name"] == directory.name and stat.S_ISDIR(path.lstat().st_mode):
            with claimed(path, command):  # left by a killed process, unless one is writing it now
                shutil.rmtree(path)
    temporary = directory.with_name(f".{directory.name}.{secrets.token_hex(8)}.simtown-partial")
    temporary.mkdir()
    with claimed(temporary, command):
        try:
            yield temporary
            if origin is not None:
                save_json(temporary / ORIGIN, _inventory(temporary, origin))
            temporary.rename(directory)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def is_complete(directory: Path, origin: Mapping[str, Any]) -> bool:
    """Whether :func:`whole` filled the directory with this `origin`, and its files are as many and large."""
    try:
        return bool(read_json(directory / ORIGIN) == _inventory(directory, origin))
    except (OSError, ValueError):
        return False


def _inventory(directory: Path, origin: Mapping[str, Any]) -> Any:
    files = (path for path in directory.rglob("*") if path.name != ORIGIN and path.is_file())
    sizes = [path.lstat().st_size for path in files]
    return as_json({**origin, "files": len(sizes), "bytes": sum(sizes)})
