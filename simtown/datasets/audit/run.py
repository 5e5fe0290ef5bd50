"""The whole audit: every example is read once and counted, then scenes and pictures are compared."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from simtown.core.pool import Pool, Processes, Report, ignore
from simtown.datasets.audit import fairness, pictures, repeats, small_models, statistics
from simtown.datasets.audit.fairness import FamilyCounts
from simtown.datasets.audit.features import COLUMNS, THINGS, SplitCounts, sample_rows
from simtown.datasets.audit.findings import LEVEL, Finding, judge
from simtown.datasets.audit.floors import floor_findings
from simtown.datasets.audit.pair_fairness import pair_findings
from simtown.datasets.audit.rows import DatasetRows
from simtown.datasets.making.shards import checksum
from simtown.datasets.reading.reader import Dataset, runs
from simtown.datasets.sequence_questions import SEQUENCE_COLUMNS
from simtown.datasets.settings import Settings

#: How often every example is examined: it is read, its scene is compared with others, and its picture is.
PASSES = 3
#: Examples of a piece, which one worker looks at, and those that are read at once.
_PIECE, _BLOCK = 65_536, 2_048
#: Checks of questions of families alone, and all checks in the order of a report.
OF_FAMILIES = (
    "answers of another type",
    "wrong answers",
    "idle parts",
    "equal twins",
    "glance",
    "pairs",
    "one picture",
)
_CHECKS = (
    "answers", *OF_FAMILIES, "information", "question only",
    "picture only", "position only", "duplicate scenes",
    "nearly repeated scenes", "repeated pictures", "scenes seen in training",
    "near copies of training scenes", "questions seen in training", "ambiguous margins", "occlusion",
    "changed files",
)  # fmt: skip
_CHANGED = (
    "Somebody changed these files after simtown made them: run simtown verify to see what is wrong, or "
    "generate the data set again."
)
#: A split's name, the first row of a piece of it, and the row after its last one.
Piece = tuple[str, int, int]


class _Checks(NamedTuple):
    """How the questions of a data set are checked.

    Attributes:
        columns: the columns that are read.
        count: counts their rows.
        of_split: findings of a split's counts and sample.
        of_all_splits: findings of all samples.
        models: names of the small models that look for bias.
    """

    columns: tuple[str, ...]
    count: Callable[..., Any]
    of_split: Callable[..., Iterable[Finding]]
    of_all_splits: Callable[..., Iterable[Finding]]
    models: Iterable[str]


def _checks_of(settings: Settings) -> _Checks:
    if settings.has_families:
        count, of_split = FamilyCounts.of, fairness.findings
        return _Checks(fairness.COLUMNS, count, of_split, fairness.blind_findings, ())
    return _Checks(COLUMNS, SplitCounts.of, statistics.findings, lambda *_: (), small_models.MODELS)


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
    settings, checks = dataset.settings, _checks_of(dataset.settings)
    with closing(pool.map(small_models.probe, list(checks.models), (dataset,))) as results:
        for _, found_by_model in results:
            findings += found_by_model
    with surveyed(rows, pool, progress) as seen:
        for name, counts in seen.counts.items():
            findings += checks.of_split(counts, seen.samples[name], settings, name)
            findings += pair_findings(dataset, name) if settings.twins else ()
            findings += floor_findings(dataset, name) if settings.sequence and name == "train" else ()
        findings += checks.of_all_splits(seen.samples, settings)
        files, names = len(dataset.manifest["shards"]), ", ".join(seen.changed[:3])
        first = f": {names}{' ...' if len(seen.changed) > 3 else ''}" if seen.changed else ""
        count = len(seen.changed)
        figure = f"{count:,} of {files:,} files differ from their checksum in the manifest{first}"
        measured = {"changed": seen.changed, "files": files}
        findings.append(Finding.of_count("changed files", "all", count, figure, _CHANGED, **measured))
        findings += repeats.repeated_scenes(seen.scenes, seen.counts, seen.samples, rows, pool, progress)
        seen.samples.clear()  # tens of megabytes that the last check does not need
        findings += pictures.repeated_pictures(seen.pictures, seen.equal, rows, pool, progress)
    return sorted(judge(findings), key=lambda finding: _CHECKS.index(finding.check.split(" by ")[0]))


def report(data: str, findings: list[Finding]) -> dict[str, Any]:
    """All findings, for machines; `data` is the name of the data set."""
    warnings = sum(finding.status == "warn" for finding in findings)
    about = {"format": "simtown audit", "data": data, "status": "warn" if warnings else "pass"}
    listed = [finding.to_json() for finding in findings]
    return {**about, "warnings": warnings, "level": LEVEL, "findings": listed}


def lines(findings: list[Finding], everything: bool = False) -> list[tuple[str, str]]:
    """(status, text) of warnings, notes and passed checks: all, or a line for each family that passed."""
    told: dict[tuple[str, str], list[str]] = {}
    for f in sorted(findings, key=lambda finding: ("warn", "note", "pass").index(finding.status)):
        p = "" if f.p is None else f"; p {f.p:.2g}"
        text = f"({f.where}): {f.figure}{p}{f'. {f.advice}' if f.status == 'warn' else ''}"
        told.setdefault((f.status, text), []).append(f.check)
    listed = [(status, f"{', '.join(checks)} {text}") for (status, text), checks in told.items()]
    if everything:
        return listed
    families: dict[str, list[Finding]] = {}
    for f in findings:
        if f.status == "pass":
            families.setdefault(f.check.partition(" by ")[0], []).append(f)
    listed = [(status, text) for status, text in listed if status != "pass"]
    for family, passed in families.items():
        tests = [f.p for f in passed if f.p is not None]
        least = f", least p {min(tests):.2g}" if tests else ""
        listed.append(("pass", f"{family}: {len(passed)} check{'s' if len(passed) > 1 else ''}{least}"))
    return listed


def threshold(findings: list[Finding]) -> str:
    """The probability below which one more test would have warned, by Holm's procedure."""
    tests = [f for f in findings if f.p is not None]
    left = sum(f.status == "pass" for f in tests)
    level = f"{LEVEL / max(left, 1):.2g} (Holm: {LEVEL:.0%} for all)"
    return f"{len(tests)} tests of chance warn below p {level}."


@dataclass
class Survey:
    """Facts that are kept of all examples.

    Attributes:
        counts: by split, of those that have examples: SplitCounts, or FamilyCounts for families.
        samples: columns of the examples of :func:`~simtown.datasets.audit.features.sample_rows`, by split.
        scenes: a record of each scene, by neighbourhood.
        pictures: a record of each picture, by neighbourhood.
        changed: names of shards whose bytes are not those that the manifest names, in order.
        equal: numbers of the first of two twins that show the same pixels, in order.
    """

    counts: dict[str, Any]
    samples: dict[str, dict[str, np.ndarray]]
    scenes: Sequence[tuple[int, np.ndarray]]
    pictures: Sequence[tuple[int, np.ndarray]]
    changed: list[str]
    equal: list[int]


@contextmanager
def surveyed(rows: DatasetRows, pool: Pool, progress: Report) -> Iterator[Survey]:
    """Survey every example, piece by piece. What is kept is there until the block ends.

    Raises DamagedError if a shard cannot be read.
    """
    whole = _PIECE - _PIECE % rows.dataset.settings.block
    pieces = [(name, *run) for name in rows.lengths for run in runs(rows.lengths[name], whole)]
    directions = pictures.directions(rows)
    counts: dict[str, Any] = {}
    samples: dict[Piece, dict[str, np.ndarray]] = {}
    changed: list[str] = []
    equal: list[int] = []
    with (
        closing(repeats.neighbourhoods(rows)) as scenes,
        closing(pictures.neighbourhoods(rows, directions)) as shown,
        closing(pool.map(_survey, pieces, (rows, directions), progress)) as results,
    ):
        for piece, (counted, samples[piece], scene_part, picture_part, changed_files, alike) in results:
            if counts.setdefault(piece[0], counted) is not counted:
                counts[piece[0]].add(counted)
            scenes.add(scene_part, repeats.first_places(scene_part))
            shown.add(picture_part, picture_part["place"])
            changed += changed_files
            equal += alike
        ordered = {name: counts[name] for name in rows.lengths if name in counts}
        kept = {name: [samples.pop(piece) for piece in pieces if piece[0] == name] for name in ordered}
        joined = {name: _joined(blocks) for name, blocks in kept.items()}
        yield Survey(ordered, joined, scenes, shown, sorted(changed), sorted(equal))


def _survey(piece: Piece, report: Report, rows: DatasetRows, directions: np.ndarray) -> Any:
    """A piece of work: read some examples; returns what :class:`Survey` keeps, of these alone."""
    (name, begin, end), dataset = piece, rows.dataset
    split, settings = dataset[name], dataset.settings
    checks = _checks_of(settings)
    read = (*checks.columns, "group") if settings.twins else checks.columns
    if settings.sequence:
        read = (*read, *SEQUENCE_COLUMNS)
    in_sample = sample_rows(len(split), settings.block if settings.twins else 2)
    counts: list[Any] = []
    sample, scenes, shown, equal = [], [], [], list[int]()
    for first, columns in split.stream(read, _BLOCK - _BLOCK % settings.block, begin=begin, end=end):
        after = first + len(columns["visible"])
        if settings.sequence:
            columns["group"] = np.arange(first, after) // 2
        numbers = rows.starts[name] + np.arange(first, after)
        counts.append(checks.count(columns, settings))
        one = np.flatnonzero(np.arange(first, after) % settings.questions_per_picture == 0)
        in_scenes = {column: columns[column][one] for column in repeats.SCENE}
        group = rows.starts[name] + 2 * columns["group"][one] if settings.paired else numbers[one]
        scenes.append(repeats.scene_records(numbers[one], group, in_scenes))
        columns[THINGS] = (columns.pop("scene/prop") >= 0).sum(axis=1).astype(np.uint8)
        for unused in ("scene/prop_pose", "scene/prop_style"):
            columns.pop(unused, None)
        shown.append(pictures.picture_records(rows, numbers[one], directions))
        equal += pictures.equal_twins(rows, shown[-1]) if settings.twins else []
        kept = in_sample[slice(*np.searchsorted(in_sample, [first, after]))] - first
        sample.append({column: values[kept] for column, values in columns.items()})
        report(after - first)
    for more in counts[1:]:
        counts[0].add(more)
    listed = dataset.manifest["shards"]
    shards = {path.relative_to(dataset.path).as_posix(): path for path in split.shards(begin, end)}
    changed = [shard for shard, path in shards.items() if checksum(path) != listed[shard]["sha256"]]
    return counts[0], _joined(sample), np.concatenate(scenes), np.concatenate(shown), changed, equal


def _joined(blocks: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {column: np.concatenate([block[column] for block in blocks]) for column in blocks[0]}
