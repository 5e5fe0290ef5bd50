"""Two directories of results on the same subjects: differences of ρ and accuracy with intervals, paired and Welch's tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.probes import statistics
from simtown.probes.release_files import understood
from simtown.probes.visual import results
from simtown.probes.visual.dataset import GROUPS


@dataclass(frozen=True)
class Compared:
    """A task, mode and group of two models, on the subjects that both have. ρ is NaN-free; None where a task has no ρ.

    Attributes:
        rho: a less b.
        interval: 95 % of it, over subjects.
        adjusted: `rho.paired` for the false discovery rate over all that is compared.
        accuracy: McNemar's test of who came first.
    """

    task: str
    mode: str
    group: str
    rho: statistics.Difference | None
    interval: tuple[float, float]
    adjusted: float
    accuracy: tuple[float, float]
    right: statistics.McNemar


def compare(a: Path, b: Path) -> list[Compared]:
    """For every task that both directories have, the modes of a against the same mode of b, or b's only one.

    Raises:
        FileNotFoundError, DamagedError: a directory holds no results. ValueError: they have no subject in common.
    """
    with understood(f"{a} or {b}", "make both again"):
        return _compare(a, b)


def _compare(a: Path, b: Path) -> list[Compared]:
    tasks = [t for t in results.TASKS if t != "size" and all(t in results.STUDY.load(path)["tasks"] for path in (a, b))]
    found: list[Compared] = []
    for task in tasks:
        one, other = _by_mode(results.rows(a, task)), _by_mode(results.rows(b, task))
        for mode, mine in one.items():
            theirs = other.get(mode) or (next(iter(other.values())) if len(other) == 1 else None)
            if theirs is None:
                continue
            both = [s for s in mine if s in theirs]
            group = np.array([mine[s]["group"] for s in both])
            rho_a, rho_b = (np.array([side[s]["rho"] for s in both], dtype=float) for side in (mine, theirs))
            right_a, right_b = (np.array([side[s]["right"] for s in both], dtype=bool) for side in (mine, theirs))
            for name in ("all", *GROUPS):
                kept = np.ones(len(both), dtype=bool) if name == "all" else group == name
                if not kept.any():
                    continue
                has_rho = bool(np.isfinite(rho_a[kept] - rho_b[kept]).any())
                told = statistics.difference(rho_a[kept], rho_b[kept]) if has_rho else None
                found.append(Compared(task, mode, name, told, statistics.mean_interval(rho_a[kept] - rho_b[kept]), float("nan"),
                                      (float(right_a[kept].mean()), float(right_b[kept].mean())),
                                      statistics.mcnemar(right_a[kept], right_b[kept])))  # fmt: skip
    if not found:
        raise ValueError(f"{a} and {b} have no task, mode and subject in common")
    adjusted = statistics.benjamini_hochberg([c.rho.paired if c.rho else float("nan") for c in found])
    return [Compared(**{**vars(c), "adjusted": float(p)}) for c, p in zip(found, adjusted, strict=True)]


def _by_mode(rows: dict[str, list[Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """{mode: {subject: {"group", "rho", "right"}}}."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for mode, subject, group, rho, right in zip(*(rows[k] for k in ("mode", "subject", "group", "rho", "right")), strict=True):
        found.setdefault(mode, {})[subject] = {"group": group, "rho": rho, "right": right}
    return found
