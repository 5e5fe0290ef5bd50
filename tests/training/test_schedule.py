"""Which cell runs next: a sweep that is stopped goes on with the cells that it would have run anyway."""

from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.training import sweep
from simtown.training.plan import SizeCurve, SweepPlan, read
from simtown.training.schedule import Schedule

GRID = """
version = 1
adaptive = [0.9, 0.75]
[[grid]]
entities = [15, 5]
distractor = [false]
models = ["pbn", "cnn-lstm"]
train_sizes = [20000]
seeds = [0, 1]
[[grid]]
entities = [15]
distractor = [true]
models = ["question-only"]
train_sizes = [1000]
seeds = [0]
[[grid]]
entities = [5]
distractor = [false]
models = ["pbn"]
train_sizes = [20000]
seeds = [0, 1, 2]
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("grid") / "grid.toml"
    path.write_text(GRID)
    return read(str(path), "cpu")


def accuracy(cell):
    """A learning curve with the luck of a seed, a function of the cell; questions alone teach nothing."""
    if cell.fit.model == "question-only":
        return 0.5
    of_model = {"pbn": 40, "cnn-lstm": 300}[cell.fit.model]
    middle = of_model * cell.data.entities * (1 + 0.2 * (cell.fit.seed - 1))
    luck = (hash((cell.fit.train_size, cell.fit.seed, cell.data.entities)) % 1000 / 1000 - 0.5) * 0.1
    return 0.5 + 0.49 / (1 + (middle / cell.fit.train_size) ** 1.6) + luck


def run(plan, known, jobs, limit=10_000):
    """Run cells, `jobs` at once, until none is left or so many have ended: what is known then."""
    schedule, running, known = Schedule(plan, known), [], dict(known)
    while limit:
        while len(running) < jobs and (cell := next(schedule, None)) is not None:
            assert cell.name not in known
            running.append(cell)
        if not running:
            break
        cell = running.pop(0)
        known[cell.name] = accuracy(cell)
        schedule.ended(cell, known[cell.name])
        limit -= 1
    return known


def test_every_search_ends_and_the_first_target_comes_first(plan):
    known = run(plan, {}, 1)
    schedule = Schedule(plan, known)
    assert next(schedule, None) is None
    searches = list(schedule.searches())
    assert [schedule.next_size(*search) for search in searches] == [None] * 2 * len(plan.curves)
    assert len(known) < len(plan.cells) / 2
    first = SweepPlan(plan.preset, plan.cells, plan.targets[:1], plan.curves)
    only = run(first, {}, 1)
    assert list(known)[: len(only)] == list(only)
    assert "pbn, 15 entities, 0.9: between" in schedule.describe(0.9, plan.curves[0])


@settings(max_examples=30)
@given(st.integers(1, 7), st.lists(st.tuples(st.integers(1, 12), st.integers(1, 7)), max_size=20))
def test_a_sweep_that_is_stopped_ends_with_the_same_cells(plan, jobs, sittings):
    whole = run(plan, {}, 1)
    known = {}
    for limit, at_once in sittings:
        known = run(plan, known, at_once, limit)
    assert run(plan, known, jobs) == whole


def test_models_do_not_wait_for_each_other_and_what_decides_comes_first(plan):
    schedule = Schedule(plan, {})
    taken = [next(schedule, None) for _ in range(5)]
    models = ["pbn", "pbn", "cnn-lstm", "cnn-lstm", "question-only"]
    assert [(c.fit.model, c.data.entities) for c in taken] == [(model, 15) for model in models]
    assert next(schedule, None) is None, "what follows depends on these"
    for cell in taken[:2]:
        schedule.ended(cell, accuracy(cell))
    assert next(schedule).fit.model == "pbn"


def test_a_search_whose_run_failed_is_passed_over_until_the_next_time(plan):
    schedule, broken = Schedule(plan, {}), None
    known = {}
    for cell in schedule:
        if cell.fit.model == "cnn-lstm" and broken is None:
            broken = cell
            schedule.ended(cell, None)
        else:
            known[cell.name] = accuracy(cell)
            schedule.ended(cell, known[cell.name])
    curves = [curve for _, curve in schedule.searches() if schedule.accuracies(curve)]
    worlds = {(curve.model, curve.entities) for curve in curves}
    assert ("cnn-lstm", 5) in worlds, "the model's other worlds go on"
    assert next(Schedule(plan, known)) == broken


def test_a_fixed_grid_runs_in_its_order():
    plan = read("tiny", "cpu")
    schedule = Schedule(plan, {plan.cells[1].name: 0.5})
    left = [cell for cell in plan.cells if cell != plan.cells[1]]
    assert [next(schedule, None) for _ in left] == left
    assert next(schedule, None) is None


def test_a_curve_is_known_where_all_its_seeds_are(plan):
    curve: SizeCurve = plan.curves[0]
    first, second = curve.sizes[2_000]
    schedule = Schedule(plan, {first.name: 0.7})
    assert schedule.accuracies(curve) == {}
    assert schedule.next_size(0.9, curve) == 2_000, "a size that was begun is finished first"
    schedule.ended(second, 0.8)
    assert schedule.accuracies(curve) == {2_000: pytest.approx(0.75)}


class InstantCluster:
    """A cluster that takes all pieces that there are, then ends one after the other, and remembers both."""

    def __init__(self):
        self.taken, self.ended = [], []

    def outcomes(self, function, pieces, shared, progress, card, retries):
        running = []
        while True:
            running += pieces
            if not running:
                return
            self.taken.append([cell.name for cell in running])
            cell = running.pop(0)
            self.ended.append(cell.name)
            yield cell, {"test": {"accuracy": accuracy(cell)}}


def test_a_cluster_gets_all_cells_that_can_begin_and_ends_with_the_same_cells(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "generate", lambda *_, **more: None)
    cluster = InstantCluster()
    outcome = sweep.Sweep(plan, tmp_path).run(1, Mock(), cluster)
    assert len(cluster.taken[0]) == 5, "every model's first size with every seed"
    assert len(set(cluster.ended)) == len(cluster.ended) == outcome.now
    assert outcome.failed == {}
    assert set(cluster.ended) == set(run(plan, {}, 1))
