"""timings.json: how long each run of generate took.

Nothing depends on it, and it is not trusted.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from simtown.datasets import manifests
from simtown.datasets.shards import STAGES
from simtown.datasets.stores import Store

#: How many runs are read at most: the last ones.
_MOST = 1_000
_NUMBERS = ("examples", "wall_seconds", "workers")


def load(store: Store) -> list[dict[str, Any]]:
    """The runs in a data set's timings.json; none if it is missing or nonsense."""
    try:
        runs = store.load_json(manifests.TIMINGS)["runs"][-_MOST:]
        return runs if all(_fine(run) for run in runs) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _fine(run: Any) -> bool:
    shares, seconds = run["stage_shares"], run["stage_seconds"]
    numbers = [
        *(run[key] for key in _NUMBERS),
        *(part[stage] for part in (shares, seconds) for stage in STAGES),
    ]
    return all(type(number) in (int, float) and 0 <= number < 1e15 and isfinite(number) for number in numbers)
