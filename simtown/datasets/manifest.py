"""manifest.json: what a data set is, in full; and timings.json: how long it took.

The manifest holds nothing that depends on the hour or the machine's speed, so it too is the same after any interruption. It ends in
a checksum of itself, so that a changed byte of it is found whoever reads it; :func:`simtown.datasets.verify.verify` proves the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import simtown
from simtown.assets.palette import PAINTS
from simtown.datasets import summary as summaries
from simtown.datasets.names import names
from simtown.datasets.settings import KINDS, LEFT_OUT, NEW_SETTINGS, SCHEMA, SPLITS, Settings, Tables, UnknownWorldError
from simtown.datasets.shards import Task, tasks, together
from simtown.files import DamagedError, load_json, save_json, versions
from simtown.language.questions import vocabulary

NAME, TIMINGS = "manifest.json", "timings.json"
FORMAT = "simtown dataset"
#: The key of the manifest's checksum of itself.
SEAL = "sha256"
_RESTORE = "put back a copy of it, or run simtown generate again with another --out"


def fresh(settings: Settings, tables: Tables | None = None) -> dict[str, Any]:
    """The manifest of a data set of which nothing is written yet; `tables` as for :meth:`Settings.resolved`."""
    own = {
        "format": FORMAT,
        "schema": settings.schema,
        "simtown": simtown.__version__,
        "libraries": versions("numpy", "numba", "h5py", "hdf5plugin"),
        "settings": settings.resolved(tables),
        "vocabulary": list(vocabulary()),
        "complete": False,
        "shards": {},
    }
    return own if settings.schema == 1 else {**own, "names": names(settings), "summary": {}}


def enter(manifest: dict[str, Any], task: Task, made: Mapping[str, Any]) -> None:
    """Write a shard down: its entry, and its summary into that of its split. `made`: of :func:`simtown.datasets.engines.entry`.

    A shard that was listed before, lost, and made again is in the summary already. Raises DamagedError for a summary of other lists.
    """
    sizes = summaries.lengths(manifest["names"])
    if {name: len(counts) for name, counts in made["summary"].items()} != sizes:
        raise DamagedError(f"{task.name} is damaged: its summary has other lists; move it away and run the same command again")
    if task.name not in manifest["shards"]:
        parts = [manifest["summary"][task.split]] if task.split in manifest["summary"] else []
        manifest["summary"][task.split] = summaries.total([*parts, made["summary"]], sizes)
    manifest["shards"][task.name] = {key: value for key, value in made.items() if key != "summary"}


def acceptance(shards: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Proposals, acceptances and their ratio of every rejection loop, over all shards of a manifest."""
    total = together(shards[name]["tried"] for name in sorted(shards))
    return {loop: {"proposed": p, "accepted": a, "rate": a / max(p, 1)} for loop, (p, a) in total.items()}


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with the checksum of all the rest of it: of its JSON with sorted keys and without blanks."""
    rest = {key: value for key, value in manifest.items() if key != SEAL}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return {**rest, SEAL: hashlib.sha256(text.encode()).hexdigest()}


def save(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, sealed."""
    save_json(directory / NAME, sealed(manifest))


def load(directory: Path) -> dict[str, Any]:
    """The manifest of a data set, of any version of the layout. One of version 1 may have no checksum of itself.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it is not readable, or not what was written.
        ForeignDirectoryError: it is something else's.
    """
    path = directory / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no simtown data set (no {NAME}): give a directory made by simtown generate")
    manifest = load_json(path, FORMAT, "simtown generate")
    if SEAL in manifest and manifest[SEAL] != sealed(manifest)[SEAL]:
        raise DamagedError(f"{path} is damaged: it does not match its own checksum, so something in it was changed; {_RESTORE}")
    missing = [key for key in ("schema", "settings", "shards", "vocabulary", "complete") if key not in manifest]
    if missing:
        raise DamagedError(f"{path} is damaged: it lacks {', '.join(missing)}; {_RESTORE}")
    if manifest["schema"] not in (1, SCHEMA):
        raise DamagedError(
            f"{path} has layout version {manifest['schema']}, this simtown reads versions 1 and {SCHEMA}: use the simtown that made it"
        )
    if manifest["schema"] == SCHEMA:
        missing = [key for key in (SEAL, "names", "summary") if key not in manifest]
        if missing:
            raise DamagedError(f"{path} is damaged: it lacks {', '.join(missing)}; {_RESTORE}")
    try:
        _check_settings(manifest["settings"], manifest["schema"])
        _check_rest(manifest)
        if manifest["schema"] == SCHEMA:
            _check_names(manifest)
    except KeyError as error:
        raise DamagedError(f"{path} is damaged: it lacks {error}; {_RESTORE}") from error
    except UnknownWorldError as error:
        raise DamagedError(f"{path}: {error}") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise DamagedError(f"{path} is damaged: {error}; {_RESTORE}") from error
    return manifest


_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a whole number", (int, float): "a number"}


def _expect(value: Any, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{what} is {value!r}, not {_KINDS[kind]}")


def _check_settings(told: Any, schema: int) -> None:
    """Raises TypeError, KeyError or ValueError for settings that no manifest of ours holds."""
    _expect(told, dict, "settings")
    for name, default in asdict(Settings()).items():
        kinds: dict[type, type | tuple[type, ...]] = {tuple: list, float: (int, float), type(None): int}
        if name in told:
            _expect(told[name], kinds.get(type(default), type(default)), f"settings.{name}")
        elif name not in LEFT_OUT and (schema > 1 or name not in NEW_SETTINGS):
            raise KeyError(f"settings.{name}")
    unknown = sorted(set(told) - set(asdict(Settings())) - {f"{table}_frequencies" for table in Tables._fields} - {KINDS})
    if unknown:
        raise ValueError(f"there is no setting '{unknown[0]}'")
    settings = Settings.from_resolved(told)
    if settings.schema != schema:
        raise ValueError(f"version {settings.catalogue} of the world is never stored in layout version {schema}")
    settings.check_apart_from_frequencies()
    if told.get(KINDS) != (list(settings.kinds) if settings.world_seed else None):
        raise ValueError(f"settings.{KINDS} are not the kinds that world seed {settings.world_seed} has in this version of simtown")
    paints = 0 if settings.paint == "own" else len(PAINTS)
    for table, count in zip(Tables._fields, (settings.entities, settings.entities, paints), strict=True):
        name = f"{table}_frequencies"
        if schema == 1 and name in NEW_SETTINGS:
            continue
        _expect(told[name], list, f"settings.{name}")
        if len(told[name]) != count or not all(isinstance(p, int | float) and 0 <= p <= 1 for p in told[name]):
            raise ValueError(f"settings.{name} is not a list of {count} probabilities")


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
        if name not in counts:
            raise ValueError(f"it lists a shard {name}, which data sets of these settings do not have")
        if not isinstance(entry, dict) or entry["examples"] != counts[name]:
            raise ValueError(f"shards.{name} is not of {counts[name]} examples, as its settings make it")
        _expect(entry["sha256"], str, f"shards.{name}.sha256")
        _expect(entry["bytes"], int, f"shards.{name}.bytes")
        _expect(entry["tried"], dict, f"shards.{name}.tried")
        for loop, counted in entry["tried"].items():
            if not isinstance(counted, list) or len(counted) != 2:
                raise TypeError(f"shards.{name}.tried.{loop} is {counted!r}, not two whole numbers")
            for number in counted:
                _expect(number, int, f"shards.{name}.tried.{loop}")
    if manifest["complete"]:
        unlisted = sorted(set(counts) - set(manifest["shards"]))
        if unlisted:
            raise ValueError(f"it is called complete but does not list the shard {unlisted[0]}")
        _expect(manifest["acceptance"], dict, "acceptance")
        for loop, total in manifest["acceptance"].items():
            _expect(total, dict, f"acceptance.{loop}")
            for key in ("proposed", "accepted", "rate"):
                _expect(total[key], (int, float), f"acceptance.{loop}.{key}")


def _check_names(manifest: dict[str, Any]) -> None:
    """The same for what version 1 of the layout does not have."""
    wanted = names(Settings())
    _expect(manifest["names"], dict, "names")
    for key in wanted:
        _expect(manifest["names"][key], list, f"names.{key}")
        for name in manifest["names"][key]:
            _expect(name, str, f"a name of names.{key}")
    numbers = max(Settings.from_resolved(manifest["settings"]).kinds) + 1
    if len(manifest["names"]["entities"]) != numbers:
        raise ValueError(f"names.entities is not a list of {numbers} names")
    sizes = summaries.lengths(manifest["names"])
    _expect(manifest["summary"], dict, "summary")
    for split, counted in manifest["summary"].items():
        if split not in SPLITS:
            raise ValueError(f"there is no split summary.{split}")
        _expect(counted, dict, f"summary.{split}")
        for name, size in sizes.items():
            _expect(counted[name], list, f"summary.{split}.{name}")
            if len(counted[name]) != size:
                raise ValueError(f"summary.{split}.{name} is not a list of {size} counts")
            for number in counted[name]:
                _expect(number, int, f"summary.{split}.{name}")
    if manifest["complete"]:
        for split, count in Settings.from_resolved(manifest["settings"]).counts().items():
            if count and split not in manifest["summary"]:
                raise KeyError(f"summary.{split}")
