"""The reference lists everything: each parameter, each field, each exception, one entry a line."""

import ast
import logging
import re
import textwrap
from pathlib import Path

import pytest

griffe = pytest.importorskip("griffe", reason="needs griffe: pip install '.[docs]'")

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(
    path.parent.name for path in (ROOT / "simtown").glob("*/__init__.py") if path.parent.name != "cli"
)
#: Exceptions of Python's own protocols, which need no entry.
PROTOCOLS = {
    "AssertionError",
    "AttributeError",
    "IndexError",
    "KeyError",
    "NotImplementedError",
    "StopIteration",
}


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


def _fields(documented):
    """The public fields of a dataclass or named tuple that have no docstring of their own."""
    if not any("dataclass" in str(one.value) for one in documented.decorators) and not any(
        str(base).endswith("NamedTuple") for base in documented.bases
    ):
        return []
    return [
        member.name
        for member in documented.members.values()
        if member.is_attribute
        and "instance-attribute" in member.labels
        and member.annotation is not None
        and not member.name.startswith("_")
        and not member.docstring
    ]


def _raised(function):
    """Names of the exceptions that a function raises itself."""

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Raise) and child.exc is not None:
                error = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
                name = getattr(error, "id", getattr(error, "attr", ""))
                if name[:1].isupper():
                    yield name
            if isinstance(child, ast.Try) and child.handlers:  # what is raised inside may be caught
                for part in (*child.handlers, *child.orelse, *child.finalbody):
                    yield from visit(part)
            elif not isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                yield from visit(child)

    return set(visit(ast.parse(textwrap.dedent(function.source)).body[0])) - PROTOCOLS


def _problems(documented):
    entries = _sections(documented)
    if documented.is_function:
        names = [p.name for p in documented.parameters if p.name not in ("self", "cls") and p.name[0] != "_"]
        if "parameters" in entries:  # a short function says in its first sentence what its parameters are
            yield from (f"no entry for {name}" for name in names if name not in entries["parameters"])
        words = documented.docstring.value if documented.docstring else ""
        yield from (
            f"does not say that it raises {name}" for name in _raised(documented) if name not in words
        )
    else:
        names = _fields(documented)
        listed = {**entries.get("attributes", {}), **entries.get("parameters", {})}
        yield from (f"no entry for {name}" for name in names if name not in listed)
    for kind, listed in entries.items():
        another = r"\w+(?:Error|Interrupt)" if kind == "raises" else "|".join(map(re.escape, names)) or "(?!)"
        for name, description in listed.items():
            if re.search(rf"(?:^|[.;]\s)(?:{another}): ", description or ""):
                yield f"the entry for {name} holds a second one"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_lists_parameters_fields_and_exceptions(package, reference):
    objects, warnings = reference
    problems = [f"{item.path}: {problem}" for item in objects[package] for problem in _problems(item)]
    problems += warnings[package]
    assert not problems, "\n".join(problems)
