"""The small server against all but the person at this machine: other users, other sites, and what sends much,
slowly or oddly.
"""

import contextlib
import http.client
import json
import socket
import threading

import pytest

from simtown.core import server as servers
from simtown.core.html import policy
from simtown.core.server import CONNECTIONS, LocalServer, Reply, reply
from tests.conftest import HANGS

PAGE = "<style>p { color: red }</style><p>here</p><script>document.title = 'x'</script>"


@pytest.fixture
def site():
    """A running server that echoes: site.send(bytes) is what it replies to them, to the end of the
    connection.
    """
    kept = []

    def fail(query):
        raise RuntimeError("\x1b[2J disk")

    get = {
        "": lambda query: Reply(PAGE.encode(), "text/html; charset=utf-8", policy=policy(PAGE)),
        "echo": reply,
        "fail": fail,
    }
    post = {"keep": lambda content: (kept.append(content), reply(content))[1]}
    with LocalServer(get, post) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield Client(server, kept)
        server.shutdown()
        thread.join()


class Client:
    def __init__(self, server, kept):
        self.server, self.kept = server, kept
        self.host = f"127.0.0.1:{server.port}"

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=HANGS)

    def send(self, content):
        with self.connect() as link:
            link.sendall(content)
            link.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: link.recv(65536), b""))

    def ask(self, method="GET", path="", body="", token=None, **headers):
        """Status, headers and content of a well-formed request."""
        lines = {
            "Host": self.host,
            "Content-Length": str(len(body)),
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        place = f"/{self.server.token if token is None else token}/{path}"
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
        return read(self.send(f"{method} {place} HTTP/1.0\r\n{head}\r\n{body}".encode()))


def read(content):
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body


def test_an_honest_browser_is_answered(site):
    status, _, body = site.ask()
    assert (status, body.decode()) == (200, PAGE)
    assert site.server.address == f"http://127.0.0.1:{site.server.port}/{site.server.token}/"
    assert json.loads(site.ask(path="echo?a=1&b=x%20y")[2]) == {"a": "1", "b": "x y"}
    assert site.ask("POST", "keep", '{"a": [1]}', Origin=f"http://{site.host}")[0] == 200
    assert site.kept == [{"a": [1]}]
    link = http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=HANGS)  # HTTP/1.1
    link.request("GET", f"/{site.server.token}/echo")
    assert link.getresponse().read() == b"{}"
    link.close()


def test_nobody_else_knows_the_address(site):
    assert len(site.server.token) >= 20
    for token in ("", "x", site.server.token[:-1], site.server.token.swapcase(), "é", "..", "%2e%2e"):
        for method, path in (("GET", ""), ("GET", "echo"), ("POST", "keep")):
            status, _, body = site.ask(method, path, "1", token=token)
            assert status == 403
            assert "printed last" in json.loads(body)["error"]
            assert site.server.token.encode() not in body
    assert read(site.send(f"GET / HTTP/1.0\r\nHost: {site.host}\r\n\r\n".encode()))[0] == 403
    assert site.kept == []
    with LocalServer({}, {}) as other:
        assert other.token != site.server.token


def test_every_reply_has_its_headers(site):
    for arguments in (
        {},
        {"path": "none"},
        {"token": "x"},
        {"method": "PUT"},
        {"Host": "evil.example"},
        {"path": "fail"},
    ):
        _, headers, _ = site.ask(**arguments)
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
        assert (headers["Referrer-Policy"], headers["Cache-Control"]) == ("no-referrer", "no-store")
        assert headers["Server"] == "simtown"  # and no word of Python
    assert "unsafe" not in site.ask()[1]["Content-Security-Policy"]
    assert "sha256-" in site.ask()[1]["Content-Security-Policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": None},
        {"Host": "127.0.0.1:1\r\nHost: x"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
def test_other_sites_get_nothing(site, headers):
    assert site.ask(**headers)[0] == 403
    assert site.ask("POST", "keep", "1", **headers)[0] == 403
    assert site.kept == []


@pytest.mark.parametrize(
    "path",
    ["none", "../echo", "%2e%2e/echo", "echo/", "/echo", "ECHO", "keep", "\x00", "..\\echo", "etc/passwd"],
)
def test_only_what_is_served_is_there(site, path):
    assert site.ask(path=path)[0] in (400, 404)


@pytest.mark.parametrize(
    ("length", "status"),
    [
        *((length, 413) for length in ("9" * 5000, "9" * 15, "5000")),
        *((length, 400) for length in ("-1", "+1", "1.0", "0x1", "²", "", None)),
        *((length, 400) for length in ("1\r\nContent-Length: 1", "2")),
        ("1", 200),
    ],
)
def test_a_length_is_a_small_number(site, length, status):
    assert site.ask("POST", "keep", "1", Content_Length=length)[0] == status
    assert site.kept == ([1] if status == 200 else [])


@pytest.mark.parametrize("body", ["", "{", "[" * 4000, "\x00", "01", "nul"])
def test_what_is_no_json_is_refused(site, body):
    assert site.ask("POST", "keep", body)[0] == 400


def test_odd_requests_end_with_a_short_reply(site, capsys):
    place = f"/{site.server.token}/"
    for content, status in (
        (
            f"POST {place}keep HTTP/1.1\r\nHost: {site.host}\r\nTransfer-Encoding: "
            "chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
            400,
        ),
        *(
            (f"{method} {place} HTTP/1.1\r\nHost: {site.host}\r\n\r\n", 405)
            for method in ("HEAD", "PUT", "OPTIONS", "TRACE", "X")
        ),
        (f"CONNECT {site.host} HTTP/1.1\r\n\r\n", 405),
        (f"GET {place}", 403),  # HTTP/0.9
        (f"GET {place}\r\nHost: {site.host}\r\n\r\n", 200),
        (f"GET http://[ HTTP/1.0\r\nHost: {site.host}\r\n\r\n", 403),
        (f"GET {place}echo?a=%ff HTTP/1.0\r\nHost: {site.host}\r\n\r\n", 400),
        (f"GET {place}echo?{'a=1&' * 200} HTTP/1.0\r\nHost: {site.host}\r\n\r\n", 400),
        (f"GET {place} HTTP/9.9\r\n\r\n", 505),
        (f"GET {place} HTTP/x\r\n\r\n", 400),
        ("GET\r\n\r\n", 400),
        ("\x16\x03\x01 \x00\r\n\r\n", 400),
        (f"GET {place}{'a' * 10**6} HTTP/1.0\r\n\r\n", 431),
        (f"GET {place} HTTP/1.0\r\nHost: {site.host}\r\n" + "X: y\r\n" * 300 + "\r\n", 431),
        (f"GET {place} HTTP/1.0\r\nHost: {site.host}\r\nX: {'y' * 10**6}\r\n\r\n", 431),
        (
            f"POST {place}keep HTTP/1.0\r\nHost: {site.host}\r\nContent-Length: 500000\r\n\r\n"
            + "1" * 500_000,
            413,
        ),
    ):
        found, headers, body = read(site.send(content.encode("latin-1")))
        assert found == status, content[:80]
        assert "frame-ancestors" in headers["Content-Security-Policy"]
        assert len(body) < 200
    assert read(site.send(f"GET {place}  HTTP/1.0\r\n\r\n".encode()))[0] in (400, 403)
    assert site.send(b"") == b""
    assert site.kept == []
    assert site.ask()[0] == 200
    assert capsys.readouterr() == ("", "")


def test_a_failure_is_told_and_the_server_goes_on(site, capsys):
    status, _, body = site.ask(path="fail")
    assert (status, b"disk" in body) == (500, False)
    err = capsys.readouterr().err
    assert err == "simtown: a request failed: RuntimeError: \\x1b[2J disk\n"
    assert site.ask()[0] == 200
    assert capsys.readouterr().err == ""


def test_idle_connections_hold_few_threads(site, monkeypatch, until):
    """Of 200 that say nothing each holds a thread or is sent away at once; when they go, an honest one is
    answered again.
    """
    monkeypatch.setattr(servers, "PATIENCE", HANGS)
    before = threading.active_count()
    with contextlib.ExitStack() as connections:
        links = [connections.enter_context(site.connect()) for _ in range(200)]
        ends = [link.recv(100) for link in links[CONNECTIONS:]]
        assert {end[:12] for end in ends} == {b"HTTP/1.0 503"}
        assert threading.active_count() - before == CONNECTIONS
    until(lambda: threading.active_count() == before)
    assert site.ask()[0] == 200


@pytest.mark.parametrize("words", [b"", b"GET", b"GET / HTTP/1.0\r\nHost: "])
def test_nobody_is_waited_for_long(site, monkeypatch, words):
    """Whoever says nothing, and whoever says a byte now and then, is left after the same time."""
    monkeypatch.setattr(servers, "PATIENCE", 0.2)
    with site.connect() as silent, site.connect() as slow:
        silent.sendall(words)
        assert silent.recv(100) == b""
        slow.sendall(words)
        left = threading.Event()

        def drip():
            with contextlib.suppress(OSError):
                while not left.wait(0.01):
                    slow.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        with contextlib.suppress(ConnectionError):
            assert slow.recv(100) == b""
        left.set()
        dripping.join()
