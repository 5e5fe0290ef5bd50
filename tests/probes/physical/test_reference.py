"""The gate: what the released data decides of the paper's tables comes out exactly."""

import pytest

from simtown.probes.physical import TASKS, paper_tables, physical_release
from simtown.probes.physical.decisions import build
from simtown.probes.physical.physical_study import PHYSICAL


@pytest.fixture(scope="module")
def rows(reference):
    """{name of a row: the cells of all tasks}."""
    cells = {}
    for table in PHYSICAL.printed["forbes-table2"](reference, ()):
        for name, row in table.rows:
            cells.setdefault(name, []).extend(row[:3])
    return cells


@pytest.mark.parametrize("name", ["Majority", "Human"])
def test_the_rows_that_the_data_decides(rows, name):
    """12 cells each, as printed."""
    assert len(rows[name]) == 12
    assert [cell.here for cell in rows[name]] == [cell.paper for cell in rows[name]]


def test_the_coin_is_within_its_noise(rows):
    assert len(rows["Random"]) == 12
    assert all(cell.same and cell.spread < 0.03 for cell in rows["Random"])


def test_table_one_but_for_what_the_release_has_more_of(reference):
    (table,) = paper_tables.table1(reference)
    differing = {name: (cell.paper, cell.here) for name, (cell,) in table.rows if not cell.same}
    assert differing == {
        "abstract: objects a property, median (min, max)": ("60 (3, 302)", "66 (6, 330)"),
        "situated: objects": ("1,024", "1,040"),
        "situated: affordances": ("3,072", "3,120"),
        "situated: annotations": ("156,672", "159,120"),
    }
    assert len(table.rows) == 14


def test_task_sizes(reference):
    release = physical_release.read(reference)
    built = [build(release, title) for title in TASKS]
    sizes = [(len(task.train), len(task.test)) for task in built]
    assert sizes == [(20550, 5150), (40900, 11100), (4908, 1332), (122700, 33300)]
    assert [round(float(task.train.label.mean()), 3) for task in built] == [0.165, 0.151, 0.5, 0.151]
    assert [round(float(task.test.label.mean()), 3) for task in built] == [0.167, 0.149, 0.5, 0.149]
