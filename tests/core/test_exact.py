"""Portable sine and cosine against NumPy's, in extended precision where the machine has it."""

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.exact import cos, sin, sincos

angles = st.floats(-1e5, 1e5, allow_nan=False)


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
