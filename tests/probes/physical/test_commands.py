"""simtown probe physical, compare, reproduce: what they write, and what they refuse."""

import csv
import json
import os
import shutil

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install '.[probes]'")
pytest.importorskip("matplotlib", reason="needs matplotlib: pip install '.[probes]'")

from PIL import Image  # noqa: E402

from simtown.probes.physical import baselines, compare, figures, metrics, published, reproduce, results, tasks  # noqa: E402
from tests.probes.physical.world import OBJECTS, PROPERTIES, VERBS  # noqa: E402

TITLES = {"abstract-OP", "situated-OP", "situated-OA", "situated-AP"}


@pytest.fixture(scope="session")
def glove(tmp_path_factory):
    """Word vectors of the small world, in GloVe's format, but for one word."""
    words = (
        [o.rpartition("_")[2] for o in OBJECTS]
        + [p[1] for p in PROPERTIES.values()]
        + [v for v in VERBS if v != "peel"]
    )
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("glove") / "glove_small.txt"
    path.write_text(
        "".join(
            f"{w} {' '.join(f'{x:.4f}' for x in random.normal(size=8))}\n"
            for w in dict.fromkeys(words)
            if w != "bat"
        )
    )
    return path


@pytest.fixture
def undrawn(monkeypatch):
    """Studies draw no figures, which take most of the time of a small one."""
    monkeypatch.setattr(figures, "figure2", lambda task, model, summary, data, path: path.write_bytes(b""))


@pytest.fixture
def made(cli, small, tmp_path):
    """made(model, *options): a directory of results."""

    def make(model, *options, out="out"):
        cli(
            "probe", "physical", "--data", small, "--model", model, "--out", tmp_path / out, *options
        ).succeeds()
        return tmp_path / out

    return make


def test_everything_is_written(made, glove, small, release):
    out = made(f"glove:{glove}", "--head", "logistic")
    files = {
        "summary.json",
        "summary.csv",
        "summary.md",
        "summary.tex",
        *(f"{t}{end}" for t in TITLES for end in (".parquet", ".png")),
    }
    assert {p.name for p in out.iterdir()} == files
    content = json.loads((out / "summary.json").read_text())
    with open(out / "summary.csv", newline="") as file:
        table = {row["task"]: row for row in csv.DictReader(file)}
    for place, name in tasks.ALL:
        task = tasks.build(release, place, name)
        rows = pq.read_table(out / f"{task.title}.parquet").to_pydict()
        assert rows["left"] == [task.lefts[i] for i in task.test.left]
        assert rows["right"] == [task.rights[i] for i in task.test.right]
        assert rows["object"] == [task.groups[i] for i in task.test.group]
        assert rows["label"] == task.test.label.tolist()
        expected = metrics.scores(task.test, np.array(rows["said"]))
        found = content["tasks"][task.title]
        assert found["scores"]["micro"] == pytest.approx(expected.micro)
        assert found["intervals"]["micro"][0] <= found["scores"]["micro"] <= found["intervals"]["micro"][1]
        assert float(table[task.title]["macro_f1_left"]) == pytest.approx(expected.left)
        assert f"| {task.title} |" in (out / "summary.md").read_text()
        with Image.open(out / f"{task.title}.png") as image:
            image.verify()
    assert content["tasks"]["situated-OP"]["unknown"]["object"]["words"] == ["bat"]
    tex = (out / "summary.tex").read_text()
    assert r"glove\_small.txt & " in tex
    assert tex.count(" & ") == 4 + 12 + 12


@pytest.mark.usefixtures("undrawn")
def test_unknown_words_are_told(cli, small, glove, tmp_path):
    done = cli(
        "probe",
        "physical",
        "--data",
        small,
        "--model",
        f"glove:{glove}",
        "--out",
        tmp_path / "out",
        "--task",
        "OP",
    ).succeeds()
    assert "situated-OP: 1 words unknown, of 12 object names: bat" in done.out


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
    assert set(json.loads((out / "summary.json").read_text())["tasks"]) == TITLES


@pytest.mark.usefixtures("undrawn")
def test_other_settings_are_refused_by_name(cli, made, small, tmp_path, contents):
    out = made("random", "--task", "OP")
    before = contents(out)
    done = cli("probe", "physical", "--data", small, "--model", "random", "--seed", 1, "--out", out)
    done.refuses("seed 0, now 1", "another")
    assert contents(out) == before


@pytest.mark.usefixtures("undrawn")
def test_another_release_is_refused(cli, made, files):
    out = made("majority", "--task", "OP")
    text = (files / "pc/abstract.csv").read_text().replace("carrot,0", "carrot,1")
    (files / "pc/abstract.csv").write_text(text)
    cli("probe", "physical", "--data", files, "--model", "majority", "--out", out).refuses("data ", "another")


@pytest.mark.usefixtures("undrawn")
def test_another_model_at_the_same_path_is_refused(cli, made, small, glove, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_bytes(glove.read_bytes())
    out = made(f"glove:{vectors}", "--head", "logistic", "--task", "OP", "--set", "situated")
    vectors.write_text("".join(f"{line}1\n" for line in glove.read_text().splitlines()))
    words = ("--model", f"glove:{vectors}", "--head", "logistic", "--out", out)
    cli("probe", "physical", "--data", small, *words).refuses("weights ", "another")


def test_a_foreign_directory_is_left_alone(cli, small, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    done = cli("probe", "physical", "--data", small, "--model", "random", "--out", tmp_path / "mine")
    done.refuses("thesis.tex", "did not make")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


BAD = [
    (("--model", "majority", "--task", "OA", "--set", "abstract"), ("no task OA", "situated")),
    (("--model", "majority", "--task", "PO"), ("no task PO",)),
    (("--model", "majority", "--set", "imagined"), ("imagined",)),
    (("--model", "wisdom"), ("unknown model 'wisdom'", "majority")),
    (("--model", "oracle9:x"), ("names no model",)),
    (("--model", "majority", "--as", "words"), ("baseline",)),
    (("--model", "majority", "--head", "svm"), ("--head svm", "mlp, logistic")),
    (("--model", "majority", "--protocol", "mine"), ("--protocol mine", "paper, release, corrected")),
    (("--model", "majority", "--seed", "-1"), ("--seed",)),
    (("--model", "glove:GLOVE", "--as", "dreams"), ("--as dreams",)),
    (("--model", "glove:GLOVE", "--as", "tokens"), ("no vectors of text",)),
    (("--model", "glove:GLOVE", "--as", "yes-no"), ("answers no question",)),
    (("--model", "glove:GLOVE", "--as", "yes-no", "--tune"), ("tune",)),
    (("--model", "glove:/nowhere/vectors.txt"), ("/nowhere/vectors.txt",)),
    (("--model", "hf:/nowhere/model"), ("/nowhere/model",)),
    (("--model", "hf:/nowhere/model", "--as", "finetune"), ("/nowhere/model",)),
    (("--model", "hf:DATA", "--as", "finetune"), ("holds no model of this kind (no config.json)",)),
    (("--model", "lstm:DATA", "--as", "finetune"), ("cannot be fine-tuned",)),
    (("--model", "hf:"), ("unknown model 'hf:'",)),
]


@pytest.mark.parametrize(("options", "words"), BAD)
def test_one_clear_line(cli, small, tmp_path, glove, options, words):
    filled = [o.replace("GLOVE", str(glove)).replace("DATA", str(small)) for o in options]
    done = cli("probe", "physical", "--data", small, "--out", tmp_path / "out", *filled)
    done.refuses(*words)


def test_where_the_data_is_had(cli, tmp_path):
    for words in (
        ("physical", "--model", "random", "--out", tmp_path / "out"),
        ("reproduce", "forbes-table2"),
    ):
        cli("probe", *words, "--data", tmp_path).refuses("github.com/mbforbes/physical-commonsense", "data")
    assert not (tmp_path / "out").exists()


def test_damaged_data_is_exit_code_1(cli, files, tmp_path):
    (files / "pc/abstract.csv").write_text(
        (files / "pc/abstract.csv").read_text().replace("carrot,0", "carrot,9")
    )
    cli("probe", "reproduce", "forbes-table1", "--data", files).refuses("row 5", "column a_tool", code=1)


@pytest.mark.usefixtures("undrawn")
def test_compare(made, cli, release):
    a, b = made("majority", out="a"), made("random", out="b")
    found = {c.title: c for c in compare.compare(a, b)}
    assert set(found) == TITLES
    for place, name in tasks.ALL:
        task = tasks.build(release, place, name)
        one = found[task.title]
        right = [said == task.test.label for said in (baselines.majority(task), baselines.random(task, 0))]
        assert (one.test.only_a, one.test.only_b) == (
            int((right[0] & ~right[1]).sum()),
            int((~right[0] & right[1]).sum()),
        )
        middle, low, high = one.difference["micro"]
        assert middle == pytest.approx(one.a["micro"] - one.b["micro"])
        assert low <= high
        assert one.adjusted >= one.test.plain - 1e-12
    done = cli("probe", "compare", a, b).succeeds()
    assert "situated-AP" in done.out
    same = compare.compare(a, a)
    assert all(c.difference["micro"] == (0, 0, 0) and c.test.exact == 1 for c in same)


@pytest.mark.usefixtures("undrawn")
def test_what_cannot_be_compared(cli, made, tmp_path):
    a, human, one = (
        made("majority", out="a"),
        made("human", out="human"),
        made("random", "--task", "OA", "--set", "situated", out="one"),
    )
    cli("probe", "compare", a, human).refuses("different items")
    cli("probe", "compare", a, tmp_path).refuses("holds no results")
    abstract = made("random", "--task", "OP", "--set", "abstract", out="abstract")
    cli("probe", "compare", one, abstract).refuses("no task in common")
    (a / "situated-OP.parquet").write_bytes(b"no")
    cli("probe", "compare", a, a).refuses("situated-OP.parquet", "damaged", code=1)
    (a / "summary.json").write_text("{")
    cli("probe", "compare", a, a).refuses("summary.json is damaged", code=1)
    (a / "summary.json").write_text('{"format": "other", "schema": 1, "tasks": {}}')
    cli("probe", "compare", a, a).refuses("was not made by")


@pytest.mark.usefixtures("undrawn")
def test_reproduce_prints_ours_beside_the_papers(cli, small, made, release):
    run = made("majority", out="mine")
    rows = {r.name: r for r in reproduce.table2(release, [run])}
    assert set(rows) == {"Random", "Majority", "mine", "Human"}
    for title in TITLES:
        for part in ("left", "right", "micro"):
            assert rows["mine"].cells[title, part].here == rows["Majority"].cells[title, part].here
            assert not rows["mine"].cells[title, part].paper
    best = max(("Random", "Majority"), key=lambda name: rows[name].cells["situated-AP", "micro"].here)
    assert ("situated-AP" in rows["mine"].stars) is (best == "Random")
    done = cli("probe", "reproduce", "forbes-table2", "--data", small, "--with", run).succeeds()
    assert "mine" in done.out
    assert "24 cells are as printed" in done.out
    assert "12 cells of coin tosses" in done.out
    done = cli("probe", "reproduce", "forbes-table1", "--data", small).succeeds()
    assert "1,024" in done.out
    cli("probe", "reproduce", "forbes-table3", "--data", small).refuses("forbes-table3")
    cli("probe", "reproduce", "forbes-table1", "--data", small, "--with", run).refuses("runs")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.6647727, "0.67"), (0.6644, "0.66"), (0.0465, "0.05"), (0.80, "0.80"), (1.0, "1.00")],
)
def test_numbers_are_rounded_as_the_paper_rounds(value, text):
    assert published.printed(value) == text


def test_a_swarm_keeps_points_apart():
    random = np.random.default_rng(0)
    values = np.concatenate([random.random(80), np.zeros(60), np.ones(20)])
    places = figures._swarm(values, 0.025, 0.8)
    assert np.abs(places).max() <= 0.4
    for level in (0.0, 1.0):
        inside = places[values == level]
        assert len(set(np.round(inside, 9))) == len(inside)


@pytest.mark.parametrize("model", ["majority", "random", "human"])
def test_figures_of_every_shape(made, model):
    """Constant scores and few points too."""
    out = made(model)
    sizes = {}
    for title in TITLES:
        with Image.open(out / f"{title}.png") as image:
            sizes[title] = image.size
            assert len(image.convert("RGB").getcolors(1 << 20)) > 20
    assert sizes["situated-AP"][1] > sizes["situated-OP"][1]


@pytest.mark.usefixtures("undrawn")
def test_a_record_that_went_missing_is_made_again(made):
    out = made("random", "--task", "OP", "--set", "abstract")
    (out / "abstract-OP.parquet").unlink()
    made("random", "--task", "OP", "--set", "abstract")
    assert results.decisions(out, "abstract-OP").said.size


def test_it_runs_on_its_own(shell, small, tmp_path):
    done = shell(
        "probe", "physical", "--data", small, "--model", "majority", "--out", tmp_path / "out"
    ).succeeds()
    assert "| situated-AP |" in done.out
    shutil.rmtree(tmp_path / "out")
