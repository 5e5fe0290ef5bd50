"""Paints of vehicles: how often each is drawn, that nothing else follows, and what a scene may hold."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from simtown.assets.catalogue import BODIES, ENTITIES, NAMED_BY_COLOUR
from simtown.assets.palette import COLOUR_WORDS, PAINTS
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.paper import Examples, sample
from simtown.scenes.paint import NATURAL, STUFFS, may_change, paint_frequencies
from simtown.scenes.scene import Scene, SceneBatch, Vehicle, empty_batch, plausible
from tests.language.parts import arrays

ALL = Settings(entities=len(ENTITIES), n=2000, frequencies="uniform", seed=4)


def examples(paint: str, n: int = 400, split: str = "train", **changes: object) -> Examples:
    return sample(source_of(replace(ALL, paint=paint, **changes)).recipe(split), np.arange(n))


def named(entity: np.ndarray) -> np.ndarray:
    return np.isin(entity, [ENTITIES.index(name) for name in NAMED_BY_COLOUR])


def test_kinds_named_by_a_colour_wear_it():
    assert "red truck" in NAMED_BY_COLOUR
    assert not {"taxi", "fire truck", "sedan"} & NAMED_BY_COLOUR
    for name in NAMED_BY_COLOUR:
        assert any(word in name.split() and BODIES[name] in paints for word, paints in COLOUR_WORDS.items())
    expected = [False, *(name not in NAMED_BY_COLOUR for name in ENTITIES)]
    assert may_change()[np.arange(-1, len(ENTITIES))].tolist() == expected


def test_the_tables():
    assert paint_frequencies("own").shape == (0,)
    uniform, natural = paint_frequencies("uniform"), paint_frequencies("natural")
    assert set(PAINTS) > STUFFS
    assert {name for name, p in zip(PAINTS, uniform, strict=True) if p == 0} == STUFFS
    assert len(set(uniform[uniform > 0].tolist())) == 1
    for table in (uniform, natural):
        assert table.shape == (len(PAINTS),)
        assert table.sum() == pytest.approx(1)
    assert [PAINTS[i] for i in np.argsort(-natural, kind="stable")[:3]] == ["white", "black", "grey"]
    assert natural[PAINTS.index("blue")] == pytest.approx(NATURAL["blue"] / sum(NATURAL.values()))


COMMENTED = "# of mine\npaint, weight\nblue, 0.25\nred, 0.75\n"


@pytest.mark.parametrize("text", [COMMENTED, "weight,paint\n3,red\n1,blue"])
def test_a_table_of_ones_own(text, tmp_path):
    (tmp_path / "paints.csv").write_text(text)
    table = paint_frequencies(str(tmp_path / "paints.csv"))
    assert {PAINTS[i]: table[i] for i in np.flatnonzero(table)} == {"red": 0.75, "blue": 0.25}


BAD = {
    "sky blue,1": ["unknown paint 'sky blue'", "sky"],
    "zzz,1": ["unknown paint 'zzz'", "the paints are white"],
}
BAD |= {"red,1\nred,2": ["red twice"], "white,34,5": ["line 2 has 3 cells for 2 columns"]}
BAD |= {f"red,{n}": ["red", repr(n)] for n in ("many", "", "-1", "nan", "1e308")}
BAD |= {"red,0": ["above 0"], "": ["above 0"]}


@pytest.mark.parametrize("rows", BAD)
def test_what_is_no_table_of_paints(rows, tmp_path, cli):
    path, words = tmp_path / "paints.csv", BAD[rows]
    path.write_text(f"paint,weight\n{rows}\n")
    cli("generate", "--n", 2, "--paint", path, "--out", tmp_path / "town").refuses("paints.csv", *words)
    assert not (tmp_path / "town").exists()


def test_an_unknown_choice(tmp_path, cli):
    for choice in ("shiny", tmp_path):
        words = (f"unknown paint '{choice}'", "own, uniform, natural", "CSV")
        cli("generate", "--n", 2, "--paint", choice, "--out", tmp_path / "town").refuses(*words)


@pytest.mark.parametrize("choice", ["own", "uniform", "natural"])
@pytest.mark.parametrize("distractor", [False, True])
def test_nothing_else_of_an_example_follows_from_paints(choice, distractor):
    plain, painted = (examples(paint, 40, distractor=distractor, entities=60) for paint in ("own", choice))
    assert (plain.scene.paint == -1).all()
    assert (choice == "own") == np.array_equal(plain.scene.paint, painted.scene.paint)
    for name, values in arrays(plain).items():
        assert name == "scene.paint" or np.array_equal(values, arrays(painted)[name])
    assert plain.tried == painted.tried
    assert painted.scene.paint.dtype == np.int8
    assert plausible(painted.scene).all()


def test_a_paint_follows_from_the_examples_number_alone():
    recipe = source_of(replace(ALL, paint="uniform")).recipe("val")
    whole, some = sample(recipe, np.arange(60)), sample(recipe, np.array([41, 3, 17, 18]))
    assert np.array_equal(whole.scene.paint[[41, 3, 17, 18]], some.scene.paint)
    other = examples("uniform", 60, seed=5).scene.paint
    assert not np.array_equal(whole.scene.paint, other)


@pytest.mark.parametrize("choice", ["uniform", "natural"])
@pytest.mark.parametrize("split", ["train", "test"])
def test_paints_are_as_frequent_as_their_table(choice, split):
    """Also for each slot alone, and whatever the kind. The seed is fixed: a sound program passes always."""
    scene = examples(choice, 2000, split).scene
    table, keeps = paint_frequencies(choice), named(scene.entity)
    assert (scene.paint[keeps] == -1).all()
    assert (scene.paint[~keeps] >= 0).all()
    some = table > 0
    for part in (scene.paint[~keeps], scene.paint[:, 0][~keeps[:, 0]], scene.paint[:, 1][~keeps[:, 1]]):
        counts = np.bincount(part, minlength=len(PAINTS))
        assert counts[~some].sum() == 0
        assert chisquare(counts[some], table[some] * len(part)).pvalue > 1e-3
    same = (scene.paint[:, 0] == scene.paint[:, 1])[~keeps.any(axis=1)]
    assert same.mean() == pytest.approx((table * table).sum(), abs=4 * np.sqrt(0.25 / len(same)))


def test_bodies_show_their_paint():
    street = empty_batch(1, 3, 0)
    street.entity[0, :2] = ENTITIES.index("taxi")
    street.paint[0, 1] = PAINTS.index("lilac")
    (shown,) = street.body_paints()
    assert [PAINTS[i] for i in shown[:2]] == [BODIES["taxi"], "lilac"]
    assert shown[2] == 255


def test_scenes_keep_paints_both_ways():
    taxi, suv = Vehicle("taxi", 1.0, -1.5, 0.0, "lilac"), Vehicle("SUV", 5.0, 1.5, 3.0, "skin dark")
    scene = Scene([taxi, Vehicle("red truck", -1.0, 1.5, 3.0), suv])
    assert Scene.from_json(scene.to_json()) == scene
    batch = SceneBatch.of([scene, Scene([Vehicle("SUV", 0.0, 0.0)])])
    assert batch.paint.tolist() == [[PAINTS.index("lilac"), -1, PAINTS.index("skin dark")], [-1, -1, -1]]
    assert [v.paint for v in batch.scene(0).vehicles] == ["lilac", None, "skin dark"]


def test_a_scene_written_before_there_were_paints():
    told = json.loads(Scene([Vehicle("taxi", 1.0, -1.5)]).to_json())
    del told["vehicles"][0]["paint"]
    assert Scene.from_json(json.dumps(told)) == Scene([Vehicle("taxi", 1.0, -1.5)])


def test_paints_that_cannot_be():
    with pytest.raises(ValueError, match="'sky blue'"):
        SceneBatch.of([Scene([Vehicle("taxi", 0.0, 0.0, paint="sky blue")])])
    with pytest.raises(ValueError, match=r"red truck .*blue"):
        SceneBatch.of([Scene([Vehicle("red truck", 0.0, 0.0, paint="blue")])])


def test_implausible_paints():
    batch = empty_batch(6, 2, 1)
    batch.entity[:, 0] = ENTITIES.index("taxi")
    batch.paint[1, 0], batch.paint[2, 0], batch.paint[3, 0] = len(PAINTS) - 1, len(PAINTS), -2
    batch.paint[4, 1] = 3  # of an empty slot
    batch.entity[5, 0], batch.paint[5, 0] = ENTITIES.index("red truck"), PAINTS.index("red")
    assert plausible(batch).tolist() == [True, True, False, False, False, False]
    batch.entity[5, 0] = len(ENTITIES)
    assert not plausible(batch)[5]
