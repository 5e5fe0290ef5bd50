"""What was answered once is not asked again: answers kept by the content of the model's files and of the request.

They are kept in memory or, where a directory is given, in one SQLite file there, which several processes may share.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import numpy as np

from simtown.files import DamagedError
from simtown.probes.scorers.base import Ability, Pooling, Scorer, TokenScores
from simtown.probes.scorers.gap import check_spans

FILE = "answers.sqlite"
#: What decides a model's answers: weights, vocabulary, configuration.
_CONTENT = (".safetensors", ".json", ".txt", ".model")
#: Rows asked for in one statement.
_MANY = 500


def fingerprint(path: Path) -> str:
    """A digest of the file, or of the names and contents of the model files under the directory."""
    whole = blake2b(digest_size=16)
    for file in sorted(p for p in path.rglob("*") if p.suffix in _CONTENT and p.is_file()) if path.is_dir() else [path]:
        with file.open("rb") as content:
            name = str(file.relative_to(path)) if path.is_dir() else ""
            whole.update(f"{name}\0{file_digest(content, 'sha256').hexdigest()}\0".encode())
    return whole.hexdigest()


class Cached:
    """A scorer in front of another one, which asks it only for what is new.

    Args:
        scorer: the one that knows.
        identity: all that decides its answers, besides the request (see :func:`fingerprint`).
        directory: where to keep the answers; made if need be. None: in memory, for as long as this object lives.

    Raises DamagedError where the directory's file is no cache.
    """

    def __init__(self, scorer: Scorer, identity: str = "", directory: Path | None = None) -> None:
        self._scorer, self._identity = scorer, identity
        self.name: str = scorer.name
        self.abilities: frozenset[Ability] = scorer.abilities
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / FILE if directory else None
        try:
            self._store = sqlite3.connect(self._path or ":memory:", timeout=60.0, isolation_level=None)
            self._store.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, logprobs BLOB, words BLOB) WITHOUT ROWID")
        except sqlite3.DatabaseError as error:
            raise DamagedError(
                f"{self._path} is damaged, or simtown did not write it ({error}): delete it if it is a cache of simtown, "
                "or give another folder as cache"
            ) from error

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        """See :meth:`simtown.probes.scorers.base.Scorer.class_logprobs`."""
        listed = [[target] if isinstance(target, str) else list(target) for target in targets]
        keys = self._keys(["class", listed], contexts)
        rows = self._answers(keys, lambda new: [(row, None) for row in self._scorer.class_logprobs([contexts[i] for i in new], targets)])
        return np.array([row for row, _ in rows]).reshape(len(contexts), len(targets))

    def sequence_logprobs(self, texts: Sequence[str]) -> list[TokenScores]:
        """See :meth:`simtown.probes.scorers.base.Scorer.sequence_logprobs`."""
        keys = self._keys(["sequence"], texts)
        rows = self._answers(keys, lambda new: [(s.logprobs, s.words) for s in self._scorer.sequence_logprobs([texts[i] for i in new])])
        return [TokenScores(logprobs, words) for logprobs, words in rows]

    def embed(self, texts: Sequence[str], spans: Sequence[tuple[int, int]] | None = None, layer: int = -1,
              pooling: Pooling = "mean") -> np.ndarray:  # fmt: skip
        """See :meth:`simtown.probes.scorers.base.Scorer.embed`."""
        check_spans(texts, spans)
        keys = self._keys(["embed", layer, pooling], texts if spans is None else list(zip(texts, spans, strict=True)))

        def ask(new: list[int]) -> list[tuple[np.ndarray, np.ndarray | None]]:
            chosen = None if spans is None else [spans[i] for i in new]
            return [(row.astype(np.float64), None) for row in self._scorer.embed([texts[i] for i in new], chosen, layer, pooling)]

        rows = [row for row, _ in self._answers(keys, ask)]
        return np.array(rows, dtype=np.float32) if rows else np.empty((0, 0), dtype=np.float32)

    def word_vector(self, word: str) -> np.ndarray | None:
        """See :meth:`simtown.probes.scorers.base.Scorer.word_vector`; asked anew every time."""
        return self._scorer.word_vector(word)

    def _keys(self, what: list[Any], requests: Sequence[Any]) -> list[bytes]:
        common = blake2b(json.dumps([self._identity, what]).encode(), digest_size=16).digest()
        return [blake2b(json.dumps(request).encode(), digest_size=16, key=common).digest() for request in requests]

    def _answers(self, keys: list[bytes], ask: Callable[[list[int]], list[tuple[np.ndarray, np.ndarray | None]]]
                 ) -> list[tuple[np.ndarray, Any]]:  # fmt: skip
        """(float64 array, int64 array or None) for every key; `ask` is given the numbers of those that are new, each key once."""
        found: dict[bytes, tuple[np.ndarray, Any]] = {}
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            first.setdefault(key, i)
        wanted = list(first)
        try:
            for begin in range(0, len(wanted), _MANY):
                block = wanted[begin : begin + _MANY]
                marks = ",".join("?" * len(block))
                for key, logprobs, words in self._store.execute(f"SELECT key, logprobs, words FROM answers WHERE key IN ({marks})", block):
                    found[key] = np.frombuffer(logprobs), None if words is None else np.frombuffer(words, dtype=np.int64)
            new = [key for key in wanted if key not in found]
            if new:
                told = dict(zip(new, ask([first[key] for key in new]), strict=True))
                rows = [
                    (key, a.astype(np.float64).tobytes(), None if b is None else b.astype(np.int64).tobytes())
                    for key, (a, b) in told.items()
                ]
                self._store.execute("BEGIN")
                self._store.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", rows)
                self._store.execute("COMMIT")
                found |= told
        except sqlite3.DatabaseError as error:
            raise DamagedError(
                f"the cache {self._path} cannot be read or written ({error}): allow both, or delete it, and the model is asked again"
            ) from error
        return [found[key] for key in keys]
