"""A session without a browser: verbs, undo, answers, files, and who may ask the server."""

import io
import json
import re
import threading
import urllib.error
import urllib.request
import zipfile

import pytest

import simtown
from simtown.page.overlays import thumb
from simtown.page.server import PlayServer
from simtown.page.session import Session
from simtown.town.answering import NoAnswerError
from simtown.town.checks import TownError
from simtown.town.town import Town
from tests.conftest import HANGS


def verdict(session):
    return session.look((208, 117), moving=True)["answers"][0]["verdict"]


def test_an_answer_follows_a_drag_through_the_band_and_a_drag_is_one_step_back(session):
    assert session.asked == ["Is the taxi left of the city bus?"]
    seen = [verdict(session)]
    for x in (2.0, 2.6, 2.9, 3.2, 4.0, 6.0):
        session.do("change", {"thing": "taxi", "x": x}, gesture=1)
        seen.append(verdict(session))
    assert list(dict.fromkeys(seen)) == ["yes", "close", "no"]
    session.do("undo", {})
    assert (session.town["taxi"].x, verdict(session)) == (-4.0, "yes")
    session.do("redo", {})
    assert verdict(session) == "no"


def test_what_the_town_cannot_do_is_said_and_changes_nothing(session):
    before = session.python()
    for verb, given in (
        ("change", {"thing": "taxi", "x": 3.0, "y": 1.85}),
        ("change", {"thing": "tram", "x": 3.0}),
        ("place", {"kind": "spaceship"}),
        ("place", {}),
        ("load", {"town": {"format": "other"}}),
        ("load", {"town": "\ud800"}),
        ("link", {"link": "abc"}),
        ("fly", {}),
    ):
        with pytest.raises(TownError):
            session.do(verb, given)
    assert session.python() == before
    with pytest.raises(NoAnswerError) as refusal:
        session.ask("Is the taxy left of the frobnicator?")
    assert refusal.value.offered


def test_vehicles_drive_and_answers_follow_the_second_that_is_shown(session):
    session.asked.append("Which way does the taxi go?")
    assert session.look((64, 36))["town"]["drives"] is False
    session.do("drive", {"thing": "taxi", "speed": 2.0})
    session.do("drive", {"thing": "city bus", "speed": -1.0})
    seen = []
    for second in (0.0, 2.0, 4.0):
        session.do("second", {"second": second})
        look = session.look((64, 36), moving=True)
        xs = [t["x"] for t in look["town"]["things"] if t["group"] == "vehicle"]
        seen.append([*xs, *(answer["text"] for answer in look["answers"])])
    assert seen == [[-4, 3, "right", "yes"], [0, 1, "right", "yes"], [4, -1, "right", "no"]]
    assert session.town["taxi"].x == -4.0
    session.do("move", {"thing": "taxi", "dx": 0.5})
    assert (session.second, session.town["taxi"].x) == (0.0, -3.5)
    session.do("place", {"kind": "sedan", "x": 2.5, "y": -1.85})
    with pytest.raises(TownError, match="taxi runs into the sedan"):
        session.do("drive", {"thing": "taxi", "speed": 3.0})
    assert session.town["taxi"].pace == 2.0


def test_a_link_and_the_program_make_the_same_street(session):
    session.do("place", {"kind": "fire truck", "y": 1.85, "x": -6.0})
    session.do("weather", {"kind": "snow", "intensity": 0.4})
    session.do("camera", {"preset": "corner"})
    session.ask("How many vehicles are there?")
    other = Session(Town())
    other.do("link", {"link": session.link()})
    assert (other.town.to_scene(), other.asked) == (session.town.to_scene(), session.asked)
    names = {}
    exec(session.python(), names)
    assert names["town"].to_scene() == session.town.to_scene()
    assert session.town["fire truck"].yaw == pytest.approx(3.142, abs=0.001)


@pytest.mark.slow
def test_files_hold_the_street(session):
    assert session.file("street.png").startswith(b"\x89PNG")
    assert session.file("street.glb").startswith(b"glTF")
    assert json.loads(session.file("town.json"))["things"]
    assert b"town.ask" in session.file("street.py")
    assert b"moov" in session.file("street.mp4")
    assert any(
        "manifest.json" in name
        for name in zipfile.ZipFile(io.BytesIO(session.file("examples.zip"))).namelist()
    )
    assert session.file("other") is None
    assert thumb("oak").startswith(b"\x89PNG")


LOOK = {"verb": "look", "size": [208, 117]}


def fetch(url, body=None, **headers):
    request = urllib.request.Request(url, body and json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def test_only_those_who_know_the_token_are_answered(session):
    with PlayServer(session) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        status, page, headers = fetch(server.url)
        assert (status, b"simtown" in page) == (200, True)
        assert headers["Content-Security-Policy"].startswith("default-src 'self'")
        port = server.server_address[1]
        for url, name in ((f"http://127.0.0.1:{port}/", "127.0.0.1"), (server.url, "evil.example")):
            assert fetch(url, Host=f"{name}:{port}")[0] == 404
        assert fetch(f"{server.url}file/../../etc/passwd")[0] == 404
        assert json.loads(fetch(f"{server.url}do", LOOK)[1])["error"] == ""
        assert fetch(f"{server.url}do", {"verb": "look"})[0] == 400
        server.shutdown()


def test_the_command_refuses_what_is_no_street(cli, tmp_path):
    cli("play", "town.png", "--no-open").refuses("town.png is not a street")
    cli("play", tmp_path / "none.json", "--no-open").refuses("there is no file")


def test_a_trained_model_answers_beside_the_truth(started, tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    settings = simtown.Settings(entities=2, n=8, val=2, test=2, width=32, height=32)
    simtown.generate(settings, tmp_path / "data", workers=1)
    simtown.fit(
        simtown.FitSettings("question-only", max_steps=2, batch=4), tmp_path / "data", tmp_path / "run"
    )
    town = Town()
    town.place("sedan", x=-4.0)
    town.place("fire truck", x=3.0)
    town.save(tmp_path / "town.json")
    process = started("play", tmp_path / "town.json", "--run", tmp_path / "run", "--no-open")
    url = process.stdout.readline().split()[0]
    for question in ("Is the sedan left of the fire truck?", "How many vehicles are there?"):
        asked = LOOK | {"verb": "ask", "given": {"question": question}}
        reply = json.loads(fetch(f"{url}do", asked)[1])
    assert reply["town"]["run"] == "question-only"
    untaught, asked = (answer["model"] for answer in reply["answers"])
    assert (untaught["right"], asked["right"]) == (None, "says yes" in asked["text"])
    fetch(f"{url}do", LOOK | {"verb": "change", "given": {"thing": "sedan", "x": 12.0}})
    flipped = json.loads(fetch(f"{url}do", LOOK)[1])["answers"][1]
    assert (flipped["text"], flipped["model"]["right"]) == ("no", not asked["right"])


def test_a_notebook_shows_the_page_below_the_cell_and_has_its_town(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install '.[docs]'")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat: pip install '.[docs]'")
    pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel: pip install '.[docs]'")
    cells = (
        "import simtown; town = simtown.Town(); taxi = town.place('taxi', x=0.0); simtown.play(town)",
        "taxi.x",
    )
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(page, timeout=HANGS, startup_timeout=HANGS, kernel_name="python3")
    with client.setup_kernel(cwd=str(tmp_path)):
        client.execute_cell(page.cells[0], 0)
        (shown,) = page.cells[0].outputs
        url = re.search(r'<iframe src="([^"]+)"', shown.data["text/html"])[1]
        moved = {"verb": "change", "given": {"thing": "taxi", "x": 2.5}, "size": [208, 117]}
        reply = json.loads(fetch(f"{url}do", moved)[1])
        assert reply["picture"].startswith("data:image/jpeg")
        client.execute_cell(page.cells[1], 1)
    assert page.cells[1].outputs[0].data["text/plain"] == "2.5"
