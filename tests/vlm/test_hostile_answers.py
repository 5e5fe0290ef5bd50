"""What servers, programs, functions and damaged files say: it is read, or one line says why it is not."""

import contextlib
import gzip
import itertools
import json
import os
import sys
import time
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

from simtown.core import server_client
from simtown.core.files import DamagedError
from simtown.core.options import SettingsError, check
from simtown.core.server_client import UnreachableError
from simtown.core.untrusted import RefusedError
from simtown.language.words.replies import Gold
from simtown.vlm import server_model
from simtown.vlm.models import open_model
from simtown.vlm.vision_model import Query, Said, normalise
from simtown.vlm.vlm_run import ANSWERS_FILE, evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import Raw, completion, serving

FEW = {"controls": 0, "parallel": 1, "retries": 0}
#: Replies, and some columns of the row that each becomes.
REPLIES = [
    (completion(usage=None), {"answer": "yes", "read": 0}),
    (completion(usage="many"), {"answer": "yes", "read": 0}),
    (completion(usage=[3]), {"answer": "yes", "written": 0}),
    (completion(usage={"prompt_tokens": None, "completion_tokens": {}}), {"read": 0, "written": 0}),
    (completion(usage={"prompt_tokens": -3, "completion_tokens": 10**30}), {"read": 0, "written": 0}),
    (completion(usage={"prompt_tokens": "9", "completion_tokens": True}), {"read": 0, "written": 0}),
    (completion(usage={"prompt_tokens": 7.0, "completion_tokens": 1e400}), {"read": 7, "written": 0}),
    (completion("No\udfff."), {"answer": "no", "reply": "No\ufffd."}),
    (completion("yes", finish="\ud800"), {"answer": "yes", "finish": "\ufffd"}),
    (completion([{"type": "text", "text": "y"}, {"type": "text", "text": "es"}]), {"answer": "yes"}),
    (completion([{"type": "thinking", "thinking": "no"}, "yes"]), {"answer": "yes"}),
    (completion({"answer": "no"}), {"answer": "no"}),
    (completion(7), {"answer": None, "reply": "7", "unparsed": True}),
    (completion([[None], {}]), {"answer": None}),
    (Raw(completion("no").body + b" " * 2**20), {"answer": "no"}),
    (completion("\u2028no\x85\x0b"), {"answer": "no"}),
    (completion(None, reasoning_content="Is it? yes"), {"answer": None, "reasoning": "Is it? yes"}),
    (completion(None, finish=None, reasoning=["so", "\ud83d"]), {"reply": "", "reasoning": "so\ufffd"}),
    (completion("yes, since", finish="length"), {"answer": "yes", "cut": True, "finish": "length"}),
    (completion(None, refusal="I can't assist with that."), {"answer": None, "refused": False}),
    (completion(None, finish="content_filter"), {"refused": True, "unparsed": False}),
    (Raw(b"\xef\xbb\xbf" + completion().body), {"answer": "yes"}),
    (Raw(gzip.compress(completion().body), headers={"Content-Encoding": "gzip"}), {"answer": "yes"}),
]


def rows_of(out):
    """The rows of a run, in the order in which their questions were answered."""
    rows = {row["key"]: row for row in pq.read_table(out / "picture.parquet").to_pylist()}
    keys = [json.loads(line)["key"] for line in (out / ANSWERS_FILE).read_bytes().splitlines()]
    return [rows[key] for key in keys if key in rows]


def refuse(words="no", status=400, **headers):
    return Raw(json.dumps({"error": {"message": words}}).encode(), status, headers)


def test_what_a_server_sends_is_stored_in_a_form_that_can_be_summed(paper, tmp_path):
    replies = iter(REPLIES)
    with serving(lambda *_: next(replies)[0]) as server:
        for _ in range(2):  # the second time from what is stored
            how = VlmSettings(**FEW, examples=len(REPLIES), price="1,1")
            task = evaluate_model(server.model, paper, how, tmp_path / "out").tasks["picture"]
            rows = rows_of(tmp_path / "out")
            wrong = [
                (row, expected)
                for row, (_, expected) in zip(rows, REPLIES, strict=True)
                if expected.items() - {name: row[name] for name in expected}.items()
            ]
            assert not wrong
    parts = ("accuracy", "wrong", "unparsed", "refused")
    assert sum(task[part] for part in parts) == pytest.approx(1)
    assert task["refused"] == task["cut"] == 1 / len(REPLIES)
    page = (tmp_path / "out" / "summary.md").read_text()
    assert "1 of 23 replies were cut: raise --max-tokens" in page
    assert "23 requests" in page


def dribble(part, first=()):
    """A body without an end, that ends with the connection."""
    yield from first
    for _ in range(600):
        yield part
        time.sleep(0.05)


#: Replies to all questions that stop a run, and what the message has to say.
STOPS = {
    "moved": (Raw(b"", 301, {"Location": "/v2/chat/completions"}), "/v2:"),
    "moved away": (Raw(b"", 307, {"Location": "https://other.example/v1"}), "https://other.example/v1"),
    "shorter": (Raw(completion().body, headers={"Content-Length": "999"}), "it cut the connection"),
    "moved nowhere": (Raw(b"choose", 300), "choose"),
    "moved to no address": (Raw(b"", 302, {"Location": "http://[::1/v1"}), "not as HTTP has it"),
    "moved to bytes": (Raw(b"", 301, {"Location": "http://\xe9/"}), "not as HTTP has it"),
    "page": (Raw(b"<html>Log in</html>"), "Log in"),
    "error": (Raw(b'{"error": {"message": "the quota is used up"}}'), "quota is used up"),
    "router": (Raw(b'{"choices": [{"error": {"code": 429}, "message": {"content": null}}]}'), '"code": 429'),
    "stream": (Raw(b'data: {"id": 1}\n\ndata: [DONE]'), 'data: {"id": 1}'),
    "no choice": (Raw(b'{"choices": []}'), '{"choices": []}'),
    "list": (Raw(b"[1]"), "[1]"),
    "text": (Raw(b'{"choices": [{"message": "yes"}]}'), "message"),
    "deep": (Raw(b"[" * 100_000), "[["),
    "empty": (Raw(b"", 204), "204"),
    "not gzip": (Raw(b"yes", headers={"Content-Encoding": "gzip"}), "not packed as"),
    "bomb": (Raw(gzip.compress(bytes(2**22)), headers={"Content-Encoding": "gzip"}), "longer than"),
    "endless": (Raw(itertools.repeat(bytes(2**16))), "longer than"),
    "slow": (Raw(dribble(b" ")), "within 0.5 seconds"),
    "slow headers": (Raw(dribble(b"X: y\r\n"), headers={"A": "b\r\nB: c"}), "within 0.5 seconds"),
    "wrong model": (refuse("no such model", 400), "no such model"),
    "wrong key": (refuse("no such user", 401), "SIMTOWN_API_KEY"),
    "forbidden": (refuse("not for you", 403), "not for you"),
    "wrong path": (refuse("nothing is here", 404), "nothing is here"),
    "wrong form": (refuse("unknown field", 422), "unknown field"),
    "all unsafe": (refuse("content_filter", 400), "content_filter"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_all_questions_get_stops_the_run_in_the_words_of_the_server(name, paper, tmp_path, monkeypatch):
    monkeypatch.setattr(server_client, "LARGEST_REPLY", 2**20)
    (tmp_path / "netrc").write_text("default login ann password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    reply, words = STOPS[name]
    with serving(lambda *_: reply) as server:
        how = VlmSettings(**FEW, timeout=0.5 if "slow" in name else 60.0)
        with pytest.raises(UnreachableError) as stop:
            evaluate_model(server.model, paper, how, tmp_path / "out")
        assert words in str(stop.value)
        assert "the same command goes on" in str(stop.value)
        assert "Error(" not in str(stop.value)
        assert len(server.times) <= server_model.MOST_REFUSED
        assert server.keys == {None}
    assert (tmp_path / "out" / ANSWERS_FILE).read_text() == ""


INSIDE = Raw(json.dumps({"object": "error", "error": {"message": "bad", "code": 422}}).encode(), 200, {})


@pytest.mark.parametrize(
    "refusal",
    [refuse("content_filter"), refuse("bad", 422), refuse("too long"), refuse("flagged", 403), INSIDE],
)
def test_a_refusal_of_one_question_is_its_answer(refusal, paper, tmp_path):
    numbers, turns = itertools.count(), (0, 1, 9, 23)
    with serving(lambda *_: refusal if next(numbers) in turns else "yes") as server:
        for _ in range(2):
            results = evaluate_model(server.model, paper, VlmSettings(**FEW), tmp_path / "out")
        assert len(server.times) == 24
    assert sum(row["refused"] for row in rows_of(tmp_path / "out")) == len(turns)
    assert results.tasks["picture"]["refused"] == len(turns) / 24
    assert results.tasks["picture"]["unparsed"] == 0
    why = json.loads(refusal.body)["error"]["message"]
    assert f"{len(turns)} of 24 questions have no reply to read" in (results.path / "summary.md").read_text()
    assert why in (results.path / "summary.md").read_text()


def test_a_question_that_is_left_may_be_refused_for_its_content_alone(paper, tmp_path):
    how = VlmSettings(**FEW, examples=1)
    for refusal, kept in ((refuse("no such model"), 0), (refuse("Content-Filter"), 1)):
        stops = contextlib.suppress(UnreachableError)
        with serving(lambda *_, refusal=refusal: refusal) as server, stops:
            evaluate_model(server.model, paper, how, tmp_path / str(kept))
        assert (tmp_path / str(kept) / ANSWERS_FILE).read_text().count("\n") == kept


@pytest.mark.parametrize(
    ("pause", "is_said"),
    [("inf", True), ("1e300", True), ("10000000000", True), ("Wed, 21 Oct 2099 07:28:00 GMT", True),
     ("0.01", False), ("Wed, 21 Oct 2015 07:28:00 GMT", False), ("nan", False), ("-9", False),
     ("soon", False), ("Wed, 99 Oct 99999999999 07:28:00 GMT", False)],
)  # fmt: skip
def test_a_pause_is_understood_and_capped(pause, is_said, paper, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(server_client, "LONGEST_RETRY_AFTER", 0.01)
    replies = iter([refuse("busy", 429, **{"Retry-After": pause})])
    with serving(lambda *_: next(replies, "yes")) as server:
        how = VlmSettings(controls=0, examples=2, parallel=1)
        evaluate_model(server.model, paper, how, tmp_path / "out")
    assert [row["requests"] for row in rows_of(tmp_path / "out")] == [2, 1]
    said = capsys.readouterr().err
    assert ("asks for a pause" in said) == is_said
    assert "inf" not in said
    assert len(said) < 200


def test_a_key_is_never_shown(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_API_KEY", "sk-secret\r\n")
    numbers = itertools.count()
    with serving(lambda *_: "yes" if next(numbers) else refuse("sk-secret?", 422)) as server:
        evaluate_model(server.model, paper, VlmSettings(**FEW), tmp_path / "out")
        assert server.keys == {"Bearer sk-secret"}
    assert not any(b"sk-secret" in path.read_bytes() for path in (tmp_path / "out").iterdir())
    monkeypatch.setenv("SIMTOWN_API_KEY", "secret" * 9)
    for long in range(0, 600, 40):  # wherever a message is cut
        with serving(lambda *_, long=long: refuse("x" * long + "secret" * 9, 401)) as server:
            with pytest.raises(UnreachableError) as stop:
                evaluate_model(server.model, paper, VlmSettings(**FEW), tmp_path / f"{long}")
            assert "secret" not in str(stop.value)
    for key in ("sk-secret\rX: y", "sk-s\u00e9cret", "sk-s\x7f"):
        monkeypatch.setenv("SIMTOWN_API_KEY", key)
        with pytest.raises(SettingsError, match="SIMTOWN_API_KEY") as refusal:
            open_model(server.model, VlmSettings())
        assert "sk-s" not in str(refusal.value)


QUERY = Query("test:0", (), "", Gold("truth", "yes", ("yes", "no")))
texts, numbers = some.text(some.characters()), some.floats() | some.integers()
anything = some.none() | texts | numbers | some.lists(some.none())


@given(
    said=some.builds(
        Said, text=texts, scores=some.none() | some.lists(some.floats(), max_size=3).map(tuple),
        read=anything, written=anything, finish=texts, reasoning=texts, problem=texts, requests=anything,
    )
)  # fmt: skip
def test_whatever_is_said_can_be_stored(said):
    stored = normalise(said, QUERY)
    assert normalise(stored, QUERY) == stored
    assert msgspec.json.decode(msgspec.json.encode(stored), type=Said) == stored
    assert all(0 <= count < 2**31 for count in (stored.read, stored.written, stored.requests))
    if said.text.isprintable():
        assert stored.text in (said.text, "")


FUNCTIONS = """
from math import inf, nan
replies = iter([[nan, 0.0], [-inf, 1.0], [inf, inf], [1, 2], "yes \\ud83d", ""])

def answer(prompt, picture, choices):
    return next(replies)

def worst(prompt, picture, choices):
    return help_out(choices)

def help_out(choices):
    return choices[99]
"""


def test_functions(paper, tmp_path, monkeypatch):
    (tmp_path / "odd.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    how = {"settings": VlmSettings(controls=0, examples=6), "allow_model": ["odd:answer", "odd:worst"]}
    results = evaluate_model("python:odd:answer", paper, out=tmp_path / "out", **how)
    assert [row["answer"] for row in rows_of(tmp_path / "out")] == [None, None, None, "yes", "yes", None]
    assert results.tasks["picture"]["unparsed"] == 4 / 6
    assert "3 of 6 questions have no reply to read" in (results.path / "summary.md").read_text()
    with pytest.raises(UnreachableError, match=r"IndexError in .*odd\.py, line 12: .*same command goes on"):
        evaluate_model("python:odd:worst", paper, out=tmp_path / "worst", **how)


ENDINGS = """
import os
import sys
from asyncio import CancelledError
from decimal import Decimal

class Mute(Exception):
    def __str__(self):
        return 7

class Torn:
    def __repr__(self):
        raise LookupError

class Loud(str):
    def encode(self, *how):
        sys.exit(0)

def leaves(*_): sys.exit("bye")
def cancels(*_): raise CancelledError
def is_mute(*_): raise Mute
def gives_torn(*_): return Torn()
def gives_bytes(prompt, picture, choices): return bytearray(choices and len(choices))
def gives_texts(prompt, picture, choices): return ("1e9",) * len(choices)
def gives_set(prompt, picture, choices): return {*range(len(choices))}
def is_loud(*_): return Loud("yes")
def wanders(*_): return os.chdir("/") or "yes"
def blackens(prompt, picture, choices):
    answer = "yes" if picture.any() else "no"
    picture[:] = 0
    return answer
"""
#: How functions end, and what the message says.
ENDED = {
    "leaves": r"SystemExit in .*endings\.py, line \d+: bye", "cancels": r"CancelledError in .*endings\.py",
    "is_mute": "Mute in", "gives_torn": "LookupError in", "gives_bytes": "give a text, or a number",
    "gives_texts": "give a text, or a number", "gives_set": "give a text, or a number",
}  # fmt: skip


@pytest.fixture
def endings(tmp_path, monkeypatch):
    (tmp_path / "endings.py").write_text(ENDINGS)
    (tmp_path / "script.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ENDED)
def test_a_function_may_end_in_any_way(name, paper, tmp_path, endings):
    how = {"settings": VlmSettings(controls=0, examples=2), "allow_model": [f"endings:{name}"]}
    with pytest.raises(UnreachableError, match=ENDED[name]) as stop:
        evaluate_model(f"python:endings:{name}", paper, out=tmp_path / "out", **how)
    assert "\n" not in str(stop.value)


@pytest.mark.parametrize(
    ("name", "settings"), [("is_loud", {}), ("wanders", {}), ("blackens", {"samples": 3})]
)
def test_a_function_changes_nothing_of_ours(name, settings, paper, tmp_path, endings):
    how = {"settings": VlmSettings(**settings, controls=0, examples=2), "allow_model": [f"endings:{name}"]}
    evaluate_model(f"python:endings:{name}", paper, out=Path("out"), **how)
    assert {row["answer"] for row in rows_of(tmp_path / "out")} == {"yes"}


def test_own_code_never_ends_a_command_in_silence(paper, plain, tmp_path, endings, cli):
    """A module that leaves when it is imported, wherever it is named, and a metric that leaves."""
    asks = ("evaluate", "python:endings:is_loud", paper.path, "--allow-model", "endings:is_loud")
    few = ("--controls", 0, "--examples", 1, "--out", tmp_path / "out", "--metric")
    cli(*asks, *few, "script:metric").refuses("--metric", "script:metric", "SystemExit")
    cli(*asks, *few, "endings:leaves").refuses("endings:leaves", "bye")
    cli("evaluate", "python:script:f", paper.path, "--allow-model", "script:f").refuses("script:f")
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    cli("fit", plain, "--model", "script:Net").refuses("script:Net", "SystemExit")


PROGRAM = r"""
import json, sys
sys.stdout.buffer.write(b"\xef\xbb\xbf")
replies = b'"text": "yes \\ud83d"', b'"text": "no \xff"', b'"scores": [NaN, 1]', b'"text": ""'
for line, reply in zip(sys.stdin, replies):
    key = json.dumps(json.loads(line)["key"]).encode()
    sys.stdout.buffer.write(b'{"key": %s, %s}\n' % (key, reply))
    sys.stdout.flush()
"""


def test_programs(paper, tmp_path):
    (tmp_path / "odd.py").write_text(PROGRAM)
    model = f"command:{sys.executable} {tmp_path / 'odd.py'}"
    evaluate_model(model, paper, VlmSettings(controls=0, examples=4), tmp_path / "out")
    assert [row["answer"] for row in rows_of(tmp_path / "out")] == ["yes", "no", None, None]
    (tmp_path / "odd.py").write_text(f"print('[' * {10**6})")
    with pytest.raises(UnreachableError, match="wrote"):
        evaluate_model(model, paper, VlmSettings(controls=0, examples=5), tmp_path / "out")


CLINGING = """
import json, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
for line in sys.stdin:
    if len(sys.argv) > 1:
        print(json.dumps({"key": json.loads(line)["key"], "text": "no"}), flush=True)
if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        file.write("all said")
"""


def test_a_program_whose_child_holds_its_pipes_is_not_waited_for(paper, tmp_path):
    (tmp_path / "odd.py").write_text(CLINGING)
    model = f"command:{sys.executable} {tmp_path / 'odd.py'}"
    evaluate_model(f"{model} {tmp_path / 'log'}", paper, VlmSettings(**FEW, examples=3), tmp_path / "out")
    assert {row["answer"] for row in rows_of(tmp_path / "out")} == {"no"}
    assert (tmp_path / "log").read_text() == "all said"
    with pytest.raises(UnreachableError, match=r"no answer within 1 seconds: .*--timeout"):
        evaluate_model(model, paper, VlmSettings(**FEW, examples=3, timeout=1.0), tmp_path / "silent")


@pytest.mark.parametrize(
    "model",
    ["command:'", "command:/", "command:absent", "command:{tmp}/odd", "openai:http://[bad/v1#m",
     "openai:h/v1#m", "openai:http://h:99999/v1#m", "openai:http://h:abc/v1#m", "openai:http://h:0/v1#m"],
)  # fmt: skip
def test_a_model_that_cannot_be_is_refused_before_it_is_asked(model, paper, tmp_path):
    (tmp_path / "odd").write_text("#!/no/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    with pytest.raises((SettingsError, UnreachableError), match=r"command:|openai:|odd cannot"):
        evaluate_model(model.format(tmp=tmp_path), paper, VlmSettings(**FEW), tmp_path / "out")


@pytest.mark.parametrize(
    "setting",
    [{"price": p} for p in ("1,nan", "inf,1", "-1,2", "1", "1,2,3", "a,b")]
    + [{"request": r} for r in ('{"top_p": NaN}', '{"n": 1e999}', "[" * 10**5, "[]")]
    + [{"request": '{"a":' * 99 + "1" + "}" * 99}]
    + [{"timeout": t} for t in (float("inf"), float("nan"), 0)],
    ids=lambda setting: str(setting)[:40],
)  # fmt: skip
def test_settings_of_requests_are_checked_before_any_is_sent(setting):
    with pytest.raises(SettingsError, match=next(iter(setting))) as refusal:
        check(VlmSettings(**setting))
    assert len(str(refusal.value)) < 400


# The file of answers

#: Lines as they were before replies had a finish, a reasoning and so on.
OLD = '{{"key": "picture/test:{}", "text": "{}", "scores": null, "read": {}, "written": 2}}\n'
DAMAGES = [
    b"", b" ", b"null", b"[]", b"7", b'"text"', b"{}", b'{"key": "a"', b'{"key": "a"}', b'{"text": "a"}',
    b"\xff\xfe", b"\x00", b'{"key": null, "text": "a"}',
    b'{"key": 7, "text": "a"}',
    b'{"key": "a", "text": 7}', b'{"key": "a", "text": null}', b'{"key": "a", "text": "b", "other": 1}',
    b'{"key": "a", "text": "b", "scores": "c"}', b'{"key": "a", "text": "b", "scores": [null]}',
    b'{"key": "a", "text": "b", "finish": []}', b'{"key": "a", "text": "b", "refused": 1}',
    b'{"key": "a", "text": "b", "scores": [1' + 999 * b"0" + b"]}", b"[" * 100_000, b"9" * 5000,
]  # fmt: skip


@pytest.fixture
def answered(paper, tmp_path):
    """A function that evaluates a model of four old answers, of which one broke every summary."""
    out = tmp_path / "out"
    with serving(lambda *_: "no") as server:

        def evaluate(examples=4, **settings):
            return evaluate_model(server.model, paper, VlmSettings(**FEW, examples=examples, **settings), out)

        evaluate(1)
        record = json.loads((out / "summary.json").read_text())
        record["settings"]["examples"] = 4
        (out / "summary.json").write_text(json.dumps(record))
        said = ("yes", 1), ("no", 1), ("half \\ud83d", "null"), ("yes", 10**30)
        lines = [OLD.format(i, *words) for i, words in enumerate(said)]
        (out / ANSWERS_FILE).write_text("".join(lines))
        server.times.clear()
        yield server, out, evaluate


def test_a_directory_of_before_goes_on_with_more_or_fewer_examples(answered):
    server, out, evaluate = answered
    for examples, asked in ((4, 0), (7, 3), (2, 3), (7, 3), (9, 5)):
        results = evaluate(examples)
        assert results.tasks["picture"]["n"] == len(rows_of(out)) == examples
        assert len(server.times) == asked
    assert [row["answer"] for row in rows_of(out)] == ["yes", "no", None, "yes", *["no"] * 5]
    (out / ANSWERS_FILE).write_text((out / ANSWERS_FILE).read_text() + OLD.format(8, "yes", 0)[:-5])
    assert evaluate(9).tasks["picture"]["n"] == 9
    with pytest.raises(ValueError, match="max_tokens"):
        evaluate(9, max_tokens=9)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda line: str(line[:50]))
def test_a_damaged_line_is_named(answered, damage):
    server, out, evaluate = answered
    first, *others = (out / ANSWERS_FILE).read_bytes().splitlines(keepends=True)
    content = first + damage + b"\n" + b"".join(others) + b"{"
    (out / ANSWERS_FILE).write_bytes(content)
    with pytest.raises(DamagedError, match=r"answers\.jsonl, line 2 is damaged"):
        evaluate()
    assert (out / ANSWERS_FILE).read_bytes() == content
    assert not server.times


def test_links_and_pipes_are_refused_and_what_they_lead_to_is_kept(answered, tmp_path):
    _, out, evaluate = answered
    (tmp_path / "letter").write_text("Dear Ann,")
    makers = {
        "link": lambda path: path.symlink_to(tmp_path / "letter"),
        "dangling": lambda path: path.symlink_to(tmp_path / "nothing"),
        "pipe": os.mkfifo,
    }
    for make in makers.values():
        (out / ANSWERS_FILE).unlink()
        make(out / ANSWERS_FILE)
        with pytest.raises(RefusedError, match=ANSWERS_FILE):
            evaluate()
    assert (tmp_path / "letter").read_text() == "Dear Ann,"
    assert not (tmp_path / "nothing").exists()
