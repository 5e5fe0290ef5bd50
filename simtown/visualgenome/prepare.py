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

The file is read once. Statements stay in memory as numbers, and each different string is cleaned once.
Published counts (:mod:`simtown.visualgenome.published`) give the same directory without triples.parquet.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import file_digest, sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from simtown.core.files import DamagedError, replacing
from simtown.core.options import check
from simtown.core.runs import RunRecord
from simtown.core.table_files import FLAG, INTEGER, TEXT, read_table
from simtown.core.untrusted import open_regular
from simtown.core.version import __version__
from simtown.visualgenome import published
from simtown.visualgenome.clean import Cleaner, summed, word_counts
from simtown.visualgenome.clean_settings import STEPS, PrepareSettings
from simtown.visualgenome.records import Attributes, Graph, ImageData, ImageQuestions, Objects, Regions
from simtown.visualgenome.stream import Records

NAME = "prepared.json"
TRIPLES, COUNTS = "triples.parquet", "counts.parquet"
PREDICATES, ENTITIES = "predicates.parquet", "entities.parquet"
ROLES = ("subject", "predicate", "object")
#: Columns of each table.
_TABLES: dict[str, dict[str, pa.DataType]] = {
    TRIPLES: {
        **dict.fromkeys(("image", "relationship", "subject_id", "object_id"), INTEGER),
        **dict.fromkeys(ROLES, TEXT),
        **dict.fromkeys(("subject_box", "object_box"), pa.list_(pa.float32(), 4)),
    },
    COUNTS: {**dict.fromkeys(ROLES, TEXT), "count": INTEGER},
    PREDICATES: {"predicate": TEXT, "count": INTEGER, "kept": FLAG},
    ENTITIES: {"entity": TEXT, "subject": INTEGER, "object": INTEGER},
}
_OWNED = frozenset({NAME, *_TABLES})
RECORD = RunRecord(NAME, "simtown visual genome", "simtown vg prepare", _OWNED, 1, "statements")
#: Reasons why statements are dropped, in this order.
DROPPED = ("without_an_end", "emptied", "repeated", "rare")
#: Statements in a row group of triples.parquet.
GROUP = 1 << 17


def _attributes(record: Attributes) -> int:
    return sum(len(thing.attributes or ()) for thing in record.attributes)


#: Rows of Table 1 by the released file: name in the table, kind of its records, and how many each has.
FURTHER: dict[str, tuple[str, type, Callable[[Any], int]]] = {
    "image_data": ("images", ImageData, lambda record: 1),
    "region_descriptions": ("regions", Regions, lambda record: len(record.regions)),
    "question_answers": ("questions", ImageQuestions, lambda record: len(record.qas)),
    "objects": ("objects", Objects, lambda record: len(record.objects)),
    "attributes": ("attributes", Attributes, _attributes),
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
    check(settings)
    settings = replace(settings, steps=tuple(step for step in STEPS if step in settings.steps))
    counted = [(path, _kind(path)) for path in further]
    if not source.exists():
        raise FileNotFoundError(
            f"there is no {source}: give Visual Genome's relationships.json, or a folder of published counts"
        )
    files = list(published.tables(source).values()) if source.is_dir() else [source]
    described = {
        "name": source.name,
        "bytes": None if source.is_dir() else source.stat().st_size,
        "skip_bad": skip_bad,
        "further": {kind: [path.name, path.stat().st_size] for path, kind in counted},
        "sha256": _digest([*files, *(path for path, _ in counted)]),
    }
    fresh = {"simtown": __version__, "choices": asdict(settings), "source": described}
    with RECORD.opened(directory, fresh, _requirements, save=False) as content:
        if "table1" in content:
            return content
        if source.is_dir():
            content |= _from_counts(source, directory, settings)
        else:
            graphs = Records(source, Graph, skip_bad=skip_bad, progress=progress)
            content |= _from_file(graphs, directory, settings)
        for path, kind in counted:
            name, record, size = FURTHER[kind]
            items: Records[Any] = Records(path, record, skip_bad=skip_bad, progress=progress)
            content["table1"][name] = sum(map(size, items))
            content["bad_records"] += items.bad
            content["first_bad"] = content["first_bad"] or items.first_bad
        RECORD.save(directory, content)  # last: a directory with this file is whole
    return content


#: What prepared.json of a directory says. Raises FileNotFoundError, DamagedError or ForeignDirectoryError.
load = RECORD.load


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


def _requirements(content: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be the same for a prepared directory to be taken as it is."""
    source = {f"source {name}": value for name, value in content["source"].items()}
    return content["choices"] | source


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


class _Codes(dict[str, int]):
    """Numbers strings in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def _from_file(graphs: Records[Graph], directory: Path, settings: PrepareSettings) -> dict[str, Any]:
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
            f"{graphs.path} states no relationships: give relationships.json or scene_graphs.json"
        )
    raw = np.frombuffer(codes, dtype=np.int32).reshape(-1, 3)
    uses = [*_uses(entities, raw[:, ::2]), *_uses(predicates, raw[:, 1])]
    cleaner = Cleaner(settings.steps, word_counts(uses))
    kinds = (entities, cleaner.entity), (predicates, cleaner.predicate), (entities, cleaner.entity)
    columns = list(np.frombuffer(numbers, dtype=np.int64).reshape(-1, 4).T)
    columns += [_cleaned(column, *kind) for column, kind in zip(raw.T, kinds, strict=True)]
    for box in np.hsplit(np.frombuffer(boxes, dtype=np.float32).reshape(-1, 8), 2):
        columns.append(pa.FixedSizeListArray.from_arrays(pa.array(box.ravel()), 4))
    stated = pa.table(columns, names=list(_TABLES[TRIPLES]))
    whole = stated.drop_null()
    rows = _first_of_each(whole) if settings.once else whole
    counts = _counted(rows, ("predicate",))
    frequent = [name for (name,), count in counts.items() if count >= settings.least]
    is_frequent = pc.is_in(rows["predicate"].cast(TEXT), value_set=pa.array(frequent, TEXT))
    kept = rows.filter(is_frequent)
    with replacing(directory / TRIPLES) as target:
        pq.write_table(kept, target, row_group_size=GROUP, compression="zstd")
    _write_counts(directory, _counted(kept, ROLES))
    _write_predicates(directory, {name: count for (name,), count in counts.items()}, settings.least)
    left = (listed, len(raw), len(whole), len(rows), len(kept))  # after each reason to drop some
    table1 = {"images": graphs.good, "relationships": len(raw)}
    return _content(table1, left, graphs.read, graphs.bad, graphs.first_bad)


def _content(
    table1: dict[str, int], left: Sequence[int], read: int, bad: int = 0, first_bad: str = ""
) -> Any:
    """What prepared.json says; `left` are the statements at first, and after each reason to drop some."""
    dropped = [before - after for before, after in pairwise(left)]
    statements = {"stated": left[0], **dict(zip(DROPPED, dropped, strict=True)), "kept": left[-1]}
    found = {"table1": table1, "statements": statements}
    return {**found, "bad_records": bad, "first_bad": first_bad, "bytes_read": read}


def _uses(strings: Iterable[str], codes: np.ndarray) -> Iterable[tuple[str, int]]:
    """How often each string was used."""
    return zip(strings, np.bincount(codes.ravel()).tolist(), strict=True)


def _cleaned(codes: np.ndarray, strings: Iterable[str], function: Callable[[str], str]) -> pa.Array:
    """The clean string of each code, null where nothing is left."""
    clean = pa.array([function(text) or None for text in strings], TEXT).dictionary_encode()
    return pa.DictionaryArray.from_arrays(clean.indices.take(pa.array(codes)), clean.dictionary)


def _first_of_each(stated: pa.Table) -> pa.Table:
    """The rows that state something of two things for the first time; things without a number all differ."""
    row = np.arange(len(stated))
    subject, obj = stated["subject_id"].to_numpy(), stated["object_id"].to_numpy()
    subject = np.where((subject < 0) | (obj < 0), -1 - row, subject)
    names = ("image", "subject", "object", "predicate")
    keys = pa.table([stated["image"], subject, obj, stated["predicate"], row], names=[*names, "row"])
    first = keys.group_by(names).aggregate([("row", "min")])["row_min"].to_numpy()
    return stated.take(np.sort(first))


def _counted(stated: pa.Table, names: Sequence[str]) -> dict[tuple[str, ...], int]:
    """How often each combination of the columns' values occurs."""
    columns = [stated[name].combine_chunks() for name in names]
    shape = [max(len(column.dictionary), 1) for column in columns]
    codes = np.ravel_multi_index([column.indices.to_numpy() for column in columns], shape)
    keys, counts = np.unique(codes, return_counts=True)
    pairs = zip(columns, np.unravel_index(keys, shape), strict=True)
    taken = (column.dictionary.take(pa.array(codes)) for column, codes in pairs)
    values = (texts.to_numpy(zero_copy_only=False).tolist() for texts in taken)
    return dict(zip(zip(*values, strict=True), counts.tolist(), strict=True))


def _from_counts(source: Path, directory: Path, settings: PrepareSettings) -> dict[str, Any]:
    paths = published.tables(source)
    missing = [name for name in published.NEEDED if name not in paths]
    if missing:
        wanted = "give a folder of published counts, or relationships.json itself"
        raise FileNotFoundError(f"{source} holds no {missing[0]}.tsv: {wanted}")
    stated = published.predicates(paths["relations_count"])
    stated_triples = published.triples(paths["triples_150x50"])
    entities = summed((name, n) for (s, _, o), n in stated_triples.items() for name in (s, o))
    cleaner = Cleaner(settings.steps, word_counts([*stated.items(), *entities.items()]))
    predicates = summed((cleaner.predicate(text), n) for text, n in stated.items())
    emptied = predicates.pop("", 0)
    triples: Counter[tuple[str, ...]] = Counter()
    for (s, p, o), n in stated_triples.items():
        triple = cleaner.entity(s), cleaner.predicate(p), cleaner.entity(o)
        if all(triple) and predicates[triple[1]] >= settings.least:
            triples[triple] += n
    _write_counts(directory, triples)
    _write_predicates(directory, predicates, settings.least)
    total = sum(stated.values())
    kept = sum(n for n in predicates.values() if n >= settings.least)
    table1 = {"relationships": total}
    for name in ("objects", "attributes"):
        if f"{name}_count" in paths:
            table1[name] = published.counts(paths[f"{name}_count"]).total()
    left = (total, total, total - emptied, total - emptied, kept)
    return _content(table1, left, sum(path.stat().st_size for path in paths.values()))


def _write(directory: Path, name: str, rows: list[tuple[Any, ...]]) -> None:
    kinds = _TABLES[name]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds.values())]
    with replacing(directory / name) as temporary:
        pq.write_table(pa.table(columns, schema=pa.schema(kinds)), temporary, compression="zstd")


def _write_counts(directory: Path, triples: Mapping[tuple[str, ...], int]) -> None:
    """counts.parquet, and entities.parquet, its marginals (section 6.3)."""
    rows = sorted(triples.items(), key=lambda row: (-row[1], row[0]))
    _write(directory, COUNTS, [(*triple, n) for triple, n in rows])
    subjects, objects = (summed((triple[end], n) for triple, n in rows) for end in (0, 2))
    order = sorted({*subjects, *objects}, key=lambda e: (-subjects[e] - objects[e], e))
    _write(directory, ENTITIES, [(e, subjects[e], objects[e]) for e in order])


def _write_predicates(directory: Path, counts: Mapping[str, int], least: int) -> None:
    rows = sorted(((name, n) for name, n in counts.items() if n), key=lambda row: (-row[1], row[0]))
    _write(directory, PREDICATES, [(name, n, n >= least) for name, n in rows])
