"""The search for the models' free choices: what it tries, and when a choice replaces the default."""

import importlib.util
import sys
from pathlib import Path

import pytest

from simtown.training.models import MODELS, build, options
from tests.training.towns import world


@pytest.fixture(scope="module")
def search():
    """benchmarks/search.py, which is no part of the package."""
    path = Path(__file__).parents[2] / "benchmarks" / "search.py"
    spec = importlib.util.spec_from_file_location("simtown_benchmarks_search", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_search_is_over_options_that_the_model_has(search):
    for model in set(search.SPACE) & set(MODELS):
        assert set(search.SPACE[model]) <= set(options(model, {}))
        for number in range(4):
            build(model, world(), {**options(model, {}), **search.trial(model, number).choices})


def test_trials_are_drawn_from_their_number_and_the_first_is_the_default(search):
    trials = [search.trial("pbn", number) for number in range(40)]
    assert trials == [search.trial("pbn", number) for number in range(40)]
    assert trials[0].choices.items() <= options("pbn", {}).items()


@pytest.mark.parametrize(
    ("accuracies", "best"),
    [((0.9, 0.92, 0.8), None), ((0.9, 0.91, 0.93), 2), ((0.5, 0.9, 0.7), 1), ((0.9,), None)],
)
def test_a_trial_must_beat_the_default_by_more_than_the_margin(search, accuracies, best):
    rows = [{"trial": str(i), "seed": "0", "val_accuracy": str(a)} for i, a in enumerate(accuracies)]
    assert search.challenger(rows, 0) == best
