"""Elicitation, heads and the commands on the small release."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.stats import ttest_rel

from simtown.probes import elicit, item_study
from simtown.probes.items import ItemAnswers
from simtown.probes.report import load
from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.ngram import NGram
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.visual import FORM
from simtown.probes.visual.classes import RELATIONS, SIZES
from tests.probes.visual.world import SUBJECTS, Knowing, write_release


@pytest.fixture
def glove(tmp_path):
    rng = np.random.default_rng(0)
    nouns = [noun for group in SIZES.values() for noun in group]
    words = sorted({*" ".join(SUBJECTS).split(), *nouns, "small", "large"})
    path = tmp_path / "glove.txt"
    path.write_text("".join(f"{w} {' '.join(f'{x:.4f}' for x in rng.normal(size=6))}\n" for w in words))
    return path


@pytest.fixture
def corpus(tmp_path):
    """Text that says of snow and of crows what color they are."""
    path = tmp_path / "corpus.txt"
    colors = {"lemon": "yellow", "fence": "brown", "wall": "white", "sock": "red"}
    lines = [f"{thing} has color {color} .\n{color} {thing} .\n" for thing, color in colors.items()] * 3
    lines += ["the dog is larger than the bee and the sky is smaller\n"]
    path.write_text("".join(lines) + "round square oval\nwood metal\nred cat dog\n")
    return path


def test_who_knows_the_truth_is_at_the_ceiling(release):
    data = release.dataset("color")
    truth = dict(zip(data.subjects, data.counts, strict=True))
    items, scorer = data.test, Knowing(truth, data.classes)
    subjects = [data.subjects[i] for i in items]
    logprobs = elicit.by_template(scorer, data.templates, subjects, data.words, "paper")
    assert logprobs.shape == (2, len(items), 12)
    average = ItemAnswers.of(data, items, elicit.averaged(logprobs, "paper"), "average")
    for one in (average, item_study.best_template(data, logprobs)):
        assert one.rho == pytest.approx(np.ones(len(items)))
        assert one.right.all()


def test_average_is_the_mean_of_probabilities():
    rng = np.random.default_rng(1)
    p = rng.random((3, 4, 5)) / 9
    assert np.exp(elicit.averaged(np.log(p), "paper")) == pytest.approx(p.mean(axis=0))
    normed = p / p.sum(axis=2, keepdims=True)
    assert np.exp(elicit.averaged(np.log(p), "corrected")) == pytest.approx(normed.mean(axis=0))


@pytest.mark.parametrize("kind", ["ngram", "lstm", "gpt2"])
def test_words_that_cannot_be_said_have_no_share_behind_a_gap_either(kind, model):
    """A class is its known words, each spelling once, in front of the gap as behind it."""
    sentences = [["red", "sock", "."], ["blue", "wall", "."], ["red", "wall", "."]]
    scorer = NGram("n", sentences) if kind == "ngram" else open_scorer(f"hf:{model(kind)}", policy="drop")
    candidates = ["red", "blue", "zebra", "worn-out"]
    sayable = np.isfinite(scorer.class_logprobs(["a [BLANK] sock ."], candidates)[0])
    known, unknown = (np.array(candidates)[chosen].tolist() for chosen in (sayable, ~sayable))
    assert known
    assert unknown
    words = [(word,) for word in known]
    mixed = [(word, *unknown, word, word.upper() if kind != "gpt2" else word) for word in known]
    subjects = ["sock", "wall"]

    def said(classes):
        return elicit.by_template(scorer, ["a [Y] [X] ."], subjects, classes, "corrected")[0]

    plain = said(words)
    assert np.isneginf(said([(word,) for word in unknown])).all()
    assert said(mixed) == pytest.approx(plain)
    texts = [[f"a {word} {subject} ." for word in known] for subject in subjects]
    one_by_one = [[scorer.sequence_logprobs([text])[0].logprobs.sum() for text in row] for row in texts]
    assert plain == pytest.approx(np.array(one_by_one), rel=1e-4)


@pytest.mark.parametrize(
    "template", ["the [Y] [X] .", "the [X] is [Y] at the bus .", "the [X] is [Y] .", "[Y]"]
)
@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "lstm"])
def test_sentences_are_read_whole_where_words_are_not_seen(kind, template, model):
    """Behind the gap by a model that reads forward; and a sentence that is itself the class."""
    scorer, blind = open_scorer(f"hf:{model(kind)}"), kind in ("gpt2", "lstm")
    subjects, words = ["bus", "banana"], (("yellow",), ("the sky is blue",))
    said = elicit.by_template(scorer, [template], subjects, words, "corrected")[0]
    expected = scorer.class_logprobs([elicit.fill(template, s, BLANK) for s in subjects], words)
    if template == "[Y]" or (blind and template != "the [X] is [Y] ."):
        texts = [elicit.fill(template, subject, word) for subject in subjects for (word,) in words]
        sums = [one.logprobs.sum() for one in scorer.sequence_logprobs(texts)]
        expected = np.reshape(sums, expected.shape)
    assert said == pytest.approx(expected, rel=1e-4)


def test_head_learns_what_vectors_tell(release):
    data = release.dataset("color")

    class Vectors:
        name, abilities = "v", frozenset({"word_vector"})

        def word_vector(self, word):
            place = next(i for i, s in enumerate(data.subjects) if word in s.split())
            return (20 * np.eye(12)[data.gold[place]]).astype(np.float32)

    one, _ = elicit.by_head(Vectors(), data, "corrected", 0, print)
    learned = np.isin(data.gold[one.items], data.gold[data.train])
    assert one.right[learned].all()
    assert np.exp(one.scores).sum(axis=1) == pytest.approx(np.ones(len(one.items)))


def test_prompts_command(cli, small, corpus, tmp_path):
    out = tmp_path / "out"
    words = ("probe", "visual", "--data", small, "--model", f"ngram:{corpus}", "--out", out)
    done = cli(*words, "--task", "color,size").succeeds()
    assert "average" in done.out
    content = json.loads((out / "summary.json").read_text())
    rows = pq.read_table(out / "color.parquet").to_pylist()
    test = [s for i, s in enumerate(SUBJECTS) if i % 10 >= 8]
    assert [r["subject"] for r in rows if r["mode"] == "average"] == test
    means = {mode: np.mean([r["rho"] for r in rows if r["mode"] == mode]) for mode in ("best", "average")}
    for mode, mean in means.items():
        assert content["tasks"]["color"]["modes"][mode]["groups"]["all"]["rho"]["mean"] == pytest.approx(mean)
    parts = {f"{relation}, {way}" for relation in ("larger", "smaller") for way in ("paper", "corrected")}
    assert set(content["tasks"]["size"]["partition"]) == parts
    for name in ("color.png", "size.png"):
        with Image.open(out / name) as picture:
            assert picture.width > 800
    words = (*words[:-1], tmp_path / "release", "--task", "color,size", "--protocol", "release")
    unsaid = {noun for nouns in SIZES.values() for noun in nouns} - set(corpus.read_text().split())
    assert f"size: the model cannot say {len(unsaid)} nouns" in cli(*words).succeeds().out
    content = json.loads((tmp_path / "release" / "summary.json").read_text())
    rho = content["tasks"]["color"]["modes"]["average"]["groups"]["all"]["rho"]
    assert -1 <= rho["low"] <= rho["mean"] <= rho["high"] <= 1


def test_head_command_and_tables_with_it(cli, small, glove, tmp_path):
    out = tmp_path / "out"
    cli("probe", "visual", "--data", small, "--model", f"glove:{glove}", "--out", out).succeeds()
    files = {"summary.json", "summary.csv", "summary.md", "size.parquet", "cooccurrence.png"}
    assert {p.name for p in out.iterdir()} >= files
    content = json.loads((out / "summary.json").read_text())
    assert set(content["tasks"]) == {*RELATIONS, "cooccurrence", "size"}
    assert content["tasks"]["size"]["projection"]["n"] == 107
    assert "rho" not in content["tasks"]["cooccurrence"]["modes"]["head"]["groups"]["all"]
    for table in ("3", "4"):
        cli("probe", "reproduce", f"vicomte-table{table}", "--data", small, "--with", out).succeeds()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("visual") / "clone", clone=True)


@pytest.mark.parametrize("table", ["1", "2", "3", "4", "5", "6", "9", "11"])
def test_tables_of_a_clone(cli, clone, table):
    printed = cli("probe", "reproduce", f"vicomte-table{table}", "--data", clone).succeeds().out
    assert ("cells are as printed" in printed) == (table not in ("4", "11"))
    assert ("not computed here" in printed) == (table in ("5", "6", "9"))
    assert "0 of 0" not in printed
    assert ("lies below chance" in printed) == (table == "4")


@pytest.mark.parametrize("number", [2, 3, 5, 6, 7, 8, 9])
def test_figures(cli, small, clone, tmp_path, number):
    data = (clone, small)[number % 2]
    cli("probe", "visual", "figure", number, "--data", data, "--out", tmp_path / "f.png").succeeds()
    with Image.open(tmp_path / "f.png") as picture:
        assert picture.width > 600
        assert picture.height > 400
        assert picture.convert("RGB").getcolors(20) is None


def test_compare_command(cli, small, glove, corpus, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    words = ("probe", "visual", "--data", small)
    cli(*words, "--model", f"glove:{glove}", "--out", a, "--task", "color,cooccurrence").succeeds()
    cli(*words, "--model", f"ngram:{corpus}", "--out", b, "--task", "color").succeeds()
    cli("probe", "compare", b, a).succeeds()
    (table,) = item_study.compare_items(load(b, FORM), load(a, FORM))
    p_values = {name: cells[3].here for name, cells in table.rows if name.endswith(", all")}
    assert set(p_values) == {"color, best, all", "color, average, all"}
    rho = []
    for out, mode in ((b, "average"), (a, "head")):
        rows = pq.read_table(out / "color.parquet").to_pylist()
        rho.append({row["subject"]: row["rho"] for row in rows if row["mode"] == mode})
    expected = ttest_rel(*([one[s] for s in rho[0]] for one in rho)).pvalue
    assert p_values["color, average, all"] == f"{expected:.2g}"
    cli("probe", "compare", a, tmp_path / "none").refuses("no folder")


def test_refusals(cli, files, glove, tmp_path):
    study = ("probe", "visual", "--model", f"glove:{glove}", "--out", tmp_path / "out", "--data")
    cli("probe", "visual").refuses("--data", "--model", "--out")
    cli(*study, tmp_path).refuses("color-dist", "VL-commonsense")
    cli(*study, files, "--task", "smell").refuses("smell", "color")
    cli(*study, files, "--task", "color", "--as", "prompts").refuses("probabilities")
    cli("probe", "reproduce", "vicomte-table7", "--data", files).refuses("vicomte-table7")
    cli("probe", "reproduce", "vicomte-table1", "--data", files, "--with", tmp_path).refuses("--with")
    cli("probe", "visual", "figure", 4, "--data", files, "--out", tmp_path / "f.png").refuses("no figure 4")
    (files / "distributions/shape-dist.json.gz").write_bytes(b"\x1f\x8bxx")
    cli(*study, files, "--task", "shape").refuses("shape-dist", code=1)
