"""Reading ViComTe as Zhang et al. (2022) released it: a clone of their repository, or its data folders side
by side.

:data:`FILES` lists where each kind of file lies in either. Any file may be packed with gzip.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import DamagedError
from simtown.probes.items import ItemSet
from simtown.probes.release_files import ReleaseFiles, read_text
from simtown.probes.visual.classes import RELATIONS, SIZES

#: CoDa's classes in the release: the colours but for silver.
CODA_CLASSES = tuple(c for c in RELATIONS["color"].classes if c != "silver")
#: Where the files lie: first in a clone, then with the data folders side by side.
FILES = ReleaseFiles(
    "github.com/ChenyuHeidiZhang/VL-commonsense",
    {
        # counts of classes by subject; CoDa's labels
        "distributions": (
            "mine-data/distributions/{}-dist.jsonl",
            "distributions/{}-dist.json",
            "distributions/{}-dist.jsonl",
        ),
        # subjects with the best class and a wrong one, by split and group
        "pairs": ("mine-data/db/{}.jsonl", "db/{}.jsonl"),
        # words of the classes; nouns by size
        "words": ("mine-data/words/{}-words.txt", "words/{}-words.txt"),
        "sizes": ("mine-data/size_db/{}-words.txt", "size_db/{}-words.txt"),
        # templates
        "prompts": ("soft-prompts/prompts/vl/{}.jsonl", "prompts/{}.jsonl"),
        # the paper's own results
        "results": ("{}.csv", "soft-prompts/{}.csv", "probing/{}.csv", "reference-results/{}.csv"),
    },
)


@dataclass(frozen=True)
class Pair:
    """A subject with two classes.

    Attributes:
        subject: a noun.
        best: the class that fits it best.
        other: a class that does not fit.
    """

    subject: str
    best: str
    other: str


class VisualRelease:
    """The released files; each is read when asked for.

    Raises:
        FileNotFoundError: `folder` holds no release.
    """

    def __init__(self, folder: Path) -> None:
        FILES.path(folder, "distributions", "color")
        self.folder = folder

    def _path(self, kind: str, name: str) -> Path:
        return FILES.path(self.folder, kind, name)

    def tasks(self) -> tuple[str, ...]:
        """What the study can ask about."""
        return (*RELATIONS, "cooccurrence", "size")

    def counts(self, name: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Subjects in file order and their (n, c) float64 counts.

        Args:
            name: "color", "wiki-color", "coda", ...

        Raises:
            DamagedError: the file does not hold a row of counts for each subject.
        """
        path = self._path("distributions", name)
        text = read_text(path)
        try:
            content = json.loads(text)
            subjects, rows = tuple(map(str, content)), np.array(list(content.values()), dtype=np.float64)
            if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all() or (rows < 0).any():
                raise ValueError("not a row of counts for each subject")
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise DamagedError(
                f"{path} must hold a list of counts for each subject ({error}): fetch it again"
            ) from error
        return subjects, rows

    def pairs(self, *place: str) -> list[Pair]:
        """Pairs of a file of db, in its order: pairs("color", "single", "test")."""
        path = self._path("pairs", "/".join(place))
        return [
            Pair(*(_field(row, key, path, i) for key in ("sub", "obj", "alt")))
            for i, row in enumerate(_rows(path), start=1)
        ]

    def templates(self, relation: str) -> tuple[str, ...]:
        """Sentences with [X] and [Y].

        Raises:
            DamagedError: a template has not one [X] and one [Y].
        """
        path = self._path("prompts", relation)
        templates = tuple(_field(row, "template", path, i) for i, row in enumerate(_rows(path), start=1))
        for template in templates:
            if template.count("[X]") != 1 or template.count("[Y]") != 1:
                raise DamagedError(f"{path}: the template '{template[:60]}' must have one [X] and one [Y]")
        return templates

    def words(self, relation: str) -> dict[str, tuple[str, ...]]:
        """{class: the words that count for it}."""
        path = self._path("words", relation)
        words: dict[str, tuple[str, ...]] = {}
        for line in read_text(path).split("\n"):
            word, _, target = (part.strip() for part in line.partition(":"))
            if word and target:
                words[target] = (*words.get(target, (target,)), word)
            elif word:
                words[word] = (word, *words.get(word, (word,))[1:])
        return words

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """{size: nouns}, from the smallest."""
        return {size: tuple(read_text(self._path("sizes", size)).split()) for size in SIZES}

    def dataset(self, relation: str) -> ItemSet:
        """The items of a relation.

        Color, shape and material have counts. The counts of cooccurrence were not released: it has the best
        object alone.

        Raises:
            DamagedError: the files do not fit each other, or lack something.
        """
        name = "cooccur" if relation == "cooccurrence" else relation
        train, test = self.pairs(name, "train"), self.pairs(name, "test")
        pairs = [*train, *test]
        if not train or not test or not self.templates(name):
            raise DamagedError(
                f"{self.folder} has no templates of {relation}, or no subjects to train on or test with: "
                "fetch the release again"
            )
        if relation in RELATIONS:
            words = RELATIONS[relation].words
        else:
            words = {
                word: (word,)
                for word in dict.fromkeys(
                    [*self.words(name), *(p.best for p in pairs), *(p.other for p in pairs)]
                )
            }
        classes = {c: i for i, c in enumerate(words)}
        counts: np.ndarray | None = None
        if relation in RELATIONS:
            subjects, rows = self.counts(relation)
            place = {s: i for i, s in enumerate(subjects)}
            missing = [p.subject for p in pairs if p.subject not in place]
            if missing or rows.shape[1] != len(classes):
                lacks = (
                    f"no counts of '{missing[0][:60]}'"
                    if missing
                    else f"{rows.shape[1]} counts for each subject, not {len(classes)}"
                )
                raise DamagedError(
                    f"{self._path('distributions', relation)} has {lacks}: fetch the release again"
                )
            counts = rows[[place[p.subject] for p in pairs]]
        for pair in pairs:
            if pair.best not in classes:
                raise DamagedError(
                    f"{self.folder}: '{pair.best[:60]}', the best {relation} of '{pair.subject[:60]}', is "
                    f"no {relation} of the study"
                )
        return ItemSet(
            relation=relation,
            classes=tuple(classes),
            words=tuple(words.values()),
            subjects=tuple(p.subject for p in pairs),
            gold=np.array([classes[p.best] for p in pairs]),
            other=np.array([classes.get(p.other, -1) for p in pairs]),
            train=np.arange(len(pairs)) < len(train),
            counts=counts,
            templates=self.templates(name),
        )

    def by_subject(self) -> dict[tuple[str, str, bool], dict[str, float]]:
        """The paper's ρ of its models by subject, average template: {(model, relation, tuned): {subject: ρ}}.

        Repeated rows count once.

        Raises:
            DamagedError: a line of the table has another form.
        """
        path = self._path("results", "pt_corrs")
        rho_of: dict[tuple[str, str, bool], dict[str, float]] = {}
        for row in _table(path):
            try:
                model, relation, subject, tuned, rho = row
                rho_of.setdefault((model, relation, tuned == "True"), {})[subject] = _finite(rho)
            except ValueError as error:
                raise DamagedError(
                    f"{path}: each line must be model, relation, subject, True or False, ρ ({error})"
                ) from error
        return rho_of

    def table(self, name: str) -> list[list[str]]:
        """Rows of another of the release's result tables, heads first:

        "heatmap_data", "size_sims", "file-cls", "pt_corrs_sm".
        """
        return _table(self._path("results", name))


def _table(path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(read_text(path).splitlines()))
    except csv.Error as error:
        raise DamagedError(f"{path} is no table of text ({error}): fetch it again") from error


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _rows(path: Path) -> list[Any]:
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise DamagedError(f"{path}: line {number} is not JSON ({error})") from error
    return rows


def _field(row: Any, key: str, path: Path, number: int) -> str:
    if not isinstance(row, dict) or not isinstance(row.get(key), str):
        raise DamagedError(f"{path}: row {number} has no text called '{key}'")
    return str(row[key])
