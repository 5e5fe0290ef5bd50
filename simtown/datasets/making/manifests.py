"""manifest.json: everything that defines a data set.

The manifest does not depend on time or on the speed of the machine, so it is the same after any interruption.
It ends with a checksum of itself, so that every reader notices a changed byte;
:func:`simtown.datasets.proving.verify.verify` proves the rest.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from simtown.assets.entities import OWN, VERSION
from simtown.assets.own import require_kinds
from simtown.assets.palette import PAINTS
from simtown.core.files import DamagedError, ForeignDirectoryError, KindsError, as_json, save_json
from simtown.core.runs import require_same_settings
from simtown.core.untrusted import RefusedError, cause, read_json
from simtown.core.version import __version__, versions
from simtown.datasets.addresses import MANIFEST, no_dataset
from simtown.datasets.frequency_tables import Tables
from simtown.datasets.making import summaries
from simtown.datasets.making.shards import ShardTask, add_tried, tasks
from simtown.datasets.names import names
from simtown.datasets.resolved_settings import in_words, resolve, settings_from
from simtown.datasets.settings import SCHEMA, Settings
from simtown.datasets.source import check_names, source_of

NAME, TIMINGS = MANIFEST, "timings.json"
FORMAT = "simtown dataset"
#: The key of the manifest's checksum of itself.
SEAL = "sha256"
_RESTORE = "put back a copy of it, or run simtown generate again with another --out"


class _Shard(msgspec.Struct):
    sha256: str
    bytes: int
    examples: int
    tried: dict[str, tuple[int, int]]


class _Manifest(msgspec.Struct):
    """The types of what a manifest holds, besides "format", "schema" and "sha256"."""

    settings: dict[str, Any]
    names: dict[str, list[str]]
    vocabulary: list[str]
    shards: dict[str, _Shard]
    summary: dict[str, dict[str, list[int]]]
    complete: bool
    simtown: str
    libraries: dict[str, str]
    acceptance: dict[str, dict[str, float]] = {}


def require_settings(place: str, manifest: Mapping[str, Any], settings: Settings) -> None:
    """Raises ForeignDirectoryError, which names each setting that differs with its old and its new value."""
    both = in_words(manifest["settings"]), in_words(as_json(resolve(settings)))
    before, now = ({f"`{name}`": text for name, text in texts.items()} for texts in both)
    require_same_settings(place, before, now, "a data set")


def fresh(settings: Settings) -> dict[str, Any]:
    """The manifest of a data set without shards."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "simtown": __version__,
        "libraries": versions("numpy", "h5py", "cramjam"),
        "settings": resolve(settings),
        "vocabulary": list(source_of(settings).vocabulary()),
        "complete": False,
        "shards": {},
        "names": names(settings),
        "summary": {},
    }


def enter(manifest: dict[str, Any], task: ShardTask, shard_entry: Mapping[str, Any]) -> None:
    """Enter a shard and its summary, unless it was lost and made again, by its `read_entry`."""
    sizes, summary = summaries.lengths(manifest["names"]), shard_entry["summary"]
    if {name: len(counts) for name, counts in summary.items()} != sizes:
        raise DamagedError(f"{task.name} is damaged: its summary has other lists; move it away and run again")
    if task.name not in manifest["shards"]:
        parts = [manifest["summary"][task.split]] if task.split in manifest["summary"] else []
        manifest["summary"][task.split] = summaries.total([*parts, summary], sizes)
    manifest["shards"][task.name] = {key: value for key, value in shard_entry.items() if key != "summary"}


def acceptance(shards: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Proposals, acceptances and their ratio of every rejection loop, over all shards of a manifest."""
    total = add_tried(shards[name]["tried"] for name in sorted(shards))
    return {loop: {"proposed": p, "accepted": a, "rate": a / max(p, 1)} for loop, (p, a) in total.items()}


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with a checksum of itself: of its JSON with sorted keys and without blanks."""
    rest = {key: value for key, value in manifest.items() if key != SEAL}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return {**rest, SEAL: hashlib.sha256(text.encode()).hexdigest()}


def save(directory: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, sealed."""
    save_json(directory / NAME, sealed(manifest))


def load(directory: Path, place: str = "") -> dict[str, Any]:
    """Read the manifest of a data set.

    Messages call the directory `place`, by default its path.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it cannot be read, was changed, or is of another version of simtown.
        ForeignDirectoryError: it is not a manifest of a data set.
        KindsError: its kinds of one's own are not those of this process.
    """
    path = f"{place or directory}/{NAME}"
    if not (directory / NAME).is_file():
        raise FileNotFoundError(no_dataset(place or directory))
    try:
        manifest = read_json(directory / NAME)
    except RefusedError:
        raise
    except ValueError as error:
        raise DamagedError(f"{path} is damaged: {error}; {_RESTORE}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ForeignDirectoryError(f"{path} was not made by simtown generate: give another `directory`")
    try:
        for what, version, own in (
            ("layout", manifest["schema"], SCHEMA),
            ("world", manifest["settings"]["catalogue"], VERSION),
        ):
            if version != own:
                this = f"this simtown reads version {own}: use the simtown that made it"
                raise DamagedError(f"{path} has {what} version {json.dumps(version):.20}, {this}")
        if manifest[SEAL] != sealed(manifest)[SEAL]:
            raise ValueError("it does not match its own checksum, so something in it was changed")
        require_kinds(msgspec.convert(manifest["settings"].get("own_kinds", []), list[str]), OWN, str(path))
        _check(msgspec.convert(manifest, _Manifest))
    except KindsError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise DamagedError(f"{path} is damaged: {cause(error)}; {_RESTORE}") from error
    return manifest


def _check(manifest: _Manifest) -> None:
    """Raises KeyError, TypeError or ValueError for impossible settings, or shards that they do not make."""
    settings = settings_from(manifest.settings)
    check_names(settings)
    paints = 0 if settings.paint == "own" else len(PAINTS)
    for table, count in zip(Tables._fields, (settings.entities, settings.entities, paints), strict=True):
        key = f"{table}_frequencies"
        if len(msgspec.convert(manifest.settings[key], list[float])) != count:
            raise ValueError(f"settings.{key} is not a list of {count} numbers")
    counts = {task.name: task.count for task in tasks(settings)}
    for name, entry in manifest.shards.items():
        if entry.examples != counts.get(name):
            raise ValueError(f"these settings make no shard {name!r} of {entry.examples} examples")
    if manifest.complete and len(manifest.shards) < len(counts):
        absent = min(counts.keys() - manifest.shards.keys())
        raise ValueError(f"it is called complete but does not list the shard {absent}")
    if len(manifest.names["entities"]) <= max(settings.kinds):
        raise ValueError("names.entities does not name all kinds of vehicles")
    sizes = summaries.lengths(manifest.names)
    for split, summary in manifest.summary.items():
        if {name: len(numbers) for name, numbers in summary.items()} != sizes:
            raise ValueError(f"summary.{split} has other lists of counts than the names say")
    for split, count in settings.counts().items():
        if manifest.complete and count and sum(manifest.summary[split]["answer"]) != count:
            raise ValueError(f"summary.{split} does not count {count:,} examples")
