"""Tables hold the rows they were given; a text in them adds no cell, no formula and no markup."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simtown
from simtown.core.tables import Table, read_rows
from simtown.core.untrusted import printable

FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-x"]
MARKUP = "[x](javascript:alert(1)) <img src=x onerror=f()> ![y](http://e.example) \\](a) | <b>\n# c\x1b[2J"


def cells(table: Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table.csv(), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_no_csv_cell_is_a_formula(text):
    (name,), (cell,) = cells(Table(["name"], [[text]]))
    assert name == "name"
    assert not cell.startswith(tuple("=+-@\t\r\n"))
    assert cell in (f"'{text}", printable(text))


@pytest.mark.parametrize("value", [-1.5, 2, "-0.5", "-1e-05", "-5.1 ± 3.0 [-8.0, 2.0]", "-4 to 3", "x-1"])
def test_numbers_and_other_texts_stay_as_they_are_in_csv(value):
    assert cells(Table(["a"], [[value]]))[1:] == [[str(value)]]


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2), max_size=3))
def test_every_row_comes_back_from_csv(rows):
    found = cells(Table(["a", "b"], rows))
    expected = [[printable(text).lstrip("'") for text in row] for row in rows]
    assert [[cell.lstrip("'") for cell in row] for row in found[1:]] == expected


HEAD, NAMES = "name,n\n", ["#1", "# a", "b\n# c", "d\u2028e"]
ROWS = [("line 2", {"name": "a, b", "n": "1"}), ("line 4", {"name": "c", "n": "2"})]
READ = {'name,n\n"a, b",1\n\nc,2\n': ROWS, '\ufeffname, n ,\r\n "a, b", 1 ,\r\n,,\r\nc,2': ROWS}
READ |= {'name,n\r"a, b",1\r# a "comment"\rc,2\r': ROWS, HEAD: [], "# x\n" + HEAD + "#\n\n": []}
READ[HEAD + '#1,9\n"# a",9\n"b\n# c",9\nd\u2028e,9\n'] = [
    (f"line {i}", {"name": name, "n": "9"}) for i, name in zip((2, 3, 4, 6), NAMES, strict=True)
]
WRONG = {"": "has no column 'name'", "name;n\na;1\n": "line 1 has no column 'name'.*instead of semicolons"}
WRONG |= {"n\tname\n1\ta\n": "instead of tabs", "n: a;b,c\n": "column 'name'"}
WRONG |= {"n,name,n\n": "line 1 has the column 'n' twice", HEAD + "\na,1,5\n": "line 3 has 3 cells for 2"}
WRONG |= {HEAD + "a\n": "line 2 has 1 cells", HEAD + '\n"a,1\nb,2\n': "line 3 cannot be read as CSV"}
WRONG[(HEAD + "é,1\n").encode("latin-1")] = "line 2 is not UTF-8: save"


@pytest.mark.parametrize("text", READ)
def test_rows_are_read_as_they_were_written(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    rows = read_rows(tmp_path / "t.csv", ["n", "name"])
    assert rows == [(f"{tmp_path / 't.csv'}, {line}", row) for line, row in READ[text]]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_table_is_named_by_its_line(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=WRONG[text]):
        read_rows(tmp_path / "t.csv", ["name", "n"])


def test_nothing_writes_csv_another_way():
    writing = re.compile(r"csv\.(writer|DictWriter)|to_csv|write_csv")
    root = Path(simtown.__file__).parent
    writers = {path.name for path in root.rglob("*.py") if writing.search(path.read_text(encoding="utf-8"))}
    assert writers == {"tables.py", "cell_table.py", "pairs.py"}  # the others have texts as they are


def test_a_markdown_table_aligns_its_numbers():
    table = Table.of_records([{"model": "pbn", "n": 10, "accuracy": 0.51234}])
    assert table.markdown().splitlines()[1] == "| --- | --- | --- |"
    lines = ["| model | n | accuracy |", "| --- | ---: | ---: |", "| pbn | 10 | 0.51 |"]
    assert table.markdown(text_columns=1, digits=2).splitlines() == lines


def test_a_text_adds_no_cell_and_no_markup_to_a_markdown_table():
    library = pytest.importorskip("markdown", reason="needs Python-Markdown: pip install '.[dev]'")
    table = Table(["model", "n"], [[MARKUP, 1]]).markdown()
    assert [line.count("|") for line in table.splitlines()] == [3, 3, 3]
    page = library.markdown(table, extensions=["tables"])
    assert page.count("<td") == 2
    assert not any(tag in page for tag in ("<img", "<a", "<b>", "href"))


def test_a_latex_table_escapes_its_cells():
    table = Table(["model", "μF1"], [["a_b & c", "0.5"], ["\\input{/etc/passwd}", 1]])
    begin, *lines, end = table.latex("lr", [("", 1), ("OP", 1)]).splitlines()
    assert (begin, end) == (r"\begin{tabular}{lr}", r"\end{tabular}")
    head = [r" & \multicolumn{1}{c}{OP} \\", r"model & $\mu$F1 \\"]
    rows = [r"a\_b \& c & 0.5 \\", r"\textbackslash{}input\{/etc/passwd\} & 1 \\"]
    assert lines == [r"\hline", *head, r"\hline", *rows, r"\hline"]
