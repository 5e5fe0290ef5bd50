"""manifest.json: everything that defines a data set.

The manifest does not depend on time or on the speed of the machine, so it is the same after any interruption.
It ends with a checksum of itself, so that every reader notices a changed byte;
:func:`simtown.datasets.verify.verify` proves the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simtown.assets.catalogue import VERSION
from simtown.core.files import DamagedError, as_json, save_json
from simtown.core.runs import load_json, require_same_settings
from simtown.core.version import __version__, versions
from simtown.datasets import summaries, wellformed
from simtown.datasets.names import names
from simtown.datasets.settings import SCHEMA, Settings, Tables, in_words
from simtown.datasets.shards import ShardTask, add_tried
from simtown.language.questions import vocabulary_for

NAME, TIMINGS = "manifest.json", "timings.json"
FORMAT = "simtown dataset"
#: Bytes of the largest manifest: with the most shards that there may be it has 160 million.
LARGEST = 256_000_000
#: The key of the manifest's checksum of itself.
SEAL = "sha256"
_RESTORE = "put back a copy of it, or run simtown generate again with another --out"


def require_settings(place: str, manifest: Mapping[str, Any], settings: Settings) -> None:
    """Refuse to continue a data set with other settings.

    Args:
        place: where the data set is, for the message.
        manifest: of the data set.
        settings: as they are now.

    Raises:
        ForeignDirectoryError: a setting differs; the message names each with its old and its new value.
    """
    before, now = in_words(manifest["settings"]), in_words(as_json(settings.resolved()))
    require_same_settings(place, _as_parameters(before), _as_parameters(now), "a data set")


def _as_parameters(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"`{name}`": text for name, text in texts.items()}


def fresh(settings: Settings, tables: Tables | None = None) -> dict[str, Any]:
    """The manifest of a data set without shards; `tables` as for :meth:`Settings.resolved`."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "simtown": __version__,
        "libraries": versions("numpy", "numba", "h5py", "hdf5plugin"),
        "settings": settings.resolved(tables),
        "vocabulary": list(vocabulary_for(settings.phrasing, settings.relations)),
        "complete": False,
        "shards": {},
        "names": names(settings),
        "summary": {},
    }


def enter(manifest: dict[str, Any], task: ShardTask, shard_entry: Mapping[str, Any]) -> None:
    """Enter a shard: add its entry, and add its summary to that of its split.

    A shard that was listed, lost and made again is in the summary already.

    Args:
        manifest: is changed.
        task: the shard's examples.
        shard_entry: of :func:`simtown.datasets.making.entry`.

    Raises:
        DamagedError: the shard's summary has other lists.
    """
    sizes = summaries.lengths(manifest["names"])
    if {name: len(counts) for name, counts in shard_entry["summary"].items()} != sizes:
        raise DamagedError(
            f"{task.name} is damaged: its summary has other lists; move it away and run the same command "
            "again"
        )
    if task.name not in manifest["shards"]:
        parts = [manifest["summary"][task.split]] if task.split in manifest["summary"] else []
        manifest["summary"][task.split] = summaries.total([*parts, shard_entry["summary"]], sizes)
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


def load(directory: Path) -> dict[str, Any]:
    """Read the manifest of a data set.

    Raises:
        FileNotFoundError: there is none.
        DamagedError: it cannot be read, or was changed.
        ForeignDirectoryError: it is not a manifest of a data set.
    """
    path = directory / NAME
    if not path.is_file():
        raise FileNotFoundError(
            f"{directory} holds no simtown data set (no {NAME}): give a directory made by simtown generate"
        )
    manifest = load_json(path, FORMAT, "simtown generate")
    try:
        if manifest.get("schema") != SCHEMA:
            raise DamagedError(
                f"{path} has layout version {wellformed.brief(manifest.get('schema'))}, this simtown reads "
                f"version {SCHEMA}: use the simtown that made it"
            )
        missing = [
            key
            for key in (SEAL, "settings", "shards", "vocabulary", "complete", "names", "summary")
            if key not in manifest
        ]
        if missing:
            raise DamagedError(f"{path} is damaged: it lacks {', '.join(missing)}; {_RESTORE}")
        if manifest[SEAL] != sealed(manifest)[SEAL]:
            raise DamagedError(
                f"{path} is damaged: it does not match its own checksum, so something in it was changed; "
                f"{_RESTORE}"
            )
        if (catalogue := manifest["settings"].get("catalogue")) != VERSION:
            raise DamagedError(
                f"{path} is of version {wellformed.brief(catalogue)} of the world, this simtown knows "
                f"version {VERSION}: use the simtown that made it"
            )
        wellformed.check(manifest)
    except KeyError as error:
        raise DamagedError(f"{path} is damaged: it lacks {error}; {_RESTORE}") from error
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise DamagedError(f"{path} is damaged: {error}; {_RESTORE}") from error
    except RecursionError:
        raise DamagedError(f"{path} is damaged: it nests too deeply; {_RESTORE}") from None
    return manifest
