"""Settings: what may be, how they are written down, and how two of them are told apart."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from simtown.cli.generate_commands import default_name
from simtown.core.options import deciding
from simtown.core.runs import changed_settings
from simtown.datasets.resolved_settings import in_words, resolve, settings_from
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.paper import sample
from simtown.language.meaning.relations import LATERAL, RADIAL, RELATION_NAMES, RELATIONS
from simtown.training.fit_settings import FitSettings

OTHER = {
    "entities": 61, "n": 100, "val": 2, "test": 4, "width": 64, "height": 32, "seed": -7, "distractor": True,
    "frequencies": "zipf:1", "relations": ("behind",), "phrasing": "varied", "weathers": ("fog", "night"),
    "paint": "natural", "jitter": 0.5, "masks": True, "depth": True, "shard": 10, "test_seed": 4,
    "world_seed": 5,
}  # fmt: skip


@pytest.mark.parametrize("settings", [Settings(), Settings(**OTHER)], ids=["default", "other"])
def test_resolved_settings_come_back_from_json(settings):
    told = json.loads(json.dumps(resolve(settings)))
    assert settings_from(told) == replace(settings, shard=settings.shard_size)
    assert changed_settings(in_words(told), in_words(resolve(settings))) == []


@pytest.mark.parametrize("name", OTHER)
def test_every_setting_makes_a_difference(name):
    plain = Settings(entities=20, n=40)
    other = replace(plain, **{name: OTHER[name]})
    changes = changed_settings(in_words(resolve(plain)), in_words(resolve(other)))
    shown = {"width": "size", "height": "size"}.get(name, name)
    assert any(line.startswith(f"{shown} ") for line in changes)


DECIDED = {Settings: ("examples", "families", "curve", "draw", "size", "storage")}
DECIDED |= {FitSettings: ("results", "curve", "draw", "size", "speed")}


@pytest.mark.parametrize("owner", DECIDED)
def test_every_field_says_what_it_decides(owner):
    assert deciding(owner, *DECIDED[owner]) == tuple(field.name for field in fields(owner))


@pytest.mark.parametrize("name", [n for n in OTHER if n != "shard"])
def test_the_default_directory_names_whatever_differs(name):
    assert default_name(replace(Settings(), **{name: OTHER[name]})) != default_name(Settings())


def test_the_default_directory_shows_counts_as_they_are():
    small = Settings(entities=5, n=2000, width=64, height=32)
    assert default_name(replace(small, test=2000, seed=3)) == "simtown-5-2000-64x32-seed3"
    shown = default_name(replace(small, val=200, test=200, test_seed=4))
    assert shown == "simtown-5-2000-64x32-val200-test200-testseed4"
    assert default_name(Settings(entities=5, n=400, val=400, test=400)) == "simtown-5-400"


WRONG = {"catalogue": 3, "entities": 103, "n": 7, "shard": 0, "jitter": float("nan"), "weathers": ("x",)}
IMPOSSIBLE = [({name: value}, f"^{name} ") for name, value in WRONG.items()]
IMPOSSIBLE += [({"width": 31}, "31x128"), ({"height": 4097}, "128x4097"), ({"weathers": ()}, "^weathers")]
IMPOSSIBLE += [({"frequencies": "x"}, "frequencies"), ({"paint": "x"}, "unknown paint 'x'")]
IMPOSSIBLE += [({"entities": 2, "distractor": True}, "`distractor=True`")]


@pytest.mark.parametrize(("changes", "words"), IMPOSSIBLE)
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words) as error:
        check_settings(replace(Settings(), **changes))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("distractor", [False, True])
def test_words_hint_at_answers_only_where_settings_say_so(distractor):
    settings = Settings(entities=3, distractor=distractor, relations=RELATION_NAMES)
    n = np.arange(3_000)
    examples = sample(source_of(settings).recipe("train"), n)
    kinds = examples.scene.entity
    question = 3 * kinds[n, examples.subject] + kinds[n, examples.object]
    axis = np.array([r.axis for r in RELATIONS])[examples.relation]
    opposite = np.array([r.sign for r in RELATIONS])[examples.relation] < 0
    table = np.zeros((2, 9, 2))
    np.add.at(table, (axis, question, (examples.answer != opposite).astype(int)), 1)
    p = [chi2_contingency(part[part.sum(axis=1) > 0]).pvalue for part in table]
    assert p[LATERAL] > 0.001
    assert (p[RADIAL] < 1e-9) == any(source_of(settings).notes()) == distractor
