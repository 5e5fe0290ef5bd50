"""A data set is what its settings make: every kind of fault that was planted in one is found, also where
checksums were rewritten.

Nothing in a data set is believed, so a deceiver gains nothing by sealing it anew. Not proven are timings.json
and preview.png, which hold no data, and three words of the manifest that nothing can prove: the last line of
verify names those.
"""

import json
import os
import random
import shutil
from dataclasses import replace

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.untrusted import RefusedError
from simtown.datasets import manifests, shards
from simtown.datasets.generate import generate
from simtown.datasets.settings import Settings
from simtown.datasets.shards import LAYOUT, checksum, tasks
from simtown.datasets.verify import verify
from simtown.render.raster import Raster

SETTINGS = Settings(
    entities=12,
    n=12,
    val=4,
    test=4,
    width=32,
    height=32,
    seed=3,
    distractor=True,
    frequencies="zipf:0.5",
    relations=("left of", "right of", "behind"),
    phrasing="varied",
    weathers=("clear", "rain", "night"),
    jitter=0.5,
    masks=True,
    depth=True,
    shard=6,
)
SHARD = "train-00001.h5"  # examples 6 to 11
RENDERER = Raster()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole") / "town"
    generate(SETTINGS, directory, workers=1)
    return directory


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """The same settings but for the seed."""
    directory = tmp_path_factory.mktemp("foreign") / "town"
    generate(replace(SETTINGS, seed=4), directory, workers=1)
    return directory


@pytest.fixture
def town(whole, copy):
    return copy(whole, "town")


def problems(directory, renderer=RENDERER):
    """What verify finds when it draws every picture again, or none."""
    try:
        return verify(directory, renderer, pictures=None).problems
    except (DamagedError, ForeignDirectoryError, FileNotFoundError) as error:
        return [str(error)]


def found(directory, *words):
    """There are problems, none of several lines, and one of them holds all the words."""
    lines = problems(directory)
    assert lines, "nothing was found"
    assert not any("\n" in line for line in lines)
    assert any(all(word in line for word in words) for line in lines), lines


def entry(path, task):
    """What the manifest says of a shard, whatever its form."""
    with h5py.File(path) as file:
        told = {name: json.loads(file.attrs[name]) for name in ("tried", "summary")}
    return {"sha256": checksum(path), "bytes": path.stat().st_size, "examples": task.count, **told}


def reseal(directory):
    """Write the checksums of all shards, their counts and the manifest's own checksum anew, as a deceiver
    would.
    """
    manifest = manifests.load(directory)
    manifest.update(shards={}, summary={})
    for task in tasks(Settings.from_resolved(manifest["settings"])):
        if (directory / task.name).exists():
            manifests.enter(manifest, task, entry(directory / task.name, task))
    manifest["acceptance"] = manifests.acceptance(manifest["shards"])
    manifests.save(directory, manifest)


def change(directory, alter, name=SHARD):
    """Change what a shard holds and seal the data set anew."""
    with h5py.File(directory / name, "r+") as file:
        alter(file)
    reseal(directory)


def leaves(value, path=()):
    """Paths to every value in nested dictionaries and lists: of long lists to the second one alone, of shards
    to one.
    """
    for key in value if isinstance(value, dict) else range(1, min(2, len(value))):
        if path == ("shards",) and key != SHARD:
            continue
        yield (*path, key)
        if isinstance(value[key], dict | list):
            yield from leaves(value[key], (*path, key))


def test_the_whole_set_is_proven(whole):
    report = verify(whole, RENDERER, pictures=None)
    assert report.problems == []
    assert (
        report.summary
        == "12 entities, seed 3: 20 examples are what these settings make; all 20 pictures drawn again"
    )


# the manifest


def test_every_flipped_bit_of_the_manifest_is_found(town):
    path, chance = town / "manifest.json", random.Random(0)
    data = path.read_bytes()
    unnoticed = []
    for position in range(0, len(data), len(data) // 150):
        changed = bytearray(data)
        changed[position] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        if not problems(town):
            unnoticed.append((position, data[position - 20 : position + 20]))
    assert not unnoticed


@pytest.mark.parametrize(
    "change_bytes",
    [
        lambda data: data[:-1],
        lambda data: data + b"\n",
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b' "complete": true,', b' "complete": true,\n "complete": true,'),
        lambda data: data.replace(b"0.5,", b"0.50,"),
        lambda data: data.replace(b" ", b"\t", 1),
    ],
    ids=[
        "last byte gone",
        "one line more",
        "line ends",
        "byte order mark",
        "key twice",
        "number written otherwise",
        "tab",
    ],
)
def test_a_manifest_that_says_the_same_in_other_bytes_is_found(change_bytes, town):
    path = town / "manifest.json"
    data = path.read_bytes()
    path.write_bytes(change_bytes(data))
    assert path.read_bytes() != data
    found(town, "manifest.json")


def altered(value):
    """Other values of the same type."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 2, -value - 1]
        case float():
            return [value + 1e-3, float(np.nextafter(value, 1.0))]
        case str():
            return [value + "x", ""]
        case list():
            return [value[::-1], value[:-1]]
    return [{**value, "more": 1}, {}]


#: What nothing can prove once the manifest was sealed anew: the words in which verify says so.
UNPROVEN = {
    ("simtown",): "cannot be proven",
    ("libraries", "numpy"): "cannot be proven",
    ("libraries", "numba"): "cannot be proven",
    ("libraries", "h5py"): "cannot be proven",
    ("libraries", "hdf5plugin"): "cannot be proven",
    ("settings", "catalogue"): "were neither sampled nor drawn again",
    ("settings", "frequencies"): "the manifest's own table",
}


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sealed", [False, True], ids=["checksum left", "checksum rewritten"])
def test_every_edited_value_of_the_manifest_is_found(sealed, thorough, town):
    """Without the slow tests, every value is edited in one way: the ways in turn."""
    content = json.loads((town / "manifest.json").read_text())
    unnoticed = []
    for number, path in enumerate(leaves(content)):
        ways = list(edits(content, path))
        for value, edited in ways if thorough else [ways[number % len(ways)]]:
            if sealed:
                manifests.save(town, edited)
            else:
                (town / "manifest.json").write_text(json.dumps(edited, indent=1, sort_keys=True) + "\n")
            if problems(town, renderer=None) or (sealed and path == ("sha256",)):
                continue
            if path == ("settings", "jitter") and value == np.nextafter(SETTINGS.jitter, 1.0):
                continue  # rounded, cameras moved by the last bit more are the same: so is the data set
            if not (sealed and UNPROVEN.get(path, "nothing") in verify(town).summary):
                unnoticed.append((*path, value))
    assert not unnoticed


def edits(content, path):
    """The value at a path taken out (None), and replaced by others: (value, content)."""
    inner = content
    for key in path:
        inner = inner[key]
    for value in [None, *(other for other in altered(inner) if other != inner)]:
        edited = copy_of = json.loads(json.dumps(content))
        for key in path[:-1]:
            copy_of = copy_of[key]
        if value is None:
            del copy_of[path[-1]]
        else:
            copy_of[path[-1]] = value
        yield value, edited


def test_versions_that_made_a_set_have_a_form(town):
    """They cannot be proven, but they can be no other text."""
    for key in ("simtown", "libraries"):
        manifest = manifests.load(town)
        manifest[key] = "the newest" if key == "simtown" else {**manifest["libraries"], "numpy": "the newest"}
        manifests.save(town, manifest)
        found(town, "the newest", "version")
        manifests.save(town, {**manifest, key: manifests.fresh(SETTINGS)[key]})


def test_a_key_that_does_not_belong_is_found(town):
    content = manifests.load(town)
    for path in [
        (),
        ("settings",),
        ("libraries",),
        ("shards", SHARD),
        ("shards", SHARD, "tried"),
        ("acceptance",),
        ("acceptance", "entity"),
    ]:
        edited = json.loads(json.dumps(content))
        inner = edited
        for key in path:
            inner = inner[key]
        inner["stranger"] = [1, 1]
        manifests.save(town, edited)
        found(town, "stranger")


def test_a_table_of_frequencies_from_a_file_is_the_manifests_own(tmp_path):
    """The file may be gone or changed: the examples are compared with what the manifest's table makes, and
    the last line says so.
    """
    (tmp_path / "kinds.csv").write_text("entity,subject,object\na,6,1\nb,3,2\nc,1,7\n")
    settings = Settings(
        entities=3, n=60, val=2, test=2, width=32, height=32, frequencies=str(tmp_path / "kinds.csv")
    )
    generate(settings, tmp_path / "town", workers=1)
    (tmp_path / "kinds.csv").unlink()
    report = verify(tmp_path / "town", RENDERER)
    assert report.problems == []
    assert "the manifest's own table" in report.summary
    manifest = manifests.load(tmp_path / "town")
    manifest["settings"]["subject_frequencies"] = [0.1, 0.3, 0.6]
    manifests.save(tmp_path / "town", manifest)
    found(tmp_path / "town", "train-00000.h5")


# the shards


@pytest.mark.parametrize("fault", ["removed", "cut", "lengthened", "emptied", "exchanged"])
@pytest.mark.parametrize("sealed", [False, True], ids=["checksum left", "checksum rewritten"])
def test_a_shard_that_is_not_there_as_it_was_is_found(fault, sealed, town):
    path, other = town / SHARD, town / "train-00000.h5"
    data = path.read_bytes()
    if fault == "removed":
        path.unlink()
    elif fault == "exchanged":
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
    else:
        path.write_bytes({"cut": data[:-1], "lengthened": data + b"hidden", "emptied": b""}[fault])
    if sealed and fault in (
        "cut",
        "emptied",
    ):  # entry() reads no such file: its size and its checksum alone are rewritten
        manifest = manifests.load(town)
        manifest["shards"][SHARD].update(sha256=checksum(path), bytes=path.stat().st_size)
        manifests.save(town, manifest)
    elif sealed:
        reseal(town)
    found(town, SHARD)


def test_every_flipped_bit_of_a_shard_is_found(town):
    path, chance = town / SHARD, random.Random(1)
    data = path.read_bytes()
    for position in [0, len(data) - 1, *chance.sample(range(len(data)), 30)]:
        changed = bytearray(data)
        changed[position] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        found(town, SHARD, "checksum")


def other_value(row):
    """A row in which one number is another one, as near as its type allows."""
    row = np.array(row)
    flat = row.reshape(-1)
    if row.dtype.kind == "f":
        flat[-1] = np.nextafter(
            np.where(np.isfinite(flat[-1]), flat[-1], 1.0), np.float32(1e6), dtype=row.dtype
        )
    elif row.dtype.kind == "S":
        flat[-1] = flat[-1].replace(b"?", b"!")
    elif row.dtype.kind == "b":
        flat[-1] = not flat[-1]
    else:
        flat[-1] ^= 1
    return row


@pytest.mark.parametrize("name", LAYOUT)
def test_one_edited_number_of_any_array_is_found(name, town):
    def edit(file):
        before = file[name][4]
        file[name][4] = other_value(before)
        assert file[name][4].tobytes() != before.tobytes()

    change(town, edit)
    lines = problems(town)
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"{SHARD}: ")
    assert "example 10" in lines[0]


def test_weather_and_phrasing_that_are_as_good_as_the_right_ones_are_found(town):
    """Every scene agrees with its question and its answer; only the settings tell that they are others."""

    def edit(file):
        file["scene/weather"][:] = (file["scene/weather"][:] + 1) % 7

    change(town, edit)
    found(town, SHARD, "weather", "5 more")


def exchange(file, rows, by):
    """Rows of every array at once."""
    for name in LAYOUT:
        data = file[name][:]
        data[rows] = data[by]
        file[name][:] = data


@pytest.mark.parametrize(("rows", "by"), [([1, 4], [4, 1]), ([0, 1], [2, 3])], ids=["exchanged", "repeated"])
def test_examples_that_were_exchanged_or_repeated_are_found(rows, by, town):
    change(town, lambda file: exchange(file, rows, by))
    found(town, SHARD, f"example {6 + rows[0]}", f"example {6 + by[0]}")


@pytest.mark.parametrize("index", ["index left", "index rewritten"])
def test_shards_that_were_exchanged_are_found(index, town):
    one, two = town / "train-00000.h5", town / SHARD
    data = one.read_bytes(), two.read_bytes()
    for path, content, start in ((one, data[1], 0), (two, data[0], 6)):
        path.write_bytes(content)
        with h5py.File(path, "r+") as file:
            file.attrs["start"] = start
            if index == "index rewritten":
                file["index"][:] = np.arange(start, start + 6)
    reseal(town)
    found(town, one.name)
    found(town, two.name)


def test_splits_that_were_exchanged_are_found(town):
    val, test = town / "val-00000.h5", town / "test-00000.h5"
    data = val.read_bytes(), test.read_bytes()
    for path, content, split in ((val, data[1], "val"), (test, data[0], "test")):
        path.write_bytes(content)
        with h5py.File(path, "r+") as file:
            file.attrs["split"] = split
    reseal(town)
    found(town, val.name)
    found(town, test.name)


def test_a_shard_of_another_seed_is_found(town, foreign):
    shutil.copy(foreign / SHARD, town / SHARD)
    reseal(town)
    found(town, SHARD, "none of its examples", "all 6")


def test_a_set_of_another_seed_is_said_to_be_other_scenes(foreign, copy):
    """All of it agrees with itself: so would a user's own scenes, and verify says what may be the case."""
    town = copy(foreign)
    manifest = manifests.load(town)
    manifest["settings"]["seed"] = 3
    manifests.save(town, manifest)
    lines = problems(town)
    assert len(lines) == 1, lines
    assert "none of its 20 examples" in lines[0]
    assert "another seed" in lines[0]
    assert "your own" in lines[0]


def test_rejection_counts_that_were_edited_are_found(town):
    def edit(file):
        tried = json.loads(file.attrs["tried"])
        tried["placement"][0] += 1
        file.attrs["tried"] = json.dumps(tried, sort_keys=True)

    change(town, edit)
    found(town, SHARD, "tried")


@pytest.mark.parametrize("name", ["subject", "distractor", "weather", "paint", "hidden", "margin"])
@pytest.mark.parametrize("quick", [False, True])
def test_a_summary_that_was_edited_is_found(name, quick, town):
    """One example more and one less: the sum is what it was."""

    def edit(file):
        summary = json.loads(file.attrs["summary"])
        place = int(np.argmax(summary[name]))
        summary[name][place] -= 1
        summary[name][place - 1] += 1
        file.attrs["summary"] = json.dumps(summary, sort_keys=True)

    change(town, edit)
    lines = verify(town, quick=quick).problems
    assert [line.split(":")[0] for line in lines] == ["manifest.json", SHARD]
    assert f"'summary.train.{name}'" in lines[0]
    assert "'summary'" in lines[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("schema", 3), ("split", "val"), ("start", 0), ("count", 5), ("schema", 2.0), ("tried", "{}")],
)
def test_attributes_that_were_edited_are_found(name, value, town):
    def edit(file):
        del file.attrs[name]
        file.attrs[name] = value

    change(town, edit)
    found(town, SHARD, f"'{name}'")


def add_user_block(directory):
    path = directory / SHARD
    data = path.read_bytes()
    with h5py.File(path, "w", userblock_size=512, libver="v110"):
        pass
    path.write_bytes(path.read_bytes()[:512].replace(b"\0", b"x") + data)


STRANGERS = {
    "an array": lambda file: file.create_dataset("hidden", data=np.arange(6)),
    "an array among the scenes": lambda file: file.create_dataset("scene/hidden", data=np.arange(6)),
    "a group": lambda file: file.create_group("hidden"),
    "a type": lambda file: file.__setitem__("hidden", np.dtype("f8")),
    "an attribute of the file": lambda file: file.attrs.update(hidden=1),
    "an attribute of the scenes": lambda file: file["scene"].attrs.update(hidden=1),
    "an attribute of an array": lambda file: file["answer"].attrs.update(hidden=1),
    "an attribute of a scene's array": lambda file: file["scene/pose"].attrs.update(hidden=1),
    "a soft link": lambda file: file.__setitem__("hidden", h5py.SoftLink("/answer")),
    "a link to another file": lambda file: file.__setitem__(
        "hidden", h5py.ExternalLink("train-00000.h5", "/answer")
    ),
    "another name of an array": lambda file: file.__setitem__("hidden", file["answer"]),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_what_does_not_belong_in_a_shard_is_named(stranger, town):
    change(town, STRANGERS[stranger])
    found(town, SHARD, "hidden")


def elsewhere(kind):
    """Puts something else in the place of an array, which reads the same."""

    def edit(file):
        data = file["answer"][:]
        del file["answer"]
        if kind == "external file":
            place = os.path.join(os.path.dirname(file.filename), "raw")
            file.create_dataset("answer", data.shape, data.dtype, external=[(place, 0, 100)])
            file["answer"][:] = data
        elif kind == "virtual":
            layout = h5py.VirtualLayout(data.shape, data.dtype)
            layout[:] = h5py.VirtualSource("train-00000.h5", "answer", data.shape)
            file.create_virtual_dataset("answer", layout)
        elif kind == "link to another file":
            file["answer"] = h5py.ExternalLink("train-00000.h5", "/answer")
        elif kind == "group":
            file.create_group("answer")
        elif kind == "other type":
            file["answer"] = data.astype("u1")
        else:
            file["answer"] = data[:-1]

    return edit


@pytest.mark.parametrize(
    "kind", ["external file", "virtual", "link to another file", "group", "other type", "other shape"]
)
def test_an_array_that_is_not_in_its_shard_as_it_should_be_is_found(kind, town):
    change(town, elsewhere(kind))
    found(town, SHARD, "answer")


@pytest.mark.parametrize("name", LAYOUT)
def test_an_array_that_is_gone_is_found(name, town):
    change(town, lambda file: file.__delitem__(name))
    found(town, SHARD, name)


def test_bytes_before_the_data_are_found(town):
    add_user_block(town)
    reseal(town)
    found(town, SHARD, "bytes")


@pytest.mark.parametrize(
    "form", [{"compression": "gzip"}, {"chunks": (3, 32, 32, 3), "compression": 32004}, {}], ids=str
)
def test_an_array_in_other_chunks_or_filters_is_found(form, town):
    """Its reader would unpack what it cannot measure before."""

    def rewrite(file):
        data = file["images"][:]
        del file["images"]
        file.create_dataset("images", data=data, **form)

    change(town, rewrite)
    found(town, SHARD, "images")


# the directory


MANY = Settings(entities=3, n=24, val=2, test=2, width=32, height=32, shard=2)


def test_shards_in_folders_are_found_where_they_belong(tmp_path, cli, monkeypatch):
    """Twelve shards in folders of ten stand for more than a thousand in folders of a thousand."""
    monkeypatch.setattr(shards, "FOLDER", 10)
    town = tmp_path / "town"
    generate(MANY, town, workers=1)
    assert sorted(path.name for path in town.iterdir()) == [
        "manifest.json",
        "test-00000.h5",
        "timings.json",
        "train",
        "val-00000.h5",
    ]
    assert [len(list((town / "train" / folder).iterdir())) for folder in ("00000", "00001")] == [10, 2]
    assert problems(town) == []
    last = town / "train" / "00001" / "train-00011.h5"
    of_split, of_shard = (
        cli("info", where).succeeds().out.partition("question")[2]
        for where in (f"{town}/train:23", f"{last}:1")
    )
    assert of_split == of_shard != ""
    (town / "train" / "notes.txt").write_text("milk")
    (town / "train" / "00001" / ".train-00011.h5.0000000000000077.tmp").write_bytes(b"half")
    (town / "train" / "00002").mkdir()
    (town / "train" / "00002" / "train-00020.h5").write_bytes(last.read_bytes())
    (town / "val").mkdir()
    (town / "val" / "00000").mkdir()
    (town / "train-00000.h5").write_bytes(last.read_bytes())
    last.unlink()
    lines = problems(town)
    assert [line.split(":")[0] for line in lines] == [
        "train-00000.h5",
        "train/00002",
        "train/notes.txt",
        "val",
        "train/00001/.train-00011.h5.0000000000000077.tmp",
        "train/00001/train-00011.h5",
    ]
    for stranger in ("train-00000.h5", "train/notes.txt"):
        (town / stranger).unlink()
    shutil.rmtree(town / "train" / "00002")
    shutil.rmtree(town / "val")
    generate(MANY, town, workers=1)
    assert problems(town) == []


@pytest.mark.parametrize("name", ["notes.txt", ".notes", "train-00002.h5", "train-0.h5", "copy.h5"])
def test_a_file_that_does_not_belong_is_named(name, town):
    (town / name).write_bytes((town / SHARD).read_bytes())
    found(town, name, "does not belong")


def test_a_directory_that_does_not_belong_is_named(town):
    (town / "more").mkdir()
    found(town, "more", "does not belong")


def test_what_a_killed_job_left_is_named(town):
    (town / ".train-00001.h5.0000000000000077.tmp").write_bytes(b"half")
    found(town, ".train-00001.h5.0000000000000077.tmp", "killed")


@pytest.mark.parametrize("name", [SHARD, "manifest.json", "timings.json"])
def test_a_symbolic_link_in_place_of_a_file_is_named(name, town, tmp_path):
    (town / name).rename(tmp_path / "elsewhere")
    (town / name).symlink_to(tmp_path / "elsewhere")
    if name == "manifest.json":
        with pytest.raises(RefusedError, match="symbolic link"):
            verify(town)
    else:
        found(town, name, "symbolic link")


def test_what_holds_no_data_may_be_anything(town):
    """Timings and pictures of it are for people; a set without them is whole, too."""
    for name in ("timings.json", "preview.png"):
        (town / name).write_text("anything")
        assert problems(town) == []
        (town / name).unlink()
        assert problems(town) == []


# the command


def test_pictures_that_were_not_drawn_are_found_when_all_are(town, cli):
    def spoil(file):
        for row in range(6):
            file["images"][row] = file["images"][row] ^ 1

    change(town, spoil)
    cli("verify", town, "--pictures", 0).succeeds()
    assert cli("verify", town, "--all").code == 1
    found(town, SHARD, "picture", "5 more")


def test_the_quick_check_says_what_it_did_not_prove(foreign, copy, cli):
    """A set of another seed agrees with itself."""
    town = copy(foreign)
    manifest = manifests.load(town)
    manifest["settings"]["seed"] = 3
    manifests.save(town, manifest)
    quick = cli("verify", town, "--quick").succeeds()
    assert "not proven" in quick.out
    assert "--quick" in quick.out
    assert cli("verify", town).code == 1
