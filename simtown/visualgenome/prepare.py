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

The file is read once, in constant memory: statements go to a temporary file as numbers, only the different
strings stay in memory, and are cleaned once each. Published counts (:mod:`simtown.visualgenome.published`)
give the same directory without triples.parquet.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, replacing, scratch
from simtown.core.runs import RunRecord
from simtown.core.table_files import FLAG, INTEGER, TEXT, read_table
from simtown.core.untrusted import open_regular
from simtown.core.version import __version__
from simtown.visualgenome import clean, published, records
from simtown.visualgenome.clean_settings import PrepareSettings

NAME, FORMAT, SCHEMA = "prepared.json", "simtown visual genome", 1
TRIPLES, COUNTS, PREDICATES, ENTITIES = (
    "triples.parquet",
    "counts.parquet",
    "predicates.parquet",
    "entities.parquet",
)
RECORD = RunRecord(
    NAME,
    FORMAT,
    "simtown vg prepare",
    frozenset({NAME, TRIPLES, COUNTS, PREDICATES, ENTITIES, "raw"}),
    SCHEMA,
    what="statements",
)
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
#: Statements in a row group, and distinct triples held before equal ones are added up.
GROUP, MOST_WAITING = 1 << 17, 1 << 22
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
_NUMBERS, _ROLES = ("image", "relationship", "subject_id", "object_id"), ("subject", "predicate", "object")
_SCHEMA = pa.schema(
    [(name, INTEGER) for name in _NUMBERS]
    + [(name, pa.dictionary(pa.int32(), TEXT)) for name in _ROLES]
    + [(f"{role}_box", pa.list_(pa.float32(), 4)) for role in ("subject", "object")]
)
_RAW = pa.schema(
    [(name, INTEGER) for name in _NUMBERS]
    + [(name, pa.int32()) for name in _ROLES]
    + [(f"{role}_{side}", pa.float32()) for role in ("subject", "object") for side in "xywh"]
)


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
        OSError: a file cannot be read or written.
        FileNotFoundError: the source is not there.
    """
    settings = settings or PrepareSettings()
    settings.check()
    settings = replace(settings, steps=clean.check_steps(settings.steps))  # in their order
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
    with RECORD.opened(directory, fresh, _by_parameter, save=False) as content:
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


def _by_parameter(content: Mapping[str, Any]) -> dict[str, str]:
    """What has to be the same for a directory that is prepared to be taken as it is."""
    source = content["source"]
    further = (f"{name} of {size} bytes" for name, size in source["further"].values())
    size = "" if source["bytes"] is None else f" of {source['bytes']} bytes"
    source_words = {
        "source": f"{source['name']}{size}",
        "`skip_bad`": source["skip_bad"],
        "`further`": ", ".join(further) or "none",
        "SHA-256 of the files": source.get("sha256") or "unknown",
    }
    settings = {
        f"`{key}`": ",".join(value) if isinstance(value, list) else value
        for key, value in content["choices"].items()
    }
    return {key: str(value) for key, value in {**source_words, **settings}.items()}


def _files(source: Path) -> list[Path]:
    """The file, or the tables of a folder of published counts."""
    if not source.is_dir():
        return [source]
    return [path for name in published.TABLES if (path := published.find(source, name)) is not None]


def _digest(paths: Iterable[Path]) -> str:
    """SHA-256 of the files' contents."""
    digest = sha256()
    for path in paths:
        with open_regular(path) as file:
            digest.update(file_digest(file, "sha256").digest())  # type: ignore[arg-type]
    return digest.hexdigest()


def _kind(path: Path) -> str:
    for kind in sorted(FURTHER, key=len, reverse=True):
        if kind in path.name:
            if not path.is_file():
                raise FileNotFoundError(f"there is no file {path}")
            return kind
    raise ValueError(
        f"`further` {path} is none of the files that are counted: its name must hold one of "
        f"{', '.join(FURTHER)}"
    )


def _count_further(
    further: Iterable[tuple[Path, str]], skip_bad: bool, progress: Callable[[int], object] | None
) -> tuple[dict[str, int], int, str]:
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
    entities, predicates = _Codes(), _Codes()
    graphs = records.graphs(source, skip_bad=skip_bad, progress=progress)
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(scratch(directory / "raw"))
        stated, listed = _spill(graphs, raw, entities, predicates)
        if not stated:
            raise ValueError(
                f"{source} states no relationships: give Visual Genome's relationships.json or "
                "scene_graphs.json"
            )
        uses = [np.zeros(len(codes), dtype=np.int64) for codes in (entities, predicates)]
        for group in _groups(raw, ["subject", "predicate", "object"]):
            s, p, o = (group[n].to_numpy() for n in ("subject", "predicate", "object"))
            uses[0] += np.bincount(s, minlength=len(entities)) + np.bincount(o, minlength=len(entities))
            uses[1] += np.bincount(p, minlength=len(predicates))
        used = [
            *zip(entities, uses[0].tolist(), strict=True),
            *zip(predicates, uses[1].tolist(), strict=True),
        ]
        cleaner = clean.Cleaner(clean.steps(settings.steps, clean.word_counts(used)))
        entity_names, entity_of = _cleaned(entities, cleaner.entity)
        predicate_names, predicate_of = _cleaned(predicates, cleaner.predicate)
        counts = np.zeros(len(predicate_names), dtype=np.int64)
        for group in _groups(raw, None):
            _, p, _, use = _mapped(group, entity_of, predicate_of, settings.once)
            counts += np.bincount(p[use], minlength=len(predicate_names))
        kept = counts >= settings.least
        distinct = _DistinctTriples(len(entity_names), len(predicate_names))
        total = repeated = complete = 0
        dictionaries = [
            pa.array(names, pa.string()) for names in (entity_names, predicate_names, entity_names)
        ]
        with (
            replacing(directory / TRIPLES) as target,
            pq.ParquetWriter(target, _SCHEMA, compression="zstd") as writer,
        ):
            for group in _groups(raw, None):
                s, p, o, use = _mapped(group, entity_of, predicate_of, settings.once)
                whole = int(((s >= 0) & (p >= 0) & (o >= 0)).sum())
                complete += whole
                repeated += whole - int(use.sum())
                use[use] = kept[p[use]]
                total += int(use.sum())
                distinct.add(s[use], p[use], o[use])
                writer.write_table(_table(group, use, (s, p, o), dictionaries))
    _write_counts(directory, distinct.triples(entity_names, predicate_names))
    _write_predicates(directory, dict(zip(predicate_names, counts.tolist(), strict=True)), settings.least)
    return {
        "table1": {"images": graphs.good, "relationships": stated},
        "statements": _statements(
            listed,
            listed - stated,
            stated - complete,
            repeated,
            complete - repeated - total,
            total,
        ),
        "bad_records": graphs.bad,
        "first_bad": graphs.first_bad,
        "bytes_read": graphs.read,
    }


def _spill(
    graphs: Iterable[records.Graph], raw: Path, entities: _Codes, predicates: _Codes
) -> tuple[int, int]:
    """Write every statement as a row of numbers.

    Returns how many there are, and how many relationships were listed (some lack an end).

    An image's statements never span two row groups.
    """
    rows: list[tuple[Any, ...]] = []
    stated = listed = 0
    with pq.ParquetWriter(raw, _RAW, compression="lz4") as writer:

        def flush() -> None:
            if rows:
                columns = [
                    pa.array(column, field.type)
                    for column, field in zip(zip(*rows, strict=True), _RAW, strict=True)
                ]
                writer.write_table(pa.Table.from_arrays(columns, schema=_RAW))
                rows.clear()

        for graph in graphs:
            image = graph.image
            listed += len(graph.relationships)
            for relation, s, o in graph.statements():
                numbers = image, relation.number, s.number, o.number
                texts = entities[s.text], predicates[relation.predicate], entities[o.text]
                rows.append((*numbers, *texts, s.x, s.y, s.w, s.h, o.x, o.y, o.w, o.h))
            if len(rows) >= GROUP:
                stated += len(rows)
                flush()
        stated += len(rows)
        flush()
    return stated, listed


def _groups(raw: Path, columns: list[str] | None) -> Iterator[pa.Table]:
    with pq.ParquetFile(raw) as file:
        for i in range(file.num_row_groups):
            yield file.read_row_group(i, columns=columns)


def _cleaned(codes: Mapping[str, int], function: Callable[[str], str]) -> tuple[list[str], np.ndarray]:
    """The different clean strings, and (n,) int64: for every raw code the number of its clean string.

    -1 where nothing is left.
    """
    numbers = _Codes()
    of = np.array([numbers[done] if (done := function(text)) else -1 for text in codes], dtype=np.int64)
    return list(numbers), of


def _mapped(
    group: pa.Table, entity_of: np.ndarray, predicate_of: np.ndarray, once: bool
) -> tuple[np.ndarray, ...]:
    """Clean codes of subjects, predicates and objects, (n,) int64, and which rows to use, (n,) bool.

    A code is -1 where nothing is left.
    """
    s, p, o = (
        table[group[n].to_numpy()]
        for n, table in (("subject", entity_of), ("predicate", predicate_of), ("object", entity_of))
    )
    use = (s >= 0) & (p >= 0) & (o >= 0)
    if once and use.any():
        ids = np.stack([group[n].to_numpy() for n in ("image", "subject_id", "object_id")] + [p], axis=1)
        # without numbers: all different
        ids[(ids[:, 1] < 0) | (ids[:, 2] < 0), 1] = -1 - np.flatnonzero((ids[:, 1] < 0) | (ids[:, 2] < 0))
        first = np.zeros(len(ids), dtype=bool)
        used = np.flatnonzero(use)
        first[used[np.unique(ids[use], axis=0, return_index=True)[1]]] = True
        use = first
    return s, p, o, use


class _DistinctTriples:
    """Distinct triples of codes with their counts, as sorted keys."""

    def __init__(self, entities: int, predicates: int) -> None:
        self._shape = (max(entities, 1), max(predicates, 1), max(entities, 1))
        self._keys, self._counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._new: list[np.ndarray] = []
        self._waiting = 0

    def add(self, s: np.ndarray, p: np.ndarray, o: np.ndarray) -> None:
        self._new.append((s * self._shape[1] + p) * self._shape[2] + o)
        self._waiting += len(s)
        if self._waiting > MOST_WAITING:
            self._settle()

    def _settle(self) -> None:
        keys = np.concatenate([self._keys, *self._new])
        ones = np.concatenate([self._counts, np.ones(len(keys) - len(self._keys), dtype=np.int64)])
        self._keys, place = np.unique(keys, return_inverse=True)
        self._counts = np.zeros(len(self._keys), dtype=np.int64)
        np.add.at(self._counts, place, ones)
        self._new, self._waiting = [], 0

    def triples(self, entities: list[str], predicates: list[str]) -> dict[tuple[str, str, str], int]:
        self._settle()
        s, p, o = np.unravel_index(self._keys, self._shape)
        keys = zip(s.tolist(), p.tolist(), o.tolist(), strict=True)
        return {
            (entities[a], predicates[b], entities[c]): n
            for (a, b, c), n in zip(keys, self._counts.tolist(), strict=True)
        }


def _table(
    group: pa.Table, use: np.ndarray, codes: tuple[np.ndarray, ...], dictionaries: list[pa.Array]
) -> pa.Table:
    columns = [pa.array(group[name].to_numpy()[use]) for name in _NUMBERS]
    for code, dictionary in zip(codes, dictionaries, strict=True):
        columns.append(pa.DictionaryArray.from_arrays(pa.array(code[use].astype(np.int32)), dictionary))
    for role in ("subject", "object"):
        sides = np.stack([group[f"{role}_{side}"].to_numpy()[use] for side in "xywh"], axis=1)
        columns.append(pa.FixedSizeListArray.from_arrays(pa.array(sides.ravel()), 4))
    return pa.Table.from_arrays(columns, schema=_SCHEMA)


# from published counts


def _from_counts(source: Path, directory: Path, settings: PrepareSettings) -> dict[str, Any]:
    paths = {name: path for name in published.TABLES if (path := published.find(source, name))}
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
    cleaner = clean.Cleaner(
        clean.steps(settings.steps, clean.word_counts([*stated.items(), *entities.items()]))
    )
    predicates: Counter[str] = Counter()
    for text, n in stated.items():
        predicates[cleaner.predicate(text)] += n
    emptied = predicates.pop("", 0)
    triples: Counter[tuple[str, str, str]] = Counter()
    for (subject, predicate, obj), n in stated_triples.items():
        whole = cleaner(clean.Triple(subject, predicate, obj))
        if whole is not None and predicates[whole.predicate] >= settings.least:
            triples[whole.subject, whole.predicate, whole.object] += n
    _write_counts(directory, triples)
    _write_predicates(directory, predicates, settings.least)
    kept = sum(n for n in predicates.values() if n >= settings.least)
    total = sum(stated.values())
    more = {
        name: sum(published.counts(paths[f"{name}_count"]).values())
        for name in ("objects", "attributes")
        if f"{name}_count" in paths
    }
    return {
        "table1": {"relationships": total, **more},
        "statements": _statements(total, 0, emptied, 0, total - emptied - kept, kept),
        "bad_records": 0,
        "first_bad": "",
        "bytes_read": sum(path.stat().st_size for path in paths.values()),
    }


# what both write


def _statements(*counts: int) -> dict[str, int]:
    names = ("stated", "without_an_end", "emptied", "repeated", "rare", "kept")
    return dict(zip(names, counts, strict=True))


def _write(path: Path, columns: Mapping[str, Any]) -> None:
    with replacing(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")


def _write_counts(directory: Path, triples: Mapping[tuple[str, str, str], int]) -> None:
    """counts.parquet, and entities.parquet, its marginals (section 6.3)."""
    rows = sorted(triples.items(), key=lambda row: (-row[1], row[0]))
    parts = [pa.array([key[i] for key, _ in rows], pa.string()).dictionary_encode() for i in range(3)]
    _write(
        directory / COUNTS,
        {
            **dict(zip(("subject", "predicate", "object"), parts, strict=True)),
            "count": pa.array([n for _, n in rows], pa.int64()),
        },
    )
    roles: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for (subject, _, obj), n in rows:
        roles[0][subject] += n
        roles[1][obj] += n
    order = sorted({*roles[0], *roles[1]}, key=lambda e: (-roles[0][e] - roles[1][e], e))
    _write(
        directory / ENTITIES,
        {
            "entity": pa.array(order, pa.string()),
            "subject": pa.array([roles[0][e] for e in order], pa.int64()),
            "object": pa.array([roles[1][e] for e in order], pa.int64()),
        },
    )


def _write_predicates(directory: Path, counts: Mapping[str, int], least: int) -> None:
    rows = sorted(((name, n) for name, n in counts.items() if n), key=lambda row: (-row[1], row[0]))
    _write(
        directory / PREDICATES,
        {
            "predicate": pa.array([name for name, _ in rows], pa.string()),
            "count": pa.array([n for _, n in rows], pa.int64()),
            "kept": pa.array([n >= least for _, n in rows], pa.bool_()),
        },
    )
