"""The place of a data set's files: in a directory, or behind a URL of fsspec such as s3://bucket/town.

A file appears whole in either place: it is renamed in a directory, or uploaded in one piece to a URL. Shards
behind a URL are read from a cache of this machine.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from simtown.core import files
from simtown.core.extras import how_to_install
from simtown.core.files import DamagedError, becoming, claimed, clear_leftovers, replacing, save_json
from simtown.core.untrusted import RefusedError, folder, inside, open_to_append, printable, read_json
from simtown.datasets.addresses import no_dataset, path_of, url_of
from simtown.datasets.making import manifests
from simtown.datasets.making.shards import checksum

#: An environment variable: the gigabytes of shards that the cache may hold.
LIMIT = "SIMTOWN_CACHE_GB"
#: By default, the gigabytes of shards that are kept, and the gigabytes of the disk that stay free.
USUAL, SPARED = 20.0, 2.0
#: Shards that are fetched ahead of a reader that reads them in order, and simultaneous downloads.
AHEAD, DOWNLOADS = 2, 4
_GB = 1_000_000_000
_OURS = re.compile(r"(train|val|test)-\d{5,}\.h5|manifest\.json|timings\.json|preview\.png")
#: The secrets of a URL: the user with a password, and a query.
_SECRETS = re.compile(r"(?<=://)[^/?#]*(?=@)|(?<=\?)(?=.*=).+", re.DOTALL)
#: Folders that the shards of a split lie in if they are many.
_FOLDER = re.compile(r"(train|val|test)(/\d{5,})?")


def store_of(place: str | Path) -> DirectoryStore | Remote:
    """The store of a place: a path, file://PATH, or another URL that fsspec knows."""
    url = url_of(place)
    return Remote(url) if url else DirectoryStore(path_of(place))


def is_leftover(name: str) -> bool:
    """Whether a file of this name is an unfinished file of ours, left by a job that was killed."""
    parent, _, own_name = name.rpartition("/")
    target = becoming(own_name)
    return bool(target and _OURS.fullmatch(target) and (not parent or _FOLDER.fullmatch(parent)))


class Store(ABC):
    """A place of files by name; some names have a folder in front.

    A store can be sent to another process or machine.
    """

    @abstractmethod
    def making(self, name: str) -> AbstractContextManager[Path]:
        """A directory in which to make the file of this name; the store has it after the block."""

    @abstractmethod
    def reading(self, name: str) -> AbstractContextManager[Path]:
        """The file as one of this machine. Raises FileNotFoundError if there is none."""

    @abstractmethod
    def _entries(self, parent: str) -> Iterator[tuple[str, int, str]]:
        """Entries of a folder: the name, the bytes, and what it is if it is not a regular file."""

    def listing(self) -> tuple[dict[str, int], dict[str, str]]:
        """Bytes of everything at the top and in the folders for shards, by name; other folders are not read.

        And what is not a regular file: "a directory", "a symbolic link" or "a special file".
        """
        sizes, irregular, folders = {}, {}, [""]
        while folders:
            parent = folders.pop()
            for own_name, size, kind in self._entries(parent):
                name = f"{parent}/{own_name}".lstrip("/")
                sizes[name] = size
                if kind:
                    irregular[name] = kind
                if kind == "a directory" and _FOLDER.fullmatch(name):
                    folders.append(name)
        return sizes, irregular

    def load_manifest(self) -> dict[str, Any]:
        """Read the manifest (:func:`simtown.datasets.making.manifests.load`)."""
        try:
            with self.reading(manifests.NAME) as path:
                return manifests.load(path.parent, str(self))
        except FileNotFoundError:
            raise FileNotFoundError(no_dataset(str(self))) from None

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, sealed."""
        with self.making(manifests.NAME) as directory:
            manifests.save(directory, manifest)

    def load_json(self, name: str) -> Any:
        """The content of a JSON file. Raises OSError if there is none, ValueError if it is not JSON."""
        with self.reading(name) as path:
            return read_json(path)

    def save_json(self, name: str, content: Any) -> None:
        """Write a JSON file whole or not at all."""
        with self.making(name) as directory:
            save_json(directory / name, content)


def _lacking(store: Store, name: str) -> DamagedError:
    again = "run the same simtown generate again, which makes it"
    return DamagedError(f"{store} lacks its shard {name}: {again}")


class DirectoryStore(Store):
    """Files in a directory of this machine, or of a file system that all machines of a cluster share."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def claimed(self, command: str) -> AbstractContextManager[None]:
        """Make the directory if need be, and keep other processes of the command out of it."""
        return claimed(self.path, command)

    def check(self, names: Iterable[str]) -> None:
        """Check that the files of these names exist and are regular files.

        Raises DamagedError if one is missing, RefusedError if one is not a regular file.
        """
        sizes, irregular = self.listing()
        for name in names:
            if name in irregular:
                raise RefusedError(f"{self}/{name} is {irregular[name]}: put the file itself there")
            if name not in sizes:
                inside(self.path, name)
                raise _lacking(self, name)

    def _entries(self, parent: str) -> Iterator[tuple[str, int, str]]:
        with os.scandir(self.path / parent) as entries:
            for entry in entries:
                kind = "" if entry.is_file() else "a special file"
                if entry.is_symlink():
                    kind = "a symbolic link"
                elif entry.is_dir():
                    kind = "a directory"
                yield entry.name, entry.stat(follow_symlinks=False).st_size, kind

    def tidy(self) -> None:
        """Remove temporary files of jobs that were killed."""
        sizes, irregular = self.listing()
        for name in sizes.keys() - irregular:
            if is_leftover(name):
                (self.path / name).unlink(missing_ok=True)

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        if "/" in name:
            folder(self.path, name.rpartition("/")[0])
        yield self.path

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        yield inside(self.path, name)


class Remote(Store):
    """Files behind a URL. Credentials and endpoints come from the environment (AWS_ACCESS_KEY_ID and others).

    Two jobs with the same settings write the same bytes, and a job with other settings refuses to continue.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def __str__(self) -> str:
        return printable(self.url)

    def _message(self, error: Exception) -> str:
        """The message of an error, without secrets of the URL that it may quote."""
        message = printable(str(error))
        for secret in _SECRETS.findall(self.url):
            message = message.replace(secret, "...")
        return message

    @contextmanager
    def _files(self) -> Iterator[Any]:
        """The file system of fsspec. Its errors become an OSError that names the URL."""
        try:
            import fsspec
        except ImportError:
            install = how_to_install("cluster")
            raise ValueError(f"{self}: reading and writing URLs needs fsspec: {install}") from None
        try:
            files = fsspec.core.url_to_fs(self.url, use_listings_cache=False)[0]
        except (ImportError, ValueError) as error:  # ImportError: "Install gcsfs to access GCS"
            raise ValueError(f"{self}: {self._message(error)}") from error
        except Exception as error:  # each file system has its own if the URL lacks something
            reason = f"{type(error).__name__}: {self._message(error)}"
            remedy = "give a URL that says all that fsspec needs, or a directory"
            raise ValueError(f"{self} cannot be opened ({reason}): {remedy}") from error
        try:
            yield files
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{self}: {self._message(error)}") from error
        except Exception as error:
            number, message = getattr(error, "errno", None) or 5, self._message(error) or type(error).__name__
            raise OSError(number, f"{self}: {message}") from error

    @contextmanager
    def claimed(self, command: str) -> Iterator[None]:
        """Other processes cannot be kept out."""
        yield

    def tidy(self) -> None:
        """An upload leaves no temporary file."""

    def _entries(self, parent: str) -> Iterator[tuple[str, int, str]]:
        with self._files() as files, suppress(FileNotFoundError):
            for entry in files.ls(f"{self.url}/{parent}".rstrip("/"), detail=True):
                kind = "a directory" if entry["type"] == "directory" else ""
                if entry["size"] is None and not kind:  # a plain web server's list does not say it
                    entry = files.info(entry["name"])
                yield entry["name"].rstrip("/").rsplit("/", 1)[1], int(entry["size"] or 0), kind

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            path = Path(scratch) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            yield Path(scratch)
            with self._files() as files:
                files.put_file(str(path), f"{self.url}/{name}")

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            path = Path(scratch) / Path(name).name
            self.get(name, path)
            yield path

    def get(self, name: str, path: Path) -> None:
        """Download a file."""
        with self._files() as files:
            files.get_file(f"{self.url}/{name}", str(path))


class ShardCache:
    """The shards of a remote data set in a directory of this machine, fetched when they are first read.

    All processes of a machine share the directory. It belongs to one state of the data set: another manifest
    behind the same URL has another one. When the shards of all data sets exceed `limit` bytes, those that
    were used longest ago are removed; a process that has one open reads on.
    """

    def __init__(self, remote: Remote) -> None:
        text = os.environ.get(LIMIT)
        if text and not (re.fullmatch(r"\d*\.?\d+", text) and float(text)):
            example = f"write one greater than 0, such as {LIMIT}=50"
            raise ValueError(f"{LIMIT}={text} is not a number of gigabytes: {example}")
        self.remote, self.limit = remote, float(text) * _GB if text else None
        self.manifest = remote.load_manifest()
        home = files.cache_home()
        state = hashlib.sha256(f"{remote.url}\n{self.manifest[manifests.SEAL]}".encode()).hexdigest()[:16]
        home.mkdir(parents=True, exist_ok=True)
        self.path = folder(home, f"data/{state}")
        self._forget_downloads()

    def _forget_downloads(self) -> None:
        self._process, self._threads = os.getpid(), 0
        self._asked: set[Path] = set()
        self._waiting: SimpleQueue[Path] = SimpleQueue()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget_downloads()

    def fetch(self, path: Path) -> None:
        """Fetch a shard if the directory does not have it.

        Raises DamagedError if it does not match the manifest, RefusedError if a link is in its place.
        """
        name = path.relative_to(self.path).as_posix()
        inside(self.path, name)
        try:
            modified = path.stat().st_mtime_ns
            os.utime(path, ns=(time.time_ns(), modified))  # the time of access says what was used last
            return
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_name(f".{path.name}.lock")):
            if path.exists():  # another process was fetching it
                return
            clear_leftovers(path.parent, lambda leftover: leftover == path.name)  # of a killed process
            self._make_room(self.manifest["shards"][name]["bytes"])
            with replacing(path) as temporary:
                try:
                    self.remote.get(name, temporary)
                except FileNotFoundError:
                    raise _lacking(self.remote, name) from None
                if checksum(temporary) != self.manifest["shards"][name]["sha256"]:
                    wrong = f"{self.remote}/{name} does not match its checksum"
                    raise DamagedError(f"{wrong}: remove it and run the same simtown generate again")

    def _make_room(self, needed: int) -> None:
        """Remove the shards that were used longest ago, until `needed` bytes fit into the limit."""
        shards = {}
        for path in self.path.parent.rglob("*.h5"):
            with suppress(FileNotFoundError):
                shards[path] = path.lstat()
        used = sum(status.st_size for status in shards.values())
        limit = self.limit
        if limit is None:
            limit = min(USUAL * _GB, used + shutil.disk_usage(self.path).free - SPARED * _GB)
        for path in sorted(shards, key=lambda path: shards[path].st_atime_ns):
            if used + needed <= limit:
                break
            path.unlink(missing_ok=True)
            used -= shards[path].st_size

    def fetch_ahead(self, paths: Sequence[Path]) -> None:
        """Fetch shards in the background, in this order, as many as fit into half of the cache.

        The reader of a shard retries a download that failed, and reports its error.
        """
        if self._process != os.getpid():  # this is a copy: the threads are its parent's
            self._forget_downloads()
        room = (self.limit or USUAL * _GB) / 2
        for path in paths:
            room -= self.manifest["shards"][path.relative_to(self.path).as_posix()]["bytes"]
            if room >= 0 and path not in self._asked and not path.exists():
                self._asked.add(path)
                self._waiting.put(path)
        while self._threads < min(DOWNLOADS, self._waiting.qsize()):
            self._threads += 1
            Thread(target=self._fetch_waiting, daemon=True).start()

    def _fetch_waiting(self) -> None:
        while True:
            path = self._waiting.get()
            with suppress(Exception):
                self.fetch(path)
            self._asked.discard(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file against other processes and threads."""
    with open_to_append(path) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
