"""simtown probe spatial from end to end, with an n-gram model and a small LSTM."""

import json

import numpy as np
import pytest

from simtown.probes.lm.architectures import ARCHITECTURES
from simtown.probes.spatial import EMBEDDINGS, MATRIX, VECTORS, heatmaps, wordtests
from simtown.probes.spatial.lexicon import CONTEXTS, KINDS, RELATIONS
from simtown.probes.spatial.spaces import NumberTable, p_vectors, read_table, write_table
from simtown.probes.spatial.spatial_tables import compared
from tests.probes.spatial.world import write_release
from tests.probes.tiny import redrawn

PLACES = ("table", "house", "street", "tree", "water", "field")
EVERY = [f"the {a} {r} the {b}" for r in RELATIONS for a in PLACES[:3] for b in PLACES[3:]]
#: Relations differ in what stands beside them and how often.
PHRASES = [phrase for i, phrase in enumerate(EVERY) for _ in range(1 + i * i % 11 % 3) if i * i % 7 != 2]
SMALL = ("--rare", "1", "--least", "2", "--most", "4")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "phrases.txt"
    path.write_text("\n".join(PHRASES) + "\n")
    return path


def save_lstm(path, lacking=()):
    """An untrained one, which knows the words of the phrases without these."""
    made = ARCHITECTURES["lstm"]
    tokenizer = made.tokenizer([p for p in PHRASES if not set(lacking) & set(p.split())], 200)
    redrawn(made.model(tokenizer), 0, 0.1).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    return save_lstm(tmp_path_factory.mktemp("models") / "lstm")


@pytest.fixture(scope="module")
def finished():
    """What `ngram` has made."""
    return {}


@pytest.fixture
def ngram(cli, corpus, finished, tmp_path_factory):
    """The directory of a finished run of an n-gram model, made once; no test changes it."""
    if not finished:
        out = tmp_path_factory.mktemp("ngram") / "out"
        words = ("--model", f"ngram:{corpus}", "--corpus", corpus, "--out", out)
        cli("probe", "spatial", *words, *SMALL).succeeds()
        finished["ngram"] = out
    return finished["ngram"]


def test_an_lstm(cli, corpus, lstm, ngram, tmp_path, contents):
    out = tmp_path / "out"
    told = (
        cli("probe", "spatial", "--model", f"lstm:{lstm}", "--corpus", corpus, "--out", out, *SMALL)
        .succeeds()
        .out
    )
    assert f"67 relations in {len(CONTEXTS)} contexts" in told
    matrix, vectors = read_table(out / MATRIX), read_table(out / VECTORS)
    assert (matrix.rows, matrix.columns) == (RELATIONS, CONTEXTS)
    assert np.allclose(vectors.values, p_vectors(matrix.values), atol=1e-8)
    assert read_table(out / EMBEDDINGS).rows == RELATIONS
    summary = json.loads((out / "summary.json").read_text())["tasks"]["relations"]
    assert {
        "analogy",
        "odd_one_out_cosine",
        "odd_one_out_rank",
        "clusters",
        "frequency",
        "functional",
    } <= set(summary)
    assert {"P", "LM", "P_less_LM"} == set(summary["analogy"])
    assert (out / "relations.png").read_bytes()[:4] == b"\x89PNG"
    assert "toward" in (out / "relations.svg").read_text()
    before = contents(out)
    cli("probe", "spatial", "--model", f"lstm:{lstm}", "--corpus", corpus, "--out", out, *SMALL).succeeds()
    assert contents(out) == before
    same, alike = compared(out, out)
    rows = [(name, *(cell.here for cell in cells)) for name, cells in same.rows]
    assert {(test, kind, change, p) for test, kind, _, _, _, change, _, p in rows} == {
        (test, kind, "+0.000", "1")
        for test in ("analogy", "odd one out cosine", "odd one out rank")
        for kind in ("P", "LM")
    }
    assert [cells[1].here for _, cells in alike.rows] == ["1.000", "1.000"]
    told = cli("probe", "compare", out, ngram).succeeds().out
    assert "log-perplexities" in told
    assert "McNemar p" in told


def test_relations_that_the_model_lacks_are_named_and_left_out_of_comparisons(
    cli, corpus, lstm, ngram, tmp_path
):
    lacking = save_lstm(tmp_path / "lstm", ("front", "above"))

    def told(model, out):
        words = ("--model", f"lstm:{model}", "--corpus", corpus, "--out", out)
        return cli("probe", "spatial", *words, *SMALL).succeeds().out

    out, knowing = tmp_path / "out", tmp_path / "knowing"
    assert all(part in told(lacking, out) for part in ("does not know", "above", "in front of"))
    unknown = json.loads((out / "summary.json").read_text())["tasks"]["relations"]["unknown_relations"]
    assert unknown == [r for r in RELATIONS if {"front", "above"} & set(r.split())]
    assert "does not know" not in told(lstm, knowing)
    assert json.loads((knowing / "summary.json").read_text())["tasks"]["relations"]["unknown_relations"] == []

    # four of six pairs of opposites are left, in 4 · 3 · 4 questions
    for other, vectors in ((knowing, ("P", "LM")), (ngram, ("P",))):
        tests, alike = compared(out, other)
        asked = [(name, cells[0].here, int(cells[1].here)) for name, cells in tests.rows]
        sets = len(wordtests.trios([[w for w in kind if w not in unknown] for kind in KINDS]))
        each = [("analogy", 48), ("odd one out cosine", sets), ("odd one out rank", sets)]
        assert asked == [(test, kind, n) for kind in vectors for test, n in each]
        left = len(RELATIONS) - len(unknown)
        assert f"{left * len(CONTEXTS):,} cells" in alike.rows[0][1][-1].here
        shown = " ".join(cli("probe", "compare", other, out).succeeds().out.split())
        assert f"Left out: {len(unknown)} of 67 relations" in shown
        assert f"72 of 120 analogies and {88 - sets} of 88 odd ones out" in shown
    assert "Left out" not in cli("probe", "compare", knowing, ngram).succeeds().out


def test_models_without_a_relation_in_common_are_refused(cli, corpus, ngram, copy, tmp_path):
    out = copy(ngram, "out")
    summary = json.loads((out / "summary.json").read_text())
    summary["tasks"]["relations"]["unknown_relations"] = RELATIONS[2:]
    (out / "summary.json").write_text(json.dumps(summary))
    cli("probe", "compare", out, ngram).refuses("both models know 2 of 67 relations")
    other = tmp_path / "other.txt"
    other.write_text("a cat sat\na dog ran\n")
    words = ("--model", f"ngram:{other}", "--corpus", corpus, "--out", tmp_path / "none")
    cli("probe", "spatial", *words, *SMALL).refuses("knows none of the 67 relations")


def test_a_run_stands_beside_the_released_one(cli, ngram, copy, tmp_path):
    out, reference = copy(ngram, "run"), write_release(tmp_path / "release")
    told = cli("probe", "reproduce", "spatial-figure3", "--data", reference, "--with", out).succeeds().out
    assert "run, log-perplexities" in told
    assert (
        "P, run"
        in cli("probe", "reproduce", "spatial-odd-one-out", "--data", reference, "--with", out).succeeds().out
    )
    cli("probe", "reproduce", "spatial-figure3", "--data", reference, "--with", tmp_path).refuses(
        "holds no results"
    )


def test_held_out_phrases_alone(cli, corpus, tmp_path):
    cli(
        "probe",
        "spatial",
        "--model",
        f"ngram:{corpus}",
        "--corpus",
        corpus,
        "--out",
        tmp_path / "out",
        "--rare",
        "1",
        "--least",
        "1",
        "--held-out",
    ).succeeds()
    suites = json.loads((tmp_path / "out" / "summary.json").read_text())["tasks"]["relations"]["suites"]
    assert 0 < suites["phrases"] < len(PHRASES) / 5


def test_what_is_refused(cli, corpus, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("on 1 2\nin 2 1\n")
    given = {"--model": f"ngram:{corpus}", "--corpus": corpus, "--out": tmp_path / "out"}

    def run(*more, **other):
        words = given | {f"--{k}": v for k, v in other.items()}
        return cli("probe", "spatial", *(w for pair in words.items() for w in pair), *more)

    cli("probe", "spatial", "--model", "ngram:x").refuses("needs --model, --corpus and --out")
    run(corpus=tmp_path / "none").refuses("none")
    run(model="parrot:x").refuses("names no model")
    run(model=f"glove:{vectors}").refuses("no probabilities of texts")
    run("--least", "0").refuses("--least must be at least 1")
    run("--rare", "1", "--least", "1000").refuses("too few spatial relations")
    assert not (tmp_path / "out" / "summary.json").exists()  # a better command may have the directory
    (tmp_path / "out" / "mine.txt").write_text("precious")
    run().refuses("mine.txt")
    assert (tmp_path / "out" / "mine.txt").read_text() == "precious"


def test_other_settings_and_damage(cli, corpus, ngram, copy):
    out = copy(ngram, "out")
    words = ("probe", "spatial", "--model", f"ngram:{corpus}", "--corpus", corpus, "--out", out)
    cli(*words, *SMALL, "--seed", "1").refuses("seed 0, now 1")
    (out / "summary.json").write_text("{")
    cli(*words, *SMALL).refuses("summary.json", code=1)


def test_tables_come_back(tmp_path):
    table = NumberTable(("on", "in front of"), ("a b", "c"), np.array([[1.5, 2e-9], [3e20, 4.0]]))
    write_table(tmp_path / "t.tsv", table)
    found = read_table(tmp_path / "t.tsv")
    assert (found.rows, found.columns) == (table.rows, table.columns)
    assert np.allclose(found.values, table.values)


def test_like_rows_stand_together():
    """Two interleaved groups come apart."""
    groups = np.arange(12) % 2
    rows = np.eye(2)[groups] + 0.05 * np.random.default_rng(0).random((12, 2))
    order = groups[heatmaps.ordered(rows)]
    assert np.abs(np.diff(order)).sum() == 1
