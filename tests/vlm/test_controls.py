"""Controls: their right answers against mirrored scenes, and what a referee says of models that are known."""

from math import pi
from zlib import crc32

import pytest

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.programs import encode, parse, stored
from simtown.scenes.scene import SceneBatch
from simtown.vlm.chances import chance
from simtown.vlm.conditions import AskedSplit, picture
from simtown.vlm.controls import CONTROLS, mirrored
from simtown.vlm.referee import in_words, referee, verdict

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
            shares = one.shares
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
                own = {"example": number, "cluster": number, "type": query.gold.type}
                own |= {"question": query.text, "chance": chance(query.gold)}
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


def seeded(*parts):
    """A coin that falls the same way for the same parts."""
    return "yes" if crc32(repr(parts).encode()) % 2 else "no"


def sees_and_goes_by_the_words(name, one, query):
    """Sees what is there, and answers all else by the words alone."""
    return query.gold.answer if name == "exist" else by_words(name, one, query)


def by_words(name, one, query):
    """Reads which vehicle is meant: yes if the one that is to be on the left comes first in the alphabet."""
    if name == "exist":
        return seeded(query.question)
    first, second = (one.example.subject, one.example.object)[:: -1 if name == "exchanged" else 1]
    left = first if one.example.relation == "left of" else second
    return "yes" if left == min(first, second) else "no"


def half_sees(name, one, query):
    """Knows every second example, and guesses the others."""
    return query.gold.answer if one.number % 2 else seeded(name, query.key)


def knows_but_does_not_relate(name, one, query):
    """Sees, reads and looks, and takes left for right."""
    return query.gold.answer if name == "exist" else "no" if query.gold.answer == "yes" else "yes"


#: A model; whether it sees, reads, looks, relates; and the reason of all its errors if they have one.
MODELS = {
    "knows": (lambda name, one, query: query.gold.answer, "yes yes yes yes", ""),
    "says nothing": (lambda *asked: None, "no no no unclear", "no answer"),
    "says yes": (lambda *asked: "yes", "no no no unclear", "does not see"),
    "says no": (lambda *asked: "no", "no no no unclear", "does not see"),
    "tosses a coin": (lambda name, one, query: seeded(name, query.key), "no no no unclear", ""),
    "goes by the words": (by_words, "no yes no unclear", ""),
    "goes by the picture": (
        lambda name, one, query: seeded(query.picture is None or query.picture.tobytes()),
        "no no no unclear",
        "",
    ),
    "finds vehicles and goes by the words": (sees_and_goes_by_the_words, "yes yes no no", ""),
    "half sees": (half_sees, "part part part yes", ""),
    "takes left for right": (knows_but_does_not_relate, "yes yes yes no", ""),
    "does not read": (does_not_read, "yes no yes unclear", ""),
    "misses a kind": (one_is_missed, None, "does not see"),
    "says left": (says_left, "yes no no unclear", ""),
}
LEVELS = {"yes": "yes", "no": "no", "part": "in part", "unclear": "cannot be said"}


@pytest.mark.parametrize("name", MODELS)
def test_the_verdict_on_a_model_that(name, of_paper):
    model, levels, reason = MODELS[name]
    found = verdict_on(of_paper, model)
    tests = ("sees", "reads", "looks", "relates")
    assert not levels or [found[test]["verdict"] for test in tests] == [LEVELS[x] for x in levels.split()]
    assert not reason or found["errors"][reason] == 1
    assert (found["bias"] is None) == (name == "says nothing")
    assert len(verdict(found).rows) >= 5
    assert in_words(found).endswith(".")


def test_a_verdict_rests_on_examples_with_a_contrast(of_families):
    """Of families without vehicles to exchange, a constant would pass for a reader."""
    found = verdict_on(of_families, lambda name, one, query: query.gold.answer)
    exchanged = sum(bool(CONTROLS["exchanged"](of_families[n])) for n in range(len(of_families)))
    assert 0 < found["reads"]["n"] <= exchanged < found["asked"]
    assert [found[name]["verdict"] for name in ("sees", "reads", "relates")] == ["yes"] * 3
    constant = verdict_on(of_families, lambda name, one, query: query.gold.choices[0])
    assert {constant[name]["accuracy"] for name in ("sees", "reads", "looks")} == {0}


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
