"""Verifying a data set: making it again from its settings, and comparing.

The manifest is compared with the one that the settings make, and each shard with what they make of it
(:mod:`simtown.datasets.proving.verify_shard`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from simtown.core.files import json_text
from simtown.core.pool import Pool, Processes, ignore
from simtown.core.streams import Stream
from simtown.core.untrusted import cause, read_bytes
from simtown.datasets.addresses import COMPOSITION
from simtown.datasets.frequency_tables import tables_of
from simtown.datasets.making import manifests, summaries
from simtown.datasets.making.shards import tasks
from simtown.datasets.proving.pair_proof import prove_pairs
from simtown.datasets.proving.verify_shard import (
    Expected,
    Problem,
    ShardCheck,
    ShardPiece,
    brief,
    check_shard,
)
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import is_leftover, store_of
from simtown.datasets.resolved_settings import settings_from
from simtown.datasets.settings import Settings
from simtown.render.frames import Renderer

#: Pictures drawn again if nothing else is asked for.
PICTURES = 256
#: Files with the same problem that have a line each; the others are counted.
LINES = 5
#: Files beside the shards that commands write into a data set. Only the manifest holds data.
_BESIDE = (manifests.NAME, manifests.TIMINGS, "preview.png", "marginals.png")
#: Files that a system's file browser leaves in every folder that it shows.
_OF_BROWSERS = (".DS_Store", "Thumbs.db", "desktop.ini")
#: How versions are written.
_VERSION = re.compile(r"unknown|\d[\w.+!-]*")


@dataclass(frozen=True)
class VerifyReport:
    """The result of :func:`verify`: problems, a line each, or a summary of what is proven and what is not."""

    problems: list[str]
    summary: str = ""


def verify(
    place: str | Path,
    renderer: Renderer | None = None,
    pictures: int | None = PICTURES,
    quick: bool = False,
    progress: Callable[[int], None] = ignore,
    pool: Pool | None = None,
) -> VerifyReport:
    """Compare a data set with what its settings make.

    Args:
        place: a directory or a URL of a data set.
        renderer: draws pictures again; None draws none.
        pictures: how many of the whole set are drawn again, None for all. The manifest's checksum chooses
            them, so the author of a data set cannot know which pictures will be checked.
        quick: samples nothing again; checks only that each example agrees with itself.
        progress: called with the number of examples checked since the last call.
        pool: checks the shards; by default this process does. The report does not depend on it.

    Raises:
        FileNotFoundError: there is no manifest.
        DamagedError: the manifest cannot be read, or was changed.
        ForeignDirectoryError: the directory holds something else.
        ClusterError: a machine of the cluster does not reach the place.
        WorkerError: a worker process died.
    """
    store = store_of(place)
    manifest = store.load_manifest()
    settings = settings_from(manifest["settings"])
    shards = tasks(settings)
    sizes, irregular = store.listing()
    beside = list(_directory_problems({task.name for task in shards}, sizes, irregular))
    try:
        tables_of(settings)
    except ValueError as error:
        problem = Problem(manifests.NAME, f"'settings' cannot be: {cause(error)}")
        return VerifyReport(_lines([*beside, problem]))
    total = sum(settings.counts().values())
    chosen = _chosen_pictures(manifest, total, pictures)
    pieces, first = [], 0
    for task in shards:
        drawn = chosen[(chosen >= first) & (chosen < first + task.count)] - first
        if task.name in irregular:
            progress(task.count)
        else:
            pieces.append(ShardPiece(task, sizes.get(task.name), manifest["shards"].get(task.name), drawn))
        first += task.count
    quick = quick or settings.hand_made
    expected = Expected(store, settings, quick, renderer)
    with closing((pool or Processes()).map(check_shard, pieces, (expected,), progress)) as results:
        checks = {piece.task.name: check for piece, check in results}
    with store.reading(manifests.NAME) as path:
        content = read_bytes(path, follow=False)
    problems = [*_manifest_problems(content, manifest, settings, checks), *beside]
    problems += [problem for piece in pieces if (problem := checks[piece.task.name].problem)]
    if problems:
        return VerifyReport(_lines(problems))
    pairs, wrong = prove_pairs(open_dataset(place)) if settings.twins else (0, [])
    if wrong:
        return VerifyReport(wrong)
    drawn_again = sum(check.drawn for check in checks.values())
    return VerifyReport([], _summary(manifest, settings, drawn_again, quick, pairs))


def _chosen_pictures(manifest: dict[str, Any], total: int, count: int | None) -> np.ndarray:
    """(k,) int64: all examples, or one of each of `count` stretches, chosen by the manifest's checksum."""
    if count is None or count >= total:
        return np.arange(total)
    bounds = np.arange(count + 1) * total // max(count, 1)
    stream = Stream(int(manifest[manifests.SEAL], 16), "verify", "pictures")
    within = stream.uniform(np.arange(count), 1)[:, 0] * np.diff(bounds)
    return np.asarray(bounds[:-1] + within.astype(np.int64))


def _lines(problems: Iterable[Problem]) -> list[str]:
    """A line a problem, in order; of one kind in many files, the first few and the number of the others."""
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    lines = []
    for kind, same in by_kind.items():
        lines += [f"{problem.file}: {kind}{problem.detail}" for problem in same[:LINES]]
        if len(same) > LINES:
            lines.append(f"{same[LINES].file} to {same[-1].file}: {kind}, in {len(same) - LINES} more files")
    return lines


def _directory_problems(
    shards: set[str], sizes: Mapping[str, int], irregular: Mapping[str, str]
) -> Iterator[Problem]:
    """Everything in the directory that does not belong there, or is not a regular file."""
    folders = {folder.as_posix() for name in shards for folder in PurePosixPath(name).parents}
    foreign_folders: set[str] = set()
    for name in sorted(sizes):
        if name in folders and irregular.get(name) == "a directory":
            continue
        if PurePosixPath(name).name in _OF_BROWSERS and name not in irregular:
            continue
        if not foreign_folders.isdisjoint(folder.as_posix() for folder in PurePosixPath(name).parents):
            continue  # its folder is reported already
        if name not in shards and name not in _BESIDE:
            foreign_folders.add(name)
            remedy = "it does not belong in this data set: move it away"
            if is_leftover(name):
                remedy = "a killed job left it: run the same simtown generate again, which removes it"
            yield Problem(name, remedy)
        elif name in irregular:
            yield Problem(name, f"it is {irregular[name]}: put the file itself there")


def _summary(manifest: dict[str, Any], settings: Settings, drawn: int, quick: bool, pairs: int) -> str:
    """The summary of what is proven, and of what a correct manifest says that cannot be proven."""
    total = sum(settings.counts().values())
    pictures = "no picture was drawn again"
    if drawn:
        pictures = f"{'all ' if drawn == total else ''}{drawn:,} pictures drawn again, identical"
    proven = f"{total:,} examples match their settings; {pictures}"
    if settings.hand_made:
        chosen = "the scenes are made by hand: how they were chosen cannot be proven"
        proven = f"the answers of {total:,} examples follow from their words and scenes; {pictures}; {chosen}"
    elif quick:
        unproven = "it is not proven that these settings make them: leave out `quick`"
        proven = f"{total:,} examples agree with themselves; {pictures}, from the stored scenes; {unproven}"
    clauses = [f"OK, {settings.entities} entities, {settings.seeds}: {proven}"]
    if settings.hold_out:
        alone = settings.counts()[COMPOSITION]
        counted = f"none of {total - alone:,} examples, all {alone:,} of {COMPOSITION}"
        clauses.append(f"held out {', '.join(settings.hold_out)}: {counted}")
    if pairs:
        clauses.append(f"{pairs:,} pairs of words were read back: each is true of one picture alone")
    own = "are as frequent as in the manifest's own table, said to be of"
    if settings.table_from_file:
        clauses.append(f"entities {own} {settings.frequencies}")
    if settings.paint_from_file:
        clauses.append(f"paints {own} {settings.paint}")
    ours = manifests.fresh(Settings())
    if any(manifest[key] != ours[key] for key in ("simtown", "libraries")):
        libraries = ", ".join(f"{name} {version}" for name, version in manifest["libraries"].items())
        clauses.append(f"that simtown {manifest['simtown']} made them with {libraries} cannot be proven")
    return "; ".join(clauses)


def _manifest_problems(
    content: bytes,
    manifest: dict[str, Any],
    settings: Settings,
    checks: Mapping[str, ShardCheck],
) -> Iterator[Problem]:
    """Differences of a manifest from the one that the settings and the shards make."""
    sentences = []
    if content != json_text(manifest).encode():
        sentences.append("simtown writes the same content in other bytes: put back a copy of it")
    if not manifest["complete"]:
        sentences.append("it is unfinished: run the same simtown generate again, which makes the rest")
    for name, version in {"simtown": manifest["simtown"], **manifest["libraries"]}.items():
        if not _VERSION.fullmatch(version):
            sentences.append(f"the version of {name} is '{version}', which is not a version")
    sentences += _differences(manifest, _expected_manifest(manifest, settings, checks))
    return (Problem(manifests.NAME, sentence) for sentence in sentences)


def _expected_manifest(
    manifest: dict[str, Any], settings: Settings, checks: Mapping[str, ShardCheck]
) -> dict[str, Any]:
    """The manifest that simtown writes for these files; what cannot be proven is the manifest's own."""
    expected = manifests.fresh(settings)
    expected |= {key: manifest[key] for key in (manifests.SEAL, "simtown", "libraries", "complete")}
    for key, from_file in (("frequencies", settings.table_from_file), ("paint", settings.paint_from_file)):
        if from_file:
            expected["settings"][key] = manifest["settings"][key]
    for name, entry in manifest["shards"].items():
        tried = (checks[name].tried if name in checks else None) or entry["tried"]
        expected["shards"][name] = {key: entry[key] for key in ("sha256", "bytes", "examples")}
        expected["shards"][name]["tried"] = {loop: list(counts) for loop, counts in tried.items()}
    if manifest["complete"]:
        expected["acceptance"] = manifests.acceptance(manifest["shards"])
    elif "acceptance" in manifest:  # the data set was complete before a shard was lost
        expected["acceptance"] = manifest["acceptance"]
    for split in settings.counts():
        own = re.compile(rf"{split}-\d+\.h5")
        names = [name for name in manifest["shards"] if own.fullmatch(PurePosixPath(name).name)]
        counted = [checks[name].summary for name in names if name in checks]
        parts = [part for part in counted if part is not None]
        if names and len(parts) == len(names):
            sizes = summaries.lengths(expected["names"])
            expected["summary"][split] = summaries.total(parts, sizes)
        elif names and split in manifest["summary"]:
            expected["summary"][split] = manifest["summary"][split]
    return expected


def _differences(stored: Any, wanted: Any, name: str = "") -> Iterator[str]:
    """Differences between two JSON values, each in words."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        for key in sorted({*stored, *wanted}):
            path = f"{name}.{key}".lstrip(".")
            if key not in wanted:
                yield f"it holds '{path}', which does not belong there"
            elif key not in stored:
                yield f"it lacks '{path}'"
            else:
                yield from _differences(stored[key], wanted[key], path)
    elif json_text(stored) != json_text(wanted):  # 1 is not 1.0, and 0.0 not -0.0
        if isinstance(stored, list) and isinstance(wanted, list) and len(stored) == len(wanted):
            pairs = enumerate(zip(stored, wanted, strict=True))
            place = next(i for i, (a, b) in pairs if json_text(a) != json_text(b))
            stored, wanted, name = stored[place], wanted[place], f"{name}' at place '{place}"
        yield f"'{name}' is {brief(stored)}, these settings make {brief(wanted)}"
