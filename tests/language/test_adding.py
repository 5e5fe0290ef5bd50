"""Tables of relations, weathers and phrasings are complete; a new entry changes no data set without it."""

import re

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES, PROPS, STREET
from simtown.core.streams import Stream
from simtown.datasets import names as naming
from simtown.datasets.settings import Settings
from simtown.language.meaning import relations
from simtown.language.meaning.relations import LATERAL, RADIAL, RELATIONS
from simtown.language.words import questions
from simtown.language.words.questions import PHRASINGS, RELEASES, STYLES, vocabulary, vocabulary_for, words
from simtown.render.light import lights
from simtown.scenes import weather
from simtown.scenes.weather import DEFAULT_WEATHERS, WEATHER_KINDS, WEATHERS, draw_weather


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_every_relation_is_complete(relation):
    assert relation.axis in (LATERAL, RADIAL)
    assert relation.sign in (-1, 1)
    assert relation.margin > 0
    for field in ("name", "caption", "direction"):
        assert [getattr(other, field) for other in RELATIONS].count(getattr(relation, field)) == 1
    assert relation.name in relation.caption
    assert len(relation.direction.split()) == 1
    assert set(words(relation.name)) <= set(vocabulary())


@pytest.mark.parametrize("kind", WEATHER_KINDS, ids=lambda kind: kind.name)
def test_every_weather_is_complete(kind):
    assert [other.name for other in WEATHER_KINDS].count(kind.name) == 1
    assert [other.caption for other in WEATHER_KINDS].count(kind.caption) == 1
    low, high = kind.elevation
    assert 0 < low < high < np.pi / 2
    drawn = draw_weather(Stream(0, "train", "weather"), np.arange(200), (kind.name,))
    assert set(drawn["weather"].tolist()) == {WEATHERS.index(kind.name)}
    assert low <= drawn["sun"][:, 1].min() <= drawn["sun"][:, 1].max() <= high
    rows = lights(drawn["weather"], drawn["intensity"], drawn["sun"])
    assert np.isfinite(rows).all()
    assert np.ptp(rows, axis=0).max() > 0, "its looks at both intensities differ"


@pytest.mark.parametrize("phrasing", PHRASINGS)
def test_every_phrasing_is_complete(phrasing):
    slots = re.findall(r"\{(\w+)\}", phrasing)
    assert sorted(slot.removeprefix("a_") for slot in slots) == ["o", "r", "s"]
    assert PHRASINGS.count(phrasing) == 1
    assert any(PHRASINGS.index(phrasing) in numbers for numbers in STYLES.values())


def test_the_first_release_keeps_its_numbers():
    assert RELEASES[0] == (5, 4, 102)
    assert list(RELEASES) == sorted(RELEASES)
    assert DEFAULT_WEATHERS == ("clear", "cloudy", "rain", "fog", "snow", "dusk", "night")
    assert (STYLES["paper"], STYLES["varied"]) == ((0,), (0, 1, 2, 3, 4))


@pytest.fixture
def larger(monkeypatch):
    """The tables with one more relation, weather and phrasing; it is the vocabulary without them."""
    before = vocabulary()
    more = (*relations.RELATION_NAMES, "well beneath")
    for module in (relations, questions, naming):
        monkeypatch.setattr(module, "RELATION_NAMES", more)
    for module in (weather, naming):
        monkeypatch.setattr(module, "WEATHERS", (*WEATHERS, "dawn"))
    for module in (questions, naming):
        monkeypatch.setattr(module, "PHRASINGS", (*PHRASINGS, "Say, is the {s} {r} the {o}?"))
        monkeypatch.setattr(module, "STYLES", {**STYLES, "chatty": (0, 5)}, raising=False)
    for cached in (vocabulary, vocabulary_for):
        cached.cache_clear()
    yield before
    for cached in (vocabulary, vocabulary_for):
        cached.cache_clear()


def test_a_new_entry_changes_no_data_set_without_it(larger):
    assert vocabulary()[: len(larger)] == larger
    assert set(vocabulary()[len(larger) :]) == {"well", "beneath", "say"}
    for style in ("paper", "varied"):
        assert vocabulary_for(style, relations.RELATION_NAMES[:4]) == larger
    named, tables = naming.names(Settings()), (relations.RELATION_NAMES[:-1], WEATHERS, PHRASINGS)
    assert [named[name] for name in ("relations", "weathers", "phrasings")] == list(map(list, tables))
    assert named["props"] == [kind for kind in PROPS if kind not in STREET["animal"]]


def test_a_data_set_names_the_new_entries_that_it_uses(larger):
    settings = Settings(relations=("well beneath",), weathers=("dawn",), phrasing="chatty")
    named = naming.names(settings)
    last = [named[name][-1] for name in ("relations", "weathers", "phrasings")]
    assert last == ["well beneath", "dawn", "Say, is the {s} {r} the {o}?"]
    known = vocabulary_for(settings.phrasing, settings.relations)
    assert set(words(questions.text(ENTITIES[0], "well beneath", ENTITIES[1], 5))) <= set(known)
