"""manifest.json: what a data set is, in full; and timings.json: how long it took.

The manifest holds nothing that depends on the hour or the machine's speed, so it too is the same after any interruption.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import simtown
from simtown.datasets.settings import Settings
from simtown.datasets.shards import SCHEMA, tasks
from simtown.files import DamagedError, load_json, save_json, versions
from simtown.language.questions import vocabulary

NAME, TIMINGS = "manifest.json", "timings.json"
FORMAT = "simtown dataset"


def fresh(settings: Settings) -> dict[str, Any]:
    """The manifest of a data set of which nothing is written yet."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "simtown": simtown.__version__,
        "libraries": versions("numpy", "numba", "h5py", "hdf5plugin"),
        "settings": settings.resolved(),
        "vocabulary": list(vocabulary()),
        "complete": False,
        "shards": {},
    }


def load(directory: Path) -> dict[str, Any]:
    """The manifest of a data set.

    Raises:
        FileNotFoundError: there is none. DamagedError: it is not readable. ForeignDirectoryError: it is something else's.
    """
    path = directory / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no simtown data set (no {NAME}): give a directory made by simtown generate")
    manifest = load_json(path, FORMAT, "simtown generate")
    missing = [key for key in ("schema", "settings", "shards", "vocabulary", "complete") if key not in manifest]
    if missing:
        raise DamagedError(f"{path} is damaged (no {', '.join(missing)})")
    if manifest["schema"] != SCHEMA:
        raise DamagedError(
            f"{path} has layout version {manifest['schema']}, this simtown reads version {SCHEMA}: use the simtown that made it"
        )
    try:
        _check_settings(manifest["settings"])
        _check_rest(manifest)
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        raise DamagedError(f"{path} is damaged ({error})") from error
    return manifest


def _expect(value: Any, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{what} is {value!r}")


def _check_settings(told: Any) -> None:
    """Raises TypeError, KeyError or ValueError for settings that no manifest of ours holds."""
    _expect(told, dict, "settings")
    for name, default in asdict(Settings()).items():
        kinds: dict[type, type | tuple[type, ...]] = {tuple: list, float: (int, float)}
        _expect(told[name], kinds.get(type(default), type(default)), f"settings.{name}")
    settings = Settings.from_resolved(told)
    settings.check_apart_from_frequencies()
    for role in ("subject_frequencies", "object_frequencies"):
        _expect(told[role], list, role)
        if len(told[role]) != settings.entities or not all(isinstance(p, int | float) and 0 <= p <= 1 for p in told[role]):
            raise ValueError(f"{role} are not {settings.entities} probabilities")


def _check_rest(manifest: dict[str, Any]) -> None:
    """The same for everything else that is read from a manifest."""
    _expect(manifest["simtown"], str, "simtown")
    _expect(manifest["complete"], bool, "complete")
    _expect(manifest["vocabulary"], list, "vocabulary")
    for word in manifest["vocabulary"]:
        _expect(word, str, "a word of the vocabulary")
    _expect(manifest["shards"], dict, "shards")
    counts = {task.name: task.count for task in tasks(Settings.from_resolved(manifest["settings"]))}
    for name, entry in manifest["shards"].items():
        if name not in counts or not isinstance(entry, dict) or entry["examples"] != counts[name]:
            raise ValueError(f"shards.{name} is not as its settings say")
        _expect(entry["sha256"], str, f"shards.{name}.sha256")
        _expect(entry["bytes"], int, f"shards.{name}.bytes")
        for proposed, accepted in entry["tried"].values():
            _expect(proposed, int, f"shards.{name}.tried")
            _expect(accepted, int, f"shards.{name}.tried")
    if manifest["complete"]:
        unlisted = sorted(set(counts) - set(manifest["shards"]))
        if unlisted:
            raise ValueError(f"complete, but {unlisted[0]} is not listed")
        for loop, total in manifest["acceptance"].items():
            for key in ("proposed", "accepted", "rate"):
                _expect(total[key], (int, float), f"acceptance.{loop}.{key}")


def save(directory: Path, manifest: dict[str, Any], name: str = NAME) -> None:
    """Write the manifest, or another JSON file beside it."""
    save_json(directory / name, manifest)
