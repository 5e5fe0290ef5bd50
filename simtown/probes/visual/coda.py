"""CoDa (Paik et al. 2021): what people say of the colours of things, from their ratings to one distribution
an object.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from simtown.core.files import DamagedError
from simtown.core.untrusted import inside
from simtown.probes.release_files import read_text
from simtown.probes.visual.release import CODA_CLASSES

#: Ratings of an object at most: CoDa's have up to 113. Each is compared with the mean of all, as often as one
#: is left out.
MOST_RATINGS = 1_000


def labels(folder: Path) -> dict[str, np.ndarray]:
    """{object: (11,) float64 shares of the colours} from annotations.jsonl and objects.jsonl (either may be
    packed with gzip).

    Every rating is divided by its sum. While the rating that agrees least with an object's mean has a Kendall
    τ below 0 with it, it is left out. The mean of the others is the label.

    Raises:
        FileNotFoundError: a file is missing.
        DamagedError: it is not what it should be.
    """
    names = {row["class_id"]: row["ngram"] for row in _rows(folder, "objects", ("class_id", "ngram"))}
    ratings: dict[str, list[list[float]]] = {}
    for row in _rows(folder, "annotations", ("class_id", "included")):
        if row["included"] and row["class_id"] in names:
            try:
                rating = [float(row[color]) for color in CODA_CLASSES]
                if not all(0 <= share < 1e6 for share in rating):
                    raise ValueError("not a number of at least 0")
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise DamagedError(
                    f"{folder}: a rating of {row['class_id']} lacks a colour ({error})"
                ) from error
            if sum(rating) > 0:
                each = ratings.setdefault(row["class_id"], [])
                each.append(rating)
                if len(each) > MOST_RATINGS:
                    raise DamagedError(
                        f"{folder}: {row['class_id']} has more than {MOST_RATINGS:,} ratings: fetch the "
                        "files again"
                    )
    return {name: agreed(np.array(ratings[number])) for number, name in names.items() if number in ratings}


def agreed(ratings: np.ndarray) -> np.ndarray:
    """(c,) mean of the ratings without those that contradict it.

    Args:
        ratings: (r, c) floats, each row with something in it.
    """
    kept = ratings / ratings.sum(axis=1, keepdims=True)
    while len(kept) > 1:
        mean = kept.mean(axis=0)
        # 1 where a τ is not defined: nothing contradicts
        taus = np.array(
            [kendalltau(row, mean).statistic if np.ptp(row) and np.ptp(mean) else 1.0 for row in kept]
        )
        worst = int(taus.argmin())
        if taus[worst] >= 0:
            break
        kept = np.delete(kept, worst, axis=0)
    result: np.ndarray = kept.mean(axis=0)
    return result


def _rows(folder: Path, name: str, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    ending = next((end for end in (".jsonl", ".jsonl.gz") if (folder / f"{name}{end}").is_file()), None)
    if ending is None:
        raise FileNotFoundError(f"{folder} has no {name}.jsonl: give CoDa's folder projects/coda/data")
    path = inside(folder, f"{name}{ending}")
    text = read_text(path)
    try:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        raise DamagedError(f"{path} is damaged ({error})") from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or any(key not in row for key in keys):
            raise DamagedError(f"{path}: row {number} lacks one of {', '.join(keys)}")
        if not isinstance(row["class_id"], str | int) or not isinstance(row.get("ngram", ""), str):
            raise DamagedError(f"{path}: row {number} has no number or no name")
    return rows
