"""The audit finds planted biases by the check they belong to; a clean set passes at the rate it promises."""

import json
from contextlib import closing
from math import comb, sqrt

import cv2
import h5py
import hdf5plugin  # noqa: F401
import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install '.[audit]'")

from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from simtown.core.pool import Processes, ignore
from simtown.datasets.audit import features, pictures, repeats, run, small_models, statistics
from simtown.datasets.audit.findings import LEVEL, Finding, judge, mutual_information, wilson
from simtown.datasets.audit.rows import DatasetRows, Neighbourhoods
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.language.meaning.relations import RELATION_NAMES
from tests.datasets.conftest import reseal

SETTINGS = Settings(entities=8, n=1_600, val=40, test=600, width=32, height=32, shard=800)


@pytest.fixture(scope="module")
def clean(dataset_of):
    return dataset_of(SETTINGS)


def plant(directory, change, splits=("train", "test")):
    """Let `change(columns, rng)` write over arrays of every shard of some splits."""
    for path in sorted(directory.glob("*.h5")):
        if path.name.split("-")[0] in splits:
            with h5py.File(path, "r+") as file:
                change(file, np.random.default_rng(len(path.name)))
    return reseal(directory)


def audited(directory):
    return run.audit(open_dataset(directory))


def warned(findings):
    """Names of the checks that warn, by the splits in which they do."""
    out = {}
    for f in findings:
        if f.status == "warn":
            out.setdefault(f.check, set()).add(f.where)
    return out


def lean(file, rng, where, yes=0.85):
    """Among examples `where`, the answer becomes yes with this probability."""
    answer = file["answer"][:]
    answer[where] = rng.random(int(where.sum())) < yes
    file["answer"][:] = answer


def test_a_clean_data_set_passes(clean, cli, tmp_path):
    outcome = cli("audit", clean, "--strict", "--json", tmp_path / "audit.json", "--workers", 1).succeeds()
    verdict, *lines = outcome.out.splitlines()
    assert verdict == f"{clean}: no warnings in 47 checks"
    assert len(lines) < 25
    assert max(map(len, lines)) <= 80
    assert "warn below p 0.000" in lines[-1]
    content = json.loads((tmp_path / "audit.json").read_text())
    assert content["status"] == "pass"
    assert {f["status"] for f in content["findings"]} == {"pass", "note"}
    assert {f["check"].split(" by ")[0] for f in content["findings"]} == {*run._CHECKS} - {*run.OF_FAMILIES}
    groups = [f["details"]["groups"] for f in content["findings"] if f["check"] == "answers by subject"]
    assert sum(group["n"] for split in groups for group in split) == 2_240
    assert content == json.loads(json.dumps(run.report("town", run.audit(open_dataset(clean)))))


VARIED = {"relations": RELATION_NAMES, "phrasing": "varied", "distractor": True}


@pytest.mark.parametrize("more", [{"relations": ("left of",)}, VARIED])
def test_other_clean_worlds_pass(more, dataset_of):
    world = {"entities": 10, "n": 400, "val": 0, "test": 200, "width": 32, "height": 32, "seed": 2}
    assert not warned(audited(dataset_of(Settings(**world, **more))))


def finding(findings, check, where):
    """The finding of a check of a split."""
    return next(f for f in findings if (f.check, f.where) == (check, where))


def test_answers_that_lean_are_found(clean, copy, cli):
    biased = plant(copy(clean), lambda file, rng: lean(file, rng, np.ones(len(file["answer"]), bool), 0.6))
    cli("audit", biased).succeeds()
    strict = cli("audit", biased, "--strict", "--all")
    verdict, first, *lines = strict.out.splitlines()
    assert (strict.code, "warnings in" in verdict) == (1, True)
    assert first.startswith("warn  answers (train): ")
    assert any(line.startswith("warn  answers (test): ") for line in lines)
    assert sum(line.startswith("pass") for line in lines) > 15


def by_subject(file, rng):
    lean(file, rng, file["subject"][:] == 0)


def by_pair(file, rng):
    """Each entity alone is balanced: only their combination tells."""
    parity = (file["subject"][:] + file["object"][:]) % 2
    lean(file, rng, np.ones(len(parity), dtype=bool), 0.15 + 0.7 * parity)


def by_position(file, rng):
    left = file["boxes"][:][np.arange(len(file["answer"])), file["subject_slot"][:], 0] < 10
    lean(file, rng, left)
    lean(file, rng, ~left, 0.15)


def by_weather(file, rng):
    lean(file, rng, file["scene/weather"][:] == 4, 0.95)


def by_heading(file, rng):
    """A vehicle's yaw, which neither the boxes nor the entities show, gives the answer away."""
    pose = file["scene/pose"][:]
    pose[np.arange(len(pose)), file["subject_slot"][:], 2] += 0.02 * file["answer"][:]
    file["scene/pose"][:] = pose


def in_the_picture(file, rng):
    brighter = file["images"][:].astype(int) + 12 * file["answer"][:][:, None, None, None]
    file["images"][:] = np.clip(brighter, 0, 255)


@pytest.mark.parametrize(
    ("change", "checks", "silent", "feature"),
    [
        (by_subject, {"answers by subject", "information"}, "occlusion", "subject"),
        (by_pair, {"question only", "information"}, "picture only", "subject and object"),
        (by_position, {"answers by subject's position", "position only"}, "question only", "position"),
        (by_weather, {"information"}, "question only", "weather"),
        (by_heading, {"information"}, "position only", "subject's heading"),
        (in_the_picture, {"picture only"}, "information", ""),
    ],
)
def test_answers_that_depend_on_something_are_found(change, checks, silent, feature, clean, copy):
    findings = audited(plant(copy(clean), change))
    warnings = warned(findings)
    assert checks <= warnings.keys()
    assert silent not in warnings
    if feature:
        assert feature in finding(findings, "information", "train").advice


def columns_of(split):
    """All that is counted of a split, at once."""
    read = split.rows(features.COLUMNS, np.arange(len(split)))
    return read | {features.THINGS: (read["scene/prop"] >= 0).sum(axis=1)}


def nudge(rng, pose):
    """Poses (n, v, 3) with every vehicle up to 1 cm from its place along and across the road."""
    nudged = pose.copy()
    nudged[..., :2] += rng.uniform(-0.01, 0.01, pose[..., :2].shape)
    return nudged


SMALL_WORLDS = [
    ({"entities": 2, "relations": RELATION_NAMES}, 0.025),
    ({"entities": 3, "distractor": True}, 0.05),
]


@pytest.mark.parametrize(("world", "radius"), SMALL_WORLDS)
@pytest.mark.slow
def test_scenes_are_near_by_chance_as_often_as_expected(world, radius, dataset_of, monkeypatch):
    """With few kinds many scenes are near another: as many as expected, within SAFETY, so none warns."""
    monkeypatch.setattr(repeats, "RADII", np.array([radius / 2, radius]))
    town = dataset_of(Settings(n=12_000, val=0, test=0, width=32, height=32, **world))
    found, *_ = repetitions(town, Processes())
    near = found["nearly repeated scenes", "train"]
    pairs, expected = near.details["pairs"][-1], near.details["expected"][-1]
    assert pairs >= 5
    assert expected / repeats.SAFETY**2 < pairs < expected
    assert near.status == "pass"


def repeat_in_all_ways(directory):
    """Scenes and pictures that occur again within a split and in another, exactly and nearly."""
    names = ("train-00000.h5", "train-00001.h5", "test-00000.h5")
    first, train, test = (h5py.File(directory / name, "r+") for name in names)
    with first, train, test:
        for name in repeats.SCENE:
            train[name][:5] = first[name][20:25]
            test[name][:3] = train[name][60:63]
        train["scene/entity"][10:16] = first["scene/entity"][30:36][:, ::-1]  # in other slots
        train["scene/pose"][10:16] = nudge(np.random.default_rng(0), first["scene/pose"][30:36])[:, ::-1]
        train["images"][40] = first["images"][40]
        test["scene/entity"][10:14] = first["scene/entity"][70:74]
        test["scene/pose"][10:14] = nudge(np.random.default_rng(1), first["scene/pose"][70:74])
        test["images"][80] = np.clip(first["images"][90].astype(int) + 3, 0, 255)
    return reseal(directory)


def repetitions(directory, pool):
    """Findings about repeated scenes and pictures, and the numbers of neighbourhoods of both."""
    rows, read = DatasetRows(open_dataset(directory)), []
    with run.surveyed(rows, pool, read.append) as seen:
        found = [*repeats.repeated_scenes(seen.scenes, seen.counts, seen.samples, rows, pool, read.append)]
        found += pictures.repeated_pictures(seen.pictures, seen.equal, rows, pool, read.append)
        assert sum(read) == run.PASSES * len(rows)
        return {(f.check, f.where): f for f in judge(found)}, len(seen.scenes), len(seen.pictures)


def test_what_repeats_is_found_however_space_is_cut_and_whoever_works(clean, copy, monkeypatch, scattered):
    directory = repeat_in_all_ways(copy(clean))
    whole, *one = repetitions(directory, Processes())
    sizes = {(repeats, "_TOGETHER"): 250, (pictures, "_TOGETHER"): 100}
    for place, size in (sizes | {(run, "_PIECE"): 300, (run, "_BLOCK"): 70}).items():
        monkeypatch.setattr(*place, size)
    parts, *many = repetitions(directory, scattered)
    assert (one, many[0], parts) == ([1, 1], 9, whole)
    assert many[1] > 20
    assert {key: f.details["first"] for key, f in whole.items() if f.status == "warn"} == {
        ("duplicate scenes", "train"): [[800 + i, 20 + i] for i in range(5)],
        ("scenes seen in training", "test"): [0, 1, 2],
        ("nearly repeated scenes", "train"): [[810 + i, 30 + i] for i in range(6)],
        ("near copies of training scenes", "test"): [[10 + i, 70 + i] for i in range(4)],
        ("repeated pictures", "all"): [["train 840", "train 40"], ["test 80", "train 90"]],
    }


def test_of_many_pictures_some_are_compared_with_all_and_equal_ones_still_found(clean, copy, monkeypatch):
    def repeated(directory):
        return repetitions(directory, Processes())[0]["repeated pictures", "all"].details["first"]

    directory = repeat_in_all_ways(copy(clean))
    monkeypatch.setattr(pictures, "REFERENCES", 200)  # every eighth of training, every third of the test
    assert repeated(directory) == [["train 840", "train 40"]]
    with (
        h5py.File(directory / "train-00000.h5") as train,
        h5py.File(directory / "test-00000.h5", "r+") as test,
    ):
        test["images"][80] = np.clip(train["images"][88].astype(int) + 3, 0, 255)
    assert repeated(reseal(directory)) == [["train 840", "train 40"], ["test 80", "train 88"]]


PLACES = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=1, max_size=60)


@given(PLACES, st.integers(1, 6), st.floats(0.01, 2))
def test_near_rows_meet_at_home(places, parts, reach):
    places = np.array(places)
    records = np.zeros(len(places), dtype=[("row", "<i8"), ("home", "?")])
    records["row"] = np.arange(len(places))
    with closing(Neighbourhoods(places, [parts, 2], reach, records.dtype)) as neighbourhoods:
        neighbourhoods.add(records, places)
        homes = [own["row"][own["home"]].tolist() for _, own in neighbourhoods]
        members = [set(own["row"].tolist()) for _, own in neighbourhoods]
    assert sorted(row for rows in homes for row in rows) == list(range(len(places)))
    near = np.abs(places[:, None] - places).max(axis=2) < 0.999 * reach
    for residents, all_rows in zip(homes, members, strict=True):
        assert all(set(np.flatnonzero(near[row]).tolist()) <= all_rows for row in residents)


def test_statistics_of_a_large_split_are_of_pairs_spread_over_it(clean, copy, monkeypatch):
    monkeypatch.setattr(features, "SAMPLE", 400)
    rows = features.sample_rows(1_600)
    assert len(np.unique(rows)) == 400
    assert (rows[0::2] % 2 == 0).all()
    assert (np.diff(rows.reshape(-1, 2)) == 1).all()
    assert np.bincount(rows * 4 // 1_600).tolist() == [100] * 4
    assert features.sample_rows(399).tolist() == list(range(399))
    findings = audited(plant(copy(clean), by_weather, splits=("train",)))
    information = finding(findings, "information", "train")
    assert information.figure.endswith("; of 400 examples")
    assert (information.details["n"], information.details["features"][0]["feature"]) == (400, "weather")


DISGUISES = {
    "none": lambda image: image,
    "brightness": lambda image: np.clip(image * 0.9 + 12, 0, 255).astype(np.uint8),
    "noise": lambda image: np.clip(image + np.random.default_rng(0).normal(0, 3, image.shape), 0, 255),
    "JPEG": lambda image: cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1], -1),
}


@pytest.mark.parametrize("change", DISGUISES)
def test_a_picture_under_another_scene_is_found(change, clean, copy):
    exchanged = copy(clean)
    with h5py.File(clean / "train-00001.h5") as train, h5py.File(exchanged / "test-00000.h5", "r+") as test:
        test["images"][17] = DISGUISES[change](train["images"][4])
    found, *_ = repetitions(reseal(exchanged), Processes())
    (warning,) = (f for f in found.values() if f.status == "warn")
    assert warning.check == "repeated pictures"
    assert warning.details == {"repeated": 1, "n": 2_240, "first": [["test 17", "train 804"]]}


@pytest.mark.parametrize(
    ("noise", "moved", "repeated"), [(0, 0.05, 0), (0, 0.3, 1), (3, 0.3, 0), (3, 0.6, 1)]
)
def test_a_scene_a_step_away_is_another_if_its_picture_is_equal(noise, moved, repeated, clean, copy):
    changed = copy(clean)
    with h5py.File(clean / "train-00001.h5") as train, h5py.File(changed / "test-00000.h5", "r+") as test:
        picture = train["images"][4] + np.random.default_rng(0).normal(0, noise, train["images"][4].shape)
        test["images"][17] = np.clip(np.rint(picture), 0, 255)
        test["scene/entity"][17] = train["scene/entity"][4]
        test["scene/pose"][17] = train["scene/pose"][4] + [moved, 0, 0]
    found, *_ = repetitions(reseal(changed), Processes())
    assert found["repeated pictures", "all"].details["repeated"] == repeated


def test_files_that_were_changed_are_found(clean, copy):
    changed = copy(clean)
    with h5py.File(changed / "train-00001.h5", "r+") as file:
        file["margin"][3] += 0.01
    findings = audited(changed)
    assert warned(findings) == {"changed files": {"all"}}
    assert finding(findings, "changed files", "all").details == {"changed": ["train-00001.h5"], "files": 4}


def test_close_margins_and_hidden_vehicles_are_found(clean, copy):
    def change(file, rng):
        file["margin"][3] = -0.2
        visible = file["visible"][:]
        visible[5, 0] = 0.1
        file["visible"][:] = visible

    found = warned(audited(plant(copy(clean), change, splits=("test",))))
    assert found == {"ambiguous margins": {"test"}, "occlusion": {"test"}}


def statistics_anew(data, seed):
    """What is found of answers whose pairs are exchanged by a coin: without bias by construction."""
    found = []
    for name in ("train", "val", "test"):
        read = columns_of(data[name])
        (read["answer"],) = statistics.null_answers(read["answer"], 1, seed)
        counted = features.SplitCounts.of(read, data.settings)
        found += statistics.findings(counted, read, data.settings, name)
    return judge(found)


def rate(audits):
    """How many audits warn, and the most that LEVEL allows (a thousandth of the time there are more)."""
    bad = sum(any(f.status == "warn" for f in findings) for findings in audits)
    n, below, most = len(audits), 0.0, -1
    while below < 0.999:
        most += 1
        below += comb(n, most) * LEVEL**most * (1 - LEVEL) ** (n - most)
    return bad, most


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_chance_alone_warns_as_rarely_as_promised(seeds, clean):
    bad, most = rate([statistics_anew(open_dataset(clean), seed) for seed in range(seeds)])
    assert bad <= most


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_by_its_definition(ps):
    """Reject the k smallest where each passes its own threshold LEVEL / (m - rank)."""
    found = judge([Finding("answers", str(i), "", "", p) for i, p in enumerate(ps)])
    ordered, kept = sorted(ps), 0
    # as it is written there: rounding decides the nearest of ties
    while kept < len(ps) and ordered[kept] * (len(ps) - kept) < LEVEL:
        kept += 1
    assert sorted(f.p for f in found if f.status == "warn") == ordered[:kept]


@given(st.integers(1, 500), st.data())
def test_wilson_solves_the_score_equation(n, data):
    right = data.draw(st.integers(0, n))
    for end in wilson(right, n):
        z = abs(right / n - end) / sqrt(max(end * (1 - end), 1e-30) / n)
        assert z == pytest.approx(1.959964, abs=1e-4) or min(end, 1 - end) < 1e-9


ROW = st.tuples(st.integers(0, 5), st.integers(0, 2), st.booleans(), st.booleans())


@given(st.lists(ROW, min_size=2, max_size=60))
def test_mutual_information_is_that_of_another_library(rows):
    *features, answer = (np.array(column) for column in zip(*rows, strict=True))
    for feature in features:
        expected = mutual_info_score(feature, answer) / np.log(2)
        assert mutual_information(feature, answer) == pytest.approx(expected, abs=1e-9)


def test_the_null_keeps_the_design(clean):
    answer = columns_of(open_dataset(clean).train)["answer"]
    for drawn in statistics.null_answers(answer, 3, 0):
        assert (drawn[0::2] ^ drawn[1::2]).all()
        assert 0.4 < (drawn == answer).mean() < 0.6
    lopsided = np.arange(101) < 30
    assert all(drawn.sum() == 30 for drawn in statistics.null_answers(lopsided, 3, 0))


def test_too_few_examples_are_said_to_be_too_few(plain):
    for name in small_models.MODELS:
        (finding,) = small_models.probe(name, ignore, open_dataset(plain))
        assert finding.status == "note"
