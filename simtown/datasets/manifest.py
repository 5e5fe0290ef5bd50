"""manifest.json: what a data set is, in full; and timings.json: how long it took.

The manifest holds nothing that depends on the hour or the machine's speed, so it too is the same after any interruption. It ends in
a checksum of itself, so that a changed byte of it is found whoever reads it; :func:`simtown.datasets.verify.verify` proves the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import simtown
from simtown.datasets import summary as summaries
from simtown.datasets import wellformed
from simtown.datasets.names import names
from simtown.datasets.settings import SCHEMA, Settings, Tables, UnknownWorldError
from simtown.datasets.shards import Task, together
from simtown.files import DamagedError, load_json, save_json, versions
from simtown.language.questions import vocabulary

NAME, TIMINGS = "manifest.json", "timings.json"
FORMAT = "simtown dataset"
#: Bytes of the largest manifest: one of as many shards as there may be has 160 million.
LARGEST = 256_000_000
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
    """Write a shard down: its entry, and its summary into that of its split. `made`: of :func:`simtown.datasets.making.entry`.

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
    manifest = load_json(path, FORMAT, "simtown generate", LARGEST)
    try:
        if SEAL in manifest and manifest[SEAL] != sealed(manifest)[SEAL]:
            raise DamagedError(f"{path} is damaged: it does not match its own checksum, so something in it was changed; {_RESTORE}")
        missing = [key for key in ("schema", "settings", "shards", "vocabulary", "complete") if key not in manifest]
        if missing:
            raise DamagedError(f"{path} is damaged: it lacks {', '.join(missing)}; {_RESTORE}")
        if manifest["schema"] not in (1, SCHEMA):
            raise DamagedError(
                f"{path} has layout version {wellformed.brief(manifest['schema'])}, this simtown reads versions 1 and {SCHEMA}: use the "
                "simtown that made it"
            )
        missing = [key for key in (SEAL, "names", "summary") if key not in manifest]
        if manifest["schema"] == SCHEMA and missing:
            raise DamagedError(f"{path} is damaged: it lacks {', '.join(missing)}; {_RESTORE}")
        wellformed.check(manifest)
    except KeyError as error:
        raise DamagedError(f"{path} is damaged: it lacks {error}; {_RESTORE}") from error
    except UnknownWorldError as error:
        raise DamagedError(f"{path}: {error}") from error
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise DamagedError(f"{path} is damaged: {error}; {_RESTORE}") from error
    except RecursionError:
        raise DamagedError(f"{path} is damaged: it nests too deeply; {_RESTORE}") from None
    return manifest
