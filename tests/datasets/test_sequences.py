"""Data sets of sequences: stored once, read in order, proven again, and refused where they cannot be."""

import h5py
import numpy as np
import pytest

from simtown import Settings, generate, open_dataset
from simtown.core.options import SettingsError
from simtown.datasets.audit.floors import LEAST, floors, shown
from simtown.datasets.proving.verify import verify
from simtown.datasets.sequence_questions import pair_problems
from simtown.datasets.settings import MODES
from simtown.datasets.source import check_settings
from simtown.language.asking.sequences import REVERSED
from simtown.language.meaning.programs import ENTITY
from simtown.language.words.questions import UNKNOWN
from simtown.render.raster import Raster

SMALL = {"n": 24, "val": 4, "test": 8, "width": 64, "height": 48, "entities": 30}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data set of each mode, by name."""
    places = {}
    for mode in MODES:
        places[mode] = tmp_path_factory.mktemp("sequences") / mode
        generate(Settings(sequence=mode, masks=True, depth=True, shard=12, **SMALL), places[mode])
    return places


@pytest.mark.parametrize("mode", MODES)
def test_examples_are_the_pictures_of_their_scenes(made, mode):
    data = open_dataset(made[mode])
    for i in (0, 1, 13, 23):
        example = data.train[i]
        assert len(example.scenes) == len(example.seconds) == data.train.shots == len(example.image)
        batch = type(data.train.scenes(np.arange(1))).of(list(example.scenes))
        frames = Raster().render(batch, 64, 48)
        assert np.abs(frames.rgb.astype(int) - example.image).max() <= 0
        assert np.array_equal(frames.depth, example.depth)
        assert (data.train.images([i, 0])[0] == example.image).all()
        assert (data.train.images([0, i], "masks")[1] == example.mask).all()
        assert (data.train.images([i], "depth")[0] == example.depth).all()


@pytest.mark.parametrize("mode", MODES)
def test_pictures_stand_once(made, mode):
    data = open_dataset(made[mode]).train
    for path in data.shards(0, len(data)):
        with h5py.File(path) as file:
            sequences = len(np.unique(file["sequence"][:]))
            assert len(file["images"]) == len(file["depth"]) == sequences * data.shots
    images, shared = data.images(np.arange(len(data))), data.column("shared")
    for row in range(0, len(data), 2):
        if shared[row] == REVERSED:
            assert (images[row] == images[row + 1][::-1]).all()
        else:
            assert (images[row, shared[row]] == images[row + 1, shared[row]]).all()
            assert (images[row] != images[row + 1]).any()


@pytest.mark.parametrize("mode", MODES)
def test_torch_and_batches_have_all_pictures(made, mode):
    data = open_dataset(made[mode]).train
    batch = data.torch().__getitems__([3, 5])
    assert batch.arrays["image"].shape == (2, data.shots, 3, 48, 64)
    assert (batch.arrays["image"].transpose(0, 1, 3, 4, 2) == data.images([3, 5])).all()


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_what_was_made_is_proven(made, mode, quick):
    report = verify(made[mode], Raster(), quick=quick)
    assert report.problems == []


@pytest.mark.parametrize("name", ["order", "shared", "sequence", "scene/paint", "scene/seconds"])
def test_a_change_of_a_column_is_found(made, name):
    data = open_dataset(made["time"]).train
    columns = data.rows(data.columns, np.arange(12))
    assert not any(wrong.any() for _, wrong in pair_problems(columns))
    before = columns[name][5].copy()
    columns[name][5] = before[::-1] if name == "order" else before + 1
    assert any(wrong[5] for _, wrong in pair_problems(columns))


@pytest.mark.parametrize(
    "wrong",
    [
        {"pictures": 4}, {"seconds": 1.0}, {"sequence": "time", "pictures": 1}, {"sequence": "clip"},
        {"sequence": "views", "seconds": 1.0}, {"sequence": "time", "twins": True},
        {"sequence": "time", "questions": ("camera",)},
        {"sequence": "time", "pictures": 3, "questions": ("pace",)},
        {"sequence": "change", "questions_per_picture": 2}, {"sequence": "time", "crowd": "8", "pictures": 8},
        {"sequence": "time", "cannot_tell": 0.1},
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_made(wrong):
    with pytest.raises(SettingsError):
        check_settings(Settings(**{**SMALL, "n": 8, "test": 4} | wrong))


@pytest.mark.parametrize(("name", "crowd"), [("when", "6"), ("order", "4")])
def test_eight_pictures_may_be_asked_about(name, crowd):
    check_settings(Settings(**SMALL, sequence="time", questions=(name,), pictures=8, crowd=crowd))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"pictures": 12}, "from 2 to 8, not 12"), ({"pictures": -3}, "from 2 to 8, not -3"),
     ({"questions_per_picture": 5, "n": 8}, "leave out `sequence`"), ({"twins": True, "n": 6}, "leave out")],
)  # fmt: skip
def test_the_conflict_is_named_before_what_follows_from_it(wrong, words):
    with pytest.raises(SettingsError, match=words):
        check_settings(Settings(**{**SMALL, "sequence": "views"} | wrong))


@pytest.mark.parametrize("mode", MODES)
def test_every_word_of_a_question_has_a_number(made, mode):
    tokens = open_dataset(made[mode]).train.column("tokens")
    assert (tokens != UNKNOWN).all()


@pytest.mark.parametrize("mode", MODES)
def test_an_example_is_described(made, mode, cli):
    data = open_dataset(made[mode]).train
    shown = cli("info", f"{made[mode]}/train:5")
    assert shown.code == 0
    assert data[5].question.split()[0] in shown.out


def test_no_driver_sees_the_vehicle_that_is_asked_about(tmp_path):
    generate(Settings(sequence="views", questions=("seat",), **SMALL), tmp_path / "seats")
    columns = open_dataset(tmp_path / "seats").train.rows(["program", "boxes", "scene/entity"], np.arange(24))
    asked = (columns["program"][:, None] == ENTITY + columns["scene/entity"][..., None]).any(axis=2)
    box = columns["boxes"][:, 1:][np.repeat(asked[:, None], columns["boxes"].shape[1] - 1, axis=1)]
    assert (box[:, 2:] <= box[:, :2]).any(axis=1).all()


def test_a_model_that_ignores_order_has_half_of_reversed_pairs_and_no_pair(made):
    data = open_dataset(made["time"]).train
    seen = np.resize(shown(data.rows(data.columns, np.arange(24))), (LEAST, data.shots, 40))
    seen[1::2] = seen[::2, ::-1]
    alone, blind = floors(seen, np.tile([0, 1], LEAST // 2), np.full(LEAST, REVERSED))
    assert len(alone) == data.shots
    assert (blind.right, blind.pairs) == (0.5, 0)
