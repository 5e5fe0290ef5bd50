"""A server with OpenAI's protocol: one request at a time, asked again after what may pass.

A busy server, 429, 5xx, a connection that is cut, a reply that is late, too long or not what was asked for:
each is asked again after a growing pause, or after the one that the server's Retry-After names, which all
requests keep. The key is read from the environment; it is neither written nor printed.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import requests

from simtown.core.options import SettingsError
from simtown.core.terminal import complain
from simtown.core.untrusted import parse_json

#: Variables of the environment that may hold the key, the first that is set.
KEYS = ("SIMTOWN_API_KEY", "OPENAI_API_KEY")
#: The path of chats.
CHAT = "/chat/completions"
#: Most bytes of a reply.
LARGEST_REPLY = 2**24
#: Seconds of the longest pause that a server may ask for.
LONGEST_RETRY_AFTER = 120.0
#: Statuses besides 5xx after which the same request may succeed, and those that may be about one question.
_PASSING, _OF_A_QUESTION = (408, 409, 425, 429), (400, 413, 422)
#: How a server says that a refusal is about the content of one question.
OF_CONTENT = re.compile(r"^422|content.?(filter|policy|management)|moderation|flagged", re.IGNORECASE)


class _ReplyError(Exception):
    """A reply that is not taken; the message says why."""


#: Errors of the library, whose own words are Python's.
_FAILURES = {
    _ReplyError: "",
    requests.exceptions.ContentDecodingError: "its reply is not packed as its headers say",
    requests.Timeout: "it did not answer in time",
    (requests.ConnectionError, requests.exceptions.ChunkedEncodingError): "it cut the connection",
    Exception: "its reply is not as HTTP has it",
}
#: Seconds of the first pause, each of which is about twice the one before, and of the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0


class UnreachableError(ValueError):
    """The model cannot be asked any more; the message says why. What it said before is kept."""


class ServerReply(NamedTuple):
    """A server's reply to one request.

    Attributes:
        value: what was read of it; None if the server refused this request.
        problem: the refusal.
        requests: how often it was sent.
    """

    value: Any
    problem: str
    requests: int


class Server:
    """A model of a server, by its URL and name: "http://localhost:8000/v1#Qwen/Qwen2-VL-2B-Instruct".

    Args:
        parallel: requests at once, at most.
        timeout: seconds of a reply.
        retries: how often a request is sent again.
        rate: requests a minute; None for no limit.
        remedy: ends the message of an UnreachableError.

    Attributes:
        url: before the path of a request.
        model: its name.
        stopped: set to end all waiting.
    """

    def __init__(
        self, place: str, *, parallel: int, timeout: float, retries: int, rate: float | None, remedy: str
    ) -> None:
        url, _, self.model = place.partition("#")
        try:
            parts = urlsplit(url)
            is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # a port or an address that cannot be
            is_url = False
        if not (is_url and self.model):
            wanted = "write openai:URL#MODEL, with a URL such as http://localhost:8000/v1"
            raise SettingsError(f"openai:{place} is not a URL with a model behind #: {wanted}")
        if parts.username or parts.password or parts.query:
            raise SettingsError(
                f"the URL of {parts.hostname} holds a key or a query: put the key into {KEYS[0]}"
            )
        self.url = url.rstrip("/").removesuffix(CHAT)
        self._timeout, self._retries, self._rate, self._remedy = timeout, retries, rate, remedy
        self._key = next(filter(None, (os.environ.get(name, "").strip() for name in KEYS)), "")
        if not (self._key.isascii() and self._key.isprintable()):
            raise SettingsError(f"the key in {' or '.join(KEYS)} has a sign that no key has: set it again")
        self._gate, self._next, self.stopped = threading.Lock(), 0.0, threading.Event()
        self._session = requests.Session()
        self._session.auth = self._sign
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=parallel)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def ask(self, path: str, request: dict[str, Any], read: Callable[[bytes], Any], name: str) -> ServerReply:
        """Ask until there is an answer.

        Args:
            path: behind the URL, such as :data:`CHAT`.
            read: gives what a reply's body holds; None, or any error of a value, if it holds something else.
            name: of the request, for messages.

        Raises:
            UnreachableError: there is no answer.
        """
        for attempt in range(self._retries + 1):
            self._wait()
            status, pause, value = 0, 0.0, None
            try:
                answer, body = _within(self._timeout, lambda: self._post(path, request))
                status = answer.status_code
                problem = _words(answer, body, path)
                pause = _seconds(answer.headers.get("Retry-After", ""))
                if status < 300:
                    with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                        value = read(body)
                    status = status if value is not None else _code_in(body) or status
            except Exception as error:  # libraries of HTTP raise many kinds
                problem = _failure(error)
            if self._key:  # before anything is cut, which would leave a part of it
                problem = problem.replace(self._key, "the key")
            problem = problem[:500]
            is_refusal = 400 <= status < 500 and status not in _PASSING
            if value is not None or (is_refusal and (status in _OF_A_QUESTION or OF_CONTENT.search(problem))):
                return ServerReply(value, problem, attempt + 1)
            if is_refusal or 300 <= status < 400 or attempt == self._retries:
                break
            if pause > 0:
                self._hold(pause)
            else:
                own = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
                self.stopped.wait(own * random.uniform(0.8, 1.2))
        raise UnreachableError(f"{self.url}{path} does not answer {name} ({problem}): {self._remedy}")

    def _post(self, path: str, request: dict[str, Any]) -> tuple[requests.Response, bytes]:
        """Send a request; gives the reply with its whole body. Raises _ReplyError if that is too long."""
        how: dict[str, Any] = {"timeout": self._timeout, "stream": True, "allow_redirects": False}
        body = bytearray()
        with self._session.post(self.url + path, json=request, **how) as answer:
            for chunk in answer.iter_content(2**16):
                body += chunk
                if len(body) > LARGEST_REPLY:
                    body.clear()  # which the error would keep
                    raise _ReplyError(f"its reply is longer than {LARGEST_REPLY:,} bytes")
        return answer, bytes(body)

    def _hold(self, pause: float) -> None:
        """Let all requests wait, as the server asks."""
        until = time.monotonic() + min(pause, LONGEST_RETRY_AFTER)
        with self._gate:
            is_longer = until > self._next + LONGEST_RETRY_AFTER / 2  # others may ask for the same pause
            self._next = max(self._next, until)
        if is_longer and pause > LONGEST_RETRY_AFTER:
            asks = f"the server asks for a pause of {min(pause, 1e10):,.0f} seconds"
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
            self._next = turn + (60 / self._rate if self._rate else 0)
        if self.stopped.wait(turn - now):
            raise UnreachableError("the run was stopped")


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of `work`, in a thread that is abandoned after these seconds. Raises _ReplyError then."""
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
        raise _ReplyError(f"no whole reply within {seconds:g} seconds") from None


def _failure(error: Exception) -> str:
    """Why there is no reply, in our words or in the system's."""
    reason: BaseException | None = error
    while reason:
        if isinstance(reason, OSError) and reason.strerror:
            return f"no connection: {reason.strerror}"
        reason = reason.__cause__ or reason.__context__
    return next(words or str(error) for kind, words in _FAILURES.items() if isinstance(error, kind))


def _seconds(retry_after: str) -> float:
    """The pause that a Retry-After asks for, in seconds or as a date; 0 if it cannot be read."""
    with suppress(ValueError):
        return float(retry_after)
    with suppress(ValueError, OverflowError, TypeError):
        return mktime_tz(parsedate_tz(retry_after)) - time.time()  # type: ignore[arg-type]
    return 0.0


def _code_in(body: bytes) -> int:
    """The status that the body of an error names, though it was sent as a success; 0 if there is none."""
    with suppress(ValueError, AttributeError):
        reply = parse_json(body.decode("utf-8-sig"))
        for part in (reply, reply.get("error")):
            code = part.get("code")
            if isinstance(code, int) and 400 <= code < 500:
                return code
    return 0


def _words(answer: requests.Response, body: bytes, path: str) -> str:
    """A server's refusal in words, and the remedy."""
    text = " ".join(body.decode("utf-8-sig", "replace").split())
    is_key = answer.status_code in (401, 403) and not OF_CONTENT.search(text)
    hint = f" (is the key in {KEYS[0]} right?)" if is_key else ""
    if answer.is_redirect:
        address = urljoin(answer.url, answer.headers["Location"]).removesuffix(path)
        hint = f" (it has moved to {address}: give that URL)"
    return f"{answer.status_code} {answer.reason}{hint}" + (f": {text}" if text else "")
