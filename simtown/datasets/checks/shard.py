"""Verifying one shard: a piece of work of :func:`simtown.datasets.verify.verify`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.pool import Report, require_shared
from simtown.datasets.checks import form, rows
from simtown.datasets.checks.problems import Problem
from simtown.datasets.remote import DirectoryStore, Remote
from simtown.datasets.settings import Settings, Tables
from simtown.datasets.shard_file import Shard
from simtown.datasets.shards import ShardTask, attributes, checksum, layout
from simtown.language.sampler import ImpossibleError
from simtown.render.frames import Renderer


@dataclass(frozen=True)
class Rule:
    """What all shards of a data set are compared with.

    Attributes:
        store: where the shards are.
        settings: of the data set.
        tables: subject and object frequencies of train and val.
        sizes: how many counts each list of a summary has.
        sampled: whether examples are sampled again; otherwise each is only compared with itself.
        renderer: draws pictures again; None draws none.
    """

    store: DirectoryStore | Remote
    settings: Settings
    tables: Tables
    sizes: Mapping[str, int]
    sampled: bool
    renderer: Renderer | None


@dataclass(frozen=True)
class Piece:
    """A shard to check.

    Attributes:
        task: its examples.
        size: bytes of its file, None if there is none.
        entry: its entry in the manifest, None if there is none.
        drawn: (k,) int64 rows whose pictures are drawn again, None for all.
    """

    task: ShardTask
    size: int | None
    entry: dict[str, Any] | None
    drawn: np.ndarray | None


def check_shard(piece: Piece, report: Report, rule: Rule) -> rows.ShardFindings:
    """Check a shard; reports as many examples as the shard has, in pieces."""
    task = piece.task
    if isinstance(rule.store, DirectoryStore):
        require_shared(rule.store.path)
    problem = _listing_problem(piece)
    if problem is not None or piece.size is None or piece.entry is None:
        report(task.count)
        return rows.ShardFindings([problem] if problem else [])
    done = 0

    def progress(n: int) -> None:
        nonlocal done
        done += n
        report(n)

    try:
        with rule.store.reading(task.name) as path:
            return _compare(path, piece, piece.entry, rule, progress)
    except ImpossibleError as error:
        return rows.ShardFindings([Problem(task.name, f"its settings make no such examples: {error}")])
    except (
        OSError,
        LookupError,
        ValueError,
        TypeError,
        RuntimeError,
        AttributeError,
        OverflowError,
    ) as error:
        return rows.ShardFindings([Problem(task.name, "it cannot be read", f": {error}")])
    finally:
        report(task.count - done)


def _listing_problem(piece: Piece) -> Problem | None:
    name, size, entry = piece.task.name, piece.size, piece.entry
    if size is None:
        return Problem(name, "it is missing: run the same simtown generate again, which makes it")
    if entry is None:
        return Problem(
            name, "the manifest does not list it: run the same simtown generate again, which enters it"
        )
    if size != entry["bytes"]:
        return Problem(
            name,
            "it was cut short or written over",
            f": it has {size:,} bytes, the manifest says {entry['bytes']:,}",
        )
    return None


def _compare(
    path: Path, piece: Piece, entry: dict[str, Any], rule: Rule, progress: rows.Progress
) -> rows.ShardFindings:
    """Check the file, its form, and every row."""
    task, settings = piece.task, rule.settings
    if checksum(path) != entry["sha256"]:
        return rows.ShardFindings(
            [Problem(task.name, "it does not match its checksum: a byte of it was changed")]
        )
    problems = list(form.bytes_outside(path, task))
    if problems and not problems[0].detail:  # HDF5's data do not begin where the file does
        return rows.ShardFindings(problems)
    drawn = np.arange(task.count) if piece.drawn is None else piece.drawn
    with closing(Shard(path, layout(settings), task.count)) as shard:
        problems += form.strangers(shard.file, settings, task)
        unreadable = form.wrong_arrays(shard.file, settings, task)
        if unreadable:
            return rows.ShardFindings(problems + unreadable)
        if rule.sampled:
            findings = rows.compare(
                shard, settings, rule.tables, task, rule.sizes, rule.renderer, drawn, progress
            )
        else:
            findings = rows.check_itself(shard, settings, task, rule.sizes, rule.renderer, drawn, progress)
        wanted = attributes(task, findings.tried or entry["tried"], findings.summary or {})
        if findings.summary is None:
            wanted.pop("summary", None)  # it cannot be counted, and why is a problem already
        findings.problems = [*problems, *form.wrong_attributes(shard.file, wanted, task), *findings.problems]
    return findings
