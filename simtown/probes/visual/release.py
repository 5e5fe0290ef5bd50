"""Reading ViComTe as Zhang et al. (2022) released it: a clone of their repository, or its data folders side by side.

========================== =========================== ==================================================================
in a clone                 side by side                content
========================== =========================== ==================================================================
mine-data/distributions    distributions               counts of classes by subject; CoDa's labels
mine-data/db               db                          subjects with the best class and a wrong one, split, by group
mine-data/words            words                       words of the classes
mine-data/size_db          size_db                     nouns by size
soft-prompts/prompts/vl    prompts                     templates
(the top)                  reference-results           the paper's own results by subject
========================== =========================== ==================================================================

Any file may be packed with gzip.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import DamagedError
from simtown.probes.visual.classes import RELATIONS, SIZES
from simtown.probes.visual.dataset import Dataset

#: CoDa's classes in the release: the colours but for silver.
CODA_CLASSES = tuple(c for c in RELATIONS["color"].classes if c != "silver")
_MADE = {"mine-data": ("mine-data", "soft-prompts/prompts/vl", ""), "distributions": ("", "prompts", "reference-results")}


@dataclass(frozen=True)
class Pair:
    """A subject, the class that fits it best, and a class that does not fit."""

    subject: str
    best: str
    other: str


class Release:
    """The released files; each is read when asked for. Raises FileNotFoundError where `folder` holds no release."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for mark, (data, prompts, results) in _MADE.items():
            if (folder / mark).is_dir():
                self._data, self._prompts, self._results = folder / data, folder / prompts, folder / results
                return
        raise FileNotFoundError(f"{folder} holds no ViComTe (neither mine-data nor distributions): give a clone of github.com/Chenyu"
                                "HeidiZhang/VL-commonsense, or a directory made by simtown probe visual mine")  # fmt: skip

    def tasks(self) -> tuple[str, ...]:
        """What the study can ask about."""
        return (*RELATIONS, "cooccurrence", "size")

    def counts(self, name: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Subjects in file order and their (n, c) float64 counts. name: "color", "wiki-color", "coda", ..."""
        path = _found(self._data / "distributions", f"{name}-dist", ".json", ".jsonl")
        try:
            content = json.loads(_text(path))
            subjects, rows = tuple(map(str, content)), np.array(list(content.values()), dtype=np.float64)
            if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all() or (rows < 0).any():
                raise ValueError("not a row of counts for each subject")
        except (ValueError, TypeError, AttributeError) as error:
            raise DamagedError(f"{path} is no table of counts by subject ({error})") from error
        return subjects, rows

    def pairs(self, *place: str) -> list[Pair]:
        """Pairs of a file of db, in its order: pairs("color", "single", "test")."""
        *folders, name = place
        path = _found(self._data.joinpath("db", *folders), name, ".jsonl")
        return [Pair(*(_field(row, key, path, i) for key in ("sub", "obj", "alt"))) for i, row in enumerate(_rows(path), start=1)]

    def templates(self, relation: str) -> tuple[str, ...]:
        """Sentences with [X] and [Y]."""
        path = _found(self._prompts, relation, ".jsonl")
        found = tuple(_field(row, "template", path, i) for i, row in enumerate(_rows(path), start=1))
        for template in found:
            if template.count("[X]") != 1 or template.count("[Y]") != 1:
                raise DamagedError(f"{path}: '{template}' must have one [X] and one [Y]")
        return found

    def words(self, relation: str) -> dict[str, tuple[str, ...]]:
        """{class: the words that count for it}."""
        path = _found(self._data / "words", f"{relation}-words", ".txt")
        found: dict[str, tuple[str, ...]] = {}
        for line in _text(path).split("\n"):
            word, _, target = (part.strip() for part in line.partition(":"))
            if word and target:
                found[target] = (*found.get(target, (target,)), word)
            elif word:
                found[word] = (word, *found.get(word, (word,))[1:])
        return found

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """{size: nouns}, from the smallest."""
        return {size: tuple(_text(_found(self._data / "size_db", f"{size}-words", ".txt")).split()) for size in SIZES}

    def dataset(self, relation: str) -> Dataset:
        """Color, shape, material with their counts; cooccurrence with the best object alone, for its counts were not released."""
        name = "cooccur" if relation == "cooccurrence" else relation
        train, test = self.pairs(name, "train"), self.pairs(name, "test")
        both = [*train, *test]
        if relation in RELATIONS:
            words = RELATIONS[relation].words
        else:
            words = {word: (word,) for word in dict.fromkeys([*self.words(name), *(p.best for p in both), *(p.other for p in both)])}
        classes = {c: i for i, c in enumerate(words)}
        counts: np.ndarray | None = None
        if relation in RELATIONS:
            subjects, rows = self.counts(relation)
            place = {s: i for i, s in enumerate(subjects)}
            missing = [p.subject for p in both if p.subject not in place]
            if missing or rows.shape[1] != len(classes):
                raise DamagedError(f"{self.folder}: the {relation} counts lack {missing[0] if missing else 'classes'}")
            counts = rows[[place[p.subject] for p in both]]
        for pair in both:
            if pair.best not in classes:
                raise DamagedError(f"{self.folder}: {relation} has no class '{pair.best}' ({pair.subject})")
        return Dataset(
            relation=relation, classes=tuple(classes), words=tuple(words.values()), subjects=tuple(p.subject for p in both),
            gold=np.array([classes[p.best] for p in both]), other=np.array([classes.get(p.other, -1) for p in both]),
            train=np.arange(len(both)) < len(train), counts=counts, templates=self.templates(name),
        )  # fmt: skip

    def by_subject(self) -> dict[tuple[str, str, bool], dict[str, float]]:
        """The paper's ρ of its models by subject, average template: {(model, relation, tuned): {subject: ρ}}. Repeated rows count once."""
        path = _found(self._results, "pt_corrs", ".csv")
        found: dict[tuple[str, str, bool], dict[str, float]] = {}
        for row in csv.reader(_text(path).splitlines()):
            try:
                model, relation, subject, tuned, rho = row
                found.setdefault((model, relation, tuned == "True"), {})[subject] = float(rho)
            except ValueError as error:
                raise DamagedError(f"{path} is no table of model, relation, subject, tuned, ρ ({error})") from error
        return found

    def table(self, name: str) -> list[list[str]]:
        """Rows of another of the release's result tables, heads first: "heatmap_data", "size_sims", "file-cls", "pt_corrs_sm"."""
        return list(csv.reader(_text(_found(self._results, name, ".csv")).splitlines()))


def _found(folder: Path, name: str, *ends: str) -> Path:
    for end in ends:
        for path in (folder / f"{name}{end}", folder / f"{name}{end}.gz"):
            if path.is_file():
                return path
    raise FileNotFoundError(f"{folder} has no {name}{ends[0]}")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedError(f"{path} is damaged ({error}): fetch it again") from error


def _rows(path: Path) -> list[Any]:
    rows = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise DamagedError(f"{path} line {number} is no JSON ({error})") from error
    return rows


def _field(row: Any, key: str, path: Path, number: int) -> str:
    if not isinstance(row, dict) or not isinstance(row.get(key), str):
        raise DamagedError(f"{path}: row {number} has no '{key}'")
    return str(row[key])
