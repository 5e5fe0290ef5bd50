"""What is stored: its schema, that pictures, masks and depth are the stored scene's, and that bytes depend on
the settings alone.
"""

import hashlib
import json
from dataclasses import fields, replace

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest
from scipy import stats

from simtown.assets.catalogue import ENTITIES, PROPS
from simtown.assets.palette import PAINTS
from simtown.datasets import manifests
from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import LEFT_OUT, SPLITS, Settings
from simtown.datasets.shards import STAGES, checksum, tasks
from simtown.language.questions import LENGTH, PHRASINGS, vocabulary, words
from simtown.language.relations import RELATION_NAMES
from simtown.render.raster import Raster
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import boxes
from simtown.scenes.street import SLOTS
from simtown.scenes.weather import WEATHERS

PICTURES = {"images", "masks", "depth"}
SMALL = Settings(entities=20, n=24, val=4, test=4, width=32, height=32, shard=8)


def schema(settings):
    """Shape (the example apart) and dtype of every stored array."""
    v, h, w = settings.vehicles, settings.height, settings.width
    columns = {
        "index": ((), "<i8"),
        "question": ((), "|S96"),
        "tokens": ((LENGTH,), "|u1"),
        "answer": ((), "|b1"),
        "subject": ((), "<i2"),
        "relation": ((), "|u1"),
        "object": ((), "<i2"),
        "subject_slot": ((), "|u1"),
        "object_slot": ((), "|u1"),
        "phrasing": ((), "|u1"),
        "margin": ((), "<f4"),
        "boxes": ((v, 4), "<f4"),
        "visible": ((v,), "<f4"),
        "scene/entity": ((v,), "<i2"),
        "scene/pose": ((v, 3), "<f4"),
        "scene/paint": ((v,), "|i1"),
        "scene/prop": ((SLOTS,), "<i2"),
        "scene/prop_pose": ((SLOTS, 5), "<f4"),
        "scene/prop_style": ((SLOTS,), "<u2"),
        "scene/weather": ((), "|u1"),
        "scene/intensity": ((), "<f4"),
        "scene/sun": ((2,), "<f4"),
        "scene/fall_seed": ((), "<u4"),
        "scene/camera": ((7,), "<f4"),
        "images": ((h, w, 3), "|u1"),
    }
    if settings.masks:
        columns["masks"] = ((h, w), "|u1")
    if settings.depth:
        columns["depth"] = ((h, w), "<f4")
    return columns


def stored(file):
    """Every array of a shard, by name."""
    found = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    return found


def rows(directory):
    """All that a data set holds, by split and name."""
    dataset = open_dataset(directory)
    names = [n for n in schema(dataset.settings) if n not in PICTURES]
    out = {}
    for split in SPLITS:
        part = dataset[split]
        out[split] = {n: part.column(n) for n in names}
        for name in PICTURES & schema(dataset.settings).keys():
            out[split][name] = part.images(np.arange(len(part)), name)
    return out


def same(a, b, count=None):
    """Whether the first `count` rows of two splits are equal in every array."""
    assert a.keys() == b.keys()
    return [name for name in a if not np.array_equal(a[name][:count], b[name][:count])] == []


@pytest.mark.parametrize("which", ["plain", "rich", "many"])
def test_every_stored_array_has_its_shape_and_type(which, request):
    directory = request.getfixturevalue(which)
    settings = open_dataset(directory).settings
    for task in tasks(settings):
        with h5py.File(directory / task.name, "r") as file:
            expected = {
                name: ((task.count, *shape), dtype) for name, (shape, dtype) in schema(settings).items()
            }
            assert {name: (item.shape, item.dtype.str) for name, item in stored(file).items()} == expected
            for name in schema(settings):
                assert file[name].chunks == (
                    1 if name in PICTURES else min(512, task.count),
                    *file[name].shape[1:],
                )
            told = {k: v for k, v in file.attrs.items() if k not in ("tried", "summary")}
            assert told == {"schema": 2, "split": task.split, "start": task.start, "count": task.count}


def test_tasks_cover_every_example_once():
    settings = replace(SMALL, n=26, val=0, test=16)
    found = [(t.split, t.number, t.start, t.count) for t in tasks(settings)]
    assert found == [
        ("train", 0, 0, 8),
        ("train", 1, 8, 8),
        ("train", 2, 16, 8),
        ("train", 3, 24, 2),
        ("test", 0, 0, 8),
        ("test", 1, 8, 8),
    ]


@pytest.mark.parametrize(("n", "folders"), [(1_000, False), (1_001, True), (100_001, True)])
def test_more_than_a_thousand_shards_lie_in_folders(n, folders):
    """By split: val and test have few shards, and none of them lies in a folder."""
    names = {
        split: [t.name for t in tasks(replace(SMALL, n=2 * n, shard=2)) if t.split == split]
        for split in ("train", "val", "test")
    }
    assert names["val"] == ["val-00000.h5", "val-00001.h5"]
    assert len(set(names["train"])) == n
    for number, name in enumerate(names["train"]):
        *folder, file = name.split("/")
        assert file == f"train-{number:05d}.h5"
        assert folder == (["train", f"{number // 1000:05d}"] if folders else [])


@pytest.mark.parametrize("which", ["plain", "rich"])
@pytest.mark.parametrize("split", SPLITS)
def test_stored_pictures_are_those_of_the_stored_scenes(which, split, request):
    dataset = open_dataset(request.getfixturevalue(which))
    part, s = dataset[split], dataset.settings
    everything = np.arange(len(part))
    frames = Raster(2).render(part.scenes(), s.width, s.height)
    assert np.array_equal(frames.rgb, part.images(everything))
    assert frames.rgb.std() > 5
    if s.masks:
        assert np.array_equal(frames.ids, part.images(everything, "masks"))
        assert np.array_equal(frames.depth, part.images(everything, "depth"))


def test_masks_lie_in_their_boxes_and_fill_them_where_nothing_hides(rich):
    dataset = open_dataset(rich)
    whole = 0
    for split in SPLITS:
        part = dataset[split]
        masks, box, visible = (
            part.images(np.arange(len(part)), "masks"),
            part.column("boxes"),
            part.column("visible"),
        )
        for i in range(len(part)):
            for slot in range(3):
                y, x = np.nonzero(masks[i] == slot + 1)
                assert len(x), "a vehicle is not to be seen"
                found, (x0, y0, x1, y1) = (x.min(), y.min(), x.max() + 1, y.max() + 1), box[i, slot]
                inside = np.array([found[0] - x0, found[1] - y0, x1 - found[2], y1 - found[3]])
                assert inside.min() >= -1
                if visible[i, slot] == 1:
                    whole += 1
                    assert inside.max() <= 2
    assert whole > 40


@pytest.mark.parametrize("which", ["rich", "plain"])
def test_columns_agree_with_each_other(which, request):
    dataset = open_dataset(request.getfixturevalue(which))
    for split in SPLITS:
        c, part = dataset[split].column, dataset[split]
        n = np.arange(len(part))
        scenes = part.scenes()
        assert np.array_equal(c("index"), n)
        for role in ("subject", "object"):
            assert np.array_equal(scenes.entity[n, c(f"{role}_slot")], c(role))
        assert (c("subject_slot") != c("object_slot")).all()
        assert (c("subject_slot") < 2).all(), "the distractor is never asked about"
        assert np.array_equal(c("boxes"), boxes(scenes, dataset.settings.width, dataset.settings.height))
        assert np.array_equal(c("answer"), c("margin") > 0)
        for i in n:
            names = [dataset.manifest["vocabulary"][t] for t in c("tokens")[i] if t]
            assert names == words(c("question")[i].decode())


def test_choices_occur(rich, many):
    rich, many = open_dataset(rich), open_dataset(many)
    assert np.unique(rich.train.column("phrasing")).tolist() == [0, 1, 2, 3, 4]
    assert np.unique(many.train.column("phrasing")).tolist() == [0]
    assert np.unique(many.train.column("relation")).tolist() == [0, 1, 2, 3]
    assert np.unique(rich.train.column("relation")).tolist() == [0, 1]
    assert np.unique(many.train.column("scene/weather")).tolist() == list(range(len(WEATHERS)))
    assert len(np.unique(rich.train.column("scene/camera"), axis=0)) == 24
    assert len(np.unique(many.train.column("scene/camera"), axis=0)) == 1


@pytest.mark.parametrize(
    "settings",
    [
        Settings(entities=20, n=40, val=6, test=6, width=32, height=32, shard=16),
        Settings(
            entities=20,
            n=40,
            val=6,
            test=6,
            width=33,
            height=47,
            distractor=True,
            jitter=1.0,
            masks=True,
            depth=True,
            shard=50,
        ),
    ],
    ids=["plain", "distractor"],
)
def test_the_first_rows_of_a_larger_set_are_the_smaller_set(settings, tmp_path):
    generate(settings, tmp_path / "small", workers=1)
    generate(replace(settings, n=100), tmp_path / "large", workers=1)
    small, large = rows(tmp_path / "small"), rows(tmp_path / "large")
    assert len(large["train"]["answer"]) == 100
    assert same(small["train"], large["train"], 40)
    assert same(small["val"], large["val"])
    assert same(small["test"], large["test"])
    assert not same(large["train"], {k: v[40:] for k, v in large["train"].items()}, 40)


def test_splits_and_seeds_hold_different_examples(tmp_path):
    settings = replace(SMALL, n=12, val=12, test=12, frequencies="uniform")
    generate(settings, tmp_path / "a", workers=1)
    generate(replace(settings, seed=1), tmp_path / "b", workers=1)
    a, b = rows(tmp_path / "a"), rows(tmp_path / "b")
    kinds = [a["train"], a["val"], a["test"], b["train"]]
    for i, one in enumerate(kinds):
        for other in kinds[:i]:
            for name in ("scene/entity", "scene/pose", "scene/prop", "images"):
                assert not any(
                    np.array_equal(x, y)
                    for x, y in zip(one[name], other[name], strict=True)
                    if name != "scene/entity"
                )
                assert not np.array_equal(one[name], other[name])


def test_two_workers_write_the_bytes_of_one(tmp_path, contents):
    generate(SMALL, tmp_path / "one", workers=1)
    generate(SMALL, tmp_path / "two", workers=2)
    one, two = (contents(tmp_path / name, besides=("timings.json",)) for name in ("one", "two"))
    assert one == two
    assert len(one) == 1 + 3 + 1 + 1


def test_another_shard_size_holds_the_same_examples(tmp_path):
    generate(SMALL, tmp_path / "a", workers=1)
    generate(replace(SMALL, shard=14), tmp_path / "b", workers=1)
    a, b = rows(tmp_path / "a"), rows(tmp_path / "b")
    assert len(open_dataset(tmp_path / "b").manifest["shards"]) == 2 + 1 + 1
    assert all(same(a[split], b[split]) for split in SPLITS)


def test_every_even_prefix_is_balanced(many):
    dataset = open_dataset(many)
    for split in SPLITS:
        yes = np.cumsum(dataset[split].column("answer"))
        assert np.array_equal(yes[1::2], np.arange(1, len(yes) // 2 + 1))
        first = dataset[split].column("answer")[::2]
        assert 0.3 < first.mean() < 0.7, "which of a pair is yes must not be told by its place"


def test_train_follows_the_frequencies_and_test_is_uniform(many):
    dataset = open_dataset(many)
    told = dataset.manifest["settings"]
    p, q = (np.array(told[f"{role}_frequencies"]) for role in ("subject", "object"))
    for role, target in (("subject", p * (1 - q)), ("object", q * (1 - p))):
        counts = {split: np.bincount(dataset[split].column(role), minlength=5) for split in SPLITS}
        even, skewed = np.full(5, 0.2), target / target.sum()
        assert stats.chisquare(counts["train"], 600 * skewed).pvalue > 1e-3
        assert stats.chisquare(counts["train"], 600 * even).pvalue < 1e-6
        assert stats.chisquare(counts["test"], 600 * even).pvalue > 1e-3
        assert stats.chisquare(counts["val"], 100 * skewed).pvalue > 1e-3


@pytest.mark.parametrize("which", ["plain", "rich"])
def test_the_manifest_tells_everything(which, request):
    directory = request.getfixturevalue(which)
    manifest = json.loads((directory / "manifest.json").read_text())
    settings = Settings.from_resolved(manifest["settings"])
    assert manifest["complete"] is True
    assert manifest["format"] == "simtown dataset"
    assert manifest["schema"] == 2
    assert manifest["vocabulary"] == list(vocabulary())
    assert manifest["names"] == {
        "entities": list(ENTITIES[: max(settings.kinds) + 1]),
        "props": list(PROPS),
        "relations": list(RELATION_NAMES),
        "weathers": list(WEATHERS),
        "phrasings": list(PHRASINGS),
        "paints": list(PAINTS),
    }
    assert manifest["libraries"].keys() == {"numpy", "numba", "h5py", "hdf5plugin"}
    assert {f.name for f in fields(Settings)} - LEFT_OUT.keys() <= manifest["settings"].keys()
    for role in ("subject", "object"):
        assert len(manifest["settings"][f"{role}_frequencies"]) == settings.entities
        assert sum(manifest["settings"][f"{role}_frequencies"]) == pytest.approx(1)
    assert sorted(manifest["shards"]) == sorted(p.name for p in directory.glob("*.h5"))
    proposed = dict.fromkeys(manifest["acceptance"], 0)
    for task in tasks(settings):
        entry, data = manifest["shards"][task.name], (directory / task.name).read_bytes()
        assert (entry["sha256"], entry["bytes"], entry["examples"]) == (
            hashlib.sha256(data).hexdigest(),
            len(data),
            task.count,
        )
        for loop, (tried, accepted) in entry["tried"].items():
            assert tried >= accepted >= task.count
            proposed[loop] += tried
    loops = {"entity", "placement", "question"} | ({"distractor"} if settings.distractor else set())
    assert manifest["acceptance"].keys() == loops
    total = sum(settings.counts().values())
    for loop, found in manifest["acceptance"].items():
        assert found["proposed"] == proposed[loop]
        assert found["accepted"] >= total
        assert found["rate"] == pytest.approx(found["accepted"] / found["proposed"])


def test_the_manifest_depends_on_nothing_but_the_settings(tmp_path):
    for name in ("a", "elsewhere/b"):
        generate(SMALL, tmp_path / name, workers=1)
    one, two = ((tmp_path / name / "manifest.json").read_bytes() for name in ("a", "elsewhere/b"))
    assert one == two
    assert str(tmp_path).encode() not in one


def test_timings_add_up(plain):
    runs = json.loads((plain / "timings.json").read_text())["runs"]
    assert len(runs) == 1
    run = runs[0]
    assert (run["examples"], run["workers"]) == (28, 1)
    assert tuple(run["stage_seconds"]) == tuple(sorted(STAGES))
    assert all(s > 0 for s in run["stage_seconds"].values())
    assert sum(run["stage_seconds"].values()) <= run["wall_seconds"] * 1.01
    assert sum(run["stage_shares"].values()) == pytest.approx(1)


def test_checksum_is_sha256(tmp_path):
    (tmp_path / "x").write_bytes(b"simtown")
    assert checksum(tmp_path / "x") == hashlib.sha256(b"simtown").hexdigest()


def test_a_scene_is_stored_whole(rich):
    """Every field of SceneBatch is kept, so that nothing about a picture lives outside its shard."""
    with h5py.File(rich / "train-00000.h5", "r") as file:
        assert set(file["scene"]) == {f.name for f in fields(SceneBatch)}


def test_manifests_are_replaced_whole(tmp_path):
    manifests.save(tmp_path, {"b": 1, "a": [1.5]})
    first = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(TypeError):
        manifests.save(tmp_path, {"b": object()})
    assert (tmp_path / "manifest.json").read_bytes() == first
    seal = hashlib.sha256(b'{"a":[1.5],"b":1}').hexdigest()
    assert json.loads(first) == {"a": [1.5], "b": 1, "sha256": seal}
