"""The way of a batch of questions through the code: how much of it a reader has to hold."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import simtown
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of

ROOT = str(Path(simtown.__file__).parent)


class Way(NamedTuple):
    """Modules and functions of ours that a call runs, and how many stand on the stack at most."""

    modules: int
    functions: int
    frames: int


def followed(call):
    """The path of a call, its second time: what is computed once is not on it."""
    call()
    functions, depth, deepest = set(), 0, 0

    def note(frame, event, _):
        nonlocal depth, deepest
        code = frame.f_code
        if not code.co_filename.startswith(ROOT) or code.co_name.startswith("<"):
            return
        depth += {"call": 1, "return": -1}.get(event, 0)
        deepest = max(deepest, depth)
        functions.add((code.co_filename, code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Way(len({file for file, _ in functions}), len(functions), deepest)


SMALL = Settings(questions=("count",), n=64, val=0, test=0, entities=20, width=64, height=64)
TWINS = replace(SMALL, questions=("count", "colour"), twins=True, hold_out=("taxi+bus",))
#: Lower a number when the way gets shorter.
LONGEST = {"count": (SMALL, Way(21, 94, 12)), "twins": (TWINS, Way(30, 147, 15))}


@pytest.mark.parametrize(("settings", "most"), LONGEST.values(), ids=LONGEST)
def test_a_batch_of_questions_takes_a_short_way(settings, most):
    way = followed(lambda: source_of(settings).draw("train", np.arange(64)))
    assert all(here <= limit for here, limit in zip(way, most, strict=True)), way
