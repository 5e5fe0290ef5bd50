"""The judging page, by HTTP requests as a browser makes them, and the rule that removes workers."""

import csv
import http.client
import json
import re
import signal
import threading
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.core.files import DamagedError, ForeignDirectoryError
from simtown.probes.spatial.judge.answers import HEAD, RatingsFile, RejectedError, read
from simtown.probes.spatial.judge.server import serve
from simtown.probes.spatial.judge.trials import (
    CATCHES,
    GREEN,
    WORDS,
    Rating,
    Trial,
    agreement,
    disbelieved,
    krippendorff,
    trials_of,
)
from tests.conftest import HANGS


@pytest.fixture
def file(tmp_path):
    return tmp_path / "judgements.csv"


@pytest.fixture
def page(file):
    """A running server: page(method, path, body, **headers) gives status and content."""
    with RatingsFile(file) as answers, serve(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()

        def ask(method, path, body=None, **headers):
            link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANGS)
            content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            link.request(
                method, f"/{server.token}{path}", content, {"Host": f"127.0.0.1:{server.port}", **headers}
            )
            reply = link.getresponse()
            text = reply.read().decode()
            link.close()
            return reply.status, json.loads(text) if reply.headers[
                "Content-Type"
            ] == "application/json" else text

        ask.port = server.port
        yield ask
        server.shutdown()
        thread.join()


def rate(worker, rating, bias=0):
    """All of a worker's answers by a function of the trial."""
    return [
        Rating(worker, i, t, int(np.clip(rating(t) + bias, 0, 100)), 1.0)
        for i, t in enumerate(trials_of(worker))
    ]


def sound(trial):
    """Catch trials as they should be, pairs by the words' letters."""
    known = {"self": 100, "green": 0}
    return known.get(trial.kind, (len(set(trial.first) & set(trial.second)) * 13) % 101)


@given(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,39}", fullmatch=True))
def test_every_worker_meets_every_pair_once_and_the_catches(worker):
    trials = trials_of(worker)
    assert trials == trials_of(worker)
    pairs = [frozenset((t.first, t.second)) for t in trials if t.kind == "pair"]
    assert sorted(map(sorted, pairs)) == sorted(sorted(p) for p in combinations(WORDS, 2))
    assert [t.first == t.second for t in trials if t.kind == "self"] == [True] * CATCHES
    assert [(t.first, t.second).count(GREEN) for t in trials if t.kind == "green"] == [1] * CATCHES


def test_order_differs_between_workers():
    orders = [[t.first for t in trials_of(f"w{i}")] for i in range(10)]
    assert len({tuple(order) for order in orders}) == 10


@pytest.mark.parametrize(
    ("kind", "rating", "out"),
    [
        ("green", 60, False),
        ("green", 61, True),
        ("self", 90, False),
        ("self", 89, True),
        ("pair", 100, False),
    ],
)
def test_the_cleaning_rule(kind, rating, out):
    answers = [
        Rating("a", 0, Trial(kind, "on", "on"), rating, 1.0),
        Rating("b", 0, Trial("pair", "on", "in"), 10, 1.0),
    ]
    assert disbelieved(answers) == ({"a"} if out else set())


def test_agreement_after_cleaning():
    careless = rate("careless", lambda t: 70)
    found = agreement([*rate("a", sound), *rate("b", sound), *careless])
    assert (found.workers, found.removed, found.ratings) == (3, ("careless",), 132)
    assert (found.alpha, found.one_out) == (pytest.approx(1), pytest.approx(1))
    i, j = WORDS.index("above"), WORDS.index("over")
    assert found.means[i, j] == found.means[j, i] == sound(Trial("pair", "above", "over"))
    assert np.isnan(np.diag(found.means)).all()
    nobody = agreement([])
    assert (nobody.workers, nobody.ratings) == (0, 0)
    assert np.isnan(nobody.alpha)


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=5, max_size=5), min_size=2, max_size=5
    )
)
def test_krippendorffs_alpha_is_its_definition(rows):
    """1 - mean squared difference within items (pairs weighted by 1 / (m - 1)) over that among all pairable
    values.
    """
    columns = [[v for v in column if v is not None] for column in zip(*rows, strict=True)]
    columns = [c for c in columns if len(c) > 1]
    values = [v for c in columns for v in c]
    found = krippendorff(np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=float))
    if len(set(values)) < 2:
        assert np.isnan(found)
        return
    observed = sum(sum((a - b) ** 2 for a in c for b in c) / (len(c) - 1) for c in columns) / len(values)
    expected = sum((a - b) ** 2 for a in values for b in values) / (len(values) * (len(values) - 1))
    assert found == pytest.approx(1 - observed / expected)


def test_a_worker_from_the_first_page_to_the_last(page, file):
    status, content = page("GET", "/")
    assert status == 200
    assert 'type="range"' in content
    assert not re.search(r"""(?:src|href)=["']?http""", content)  # nothing from elsewhere
    trials = trials_of("anna")
    status, told = page("GET", "/trial?worker=anna")
    for number, trial in enumerate(trials):
        assert (status, told) == (
            200,
            {"number": number, "total": 72, "first": trial.first, "second": trial.second},
        )
        if number == 10:  # a reload
            assert page("GET", "/trial?worker=anna") == (status, told)
        status, told = page(
            "POST", "/answer", {"worker": "anna", "number": number, "rating": number, "seconds": 1.25}
        )
    assert told == {"number": 72, "total": 72}
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert tuple(rows[0]) == HEAD
    assert [(r["worker"], int(r["rating"]), r["first"], r["second"], r["kind"]) for r in rows] == [
        ("anna", i, t.first, t.second, t.kind) for i, t in enumerate(trials)
    ]


def test_an_answer_sent_twice_counts_once(page, file):
    first = {"worker": "bo", "number": 0, "rating": 30, "seconds": 1}
    assert page("POST", "/answer", first)[1]["number"] == 1
    assert page("POST", "/answer", {**first, "rating": 90})[1]["number"] == 1
    assert [a.rating for a in read(file)] == [30]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 4000,
        b"\xff",
        {},
        {"worker": "a", "number": 0, "rating": 101, "seconds": 1},
        {"worker": "a", "number": 0, "rating": -1, "seconds": 1},
        {"worker": "a", "number": 0, "rating": 5.5, "seconds": 1},
        {"worker": "a", "number": 0, "rating": True, "seconds": 1},
        {"worker": "a", "number": 0, "rating": "5", "seconds": 1},
        {"worker": "a", "number": 1, "rating": 5, "seconds": 1},
        {"worker": "a", "number": -1, "rating": 5, "seconds": 1},
        {"worker": "a,b\n", "number": 0, "rating": 5, "seconds": 1},
        {"worker": "", "number": 0, "rating": 5, "seconds": 1},
        {"worker": "a" * 41, "number": 0, "rating": 5, "seconds": 1},
        {"worker": "a", "number": 0, "rating": 5, "seconds": -1},
        b'{"worker": "a", "number": 0, "rating": 5, "seconds": NaN}',
        b"x" * 5000,
    ],
)
def test_what_is_no_answer_is_not_kept(page, file, body):
    status, told = page("POST", "/answer", body)
    assert status == (413 if body == b"x" * 5000 else 400)
    assert told["error"]
    assert read(file) == []


def test_other_pages_and_other_sites(page):
    assert page("GET", "/secret")[0] == 404
    assert page("GET", "/trial?worker=..%2F")[0] == 400
    assert page("GET", "/trial?worker=-1")[0] == 400  # a formula, to a spreadsheet
    assert page("GET", "/", Host="evil.example")[0] == 403
    assert page("POST", "/answer", {}, Origin="http://evil.example")[0] == 403
    assert page("GET", "/trial?worker=a", Origin=f"http://127.0.0.1:{page.port}")[0] == 200


def test_many_workers_at_once(page, file):
    def work(name):
        for number in range(20):
            page("POST", "/answer", {"worker": name, "number": number, "rating": number, "seconds": 1})

    threads = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(read(file)) == 120


def test_the_file_is_gone_on_with_and_written_by_one(file):
    with RatingsFile(file) as answers:
        answers.add("a", 0, 5, 1.0)
        with pytest.raises(ForeignDirectoryError, match="another"):
            RatingsFile(file)
    with RatingsFile(file) as answers:
        assert answers.next_of("a") == 1
        with pytest.raises(RejectedError):
            answers.add("a", 3, 5, 1.0)


@pytest.mark.parametrize(
    "damage", ["a,0,pair,on,on,5,1\n", "a,0,pair\n", "x,1,self,on,on,5,1\n", "half a li"]
)
def test_a_damaged_file(file, cli, damage):
    with RatingsFile(file) as answers:
        answers.add("b", 0, 5, 1.0)
    file.write_text(file.read_text() + damage)
    with pytest.raises(DamagedError, match="line 3"):
        read(file)
    cli("probe", "spatial", "judgements", file).refuses("line 3", code=1)


def test_a_foreign_file_is_not_touched(file, cli):
    for content in (b"name,age\nann,3\n", b"\xff\xfe"):
        file.write_bytes(content)
        cli("probe", "spatial", "judge", "--out", file).refuses("holds no judgements")
        assert file.read_bytes() == content


def test_the_commands(started, cli, file, tmp_path):
    process = started("probe", "spatial", "judge", "--out", file)
    address = re.match(r"http://127\.0\.0\.1:(\d+)(/[\w-]{22}/) asks", process.stdout.readline())
    link = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=HANGS)
    for number, answer in enumerate(rate("carl", sound)):
        link.request(
            "POST",
            f"{address[2]}answer",
            json.dumps({"worker": "carl", "number": number, "rating": answer.rating, "seconds": 2.0}),
        )
        assert link.getresponse().read()
    link.close()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGS)
    assert process.returncode == 0, err
    assert "1 workers, 0 taken out; 66 ratings" in out
    table = tmp_path / "means.tsv"
    assert "66 ratings" in cli("probe", "spatial", "judgements", file, "--out", table).succeeds().out
    assert table.read_text().startswith("row\tbelow\tunder")
    cli("probe", "spatial", "judgements", file, "--out", table).refuses("exists: give another")
    cli("probe", "spatial", "judge", "--out", tmp_path).refuses("is a directory")
