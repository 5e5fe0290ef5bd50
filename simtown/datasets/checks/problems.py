"""Problems of a data set as :func:`simtown.datasets.verify.verify` collects and words them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simtown.datasets.shards import ShardTask

#: Files with the same problem that have a line each; the others are counted.
MOST = 5


@dataclass(frozen=True)
class Problem:
    """One problem.

    Attributes:
        file: in which it is.
        kind: in words; several files may have it.
        detail: what is particular to this file.
    """

    file: str
    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.kind}{self.detail}"


def in_words(problems: Iterable[Problem]) -> list[str]:
    """A line a problem, in order; of one kind in many files, the first few and the number of the others."""
    by_kind: dict[str, list[Problem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    lines = []
    for kind, same in by_kind.items():
        lines += [str(problem) for problem in same[:MOST]]
        if len(same) > MOST:
            lines.append(f"{same[MOST].file} to {same[-1].file}: {kind}, in {len(same) - MOST} more files")
    return lines


def examples(task: ShardTask, rows: np.ndarray) -> str:
    """Which rows of a shard: "example 12", or "example 12 and 3 more"."""
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return f"example {task.start + int(rows[0])}{more}"
