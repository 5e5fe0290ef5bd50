"""The gate: what the released data decides of the paper's tables comes out exactly."""

from simtown.probes.physical import TASKS, paper_tables, physical_release
from simtown.probes.physical.physical_study import PHYSICAL


def test_the_rows_that_the_data_decides_and_the_coin(reference):
    """12 cells of each row: as printed, or within the noise of a coin."""
    cells = {}
    for table in PHYSICAL.printed["forbes-table2"](reference, ()):
        for name, row in table.rows:
            cells.setdefault(name, []).extend(row[:3])
    assert all(len(cells[name]) == 12 for name in ("Majority", "Human", "Random"))
    assert all(cell.here == cell.paper for cell in cells["Majority"] + cells["Human"])
    assert all(cell.same and cell.spread < 0.03 for cell in cells["Random"])


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
    assert len(release.frequencies["affordance"]) == 504
    assert {len(said) for _, said in release.answers.values()} == {50}
    tasks = [release.task(title) for title in TASKS]
    sizes = [(len(task.train), len(task.test)) for task in tasks]
    assert sizes == [(20550, 5150), (40900, 11100), (4908, 1332), (122700, 33300)]
    assert [round(float(task.train.label.mean()), 3) for task in tasks] == [0.165, 0.151, 0.5, 0.151]
    assert [round(float(task.test.label.mean()), 3) for task in tasks] == [0.167, 0.149, 0.5, 0.149]
