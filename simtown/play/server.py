"""The page's server, of the standard library: on this machine alone, for those who know its token."""

from __future__ import annotations

import json
import secrets
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import unquote

from simtown.assets.catalogue import ENTITIES, STREET
from simtown.assets.palette import MATERIALS, PAINTS
from simtown.core.notebook import in_notebook
from simtown.core.untrusted import parse_json
from simtown.language.questions import FAMILIES
from simtown.play.drawing import draw
from simtown.play.drawn import thumb
from simtown.play.session import Session
from simtown.scenes.placement import LANES
from simtown.scenes.weather import DEFAULT_WEATHERS
from simtown.town.answering import NoAnswerError
from simtown.town.checks import TownError
from simtown.town.town import Town

#: What the page is made of: by path its type and its files, one below the other.
_FILES = {
    "": ("text/html", "play/page.html"),
    "style.css": ("text/css", "datasets/gallery/base.css", "play/style.css"),
    "app.js": ("text/javascript", "play/app.js"),
}
#: What the page may load: its own files, and pictures that it makes.
_POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
#: The most bytes of a request, and the most pixels along a side of a picture.
_LARGEST, _WIDEST = 2_000_000, 2048


class PlayServer(ThreadingHTTPServer):
    """Serves one session at :attr:`url` until it is closed.

    Args:
        session: whose town is played with.
        port: on 127.0.0.1; 0 takes a free one.
    """

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session, self.token, self.lock = session, secrets.token_urlsafe(12), threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """The page's address, with the token that every request needs."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"

    def __repr__(self) -> str:
        return f"<PlayServer {self.url}>"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 860px; border: 0; border-radius: 12px"
        return f'<iframe src="{self.url}" style="{style}" allow="clipboard-write"></iframe>'

    def answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request of the page, as JSON holds it; `error` says what the town cannot do."""
        session, error, offers = self.session, "", None
        with self.lock:
            try:
                if path == "ask":
                    session.ask(str(request["question"]))
                elif path == "do" and request["verb"] != "look":
                    session.do(request["verb"], request.get("given", {}), request.get("gesture"))
            except NoAnswerError as refusal:
                error, offers = refusal.problem, refusal.offered
            except TownError as refusal:
                error = str(refusal)
            width, height = (min(int(side), _WIDEST) for side in request["size"])
            shown = session.look((width, height), request.get("overlay", ""), bool(request.get("moving")))
        return shown | {"error": error, "instead": offers}


def play(town: Town, port: int = 0) -> PlayServer:
    """See :meth:`simtown.Town.play`."""
    server = PlayServer(Session(town), port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if not in_notebook():
        webbrowser.open(server.url)
    return server


def catalogue() -> dict[str, Any]:
    """What the page needs to know once: kinds by group, paints, weathers, lanes."""
    colours = {m.name: f"#{m.rgb:06x}" for m in MATERIALS}
    return {
        "kinds": {"vehicle": ENTITIES, **STREET},
        "paints": {name: colours[name] for name in PAINTS},
        "weathers": DEFAULT_WEATHERS,
        "families": FAMILIES,
        "lanes": [y for y, _ in LANES],
    }


class _Handler(BaseHTTPRequestHandler):
    server: PlayServer
    protocol_version = "HTTP/1.1"  # a connection serves many frames
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._reply(self._get)

    def do_POST(self) -> None:
        self._reply(self._post)

    def _reply(self, reply: Callable[[str], tuple[str, bytes] | None]) -> None:
        port, inside = self.server.server_address[1], f"/{self.server.token}/"
        known = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
        status, found = 404, None
        try:
            if known and self.path.startswith(inside) and (found := reply(unquote(self.path[len(inside) :]))):
                status = 200
        except (KeyError, TypeError, ValueError) as error:
            found, status = ("text/plain", str(error).encode()), 400
        kind, content = found or ("text/plain", b"use the address that simtown printed")
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-store"}
        headers |= {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
        for name, value in (headers | {"Referrer-Policy": "no-referrer"}).items():
            self.send_header(name, value)
        with suppress(ConnectionError):  # the page has gone
            self.end_headers()
            self.wfile.write(content)

    def _get(self, path: str) -> tuple[str, bytes] | None:
        if path in _FILES:
            kind, *names = _FILES[path]
            return f"{kind}; charset=utf-8", b"".join((files("simtown") / n).read_bytes() for n in names)
        if path == "catalogue":
            return "application/json", json.dumps(catalogue()).encode()
        folder, _, name = path.partition("/")
        if folder == "thumb":
            return "image/png", thumb(name.removesuffix(".png"))
        if folder != "file":
            return None
        with self.server.lock:
            session = self.server.session.copy()
        content = session.file(name)
        return ("application/octet-stream", content) if content else None

    def _post(self, path: str) -> tuple[str, bytes] | None:
        length = int(self.headers.get("Content-Length", 0))
        if path not in ("do", "ask", "draw") or length > _LARGEST:
            return None
        request = parse_json(self.rfile.read(length))
        reply = draw(request) if path == "draw" else self.server.answer(path, request)
        return "application/json", json.dumps(reply).encode()

    def log_message(self, *_: object) -> None:
        """Nothing: a page asks a hundred times a minute."""
