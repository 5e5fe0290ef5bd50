"""Worked changes of CONTRIBUTING.md and docs/adding.md: a diff applies to a copy, where its commands run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "docs/adding.md")
#: Sections whose commands take longer than 20 seconds on two busy cores.
LONG = ("Add a family with a construction of its own", "Add a model", "Add a study")
#: What their commands import beside the core.
NEEDS = {"Add a model": "torch", "Add a study": "transformers"}
#: What a change is applied to.
COPIED = ("simtown", "tests", "tools", "docs", "pyproject.toml")


def worked_changes():
    """{heading: (diff, commands)} of the sections of the pages."""
    changes = {}
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    for section in text.split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        if found := re.search(r"^```diff\n(.*?)^```\n\n```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
            changes[heading] = found.groups()
    return changes


CHANGES = worked_changes()


def files_of(diff):
    return re.findall(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE)


@pytest.fixture
def copy(tmp_path):
    """A copy of the tree in which `simtown` and `python` run its own code."""
    copied = tmp_path / "tree"
    for name in COPIED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.webp", "*.png", "out")
            shutil.copytree(ROOT / name, copied / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, copied / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in {"python": "", "simtown": " -m simtown"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    return copied


def run(copied, *words, text=None):
    """Run a program in the copy; returns its output, and fails with it."""
    path = os.pathsep.join((str(copied.parent / "bin"), os.environ["PATH"]))
    own = {**os.environ, "PYTHONPATH": str(copied), "PATH": path}
    done = subprocess.run(words, cwd=copied, env=own, input=text, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("heading", CHANGES)
def test_a_worked_change_fits_the_tree(heading):
    """Fast, since running all of them is slow."""
    words = ("git", "apply", "--check", "-C1", "-")
    done = subprocess.run(words, cwd=ROOT, input=CHANGES[heading][0], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def marked(heading):
    return pytest.param(heading, marks=[pytest.mark.slow] if heading in LONG else [])


@pytest.mark.slow
@pytest.mark.parametrize("heading", [*map(marked, CHANGES)])
def test_a_worked_change_applies_and_does_what_the_page_says(heading, copy):
    if heading in NEEDS:
        pytest.importorskip(NEEDS[heading])
    diff, commands = CHANGES[heading]
    run(copy, "git", "apply", "-C1", "-", text=diff)
    own = [name for name in files_of(diff) if name.endswith(".py")]
    for words in ("check", "format --check") if own else ():
        run(copy, "python", "-m", "ruff", *words.split(), *own)
    (copy / "out").mkdir()
    assert run(copy, "bash", "-euc", commands)


def test_every_way_in_has_a_worked_change_of_at_most_four_files():
    for way in ("a family of", "a family with", "a kind", "a model", "an export", "a study"):
        assert any(heading.startswith(f"Add {way}") for heading in CHANGES), way
    for heading, (diff, _) in CHANGES.items():
        assert len(files_of(diff)) <= 4, heading
