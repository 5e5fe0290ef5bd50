"""Files that are read only if they are plain and not too large, and that are written whole or not at all.

A folder may come from a stranger. So whatever is read passes :func:`open_plain`: no device, no pipe that
never ends, no link out of the folder, no more bytes than such a file can have. Whatever is written passes
:func:`replacing` or :func:`whole`: under a random name that nothing had before, so that no link is followed,
and renamed when it is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import math
import os
import re
import secrets
import shutil
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

#: Bytes of the largest JSON file that is read. What is parsed of it takes up to 20 times as much memory.
LARGEST_JSON = 32_000_000
#: Bytes of the largest TOML file that is read; ours have 3,000. Parsing a key of many dots takes a time that
#: grows with its square.
LARGEST_TOML = 20_000
#: Bytes of the longest name that becomes part of a path.
LONGEST_NAME = 200
#: The names of temporary files, with the name that the file gets when it is complete, and of temporary
#: directories.
_TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.tmp(\.\w+)?", re.DOTALL)
_PARTIAL = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.simtown-partial", re.DOTALL)


class ForeignDirectoryError(ValueError):
    """The directory holds something that is not what this command makes; nothing in it was touched."""


class DamagedError(RuntimeError):
    """Files are not what they should be; the message names the file and what to do."""


class RefusedError(ValueError):
    """A file or a name that is not used since it could do harm; the message says which and why."""


def open_plain(path: Path, follow: bool = True, writable: bool = False) -> BinaryIO:
    """Open a file to read it, if it is a plain file.

    Args:
        path: of the file.
        follow: whether the path may be a symbolic link: True for a file that the person named, False for one
            that lies in a directory that the person named.
        writable: whether it is written to in its place, too.

    Raises:
        RefusedError: it is a directory, a device or a pipe, or a link that must not be followed.
        OSError: it cannot be opened.
    """
    try:
        flags = os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
        handle = os.open(path, flags | (os.O_RDWR if writable else os.O_RDONLY))
    except OSError:
        if not follow and path.is_symlink():
            raise RefusedError(f"{path} is a symbolic link: put the file itself there") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RefusedError(f"{path} is no plain file")
    return os.fdopen(handle, "r+b" if writable else "rb")


def read_bytes(path: Path, largest: int, follow: bool = True) -> bytes:
    """The content of a plain file of at most `largest` bytes.

    Raises RefusedError or OSError, as :func:`open_plain` does.
    """
    with open_plain(path, follow) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise RefusedError(
                f"{path} is too large ({size:,} bytes): a file of its kind has at most {largest:,}"
            )
        return file.read(size)  # a number of bytes that is read is allocated first


def read_text(path: Path, largest: int, follow: bool = True, encoding: str = "utf-8") -> str:
    """The same of a text file. Raises UnicodeDecodeError, a ValueError, where it is none."""
    return read_bytes(path, largest, follow).decode(encoding)


def read_unpacked(path: Path, largest: int, follow: bool = True) -> bytes:
    """The content of a plain file that may be packed with gzip: at most `largest` bytes, packed and unpacked.

    Raises:
        RefusedError: as :func:`read_bytes`.
        OSError: as :func:`read_bytes`; gzip.BadGzipFile is one.
        EOFError: the packed content is cut short.
        zlib.error: it is damaged.
    """
    content = read_bytes(path, largest, follow)
    if content[:2] != b"\x1f\x8b":
        return content
    unpacked = bytearray()
    while content:  # a file may hold several packed parts, one after the other
        part = zlib.decompressobj(31)
        unpacked += part.decompress(content, largest + 1 - len(unpacked))
        if len(unpacked) > largest:
            raise RefusedError(
                f"{path} is too large when unpacked: a file of its kind has at most {largest:,} bytes"
            )
        if not part.eof:
            raise EOFError("it is cut short")
        content = part.unused_data.lstrip(b"\0")
        if content and content[:2] != b"\x1f\x8b":
            raise gzip.BadGzipFile("something that is not packed follows what is")
    return bytes(unpacked)


def parse_json(text: str | bytes) -> Any:
    """What a JSON text holds. Raises ValueError where it is none, or nests too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def read_json(path: Path, largest: int = LARGEST_JSON, follow: bool = False) -> Any:
    """What a JSON file holds. Raises ValueError (RefusedError too is one) or OSError."""
    return parse_json(read_bytes(path, largest, follow))


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds.

    Raises ValueError (RefusedError and tomllib.TOMLDecodeError too are) or OSError.
    """
    try:
        return tomllib.loads(read_text(path, LARGEST_TOML))
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def load_json(path: Path, form: str, command: str, largest: int = LARGEST_JSON) -> dict[str, Any]:
    """A JSON file of at most `largest` bytes that `command` wrote and that calls its format `form`.

    Raises:
        DamagedError: it is not readable.
        ForeignDirectoryError: it is something else's.
    """
    try:
        content = read_json(path, largest)
    except (OSError, ValueError) as error:
        raise DamagedError(
            f"{path} is damaged: it cannot be read as JSON ({error}); put back a copy of it, or run "
            f"{command} again with another --out"
        ) from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise ForeignDirectoryError(
            f"{path} was not made by {command} (its format is not '{form}'): give another directory"
        )
    return content


def check_name(name: str, what: str) -> str:
    """A text that becomes one part of a path, if it cannot do harm there.

    It has no separator, no dot at its beginning, and no invisible character.

    Raises RefusedError; `what` says whose name it is.
    """
    if (
        not name
        or name.startswith(".")
        or "/" in name
        or "\\" in name
        or not name.isprintable()
        or len(name.encode()) > LONGEST_NAME
    ):
        raise RefusedError(
            f"{what} {name[:LONGEST_NAME]!r} cannot be the name of a file: use letters, digits, '.', '-' and "
            "'_'"
        )
    return name


def inside(directory: Path, name: str) -> Path:
    """The path of `name`, which may have folders before it, if nothing on the way leads out of the directory.

    Raises RefusedError.
    """
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
        raise RefusedError(f"{name!r} is no name of a file inside {directory}")
    path = directory
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise RefusedError(
                f"{path} is a symbolic link, which may lead out of {directory}: put what it leads to there "
                "itself"
            )
    return path


def folder(directory: Path, name: str) -> Path:
    """The folder `name` of a directory, made if need be.

    Raises RefusedError where a link or a file has its place.
    """
    path = inside(directory, name)
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def replacing(path: Path, ending: str = "") -> Iterator[Path]:
    """A new, empty file beside `path` to write to, which replaces `path` if the block ends well.

    Otherwise it is deleted.

    `ending`: how its name ends, such as ".mp4", for a library that chooses a format by it.
    """
    with scratch(path, ending) as temporary:
        yield temporary
        os.replace(temporary, path)


@contextlib.contextmanager
def scratch(path: Path, ending: str = "") -> Iterator[Path]:
    """A new, empty file beside `path` to write to, which is deleted when the block ends.

    If the process is killed, it is left over; :func:`becoming` knows it by its name.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp{ending}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666))
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def becoming(name: str) -> str | None:
    """The name that the temporary file `name` was to get; None if it is not the name of a temporary file."""
    match = _TEMPORARY.fullmatch(name)
    return match["name"] if match else None


def clear_leftovers(directory: Path, ours: Callable[[str], bool]) -> None:
    """Remove temporary files of processes that were killed.

    Only those that were to get a name that is `ours`.
    """
    for path in directory.iterdir():
        name = becoming(path.name)
        if name is not None and ours(name) and stat.S_ISREG(path.lstat().st_mode):
            path.unlink(missing_ok=True)


def as_json(content: Any) -> Any:
    """The content as a JSON file gives it back: lists for tuples and arrays, None for NaN and infinity.

    NumPy's numbers and arrays become Python's.
    """
    if isinstance(content, Mapping):
        return {key: as_json(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [as_json(value) for value in content]
    if hasattr(content, "tolist"):
        return as_json(content.tolist())
    return None if isinstance(content, float) and not math.isfinite(content) else content


def json_text(content: Any) -> str:
    """The one way in which JSON files are written: the same content is the same text."""
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def save_bytes(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one, whenever the power fails."""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def save_text(path: Path, text: str) -> None:
    """The same of a text file, in UTF-8."""
    save_bytes(path, text.encode())


def save_json(path: Path, content: Any) -> None:
    """The same of a JSON file."""
    save_text(path, json_text(content))


def versions(*libraries: str) -> dict[str, str]:
    """What is installed of each, "unknown" where nothing says."""
    result = {}
    for name in libraries:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = "unknown"
    return result


@contextlib.contextmanager
def claimed(directory: Path, command: str) -> Iterator[None]:
    """Make the directory if need be and keep other processes of the same command out of it.

    Raises ForeignDirectoryError.
    """
    directory.mkdir(parents=True, exist_ok=True)
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ForeignDirectoryError(
                f"{directory} is being written by another {command}: wait for it or give another `directory`"
            ) from None
        yield
    finally:
        os.close(handle)


def require_new(directory: Path, command: str) -> None:
    """Check that a command may make a directory.

    Raises:
        ForeignDirectoryError: a file, a link or a directory that is not empty is there already.
    """
    if directory.is_symlink() or directory.is_file() or (directory.is_dir() and any(directory.iterdir())):
        raise ForeignDirectoryError(
            f"{directory} is there already, and {command} writes over nothing: move it away or give another "
            "`directory`"
        )


@contextlib.contextmanager
def whole(directory: Path, command: str) -> Iterator[Path]:
    """A directory to fill: it takes the name `directory` when the block ends well, and goes otherwise.

    Raises:
        ForeignDirectoryError: something is there already, or another process is writing it.
    """
    require_new(directory, command)
    directory.parent.mkdir(parents=True, exist_ok=True)
    for path in directory.parent.iterdir():
        match = _PARTIAL.fullmatch(path.name)
        if match and match["name"] == directory.name and stat.S_ISDIR(path.lstat().st_mode):
            with claimed(path, command):  # of a process that was killed, unless it is at work
                shutil.rmtree(path)
    temporary = directory.with_name(f".{directory.name}.{secrets.token_hex(8)}.simtown-partial")
    temporary.mkdir()
    with claimed(temporary, command):
        try:
            yield temporary
            temporary.rename(directory)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
