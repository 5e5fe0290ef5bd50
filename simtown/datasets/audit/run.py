"""The whole audit: every check of every split."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

from simtown.core.pool import Pool, Processes, Report, ignore
from simtown.datasets.audit import balance, checksums, near, pictures, probes, scenes
from simtown.datasets.audit.counts import sample_rows
from simtown.datasets.audit.findings import LEVEL, Finding, judge
from simtown.datasets.audit.survey import Survey, surveyed
from simtown.datasets.reader import Dataset, Handle
from simtown.datasets.settings import Settings

#: How often every example is examined: it is read, its scene is compared with others, and its picture is.
PASSES = 3


def audit(dataset: Dataset, pool: Pool | None = None, progress: Report = ignore) -> list[Finding]:
    """Every finding, in the order of a report (:class:`~simtown.datasets.audit.findings.Finding`).

    It needs the extra "audit". A data set without any bias passes all checks with a probability of at least 1
    - LEVEL. Memory does not grow with its examples, except for a temporary file of about 200 bytes an
    example.

    Args:
        dataset: the data set.
        pool: does the work; by default this process. Findings do not depend on it.
        progress: called with the number of examples examined since the last call, PASSES times the examples
            of the data set in all.

    Raises:
        DamagedError: a shard cannot be read.
        OSError: there is no room for the temporary file.
    """
    pool = pool or Processes()
    findings = list(shortcuts(dataset, pool))
    with surveyed(dataset, pool, progress) as survey:
        findings += statistics(survey, dataset.settings)
        findings.append(checksums.changed_files(survey.changed, len(dataset.manifest["shards"])))
        findings += repeated_scenes(survey, pool, progress)
        survey.samples.clear()  # tens of megabytes that the last check does not need
        findings.append(repeated_pictures(survey, dataset, pool, progress))
    return sorted(judge(findings), key=lambda f: _ORDER[f.check.split(" by ")[0]])


def statistics(survey: Survey, settings: Settings) -> Iterator[Finding]:
    """Findings of every split about answers, margins and occlusion."""
    for name, counts in survey.counts.items():
        sample = survey.samples[name]
        yield balance.overall(counts, name)
        yield from balance.by_group(counts, settings, name)
        yield balance.information(sample, sample_rows(counts.examples), counts.examples, settings, name)
        yield scenes.margins(counts, sample, name)
        yield scenes.occlusion(counts, name)


def shortcuts(dataset: Dataset, pool: Pool) -> Iterator[Finding]:
    """Findings of models that see only a part of each example."""
    with closing(pool.map(probes.probe, list(probes.PROBES), (Handle(dataset),))) as results:
        for _, findings in results:
            yield from findings


def repeated_scenes(survey: Survey, pool: Pool, progress: Report) -> Iterator[Finding]:
    """Findings about scenes that occur again, exactly or nearly."""
    repeats = scenes.Repeats.none()
    with closing(pool.map(scenes.repeats, survey.scenes, (survey.rows,), progress)) as results:
        for _, part in results:
            repeats.add(part)
    yield from scenes.repeated(repeats, survey.counts, survey.rows)
    yield from near.near_repeats(repeats, survey.counts, survey.samples, survey.rows)


def repeated_pictures(survey: Survey, dataset: Dataset, pool: Pool, progress: Report) -> Finding:
    """The finding about pictures that occur again with another scene."""
    with closing(
        pool.map(pictures.same_pictures, survey.pictures, (Handle(dataset), survey.rows), progress)
    ) as results:
        return pictures.repeated_pictures(
            np.concatenate([pairs for _, pairs in results]), dataset, survey.rows
        )


_CHECKS = (
    "answers", "information", "question only", "picture only", "position only", "duplicate scenes",
    "nearly repeated scenes", "repeated pictures", "scenes seen in training",
    "near copies of training scenes", "questions seen in training", "ambiguous margins", "occlusion",
    "changed files",
)  # fmt: skip
_ORDER = {check: place for place, check in enumerate(_CHECKS)}


def report(data: str, findings: list[Finding]) -> dict[str, Any]:
    """All findings, for machines; `data` is the name of the data set."""
    warned = sum(f.status == "warn" for f in findings)
    return {
        "format": "simtown audit",
        "data": data,
        "status": "warn" if warned else "pass",
        "warnings": warned,
        "level": LEVEL,
        "findings": [_plain(f.to_json()) for f in findings],
    }


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, all the way down."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value
