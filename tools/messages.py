"""Lists every message a user can meet, by package: python -m tools.messages [--write].

With --write, the list goes to tests/messages.txt: read what changed there before you commit it.

A message is a text of two words and more in an error, a warning or a printed line. Before each stands the
name of the function or error that takes it. Values stand in braces. Texts of pages in JavaScript are not
listed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "messages.txt"
#: Calls whose text is shown, however short; those of errors and warnings are known by the ends of their
#: names.
SHOWN = ("print", "warn", "echo", "say", "say_block", "report", "complain", "input", "exit")
SHOWN += ("Error", "Warning", "Exit", "Finding")


def text_of(node: ast.AST) -> str:
    """The words of a string or an f-string, with values in braces; "" for anything else."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or "{" + ast.unparse(part.value) + "}" for part in parts)
    return ""


def name_of(node: ast.AST) -> str:
    """The last part of a dotted name, or of what is called or indexed; "" for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return name_of(inner)
    return ""


def messages(node: ast.AST, where: str = "") -> Iterator[tuple[str, str]]:
    """Where it goes, and the text, of every message in a piece of a program, and of other texts of three
    words and more, since some are put together before they are shown.
    """
    text = text_of(node)
    if text:
        if any(letter.isalpha() for letter in text) and (text.count(" ") > 1 or where.endswith(SHOWN)):
            yield where, " ".join(text.split())
        return
    match node:
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.keyword(arg="help" | "short_help"):
            return
        case ast.Call() if name_of(node) in ("option", "Option", "Argument", "Typer"):
            return  # --help shows it
        case ast.Call():
            where = name_of(node) or where
        case ast.Return() | ast.Yield():
            where = type(node).__name__.lower()
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            where = name_of(target)
        case ast.keyword(arg=str() as name) if not where.endswith(SHOWN):
            where = name
    for child in ast.iter_child_nodes(node):
        yield from messages(child, where)


def listed(package: Path) -> str:
    """All messages of a package, sorted: code that moves inside a package of ours changes nothing."""
    sections: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        section = path.relative_to(package).parts[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        sections.setdefault(section, set()).update(
            f"{where}: {text}" for where, text in messages(tree) if where.endswith(SHOWN) and " " in text
        )
    return "\n".join(
        f"# {section}\n" + "".join(f"{line}\n" for line in sorted(lines))
        for section, lines in sorted(sections.items())
        if lines
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        GOLDEN.write_text(listed(ROOT / "simtown"), encoding="utf-8")
    else:
        print(listed(ROOT / "simtown"), end="")
