"""Twins: pairs and groups of pictures that differ in one thing, and what is proven of them."""

import json
import shutil
from dataclasses import replace

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.datasets import family_questions
from simtown.datasets.proving.twin_groups import chances_of_groups, group_accuracies, pair_rows, twin_problems
from simtown.datasets.proving.verify import verify
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.showing.preview import dataset_sheet
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.twins import EDITS, NONE, WEATHER, ask_twins
from simtown.language.meaning.evaluate import ILL_POSED, KNOWN, evaluate
from simtown.language.meaning.limits import TURNED_PIXELS
from simtown.language.words.questions import FAMILIES
from simtown.render.raster import Raster
from simtown.scenes.crowd import acceptable
from simtown.training.run_scores import scores_of
from tests.datasets.conftest import reseal

SETTINGS = Settings(
    entities=40, n=32, val=8, test=8, width=64, height=64, questions=("all",), shard=16, twins=True
)
SEVERAL = replace(SETTINGS, n=36, val=12, test=12, shard=12, questions_per_picture=3)
EVERY = {"pairs": SETTINGS, "several": SEVERAL, "unclear": replace(SETTINGS, cannot_tell=0.2)}


@pytest.fixture(scope="module", params=EVERY)
def settings(request):
    return EVERY[request.param]


@pytest.fixture(scope="module")
def recipe(settings):
    return source_of(settings).recipe("train")


@pytest.fixture(scope="module")
def batch(recipe):
    return ask_twins(recipe, np.arange(240))


@pytest.fixture(scope="module")
def pairs(settings):
    """The rows of each pair of `batch`."""
    return pair_rows(240, settings.questions_per_picture)


@pytest.fixture(scope="module")
def rows(batch, settings):
    return source_of(settings).columns(batch, np.arange(240))


@pytest.fixture(scope="module")
def dataset(dataset_of, settings):
    return dataset_of(settings)


def test_twins_differ_in_one_vehicle_or_thing_or_the_weather(batch, pairs):
    for pair in pairs:
        scenes = [json.loads(batch.scene.to_json(row)) for row in pair.tolist()]
        edit = EDITS[batch.twins.edit[pair[0]]]
        vehicles, things = (
            [
                len({*map(json.dumps, a[part])} - {*map(json.dumps, b[part])})
                for a, b in (scenes, scenes[::-1])
            ]
            for part in ("vehicles", "props")
        )
        numbers = {"removed": [1, 0], "added": [0, 1], "weather": [0, 0], "thing": [0, 0]}
        assert vehicles == numbers.get(edit, [1, 1])
        assert max(things) == (edit == "thing")
        one, other = (scene["weather"].pop("kind") for scene in scenes)
        assert (one != other) == (edit == "weather")
        assert all(scenes[0][part] == scenes[1][part] for part in ("weather", "camera"))


def test_both_pictures_answer_the_same_words_differently(batch, recipe, pairs):
    """If one of them leaves it open whether, the other does not."""
    values = evaluate(batch.scene, batch.program, size=recipe.size)
    assert np.array_equal(values.state == KNOWN, batch.answer >= 0)
    assert (values.state != ILL_POSED).all()
    assert not values.idle.any()
    assert np.array_equal(np.where(values.state == KNOWN, values.answer, -1), batch.answer)
    assert all(batch.words[one] == batch.words[other] for one, other in pairs.tolist())
    assert (batch.answer[pairs[:, 0]] != batch.answer[pairs[:, 1]]).all()
    assert acceptable(batch.scene.entity, batch.scene.pose, batch.scene.camera).all()
    present = (batch.scene.entity >= 0).sum(axis=1)
    assert present.min() >= recipe.world.least


def test_second_questions_are_yes_or_no_in_the_opposite_order(batch, recipe, pairs):
    _, first, size = np.unique(batch.twins.group[pairs[:, 0]], return_index=True, return_counts=True)
    if recipe.cannot_tell:  # beside questions that may be unclear, the words of others would hint
        assert (size == 1).all()
        return
    first = first[size > 1]
    assert len(first) > 20 // recipe.questions_per_picture
    one, other = pairs[first], pairs[first + 1]
    assert {recipe.families[place].answer for place in batch.family[other].ravel()} == {"truth"}
    truth = np.array([recipe.families[place].answer == "truth" for place in batch.family[one[:, 0]]])
    assert (batch.answer[one] != batch.answer[other])[truth, 0].all()


def test_each_picture_has_several_questions():
    made = ask_twins(source_of(SEVERAL).recipe("train"), np.arange(240))
    for begin in range(0, 240, 3):
        assert len({tuple(program) for program in made.program[begin : begin + 3].tolist()}) == 3


def test_one_of_two_pictures_may_leave_the_answer_open():
    """In as many examples as of a data set without twins, and as often in the first picture."""
    unclear = replace(SETTINGS, questions=("relations", "nearest"), cannot_tell=0.25)
    answer = ask_twins(source_of(unclear).recipe("train"), np.arange(1600)).answer
    pairs = answer.reshape(-1, 2)
    assert abs((pairs < 0).mean() - 0.25) < 0.04
    assert abs((pairs[:, 0] < 0).sum() - (pairs[:, 1] < 0).sum()) < 4 * np.sqrt(400)


def test_an_example_depends_on_its_number_alone(batch, recipe):
    chosen = np.array([203, 4, 9, 14])
    again = ask_twins(recipe, chosen)
    assert again.words == [batch.words[row] for row in chosen]
    assert np.array_equal(again.scene.pose, batch.scene.pose[chosen])
    for own, whole in zip(again.twins, batch.twins, strict=True):
        assert np.array_equal(own, whole[chosen])


@pytest.mark.parametrize("family", ["paper", *FAMILIES])
@pytest.mark.parametrize("paint", ["own", "uniform"])
def test_every_family_has_twins(family, paint):
    settings = replace(SETTINGS, entities=60, questions=(family,), paint=paint)
    made = source_of(settings).draw("train", np.arange(16))
    assert not [
        s for s, wrong in twin_problems(source_of(settings).columns(made, np.arange(16))) if wrong.any()
    ]
    if family == "colour" and paint == "uniform":
        assert EDITS.index("painted") in made.twins.edit


def test_answers_come_first_equally_often():
    """Either answer is that of the first picture, which was not edited."""
    settings = replace(SETTINGS, questions=("heading",))
    made = ask_twins(source_of(settings).recipe("train"), np.arange(800))
    assert 150 < made.answer[::2].sum() < 250
    counted = ask_twins(source_of(replace(SETTINGS, questions=("count",))).recipe("train"), np.arange(200))
    assert (np.abs(np.diff(counted.answer.reshape(-1, 2))) == 1).all()


def test_what_turns_is_large_enough_to_see():
    settings = replace(SETTINGS, questions=("heading",), width=32, height=32)
    batch = source_of(settings).draw("train", np.arange(400))
    turned = np.flatnonzero(batch.twins.edit[::2] == EDITS.index("turned"))
    assert len(turned) > 50
    pictures = [batch.scene[2 * turned + place] for place in (0, 1)]
    # they are counted before houses and weather, which may hide some
    assert family_questions.count_changes(*pictures, (32, 32)).min() >= TURNED_PIXELS / 3


@given(st.data())
def test_whatever_else_changes_in_a_picture_is_noticed(rows, settings, data):
    """A second change of either picture, its words, answer, group or edit is a problem."""
    each = settings.questions_per_picture
    assert not [sentence for sentence, wrong in twin_problems(rows, each) if wrong.any()]
    changed = {name: column.copy() for name, column in rows.items()}
    row = data.draw(st.integers(0, 239))
    name = data.draw(
        st.sampled_from([
            "scene/camera", "scene/sun", "scene/fall_seed", "scene/intensity", "scene/prop_pose",
            "scene/prop_style", "question", "program", "template", "group", "edit", "edited",
        ])
    )  # fmt: skip
    if name == "question":
        changed[name][row] = b"Is there a taxi?!"
    else:
        changed[name].reshape(240, -1)[row, 0] += 1
    wrong = [place for _, wrong in twin_problems(changed, each) for place in np.flatnonzero(wrong)]
    assert any(place // settings.block == row // settings.block for place in wrong)


def test_a_second_vehicle_that_changes_is_noticed(rows, settings):
    for row in range(240):
        changed = {name: column.copy() for name, column in rows.items()}
        own = rows["edited"][row] if rows["edit"][row] < WEATHER else NONE
        slot = next(s for s in range(6) if s != own and rows["scene/entity"][row, s] >= 0)
        changed["scene/pose"][row, slot, 0] += 0.5
        assert any(wrong[row] for _, wrong in twin_problems(changed, settings.questions_per_picture))


def test_what_guessers_and_blind_models_score():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(0, 20_000, 2), 4)
    guessed = {
        name: share.mean() for name, share in group_accuracies(group, rng.random(40_000) < 0.5).items()
    }
    assert abs(guessed["single"] - 1 / 2) < 0.01
    assert abs(guessed["pair"] - 1 / 4) < 0.01
    assert abs(guessed["group"] - 1 / 16) < 0.01
    assert abs(guessed["consistency"] - 1 / 3) < 0.01
    blind = group_accuracies(group, np.tile([True, False, False, True], 10_000))
    assert {name: share.mean() for name, share in blind.items()} == {
        "single": 0.5, "pair": 0, "group": 0, "consistency": 0
    }  # fmt: skip
    perfect = group_accuracies(np.repeat([0, 1, 2], 2), np.ones(6, dtype=bool))
    assert perfect["pair"].tolist() == [True] * 3
    assert not len(perfect["group"])


def test_a_data_set_of_twins_is_verified_and_shown(dataset, settings):
    assert not verify(dataset).problems
    assert not verify(dataset, quick=True).problems
    data = open_dataset(dataset)
    assert data.names["edits"] == list(EDITS)
    split = data.train
    group, pair = split.column("group"), pair_rows(len(split), settings.questions_per_picture)
    same = np.flatnonzero(group[pair[1:, 0]] == group[pair[:-1, 0]])
    assert np.array_equal(split.images(pair[same].ravel()), split.images(pair[same + 1].ravel()))
    assert dataset_sheet(data, Raster(), count=8).width > 500


def test_evaluation_reports_pairs_and_groups(dataset):
    data, answers = open_dataset(dataset), open_dataset(dataset).names["answers"]
    value = data.test.column("value")
    knows, blind = np.eye(len(answers))[value], np.eye(len(answers))[np.zeros_like(value)]
    for logits, accuracy in ((knows, 1), (blind, 0)):
        twins = scores_of(data).measure({"test": logits}, None)["twins"]
        assert twins["pair"]["accuracy"] == accuracy
        assert twins["pair"]["n"] == len(value) // 2
        assert (twins["group"] or {"accuracy": accuracy})["accuracy"] == accuracy


def test_verify_finds_a_twin_of_another_picture(dataset, tmp_path):
    def other_flakes(file):
        file["scene/fall_seed"][3] += 1

    copy = changed_copy(dataset, tmp_path / "copy", other_flakes)
    for quick in (True, False):
        (problem, *_) = verify(copy, quick=quick).problems
        assert "twins do not differ in one thing" in str(problem)


def test_verify_finds_a_group_that_was_split(dataset, tmp_path):
    def split(file):
        group, index = file["group"][:], file["index"][:]
        if np.bincount(group).max() > 2:
            file["group"][:] = index // 2

    settings = open_dataset(dataset).settings
    if settings.questions_per_picture > 1 or settings.cannot_tell:
        pytest.skip("all groups are of one size: another number of any is found")
    copy = changed_copy(dataset, tmp_path / "copy", split)
    (problem, *_) = verify(copy, quick=True).problems
    assert "not one group" in str(problem)


@pytest.fixture(scope="module")
def many(dataset_of):
    """Enough of them for the audit's tests."""
    return dataset_of(replace(SETTINGS, n=1_600, val=0, test=200, width=32, height=32, shard=1_600))


def changed_copy(dataset, place, change):
    """A copy of a data set with `change(file)` made in its first shard of training, and its checksum."""
    shutil.copytree(dataset, place)
    with h5py.File(place / "train-00000.h5", "r+") as file:
        change(file)
    return reseal(place)


def warnings(dataset):
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install '.[audit]'")
    from simtown.datasets.audit.run import audit

    return {finding.check: finding for finding in audit(open_dataset(dataset)) if finding.status == "warn"}


@pytest.mark.slow
def test_the_audit_passes_twins(many):
    """That they repeat each other is no fault, nor that two neighbouring counts are the answers."""
    assert not warnings(many)


@pytest.mark.slow
def test_the_audit_finds_what_is_wrong_with_twins(many, tmp_path):
    def equal_pictures(file):
        file["images"][7] = file["images"][6]

    def copied_groups(file):
        for name in ("scene/entity", "scene/pose", "scene/camera", "images"):
            file[name][200:240] = file[name][:40]

    def yes_first(file):
        """Of one family, the answer to the first picture is always no."""
        family = open_dataset(many).names["families"].index("same")
        pairs = np.flatnonzero(file["family"][:][::2] == family)
        value = file["value"][:].reshape(-1, 2)
        value[pairs] = np.sort(value[pairs])
        file["value"][:] = value.reshape(-1)

    def few_counts(file):
        """Of one family, the least two answers alone."""
        data = open_dataset(many)
        rows = np.flatnonzero(file["family"][:] == data.names["families"].index("count"))
        least = [data.names["answers"].index(text) for text in ("0", "1")]
        value = file["value"][:]
        value[rows] = np.tile(least, len(rows) // 2)
        file["value"][:] = value

    found = {
        change.__name__: warnings(changed_copy(many, tmp_path / change.__name__, change))
        for change in (equal_pictures, copied_groups, yes_first, few_counts)
    }
    assert {*found["equal_pictures"]} == {"equal twins"}
    assert found["equal_pictures"]["equal twins"].details["first"] == ["train 6"]
    assert "duplicate scenes" in found["copied_groups"]
    assert found["copied_groups"]["duplicate scenes"].details["repeated"] == 40
    assert "information by same" in found["yes_first"]
    assert "answers by family" in found["few_counts"]
    (problem, *_) = verify(tmp_path / "equal_pictures", Raster(), None).problems
    assert "twins show one picture" in str(problem)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"n": 30}, "n must be a multiple of 4"),
        ({"shard": 6}, "shard must be a multiple of 4"),
        ({"questions_per_picture": 3}, "n must be a multiple of 6"),
        ({"questions_per_picture": 2, "cannot_tell": 0.1}, "cannot_tell .* one question a picture"),
        ({"questions_per_picture": 2, "questions": ("exist", "weather")}, "weather .* nothing else"),
        ({"questions": ("weather",), "weathers": ("rain",)}, "weather"),
    ],
)
def test_what_cannot_have_twins_is_refused(changes, names):
    with pytest.raises(SettingsError, match=names):
        check_settings(replace(SETTINGS, **changes))


def test_a_weather_that_is_asked_about_can_be_told_in_both_pictures():
    """Fog is made thin in both, though only one may have it."""
    recipe = source_of(Settings(questions=("weather",), twins=True, n=4)).recipe("train")
    batch = ask_twins(recipe, np.arange(2000))
    values = evaluate(batch.scene, batch.program, batch.visible, recipe.size)
    assert (values.state == KNOWN).all()


def test_chances_of_groups_are_products_over_their_questions():
    group, rng = np.array([0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 6, 6]), np.random.default_rng(0)
    chance = rng.random(len(group))
    found = chances_of_groups(group, chance)
    assert found["pair"] == pytest.approx(np.mean(chance[::2] * chance[1::2]))
    assert found["group"] == pytest.approx((chance[2:6].prod() + chance[6:].prod()) / 2)
