"""Models behind a server with OpenAI's chat protocol: vLLM, llama.cpp, Ollama, or a provider of the internet.

Requests go out several at a time. What may pass (a busy server, 429, 5xx, a connection that is cut, a reply
that is no JSON) is asked again after a growing pause, or after the one that the server's Retry-After names,
which all requests keep. The key is read from the environment; it is neither written nor printed.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import requests

from simtown.core import stopping
from simtown.core.options import SettingsError
from simtown.core.portable_png import png_bytes
from simtown.language.instructions import user_message
from simtown.vlm.vision_model import Query, Said, UnreachableError, VisionModel
from simtown.vlm.vlm_settings import VlmSettings

#: Variables of the environment that may hold the key, the first that is set.
KEYS = ("SIMTOWN_API_KEY", "OPENAI_API_KEY")
#: Statuses besides 5xx after which the same request may succeed.
_PASSING = (408, 409, 425, 429)
#: Seconds of the first pause, each of which is about twice the one before, and of the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
#: Seconds in which a run that is stopped still takes answers.
_LAST_WORDS = 0.8


class ServerModel(VisionModel):
    """A model of a server, by its URL and name: "http://localhost:8000/v1#Qwen/Qwen2-VL-2B-Instruct"."""

    def __init__(self, place: str, settings: VlmSettings) -> None:
        url, _, self._model = place.partition("#")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not self._model:
            example = "openai:http://localhost:8000/v1#Qwen/Qwen2-VL-2B-Instruct"
            raise SettingsError(f"openai:{place} is no URL with a model behind #: write {example}")
        if parts.username or parts.password or parts.query:
            raise SettingsError(
                f"the URL of {parts.hostname} holds a key or a query: put the key into {KEYS[0]}"
            )
        self._url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self._settings = settings
        self._key = next(filter(None, map(os.environ.get, KEYS)), "")
        self._gate, self._next, self._stopped = threading.Lock(), 0.0, threading.Event()
        self._session = requests.Session()
        self._session.auth = self._sign
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=settings.parallel)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        """Ask; a signal ends it within a second, with all that arrived by then."""
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
        message = user_message(query.text, None if query.picture is None else png_bytes(query.picture))
        request = {"model": self._model, "messages": [message], "temperature": 0}
        request["max_tokens"] = self._settings.max_tokens
        changes = json.loads(self._settings.request or "{}")
        request = {name: value for name, value in (request | changes).items() if value is not None}
        for attempt in range(self._settings.retries + 1):
            self._wait()
            try:
                answer = self._session.post(self._url, json=request, timeout=self._settings.timeout)
                if answer.ok:
                    return _as_said(answer.json())
                problem = _refusal(answer)
                if answer.status_code < 500 and answer.status_code not in _PASSING:
                    break
                pause = float(answer.headers.get("Retry-After", 0))
            except (requests.RequestException, ValueError, LookupError, TypeError) as error:
                problem, pause = f"{type(error).__name__}: {error}", 0.0
            if pause > 0:
                with self._gate:
                    self._next = max(self._next, time.monotonic() + pause)
            else:
                own = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
                self._stopped.wait(own * random.uniform(0.8, 1.2))
        if self._key:
            problem = problem.replace(self._key, "the key")
        remedy = "the same command goes on where this one stopped"
        raise UnreachableError(f"{self._url} does not answer {query.key} ({problem:.300}): {remedy}")

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the key; without this, a key of ~/.netrc would be sent."""
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _wait(self) -> None:
        """Wait for this request's turn. Raises UnreachableError if another one has failed for good."""
        with self._gate:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + (60 / self._settings.rate if self._settings.rate else 0)
        if self._stopped.wait(turn - now):
            raise UnreachableError("the run was stopped")


def _as_said(reply: Any) -> Said:
    """What a server's reply says. Raises LookupError or TypeError if it has no text."""
    text, usage = reply["choices"][0]["message"]["content"], reply.get("usage") or {}
    if not isinstance(text, str | None):
        raise TypeError(f"its content is {text!r:.80}")
    return Said(text or "", None, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


def _refusal(answer: requests.Response) -> str:
    """Why a server refused, in its own words."""
    hint = f": is the key in {KEYS[0]} right?" if answer.status_code in (401, 403) else ""
    return f"{answer.status_code} {answer.reason}: {' '.join(answer.text.split())[:200]}{hint}"
