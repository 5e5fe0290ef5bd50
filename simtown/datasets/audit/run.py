"""The whole audit: every check of every split."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from simtown.core.pool import Pool, Processes, Report, ignore
from simtown.datasets.audit import pictures, repeats, small_models, statistics, survey
from simtown.datasets.audit.findings import LEVEL, Finding, judge
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.reader import Dataset, Handle

#: How often every example is examined: it is read, its scene is compared with others, and its picture is.
PASSES = 3
#: All checks, in the order of a report.
_CHECKS = (
    "answers", "information", "question only", "picture only", "position only", "duplicate scenes",
    "nearly repeated scenes", "repeated pictures", "scenes seen in training",
    "near copies of training scenes", "questions seen in training", "ambiguous margins", "occlusion",
    "changed files",
)  # fmt: skip


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
    pool, rows, findings = pool or Processes(), DatasetRows(dataset), []
    with closing(pool.map(small_models.probe, list(small_models.MODELS), (Handle(dataset),))) as results:
        for _, found_by_model in results:
            findings += found_by_model
    with survey.surveyed(rows, pool, progress) as seen:
        for name, counts in seen.counts.items():
            findings += statistics.findings(counts, seen.samples[name], dataset.settings, name)
        findings.append(survey.changed_files(seen.changed, len(dataset.manifest["shards"])))
        findings += repeats.repeated_scenes(seen.scenes, seen.counts, seen.samples, rows, pool, progress)
        seen.samples.clear()  # tens of megabytes that the last check does not need
        findings.append(pictures.repeated_pictures(seen.pictures, rows, pool, progress))
    return sorted(judge(findings), key=lambda finding: _CHECKS.index(finding.check.split(" by ")[0]))


def report(data: str, findings: list[Finding]) -> dict[str, Any]:
    """All findings, for machines; `data` is the name of the data set."""
    warnings = sum(finding.status == "warn" for finding in findings)
    return {
        "format": "simtown audit",
        "data": data,
        "status": "warn" if warnings else "pass",
        "warnings": warnings,
        "level": LEVEL,
        "findings": [finding.to_json() for finding in findings],
    }
