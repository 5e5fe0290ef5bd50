"""The page's server, of the standard library: on this machine alone, for those who know its token."""

import json
import re
import secrets
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import unquote

import msgspec

from simtown.assets.catalogue import ENTITIES, STREET
from simtown.assets.palette import MATERIALS, PAINTS
from simtown.core.notebook import in_notebook
from simtown.core.untrusted import cause
from simtown.language.words.questions import FAMILIES
from simtown.page.overlays import thumb
from simtown.page.random_examples import draw
from simtown.page.session import Session
from simtown.render.frames import SMALLEST
from simtown.scenes.footprints import GROUP
from simtown.scenes.placement import LANES
from simtown.scenes.weather import DEFAULT_WEATHERS
from simtown.town.answering import NoAnswerError
from simtown.town.checks import TownError, shown, whole
from simtown.town.town import Town

#: What the page is made of: by path its type and its files, one below the other.
_FILES = {
    "": ("text/html", "page/page.html"),
    "style.css": ("text/css", "datasets/showing/gallery/base.css", "page/style.css"),
    "app.js": ("text/javascript", "page/app.js"),
}
#: What the page may load: its own files, and pictures that it makes.
_POLICY = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
#: The most bytes of a request, and the pixels that a side of a picture may have.
_LARGEST = 2_000_000
_Side = Annotated[int, msgspec.Meta(ge=SMALLEST, le=2048)]


class Request(msgspec.Struct):
    """A verb of :meth:`simtown.page.session.Session.do`, and the picture that shows what came of it.

    Attributes:
        size: width and height of the picture, pixels.
        overlay: as :meth:`simtown.page.session.Session.look` takes it.
        moving: whether the next picture follows at once.
        verb: "look" changes nothing.
        given: the verb's arguments.
        gesture: the gesture that the verb is part of.
    """

    size: tuple[_Side, _Side]
    overlay: str = ""
    moving: bool = False
    verb: str = "look"
    given: dict[str, Any] = {}
    gesture: int | None = None


class PlayServer(ThreadingHTTPServer):
    """Serves one session at :attr:`url` until it is closed.

    Args:
        session: whose town is played with.
        port: on 127.0.0.1; 0 takes a free one.

    Raises:
        TownError: the port cannot be used.
    """

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session, self.token, self.lock = session, secrets.token_urlsafe(12), threading.Lock()
        try:
            super().__init__(("127.0.0.1", whole(port, "port", 0, 65_535)), _Handler)
        except OSError as error:
            problem = f"port {port} cannot be used ({error.strerror})"
            raise TownError(f"{problem}: give another, or 0") from error

    @property
    def url(self) -> str:
        """The page's address, with the token that every request needs."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"

    def __repr__(self) -> str:
        return f"<PlayServer {self.url}>"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 860px; border: 0; border-radius: 12px"
        return f'<iframe src="{self.url}" style="{style}" allow="clipboard-write"></iframe>'

    def answer(self, request: Request) -> dict[str, Any]:
        """The reply to a request of the page, as JSON holds it; `error` says what the town cannot do."""
        session, error, offers = self.session, "", None
        with self.lock:
            try:
                if request.verb != "look":
                    session.do(request.verb, request.given, request.gesture)
            except NoAnswerError as refusal:
                error, offers = refusal.problem, refusal.offered
            except TownError as refusal:
                error = str(refusal)
            shown = session.look(request.size, request.overlay, request.moving)
        return shown | {"error": error, "instead": offers}


def play(town: Town, port: int = 0) -> PlayServer:
    """Play with a town in the browser or below a notebook's cell, which changes it.

    Args:
        town: the town.
        port: of the page on this machine; 0 takes a free one.

    Returns:
        The page's server: its ``url``, and ``shutdown()``, which ends it.

    Raises:
        TownError: the port cannot be used, or this is not a town.

    >>> import simtown
    >>> town = simtown.Town.random(seed=3)
    >>> page = simtown.play(town)  # doctest: +SKIP
    """
    if not isinstance(town, Town):
        raise TownError(f"{shown(town)} is not a town: give a simtown.Town")
    server = PlayServer(Session(town), port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if not in_notebook():
        webbrowser.open(server.url)
    return server


def catalogue() -> dict[str, Any]:
    """The facts that the page loads once: kinds by group, paints, weathers, lanes."""
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

    def handle(self) -> None:
        with suppress(ConnectionError):  # the page has gone
            super().handle()

    def do_GET(self) -> None:
        self._reply(self._get)

    def do_POST(self) -> None:
        self._reply(self._post)

    def _reply(self, reply: Callable[[str, bytes], tuple[str, bytes] | None]) -> None:
        port, inside = self.server.server_address[1], f"/{self.server.token}/"
        known = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
        status, found = 404, None
        try:
            length = self._length()
            if length > _LARGEST:
                problem = f"the request is too large: send at most {_LARGEST:,} bytes"
                status, found = 413, ("text/plain", problem.encode())
            elif known and self.path.startswith(inside):
                body = self.rfile.read(length)
                if len(body) < length:
                    raise ValueError("the request is cut off: send it again")
                found = reply(unquote(self.path[len(inside) :]), body)
                status = 200 if found else 404
        except (ValueError, RecursionError) as error:
            status, found = 400, ("text/plain", cause(error).encode())
        kind, content = found or ("text/plain", b"use the address that simtown printed")
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-store"}
        headers |= {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
        if status != 200:  # what follows may be the rest of this request
            headers["Connection"] = "close"
        for name, value in (headers | {"Referrer-Policy": "no-referrer"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _length(self) -> int:
        """The length of the request's body in bytes. Raises ValueError unless its header says so, once."""
        length = ",".join(self.headers.get_all("Content-Length", ["0"]))
        if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,18}", length):
            raise ValueError("the request has no length: send one Content-Length")
        return int(length)

    def _get(self, path: str, body: bytes) -> tuple[str, bytes] | None:
        if path in _FILES:
            kind, *names = _FILES[path]
            return f"{kind}; charset=utf-8", b"".join((files("simtown") / n).read_bytes() for n in names)
        if path == "catalogue":
            return "application/json", json.dumps(catalogue()).encode()
        folder, _, name = path.partition("/")
        if folder == "thumb":
            kind = name.removesuffix(".png")
            return ("image/png", thumb(kind)) if kind in GROUP else None
        if folder != "file":
            return None
        with self.server.lock:
            session = self.server.session.copy()
        content = session.file(name)
        return ("application/octet-stream", content) if content else None

    def _post(self, path: str, body: bytes) -> tuple[str, bytes] | None:
        if path == "do":
            reply = self.server.answer(msgspec.json.decode(body, type=Request))
        elif path == "draw":
            reply = draw(msgspec.json.decode(body, type=dict[str, Any]))
        else:
            return None
        return "application/json", json.dumps(reply).encode()

    def log_message(self, *_: object) -> None:
        """Nothing: a page asks a hundred times a minute."""
