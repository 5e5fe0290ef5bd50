"""The four promises of simtown.core.untrusted, function by function."""

import json
import os
import pickle
from pathlib import Path
from typing import Annotated, Literal

import h5py
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.core import untrusted
from simtown.core.untrusted import RefusedError, figure_text, markdown, parse_toml, printable
from tests.hostile.marks import IN_PYTHON, Marking


def test_only_regular_files_are_opened(tmp_path):
    regular, link, pipe = (tmp_path / name for name in ("regular", "link", "pipe"))
    regular.write_bytes(b"content")
    link.symlink_to(regular)
    os.mkfifo(pipe)
    assert untrusted.read_bytes(regular, follow=False) == untrusted.read_bytes(link) == b"content"
    for place, follow in ((link, False), (pipe, True), (tmp_path, True), (Path("/dev/zero"), True)):
        with pytest.raises(RefusedError, match=place.name):
            untrusted.read_bytes(place, follow)
    regular.write_text("\ufeffa = 1")
    assert untrusted.read_toml(regular) == {"a": 1}
    with pytest.raises(FileNotFoundError):
        untrusted.read_bytes(tmp_path / "absent")


def test_a_name_is_one_part_of_a_path():
    for name in ("", "..", ".hidden", "a/b", "/a", "a\\b", "a\nb", "a\0b", "x" * 201, "\u202ea"):
        with pytest.raises(RefusedError, match="the seed"):
            untrusted.check_name(name, "the seed")
    for usual in ("pbn-15-2000-seed0", "glove.840B", "häuser", "a b"):
        assert untrusted.check_name(usual, "the model") == usual


def test_a_file_that_grows_is_appended_to(tmp_path):
    for line in (b"one\n", b"two\n"):
        with untrusted.open_to_append(tmp_path / "lines") as file:
            file.write(line)
    assert untrusted.read_bytes(tmp_path / "lines") == b"one\ntwo\n"
    with pytest.raises(OSError, match="absent"):
        untrusted.load_array(tmp_path / "absent", mmap_mode="r+")
    assert not (tmp_path / "absent").exists()


TOML = [
    "a." * 20_000 + "a = 1",
    '"\\"".' * 20_000 + "a = 1",
    "'a' . " * 20_000 + "a = 1",
    "[" + "a." * 20_000 + "a]",
]
TOML += [
    "a = " + "[" * 5000,
    "a = " + "{a = " * 5000,
    "a = " + "[" * 70 + "]" * 70,
    "a = " + "1" * 5000,
    "a =",
]
TOML += ["#" * (untrusted.LARGEST_TOML + 1)]
JSON = ["[" * 100_000, '{"a":' * 100_000, "[" * 70 + "]" * 70, "1" * 5000, "[1"]


@pytest.mark.parametrize("text", [*TOML, *JSON], ids=lambda text: text[:6])
def test_texts_are_bounded(text, tmp_path):
    (tmp_path / "text").write_text(text)
    for read in (untrusted.read_toml, untrusted.read_json):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            read(tmp_path / "text")


def test_no_reader_of_texts_shows_the_words_of_python(tmp_path):
    path = tmp_path / "text"
    for content, words in {
        '"Straße"'.encode("cp1252"): "it is not UTF-8",
        b'["a" "b"]': "wrong JSON at character 6",
        b"": "wrong JSON at character 1",
        b"9" * 5000: "thousands of digits",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            untrusted.read_json(path)
    path.write_bytes('a = "Straße"'.encode("cp1252"))
    for read in (untrusted.read_text, untrusted.read_toml):
        with pytest.raises(ValueError, match="text is not UTF-8"):
            read(path)


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    count: Annotated[int, msgspec.Meta(ge=0)]
    names: Annotated[list[str], msgspec.Meta(min_length=1)] = []
    kind: Literal["a", "b"] = "a"
    shares: dict[str, float | None] = {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("3", "it must be a table, not a whole number"),
        ("[]", "it must be a table, not a list"),
        ("{}", "it lacks 'count'"),
        ('{"count": "3"}', "count must be a whole number, not a text"),
        ('{"count": -1}', "count must be a whole number >= 0"),
        ('{"count": 3, "names": []}', "names must be a list of length >= 1"),
        ('{"count": 3, "names": ["a", null]}', "names[1] must be a text, not null"),
        ('{"count": 3, "kind": "x"}', "kind cannot be 'x'"),
        ('{"count": 3, "shares": {"a": true}}', "shares[...] must be a number or null, not true or false"),
        ('{"count": 3, "fog": 1}', "it has an unknown key 'fog'"),
        ('{"count": 3', "it is not JSON"),
        ('{"count": 3}}', "it is not JSON"),
    ],
)
def test_a_value_of_another_form_is_described_in_our_words(content, words):
    with pytest.raises(msgspec.MsgspecError) as wrong:
        msgspec.json.decode(content, type=Entry)
    assert untrusted.cause(wrong.value) == words


def test_files_of_numbers_are_described_in_our_words(tmp_path):
    safetensors = pytest.importorskip("safetensors", reason="needs safetensors: pip install '.[train]'")
    for content in (b"", b"\0" * 64, b"\7" + b"\0" * 7 + b"[0, 1e4"):
        with pytest.raises(safetensors.SafetensorError) as wrong:
            safetensors.deserialize(content)
        assert untrusted.cause(wrong.value) == "it cannot be read as safetensors"
        (tmp_path / "array.npy").write_bytes(content[:9] + b"?")
        with pytest.raises(ValueError, match=r".") as wrong:
            untrusted.load_array(tmp_path / "array.npy")
        assert not IN_PYTHON.search(untrusted.cause(wrong.value))


@given(
    st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_whatever_is_not_too_deep_comes_back(value):
    assert untrusted.parse_json(json.dumps(value)) == value
    deep = ".".join("abcdefgh")
    assert untrusted.parse_toml(f"{deep} = 1\n[x]\n{deep} = 2")["x"]["a"]["b"]["c"]["d"]["e"]["f"]["g"] == {
        "h": 2
    }


def test_no_path_leads_outside(tmp_path):
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "deep").mkdir(parents=True)
    outside.mkdir()
    (home / "link").symlink_to(outside)
    (home / "deep" / "link").symlink_to(outside / "absent")
    assert untrusted.inside(home, "deep/file") == home / "deep" / "file"
    assert untrusted.folder(home, "new/deeper").is_dir()
    for name in ("", "/etc/passwd", "..", "deep/../../outside", "link", "link/file", "deep/link", "a\0b"):
        with pytest.raises(RefusedError):
            untrusted.folder(home, name)
    assert not any(outside.iterdir())


def test_no_array_is_unpickled(tmp_path):
    path = tmp_path / "objects.npy"
    np.save(path, np.array([Marking(str(tmp_path / "mark"))], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="objects"):
        untrusted.load_array(path)
    path.write_bytes(pickle.dumps(Marking(str(tmp_path / "mark"))))
    with pytest.raises(ValueError, match="pickle"):
        untrusted.load_array(path, mmap_mode="r")
    assert not (tmp_path / "mark").exists()
    np.save(path, np.arange(3))
    assert untrusted.load_array(path, mmap_mode="r").tolist() == [0, 1, 2]


def test_hdf5_arrays_lie_in_the_file(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.arange(3)
    (tmp_path / "raw").write_bytes(b"\0" * 24)
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "secret", (3,))
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["group/own"] = np.arange(3)
        file["soft"] = h5py.SoftLink("/group")
        file["linked"] = h5py.ExternalLink("other.h5", "secret")
        file.create_dataset("external", (3,), "i8", external=[(str(tmp_path / "raw"), 0, 24)])
        file.create_virtual_dataset("virtual", layout)
    with untrusted.open_hdf5(tmp_path / "file.h5") as file:
        assert untrusted.array_in(file, "group/own").shape == (3,)
        for name in ("soft/own", "linked", "external", "virtual", "absent", "group"):
            with pytest.raises(RefusedError, match=name):
                untrusted.array_in(file, name)


def test_pictures_are_png_or_jpeg(tmp_path):
    for mode in ("1", "LA", "P", "RGBA", "I;16"):
        Image.new(mode, (5, 4)).save(tmp_path / "a.png")
        picture = untrusted.open_picture(tmp_path / "a.png")
        assert (picture.mode, picture.size) == ("RGB", (5, 4))
    levels = np.array([[0, 255, 256, 32768, 65535]], np.uint16)
    exif = Image.Exif()
    exif[0x112] = 6  # to be turned right by 90 degrees
    Image.fromarray(levels).save(tmp_path / "a.png", exif=exif)
    upright = np.asarray(untrusted.open_picture(tmp_path / "a.png"))
    assert upright[:, 0].tolist() == [[level] * 3 for level in (0, 0, 1, 128, 255)]
    Image.new("RGB", (5, 4)).save(tmp_path / "exif.png", exif=b"MM\0*\0\0")
    Image.new("RGB", (5, 4)).save(tmp_path / "a.gif")
    (tmp_path / "cut.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    for name in ("a.gif", "cut.png", "exif.png"):
        with pytest.raises((RefusedError, OSError)):
            untrusted.open_picture(tmp_path / name)
    Image.new("RGB", (5, 4)).save(tmp_path / "a.eps")  # Pillow starts another program to read it
    for name in ("a.gif", "a.eps"):
        with pytest.raises(RefusedError, match=f"{name} .*PNG or JPEG"):
            untrusted.parse_picture((tmp_path / name).read_bytes(), name)
    assert untrusted.parse_picture((tmp_path / "a.png").read_bytes(), "a").size == (5, 1)


MARKUP = ["<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "a|b", "a\n# b", "\x1b[2J", "</td>"]


@pytest.mark.parametrize("text", MARKUP)
def test_markdown_holds_no_markup_of_a_text(text):
    escaped = markdown(text)
    assert not {"|", "\n", "\x1b"} & set(escaped)
    assert not any(part in escaped for part in ("](", "<img", "</"))


@given(st.text())
def test_matplotlib_sees_no_mathematics(text):
    cbook = pytest.importorskip("matplotlib.cbook", reason="needs matplotlib: pip install '.[train]'")
    label = figure_text(text)
    assert not cbook.is_math_text(label)
    assert label
    assert not label.startswith("_")  # which a legend would leave out
    assert figure_text("two\nlines") == "two\nlines"


@pytest.mark.parametrize(
    ("text", "words"), [("a = 1\nb 2", "wrong TOML, at line 2"), ("[x]\n[x]\n", "a name twice, at line 2")]
)
def test_toml_is_refused_in_our_words(text, words):
    with pytest.raises(ValueError, match=words):
        parse_toml(text)


def test_urls_are_printed_without_secrets():
    shown = {
        "https://user:secret@host/town": "https://host/town",
        "s3://key:se@cret@bucket/town": "s3://bucket/town",
        "openai:https://h/v1?secret#m": "openai:https://h/v1",
        "https://host/town#token=secret, s3://b/a#b?c=d": "https://host/town, s3://b/a",
        "s3:/user:secret@bucket/a, https://h/x?sig=secret: no": "s3:/bucket/a, https://h/x: no",
    }
    shown |= {
        same: same
        for same in (
            "http://127.0.0.1:80/token/ asks",
            "openai:http://h/v1#m; no",
            "a@b.example: is it? C:/x",
            "s3://b/a#1?x",
        )
    }
    assert {text: printable(text) for text in shown} == shown


def test_a_page_may_run_only_its_own_blocks():
    page = "<style>a{}</style><script>f()</script>"
    policy = untrusted.page_policy(page, img="data:", script="'self'")
    assert all(part in policy for part in ("default-src 'none'", "img-src data:", "script-src 'sha256-"))
    assert policy.count("'sha256-") == 2
    assert "script-src 'none'" in untrusted.page_policy("<b>no script</b>")
