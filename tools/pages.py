"""Fills the tables of pages from committed results, and checks their sentences: python -m tools.pages.

A page marks the tables that are made for it:

    <!-- made by: python -m tools.pages needs -->
    ...
    <!-- end -->

Its sentences are written by a person. A comment behind a number says what it is, and the number must be what
the results say (tools/parts/quantities.py):

    14 (from 10)<!-- = ratio, cnn-lstm, 31 --> times as many examples

`python -m tools.pages` replaces the tables in README.md and docs/, draws the figures anew, and prints the
numbers to mend. `--check` changes nothing and fails if a page is not what the results say.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tools.parts import PARTS, draw
from tools.parts.quantities import MARK, differences
from tools.parts.results import Results

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "gallery"
TABLE = re.compile(r"(<!-- made by: python -m tools\.pages ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """The pages that hold marks."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in every}
    return [page for page, text in texts.items() if TABLE.search(text) or MARK.search(text)]


def filled(text: str, results: Results) -> str:
    """The text of a page with every table made anew. Raises KeyError for a table that does not exist."""
    return TABLE.sub(lambda mark: f"{mark[1]}\n{PARTS[mark[2]](results)}\n\n{mark[4]}", text)


def main(arguments: list[str]) -> int:
    """Fill or check all pages; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is stale")
    check = parser.parse_args(arguments).check
    results = Results(RESULTS)
    problems = []
    for page in pages():
        name, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        new = filled(text, results)
        if check and new != text:
            problems.append(f"{name}: its tables are stale: run python -m tools.pages")
        elif new != text:
            page.write_text(new, encoding="utf-8")
        problems += [f"{name}: {problem}" for problem in differences(TABLE.sub("", new), results)]
    if not check:
        draw(results, FIGURES)
    print("\n".join(problems) or "every page is what the results say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
