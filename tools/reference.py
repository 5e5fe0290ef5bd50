"""Pages whose source lies elsewhere: one for every public module, and CONTRIBUTING.md; mkdocs runs this (see
mkdocs.yml).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import mkdocs_gen_files

ROOT = Path(__file__).parent.parent
LEFT_OUT = ("simtown/cli", "simtown/assets/vehicles", "simtown/assets/street")


def modules() -> Iterator[tuple[str, Path]]:
    """Name and file of every module that has a page."""
    for path in sorted((ROOT / "simtown").rglob("*.py")):
        name = path.relative_to(ROOT)
        if name.as_posix().startswith(LEFT_OUT) or (path.stem.startswith("_") and path.stem != "__init__"):
            continue
        parts = name.parent.parts if path.stem == "__init__" else name.with_suffix("").parts
        yield ".".join(parts), path


def summary(path: Path) -> str:
    """What a module's docstring begins with, in one line."""
    words = " ".join(
        (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0].split()
    )
    return re.sub(r":\w+:`~?([\w.]+)[^`]*`", r"`\1`", words).replace("|", r"\|")


def page_of(module: str, path: Path) -> Path:
    parts = module.split(".")
    return Path(*parts, "index.md") if path.stem == "__init__" else Path(*parts).with_suffix(".md")


files = dict(modules())
nav = mkdocs_gen_files.Nav()
for module, path in files.items():
    page = page_of(module, path)
    nav[tuple(module.split("."))] = page.as_posix()
    lines = ["---", f"title: {module}", "---", "", f"::: {module}", ""]
    inside = [name for name in files if name.rpartition(".")[0] == module]
    if inside:
        lines += ["| module | |", "| --- | --- |"]
        lines += [f"| [`{name.rpartition('.')[2]}`][{name}] | {summary(files[name])} |" for name in inside]
    with mkdocs_gen_files.open(Path("reference", page), "w") as file:
        file.write("\n".join(lines) + "\n")
    mkdocs_gen_files.set_edit_path(Path("reference", page), path.relative_to(ROOT))
with mkdocs_gen_files.open("reference/SUMMARY.md", "w") as file:
    file.writelines(nav.build_literate_nav())

# Its links start at the repository's root, as on a forge; the site starts at docs/. The search takes "add a
# vehicle" for the beginning of "adds", "audit" and the like, in titles too: without the boost those pages
# come first.
contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
with mkdocs_gen_files.open("contributing.md", "w") as file:
    file.write(f"---\nsearch: {{boost: 2}}\n---\n\n{contributing}")
