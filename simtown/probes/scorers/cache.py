"""What was answered once is not asked again: answers kept by the content of the model's files and of the
request.

They are kept in memory or, where a directory is given, in one SQLite file there, which several processes may
share.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import DamagedError, RefusedError, inside, open_plain
from simtown.probes.scorers.base import Ability, Pooling, Scorer, TokenScores
from simtown.probes.scorers.gap import check_spans

FILE = "answers.sqlite"
#: What decides a model's answers: weights, vocabulary, configuration.
_CONTENT = (".safetensors", ".json", ".txt", ".model")
#: Rows asked for in one statement.
_MANY = 500
#: Bytes of the longest answer: of 100,000 classes, or a vector of as many numbers.
_LONGEST = 1_000_000
_TABLE = "CREATE TABLE answers (key BLOB PRIMARY KEY, logprobs BLOB, words BLOB) WITHOUT ROWID"
#: Files that SQLite keeps beside its own, and the end of a journal that names a file to delete: those of
#: several databases at once.
_BESIDE, _JOURNAL, _NAMES_ANOTHER = (
    ("-journal", "-wal", "-shm"),
    "-journal",
    bytes.fromhex("d9d505f920a163d7"),
)


def fingerprint(path: Path) -> str:
    """A digest of the file, or of the names and contents of the model files under the directory."""
    whole = blake2b(digest_size=16)
    for file in (
        sorted(p for p in path.rglob("*") if p.suffix in _CONTENT and p.is_file())
        if path.is_dir()
        else [path]
    ):
        with open_plain(file) as content:
            name = str(file.relative_to(path)) if path.is_dir() else ""
            digest = file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
            whole.update(f"{name}\0{digest}\0".encode())
    return whole.hexdigest()


class Cached(Scorer):
    """A scorer in front of another one, which asks it only for what is new.

    Args:
        scorer: the one that knows.
        identity: all that decides its answers, besides the request (see :func:`fingerprint`).
        directory: where to keep the answers; made if need be. None: in memory, for as long as this object
            lives.

    Raises:
        DamagedError: the directory's file is no cache.
        RefusedError: it is a link, or could have SQLite delete another file.
    """

    def __init__(self, scorer: Scorer, identity: str = "", directory: Path | None = None) -> None:
        self._scorer, self._identity = scorer, identity
        self.name: str = scorer.name
        self.abilities: frozenset[Ability] = scorer.abilities
        self.forward: bool | None = scorer.forward
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / FILE if directory else None
        if directory is not None:
            _check_beside(directory)
        try:
            self._store = sqlite3.connect(self._path or ":memory:", timeout=60.0, isolation_level=None)
            self._store.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            self._store.execute("PRAGMA trusted_schema = OFF")
            self._store.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
            if self._store.execute("SELECT sql FROM sqlite_schema").fetchall() != [
                (_TABLE,)
            ]:  # a view or a trigger runs when it is used
                raise sqlite3.DatabaseError("it holds more than one table of answers")
        except sqlite3.DatabaseError as error:
            raise DamagedError(
                f"{self._path} is damaged, or simtown did not write it ({error}): delete it if it is a "
                "cache of simtown, or give another folder as cache"
            ) from error

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        listed = [[target] if isinstance(target, str) else list(target) for target in targets]
        keys = self._keys(["class", listed], contexts)
        rows = self._answers(
            keys,
            lambda new: [
                (row, None) for row in self._scorer.class_logprobs([contexts[i] for i in new], targets)
            ],
        )
        return self._table([row for row, _ in rows], len(contexts), len(targets))

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        keys = self._keys(["sequence"], texts)
        rows = self._answers(
            keys,
            lambda new: [
                (s.logprobs, s.words) for s in self._scorer.sequence_logprobs([texts[i] for i in new])
            ],
        )
        return [TokenScores(logprobs, words) for logprobs, words in rows]

    def embed(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]] | None = None,
        layer: int = -1,
        pooling: Pooling = "mean",
    ) -> np.ndarray:
        check_spans(texts, spans)
        keys = self._keys(
            ["embed", layer, pooling], texts if spans is None else list(zip(texts, spans, strict=True))
        )

        def ask(new: list[int]) -> list[tuple[np.ndarray, np.ndarray | None]]:
            chosen = None if spans is None else [spans[i] for i in new]
            return [
                (row.astype(np.float64), None)
                for row in self._scorer.embed([texts[i] for i in new], chosen, layer, pooling)
            ]

        rows = [row for row, _ in self._answers(keys, ask)]
        return self._table(rows, len(rows), len(rows[0]) if rows else 0).astype(np.float32)

    def word_vector(self, word: str) -> np.ndarray | None:
        """See :meth:`simtown.probes.scorers.base.Scorer.word_vector`; never cached."""
        return self._scorer.word_vector(word)

    def shared_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """See :meth:`simtown.probes.scorers.base.Scorer.shared_logprobs`; never cached."""
        return self._scorer.shared_logprobs(texts)

    def spelling(self, word: str, lead: str = " ") -> Hashable | None:
        """See :meth:`simtown.probes.scorers.base.Scorer.spelling`; never cached."""
        return self._scorer.spelling(word, lead)

    def uncached(self) -> Scorer:
        """The model itself."""
        return self._scorer

    def _table(self, rows: list[np.ndarray], n: int, width: int) -> np.ndarray:
        """(n, width).

        Raises:
            DamagedError: kept answers are of another length.
        """
        if any(len(row) != width for row in rows):
            raise DamagedError(
                f"the cache {self._path} holds answers to something else: delete it, and the model is "
                "asked again"
            )
        return np.array(rows, dtype=np.float64).reshape(n, width)

    def _keys(self, what: list[Any], requests: Sequence[Any]) -> list[bytes]:
        common = blake2b(json.dumps([self._identity, what]).encode(), digest_size=16).digest()
        return [
            blake2b(json.dumps(request).encode(), digest_size=16, key=common).digest() for request in requests
        ]

    def _answers(
        self, keys: list[bytes], ask: Callable[[list[int]], list[tuple[np.ndarray, np.ndarray | None]]]
    ) -> list[tuple[np.ndarray, Any]]:
        """(float64 array, int64 array or None) for every key; `ask` is given the numbers of those that are
        new, each key once.
        """
        answer_of: dict[bytes, tuple[np.ndarray, Any]] = {}
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            first.setdefault(key, i)
        wanted = list(first)
        try:
            for begin in range(0, len(wanted), _MANY):
                block = wanted[begin : begin + _MANY]
                marks = ",".join("?" * len(block))
                for key, logprobs, words in self._store.execute(
                    f"SELECT key, logprobs, words FROM answers WHERE key IN ({marks})", block
                ):
                    answer_of[key] = (
                        _numbers(logprobs, np.float64),
                        None if words is None else _numbers(words, np.int64),
                    )
            new = [key for key in wanted if key not in answer_of]
            if new:
                answers = dict(zip(new, ask([first[key] for key in new]), strict=True))
                rows = [
                    (key, a.astype(np.float64).tobytes(), None if b is None else b.astype(np.int64).tobytes())
                    for key, (a, b) in answers.items()
                ]
                self._store.execute("BEGIN")
                self._store.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", rows)
                self._store.execute("COMMIT")
                answer_of |= answers
        except sqlite3.DatabaseError as error:
            raise DamagedError(
                f"the cache {self._path} cannot be read or written ({error}): allow both, or delete it, "
                "and the model is asked again"
            ) from error
        return [answer_of[key] for key in keys]


def _numbers(content: Any, dtype: type) -> np.ndarray:
    """The numbers of an answer. Raises sqlite3.DatabaseError where it is none."""
    if not isinstance(content, bytes) or len(content) % 8:
        raise sqlite3.DatabaseError("an answer is no row of numbers")
    return np.frombuffer(content, dtype=dtype)


def _check_beside(directory: Path) -> None:
    """Check the files that SQLite keeps beside the cache.

    Raises:
        RefusedError: SQLite would read or write behind a link, or delete a file that a journal names.
    """
    inside(directory, FILE)
    for end in _BESIDE:
        inside(directory, FILE + end)
    journal = directory / (FILE + _JOURNAL)
    if journal.is_file():
        with open_plain(journal, follow=False) as file:
            file.seek(max(0, journal.stat().st_size - len(_NAMES_ANOTHER)))
            if file.read() == _NAMES_ANOTHER:
                raise RefusedError(
                    f"{journal} names another file, which no cache does: delete both files and the model "
                    "is asked again"
                )
