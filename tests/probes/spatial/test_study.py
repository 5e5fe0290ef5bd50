"""simtown probe spatial from end to end, with an n-gram model and a small LSTM."""

import json

import numpy as np
import pytest

from simtown.probes.lm.architectures import ARCHITECTURES
from simtown.probes.spatial import EMBEDDINGS, MATRIX, VECTORS, analyses, wordtests
from simtown.probes.spatial.lexicon import CONTEXTS, RELATIONS
from simtown.probes.spatial.spaces import p_vectors, read_table
from simtown.probes.spatial.spatial_tables import compared
from tests.probes.spatial.world import write_release
from tests.probes.tiny import redrawn

PLACES = ("table", "house", "street", "tree", "water", "field")
EVERY = [f"the {a} {r} the {b}" for r in RELATIONS for a in PLACES[:3] for b in PLACES[3:]]
#: Relations differ in what stands beside them and how often.
PHRASES = [phrase for i, phrase in enumerate(EVERY) for _ in range(1 + i * i % 11 % 3) if i * i % 7 != 2]
SMALL = ("--rare", "1", "--least", "2", "--most", "1")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "phrases.txt"
    path.write_text("\n".join(PHRASES) + "\n")
    return path


@pytest.fixture
def probe(cli, corpus, monkeypatch):
    """Runs the study: (model, out, other options); k-means starts once."""
    monkeypatch.setattr(analyses, "STARTS", 1)

    def run(model, out, *more):
        return cli("probe", "spatial", "--model", model, "--corpus", corpus, "--out", out, *more)

    return run


def save_lstm(path, lacking=()):
    """An untrained one, which knows the words of the phrases without these."""
    architecture = ARCHITECTURES["lstm"]
    tokenizer = architecture.tokenizer([p for p in PHRASES if not set(lacking) & set(p.split())], 200)
    redrawn(architecture.model(tokenizer), 0, 0.1).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    return save_lstm(tmp_path_factory.mktemp("models") / "lstm")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return tmp_path_factory.mktemp("ngram") / "out"


@pytest.fixture
def ngram(probe, corpus, finished):
    """The directory of a finished run of an n-gram model, made once; no test changes it."""
    if not finished.exists():
        probe(f"ngram:{corpus}", finished, *SMALL).succeeds()
    return finished


def summary_of(out):
    return json.loads((out / "summary.json").read_text())["tasks"]["relations"]


@pytest.mark.slow
def test_an_lstm(cli, probe, lstm, ngram, tmp_path, contents):
    out = tmp_path / "out"
    assert f"67 relations in {len(CONTEXTS)} contexts" in probe(f"lstm:{lstm}", out, *SMALL).succeeds().out
    matrix, vectors = read_table(out / MATRIX), read_table(out / VECTORS)
    assert (matrix.rows, matrix.columns) == (RELATIONS, CONTEXTS)
    assert np.allclose(vectors.values, p_vectors(matrix.values), atol=1e-8)
    assert read_table(out / EMBEDDINGS).rows == RELATIONS
    summary = summary_of(out)
    assert {"clusters", "frequency", "functional"} <= set(summary)
    for test in ("analogy", "odd_one_out_cosine", "odd_one_out_rank"):
        assert set(summary[test]) == {"P", "LM", "P_less_LM"}
    assert (out / "relations.png").read_bytes()[:4] == b"\x89PNG"
    assert "toward" in (out / "relations.svg").read_text()
    before = contents(out)
    probe(f"lstm:{lstm}", out, *SMALL).succeeds()
    assert contents(out) == before
    same, alike = compared(out, out)
    assert len(same.rows) == 6
    assert {(cells[4].here, cells[6].here) for _, cells in same.rows} == {("+0.000", "1")}
    assert [cells[0].here for _, cells in alike.rows] == ["1.000", "1.000"]
    printed = cli("probe", "compare", out, ngram).succeeds().out
    assert "log-perplexities" in printed
    assert "McNemar p" in printed


@pytest.mark.slow
def test_relations_that_the_model_lacks_are_named_and_left_out(cli, probe, lstm, ngram, tmp_path):
    lacking, knowing = tmp_path / "lacking", tmp_path / "knowing"
    model = save_lstm(tmp_path / "lstm", ("front", "above"))
    printed = probe(f"lstm:{model}", lacking, *SMALL).succeeds().out
    assert all(part in printed for part in ("does not know", "above", "in front of"))
    unknown = summary_of(lacking)["unknown_relations"]
    assert unknown == [r for r in RELATIONS if {"front", "above"} & set(r.split())]
    assert "does not know" not in probe(f"lstm:{lstm}", knowing, *SMALL).succeeds().out
    assert summary_of(knowing)["unknown_relations"] == []
    known = [r for r in RELATIONS if r not in unknown]
    questions, sets = wordtests.questions_of(known)
    assert len(questions) == 48  # four of six pairs of opposites are left
    numbers = {"analogy": 48, "odd one out cosine": len(sets), "odd one out rank": len(sets)}
    for other, kinds in ((knowing, ("P", "LM")), (ngram, ("P",))):
        tests, alike = compared(lacking, other)
        asked = [(name, cells[0].here, int(cells[1].here)) for name, cells in tests.rows]
        assert asked == [(test, kind, n) for kind in kinds for test, n in numbers.items()]
        assert f"{len(known) * len(CONTEXTS):,} cells" in alike.rows[0][1][-1].here
        shown = " ".join(cli("probe", "compare", other, lacking).succeeds().out.split())
        assert f"Left out: {len(unknown)} of 67 relations" in shown
        assert f"72 of 120 analogies and {88 - len(sets)} of 88 odd ones out" in shown
    assert "Left out" not in cli("probe", "compare", knowing, ngram).succeeds().out


def test_models_without_a_relation_in_common_are_refused(cli, probe, ngram, copy, tmp_path):
    out = copy(ngram, "out")
    summary = json.loads((out / "summary.json").read_text())
    summary["tasks"]["relations"]["unknown_relations"] = RELATIONS[2:]
    (out / "summary.json").write_text(json.dumps(summary))
    cli("probe", "compare", out, ngram).refuses("2 of 67 relations")
    other = tmp_path / "other.txt"
    other.write_text("a cat sat\na dog ran\n")
    probe(f"ngram:{other}", tmp_path / "none", *SMALL).refuses("none of the 67 relations")


def test_a_run_stands_beside_the_released_one(cli, ngram, copy, tmp_path):
    run, data = copy(ngram, "run"), write_release(tmp_path / "release")

    def reproduce(table, run):
        return cli("probe", "reproduce", f"spatial-{table}", "--data", data, "--with", run)

    assert "run, log-perplexities" in reproduce("figure3", run).succeeds().out
    assert "P, run" in reproduce("odd-one-out", run).succeeds().out
    reproduce("figure3", tmp_path).refuses("holds no results")


def test_held_out_phrases_alone(probe, corpus, tmp_path):
    out = tmp_path / "out"
    probe(f"ngram:{corpus}", out, "--rare", "1", "--least", "1", "--most", "2", "--held-out").succeeds()
    assert 0 < summary_of(out)["suites"]["phrases"] < len(PHRASES) / 5


def test_what_is_refused(cli, probe, corpus, tmp_path):
    model, out, vectors = f"ngram:{corpus}", tmp_path / "out", tmp_path / "vectors.txt"
    vectors.write_text("on 1 2\nin 2 1\n")
    cli("probe", "spatial", "--model", "hf:x").refuses("--model, --corpus and --out")
    cli("probe", "spatial", "--model", model, "--corpus", tmp_path / "none", "--out", out).refuses("none")
    probe("parrot:x", out).refuses("parrot:x")
    probe(f"glove:{vectors}", out).refuses("no probabilities of texts")
    probe(model, out, "--least", "0").refuses("--least")
    probe(model, out, "--rare", "1", "--least", "1000").refuses("too few spatial relations")
    assert not (out / "summary.json").exists()  # a better command may have the directory
    (out / "mine.txt").write_text("precious")
    probe(model, out).refuses("mine.txt")
    assert (out / "mine.txt").read_text() == "precious"
