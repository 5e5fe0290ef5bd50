"""The report's files."""

import csv
import json
from dataclasses import replace

import pytest

from simtown.complexity.estimate import estimate
from simtown.complexity.finished_runs import read_and_count
from simtown.complexity.need_report import report, write_tables
from simtown.complexity.quantities import SMALLEST
from simtown.core.console import PlainConsole
from tests.complexity.simulated import SIZES, exact, simulate, store


def test_runs_are_found_at_any_depth_once_and_unfinished_ones_counted(tmp_path):
    runs = simulate({("pbn", 5): 900.0}, seeds=2)
    for i, run in enumerate(runs):
        store(tmp_path / "sweep" / f"d{i % 3}" / str(i), run)
    begun = replace(runs[0], train_size=77)
    store(tmp_path / "sweep" / "late", begun, status="running")
    store(tmp_path / "sweep" / "broken", begun, status="failed")
    store(tmp_path / "sweep" / "finished elsewhere", runs[0], status="running")
    store(tmp_path / "sweep" / "foreign", runs[0], format="wandb")
    found = read_and_count(
        [tmp_path / "sweep", tmp_path / "sweep" / "d0", tmp_path / "sweep" / "d1" / "1" / "run.json"]
    )[0]
    assert sorted(map(repr, found)) == sorted(map(repr, runs))
    result = report([tmp_path / "sweep"], tmp_path / "out", replicates=40)
    assert result.skipped == {"failed": 1, "running": 1}
    assert result.runs == len(runs)
    names = {"complexity.md", "complexity.csv", "complexity.json", "samples.png", "learning.png"}
    names |= {f"complexity-{part}.csv" for part in ("exponents", "ratios", "additions", "accuracies")}
    assert {p.name for p in (tmp_path / "out").iterdir()} == names
    with open(tmp_path / "out" / "complexity.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(result.rows) == 4 * 2
    assert "1 failed, 1 running" in (tmp_path / "out" / "complexity.md").read_text()
    assert [set(line) for line in result.table()] == [
        {"model", "entities", "distractor", "seeds", "interval over"}
        | {target + column for target in ("0.75", "0.85", "0.9", "0.95") for column in ("", SMALLEST)}
    ]


def test_one_seed_is_said_to_cover_items_only(tmp_path):
    found = estimate(simulate({("pbn", 5): 900.0}, seeds=1), replicates=40)
    assert {r.interval_over for r in found.rows} == {"items only"}
    assert found.table()[0]["interval over"] == "items only (too narrow)"
    write_tables(found, tmp_path)
    assert "covers the choice of test items only" in (tmp_path / "complexity.md").read_text()
    assert {
        r.interval_over for r in estimate(simulate({("pbn", 5): 900.0}, seeds=2), replicates=40).rows
    } == {"seeds and items"}


def section(page, title):
    return next(part for part in page.split("\n## ") if part.startswith(title))


def test_json_tells_what_is_censored(tmp_path):
    runs = [exact("pbn", 5, n, a) for n, a in zip(SIZES, (0.96, 0.97, 0.98, 0.98, 0.98, 0.98), strict=True)]
    runs += [exact("cnn-lstm", 5, n, a) for n, a in zip(SIZES, (0.5, 0.5, 0.5, 0.5, 0.55, 0.6), strict=True)]
    write_tables(estimate(runs, replicates=40, targets=(0.75, 0.9)), tmp_path)
    told = json.loads((tmp_path / "complexity.json").read_text())
    assert {(r["model"], r["samples"], r["samples_state"]) for r in told["rows"]} == {
        ("pbn", None, "left-censored"),
        ("cnn-lstm", None, "right-censored"),
    }
    page = (tmp_path / "complexity.md").read_text()
    assert "Note: cnn-lstm reached no target in any world" in page
    assert "## Exponent" not in page
    assert "## Ratio" not in page
    assert "No exponent, because two worlds that are not censored are needed: pbn at 0.75, 0.9." in page


def test_tables_of_exponents_and_ratios_hold_only_what_tells_something(tmp_path):
    jump, law = (0.5, 0.5, 0.5, 0.96, 0.97, 0.98), (0.6, 0.72, 0.81, 0.88, 0.91, 0.93)
    shapes = {("pbn", 5): law, ("pbn", 15): law, ("pbn", 60): (0.5, 0.5, 0.52, 0.6, 0.7, 0.8)}
    shapes |= {("mine.models:Net", 5): jump, ("mine.models:Net", 15): jump}
    runs = [
        exact(model, k, n, a, test=f"{k}")
        for (model, k), shape in shapes.items()
        for n, a in zip(SIZES, shape, strict=True)
    ]
    write_tables(estimate(runs, replicates=40, targets=(0.85, 0.99)), tmp_path)
    page = (tmp_path / "complexity.md").read_text()
    exponents, ratios = section(page, "Exponent"), section(page, "Ratio")
    assert "| model | distractor | target | smallest | isotonic | interval over | verdict |\n" in exponents
    assert "; 2 of 3 worlds uncensored" in exponents
    assert "needed: pbn at 0.99; mine.models:Net at 0.99; mine.models:Net - pbn at 0.99." in exponents
    assert ratios.count("\n| mine.models:Net / pbn |") == 2  # nothing is known at 0.99
    with open(tmp_path / "complexity-exponents.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 2 * 2
    difference = [row for row in rows if row["model"] == "mine.models:Net - pbn"]
    assert {row["verdict"] for row in difference if row["target"] == "0.85"} == {"undecided"}


@pytest.mark.parametrize("width", [40, 100])
def test_a_narrow_terminal_hides_no_digit_and_breaks_no_number(width):
    from simtown.cli.sweep_commands import _complexity_table

    row = {"model": "head:hf:encoders/town", "entities": "102", "distractor": "yes", "seeds": "5"}
    for target in ("0.75", "0.9", "0.95"):
        row |= {target: "26,686 (18,302 to > 40,000)", f"{target}{SMALLEST}": "> 40,000"}
    console = PlainConsole(width=width)
    with console.capture() as printed:
        console.print(_complexity_table([row, {**row, "seeds": "3"}]))
    lines = printed.get().splitlines()
    for number in ("26,686", "18,302 to > 40,000"):
        assert sum(number in line for line in lines) == 6
    assert max(map(len, lines)) <= width
