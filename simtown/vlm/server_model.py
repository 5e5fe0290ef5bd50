"""Models behind a server with OpenAI's chat protocol: vLLM, llama.cpp, Ollama, or a provider of the internet.

Requests go out several at a time. What may pass (a busy server, 429, 5xx, a connection that is cut, a reply
that is late, too long or not a completion) is asked again after a growing pause, or after the one that the
server's Retry-After names, which all requests keep. A refusal of one question is its answer; every other
refusal stops the run. The key is read from the environment; it is neither written nor printed.
"""

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, suppress
from email.utils import mktime_tz, parsedate_tz
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec
import requests

from simtown.core import stopping
from simtown.core.options import SettingsError
from simtown.core.portable_png import png_bytes
from simtown.core.terminal import complain
from simtown.core.untrusted import parse_json
from simtown.language.words.instructions import user_message
from simtown.vlm.vision_model import Query, Said, Turn, UnreachableError, VisionModel
from simtown.vlm.vlm_settings import CONTINUES, VlmSettings

#: Variables of the environment that may hold the key, the first that is set.
KEYS = ("SIMTOWN_API_KEY", "OPENAI_API_KEY")
#: What follows the URL of a server.
_PATH = "/chat/completions"
#: Most bytes of a reply.
LARGEST_REPLY = 2**24
#: Seconds of the longest pause that a server may ask for.
LONGEST_RETRY_AFTER = 120.0
#: Refusals in a row that stop a run; as many as go out at once, if that is more.
MOST_REFUSED = 8
#: Statuses besides 5xx after which the same request may succeed, and those that may be about one question.
_PASSING, _OF_A_QUESTION = (408, 409, 425, 429), (400, 413, 422)
#: How a server says that a refusal is about the content of one question.
_OF_CONTENT = re.compile(r"^422|content.?(filter|policy|management)|moderation|flagged", re.IGNORECASE)
#: Seconds of the first pause, each of which is about twice the one before, and of the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
#: Seconds in which a run that is stopped still takes answers.
_LAST_WORDS = 0.8


class ServerModel(VisionModel):
    """A model of a server, by its URL and name: "http://localhost:8000/v1#Qwen/Qwen2-VL-2B-Instruct"."""

    holds_turns = holds_several = True

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        url, _, self._model = place.partition("#")
        try:
            parts = urlsplit(url)
            is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # a port or an address that cannot be
            is_url = False
        if not (is_url and self._model):
            wanted = "write openai:URL#MODEL, with a URL such as http://localhost:8000/v1"
            raise SettingsError(f"openai:{place} is not a URL with a model behind #: {wanted}")
        if parts.username or parts.password or parts.query:
            raise SettingsError(
                f"the URL of {parts.hostname} holds a key or a query: put the key into {KEYS[0]}"
            )
        self._url = url.rstrip("/").removesuffix(_PATH) + _PATH
        self._settings, self.batch = settings, settings.parallel
        self._key = next(filter(None, (os.environ.get(name, "").strip() for name in KEYS)), "")
        if not (self._key.isascii() and self._key.isprintable()):
            raise SettingsError(f"the key in {' or '.join(KEYS)} has a sign that no key has: set it again")
        self._gate, self._next, self._stopped = threading.Lock(), 0.0, threading.Event()
        self._session = requests.Session()
        self._session.auth = self._sign
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=settings.parallel)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

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
                if not said.refused or (has_answered and _OF_CONTENT.search(said.problem)):
                    yield query, said
                    continue
                held.append((query, said))
                if len(held) == most:
                    break
        is_content = all(_OF_CONTENT.search(said.problem) for _, said in held)
        if len(held) == most or not (has_answered or is_content):
            refusal = f"{self._url} refused {len(held)} questions in a row ({held[0][1].problem})"
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
        request = {"model": self._model, "messages": messages, "temperature": temperature}
        request["max_tokens"] = self._settings.max_tokens
        changes = json.loads(self._settings.request or "{}")
        request = {name: value for name, value in (request | changes).items() if value is not None}
        for attempt in range(self._settings.retries + 1):
            self._wait()
            status, pause, said = 0, 0.0, None
            try:
                answer, body = _within(self._settings.timeout, lambda: self._post(request))
                status = answer.status_code
                problem = _words(answer, body)
                pause = _seconds(answer.headers.get("Retry-After", ""))
                said = _as_said(body) if status < 300 else None
            except Exception as error:  # libraries of HTTP raise many kinds
                problem = f"{type(error).__name__}: {error}"
            if self._key:  # before anything is cut, which would leave a part of it
                problem = problem.replace(self._key, "the key")
            problem = problem[:500]
            is_refusal = 400 <= status < 500 and status not in _PASSING
            if is_refusal and (status in _OF_A_QUESTION or _OF_CONTENT.search(problem)):
                said = Said("", problem=problem, refused=True)
            if said:
                return msgspec.structs.replace(said, requests=attempt + 1)
            if is_refusal or 300 <= status < 400 or attempt == self._settings.retries:
                break
            if pause > 0:
                self._hold(pause)
            else:
                own = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
                self._stopped.wait(own * random.uniform(0.8, 1.2))
        raise UnreachableError(f"{self._url} does not answer {query.key} ({problem}): {CONTINUES}")

    def _post(self, request: dict[str, Any]) -> tuple[requests.Response, bytes]:
        """Send a request; gives the reply with its whole body. Raises ValueError if that is too long."""
        how: dict[str, Any] = {"timeout": self._settings.timeout, "stream": True, "allow_redirects": False}
        body = bytearray()
        with self._session.post(self._url, json=request, **how) as answer:
            for chunk in answer.iter_content(2**16):
                body += chunk
                if len(body) > LARGEST_REPLY:
                    raise ValueError(f"its reply is longer than {LARGEST_REPLY:,} bytes")
        return answer, bytes(body)

    def _hold(self, pause: float) -> None:
        """Let all requests wait, as the server asks."""
        until = time.monotonic() + min(pause, LONGEST_RETRY_AFTER)
        with self._gate:
            is_longer = until > self._next + LONGEST_RETRY_AFTER / 2  # others may ask for the same pause
            self._next = max(self._next, until)
        if is_longer and pause > LONGEST_RETRY_AFTER:
            asks = f"the server asks for a pause of {pause:,.0f} seconds"
            complain(f"simtown: {asks}: it is asked again after {LONGEST_RETRY_AFTER:.0f}")

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


def _message(turn: Turn) -> dict[str, Any]:
    if turn.role != "user":
        return {"role": turn.role, "content": turn.text}
    return user_message(turn.text, *map(png_bytes, turn.pictures), is_behind=turn.is_behind)


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of `work`, run in a thread that is abandoned after these seconds. Raises
    TimeoutError then.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"no whole reply within {seconds:g} seconds") from None


def _seconds(retry_after: str) -> float:
    """The pause that a Retry-After asks for, in seconds or as a date; 0 if it cannot be read."""
    with suppress(ValueError):
        return float(retry_after)
    with suppress(ValueError, OverflowError, TypeError):
        return mktime_tz(parsedate_tz(retry_after)) - time.time()  # type: ignore[arg-type]
    return 0.0


def _as_said(body: bytes) -> Said | None:
    """The text of a server's reply; None if it is not a completion."""
    try:
        reply = parse_json(body.decode("utf-8-sig", "replace"))
        choice = reply["choices"][0]
        message = choice["message"]
        text = _text(message.get("content")) or _text(message.get("refusal"))
        reasoning = _text(message.get("reasoning_content") or message.get("reasoning"))
        finish = _text(choice.get("finish_reason"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    usage = reply.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    read, written = (counts.get(f"{name}_tokens", 0) for name in ("prompt", "completion"))
    is_refused = finish == "content_filter" and not text
    problem = f"its reply was withheld: {finish}" if is_refused else ""
    return Said(text, None, read, written, finish, reasoning, problem, is_refused)


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


def _words(answer: requests.Response, body: bytes) -> str:
    """A server's refusal in words, and the remedy."""
    hint = f" (is the key in {KEYS[0]} right?)" if answer.status_code in (401, 403) else ""
    if answer.is_redirect:
        address = urljoin(answer.url, answer.headers["Location"]).removesuffix(_PATH)
        hint = f" (it has moved to {address}: give that URL)"
    text = " ".join(body.decode("utf-8-sig", "replace").split())
    return f"{answer.status_code} {answer.reason}{hint}: {text}"
