"""docs/models.md: its table is that of the committed results; it names every model and all its options."""

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest

from simtown.language.questions import LENGTH, vocabulary
from simtown.training.models import MODELS, build, options
from simtown.training.world import World

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def costs():
    """The rows of benchmarks/results/models.csv by model and size."""
    with open(ROOT / "benchmarks" / "results" / "models.csv", newline="", encoding="utf-8") as file:
        return {(row["model"], row["size"]): row for row in csv.DictReader(file)}


def test_the_table_is_that_of_the_results():
    rows = costs()
    assert {model for model, _ in rows} == set(MODELS)
    for model in MODELS:
        small, large = rows[model, "64x32"], rows[model, "128x128"]
        counts = f"{int(small['parameters']):,} | {int(small['operations']) / 1e6:.1f}"
        speeds = f"{int(small['images_per_second']):,} | {int(large['images_per_second']):,}"
        assert f"| `{model}` | {counts} | {speeds} |" in PAGE.splitlines()


@pytest.mark.parametrize("model", MODELS)
def test_the_results_count_the_parameters_that_the_models_have(model):
    rows = costs()
    for width, height in ((64, 32), (128, 128)):
        made = build(model, World(31, width, height, len(vocabulary())), {})
        count = sum(p.numel() for p in made.parameters())
        assert int(rows[model, f"{width}x{height}"]["parameters"]) == count


def test_the_operations_of_the_cnn_lstm_by_hand():
    cells = (32 * 16, 16 * 8, 8 * 4)
    filters = zip(cells, pairwise((3, 20, 50, 100)), strict=True)
    convolutions = sum(n * 9 * before * after for n, (before, after) in filters)
    units = pairwise((8 * 4 * 100 + 128, 128, 100, 50, 25, 25, 4, 1))
    perceptron = sum(before * after for before, after in units)
    lstm = LENGTH * (64 + 128) * 4 * 128
    assert int(costs()["cnn-lstm", "64x32"]["operations"]) == convolutions + perceptron + lstm


@pytest.mark.parametrize("model", MODELS)
def test_the_page_names_every_model_and_its_options(model):
    assert f"| `{model}` |" in PAGE
    section = [part for part in re.split("^## ", PAGE, flags=re.M) if f"`{model}`" in part.split("\n")[0]]
    if model != "question-only":
        assert len(section) == 1
        assert [name for name in options(model, {}) if f"`{name}`" not in section[0]] == []
