"""Tables on terminals of any width, and in files."""

import io

import pytest
from rich.table import Table

from simtown.core.console import PlainConsole, page


@pytest.fixture
def table():
    table = Table("stage", "examples", "seconds", "note", title="How fast", caption="on one core")
    table.add_row("render", "1,000,000", "3,141.5", "the engine for processors")
    table.add_row("encode", "1,000,000", "27.2", "LZ4")
    return table


def printed(console, table):
    with console.capture() as shown:
        console.print(table)
    return shown.get()


@pytest.mark.parametrize("width", range(24, 80, 5))
def test_no_word_of_a_table_is_cut(table, width):
    words = printed(PlainConsole(width=width), table).split()
    shown = "stage examples seconds note render 1,000,000 3,141.5 engine processors encode 27.2 LZ4"
    assert set(shown.split()) <= set(words)


def test_a_table_that_is_too_wide_is_printed_row_by_row(table):
    lines = [line.rstrip() for line in printed(PlainConsole(width=30), table).splitlines()]
    first = ["stage    render", "examples 1,000,000", "seconds  3,141.5", "note     the engine for"]
    second = ["stage    encode", "examples 1,000,000", "seconds  27.2", "note     LZ4"]
    assert lines == ["How fast", *first, "         processors", "", *second, "", "on one core"]


def test_what_a_file_gets_does_not_depend_on_the_terminal(table, monkeypatch):
    pages = set()
    for columns in ("40", "80", "200"):
        file = io.StringIO()
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr("sys.stdout", file)
        with page() as console:
            console.print("a long line, " * 20, table)
        pages.add(file.getvalue())
    assert len(pages) == 1
