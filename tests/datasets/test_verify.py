"""Checking a data set: what each kind of damage is called, a line each, and that nothing else is found (every
fault: test_faults.py).
"""

import json
import shutil

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.datasets import manifests
from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.shard_file import read_entry
from simtown.datasets.shards import checksum, tasks
from simtown.datasets.verify import _chosen, verify
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
    manifest["shards"][name].update(
        sha256=checksum(directory / name), bytes=(directory / name).stat().st_size
    )
    manifests.save(directory, manifest)


def told(outcome, *problems):
    """Exit code 1, and exactly one line on stderr for each problem, holding its words, then one that counts
    them.
    """
    *lines, last = outcome.messages
    assert outcome.code == 1, outcome.err
    assert not outcome.out
    assert f"is not what its settings make: {len(lines)} problem{'s' if len(lines) > 1 else ''}" in last, (
        outcome.err
    )
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
    settings = open_dataset(directory).settings
    total = sum(settings.counts().values())
    drawn = f"all {total}" if total <= 256 else "256"
    seeds = "seed 5, test seed 9, world seed 27" if which == "rich" else "seed 0"
    assert outcome.out == (
        f"{directory}: {settings.entities} entities, {seeds}: {total:,} examples are what these settings "
        f"make; {drawn} pictures drawn again\n"
    )
    assert contents(directory) == before


def test_progress_hears_of_every_example(rich):
    heard = []
    for quick in (False, True):
        assert verify(rich, quick=quick, progress=heard.append).problems == []
        assert sum(heard) == 24 + 8 + 6
        heard.clear()


@pytest.mark.parametrize("quick", [True, False])
def test_the_report_does_not_depend_on_who_checks(quick, many, copy, scattered):
    assert verify(many, Raster(), 10, quick, pool=scattered) == verify(many, Raster(), 10, quick)
    damaged = copy(many, "damaged")
    (damaged / "train-00000.h5").unlink()
    (damaged / "train-00001.h5").write_bytes(b"no shard")
    shutil.copy(damaged / "test-00003.h5", damaged / "test-00001.h5")
    (damaged / "val-00000.h5").unlink()
    (damaged / "val-00000.h5").symlink_to(many / "val-00000.h5")
    told, report = [], verify(damaged, quick=quick)
    assert [line.split(":")[0] for line in report.problems] == [
        "val-00000.h5",
        "train-00000.h5",
        "train-00001.h5",
        "test-00001.h5",
    ]
    assert verify(damaged, quick=quick, progress=told.append, pool=scattered) == report
    assert sum(told) == 600 + 100 + 600


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
    told(cli("verify", town), [long.name, "bytes"], [short.name, "bytes"], [SHARD, "missing"])


def test_an_unfinished_set(town, cli):
    manifest = manifests.load(town)
    del manifest["shards"]["test-00000.h5"], manifest["summary"]["test"]
    manifests.save(town, {**manifest, "complete": False})
    (town / "test-00000.h5").unlink()
    told(cli("verify", town), ["unfinished", "generate"], ["test-00000.h5", "missing"])


def test_a_shard_the_manifest_does_not_know(town, cli):
    manifest = manifests.load(town)
    del manifest["shards"][SHARD]
    manifests.save(town, manifest)
    cli("verify", town).refuses("manifest.json", "does not list", SHARD, code=1)
    manifest.update(shards={}, summary={})
    for task in tasks(Settings.from_resolved(manifest["settings"])):
        if task.name != SHARD:
            manifests.enter(manifest, task, read_entry(town / task.name, task))
    manifests.save(town, {**manifest, "complete": False})
    told(cli("verify", town), ["unfinished"], [SHARD, "the manifest does not list it"])


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
    kinds = "its attribute 'start'", "none of its examples is what these settings make", "not in order"
    told(cli("verify", town), *([name, kind] for kind in kinds for name in (one.name, two.name)))


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


def other_tints(style):
    """Styles that pick other colours, and the same poses."""
    return style - style % 100 + (style + 37) % 100


STRANGE = "does not exist"


@pytest.mark.parametrize(
    ("change", "problem", "quick"),
    [
        (
            flip_answer,
            ["wrong answer", "example 13", "yes"],
            [["contradicts the scene", "example 13"], ["not exactly one", "example 12"]],
        ),
        (
            flip_pair,
            ["wrong answer", "example 12 and 1 more"],
            [["contradicts the scene", "example 12 and 1 more"]],
        ),
        (
            put("question", 4, b"Is a bus left of a taxi?"),
            ["words", "example 14", "'Is a bus left of a taxi?'"],
            [["words", "example 14"]],
        ),
        (put("tokens", 5, lambda row: row[::-1].copy()), ["tokens", "example 15"], [["words", "example 15"]]),
        (put("boxes", 6, lambda row: row + 1), ["boxes", "example 16"], [["boxes", "example 16"]]),
        (put("visible", 7, lambda row: row * 0.5), ["visible", "example 17"], [["visible", "example 17"]]),
        (put("images", 9, lambda row: row ^ 1), ["picture", "example 19"], [["picture", "example 19"]]),
        (put("masks", 8, lambda row: row + 1), ["mask", "example 18"], [["mask", "example 18"]]),
        (put("depth", 0, lambda row: row + 1), ["depth", "example 10"], [["depth", "example 10"]]),
        (put("margin", 2, lambda row: row + 3), ["margin", "example 12"], [["margin", "example 12"]]),
        (put("index", 0, 7), ["number", "example 10", "7"], [["in order"]]),
        (
            put("scene/prop_style", 1, other_tints),
            ["styles of things", "example 11"],
            [["picture", "example 11"]],
        ),
        (put("scene/weather", 1, 200), ["weather", "number 200, which is none"], [[STRANGE]]),
        (put("relation", 2, 200), ["relation", "number 200, which is none"], [[STRANGE]]),
        (put("phrasing", 2, 200), ["wording", "200"], [[STRANGE]]),
        (put("subject_slot", 2, 9), ["subject_slot", "9"], [[STRANGE]]),
    ],
    ids=[
        "answer",
        "pair of answers",
        "question",
        "tokens",
        "boxes",
        "visible",
        "images",
        "masks",
        "depth",
        "margin",
        "index",
        "style",
        "weather out of range",
        "relation out of range",
        "phrasing out of range",
        "slot out of range",
    ],
)
def test_content_that_is_not_the_scenes(change, problem, quick, town, cli):
    rewrite(town, change)
    told(cli("verify", town, "--all"), [SHARD, *problem])
    told(cli("verify", town, "--all", "--quick"), *([SHARD, *words] for words in quick))


def test_scenes_of_numbers_that_do_not_exist(rich, copy, together, tmp_path):
    """In a process of their own: such a number is an index, and what is not checked reads beyond the end of
    an array.
    """
    towns = {name: copy(rich, name) for name in ("weather", "entity", "prop")}
    for name, town in towns.items():
        rewrite(town, put(f"scene/{name}", 2, 99 if name == "weather" else 9999))
    *verified, drawn = together(
        *(["verify", town] for town in towns.values()),
        ["render", f"{towns['prop'] / SHARD}:2", "--out", tmp_path / "x.png"],
    )
    for outcome in verified:
        told(outcome, [SHARD])
    drawn.refuses(SHARD, code=1)


def test_a_moved_vehicle(town, cli):
    """Sampled again, its place alone is wrong; in itself, many things disagree with it.

    Its own shard and row are named.
    """
    rewrite(town, put("scene/pose", 5, lambda row: row[::-1].copy()))
    told(cli("verify", town, "--all"), [SHARD, "wrong places of vehicles in example 15"])
    outcome = cli("verify", town, "--all", "--quick")
    assert outcome.code == 1
    *lines, _ = outcome.messages
    assert all(line.startswith(f"simtown: {SHARD}: ") for line in lines)
    assert all("example 15" in line for line in lines)
    assert any("boxes" in line for line in lines)
    assert not any("picture" in line for line in lines), "none is drawn of a scene that is wrong"


@pytest.mark.parametrize("name", ["images", "masks", "depth", "answer", "tokens", "scene/pose"])
def test_an_array_that_is_gone(name, town, cli):
    rewrite(town, lambda file: file.__delitem__(name))
    told(cli("verify", town), [SHARD])


def test_a_group_that_is_gone(town):
    rewrite(town, lambda file: file.__delitem__("scene"))
    problems = verify(town, None).problems
    assert len(problems) == 11
    assert all(SHARD in problem for problem in problems)


def test_masks_in_a_set_without_masks(plain, copy, cli):
    """A name on the list of arrays, but not of these settings."""
    town = copy(plain)
    rewrite(
        town,
        lambda file: file.create_dataset("masks", data=np.zeros((20, 48, 48), np.uint8)),
        "train-00000.h5",
    )
    told(cli("verify", town), ["train-00000.h5", "'masks', which does not belong there"])


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
    told(cli("verify", town), ["picture", "example 14"])  # 256 are more than there are
    told(cli("verify", town, "--all", "--pictures", 1), ["picture", "example 14"])
    assert "no picture was drawn again" in cli("verify", town, "--pictures", 0).succeeds().out
    found = [bool(verify(town, Raster(), n).problems) for n in (*range(0, 38, 6), 38, None)]
    assert found[0] is False
    assert found[-2:] == [True, True]
    assert verify(town).problems == []


def test_pictures_to_draw_again_lie_all_over_the_set_and_differ_between_sets(rich, plain):
    """Where they lie depends on the manifest's checksum: nobody who makes a set knows them beforehand."""
    manifest = manifests.load(rich)
    for total, count in ((1000, 7), (1000, 256), (10, 9), (256, 256), (5, 0)):
        chosen = _chosen(manifest, total, count)
        assert len(chosen) == len(set(chosen.tolist())) == count
        assert all(
            j * total // count <= row < (j + 1) * total // count for j, row in enumerate(chosen.tolist())
        )
    assert np.array_equal(_chosen(manifest, 1000, 50), _chosen(manifest, 1000, 50))
    assert not np.array_equal(_chosen(manifest, 1000, 50), _chosen(manifests.load(plain), 1000, 50))


def test_a_negative_number_of_pictures_is_bad_input(rich, cli):
    cli("verify", rich, "--pictures", -1).refuses("--pictures", code=2)


def test_many_files_with_the_same_problem_are_counted(tmp_path):
    generate(Settings(entities=20, n=20, val=0, test=0, width=32, height=32, shard=2), tmp_path, workers=1)
    for path in tmp_path.glob("train-*.h5"):
        path.unlink()
    lines = verify(tmp_path).problems
    assert len(lines) == 6
    assert lines[-1].startswith("train-00005.h5 to train-00009.h5: it is missing")
    assert lines[-1].endswith("in 5 more files")


def test_another_version_of_the_world_is_for_the_program_that_made_it(town, cli):
    manifest = manifests.load(town)
    manifest["settings"]["catalogue"] = 7
    manifests.save(town, manifest)
    for command in ("verify", "info"):
        cli(command, town).refuses("world version 7", code=1)


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": "simtown dataset"', "\xff\xfe", '{"format": "simtown dataset"}']
)
def test_a_damaged_manifest(text, town, cli):
    (town / "manifest.json").write_bytes(text.encode("latin-1"))
    for command in ("verify", "info", "preview"):
        cli(command, town).refuses("manifest.json", "damaged", code=1)
    cli("render", f"{town}/train:0").refuses("manifest.json", "damaged", code=1)


def test_a_manifest_of_a_later_layout(town, cli):
    manifests.save(town, {**manifests.load(town), "schema": 3})
    cli("verify", town).refuses("layout version 3", code=1)


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


@pytest.fixture(scope="module")
def least(tmp_path_factory):
    """A data set of six examples: its manifest has every key of a larger one."""
    directory = tmp_path_factory.mktemp("least") / "town"
    generate(Settings(entities=3, n=2, val=2, test=2, width=32, height=32), directory, workers=1)
    return directory


@pytest.mark.parametrize("thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_no_manifest_that_lost_or_changed_a_value_ends_in_a_traceback(thorough, least, copy, cli):
    """One value at a time is left out or replaced; whatever the commands say of it, they say it in lines of
    their own. Without the slow tests, values within others have one of the two happen to them, in turn.
    """
    town = copy(least)
    whole = manifests.load(town)
    tracebacks = []
    for number, path in enumerate(leaves(whole)):
        both = thorough or len(path) == 1
        for value in ("gone", "text") if both else [("gone", "text")[number % 2]]:
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

    assert verify(town, Raster(), None).problems == []
    rewrite(town, swap)
    assert verify(town, Raster(), None).problems == [
        f"{SHARD}: wrong picture in example 10 and 1 more: drawn again, it is another one"
    ]
