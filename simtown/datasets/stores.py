"""Where the files of a data set are: a directory of this machine, or a URL of fsspec such as s3://bucket/town.

A shard appears whole in either of them: it is renamed in a directory, or uploaded in one piece to a URL.
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

from simtown.core.extras import how_to_install
from simtown.core.files import DamagedError, ForeignDirectoryError, becoming, claimed, save_json
from simtown.core.untrusted import RefusedError, folder, inside, read_json, without_secrets
from simtown.datasets import manifests

#: A URL, also if a Path has removed one of its slashes.
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+]+):/{1,2}(?P<rest>[^/].*)", re.DOTALL)
_OURS = re.compile(r"(train|val|test)-\d{5,}\.h5|manifest\.json|timings\.json|preview\.png")
#: The secrets of a URL: the user with a password, and a query.
_SECRETS = re.compile(r"(?<=://)[^/?#]*(?=@)|(?<=\?).+", re.DOTALL)
#: Folders that the shards of a split lie in if they are many.
_FOLDER = re.compile(r"(train|val|test)(/\d{5,})?")
#: Their errors are reported as OSError.
_NETWORK_LIBRARIES = ("botocore", "aiobotocore", "s3fs", "gcsfs", "aiohttp", "google")
#: Bytes of the largest timings.json: a run of generate adds 500.
LARGEST_TIMINGS = 1_000_000


def is_leftover(name: str) -> bool:
    """Whether a file of this name is an unfinished file of ours, left by a job that was killed."""
    folder, _, own_name = name.rpartition("/")
    target = becoming(own_name)
    return (
        target is not None
        and _OURS.fullmatch(target) is not None
        and (not folder or _FOLDER.fullmatch(folder) is not None)
    )


def _kind(path: Path) -> str:
    """What a path is if it is not a plain file; "" for a plain file."""
    if path.is_symlink():
        return "a symbolic link"
    if path.is_dir():
        return "a directory"
    return "" if path.is_file() else "a special file"


class Store(Protocol):
    """A place of files by name; some names have a folder in front.

    A store can be sent to another process or machine.
    """

    def claimed(self, command: str) -> AbstractContextManager[None]:
        """Make the place if need be, and keep other processes of the command out of it if the system can."""
        ...

    def sizes(self) -> dict[str, int]:
        """Bytes of every file at the top and in the folders for shards; other folders are not read."""
        ...

    def tidy(self) -> None:
        """Remove temporary files of jobs that were killed."""
        ...

    def load_manifest(self) -> dict[str, Any]:
        """See :func:`simtown.datasets.manifests.load`."""
        ...

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        """See :func:`simtown.datasets.manifests.save`."""
        ...

    def irregular(self) -> dict[str, str]:
        """What is not a plain file: by name, "a directory", "a symbolic link" or "a special file"."""
        ...

    def load_json(self, name: str) -> Any:
        """The content of a small JSON file.

        Raises OSError if there is none, ValueError if it is not JSON or not a plain file.
        """
        ...

    def save_json(self, name: str, content: Any) -> None:
        """Write a JSON file whole or not at all."""
        ...

    def making(self, name: str) -> AbstractContextManager[Path]:
        """A directory in which to make the file of this name; the store has it after the block."""
        ...

    def reading(self, name: str, largest: int) -> AbstractContextManager[Path]:
        """The file as one of this machine; of a URL, at most `largest` bytes are fetched.

        Raises RefusedError if it has more.
        """
        ...


class DirectoryStore:
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
        """Check that the files of these names exist and are plain files.

        Raises DamagedError if one is missing, RefusedError if one is not a plain file.
        """
        names = list(names)
        for directory in {name.rpartition("/")[0] for name in names} - {""}:
            inside(self.path, directory)
        top = str(self.path)
        for name in names:
            try:
                plain = stat.S_ISREG(os.lstat(f"{top}/{name}").st_mode)
            except OSError:
                raise DamagedError(
                    f"{self} lacks its shard {name}: run the same simtown generate again, which makes it"
                ) from None
            if not plain:
                raise RefusedError(
                    f"{self.path / name} is {_kind(self.path / name)}: put the file itself there"
                )

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
        return read_json(self.path / name)

    def save_json(self, name: str, content: Any) -> None:
        save_json(self.path / name, content)

    @contextmanager
    def making(self, name: str) -> Iterator[Path]:
        directory, _, _ = name.rpartition("/")
        if directory:
            folder(self.path, directory)
        yield self.path

    @contextmanager
    def reading(self, name: str, largest: int) -> Iterator[Path]:
        yield inside(self.path, name)


class Remote:
    """Files behind a URL. Credentials and endpoints come from the environment (AWS_ACCESS_KEY_ID and others).

    Other processes cannot be kept out of it. Two jobs with the same settings write the same bytes, and a job
    with other settings refuses to continue.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def __str__(self) -> str:
        return without_secrets(self.url)

    def _words_of(self, error: Exception) -> str:
        """The message of an error, without secrets of the URL that it may quote."""
        words = without_secrets(str(error))
        for secret in _SECRETS.findall(self.url):
            words = words.replace(secret, "...")
        return words

    def _files(self) -> Any:
        """The file system of fsspec; an error of opening it is one line."""
        try:
            import fsspec
        except ImportError:
            raise ValueError(
                f"{self}: reading and writing URLs needs fsspec: {how_to_install('cluster')}"
            ) from None
        try:
            return fsspec.core.url_to_fs(self.url, use_listings_cache=False)[0]
        except (ImportError, ValueError) as error:  # ImportError: "Install gcsfs to access GCS"
            raise ValueError(f"{self}: {self._words_of(error)}") from error

    def claimed(self, command: str) -> AbstractContextManager[None]:
        return self._explained()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn every error of a network library into an OSError that names the URL."""
        try:
            yield
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{self}: {self._words_of(error)}") from error
        except OSError as error:
            if type(error) is OSError or error.filename:
                raise
            raise OSError(error.errno or 5, f"{self}: {self._words_of(error)}") from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] in _NETWORK_LIBRARIES:
                raise OSError(5, f"{self}: {self._words_of(error)}") from error
            raise

    def sizes(self) -> dict[str, int]:
        return {name: self._size(entry) for name, entry in self._listing().items()}

    def _size(self, entry: dict[str, Any]) -> int:
        """The bytes of an entry; a plain web server's list does not say them, so the file is asked."""
        if entry["size"] is None and entry["type"] != "directory":
            with self._explained():
                entry = self._files().info(entry["name"])
        return int(entry["size"] or 0)

    def irregular(self) -> dict[str, str]:
        return {
            name: "a directory" for name, entry in self._listing().items() if entry["type"] == "directory"
        }

    def _listing(self) -> dict[str, dict[str, Any]]:
        """Everything at the top and in the folders for shards, by name."""
        files, listing, folders = self._files(), {}, [""]
        with self._explained():
            while folders:
                folder = folders.pop()
                try:
                    entries = files.ls(f"{self.url}/{folder}".rstrip("/"), detail=True)
                except FileNotFoundError:
                    entries = []
                for entry in entries:
                    name = f"{folder}/{entry['name'].rstrip('/').rsplit('/', 1)[1]}".lstrip("/")
                    listing[name] = entry
                    if _FOLDER.fullmatch(name) and entry["type"] == "directory":
                        folders.append(name)
        return listing

    def tidy(self) -> None: ...

    def load_manifest(self) -> dict[str, Any]:
        """See :func:`simtown.datasets.manifests.load`. Raises FileNotFoundError if there is none."""
        with tempfile.TemporaryDirectory(prefix="simtown-") as scratch:
            try:
                self.get(manifests.NAME, Path(scratch) / manifests.NAME, manifests.LARGEST)
            except FileNotFoundError:
                raise FileNotFoundError(
                    f"{self} holds no simtown data set (no {manifests.NAME}): give a URL that simtown "
                    "generate wrote to"
                ) from None
            try:
                return manifests.load(Path(scratch))
            except (DamagedError, ForeignDirectoryError) as error:
                raise type(error)(str(error).replace(f"{scratch}/", f"{self}/")) from error

    def save_manifest(self, manifest: dict[str, Any]) -> None:
        self.save_json(manifests.NAME, manifests.sealed(manifest))

    def load_json(self, name: str) -> Any:
        with self.reading(name, LARGEST_TIMINGS) as path:
            return read_json(path)

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
        """Upload a file; it appears under its name when it is whole."""
        files = self._files()
        with self._explained():
            files.put_file(str(path), f"{self.url}/{name}")

    def get(self, name: str, path: Path, largest: int) -> None:
        """Download a file of at most `largest` bytes.

        Raises RefusedError as soon as more have come.
        """
        files = self._files()
        with self._explained():
            files.get_file(f"{self.url}/{name}", str(path), callback=_limit(f"{self.url}/{name}", largest))
        if path.stat().st_size > largest:
            raise RefusedError(f"{self.url}/{name} is larger than the {largest:,} bytes that it may have")


def _limit(url: str, largest: int) -> Any:
    """A callback for a download by fsspec, which ends it when more bytes come than there may be."""
    from fsspec.callbacks import Callback

    class Limit(Callback):
        def call(self, *args: Any, **kwargs: Any) -> None:
            if max(self.size or 0, self.value) > largest:
                raise RefusedError(f"{url} is larger than the {largest:,} bytes that it may have")

    return Limit()


def url_of(place: str | Path) -> str | None:
    """The URL of a place, None for a path; a Path made of a URL, which lacks a slash, counts as a URL."""
    match = _URL.fullmatch(str(place))
    return f"{match['scheme']}://{match['rest']}" if match and match["scheme"] != "file" else None


def path_of(place: str | Path) -> Path:
    """The path of a place, with or without "file://" in front."""
    text = str(place)
    return Path("/" + text[len("file:") :].lstrip("/")) if text.startswith("file:/") else Path(place)


def name_of(place: str | Path) -> str:
    """The name of a data set: the last part of its path, or of its URL.

    Of a URL, only letters, digits and ._+- are kept; "" if nothing is left.
    """
    url = url_of(place)
    if url is None:
        return os.path.basename(os.path.abspath(path_of(place)))
    last = without_secrets(url).partition("://")[2].rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.+-]+", "-", last).strip(".-")


def store_of(place: str | Path) -> DirectoryStore | Remote:
    """The store of a place: a path, file://PATH, or another URL that fsspec knows."""
    url = url_of(place)
    return Remote(url) if url else DirectoryStore(path_of(place))
