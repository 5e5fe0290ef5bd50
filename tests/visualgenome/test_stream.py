"""Records of a gigabyte file against json.loads, at any block size, and when bytes are wrong."""

import gzip
import json
import lzma
import zipfile
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core import packed
from simtown.core.files import DamagedError
from simtown.core.packed import PackedFile
from simtown.visualgenome import stream
from simtown.visualgenome.stream import Records


class Keyed(msgspec.Struct):
    k: list[Any]
    n: int = 0


def put(folder, content):
    path = folder / "file.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def text(records, spaces=", "):
    return "[" + spaces.join(json.dumps(r) for r in records) + "]"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
dictionaries = st.dictionaries(st.text(max_size=6), values, max_size=4)


@given(st.lists(dictionaries, max_size=12), st.integers(1, 64), st.sampled_from([None, 1, 4]), st.booleans())
def test_records_are_those_of_json_whatever_the_block(tmp_path_factory, records, block, indent, escaped):
    """Brackets, quotes and backslashes inside strings, blocks that end anywhere, spaces of any kind."""
    content = json.dumps(records, indent=indent, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    path = put(tmp_path_factory.getbasetemp(), content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "BLOCK", block)
        found = Records(path, dict)
        try:
            assert list(found) == json.loads(path.read_bytes())
        except DamagedError:  # lone surrogates are JSON by the letter and text for nobody
            assert any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(records, ensure_ascii=False))
            return
    assert (found.good, found.bad, found.read) == (len(records), 0, path.stat().st_size)


def pack(path, content):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("__MACOSX/x.json", b"")
            archive.writestr("relationships.json", content)
    else:
        path.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)(content))
    return path


@pytest.mark.parametrize("packing", ["", ".gz", ".xz", ".zip"])
def test_the_first_bytes_say_how_a_file_is_packed(tmp_path, packing):
    path = pack(
        tmp_path / f"file.json{packing}", ("\ufeff" + text([{"k": [i]} for i in range(100)])).encode()
    )
    path = path.rename(tmp_path / "no-ending")
    assert [r.k for r in Records(path, Keyed)] == [[i] for i in range(100)]


def test_an_archive_of_several_files_is_refused(tmp_path):
    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", "[]")
        archive.writestr("b.json", "[]")
    with pytest.raises(ValueError, match=r"a\.json, b\.json"):
        list(Records(path, dict))


GOOD = [{"k": [i, "x" * i], "n": i} for i in range(20)]


#: {(record, byte): contents that are damaged there}
DAMAGED = {
    (1, 0): [b"", b'{"k": []}'],
    (1, 1): [b"[", b'[{"k": ["\xff"]}]'],
    (2, 11): [b'[{"k": [1]}'],
    (2, 12): [b'[{"k": [1]},, {"k": [2]}]'],
    (2, 13): [b'[{"k": [1]}, ' + bad for bad in (b'{"k": [2}, {"k": [3]}]', b"7]", b'{"k": [tru]}]')],
}
DAMAGED[2, 13] += [b'[{"k": [1]}] x', b'[{"k": [1]}, {"other": 5}]']
CASES = [(content, *place) for place, contents in DAMAGED.items() for content in contents]


@pytest.mark.parametrize(("content", "record", "byte"), CASES)
def test_damage_is_one_line_with_the_record_and_the_byte(tmp_path, content, record, byte):
    with pytest.raises(DamagedError, match=rf"file\.json .*record {record}, at byte {byte},") as error:
        list(Records(put(tmp_path, content), Keyed))
    assert "\n" not in str(error.value)


#: A wrong value, wrong JSON, a wrong bracket, no brace, no quote, and a brace too many after a whole record.
BAD = [b'{"k": 5}', b'{"k": [tru]}', b'{"k": [1}', b'{"k": [1]', b'{"k": ["a]}', b'{"k": [1]}}']


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("bad", [*BAD, b"}", b"garbage", b""])
def test_bad_records_are_passed_over_and_counted(tmp_path, monkeypatch, bad, block):
    """The good ones before and after survive, whatever is between."""
    monkeypatch.setattr(stream, "BLOCK", block)
    parts = [json.dumps(r).encode() for r in GOOD]
    content = b"[" + b", ".join([*parts[:10], bad, *parts[10:]]) + b"]"
    found = Records(put(tmp_path, content), Keyed, skip_bad=True)
    assert [r.n for r in found if len(r.k) == 2] == list(range(20))
    assert found.bad == 1
    assert "at byte" in found.first_bad
    with pytest.raises(DamagedError):
        list(Records(put(tmp_path, content), Keyed))


@given(st.data())
def test_a_file_cut_anywhere_keeps_its_whole_records(tmp_path_factory, data):
    whole = text(GOOD).encode()
    length = data.draw(st.integers(1, len(whole) - 1))
    path = put(tmp_path_factory.getbasetemp(), whole[:length])
    found = Records(path, Keyed, skip_bad=True)
    ends = [len(text(GOOD[: i + 1])) - 1 for i in range(len(GOOD))]
    assert [r.n for r in found] == list(range(sum(end <= length for end in ends)))
    assert found.bad == 1
    with pytest.raises(DamagedError, match=r"file\.json is damaged"):
        list(Records(path, Keyed))


@given(st.data())
def test_one_wrong_byte_costs_few_records(tmp_path_factory, data):
    """Whatever byte changes to whatever: only DamagedError, and records far from it are all there."""
    whole = bytearray(text(GOOD).encode())
    place = data.draw(st.integers(1, len(whole) - 2))
    whole[place] = data.draw(st.integers(0, 255))
    path = put(tmp_path_factory.getbasetemp(), bytes(whole))
    ends = [len(text(GOOD[: i + 1])) - 1 for i in range(len(GOOD))]
    hit = sum(end <= place for end in ends)
    found = Records(path, Keyed, skip_bad=True)
    assert set(range(len(GOOD))) - {hit - 1, hit, hit + 1} <= {r.n for r in found}


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zip"])
def test_a_broken_packing_is_reported_with_its_byte(tmp_path, packing):
    content = text([{"k": [i, str(i * 7919 % 10007)], "n": i} for i in range(3000)]).encode()
    path = pack(tmp_path / f"file.json{packing}", content)
    whole = path.read_bytes()
    if packing == ".zip":  # the end of an archive is its table of contents: break the middle
        path.write_bytes(whole[: len(whole) // 2] + bytes(64) + whole[len(whole) // 2 + 64 :])
    else:
        path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedError, match="after byte"):
        list(Records(path, Keyed))
    found = Records(path, Keyed, skip_bad=True)
    numbers = [r.n for r in found]
    assert numbers == list(range(len(numbers)))
    assert found.bad == 1


def test_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "BLOCK", 3)
    path = tmp_path / "lines.txt"
    path.write_bytes("a\r\n\nlänger\nlast".encode())
    with PackedFile(path) as file:
        assert list(file.lines()) == ["a", "", "länger", "last"]
    path.write_bytes(b"a\n\xff\n")
    with PackedFile(path) as file, pytest.raises(DamagedError, match="line 2 is not UTF-8"):
        list(file.lines())
