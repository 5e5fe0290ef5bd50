"""Reading: random access, whole columns, and the view for PyTorch's DataLoader."""

import json

import h5py
import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES
from simtown.core.files import DamagedError
from simtown.datasets.making.shards import LAYOUT, PICTURES, tasks
from simtown.datasets.reading import reader
from simtown.datasets.reading.reader import Dataset, open_dataset
from simtown.datasets.resolved_settings import settings_from
from simtown.datasets.settings import SPLITS, Settings
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.render.raster import Raster
from simtown.scenes.scene import Scene, SceneBatch


@pytest.fixture
def dataset(rich):
    return open_dataset(rich)


def equal(a, b):
    """Whether two examples are the same in every field."""
    return all(np.array_equal(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__)


def test_an_example_holds_the_row_of_every_column(dataset):
    for split in SPLITS:
        part = dataset[split]
        for i in (0, 1, len(part) - 1):
            example = part[i]
            column = {name: part.column(name)[i] for name in LAYOUT if name not in PICTURES}
            for name in ("tokens", "boxes", "visible", "answer", "margin", "subject_slot", "object_slot"):
                assert np.array_equal(getattr(example, name), column[name])
            kinds = [vehicle.entity for vehicle in example.scene.vehicles]
            assert (example.question, len(kinds)) == (column["question"].decode(), 3)
            for role in ("subject", "object"):
                kind = ENTITIES[column[role]]
                assert getattr(example, role) == kinds[getattr(example, f"{role}_slot")] == kind
            assert example.relation == RELATION_NAMES[column["relation"]]
            assert example.image.shape == (32, 64, 3)
            assert (example.mask.dtype, example.mask.shape) == (np.uint8, (32, 64))
            assert (example.depth.dtype, example.depth.shape) == (np.float32, (32, 64))


def test_true_and_false_choose_examples_and_no_other_numbers_do(dataset):
    split = dataset.train
    yes = split.column("answer")
    assert np.array_equal(split.images(yes), split.images(np.flatnonzero(yes)))
    assert np.array_equal(split.rows(["margin"], yes)["margin"], split.column("margin")[yes])
    assert np.array_equal(split.scenes(yes).pose, split.scenes(np.flatnonzero(yes)).pose)
    with pytest.raises(IndexError):
        split.images([True, False])
    for wrong in ([1.7], ["1"], np.array([0.0])):
        with pytest.raises(TypeError):
            split.images(wrong)
    assert len(split.images([])) == 0


def test_the_numbers_of_a_mask_name_the_things_of_the_scene(dataset):
    """Against a drawing of the readable scene, in which things are numbered without gaps."""
    gaps = 0
    for example in dataset.train:
        drawn = Raster().render(SceneBatch.of([example.scene]), 64, 32).ids[0]
        ids = example.vehicle_ids + example.prop_ids
        assert len(ids) == len(example.scene.vehicles) + len(example.scene.props)
        assert set(np.unique(example.mask)) <= {0, *ids}
        for number, own in enumerate(ids, start=1):
            assert np.array_equal(example.mask == own, drawn == number)
        gaps += ids != list(range(1, 1 + len(ids)))
    assert gaps


def test_indices_run_like_a_lists(dataset):
    train = dataset.train
    assert len(train) == 24
    for i in (0, 9, 10, 23):
        assert equal(train[i], train[i - 24])
        assert equal(train[i], train[np.int64(i)])
    for i in (24, -25, 10**9):
        with pytest.raises(IndexError):
            train[i]
    part = train[8:12]
    assert isinstance(part, list)
    assert all(equal(a, train[i]) for a, i in zip(part, range(8, 12), strict=True))
    assert [e.question for e in train[::-5]] == [train[i].question for i in range(23, -1, -5)]
    assert train[24:] == []
    assert len(list(train)) == 24


@pytest.mark.parametrize("name", ["images", "masks", "depth"])
def test_pictures_in_any_order_are_those_read_in_turn(dataset, rich, name):
    parts = []
    for number in range(3):
        with h5py.File(rich / f"train-{number:05d}.h5", "r") as file:
            parts.append(file[name][:])
    whole = np.concatenate(parts)
    assert np.array_equal(dataset.train.images(np.arange(24), name), whole)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(24), 2))
    assert np.array_equal(dataset.train.images(order, name), whole[order])
    assert np.array_equal(dataset.train.images(order.tolist(), name), whole[order])
    assert dataset.train.images([], name).shape == (0, *whole.shape[1:])


def test_columns_and_scenes(dataset):
    train = dataset.train
    assert train.column("answer").shape == (24,)
    assert train.column("scene/pose").shape == (24, 3, 3)
    assert train.column("answer") is train.column("answer"), "columns are kept"
    with pytest.raises(KeyError):
        train.column("nonsense")
    scenes = train.scenes()
    assert (type(scenes), len(scenes), len(train.scenes(slice(3, 7)))) == (SceneBatch, 24, 4)
    assert np.array_equal(train.scenes(np.array([5, 2])).pose, scenes.pose[[5, 2]])
    assert isinstance(train[3].scene, Scene)
    assert train[3].scene == scenes.scene(3)
    with pytest.raises(KeyError):
        dataset["nonsense"]


def test_an_empty_split(dataset_of):
    val = open_dataset(dataset_of(Settings(entities=2, n=2, val=0, test=0, width=32, height=32))).val
    assert (len(val), list(val), val[:], len(val.torch())) == (0, [], [], 0)
    for view in (val, val.torch()):
        with pytest.raises(IndexError):
            view[0]


def test_the_torch_view_is_a_dict_of_arrays(dataset):
    view, train = dataset.train.torch(), dataset.train
    assert len(view) == 24
    types = {"image": np.uint8, "answer": np.float32, "boxes": np.float32}
    types |= dict.fromkeys(("tokens", "subject", "relation", "object"), np.int64)
    for i in (0, 10, 23, -1):
        item, example = view[i], train[i]
        assert {k: v.dtype.type for k, v in item.items()} == types
        assert np.array_equal(item["image"], example.image.transpose(2, 0, 1))
        assert item["image"].flags["C_CONTIGUOUS"]
        assert np.array_equal(item["tokens"], example.tokens)
        named = ENTITIES[item["subject"]], RELATION_NAMES[item["relation"]], ENTITIES[item["object"]]
        assert (*named, item["answer"]) == (example.subject, example.relation, example.object, example.answer)
        own = example.boxes[[example.subject_slot, example.object_slot]]
        assert np.allclose(item["boxes"] * [64, 32, 64, 32], own, atol=1e-4)
    for i in (24, -25):
        with pytest.raises(IndexError):
            view[i]


def test_what_cannot_be_read_is_refused(rich, copy, tmp_path):
    lacking, far = copy(rich, "lacking"), tmp_path / "nowhere"
    copy(rich, "town")
    for place, problem in (
        (tmp_path, "holds no simtown data set"),
        (far, "no folder"),
        (__file__, "is a file"),
    ):
        with pytest.raises(FileNotFoundError, match=problem):
            open_dataset(place)
    for near in ("lackin", "lakcing", "lack", "twon"):
        with pytest.raises(FileNotFoundError, match="did you mean"):
            open_dataset(tmp_path / near)
    (lacking / "val-00000.h5").unlink()
    with pytest.raises(DamagedError, match=r"val-00000\.h5"):
        open_dataset(lacking)
    broken = copy(rich, "broken")
    (broken / "train-00001.h5").write_bytes(b"no shard")
    dataset = open_dataset(broken)
    assert dataset.val[0].question
    with pytest.raises(DamagedError, match=r"train-00001\.h5"):
        dataset.train.images([12])


def test_more_shards_than_five_digits_stay_in_order(rich):
    """Shard 100,000 follows shard 99,999, although its name sorts before."""
    manifest = json.loads(json.dumps(open_dataset(rich).manifest))
    manifest["settings"].update(n=200_004, shard=2)
    train = [task for task in tasks(settings_from(manifest["settings"])) if task.split == "train"]
    manifest["shards"] = {task.name: {"examples": 2} for task in sorted(train, key=lambda task: task.name)}
    split = Dataset(rich, manifest).train
    assert len(split) == 200_004
    last = [split.address(i)[0].relative_to(rich).as_posix() for i in (199_999, 200_000, 200_003)]
    names = ("00099/train-99999", "00100/train-100000", "00100/train-100001")
    assert last == [f"train/{name}.h5" for name in names]


def test_a_few_files_are_open_at_a_time(dataset_of, monkeypatch):
    """However many a split has; and what is read does not depend on how few."""
    town = dataset_of(Settings(entities=5, n=40, val=2, test=2, width=32, height=32, shard=2))
    rows = [39, 0, 17, 1, 38, 16, 5]
    want = open_dataset(town).train.images(rows)
    monkeypatch.setattr(reader, "_OPEN", 3)
    split = open_dataset(town).train
    assert np.array_equal(split.images(rows), want)
    assert len(split.column("answer")) == 40
    assert len(split._files) <= 3
    assert [bool(split[i].answer) for i in rows] == [bool(split.column("answer")[i]) for i in rows]


@pytest.mark.parametrize(("begin", "end"), [(149, 151), (150, 300), (40, 40), (590, 700)])
def test_a_stream_of_some_rows_is_a_slice_of_the_columns(begin, end, many):
    """Shards of 150: a stretch begins and ends anywhere in them."""
    split = open_dataset(many).train
    blocks = list(split.stream(["tokens", "images"], 64, begin=begin, end=end))
    tokens = split.column("tokens")
    for first, block in blocks:
        assert 1 <= len(block["images"]) <= 64
        assert np.array_equal(block["tokens"], tokens[first : first + len(block["images"])])
    numbers = [first + i for first, block in blocks for i in range(len(block["images"]))]
    assert numbers == list(range(begin, min(end, 600)))
