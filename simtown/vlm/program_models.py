"""Models that are a program, asked by JSON lines, or a function of Python."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from simtown.core.options import SettingsError
from simtown.core.own_code import own_code
from simtown.core.portable_png import png_bytes
from simtown.core.server_client import UnreachableError
from simtown.core.untrusted import parse_json
from simtown.training.models import search
from simtown.vlm.vision_model import BatchedModel, Query, Said, VisionModel
from simtown.vlm.vlm_settings import CONTINUES, VlmSettings

#: Characters of the longest line that a program may write.
LONGEST_LINE = 2**24
#: Seconds in which a program that has answered all may end by itself.
_TO_END = 5.0


def import_function(place: str, setting: str = "") -> Any:
    """The function package.module:function, whose module may lie in the working directory.

    Raises SettingsError, which names the setting, if it cannot be imported.
    """
    module, _, function = place.partition(":")
    if not function:
        raise SettingsError(f"{place} names no function: write MODULE:FUNCTION", setting)
    search(Path.cwd())
    with own_code(lambda words: SettingsError(f"{place} cannot be imported: {words}", setting)):
        return getattr(import_module(module), function)


def as_said(reply: Any, query: Query) -> Said:
    """The answer of a program or function: a text, or a score for each answer.

    Raises UnreachableError if it is neither.
    """
    if isinstance(reply, str):
        return Said(str.__str__(reply))  # of a subclass, whose methods are not ours
    choices = query.gold.choices
    is_row = isinstance(reply, list | tuple | np.ndarray) and len(reply) == len(choices)
    if is_row and not any(isinstance(number, bool | np.bool_) for number in reply):
        with suppress(TypeError, OverflowError):
            scores = tuple(float(number + 0.0) for number in reply)  # no text is a number
            return Said(choices[int(np.argmax(scores))], scores)
    wanted = f"give a text, or a number for each of the {len(choices)} answers"
    raise UnreachableError(f"the model answered {reply!r:.80} to {query.key}: {wanted}")


class FunctionModel(BatchedModel):
    """A function of (prompt, picture, choices) that returns a text, or a number for each choice.

    If a question has several pictures, it gets the tuple of them in the place of the picture.
    """

    holds_several = True

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        self._function, self._name = import_function(place), place

    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        return [self._call(query) for query in queries]

    def _call(self, query: Query) -> Said:
        """Call the function. Raises UnreachableError, which says where it raised."""
        # copies, since the function may change them
        shown = tuple(picture.copy() for picture in query.pictures)
        refusal = f"python:{self._name} at {query.key} raised"
        with own_code(lambda words: UnreachableError(f"{refusal} {words}; {CONTINUES}"), UnreachableError):
            picture = shown if len(shown) > 1 else next(iter(shown), None)
            return as_said(self._function(query.text, picture, query.gold.choices), query)


class ProgramModel(VisionModel):
    """A program that reads a JSON object a line and writes one: {"key", "text"}, or {"key", "scores"}.

    A question is {"key", "prompt", "picture", "type", "choices"}: the picture is a PNG in base64, a list of
    them if there are several, or null.
    The program may answer in any order, and ends when its input does. What it writes on stderr is shown.
    """

    holds_several = True

    def __init__(self, command: str, settings: VlmSettings, device: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise SettingsError(f"command:{command} cannot be read ({error}): close it") from error
        if not self._words or shutil.which(self._words[0]) is None:
            raise SettingsError(f"command:{command} cannot be started: there is no such program")
        self._timeout = settings.timeout

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        heard, waiting = SimpleQueue[Query | str | Exception | None](), dict[str, Query]()
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        # a session of its own, so that what the program starts ends with it
        pipes |= {"encoding": "utf-8", "errors": "replace", "start_new_session": True}
        try:
            process = subprocess.Popen(self._words, **pipes)
        except OSError as error:  # such as an interpreter that is missing
            raise UnreachableError(f"{self._words[0]} cannot be started: {error}") from error
        # a program that reads all before it writes does not stop us; one that does neither holds a daemon
        works = partial(_write, queries, process.stdin), partial(_read, process.stdout)
        threads = [threading.Thread(target=work, args=(heard,), daemon=True) for work in works]
        for thread in threads:
            thread.start()
        all_sent = has_ended = False
        try:
            while not (all_sent and (has_ended or not waiting)):
                match heard.get(timeout=self._timeout):
                    case None:
                        all_sent = True
                    case "":
                        has_ended = True
                    case Query() as query:
                        waiting[query.key] = query
                    case str(line):
                        yield self._said(line, waiting)
                    case Exception() as raised:
                        raise raised
        except Empty:
            late = f"{self._words[0]} wrote no answer within {self._timeout:g} seconds"
            raise UnreachableError(f"{late}: give it more by --timeout; {CONTINUES}") from None
        finally:
            _end(process, 0 if waiting or not all_sent else _TO_END)
            for thread in threads:
                thread.join(1.0)  # one that a child in another session holds is left
        if waiting:
            ended = f"{self._words[0]} ended with exit code {process.returncode}"
            raise UnreachableError(f"{ended}, with {len(waiting)} questions unanswered")

    def _said(self, line: str, waiting: dict[str, Query]) -> tuple[Query, Said]:
        """The query that a line answers, which waits no more. Raises UnreachableError."""
        try:
            reply = parse_json(line.lstrip("\ufeff"))  # as PowerShell begins
            query = waiting.pop(reply["key"])
            answer = reply["text"] if reply.get("scores") is None else reply["scores"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wanted = 'write {"key": ..., "text": ...} for each question'
            raise UnreachableError(f"{self._words[0]} wrote {line.strip()!r:.80}: {wanted}") from error
        return query, as_said(answer, query)


def _end(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait so long for a program to end, then end it, and what it started."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(pipe: Any, heard: SimpleQueue[Any]) -> None:
    """Hear the lines of a program, and at last ""."""
    with pipe:
        for line in iter(partial(pipe.readline, LONGEST_LINE), ""):
            heard.put(line)
    heard.put("")


def _write(queries: Iterable[Query], pipe: Any, heard: SimpleQueue[Any]) -> None:
    """Write queries to a program, without the right answers, until there are no more or it has ended.

    Each is heard before it is written, then what was raised, and at last None.
    """
    try:
        with suppress(BrokenPipeError), pipe:
            for query in queries:
                heard.put(query)
                pngs = [b64encode(png_bytes(picture)).decode() for picture in query.pictures]
                picture = pngs if len(pngs) > 1 else next(iter(pngs), None)
                asks: dict[str, Any] = {"key": query.key, "prompt": query.text, "picture": picture}
                asks |= {"type": query.gold.type, "choices": query.gold.choices}
                pipe.write(json.dumps(asks) + "\n")
                pipe.flush()
    except Exception as error:
        heard.put(error)
    heard.put(None)
