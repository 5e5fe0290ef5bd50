"""A stranger's words in tables and figures stay words, whatever a spreadsheet, a page or matplotlib would
make of them.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.quoting import figure_text, latex, markdown
from simtown.core.terminal import plain, shown


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](http://e.example/x.png)",
        "a|b",
        "a\n# b",
        "\x1b[2J",
        "</td>",
    ],
)
def test_markdown_holds_no_markup_of_others(text):
    found = markdown(text)
    assert not {"|", "\n", "\x1b"} & set(found)
    assert "](" not in found
    assert "<img" not in found
    assert "</" not in found


def test_honest_words_stay_readable():
    for text in (
        "cnn-lstm",
        "0.5 [0.4, 0.6]",
        "> 40,000",
        "p < 0.05",
        "μF1",
        "glove:glove_6B.txt",
        "a & b",
        "≤ 1,000",
    ):
        assert markdown(text) == text


def test_latex_sets_every_character():
    assert (
        latex("a_b & 5 % #1 $x$ {y} ^ ~")
        == r"a\_b \& 5 \% \#1 \$x\$ \{y\} \textasciicircum{} \textasciitilde{}"
    )
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
        (
            "cannot read s3:/user:secret@bucket/a, or https://h/x?sig=secret: no",
            "cannot read s3:/bucket/a, or https://h/x no",
        ),
        ("http://127.0.0.1:80/token/ asks", "http://127.0.0.1:80/token/ asks"),
        ("a@b.example: is it? C:/x", "a@b.example: is it? C:/x"),
        ("https://host/a@b/c", "https://host/a@b/c"),
    ],
)
def test_urls_are_shown_without_secrets(url, words):
    assert shown(url) == plain(url) == words
