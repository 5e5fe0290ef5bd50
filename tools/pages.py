"""Fills the tables and verdicts of pages from committed results: python -m tools.pages.

A page marks what is made for it:

    <!-- made by: python -m tools.pages needs -->
    ...
    <!-- end -->

`python -m tools.pages` replaces what stands between the marks in README.md and docs/, and draws the figures
anew. `--check` changes nothing and fails if a page is not what the results say. `python -m tools.pages needs`
prints one part. The parts are those of tools/parts.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.parts import PARTS, conditions
from tools.parts.results import Results

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
FIGURES = ROOT / "docs" / "gallery"
MARKED = re.compile(r"(<!-- made by: python -m tools\.pages ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
OPEN = re.compile(r"<!-- made by: python -m tools\.pages")


class MarkError(ValueError):
    """A mark that names no part, or is not closed; the message says where."""


def pages() -> Iterator[Path]:
    """The pages that hold marks."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if OPEN.search(page.read_text(encoding="utf-8")):
            yield page


def filled(text: str, results: Results, name: str = "a page") -> str:
    """The text of a page with every part made anew.

    Raises:
        MarkError: a mark names no part, or is not closed.
    """
    if len(OPEN.findall(text)) != len(MARKED.findall(text)):
        raise MarkError(
            f"{name}: a mark 'made by: python -m tools.pages PART' has no PART or no <!-- end --> after it"
        )

    def replaced(mark: re.Match[str]) -> str:
        begin, part, _, end = mark.groups()
        if part not in PARTS:
            raise MarkError(f"{name}: there is no part '{part}': choose among {', '.join(PARTS)}")
        words = PARTS[part](results).strip("\n")
        return f"{begin}\n{words}\n\n{end}" if words else f"{begin}{end}"

    return MARKED.sub(replaced, text)


def main(words: list[str]) -> int:
    """Fill or check all pages, or print one part; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.pages", description="Fills the tables of pages from committed results."
    )
    parser.add_argument("part", nargs="?", choices=sorted(PARTS), help="print this part alone")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a page differs from the results"
    )
    options = parser.parse_args(words)
    results = Results(RESULTS)
    if options.part:
        print(PARTS[options.part](results))
        return 0
    stale = []
    for page in pages():
        name, text = page.relative_to(ROOT), page.read_text(encoding="utf-8")
        try:
            new = filled(text, results, str(name))
        except MarkError as error:
            print(error, file=sys.stderr)
            return 2
        if new != text:
            stale.append(str(name))
            if not options.check:
                page.write_text(new, encoding="utf-8")
    if not options.check:
        results.draw(FIGURES)
        conditions.draw(results, FIGURES)
    print(
        f"{'stale' if options.check else 'changed'}: {', '.join(stale)}"
        if stale
        else "every page is what the results say"
    )
    if stale and options.check:
        print("run python -m tools.pages and commit what it changes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
