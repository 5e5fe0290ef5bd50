"""Malformed requests: 400 or 413, a closed connection, and no traceback; the town stays as it was."""

import io
import json
import re
import socket
import threading
from contextlib import redirect_stderr
from copy import deepcopy
from http.client import HTTPConnection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.page.server import PlayServer
from tests.page.conftest import street

#: What every request says of the picture; arguments of each verb; settings of random examples.
SEEN = {"size": [64, 36], "overlay": "", "moving": True}
GIVEN = {
    "place": {"kind": "sedan", "x": 9.0, "y": -1.85, "yaw": 0.0, "z": 0.0, "lane": "near", "on": None,
              "scale": 1.0, "style": None, "paint": "red"},
    "change": {"thing": "taxi", "kind": "taxi", "x": -4.0, "yaw": 0.0, "paint": "red", "pace": 1.0,
               "velocity": [0.0, 0.0, 0.0], "spin": 0.0, "style": 0},
    "move": {"thing": "taxi", "dx": 0.1, "dy": 0.0, "dz": 0.0, "x": -4.0, "y": -1.85, "z": 0.0},
    "turn": {"thing": "taxi", "by": 0.1},
    "drive": {"thing": "taxi", "speed": 1.0},
    "second": {"second": 0.5},
    "remove": {"things": ["taxi"]},
    "weather": {"kind": "snow", "intensity": 0.7},
    "light": {"azimuth": -1.0, "elevation": 0.5},
    "camera": {"preset": "", "x": 0.0, "y": -16.0, "z": 5.0, "yaw": 0.0, "pitch": -0.1,
               "focal": 1.0, "bottom": -0.3},
    "street": {"seed": 3, "vehicles": 0, "weather": "clear"},
    "load": {"town": "{}"},
    "link": {"link": "abc"},
    "ask": {"question": "Is it night?"},
    "forget": {"question": "Is it night?"},
}  # fmt: skip
DOING = {"verb": "change", "given": GIVEN["change"], "gesture": 1}
DRAWN = {"entities": 5, "seed": 0, "questions": ["paper"], "crowd": "", "weathers": ["clear"],
         "relations": ["left of", "right of"], "paint": "", "distractor": False, "twins": False}  # fmt: skip
#: Each request by its address, and the field of it that is exchanged.
FIELDS = [("do", SEEN | DOING, (name,)) for name in SEEN | DOING]
FIELDS += [("draw", DRAWN, (name,)) for name in DRAWN]
FIELDS += [
    ("do", SEEN | {"verb": verb, "given": values}, ("given", name))
    for verb, values in GIVEN.items()
    for name in [*values, "other"]
]
#: JSON that Python's own types do not write.
ODD = [
    "1e400",
    f"1{'0' * 400}",
    f"1{'0' * 5000}",
    "NaN",
    "[" * 500 + "]" * 500,
    "[" * 5000,
    '"\\ud800"',
    "{",
    "",
]
ODD += ["[[1, 2]]", "[1, 2, 3]", "-1", "1e9", "null", "true", "{}", '"1"']
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6
)


@pytest.fixture(scope="module")
def server():
    with PlayServer(street()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def post(server, path, body):
    connection = HTTPConnection(*server.server_address)
    connection.request("POST", f"/{server.token}/{path}", body.encode())
    with connection.getresponse() as reply:
        return reply.status, reply.read().decode()


def with_field(request, where, text):
    """A request as JSON, in which the text stands for one field."""
    changed = deepcopy(request)
    inner = changed
    for name in where[:-1]:
        inner = inner[name]
    inner[where[-1]] = "EXCHANGED"
    return json.dumps(changed).replace('"EXCHANGED"', text)


def state(session):
    return session.town.to_scene(), session.town.seed, session.asked, session._past


@pytest.mark.slow
@settings(max_examples=400)
@given(st.sampled_from(FIELDS), st.sampled_from(ODD) | anything.map(json.dumps))
def test_any_json_in_any_field_is_answered_or_refused_and_a_refusal_changes_nothing(server, field, text):
    path, request, where = field
    server.session = street()
    before = state(server.session)
    with redirect_stderr(io.StringIO()) as errors:
        status, content = post(server, path, with_field(request, where, text))
    assert (errors.getvalue(), status in (200, 400)) == ("", True)
    error = content if status == 400 else json.loads(content).get("error", "")
    assert "\n" not in error
    assert not error or state(server.session) == before


#: What no request is, whichever its address.
BODIES = ["", "{", "5", "null", "[1]", '"do"', '{"size": [64, 36]', "[" * 100_000, "\x00"]


@pytest.mark.parametrize("path", ["do", "draw"])
def test_what_is_of_the_wrong_type_is_refused(path, server):
    wrong = [with_field(*field[1:], "[[1, 2]]") for field in FIELDS if (field[0], len(field[2])) == (path, 1)]
    assert {post(server, path, body)[0] for body in BODIES + wrong} == {400}


def lengths(*lines):
    return [f"Content-Length: {line}" for line in lines]


LOOK = json.dumps(SEEN | {"verb": "look"}).encode()
LOOKED = lengths(len(LOOK))
#: Lines of a header, and the status that answers them. What would be their body is a request, too.
HEADS = [
    ("POST", "do", lengths(length), 400) for length in ("-1", "", "abc", "+5", "1_0", "1.0", "٣", "9" * 5000)
]
HEADS += [("POST", "do", lengths(length), 413) for length in (2_000_001, 10**15)]
HEADS += [("POST", "do", lines, 400) for lines in (lengths(3, 5), ["Transfer-Encoding: chunked"], [])]
HEADS += [
    ("GET", "style.css", lengths(-1), 400),
    ("POST", "nothing", LOOKED, 404),
    ("PUT", "do", LOOKED, 501),
]


@pytest.mark.parametrize(("method", "path", "lines", "status"), HEADS)
def test_after_a_refusal_nothing_is_read_as_the_next_request(method, path, lines, status, server):
    def head(method, path, lines):
        first = f"{method} /{server.token}/{path} HTTP/1.1", f"Host: 127.0.0.1:{server.server_address[1]}"
        return "\r\n".join([*first, *lines, "", ""]).encode()

    good = head("POST", "do", LOOKED) + LOOK
    with (
        socket.create_connection(server.server_address) as connection,
        redirect_stderr(io.StringIO()) as errors,
    ):
        connection.sendall(good + head(method, path, lines) + good)
        received = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"200", str(status).encode()]
    assert errors.getvalue() == ""


def test_a_body_that_nobody_asked_for_is_no_request(server):
    connection = HTTPConnection(*server.server_address)
    for _ in range(2):
        connection.request("GET", f"/{server.token}/style.css", b"PUT / HTTP/1.1\r\n\r\n")
        with connection.getresponse() as reply:
            assert (reply.status, b"#stage" in reply.read()) == (200, True)
    connection.close()


def test_a_body_that_breaks_off_is_no_request(server):
    head = f"POST /{server.token}/do HTTP/1.1\r\nHost: 127.0.0.1:{server.server_address[1]}\r\n"
    with socket.create_connection(server.server_address) as connection:
        connection.sendall(f"{head}Content-Length: {len(LOOK) + 9}\r\n\r\n".encode() + LOOK)
        connection.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: connection.recv(65_536), b"")).startswith(b"HTTP/1.1 400")
