"""Sine and cosine that round alike on every processor.

The system's libm and NumPy's own functions round differently from one processor to another; a data set's
bytes must not. IEEE addition, multiplication, division and square root are exact by standard, so what is
built of them alone is portable. The kernels have the same polynomials (simtown/kernels/common/exact.hpp).
"""

from typing import Any

import numpy as np

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_HIGH, _HALF_PI_LOW = 1.5707963267341256, 6.077100506506192e-11
#: Coefficients of the polynomials in the square of the angle from the second highest on.
_SINE = (-1 / 39916800, 1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1)
_COSINE = (1 / 479001600, -1 / 3628800, 1 / 40320, -1 / 720, 1 / 24, -1 / 2, 1)


def sincos(x: Any) -> tuple[np.ndarray, np.ndarray]:
    """(sin x, cos x) of angles in radians, float64, error below 1e-15 for |x| < 1e5."""
    x = np.asarray(x, dtype=np.float64)
    k = np.floor(x * _TWO_OVER_PI + 0.5)
    r = (x - k * _HALF_PI_HIGH) - k * _HALF_PI_LOW
    t = r * r
    s, c = 1 / 6227020800 - t / 1307674368000, -1 / 87178291200 + t / 20922789888000
    for coefficient in _SINE:
        s = coefficient + t * s
    for coefficient in _COSINE:
        c = coefficient + t * c
    s = r * s
    quadrant = k.astype(np.int64) & 3
    odd = (quadrant & 1).astype(bool)
    a, b = np.where(odd, c, s), np.where(odd, s, c)
    return np.where(quadrant >= 2, -a, a)[()], np.where((quadrant == 1) | (quadrant == 2), -b, b)[()]


def sin(x: Any) -> Any:
    """Portable ``numpy.sin`` (float64)."""
    return sincos(x)[0]


def cos(x: Any) -> Any:
    """Portable ``numpy.cos`` (float64)."""
    return sincos(x)[1]
