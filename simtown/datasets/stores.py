"""Where a data set's files lie: a directory of this machine, or behind a URL of fsspec such as s3://bucket/town.

A shard comes into being whole in either: renamed in a directory, uploaded in one piece behind a URL.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from simtown.datasets import manifest as manifests
from simtown.extras import how_to_install
from simtown.files import (
    DamagedError,
    ForeignDirectoryError,
    RefusedError,
    becoming,
    claimed,
    folder,
    inside,
    read_json,
    save_json,
)
from simtown.terminal import shown

#: What a URL looks like, also where a Path has swallowed one of its slashes.
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+]+):/{1,2}(?P<rest>[^/].*)", re.DOTALL)
_OURS = re.compile(r"(train|val|test)-\d{5,}\.h5|manifest\.json|timings\.json|preview\.png")
#: What nobody else may see of a URL: the user with a password, and a query.
_SECRETS = re.compile(r"(?<=://)[^/?#]*(?=@)|(?<=\?).+", re.DOTALL)
#: Folders that the shards of a split lie in if they are many.
_FOLDER = re.compile(r"(train|val|test)(/\d{5,})?")
#: Bytes of the largest timings.json: a run of generate adds 500.
LARGEST_TIMINGS = 1_000_000


def is_leftover(name: str) -> bool:
    """Whether a file of this name is what a killed job leaves: one of ours that was not whole yet."""
    folder, _, own_name = name.rpartition("/")
    target = becoming(own_name)
    return target is not None and _OURS.fullmatch(target) is not None and (not folder or _FOLDER.fullmatch(folder) is not None)


def _kind(path: Path) -> str:
    """What a path is that is no plain file; empty for one that is."""
    if path.is_symlink():
        return "a symbolic link"
    if path.is_dir():
        return "a directory"
    return "" if path.is_file() else "a special file"


class Store(Protocol):
    """A place of files by name, of which some have a folder before them. It can be sent to another process or machine."""

    def claimed(self, command: str) -> AbstractContextManager[None]:
        """Make the place if need be and, where the system can, keep other processes of the command out of it."""
        ...

    def sizes(self) -> dict[str, int]:
        """Bytes of everything there: at the top, and in the folders for shards. Other folders are not looked into."""
        ...

    def tidy(self) -> None:
        """Remove temporary files of jobs that were killed."""
        ...

    def load_manifest(self) -> dict[str, Any]:
        """See :func:`simtown.datasets.manifest.load`."""
        ...

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        """See :func:`simtown.datasets.manifest.save`."""
        ...

    def irregular(self) -> dict[str, str]:
        """What is there and no plain file: by name, "a directory", "a symbolic link" or "a special file"."""
        ...

    def load_json(self, name: str) -> Any:
        """A small JSON file. Raises OSError where there is none, ValueError where it is no JSON or no plain file."""
        ...

    def save_json(self, name: str, content: Any) -> None:
        """Write a JSON file whole or not at all."""
        ...

    def making(self, name: str) -> AbstractContextManager[Path]:
        """A directory in which to make the file of this name; it is in the store when the block ends well."""
        ...

    def reading(self, name: str, largest: int) -> AbstractContextManager[Path]:
        """The file as one of this machine: behind a URL, at most `largest` bytes are fetched. Raises RefusedError for more."""
        ...


class Directory:
    """Files in a directory of this machine, or of a file system that all machines of a cluster share."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def claimed(self, command: str) -> AbstractContextManager[None]:
        return claimed(self.path, command)

    def _paths(self) -> Iterator[tuple[str, Path]]:
        """Everything at the top and in the folders for shards, by name."""
        waiting = [self.path]
        while waiting:
            for path in waiting.pop().iterdir():
                name = path.relative_to(self.path).as_posix()
                yield name, path
                if _FOLDER.fullmatch(name) and path.is_dir() and not path.is_symlink():
                    waiting.append(path)

    def check(self, names: Iterable[str]) -> None:
        """Whether the files of these names are there and plain. Raises DamagedError or RefusedError for the first that is not."""
        names = list(names)
        for before in {name.rpartition("/")[0] for name in names} - {""}:
            inside(self.path, before)
        top = str(self.path)
        for name in names:
            try:
                plain = stat.S_ISREG(os.lstat(f"{top}/{name}").st_mode)
            except OSError:
                raise DamagedError(f"{self} lacks its shard {name}: run the same simtown generate again, which makes it") from None
            if not plain:
                raise RefusedError(f"{self.path / name} is {_kind(self.path / name)}: put the file itself there")

    def sizes(self) -> dict[str, int]:
        return {name: path.lstat().st_size for name, path in self._paths()}

    def irregular(self) -> dict[str, str]:
        return {name: kind for name, path in self._paths() if (kind := _kind(path))}

    def tidy(self) -> None:
        for name, path in self._paths():
            if is_leftover(name) and not _kind(path):
                path.unlink(missing_ok=True)

    def load_manifest(self) -> dict[str, Any]:
        return manifests.load(self.path)

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        manifests.save(self.path, manifest)

    def load_json(self, name: str) -> Any:
        return read_json(self.path / name, LARGEST_TIMINGS)

    def save_json(self, name: str, content: Any) -> None:
        save_json(self.path / name, content)

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        before, _, _ = name.rpartition("/")
        if before:
            folder(self.path, before)
        yield self.path

    @contextmanager
    def reading(self, name: str, largest: int) -> Iterator[Path]:
        yield inside(self.path, name)


class Remote:
    """Files behind a URL. Credentials and endpoints are those of the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...).

    Nobody can be kept out of it; two jobs of the same settings write the same bytes, and one of other settings refuses.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def __str__(self) -> str:
        return shown(self.url)

    def _words_of(self, error: Exception) -> str:
        """What an error says, also where it quotes a part of the URL, without what :func:`simtown.terminal.shown` leaves out of it."""
        words = shown(str(error))
        for secret in _SECRETS.findall(self.url):
            words = words.replace(secret, "...")
        return words

    def _files(self) -> Any:
        """The file system; every error of opening it is one line."""
        try:
            import fsspec
        except ImportError:
            raise ValueError(f"{self}: reading and writing URLs needs fsspec: {how_to_install('cluster')}") from None
        try:
            return fsspec.core.url_to_fs(self.url, use_listings_cache=False)[0]
        except (ImportError, ValueError) as error:  # ImportError: "Install gcsfs to access GCS"
            raise ValueError(f"{self}: {self._words_of(error)}") from error

    def claimed(self, command: str) -> AbstractContextManager[None]:
        return self._explained()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Whatever the network library raises is an OSError that names the URL."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{self}: {self._words_of(error)}") from error
        except OSError as error:
            if type(error) is OSError or error.filename:
                raise
            raise OSError(error.errno or 5, f"{self}: {self._words_of(error)}") from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] in ("botocore", "aiobotocore", "s3fs", "gcsfs", "aiohttp", "google"):
                raise OSError(5, f"{self}: {self._words_of(error)}") from error
            raise

    def sizes(self) -> dict[str, int]:
        return {name: int(entry["size"] or 0) for name, entry in self._listing().items()}

    def irregular(self) -> dict[str, str]:
        return {name: "a directory" for name, entry in self._listing().items() if entry["type"] == "directory"}

    def _listing(self) -> dict[str, dict[str, Any]]:
        """Everything at the top and in the folders for shards, by name."""
        files, found, folders = self._files(), {}, [""]
        with self._explained():
            while folders:
                folder = folders.pop()
                try:
                    entries = files.ls(f"{self.url}/{folder}".rstrip("/"), detail=True)
                except FileNotFoundError:
                    entries = []
                for entry in entries:
                    name = f"{folder}/{entry['name'].rstrip('/').rsplit('/', 1)[1]}".lstrip("/")
                    found[name] = entry
                    if _FOLDER.fullmatch(name) and entry["type"] == "directory":
                        folders.append(name)
        return found

    def tidy(self) -> None: ...

    def load_manifest(self) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            try:
                self.get(manifests.NAME, Path(scratch) / manifests.NAME, manifests.LARGEST)
            except FileNotFoundError:
                raise FileNotFoundError(
                    f"{self} holds no simtown data set (no {manifests.NAME}): give a URL that simtown generate wrote to"
                ) from None
            try:
                return manifests.load(Path(scratch))
            except (DamagedError, ForeignDirectoryError) as error:
                raise type(error)(str(error).replace(f"{scratch}/", f"{self}/")) from error

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        self.save_json(manifests.NAME, manifests.sealed(manifest))

    def load_json(self, name: str) -> Any:
        with self.reading(name, LARGEST_TIMINGS) as path:
            return read_json(path, LARGEST_TIMINGS)

    def save_json(self, name: str, content: Any) -> None:
        with self.making(name) as scratch:
            save_json(scratch / name, content)

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            (Path(scratch) / name).parent.mkdir(parents=True, exist_ok=True)
            yield Path(scratch)
            self.put(Path(scratch) / name, name)

    @contextmanager
    def reading(self, name: str, largest: int) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            path = Path(scratch) / Path(name).name
            self.get(name, path, largest)
            yield path

    def put(self, path: Path, name: str) -> None:
        """Upload a whole file; it appears under its name when all of it is there."""
        files = self._files()
        with self._explained():
            files.put_file(str(path), f"{self.url}/{name}")

    def get(self, name: str, path: Path, largest: int) -> None:
        """Download a file of at most `largest` bytes; a longer one is given up as soon as it is. Raises RefusedError."""
        files = self._files()
        with self._explained():
            files.get_file(f"{self.url}/{name}", str(path), callback=_limit(f"{self.url}/{name}", largest))
        if path.stat().st_size > largest:
            raise RefusedError(f"{self.url}/{name} is larger than the {largest:,} bytes that it may have")


def _limit(url: str, largest: int) -> Any:
    """What fsspec tells of a download, piece by piece: it ends when there are more bytes than there may be."""
    from fsspec.callbacks import Callback

    class Limit(Callback):
        def call(self, *args: Any, **kwargs: Any) -> None:
            if max(self.size or 0, self.value) > largest:
                raise RefusedError(f"{url} is larger than the {largest:,} bytes that it may have")

    return Limit()


def url_of(place: str | Path) -> str | None:
    """The URL that a place is, None for a path; a Path made of a URL, which has lost a slash, is one too."""
    found = _URL.fullmatch(str(place))
    return f"{found['scheme']}://{found['rest']}" if found and found["scheme"] != "file" else None


def path_of(place: str | Path) -> Path:
    """The path that a place is, with or without "file://" before it."""
    text = str(place)
    return Path("/" + text[len("file:") :].lstrip("/")) if text.startswith("file:/") else Path(place)


def name_of(place: str | Path) -> str:
    """What a data set is called: the last part of its path, or of its URL with nothing but letters, digits and ._+-; "" if none is left."""
    url = url_of(place)
    if url is None:
        return os.path.basename(os.path.abspath(path_of(place)))
    last = shown(url).partition("://")[2].rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.+-]+", "-", last).strip(".-")


def store_of(place: str | Path) -> Directory | Remote:
    """Where the files of a data set lie: a path, file://PATH, or another URL that fsspec knows."""
    url = url_of(place)
    return Remote(url) if url else Directory(path_of(place))
