"""What is printed is text, and moves no cursor; tables fit terminals of any width, and files."""

import ast
import io
import logging
import re
import signal
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.table import Table

import simtown
from simtown.core import stopping
from simtown.core.console import PlainConsole, page, styled
from simtown.core.terminal import complain, guard, say, say_block, shell_words
from simtown.core.untrusted import printable

#: Clears a screen, renames a window, hides what follows, ends a line, turns the order round, breaks markup,
#: and is no character at all.
EVIL = "\x1b[2J\x1b]0;evil\x07[/bold][link=x]\r\n\x9b31m\u202egnp\u2066\u200f\u2028simtown: all is well\udcff"

ESCAPED = (
    r"\x1b[2J\x1b]0;evil\x07[/bold][link=x]\r\n\x9b31m\u202egnp\u2066\u200f\u2028simtown: all is well\udcff"
)


def harmless(text):
    """Whether a terminal shows every character of printed text, and obeys none but the ends of lines."""
    return not {unicodedata.category(c) for c in text.replace("\n", "")} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.fixture(autouse=True)
def hooks(monkeypatch):
    """What guard() changes in this process is as before afterwards."""
    factory = logging.getLogRecordFactory()
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    handlers = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    yield
    logging.setLogRecordFactory(factory)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_every_control_becomes_an_escape():
    assert printable(EVIL) == ESCAPED
    assert printable("a\tb\nc\x00", block=True) == "a\tb\nc\\x00"


@given(st.text(st.characters()))
@example(EVIL)
@example("größer × 2 – 85 % ░█")
def test_what_is_printed_is_harmless_and_the_rest_is_as_it_was(text):
    assert harmless(printable(text))
    assert harmless(printable(text, block=True).replace("\t", ""))
    if text.isprintable():
        assert printable(text) == text
    printable(text).encode()  # no lone surrogate is left


def test_all_ways_of_printing_are_filtered(capsys):
    say(EVIL, "second")
    say_block(f"| {EVIL}")
    complain(EVIL, "x" * 20_000)
    with page(80) as console:
        console.print(EVIL)
        console.print(styled(EVIL, "bold"))
    out, err = capsys.readouterr()
    assert harmless(out + err)
    assert out.startswith(f"{ESCAPED}\nsecond\n| ")


def test_tables_and_bars_show_markup_as_it_is(monkeypatch):
    from rich.table import Table

    from simtown.core.progress import Progress

    console = PlainConsole(width=120)
    table = Table(EVIL, title="[red]title[/]", caption=":smile: [/no]")
    table.add_row("[bold]cell[/bold] :boom:")
    with console.capture() as printed:
        console.print(table)
    assert harmless(printed.get())
    for text in ("[red]title[/]", ":smile: [/no]", "[bold]cell[/bold] :boom:"):
        assert text in printed.get()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # rich's word for a terminal
    with Progress(EVIL) as bar:
        bar.on_begin(10, 5)
        bar.on_progress(1)
        bar.on_note(EVIL)
    err = sys.stderr.getvalue()
    assert ESCAPED[:20] in err
    assert not any(control in err for control in ("\x1b]0", "\x1b[2J", "\u202e"))


def test_warnings_and_logs_of_libraries_are_filtered(capsys):
    guard()
    assert harmless(warnings.formatwarning(EVIL, UserWarning, "x.py", 1, "line"))
    logging.getLogger("somebody").warning("a model of type %s", EVIL)
    assert harmless(capsys.readouterr().err)


def test_a_terminal_without_unicode_shows_bars_and_signs(monkeypatch):
    """The help and tables have signs that such a terminal lacks."""
    from simtown.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(sys, "argv", ["simtown", "probe", "spatial", "--help"])
    with pytest.raises(SystemExit) as end:
        main()
    say("car ███| 34.0° größer ≤ 5")
    complain("'a long…'")
    out.flush()
    assert not end.value.code
    assert b"Usage:" in out.buffer.getvalue()
    assert out.buffer.getvalue().endswith(b"\ncar ###| 34.0 deg gr\\xf6\\xdfer <= 5\n")
    assert err.buffer.getvalue() == b"'a long...'\n"


#: Calls that print. Two modules alone see a terminal, and all others print through them.
_PRINTING = re.compile(
    r"p?print|(typer|click)\.s?echo|sys\.(__)?std(out|err)(__)?\.write(lines)?"
    r"|(.+\.)?(Console|Text|TextColumn|from_markup|render_markup)"
)
_ALLOWED = {"terminal.py", "console.py"}


def test_commands_are_printed_as_a_shell_reads_them():
    for path in Path(simtown.__file__).parent.glob("cli/*.py"):
        assert not re.findall(r"say\(.*simtown [a-z -]+\{(?!shell_words)", path.read_text()), path
    assert shell_words("simtown", "verify", Path("my out")) == "simtown verify 'my out'"


def test_nothing_is_printed_another_way():
    root = Path(simtown.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name in _ALLOWED or not re.search(r"print\(|echo\(|Console\(|Text|markup|std(out|err)", text):
            continue
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            called = ast.unparse(call.func)
            arguments = (*call.args, *(word.value for word in call.keywords))
            streams = {ast.unparse(value) for value in arguments} & {"sys.stdout", "sys.stderr"}
            if (streams and called != "type") or _PRINTING.fullmatch(called):
                found.append(f"{path.relative_to(root)}:{call.lineno} {called}")
    assert not found, f"print through simtown.core.terminal or simtown.core.console: {found}"


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
