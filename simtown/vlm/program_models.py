"""Models that are a program, asked by JSON lines, or a function of Python."""

import json
import shlex
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
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


def import_function(place: str, setting: str = "") -> Any:
    """The function package.module:function, whose module may lie in the working directory.

    Raises SettingsError, which names the setting, if it cannot be imported.
    """
    module, _, function = place.partition(":")
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
    if isinstance(reply, list | tuple | np.ndarray) and len(reply) == len(choices):
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

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        pipes |= {"encoding": "utf-8", "errors": "replace"}
        try:
            process, waiting = subprocess.Popen(self._words, **pipes), dict[str, Query]()
        except OSError as error:  # such as an interpreter that is missing
            raise UnreachableError(f"{self._words[0]} cannot be started: {error}") from error
        read: Any = partial(process.stdout.readline, LONGEST_LINE) if process.stdout else str
        with process, ThreadPoolExecutor(1) as threads:
            try:
                # a thread of its own: a program that reads all before it writes does not stop us
                writing = threads.submit(_write, queries, waiting, process.stdin)
                for line in iter(read, ""):
                    try:
                        reply = parse_json(line)
                        query = waiting.pop(reply["key"])
                        said = as_said(reply.get("scores") or reply["text"], query)
                    except (ValueError, KeyError, TypeError, AttributeError) as error:
                        wanted = 'write {"key": ..., "text": ...} for each question'
                        problem = f"{self._words[0]} wrote {line.strip()!r:.80}: {wanted}"
                        raise UnreachableError(problem) from error
                    yield query, said
                writing.result()
            finally:
                process.kill()
        if waiting:
            ended = f"{self._words[0]} ended with exit code {process.returncode}"
            raise UnreachableError(f"{ended}, with {len(waiting)} questions unanswered")


def _write(queries: Iterable[Query], waiting: dict[str, Query], pipe: Any) -> None:
    """Write queries to a program, without the right answers, until there are no more or it has ended."""
    with suppress(BrokenPipeError), pipe:
        for query in queries:
            waiting[query.key] = query
            pngs = [b64encode(png_bytes(picture)).decode() for picture in query.pictures]
            picture = pngs if len(pngs) > 1 else next(iter(pngs), None)
            asks = {"key": query.key, "prompt": query.text, "picture": picture}
            pipe.write(json.dumps({**asks, "type": query.gold.type, "choices": query.gold.choices}) + "\n")
            pipe.flush()
