"""Every way to use a model, on models that know the small world, or know nothing; and the commands."""

import csv
import json
import os

import numpy as np
import pyarrow.parquet as pq
import pytest
import transformers
from PIL import Image

from simtown.core.files import DamagedError
from simtown.core.options import SettingsError
from simtown.probes.physical import FORM, TASKS, PhysicalSettings, figure2, inputs
from simtown.probes.physical.finetune import FineTuning
from simtown.probes.physical.heads import majority, random
from simtown.probes.physical.physical_study import PHYSICAL, PROTOCOLS, threshold
from simtown.probes.physical.scores import answers_of, compare, scores
from simtown.probes.report import load
from simtown.probes.scorers.base import UnableError
from simtown.probes.study import TaskRequest
from simtown.probes.study_settings import ScorerOptions
from tests.probes.physical.world import OBJECTS, PROPERTIES, VERBS, Truthful
from tests.probes.tiny import redrawn


@pytest.fixture
def asked(tasks, tmp_path):
    """asked(title, scorer)(model, use, ...): what the study says of a task; all announced steps are done."""

    def of(title, scorer=None):
        def ask(*settings, options=ScorerOptions(), **more):  # noqa: B008
            steps = []

            def bars(title, total):
                steps.append(-total)
                return steps.append

            chosen = PhysicalSettings(*settings, **more)
            request = TaskRequest(title, tasks[title], chosen, tmp_path, lambda: scorer, bars, options)
            result = PHYSICAL.ask(request)
            assert sum(steps) == 0
            return result

        return ask

    return of


@pytest.mark.parametrize("title", ["abstract-OP", "situated-OP", "situated-OA"])
@pytest.mark.parametrize("use", ["sentence", "yes-no"])
def test_who_knows_is_right(asked, title, use):
    """Not in AP, where the same pair is so of one object and not of another."""
    rows = asked(title, Truthful())("lstm:truthful", use, "logistic").rows
    assert np.array_equal(rows["said"], rows["label"])


def test_tokens_are_looked_up_where_they_stand(asked):
    scorer = Truthful()
    asked("situated-OA", scorer)("lstm:truthful", "tokens", "logistic")
    assert {"bat", "scissors", "ate", "fed"} <= set(scorer.spans)


@pytest.mark.parametrize("protocol", ["release", "corrected"])
def test_unknown_words_are_counted_and_stood_in_for(asked, tasks, protocol):
    scorer, vectors = Truthful(("bat", "tool", "edible")), {}
    unknown = asked("situated-OP", scorer)("glove:x", "words", "logistic", protocol).summary["unknown"]
    assert unknown["object"] == {"of": 12, "words": ["bat"]}
    assert unknown["property"] == {"of": 6, "words": ["tool", "edible"]}
    for title in ("situated-OP", "situated-OA"):
        task = tasks[title]
        made, _ = inputs.of_words(task, scorer, PROTOCOLS[protocol].unknown)
        for names, table, index in zip(task.pairs[:2], made.tables, made.index, strict=True):
            vectors |= {(title, name): table[i] for name, i in zip(names.tolist(), index, strict=True)}
    tool, edible = (vectors["situated-OP", name] for name in ("a_tool", "edible"))
    assert np.array_equal(tool, edible) is (protocol == "release")
    assert (not tool.any()) is (protocol == "release")
    bats = [vectors[title, "baseball_bat"] for title in ("situated-OP", "situated-OA")]
    assert np.argmax(bats[0]) == np.argmax(bats[1])  # the same in every task, but for its length


def without(*methods):
    """A scorer that knows nothing of what these methods are asked."""
    scorer = Truthful()
    scorer.name, scorer.word_vector = "hf:lost", lambda word: None
    scorer.class_logprobs = lambda contexts, targets: np.full((len(contexts), 2), np.nan)
    scorer.abilities = scorer.abilities - set(methods)
    return scorer


UNABLE = {"words": "word_vector", "tokens": "embed", "sentence": "embed", "yes-no": "class_logprobs"}
CANNOT = [(use, without(method), UnableError) for use, method in UNABLE.items()]
CANNOT += [("yes-no", without(), UnableError), ("words", without(), ValueError)]


@pytest.mark.parametrize(("use", "scorer", "error"), CANNOT)
def test_what_a_model_cannot_do_is_said(asked, use, scorer, error):
    with pytest.raises(error, match=scorer.name):
        asked("abstract-OP", scorer)(scorer.name, use)


def test_the_threshold_is_the_best_of_all():
    def f1(odds, label, cut):
        said = odds > cut
        return 2 * (said & label).sum() / max(said.sum() + label.sum(), 1)

    generator = np.random.default_rng(0)
    for _ in range(30):
        label = np.append(generator.random(19) < 0.4, True)
        odds = np.round(generator.normal(size=20) + label, 1)
        best = max(f1(odds, label, cut) for cut in odds - 0.05)
        assert f1(odds, label, threshold(odds, label)) == pytest.approx(best)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A BERT of random weights that knows the letters."""
    folder = tmp_path_factory.mktemp("bert")
    letters = "abcdefghijklmnopqrstuvwxyz.,?"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=70, **sizes)
    redrawn(transformers.BertForMaskedLM(config), 0, 0.02).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("protocol", ["paper", "release", "corrected"])
def test_fine_tuning_runs_with_each_loss(asked, tiny, protocol):
    result = asked("situated-OP")(f"hf:{tiny}", "finetune", protocol=protocol)
    assert result.summary["head"]["loss"] == ("squared" if protocol == "paper" else "cross-entropy")
    assert ((result.rows["score"] > 0) & (result.rows["score"] < 1)).all()


def test_fine_tuning_takes_its_own_numbers_and_a_device_that_is_there(asked, tiny):
    ask = asked("situated-OP")
    with pytest.raises(ValueError, match="abacus"):
        ask(f"hf:{tiny}", "finetune", options=ScorerOptions(device="abacus"))
    with pytest.raises(SettingsError) as error:
        ask(f"hf:{tiny}", "finetune", options=ScorerOptions(dtype="bfloat16"))
    assert error.value.setting == "dtype"


def test_fine_tuning_does_not_see_padding(model):
    texts = ["the sky is blue", "the grass is green and the sky is blue", "a bus"]
    nothing = np.zeros(0, dtype=np.int64)

    def said(chosen):
        tuning = FineTuning(epochs=0)
        quiet = {"progress": lambda more: None, "device": "cpu"}
        return tuning.fit(str(model("fnet")), chosen, nothing, nothing == 1, 0, **quiet)

    assert said(texts) == pytest.approx([said([text])[0] for text in texts], abs=1e-5)


def test_fine_tuning_learns(tiny):
    """The same few sentences with opposite labels end up on opposite sides."""
    texts = ["a lemon is edible.", "a kettle is edible.", "a dog flies."]
    pair, label = np.tile([0, 1, 2], 64), np.tile([True, False, False], 64)
    tuning = FineTuning(epochs=30, learning_rate=5e-3)
    said = tuning.fit(str(tiny), texts, pair, label, 0, progress=lambda more: None)
    assert (said > 0.5).tolist() == [True, False, False]


# The commands


@pytest.fixture(scope="session")
def glove(tmp_path_factory):
    """Word vectors of the small world, in GloVe's format, but for one word."""
    words = [o.rpartition("_")[2] for o in OBJECTS] + [p[1] for p in PROPERTIES.values()]
    words += [v for v in VERBS if v != "peel"]
    known = [word for word in dict.fromkeys(words) if word != "bat"]
    numbers = np.random.default_rng(0).normal(size=(len(known), 8)).astype(str)
    path = tmp_path_factory.mktemp("glove") / "glove_small.txt"
    lines = [" ".join((word, *row)) for word, row in zip(known, numbers, strict=True)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def undrawn(monkeypatch):
    """Studies draw no figures, which take most of the time of a small one."""
    monkeypatch.setattr(figure2, "save_figure", lambda figure, path: path.write_bytes(b""))


@pytest.fixture
def made(cli, small, tmp_path):
    """made(model, *options): a directory of results."""

    def make(model, *options, out="out"):
        words = ("--data", small, "--model", model, "--out", tmp_path / out, *options)
        cli("probe", "physical", *words).succeeds()
        return tmp_path / out

    return make


def test_everything_is_written(made, glove, tasks):
    out = made(f"glove:{glove}", "--head", "logistic")
    files = [f"summary.{end}" for end in ("json", "csv", "md", "tex")]
    files += [f"{title}.{end}" for title in TASKS for end in ("parquet", "png")]
    assert {path.name for path in out.iterdir()} == set(files)
    content = json.loads((out / "summary.json").read_text())
    with open(out / "summary.csv", newline="") as file:
        table = {row["task"]: row for row in csv.DictReader(file)}
    page = (out / "summary.md").read_text()
    for title, task in tasks.items():
        rows = pq.read_table(out / f"{title}.parquet").to_pydict()
        assert rows == rows | {name: column.tolist() for name, column in vars(task.test).items()}
        expected, summary = scores(task.test, np.array(rows["said"])), content["tasks"][title]
        low, high = summary["intervals"]["micro"]
        assert low <= summary["scores"]["micro"] <= high
        assert summary["scores"] == pytest.approx(expected)
        assert float(table[title]["macro_f1_left"]) == pytest.approx(expected["left"])
        assert f"| {title} |" in page
        with Image.open(out / f"{title}.png") as image:
            image.verify()
    assert content["tasks"]["situated-OP"]["unknown"]["object"]["words"] == ["bat"]
    assert "situated-OP: 1 of 12 object names are unknown: bat" in page
    tex = (out / "summary.tex").read_text()
    assert (tex.count(" & "), tex.count(r"glove\_small.txt & ")) == (4 + 12 + 12, 1)


@pytest.mark.usefixtures("undrawn")
def test_tasks_are_added_and_nothing_is_done_twice(made, contents):
    out = made("random", "--task", "OP", "--set", "situated")
    assert set(json.loads((out / "summary.json").read_text())["tasks"]) == {"situated-OP"}
    before = contents(out)
    os.utime(out / "situated-OP.parquet", ns=(0, 0))
    made("random", "--task", "OP", "--set", "situated")
    assert contents(out) == before
    made("random")
    assert (out / "situated-OP.parquet").stat().st_mtime_ns == 0  # it was not written again
    assert set(json.loads((out / "summary.json").read_text())["tasks"]) == set(TASKS)
    (out / "abstract-OP.parquet").unlink()
    made("random")
    assert answers_of(load(out, FORM), "abstract-OP")[1].size


@pytest.mark.usefixtures("undrawn")
def test_other_data_is_refused(cli, files, tmp_path):
    words = ("--model", "majority", "--task", "OP", "--set", "abstract", "--out", tmp_path / "out")
    cli("probe", "physical", "--data", files, *words).succeeds()
    labels = (files / "pc/abstract.csv").read_text()
    (files / "pc/abstract.csv").write_text(labels.replace("carrot,0", "carrot,1"))
    cli("probe", "physical", "--data", files, *words).refuses("other abstract-OP data")


#: Options, and a word of the refusal.
BAD = """
--model majority --task OA --set abstract : --set
--model wisdom : majority
--model oracle9:x : oracle9:x
--model majority --as words : baseline
--model glove:GLOVE --as dreams : --as
--model glove:GLOVE --as yes-no --tune : --tune
--model hf:/nowhere/model --as finetune : /nowhere/model
--model lstm:DATA --as finetune : finetune
--model hf: : hf:
"""


@pytest.mark.parametrize("line", BAD.strip().splitlines())
def test_what_is_refused_is_named(cli, small, tmp_path, glove, line):
    options, word = line.split(" : ")
    filled = [o.replace("GLOVE", str(glove)).replace("DATA", str(small)) for o in options.split()]
    cli("probe", "physical", "--data", small, "--out", tmp_path / "out", *filled).refuses(word)


def test_where_the_data_is_had(cli, tmp_path):
    words = ("physical", "--model", "random", "--out", tmp_path / "out")
    for command in (words, ("reproduce", "forbes-table2")):
        cli("probe", *command, "--data", tmp_path).refuses("github.com/mbforbes/physical-commonsense")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("undrawn")
def test_compare(made, cli, tasks):
    a, b = made("majority", out="a"), made("random", out="b")
    differences, tests = compare(load(a, FORM), load(b, FORM))
    assert [name for name, _ in tests.rows] == list(TASKS)
    for name, cells in tests.rows:
        task = tasks[name]
        right = [said == task.test.label for _, said in (majority(task, 0), random(task, 0))]
        only = (int((right[0] & ~right[1]).sum()), int((~right[0] & right[1]).sum()))
        assert [cell.here for cell in cells[:2]] == [f"{count:,}" for count in only]
    for _, (_, f1_a, f1_b, difference, _) in differences.rows:
        expected = float(f1_a.here) - float(f1_b.here)
        assert float(difference.here) == pytest.approx(expected, abs=0.0015)
    assert "situated-AP" in cli("probe", "compare", a, b).succeeds().out
    same, tests = compare(load(a, FORM), load(a, FORM))
    assert {cells[3].here for _, cells in same.rows} == {"+0.000"}
    assert {cells[4].here for _, cells in tests.rows} == {"1"}


@pytest.mark.usefixtures("undrawn")
def test_what_cannot_be_compared(cli, made):
    a, human = made("majority", out="a"), made("human", out="human")
    one = made("random", "--task", "OA", "--set", "situated", out="one")
    abstract = made("random", "--task", "OP", "--set", "abstract", out="abstract")
    cli("probe", "compare", a, human).refuses("different items")
    cli("probe", "compare", one, abstract).refuses("no task in common")
    (a / "situated-OP.parquet").write_bytes(b"no")
    with pytest.raises(DamagedError, match=r"situated-OP\.parquet"):
        compare(load(a, FORM), load(a, FORM))


@pytest.mark.usefixtures("undrawn")
def test_reproduce_prints_ours_beside_the_papers(cli, small, made):
    run = made("majority", out="mine")
    for table in PHYSICAL.printed["forbes-table2"](small, [run]):
        rows = dict(table.rows)
        assert {"Random", "Majority", "mine", "Human"} <= set(rows)
        assert [cell.here for cell in rows["mine"][:3]] == [cell.here for cell in rows["Majority"][:3]]
        assert not any(cell.paper for cell in rows["mine"][:3])
    done = cli("probe", "reproduce", "forbes-table2", "--data", small, "--with", run).succeeds()
    assert done.out.count("6 cells are as printed") == 4
    assert done.out.count("3 drawn cells") == 4
    assert "1,024" in cli("probe", "reproduce", "forbes-table1", "--data", small).succeeds().out
    cli("probe", "reproduce", "forbes-table3", "--data", small).refuses("forbes-table3")
    cli("probe", "reproduce", "forbes-table1", "--data", small, "--with", run).refuses("forbes-table2")
