"""Whether a manifest says what its settings make, in the bytes that simtown writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from simtown.core.files import json_text
from simtown.datasets import manifests
from simtown.datasets.checks.problems import Problem
from simtown.datasets.settings import Settings, Tables
from simtown.datasets.shards import Tried
from simtown.datasets.summaries import Summary

#: How versions are written.
_VERSION = re.compile(r"unknown|\d[\w.+!-]*")


def tables_of(manifest: dict[str, Any], settings: Settings) -> Tables:
    """The frequencies that the settings name; the manifest's own if they are of a CSV file.

    Raises ValueError if there are no frequencies of that name.
    """
    recorded = manifest["settings"]
    kept = [np.array(recorded[f"{table}_frequencies"], dtype=np.float64) for table in Tables._fields]
    return settings.tables(Tables(*kept))


def check_manifest(
    content: bytes,
    manifest: dict[str, Any],
    settings: Settings,
    tables: Tables,
    tried: dict[str, Tried],
    counted: dict[str, Summary | None],
) -> Iterator[Problem]:
    """Compare a manifest with the one of these settings.

    Args:
        content: bytes of the file.
        manifest: its content.
        settings: of the manifest.
        tables: subject and object frequencies of train and val.
        tried: the counts that the settings make, of shards that were sampled again.
        counted: the summary of each split that has shards; None if one of these could not be counted.
    """
    if content != json_text(manifest).encode():
        yield _problem(
            "it says the right things in other bytes than simtown writes (blanks, line ends or keys twice): "
            "put back a copy of it"
        )
    if not manifest["complete"]:
        yield _problem(
            "the data set is unfinished: run the same simtown generate again, which makes the rest"
        )
    for name, version in (("simtown", manifest["simtown"]), *_versions(manifest)):
        if not isinstance(version, str) or not _VERSION.fullmatch(version):
            yield _problem(f"the version of {name} is '{version}', which is no version")
    yield from map(_problem, _differences(manifest, _wanted(manifest, settings, tables, tried, counted)))


def _problem(kind: str) -> Problem:
    return Problem(manifests.NAME, kind)


def _versions(manifest: dict[str, Any]) -> list[tuple[str, Any]]:
    libraries = manifest.get("libraries")
    return list(libraries.items()) if isinstance(libraries, dict) else []


def unproven(manifest: dict[str, Any], settings: Settings) -> list[str]:
    """What a correct manifest says that cannot be proven, each as a clause of a sentence."""
    clauses = []
    if settings.table_from_file:
        clauses.append(
            f"entities are as frequent as in the manifest's own table, said to be of {settings.frequencies}"
        )
    if settings.paint_from_file:
        clauses.append(
            f"paints are as frequent as in the manifest's own table, said to be of {settings.paint}"
        )
    ours = manifests.fresh(Settings())
    if any(manifest[key] != ours[key] for key in ("simtown", "libraries")):
        libraries = ", ".join(f"{name} {version}" for name, version in manifest["libraries"].items())
        clauses.append(f"that simtown {manifest['simtown']} made them with {libraries} cannot be proven")
    return clauses


def _wanted(
    manifest: dict[str, Any],
    settings: Settings,
    tables: Tables,
    tried: dict[str, Tried],
    counted: dict[str, Summary | None],
) -> dict[str, Any]:
    """The manifest as simtown writes it for these settings and these files.

    Checksums and sizes are compared with the files elsewhere.
    """
    wanted = manifests.fresh(settings, tables)
    for key, from_file in (("frequencies", settings.table_from_file), ("paint", settings.paint_from_file)):
        if from_file:  # what a file was called cannot be proven
            wanted["settings"][key] = manifest["settings"][key]
    wanted["shards"] = {
        name: {
            **{key: entry[key] for key in ("sha256", "bytes", "examples")},
            "tried": _as_lists(tried.get(name, entry["tried"])),
        }
        for name, entry in manifest["shards"].items()
    }
    if manifest["complete"]:
        wanted["acceptance"] = manifests.acceptance(manifest["shards"])
    elif "acceptance" in manifest:  # the data set was complete before a shard was lost
        wanted["acceptance"] = manifest["acceptance"]
    wanted["summary"] = _summary(manifest, counted)
    libraries = {
        name: version if isinstance(version, str) else ""
        for name, version in _versions(manifest)
        if name in wanted["libraries"]
    }
    return {
        **wanted,
        "simtown": manifest["simtown"],
        "libraries": {**wanted["libraries"], **libraries},
        "complete": manifest["complete"],
    }


def _summary(manifest: dict[str, Any], counted: dict[str, Summary | None]) -> dict[str, Summary]:
    """The summary of every split.

    It is the manifest's own if a listed shard could not be counted, which is a problem already.
    """
    own = manifest["summary"]
    by_split = {split: own.get(split) if summary is None else summary for split, summary in counted.items()}
    return {split: summary for split, summary in by_split.items() if summary is not None}


def _as_lists(tried: dict[str, Any]) -> dict[str, list[int]]:
    return {loop: list(counts) for loop, counts in tried.items()}


def _differences(stored: Any, wanted: Any, name: str = "") -> Iterator[str]:
    """Where two JSON values differ, each in words."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in sorted({*stored, *wanted}):
            if (name, key) == ("", manifests.SEAL):
                continue
            path = f"{name}.{key}".lstrip(".")
            if key not in wanted:
                yield f"it holds '{path}', which does not belong there"
            elif key not in stored:
                yield f"it lacks '{path}'"
            else:
                yield from _differences(stored[key], wanted[key], path)
    elif isinstance(stored, list) and isinstance(wanted, list) and len(stored) == len(wanted):
        unlike = [i for i, (a, b) in enumerate(zip(stored, wanted, strict=True)) if not _same(a, b)]
        if unlike:
            more = f", and {len(unlike) - 1:,} more of its values differ" if len(unlike) > 1 else ""
            first = unlike[0]
            yield (
                f"'{name}' has {stored[first]!r} at place {first}, these settings make "
                f"{wanted[first]!r}{more}"
            )
    elif isinstance(wanted, list) and isinstance(stored, list):
        yield f"'{name}' has {len(stored):,} values, these settings make {len(wanted):,}"
    elif not _same(stored, wanted):
        yield f"'{name}' is {stored!r}, these settings make {wanted!r}"


def _same(a: Any, b: Any) -> bool:
    """Whether two JSON values are written alike: 1 is not 1.0, and 0.0 not -0.0."""
    return json_text(a) == json_text(b)
