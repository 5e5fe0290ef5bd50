"""One model, one or more tasks, one directory: what `simtown probe physical` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

from simtown.probes.physical import figures, results
from simtown.probes.physical.datasets import Release
from simtown.probes.physical.models import Choices, judge
from simtown.probes.physical.tasks import build
from simtown.probes.release_files import understood
from simtown.probes.results import NAME
from simtown.probes.scorers.base import Scorer

#: Told a task's title and how many steps it has; gives what is called at each.
Watch = Callable[[str, int], Callable[[], None]]


def run(release: Release, which: Sequence[tuple[str, str]], choices: Choices, out: Path, opening: Callable[[], Scorer],
        watch: Watch) -> dict[str, Any]:  # fmt: skip
    """Judge every (set, task) that the directory lacks, and write everything; the content of summary.json.

    Args:
        opening: opens the model, if a task is missing and the choices ask for one.

    Raises:
        ValueError: a choice that cannot be. ForeignDirectoryError: see :meth:`simtown.probes.results.Study.opened`.
    """
    choices.check()
    scorer: Scorer | None = None
    with results.STUDY.opened(out, {**asdict(choices), "data": fingerprint(release)}) as directory:
        for place, name in which:
            with understood("the data"):
                task = build(release, place, name)
            if directory.has(task.title):
                continue
            if scorer is None and choices.opens():
                scorer = opening()
            with understood("the data"):
                judged = judge(release, task, choices, scorer, lambda steps, title=task.title: watch(title, steps))  # type: ignore[misc]
            (out / f"{task.title}.png").unlink(missing_ok=True)
            directory.add(task.title, results.table(judged), results.describe(judged, release))
        with understood(out / NAME, "give another --out"):
            for title, found in directory.content["tasks"].items():
                if not (out / f"{title}.png").is_file():
                    figures.figure2(title, choices.model, found, release, out / f"{title}.png")
            results.write_tables(out, directory.content)
        return directory.content


def fingerprint(release: Release) -> str:
    """A digest of everything that was read."""
    digest = blake2b(digest_size=8)
    for part in (release.objects, release.properties, {k: v.tolist() for k, v in release.abstract.items()},
                 [(i.annotation, i.object, i.properties.tolist(), i.yes, i.no) for i in release.instances],
                 {k: sorted(v) for k, v in release.splits.items()}, release.answers):  # fmt: skip
        digest.update(repr(part).encode())
    return digest.hexdigest()
