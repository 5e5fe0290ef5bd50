"""Presets: which runs a sweep is made of."""

from itertools import product
from pathlib import Path

import pytest

from simtown.complexity.size_search import ladder
from simtown.datasets.frequency_tables import tables_of
from simtown.training.models import options
from simtown.training.plan import PRESETS, read
from simtown.training.sweep import dataset_path

WHOLE = """
version = 1
size = "64x32"
[[grid]]
entities = [5, 3]
distractor = [false, true]
models = ["pbn", "cnn-lstm"]
train_sizes = [20, 100]
seeds = [0, 4]
[[grid]]
entities = [5]
distractor = [false]
models = ["pbn"]
train_sizes = [10, 20]
seeds = [0]
[fit]
min_steps = 400
patience = 3
[data]
val = 50
relations = ["left of", "behind"]
"""


def write(tmp_path, text):
    (tmp_path / "mine.toml").write_text(text)
    return str(tmp_path / "mine.toml")


@pytest.fixture
def plan(tmp_path):
    return read(write(tmp_path, WHOLE), "cpu")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_of_the_package_is_a_plan(preset):
    plan = read(preset, "cpu")
    names = [cell.name for cell in plan.cells]
    assert len(set(names)) == len(names) > 0
    assert {cell.fit.model for cell in plan.cells} >= {"pbn", "cnn-lstm"}
    assert plan.preset == preset
    assert all(cell.fit.options == options(cell.fit.model, {}) for cell in plan.cells)
    assert {cell.fit.precision for cell in plan.cells} <= {"float32", "bf16"}, "never auto"


@pytest.mark.parametrize("name", ["lr", "learning_rate"])
def test_a_setting_of_a_run_has_the_name_of_its_option_or_of_its_field(name, tmp_path):
    plan = read(write(tmp_path, WHOLE.replace("patience = 3", f"{name} = 0.02")), "cpu")
    assert {cell.fit.learning_rate for cell in plan.cells} == {0.02}


def test_the_papers_grid_is_the_papers():
    plan = read("paper", "cuda")
    sizes = (250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000)
    seeds = {cell.fit.seed for cell in plan.cells}
    grid = set(product((5, 15, 31, 60), (False, True), ("pbn", "cnn-lstm"), sizes, seeds))
    cells = [axes(cell) for cell in plan.cells]
    assert set(cells) == grid
    assert len(cells) == len(grid) == 4 * 2 * 2 * 10 * len(seeds)
    for data in plan.data():
        assert (data.width, data.height, data.n, data.val, data.test) == (128, 128, 60_000, 1_000, 2_000)
        assert data.relations == ("left of", "right of")
    for fit in (cell.fit for cell in plan.cells):
        assert (fit.batch, fit.learning_rate, fit.patience, fit.device) == (128, 1e-3, 10, "cuda")
    assert len(plan.data()) == 8 * len(seeds)
    assert cells[0][0] == 60, "largest worlds first"


def axes(cell):
    return cell.data.entities, cell.data.distractor, cell.fit.model, cell.fit.train_size, cell.fit.seed


def test_a_grid_is_the_product_of_its_axes_and_none_twice(plan):
    cells = [axes(cell) for cell in plan.cells]
    wanted = {(5, False, "pbn", 10, 0)}
    wanted |= set(product((5, 3), (False, True), ("pbn", "cnn-lstm"), (20, 100), (0, 4)))
    assert set(cells) == wanted
    assert len(cells) == len(wanted) == 33


def test_a_seed_has_one_data_set_a_world_as_large_as_its_largest_size(plan):
    """All models of a seed share its examples and its world, which no other seed has."""
    data = plan.data()
    wanted = set(product((5, 3), (False, True), (0, 4), (100,)))
    assert {(d.entities, d.distractor, d.seed, d.n) for d in data} == wanted
    assert len(data) == len({dataset_path(Path("out"), settings) for settings in data}) == 8
    assert {(d.width, d.height, d.val, d.relations) for d in data} == {(64, 32, 50, ("left of", "behind"))}
    for cell in plan.cells:
        seeds = (cell.data.seed, cell.data.world_seed, cell.data.test_seed)
        assert seeds == (cell.fit.seed, cell.fit.seed, 0)


@pytest.mark.parametrize(("keys", "varied"), [("same_data = true", set()), ("same_world = true", {"seed"})])
def test_seeds_may_share_a_world_or_all_data(tmp_path, keys, varied):
    text = WHOLE.replace("version = 1", f"version = 1\n{keys}").replace("[data]", "[data]\nseed = 7")
    plan = read(write(tmp_path, text), "cpu")
    by_seed = {seed: {c.data for c in plan.cells if c.fit.seed == seed} for seed in (0, 4)}
    assert {d.world_seed for d in plan.data()} == {0}
    values = {name: {getattr(d, name) for d in plan.data()} for name in ("seed", "world_seed")}
    assert {name for name, several in values.items() if len(several) > 1} == varied
    assert (by_seed[0] >= by_seed[4]) == (not varied)
    assert {(d.seed, d.test_seed) for d in plan.data()} == ({(0, 7), (4, 7)} if varied else {(7, None)})
    if not varied:
        without = write(tmp_path, text.replace(keys, ""))
        assert read(without, "cpu", same_data=True) == plan, "the option says the same"
    assert len({dataset_path(Path("out"), settings) for settings in plan.data()}) == len(plan.data())


def test_an_adaptive_plan_may_visit_every_rung_and_its_data_depend_on_the_size_alone(tmp_path):
    plan = read(write(tmp_path, WHOLE), "cpu", targets=[0.9, 0.75])
    assert plan.targets == (0.9, 0.75)
    assert [c.name for c in plan.curves][:3] == ["pbn, 5 entities", "cnn-lstm, 5 entities", "pbn, 3 entities"]
    first, last = plan.curves[0], plan.curves[-1]
    assert list(first.sizes) == list(ladder(100))
    assert list(last.sizes) == list(ladder(20))
    names = {cell.name: cell for cell in plan.cells}
    assert len(names) == len(plan.cells)
    for curve in plan.curves:
        for size, cell in ((size, cell) for size, cells in curve.sizes.items() for cell in cells):
            assert names[cell.name] == cell, "the same cell in every grid"
            assert axes(cell) == (curve.entities, curve.distractor, curve.model, size, cell.data.seed)
            assert cell.data.n >= size


def test_choices_of_fit_and_names_of_cells(plan):
    for fit in (cell.fit for cell in plan.cells):
        assert (fit.min_steps, fit.patience, fit.protocol, fit.device) == (400, 3, "patient", "cpu")
    assert plan.cells[0].name == "pbn-5-100-seed0"
    assert "cnn-lstm-3-distractor-20-seed4" in [c.name for c in plan.cells]
    last = [n for *world, _, n, seed in map(axes, plan.cells) if (*world, seed) == (3, True, 4)]
    assert last == sorted(last, reverse=True), "large sets first, so that the last to run are short"


#: What of WHOLE is replaced, by what, and a word of the refusal.
WRONG = r"""
version = 1 -> version = 2 : version
version = 1 -> version =  : line 2
seeds = [0, 4] -> seeds = [] : seeds
seeds = [0, 4] -> seeds = ["0/../../../outside"] : seeds
seeds = [0, 4] -> seeds = [0]\nsizes = [3] : sizes
[fit] -> [fit]\nstream = true : fit.stream
patience = 3 -> patience = "ten" : patience
[data] -> [data]\nweather = 1 : data.weather
version = 1 -> version = 1\nsame_world = 1 : same_world
version = 1 -> version = 1\nadaptive = [0.9, 1.0] : 1.0
entities = [5, 3] -> entities = [1] : entities
entities = [5, 3] -> entities = [2] : distractor
val = 50 -> val = 51 : val
"64x32" -> "64x32x3" : 64x32x3
"64x32" -> "2" : 2x2
"pbn", "cnn-lstm" -> "gpt" : gpt
"""


@pytest.mark.parametrize("line", WRONG.strip().splitlines())
def test_what_is_no_preset_is_refused(line, tmp_path, cli, monkeypatch):
    change, word = line.rsplit(" : ", 1)
    old, new = change.replace("\\n", "\n").split(" -> ")
    assert old in WHOLE
    path = write(tmp_path, WHOLE.replace(old, new, 1))
    monkeypatch.chdir(tmp_path)
    cli("sweep", "--preset", path, "--plan").refuses(word)
    cli("sweep", "--preset", path, "--out", "sweep").refuses(word)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.toml"]


def test_a_preset_without_a_grid_or_a_file_is_one_line(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cli("sweep", "--preset", write(tmp_path, "version = 1\n[fit]\nmin_steps = 3\n")).refuses("grid")
    cli("sweep", "--preset", "huge").refuses("huge", "paper", "small", "tiny")
    cli("sweep", "--preset", tmp_path).refuses(str(tmp_path))
    cli("sweep", "--preset", "tiny", "--jobs", 0).refuses("--jobs")


def test_a_plan_is_listed_and_nothing_else_happens(tmp_path, cli, monkeypatch, plan):
    monkeypatch.chdir(tmp_path)
    told = cli("sweep", "--preset", "mine.toml", "--device", "cpu", "--plan").succeeds().out.splitlines()
    assert told[:33] == [cell.name for cell in plan.cells]
    assert told[33] == "33 runs, 0 of them done, on 8 data sets of 800 training examples in all"
    assert told[34].startswith("at least ")
    assert all(model in told[35] for model in ("pbn ", "cnn-lstm "))
    assert [p.name for p in tmp_path.iterdir()] == ["mine.toml"]


@pytest.mark.parametrize(
    ("targets", "words"),
    [("high", ["--adaptive high", "0.9,0.75"]), ("0.9,2", ["2.0"]), ("0.5", ["0.5", "chance"])],
)
def test_targets_that_cannot_be_are_refused(targets, words, tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cli("sweep", "--preset", write(tmp_path, WHOLE), "--adaptive", targets, "--plan").refuses(*words)


def test_files_that_a_preset_names_lie_beside_it(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "kinds.csv").write_text("subject,object\n" + "1,2\n" * 20)
    (tmp_path / "paints.csv").write_text("paint,weight\nred,1\nblue,1\n")
    template = 'program = "exist(1)"\nslots = ["set"]\ntexts = ["Is {a 1} there?"]\n'
    (tmp_path / "own.toml").write_text(f'[there]\nanswer = "truth"\n[[there.templates]]\n{template}')
    text = (
        WHOLE.replace('"pbn"', '"question-only"').replace(', "cnn-lstm"', "").replace("false, true", "false")
    )
    text += 'frequencies = "kinds.csv"\npaint = "paints.csv"\nquestions = ["exist", "own.toml"]\n'
    for data in read(write(tmp_path, text), "cpu").data():
        assert data.questions == ("exist", "there")
        assert tables_of(data).paint.max() == 0.5
        assert data.frequencies == str(tmp_path / "kinds.csv")
