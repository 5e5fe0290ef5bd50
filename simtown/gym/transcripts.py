"""Transcripts of the gym: tasks and replies as JSON lines, and a proof that the tasks are the town's."""

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from operator import index as as_index
from pathlib import Path
from typing import Any

from simtown.core.untrusted import cause, open_regular, parse_json
from simtown.gym.levels import Level
from simtown.gym.tasks import Street, Task

#: Lines whose tasks are made together.
LINES = 64
_PICTURE = "data:image/png;base64,"


def transcript_line(task: Task, reply: str | None = None) -> str:
    """A task as a line of JSON: address, prompt, answer, SHA-256 of its PNG files, a reply and its score."""
    line: dict[str, Any] = {"prompt": task.prompt, "answer": task.answer, "metadata": task.metadata}
    line["picture"] = sha256(b"".join(task.pngs)).hexdigest()
    if reply is not None:
        line |= {"reply": reply, "score": task.score(reply)}
    return json.dumps(line) + "\n"


def check_transcript(path: str | Path) -> tuple[int, list[str]]:
    """Make each task of a transcript again from its address, and compare.

    A line is an object of JSON with the task's `metadata`, its prompt, its picture (a data URL, or the
    SHA-256 of the PNG as `picture`) and its `answer`, at any depth: what :func:`transcript_line` and the
    adapters write. A `gold`, and a `score` or `reward` beside a `reply`, are compared too.

    Returns:
        How many lines there are, and what is wrong, each with its line.
    """
    problems: list[str] = []
    checked = 0
    with io.TextIOWrapper(open_regular(Path(path)), "utf-8", "replace") as file:
        numbered = ((number, line) for number, line in enumerate(file, 1) if line.strip())
        while block := list(islice(numbered, LINES)):
            checked += len(block)
            problems += [f"{path}: line {number} {what}" for number, what in sorted(_problems(block))]
    return checked, problems


def _problems(block: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Problems in some numbered lines."""
    lines: dict[str, list[tuple[int, int, dict[str, Any]]]] = {}
    for number, text in block:
        try:
            line = parse_json(text)
        except ValueError:
            yield number, "cannot be read as JSON"
            continue
        try:
            metadata = next(found["metadata"] for found in _objects(line) if "metadata" in found)
            street = json.dumps([metadata["level"], metadata["seed"]])
            index = range(2**53).index(as_index(metadata["index"]))  # of a text it would take years
            lines.setdefault(street, []).append((number, index, line))
        except (LookupError, TypeError, ValueError, StopIteration):
            yield number, "has no metadata with level, seed and index: keep those of the task"
    for street, members in lines.items():
        level, seed = json.loads(street)
        try:
            if isinstance(level, list):  # one of the user's own
                level = _level_of(level)
            tasks = Street(level, seed).at([index for _, index, _ in members])
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            yield from ((number, f"has no address of the gym: {cause(error)}") for number, _, _ in members)
            continue
        for (number, _, line), task in zip(members, tasks, strict=True):
            yield from ((number, what) for what in _differences(line, task))


def _level_of(values: list[Any]) -> Level:
    """A level of one's own from its values in JSON. Raises TypeError if these are too few or too many."""
    parts: list[Any] = [tuple(value) if isinstance(value, list) else value for value in values]
    return Level(*parts)


def _differences(line: Any, task: Task) -> Iterator[str]:
    """Differences between a line and its task, missing fields among them."""
    objects = list(_objects(line))
    said = [(key, value) for found in objects for key, value in found.items()]
    pictures = [value for key, value in said if key == "picture" or str(value).startswith(_PICTURE)]
    if task.prompt not in [value for _, value in said]:
        yield f"has another question: the town asks '{task.prompt}'"
    own = [_PICTURE + b64encode(png).decode() for png in task.pngs]
    urls = [value for value in pictures if str(value).startswith(_PICTURE)]
    hashes = {*map(str, pictures)} - {*own}
    if (urls and urls != own) or hashes - {sha256(b"".join(task.pngs)).hexdigest()}:
        yield "has another picture than the town's"
    elif not pictures:
        yield "has no picture: keep the messages, or the SHA-256 of its PNG as 'picture'"
    answers = [value for key, value in said if key == "answer"]
    if answers != [task.answer] * len(answers) or not answers:
        yield f"has {'another' if answers else 'no'} answer: the town's is '{task.answer}'"
    metadata = json.loads(json.dumps(task.metadata | {"gold": asdict(task.gold)}))
    for found in (found["metadata"] for found in objects if "metadata" in found):
        if wrong := [key for key in metadata if key in found and found[key] != metadata[key]]:
            yield f"has other metadata than its task: {', '.join(wrong)}"
    golds = [value for key, value in said if key == "gold"]
    if golds != [metadata["gold"]] * len(golds):
        yield "is scored by another gold than the town's"
    for found in objects:
        scores = [found[key] for key in ("score", "reward") if key in found and "reply" in found]
        if scores and scores != [task.score(found["reply"])] * len(scores):
            yield f"has another score than {task.score(found['reply'])}, which its reply is worth"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value, at any depth."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)
