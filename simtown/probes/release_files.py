"""Where the files of a paper's release lie, in a folder that the user names: a clone of the authors'
repository, or its data folders alone.

A study lists, for each kind of file, the places where one may lie. The first place that holds the file is
read, plain or packed with gzip. Nothing outside the folder is read: a link in it is refused.
"""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from simtown.core.files import DamagedError
from simtown.core.untrusted import inside, read_bytes


@dataclass(frozen=True)
class ReleaseFiles:
    """The files of a release.

    Attributes:
        repository: where a clone comes from.
        places: {kind of file: its places, relative to the folder}; {} in a place stands for the name of the
            file.
    """

    repository: str
    places: Mapping[str, tuple[str, ...]]

    def find(self, folder: Path, kind: str, name: str = "") -> Path | None:
        """The file, or None where it lies in none of its places.

        Raises:
            FileNotFoundError: `folder` is no folder.
            RefusedError: the file is a link, or lies behind one.
        """
        if not folder.is_dir():
            raise FileNotFoundError(
                f"there is no folder {folder}: give a clone of {self.repository} as `data`"
            )
        for place in self.places[kind]:
            for end in ("", ".gz"):
                relative = place.format(name) + end
                if (folder / relative).is_file():
                    return inside(folder, relative)
        return None

    def path(self, folder: Path, kind: str, name: str = "") -> Path:
        """The file.

        Raises:
            FileNotFoundError: it is missing; the message says where it was looked for and where to get it.
        """
        path = self.find(folder, kind, name)
        if path is None:
            first, *others = [place.format(name) for place in self.places[kind]]
            nor = f" (nor {', '.join(others)})" if others else ""
            raise FileNotFoundError(
                f"{folder} has no {first}{nor}: give a clone of {self.repository} as `data`"
            )
        return path


def read_text(path: Path) -> str:
    """The text of a file, plain or packed with gzip, without a byte order mark.

    Raises:
        DamagedError: it is not UTF-8, or not whole.
        RefusedError: it is a link.
    """
    content = read_bytes(path, follow=False)
    try:
        unpacked = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        return unpacked.decode("utf-8-sig")
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedError(f"{path} cannot be read as text ({error}): fetch it again") from error


@contextlib.contextmanager
def understood(place: Path | str, remedy: str = "fetch it again") -> Iterator[None]:
    """Turns what goes wrong with content that is not what its readers expect into DamagedError.

    Readers check what they read. What a study makes of it, with thousands of uses, may still fail where a
    name is missing, a list is empty or a number is beyond all bounds: then the content is at fault, and the
    message names its place.
    """
    try:
        yield
    except (LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, RecursionError) as error:
        raise DamagedError(
            f"{place} holds what does not belong there ({type(error).__name__}: {error}): {remedy}"
        ) from error
