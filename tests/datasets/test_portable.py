"""The same bytes on every processor: numba compiles for a plain one, NumPy leaves out its vector loops."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from simtown.core.exact import cos, sin
from simtown.datasets.generate import generate
from simtown.datasets.settings import Settings
from simtown.language.relations import RELATION_NAMES

MAKE = """
import sys
from dataclasses import replace
from simtown.datasets.generate import generate
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
    script = MAKE.format(settings=repr(SETTINGS))
    done = subprocess.run(
        [sys.executable, "-c", script, str(directory)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_no_kernel_may_reorder_or_contract_what_it_adds_and_multiplies():
    """Or a processor with other instructions would round otherwise."""
    kernels = {
        id(kernel): kernel
        for name, module in list(sys.modules.items())
        if name.startswith("simtown.")
        for kernel in vars(module).values()
        if isinstance(kernel, Dispatcher)
    }
    assert len(kernels) > 50
    for kernel in kernels.values():
        assert not kernel.targetoptions.get("fastmath"), kernel
        assert not kernel.targetoptions.get("parallel"), kernel


def test_sine_and_cosine_compiled_for_a_plain_processor(tmp_path):
    script = (
        "import sys, numpy as np\n"
        "from simtown.core.exact import cos, sin\n"
        "x = np.arange(-5000, 5000) * 0.37\n"
        "sys.stdout.write((sin(x).tobytes() + cos(x).tobytes()).hex())"
    )
    environment = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    x = np.arange(-5000, 5000) * 0.37
    assert done.stdout == (sin(x).tobytes() + cos(x).tobytes()).hex()
    assert list(tmp_path.rglob("*.nbi")), "nothing was compiled anew"


@pytest.mark.slow  # it compiles every kernel: a minute
def test_compiled_for_a_plain_processor(tmp_path, contents, here):
    made_with(tmp_path / "out", NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert contents(tmp_path / "out", besides=("timings.json",)) == here
    assert list((tmp_path / "cache").rglob("*.nbi")), "nothing was compiled anew"


def test_without_numpys_vector_loops(tmp_path, contents, here):
    core = np._core._multiarray_umath
    names = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    if not names:
        pytest.skip(
            "needs vector loops that NumPy can leave out: run the tests on a processor with more than "
            "NumPy's baseline"
        )
    made_with(tmp_path, NPY_DISABLE_CPU_FEATURES=" ".join(names))
    assert contents(tmp_path, besides=("timings.json",)) == here
