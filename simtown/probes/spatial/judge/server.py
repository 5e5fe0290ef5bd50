"""A web page for one machine: it answers on the loopback interface alone, and to pages that it served itself."""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from simtown.probes.spatial.judge.answers import Answers, RejectedError
from simtown.probes.spatial.judge.trials import trials_of

#: Bytes of the longest request that is read.
LONGEST = 4096
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def serve(answers: Answers, port: int = 0) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 that is listening; call its serve_forever. Port 0: any that is free. Raises OSError for one that is not."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    server.answers = answers  # type: ignore[attr-defined]
    return server


class _Handler(BaseHTTPRequestHandler):
    server_version = "simtown"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if not self._mine():
            return
        if address.path == "/":
            page = files("simtown.probes.spatial.judge").joinpath("page.html").read_bytes()
            self._send(HTTPStatus.OK, page, "text/html; charset=utf-8")
        elif address.path == "/trial":
            self._tell(parse_qs(address.query).get("worker", [""])[0])
        else:
            self._json(HTTPStatus.NOT_FOUND, {"error": "there is no such page"})

    def do_POST(self) -> None:
        if not self._mine():
            return
        length = self.headers.get("Content-Length", "")
        if self.path != "/answer" or not length.isascii() or not length.isdigit() or int(length) > LONGEST:
            self.close_connection = True
            self._json(HTTPStatus.BAD_REQUEST, {"error": "an answer is a short JSON object sent to /answer"})
            return
        try:
            told = json.loads(self.rfile.read(int(length)))
            worker, number, rating, seconds = (told[key] for key in ("worker", "number", "rating", "seconds"))
            if not (isinstance(worker, str) and type(number) is int and type(rating) is int and type(seconds) in (int, float)):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            self._json(HTTPStatus.BAD_REQUEST, {"error": "an answer has worker, number, rating and seconds"})
            return
        try:
            self._answers.add(worker, number, rating, seconds)
        except RejectedError as error:
            self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        self._tell(worker)

    @property
    def _answers(self) -> Answers:
        return self.server.answers  # type: ignore[attr-defined]

    def _mine(self) -> bool:
        """Whether the request was meant for this address: another site's page cannot ask under its own name."""
        here = {f"{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")}  # type: ignore[attr-defined]
        origin = self.headers.get("Origin")
        if self.headers.get("Host") in here and (origin is None or origin.removeprefix("http://") in here):
            return True
        self._json(HTTPStatus.FORBIDDEN, {"error": "this page is for this machine alone"})
        return False

    def _tell(self, worker: str) -> None:
        """The worker's next trial."""
        try:
            number = self._answers.next_of(worker)
        except RejectedError as error:
            self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        trials = trials_of(worker)
        told: dict[str, Any] = {"number": number, "total": len(trials)}
        if number < len(trials):
            told |= {"first": trials[number].first, "second": trials[number].second}
        self._json(HTTPStatus.OK, told)

    def _json(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        self._send(status, json.dumps(content).encode(), "application/json")

    def _send(self, status: HTTPStatus, content: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **_HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the terminal is for whoever runs the command."""
