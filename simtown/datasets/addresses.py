"""Data sets and their examples as a command line names them. This imports nothing heavy."""

import os
import re
from pathlib import Path, PurePosixPath

from simtown.core.missing import no_record
from simtown.core.untrusted import printable, read_json

SPLITS = ("train", "val", "test")
#: The split of held-out compositions, which data sets with a hold-out have; and the names of all splits.
COMPOSITION = "test-composition"
ALL_SPLITS = (*SPLITS, COMPOSITION)
#: Splits whose kinds are drawn uniformly, with the test seed.
TESTS = ("test", COMPOSITION)
MANIFEST = "manifest.json"
#: A URL, also if a Path has removed one of its slashes.
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+_:]+):/{1,2}(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<place>.+):(?P<number>[0-9]+)", re.DOTALL)
_HOW = "write DIR/SPLIT:INDEX, such as data/train:7, or SHARD:INDEX, such as data/train-00000.h5:7"


def url_of(place: str | Path) -> str | None:
    """The URL of a place, None for a path; a Path made of a URL, which lacks a slash, counts as a URL.

    As in a path, "//" is "/" and "./" nothing: the same place for a text and the Path made of it.
    """
    match = _URL.fullmatch(str(place))
    if match is None or match["scheme"].lower() == "file":
        return None
    return f"{match['scheme'].lower()}://{match['rest'] and PurePosixPath(match['rest'])}"


def path_of(place: str | Path) -> Path:
    """The path of a place, with or without "file://" in front."""
    text = str(place)
    is_url = text[: len("file:/")].lower() == "file:/"
    return Path("/" + text[len("file:") :].lstrip("/")) if is_url else Path(place)


def name_of(place: str | Path) -> str:
    """The name of a data set: the last part of its path, or of its URL, without its special characters."""
    url = url_of(place)
    if url is None:
        return os.path.basename(os.path.abspath(path_of(place)))
    last = printable(url).partition("://")[2].rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.+-]+", "-", last).strip(".-")


def no_dataset(place: str | Path) -> str:
    """The message where a place holds no data set."""
    if url_of(place):
        return f"{place} holds no simtown data set (no {MANIFEST}): give one made by simtown generate"
    return no_record(path_of(place), "simtown data set", MANIFEST, "simtown generate")


def require_dataset(place: str | Path) -> None:
    """Raises FileNotFoundError if a path holds no data set; what a URL holds is seen when it is opened."""
    if not url_of(place) and not (path_of(place) / MANIFEST).is_file():
        raise FileNotFoundError(no_dataset(place))


def stored_counts(place: str | Path) -> dict[str, int]:
    """Examples in each split, as the manifest says; {} of a URL, or if opening the data set will fail."""
    if url_of(place):
        return {}
    try:
        settings = read_json(path_of(place) / MANIFEST)["settings"]
        counts = {split: int(settings[name]) for split, name in zip(SPLITS, ("n", *SPLITS[1:]), strict=True)}
        return counts | ({COMPOSITION: counts["test"]} if settings.get("hold_out") else {})
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def require_index(place: str | Path, index: int, count: int) -> None:
    """Raises ValueError if a split or shard of `count` examples has none of this number."""
    if index >= count:
        content = f"holds examples 0 to {count - 1}" if count else "holds no example"
        raise ValueError(f"{place} {content}, so there is no example {index}")


def is_address(where: str) -> bool:
    """Whether words look like the address of an example, and do not name a file or directory."""
    return _ADDRESS.fullmatch(where) is not None and not Path(where).exists()


def parse_address(where: str) -> tuple[str, str | None, int]:
    """The data set, split and index of "DIR/SPLIT:INDEX", or the file, None and index of "SHARD:INDEX".

    Raises:
        ValueError: the words do not name an example, or its number is too high.
        FileNotFoundError: there is no such data set or shard.
    """
    match = _ADDRESS.fullmatch(where)
    if match is None:
        raise ValueError(f"'{where}' is not an example: {_HOW}")
    path, index = Path(match["place"]), int(match["number"])
    if path.is_file():
        return match["place"], None, index
    dataset = os.path.dirname(match["place"]) or "."
    if path.name in ALL_SPLITS:  # the shards of a split may lie in a folder of its name
        require_dataset(dataset)
        require_index(path, index, stored_counts(dataset).get(path.name, index + 1))
        return dataset, path.name, index
    if (path_of(dataset) / MANIFEST).is_file() and path.suffix != ".h5":
        splits = ", ".join(stored_counts(dataset) or SPLITS)
        raise FileNotFoundError(f"{dataset} has no split {path.name}: choose among {splits}")
    raise FileNotFoundError(f"there is no shard {path}: {_HOW}")
