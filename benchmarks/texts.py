"""Two texts of as many words: captions of pictures, and an encyclopedia (docs/reproduce/visual-commonsense).

    python benchmarks/texts.py captions.txt region_descriptions.txt texts
        --encyclopedia wiki.valid.tokens,wiki.test.tokens

Files have one phrase (or, of the encyclopedia, one paragraph) a line. Writes texts/encyclopedia.txt, all
sentences without headings, and texts/captions.txt: captions until they have half as many words, then
descriptions until they have as many.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from machine import options


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


args = options(__doc__, "captions", "descriptions", "out", encyclopedia=[Path("wiki.valid.tokens")])
paragraphs = (line for path in args.encyclopedia for line in lines(path) if not line.startswith("="))
written = [sentence for paragraph in paragraphs for sentence in re.split(r"(?<= [.!?]) ", paragraph)]
words = sum(len(phrase.split()) for phrase in written)
seen = list(until(lines(args.captions), words // 2))
seen += until(lines(args.descriptions), words - sum(len(phrase.split()) for phrase in seen))
args.out.mkdir(parents=True, exist_ok=True)
for name, phrases in (("encyclopedia", written), ("captions", seen)):
    text = "".join(f"{phrase}\n" for phrase in phrases)
    (args.out / f"{name}.txt").write_text(text, encoding="utf-8")
    print(f"{name}.txt: {len(phrases):,} phrases, {len(text.split()):,} words")
