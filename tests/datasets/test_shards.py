"""What is stored: its schema, that pictures, masks and depth are the stored scene's, and that bytes depend on
the settings alone.
"""

from dataclasses import replace

import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest
from scipy import stats

from simtown.datasets.generate import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import SPLITS, Settings
from simtown.datasets.shards import layout, tasks
from simtown.language.questions import words
from simtown.render.raster import Raster
from simtown.scenes.silhouette import boxes

PICTURES = {"images", "masks", "depth"}
SMALL = Settings(entities=20, n=24, val=4, test=4, width=32, height=32, shard=8)


def rows(directory):
    """All that a data set holds, by split and name."""
    dataset = open_dataset(directory)
    names = [n for n in layout(dataset.settings) if n not in PICTURES]
    out = {}
    for split in SPLITS:
        part = dataset[split]
        out[split] = {n: part.column(n) for n in names}
        for name in PICTURES & layout(dataset.settings).keys():
            out[split][name] = part.images(np.arange(len(part)), name)
    return out


def same(a, b, count=None):
    """Whether the first `count` rows of two splits are equal in every array."""
    assert a.keys() == b.keys()
    return [name for name in a if not np.array_equal(a[name][:count], b[name][:count])] == []


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
            shard=50,
            distractor=True,
            jitter=1.0,
            masks=True,
            depth=True,
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
