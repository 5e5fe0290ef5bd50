"""Verifying a data set: everything in it is made again from its settings and compared.

Files are compared with their checksums, the manifest with the one that the settings make, and every stored
scene, question and answer with those that are sampled again from (settings, split, index). Some pictures, or
all, are drawn again. The report names every difference, and every file that does not belong there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from simtown.core.pool import Pool, Processes, ignore
from simtown.core.streams import Stream
from simtown.core.untrusted import read_bytes
from simtown.datasets import manifests, summaries
from simtown.datasets.checks import rows
from simtown.datasets.checks.manifest import check_manifest, tables_of, unproven
from simtown.datasets.checks.problems import Problem, in_words
from simtown.datasets.checks.shard import Piece, Rule, check_shard
from simtown.datasets.remote import DirectoryStore, Remote, is_leftover, store_of
from simtown.datasets.settings import Settings
from simtown.datasets.shards import ShardTask, Tried, tasks
from simtown.datasets.summaries import Summary
from simtown.render.frames import Renderer

#: Pictures drawn again if nothing else is asked for.
PICTURES = 256
#: Files beside the shards that commands write into a data set. Only the manifest holds data.
_BESIDE = (manifests.NAME, manifests.TIMINGS, "preview.png", "marginals.png")


@dataclass(frozen=True)
class VerifyReport:
    """What :func:`verify` found.

    Attributes:
        problems: a line each; empty if there are none.
        summary: a sentence that says what is proven and what is not; empty if there are problems.
    """

    problems: list[str]
    summary: str


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
    return _Verification(store, manifest, renderer, pictures, quick).report(pool or Processes(), progress)


class _Verification:
    """One run of :func:`verify`."""

    def __init__(
        self,
        store: DirectoryStore | Remote,
        manifest: dict[str, Any],
        renderer: Renderer | None,
        pictures: int | None,
        quick: bool,
    ) -> None:
        self.store, self.manifest = store, manifest
        self.settings = Settings.from_resolved(manifest["settings"])
        self.total = sum(self.settings.counts().values())
        self.sampled = not quick
        self.renderer = renderer
        self.chosen = (
            None if pictures is None or pictures >= self.total else _chosen(manifest, self.total, pictures)
        )

    def report(self, pool: Pool, progress: Callable[[int], None]) -> VerifyReport:
        """Check everything."""
        sizes, irregular = self.store.sizes(), self.store.irregular()
        listed = tasks(self.settings)
        problems = list(self._directory(irregular, sizes, {task.name for task in listed}))
        try:
            tables = tables_of(self.manifest, self.settings)
        except ValueError as error:
            problems.append(Problem(manifests.NAME, f"'settings.frequencies' cannot be: {error}"))
            return VerifyReport(in_words(problems), "")
        progress(sum(task.count for task in listed if task.name in irregular))
        pieces = self._pieces(listed, sizes, irregular)
        rule = Rule(
            self.store,
            self.settings,
            tables,
            summaries.lengths(self.manifest["names"]),
            self.sampled,
            self.renderer,
        )
        result = _Result(self.manifest, rule.sizes, [task for task in listed if task.name in irregular])
        with closing(pool.map(check_shard, pieces, (rule,), progress)) as checked:
            for piece, findings in checked:
                result.add(piece.task, findings)
        problems += [problem for task in listed for problem in result.problems.get(task.name, [])]
        with self.store.reading(manifests.NAME) as path:
            content = read_bytes(path, follow=False)
        of_manifest = list(
            check_manifest(content, self.manifest, self.settings, tables, result.tried, result.summaries)
        )
        if result.foreign == len(listed):
            problems = [problem for problem in problems if problem.kind != rows.FOREIGN] + [self._foreign()]
        problems = of_manifest + problems
        return VerifyReport(in_words(problems), "" if problems else self._summary(result.drawn))

    def _pieces(
        self, listed: list[ShardTask], sizes: dict[str, int], irregular: dict[str, str]
    ) -> list[Piece]:
        """The shards to check, each with the rows whose pictures are drawn again."""
        pieces, first = [], 0
        for task in listed:
            if task.name not in irregular:
                pieces.append(
                    Piece(
                        task,
                        sizes.get(task.name),
                        self.manifest["shards"].get(task.name),
                        self._drawn(first, task.count),
                    )
                )
            first += task.count
        return pieces

    def _drawn(self, first: int, count: int) -> np.ndarray | None:
        """Rows of a shard whose pictures are drawn again; None for all of them.

        The first example of the shard is number `first` of the data set.
        """
        if self.chosen is None:
            return None
        result: np.ndarray = self.chosen[slice(*np.searchsorted(self.chosen, [first, first + count]))] - first
        return result

    def _directory(
        self, irregular: dict[str, str], sizes: dict[str, int], shards: set[str]
    ) -> Iterator[Problem]:
        """Everything in the directory that does not belong there, or is not a plain file."""
        folders = {folder.as_posix() for name in shards for folder in PurePosixPath(name).parents}
        strange: set[str] = set()
        for name in sorted({*sizes, *irregular}):
            if name in folders and irregular.get(name) == "a directory":
                continue
            if not strange.isdisjoint(folder.as_posix() for folder in PurePosixPath(name).parents):
                continue  # its folder, which does not belong there, is named already
            if name not in shards and name not in _BESIDE:
                strange.add(name)
                if is_leftover(name):
                    rest = (
                        "a job that was killed left it: run the same simtown generate again, which removes it"
                    )
                    yield Problem(name, rest)
                else:
                    yield Problem(name, "it does not belong in this data set: move it away")
            elif name in irregular:
                yield Problem(name, f"it is {irregular[name]}: put the file itself there")

    def _foreign(self) -> Problem:
        return Problem(
            str(self.store),
            f"none of its {self.total:,} examples is what these settings make, though each agrees with "
            "itself: they are of another seed, of another version of simtown (the manifest names "
            f"{self.manifest['simtown']}), or scenes of your own",
        )

    def _summary(self, drawn: int) -> str:
        s = self.settings
        about = f"{s.entities} entities, {s.seeds}"
        if not self.sampled:
            text = (
                f"{self.total:,} examples agree with themselves; {self._pictures(drawn)} from the stored "
                "scenes; it is not proven that these settings make them: leave out `quick`"
            )
        else:
            text = f"{self.total:,} examples are what these settings make; {self._pictures(drawn)}"
        return "; ".join([f"{about}: {text}", *unproven(self.manifest, s)])

    def _pictures(self, drawn: int) -> str:
        if drawn == 0:
            return "no picture was drawn again"
        return f"{'all ' if drawn == self.total else ''}{drawn:,} pictures drawn again"


class _Result:
    """What the checks of all shards found, added up as they end.

    Attributes:
        problems: by shard, of those that have any.
        tried: by shard, of those that were sampled again: the counts of the rejection loops.
        summaries: by split, the sum of its shards' summaries; None if a listed shard could not be counted.
        foreign: how many shards hold other examples.
        drawn: how many pictures were drawn again.
    """

    def __init__(
        self, manifest: dict[str, Any], sizes: Mapping[str, int], unread: Iterable[ShardTask]
    ) -> None:
        self._listed, self._sizes = manifest["shards"], sizes
        self.problems: dict[str, list[Problem]] = {}
        self.tried: dict[str, Tried] = {}
        self.summaries: dict[str, Summary | None] = {}
        self.foreign = self.drawn = 0
        for task in unread:
            self._count(task, None)

    def add(self, task: ShardTask, findings: rows.ShardFindings) -> None:
        """Add what was found in a shard."""
        if findings.problems:
            self.problems[task.name] = findings.problems
        self.drawn += findings.pictures
        self.foreign += findings.foreign
        if findings.tried is not None and not findings.foreign:
            self.tried[task.name] = findings.tried
        self._count(task, findings.summary)

    def _count(self, task: ShardTask, summary: Summary | None) -> None:
        if task.name not in self._listed:
            return
        before = self.summaries.get(task.split, {})
        total = None if summary is None or before is None else summaries.total([before, summary], self._sizes)
        self.summaries[task.split] = total


def _chosen(manifest: dict[str, Any], total: int, count: int) -> np.ndarray:
    """(count,) int64 numbers of examples over all shards, ascending: a random one of each of `count` equal
    stretches.
    """
    bounds = np.arange(count + 1) * total // max(count, 1)
    seed = int(manifest[manifests.SEAL], 16)
    within = Stream(seed, "verify", "pictures").uniform(np.arange(count), 1)[:, 0]
    result: np.ndarray = bounds[:-1] + (within * np.diff(bounds)).astype(np.int64)
    return result
