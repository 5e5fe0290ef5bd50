"""Shards of a stranger: whatever lies in one, nothing else is read, nothing is unpacked that was not
measured, and one line says why.

HDF5 follows links, reads other files as if they were part of its own, unpacks what claims any size, and loads
a plug-in for a filter.
"""

import os
import resource
import struct
import sys
from contextlib import closing

import h5py
import hdf5plugin
import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.datasets import manifests
from simtown.datasets.locate import find
from simtown.datasets.making import entry
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.shards import LAYOUT, PICTURES, checksum, layout, tasks
from simtown.datasets.stored import FormError, Shard, open_alone
from simtown.datasets.verify import verify
from simtown.render.frames import LARGEST

SHARD = "train-00000.h5"
SECRET = b"a line of the reader's own\n" * 400


def exchanged(file, name, **form):
    """The array, made anew in another form."""
    data = file[name][:]
    del file[name]
    return file.create_dataset(name, **{"data": data, **form})


def external(file, name):
    shape, kind = file[name].shape, file[name].dtype
    del file[name]
    file.create_dataset(
        name,
        shape,
        kind,
        external=[(os.path.join(os.path.dirname(file.filename), "..", "secret"), 0, h5py.h5f.UNLIMITED)],
    )


def virtual(file, name):
    data = file[name][:]
    with h5py.File(os.path.join(os.path.dirname(file.filename), "..", "other.h5"), "w") as other:
        other["x"] = data
        other.flush()
        form = h5py.VirtualLayout(data.shape, data.dtype)
        form[:] = h5py.VirtualSource(other["x"])
    del file[name]
    file.create_virtual_dataset(name, form)


def linked(file, name, link):
    file["moved"] = file[name]
    del file[name]
    file[name] = link


def chunked(name, content, mask=0, **form):
    """The array with one chunk's bytes as a stranger wrote them."""

    def edit(file):
        array = file[name]
        if form:
            shape, kind = form.pop("shape", array.shape), array.dtype
            del file[name]
            array = file.create_dataset(name, shape, kind, **form)
        array.id.write_direct_chunk((0,) * array.ndim, content, mask)

    return edit


def not_stored(file):
    kind, shape, chunks = file["scene/pose"].dtype, file["scene/pose"].shape, file["scene/pose"].chunks
    del file["scene/pose"]
    file.create_dataset("scene/pose", shape, kind, chunks=chunks, fillvalue=7, **hdf5plugin.Zstd(clevel=3))


def unknown_filter(file):
    data = file["margin"][:]
    del file["margin"]
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk(data.shape)
    made.set_filter(32000, h5py.h5z.FLAG_OPTIONAL, (1,))
    h5py.h5d.create(
        file.id, b"margin", h5py.h5t.NATIVE_FLOAT.copy(), h5py.h5s.create_simple(data.shape), made
    )


def set_attribute(name, value, **form):
    def edit(file):
        del file.attrs[name]
        file.attrs.create(name, value, **form)

    return edit


ZSTD = hdf5plugin.Zstd(clevel=3)
#: A frame that claims a terabyte, in one block of the byte 0 repeated.
FRAME = (
    b"\x28\xb5\x2f\xfd\xe0"
    + (1 << 40).to_bytes(8, "little")
    + struct.pack("<I", (1 | 1 << 1 | 100_000 << 3))[:3]
    + b"\0"
)
ARRAYS = {
    "bytes of another file": lambda file: external(file, "question"),
    "pictures of another file": lambda file: external(file, "images"),
    "virtual": lambda file: virtual(file, "answer"),
    "link to another file": lambda file: linked(file, "question", h5py.ExternalLink("../other.h5", "/x")),
    "link inside": lambda file: linked(file, "question", h5py.SoftLink("/moved")),
    "group of another file": lambda file: linked(file, "scene", h5py.ExternalLink("../other.h5", "/")),
    "link to a group inside": lambda file: linked(file, "scene", h5py.SoftLink("/moved")),
    "no group": lambda file: linked(file, "scene", file["answer"]),
    "no array": lambda file: linked(file, "answer", file["scene"]),
    "texts of any length": lambda file: exchanged(
        file, "question", data=np.full(20, b"x" * 200_000, dtype=object), dtype=h5py.string_dtype()
    ),
    "references": lambda file: exchanged(
        file, "answer", data=np.array([file.ref] * 20, dtype=object), dtype=h5py.ref_dtype
    ),
    "other byte order": lambda file: exchanged(file, "margin", dtype=">f4", chunks=(20,), **ZSTD),
    "fewer rows": lambda file: exchanged(file, "margin", data=file["margin"][:-2], chunks=(18,), **ZSTD),
    "a thousand million rows": lambda file: exchanged(
        file, "margin", data=None, shape=(10**9,), dtype="<f4", chunks=(512,), **ZSTD
    ),
    "rows without bytes": not_stored,
    "chunks of a gigabyte": chunked("margin", b"x" * 40, chunks=(1 << 28,), maxshape=(None,), **ZSTD),
    "pictures in one chunk": lambda file: exchanged(
        file, "images", chunks=file["images"].shape, **hdf5plugin.LZ4()
    ),
    "gzip": lambda file: exchanged(file, "margin", chunks=(20,), compression="gzip"),
    "two filters": lambda file: exchanged(file, "margin", chunks=(20,), shuffle=True, **ZSTD),
    "no filter": lambda file: exchanged(file, "images", chunks=(1, *file["images"].shape[1:])),
    "no chunks": lambda file: exchanged(file, "margin"),
    "a plug-in": unknown_filter,
    "a terabyte in zstd": chunked("margin", FRAME),
    "zstd of no stated size": chunked("margin", b"\x28\xb5\x2f\xfd\x00\x58" + FRAME[-4:]),
    "no zstd": chunked("margin", b"milk"),
    "a terabyte in lz4": chunked("images", struct.pack(">QII", 1 << 40, 1 << 30, 4) + b"milk"),
    "lz4 that reads beyond its end": chunked(
        "images", struct.pack(">QII", 48 * 48 * 3, 48 * 48 * 3, 48 * 48 * 3) + b"milk"
    ),
    "a chunk that no filter packed": chunked("margin", b"milk", mask=1),
}
#: Of pictures, which nothing but pictures are read for; and of bytes that are looked at when they are read,
#: not before.
PICTURED = {
    "pictures of another file",
    "pictures in one chunk",
    "no filter",
    "a terabyte in lz4",
    "lz4 that reads beyond its end",
}
UNPACKED = {
    "a terabyte in zstd",
    "zstd of no stated size",
    "no zstd",
    "a terabyte in lz4",
    "lz4 that reads beyond its end",
}
DEPTHS = {
    "a terabyte": struct.pack(">QI", 1 << 40, 8192) + b"milk",
    "no blocks": struct.pack(">QI", 64 * 32 * 4, 0) + b"milk",
    "odd blocks": struct.pack(">QI", 64 * 32 * 4, 33) + b"milk",
    "beyond the end": struct.pack(">QI", 64 * 32 * 4, 8192) + struct.pack(">I", 1 << 30) + b"milk",
    "too much": struct.pack(">QI", 64 * 32 * 4, 8192) + struct.pack(">I", 4) + b"milk and honey",
}
ATTRIBUTES = {
    "gone": lambda file: file.attrs.__delitem__("tried"),
    "a long array": set_attribute("tried", np.zeros(10_000)),
    "many texts": set_attribute("tried", ["{}"] * 100),
    "a reference": lambda file: set_attribute("tried", file.ref, dtype=h5py.ref_dtype)(file),
    "no JSON": set_attribute("tried", "{"),
    "nested": set_attribute("tried", "[" * 60_000),
    "too long": set_attribute("tried", " " * 200_000),
    "no counts": set_attribute("tried", '{"entity": [1]}'),
    "no lists": set_attribute("tried", '{"entity": 7}'),
    "no list": set_attribute("summary", '[["answer", 1]]'),
    "endless": set_attribute("summary", '{"answer": [1e999, NaN]}'),
    "huge": set_attribute("summary", '{"answer": [1' + "0" * 400 + ", 1]}"),
    "negative": set_attribute("summary", '{"answer": [-1, 1]}'),
}


@pytest.fixture
def town(plain, copy, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    return copy(plain, "town")


@pytest.fixture
def little_memory():
    """The process takes no more than 300 MB beyond what it had."""

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    before = peak()
    yield
    assert peak() - before < 300_000_000


def changed(directory, edit):
    with h5py.File(directory / SHARD, "r+", libver="v110") as file:
        edit(file)
    return directory


def reads(directory):
    """What a reader of the whole split gets."""
    split = open_dataset(directory).train
    return [*(split.column(name) for name in LAYOUT if name not in PICTURES), split.images(range(len(split)))]


@pytest.mark.parametrize("kind", ARRAYS)
def test_what_is_no_plain_array_is_not_read(kind, town, little_memory, cli):
    changed(town, ARRAYS[kind])
    with pytest.raises(DamagedError, match=SHARD):
        reads(town)
    with pytest.raises(DamagedError, match=SHARD):  # the first batch of an export has every column
        list(
            open_dataset(town).train.stream([*(name for name in LAYOUT if name not in PICTURES), "images"], 5)
        )
    if kind not in PICTURED:
        with pytest.raises(DamagedError, match=SHARD):
            find(f"{town / SHARD}:0").columns()
        cli("info", f"{town / SHARD}:3").refuses(SHARD, "simtown verify", code=1)
    if kind not in UNPACKED:
        with pytest.raises(DamagedError, match=SHARD):
            entry_of(town)


def entry_of(directory):
    """What generate asks of a shard that it finds."""
    settings = Settings.from_resolved(manifests.load(directory)["settings"])
    return entry(directory / SHARD, settings, tasks(settings)[0])


@pytest.mark.parametrize(
    "kind",
    ["bytes of another file", "virtual", "a terabyte in zstd", "rows without bytes", "texts of any length"],
)
def test_verify_names_them(kind, town):
    """Sealed anew, as a deceiver would."""
    path, manifest = changed(town, ARRAYS[kind]) / SHARD, manifests.load(town)
    manifest["shards"][SHARD].update(sha256=checksum(path), bytes=path.stat().st_size)
    manifests.save(town, manifest)
    problems = verify(town, None).problems
    assert len(problems) in (1, 2)  # what was moved has another name
    assert all(problem.startswith(SHARD) and "reader's own" not in problem for problem in problems)


@pytest.mark.parametrize("kind", DEPTHS)
def test_depth_that_unpacks_to_something_else_is_not_read(kind, rich, copy, little_memory):
    town = changed(copy(rich, "town"), chunked("depth", DEPTHS[kind]))
    split = open_dataset(town).train
    with pytest.raises(DamagedError, match="depth"):
        split.images([0], "depth")
    assert split.images([1], "depth").shape == (1, 32, 64)


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_attributes_are_small_and_plain(kind, town, little_memory):
    changed(town, ATTRIBUTES[kind])
    with pytest.raises(DamagedError, match=SHARD):
        entry_of(town)


def test_a_count_is_no_more_than_its_file_can_hold(town, little_memory, cli):
    """Of a shard without its data set, the attribute alone says how many rows there are."""
    changed(town, set_attribute("count", 10**9))
    cli("info", f"{town / SHARD}:7").refuses(SHARD, "1,000,000,000 examples", code=1)
    changed(town, set_attribute("count", -1))
    cli("info", f"{town / SHARD}:7").refuses(SHARD, code=1)
    changed(town, set_attribute("count", 1.5))
    cli("info", f"{town / SHARD}:7").refuses(SHARD, code=1)
    settings = open_dataset(town).settings
    with pytest.raises(FormError, match="too few"):
        Shard(town / SHARD, layout(settings), 10**6)


NUMBERS = {
    "answer": 7,
    "subject": -1,
    "object": 32_767,
    "relation": 4,
    "subject_slot": 2,
    "object_slot": 255,
    "phrasing": 200,
    "tokens": 255,
    "margin": np.nan,
    "boxes": np.inf,
    "visible": -np.inf,
    "question": b"\x1b]0;owned\x07",
    "scene/entity": 25,  # in the catalogue, but not in this world
    "scene/paint": 99,
    "scene/prop": -2,
    "scene/weather": 7,
    "scene/camera": 1e30,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_stand_for_nothing_are_not_read(name, town):
    """They would be places beyond the end of a list, or commands to a terminal."""

    def edit(file):
        data = file[name][:]
        data.view("u1" if name == "answer" else data.dtype)[3:4] = NUMBERS[name]
        file[name][:] = data

    split = open_dataset(changed(town, edit)).train
    with pytest.raises(DamagedError, match=f"'{name}'"):
        split.column(name)
    with pytest.raises(DamagedError, match=f"'{name}'"):
        list(split.stream([name], 5))


def test_a_question_is_about_two_vehicles(town):
    """The third is found by the two others."""
    split = open_dataset(
        changed(town, lambda file: file["subject_slot"].write_direct(file["object_slot"][:]))
    ).train
    with pytest.raises(DamagedError, match="one vehicle"):
        list(split.stream(["subject_slot", "object_slot"], 5))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [("intensity", (), 999_999), ("intensity", (), -1), ("camera", (5,), 0), ("camera", (5,), -1)],
)
def test_a_scene_that_takes_hours_to_draw_is_not_drawn(name, place, value, town):
    """As many flakes as the snow is strong; reflections of a camera without a focal length."""

    def edit(file):
        file[f"scene/{name}"][(0, *place)] = value

    split = open_dataset(changed(town, edit)).train
    with pytest.raises(DamagedError, match="stand for nothing"):
        split.scenes(slice(0, 1))
    with pytest.raises(DamagedError, match="stand for nothing"):
        find(f"{town / SHARD}:0").scene()


def test_a_user_block_is_refused(town):
    path = town / SHARD
    path.rename(town / "whole")
    with h5py.File(path, "w", userblock_size=512) as file, h5py.File(town / "whole") as whole:
        for name in (*whole, *whole.attrs):
            if name in whole:
                whole.copy(name, file)
            else:
                file.attrs[name] = whole.attrs[name]
    with pytest.raises(DamagedError, match="before the data"):
        reads(town)
    with pytest.raises(FormError, match="before the data"):
        open_alone(path)


@pytest.mark.parametrize("kind", ["a symbolic link", "a directory", "a special file"])
def test_what_is_no_plain_file_is_not_opened(kind, town, cli):
    """A pipe that nobody writes to would never end."""
    path = town / SHARD
    path.rename(town.parent / "elsewhere.h5")
    {
        "a symbolic link": lambda: path.symlink_to("../elsewhere.h5"),
        "a directory": path.mkdir,
        "a special file": lambda: os.mkfifo(path),
    }[kind]()
    with pytest.raises(RefusedError, match=f"{SHARD} is {kind}"):
        open_dataset(town)
    out = town.parent / "out"
    for words in (
        ["info"],
        ["preview"],
        ["gallery", "--out", out],
        ["export", "--to", "png", "--out", out],
    ):
        cli(words[0], town, *words[1:]).refuses(SHARD, kind)
    assert any(kind in problem for problem in verify(town, None).problems)
    with pytest.raises(RefusedError):
        entry_of(town)


def test_a_link_that_the_person_names_is_followed(plain, tmp_path):
    (tmp_path / "here").symlink_to(plain)
    (tmp_path / "one.h5").symlink_to(plain / SHARD)
    assert len(open_dataset(tmp_path / "here").train) == 20
    assert find(f"{tmp_path / 'one.h5'}:19").scene().scene(0).vehicles


def test_every_honest_chunk_passes(rich, plain, many):
    """Those of incompressible pictures too, and of the largest."""
    for directory in (rich, plain, many):
        reads(directory)


def test_the_largest_picture_is_one_block(tmp_path):
    """A block of LZ4 has up to a gigabyte, so a picture never has two."""
    size = LARGEST
    picture = np.random.default_rng(0).integers(0, 255, (1, size, size, 3), dtype=np.uint8)
    picture[0, : size // 2] = 9
    form = {"images": ((size, size, 3), np.dtype("u1"))}
    with h5py.File(tmp_path / "x.h5", "w", libver="v110") as file:
        file.create_dataset("images", data=picture, chunks=picture.shape, **hdf5plugin.LZ4())
    with closing(Shard(tmp_path / "x.h5", form, 1)) as shard:
        assert np.array_equal(shard.read("images"), picture)
