"""Two texts of as many words: captions of pictures, and an encyclopedia (docs/reproduce/visual-commonsense).

    python benchmarks/texts.py --captions captions.txt --descriptions region_descriptions.txt
        --encyclopedia wiki.valid.tokens --encyclopedia wiki.test.tokens --out texts

Files have one phrase (or, of the encyclopedia, one paragraph) a line. Writes encyclopedia.txt, all sentences
without headings, and captions.txt: captions until they have half as many words, then descriptions until they
have as many.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path


def lines(path: Path) -> Iterator[str]:
    """The lines of a text that hold something."""
    with open(path, encoding="utf-8") as file:
        yield from filter(None, map(str.strip, file))


def until(phrases: Iterable[str], words: int) -> Iterator[str]:
    """The first phrases that have so many words together."""
    for phrase in phrases:
        if words <= 0:
            return
        words -= len(phrase.split())
        yield phrase


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--captions", type=Path, required=True)
parser.add_argument("--descriptions", type=Path, required=True)
parser.add_argument("--encyclopedia", type=Path, required=True, action="append")
parser.add_argument("--out", type=Path, required=True, help="the folder to write into")
options = parser.parse_args()
paragraphs = (line for path in options.encyclopedia for line in lines(path) if not line.startswith("="))
written = [sentence for paragraph in paragraphs for sentence in re.split(r"(?<= [.!?]) ", paragraph)]
words = sum(len(phrase.split()) for phrase in written)
seen = list(until(lines(options.captions), words // 2))
seen += until(lines(options.descriptions), words - sum(len(phrase.split()) for phrase in seen))
options.out.mkdir(parents=True, exist_ok=True)
for name, phrases in (("encyclopedia", written), ("captions", seen)):
    text = "".join(f"{phrase}\n" for phrase in phrases)
    (options.out / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"{name}.txt: {len(phrases):,} phrases, {len(text.split()):,} words")
