"""Where the files of a paper's release lie, in a folder that the user names: a clone of the authors' repository, or its data folders alone.

A study lists, for each kind of file, the places where one may lie. The first place that holds the file is read, plain or packed with gzip.
Nothing outside the folder is read: a link that leads out of it is refused.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from simtown.files import DamagedError


@dataclass(frozen=True)
class ReleaseFiles:
    """The files of a release.

    Attributes:
        repository: where a clone comes from.
        places: {kind of file: its places, relative to the folder}; {} in a place stands for the name of the file.
    """

    repository: str
    places: Mapping[str, tuple[str, ...]]

    def find(self, folder: Path, kind: str, name: str = "") -> Path | None:
        """The file, or None where it lies in none of its places.

        Raises FileNotFoundError: `folder` is no folder, or the file is a link that leads out of it.
        """
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no folder {folder}: give a clone of {self.repository} as --data")
        for place in self.places[kind]:
            for end in ("", ".gz"):
                path = folder / (place.format(name) + end)
                if path.is_file():
                    if not path.resolve().is_relative_to(folder.resolve()):
                        raise FileNotFoundError(
                            f"{path} is a link that leads out of {folder}, where nothing is read: put the file itself there"
                        )
                    return path
        return None

    def path(self, folder: Path, kind: str, name: str = "") -> Path:
        """The file. Raises FileNotFoundError where it is missing; the message says where it was looked for and where to get it."""
        path = self.find(folder, kind, name)
        if path is None:
            first, *others = [place.format(name) for place in self.places[kind]]
            nor = f" (nor {', '.join(others)})" if others else ""
            raise FileNotFoundError(f"{folder} has no {first}{nor}: give a clone of {self.repository} as --data")
        return path


def read_text(path: Path) -> str:
    """The text of a file, plain or packed with gzip. Raises DamagedError where it is neither UTF-8 nor whole."""
    content = path.read_bytes()
    try:
        return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8")
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedError(f"{path} cannot be read as text ({error}): fetch it again") from error
