"""Results of experiments that never saw the town."""

import csv

import numpy as np
import pytest
from scipy import stats

from simtown.complexity.csv_results import read_csv
from simtown.complexity.estimate import estimate

HEAD = "group,size,seed,correct,total\n"
GOOD = HEAD + "small,100,0,60,100\nsmall,1000,0,95,100\nlarge,100,0,80,100\nlarge,1000,0,99,100\n"


@pytest.fixture
def table(tmp_path):
    def write(text):
        path = tmp_path / "results.csv"
        path.write_text(text)
        return path

    return write


def test_a_table_gives_the_tables_and_figures_of_runs(table, tmp_path, cli):
    path = table("# where it is from\n\n" + GOOD)
    words = ["--targets", "0.7,0.9", "--replicates", 100]
    printed = cli("complexity", path, "--out", tmp_path / "out", *words).succeeds().out
    assert "small" in printed
    assert "entities" not in printed
    assert "items only (too narrow)" in " ".join(printed.split())
    page = (tmp_path / "out" / "complexity.md").read_text()
    assert "entities" not in page
    assert "large / small" in page
    with open(tmp_path / "out" / "complexity.csv", encoding="utf-8") as file:
        rows = {(r["model"], r["target"], r["rule"]): r for r in csv.DictReader(file)}
    assert rows["small", "0.9", "smallest"]["samples"] == "1000.0"
    assert rows["large", "0.7", "smallest"]["samples_state"] == "left-censored"
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"samples.png", "learning.png", "complexity-ratios.csv"}


def test_columns_named_by_sizes_are_read_as_rows_are(table):
    wide = table("group,100,400\na,0.6,0.9\na,0.65,\na,0.66,0.91\nb,0.7,0.95\nb,0.72,0.93\n")
    found = [(run.model, run.train_size, run.seed, run.correct.item()) for run in read_csv(wide)[0]]
    assert found == [
        ("a", 100, 0, 0.6),
        ("a", 400, 0, 0.9),
        ("a", 100, 1, 0.65),
        ("a", 100, 2, 0.66),
        ("a", 400, 2, 0.91),
        ("b", 100, 0, 0.7),
        ("b", 400, 0, 0.95),
        ("b", 100, 1, 0.72),
        ("b", 400, 1, 0.93),
    ]
    one = table("100,200,400\n0.6,0.7,0.9\n0.62,0.72,0.9\n")
    assert {run.model for run in read_csv(one)[0]} == {"results"}


def test_worlds_have_exponents(table):
    cells = [(k, n, c, s) for k in (2, 4, 8) for n, c in ((10 * k, 600), (40 * k, 800)) for s in range(3)]
    lines = [f"m,{n},{s},{c},1000,{k}" for k, n, c, s in cells]
    runs, reference, worlds = read_csv(table(HEAD.replace("total", "total,world") + "\n".join(lines)))
    assert worlds
    assert reference == "m"
    report = estimate(runs, targets=(0.7,), replicates=100, reference="m", world="world")
    (exponent,) = (e for e in report.exponents if e.rule == "isotonic")
    assert exponent.value == pytest.approx(1)
    assert {r.interval_over for r in report.rows} == {"seeds and items"}
    assert report.table()[0]["world"] == "2"


def test_counts_alone_have_binomial_intervals(table):
    """No item is known, so two groups are not paired, and the interval of one run is that of its count."""
    found = estimate(read_csv(table(GOOD))[0], targets=(0.7,), replicates=2000)
    for curve in found.curves:
        for accuracy, low, high in zip(curve.accuracy, curve.low, curve.high, strict=True):
            ends = stats.binomtest(round(accuracy * 100), 100).proportion_ci(0.95, "wilson")
            assert (low, high) == pytest.approx((ends.low, ends.high))
    runs = read_csv(table(GOOD))[0]
    assert len({run.test_id for run in runs}) == 4
    assert [(int(run.correct.sum()), len(run.correct)) for run in runs][:2] == [(60, 100), (95, 100)]
    assert all(np.isfinite(curve.samples["isotonic"][:, 0]).all() for curve in found.curves)


def test_scores_stand_for_counts(table):
    """With several seeds whose items are their own, both give the same needs."""
    cells = [
        (n, s, c + 10 * s) for n, c in ((100, 550), (200, 650), (400, 750), (800, 820)) for s in range(3)
    ]
    counted = table(HEAD + "\n".join(f"m,{n},{s},{c},1000" for n, s, c in cells))
    first = estimate(read_csv(counted)[0], targets=(0.7,), replicates=100).rows
    lines = "\n".join(f"m,{n},{s},{c / 1000}" for n, s, c in cells)
    second = estimate(
        read_csv(table("group,size,seed,score\n" + lines))[0], targets=(0.7,), replicates=100
    ).rows
    for a, b in zip(first, second, strict=True):
        assert (a.samples, a.low, a.high) == pytest.approx((b.samples, b.low, b.high))
    for text, words in (("m,100,0,0.5", "one seed"), ("m,100,0,50", "column score: '50'")):
        with pytest.raises(ValueError, match=words):
            read_csv(table("group,size,seed,score\n" + text))


WRONG = {"": "no results", "m,100,0,60": "line 2 has 4 cells", ",100,0,60,100": "line 2, column group"}
WRONG |= {"m,100,-1,60,100": "line 2, column seed: '-1'", "m,100,0,101,100": "line 2, column correct: 101"}
WRONG |= {"m,100,0,60,100\n\nm,1e3,0,60,100": "line 4, column size: '1e3'"}
WRONG |= {"m,100,0,60,100\nm,100,0,61,100": "line 3: the same group, seed, size as in .*line 2"}
WRONG_TABLES = {HEAD + rows: words for rows, words in WRONG.items()}
WRONG_TABLES[HEAD.replace("\n", ",height\nm,1,0,1,1,1\n")] = "height"
WRONG_TABLES[HEAD.replace("\n", ",world\nm,100,0,60,100,big\n")] = "line 2, column world: 'big'"


@pytest.mark.parametrize("text", WRONG_TABLES)
def test_a_wrong_table_is_refused_by_its_line_and_column(text, table):
    with pytest.raises(ValueError, match=WRONG_TABLES[text]):
        read_csv(table(text))


def test_other_refusals(table, tmp_path, cli):
    path = table(GOOD)
    cli("complexity", path, path.parent).refuses("give it alone")
    cli("complexity", tmp_path / "none.csv").refuses("none.csv")
    cli("complexity", path, "--targets", "high").refuses("--targets high")
    cli("complexity", path, "--targets", "90").refuses("targets must be accuracies between 0 and 1")
    path.write_bytes(b"group\xff\x00")
    cli("complexity", path).refuses()


def test_names_that_mean_something_to_others_are_names(tmp_path, cli):
    """To a spreadsheet, to matplotlib, to rich, to a page; and numbers at the end of their range."""
    names = ["=1+1", r"$\frac{", "_[bold]x[/nothing]", "x" * 200]
    top = 10**15 - 1
    lines = [
        f'"{name}",{size},0,{correct},100,{world}'
        for name in names
        for size, correct in ((1, 60), (top, 99))
        for world in (1, top)
    ]
    (tmp_path / "t.csv").write_text(HEAD.replace("\n", ",world\n") + "\n".join(lines))
    cli("complexity", tmp_path / "t.csv", "--replicates", 40, "--out", tmp_path / "out").succeeds()
    assert (tmp_path / "out" / "samples.png").stat().st_size > 10_000
    assert read_csv(tmp_path / "t.csv")[1] == "=1+1"
