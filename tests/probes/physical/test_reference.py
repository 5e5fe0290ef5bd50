"""The gate: what the released data decides of the paper's tables comes out exactly."""

import pytest

from simtown.probes.physical import datasets, reproduce


@pytest.fixture(scope="module")
def rows(reference):
    return {row.name: row for row in reproduce.table2(datasets.read(reference))}


@pytest.mark.parametrize("name", ["Majority", "Human"])
def test_the_rows_that_the_data_decides(rows, name):
    """12 cells each, as printed."""
    assert len(rows[name].cells) == 12
    for place, cell in rows[name].cells.items():
        assert cell.here == cell.paper, place


def test_the_coin_is_within_its_noise(rows):
    assert len(rows["Random"].cells) == 12
    for place, cell in rows["Random"].cells.items():
        assert cell.same, (place, cell)
        assert cell.spread < 0.03


def test_table_one_but_for_what_the_release_has_more_of(reference):
    cells = dict(reproduce.table1(datasets.read(reference)))
    differing = {name: (cell.paper, cell.here) for name, cell in cells.items() if not cell.same}
    assert differing == {
        "abstract: objects a property, median (min, max)": ("60 (3, 302)", "66 (6, 330)"),
        "situated: objects": ("1,024", "1,040"),
        "situated: affordances": ("3,072", "3,120"),
        "situated: annotations": ("156,672", "159,120"),
    }
    assert len(cells) == 14


def test_task_sizes(reference):
    from simtown.probes.physical import tasks

    release = datasets.read(reference)
    built = [tasks.build(release, *which) for which in tasks.ALL]
    assert [(len(t.train), len(t.test)) for t in built] == [
        (20550, 5150),
        (40900, 11100),
        (4908, 1332),
        (122700, 33300),
    ]
    assert [round(float(t.train.label.mean()), 3) for t in built] == [0.165, 0.151, 0.5, 0.151]
    assert [round(float(t.test.label.mean()), 3) for t in built] == [0.167, 0.149, 0.5, 0.149]
