"""Models behind a server with OpenAI's chat protocol: vLLM, llama.cpp, Ollama, or a provider of the internet.

Requests go out several at a time (:mod:`simtown.core.server_client`). A refusal of one question is its
answer; every other refusal stops the run.
"""

import json
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from math import inf, isfinite
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
import numpy as np

from simtown.core import stopping
from simtown.core.portable_png import png_bytes
from simtown.core.server_client import CHAT, OF_CONTENT, Server, UnreachableError
from simtown.core.untrusted import parse_json
from simtown.language.words.instructions import user_message
from simtown.vlm.vision_model import Query, Said, Turn, VisionModel
from simtown.vlm.vlm_settings import CONTINUES, VlmSettings

#: Refusals in a row that stop a run; as many as go out at once, if that is more.
MOST_REFUSED = 8
#: Seconds in which a run that is stopped still takes answers.
_LAST_WORDS = 0.8


class ServerModel(VisionModel):
    """A model of a server, by its URL and name: "http://localhost:8000/v1#Qwen/Qwen2-VL-2B-Instruct"."""

    holds_turns = holds_several = True

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        self._settings, self.batch = settings, settings.parallel
        how: dict[str, Any] = {
            "parallel": settings.parallel,
            "timeout": settings.timeout,
            "retries": settings.retries,
        }
        self._server = Server(place, **how, rate=settings.rate, remedy=CONTINUES)
        self._stopped = self._server.stopped

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        """Ask; a signal ends it within a second, with all that arrived by then.

        A refusal is given as an answer once the server has answered another question, which tells it from a
        refusal of all.
        """
        held: list[tuple[Query, Said]] = []
        has_answered, most = False, max(MOST_REFUSED, self._settings.parallel)
        with closing(self._replies(queries)) as replies:
            for query, said in replies:
                if not said.refused:
                    has_answered = True
                    yield from held
                    held.clear()
                if not said.refused or (has_answered and OF_CONTENT.search(said.problem)):
                    yield query, said
                    continue
                held.append((query, said))
                if len(held) == most:
                    break
        is_content = all(OF_CONTENT.search(said.problem) for _, said in held)
        if len(held) == most or not (has_answered or is_content):
            refusal = (
                f"{self._server.url}{CHAT} refused {len(held)} questions in a row ({held[0][1].problem})"
            )
            raise UnreachableError(f"{refusal}: {CONTINUES}")
        yield from held

    def _replies(self, queries: Iterable[Query]) -> Generator[tuple[Query, Said], None, None]:
        """Send the requests, several at a time, and give all replies, refusals too."""
        waiting, running, failed, end = iter(queries), 0, None, 0.0
        asked: SimpleQueue[Query | None] = SimpleQueue()
        answered: SimpleQueue[tuple[Query, Said | Exception]] = SimpleQueue()
        self._stopped.clear()
        for _ in range(self._settings.parallel):  # daemons: Python waits for other threads at its end
            threading.Thread(target=self._answer, args=(asked, answered), daemon=True).start()
        with stopping.delayed():
            try:
                while True:
                    room = 0 if self._stopped.is_set() else self._settings.parallel - running
                    for query in islice(waiting, room):
                        asked.put(query)
                        running += 1
                    if not running or (end and time.monotonic() > end):
                        break
                    if stopping.requested() and not end:
                        self._stopped.set()
                        end = time.monotonic() + _LAST_WORDS
                    with suppress(Empty):
                        query, said = answered.get(timeout=0.1)
                        running -= 1
                        if isinstance(said, Said):
                            yield query, said
                        else:
                            failed = failed or said  # those on their way may still be answered
                            self._stopped.set()
            finally:
                self._stopped.set()
                for _ in range(self._settings.parallel):
                    asked.put(None)
        if failed:
            raise failed

    def _answer(self, asked: SimpleQueue[Query | None], answered: SimpleQueue[Any]) -> None:
        """In a thread: answer what is in a queue until it holds None."""
        while (query := asked.get()) is not None:
            try:
                answered.put((query, self._said(query)))
            except Exception as error:
                answered.put((query, error))

    def _said(self, query: Query) -> Said:
        """Ask until there is an answer. Raises UnreachableError if there is none."""
        messages = [_message(turn) for turn in query.messages]
        temperature = 1 if self._settings.samples else 0
        request = {"model": self._server.model, "messages": messages, "temperature": temperature}
        request["max_tokens"] = self._settings.max_tokens
        changes = json.loads(self._settings.request or "{}")
        request = {name: value for name, value in (request | changes).items() if value is not None}
        reply = self._server.ask(CHAT, request, partial(_as_said, spoken=query.spoken), query.key)
        said = reply.value or Said("", problem=reply.problem, refused=True)
        return msgspec.structs.replace(said, requests=reply.requests)


def _message(turn: Turn) -> dict[str, Any]:
    if turn.role != "user":
        return {"role": turn.role, "content": turn.text}
    return user_message(turn.text, *map(png_bytes, turn.pictures), is_behind=turn.is_behind)


def _as_said(body: bytes, spoken: Sequence[str]) -> Said | None:
    """A server's reply to a question with some answers; None, or an error, if it is not a completion."""
    reply = parse_json(body.decode("utf-8-sig", "replace"))
    choice = reply["choices"][0]
    message = choice["message"]
    text = _text(message.get("content")) or _text(message.get("refusal"))
    reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
    finish = _text(choice.get("finish_reason"))
    if choice.get("error"):  # of the provider behind a router: it may pass
        return None
    usage = reply.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    read, written = (counts.get(f"{name}_tokens", 0) for name in ("prompt", "completion"))
    is_refused = finish == "content_filter" and not text
    problem = f"its reply was withheld: {finish}" if is_refused else ""
    scores = _scores(choice, spoken)
    return Said(text, scores, read, written, finish, reasoning, problem, is_refused)


def _scores(choice: Any, spoken: Sequence[str]) -> tuple[float, ...] | None:
    """Log-probabilities of the answers by a reply's first token; None if one has no token of its own."""
    by_answer = dict.fromkeys(spoken, -inf)
    wrong = (ValueError, LookupError, TypeError, AttributeError)
    with np.errstate(invalid="ignore"), suppress(*wrong):  # NaN is unread
        for entry in choice["logprobs"]["content"][0]["top_logprobs"]:
            token = entry["token"].strip().lower()
            own = [answer for answer in spoken if answer.lower().startswith(token)]
            if len(own) == 1:
                by_answer[own[0]] = float(np.logaddexp(by_answer[own[0]], entry["logprob"]))
    scores = tuple(by_answer.values())
    return scores if scores and all(map(isfinite, scores)) else None


def _text(content: Any) -> str:
    """The text of a message's content: a text, or a list of parts."""
    match content:
        case str():
            return content
        case None:
            return ""
        case [*parts]:
            return "".join(map(_text, parts))
        case {"text": text}:
            return _text(text)
        case {"type": _}:  # another part, such as a picture
            return ""
    return json.dumps(content)
