"""Questions of families: fair, addressed, well-posed, and the same however they are asked for."""

import re
from dataclasses import replace
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
import pytest

from simtown.assets.entities import CATALOGUE
from simtown.core.streams import Draws
from simtown.datasets.making.generate import generate
from simtown.datasets.proving.verify import verify
from simtown.datasets.question_files import read_question_files
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.families import families
from simtown.language.asking.search import ask_families
from simtown.language.asking.templates import SLOTS, Drawer
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import CLOSE, KNOWN, evaluate
from simtown.language.meaning.nouns import ORDINALS, STREET_NOUNS, VEHICLE_NOUNS, plural
from simtown.language.meaning.programs import COLOURS, LANES, OWN_RELATIONS, decode, encode, parse
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.language.words import wording
from simtown.language.words.questions import FAMILIES
from simtown.language.words.tokens import vocabulary, words
from simtown.render.raster import Raster
from simtown.scenes.placement import LEAST_VISIBLE, apart
from simtown.scenes.weather import WEATHERS
from tests.datasets.conftest import reseal

SETTINGS = Settings(entities=30, n=96, val=12, test=12, width=64, height=64, questions=("all",), shard=24)


@pytest.fixture(scope="module")
def recipe():
    return source_of(SETTINGS).recipe("train")


@pytest.fixture(scope="module")
def batch(recipe):
    return ask_families(recipe, np.arange(600))


def test_the_names_of_families_are_those_of_the_table():
    assert {"paper", *FAMILIES} == families().keys()


@pytest.mark.parametrize("entities", [2, 3, 4])
@pytest.mark.parametrize("crowd", ["2", "2-3", "4-5", "3-6"])
def test_all_are_those_that_a_small_world_can_ask(entities, crowd):
    settings = replace(SETTINGS, entities=entities, crowd=crowd)
    questions = source_of(settings).draw("train", np.arange(8 * len(source_of(settings).family_names())))
    assert len({*questions.family.tolist()}) > len(source_of(settings).family_names()) / 2


def test_the_vocabulary_has_every_word_that_a_question_can_say(recipe, batch):
    nouns = [*CATALOGUE, *VEHICLE_NOUNS, *STREET_NOUNS]
    texts = [text for family in families().values() for form in family.templates for text in form.texts]
    tables = [table for name, table in vars(wording).items() if isinstance(table, dict) and name[0] != "_"]
    phrases = [*nouns, *map(plural, nouns), *COLOURS, *ORDINALS, *texts, *batch.words]
    phrases += [phrase for table in tables for phrase in table.values()]
    said = {word for phrase in phrases for word in words(re.sub(r"\{[^}]*\}", " ", phrase))}
    # The 2 of "at least 2" came unknown into the data sets that there are: it waits for a change of the data.
    assert said - {*vocabulary(own_kinds=0)} <= {"2"}


WORDS = {
    "relation": RELATION_NAMES, "driver": OWN_RELATIONS, "lane": LANES, "weather": WEATHERS,
    "side": ("leftmost", "rightmost"), "order": ("leftmost", "rightmost", "nearest", "farthest"),
}  # fmt: skip


@pytest.mark.parametrize("slot", WORDS)
def test_a_slot_is_filled_with_all_its_words(slot, recipe):
    draws = Draws(np.random.default_rng(0).random(200))
    assert {SLOTS[slot](Drawer(recipe.world, draws)) for _ in range(200)} == {*WORDS[slot]}


def test_a_question_depends_on_its_number_alone(recipe, batch):
    chosen = np.array([401, 7, 8, 399, *range(0, 600, 9)])
    again = ask_families(recipe, chosen)
    assert again.words == [batch.words[row] for row in chosen]
    for name, values in vars(again.scene).items():
        assert np.array_equal(values, getattr(batch.scene, name)[chosen]), name
    assert np.array_equal(again.tried, batch.tried[chosen])


def test_neighbours_are_of_one_family_and_answer_differently(batch):
    assert np.array_equal(batch.family[::2], batch.family[1::2])
    assert (batch.answer[::2] != batch.answer[1::2]).all()


def test_every_program_has_its_answer_in_its_scene(recipe, batch):
    values = evaluate(batch.scene, batch.program, size=recipe.size)
    assert (values.state == KNOWN).all()
    assert not values.idle.any()
    assert np.array_equal(values.answer, batch.answer)
    for row in range(len(batch.words)):
        form = decode(batch.program[row])
        assert encode(parse(str(form))) == [n for n in batch.program[row].tolist() if n >= 0]


def test_streets_keep_the_rules_of_all_scenes(batch):
    present = batch.scene.entity >= 0
    assert set(present.sum(axis=1)) <= {3, 4, 5, 6}
    assert apart(batch.scene.entity.astype(np.int64), batch.scene.pose).all()
    assert (batch.visible[present] >= LEAST_VISIBLE).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_gives_all_its_answers(name, recipe):
    """Each about as often, by the fair draw: no answer is impossible."""
    family = families()[name]
    possible = recipe.world.answers[family.answer]
    n = min(20 * len(possible), 120)
    answers = ask_families(replace(recipe, families=(family,)), np.arange(n)).answer
    assert set(answers.tolist()) <= set(possible)
    if len(possible) < 10:
        assert set(answers.tolist()) == set(possible)
    assert all(0 <= answer < len(ANSWERS[family.answer]) for answer in answers.tolist())


def test_one_cannot_tell_what_is_too_close_to_say(recipe):
    spatial = tuple(families()[name] for name in ("relations", "nearest", "driver"))
    batch = ask_families(replace(recipe, families=spatial, cannot_tell=0.5), np.arange(120))
    values = evaluate(batch.scene, batch.program, size=recipe.size)
    assert np.array_equal(values.state == CLOSE, batch.answer < 0)
    assert 30 <= (batch.answer < 0).sum() <= 90


def test_words_that_no_street_makes_unclear_are_not_asked_with_cannot_tell(recipe):
    """ "What is the vehicle in the near lane?" is always clear, so the words alone would say so."""
    kinds = replace(recipe, families=(families()["kind"],))
    asked_of = [ask_families(replace(kinds, cannot_tell=share), np.arange(100)).words for share in (0, 0.3)]
    assert [any("lane" in words for words in own) for own in asked_of] == [True, False]


@pytest.mark.parametrize("paint", ["own", "uniform"])
def test_words_name_no_colour_where_pictures_are_too_small_to_show_it(paint):
    """Else "How many red buses are there?" would be 0 or 1: of more some show too few pixels."""
    for side, named in ((32, False), (64, True)):
        settings = replace(SETTINGS, questions=("count", "exist", "relations"), paint=paint)
        small = source_of(replace(settings, width=side, height=side)).recipe("train")
        programs = [str(decode(program)) for program in ask_families(small, np.arange(200)).program]
        assert any("has(colour" in program for program in programs) == named


def test_questions_about_one_picture(tmp_path):
    settings = replace(SETTINGS, questions_per_picture=3, n=48, val=6, test=0)
    generate(settings, tmp_path / "town", workers=1)
    train = open_dataset(tmp_path / "town").train
    examples = train[:]
    for begin in range(0, len(examples), 3):
        of_one = examples[begin : begin + 3]
        assert len({example.question for example in of_one}) == 3
        assert all(np.array_equal(of_one[0].image, example.image) for example in of_one)
        assert all(example.reply in ("yes", "no") for example in of_one[1:])
    assert not np.array_equal(examples[0].image, examples[3].image)
    assert np.array_equal(train.images(np.array([5, 0, 1]))[1], examples[0].image)
    assert verify(tmp_path / "town", Raster(), pictures=None).problems == []
    assert source_of(settings).draw("train", np.array([4])).words == [examples[4].question]


def test_a_street_about_which_too_little_can_be_asked_is_drawn_again():
    """Of "How many sedans are there?" and "3" the words and the answer stay."""
    own = {"questions": ("count", "relations", "driver"), "questions_per_picture": 3}
    settings = replace(SETTINGS, entities=60, **own)
    source = source_of(settings)
    index = np.arange(3 * 27, 3 * 29)  # three sedans and a hatchback stood in the street of picture 27
    batch = source.draw("train", index)
    assert (batch.words[0], batch.answer[0]) == ("How many sedans are there?", 3)
    assert len({*batch.words[:3]}) == len({*batch.words[3:]}) == 3
    assert (batch.values.state == KNOWN).all()
    one = source.draw("train", index[:3])
    assert one.words == batch.words[:3]


def test_a_picture_whose_further_words_fail_in_every_street_gets_others():
    """Two of its four vehicles have names, about which there are four questions, and all are asked."""
    own = {"questions": ("paper",), "crowd": "4", "questions_per_picture": 4}
    source = source_of(replace(SETTINGS, entities=3, **own))
    batch = source.draw("train", np.arange(4 * 211, 4 * 212))
    assert len({*batch.words}) == 4


def test_further_questions_ask_for_a_whole_kind():
    """Those of a kind that face left are seldom there, but in a street that was made for two of the kind."""
    source = source_of(replace(SETTINGS, questions=("exist", "count"), questions_per_picture=2))
    batch = source.draw("train", np.arange(400))
    assert not any("filter" in str(decode(program)) for program in batch.program[1::2])
    assert 70 < batch.answer[1::2].sum() < 130


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    town = tmp_path_factory.mktemp("made") / "town"
    generate(replace(SETTINGS, n=24, masks=True), town, workers=1)
    return town


def test_a_families_data_set_is_what_its_settings_make(made):
    assert verify(made, Raster(), pictures=None).problems == []
    assert verify(made, Raster(), quick=True).problems == []


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("column", ["value", "program", "scene/pose"])
def test_a_change_is_found_though_all_checksums_match(made, column, quick, copy):
    town = copy(made, "town")
    with h5py.File(town / "train-00000.h5", "r+") as file:
        rows = file[column][()]
        rows[4] = rows[5] if column != "value" else (rows[4] + 1) % 40
        file[column][...] = rows
    reseal(town)
    problems = verify(town, Raster(), quick=quick).problems
    assert any(problem.startswith("train-00000.h5") for problem in problems)


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"questions": ("exit",)}, "questions"),
        ({"questions": ("exist", "exist")}, "questions"),
        ({"crowd": "9"}, "crowd"),
        ({"crowd": "4-2"}, "crowd"),
        ({"questions_per_picture": 5}, "n"),
        ({"questions_per_picture": 2, "questions": ("count", "kind"), "n": 40}, "questions_per_picture"),
        ({"distractor": True}, "distractor"),
        ({"phrasing": "varied"}, "phrasing"),
        ({"cannot_tell": 0.9}, "cannot_tell"),
    ],
)
def test_impossible_settings_are_named(given, setting):
    with pytest.raises(SettingsError) as error:
        check_settings(replace(SETTINGS, **given))
    assert error.value.setting == setting


OWN = """[{}]
answer = "{}"
templates = [{{ program = "{}", slots = ["{}"], texts = ["{}"] }}]
"""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = [", "not a TOML"),
        ('[a]\nanswer = "truth"\ntemplates = []', "templates"),
        (OWN.format("a", "truth", "exist(filter(all(zebra), has(lane, 1)))", "lane", "{1}?"), "zebra"),
        (OWN.format("a", "maybe", "exist(1)", "set", "{a 1}?"), "not with maybe"),
        (OWN.format("a", "truth", "exist(1", "set", "{a 1}?"), "bracket"),
        (OWN.format("a", "truth", "exists", "set", "{a 1}?"), "bracket"),
        (OWN.format("a", "truth", f"{'not(' * 3000}exist(1){')' * 3000}", "set", "{a 1}?"), "too deeply"),
        (OWN.format("a", "truth", "exist(1)", "set", "{a 2}?"), "{a 2}"),
        (OWN.format("a", "truth", "exist(1)", "set", "{any 1}?"), "{any 1}"),
        (OWN.format("a", "truth", "exist(1)", "set", "Is it there?"), "each of its slots"),
        (OWN.format("a", "truth", "holds(1, 2)", 'kind", "noun', "{1} {2}?"), "of another type"),
        (OWN.format("a", "truth", "exist(1)", "set", r"Is\t{a 1}\nthere?"), "control character"),
        (OWN.format("a", "truth", "exist(1)", "set", "Is {a 1}\u2028there?"), "line break"),
        (OWN.format("a, b", "truth", "exist(1)", "set", "{a 1}?"), "not a TOML"),
        (OWN.format("exist", "truth", "exist(1)", "set", "{a 1}?"), "exist is a family"),
    ],
)
def test_a_file_of_families_that_cannot_be_used(text, part, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=part):
        check_settings(read_question_files(replace(SETTINGS, questions=(str(path),))))


def test_families_of_ones_own_are_kept_with_the_data_set(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "questions.md").read_text(encoding="utf-8")
    example = page[page.index("    [siren]\n") :].partition("\n\n")[0]
    paths = tmp_path / "siren.toml", tmp_path / "there.toml"
    paths[0].write_text(example)
    paths[1].write_text(OWN.format("there", "truth", "exist(1)", "set", "Is {a 1} there?"))
    asking = replace(SETTINGS, questions=("exist", *map(str, paths)), n=24, val=0, test=0)
    with pytest.raises(SettingsError, match="read_question_files"):
        check_settings(asking)
    generate(read_question_files(asking), tmp_path / "town", workers=1)
    for path in paths:
        path.unlink()
    data = open_dataset(tmp_path / "town")
    assert data.names["families"] == ["exist", "siren", "there"]
    asked_of = {e.family: e.question for e in data.train[:]}
    assert asked_of["siren"].startswith("How many emergency vehicles are in the ")
    assert verify(tmp_path / "town", Raster(), pictures=None).problems == []
