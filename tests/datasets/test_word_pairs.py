"""Minimal pairs of words: true of one picture alone, as a town says too, in the same words, and fair."""

import csv
import json
from collections import Counter, defaultdict

import numpy as np
import pytest

from simtown import Town, generate, open_dataset
from simtown.datasets.audit.pair_fairness import pair_findings, rule_outcomes
from simtown.datasets.export import export
from simtown.datasets.proving.pair_proof import prove_pairs, wrong_pairs
from simtown.datasets.proving.verify import verify
from simtown.datasets.settings import Settings
from simtown.datasets.word_pairs import CONVERSE, COPIED, first_rows, word_pairs
from simtown.probes.pair_tables import read_pairs

DOMAINS = {"left and right", "depth", "driver's", "colour", "count", "lane", "heading", "order"}
SIZE = (64, 64)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("pairs") / "town"
    asked = ("relations", "colour", "count", "lane", "heading", "order")
    sizes = {"n": 4, "val": 0, "test": 480, "width": 64, "height": 64, "crowd": "3-5"}
    worlds = {"entities": 20, "frequencies": "uniform", "paint": "uniform"}
    generate(Settings(questions=asked, twins=True, **sizes, **worlds), out, workers=1)
    return open_dataset(out)


@pytest.fixture(scope="module")
def items(data):
    return [*word_pairs(data.test, first_rows(data.test), "test", SIZE)]


def words(text):
    return Counter(text.lower().replace(",", "").replace(".", "").replace(":", "").split())


def test_every_domain_has_as_many_copied_as_converse_items(items):
    counts = defaultdict(Counter)
    for item in items:
        counts[item.domain][item.link] += 1
    assert counts.keys() == DOMAINS
    for domain, links in counts.items():
        assert links[COPIED] == links[CONVERSE] > 5, domain
    assert {domain for domain in DOMAINS if counts[domain]["hop"]} >= {"left and right", "order"}


def test_contexts_of_an_item_have_the_same_words(items):
    for item in items:
        assert words(item.context_a) == words(item.context_b)
        assert item.context_a != item.context_b
        assert item.target_a != item.target_b


def test_a_town_of_the_picture_agrees_with_each_target(data, items):
    for item in items[::7]:
        for row, true, false in (
            (item.row_a, item.target_a, item.target_b),
            (item.row_b, item.target_b, item.target_a),
        ):
            town = Town.from_scene(data.test[row].scene)
            for sentence, truth in ((true, True), (false, False)):
                subject, _, rest = sentence.rstrip(".").partition(" is ")
                assert town.ask(f"Is {subject} {rest}?", everywhere=True).truth is truth, sentence


def test_pictures_are_those_of_twins(data, items):
    for item in items[::11]:
        assert data.test.twin_number(item.row_a) == item.row_b
        one, other = data.test[item.row_a], data.test[item.row_b]
        assert (one.image != other.image).any()
        assert item.edit in data.names["edits"]


def test_an_item_that_is_exchanged_is_found(data, items):
    assert wrong_pairs(data.test, items, SIZE) == []
    exchanged = items[3]._replace(target_a=items[3].target_b, target_b=items[3].target_a)
    assert wrong_pairs(data.test, [*items[:3], exchanged], SIZE) == [exchanged]


@pytest.mark.slow
def test_verify_reads_the_pairs_back(data, items):
    report = verify(data.path, pictures=0, quick=True)
    assert report.problems == []
    count, wrong = prove_pairs(data)
    assert f"{count:,} pairs of words" in report.summary
    assert wrong == []
    assert count >= len(items)


def test_shared_words_say_as_much_for_either_target(items):
    by_domain = defaultdict(list)
    for item in items:
        by_domain[item.domain].append(item)
    for domain, own in by_domain.items():
        for rule, right in rule_outcomes(own).items():
            if "gram" in rule or rule == "bag of words":
                assert np.mean(right) == pytest.approx(0.5, abs=1e-9), (domain, rule)


def test_the_audit_finds_a_set_of_copied_items_alone(data, items, monkeypatch):
    assert all(finding.p > 0.01 for finding in pair_findings(data, "test"))
    copied = [item for item in items if item.link == COPIED]
    monkeypatch.setattr("simtown.datasets.audit.pair_fairness.word_pairs", lambda *_: copied)
    assert all(finding.p < 0.001 for finding in pair_findings(data, "test"))


def test_the_export_holds_all_items(data, items, tmp_path):
    export(data, "pairs", ["test"], tmp_path / "pairs")
    with open(tmp_path / "pairs" / "test.csv", encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["target_a"] for row in rows] == [item.target_a for item in items]
    for row in rows[::50]:
        assert (tmp_path / "pairs" / row["picture_a"]).is_file()
        assert (tmp_path / "pairs" / row["picture_b"]).is_file()
    lines = (tmp_path / "pairs" / "test-ewok.jsonl").read_text().splitlines()
    assert [json.loads(line)["Context2"] for line in lines] == [item.context_b for item in items]
    ours, ewok = (read_pairs(tmp_path / "pairs" / name) for name in ("test.csv", "test-ewok.jsonl"))
    assert ours.pairs == ewok.pairs
    assert {*ours.groups} == {"domain", "link"}
    asked = [
        json.loads(line) for line in (tmp_path / "pairs" / "test-lm-eval.jsonl").read_text().splitlines()
    ]
    assert len(asked) == 2 * len(items)
    assert asked[1]["targets"][asked[1]["label"]] == items[0].target_b


def test_without_twins_nothing_is_exported(cli, plain, tmp_path):
    cli("export", plain, "--to", "pairs", "--out", tmp_path / "pairs").refuses(
        "no twins", "simtown generate --twins"
    )
    assert not (tmp_path / "pairs").exists()
