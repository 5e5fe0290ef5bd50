"""CoDa (Paik et al. 2021): from people's ratings of the colours of things to one distribution an object."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from simtown.probes.release_files import ReleaseFiles, parsing, read_text
from simtown.probes.visual.release import CODA_CLASSES

FILES = ReleaseFiles("CoDa's folder projects/coda/data", {"coda": ("{}.jsonl",)})


def labels(folder: Path) -> dict[str, np.ndarray]:
    """{object: (11,) float64 shares of the colours} from annotations.jsonl and objects.jsonl, plain or .gz.

    Every rating is divided by its sum. While the rating that agrees least with an object's mean has a Kendall
    τ below 0 with it, it is left out. The mean of the others is the label.
    """
    paths = (FILES.path(folder, "coda", name) for name in ("objects", "annotations"))
    objects, annotations = map(read_text, paths)
    ratings = defaultdict(list)
    with parsing(folder):
        names = {row["class_id"]: str(row["ngram"]) for row in _records(objects)}
        for row in _records(annotations):
            rating = [float(row[color]) for color in CODA_CLASSES] if row["included"] else [0.0]
            if sum(rating) > 0:
                ratings[row["class_id"]].append(rating)
    return {name: agreed(np.array(ratings[number])) for number, name in names.items() if number in ratings}


def agreed(ratings: np.ndarray) -> np.ndarray:
    """(c,) mean of (r, c) ratings, each with something in it, without those that contradict it."""
    kept = ratings / ratings.sum(axis=1, keepdims=True)
    while len(kept) > 1:
        mean = kept.mean(axis=0)
        # 1 where a τ is not defined: nothing contradicts
        taus = [kendalltau(row, mean).statistic if np.ptp(row) and np.ptp(mean) else 1.0 for row in kept]
        worst = int(np.argmin(taus))
        if taus[worst] >= 0:
            break
        kept = np.delete(kept, worst, axis=0)
    return kept.mean(axis=0)


def _records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]
