"""What an audit finds, and how sure it must be before it warns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

#: How often an audit of a data set without any bias may warn by chance, over all its tests together.
LEVEL = 0.01


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: its name.
        where: the split or splits it looked at.
        found: the figure, in words.
        p: chance of such a figure in a data set without bias; None where chance plays no part, and `status` is final.
        status: "pass", "warn", or "note" where a figure is told and none is wrong.
        advice: what to do about it, one sentence.
        details: everything measured, as JSON keeps it.
    """

    check: str
    where: str
    found: str
    advice: str
    p: float | None = None
    status: str = "pass"
    details: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """As JSON keeps it; the advice of a warning alone."""
        return {
            "check": self.check,
            "where": self.where,
            "status": self.status,
            "found": self.found,
            "p": self.p,
            "advice": self.advice if self.status == "warn" else "",
            "details": self.details,
        }


def judged(findings: list[Finding]) -> list[Finding]:
    """The same findings with the status of those that have a p: Holm's procedure over all of them, at LEVEL."""
    tested = sorted((i for i, f in enumerate(findings) if f.p is not None), key=lambda i: findings[i].p or 0.0)
    out, rejecting = list(findings), True
    for rank, i in enumerate(tested):
        rejecting = rejecting and (findings[i].p or 0.0) * (len(tested) - rank) < LEVEL
        out[i] = replace(findings[i], status="warn" if rejecting else "pass")
    return out


def wilson(right: int | np.ndarray, n: int | np.ndarray, tests: int = 1) -> tuple[Any, Any]:
    """Wilson score interval of a share, or of each of an array of shares; 95 %, for all of `tests` intervals together (Bonferroni)."""
    from scipy.stats import norm

    z = float(norm.isf(0.025 / tests))
    share = right / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half
