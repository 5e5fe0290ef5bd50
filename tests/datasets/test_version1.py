"""Data sets of version 1, made by simtown 0.1.0, with today's program: read, shown, exported, trained on and
verified, never made.
"""

import json
import tarfile
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.datasets import manifests, version1
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.shards import checksum
from simtown.datasets.verify import verify
from simtown.language.questions import text
from simtown.language.relations import RELATION_NAMES
from simtown.scenes.weather import WEATHERS

SETS = ("plain", "rich")
WORDS = ["--entities", 20, "--n", 8, "--val", 2, "--test", 2, "--size", 32, "--shard", 6, "--workers", 1]


@pytest.fixture
def town(tmp_path):
    """town(name): the directory of one of the two sets, unpacked."""

    def unpack(name):
        with tarfile.open(Path(__file__).parent / "version1" / f"{name}.tar.xz") as archive:
            for member in archive:
                if member.isfile():
                    (tmp_path / member.name).parent.mkdir(exist_ok=True)
                    (tmp_path / member.name).write_bytes(archive.extractfile(member).read())
        return tmp_path / name

    return unpack


@pytest.mark.parametrize("name", SETS)
def test_examples_mean_what_they_meant(name, town):
    dataset = open_dataset(town(name))
    assert dataset.settings.schema == dataset.settings.catalogue == 1
    masked = name == "rich"
    for split in SPLITS:
        for example in dataset[split]:
            assert example.question in [
                text(example.subject, example.relation, example.object, phrasing) for phrasing in range(5)
            ]
            assert example.answer == (example.margin > 0)
            assert len(example.scene.vehicles) == (3 if masked else 2)
            assert example.scene.vehicles[example.subject_slot].entity == example.subject
            assert all(vehicle.paint is None for vehicle in example.scene.vehicles)
            assert (example.mask is not None) == (example.depth is not None) == masked
            assert example.image.std() > 10


def test_street_kinds_are_told_by_name(town):
    """Their numbers have changed; the stored ones are translated wherever scenes are read."""
    directory = town("plain")
    with h5py.File(directory / "train-00000.h5") as file:
        stored = file["scene/prop"][:]
    assert stored.shape[1] == version1.SLOTS
    rows = open_dataset(directory).train.column("scene/prop")[: len(stored)]
    for old, new in zip(stored.ravel().tolist(), rows.ravel().tolist(), strict=True):
        assert (new == -1) if old == -1 else (PROPS[new] == version1.PROP_NAMES[old])


def test_every_street_kind_of_version_1_is_still_there():
    assert [name for name in version1.PROP_NAMES if name not in PROPS] == []


def test_names_of_version_1_keep_their_numbers(town):
    """What a set of version 1 means rests on this: lists only grow at their ends."""
    assert ENTITIES[:3] + ENTITIES[100:102] == (
        "sedan",
        "fire truck",
        "school bus",
        "yellow truck",
        "street-food cart",
    )
    assert RELATION_NAMES[:4] == ("left of", "right of", "in front of", "behind")
    assert WEATHERS[:7] == ("clear", "cloudy", "rain", "fog", "snow", "dusk", "night")
    for name in SETS:
        for split in SPLITS:
            part = open_dataset(town(name))[split]
            for i in range(len(part)):
                assert ENTITIES[part.column("subject")[i]] in part.column("question")[i].decode()


@pytest.mark.parametrize("name", SETS)
def test_summaries_are_counted_from_the_rows(name, town):
    dataset = open_dataset(town(name))
    for split in SPLITS:
        summary, part = dataset.summary(split), dataset[split]
        assert sum(summary["answer"]) == sum(summary["margin"]) == len(part)
        assert summary["paint"][0] == len(part) * dataset.settings.vehicles
        if len(part):
            assert (
                summary["subject"]
                == np.bincount(part.column("subject"), minlength=dataset.settings.entities).tolist()
            )
            assert (
                summary["weather"]
                == np.bincount(part.column("scene/weather"), minlength=len(WEATHERS)).tolist()
            )


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("quick", [False, True])
def test_a_set_of_version_1_is_verified_as_far_as_it_can_be(name, quick, town):
    report = verify(town(name), quick=quick)
    assert report.problems == []
    assert "files, checksums and answers of" in report.summary
    assert "version 1 of the world and were neither sampled nor drawn again" in report.summary


def change(directory, edit, name="train-00000.h5"):
    """Change a shard and seal the set anew, as a deceiver would."""
    with h5py.File(directory / name, "r+") as file:
        edit(file)
    manifest = manifests.load(directory)
    manifest["shards"][name].update(
        sha256=checksum(directory / name), bytes=(directory / name).stat().st_size
    )
    manifests.save(directory, manifest)


def test_faults_in_a_set_of_version_1_are_found(town, copy):
    directory = town("plain")

    def flip(file):
        file["answer"][2:4] = ~file["answer"][2:4]

    def problems(name, fault):
        faulty = copy(directory, name)
        fault(faulty)
        return verify(faulty).problems

    def cut(faulty):
        data = (faulty / "val-00000.h5").read_bytes()
        (faulty / "val-00000.h5").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    assert any(
        "contradicts the scene" in line for line in problems("answer", lambda faulty: change(faulty, flip))
    )
    assert any("checksum" in line for line in problems("byte", cut))
    assert any(
        "missing" in line for line in problems("lost", lambda faulty: (faulty / "test-00000.h5").unlink())
    )
    assert any("paint" in line for line in problems("paint", lambda faulty: change(faulty, add_paint)))
    assert any(
        "summary" in line
        for line in problems("count", lambda faulty: change(faulty, lambda f: f.attrs.update(summary="{}")))
    )
    assert any(
        "not belong" in line
        for line in problems("more", lambda faulty: (faulty / "notes.txt").write_text("milk"))
    )


def add_paint(file):
    file["scene/paint"] = np.zeros(file["scene/entity"].shape, dtype=np.int8)


def test_the_two_versions_are_not_mixed(town, cli):
    """A manifest of version 1 with a world of version 2, or the other way round, is none."""
    directory = town("plain")
    manifest = manifests.load(directory)
    manifests.save(directory, {**manifest, "settings": {**manifest["settings"], "catalogue": 2}})
    cli("info", directory).refuses("never stored in layout version 1", code=1)
    manifests.save(directory, {**manifest, "schema": 2})
    cli("info", directory).refuses("it lacks names, summary", code=1)


def test_a_manifest_without_checksum_of_an_early_version_is_read(town, cli):
    directory = town("plain")
    manifest = json.loads((directory / "manifest.json").read_text())
    del manifest["sha256"]
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    cli("info", directory).succeeds()
    lines = verify(directory).problems
    assert len(lines) == 1
    assert "no checksum of itself" in lines[0]


@pytest.mark.parametrize("more", [[], ["--seed", 5]], ids=["same", "other"])
def test_it_is_not_made_again(more, town, cli, contents):
    directory = town("plain")
    (directory / "val-00000.h5").unlink()
    before = contents(directory)
    cli("generate", *WORDS, *more, "--out", directory).refuses(
        "version 1 of the world", "makes version 2", "--out"
    )
    assert contents(directory) == before


@pytest.mark.parametrize("name", SETS)
def test_it_is_shown(name, town, tmp_path, cli, contents):
    directory = town(name)
    before = contents(directory)
    assert "version 1 of the world" in cli("info", directory).succeeds().out
    assert "in the street" in cli("info", f"{directory}/train:1").succeeds().out
    cli("preview", directory, "--out", tmp_path / "sheet.png").succeeds()
    cli("gallery", directory, "--out", tmp_path / "page").succeeds()
    cli("captions", directory, "--out", tmp_path / "captions.txt").succeeds()
    cli("render", f"{directory}/train:2", "--size", 64, "--out", tmp_path / "one.png").succeeds()
    assert contents(directory) == before


def test_a_picture_drawn_of_its_scene_is_said_to_look_otherwise(town, tmp_path, cli):
    drawn = cli("render", f"{town('plain')}/train:1", "--size", 64, "--out", tmp_path / "one.png")
    assert drawn.code == 0
    assert [line for line in drawn.messages if "version 1 of the world" in line] != []
    assert (tmp_path / "one.png").is_file()


def test_no_paint_is_told_of_it(town, tmp_path, cli):
    """Its kinds' own paints were others than today's."""
    cli("export", town("rich"), "--to", "clevr", "--out", tmp_path / "clevr").succeeds()
    cli("export", town("rich"), "--to", "png", "--out", tmp_path / "png").succeeds()
    scenes = json.loads((tmp_path / "clevr" / "scenes" / "CLEVR_train_scenes.json").read_text())["scenes"]
    assert {thing["color"] for scene in scenes for thing in scene["objects"]} == {"unknown"}
    lines = (tmp_path / "png" / "questions.jsonl").read_text().splitlines()
    assert {vehicle["paint"] for line in lines for vehicle in json.loads(line)["vehicles"]} == {None}


@pytest.mark.parametrize("form", ["clevr", "png", "webdataset", "coco", "yolo"])
def test_it_is_exported_where_nothing_has_to_be_drawn(form, town, tmp_path, cli):
    cli("export", town("rich"), "--to", form, "--out", tmp_path / "rich-out").succeeds()
    plain = cli("export", town("plain"), "--to", form, "--out", tmp_path / "plain-out")
    if form in ("coco", "yolo"):
        plain.refuses("--masks", "version 1", "--to")
        assert not (tmp_path / "plain-out").exists()
    else:
        plain.succeeds()


def test_models_train_on_it(town, tmp_path, cli):
    """And test themselves on it; what would need fresh examples of its world is refused."""
    pytest.importorskip("torch", reason="needs torch: pip install '.[train]'")
    from simtown.training.evaluation import references
    from simtown.training.fit import fit
    from simtown.training.fit_settings import FitSettings

    directory = town("plain")
    assert references(open_dataset(directory))["oracle"] == 1
    cli("fit", directory, "--train-size", 8, "--stream", "--out", tmp_path / "run").refuses(
        "--stream", "version 1 of the world"
    )
    dataset = open_dataset(directory)
    # its two validation examples may both be answered wrong, and then no weights are kept: validate with
    # those of training
    dataset._splits["val"] = dataset._splits["train"]
    run = fit(FitSettings("pbn", 8, max_steps=32), dataset, tmp_path / "run")
    assert run["data"]["catalogue"] == 1
    assert run["data"]["examples"]["train"] == dataset.train.digests([8])[8]


def test_the_digests_of_its_examples_are_those_of_the_stored_bytes(town):
    """Runs of simtown 0.1.0 are known by them: they are written down here as that version gave them."""
    train = open_dataset(town("plain")).train
    assert train.digests([8])[8] == "47732053ed77c7a00b8fbd4f8da1ed1a1d4bde6a397ce25849ab7f8b5d8bcda7"


def test_a_world_of_version_1_has_the_settings_it_had():
    assert Settings(catalogue=1).resolved().keys() <= Settings().resolved().keys()
    assert "paint" not in Settings(catalogue=1).resolved()
