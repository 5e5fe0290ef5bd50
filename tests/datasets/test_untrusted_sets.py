"""Data sets of others: nothing outside the folder is read, written or removed, and one line says why."""

import os

import h5py
import numpy as np
import pytest

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.datasets.making import manifests
from simtown.datasets.making.shards import LAYOUT, PICTURES, _write_column, layout
from simtown.datasets.reading.locate import find
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.reading.remote import DirectoryStore
from simtown.datasets.reading.shard_file import FormError, Shard
from simtown.datasets.settings import Settings

SHARD = "train-00000.h5"


@pytest.fixture
def town(plain, copy, tmp_path):
    (tmp_path / "secret").write_bytes(b"a line of the reader's own\n" * 400)
    return copy(plain, "town")


def edited(directory, edit):
    with h5py.File(directory / SHARD, "r+", libver="v110") as file:
        edit(file)
    return directory


def external(file):
    del file["question"]
    secret = os.path.join(os.path.dirname(file.filename), "..", "secret")
    file.create_dataset("question", (20,), "S96", external=[(secret, 0, h5py.h5f.UNLIMITED)])


def with_chunk(name, content):
    """The array with one chunk's bytes exchanged."""
    return lambda file: file[name].id.write_direct_chunk((0,) * file[name].ndim, content)


ARRAYS = {
    "bytes of another file": external,
    "not zstd": with_chunk("margin", b"milk"),
    "a terabyte in lz4": with_chunk("images", (1 << 40).to_bytes(8, "big") + b"\x40\0\0\0\0\0\0\4milk"),
    "a chunk cut short": with_chunk("images", (48 * 48 * 3).to_bytes(8, "big") + b"\0\0\x1b\0\0\0\x1a\0milk"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_another_form_or_place_is_not_read(kind, town):
    split = open_dataset(edited(town, ARRAYS[kind])).train
    names = [name for name in LAYOUT if name not in PICTURES]
    with pytest.raises(DamagedError, match=SHARD):
        list(split.stream([*names, "images"], 20))


def test_a_count_is_no_more_than_the_file_can_hold(town, cli):
    """Of a shard without its data set, the attribute alone says how many rows there are."""
    for count in (10**9, -1, 1.5):
        edited(town, lambda file, count=count: file.attrs.create("count", count))
        cli("info", f"{town / SHARD}:7").refuses(SHARD, code=1)
    with pytest.raises(FormError, match="too few"):
        Shard(town / SHARD, layout(open_dataset(town).settings), 10**6)


@pytest.mark.parametrize(("name", "value"), [("entity", 200), ("prop", -2), ("weather", 7), ("pose", np.nan)])
def test_a_scene_that_cannot_be_is_not_drawn(name, value, town):
    """Its numbers would be indices out of range in compiled code, or hours of work."""

    def edit(file):
        data = file[f"scene/{name}"][:]
        data[3] = value
        file[f"scene/{name}"][:] = data

    split = open_dataset(edited(town, edit)).train
    with pytest.raises(DamagedError, match="stand for nothing"):
        split.scenes()
    alone, row, _ = find(f"{town / SHARD}:3")
    with pytest.raises(DamagedError, match="stand for nothing"):
        alone.scenes(np.array([row]))


#: Columns of sequences, of families and of the paper's questions, and values that stand for nothing.
COLUMNS = [
    (0, "order", 9), (0, "sequence", -1), (0, "scene/motion", np.inf), (0, "scene/seconds", np.nan),
    (0, "scene/cameras", -1e30), (0, "scene/edited", 77), (0, "value", 30_000), (1, "value", -1),
    (1, "family", 255), (1, "program", -5), (1, "question", b"\xc3("), (2, "relation", 12),
    (2, "subject", -1), (2, "object", 9999), (2, "subject_slot", 6),
]  # fmt: skip


@pytest.fixture
def sets(families_town, plain, dataset_of):
    few = {"n": 8, "val": 2, "test": 2, "width": 32, "height": 32}
    return dataset_of(Settings(entities=15, sequence="time", **few)), families_town, plain


@pytest.mark.parametrize(("which", "name", "value"), COLUMNS)
def test_a_number_that_stands_for_nothing_is_refused(which, name, value, sets, copy):
    town = copy(sets[which], "town")
    rows = open_dataset(town).train.column(name).copy()
    rows[3] = value

    def edit(file):
        del file[name]
        _write_column(file, name, rows)

    with pytest.raises(DamagedError, match="verify"):
        list(open_dataset(edited(town, edit)).train)


MANIFESTS = {
    "a name that leads out": lambda manifest: manifest["shards"].update({"../../x.h5": {}}),
    "more examples": lambda manifest: manifest["shards"][SHARD].update(examples=10**12),
    "a shard that is not listed": lambda manifest: manifest["shards"].pop(SHARD),
    "huge n": lambda manifest: manifest["settings"].update(n=10**18),
    "fewer names": lambda manifest: manifest["names"].update(entities=["sedan"]),
    "fewer counts": lambda manifest: manifest["summary"]["train"].update(answer=[1]),
    "another layout": lambda manifest: manifest.update(schema=[2]),
    "another world": lambda manifest: manifest["settings"].update(catalogue=77),
}


@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_manifest_that_its_settings_cannot_make_is_refused(kind, town, cli):
    manifest = manifests.load(town)
    MANIFESTS[kind](manifest)
    manifests.save(town, manifest)
    cli("info", town).refuses("manifest.json", code=1)


@pytest.mark.parametrize("name", ["manifest.json", "timings.json", SHARD, "preview.png"])
def test_nothing_is_written_or_read_through_a_link(name, plain, copy, tmp_path, cli):
    """generate continues in the folder; what its links lead to stays as it was."""
    words = ["--entities", 3, "--n", 4, "--val", 0, "--test", 0, "--size", 32, "--shard", 2, "--workers", 1]
    town, outside = tmp_path / "town", tmp_path / "outside"
    cli("generate", *words, "--out", town).succeeds()
    (town / name).rename(outside)
    (town / name).symlink_to(outside)
    before = outside.read_bytes()
    outcome = cli("generate", *words, "--out", town)
    assert outcome.code == 0 or "symbolic link" in outcome.messages[0]
    (town / "train-00001.h5").unlink()
    cli("generate", *words, "--out", town)
    assert outside.read_bytes() == before


def test_folders_of_shards_are_not_links(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "town").mkdir()
    (tmp_path / "town" / "train").symlink_to(tmp_path / "outside")
    store, name = DirectoryStore(tmp_path / "town"), "train/00000/train-00000.h5"
    for use in (store.making, store.reading):
        with pytest.raises(RefusedError, match="symbolic link"), use(name):
            pass
    with pytest.raises(RefusedError, match="symbolic link"):
        store.check([name])
    assert not list((tmp_path / "outside").iterdir())


def test_only_files_that_we_began_are_removed(town, tmp_path):
    kept = [".train-00000.h5.0123456789abcdef.tmp", ".val-00000.h5.0123456789abcdef.tmp", ".notes.77.tmp"]
    (tmp_path / "outside").write_bytes(b"mine")
    (town / kept[0]).symlink_to(tmp_path / "outside")
    (town / kept[1]).mkdir()
    (town / kept[2]).write_bytes(b"of the user")
    (town / ".train-00001.h5.0123456789abcdef.tmp").write_bytes(b"ours")
    DirectoryStore(town).tidy()
    assert sorted(path.name for path in town.glob(".*")) == sorted(kept)
    assert (tmp_path / "outside").read_bytes() == b"mine"
