"""Reading ViComTe as Zhang et al. (2022) released it: a clone, or its data folders side by side; and CoDa
(Paik et al. 2021): from people's ratings of the colours of things to one distribution an object.

:data:`FILES` lists where each kind of file lies. Any file may be packed with gzip.
"""

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from simtown.core.untrusted import parse_json
from simtown.probes.items import ItemSet
from simtown.probes.release_files import ReleaseFiles, parsing, read_text
from simtown.probes.visual.classes import RELATIONS, SIZES

#: CoDa's classes in the release: the colours but for silver.
CODA_CLASSES = tuple(c for c in RELATIONS["color"].classes if c != "silver")
_DIST = "distributions/{}-dist"
#: Where the files lie, first in a clone, then with the data folders side by side: counts of classes by
#: subject and CoDa's labels; subjects with the best class and a wrong one, by split and group; words of the
#: classes; nouns by size; templates; the paper's own results.
FILES = ReleaseFiles(
    "github.com/ChenyuHeidiZhang/VL-commonsense",
    {
        "distributions": (f"mine-data/{_DIST}.jsonl", f"{_DIST}.json", f"{_DIST}.jsonl"),
        "pairs": ("mine-data/db/{}.jsonl", "db/{}.jsonl"),
        "words": ("mine-data/words/{}-words.txt", "words/{}-words.txt"),
        "sizes": ("mine-data/size_db/{}-words.txt", "size_db/{}-words.txt"),
        "prompts": ("soft-prompts/prompts/vl/{}.jsonl", "prompts/{}.jsonl"),
        "results": ("{}.csv", "soft-prompts/{}.csv", "probing/{}.csv", "reference-results/{}.csv"),
    },
)
CODA_FILES = ReleaseFiles("CoDa's folder projects/coda/data", {"coda": ("{}.jsonl",)})


class Pair(NamedTuple):
    """A subject, a noun; the class that fits it best, and one that does not fit."""

    subject: str
    best: str
    other: str


class VisualRelease:
    """The released files; each is read when asked for. Raises FileNotFoundError if there is no release."""

    def __init__(self, folder: Path) -> None:
        FILES.path(folder, "distributions", "color")
        self.folder = folder

    def tasks(self) -> tuple[str, ...]:
        """What the study can ask about."""
        return (*RELATIONS, "cooccurrence", "size")

    def counts(self, name: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Subjects in file order and their (n, c) float64 counts, of "color", "wiki-color", "coda", ...

        Raises DamagedError if the file does not hold a row of counts for each subject.
        """
        path = FILES.path(self.folder, "distributions", name)
        with parsing(path):
            content = parse_json(read_text(path))
            rows = np.array(list(content.values()), dtype=np.float64).reshape(len(content), -1)
        return tuple(content), rows

    def pairs(self, *place: str) -> list[Pair]:
        """Pairs of a file of db, in its order: pairs("color", "single", "test")."""
        rows = self._records("pairs", "/".join(place), ("sub", "obj", "alt"))
        return [Pair(*row) for row in rows]

    def templates(self, relation: str) -> tuple[str, ...]:
        """Sentences with [X] and [Y]."""
        return tuple(template for (template,) in self._records("prompts", relation, ("template",)))

    def words(self, relation: str) -> dict[str, tuple[str, ...]]:
        """{class: the words that count for it}."""
        words: dict[str, tuple[str, ...]] = {}
        for line in read_text(FILES.path(self.folder, "words", relation)).splitlines():
            word, _, target = (part.strip() for part in line.partition(":"))
            if word and target:
                words[target] = (*words.get(target, (target,)), word)
            elif word:
                words[word] = (word, *words.get(word, (word,))[1:])
        return words

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """{size: nouns}, from the smallest."""
        return {size: tuple(read_text(FILES.path(self.folder, "sizes", size)).split()) for size in SIZES}

    def dataset(self, relation: str) -> ItemSet:
        """The items of a relation.

        Color, shape and material have counts. The counts of cooccurrence were not released: it has the best
        object alone. Raises DamagedError if the files do not fit each other, or lack something.
        """
        name = "cooccur" if relation == "cooccurrence" else relation
        train, test = self.pairs(name, "train"), self.pairs(name, "test")
        pairs = [*train, *test]
        counts = None
        with parsing(self.folder):
            if relation in RELATIONS:
                words = RELATIONS[relation].words
                subjects, rows = self.counts(relation)
                place = {subject: i for i, subject in enumerate(subjects)}
                counts = rows[[place[pair.subject] for pair in pairs]].reshape(len(pairs), len(words))
            else:
                objects = [*self.words(name), *(p.best for p in pairs), *(p.other for p in pairs)]
                words = {word: (word,) for word in objects}
            number = {word: i for i, word in enumerate(words)}
            gold = np.array([number[pair.best] for pair in pairs])
        other = np.array([number.get(pair.other, -1) for pair in pairs])
        learned = np.arange(len(pairs)) < len(train)
        classes, names = tuple(words), tuple(pair.subject for pair in pairs)
        several = tuple(words.values())
        return ItemSet(relation, classes, several, names, gold, other, learned, counts, self.templates(name))

    def by_subject(self) -> dict[tuple[str, str, bool], dict[str, float]]:
        """The paper's ρ of its models by subject, average template: {(model, relation, tuned): {subject: ρ}}.

        Repeated rows count once.
        """
        rho_of: dict[tuple[str, str, bool], dict[str, float]] = {}
        with parsing(FILES.path(self.folder, "results", "pt_corrs")):
            for model, relation, subject, tuned, rho in self.table("pt_corrs"):
                rho_of.setdefault((model, relation, tuned == "True"), {})[subject] = float(rho)
        return rho_of

    def table(self, name: str) -> list[list[str]]:
        """Rows of one of the release's result tables, heads first: "heatmap_data", "size_sims", …"""
        return list(csv.reader(read_text(FILES.path(self.folder, "results", name)).splitlines()))

    def _records(self, kind: str, name: str, keys: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """The texts under these keys of each line of a file of JSON lines."""
        path = FILES.path(self.folder, kind, name)
        with parsing(path):
            return [tuple(str(record[key]) for key in keys) for record in _records(read_text(path))]


def _records(text: str) -> list[dict[str, Any]]:
    """What JSON lines hold."""
    return [parse_json(line) for line in text.split("\n") if line.strip()]


def coda_labels(folder: Path) -> dict[str, np.ndarray]:
    """{object: (11,) float64 shares of the colours} from annotations.jsonl and objects.jsonl, plain or .gz.

    Every rating is divided by its sum. While the rating that agrees least with an object's mean has a Kendall
    τ below 0 with it, it is left out. The mean of the others is the label.
    """
    paths = (CODA_FILES.path(folder, "coda", name) for name in ("objects", "annotations"))
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
