"""The page that asks for judgements, and what it sends."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Any

from simtown.core.html import policy
from simtown.core.server import LocalServer, Reply, refusal, reply
from simtown.probes.spatial.judge.answers import RatingsFile, RejectedError
from simtown.probes.spatial.judge.trials import trials_of


def serve(answers: RatingsFile, port: int = 0) -> LocalServer:
    """A server of the page that is listening; call its serve_forever.

    Args:
        answers: the file that keeps them.
        port: to listen at; 0: any that is free.

    Raises:
        OSError: the port is in use.
    """
    page = files("simtown.probes.spatial.judge").joinpath("page.html").read_text(encoding="utf-8")
    shown = Reply(
        page.encode(), "text/html; charset=utf-8", policy=policy(page, connect="'self'", img="data:")
    )
    get = {"": lambda query: shown, "trial": lambda query: _next(answers, query.get("worker", ""))}
    return LocalServer(get, {"answer": partial(_keep, answers)}, port)


def _keep(answers: RatingsFile, sent: Any) -> Reply:
    """Keep an answer and send the worker's next trial."""
    try:
        worker, number, rating, seconds = (sent[key] for key in ("worker", "number", "rating", "seconds"))
        if not (
            isinstance(worker, str)
            and type(number) is int
            and type(rating) is int
            and type(seconds) in (int, float)
        ):
            raise TypeError
    except (KeyError, TypeError):
        return refusal("an answer has worker, number, rating and seconds")
    try:
        answers.add(worker, number, rating, seconds)
    except RejectedError as error:
        return refusal(str(error))
    return _next(answers, worker)


def _next(answers: RatingsFile, worker: str) -> Reply:
    """The worker's next trial."""
    try:
        number = answers.next_of(worker)
    except RejectedError as error:
        return refusal(str(error))
    trials = trials_of(worker)
    content: dict[str, Any] = {"number": number, "total": len(trials)}
    if number < len(trials):
        content |= {"first": trials[number].first, "second": trials[number].second}
    return reply(content)
