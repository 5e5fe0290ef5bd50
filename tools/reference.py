"""The pages of the site that are made from the code: commands, public names, and modules; docs/conf.py calls
this.
"""

import ast
import inspect
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer

from simtown.core.options import Option

ROOT = Path(__file__).parent.parent
#: The command line has pages of its own, shapes of the catalogue a contact sheet; harnesses are copied.
LEFT_OUT = (
    "simtown/cli",
    "simtown/assets/vehicles",
    "simtown/assets/street",
    "simtown/datasets/export/harnesses",
)

#: A result with a name in a docstring, and what Sphinx would take for marks, behind what is kept.
_RESULTS = re.compile(r"^Returns:\n((?: {4}\w+: .*\n?(?: {8}.*\n?)*)+)(?! )", re.M)
_RESULT = re.compile(r"^ {4}(\w+): ", re.M)
_MARKS = re.compile(r"(^ *\* |``.+?``|`[^`]+`|\*\*\w+\*\*|(?<![\w*])\*\w[\w ]*\*(?![\w*]))|[*|]", re.M)
#: What a public name returns, which its page describes too.
BESIDE = {
    "simtown.Town": ("simtown.town.answering.TownAnswer", "simtown.town.truth.Truth"),
    "simtown.open_dataset": (
        "simtown.datasets.reading.reader.Dataset",
        "simtown.datasets.reading.reader.Split",
        "simtown.datasets.reading.reader.Example",
    ),
}


class Markdown:
    """What a command's help is written to, in place of the terminal: its lines are a page."""

    width = 80

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_usage(self, program: str, words: str = "", prefix: str | None = None) -> None:
        self.lines += ["```text", f"{program} {words}", "```", ""]

    def write_paragraph(self) -> None:
        self.lines.append("")

    def write_text(self, text: str) -> None:
        self.lines += [plain(text), ""]

    def write_heading(self, name: str) -> None:
        self.lines += [f"**{name}**", ""]

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        self.write_heading(name)
        yield

    @contextmanager
    def indentation(self) -> Iterator[None]:
        yield

    def write_dl(self, rows: list[tuple[str, str]], *_: Any) -> None:
        if any(about for _, about in rows):
            self.lines += [line for name, about in rows for line in (f"`{name}`", f": {plain(about)}", "")]
        else:  # examples
            self.lines += ["```text", *(name for name, _ in rows), "```", ""]


def plain(text: str) -> str:
    """Text in which Markdown sees no marks, with its options as code."""
    return re.sub(r"(--[\w-]*\w)|([\\`*_\[\]<>#|$~])", lambda m: f"`{m[1]}`" if m[1] else f"\\{m[2]}", text)


def help_of(command: Any, words: str, level: int = 1) -> list[str]:
    """The lines of a page: the help of a command, then of those in its group."""
    context = command.context_class(command, info_name=words, resilient_parsing=True)
    page = Markdown()
    command.format_help(context, page)
    lines = [f"{'#' * level} {words}", "", *page.lines]
    for name, inner in getattr(command, "commands", {}).items():
        lines += help_of(inner, f"{words} {name}", min(level + 1, 3))
    return lines


def commands() -> dict[str, list[str]]:
    """{"commands/generate.md": lines} of every command of the program, and of the list of them."""
    from simtown.cli.program import program

    pages, listed = {}, ["# Commands", ""]
    listed += ["Every command ends with exit code 0, 2 for bad input, or 1 for damaged data.", ""]
    listed += [
        "`latest` is the newest data set, run, sweep or evaluation; the beginning of a name suffices.",
        "",
    ]
    for name, command in program().commands.items():
        loaded = command.load() if hasattr(command, "load") else command
        pages[f"commands/{name}.md"] = help_of(loaded, f"simtown {name}")
        listed += [f"[`simtown {name}`]({name}.md)", f": {plain(command.get_short_help_str(200))}", ""]
    pages["commands/index.md"] = [*listed, "```{toctree}", ":hidden:", "", *program().commands, "```"]
    return pages


def modules() -> Iterator[tuple[str, Path]]:
    """Name and file of every module that is described, packages first."""
    for path in sorted((ROOT / "simtown").rglob("*.py"), key=lambda path: (path.parent, path.stem)):
        name = path.relative_to(ROOT)
        if name.as_posix().startswith(LEFT_OUT) or (path.stem.startswith("_") and path.stem != "__init__"):
            continue
        parts = name.parent.parts if path.stem == "__init__" else name.with_suffix("").parts
        yield ".".join(parts), path


def public() -> dict[str, Any]:
    """{"simtown.Town": the class} of every name that a package lists in its __all__, each once."""
    names: dict[str, Any] = {}
    for module, path in modules():
        if path.stem == "__init__" and module.count(".") < 2:
            package = import_module(module)
            for name in getattr(package, "__all__", ()):
                value = getattr(package, name)
                if not any(value is other for other in names.values()):
                    names[f"{module}.{name}"] = value
    return names


def summary(docstring: str | None) -> str:
    """What a docstring begins with, in one line without marks."""
    words = " ".join((docstring or "").split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([\w.]+)[^`]*`", r"``\1``", words)


def kind_of(value: Any) -> str:
    """autodoc's word for what a name holds."""
    if inspect.ismodule(value):
        return "module"
    return "class" if inspect.isclass(value) else "function" if callable(value) else "data"


def defined(name: str) -> str:
    """Where the value of a public name is assigned, such as simtown.gym.levels.LEVELS."""
    home, _, last = name.rpartition(".")
    text = (ROOT / home.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    return f"{re.findall(rf'from (.*) import {last}', text)[0]}.{last}"


def docstring_of(name: str, value: Any) -> str:
    """What is said of a public name: of data, the comment before it."""
    if kind_of(value) != "data":
        return value.__doc__ or ""
    module, _, last = defined(name).rpartition(".")
    return "\n".join(ModuleAnalyzer.for_module(module).find_attr_docs()["", last])


def names() -> dict[str, list[str]]:
    """{"python/simtown.Town.rst": lines} of a page for each public name, and the list of them."""
    pages, listed, package = {}, ["Python", "======", ""], ""
    for name, value in public().items():
        (home, _, last), kind = name.rpartition("."), kind_of(value)
        place = defined(name) if kind in ("data", "module") else name
        lines = [last, "=" * len(last), "", f".. auto{kind}:: {place}"]
        lines += {"data": ["   :no-value:"], "module": ["   :no-index:"]}.get(kind, [])
        pages[f"python/{name}.rst"] = [*lines, *(f".. autoclass:: {other}" for other in BESIDE.get(name, ()))]
        if home != package:
            package = home
            listed += [f"``{home}``", "-" * (len(home) + 4), "", ".. toctree::", "   :hidden:", ""]
            listed += [f"   {other}" for other in public() if other.rpartition(".")[0] == home]
            listed += [""]
        listed += [f":doc:`{name} <{name}>`", f"    {summary(docstring_of(name, value))}", ""]
    pages["python/index.rst"] = listed
    return pages


def internals() -> dict[str, list[str]]:
    """{"internals/simtown.town.rst": lines} of a page for each package, and the list of them."""
    pages: dict[str, list[str]] = {}
    listed = ["Internals", "=========", ""]
    listed += ["The modules behind the commands and public names. They change without notice.", ""]
    for module, path in modules():
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        page, mark = pages.setdefault(f"internals/{package}.rst", []), "=" if module == package else "-"
        if module == package:
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            listed += [f":doc:`{package} <{package}>`", f"    {summary(text)}", ""]
        page += [module, mark * len(module), "", f".. automodule:: {module}", ""]
    listed += [".. toctree::", "   :hidden:", "", *(f"   {Path(page).stem}" for page in pages)]
    return {**pages, "internals/index.rst": listed}


def write(folder: Path) -> None:
    """Write all pages; one that is as it was keeps its date, and Sphinx does not read it again."""
    pages = {
        folder / name: "\n".join(lines) + "\n" for name, lines in (commands() | names() | internals()).items()
    }
    for stale in set(folder.rglob("*.*")) - set(pages):
        stale.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def has_page(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """What Sphinx leaves out: what has a page of its own, and fields of named tuples, which classes say."""
    if str(value.__doc__).startswith("Alias for field number"):
        return True
    whole = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    beside = any(whole in others for others in BESIDE.values())
    public_name = any(value is other for other in public().values())
    return True if what == "module" and (beside or public_name) else None


def as_rst(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Sphinx calls this with a docstring: its named results become a list, and * and | are no marks."""
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # or napoleon takes words before a colon for a type
    if what == "class" and is_dataclass(value):  # fields of settings have their help beside them
        described = {f.name: f.metadata[Option].help for f in fields(value) if Option in f.metadata}
        lines += ["", *(f":param {name}: {about}" for name, about in described.items())]

    def listed(section: re.Match[str]) -> str:
        return ":Returns:\n" + _RESULT.sub(r"    - **\1**: ", section[1]).replace(" " * 8, " " * 6)

    text = _RESULTS.sub(listed, "\n".join(lines))
    if "::\n" not in text:
        text = _MARKS.sub(lambda mark: mark[1] or f"\\{mark[0]}", text)
    lines[:] = text.split("\n")


_OTHERS: dict[str, Any] = {}


def fresh_simtown(gallery: dict[str, Any], script: str, when: str) -> None:
    """Give an example a simtown that nobody has imported, to which it may add kinds; take it back after."""
    own = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "simtown"}
    for name in own:
        del sys.modules[name]
    os.environ.pop("SIMTOWN_KINDS", None)
    if when == "before":
        _OTHERS.update(own)
    else:
        sys.modules.update(_OTHERS)
