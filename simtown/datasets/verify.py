"""Proving a data set: everything in it is made again from its settings and compared, so that nothing in it needs to be believed.

Files are compared with their checksums, the manifest with what the settings make, and every stored scene, question and answer with those
that are sampled again from (settings, split, index); some pictures, or all, are drawn again. Whatever does not belong is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from simtown.assets.catalogue import VERSION as CATALOGUE_VERSION
from simtown.datasets import manifest as manifests
from simtown.datasets import summary as summaries
from simtown.datasets.checks import form, rows
from simtown.datasets.checks.manifest import check as check_manifest
from simtown.datasets.checks.manifest import tables_of, unproven
from simtown.datasets.checks.problems import Problem, in_words
from simtown.datasets.names import names_of
from simtown.datasets.settings import Settings
from simtown.datasets.shards import Task, Tried, attributes, checksum, layout, tasks
from simtown.datasets.stored import Shard
from simtown.datasets.stores import Directory, Remote, is_leftover, store_of
from simtown.datasets.summary import Summary
from simtown.files import read_bytes
from simtown.language.sampler import ImpossibleError
from simtown.render.frames import Renderer
from simtown.streams import Stream

#: Pictures drawn again if nothing else is asked for.
PICTURES = 256
#: Files beside the shards that commands write into a data set. Only the manifest holds data.
_BESIDE = (manifests.NAME, manifests.TIMINGS, "preview.png", "marginals.png")


@dataclass(frozen=True)
class Report:
    """What :func:`verify` found.

    Attributes:
        problems: a line each; empty if all is right.
        summary: one sentence that says what was proven, and what was not; empty if there are problems.
    """

    problems: list[str]
    summary: str


def verify(
    place: str | Path,
    renderer: Renderer | None = None,
    pictures: int | None = PICTURES,
    quick: bool = False,
    progress: Callable[[int], None] = lambda n: None,
) -> Report:
    """Compare a data set with what its settings make.

    Args:
        place: of the data set, a directory or a URL.
        renderer: draws pictures again; None draws none.
        pictures: how many of the whole set are drawn again, None for all. The manifest's checksum chooses which, so nobody knows
            beforehand which pictures of a set that is being made will be looked at.
        quick: samples nothing again; checks only that each example agrees with itself.
        progress: told of examples that were checked.

    Raises:
        FileNotFoundError, DamagedError, ForeignDirectoryError: as :func:`simtown.datasets.manifest.load`.
    """
    store = store_of(place)
    manifest = store.load_manifest()
    return _Verification(store, manifest, renderer, pictures, quick, progress).report()


class _Verification:
    """One run of :func:`verify`."""

    def __init__(
        self,
        store: Directory | Remote,
        manifest: dict[str, Any],
        renderer: Renderer | None,
        pictures: int | None,
        quick: bool,
        progress: Callable[[int], None],
    ) -> None:
        self.store, self.manifest, self.progress = store, manifest, progress
        self.settings = Settings.from_resolved(manifest["settings"])
        self.total = sum(self.settings.counts().values())
        self.sizes = summaries.lengths(names_of(manifest))
        self.sampled = not quick and not self.settings.other_world
        self.renderer = None if self.settings.other_world else renderer
        self.chosen = None if pictures is None or pictures >= self.total else _chosen(manifest, self.total, pictures)

    def report(self) -> Report:
        """Check everything."""
        sizes, irregular = self.store.sizes(), self.store.irregular()
        listed = tasks(self.settings)
        problems = list(self._directory(irregular, sizes, {task.name for task in listed}))
        try:
            tables = tables_of(self.manifest, self.settings)
        except ValueError as error:
            problems.append(Problem(manifests.NAME, f"'settings.frequencies' cannot be: {error}"))
            return Report(in_words(problems), "")
        tried: dict[str, Tried] = {}
        counted: dict[str, Summary] = {}
        foreign, drawn, first = [], 0, 0
        for task in listed:
            own = self._own(first, task.count)
            first += task.count
            if task.name in irregular:
                self.progress(task.count)
                continue
            findings = self._shard(task, sizes.get(task.name), tables, own)
            problems += findings.problems
            drawn += findings.pictures
            if findings.foreign:
                foreign.append(task.name)
            elif findings.tried is not None:
                tried[task.name] = findings.tried
            if findings.summary is not None:
                counted[task.name] = findings.summary
        with self.store.reading(manifests.NAME, manifests.LARGEST) as path:
            of_manifest = list(
                check_manifest(read_bytes(path, manifests.LARGEST, follow=False), self.manifest, self.settings, tables, tried, counted)
            )
        if len(foreign) == len(listed):
            problems = [problem for problem in problems if problem.kind != rows.FOREIGN] + [self._foreign()]
        problems = of_manifest + problems
        return Report(in_words(problems), "" if problems else self._summary(drawn))

    def _own(self, first: int, count: int) -> np.ndarray:
        """Rows of a shard, whose first example is number `first` of all, of which pictures are drawn again."""
        if self.chosen is None:
            return np.arange(count)
        result: np.ndarray = self.chosen[slice(*np.searchsorted(self.chosen, [first, first + count]))] - first
        return result

    def _directory(self, irregular: dict[str, str], sizes: dict[str, int], shards: set[str]) -> Iterator[Problem]:
        """Whatever in the directory does not belong there, or is no plain file."""
        folders = {folder.as_posix() for name in shards for folder in PurePosixPath(name).parents}
        strange: set[str] = set()
        for name in sorted({*sizes, *irregular}):
            if name in folders and irregular.get(name) == "a directory":
                continue
            if not strange.isdisjoint(folder.as_posix() for folder in PurePosixPath(name).parents):
                continue  # of a folder that does not belong there, what is in it goes with it
            if name not in shards and name not in _BESIDE:
                strange.add(name)
                if is_leftover(name):
                    yield Problem(name, "a job that was killed left it: run the same simtown generate again, which removes it")
                else:
                    yield Problem(name, "it does not belong in this data set: move it away")
            elif name in irregular:
                yield Problem(name, f"it is {irregular[name]}: put the file itself there")

    def _shard(self, task: Task, size: int | None, tables: Any, own: np.ndarray) -> rows.Findings:
        """Check one shard; `own` are its rows of which pictures are drawn again."""
        listing = _listing_problem(task, size, self.manifest["shards"].get(task.name))
        if listing is not None:
            self.progress(task.count)
            return rows.Findings([listing])
        done = 0

        def progress(n: int) -> None:
            nonlocal done
            done += n
            self.progress(n)

        try:
            with self.store.reading(task.name, size or 0) as path:
                return self._content(path, task, tables, own, progress)
        except ImpossibleError as error:
            return rows.Findings([Problem(task.name, f"its settings make no such examples: {error}")])
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, IndexError, AttributeError, OverflowError) as error:
            return rows.Findings([Problem(task.name, "it cannot be read", f": {error}")])
        finally:
            self.progress(task.count - done)

    def _content(self, path: Path, task: Task, tables: Any, own: np.ndarray, progress: Callable[[int], None]) -> rows.Findings:
        entry = self.manifest["shards"][task.name]
        if checksum(path) != entry["sha256"]:
            return rows.Findings([Problem(task.name, "it does not match its checksum: a byte of it was changed")])
        problems = list(form.bytes_outside(path, task))
        if problems and not problems[0].detail:  # HDF5's data do not begin where the file does
            return rows.Findings(problems)
        with closing(Shard(path, layout(self.settings), task.count)) as shard:
            problems += form.strangers(shard.file, self.settings, task)
            unreadable = form.wrong_arrays(shard.file, self.settings, task)
            if unreadable:
                return rows.Findings(problems + unreadable)
            if self.sampled:
                findings = rows.compare(shard, self.settings, tables, task, self.sizes, self.renderer, own, progress)
            else:
                findings = rows.check_itself(shard, self.settings, task, self.sizes, self.renderer, own, progress)
            wanted = attributes(self.settings, task, findings.tried or entry["tried"], findings.summary or {})
            if findings.summary is None:
                wanted.pop("summary", None)  # it cannot be counted, and why is a problem already
            findings.problems = [*problems, *form.wrong_attributes(shard.file, wanted, task), *findings.problems]
        return findings

    def _foreign(self) -> Problem:
        return Problem(
            str(self.store),
            f"none of its {self.total:,} examples is what these settings make, though each agrees with itself: they are of another seed, "
            f"of another version of simtown (the manifest names {self.manifest['simtown']}), or scenes of your own",
        )

    def _summary(self, drawn: int) -> str:
        s = self.settings
        about = f"{s.entities} entities, {s.seeds}"
        if s.other_world:
            text = (
                f"files, checksums and answers of {self.total:,} examples are right; their scenes and pictures show version {s.catalogue} "
                f"of the world and were neither sampled nor drawn again, since this program makes version {CATALOGUE_VERSION}"
            )
        elif not self.sampled:
            text = (
                f"{self.total:,} examples agree with themselves; {self._drawn(drawn)} from the stored scenes; not proven is that these "
                "settings make them: leave out --quick"
            )
        else:
            text = f"{self.total:,} examples are what these settings make; {self._drawn(drawn)}"
        return "; ".join([f"{about}: {text}", *unproven(self.manifest, s)])

    def _drawn(self, drawn: int) -> str:
        if drawn == 0:
            return "no picture was drawn again"
        return f"{'all ' if drawn == self.total else ''}{drawn:,} pictures drawn again"


def _listing_problem(task: Task, size: int | None, entry: dict[str, Any] | None) -> Problem | None:
    if size is None:
        return Problem(task.name, "it is missing: run the same simtown generate again, which makes it")
    if entry is None:
        return Problem(task.name, "the manifest does not list it: run the same simtown generate again, which enters it")
    if size != entry["bytes"]:
        return Problem(task.name, "it was cut short or written over", f": it has {size:,} bytes, the manifest says {entry['bytes']:,}")
    return None


def _chosen(manifest: dict[str, Any], total: int, count: int) -> np.ndarray:
    """(count,) int64 numbers of examples over all shards, ascending: one at a place of its own in each of `count` equal stretches."""
    bounds = np.arange(count + 1) * total // max(count, 1)
    seed = int(manifests.sealed(manifest)[manifests.SEAL], 16)
    within = Stream(seed, "verify", "pictures").uniform(np.arange(count), 1)[:, 0]
    result: np.ndarray = bounds[:-1] + (within * np.diff(bounds)).astype(np.int64)
    return result
