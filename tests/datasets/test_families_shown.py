"""What people see of questions of families: info, one example, and worlds that cannot ask a family."""

import json
from dataclasses import replace

import numpy as np
import pytest

from simtown.datasets import family_questions
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.resolved_settings import resolve, settings_from
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import check_settings, source_of
from simtown.language.meaning.programs import parse
from simtown.town.explaining import reason


def test_info_counts_the_answers_of_each_family(families_town, cli, tmp_path):
    out = cli("info", families_town, "--json", tmp_path / "info.json").succeeds().out
    train = open_dataset(families_town).train
    told = json.loads((tmp_path / "info.json").read_text())["splits"]["train"]["family"]
    for family, answers in told.items():
        replies = [example.reply for example in train if example.family == family]
        assert answers == {reply: replies.count(reply) for reply in answers}
        assert sum(answers.values()) == len(replies)
        assert family in out
    assert set(told) == {"exist", "distance", "kind"}
    cli("info", families_town, "--plot").refuses("--plot", "subjects and objects")


@pytest.mark.parametrize("where", ["train:5", "train-00000.h5:5"])
def test_info_of_an_example_says_program_answer_and_reason(where, families_town, cli):
    example = open_dataset(families_town).train[5]
    told = " ".join(cli("info", families_town / where).succeeds().out.split())
    for words in (example.question, example.program, f"family {example.family}", "reason"):
        assert words in told


def test_the_reason_is_the_one_of_the_stored_answer(families_town):
    for example in open_dataset(families_town).train:
        why = reason(example.scene, parse(example.program), example.visible, example.boxes)
        if example.family == "distance":
            assert f"{example.number:.2f} m" in why
        elif example.family == "kind":
            assert f"the {example.reply}" in why or f"{example.reply} " in why
        else:
            assert ("no " in why) == (example.reply == "no") or why.endswith("needed)")


@pytest.mark.parametrize(
    ("settings", "family", "words"),
    [
        ({"crowd": "3"}, "between", "streets of 4 vehicles"),
        ({"weathers": ("fog",)}, "weather", "one answer"),
        ({"entities": 2}, "hops", "no words"),
        ({"width": 32, "height": 32}, "colour", "larger pictures"),
        ({"entities": 2, "crowd": "4"}, "driver", "no street"),
        ({"entities": 3, "crowd": "5", "cannot_tell": 0.3}, "between", "no street"),
    ],
)
def test_a_family_that_a_world_cannot_ask_is_refused_by_name_and_left_out_of_all(settings, family, words):
    with pytest.raises(SettingsError, match=words) as refused:
        check_settings(Settings(questions=("exist", family), **settings))
    assert refused.value.setting == "questions"
    every = Settings(questions=("all",), **settings)
    assert words in family_questions.problems(every)[family]
    assert family not in source_of(every).family_names()
    check_settings(every)
    source_of(every).draw("train", np.arange(200))
    assert source_of(settings_from(resolve(every))).family_names() == source_of(every).family_names()


def test_a_family_whose_streets_have_no_room_for_other_questions_is_refused():
    settings = Settings(questions=("count", "relations"), crowd="4", questions_per_picture=2)
    with pytest.raises(SettingsError, match="count"):
        check_settings(settings)
    check_settings(replace(settings, questions=("count", "relations", "exist")))


@pytest.mark.parametrize("crowd", ["2", "3"])
def test_words_fit_every_answer_in_small_streets(crowd):
    """Each template has all its answers, about as often."""
    from simtown.language.asking.search import ask_families

    settings = Settings(questions=("exist", "logic"), crowd=crowd, n=1_200, width=64, height=64)
    recipe = source_of(settings).recipe("train")
    batch = ask_families(recipe, np.arange(settings.n))
    groups = batch.family * 16 + batch.template
    for group in np.unique(groups):
        answers = batch.answer[groups == group]
        assert abs(answers.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(len(answers))
