"""Region descriptions as a text corpus: phrases, tokens, and the sentences whose every word is common enough.

Read from region_descriptions.json in any release and packing, or from a text file with one phrase a line
(plain, .gz, .xz or .zip).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from simtown.core.packed import PackedFile
from simtown.visualgenome.clean import folded
from simtown.visualgenome.records import Regions
from simtown.visualgenome.stream import Records

#: A number with its inner points or commas; a word with inner apostrophes and hyphens; any other visible
#: character by itself.
TOKEN = re.compile(r"\d+(?:[.,:]\d+)*(?![^\W\d_])|[^\W_]+(?:['’\-][^\W_]+)*|[^\w\s]|_", re.UNICODE)
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*[{\]]")


def tokenise(phrase: str, *, punctuation: bool = False) -> list[str]:
    """Tokens of a phrase in lower case; marks of punctuation only where asked for.

    >>> tokenise("A man's T-shirt, 2.5 feet up.")
    ['a', "man's", 't-shirt', '2.5', 'feet', 'up']
    >>> tokenise("Stop!", punctuation=True)
    ['stop', '!']
    """
    tokens = TOKEN.findall(folded(phrase))
    return tokens if punctuation else [token for token in tokens if is_word(token)]


def is_word(token: str) -> bool:
    """Whether a token is a word or a number, and no mark of punctuation."""
    return token[0].isalnum()


class Corpus:
    """The phrases of a file, in its order and in Unicode's NFC, without empty ones; it can be iterated again.

    :meth:`sentences` gives them as tokens.

    Args:
        path: region_descriptions.json or a text file, packed or not.
        skip_bad: pass over malformed records, and count them in `bad`.
        progress: receives the number of newly read phrases, by the thousand.

    Attributes:
        bad: records passed over in the last iteration.

    Raises:
        DamagedError: while iterating, at a malformed record or text that is not UTF-8.
        OSError: while iterating, as from open.
    """

    def __init__(
        self, path: Path, *, skip_bad: bool = False, progress: Callable[[int], object] = lambda more: None
    ) -> None:
        self._path, self._skip, self._progress = path, skip_bad, progress
        self.bad = 0

    def __iter__(self) -> Iterator[str]:
        for number, phrase in enumerate(self._raw(), start=1):
            if phrase := " ".join(phrase.split()):
                yield unicodedata.normalize("NFC", phrase)
            if number % 1000 == 0:
                self._progress(1000)

    def _raw(self) -> Iterator[str]:
        self.bad = 0
        with PackedFile(self._path) as file:
            if not _LIST.match(file.read(64)):
                file.restart()
                yield from file.lines()
                return
        images = Records(self._path, Regions, skip_bad=self._skip)
        yield from (region.phrase for image in images for region in image.regions)
        self.bad = images.bad

    def sentences(self, *, punctuation: bool = False) -> Iterator[list[str]]:
        """Token lists of the phrases that have tokens. See :func:`tokenise`."""
        return filter(None, (tokenise(phrase, punctuation=punctuation) for phrase in self))


def vocabulary(sentences: Iterable[list[str]], least: int = 1) -> dict[str, int]:
    """{token: count} of tokens that occur at least `least` times, most frequent first, then by alphabet."""
    counts = Counter(chain.from_iterable(sentences))
    common = sorted((token for token in counts if counts[token] >= least), key=lambda t: (-counts[t], t))
    return {token: counts[token] for token in common}
