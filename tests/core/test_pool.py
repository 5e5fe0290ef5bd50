"""Pieces of work: the same results, reports and errors in this process and in others."""

import os
import pickle
import signal

import pytest

from simtown.core.files import DamagedError
from simtown.core.pool import ClusterError, Processes, require_shared
from simtown.core.processes import WorkerError, portable
from simtown.core.untrusted import RefusedError


def _square(piece, report, power):
    report((piece, os.getpid()))
    if piece < 0:
        raise DamagedError(f"piece {piece} is damaged")
    return piece**power


@pytest.mark.parametrize("workers", [1, 2])
def test_every_piece_is_worked_on_and_the_first_error_ends_it(workers):
    reports = []
    pool = Processes(workers)
    assert sorted(pool.map(_square, [3, 1, 2], (2,), reports.append)) == [(1, 1), (2, 4), (3, 9)]
    assert sorted(piece for piece, _ in reports) == [1, 2, 3]
    assert (os.getpid() in {process for _, process in reports}) == (workers == 1)
    with pytest.raises(DamagedError, match="piece -1 is damaged"):
        list(pool.map(_square, [-1, -1], (2,)))


def _end(piece, report):
    report("begins")
    if piece == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if piece == "fail":
        raise KeyError("missing")
    return piece.upper()


def test_a_piece_that_fails_or_dies_does_not_stop_the_others():
    begun = []
    pieces = ["a", "fail", "die", "b"]
    results = dict(Processes(1).outcomes(_end, iter(pieces), (), lambda *event: begun.append(event)))
    assert begun == [(piece, "begins") for piece in pieces]
    assert (results["a"], results["b"]) == ("A", "B")
    assert str(results["fail"]) == "KeyError: 'missing'"
    assert isinstance(results["die"], WorkerError)
    assert "SIGKILL" in str(results["die"])


def test_an_iterator_that_gets_more_pieces_is_asked_again():
    class Waiting(list):
        """An iterator over what is in it at the moment."""

        def __iter__(self):
            return self

        def __next__(self):
            if not self:
                raise StopIteration
            return self.pop()

    waiting, ended = Waiting(["a"]), []
    for piece, result in Processes(2).outcomes(_end, waiting):
        ended.append(result)
        if piece == "a":
            waiting += ["b", "c"]
    assert sorted(ended) == ["A", "B", "C"]


def test_a_machine_that_does_not_reach_a_directory_says_so(tmp_path):
    require_shared(tmp_path)
    with pytest.raises(ClusterError, match=r"/town"):
        require_shared(tmp_path / "town")


class _OfTwoError(ValueError):
    """An exception that pickle cannot make again."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


@pytest.mark.parametrize(
    "error", [RefusedError("no"), PermissionError(13, "Permission denied", "/x"), MemoryError()]
)
def test_an_error_is_the_same_in_another_process(error):
    received = pickle.loads(pickle.dumps(portable(error)))
    assert (type(received), str(received)) == (type(error), str(error))


@pytest.mark.parametrize("error", [_OfTwoError(1, 2), KeyError("x")])
def test_an_error_that_pickle_cannot_make_says_what_it_says_here(error):
    received = pickle.loads(pickle.dumps(portable(error)))
    assert type(received) is WorkerError
    assert str(received) == f"{type(error).__name__}: {error}"
