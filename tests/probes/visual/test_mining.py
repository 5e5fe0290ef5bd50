"""Mining against brute force, on annotations and text made here."""

import json
import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.probes.corpus import tokenise
from simtown.probes.visual import mined, mining
from simtown.probes.visual.classes import COLOR, MATERIAL, SHAPE
from simtown.visualgenome.records import ImageObject
from tests.hostile.marks import IN_PYTHON


def thing(name, *attributes):
    return ImageObject(names=[name], attributes=list(attributes))


def said(counts):
    """{subject: {class: times}}"""
    classes, found = counts.relation.classes, {}
    for subject, row in zip(*counts.kept(0), strict=True):
        found[subject] = {classes[i]: int(row[i]) for i in row.nonzero()[0]}
    return found


def test_what_an_attribute_names():
    words = COLOR.class_of()
    named = {"maroon": "red", "Forest Green": "green", "yellow colored": "yellow", "red-colored": "red"}
    named |= {"light grey": "gray", "green and white": "white", "tall": None, "": None, "greenish": None}
    for attribute, name in named.items():
        counted = mining.class_in(attribute, words)
        assert (None if counted is None else COLOR.classes[counted]) == name, attribute
    assert MATERIAL.classes[mining.class_in("wood made", MATERIAL.class_of())] == "wood"
    assert SHAPE.classes[mining.class_in("diamond shaped", SHAPE.class_of())] == "rhombus"


def test_attributes_count_once_an_object_and_not_where_the_name_has_them():
    cars = [thing("Cars", "red", "maroon", "blue"), thing("car", "red")]
    named = [thing("green ball", "green", "red"), thing("grey wall", "gray"), thing("orange", "orange")]
    rest = [thing("table", "wooden", "round"), thing("", "red"), thing("sky")]
    counted = mining.from_attributes([cars, named, rest])
    assert said(counted["color"]) == {"car": {"red": 2, "blue": 1}, "green ball": {"red": 1}}
    assert list(said(counted["material"])) == list(said(counted["shape"])) == ["table"]


def test_threshold_is_of_cells_and_strict():
    counts = mining.ClassCounts(COLOR)
    for subject in ["car"] * 6 + ["bus"] * 5:
        counts.add(subject, [0])
    counts.add("car", [1])
    subjects, table = counts.kept(5)
    assert subjects == ["car"]
    assert table.tolist() == [[6] + [0] * 11]


def test_text_templates():
    sentences = (
        "the red car, cars are blue, a street light is black, a table is made of wood, wooden tables, "
        "the light is white, a car is made of red, the car was green, car is a red, round tables"
    )
    subjects = {"car", "street light", "light", "table"}
    counted = mining.from_text([s.split() for s in sentences.split(", ")], subjects)
    colors = {"car": {"red": 1, "blue": 1}, "street light": {"black": 1}, "light": {"white": 1}}
    assert said(counted["color"]) == colors
    assert said(counted["material"])["table"] == {"wood": 2}
    assert said(counted["shape"])["table"] == {"round": 1}


def test_nothing_is_said_across_marks_of_punctuation():
    """Each text says of its noun what its pieces between marks say."""
    texts = ["the car was green. bananas are yellow.", "light, table and a red car", "the car, red is here"]
    texts += ["street, light is black; white: car", "tables are. round", "a street light is black."]
    texts += ["a table is made of, wood (brown) car"]
    subjects = {"banana", "car", "street light", "light", "table"}
    whole = mining.from_text([tokenise(text, punctuation=True) for text in texts], subjects)
    parts = [piece.split() for text in texts for piece in re.split(r"[.,;:()]", text)]
    pieces = mining.from_text(parts, subjects)
    for name, counts in whole.items():
        assert said(counts) == said(pieces[name])
    colors = {subject: list(row) for subject, row in said(whole["color"]).items()}
    assert colors | {"banana": ["yellow"], "car": ["red"], "light": ["black"]} == colors


@given(st.lists(st.sampled_from(["car", "light", "street", "red", ",", "."]), max_size=30), st.integers(2, 5))
def test_windows_are_of_words(tokens, width):
    words = [token for token in tokens if token.isalpha()]
    nouns = {"car", "light"}
    expected = [[w for w in words[i : i + width] if w in nouns] for i in range(0, len(words), width)]
    assert list(mining.windows([tokens], nouns, width)) == [seen for seen in expected if seen]


IMAGES = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=30)


@given(IMAGES, st.integers(0, 3), st.booleans(), st.integers(1, 40))
def test_cooccurrence_is_brute_force(images, threshold, ordered, block):
    expected = Counter()
    for nouns in images:
        for a, b in combinations(dict.fromkeys(nouns), 2):
            expected[a, b] += 1
            if not ordered:
                expected[b, a] += 1
    expected = {pair: n for pair, n in expected.items() if n > threshold}
    before, mining.BLOCK = mining.BLOCK, block  # many merges
    try:
        nouns, table = mining.cooccurrence(lambda: images, threshold, ordered=ordered)
    finally:
        mining.BLOCK = before
    assert {(nouns[i], nouns[j]): int(table[i, j]) for i, j in zip(*table.nonzero(), strict=True)} == expected
    if not ordered:
        assert (table == table.T).all()


@given(st.integers(1, 200), st.integers(0, 5))
def test_split_and_wrong_classes(n, seed):
    assert mined.split(n, None).tolist() == [i % 10 < 8 for i in range(n)]
    assert mined.split(n, seed).sum() == round(0.8 * n)
    counts = np.random.default_rng(seed).integers(0, 4, (n, 5))
    counts[:, 0] += 1
    other = mined.others(counts, seed)
    assert (other != counts.argmax(axis=1)).all()
    assert (counts[np.arange(n), other] <= np.median(counts, axis=1)).all()


@pytest.fixture
def genome(tmp_path):
    """attributes.json and scene_graphs.json of 200 images."""
    rng = np.random.default_rng(0)
    nouns = ["car", "bus", "tree", "wall", "sock", "sky", "dog", "cup", "door", "kite", "sign"]
    colors = ("red", "green", "white", "black")
    images = []
    for i in range(200):
        objects = []
        for k, name in enumerate(rng.choice(nouns, 4, replace=False).tolist()):
            colour = colors[(nouns.index(name) + int(rng.random() < 0.3)) % 4]
            box = {"object_id": 10 * i + k, "x": 1, "y": 1, "w": 5, "h": 5}
            objects.append({**box, "names": [name], "attributes": [colour]})
        images.append({"image_id": i, "attributes": objects})
    (tmp_path / "attributes.json").write_text(json.dumps(images))
    graphs = [{"image_id": i, "objects": images[i]["attributes"], "relationships": []} for i in range(200)]
    (tmp_path / "scene_graphs.json").write_text(json.dumps(graphs))
    return tmp_path


def test_mine_and_study(cli, genome, tmp_path):
    def mine(out, *words):
        return cli("probe", "visual", "mine", "--out", tmp_path / out, *words)

    def colors(out):
        subjects, counts = mined.Mined(tmp_path / out).counts("color")
        cells = zip(*counts.nonzero(), strict=True)
        return {(subjects[i], COLOR.classes[j]): int(counts[i, j]) for i, j in cells}

    sources = ("--attributes", genome / "attributes.json", "--graphs", genome / "scene_graphs.json")
    assert "cooccurrence: 11 subjects" in mine("mined", *sources).succeeds().out
    images = json.loads((genome / "attributes.json").read_text())
    brute = Counter((o["names"][0], o["attributes"][0]) for image in images for o in image["attributes"])
    assert colors("mined") == {pair: n for pair, n in brute.items() if n > 5}
    mine("mined", *sources).refuses("another")
    corpus = tmp_path / "corpus.txt"
    lines = "the red car and the green bus\na white tree\na black wall beside the sky\nthe dog is red\n"
    corpus.write_text(lines * 20)
    study = ("probe", "visual", "--data", tmp_path / "mined", "--model", f"ngram:{corpus}")
    done = cli(*study, "--task", "color,cooccurrence", "--out", tmp_path / "r").succeeds()
    assert "cooccurrence" in done.out
    of_text = ("--text", corpus, "--subjects", tmp_path / "mined", "--seed", 3)
    mine("text", *of_text).succeeds()
    assert {"car", "bus", "tree", "wall", "dog"} <= {subject for subject, _ in colors("text")}
    assert set(mined.Mined(tmp_path / "text").tasks()) == {"color", "cooccurrence", "size"}
    corpus.write_text("The dog was green. Cars are red.\n" * 9 + "a white wall, bus and a black dog\n" * 9)
    mine("marked", *of_text).succeeds()
    assert set(colors("marked")) == {("car", "red"), ("wall", "white"), ("dog", "black")}


def test_refusals(cli, genome, tmp_path):
    def mine(*words):
        return cli("probe", "visual", "mine", "--out", tmp_path / "o", *words)

    attributes = genome / "attributes.json"
    mine().refuses("attributes")
    mine("--text", attributes).refuses("subjects")
    mine("--graphs", tmp_path / "none.json").refuses("none.json")
    mine("--coda", tmp_path).refuses("objects.jsonl")
    mine("--attributes", attributes, "--threshold", 9999).refuses("above the thresholds")
    text = attributes.read_text()
    attributes.write_text(text[: len(text) // 2])
    mine("--attributes", attributes).refuses("attributes.json", code=1)
    words = ("--data", tmp_path, "--model", f"glove:{attributes}", "--out", tmp_path / "o")
    form = '{"format": "simtown mined visual commonsense", "schema": 1, "relations": '
    for relations in ("", "null}", '{"color": 3}}', '{"color": {}}}', '{"../color": {"classes": ["red"]}}}'):
        (tmp_path / "mined.json").write_text(form + relations)
        refusal = cli("probe", "visual", *words)
        refusal.refuses("mined.json", code=1)
        assert not IN_PYTHON.search(refusal.err)
