"""Transcripts prove their tasks."""

import json

import pytest

from simtown.gym import Street
from simtown.gym.adapters import gold_of
from simtown.gym.transcripts import check_transcript, transcript_line


@pytest.fixture(scope="module")
def lines():
    tasks = [*Street(3, seed=7).at([0, 1, 500]), *Street(7, seed=1).at([12, 3])]
    chats = [{"messages": task.messages, "gold": gold_of(task), "metadata": task.metadata} for task in tasks]
    return [json.loads(transcript_line(task, f"Answer: {task.answer}")) for task in tasks] + chats


def check(lines, folder):
    path = folder / "transcript.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return check_transcript(path)


def test_tasks_as_the_town_makes_them_pass(lines, tmp_path):
    assert check(lines, tmp_path) == (10, [])


@pytest.mark.parametrize(
    ("number", "change", "problem"),
    [
        (0, {"answer": "tram"}, "line 1 has another answer"),
        (1, {"picture": "0" * 64}, "line 2 has another picture"),
        (2, {"prompt": "Is there a tram?"}, "line 3 has another question"),
        (3, {"score": 0.5}, "line 4 has another score"),
        (0, {"score": 1.0, "reply": None}, "line 1 has another score than 0"),
        (0, {"score": 1.0, "reply": {"thinking": "yes"}}, "line 1 has another score than 0"),
        (4, {"picture": None}, "line 5 has another picture"),
        (5, {"gold": {"tolerance": 100.0}}, "line 6 is scored by another gold"),
        (7, {"messages": []}, "line 8 has no picture"),
        (8, {"metadata": {"level": 7, "seed": 1, "index": 4}}, "line 9 has another question"),
        (0, {"metadata": {"level": 13, "seed": 7, "index": 0}}, "line 1 has no address of the gym"),
        (
            0,
            {"metadata": {"level": [1], "seed": 7, "index": 0}},
            "line 1 has no address of the gym: it holds",
        ),
        *[
            (0, {"metadata": {"level": 3, "seed": 7, "index": index}}, "line 1 has no metadata")
            for index in (-1, 2**53, "7", None, 0.5, [0])
        ],
        (1, {"metadata": None}, "line 2 has no metadata"),
    ],
)
def test_a_changed_line_is_named(lines, tmp_path, number, change, problem):
    changed = [line | change if place == number else line for place, line in enumerate(lines)]
    checked, problems = check(changed, tmp_path)
    assert checked == 10
    assert problem in "\n".join(problems)
    assert {f"line {number + 1} "} == {
        f"line {found.partition(': line ')[2].split()[0]} " for found in problems
    }


def test_what_is_no_line_of_a_transcript_is_named(tmp_path):
    path = tmp_path / "transcript.jsonl"
    path.write_text('{"metadata": 3}\nno JSON\n\n[1]\n' + "[" * 5000 + "\n", encoding="utf-8")
    checked, problems = check_transcript(path)
    assert checked == len(problems) == 4


def test_all_pictures_of_a_task_count(tmp_path):
    """Of several pictures in a message each must be there, in its place."""
    task = next(task for task in Street(10, seed=7) if task.metadata["family"] == "backs")
    line = json.loads(transcript_line(task)) | {"messages": task.messages}
    del line["picture"]
    assert check([line], tmp_path) == (1, [])
    *parts, text = line["messages"][0]["content"]
    line["messages"][0]["content"] = [*parts[:2], *parts[6:], *parts[2:6], text]
    assert "another picture" in " ".join(check([line], tmp_path)[1])
