"""Portable sine and cosine against NumPy's, in extended precision where the machine has it."""

import math
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simtown
from simtown.core.exact import cos, sin, sincos
from tests.conftest import HANGS

quick = settings(max_examples=400)
angles = st.floats(-1e5, 1e5, allow_nan=False)


@quick
@given(angles)
def test_sine_and_cosine_are_accurate(x):
    wide = np.longdouble(x)
    assert abs(np.longdouble(sin(x)) - np.sin(wide)) < 1e-15
    assert abs(np.longdouble(cos(x)) - np.cos(wide)) < 1e-15


@pytest.mark.parametrize("steps", [1.0, 1e3, 63661.0])
def test_accurate_about_multiples_of_a_quarter_turn(steps):
    """Where the argument's reduction loses most."""
    x = np.nextafter(np.pi / 2 * np.arange(-steps, steps + 1, max(1.0, steps / 500)), np.inf)
    wide = x.astype(np.longdouble)
    assert np.abs(sin(x) - np.sin(wide)).max() < 1e-15
    assert np.abs(cos(x) - np.cos(wide)).max() < 1e-15


def test_arrays_give_what_scalars_give():
    x = (np.arange(60.0).reshape(3, 4, 5) - 31) * 1.7
    assert sin(x).shape == x.shape
    assert sin(x).tolist() == np.vectorize(lambda v: sincos(v)[0])(x).tolist()
    assert cos(x[:, ::2]).tolist() == np.vectorize(lambda v: sincos(v)[1])(x[:, ::2]).tolist()


def test_same_bits_on_every_machine():
    """Golden: data sets' bytes rest on these."""
    x = np.arange(-50000, 50000) * 0.37
    digest = sha256(sin(x).astype("<f8").tobytes() + cos(x).astype("<f8").tobytes())
    assert digest.hexdigest()[:16] == "1597168b76aae66c"


@pytest.mark.parametrize(
    "place", ["of the user's own", "that another user made first", "that nobody can write"]
)
def test_compiled_code_finds_a_place_where_neither_the_package_nor_the_home_can_be_written(place, tmp_path):
    """Files stand where numba would make its folders, so that not even root can."""
    package, temporary = tmp_path / "package", tmp_path / "temporary"
    shutil.copytree(
        Path(simtown.__file__).parent, package / "simtown", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [package / "simtown", *(f for f in (package / "simtown").rglob("*") if f.is_dir())]:
        (folder / "__pycache__").touch()
    temporary.mkdir()
    kept = temporary / f"simtown-{os.getuid()}"
    if place == "that another user made first":
        kept.mkdir(mode=0o777)
        kept.chmod(0o777)
    elif place == "that nobody can write":
        kept.touch()
    environment = {
        **os.environ,
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(temporary),
        "HOME": "/dev/null",
        "XDG_CACHE_HOME": "/dev/null/cache",
    }
    script = (
        "import simtown.core.exact as e; assert e.__file__.startswith(sys.argv[1]); print(e.sincos(1.0)[0], "
        "e.sin(1.0))"
    )
    words = [sys.executable, "-c", f"import sys; {script}", str(package)]
    done = subprocess.run(words, env=environment, cwd=package, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert done.stdout.split() == [str(math.sin(1.0))] * 2
    assert any(path.suffix == ".nbi" for path in temporary.rglob("*")) == (place == "of the user's own")
