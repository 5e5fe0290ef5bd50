"""The reference reads parameters, fields and exceptions of a docstring, one entry a line."""

import logging
import re
import sys
from logging.handlers import BufferingHandler
from pathlib import Path

import pytest

griffe = pytest.importorskip("griffe", reason="needs griffe: pip install '.[docs]'")

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(
    path.parent.name for path in (ROOT / "simtown").glob("*/__init__.py") if path.parent.name != "cli"
)


@pytest.fixture(scope="module")
def reference():
    """(the package, objects by package, warnings by package) of everything public that has a page."""
    handler, logger = BufferingHandler(sys.maxsize), logging.getLogger("griffe")
    handler.setLevel(logging.WARNING)
    logger.addHandler(handler)
    options = {"warn_unknown_params": True, "warn_missing_types": False}
    parser = {"docstring_parser": "google", "docstring_options": options}
    package = griffe.load("simtown", search_paths=[ROOT], **parser)
    objects = {name: list(_public(package.members[name])) for name in PACKAGES}
    for public in objects.values():
        for documented in public:
            _sections(documented)
    logger.removeHandler(handler)
    lines = [record.getMessage() for record in handler.buffer]
    warnings = {name: [line for line in lines if f"simtown/{name}/" in line] for name in PACKAGES}
    return package, objects, warnings


def _public(parent):
    for member in parent.members.values():
        if member.is_alias or member.name.startswith("_"):
            continue
        if member.is_class or member.is_function:
            yield member
        if member.is_class or member.is_module:
            yield from _public(member)


def _sections(documented):
    """{kind: {name: description}} of the entries in an object's docstring."""
    entries = {}
    for section in documented.docstring.parsed if documented.docstring else []:
        kind = section.kind.value
        if kind in ("parameters", "attributes"):
            listed = {entry.name.lstrip("*"): entry.description for entry in section.value}
        elif kind == "raises":
            listed = {str(entry.annotation): entry.description for entry in section.value}
        else:
            continue
        entries.setdefault(kind, {}).update(listed)
    return entries


def _problems(documented):
    entries = _sections(documented)
    names = [member.name for member in documented.members.values() if member.is_attribute]
    for kind, listed in entries.items():
        another = r"\w+(?:Error|Interrupt)" if kind == "raises" else "|".join(map(re.escape, names)) or "(?!)"
        for name, description in listed.items():
            if re.search(rf"(?:^|[.;]\s)(?:{another}): ", description or ""):
                yield f"the entry for {name} holds a second one"


@pytest.mark.parametrize("package", PACKAGES)
def test_entries_of_the_reference_are_read_one_by_one(package, reference):
    _, objects, warnings = reference
    problems = [f"{item.path}: {problem}" for item in objects[package] for problem in _problems(item)]
    problems += warnings[package]
    assert not problems, "\n".join(problems)


def test_whole_names_in_docstrings_exist(reference):
    for path in (ROOT / "simtown").rglob("*.py"):
        for name in re.findall(r":\w+:`[^`]*?simtown\.([\w.]+)", path.read_text(encoding="utf-8")):
            assert reference[0][name], path  # KeyError: there is no such name
