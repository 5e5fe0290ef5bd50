"""Settings: what may be, how they are written down, and how two of them are told apart."""

import json
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from simtown.cli.generate_commands import default_name
from simtown.complexity.finished_runs import conditions
from simtown.core.files import as_json
from simtown.core.options import deciding
from simtown.datasets.making.shards import layout, tasks
from simtown.datasets.resolved_settings import canonical, in_words, list_values, resolve, settings_from
from simtown.datasets.settings import Settings, SettingsError
from simtown.datasets.source import check_settings, source_of
from simtown.language.asking.paper import sample
from simtown.language.meaning.relations import LATERAL, RADIAL, RELATION_NAMES, RELATIONS
from simtown.training.identity import world

OWN = """
[siren]
answer = "truth"
[[siren.templates]]
program = "exist(filter(1, related(2, 3)))"
slots = ["group", "relation", "kind"]
texts = ["Is there {a 1} {2} {3}?"]
"""
PLAIN = Settings(entities=20, n=24, val=4, test=4, width=32, height=32)
#: Another value of every field; with own families, those that are asked.
OTHER = {
    "entities": 61, "n": 100, "val": 8, "test": 8, "width": 64, "height": 48, "seed": -7, "distractor": True,
    "frequencies": "zipf:1", "relations": ("behind",), "phrasing": "varied", "weathers": ("fog", "night"),
    "paint": "natural", "jitter": 0.5, "masks": True, "depth": True, "shard": 12, "test_seed": 4,
    "world_seed": 5, "questions": ("count",), "crowd": "4", "own_families": OWN, "questions_per_picture": 2,
    "cannot_tell": 0.5, "twins": True, "hold_out": ("kind-kind:0.5",), "sequence": "time", "pictures": 3,
    "seconds": 2.0, "cameras": "varied",
}  # fmt: skip
#: Fields that this process fixes (its kinds, its catalogue), and the tables of a CSV file in a manifest.
FIXED = {"own_kinds", "catalogue", "kept"}
#: What fields decide about settings, besides the examples themselves.
DECIDED = {"size": Settings.counts, "storage": lambda settings: (layout(settings), tasks(settings))}


def other(name):
    """Plain settings with another value of a field."""
    asked = {"questions": ("siren",)} if name == "own_families" else {}
    return replace(PLAIN, **{name: OTHER[name]}, **asked)


def drawn(settings, split):
    """The bytes of all columns of the first examples of a split, as they are drawn."""
    index, source = np.arange(4 if split == "test" else 24), source_of(settings)
    columns = source.columns(source.draw(split, index), index)
    return {name: column.tobytes() for name, column in columns.items()}


@cache
def plain(split):
    return drawn(PLAIN, split)


def test_the_walk_knows_every_field():
    assert OTHER.keys() | FIXED == {field.name for field in fields(Settings)}
    assert not [name for name, value in OTHER.items() if value == getattr(Settings(), name)]


@pytest.mark.parametrize("name", OTHER)
def test_each_field_decides_what_it_says(name):
    changed, (what,) = other(name), {w for w in FIELDS_DECIDE if name in deciding(Settings, w)}
    same = {split: drawn(changed, split) == plain(split) for split in ("train", "test")}
    if what in DECIDED:
        assert all(same.values())
        assert DECIDED[what](changed) != DECIDED[what](PLAIN)
    else:
        assert same == {"train": name == "test_seed", "test": name == "frequencies"}
    # it comes back from a manifest, and decides which run is continued and which runs share a table
    resolved = json.loads(json.dumps(resolve(changed)))
    assert canonical(settings_from(resolved)) == canonical(replace(changed, shard=changed.shard_size))
    assert in_words(resolved) == in_words(resolve(changed)) != in_words(resolve(PLAIN))
    assert (world(changed) == world(PLAIN)) == (what == "storage" or name == "n")
    tables = [conditions({"data": as_json(list_values(settings))}) for settings in (PLAIN, changed)]
    assert (tables[0] == tables[1]) == (what not in ("examples", "families") and name != "val")
    assert default_name(changed) != default_name(PLAIN)


FIELDS_DECIDE = ("examples", "families", "curve", "draw", "size", "storage")


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
