"""The documentation: no broken link or reference, commands that exist, examples that run."""

import ast
import doctest
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import simtown
from simtown.datasets import source
from tests.conftest import every_command
from tools import messages, reference

ROOT = Path(__file__).parent.parent


def commands_of(text):
    """The words of every call of simtown in a page, in blocks of code and between other words."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    for line in lines:
        if line.strip().startswith("simtown "):
            _, *words = shlex.split(line.strip(), comments=True)
            if not words[0].startswith("-"):
                yield words


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.parents[1].name != "reference" and page.parent.name != "examples"]


def text_of(page):
    """The text of a page without its diffs and the commands behind them, which test_contributing.py runs."""
    diff = r"^```diff\n.*?^```\n(?:\n```sh\n.*?^```\n)?"
    return re.sub(diff, "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_programs_and_commands_of_a_page_exist_with_their_options(page):
    text = text_of(page)
    names = re.findall(r"\b(?:simtown|tests|tools|benchmarks)/[\w/]+\.py", text)
    assert [name for name in names if not (ROOT / name).exists()] == []
    known = every_command()
    for words in commands_of(text):
        name, options = "", {"--help"}
        for word in words:
            name = longer if (longer := f"{name} {word}".strip()) in known else name
            command = known[name]
            options |= {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
        assert [word for word in words if word.startswith("--") and word.split("=")[0] not in options] == []
        whole = not hasattr(command, "commands") or len(words) == 1 or command.invoke_without_command
        assert whole, f"simtown {' '.join(words)}"


def anchors_of(page):
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_of_the_repository_lead_somewhere():
    """Also of those that Sphinx does not read; it makes families/, worlds/ and reference/."""
    broken, tops = [], ("*.md", "simtown/**/*.md", "environments/**/*.md")
    for page in [*PAGES, *(page for top in tops for page in ROOT.glob(top))]:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#\s:]*)(?:#([^)\s]*))?\)", text):
            there = page.parent / target if target else page
            made = {"families", "worlds", "reference", "examples"} & {*Path(target).parts[:-1]}
            known = there.suffix != ".md" or not anchor or (there.exists() and anchor in anchors_of(there))
            if not made and not (there.exists() and known):
                broken.append((page.relative_to(ROOT).as_posix(), target, anchor))
    assert broken == []


def test_the_map_of_the_code_names_every_package_and_nothing_else():
    map_of_code = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    names = re.findall(r"\w+\.py|(?<=[\s/(])\w+(?=/)", map_of_code)
    files = {path.name for path in (ROOT / "simtown").rglob("*")} | {"simtown"}
    assert [name for name in names if name not in files] == []
    packages = {path.parent.name for path in (ROOT / "simtown").glob("*/__init__.py")}
    assert packages <= set(names)


def test_every_package_says_what_lives_there():
    for path in (ROOT / "simtown").rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


@pytest.mark.parametrize("name", reference.public())
def test_a_public_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = reference.docstring_of(name, reference.public()[name])
    assert ">>>" in text
    if name == "simtown.use_kinds":  # before all else in a process
        Path("example.txt").write_text(text, encoding="utf-8")
        more = {"env": {**os.environ, "PYTHONPATH": str(ROOT)}, "capture_output": True, "text": True}
        done = subprocess.run([sys.executable, "-m", "doctest", "example.txt"], **more)
        assert done.returncode == 0, done.stdout
        return
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0)).failed == 0


def test_completion_shows_the_verbs():
    script = "import simtown, sys; print(*dir(simtown)); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    names, modules = (set(line.split()) for line in done.stdout.splitlines())
    assert {"generate", "open_dataset", "fit", "Town", "Settings", "FitSettings"} <= names
    assert not modules & {"numpy", "torch"}


@pytest.mark.skipif(not messages.GOLDEN.exists(), reason="needs the list: python -m tools.messages --write")
def test_somebody_has_read_every_message():
    """Run python -m tools.messages --write, and read what it changed."""
    assert messages.GOLDEN.read_text(encoding="utf-8") == messages.listed(messages.ROOT / "simtown")


def test_a_name_in_backquotes_is_an_option_or_an_argument_of_a_verb():
    """A user can give it: the command line shows `batch` as --batch."""
    known = {parameter.name for command in every_command().values() for parameter in command.params}
    for verb in (getattr(simtown, name) for name in simtown.__all__):
        methods = [method for name, method in inspect.getmembers(verb) if name[0] != "_"]
        for function in filter(inspect.isfunction, [verb, *methods]):
            known |= {*inspect.signature(function).parameters}
    unknown = []
    for path in (messages.ROOT / "simtown").rglob("*.py"):
        if path.name != "dataset_card.py":  # a page in Markdown
            for _, text in messages.messages(ast.parse(path.read_text(encoding="utf-8"))):
                if others := {*re.findall(r"`(\w+)[`=]", text)} - known:
                    unknown.append((path.name, others, text))
    assert unknown == []


#: What stands for words of the reader's own, or needs a folder or a network.
ELSEWHERE = {"FAMILIES", "NAME,NAME", "kinds", "s3://bucket/town", "list"}
GENERATED = {" ".join(words): words for page in PAGES for words in commands_of(text_of(page))}
GENERATED = {text: words for text, words in GENERATED.items() if words[0] == "generate" and len(words) > 1}


@pytest.mark.parametrize("words", [w for w in GENERATED.values() if not ELSEWHERE & {*w}], ids=" ".join)
def test_a_data_set_of_a_page_is_not_refused(words, cli, tmp_path, monkeypatch):
    """Its settings alone: whether a world can ask its questions takes longer."""

    def accept(_):
        raise SystemExit(0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "check_settings", accept)
    cli(*words).succeeds()
