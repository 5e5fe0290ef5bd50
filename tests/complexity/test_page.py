"""The tables of pages are made from committed results, and what sentences say of results and code is so."""

from itertools import product

import numpy as np
import pytest

from benchmarks import visible
from benchmarks.search import MARGIN
from simtown.assets.frequencies import frequencies
from simtown.complexity.cell_table import TABLE
from simtown.complexity.finished_runs import Run, keep_complete_sizes
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking import paper
from simtown.language.meaning.relations import RELATIONS
from simtown.scenes.placement import GAP, LEAST_VISIBLE
from simtown.training import early_stopping, fit, models
from simtown.training.fit_settings import FitSettings
from tests.language.parts import unchanged
from tools import pages
from tools.cells import commits_of
from tools.parts import beside, conditions
from tools.parts.quantities import differences, quantity
from tools.parts.results import LITERAL, MAIN_GRID, Results

SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000)


@pytest.fixture(scope="module")
def results():
    return Results(pages.RESULTS)


def test_every_page_is_what_the_committed_results_say(results, monkeypatch):
    monkeypatch.setattr(pages, "Results", lambda folder: results)
    assert pages.main(["--check"]) == 0, "run python -m tools.pages"
    assert {page.name for page in pages.pages()} >= {"README.md", "sample-complexity.md"}


def test_a_table_and_a_number_that_were_changed_by_hand_are_found(tmp_path, monkeypatch, capsys):
    page = tmp_path / "README.md"
    table = "<!-- made by: python -m tools.pages shares -->\n\n| 5 | 0.99 |\n\n<!-- end -->\n"
    drawn = "the 17<!-- = hero --> m"
    page.write_text(f"before\n\n{table}with 3 of 2<!-- = replays, fixed, found -->\n{drawn}")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "draw", lambda results, folder: None)
    assert pages.main(["--check"]) == 1
    assert "stale" in capsys.readouterr().out
    assert "0.99" in page.read_text()
    assert pages.main([]) == 1
    assert "should end with '2 of 2'" in capsys.readouterr().out
    assert "0.99" not in page.read_text()
    assert "the 18<!-- = hero --> m" in page.read_text()  # a number alone is written, a phrase is not
    page.write_text(page.read_text().replace("3 of 2", "2 of\n2"))
    assert pages.main(["--check"]) == 0


def test_links_to_the_repository_follow_its_owner():
    text = "https://github.com/OWNER/simtown/issues https://OWNER.github.io/simtown https://github.com/a/b"
    assert pages.linked(text, "town-hall") == text.replace("OWNER", "town-hall")
    badge = "https://colab.research.google.com/github/OWNER/simtown/blob/main/examples/colab.ipynb"
    assert pages.linked(badge, "me") == badge.replace("OWNER", "me")


def test_a_measured_number_is_of_one_line_and_names_its_machine(results):
    name = "measured, render, fps, size=128"
    with pytest.raises(ValueError, match="too many values"):
        quantity(results, name)
    one, two = (quantity(results, f"{name}, engine={threads}") for threads in ("1 thread", "2 threads"))
    assert one != two
    assert quantity(results, "machine, render") == "AMD EPYC, 2 cores"


def test_a_sentence_gives_no_interval_without_a_name(results):
    named = "2 of 2<!-- = replays, fixed, found -->"
    assert not list(differences(f"{named} and (2 sizes to 3)", results))
    for interval in ("(16 to 49)", "(at least 10)", "(at most 2.5)", "(-0.59 to -0.21)"):
        (problem,) = differences(f"{named} and 27 {interval} times", results)
        assert interval in problem
    with pytest.raises(KeyError):
        quantity(results, "height, cnn-lstm, 5")


def test_a_name_finds_its_number(results):
    report, literal = results.report(MAIN_GRID), results.report(LITERAL)
    for findings, grid in ((report, ""), (literal, f", {LITERAL}")):
        for x in findings.ratios:
            if (x.upper, x.target, x.rule) == ("cnn-lstm", 0.9, "isotonic"):
                name = f"ratio, cnn-lstm, {x.entities}{', distractor' * x.distractor}{grid}"
                assert quantity(results, name) == str(x)
    assert quantity(results, "count, cells") == str(len(commits_of(pages.RESULTS / MAIN_GRID / TABLE)))


def test_a_grid_that_is_running_counts_with_the_seeds_that_leave_most_runs():
    def run(n, seed):
        return Run("pbn", 5, False, n, seed, "t", np.ones(10, dtype=bool))

    three = [run(n, seed) for n in (100, 200, 500) for seed in (0, 1, 2)]
    assert keep_complete_sizes([*three, run(100, 3), run(100, 4), run(300, 0)]) == three
    five = [run(n, seed) for n in (100, 200, 500) for seed in range(5)]
    assert keep_complete_sizes([*five, run(1000, 0), run(1000, 1)]) == five


def test_the_command_prints_the_numbers_of_the_pages(tmp_path, cli):
    words = "complexity", pages.RESULTS / MAIN_GRID, "--targets", 0.9, "--out", tmp_path / "out"
    printed = [" ".join(line.split()) for line in cli(*words).succeeds().out.splitlines()]
    readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
    panel = readme.partition("tools.pages panel")[2].partition("<!-- end -->")[0]
    rows = [line.strip("| ").split(" | ") for line in panel.splitlines() if line[2:3].isdigit()]
    assert len(rows) > 3
    for kinds, *needs, _ in rows:
        for model, need in zip(("cnn-lstm", "film", "pbn"), needs, strict=True):
            assert need == "–" or any(line.startswith(f"{model} {kinds} 0.9 {need} ") for line in printed)


@pytest.mark.parametrize(
    ("other", "again", "choice"),
    [
        ([0.91, 0.915], [], "the defaults"),
        ([0.91, 0.95], [(0, 0.90), (2, 0.91)], "the defaults"),
        ([0.91, 0.95], [(0, 0.90), (2, 0.93)], "trial 2"),
    ],
)
def test_the_search_chooses_by_its_rule(other, again, choice):
    trials = [(trial, 0, value) for trial, value in enumerate([0.90, *other])]
    trials += [(trial, 1, value) for trial, value in again]
    rows = [{"trial": str(t), "seed": str(s), "val_accuracy": str(v)} for t, s, v in trials]
    assert beside.chosen(rows) == choice


# Conditions


def runs_of(needs, seeds):
    """Runs of the given needs at 90 %, by (model, entities); a seed moves them by 3 %."""
    runs = []
    for ((model, entities), need), n, seed in product(needs.items(), SIZES, range(seeds)):
        distance = np.log(n / need) + 0.03 * (seed - (seeds - 1) / 2)
        accuracy = 0.5 + 0.49 / (1 + np.exp(-2 * distance - np.log(0.4 / 0.09)))
        correct = np.arange(2000) < round(2000 * accuracy)
        runs.append(Run(model, entities, False, n, seed, f"{entities} {seed}", correct, seed, seed))
    return runs


def test_a_condition_is_a_line_beside_the_published_grid(tmp_path):
    needs = {
        MAIN_GRID: {("pbn", 5): 200, ("pbn", 31): 1000, ("cnn-lstm", 5): 5000},
        "skew/uniform": {("pbn", 5): 200, ("pbn", 31): 1000},
        "skew/zipf-2": {("pbn", 5): 400, ("pbn", 31): 8000},
    }
    results = Results(tmp_path)
    # the main grid has five seeds, of which the first three are compared
    results.runs = lambda folder: runs_of(needs[folder], 5 if folder == MAIN_GRID else 3)
    lines = conditions.compared(results, conditions.COMPARISONS["skew"]).splitlines()
    head, _, few, many, _, difference = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    assert head == ["kinds", "Uniform", "Visual Genome", "Zipf 2"]
    uniform, published, zipf = few[1:]
    assert "×" not in uniform
    assert "; × 1 (" in published
    assert 1.8 < float(zipf.split("× ")[1].split()[0]) < 2.2
    assert 7 < float(many[3].split("× ")[1].split()[0]) < 9
    assert difference[1] == "–"
    difference = difference[3]
    assert abs(float(difference.split()[0]) - np.log(4) / np.log(31 / 5)) < 0.1
    assert difference.endswith(", decided")


def test_hidden_vehicles_cost_what_the_answers_to_questions_about_them_say(tmp_path):
    def answered(n, seed):
        """Three hundreds of questions, right in half the cases until 200, 1,000 and 2,000 examples."""
        share = np.repeat([n / 200, n / 1000, n / 2000], 300)
        correct = np.arange(900) % 10 < np.where(share >= 1, 10, 5)
        return Run("pbn", 5, False, n, seed, "t", correct, seed, seed)

    results = Results(tmp_path)
    other = Run("pbn", 5, False, 100, 0, "a test set that was not made again", np.ones(8, dtype=bool))
    results.runs = lambda folder: [*(answered(n, s) for n in SIZES for s in range(3)), other]
    percent = bytes([100] * 300 + [99, 70] * 150 + [69, 40] * 150).hex()
    (tmp_path / "visible.csv").write_text(f"test_id,entities,percent\nt,5,{percent}\n")
    rows = conditions.COMPARISONS["visible-pbn"].report(results).rows
    assert {row.model: (row.samples, row.items) for row in rows if row.rule == "smallest"} == {
        "all": (2000, 900),
        "wholly visible": (200, 300),
        "70 to 99 % visible": (1000, 300),
        "40 to 69 % visible": (2000, 300),
    }


def test_every_test_set_of_the_grid_without_a_distractor_was_made_again(results):
    known = {line["test_id"] for line in results.csv("visible.csv")}
    missing = {run.test_id for run in results.runs(MAIN_GRID) if not run.distractor} - known
    assert not missing, "run python benchmarks/visible.py"


@pytest.mark.slow
def test_a_test_set_that_is_made_again_is_what_the_runs_saw(results):
    line = next(line for line in results.csv("visible.csv") if line["entities"] == "5")
    data = next(run["data"] for run, _ in results.cells() if run["data"]["test_id"] == line["test_id"])
    assert {name: str(value) for name, value in visible.made_again(line["test_id"], data).items()} == line
    with pytest.raises(ValueError, match="draws other test examples"):
        visible.made_again(line["test_id"], data | {"seed": 7, "world_seed": 7})


# What the pages say of the code


def test_the_pages_name_the_numbers_of_the_code():
    folder = pages.ROOT / "docs" / "reproduce"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("sample-complexity*.md"))]
    page = " ".join(" ".join(texts).split())
    pbn, cnn_lstm = models.options("pbn", {}), models.options("cnn-lstm", {})
    for words in (
        f"{100 * GAP:.0f} cm from the next, {100 * LEAST_VISIBLE:.0f} % of it visible at least",
        f"less than {RELATIONS[0].margin} m apart sideways",
        f"after {FitSettings.min_steps:,} steps",
        f"at least {early_stopping.CLOSEST} steps lie between two validations",
        f"up to {fit.RESTARTS} times",
        f"with rate {pbn['dropout']}",
        f"smooth L1, weight {pbn['box_weight']:.0f}",
        f"embeddings of {pbn['embedding']}, hidden layers of {pbn['hidden']} and {pbn['hidden']}",
        f"word embeddings of {cnn_lstm['embedding']}",
        f"more than {100 * MARGIN:.0f} points",
        f"{FitSettings.patience} validations without better accuracy",
    ):
        assert words in page
    assert pbn["dropout"] == cnn_lstm["dropout"]
    assert pbn["predicate"] == pbn["embedding"]


def test_the_check_of_a_distractor_can_reject_nothing():
    """Wherever the third vehicle of a sampled scene were to stand."""
    relations = ("left of", "right of", "in front of", "behind")
    settings = Settings(entities=3, distractor=True, relations=relations)
    examples = paper.sample(source_of(settings).recipe("train"), np.arange(60))
    scene, pose = examples.scene, np.repeat(examples.scene.pose, 20, axis=0)
    pose[:, 2, :2] = np.random.default_rng(0).uniform([-6, -2], [6, 2], (len(pose), 2))
    question = scene.camera, examples.subject, examples.object, examples.relation
    asked = (np.repeat(array, 20, axis=0) for array in question)
    assert unchanged(np.repeat(scene.entity, 20, axis=0), pose, *asked).all()


def test_most_literal_no_questions_would_name_an_absent_kind():
    """Drawn as section 2.2 says: a scene of two kinds, then questions of equation 5 until one is false."""
    subject, obj = frequencies("vg", 5)
    draw = np.random.default_rng(0)
    n = 4000
    scene = np.stack([draw.choice(5, n, p=subject), draw.choice(5, n, p=obj)], axis=1)
    scene = scene[scene[:, 0] != scene[:, 1]]
    absent = np.zeros(len(scene), dtype=bool)
    unanswered = np.arange(len(scene))
    while len(unanswered):
        count = len(unanswered)
        asked = np.stack([draw.choice(5, count, p=subject), draw.choice(5, count, p=obj)], axis=1)
        both = (np.sort(asked, axis=1) == np.sort(scene[unanswered], axis=1)).all(axis=1)
        false = ~both | (draw.random(count) < 0.5)  # about the two of the scene, half of them are false
        present = (asked[:, :, None] == scene[unanswered][:, None]).any(axis=2).all(axis=1)
        absent[unanswered[false]] = ~present[false]
        unanswered = unanswered[~false]
    assert absent.mean() == pytest.approx(beside.absent(subject, obj), abs=0.02)
