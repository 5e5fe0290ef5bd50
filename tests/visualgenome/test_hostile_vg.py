"""Files and folders from a stranger: read within limits, and nothing outside is read, written or deleted."""

import contextlib
import gzip
import json
import lzma
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="needs msgspec: pip install '.[vg]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[vg]'")
import pyarrow as pa
import pyarrow.parquet as pq

from simtown.core import columns
from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.packed import PackedFile
from simtown.core.untrusted import RefusedError
from simtown.visualgenome import clean, prepare, records, sparsity, stats, stream

MB = 1 << 20


@pytest.fixture
def lean():
    """A block in which Python and NumPy allocate at most so many megabytes at once."""
    tracemalloc.start()
    limits = []
    yield limits.append
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limits[0] * MB


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    """One line of 64 MB, packed to 64 KB, by gzip, xz and zip."""
    folder, line = tmp_path_factory.mktemp("bombs"), bytes(64 * MB)
    (folder / "line.gz").write_bytes(gzip.compress(line, 1))
    (folder / "line.xz").write_bytes(lzma.compress(line, preset=0))
    with zipfile.ZipFile(folder / "line.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("line.txt", line)
    return folder


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, released):
    """A prepared directory, to be copied."""
    directory = tmp_path_factory.mktemp("prepared") / "vg"
    prepare.prepare(released("relationships"), directory, prepare.PrepareSettings(threshold=1))
    return directory


def zip_with(path, content, method, declared=None):
    """An archive of one file, which may declare any size."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("relationships.json", content)
    if declared is not None:
        whole = bytearray(path.read_bytes())
        at = whole.index(b"PK\x01\x02")
        whole[at + 24 : at + 28] = struct.pack("<I", declared)
        path.write_bytes(whole)
    return path


# what is packed


def test_only_plain_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path):
        with pytest.raises(RefusedError, match="not a regular file"):
            PackedFile(path)


# records


def test_a_record_without_an_end_takes_little_memory(tmp_path, lean):
    path = tmp_path / "long.json.gz"
    path.write_bytes(gzip.compress(b'[{"image_id": 1, "relationships": [' + b" " * (48 * MB), 1))
    with pytest.raises(DamagedError, match="has no end"):
        list(records.graphs(path))
    lean(120)


def test_records_that_never_end_are_not_walked_again_and_again(tmp_path, monkeypatch):
    """Behind every opening everything is one text: each record is walked to its longest, from the next
    opening again.
    """
    monkeypatch.setattr(stream, "_FREE_WALKS", 1 << 22)
    path = tmp_path / "openings.json"
    path.write_bytes(b"[" + b'{"a":\\"' * 150_000)
    with pytest.raises(DamagedError, match="in too many places"):
        list(records.Records(path, dict, skip_bad=True, longest=100_000))


@pytest.mark.parametrize("number", ["1e999", "9" * 30, "9" * 5000, '"1"', "NaN", "[" * 50_000])
def test_numbers_that_no_image_has(tmp_path, number):
    path = tmp_path / "relationships.json"
    end = '{"object_id": 1, "name": "cat", "x": 1, "y": 1, "w": 1, "h": 1}'
    path.write_text(
        f'[{{"image_id": {number}, "relationships": [{{"predicate": "on", "subject": {end}, "object": '
        f"{end}}}]}}]"
    )
    with pytest.raises(DamagedError):
        prepare.prepare(path, tmp_path / "out")


def test_names_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(clean, "MOST_TEXTS", 20)
    path = tmp_path / "relationships.json"
    ends = [{"object_id": i, "name": f"thing {i}", "x": 0, "y": 0, "w": 1, "h": 1} for i in range(60)]
    path.write_text(
        json.dumps(
            [{"image_id": 1, "relationships": [{"predicate": "on", "subject": a, "object": a} for a in ends]}]
        )
    )
    with pytest.raises(DamagedError, match="different names"):
        prepare.prepare(path, tmp_path / "out")
    with pytest.raises(DamagedError, match="different names"):
        sparsity.sparsity(sparsity.ImageSource(path))


def test_an_image_of_too_many_things_is_not_compared_with_itself(tmp_path):
    path = tmp_path / "objects.json"
    path.write_text(
        json.dumps([{"image_id": 1, "objects": [{"names": ["cat"]}, {"names": ["dog"]}] * 1_500}])
    )
    with pytest.raises(DamagedError, match="things marked"):
        sparsity.sparsity(sparsity.ImageSource(path))


def test_a_word_of_many_letters_has_no_neighbours_looked_up(lean):
    assert clean.Cleaner(clean.steps()).entity("q" * 3_000 + "z")
    lean(100)


def test_synsets(tmp_path):
    path = tmp_path / "synsets.json"
    for content in (
        "[" * 100_000,
        '{"a": [[]]}',
        '{"a": [1]}',
        "[1]",
        '{"a": 1}',
        "\ud800".encode("utf-8", "surrogatepass"),
    ):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(DamagedError):
            records.synsets(path)


# tables of text


def counts(
    folder,
    relations="name\tcount\non\t3\n",
    triples="subject\tpredicate\tobject\ttrain\ttest\ncat\ton\tmat\t2\t1\n",
):
    folder.mkdir(exist_ok=True)
    (folder / "relations_count.tsv").write_text(relations)
    (folder / "triples_150x50.tsv").write_text(triples)
    return folder


@pytest.mark.parametrize(
    "row", [f"{'x' * 200_000}\t1\t1", f"on\t{'9' * 5000}", f"on\t{10**18}", "on\t1e3", "on", "on\t²"]
)
def test_published_counts(tmp_path, row):
    with pytest.raises(DamagedError, match=r"relations_count\.tsv"):
        prepare.prepare(counts(tmp_path / "counts", f"name\tcount\n{row}\n"), tmp_path / "out")


def test_published_counts_behind_a_link(tmp_path):
    folder = counts(tmp_path / "counts")
    outside = (folder / "relations_count.tsv").rename(tmp_path / "outside.tsv")
    (folder / "relations_count.tsv").symlink_to(outside)
    with pytest.raises(RefusedError, match="symbolic link"):
        prepare.prepare(folder, tmp_path / "out")


@pytest.mark.parametrize(
    "content",
    [b"[[" * 50_000, b'[["a", {"objs": [{"cls": -1, "bbox": [0, 0, 1, 1]}]}]]', b"\xff", b"[[1, 2]]"],
)
def test_published_annotations(tmp_path, content):
    folder = counts(tmp_path / "counts")
    (folder / "objects_150.json").write_text('["cat"]')
    (folder / "annotations_test.json").write_bytes(content)
    with pytest.raises(DamagedError, match="annotations"):
        sparsity.sparsity(sparsity.ImageSource(folder))


# a prepared directory


def test_what_is_refused_keeps_its_files(released, tmp_path):
    """Before the refusal every .*.tmp was deleted."""
    out = tmp_path / "mine"
    out.mkdir()
    for name in ("thesis.txt", ".notes.tmp", ".thesis.txt.0123456789abcdef.tmp"):
        (out / name).write_text("mine")
    with pytest.raises(ForeignDirectoryError):
        prepare.prepare(released("relationships"), out)
    assert {path.name: path.read_text() for path in out.iterdir()} == dict.fromkeys(
        ("thesis.txt", ".notes.tmp", ".thesis.txt.0123456789abcdef.tmp"), "mine"
    )


def test_nothing_is_written_behind_a_link(released, tmp_path):
    out, outside = tmp_path / "out", tmp_path / "outside"
    out.mkdir()
    outside.write_text("mine")
    for name in (prepare.TRIPLES, prepare.COUNTS, prepare.PREDICATES, prepare.ENTITIES):
        (out / name).symlink_to(outside)
    prepare.prepare(released("relationships"), out, prepare.PrepareSettings(threshold=1))
    assert outside.read_text() == "mine"
    assert not any(path.is_symlink() for path in out.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"choices": None},
        {"choices": {"steps": [1], "threshold": 1, "once": False}},
        {"source": {}},
        {"table1": []},
        {"statements": {}},
        {"table1": {"images": 10**30}},
        {"bad_records": "1"},
    ],
)
def test_what_prepared_json_must_hold(prepared, copy, cli, change):
    directory = copy(prepared)
    path = directory / prepare.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DamagedError, match=r"prepared\.json is damaged"):
        prepare.load(directory)
    cli("vg", "stats", directory).refuses("prepared.json is damaged", code=1)
    cli("vg", "frequencies", directory, "--out", directory / "f.csv").refuses(
        "prepared.json is damaged", code=1
    )


def test_its_tables_behind_a_link(prepared, copy, tmp_path):
    directory = copy(prepared)
    outside = (directory / prepare.ENTITIES).rename(tmp_path / "outside.parquet")
    (directory / prepare.ENTITIES).symlink_to(outside)
    with pytest.raises(RefusedError, match="symbolic link"):
        stats.statistics(directory)


# Parquet that unpacks to far more than it is


def dictionary_bomb():
    """A million rows of one text of a million letters: a terabyte of text in 50 KB."""
    column = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(1_000_000, dtype=np.int32)), pa.array(["x" * 1_000_000])
    )
    return pa.table({"entity": column}), {}


def prefix_bomb():
    """Every text repeats the one before it, at no cost."""
    return pa.table({"entity": ["x" * 1_000] * 50_000}), {
        "use_dictionary": False,
        "column_encoding": {"entity": "DELTA_BYTE_ARRAY"},
    }


def rows_bomb():
    return pa.table({"entity": pa.array(["x"]).take(pa.array(np.zeros(6_000_000, dtype=np.int32)))}), {}


def zeros_bomb():
    return pa.table({"entity": ["x" * 20_000_000]}), {"use_dictionary": False, "compression": "zstd"}


def test_damaged_parquet_ends_no_process(tmp_path):
    """pyarrow aborts at some footers that are damaged: the bytes are read here first."""
    path = tmp_path / "table.parquet"
    pq.write_table(
        pa.table({"entity": ["a", "b"] * 50, "lists": [[1, 2], []] * 50, "flag": [True] * 100}), path
    )
    whole, draws = path.read_bytes(), np.random.default_rng(0)
    kinds = {"entity": columns.TEXT, "lists": columns.INTEGERS, "flag": columns.FLAG}
    assert columns.read_table(path, kinds, 1_000)["entity"].to_pylist() == ["a", "b"] * 50
    for _ in range(300):
        damaged = bytearray(whole)
        for place, value in zip(draws.integers(0, len(whole), 4), draws.integers(0, 256, 4), strict=True):
            damaged[place] = value
        path.write_bytes(
            damaged[: draws.integers(len(whole) // 2, len(whole) + 1) if draws.random() < 0.1 else None]
        )
        with contextlib.suppress(DamagedError):
            columns.read_table(path, kinds, 1_000)
