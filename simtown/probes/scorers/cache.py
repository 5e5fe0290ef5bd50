"""What was answered once is not asked again: answers by the content of the model's files and of the request.

They are kept in memory or, where a directory is given, in one SQLite file there, which several processes may
share.
"""

import json
import sqlite3
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from simtown.core.files import DamagedError
from simtown.core.untrusted import open_database
from simtown.probes.scorers.base import Pooling, Scorer, Spans, TokenScores
from simtown.probes.scorers.spelling import synonyms_of

FILE = "answers.sqlite"
#: Answers by the key of their request.
Answers = dict[bytes, TokenScores]
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, logprobs BLOB, words BLOB) WITHOUT ROWID"


class Cached(Scorer):
    """A scorer in front of another one, which asks it only for what is new.

    Args:
        identity: all that decides its answers, besides the request
            (:func:`simtown.core.pretrained.fingerprint`).
        directory: where to keep the answers; None: in memory, for as long as this object lives.
    """

    def __init__(self, scorer: Scorer, identity: str = "", directory: Path | None = None) -> None:
        self._scorer, self._identity = scorer, identity
        self.name, self.abilities, self.forward = scorer.name, scorer.abilities, scorer.forward
        self._path = Path(directory or "", FILE)
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        opened = open_database(self._path) if directory else sqlite3.connect(":memory:", isolation_level=None)
        self._store = opened
        with self._damage():
            self._store.execute(_TABLE)

    def class_logprobs(self, contexts: Sequence[str], targets: Sequence[str | Sequence[str]]) -> np.ndarray:
        keys, answers, new = self._known(["class", [*map(synonyms_of, targets)]], contexts)
        if new:
            rows = self._scorer.class_logprobs([contexts[i] for i in new], targets)
            answers |= self._keep([keys[i] for i in new], rows)
        return np.array([answers[key].logprobs for key in keys]).reshape(len(contexts), len(targets))

    def sequence_logprobs(
        self, texts: Sequence[str], begins: Sequence[int] | None = None
    ) -> list[TokenScores]:
        requests = texts if begins is None else list(zip(texts, begins, strict=True))
        keys, answers, new = self._known(["sequence"], requests)
        if new:
            new_begins = () if begins is None else ([begins[i] for i in new],)
            scores = self._scorer.sequence_logprobs([texts[i] for i in new], *new_begins)
            answers |= self._keep([keys[i] for i in new], scores)
        return [answers[key] for key in keys]

    def embed(
        self, texts: Sequence[str], spans: Spans | None = None, layer: int = -1, pooling: Pooling = "mean"
    ) -> np.ndarray:
        requests = texts if spans is None else list(zip(texts, spans, strict=True))
        keys, answers, new = self._known(["embed", layer, pooling], requests)
        if new:
            new_spans = None if spans is None else [spans[i] for i in new]
            vectors = self._scorer.embed([texts[i] for i in new], new_spans, layer, pooling)
            answers |= self._keep([keys[i] for i in new], vectors)
        return np.array([answers[key].logprobs for key in keys], dtype=np.float32)

    def word_vector(self, word: str) -> np.ndarray | None:
        """The scorer's own, never kept."""
        return self._scorer.word_vector(word)

    def spelling(self, word: str, lead: str = " ") -> Hashable | None:
        """The scorer's own, never kept."""
        return self._scorer.spelling(word, lead)

    def uncached(self) -> Scorer:
        return self._scorer

    def _known(self, what: list[Any], requests: Sequence[Any]) -> tuple[list[bytes], Answers, list[int]]:
        """The key of every request, the answers that are kept, and the numbers of distinct new requests."""
        common = blake2b(json.dumps([self._identity, what]).encode(), digest_size=16).digest()
        keys = [blake2b(json.dumps(r).encode(), digest_size=16, key=common).digest() for r in requests]
        number_of = {key: number for number, key in reversed(list(enumerate(keys)))}
        answers = {}
        with self._damage():
            for key in number_of:
                query = self._store.execute("SELECT logprobs, words FROM answers WHERE key = ?", (key,))
                if row := query.fetchone():
                    logprobs, words = np.frombuffer(row[0]), np.frombuffer(row[1] or b"", dtype=np.int64)
                    answers[key] = TokenScores(logprobs, words)
        return keys, answers, sorted(number for key, number in number_of.items() if key not in answers)

    def _keep(self, keys: Sequence[bytes], answers: Iterable[TokenScores | np.ndarray]) -> Answers:
        """Store new answers. A row of numbers is kept as log-probabilities without words."""
        kept: Answers = {}
        for key, answer in zip(keys, answers, strict=True):
            if not isinstance(answer, TokenScores):
                answer = TokenScores(answer.astype(np.float64), np.empty(0, dtype=np.int64))
            kept[key] = answer
        rows = [(key, answer.logprobs.tobytes(), answer.words.tobytes()) for key, answer in kept.items()]
        with self._damage():
            self._store.execute("BEGIN")
            self._store.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", rows)
            self._store.execute("COMMIT")
        return kept

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            problem = f"the cache {self._path} is damaged or cannot be written ({error})"
            raise DamagedError(f"{problem}: delete it, and the model is asked again") from error
