"""Tables hold the rows they were given, and words in them stay words in a spreadsheet and on a page."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simtown
from simtown.core.quoting import latex, markdown
from simtown.core.tables import csv_text, latex_table, markdown_table
from simtown.core.terminal import plain

EVIL = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3+cmd|'x'!A",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "-x",
    "+a",
]


@pytest.mark.parametrize("text", EVIL)
def test_no_cell_is_a_formula(text):
    ((head,), (found,)) = csv.reader(io.StringIO(csv_text([["name"], [text]]), newline=""))
    assert head == "name"
    assert found == (f"'{text}" if text.isprintable() else plain(text))
    assert not found.startswith(tuple("=+-@\t\r\n"))


def test_nothing_writes_csv_another_way():
    root = Path(simtown.__file__).parent
    found = [
        path
        for path in root.rglob("*.py")
        if re.search(r"csv\.(writer|DictWriter)|to_csv|write_csv", path.read_text(encoding="utf-8"))
    ]
    assert found == [root / "core" / "tables.py"]


@pytest.mark.parametrize(
    "value", [-1.5, 2, None, "-0.5", "+3", "-1e-05", "-5.1 ± 3.0 [-8.0, 2.0]", "-4 to 3", "a=b", "x-1", ""]
)
def test_numbers_and_honest_words_stay_as_they_are(value):
    assert list(csv.reader([csv_text([[value, "end"]])])) == [["" if value is None else str(value), "end"]]


@given(
    st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3), min_size=1, max_size=3)
)
def test_every_row_comes_back(rows):
    found = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert len(found) == len(rows)
    for row, cells in zip(rows, found, strict=True):
        assert all(cell in (plain(value), f"'{plain(value)}") for cell, value in zip(cells, row, strict=True))


def test_a_markdown_table_aligns_its_numbers():
    rows = [["model", "n", "accuracy"], ["pbn", "10", "0.5"]]
    assert markdown_table(rows).splitlines()[1] == "| --- | --- | --- |"
    assert markdown_table(rows, words=1).splitlines() == [
        "| model | n | accuracy |",
        "| --- | ---: | ---: |",
        "| pbn | 10 | 0.5 |",
    ]


@pytest.mark.parametrize("text", ["a|b", "a\n# b", "<img src=x onerror=alert(1)>", "\x1b[2J"])
def test_words_add_no_cell_to_a_markdown_table(text):
    table = markdown_table([["model", "n"], [text, "1"]])
    assert [line.count("|") for line in table.splitlines()] == [3, 3, 3]


def test_pages_made_of_it_hold_no_markup():
    library = pytest.importorskip("markdown", reason="needs Python-Markdown: pip install '.[dev]'")
    evil = (
        "[x](javascript:alert(1)) <img src=x onerror=alert(1)> ![y](http://e.example) <http://e.example> "
        "\\](a) | <b>"
    )
    page = library.markdown(
        f"# {markdown(evil)}\n\n{markdown_table([['model'], [evil]])}", extensions=["tables"]
    )
    assert page.count("<td") == 1
    for tag in ("<img", "<a", "<b>", "href"):
        assert tag not in page


def test_a_latex_table_has_its_rows_between_lines():
    table = latex_table("lr", [["model", r"$\mu$F1"]], [[latex("a_b & c"), "0.5"], ["d", "1"]])
    assert table.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\hline",
        r"model & $\mu$F1 \\",
        r"\hline",
        r"a\_b \& c & 0.5 \\",
        r"d & 1 \\",
        r"\hline",
        r"\end{tabular}",
    ]
