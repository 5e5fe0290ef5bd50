"""The audit as a whole: every check over every split, judged together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from simtown.datasets.audit import balance, checksums, near, pictures, probes, scenes
from simtown.datasets.audit.findings import LEVEL, Finding, judged
from simtown.datasets.reader import Dataset
from simtown.datasets.settings import SPLITS

#: Steps of an audit: one for each split, one each for files, scenes and pictures, one for each probe.
STEPS = len(SPLITS) + 3 + len(probes.PROBES)


def audit(dataset: Dataset, step: Callable[[str], None] = lambda name: None) -> list[Finding]:
    """Every finding, in the order of a report; see :class:`~simtown.datasets.audit.findings.Finding`. Needs the extra "audit".

    A data set without any bias passes all of them with a probability of at least 1 - LEVEL.

    Args:
        step: told of the name of each of STEPS steps when it has ended.

    Raises:
        DamagedError: a shard cannot be read.
    """
    found: list[Finding] = []
    for name in SPLITS:
        split = dataset[name]
        if len(split):
            found += [balance.overall(split, name), *balance.by_group(split, dataset.settings, name)]
            found += [balance.information(split, dataset.settings, name), scenes.margins(split, name), scenes.occlusion(split, name)]
        step(name)
    found += [*scenes.repeated(dataset), *near.near_repeats(dataset)]
    step("repeated scenes")
    found.append(pictures.repeated_pictures(dataset))
    step("repeated pictures")
    found.append(checksums.changed_files(dataset))
    step("files")
    found += probes.probe(dataset, step)
    return sorted(judged(found), key=lambda f: _ORDER[f.check.split(" by ")[0]])


_CHECKS = ("answers", "information", "question only", "picture only", "position only", "duplicate scenes", "nearly repeated scenes",
           "repeated pictures", "scenes seen in training", "near copies of training scenes", "questions seen in training",
           "ambiguous margins", "occlusion", "changed files")  # fmt: skip
_ORDER = {check: place for place, check in enumerate(_CHECKS)}


def report(data: str, findings: list[Finding]) -> dict[str, Any]:
    """Everything found, for machines; `data` is what the data set is called."""
    warned = sum(f.status == "warn" for f in findings)
    return {
        "format": "simtown audit",
        "data": data,
        "status": "warn" if warned else "pass",
        "warnings": warned,
        "level": LEVEL,
        "findings": [_plain(f.told()) for f in findings],
    }


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, all the way down."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, np.generic) else value
