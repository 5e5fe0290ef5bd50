"""Distributions that simtown mined: a directory of Parquet tables, written once and read as data of the
study (``simtown probe visual mine``).

``mined.json`` says where it was counted and how, and lists the classes of each relation. ``TASK.parquet`` has
a row a subject: subject, train (bool), gold and other (class names); classes and counts (lists: numbers of
classes that were seen, how often).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, whole
from simtown.core.runs import RunRecord
from simtown.core.table_files import FLAG, INTEGERS, NUMBERS, TEXT, read_table
from simtown.core.version import __version__
from simtown.probes.corpus import Corpus
from simtown.probes.items import ItemSet
from simtown.probes.release_files import parsing
from simtown.probes.visual import MiningSettings, mining
from simtown.probes.visual.classes import COLOR, COOCCURRENCE_THRESHOLD, RELATIONS, SIZES, TEMPLATES
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease, coda_labels
from simtown.visualgenome.records import Attributes, Objects
from simtown.visualgenome.stream import Records

NAME = "mined.json"
_FORM = "simtown mined visual commonsense"


class _Relation(msgspec.Struct):
    classes: list[str]


class _Content(msgspec.Struct):
    """What is read of mined.json."""

    relations: dict[str, _Relation]


RECORD = RunRecord(NAME, _FORM, "simtown probe visual mine", frozenset(), 1, "mined data", _Content)
#: {relation: (classes, subjects, (n, c) counts)}.
Tables = dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]]
_COLUMNS = {"subject": TEXT, "train": FLAG, "gold": TEXT, "other": TEXT}
_COLUMNS |= {"classes": INTEGERS, "counts": NUMBERS}


def mine(
    settings: MiningSettings, out: Path, progress: Callable[[int], object] = lambda more: None
) -> dict[str, Any]:
    """Count, and write the directory; the content of mined.json.

    Args:
        settings: what is counted, and how.
        out: the directory, which must be new or empty.
        progress: receives numbers of bytes of annotations, or of phrases of text (which is read 3 times).

    Raises:
        ValueError: sources that do not go together, or nothing above the thresholds.
        DamagedError: a malformed record; it is named.
        ForeignDirectoryError: the directory has anything in it.
    """
    settings.check()
    options: Any = {"skip_bad": settings.skip_bad, "progress": progress}
    tables: Tables = {}
    bad = 0
    if settings.attributes:
        things = Records(settings.attributes, Attributes, **options)
        counts = mining.from_attributes(image.attributes for image in things)
        tables |= _above(counts, settings.threshold)
        bad += things.bad
    if graphs := settings.graphs:
        readers = []

        def images() -> Iterable[list[str]]:
            readers.append(Records(graphs, Objects, **options))
            return ([mining.noun_of(thing.text) for thing in image.objects] for image in readers[-1])

        tables |= _together(images, settings)
        bad += readers[-1].bad
    if settings.text and settings.subjects:
        corpus, nouns = Corpus(settings.text, **options), _subjects(settings.subjects)
        sentences = partial(corpus.sentences, punctuation=True)
        tables |= _above(mining.from_text(sentences(), nouns), settings.threshold or 0)
        tables |= _together(lambda: mining.windows(sentences(), nouns, settings.window), settings)
        bad += corpus.bad
    if settings.coda:
        labels = coda_labels(settings.coda)
        shares = np.zeros((len(labels), len(COLOR.classes)))
        shares[:, [COLOR.classes.index(c) for c in CODA_CLASSES]] = list(labels.values())
        tables["color"] = (COLOR.classes, list(labels), shares)
    if not tables:
        raise ValueError("nothing is above the thresholds: give more text or records, or a lower `threshold`")
    origin = {
        name: value.name if isinstance(value, Path) else value for name, value in vars(settings).items()
    }
    return _write(out, tables, {**origin, "bad_records": bad}, settings.seed)


def _above(counts_of: dict[str, mining.ClassCounts], threshold: int | None) -> Tables:
    """The subjects of each relation that has any above its threshold."""
    tables: Tables = {}
    for name, counts in counts_of.items():
        subjects, table = counts.kept(RELATIONS[name].threshold if threshold is None else threshold)
        if subjects:
            tables[name] = (RELATIONS[name].classes, subjects, table)
    return tables


def _together(images: Callable[[], Iterable[Sequence[str]]], settings: MiningSettings) -> Tables:
    """Co-occurrence, if any is above the threshold."""
    threshold = COOCCURRENCE_THRESHOLD if settings.threshold is None else settings.threshold
    nouns, table = mining.cooccurrence(images, threshold, ordered=settings.ordered)
    rows = np.flatnonzero(table.any(axis=1))
    return {"cooccurrence": (nouns, [nouns[i] for i in rows], table[rows])} if len(rows) else {}


def _subjects(folder: Path) -> set[str]:
    """Nouns of all relations of a release or a mined directory."""
    data = open_data(folder)
    if isinstance(data, Mined):
        return {subject for name in data.tasks() if name != "size" for subject in data.counts(name)[0]}
    pairs = [pair for part in ("train", "test") for pair in data.pairs("cooccur", part)]
    return {subject for name in RELATIONS for subject in data.counts(name)[0]} | {p.subject for p in pairs}


def split(n: int, seed: int | None) -> np.ndarray:
    """(n,) bool, four fifths of them train.

    Without a seed as released: by the running number, 8 of every 10 from the first.
    """
    if seed is None:
        return np.arange(n) % 10 < 8
    train = np.zeros(n, dtype=bool)
    train[np.random.default_rng(seed).permutation(n)[: round(0.8 * n)]] = True
    return train


def others(counts: np.ndarray, seed: int) -> np.ndarray:
    """(n,) int64: for each row a class at or below its median, drawn at random, to choose against."""
    drawn = np.random.default_rng(seed).random(counts.shape)
    weight = np.where(counts <= np.median(counts, axis=1, keepdims=True), drawn, -1.0)
    weight[np.arange(len(counts)), counts.argmax(axis=1)] = -2.0
    return weight.argmax(axis=1)


def _write(out: Path, tables: Tables, origin: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Write what was counted; the content of mined.json. `origin` says how it was counted."""
    marks = {"format": RECORD.form, "schema": RECORD.schema, "version": __version__}
    content: dict[str, Any] = {**marks, "seed": seed, "source": origin, "relations": {}}
    with whole(out, RECORD.command) as directory:
        for relation, (classes, subjects, counts) in tables.items():
            seen = [np.flatnonzero(row) for row in counts]
            rows = {
                "subject": list(subjects),
                "train": split(len(subjects), seed),
                "gold": [classes[i] for i in counts.argmax(axis=1)],
                "other": [classes[i] for i in others(counts, seed or 0)],
                "classes": seen,
                "counts": [row[i] for row, i in zip(counts, seen, strict=True)],
            }
            pq.write_table(pa.table(rows), directory / f"{relation}.parquet")
            summary = {"classes": list(classes), "subjects": len(subjects), "counted": float(counts.sum())}
            content["relations"][relation] = summary
        RECORD.save(directory, content)
    return content


class Mined:
    """A directory that :func:`mine` made; its readers raise DamagedError for a file that is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        content = RECORD.load(folder)
        self._classes = {name: tuple(entry["classes"]) for name, entry in content["relations"].items()}
        if unknown := self._classes.keys() - TEMPLATES.keys():
            raise DamagedError(f"{folder / NAME} has the unknown relation {min(unknown)!r}: fetch it again")

    def tasks(self) -> tuple[str, ...]:
        """Relations that it has, and size."""
        return (*self._classes, "size")

    def counts(self, relation: str) -> tuple[tuple[str, ...], np.ndarray]:
        """Subjects and their (n, c) float64 counts."""
        data = self.dataset(relation)
        assert data.counts is not None
        return data.subjects, data.counts

    def dataset(self, relation: str) -> ItemSet:
        """The items of a relation. Raises ValueError if the relation was not mined."""
        if relation not in self._classes:
            raise ValueError(f"{self.folder} has no {relation}: it has {', '.join(self.tasks())}")
        path = self.folder / f"{relation}.parquet"
        rows, classes = read_table(path, _COLUMNS), self._classes[relation]
        number = {c: i for i, c in enumerate(classes)}
        counts = np.zeros((rows.num_rows, len(classes)))
        lengths = pc.list_value_length(rows["classes"]).to_numpy()
        seen, times = (pc.list_flatten(rows[name]).to_numpy() for name in ("classes", "counts"))
        with parsing(path):
            counts[np.repeat(np.arange(rows.num_rows), lengths), seen] = times
            gold, other = (np.array([number[c] for c in rows[n].to_pylist()]) for n in ("gold", "other"))
        words = tuple(RELATIONS[relation].words[c] if relation in RELATIONS else (c,) for c in classes)
        subjects, train = tuple(rows["subject"].to_pylist()), rows["train"].to_numpy()
        return ItemSet(relation, classes, words, subjects, gold, other, train, counts, TEMPLATES[relation])

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """Nouns by size, Table 8's."""
        return SIZES

    def templates(self, relation: str) -> tuple[str, ...]:
        """Our own."""
        return TEMPLATES[relation]


def open_data(folder: Path) -> Mined | VisualRelease:
    """What simtown mined, or the paper's release."""
    return Mined(folder) if (folder / NAME).is_file() else VisualRelease(folder)
