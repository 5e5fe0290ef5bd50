"""Files and folders from a stranger: read within limits, and nothing outside is read, written or deleted."""

import contextlib
import gzip
import json
import lzma
import os
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="needs msgspec: pip install '.[vg]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[vg]'")
import pyarrow as pa
import pyarrow.parquet as pq

from simtown.assets import frequencies
from simtown.core import columns, packed
from simtown.core.files import DamagedError, ForeignDirectoryError, RefusedError
from simtown.core.packed import PackedFile
from simtown.text.corpus import Corpus
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


@pytest.mark.parametrize("packing", ["gz", "xz", "zip"])
def test_a_line_without_an_end_takes_little_memory(bombs, lean, packing):
    with pytest.raises(DamagedError, match="line 1 has more than"):
        next(iter(Corpus(bombs / f"line.{packing}")))
    lean(40)


def test_a_file_that_unpacks_to_far_too_much_is_refused(bombs, monkeypatch):
    monkeypatch.setattr(packed, "FREE", MB)
    with (
        PackedFile(bombs / "line.gz") as file,
        pytest.raises(RefusedError, match="unpacks to more than 200 times"),
    ):
        list(iter(lambda: len(file.read(MB)), 0))


def test_an_xz_that_asks_for_gigabytes_of_memory_is_refused(tmp_path):
    path = tmp_path / "greedy.xz"
    content = bytearray(lzma.compress(b"[]", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    header = content.index(b"\x21\x01")  # the filter, the size of its properties, then the dictionary's size
    content[header + 2] = 39  # 3 GB
    length = (content[12] + 1) * 4
    content[12 + length - 4 : 12 + length] = struct.pack("<I", zlib.crc32(content[12 : 12 + length - 4]))
    path.write_bytes(content)
    with PackedFile(path) as file, pytest.raises(DamagedError, match="unpacking fails"):
        file.read()


def test_xz_in_several_parts_and_from_the_start_again(tmp_path):
    path = tmp_path / "parts.xz"
    path.write_bytes(lzma.compress(b"one ") + bytes(8) + lzma.compress(b"two"))
    with PackedFile(path) as file:
        assert file.read(5) == b"one t"
        file.restart()
        assert file.read() == b"one two"
    path.write_bytes(path.read_bytes()[:-4])
    with PackedFile(path) as file, pytest.raises(DamagedError):
        file.read()


def test_zip_archives_are_packed_by_deflate_alone(tmp_path):
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):  # these unpack without a limit
        with pytest.raises(DamagedError, match="other than deflate"):
            PackedFile(zip_with(tmp_path / "odd.zip", b"[]", method))
    with PackedFile(zip_with(tmp_path / "tall.zip", b"[]", zipfile.ZIP_DEFLATED, (1 << 32) - 2)) as file:
        assert file.read() == b"[]"  # what it declares is not believed
    (tmp_path / "list.zip").write_bytes(
        b"PK\x03\x04" + bytes(20 * MB) + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, 20 * MB, 0, 0)
    )
    with pytest.raises(DamagedError, match="broken zip archive"):
        PackedFile(tmp_path / "list.zip")


def test_only_plain_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path):
        with pytest.raises(RefusedError, match="no plain file"):
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


def test_tables_of_frequencies(tmp_path):
    path = tmp_path / "frequencies.csv"
    for text in (
        f'entity,subject,object\n"{"x" * 200_000}",1,1\n',
        "entity,subject,object\ncat,nan,1\n",
        "entity\ncat\n",
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match="frequencies"):
            frequencies.frequencies(str(path), 1)
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RefusedError, match="too large"):
        frequencies.frequencies(str(path), 1)


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


@pytest.mark.parametrize(
    "table",
    [
        {"entity": ["cat", None], "subject": [1, 2], "object": [1, 2]},
        {"entity": ["cat"], "subject": ["1"], "object": [1]},
        {"entity": ["cat"], "subject": [2**62], "object": [2**62]},
        {"entity": [b"\xff"], "subject": [1], "object": [1]},
        {"entity": ["cat"], "subject": [1]},
    ],
)
def test_what_its_tables_must_hold(prepared, copy, table):
    directory = copy(prepared)
    pq.write_table(pa.table(table), directory / prepare.ENTITIES)
    with pytest.raises(DamagedError):
        stats.statistics(directory)
    with pytest.raises(DamagedError):
        stats.frequency_table(directory, 1)


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


@pytest.mark.parametrize("bomb", [dictionary_bomb, prefix_bomb, rows_bomb, zeros_bomb])
def test_parquet_bombs(tmp_path, bomb):
    table, how = bomb()
    path = tmp_path / "bomb.parquet"
    pq.write_table(table, path, **how)
    assert path.stat().st_size < 2 * MB
    del table
    before = pa.total_allocated_bytes()
    with pytest.raises(DamagedError, match=r"bomb\.parquet"):
        columns.read_table(path, {"entity": columns.TEXT}, 1_000_000)
    assert pa.total_allocated_bytes() - before < 50 * MB


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


def test_columns_come_as_they_were_written(tmp_path):
    path = tmp_path / "table.parquet"
    n = 5_000
    table = pa.table(
        {
            "text": [f"word {i % 7}" for i in range(n)],
            "number": np.arange(n) * 0.5,
            "whole": np.arange(n),
            "flag": np.arange(n) % 3 == 0,
            "lists": [list(range(i % 4)) for i in range(n)],
            "box": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(4 * n, dtype=np.float32)), 4),
        }
    )
    kinds = {
        "text": columns.TEXT,
        "number": columns.NUMBER,
        "whole": columns.INTEGER,
        "flag": columns.FLAG,
        "lists": columns.INTEGERS,
        "box": columns.BOX,
    }
    for how in (
        {},
        {"compression": "zstd"},
        {"data_page_version": "2.0"},
        {"row_group_size": 100},
        {"use_dictionary": False},
    ):
        pq.write_table(table, path, **how)
        assert columns.read_table(path, kinds, 100_000).to_pydict() == table.to_pydict()
    pq.write_table(table.set_column(0, "text", table["text"].dictionary_encode()), path)
    assert columns.read_table(path, kinds, 100_000)["text"].to_pylist() == table["text"].to_pylist()
