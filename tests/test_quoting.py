"""A stranger's words in tables and figures stay words, whatever a spreadsheet, a page or matplotlib would make of them."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simtown
from simtown.quoting import csv_text, figure_text, latex, markdown, markdown_table
from simtown.terminal import plain, shown

EVIL = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3+cmd|'x'!A", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-x", "+a"]


@pytest.mark.parametrize("text", EVIL)
def test_no_cell_is_a_formula(text):
    ((head,), (found,)) = csv.reader(io.StringIO(csv_text([["name"], [text]]), newline=""))
    assert head == "name"
    assert found == (f"'{text}" if text.isprintable() else plain(text))
    assert not found.startswith(tuple("=+-@\t\r\n"))


def test_nothing_writes_csv_another_way():
    root = Path(simtown.__file__).parent
    found = [
        path for path in root.rglob("*.py") if re.search(r"csv\.(writer|DictWriter)|to_csv|write_csv", path.read_text(encoding="utf-8"))
    ]
    assert found == [root / "quoting.py"]


@pytest.mark.parametrize("value", [-1.5, 2, None, "-0.5", "+3", "-1e-05", "-5.1 ± 3.0 [-8.0, 2.0]", "-4 to 3", "a=b", "x-1", ""])
def test_numbers_and_honest_words_stay_as_they_are(value):
    assert list(csv.reader([csv_text([[value, "end"]])])) == [["" if value is None else str(value), "end"]]


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3), min_size=1, max_size=3))
def test_every_row_comes_back(rows):
    found = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert len(found) == len(rows)
    for row, cells in zip(rows, found, strict=True):
        assert all(cell in (plain(value), f"'{plain(value)}") for cell, value in zip(cells, row, strict=True))


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "![x](http://e.example/x.png)", "a|b", "a\n# b", "\x1b[2J", "</td>"],
)
def test_markdown_holds_no_markup_of_others(text):
    found = markdown(text)
    assert not {"|", "\n", "\x1b"} & set(found)
    assert "](" not in found
    assert "<img" not in found
    assert "</" not in found
    table = markdown_table([["model", "n"], [text, "1"]])
    assert [line.count("|") for line in table.splitlines()] == [3, 3, 3]


def test_pages_made_of_it_hold_no_markup():
    library = pytest.importorskip("markdown", reason="needs Python-Markdown: pip install '.[dev]'")
    evil = "[x](javascript:alert(1)) <img src=x onerror=alert(1)> ![y](http://e.example) <http://e.example> \\](a) | <b>"
    page = library.markdown(f"# {markdown(evil)}\n\n{markdown_table([['model'], [evil]])}", extensions=["tables"])
    assert page.count("<td") == 1
    for tag in ("<img", "<a", "<b>", "href"):
        assert tag not in page


def test_honest_words_stay_readable():
    for text in ("cnn-lstm", "0.5 [0.4, 0.6]", "> 40,000", "p < 0.05", "μF1", "glove:glove_6B.txt", "a & b", "≤ 1,000"):
        assert markdown(text) == text


def test_latex_sets_every_character():
    assert latex("a_b & 5 % #1 $x$ {y} ^ ~") == r"a\_b \& 5 \% \#1 \$x\$ \{y\} \textasciicircum{} \textasciitilde{}"
    assert latex("\\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"


@given(st.text())
def test_matplotlib_sees_no_mathematics(text):
    cbook = pytest.importorskip("matplotlib.cbook", reason="needs matplotlib: pip install '.[train]'")
    found = figure_text(text)
    assert not cbook.is_math_text(found)
    assert found
    assert not found.startswith("_")  # which a legend would leave out


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://user:secret@host/town", "https://host/town"),
        ("s3://key:se@cret@bucket/town", "s3://bucket/town"),
        ("https://host/town?X-Amz-Signature=secret&sig=secret", "https://host/town"),
        ("https://host/town#token=secret", "https://host/town"),
        ("cannot read s3:/user:secret@bucket/a, or https://h/x?sig=secret: no", "cannot read s3:/bucket/a, or https://h/x no"),
        ("http://127.0.0.1:80/token/ asks", "http://127.0.0.1:80/token/ asks"),
        ("a@b.example: is it? C:/x", "a@b.example: is it? C:/x"),
        ("https://host/a@b/c", "https://host/a@b/c"),
    ],
)
def test_urls_are_shown_without_secrets(url, words):
    assert shown(url) == plain(url) == words
