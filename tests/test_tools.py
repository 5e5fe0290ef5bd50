"""The list of all messages: python -m tools.messages."""

import ast

import pytest

from tools import messages

PROGRAM = '''
"""A docstring is no message."""

REASONS = {"disk": "the disk is full: remove something"}


def work(path, count, problems):
    if not path:
        raise DamagedError(f"{path} is damaged: " + "make it again")
    print("done")
    problems.append(f"{count} examples are {'right' if count else 'wrong'}")
    reason = "nothing was written" if count else f"{path} is empty now"
    yield "split", f"{path} has {count} bytes too many"
    return path.joined("short words")


command(option(128, "what --help says is left out"))
'''
LISTED = [
    ("REASONS", "the disk is full: remove something"),
    ("DamagedError", "{path} is damaged:"),
    ("DamagedError", "make it again"),
    ("print", "done"),
    ("append", "{count} examples are {'right' if count else 'wrong'}"),
    ("reason", "nothing was written"),
    ("reason", "{path} is empty now"),
    ("yield", "{path} has {count} bytes too many"),
]


def test_a_message_of_each_kind_is_listed():
    assert list(messages.messages(ast.parse(PROGRAM))) == LISTED


def test_messages_of_a_package_stand_under_its_name(tmp_path):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "program.py").write_text(PROGRAM)
    assert messages.listed(tmp_path).splitlines() == ["# core", *sorted(f"{a}: {b}" for a, b in LISTED)]


@pytest.mark.skipif(not messages.GOLDEN.exists(), reason="needs the list: python -m tools.messages --write")
def test_somebody_has_read_every_message():
    """Run python -m tools.messages --write, and read what it changed."""
    assert messages.GOLDEN.read_text(encoding="utf-8") == messages.listed(messages.ROOT / "simtown")
