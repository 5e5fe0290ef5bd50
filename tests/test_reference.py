"""The reference reads parameters, fields and exceptions of a docstring, one entry a line."""

import logging
import re
from pathlib import Path

import pytest

griffe = pytest.importorskip("griffe", reason="needs griffe: pip install '.[docs]'")

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(
    path.parent.name for path in (ROOT / "simtown").glob("*/__init__.py") if path.parent.name != "cli"
)


class _Warnings(logging.Handler):
    """Keeps what griffe's parser of docstrings warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture(scope="module")
def reference():
    """(objects by package, warnings by package) of everything public that has a page."""
    handler, logger = _Warnings(), logging.getLogger("griffe")
    logger.addHandler(handler)
    options = {"warn_unknown_params": True, "warn_missing_types": False}
    package = griffe.load(
        "simtown", search_paths=[ROOT], docstring_parser="google", docstring_options=options
    )
    objects = {name: list(_public(package.members[name])) for name in PACKAGES}
    for public in objects.values():
        for documented in public:
            _sections(documented)
    logger.removeHandler(handler)
    warnings = {name: [line for line in handler.lines if f"simtown/{name}/" in line] for name in PACKAGES}
    return objects, warnings


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
    objects, warnings = reference
    problems = [f"{item.path}: {problem}" for item in objects[package] for problem in _problems(item)]
    problems += warnings[package]
    assert not problems, "\n".join(problems)
