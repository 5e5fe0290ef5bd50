"""From annotations, text or ratings to a directory of distributions: ``simtown probe visual mine``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtown.probes.corpus import Corpus
from simtown.probes.visual import coda, mined, mining
from simtown.probes.visual.classes import COLOR, COOCCURRENCE_THRESHOLD, RELATIONS
from simtown.probes.visual.release import CODA_CLASSES, VisualRelease
from simtown.visualgenome import records

#: Times that text is read: for attributes, for nouns, for their pairs.
_PASSES = 3


@dataclass(frozen=True)
class MiningSettings:
    """What is counted, and how.

    Attributes:
        attributes: attributes.json.
        graphs: scene_graphs.json or objects.json.
        text: a corpus; needs subjects.
        coda: CoDa's data folder.
        subjects: a release or a mined directory whose subjects are looked for in text.
        threshold: counts at or below it are taken for zero; None: the paper's, and 0 for text.
        ordered: co-occurrence as the release counts it.
        window: words of text in which nouns co-occur.
        seed: of the split and of the wrong classes; None: the split by running number.
        skip_bad: pass over malformed records.
    """

    attributes: Path | None = None
    graphs: Path | None = None
    text: Path | None = None
    coda: Path | None = None
    subjects: Path | None = None
    threshold: int | None = None
    ordered: bool = False
    window: int = 10
    seed: int | None = None
    skip_bad: bool = False

    def check(self) -> None:
        """Raises ValueError if the sources do not go together."""
        if not any((self.attributes, self.graphs, self.text, self.coda)):
            raise ValueError("give `attributes`, `graphs`, `text` or `coda`: something to count in")
        if sum((bool(self.attributes or self.graphs), bool(self.text), bool(self.coda))) > 1:
            raise ValueError("annotations, text and ratings are different sources: give a directory to each")
        if self.text and not self.subjects:
            raise ValueError(
                "`text` needs `subjects`: a ViComTe release or a mined directory whose nouns to look for"
            )
        if self.threshold is not None and self.threshold < 0:
            raise ValueError(f"threshold must be at least 0, not {self.threshold}")
        if self.window < 2:
            raise ValueError(f"window must be at least 2 tokens, not {self.window}")

    def work(self) -> tuple[int, str]:
        """How much `progress` receives in all, and in what: bytes of annotations, or sentences of text.

        A text is read once for this.
        """
        if self.text:
            return _PASSES * sum(
                1 for _ in Corpus(self.text, skip_bad=self.skip_bad).sentences(punctuation=True)
            ), "sentences"
        return sum(
            times * p.stat().st_size for p, times in ((self.attributes, 1), (self.graphs, 2)) if p
        ), "bytes"


def mine(
    settings: MiningSettings, out: Path, progress: Callable[[int], object] | None = None
) -> dict[str, Any]:
    """Count, and write the directory; the content of mined.json.

    Raises:
        ValueError: sources that do not go together, or nothing above the thresholds.
        DamagedError: a malformed record; it is named.
        ForeignDirectoryError: the directory has anything in it.
    """
    settings.check()
    origin: dict[str, Any] = {
        key: value.name if isinstance(value, Path) else value for key, value in vars(settings).items()
    }
    tables: dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]] = {}
    bad = 0
    if settings.attributes:
        things = records.attributes(settings.attributes, skip_bad=settings.skip_bad, progress=progress)
        tables |= _kept(mining.from_attributes(image.attributes for image in things), settings.threshold)
        bad += things.bad
    if settings.graphs:
        graphs = settings.graphs

        def images() -> Iterable[list[str]]:
            nonlocal bad
            read = records.objects(graphs, skip_bad=settings.skip_bad, progress=progress)
            for image in read:
                yield [mining.noun_of(thing.text) for thing in image.objects]
            bad = read.bad

        _add_cooccurrence(
            tables,
            images,
            COOCCURRENCE_THRESHOLD if settings.threshold is None else settings.threshold,
            settings.ordered,
        )
    if settings.text and settings.subjects:
        corpus = Corpus(settings.text, skip_bad=settings.skip_bad)
        nouns = _subjects(settings.subjects)
        tables |= _kept(mining.from_text(_counted(corpus, progress), nouns), settings.threshold or 0)
        _add_cooccurrence(
            tables,
            lambda: mining.windows(_counted(corpus, progress), nouns, settings.window),
            COOCCURRENCE_THRESHOLD if settings.threshold is None else settings.threshold,
            settings.ordered,
        )
        bad += corpus.bad
    if settings.coda:
        labels = coda.labels(settings.coda)
        shares = np.zeros((len(labels), len(COLOR.classes)))
        shares[:, [COLOR.classes.index(c) for c in CODA_CLASSES]] = list(labels.values())
        tables["color"] = (COLOR.classes, list(labels), shares)
    if not tables:
        raise ValueError("nothing is above the thresholds: give more text or records, or a lower `threshold`")
    return mined.write(out, tables, {**origin, "bad_records": bad}, settings.seed)


def _counted(corpus: Corpus, progress: Callable[[int], object] | None) -> Iterable[list[str]]:
    for sentence in corpus.sentences(punctuation=True):
        yield sentence
        if progress is not None:
            progress(1)


def _kept(
    found: dict[str, mining.ClassCounts], threshold: int | None
) -> dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]]:
    tables: dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]] = {}
    for name, counts in found.items():
        subjects, table = counts.kept(RELATIONS[name].threshold if threshold is None else threshold)
        if subjects:
            tables[name] = (RELATIONS[name].classes, subjects, table)
    return tables


def _add_cooccurrence(
    tables: dict[str, tuple[Sequence[str], Sequence[str], np.ndarray]],
    images: Callable[[], Iterable[Sequence[str]]],
    threshold: int,
    ordered: bool,
) -> None:
    nouns, table = mining.cooccurrence(images, threshold, ordered=ordered)
    rows = np.flatnonzero(table.any(axis=1))
    if len(rows):
        tables["cooccurrence"] = (nouns, [nouns[i] for i in rows], table[rows])


def _subjects(folder: Path) -> set[str]:
    """Nouns of all relations of a release or a mined directory."""
    from simtown.probes.visual.study import open_data

    data = open_data(folder)
    names = [n for n in (*RELATIONS, "cooccurrence") if n in data.tasks()]
    if isinstance(data, VisualRelease):
        return {s for n in RELATIONS for s in data.counts(n)[0]} | {
            p.subject for part in ("train", "test") for p in data.pairs("cooccur", part)
        }
    return {s for n in names for s in data.counts(n)[0]}
