"""Controls: their right answers against mirrored scenes, and what a referee says of models that are known."""

from math import pi

import pytest

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.programs import encode, parse, stored
from simtown.scenes.scene import SceneBatch
from simtown.vlm.conditions import AskedSplit, picture
from simtown.vlm.controls import CONTROLS, mirrored
from simtown.vlm.referee import referee, verdict

CONDITIONS = {"picture": picture, **CONTROLS}


def asked(tmp_path_factory, name, **given):
    directory = tmp_path_factory.mktemp("asked") / name
    generate(
        Settings(entities=15, n=2, val=0, width=96, height=96, frequencies="uniform", **given), directory
    )
    return AskedSplit(open_dataset(directory), "test")


@pytest.fixture(scope="module")
def of_paper(tmp_path_factory):
    return asked(tmp_path_factory, "paper", test=60)


@pytest.fixture(scope="module")
def of_families(tmp_path_factory):
    return asked(tmp_path_factory, "families", test=230, questions=("all",))


def test_a_mirrored_picture_has_the_answers_of_the_mirrored_scene(of_families):
    compared = 0
    for number in range(len(of_families)):
        one = of_families[number]
        for query in mirrored(one):
            scene = SceneBatch.of([one.example.scene])
            for poses in (scene.pose, scene.prop_pose):
                poses[..., 0] *= -1
            scene.pose[..., 2] = pi - scene.pose[..., 2]
            scene.camera[:, 0] *= -1
            program = stored([encode(parse(one.example.program))])
            shares = one.example.visible[None, : scene.entity.shape[1]]
            values = evaluate(scene, program, shares, (96, 96))
            if values.state[0] == KNOWN:
                assert ANSWERS[one.kind][values.answer[0]] == query.gold.answer, one.example.question
                compared += 1
    assert compared > 150


def test_controls_of_the_paper_question(of_paper):
    """Its relations are left and right: both flip in a mirror, and with the vehicles exchanged."""
    for number in range(len(of_paper)):
        one = of_paper[number]
        flipped = "no" if one.example.reply == "yes" else "yes"
        queries = {name: control(one) for name, control in CONTROLS.items()}
        assert [query.gold.answer for query in queries["mirrored"]] == [flipped]
        assert [query.gold.answer for query in queries["exchanged"]] == [flipped]
        assert [query.gold.answer for query in queries["exist"]] == ["yes", "yes", "no"]
        assert {query.gold.answer for query in queries["phrasings"]} == {one.example.reply}
        assert (queries["mirrored"][0].picture == one.example.image[:, ::-1]).all()
        assert queries["no-picture"][0].picture is None
        assert (queries["other-picture"][0].picture != one.example.image).any()


def test_every_family_has_controls(of_families):
    families = {of_families[number].example.family for number in range(len(of_families))}
    for number in range(len(of_families)):
        one, words = of_families[number], set()
        for query in (query for control in CONTROLS.values() for query in control(one)):
            assert query.gold.answer in query.gold.choices
            words.add(query.key)
        assert {f"test:{number}/none", f"test:{number}/other"} <= words
    assert len(families) == 24


def verdict_on(split, model):
    """What the referee says of a model: a function of condition, example and query."""
    rows = {}
    for name, condition in CONDITIONS.items():
        rows[name] = []
        for number in range(len(split)):
            one = split[number]
            for query in condition(one):
                answer = model(name, one, query)
                own = {"example": number, "type": query.gold.type, "question": query.text}
                right = answer == query.gold.answer
                rows[name].append(own | {"gold": query.gold.answer, "answer": answer, "right": right})
    return referee(rows)


def one_is_missed(name, one, query):
    """A model that cannot see the kind that comes first in the split."""
    return "no" if one.asked[0].example.subject in query.text else query.gold.answer


def says_left(name, one, query):
    return query.gold.answer if name == "exist" else "yes" if "left" in query.text else "no"


def does_not_read(name, one, query):
    if name not in ("exchanged", "phrasings"):
        return query.gold.answer
    return one.example.reply if name == "exchanged" else "no" if one.example.reply == "yes" else "yes"


#: A model, what the referee says of it, and the reason of all its errors if they have one.
MODELS = {
    "knows": (
        lambda name, one, query: query.gold.answer,
        {"sees": 1, "reads": 1, "looks": 1, "relates": 1},
        "",
    ),
    "says yes": (lambda *asked: "yes", {"sees": 0, "looks": 0}, "does not see"),
    "does not read": (does_not_read, {"sees": 1, "reads": 0, "relates": None}, ""),
    "misses a kind": (one_is_missed, {"relates": 1}, "does not see"),
    "says left": (says_left, {"looks": 0}, ""),
    "rambles": (lambda *asked: None, {}, "no answer"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_verdict_on_a_model_that(name, of_paper):
    model, shares, reason = MODELS[name]
    found = verdict_on(of_paper, model)
    assert {part: found[part] and found[part]["accuracy"] for part in shares} == shares
    assert not reason or found["errors"][reason] == 1
    assert (found["bias"] is None) == (name == "rambles")


def test_biases_of_models_that_are_known(of_paper):
    knows, yes, left = (
        verdict_on(of_paper, MODELS[name][0])["bias"] for name in ("knows", "says yes", "says left")
    )
    assert knows["sensitivity"] > 3
    assert abs(knows["criterion"]) < 0.2
    assert yes["yes"] == 1
    assert abs(yes["sensitivity"]) < 0.3
    assert yes["criterion"] < -1
    assert left["left"] == 1
    assert abs(left["criterion"]) < 0.3
    assert any("says left" in str(row) for row in verdict(verdict_on(of_paper, says_left)).rows)
