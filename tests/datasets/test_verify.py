"""Checking a data set: every kind of damage is found and told in one line each, and nothing else is."""

import json

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.datasets import manifest as manifests
from simtown.datasets.reader import open_dataset
from simtown.datasets.shards import checksum
from simtown.datasets.verify import verify
from simtown.render.raster import Raster

SHARD = "train-00001.h5"  # examples 10 to 19


@pytest.fixture
def town(rich, copy):
    return copy(rich, "town")


def rewrite(directory, change, name=SHARD):
    """Change a shard and put its new checksum into the manifest, as somebody who wants to deceive would."""
    with h5py.File(directory / name, "r+") as file:
        change(file)
    manifest = manifests.load(directory)
    manifest["shards"][name].update(sha256=checksum(directory / name), bytes=(directory / name).stat().st_size)
    manifests.save(directory, manifest)


def told(outcome, *problems):
    """Exit code 1, and exactly one line on stderr for each problem, holding its words."""
    lines = outcome.messages
    assert outcome.code == 1, outcome.err
    assert not outcome.out
    assert len(lines) == len(problems), outcome.err
    for line, words in zip(lines, problems, strict=True):
        assert line.startswith("simtown: ")
        for word in words:
            assert word in line


@pytest.mark.parametrize("which", ["plain", "rich", "many"])
def test_a_whole_data_set_is_right(which, request, cli, contents):
    directory = request.getfixturevalue(which)
    before = contents(directory)
    outcome = cli("verify", directory).succeeds()
    assert not outcome.messages
    assert outcome.out.endswith("all files and answers are right\n")
    assert str(sum(open_dataset(directory).settings.counts().values())) in outcome.out
    assert contents(directory) == before


def test_progress_hears_of_every_example(rich):
    heard = []
    assert verify(rich, progress=heard.append) == []
    assert sum(heard) == 24 + 8 + 6


@pytest.mark.parametrize("at", [0.0, 0.3, 0.999])
def test_a_flipped_bit(at, town, cli):
    data = bytearray((town / SHARD).read_bytes())
    data[int(at * len(data))] ^= 1
    (town / SHARD).write_bytes(data)
    told(cli("verify", town), [SHARD, "checksum"])


def test_a_missing_a_short_and_a_long_shard_have_a_line_each(town, cli):
    (town / SHARD).unlink()
    short, long = town / "val-00000.h5", town / "train-00000.h5"
    short.write_bytes(short.read_bytes()[:-1])
    long.write_bytes(long.read_bytes() + b"\0")
    told(cli("verify", town), [long.name, "bytes"], [SHARD, "missing"], [short.name, "bytes"])


def test_an_unfinished_set(town, cli):
    manifest = manifests.load(town)
    del manifest["shards"]["test-00000.h5"]
    manifests.save(town, {**manifest, "complete": False})
    (town / "test-00000.h5").unlink()
    told(cli("verify", town), ["unfinished", "generate"], ["test-00000.h5", "missing"])


def test_a_shard_the_manifest_does_not_know(town, cli):
    manifest = manifests.load(town)
    del manifest["shards"][SHARD]
    manifests.save(town, manifest)
    told(cli("verify", town), [SHARD, "manifest"])


def test_shards_that_changed_places(town, cli):
    """Each is a good shard, but not the one its name says."""
    one, two = town / "train-00000.h5", town / SHARD
    one.rename(town / "x")
    two.rename(one)
    (town / "x").rename(two)
    manifest = manifests.load(town)
    entries = manifest["shards"]
    entries[one.name], entries[two.name] = entries[two.name], entries[one.name]
    manifests.save(town, manifest)
    told(cli("verify", town), [one.name, "in order"], [two.name, "in order"])


def flip_answer(file):
    file["answer"][3] = not file["answer"][3]


def flip_pair(file):
    file["answer"][2:4] = ~file["answer"][2:4]


def put(name, row, value):
    def change(file):
        rows = file[name][:]
        rows[row] = value(rows[row]) if callable(value) else value
        file[name][:] = rows

    return change


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (flip_answer, [["contradicts the scene", "1 examples", "example 13"], ["not balanced", "example 12"]]),
        (flip_pair, [["contradicts the scene", "2 examples", "example 12"]]),
        (put("question", 4, b"Is a bus left of a taxi?"), [["words", "example 14"]]),
        (put("tokens", 5, lambda row: row[::-1].copy()), [["words", "example 15"]]),
        (put("boxes", 6, lambda row: row + 1), [["boxes", "example 16"]]),
        (put("visible", 7, lambda row: row * 0.5), [["visible", "example 17"]]),
        (put("images", 9, lambda row: row ^ 1), [["picture", "example 19"]]),
        (put("masks", 8, lambda row: row + 1), [["picture", "example 18"]]),
        (put("depth", 0, lambda row: row + 1), [["picture", "example 10"]]),
        (put("margin", 2, lambda row: row + 3), [["margin", "example 12"]]),
        (put("index", 0, 7), [["in order"]]),
        (put("scene/prop_style", 1, lambda row: row ^ 0x5555), [["picture", "example 11"]]),
        (put("relation", 2, 200), [[SHARD]]),
        (put("phrasing", 2, 200), [[SHARD]]),
        (put("subject_slot", 2, 9), [[SHARD]]),
    ],
    ids=["answer", "pair of answers", "question", "tokens", "boxes", "visible", "images", "masks", "depth", "margin", "index", "style",
         "relation out of range", "phrasing out of range", "slot out of range"],
)  # fmt: skip
def test_content_that_is_not_the_scenes(change, problems, town, cli):
    rewrite(town, change)
    told(cli("verify", town, "--pictures", 10), *problems)


@pytest.mark.parametrize("name", ["weather", "entity", "prop"])
def test_scenes_of_numbers_that_do_not_exist(name, town, shell):
    """In a process of its own: such a number is an index, and what is not checked reads beyond the end of an array."""
    rewrite(town, put(f"scene/{name}", 2, 99 if name == "weather" else 9999))
    told(shell("verify", town), [SHARD])
    if name == "prop":
        shell("render", f"{town / SHARD}:2", "--out", town / "x.png").refuses(SHARD, code=1)


def test_a_moved_vehicle(town, cli):
    """Many things are wrong with it, and its own shard alone is blamed."""
    rewrite(town, put("scene/pose", 5, lambda row: row[::-1].copy()))
    outcome = cli("verify", town, "--pictures", 10)
    assert outcome.code == 1
    lines = outcome.messages
    assert all(line.startswith(f"simtown: {SHARD}: ") for line in lines)
    assert all("example 15" in line for line in lines)
    assert any("boxes" in line for line in lines)
    assert any("picture" in line for line in lines)


@pytest.mark.parametrize("name", ["images", "masks", "depth", "answer", "tokens", "scene", "scene/pose"])
def test_an_array_that_is_gone(name, town, cli):
    rewrite(town, lambda file: file.__delitem__(name))
    told(cli("verify", town), [SHARD])


@pytest.mark.parametrize("name", ["answer", "masks", "scene/weather", "boxes"])
def test_an_array_of_another_shape(name, town, cli):
    def shorten(file):
        rows = file[name][:-1]
        del file[name]
        file[name] = rows

    rewrite(town, shorten)
    told(cli("verify", town), [SHARD])


def test_pictures_are_compared_as_often_as_asked(town, cli):
    rewrite(town, put("images", 4, lambda row: row ^ 1))
    told(cli("verify", town, "--pictures", 10), ["picture", "example 14"])
    cli("verify", town, "--pictures", 0).succeeds()
    cli("verify", town, "--pictures", 2).succeeds()  # the first and the last of the shard
    assert verify(town) == []
    assert len(verify(town, Raster(), 10)) == 1


def test_a_negative_number_of_pictures_is_bad_input(rich, cli):
    cli("verify", rich, "--pictures", -1).refuses("--pictures", code=2)


def test_an_unbalanced_split_is_told_of_once(town):
    def all_yes(file):
        file["answer"][:] = True

    rewrite(town, all_yes)
    assert any("not balanced" in line for line in verify(town))


@pytest.mark.parametrize("text", ["", "{", '{"format": "simtown dataset"', "\xff\xfe", '{"format": "simtown dataset"}'])
def test_a_damaged_manifest(text, town, cli):
    (town / "manifest.json").write_bytes(text.encode("latin-1"))
    for command in ("verify", "info", "preview"):
        cli(command, town).refuses("manifest.json", "damaged", code=1)
    cli("render", f"{town}/train:0").refuses("manifest.json", "damaged", code=1)


def test_a_manifest_of_a_later_layout(town, cli):
    manifests.save(town, {**manifests.load(town), "schema": 2})
    cli("verify", town).refuses("version 2", code=1)


@pytest.mark.parametrize("text", ['{"format": "another tool"}', "[]", "null"])
def test_a_foreign_manifest(text, town, cli):
    (town / "manifest.json").write_text(text)
    for command in ("verify", "info", "preview"):
        cli(command, town).refuses("was not made by simtown generate")


def leaves(value, path=()):
    """Every key of nested dictionaries, of all shards those of the first."""
    for key, inner in value.items():
        if path == ("shards",) and key != "train-00000.h5":
            continue
        yield (*path, key)
        if isinstance(inner, dict):
            yield from leaves(inner, (*path, key))


def test_no_manifest_that_lost_or_changed_a_value_ends_in_a_traceback(plain, copy, cli):
    """One value at a time is left out or replaced; whatever the commands say of it, they say it in lines of their own."""
    town = copy(plain)
    whole = manifests.load(town)
    tracebacks = []
    for path in leaves(whole):
        for value in ("gone", "text"):
            manifest = json.loads(json.dumps(whole))
            inner = manifest
            for key in path[:-1]:
                inner = inner[key]
            if value == "gone":
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            manifests.save(town, manifest)
            for words in (["verify", town, "--pictures", 0], ["info", town]):
                try:
                    outcome = cli(*words)
                except Exception as error:
                    tracebacks.append((words[0], ".".join(path), value, repr(error)))
                    continue
                assert outcome.code in (0, 1, 2)
                assert (outcome.code == 0) == (not outcome.messages)
                assert all(line.startswith("simtown: ") for line in outcome.messages)
    assert not tracebacks, tracebacks


def test_the_verifier_is_no_rubber_stamp(town):
    """Swapping the pictures of two examples leaves every single picture good, and is found."""

    def swap(file):
        images = file["images"][:]
        file["images"][0], file["images"][1] = images[1], images[0]

    assert verify(town, Raster(), 10) == []
    rewrite(town, swap)
    problems = verify(town, Raster(), 10)
    assert len(problems) == 1
    assert "2 examples" in problems[0]
    assert np.array_equal(open_dataset(town).train.images([10, 11]).shape, (2, 32, 64, 3))
