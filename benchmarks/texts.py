"""Two texts of as many words: captions of pictures, and an encyclopedia. Models of
docs/reproduce/visual-commonsense.md read them.

    python benchmarks/texts.py --captions captions.txt --descriptions region_descriptions.txt
        --encyclopedia wiki.valid.tokens --encyclopedia wiki.test.tokens --out texts

Files have one phrase (or, of the encyclopedia, one paragraph) a line, and may be packed (.gz, .xz). Writes
encyclopedia.txt, all sentences without headings, and captions.txt: captions until they have half as many
words, then descriptions until they have as many.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

OPENED = {".gz": gzip.open, ".xz": lzma.open}


def lines(path: Path) -> Iterator[str]:
    """The lines of a text, packed or not, that hold something."""
    with OPENED.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        yield from filter(None, map(str.strip, file))


def sentences(paragraphs: Iterable[str]) -> Iterator[str]:
    """WikiText's sentences: its tokens stand apart, and headings begin with =."""
    for paragraph in paragraphs:
        if not paragraph.startswith("="):
            yield from re.split(r"(?<= [.!?]) ", paragraph)


def until(phrases: Iterable[str], words: int) -> Iterator[str]:
    """The first phrases that have so many words together."""
    for phrase in phrases:
        if words <= 0:
            return
        words -= len(phrase.split())
        yield phrase


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("captions", "descriptions"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--encyclopedia", type=Path, required=True, action="append")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write into")
    arguments = parser.parse_args()
    if missing := [
        path
        for path in (arguments.captions, arguments.descriptions, *arguments.encyclopedia)
        if not path.is_file()
    ]:
        parser.error(f"{missing[0]} is no file")
    written = [phrase for path in arguments.encyclopedia for phrase in sentences(lines(path))]
    words = sum(len(phrase.split()) for phrase in written)
    seen = list(until(lines(arguments.captions), words // 2))
    seen += until(lines(arguments.descriptions), words - sum(len(phrase.split()) for phrase in seen))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, phrases in (("encyclopedia", written), ("captions", seen)):
        text = "".join(f"{phrase}\n" for phrase in phrases)
        (arguments.out / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name}.txt: {len(phrases):,} phrases, {len(text.split()):,} words")


if __name__ == "__main__":
    main()
