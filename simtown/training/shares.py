"""A share of right answers, and how sure it is."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binomtest


def share(correct: np.ndarray | Sequence[bool]) -> dict[str, float] | None:
    """The share of (n,) right answers, with its 95 % Wilson score interval; None where nothing was asked."""
    if not len(correct):
        return None
    right, n = int(np.sum(correct)), len(correct)
    interval = binomtest(right, n).proportion_ci(0.95, method="wilson")
    return {"accuracy": right / n, "low": float(interval.low), "high": float(interval.high), "n": n}
