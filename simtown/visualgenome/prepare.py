"""From a file of relationships to clean triples and their counts (section 6.1), as Parquet in a directory.

=================== ======================================================================================
file                columns
=================== ======================================================================================
prepared.json       settings, the source, and how many statements were read, dropped and kept
triples.parquet     image, relationship, subject_id, object_id (int64); subject, predicate, object (text);
                    subject_box, object_box (4 float32: x, y, w, h in pixels): one row a statement, in the
                    file's order
counts.parquet      subject, predicate, object, count: one row a distinct triple, most frequent first
predicates.parquet  predicate, count, kept: every clean predicate, also those below the threshold, most
                    frequent first
entities.parquet    entity, subject, object: how often each is stated as the one and as the other, most
                    frequent first
=================== ======================================================================================

The file is read once. Statements stay in memory as numbers, 76 bytes each (175 MB for all of Visual Genome),
and each different string is cleaned once. Published counts (:mod:`simtown.visualgenome.published`) give the
same directory without triples.parquet.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, replacing
from simtown.core.runs import RunRecord
from simtown.core.table_files import FLAG, INTEGER, TEXT, read_table
from simtown.core.untrusted import open_regular
from simtown.core.version import __version__
from simtown.visualgenome import clean, published, records
from simtown.visualgenome.clean_settings import STEPS, PrepareSettings

NAME = "prepared.json"
TRIPLES, COUNTS = "triples.parquet", "counts.parquet"
PREDICATES, ENTITIES = "predicates.parquet", "entities.parquet"
#: Columns of each table.
_TABLES: dict[str, dict[str, pa.DataType]] = {
    TRIPLES: {
        **dict.fromkeys(("image", "relationship", "subject_id", "object_id"), INTEGER),
        **dict.fromkeys(("subject", "predicate", "object"), TEXT),
        **dict.fromkeys(("subject_box", "object_box"), pa.list_(pa.float32(), 4)),
    },
    COUNTS: {**dict.fromkeys(("subject", "predicate", "object"), TEXT), "count": INTEGER},
    PREDICATES: {"predicate": TEXT, "count": INTEGER, "kept": FLAG},
    ENTITIES: {"entity": TEXT, "subject": INTEGER, "object": INTEGER},
}
RECORD = RunRecord(
    NAME,
    "simtown visual genome",
    "simtown vg prepare",
    frozenset({NAME, *_TABLES}),
    schema=1,
    what="statements",
)
#: Statements in a row group of triples.parquet.
GROUP = 1 << 17
#: Rows of Table 1 by the released file that holds them: name in the table, the reader, and how many a record
#: has.
FURTHER: dict[str, tuple[str, Callable[..., Any], Callable[[Any], int]]] = {
    "image_data": ("images", records.image_data, lambda record: 1),
    "region_descriptions": ("regions", records.regions, lambda record: len(record.regions)),
    "question_answers": ("questions", records.questions, lambda record: len(record.qas)),
    "objects": ("objects", records.objects, lambda record: len(record.objects)),
    "attributes": (
        "attributes",
        records.attributes,
        lambda record: sum(len(thing.attributes or ()) for thing in record.attributes),
    ),
}


def prepare(
    source: Path,
    directory: Path,
    settings: PrepareSettings | None = None,
    *,
    further: Iterable[Path] = (),
    skip_bad: bool = False,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Prepare relationships.json or scene_graphs.json, or a folder of published counts.

    Returns the content of prepared.json.

    Args:
        source: the file, packed or not, or the folder.
        directory: to write.
        settings: of the preprocessing; None: the defaults.
        further: other released files to count for Table 1; their names say which they are.
        skip_bad: pass over malformed records and count them.
        progress: receives numbers of bytes that were read from disk.

    Raises:
        ValueError: a setting is out of range, a file's name does not say what it is, or nothing is stated.
        DamagedError: a record or table is malformed.
        ForeignDirectoryError: the directory holds something else, or was prepared from another source or with
            other settings.
    """
    settings = settings or PrepareSettings()
    settings.check()
    settings = replace(settings, steps=tuple(step for step in STEPS if step in settings.steps))
    counted = [(path, _kind(path)) for path in further]
    if not source.exists():
        raise FileNotFoundError(
            f"there is no {source}: give Visual Genome's relationships.json, or a folder of published counts"
        )
    described = {
        "name": source.name,
        "bytes": None if source.is_dir() else source.stat().st_size,
        "skip_bad": skip_bad,
        "further": {kind: [path.name, path.stat().st_size] for path, kind in counted},
        "sha256": _digest([*_files(source), *(path for path, _ in counted)]),
    }
    fresh = {
        "simtown": __version__,
        "choices": {**asdict(settings), "steps": list(settings.steps)},
        "source": described,
    }
    with RECORD.opened(directory, fresh, _requirements, save=False) as content:
        if "table1" in content:
            return content
        more, bad, first_bad = _count_further(counted, skip_bad, progress)
        if source.is_dir():
            content |= _from_counts(source, directory, settings)
        else:
            content |= _from_file(source, directory, settings, skip_bad, progress)
        content["table1"] |= more
        content["bad_records"] += bad
        content["first_bad"] = content["first_bad"] or first_bad
        RECORD.save(directory, content)  # last: a directory with this file is whole
    return content


def load(directory: Path) -> dict[str, Any]:
    """What prepared.json says. Raises FileNotFoundError, DamagedError or ForeignDirectoryError."""
    return RECORD.load(directory)


def read(directory: Path, name: str, columns: list[str] | None = None) -> pa.Table:
    """A table of a prepared directory. Raises FileNotFoundError or DamagedError."""
    path = directory / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: run simtown vg prepare again with another --out, from relationships.json if "
            "you gave published counts"
        )
    kinds = _TABLES[name]
    try:
        return read_table(path, {column: kinds[column] for column in columns or kinds})
    except (DamagedError, OSError) as error:
        raise DamagedError(f"{error}: prepare again") from error


def _requirements(content: Mapping[str, Any]) -> dict[str, str]:
    """What has to be the same for a directory that is prepared to be taken as it is, in words."""
    source = content["source"]
    size = "" if source["bytes"] is None else f" of {source['bytes']} bytes"
    further = ", ".join(f"{name} of {size} bytes" for name, size in source["further"].values())
    return {
        "source": f"{source['name']}{size}",
        "`skip_bad`": str(source["skip_bad"]),
        "`further`": further or "none",
        "SHA-256 of the files": str(source.get("sha256")),
        **{f"`{key}`": _in_words(value) for key, value in content["choices"].items()},
    }


def _in_words(choice: Any) -> str:
    return ",".join(choice) if isinstance(choice, list) else str(choice)


def _files(source: Path) -> list[Path]:
    """The file, or the tables of a folder of published counts."""
    if not source.is_dir():
        return [source]
    return list(published.tables(source).values())


def _digest(paths: Iterable[Path]) -> str:
    """SHA-256 of the files' contents."""
    digest = sha256()
    for path in paths:
        with open_regular(path) as file:
            digest.update(file_digest(file, "sha256").digest())  # type: ignore[arg-type]
    return digest.hexdigest()


def _kind(path: Path) -> str:
    """Which of :data:`FURTHER` a file is, by its name."""
    kind = next((kind for kind in FURTHER if kind in path.name), None)
    if kind is None:
        raise ValueError(f"`further` {path} is not counted: its name must hold one of {', '.join(FURTHER)}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return kind


def _count_further(
    further: Iterable[tuple[Path, str]], skip_bad: bool, progress: Callable[[int], object] | None
) -> tuple[dict[str, int], int, str]:
    """Counts for Table 1, how many records were passed over, and what was wrong with the first of them."""
    counts, bad, first_bad = {}, 0, ""
    for path, kind in further:
        name, reader, size = FURTHER[kind]
        items = reader(path, skip_bad=skip_bad, progress=progress)
        counts[name] = sum(map(size, items))
        bad, first_bad = bad + items.bad, first_bad or items.first_bad
    return counts, bad, first_bad


# from the files


class _Codes(dict[str, int]):
    """Numbers strings in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def _from_file(
    source: Path,
    directory: Path,
    settings: PrepareSettings,
    skip_bad: bool,
    progress: Callable[[int], object] | None,
) -> dict[str, Any]:
    graphs = records.graphs(source, skip_bad=skip_bad, progress=progress)
    entities, predicates = _Codes(), _Codes()
    listed = 0
    numbers, codes, boxes = array("q"), array("i"), array("f")
    for graph in graphs:
        listed += len(graph.relationships)
        for relation, s, o in graph.statements():
            numbers.extend((graph.image, relation.number, s.number, o.number))
            codes.extend((entities[s.text], predicates[relation.predicate], entities[o.text]))
            boxes.extend((s.x, s.y, s.w, s.h, o.x, o.y, o.w, o.h))
    if not codes:
        raise ValueError(
            f"{source} states no relationships: give Visual Genome's relationships.json or scene_graphs.json"
        )
    ids = np.frombuffer(numbers, dtype=np.int64).reshape(-1, 4)
    raw = np.frombuffer(codes, dtype=np.int32).reshape(-1, 3)
    corners = np.frombuffer(boxes, dtype=np.float32).reshape(-1, 8)
    stated = len(raw)

    words = clean.word_counts([*_uses(entities, raw[:, ::2]), *_uses(predicates, raw[:, 1])])
    cleaner = clean.Cleaner(clean.steps(settings.steps, words))
    entity_names, entity_of = _cleaned(entities, cleaner.entity)
    predicate_names, predicate_of = _cleaned(predicates, cleaner.predicate)
    triples = np.stack([entity_of[raw[:, 0]], predicate_of[raw[:, 1]], entity_of[raw[:, 2]]], axis=1)
    rows = complete = np.flatnonzero((triples >= 0).all(axis=1))
    if settings.once:
        rows = complete[_first_of_each(ids[complete], triples[complete, 1])]
    counts = np.bincount(triples[rows, 1], minlength=len(predicate_names))
    kept = rows[counts[triples[rows, 1]] >= settings.least]

    names = (entity_names, predicate_names, entity_names)
    _write_triples(directory, ids[kept], triples[kept], names, corners[kept])
    _write_counts(directory, _distinct(triples[kept], names))
    _write_predicates(directory, dict(zip(predicate_names, counts.tolist(), strict=True)), settings.least)
    return {
        "table1": {"images": graphs.good, "relationships": stated},
        "statements": {
            "stated": listed,
            "without_an_end": listed - stated,
            "emptied": stated - len(complete),
            "repeated": len(complete) - len(rows),
            "rare": len(rows) - len(kept),
            "kept": len(kept),
        },
        "bad_records": graphs.bad,
        "first_bad": graphs.first_bad,
        "bytes_read": graphs.read,
    }


def _uses(codes: Mapping[str, int], used: np.ndarray) -> Iterable[tuple[str, int]]:
    """How often each string was used."""
    return zip(codes, np.bincount(used.ravel(), minlength=len(codes)).tolist(), strict=True)


def _cleaned(codes: Mapping[str, int], function: Callable[[str], str]) -> tuple[list[str], np.ndarray]:
    """The different clean strings, and (n,) int32: for every raw code the number of its clean string.

    -1 where nothing is left.
    """
    numbers = _Codes()
    of = [numbers[text] if (text := function(raw)) else -1 for raw in codes]
    return list(numbers), np.array(of, dtype=np.int32)


def _first_of_each(ids: np.ndarray, predicates: np.ndarray) -> np.ndarray:
    """The rows, in order, that state something of two things of an image for the first time."""
    image, _, subject, obj = ids.T
    unnumbered = (subject < 0) | (obj < 0)
    subject = np.where(unnumbered, -1 - np.arange(len(ids)), subject)  # all different
    keys = np.stack([image, subject, obj, predicates], axis=1)
    first: np.ndarray = np.unique(keys, axis=0, return_index=True)[1]
    return np.sort(first)


def _distinct(triples: np.ndarray, names: tuple[list[str], ...]) -> dict[tuple[str, str, str], int]:
    """Distinct triples with their counts."""
    shape = tuple(max(len(column), 1) for column in names)
    keys, counts = np.unique(np.ravel_multi_index(tuple(triples.T), shape), return_counts=True)
    codes = (code.tolist() for code in np.unravel_index(keys, shape))
    subjects, predicates, objects = (
        [column[code] for code in coded] for column, coded in zip(names, codes, strict=True)
    )
    return dict(zip(zip(subjects, predicates, objects, strict=True), counts.tolist(), strict=True))


def _write_triples(
    directory: Path,
    ids: np.ndarray,
    triples: np.ndarray,
    names: tuple[list[str], ...],
    boxes: np.ndarray,
) -> None:
    kinds = {
        name: pa.dictionary(pa.int32(), TEXT) if kind == TEXT else kind
        for name, kind in _TABLES[TRIPLES].items()
    }
    dictionaries = [pa.array(column, TEXT) for column in names]
    with (
        replacing(directory / TRIPLES) as target,
        pq.ParquetWriter(target, pa.schema(kinds), compression="zstd") as writer,
    ):
        for begin in range(0, len(ids), GROUP):
            group = slice(begin, begin + GROUP)
            columns = [pa.array(column) for column in ids[group].T]
            for codes, dictionary in zip(triples[group].T, dictionaries, strict=True):
                columns.append(pa.DictionaryArray.from_arrays(pa.array(codes), dictionary))
            for box in (boxes[group, :4], boxes[group, 4:]):
                columns.append(pa.FixedSizeListArray.from_arrays(pa.array(box.ravel()), 4))
            writer.write_table(pa.table(columns, schema=pa.schema(kinds)))


# from published counts


def _from_counts(source: Path, directory: Path, settings: PrepareSettings) -> dict[str, Any]:
    paths = published.tables(source)
    missing = [name for name in published.NEEDED if name not in paths]
    if missing:
        raise FileNotFoundError(
            f"{source} holds no {missing[0]}.tsv: give a folder of published counts, or relationships.json "
            "itself"
        )
    stated = published.predicates(paths["relations_count"])
    stated_triples = published.triples(paths["triples_150x50"])
    entities: Counter[str] = Counter()
    for (s, _, o), n in stated_triples.items():
        entities[s] += n
        entities[o] += n
    words = clean.word_counts([*stated.items(), *entities.items()])
    cleaner = clean.Cleaner(clean.steps(settings.steps, words))
    predicates: Counter[str] = Counter()
    for text, n in stated.items():
        predicates[cleaner.predicate(text)] += n
    emptied = predicates.pop("", 0)
    triples: Counter[tuple[str, str, str]] = Counter()
    for triple, n in stated_triples.items():
        whole = cleaner(clean.Triple(*triple))
        if whole is not None and predicates[whole.predicate] >= settings.least:
            triples[whole] += n
    _write_counts(directory, triples)
    _write_predicates(directory, predicates, settings.least)
    total = sum(stated.values())
    kept = sum(n for n in predicates.values() if n >= settings.least)
    table1 = {
        name: sum(published.counts(paths[f"{name}_count"]).values())
        for name in ("objects", "attributes")
        if f"{name}_count" in paths
    }
    return {
        "table1": {"relationships": total, **table1},
        "statements": {
            "stated": total,
            "without_an_end": 0,
            "emptied": emptied,
            "repeated": 0,
            "rare": total - emptied - kept,
            "kept": kept,
        },
        "bad_records": 0,
        "first_bad": "",
        "bytes_read": sum(path.stat().st_size for path in paths.values()),
    }


# what both write


def _write(directory: Path, name: str, rows: list[tuple[Any, ...]]) -> None:
    kinds = _TABLES[name]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds.values())]
    with replacing(directory / name) as temporary:
        pq.write_table(pa.table(columns, schema=pa.schema(kinds)), temporary, compression="zstd")


def _write_counts(directory: Path, triples: Mapping[tuple[str, str, str], int]) -> None:
    """counts.parquet, and entities.parquet, its marginals (section 6.3)."""
    rows = sorted(triples.items(), key=lambda row: (-row[1], row[0]))
    _write(directory, COUNTS, [(*triple, n) for triple, n in rows])
    subjects: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    for (subject, _, obj), n in rows:
        subjects[subject] += n
        objects[obj] += n
    order = sorted({*subjects, *objects}, key=lambda e: (-subjects[e] - objects[e], e))
    _write(directory, ENTITIES, [(e, subjects[e], objects[e]) for e in order])


def _write_predicates(directory: Path, counts: Mapping[str, int], least: int) -> None:
    rows = sorted(((name, n) for name, n in counts.items() if n), key=lambda row: (-row[1], row[0]))
    _write(directory, PREDICATES, [(name, n, n >= least) for name, n in rows])
