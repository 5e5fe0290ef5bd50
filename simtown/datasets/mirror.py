"""A cache of the shards of a data set behind a URL: fetched when they are read or shortly before, and kept
within a limit.

All processes of a machine share one cache. A process that reads a shard locks its file, and a process that
fetches a shard locks a file beside it. So no shard is removed while it is open, and none is fetched twice at
the same time. When a process is killed, its locks are released.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
import shutil
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from simtown.core.files import DamagedError, clear_leftovers, replacing, save_json
from simtown.core.untrusted import folder, inside
from simtown.datasets import manifests
from simtown.datasets.shards import checksum
from simtown.datasets.stores import Remote

#: Environment variables: the directory of the cache, and the gigabytes of shards that it may hold.
CACHE, LIMIT = "SIMTOWN_CACHE", "SIMTOWN_CACHE_GB"
#: By default, the gigabytes of shards that are kept, and the gigabytes of the disk that stay free.
USUAL, SPARED = 20.0, 2.0
#: Shards that are fetched ahead of a reader that reads them in order, and simultaneous downloads.
AHEAD, DOWNLOADS = 2, 4
_GB = 1_000_000_000
_SHARD = re.compile(r"(train|val|test)-\d{5,}\.h5")
#: A file that is locked while a shard is fetched; its size is that of the shard.
_RESERVED = re.compile(r"\.(?P<name>(train|val|test)-\d{5,}\.h5)\.lock")


def limit() -> float | None:
    """Bytes that the environment variable allows, None if it is not set.

    Raises ValueError if it is not a number of gigabytes.
    """
    text = os.environ.get(LIMIT)
    if not text:
        return None
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise ValueError(
            f"{LIMIT}={text} is no number of gigabytes: write one greater than 0, such as {LIMIT}=50"
        )
    return gigabytes * _GB


class Mirror:
    """The shards of a remote data set in a directory of this machine.

    It can be sent to another process of this machine. It belongs to one state of the data set: another
    manifest behind the same URL has another mirror.

    Attributes:
        remote: where the shards come from.
        manifest: of the data set.
        path: the directory.
        limit: bytes of shards that the cache of all mirrors holds at most; None for the default.
    """

    def __init__(self, remote: Remote) -> None:
        self.remote, self.limit = remote, limit()
        self.manifest = remote.load_manifest()
        content = json.dumps(self.manifest, sort_keys=True)
        home = Path(
            os.environ.get(CACHE)
            or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "simtown"
        )
        state = hashlib.sha256(f"{remote.url}\n{content}".encode()).hexdigest()[:16]
        home.mkdir(parents=True, exist_ok=True)
        self.path = folder(home, f"data/{state}")
        save_json(self.path / manifests.NAME, self.manifest)
        self._room = self.path.parent / ".room.lock"
        self._fetcher = _Fetcher(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_fetcher": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._fetcher = _Fetcher(self)

    def fetch(self, path: Path) -> None:
        """Fetch a shard if the mirror does not have it. Raises as :meth:`open`."""
        self.open(path).close()

    def open(self, path: Path) -> FileIO:
        """A shard's file, fetched if the mirror does not have it. It stays as long as it is open.

        Raises:
            DamagedError: the file does not match the manifest.
            RefusedError: a link is in its place, or it is too large.
            OSError: it cannot be fetched.
        """
        name = path.relative_to(self.path).as_posix()
        file = self._open_kept(name)
        return self._open_fetched(name) if file is None else file

    def ahead(self, paths: Sequence[Path]) -> None:
        """Fetch shards in the background, in this order, as many as fit into half of the cache."""
        names = [path.relative_to(self.path).as_posix() for path in paths]
        room, chosen = (self.limit or USUAL * _GB) / 2, []
        for name in names:
            room -= self.manifest["shards"][name]["bytes"]
            if room >= 0 and not (self.path / name).exists():
                chosen.append(name)
        if self._fetcher.process != os.getpid():  # this is a copy: the threads are its parent's
            self._fetcher = _Fetcher(self)
        self._fetcher.ask(chosen)

    def _open_kept(self, name: str) -> FileIO | None:
        """The locked file of a shard, None if the mirror does not have it."""
        path = inside(self.path, name)
        try:
            file = FileIO(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))
        except FileNotFoundError:
            return None
        fcntl.flock(file, fcntl.LOCK_SH)
        if not _same(file.fileno(), path):  # removed since it was opened
            file.close()
            return None
        with suppress(OSError):  # the time of access says what was used last; the system may not record it
            os.utime(file.fileno(), ns=(time.time_ns(), os.fstat(file.fileno()).st_mtime_ns))
        return file

    def _open_fetched(self, name: str) -> FileIO:
        """Fetch a shard that another process may be fetching too; returns its locked file."""
        path = self.path / name
        if path.parent != self.path:
            folder(self.path, path.parent.relative_to(self.path).as_posix())
        with _alone(path.with_name(f".{path.name}.lock")) as lock:
            if (file := self._open_kept(name)) is not None:
                return file
            clear_leftovers(path.parent, lambda leftover: leftover == path.name)  # of a killed process
            self._reserve(lock, self.manifest["shards"][name]["bytes"])
            with ExitStack() as accounting:
                with replacing(path) as temporary:
                    self._download(name, temporary)
                    file = FileIO(os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))
                    fcntl.flock(file, fcntl.LOCK_SH)
                    accounting.enter_context(_alone(self._room))  # others count the reservation or the shard
                os.ftruncate(lock, 0)
        return file

    def _download(self, name: str, target: Path) -> None:
        """Download a shard to a file, and check its checksum."""
        entry, remedy = self.manifest["shards"][name], "run the same simtown generate again"
        try:
            self.remote.get(name, target, entry["bytes"])
        except FileNotFoundError as error:
            raise DamagedError(f"{self.remote} lacks its shard {name}: {remedy}, which makes it") from error
        if checksum(target) != entry["sha256"]:
            raise DamagedError(f"{self.remote}/{name} does not match its checksum: remove it and {remedy}")

    def _reserve(self, lock: int, count: int) -> None:
        """Make room for `count` bytes: remove the least recently used shards that no process has open."""
        with _alone(self._room):
            shards, used = _content(self.path.parent)
            most = (
                min(USUAL * _GB, used + shutil.disk_usage(self.path).free - SPARED * _GB)
                if self.limit is None
                else self.limit
            )
            for path, _ in sorted(shards, key=lambda shard: shard[1].st_atime_ns):
                if used + count <= most:
                    break
                used -= _removed(path)
            os.ftruncate(lock, count)


class _Fetcher:
    """Downloads in the background of this process.

    The reader of a shard retries a download that failed, and reports its error.
    """

    def __init__(self, mirror: Mirror) -> None:
        self._mirror, self.process = mirror, os.getpid()
        self._waiting: deque[str] = deque()
        self._asked: set[str] = set()
        self._threads, self._lock = 0, Lock()

    def ask(self, names: Sequence[str]) -> None:
        """Fetch these shards."""
        with self._lock:
            self._waiting.extend(name for name in names if name not in self._asked)
            self._asked.update(names)
            missing = min(DOWNLOADS, len(self._waiting)) - self._threads
            self._threads += max(missing, 0)
        for _ in range(missing):
            Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                name = self._waiting.popleft()
            with suppress(Exception):
                self._mirror.fetch(self._mirror.path / name)
            with self._lock:
                self._asked.discard(name)


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    """Lock a file against other processes and threads, and remove it at the end; yields its handle."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except BaseException:
            os.close(lock)
            raise
        if _same(lock, path):
            break
        os.close(lock)
    try:
        yield lock
    finally:
        path.unlink(missing_ok=True)
        os.close(lock)


def _same(handle: int, path: Path) -> bool:
    """Whether an open file is still the one at its path."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _content(cache: Path) -> tuple[list[tuple[Path, os.stat_result]], int]:
    """All shards of a cache, and the bytes of these and of shards that are being fetched."""
    shards, used = [], 0
    for directory, _, names in os.walk(cache):
        for name in names:
            if not _SHARD.fullmatch(name) and not _RESERVED.fullmatch(name):
                continue
            path = Path(directory, name)
            with suppress(FileNotFoundError):
                status = path.lstat()
                used += status.st_size
                if _SHARD.fullmatch(name):
                    shards.append((path, status))
                elif status.st_size:
                    used -= _removed(path)  # if no process has locked it, its process was killed
    return shards, used


def _removed(path: Path) -> int:
    """Remove an unlocked shard or reservation, with what is unfinished of it. Returns its bytes, or 0."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _same(handle, path):
            return 0
        if reserved := _RESERVED.fullmatch(path.name):
            clear_leftovers(path.parent, lambda name: name == reserved["name"])
        path.unlink()
        return os.fstat(handle).st_size
    except BlockingIOError:
        return 0
    finally:
        os.close(handle)
