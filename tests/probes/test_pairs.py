"""Tables of pairs as their authors write them, and what a model's scores of them come to."""

import json

import numpy as np
import pytest

from simtown.core.files import ForeignDirectoryError
from simtown.core.options import SettingsError
from simtown.probes.item_study import compare_items
from simtown.probes.items import read_items
from simtown.probes.measures import mean_interval
from simtown.probes.pair_study import PAIRS, elicit_pairs, preferred
from simtown.probes.pair_tables import TextPair, layout_of, pairs_of_items, read_pairs
from simtown.probes.scorers import UnableError
from simtown.probes.scorers.oracle import Oracle
from simtown.probes.study import run
from simtown.probes.study_settings import AskSettings

EWOK = "Domain,ConceptA,ConceptB,Context1,Context2,Target1,Target2\nspace,left,right,c a,c b,t a,t b\n"
TOWN = (
    "context_a,context_b,target_a,target_b,picture_a,picture_b,domain,link,edit,group\n"
    "c a,c b,t a,t b,a.png,b.png,colour,copied,paint,7\n"
    "c a,c b,u a,u b,a.png,b.png,colour,converse,paint,7\n"
)
SAMPLE = {"gen_args_0": {"arg_0": "c", "arg_1": " x"}, "gen_args_1": {"arg_0": "c", "arg_1": " y"}}
COMPS = {"prefix_acceptable": "a", "prefix_unacceptable": "b", "property_phrase": "p", "similarity": 1}
TABLES = {
    "blimp.jsonl": (
        json.dumps({"sentence_good": "a b", "sentence_bad": "a c", "UID": "u", "pairID": "0"}),
        [("", "a b", "", "a c")],
    ),
    "comps.jsonl": (json.dumps(COMPS), [("a", "p", "b", "p")]),
    "ewok.csv": (EWOK, [("c a", "t a", "c b", "t a"), ("c b", "t b", "c a", "t b")]),
    "ewok.tsv": (EWOK.replace(",", "\t"), [("c a", "t a", "c b", "t a"), ("c b", "t b", "c a", "t b")]),
    "lm.jsonl": (json.dumps({"doc": {}, "target": 1, "arguments": SAMPLE}), [("c", " y", "c", " x")]),
    "old.jsonl": (json.dumps({"target": "0", "arguments": [["", "x"], ["", "y"]]}), [("", "x", "", "y")]),
    "own.csv": ("good,bad,context\na,b,c\nd,e,\n", [("c", "a", "c", "b"), ("", "d", "", "e")]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_as_they_are(tmp_path, name):
    path = tmp_path / name
    path.write_text(TABLES[name][0])
    assert layout_of(path)
    assert read_pairs(path).pairs == tuple(TextPair(*pair) for pair in TABLES[name][1])


def test_a_table_of_the_town_has_two_pairs_a_row_and_two_groups(tmp_path):
    (tmp_path / "town.csv").write_text(TOWN)
    data = read_pairs(tmp_path / "town.csv")
    assert data.pairs[3] == TextPair("c b", "u b", "c a", "u b")
    assert data.rows.tolist() == [0, 0, 1, 1]
    assert {name: column.tolist() for name, column in data.groups.items()} == {
        "link": ["copied", "copied", "converse", "converse"]
    }
    assert data.templates.tolist() == ["7"] * 4


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("a.csv", "good,bad\na,\n", "line 2.*'bad'"),
        ("b.csv", "good,bad\na,a\n", "the same"),
        ("c.jsonl", '{"sentence_good": "a", "sentence_bad": 3}', "'sentence_bad' is not a text"),
        ("d.jsonl", '{"arguments": 3, "target": 0}', "needs arguments"),
        ("e.jsonl", '{"good": "a", "bad": "b"}\n[1]', "line 2 is not an object"),
        ("f.jsonl", '{"good": "a", "bad": "b"}\n{', "line 2 is not JSON"),
    ],
)
def test_rows_that_cannot_be_used_are_named(tmp_path, name, text, named):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=named):
        read_pairs(tmp_path / name)


def oracle(**texts):
    return Oracle(texts={text.replace("_", " "): row for text, row in texts.items()})


def test_a_sentence_counts_behind_its_context_by_its_size_and_a_tie_a_half():
    scorer = oracle(c_a_b=[0.9, 0.5, 0.5], c_a=[0.9, 0.25], c_d=[0.1, 0.2])
    pairs = [TextPair("c", "a b", "c", "a"), TextPair("c", "a", "c", "d")]
    log = np.log
    whole = elicit_pairs(scorer, pairs, "sentence", "none")
    np.testing.assert_allclose(whole, log([[0.25, 0.25], [0.25, 0.2]]))
    np.testing.assert_array_equal(preferred(whole), [0.5, 1])
    by_token = elicit_pairs(scorer, pairs, "sentence", "tokens")
    np.testing.assert_allclose(by_token[0], [log(0.5), log(0.25)])
    by_byte = elicit_pairs(scorer, pairs, "sentence", "bytes")
    np.testing.assert_allclose(by_byte[0], [log(0.25) / 3, log(0.25)])


def test_fill_scores_the_words_that_differ():
    scorer = oracle(c_x_e=[0.9, 0.5, 0.3], c_y_e=[0.9, 0.2, 0.1])
    scores = elicit_pairs(scorer, [TextPair("", "c x e", "", "c y e")], "fill", "none")
    np.testing.assert_allclose(scores, np.log([[0.5, 0.2]]))


def test_a_choice_that_hangs_on_the_letter_alone_is_a_tie():
    class Always:
        name, abilities = "always A", {"class_logprobs"}

        def class_logprobs(self, contexts, targets):
            return np.log(np.tile([0.9, 0.1], (len(contexts), 1)))

    scores = elicit_pairs(Always(), [TextPair("c", "a", "c", "b")], "choice", "none")
    np.testing.assert_array_equal(preferred(scores), [0.5])


def test_values_of_one_cluster_are_drawn_together():
    values, clusters = np.repeat([0.0, 1.0], 50), np.repeat(["a", "b"], 50)
    assert mean_interval(values, clusters=clusters) == (0, 1)
    low, high = mean_interval(values)
    assert 0.3 < low < high < 0.7
    assert mean_interval(values, clusters=np.full(100, "a")) == (low, high)


def test_a_study_of_pairs(tmp_path):
    rows = ["good,bad,context,group,template"]
    texts = {}
    for number in range(6):
        rows.append(f"g{number} end,b{number} end,c,{'xy'[number % 2]},t{number // 2}")
        for word, p in (("g", 0.2 + 0.1 * (number % 2)), ("b", 0.25)):
            texts[f"c {word}{number} end"] = [0.5, p, 0.5]
            texts[f"{word}{number} end"] = [0.3, 0.5]
    (tmp_path / "pairs.csv").write_text("\n".join(rows))
    (tmp_path / "model.json").write_text(json.dumps({"texts": texts}))
    settings = AskSettings(f"oracle:{tmp_path / 'model.json'}", elicit=("sentence", "fill", "choice"))
    results = run(PAIRS, tmp_path / "pairs.csv", settings, tmp_path / "out")
    groups = results.tasks["pairs"]["modes"]["sentence"]["groups"]
    accuracies = {name: numbers["accuracy"]["mean"] for name, numbers in groups.items()}
    assert accuracies == {"all": 0.5, "x": 0, "y": 1}
    assert groups["all"]["templates"] == 3
    assert groups["all"]["prior_accuracy"] == 0.5
    assert groups["all"]["accuracy"]["low"] == groups["all"]["accuracy"]["high"] == 0.5
    assert (tmp_path / "out" / "pairs.png").is_file()
    assert "no answer by choice" in (tmp_path / "out" / "summary.md").read_text()
    assert compare_items(results, results)
    other = AskSettings(settings.model, elicit=("fill",))
    with pytest.raises(ForeignDirectoryError):
        run(PAIRS, tmp_path / "pairs.csv", other, tmp_path / "out")
    with pytest.raises(UnableError, match="choice"):
        run(PAIRS, tmp_path / "pairs.csv", AskSettings(settings.model, elicit=("choice",)), tmp_path / "no")


def test_a_table_of_items_in_every_elicitation(tmp_path):
    lines = "subject,gold,template", "bus,red|blue,a [X] is [Y] .", "taxi,green,the [Y] [X] ."
    (tmp_path / "items.csv").write_text("\n".join(lines))
    pairs = pairs_of_items(read_items(tmp_path / "items.csv", (), ()))
    assert [(pair.good, pair.bad) for pair in pairs.pairs] == [
        ("a bus is red .", "a bus is green ."),
        ("a bus is blue .", "a bus is green ."),
        ("the green taxi .", "the red taxi ."),
        ("the green taxi .", "the blue taxi ."),
    ]
    (tmp_path / "corpus.txt").write_text("a bus is red .\na bus is blue .\nthe green taxi .\n" * 3)
    settings = AskSettings(f"ngram:{tmp_path / 'corpus.txt'}", elicit=("sentence", "fill"))
    modes = run(PAIRS, tmp_path / "items.csv", settings, tmp_path / "out").tasks["pairs"]["modes"]
    assert {way: asked["groups"]["all"]["accuracy"]["mean"] for way, asked in modes.items()} == {
        "sentence": 1,
        "fill": 1,
    }
    assert modes["fill"]["groups"]["all"]["n"] == 4
    head = AskSettings(settings.model, use="head", elicit=("fill",))
    with pytest.raises(SettingsError):
        run(PAIRS, tmp_path / "items.csv", head, tmp_path / "no")
