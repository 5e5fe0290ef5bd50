"""A small web server for one person at one machine.

It answers on the loopback interface, below an address that only who started it knows: other users of the
machine, and pages of other sites, cannot guess its token. A request is short, comes at once and is the only
one of its connection, so that nobody can hold the server by sending slowly, much, or nothing.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import json
import secrets
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import BaseRequestHandler, TCPServer, ThreadingMixIn
from threading import BoundedSemaphore
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl

from simtown.core.files import parse_json
from simtown.core.terminal import complain

#: Connections at once, each a thread: several times those of a browser. Others are told to come back.
CONNECTIONS = 32
#: Seconds for a whole request and its reply.
PATIENCE = 5.0
#: Bytes of a request's head at most: several times what a browser sends. Of a body, unless a server says
#: otherwise.
LONGEST_HEAD, LONGEST_BODY = 16_384, 4096
#: Bytes that are taken and thrown away after a refusal.
UNREAD = 1_000_000
#: Sent with every reply. A page may add a policy of its own.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Connection": "close",
}


@dataclass(frozen=True)
class Reply:
    """What a request is answered.

    Attributes:
        content: the bytes to send.
        kind: their media type.
        status: of HTTP.
        policy: the Content-Security-Policy; by default nothing in the reply may load or run anything.
    """

    content: bytes
    kind: str = "application/json"
    status: HTTPStatus = HTTPStatus.OK
    policy: str = "default-src 'none'"


def reply(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Reply:
    """A reply in JSON."""
    return Reply(json.dumps(content).encode(), status=status)


def refusal(message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Reply:
    """A reply that says why there is no other."""
    return reply({"error": message}, status)


class LocalServer(ThreadingMixIn, TCPServer):
    """A server on 127.0.0.1 that is listening; call its serve_forever, in a `with` block.

    Args:
        get: what answers GET requests by the path below the address, "" for the address itself; given the
            query's names and values.
        post: what answers POST requests; given the JSON that was sent.
        port: 0: any that is free.
        longest: bytes of the longest body that is read.

    Attributes:
        address: the URL to open; nobody can guess it.

    Raises:
        OSError: the port is not free.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        get: Mapping[str, Callable[[dict[str, str]], Reply]],
        post: Mapping[str, Callable[[Any], Reply]],
        port: int = 0,
        longest: int = LONGEST_BODY,
    ) -> None:
        self.get, self.post, self.longest = get, post, longest
        self.token = secrets.token_urlsafe(16)
        self._free = BoundedSemaphore(CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Handler)
        self.port: int = self.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """See :class:`socketserver.ThreadingMixIn`; if too many are at work, the connection ends at once."""
        if self._free.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:  # there is no thread for it
                self._free.release()
                raise
            return
        with contextlib.suppress(OSError):
            request.setblocking(False)
            request.send(
                b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: "
                b"close\r\n\r\n"
            )
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """See :class:`socketserver.ThreadingMixIn`."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is its own affair; for all else there is a line."""
        error = sys.exception()
        if not isinstance(error, OSError):
            complain(f"simtown: a request failed: {type(error).__name__}: {error}")


class _TooLargeError(Exception):
    """A request has more bytes than any may have."""


class _Input(io.RawIOBase):
    """What a client sends, as far as it is few enough bytes and soon enough.

    Raises _TooLargeError and TimeoutError.
    """

    def __init__(self, connection: socket.socket, most: int) -> None:
        self._connection, self.left, self._end = connection, most, monotonic() + PATIENCE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.left:
            raise _TooLargeError
        self._connection.settimeout(max(self._end - monotonic(), 1e-3))
        number = self._connection.recv_into(memoryview(buffer)[: self.left])
        self.left -= number
        return number


class _Handler(BaseHTTPRequestHandler):
    server: LocalServer

    def setup(self) -> None:
        BaseRequestHandler.setup(self)
        self.connection: socket.socket = self.request
        self._input = _Input(self.connection, LONGEST_HEAD + self.server.longest)
        self.rfile = io.BufferedReader(self._input)
        self.wfile = self._reply = io.BytesIO()

    def handle(self) -> None:
        try:
            self.handle_one_request()
        except _TooLargeError:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def finish(self) -> None:
        """Send the reply, then read what still comes.

        A connection that ends on unread bytes can lose the reply.
        """
        with contextlib.suppress(OSError, _TooLargeError):
            self.connection.settimeout(PATIENCE)
            self.connection.sendall(self._reply.getvalue())
            self.connection.shutdown(socket.SHUT_WR)
            self._input.left = UNREAD
            while self.rfile.read1():
                pass

    def do_GET(self) -> None:
        path, _, words = self.path.partition("?")
        answer = self._ours(self.server.get, path)
        if callable(answer):
            try:
                query = dict(parse_qsl(words, keep_blank_values=True, errors="strict", max_num_fields=100))
            except ValueError:
                answer = refusal("the address cannot be read")
            else:
                answer = _run(answer, query)
        self._send(answer)

    def do_POST(self) -> None:
        answer = self._ours(self.server.post, self.path)
        if callable(answer):
            length = _length(
                self.headers.get_all("Content-Length", []), self.headers.get("Transfer-Encoding")
            )
            if length is None:
                answer = refusal("what is sent must say how long it is")
            elif length > self.server.longest:
                answer = refusal("what is sent is too long", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            else:
                sent = self.rfile.read(length)
                try:
                    content = parse_json(sent)
                except ValueError:
                    answer = refusal("what is sent is no JSON")
                else:
                    answer = (
                        _run(answer, content) if len(sent) == length else refusal("what is sent is cut short")
                    )
        self._send(answer)

    def _ours(
        self, answers: Mapping[str, Callable[[Any], Reply]], path: str
    ) -> Callable[[Any], Reply] | Reply:
        """The handler of this path, if the request was meant for this server.

        A page of another site cannot ask under its own name.
        """
        here = [f"{name}:{self.server.port}" for name in ("127.0.0.1", "localhost")]
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        if (
            len(hosts) != 1
            or hosts[0] not in here
            or any(origin not in [f"http://{host}" for host in here] for origin in origins)
        ):
            return refusal("this page is for this machine alone", HTTPStatus.FORBIDDEN)
        _, _, below = path.partition("/")
        token, slash, name = below.partition("/")
        if not hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.server.token.encode()):
            return refusal(
                "this address is not valid, or no longer: open the one that the command printed last",
                HTTPStatus.FORBIDDEN,
            )
        if not slash or name not in answers:
            return refusal("there is no such page", HTTPStatus.NOT_FOUND)
        return answers[name]

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class makes of requests that it cannot read; no word of them is repeated."""
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self._send(refusal(status.phrase, status))

    def _send(self, answer: Reply) -> None:
        self.request_version = "HTTP/1.0"  # the base class sends no headers to older clients
        self.send_response(answer.status)
        policy = f"{answer.policy}; frame-ancestors 'none'"
        headers = {
            "Content-Type": answer.kind,
            "Content-Length": str(len(answer.content)),
            "Content-Security-Policy": policy,
            **_HEADERS,
        }
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = "GET, POST"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    def version_string(self) -> str:
        """What the header Server says."""
        return "simtown"

    def log_request(self, *_: object) -> None:
        """Print nothing: the terminal belongs to the command."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def _length(lengths: list[str], encoding: str | None) -> int | None:
    """Bytes of a body, by its headers; None where they do not say."""
    if encoding is not None or len(lengths) != 1 or not lengths[0].isascii() or not lengths[0].isdigit():
        return None
    return int(lengths[0]) if len(lengths[0]) < 16 else 10**15


def _run(answer: Callable[[Any], Reply], content: Any) -> Reply:
    """The reply to a request. If the program or the machine fails, the page and the terminal say so.

    The server continues.
    """
    try:
        return answer(content)
    except Exception as error:
        complain(f"simtown: a request failed: {type(error).__name__}: {error}")
        return refusal("the server failed; its terminal says why", HTTPStatus.INTERNAL_SERVER_ERROR)
