"""Paths and names of code in pages, docstrings and comments exist; no page names a day or a commit."""

import ast
import importlib
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Pages that are made when the site is built.
MADE = ("docs/reference/", "docs/examples/", "docs/families/", "docs/worlds/")
TOPS = r"\b(?:simtown|tests|tools|benchmarks|docs|examples|requirements)"
MODULES = {path.stem: path for path in (ROOT / "simtown").rglob("*.py") if path.stem != "__init__"}


def texts() -> Iterator[tuple[str, str]]:
    """Name and text of pages without diffs and addresses, of docstrings, and of sources in C++."""
    kinds = ("*.md", "docs/**/*.md", *(f"simtown/**/*.{kind}" for kind in ("md", "cpp", "hpp", "cu", "cuh")))
    for path in (path for kind in kinds for path in ROOT.glob(kind)):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(MADE):
            text = path.read_text(encoding="utf-8")
            yield name, re.sub(r"^```diff.*?^```|https?://\S+", "", text, flags=re.M | re.S)
    for path in (path for top in ("simtown", "tools", "benchmarks") for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield path.relative_to(ROOT).as_posix(), ast.get_docstring(node) or ""


TEXTS = [*texts()]


def test_paths_exist():
    paths = {(page, path) for page, text in TEXTS for path in re.findall(rf"{TOPS}/[\w./-]*\.\w+", text)}
    own = {(page, path) for page, path in paths if not re.search(r"[A-Z]{4,}\.|^simtown/constraints", path)}
    assert [pair for pair in sorted(own) if not (ROOT / pair[1]).exists()] == []


def test_a_name_that_is_said_to_be_in_a_file_is_there():
    said = re.compile(r"`(\w+)` in `?((?:simtown|tests|tools|benchmarks)/[\w/]+\.\w+)")
    found = {(page, *pair) for page, text in TEXTS for pair in said.findall(text)}
    assert len(found) > 10
    assert [x for x in sorted(found) if x[1] not in (ROOT / x[2]).read_text(encoding="utf-8")] == []


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module or a class holds."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("simtown"):
                return True  # a package that is not installed
            continue
        try:
            return bool(end == len(parts) or attrgetter(".".join(parts[end:]))(module) or True)
        except AttributeError:
            return parts[-1] in getattr(getattr(module, parts[end], None), "__annotations__", {})
    return False


def test_names_of_code_exist():
    """`simtown.a.b`, and `module.Name` of a class or a constant."""
    pytest.importorskip("torch")
    whole = {
        (page, name) for page, text in TEXTS for name in re.findall(r"\bsimtown(?:\.[A-Za-z]\w*)+", text)
    }
    for page, text in TEXTS:
        for module, name in re.findall(r"`([a-z_]+)\.([A-Z]\w+)`", text):
            if module in MODULES.keys() - {"datasets", "torch"}:  # not those of others
                home = MODULES[module].relative_to(ROOT).with_suffix("")
                whole.add((page, f"{home.as_posix().replace('/', '.')}.{name}"))
    files = re.compile(r"\.(json|h5|rst|md|toml|cfg)$")
    assert [pair for pair in sorted(whole) if not files.search(pair[1]) and not resolves(pair[1])] == []


def test_no_page_names_a_day_or_a_commit():
    """Only docs/negative-results.md does."""
    dated = re.compile(r"\b\d{1,2} (?:October|November|December) 20\d\d|\bof\s+commit [0-9a-f]{7}")
    pages = [(name, text) for name, text in TEXTS if name.startswith(("docs/", "README"))]
    assert [name for name, text in pages if name != "docs/negative-results.md" and dated.search(text)] == []
