"""Readers agree with the answers of data sets, and object to others."""

import numpy as np
import pytest

from simtown.datasets.family_questions import answers, families_of
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.meaning.answers import ANSWERS, CANNOT_TELL
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.scenes.weather import WEATHERS
from tests.language.plain import plain_scenes
from tests.language.reader import objection

MODES = {
    "own paint": {},
    "uniform paint": {"paint": "uniform"},
    "cannot tell": {"cannot_tell": 0.2},
    "twins": {"twins": True},
    "three questions a picture": {"questions_per_picture": 3},
}
#: Questions that are drawn at once: whole groups of all modes.
AT_ONCE = 240


def ask(mode, first):
    """Scenes, questions, replies and families of some questions of a data set."""
    world = {"frequencies": "uniform", "relations": RELATION_NAMES, "weathers": WEATHERS}
    settings = Settings(width=64, height=64, questions=("all",), crowd="3-6", **world, **MODES[mode])
    index = np.arange(first, first + AT_ONCE)
    drawn = source_of(settings).draw("train", index)
    replies = [
        answers(settings)[place] for place in source_of(settings).columns(drawn, index)["value"].tolist()
    ]
    families = [families_of(settings)[place] for place in drawn.family.tolist()]
    scenes = plain_scenes(drawn.scene, drawn.visible, (settings.width, settings.height))
    return zip(scenes, drawn.words, replies, families, strict=True)


def objections(mode, questions):
    return [
        (question, reply, why)
        for first in range(0, questions, AT_ONCE)
        for scene, question, reply, _ in ask(mode, first)
        if (why := objection(scene, question, reply))
    ]


@pytest.mark.parametrize("mode", MODES)
def test_readers_agree_with_the_answers_of_a_data_set(mode):
    assert not objections(mode, AT_ONCE)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_readers_agree_with_two_thousand_answers_of_each_family(mode):
    """Of all modes together."""
    assert not objections(mode, 42 * AT_ONCE)


def test_readers_object_to_other_answers():
    for scene, question, reply, family in ask("uniform paint", 0):
        others = [text for text in ANSWERS[family.answer] if text not in (reply, CANNOT_TELL)]
        assert objection(scene, question, others[len(question) % len(others)])
