"""What make and contributors run beside the tests: the list of all messages."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import HANGS
from tools import messages

ROOT = Path(__file__).parents[1]
PROGRAM = '''
"""A docstring is no message."""

REASONS = {"disk": "the disk is full: remove something"}


class DamagedError(Exception):
    """Nor is this one."""


def work(path, count, problems):
    if not path:
        raise DamagedError(f"{path} is damaged: " + "make it again")
    print("done")
    problems.append(f"{count} examples are {'right' if count else 'wrong'}")
    reason = "nothing was written" if count else f"{path} is empty now"
    yield "split", f"{path} has {count} bytes too many"
    return path.joined("short words")


command(option(help="what --help says is left out"))
'''
LISTED = [
    (4, "REASONS", "the disk is full: remove something"),
    (13, "DamagedError", "{path} is damaged: make it again"),
    (14, "print", "done"),
    (15, "append", "{count} examples are {'right' if count else 'wrong'}"),
    (16, "reason", "nothing was written / {path} is empty now"),
    (17, "yield", "{path} has {count} bytes too many"),
]


def run(*places):
    done = subprocess.run(
        [sys.executable, "-m", "tools.messages", *map(str, places)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_message_of_each_kind_is_listed_with_its_place(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert run(tmp_path) == run(path) == [f"{path}:{line}: {where}: {text}" for line, where, text in LISTED]


def test_texts_put_together_are_one_message():
    for code, text in [
        ("'a' + b + 'c'", "a{b}c"),
        ("f'{a:.1f} m' if b else 'none'", "{a} m / none"),
        ("b + c", ""),
        ("7", ""),
    ]:
        assert messages.text_of(messages.ast.parse(code, mode="eval").body) == text


def test_messages_of_the_program_are_listed():
    """An error, a problem that verify finds, and a printed line."""
    lines = run()
    for place, where, words in [
        ("simtown/cli/app.py", "RefusalError", "cannot be read: write one number"),
        ("simtown/datasets/", "", "checksum"),
        ("simtown/cli/training.py", "say", "Look at "),
    ]:
        assert any(line.startswith(place) and where in line and words in line for line in lines), words
