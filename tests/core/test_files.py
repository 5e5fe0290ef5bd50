"""Files from a stranger are read within limits; files are written under names that nothing had before."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core import arrays, files
from simtown.core.files import DamagedError, ForeignDirectoryError, RefusedError


def test_only_plain_files_are_opened(tmp_path: Path) -> None:
    plain, link, pipe, loop = (tmp_path / name for name in ("plain", "link", "pipe", "loop"))
    plain.write_bytes(b"content")
    link.symlink_to(plain)
    loop.symlink_to(loop)
    os.mkfifo(pipe)
    assert files.read_bytes(plain, 7, follow=False) == files.read_bytes(link, 7) == b"content"
    with pytest.raises(RefusedError, match="symbolic link"):
        files.read_bytes(link, 7, follow=False)
    for place in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(RefusedError, match="no plain file"):
            files.read_bytes(place, 7)
    with pytest.raises(OSError, match="loop"):
        files.read_bytes(loop, 7)
    with pytest.raises(FileNotFoundError):
        files.read_bytes(tmp_path / "absent", 7)
    with pytest.raises(ValueError, match="null"):
        files.read_bytes(tmp_path / "a\0b", 7)


def test_a_socket_is_no_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises((RefusedError, OSError)):
            files.read_bytes(Path("socket"), 7)


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345678")
    assert files.read_text(path, 8) == "12345678"
    with pytest.raises(RefusedError, match=r"too large \(8 bytes\): a file of its kind has at most 7"):
        files.read_text(path, 7)
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room
    with pytest.raises(RefusedError, match="too large"):
        files.read_json(path)


def test_a_packed_file_is_unpacked_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"a" * 1000) + gzip.compress(b"b" * 10))
    assert files.read_unpacked(path, 1010) == b"a" * 1000 + b"b" * 10
    with pytest.raises(RefusedError, match="too large when unpacked"):
        files.read_unpacked(path, 1009)
    path.write_bytes(b"as it is")
    assert files.read_unpacked(path, 8) == b"as it is"
    path.write_bytes(gzip.compress(b"a" * 1000)[:-9])
    with pytest.raises(EOFError):
        files.read_unpacked(path, 1000)
    path.write_bytes(gzip.compress(b"a") + b"something else")
    with pytest.raises(gzip.BadGzipFile):
        files.read_unpacked(path, 1000)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.integers(0, 1300))
def test_unpacking_agrees_with_gzip(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], largest: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "parts.gz"
    packed = b"".join(map(gzip.compress, parts))
    path.write_bytes(packed)
    if max(len(packed), sum(map(len, parts))) > largest:
        with pytest.raises(RefusedError):
            files.read_unpacked(path, largest)
    else:
        assert files.read_unpacked(path, largest) == gzip.decompress(packed)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[", "nonsense", "9" * 5000, ""])
def test_what_is_no_json_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011
        files.read_json(path)
    with pytest.raises(DamagedError, match=r"file\.json is damaged") as caught:
        files.load_json(path, "form", "simtown command")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "{b = " * 100_000, "a", "a = 1\na = 2"])
def test_what_is_no_toml_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.toml"
    path.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011
        files.read_toml(path)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "a/b", "../a", "/a", "a\\b", "a\nb", "a\0b", "a\x1b[2J", "x" * 201, "\u202ea"],
)
def test_names_stay_one_part_of_a_path(name: str) -> None:
    with pytest.raises(RefusedError, match="the seed"):
        files.check_name(name, "the seed")


def test_ordinary_names_are_names() -> None:
    for name in ("pbn-15-2000-seed0", "glove.840B", "häuser", "a b"):
        assert files.check_name(name, "the model") == name


def test_nothing_on_the_way_leads_outside(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "deep").mkdir(parents=True)
    outside.mkdir()
    (home / "link").symlink_to(outside)
    (home / "deep" / "link").symlink_to(outside / "absent")
    assert files.inside(home, "deep/file") == home / "deep" / "file"
    assert files.folder(home, "new/deeper").is_dir()
    for name in ("", "/etc/passwd", "..", "deep/../../outside", "link", "link/file", "deep/link", "a\0b"):
        with pytest.raises(RefusedError):
            files.folder(home, name)
    assert not any(outside.iterdir())


def test_a_replaced_link_leaves_what_it_led_to(tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "out.json"
    victim.write_text("precious")
    path.symlink_to(victim)
    files.save_json(path, {"a": 1})
    assert victim.read_text() == "precious"
    assert not path.is_symlink()
    assert json.loads(path.read_text()) == {"a": 1}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "victim"]


def test_the_temporary_file_is_new_and_goes_when_the_writer_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"old")

    def fail() -> None:
        with files.replacing(path, ".mp4") as temporary:
            assert temporary.stat().st_size == 0
            assert temporary.suffix == ".mp4"
            assert files.becoming(temporary.name) == "out.bin"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_planted_temporary_name_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(
        files.secrets, "token_hex", lambda size: "0" * 2 * size
    )  # as if the name could be guessed
    (tmp_path / f".out.{'0' * 16}.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        files.save_text(tmp_path / "out", "evil")
    assert victim.read_text() == "precious"


def test_only_our_own_leftovers_are_cleared(tmp_path: Path) -> None:
    digits = "0123456789abcdef"
    names = [
        f".ours.{digits}.tmp",
        f".theirs.{digits}.tmp",
        ".ours.12345.tmp",
        "ours.tmp",
        f".link.{digits}.tmp",
        f".folder.{digits}.tmp",
    ]
    for name in names[:4]:
        (tmp_path / name).touch()
    (tmp_path / names[4]).symlink_to(tmp_path / "ours.tmp")
    (tmp_path / names[5]).mkdir()
    files.clear_leftovers(tmp_path, lambda name: name != "theirs")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])


def test_a_linked_partial_directory_is_left_alone(tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "page"
    victim.mkdir()
    (victim / "precious").touch()
    for name in (".page.simtown-partial", f".page.{'0' * 16}.simtown-partial"):
        (tmp_path / name).symlink_to(victim)
    with files.whole(out, "simtown gallery") as directory:
        (directory / "index.html").touch()
    assert sorted(p.name for p in out.iterdir()) == ["index.html"]
    assert sorted(p.name for p in victim.iterdir()) == ["precious"]


def test_a_killed_run_is_cleared_and_a_running_one_is_not(tmp_path: Path) -> None:
    out = tmp_path / "page"
    killed = tmp_path / f".page.{'1' * 16}.simtown-partial"
    (killed / "data").mkdir(parents=True)
    with files.whole(out, "simtown gallery") as first:
        assert not killed.exists()
        with pytest.raises(ForeignDirectoryError, match="being written"), files.whole(out, "simtown gallery"):
            pass
        assert first.is_dir()
        (first / "index.html").touch()
    with pytest.raises(ForeignDirectoryError, match="there already"), files.whole(out, "simtown gallery"):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page"]


@given(
    st.sampled_from(["u1", "<i8", "<f4", "?", "S3", "<U2"]),
    st.lists(st.integers(0, 4), max_size=3),
    st.booleans(),
)
def test_arrays_come_back_as_numpy_wrote_them(kind: str, shape: list[int], fortran: bool) -> None:
    array = np.zeros(shape, dtype=kind, order="F" if fortran else "C")
    array.flat = np.arange(array.size) % 2
    file = io.BytesIO()
    np.save(file, array)
    size = file.tell()
    file.seek(0)
    found = arrays.read_npy(file, size)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def _npy(shape: tuple[int, ...], kind: str, content: bytes = b"") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + content


@pytest.mark.parametrize(
    "content",
    [
        _npy((1 << 40,), "|u1"),
        _npy((1 << 62, 1 << 62), "<f8"),
        _npy((-1,), "|u1"),
        _npy((10,), "|O"),
        _npy((10**9,), "|S0"),
        b"",
        b"\x93NUMPY",
    ],
)
def test_arrays_that_declare_more_than_there_is_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "arrays.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("correct.npy", content)
    with pytest.raises(DamagedError, match=r"arrays\.npz is damaged"):
        arrays.load_npz(path, ("correct",), 1 << 50)


def test_an_array_of_zeros_is_not_unpacked_beyond_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    np.savez_compressed(path, correct=np.zeros(10_000_000, dtype=bool), logit=np.zeros(3, dtype=np.float32))
    assert path.stat().st_size < 20_000
    with pytest.raises(DamagedError, match="more than 1,000"):
        arrays.load_npz(path, ("correct",), 1_000)
    assert arrays.load_npz(path, ("logit",), 1_000)["logit"].tolist() == [0, 0, 0]
    with pytest.raises(DamagedError, match="damaged"):
        arrays.load_npz(path, ("absent",), 1_000)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: (
            st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_content_as_json_is_what_a_file_gives_back(content: object) -> None:
    assert files.as_json(content) == json.loads(json.dumps(content))


def test_json_holds_null_for_nan_and_plain_numbers_for_numpys() -> None:
    content = {
        "a": np.array([[1.0, np.nan]]),
        "b": (np.float32(0.5), np.int64(3)),
        "c": [float("inf"), np.bool_(True)],
    }
    assert files.as_json(content) == {"a": [[1.0, None]], "b": [0.5, 3], "c": [None, True]}
    json.dumps(files.as_json(content), allow_nan=False)
