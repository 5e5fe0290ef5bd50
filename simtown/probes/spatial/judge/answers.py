"""The file of answers: a tidy CSV that grows by a line an answer, on disk before the page goes on."""

from __future__ import annotations

import csv
import fcntl
import math
import os
import re
import stat
from pathlib import Path
from threading import Lock
from typing import TextIO

from simtown.core.files import DamagedError, ForeignDirectoryError, RefusedError, read_text
from simtown.core.tables import csv_text
from simtown.probes.spatial.judge.trials import Rating, Trial, trials_of

HEAD = ("worker", "number", "kind", "first", "second", "rating", "seconds")
#: Bytes of the largest file of answers: of 2,000 workers.
LARGEST = 8_000_000
#: A worker's name. It begins with no -, which spreadsheets take for a formula.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,39}")


class RejectedError(ValueError):
    """An answer is refused; the message says why."""


class RatingsFile:
    """Answers of all workers, and the file that keeps them; a context manager that keeps other processes from
    writing it.

    Raises:
        ForeignDirectoryError: the file holds something else, or another process is writing it.
        DamagedError: a line of it is damaged.
        RefusedError: it is a link, since what is written goes to the file that was named, or no plain file.
    """

    def __init__(self, path: Path) -> None:
        self._lock = Lock()
        self._file = _opened(path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.all = read(path)
        except BlockingIOError:
            self._file.close()
            raise ForeignDirectoryError(
                f"{path} is being written by another simtown probe spatial judge: give another `path`"
            ) from None
        except BaseException:
            self._file.close()
            raise
        if not path.stat().st_size:
            self._append(HEAD)

    def __enter__(self) -> RatingsFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def next_of(self, worker: str) -> int:
        """The number of the worker's first trial without an answer.

        Raises:
            RejectedError: the name is not possible.
        """
        if not NAME.fullmatch(worker):
            raise RejectedError("a name has 1 to 40 letters, digits, - or _, and begins with no -")
        return sum(a.worker == worker for a in self.all)

    def add(self, worker: str, number: int, rating: int, seconds: float) -> None:
        """Keep an answer; one that is kept already, sent again, changes nothing.

        Raises:
            RejectedError: the answer is not possible, or not due yet.
        """
        with self._lock:
            due, trials = self.next_of(worker), trials_of(worker)
            if not 0 <= number < len(trials) or number > due:
                raise RejectedError(f"trial {number} is not to be answered now")
            if not 0 <= rating <= 100:
                raise RejectedError("a rating is a whole number from 0 to 100")
            if not 0 <= seconds < 1e7:
                raise RejectedError("seconds must be a number of at least 0")
            if number < due:
                return
            answer = Rating(worker, number, trials[number], rating, round(seconds, 2))
            self._append(
                (
                    worker,
                    number,
                    answer.trial.kind,
                    answer.trial.first,
                    answer.trial.second,
                    rating,
                    answer.seconds,
                )
            )
            self.all.append(answer)

    def _append(self, row: tuple[object, ...]) -> None:
        self._file.write(csv_text([row]))
        self._file.flush()
        os.fsync(self._file.fileno())


def _opened(path: Path) -> TextIO:
    """The file to add to, made if need be."""
    try:
        handle = os.open(
            path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666
        )
    except OSError:
        if path.is_symlink():
            raise RefusedError(f"{path} is a symbolic link: give the file that it leads to") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise RefusedError(f"{path} is no plain file: give another `path`")
    return os.fdopen(handle, "a+", encoding="utf-8", newline="")


def read(path: Path) -> list[Rating]:
    """The answers of a file; none of an empty one.

    Raises:
        ForeignDirectoryError: the file holds something else.
        DamagedError: a line of it is damaged.
        RefusedError: the file is too large.
    """
    try:
        content = read_text(path, LARGEST)
    except UnicodeDecodeError:
        raise ForeignDirectoryError(f"{path} holds no judgements: give another file") from None
    if content and content.partition("\n")[0].split(",") != list(HEAD):
        raise ForeignDirectoryError(
            f"{path} holds no judgements (its first line is not {','.join(HEAD)}): give another file"
        )
    ratings: list[Rating] = []
    many: dict[str, int] = {}
    for number, line in enumerate(content.splitlines()[1:], start=2):
        try:
            (row,) = csv.reader([line])
            worker, at, kind, first, second, rating, seconds = row
            answer = Rating(worker, int(at), Trial(kind, first, second), int(rating), float(seconds))  # type: ignore[arg-type]
            due = many.get(worker, 0)
            if (
                answer.number != due
                or answer.trial != trials_of(worker)[due]
                or not 0 <= answer.rating <= 100
            ):
                raise ValueError
            if not 0 <= answer.seconds < math.inf or not re.fullmatch(
                r"[A-Za-z0-9_-]{1,40}", worker
            ):  # once with a - in front, too
                raise ValueError
        except (ValueError, IndexError, csv.Error):
            raise DamagedError(
                f"{path} line {number} is no judgement: '{line[:60]}'; take it out to go on"
            ) from None
        many[worker] = answer.number + 1
        ratings.append(answer)
    if content and not content.endswith("\n"):
        raise DamagedError(f"{path} line {len(content.splitlines())} is cut short: take it out to go on")
    return ratings
