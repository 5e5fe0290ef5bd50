"""Where the files of a paper's release lie in a folder: a clone of its repository, or its data alone.

A study lists, for each kind of file, the places where one may lie. The first place that holds the file is
read, plain or packed with gzip.
"""

import csv
import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError, cause, inside, open_regular


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

    def patterns(self) -> tuple[str, ...]:
        """Patterns of the paths of all files, relative to the folder."""
        return tuple(
            place.format("*") + end for kind in self.places.values() for place in kind for end in ("", ".gz")
        )

    def find(self, folder: Path, kind: str, name: str = "") -> Path | None:
        """The file, or None if it lies in none of its places.

        Raises FileNotFoundError if `folder` is not a folder, RefusedError if a link leads to the file.
        """
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} is not a folder: give a clone of {self.repository} as `data`")
        paths = (place.format(name) + end for place in self.places[kind] for end in ("", ".gz"))
        path = next((path for path in paths if (folder / path).is_file()), None)
        return None if path is None else inside(folder, path)

    def path(self, folder: Path, kind: str, name: str = "") -> Path:
        """The file. Raises FileNotFoundError, which says where it was looked for and where to get it."""
        path = self.find(folder, kind, name)
        if path is None:
            places = " or ".join(place.format(name) for place in self.places[kind])
            raise FileNotFoundError(f"{folder} has no {places}: give a clone of {self.repository} as `data`")
        return path


def read_text(path: Path) -> str:
    """The text of a file, plain or packed with gzip, without a byte order mark.

    Raises DamagedError if it is not UTF-8, or not whole; RefusedError if it is a link.
    """
    with open_regular(path, follow=False) as file, parsing(path):
        packed = path.suffix == ".gz"
        return (gzip.GzipFile(fileobj=file).read() if packed else file.read()).decode("utf-8-sig")


@contextmanager
def parsing(path: Path | str) -> Iterator[None]:
    """Turns the failure to parse a file within into DamagedError."""
    try:
        yield
    except RefusedError:
        raise
    except (LookupError, ValueError, TypeError, EOFError, OSError, csv.Error) as error:
        raise DamagedError(f"{path} is malformed ({cause(error)}): fetch it again") from error
