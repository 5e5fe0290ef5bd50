"""The command on programs, functions and servers: nothing is lost and nothing counted twice."""

import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from simtown.cli.program import explain
from simtown.core.files import DamagedError
from simtown.core.options import SettingsError
from simtown.core.server_client import UnreachableError
from simtown.vlm.models import open_model
from simtown.vlm.vlm_run import ANSWERS_FILE, evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import serving

#: A program that writes down what it reads, and answers yes, half a second late from the tenth question on.
PROGRAM = """\
import json, sys, time
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    with open(sys.argv[1], "a") as log:
        log.write(line)
    time.sleep(0.5 * (number > 9 and sys.argv[2] == "slow"))
    print(json.dumps({"key": asked["key"], "text": "Yes."}), flush=True)
"""
ALONE = {"controls": 0}


def rows_of(out, condition="picture"):
    return pq.read_table(out / f"{condition}.parquet").to_pylist()


def asked_once(out, count=24):
    """Whether every example has one row, and one line among the answers."""
    keys = [json.loads(line)["key"] for line in (out / ANSWERS_FILE).read_text().splitlines()]
    assert len(keys) == len(set(keys)) == count
    assert [row["example"] for row in rows_of(out)] == list(range(count))


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def command(pace):
        return f"command:{sys.executable} {tmp_path / 'program.py'} {tmp_path / 'log'} {pace}"

    return command


def test_a_killed_run_goes_on_where_it_was(towns, tmp_path, program, started, until, together):
    out = tmp_path / "out"
    words = ["evaluate", program("slow"), towns[0], "--controls", 0, "--out", out]
    running = started(*words)
    until(lambda: (out / ANSWERS_FILE).is_file() and (out / ANSWERS_FILE).read_text().count("\n") >= 10)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = (out / ANSWERS_FILE).read_text()
    (outcome,) = together(words)
    assert outcome.code == 0, outcome.err
    assert (out / ANSWERS_FILE).read_text().startswith(before[: before.rfind("\n") + 1])
    asked_once(out)
    read = Counter(json.loads(line)["key"] for line in (tmp_path / "log").read_text().splitlines())
    assert len(read) == 24
    assert sum(read.values()) <= 24 + 5, "what had an answer was asked again"


@pytest.fixture(scope="module")
def whole(paper, tmp_path_factory):
    """A finished directory of a server's answers: every third reply has none."""
    out = tmp_path_factory.mktemp("whole") / "out"
    replies = Counter()

    def reply(prompt, picture):
        assert picture.shape == (64, 64, 3)
        replies["asked"] += 1
        return ("Yes.", "The answer is **no**", "A fine day!")[replies["asked"] % 3]

    with serving(reply) as server:
        evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=1), out)
        yield server, out


@settings(max_examples=10, deadline=None)
@given(cut=some.floats(0, 1))
def test_wherever_a_file_of_answers_is_cut_off_the_rest_is_asked_again(whole, paper, cut):
    server, out = whole
    path, before = out / ANSWERS_FILE, rows_of(out)
    content = path.read_bytes()
    path.write_bytes(content[: int(cut * len(content))])
    lines, asked = content[: int(cut * len(content))].split(b"\n"), len(server.times)
    kept = [json.loads(line)["key"] for line in lines if line.endswith(b"}")]
    evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=1), out)
    asked_once(out)
    assert len(server.times) - asked == 24 - len(kept)
    now, then = ([row for row in rows if row["key"] in kept] for rows in (rows_of(out), before))
    assert now == then


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"[" + content.strip().replace(b"\n", b",") + b"]",
        lambda content: content.strip().replace(b"\n", b"\r"),
        lambda content: content + b"end",
    ],
    ids=["a list", "lines of old Macs", "a word"],
)
def test_answers_that_another_program_wrote_stay(whole, paper, change):
    server, out = whole
    path = out / ANSWERS_FILE
    before = path.read_bytes()
    path.write_bytes(change(before))
    with pytest.raises(DamagedError, match="is damaged"):
        evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=1), out)
    assert path.read_bytes() == change(before)
    path.write_bytes(before)


def test_replies_without_an_answer_are_wrong_and_shown(whole):
    _, out = whole
    rows = rows_of(out)
    unread = [row for row in rows if row["reply"] == "A fine day!"]
    assert unread
    assert not any(row["right"] or row["answer"] for row in unread)
    assert all(row["right"] == (row["answer"] == row["gold"]) for row in rows)
    shares = json.loads((out / "summary.json").read_text())["tasks"]["picture"]
    assert shares["unparsed"] == len(unread) / 24
    assert shares["accuracy"] == sum(row["right"] for row in rows) / 24
    assert re.search(
        rf"picture \| all \| 24 \| .* \| {len(unread) / 24:.3f} \|", (out / "summary.md").read_text()
    )
    assert shares["read"] == 2400
    assert shares["written"] == 48


FAULTS = ["429", "500", "cut", "late", "nonsense", "503", "429", "cut", "late", "nonsense"]


def test_a_server_that_fails_is_asked_until_it_answers(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_API_KEY", "sk-of-nobody")
    with serving(lambda prompt, picture: "no", FAULTS) as server:
        how = VlmSettings(**ALONE, timeout=1.0, price="2,10")
        results = evaluate_model(server.model, paper, how, tmp_path / "out")
    asked_once(tmp_path / "out")
    assert len(server.times) == 24 + len(FAULTS)
    assert sum(server.answered.values()) == 24
    assert results.tasks["picture"]["cost"] == pytest.approx((2400 * 2 + 48 * 10) / 1e6)
    assert server.keys == {"Bearer sk-of-nobody"}
    assert not any(b"sk-of-nobody" in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_ctrl_c_waits_for_no_reply_and_loses_none(towns, tmp_path, started, until):
    hold, replies = threading.Event(), iter(range(100))
    out = tmp_path / "out"
    with serving(lambda *_: "Yes." if next(replies) < 9 or hold.wait(60) else "No.") as server:
        running = started("evaluate", server.model, towns[0], "--controls", 0, "--out", out)
        until(lambda: len(server.times) >= 12)
        os.kill(running.pid, signal.SIGINT)
        begun = time.monotonic()
        assert running.wait(30) == 130
        assert time.monotonic() - begun < 10, "those that are held would take a minute"
        hold.set()
    assert (out / ANSWERS_FILE).read_text().count("\n") == 9


def test_all_requests_wait_as_long_as_the_server_asks(paper, tmp_path):
    with serving(lambda prompt, picture: "no", ["429"]) as server:
        evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=2), tmp_path / "out")
    gaps = [later - sooner for sooner, later in zip(server.times, server.times[1:], strict=False)]
    assert max(gaps) > 0.9
    assert sum(gap > 0.5 for gap in gaps) == 1, "one pause for all"


def test_requests_can_be_changed_and_no_more_go_out_than_the_rate_allows(paper, tmp_path):
    changes = '{"max_tokens": null, "max_completion_tokens": 9, "temperature": null}'
    how = VlmSettings(**ALONE, rate=600.0, examples=12, parallel=12, request=changes)
    with serving(lambda prompt, picture: "no") as server:
        begun = time.monotonic()
        evaluate_model(server.model, paper, how, tmp_path / "out")
    assert server.times[-1] - begun > 11 * 60 / 600 * 0.95
    assert all(body.keys() == {"model", "messages", "max_completion_tokens"} for body in server.bodies)
    assert {body["model"] for body in server.bodies} == {"tiny"}


def test_a_refusal_stops_the_run_which_goes_on_later(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_API_KEY", "sk-of-nobody")
    with serving(lambda prompt, picture: "no", [""] * 7 + ["401"]) as server:
        with pytest.raises(UnreachableError, match=r"401 Unauthorized.*the key.*SIMTOWN_API_KEY") as refusal:
            evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=4), tmp_path / "out")
        assert "sk-of-nobody" not in str(refusal.value)
        kept = len((tmp_path / "out" / ANSWERS_FILE).read_text().splitlines())
        assert kept == sum(server.answered.values()) >= 7
        evaluate_model(server.model, paper, VlmSettings(**ALONE, parallel=4), tmp_path / "out")
        assert set(server.answered.values()) <= {1, 2, 3, 4}  # as often as the question is in the data
    asked_once(tmp_path / "out")
    assert sum(server.answered.values()) == 24


@pytest.mark.slow
def test_a_program_is_told_no_right_answer(towns, tmp_path, program, together):
    (outcome,) = together(["evaluate", program("fast"), towns[1], "--out", tmp_path / "out"])
    assert outcome.code == 0, outcome.err
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert all(line.keys() == {"key", "prompt", "picture", "type", "choices"} for line in lines)
    assert {line["key"].partition("/")[0] for line in lines} >= {"picture", "no-picture", "mirrored"}
    assert {line["picture"] is None for line in lines if "no-picture" in line["key"]} == {True}


def test_a_program_that_ends_early_is_named(towns, tmp_path, together):
    calls = [
        ["evaluate", "command:true", towns[0], "--out", tmp_path / "a"],
        ["evaluate", "command:echo hello", towns[0], "--out", tmp_path / "b"],
        ["evaluate", "command:no-such-program", towns[0], "--out", tmp_path / "c"],
        ["evaluate", "python:os:getcwd", towns[0], "--out", tmp_path / "d"],
        ["evaluate", "openai:http://ann:secret@localhost/v1#m", towns[0]],
        ["evaluate", "openai:localhost", towns[0]],
        ["evaluate", "runs/nowhere", towns[0]],
    ]
    outcomes = together(*calls, cwd=tmp_path)
    assert [outcome.code for outcome in outcomes] == [2] * len(calls)
    words = ("true ended with exit code 0", "echo wrote 'hello'", "no such program", "--allow-model",
             "holds a key", "not a URL with a model", "no folder runs/nowhere")  # fmt: skip
    for word, outcome in zip(words, outcomes, strict=True):
        assert word in outcome.err
        assert len(outcome.err.splitlines()) == 1
        assert "secret" not in outcome.err


def test_a_function_answers_with_texts_or_scores(paper, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def scores(prompt, picture, choices): return [float(len(choice)) for choice in choices]\n"
    )
    name = "python:mine:scores"
    with pytest.raises(SettingsError, match="allow_model must be given mine:scores"):
        open_model(name, VlmSettings())
    evaluate_model(name, paper, VlmSettings(**ALONE), tmp_path / "out", allow_model=["mine:scores"])
    assert {(row["answer"], row["log_odds"]) for row in rows_of(tmp_path / "out")} == {("yes", 1.0)}
    (tmp_path / "out" / "summary.md").unlink()
    (tmp_path / "out" / "summary.md").mkdir()
    with pytest.raises(OSError, match=r"summary\.md") as failed:
        evaluate_model(name, paper, VlmSettings(**ALONE), tmp_path / "out", allow_model=["mine:scores"])
    assert explain(failed.value)[0].endswith(f"{tmp_path}/out/summary.md: Is a directory")
