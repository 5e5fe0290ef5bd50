"""Reading finished runs: from their directories, and from the small files of cells."""

import json
from dataclasses import fields

import numpy as np
import pytest

from simtown.complexity import cells
from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import MixtureError, read_and_count
from simtown.complexity.need_report import report
from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.core.options import deciding
from simtown.datasets.settings import Settings
from simtown.training.fit_settings import FitSettings
from tests.complexity.simulated import exact, store

SETTINGS = {"protocol": "patient", "min_steps": 2000, "patience": 10, "max_steps": 0, "batch": 128}
SETTINGS |= {"options": {"dropout": 0.1}, "device": "cpu"}
DATA = {"width": 64, "height": 32, "relations": ["left of", "right of"], "weathers": ["clear"], "val": 1000}


@pytest.fixture
def run(tmp_path):
    """The directory of a finished run."""
    store(tmp_path / "runs" / "pbn-5-500-seed0", exact("pbn", 5, 500, 0.6))
    return tmp_path / "runs" / "pbn-5-500-seed0"


@pytest.fixture
def kept(run, tmp_path):
    return cells.save(run, tmp_path / "kept")


def rewritten(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_without_runs_there_is_no_table(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_and_count([tmp_path / "nowhere"])
    with pytest.raises(FileNotFoundError, match="no finished run"):
        read_and_count([tmp_path])
    store(tmp_path / "a", exact("pbn", 5, 500, 0.6), status="running")
    with pytest.raises(FileNotFoundError, match="1 running"):
        read_and_count([tmp_path])


def test_two_runs_of_one_cell_are_refused(tmp_path):
    for name, share in (("first", 0.6), ("again", 0.6), ("second", 0.7)):
        store(tmp_path / name, exact("pbn", 5, 500, share))
    assert len(read_and_count([tmp_path / "first", tmp_path / "again"])[0]) == 1
    with pytest.raises(ValueError, match=r"again/run.json and .*second"):
        read_and_count([tmp_path])


def edit(**changes):
    return lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | changes))


EDITS = [lambda p: p.write_text("{"), edit(data={}), edit(train_size="many"), edit(test=None)]
SPOILS = [lambda p: p.unlink(), lambda p: p.write_bytes(p.read_bytes()[:100])]
SPOILS += [lambda p: np.savez(p, wrong=np.ones(4, bool)), lambda p: np.savez(p, correct=np.ones(400))]
SPOILS += [lambda p: np.savez(p, correct=np.arange(400) < 241)]  # one more than the accuracy says
DAMAGES = [("run.json", damage) for damage in EDITS] + [("test.npz", damage) for damage in SPOILS]


@pytest.mark.parametrize(("name", "damage"), DAMAGES)
def test_damage_is_named(run, name, damage):
    damage(run / name)
    with pytest.raises(DamagedError, match=f"seed0/{name} is damaged"):
        read_and_count([run])


def test_links_are_not_followed(tmp_path, run):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "elsewhere").symlink_to(run)
    (tmp_path / "mine" / "circle").symlink_to(tmp_path / "mine")
    with pytest.raises(FileNotFoundError):
        read_and_count([tmp_path / "mine"])
    (tmp_path / "mine" / "run.json").symlink_to(run / "run.json")
    with pytest.raises(DamagedError, match="symbolic link"):
        read_and_count([tmp_path / "mine"])


# Cells


@pytest.mark.parametrize("items", [1, 7, 8, 401])
def test_a_kept_cell_says_what_its_run_directory_says(items, tmp_path):
    run = tmp_path / "a run"
    data = {"entities": 5, "distractor": False, "test_id": "t", "seed": 4, "world_seed": 7}
    one = exact("pbn", 5, 500, 0.6, items=items)
    shares = {"validation": {"accuracy": 0.9, "n": 10}, "reweighted": {"accuracy": 0.8, "n": 10}}
    test = {"accuracy": float(one.correct.mean()), "n": items} | shares
    store(run, one, data=data | {"path": "/home/ann"}, test=test)
    kept = cells.save(run, tmp_path / "kept")
    assert kept.name == "a run.json"
    assert "ann" not in kept.read_text()
    record, correct, _ = cells.load(kept)
    assert record == json.loads((run / "run.json").read_text()) | {"data": data}
    np.testing.assert_array_equal(correct, one.correct)
    curve = {"step": [100], "train_accuracy": [0.1235], "val_accuracy": [0.5]}
    assert json.loads(kept.read_text())["curve"] == curve
    (whole,), (small,) = read_and_count([run])[0], read_and_count([kept])[0]
    assert whole == small
    np.testing.assert_array_equal(small.correct, one.correct)
    assert (small.data_seed, small.world_seed, small.validation, small.reweighted) == (4, 7, 0.9, 0.8)
    assert read_and_count([tmp_path])[0] == [whole], "a run and its cell count once"


def test_only_a_finished_run_is_kept(run, tmp_path):
    rewritten(run / "run.json", lambda record: record.update(status="running"))
    for directory in (run, tmp_path):
        with pytest.raises(FileNotFoundError, match="no finished run"):
            cells.save(directory, tmp_path / "kept")
    rewritten(run / "run.json", lambda record: record.update(status="done"))
    for name in ("metrics.jsonl", "test.npz"):
        (run / name).unlink()
        with pytest.raises(DamagedError, match=name):
            cells.save(run, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


SPOILT = [lambda c: c.update(correct="!!"), lambda c: c.update(correct=c["correct"][4:])]
SPOILT += [lambda c: c["run"].pop("test"), lambda c: c["run"]["test"].update(accuracy=0.123)]
SPOILT += [lambda c: c.update(format="other")]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_damaged_cell_is_named(kept, spoil):
    rewritten(kept, spoil)
    foreign = "other" in kept.read_text()
    with pytest.raises(ForeignDirectoryError if foreign else DamagedError, match=str(kept)):
        cells.load(kept)


# Runs that were not made alike


@pytest.fixture
def make(tmp_path):
    """make("a", 500, data={"width": 128}): a finished run with these changes."""

    def run(name, n, model="pbn", data=None, **settings):
        world = {"entities": 5, "distractor": False, "test_id": "t"}
        made = exact(model, 5, n, 0.6)
        store(tmp_path / name, made, settings=SETTINGS | settings, data=world | DATA | (data or {}))

    return run


OTHER = [({"protocol": "paper"}, ["protocol", "paper", "patient"])]
OTHER += [({"min_steps": 400}, ["min_steps", "2000", "400"])]
OTHER += [({"options": {"dropout": 0.5}}, ["options of pbn", "dropout 0.1", "dropout 0.5"])]
OTHER += [({"data": {"width": 128, "height": 128}}, ["width", "128", "64", "height", "32"])]
OTHER += [({"data": {"weathers": ["fog"]}, "patience": 3}, ["patience", "weathers", "clear"])]


@pytest.mark.parametrize(("change", "words"), OTHER)
def test_runs_of_other_settings_are_refused_and_named(change, words, make, tmp_path):
    make("a", 500)
    make("b", 1000)
    make("other", 500, **change)
    with pytest.raises(MixtureError) as error:
        read_and_count([tmp_path])
    for word in (*words, str(tmp_path / "other")):
        assert word in str(error.value)


def another(value):
    """Another value of the same type, as a run.json has it."""
    match value:
        case bool():
            return not value
        case str():
            return f"{value}-other"
        case tuple() | list():
            return ["other" * 20]
    return (value or 0) + 1


OWNERS = {"data": Settings, "settings": FitSettings}
FIELDS = [(part, field) for part, owner in OWNERS.items() for field in fields(owner)]
#: Fields in which the runs of one table agree; `val` decides when training stops, and a stream has no end.
SHARED = {*deciding(Settings, "examples", "families"), *deciding(FitSettings, "results"), "val", "stream"}


@pytest.mark.parametrize(("part", "field"), FIELDS, ids=[f"{part}.{field.name}" for part, field in FIELDS])
def test_runs_share_a_table_unless_they_differ_in_what_decides_their_results(part, field, tmp_path):
    values = (
        [{"width": 1}, {"width": 2}] if field.name == "options" else [field.default, another(field.default)]
    )
    for number, value in enumerate(values):
        own = {"settings": {"protocol": "patient"}}
        own["data"] = {"entities": 5, "distractor": False, "test_id": "t"}
        own[part][field.name] = value
        store(tmp_path / str(number), exact("pbn", 5, 500 + number, 0.6), **own)
    if field.name in SHARED:
        with pytest.raises(MixtureError, match=f"differ in (options of )?({field.name}|pbn) "):
            read_and_count([tmp_path])
    else:
        assert len(read_and_count([tmp_path])[0]) == 2


def test_what_does_not_change_the_meaning_of_an_accuracy_may_differ(make, tmp_path):
    make("a", 500)
    make("b", 1000, device="cuda")
    make("c", 1000, model="cnn-lstm", options={"dropout": 0.3})
    make("d", 5000, data={"seed": 3, "world_seed": 3, "test_seed": 0})
    rewritten(tmp_path / "d" / "run.json", lambda record: record["data"].pop("weathers"))  # an older simtown
    assert len(read_and_count([tmp_path])[0]) == 4


def test_another_test_set_has_a_note():
    runs = [exact("pbn", 5, n, share, test=test) for n, share, test in ((500, 0.6, "t"), (1000, 0.99, "u"))]
    (note,) = estimate(runs, replicates=40).notes
    assert note.startswith("5 entities: the runs were tested on 2 test sets")


def test_accuracy_on_held_out_compositions_stands_beside_what_was_seen(tmp_path):
    share = {"accuracy": 0.6, "seen": {"accuracy": 0.9}}
    held_out = {"accuracy": 0.55, "seen": 0.8, "families": {"count": share}}
    for n in (200, 400):
        run = exact("cnn-lstm", 5, n, 0.75)
        test = {"accuracy": 0.75, "n": 400, "held_out": held_out}
        data = {"entities": 5, "distractor": False, "test_id": "t", "families": ["exist", "count"]}
        store(tmp_path / str(n), run, test=test, data=data)
        family = np.arange(400, dtype=np.uint8) % 2
        np.savez(tmp_path / str(n) / "test.npz", correct=run.correct, family=family)
    for family, held, seen in (("", 0.55, 0.8), ("count", 0.6, 0.9), ("exist", np.nan, np.nan)):
        found = report([tmp_path], tmp_path / f"out{family}", replicates=40, family=family)
        assert np.array_equal([x.held_out for x in found.accuracies], [held] * 2, equal_nan=True)
        assert np.array_equal([x.seen for x in found.accuracies], [seen] * 2, equal_nan=True)
        page = (tmp_path / f"out{family}" / "complexity.md").read_text(encoding="utf-8")
        assert ("| held out | seen |" in page) == (family != "exist")
