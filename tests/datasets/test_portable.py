"""The same bytes on every processor: kernels for older ones, and NumPy without its vector loops."""

import os
import subprocess
import sys

import numpy as np
import pytest

from simtown.datasets.making.generate import generate
from simtown.datasets.settings import MODES, Settings
from simtown.kernels import compiling
from simtown.language.meaning.relations import RELATION_NAMES

MAKE = """
import sys
from dataclasses import replace
from simtown.datasets.making.generate import generate
from simtown.datasets.settings import Settings
for i, settings in enumerate({settings}):
    generate(settings, __import__("pathlib").Path(sys.argv[1]) / str(i), workers=1)
"""
SETTINGS = [
    Settings(
        entities=102, n=60, val=0, test=14, width=48, height=40, frequencies="zipf:1.3", distractor=True,
        jitter=1.0, masks=True, depth=True, phrasing="varied", shard=20,
    ),
    Settings(entities=30, n=28, val=14, test=0, width=64, height=32, relations=RELATION_NAMES),
    *(
        Settings(sequence=mode, entities=30, n=28, val=0, test=14, width=64, height=48, masks=True)
        for mode in MODES
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory, contents):
    """What this process makes."""
    directory = tmp_path_factory.mktemp("here")
    for i, settings in enumerate(SETTINGS):
        generate(settings, directory / str(i), workers=1)
    return contents(directory, besides=("timings.json",))


def made_with(directory, **environment):
    """The same, made by another Python with these environment variables."""
    words = [sys.executable, "-c", MAKE.format(settings=repr(SETTINGS)), str(directory)]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("level", compiling.levels_here()[1:])
def test_kernels_of_an_older_processor(level, tmp_path, monkeypatch, contents, here):
    """The same sources for another level: other instructions, other compilers' choices of vectors."""
    library = compiling.LIBRARIES / compiling.name_of(level)
    if not library.exists():
        compiling.compile_kernels(library, level)
    made_with(tmp_path, SIMTOWN_KERNELS=level)
    assert contents(tmp_path, besides=("timings.json",)) == here


@pytest.mark.slow
def test_without_numpys_vector_loops(tmp_path, contents, here):
    core = np._core._multiarray_umath
    names = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    if not names:
        pytest.skip("needs vector loops that NumPy can leave out: a processor with more than its baseline")
    made_with(tmp_path, NPY_DISABLE_CPU_FEATURES=" ".join(names))
    assert contents(tmp_path, besides=("timings.json",)) == here
