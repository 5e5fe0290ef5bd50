"""Writes the tables and numbers of all pages from committed results: python -m tools.pages.

A page marks the tables that are made for it:

    <!-- made by: python -m tools.pages needs -->
    ...
    <!-- end -->

Its sentences are written by a person. A comment behind a number says what it is (tools/parts/quantities.py):

    14 (from 10)<!-- = ratio, cnn-lstm, 31 --> times as many examples

`python -m tools.pages` replaces the tables and such numbers in README.md and docs/, writes the long tables
as CSV files of docs/reproduce/tables, draws the figures anew, and prints what a person has to mend. Links to
the repository follow `Repository` in pyproject.toml, and CITATION.cff and
conda's recipe the version. `--check` changes nothing
and fails if a page is not what the results say.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import tomllib
from pathlib import Path

from simtown import __version__
from simtown.core.tables import Table
from tools.parts import FILES, PARTS, draw
from tools.parts.quantities import MARK, NUMBER, differences, quantity
from tools.parts.results import Results

ROOT = PROJECT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "gallery"
TABLE = re.compile(r"(<!-- made by: python -m tools\.pages ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """The files that are made or checked: pages, and what links to the repository."""
    names = ("*.md", "CITATION.cff", "pyproject.toml", "docs/**/*.md", "examples/*.ipynb")
    others = ("recipe/*.yaml", ".github/ISSUE_TEMPLATE/*.yml")
    return sorted(page for name in (*names, *others) for page in ROOT.glob(name))


def filled(text: str, results: Results) -> str:
    """The text of a page with its tables and numbers made anew. Raises KeyError for one that is unknown."""

    def made(number: re.Match[str]) -> str:
        expected = quantity(results, number[1])
        same = " ".join(number[0].split()) == expected
        return expected if re.fullmatch(NUMBER, expected) and not same else number[0]

    text = TABLE.sub(lambda mark: f"{mark[1]}\n{PARTS[mark[2]](results)}\n\n{mark[4]}", text)
    return re.sub(f"{NUMBER}(?={MARK.pattern})", made, text)


def as_csv(table: Table) -> str:
    """A table of ours as CSV: its texts, such as "-0.41 (-0.61 to -0.15)", as they are."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([table.columns, *table.rows])
    return text.getvalue()


def linked(text: str, owner: str) -> str:
    """A text whose links to the repository and its site name their owner."""
    text = re.sub(r"(github(?:\.com)?/)[\w-]+(?=/simtown\b)", rf"\g<1>{owner}", text)
    return re.sub(r"https://[\w-]+(?=\.github\.io/simtown\b)", f"https://{owner}", text)


def main(arguments: list[str]) -> int:
    """Fill or check all pages; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is stale")
    check = parser.parse_args(arguments).check
    results = Results(RESULTS)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    owner = project["urls"]["Repository"].split("/")[-2]
    problems = []
    for page in pages():
        name, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        new = linked(filled(text, results), owner)
        if page.name in ("CITATION.cff", "recipe.yaml"):
            new = re.sub(r"(?m)^( *version:) \d.*", rf"\g<1> {__version__}", new)
        if check and new != text:
            problems.append(f"{name}: it is stale: run python -m tools.pages")
        elif new != text:
            page.write_text(new, encoding="utf-8")
        problems += [f"{name}: {problem}" for problem in differences(TABLE.sub("", new), results)]
    for path in sorted((ROOT / "docs" / "reproduce" / "tables").glob("*.csv")):
        text = as_csv(FILES[path.stem](results))
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            problems.append(f"{path.relative_to(ROOT)}: it is stale: run python -m tools.pages")
    if not check:
        draw(results, FIGURES)
    print("\n".join(problems) or "every page is what the results say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
