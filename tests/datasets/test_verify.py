"""A data set is what its settings make: `verify` finds every kind of planted fault.

Faults are also planted so that all checksums match again, as somebody who wants to deceive would.
"""

import json
import random
import shutil
from dataclasses import replace
from functools import reduce
from operator import getitem

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.untrusted import RefusedError
from simtown.datasets.frequency_tables import tables_of
from simtown.datasets.making import manifests, shards
from simtown.datasets.making.generate import generate
from simtown.datasets.making.shards import LAYOUT, checksum, tasks
from simtown.datasets.proving.verify import _chosen_pictures, verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.resolved_settings import resolve, settings_from
from simtown.datasets.settings import Settings
from simtown.render.raster import Raster

WORLD = {"entities": 12, "frequencies": "zipf:0.5", "distractor": True, "seed": 3, "jitter": 0.5}
WORLD |= {"relations": ("left of", "right of", "behind"), "weathers": ("clear", "rain", "night")}
STORED = {"n": 12, "val": 4, "test": 4, "width": 32, "height": 32, "masks": True, "depth": True, "shard": 6}
SETTINGS = Settings(**WORLD, **STORED, phrasing="varied")
SHARD = "train-00001.h5"  # examples 6 to 11
RENDERER = Raster()


@pytest.fixture
def town(dataset_of, copy):
    return copy(dataset_of(SETTINGS), "town")


@pytest.fixture
def of_another_seed(dataset_of, copy):
    return copy(dataset_of(replace(SETTINGS, seed=4)), "of another seed")


def problems(directory, renderer=RENDERER, **options):
    """The problems that verify reports when it draws every picture again, or none."""
    try:
        return verify(directory, renderer, pictures=None, **options).problems
    except (DamagedError, ForeignDirectoryError, FileNotFoundError, RefusedError) as error:
        return [str(error)]


def assert_reported(directory, *words, **options):
    """One of the problems holds all the words; each is one line."""
    lines = problems(directory, **options)
    assert not any("\n" in line for line in lines)
    assert any(all(word in line for word in words) for line in lines), lines


def seal(directory):
    """Write the checksums and counts of all shards, and the manifest's own checksum, again."""
    manifest = manifests.load(directory)
    manifest.update(shards={}, summary={})
    for task in tasks(settings_from(manifest["settings"])):
        path = directory / task.name
        if path.exists():
            with h5py.File(path) as file:
                counts = {name: json.loads(file.attrs[name]) for name in ("tried", "summary")}
            about = {"sha256": checksum(path), "bytes": path.stat().st_size, "examples": task.count}
            manifests.enter(manifest, task, about | counts)
    manifest["acceptance"] = manifests.acceptance(manifest["shards"])
    manifests.save(directory, manifest)


def change(directory, edit, name=SHARD):
    """Edit a shard and seal the data set again."""
    with h5py.File(directory / name, "r+") as file:
        edit(file)
    seal(directory)


@pytest.mark.parametrize("which", ["plain", "rich", "many"])
def test_a_whole_data_set_is_proven(which, request, cli, contents):
    directory = request.getfixturevalue(which)
    before = contents(directory)
    outcome = cli("verify", directory).succeeds()
    total = sum(open_dataset(directory).settings.counts().values())
    assert f"{total:,} examples match their settings" in outcome.out
    assert f"{f'all {total}' if total <= 256 else 256} pictures drawn again, identical" in outcome.out
    assert "seed 5, test seed 9, world seed 27" in outcome.out or which != "rich"
    assert not outcome.messages
    assert contents(directory) == before


@pytest.mark.parametrize("quick", [True, False])
def test_the_report_does_not_depend_on_who_checks(quick, many, copy, scattered):
    assert verify(many, RENDERER, 10, quick, pool=scattered) == verify(many, RENDERER, 10, quick)
    damaged = copy(many, "damaged")
    (damaged / "train-00000.h5").unlink()
    (damaged / "train-00001.h5").write_bytes(b"no shard")
    shutil.copy(damaged / "test-00003.h5", damaged / "test-00001.h5")
    (damaged / "val-00000.h5").unlink()
    (damaged / "val-00000.h5").symlink_to(many / "val-00000.h5")
    counted, report = [], verify(damaged, quick=quick)
    files = ["val-00000.h5", "train-00000.h5", "train-00001.h5", "test-00001.h5"]
    assert [line.split(":")[0] for line in report.problems] == files
    assert verify(damaged, quick=quick, progress=counted.append, pool=scattered) == report
    assert sum(counted) == 600 + 100 + 600


# the manifest


def flips(path, positions, seed):
    """Flip one bit of the file at each position in turn."""
    data, chance = path.read_bytes(), random.Random(seed)
    for position in positions:
        changed = bytearray(data)
        changed[position] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        yield position


def test_a_flipped_bit_anywhere_in_the_manifest_is_found(town):
    size = (town / "manifest.json").stat().st_size
    for position in flips(town / "manifest.json", range(0, size, size // 80), 0):
        assert problems(town, renderer=None), position


TWICE = (b' "complete": true,', b' "complete": true,\n "complete": true,')


@pytest.mark.parametrize(("old", "new"), [(b"\n", b"\r\n"), TWICE, (b"0.5,", b"0.50,")])
def test_a_manifest_that_says_the_same_in_other_bytes_is_found(old, new, town):
    path = town / "manifest.json"
    path.write_bytes(path.read_bytes().replace(old, new))
    assert_reported(town, "manifest.json", renderer=None)


def leaves(value, path=()):
    """Paths to every value in nested dictionaries and lists; of a list to the second, of shards to one."""
    for key in value if isinstance(value, dict) else range(1, min(2, len(value))):
        if path != ("shards",) or key == SHARD:
            yield (*path, key)
            if isinstance(value[key], dict | list):
                yield from leaves(value[key], (*path, key))


#: Other values of the same type, and None: the value is taken out.
ALTERED = {
    bool: lambda value: [not value, None],
    int: lambda value: [value + 2, -value - 1, None],
    float: lambda value: [value + 1e-3, None],
    str: lambda value: [value + "x", "", None],
    list: lambda value: [value[::-1], value[:-1], None],
    dict: lambda value: [{**value, "more": 1}, {}, None],
}


#: What nothing can prove once the manifest was sealed again: the words in which verify says so.
UNPROVEN = {"simtown": "cannot be proven", "libraries": "cannot be proven", "frequencies": "own table"}


@pytest.mark.parametrize("sealed", [False, True], ids=["checksum left", "checksum rewritten"])
def test_every_edited_value_of_the_manifest_is_found(sealed, town):
    text = (town / "manifest.json").read_text()
    for number, path in enumerate(leaves(json.loads(text))):
        content = json.loads(text)
        parent = reduce(getitem, path[:-1], content)
        before = parent[path[-1]]
        ways = [value for value in ALTERED[type(before)](before) if value != before]
        if (value := ways[number % len(ways)]) is None:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
        if sealed:
            manifests.save(town, content)
        else:
            (town / "manifest.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        if problems(town, renderer=None) or (sealed and path == ("sha256",)):
            continue
        assert sealed, path
        assert any(words in verify(town).summary for key, words in UNPROVEN.items() if key in path), path


@pytest.mark.parametrize("asking", [{}, {"questions": ("exist",), "crowd": "2"}])
def test_tables_from_files_are_the_manifests_own(asking, tmp_path):
    """The files may be gone: examples are compared with the manifest's tables, and the summary says so."""
    kinds, paints = tmp_path / "kinds.csv", tmp_path / "paints.csv"
    kinds.write_text("entity,subject,object\na,6,1\nb,3,2\nc,1,7\n")
    paints.write_text("paint,weight\nred,3\nblue,1\n")
    small = {"entities": 3, "n": 60, "val": 2, "test": 2, "width": 32, "height": 32}
    settings = Settings(**small, **asking, frequencies=str(kinds), paint=str(paints))
    generate(settings, tmp_path / "town", workers=1)
    manifest = manifests.load(tmp_path / "town")
    assert sorted(manifest["settings"]["paint_frequencies"])[-3:] == [0.0, 0.25, 0.75]
    paints.write_text("paint,weight\nred,1\nblue,1\n")
    with pytest.raises(ForeignDirectoryError, match=r"`paint` paints\.csv"):
        generate(settings, tmp_path / "town", workers=1)
    kinds.unlink()
    paints.unlink()
    report = verify(tmp_path / "town", RENDERER)
    assert report.problems == []
    own = settings_from(manifest["settings"])
    assert resolve(own) == manifest["settings"]
    assert tables_of(replace(own, paint="uniform")).subject.tolist() == [0.6, 0.3, 0.1]
    with pytest.raises(ValueError, match=r"kinds\.csv"):
        tables_of(replace(own, entities=4))
    for things in ("entities", "paints"):
        assert f"{things} are as frequent as in the manifest's own table" in report.summary
    manifest["settings"]["subject_frequencies"] = [0.1, 0.3, 0.6]
    manifests.save(tmp_path / "town", manifest)
    assert_reported(tmp_path / "town", "train-00000.h5")


def test_an_unfinished_set_and_a_shard_that_is_not_listed(town):
    manifest = manifests.load(town)
    del manifest["shards"][SHARD]
    manifests.save(town, {**manifest, "complete": False})
    lines = problems(town)
    assert any("unfinished" in line for line in lines)
    assert any(SHARD in line and "does not list" in line for line in lines)


@pytest.mark.parametrize("text", ["{", "\xff\xfe", '{"format": "simtown dataset"}', "[]"])
def test_a_damaged_or_foreign_manifest_is_refused(text, town, cli):
    (town / "manifest.json").write_bytes(text.encode("latin-1"))
    for command in ("verify", "info"):
        cli(command, town).refuses("manifest.json", code=2 if text == "[]" else 1)


# shards


@pytest.mark.parametrize("fault", ["removed", "cut", "lengthened", "emptied", "exchanged", "user block"])
@pytest.mark.parametrize("sealed", [False, True], ids=["checksum left", "checksum rewritten"])
def test_a_shard_whose_bytes_are_not_its_own_is_found(fault, sealed, town):
    path, other = town / SHARD, town / "train-00000.h5"
    data = path.read_bytes()
    if fault == "removed":
        path.unlink()
    elif fault == "exchanged":
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
    elif fault == "user block":
        with h5py.File(path, "w", userblock_size=512, libver="v110"):
            pass
        path.write_bytes(path.read_bytes()[:512].replace(b"\0", b"x") + data)
    else:
        path.write_bytes({"cut": data[:-1], "lengthened": data + b"hidden", "emptied": b""}[fault])
    if sealed and fault in ("cut", "emptied"):  # seal() cannot read such a file
        manifest = manifests.load(town)
        manifest["shards"][SHARD].update(sha256=checksum(path), bytes=path.stat().st_size)
        manifests.save(town, manifest)
    elif sealed:
        seal(town)
    assert_reported(town, SHARD)


def test_a_flipped_bit_anywhere_in_a_shard_is_found(town):
    size = (town / SHARD).stat().st_size
    for _ in flips(town / SHARD, [0, size - 1, *random.Random(1).sample(range(size), 20)], 1):
        assert_reported(town, SHARD, "checksum", renderer=None)


def other_value(row):
    """A row in which one number is another one, as near as its type allows."""
    row = np.array(row)
    flat = row.reshape(-1)
    if row.dtype.kind == "f":
        finite = np.where(np.isfinite(flat[-1]), flat[-1], 1.0)
        flat[-1] = np.nextafter(finite, np.float32(1e6), dtype=row.dtype)
    else:
        flat[-1] = flat[-1].replace(b"?", b"!") if row.dtype.kind == "S" else flat[-1] ^ 1
    return row


@pytest.mark.parametrize("name", LAYOUT)
def test_one_edited_number_of_any_column_is_found(name, town):
    def edit(file):
        file[name][4] = other_value(file[name][4])

    change(town, edit)
    (line,) = problems(town)
    assert line.startswith(f"{SHARD}: ")
    assert "example 10" in line
    assert name in line


def put(name, row, value):
    def edit(file):
        values = file[name][:]
        values[row] = value(values[row]) if callable(value) else value
        file[name][:] = values

    return edit


CONTRADICTIONS = [("answer", 3, np.logical_not), ("answer", [2, 3], np.logical_not), ("index", 0, 7)]
CONTRADICTIONS += [("question", 4, b"Is a bus left of a taxi?"), ("visible", 3, lambda row: row * 0.5)]
CONTRADICTIONS += [("margin", 2, lambda row: row + 3), ("images", 3, lambda row: row ^ 1)]
CONTRADICTIONS += [(name, 3, lambda row: row + 1) for name in ("boxes", "masks", "depth")]
NUMBERLESS = [
    ("scene/weather", 1, 200),
    ("scene/prop", 1, 9999),
    ("relation", 2, 200),
    ("subject_slot", 2, 9),
]


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        *((put(*edit), edit[0]) for edit in CONTRADICTIONS),
        *((put(*edit), "does not exist") for edit in NUMBERLESS),
        (put("scene/pose", 3, lambda row: row[::-1].copy()), "example 9"),
    ],
)
def test_the_quick_check_finds_what_contradicts_itself(edit, word, town):
    change(town, edit)
    assert_reported(town, SHARD, word, quick=True)


@pytest.fixture
def families(dataset_of, copy):
    """Every family, with an empty slot in many streets; the shard that is changed has examples 200 to 399."""
    settings = Settings(
        questions=("all",), entities=12, n=400, val=0, test=0, width=64, height=64, crowd="3-6", shard=200
    )
    return copy(dataset_of(settings), "families")


def move_rows(rows, into):
    """Write rows of every array, but not their numbers, into other rows."""

    def edit(file):
        arrays = [file[name] for name in file if isinstance(file[name], h5py.Dataset) and name != "index"]
        for array in [*arrays, *file["scene"].values()]:
            values = array[:]
            values[into] = values[rows]
            array[:] = values

    return edit


def put_into_empty_slot(name, value):
    def edit(file):
        row, slot = np.argwhere(file["scene/entity"][:] < 0)[0]
        values = file[name][:]
        values[row, slot] = value
        file[name][:] = values

    return edit


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (move_rows([1, 3], [3, 1]), "neighbours"),
        (move_rows(2, 3), "same answer"),
        (move_rows([0, 1], [8, 9]), "two examples are the same"),
        (put("family", 3, 77), "its family"),
        (put("template", 3, 9), "template"),
        (put("text", 3, 200), "text"),
        (put_into_empty_slot("scene/pose", 1.5), "empty slot"),
        (put_into_empty_slot("scene/paint", 3), "does not exist"),
    ],
)
def test_the_quick_check_finds_what_no_families_make(edit, word, families):
    assert problems(families, quick=True) == []
    change(families, edit)
    assert_reported(families, SHARD, word, quick=True)


def test_the_quick_check_of_large_pictures_reads_an_odd_number_at_once(town, monkeypatch):
    monkeypatch.setattr(Settings, "at_once", lambda settings, most: 3)
    assert problems(town, quick=True) == []


def test_the_quick_check_says_what_it_did_not_prove(of_another_seed, cli):
    """A set of another seed agrees with itself."""
    town = of_another_seed
    manifest = manifests.load(town)
    manifest["settings"]["seed"] = 3
    manifests.save(town, manifest)
    assert "not proven" in cli("verify", town, "--quick").succeeds().out
    assert cli("verify", town).code == 1
    assert_reported(town, SHARD, "none of its examples")


@pytest.mark.parametrize("attribute", ["tried", "summary"])
@pytest.mark.parametrize("quick", [False, True])
def test_counts_that_were_edited_are_found(attribute, quick, town):
    """One more and one less: the sum of a summary is what it was."""

    def edit(file):
        counts = json.loads(file.attrs[attribute])
        values = counts["placement" if attribute == "tried" else "weather"]
        values[0], values[1] = values[0] + 1, values[1] - 1
        file.attrs[attribute] = json.dumps(counts, sort_keys=True)

    change(town, edit)
    if not (quick and attribute == "tried"):  # nothing is sampled again
        assert_reported(town, SHARD, attribute, quick=quick)
        assert_reported(town, "manifest.json", attribute, quick=quick)


def attribute(name, value):
    def edit(file):
        del file.attrs[name]
        file.attrs[name] = value

    return edit


def array(name, change=lambda data: data, **form):
    """Puts the array, or another one in its place."""

    def edit(file):
        data = change(file[name][:])
        del file[name]
        file.create_dataset(name, data=data, **form)

    return edit


def virtual(file):
    layout = h5py.VirtualLayout(file["answer"].shape, file["answer"].dtype)
    layout[:] = h5py.VirtualSource("train-00000.h5", "answer", file["answer"].shape)
    del file["answer"]
    file.create_virtual_dataset("answer", layout)


#: What is done to a shard, and a word of the problem.
ATTRIBUTES = [("schema", 2), ("schema", 3.0), ("split", "val"), ("start", 0), ("count", 5)]
FAULTS = {
    **{f"{name} {value}": (attribute(name, value), f"'{name}'") for name, value in ATTRIBUTES},
    "an array more": (lambda file: file.create_dataset("hidden", data=np.arange(6)), "hidden"),
    "an array among scenes": (lambda file: file.create_dataset("scene/hidden", data=np.arange(6)), "hidden"),
    "a group": (lambda file: file.create_group("hidden"), "hidden"),
    "a type": (lambda file: file.__setitem__("hidden", np.dtype("f8")), "hidden"),
    "an attribute of the file": (lambda file: file.attrs.update(hidden=1), "hidden"),
    "an attribute of an array": (lambda file: file["scene/pose"].attrs.update(hidden=1), "hidden"),
    "a soft link": (lambda file: file.__setitem__("hidden", h5py.SoftLink("/answer")), "hidden"),
    "a link to a file": (lambda file: file.__setitem__("hidden", h5py.ExternalLink("x.h5", "/")), "hidden"),
    "another name of an array": (lambda file: file.__setitem__("hidden", file["answer"]), "hidden"),
    "an array less": (lambda file: file.__delitem__("answer"), "answer"),
    "a virtual array": (virtual, "answer"),
    "another type": (array("answer", lambda data: data.astype("u1")), "answer"),
    "another shape": (array("answer", lambda data: data[:-1]), "answer"),
    "another filter": (array("images", compression="gzip"), "images"),
    "other chunks": (array("images", chunks=(3, 32, 32, 3), compression=32004), "images"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_shard_of_another_form_is_found(fault, town):
    edit, word = FAULTS[fault]
    change(town, edit)
    assert_reported(town, SHARD, word)


# the directory


MANY = Settings(entities=3, n=24, val=2, test=2, width=32, height=32, shard=2)


def test_files_in_folders_of_shards_are_found_where_they_belong(tmp_path, monkeypatch):
    """Twelve shards in folders of ten stand for more than a thousand in folders of a thousand."""
    monkeypatch.setattr(shards, "FOLDER", 10)
    town = tmp_path / "town"
    generate(MANY, town, workers=1)
    assert problems(town) == []
    last = town / "train" / "00001" / "train-00011.h5"
    (town / "train" / "notes.txt").write_text("milk")
    (town / "train" / "00001" / ".train-00011.h5.0000000000000077.tmp").write_bytes(b"half")
    (town / "train" / "00002").mkdir()
    (town / "train" / "00002" / "train-00020.h5").write_bytes(last.read_bytes())
    last.unlink()
    names = {"00002", "notes.txt", "00001/.train-00011.h5.0000000000000077.tmp", "00001/train-00011.h5"}
    assert {line.split(":")[0] for line in problems(town)} == {f"train/{name}" for name in names}


@pytest.mark.parametrize("name", ["notes.txt", ".notes", "train-00002.h5", "copy.h5", "more/"])
def test_what_does_not_belong_in_the_directory_is_named(name, town):
    (town / name).mkdir() if name.endswith("/") else (town / name).write_bytes(b"x")
    assert_reported(town, name.rstrip("/"), "does not belong")


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db"])
def test_what_a_file_browser_leaves_is_no_problem(name, town):
    (town / name).write_bytes(b"x")
    assert problems(town) == []


def test_what_holds_no_data_may_be_anything(town):
    for name in ("timings.json", "preview.png"):
        (town / name).write_text("anything")
        assert problems(town, renderer=None) == []
        (town / name).unlink()
        assert problems(town, renderer=None) == []


def test_many_files_with_the_same_problem_are_counted(dataset_of, copy):
    town = copy(dataset_of(replace(MANY, n=20, val=0, test=0)))
    for path in town.glob("train-*.h5"):
        path.unlink()
    lines = verify(town).problems
    assert len(lines) == 6
    assert lines[-1].startswith("train-00005.h5 to train-00009.h5: ")


# pictures


def test_pictures_are_drawn_again_as_often_as_asked(town, cli):
    change(town, put("images", 4, lambda row: row ^ 1))
    assert "no picture was drawn again" in cli("verify", town, "--pictures", 0).succeeds().out
    assert cli("verify", town, "--all").code == 1
    assert_reported(town, SHARD, "images", "example 10")
    assert verify(town).problems == []
    cli("verify", town, "--pictures", -1).refuses("--pictures", code=2)


def test_chosen_pictures_lie_all_over_the_set_and_depend_on_the_manifest(rich, plain):
    one, other = manifests.load(rich), manifests.load(plain)
    for total, count in ((1000, 7), (1000, 256), (10, 9), (5, 0)):
        chosen = _chosen_pictures(one, total, count).tolist()
        assert len(chosen) == len(set(chosen)) == count
        stretches = [(j * total // count, (j + 1) * total // count) for j in range(count)]
        assert all(low <= row < high for row, (low, high) in zip(chosen, stretches, strict=True))
    assert not np.array_equal(_chosen_pictures(one, 1000, 50), _chosen_pictures(other, 1000, 50))
