"""manifest.json: what a data set is, in full; and timings.json: how long it took.

The manifest holds nothing that depends on the hour or the machine's speed, so it too is the same after any interruption.
"""

from __future__ import annotations

import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import simtown
from simtown.datasets.settings import Settings
from simtown.datasets.shards import SCHEMA
from simtown.language.questions import vocabulary

NAME, TIMINGS = "manifest.json", "timings.json"
FORMAT = "simtown dataset"


class ForeignDirectoryError(ValueError):
    """The directory holds something that is not this data set; nothing in it was touched."""


class DamagedError(RuntimeError):
    """A data set's files are not what its manifest says; the message names the file and what to do."""


def fresh(settings: Settings) -> dict[str, Any]:
    """The manifest of a data set of which nothing is written yet."""
    libraries = ("numpy", "numba", "h5py", "hdf5plugin")
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "simtown": simtown.__version__,
        "libraries": {name: _version(name) for name in libraries},
        "settings": settings.resolved(),
        "vocabulary": list(vocabulary()),
        "complete": False,
        "shards": {},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def load(directory: Path) -> dict[str, Any]:
    """The manifest of a data set.

    Raises:
        FileNotFoundError: there is none. DamagedError: it is not readable. ForeignDirectoryError: it is something else's.
    """
    path = directory / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no simtown data set (no {NAME}): give a directory made by simtown generate")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DamagedError(f"{path} is damaged ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ForeignDirectoryError(f"{path} was not made by simtown generate")
    missing = [key for key in ("schema", "settings", "shards", "vocabulary", "complete") if key not in manifest]
    if missing:
        raise DamagedError(f"{path} is damaged (no {', '.join(missing)})")
    if manifest["schema"] != SCHEMA:
        raise DamagedError(
            f"{path} has layout version {manifest['schema']}, this simtown reads version {SCHEMA}: use the simtown that made it"
        )
    try:
        Settings.from_resolved(manifest["settings"]).check()
    except (TypeError, AttributeError, ValueError) as error:
        raise DamagedError(f"{path} is damaged (settings: {error})") from error
    return manifest


def save(directory: Path, manifest: dict[str, Any], name: str = NAME) -> None:
    """Write a JSON file so that it is either the old one or the new one, whenever the power fails."""
    temporary = directory / f".{name}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1, sort_keys=True)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, directory / name)
