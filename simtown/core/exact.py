"""Arithmetic that rounds alike on every processor: how simtown compiles, and sine and cosine.

The system's libm and NumPy's vector loops round differently from one processor to another; a data set's bytes
must not. IEEE addition, multiplication, division and square root are exact by standard, so what is built of
them alone is portable.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from stat import S_ISDIR

import numpy as np
from numba import config, njit, vectorize


def _keeps_compiled() -> bool:
    """Whether compiled code can be kept on disk.

    numba keeps it in the package's folder or in the user's cache. If neither can be written, a folder of this
    user's own among the temporary files serves, also for worker processes. What lies there is run: a folder
    that others could write to is not used.
    """
    try:
        njit(cache=True)(_keeps_compiled)
    except RuntimeError:  # it finds no folder
        temporary = Path(tempfile.gettempdir())
        if temporary == Path.cwd():  # the last resort of `tempfile`, which may be anybody's folder
            return False
        folder = temporary / f"simtown-{os.getuid()}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            status = folder.lstat()
        except OSError:
            return False
        mine = S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
        if not mine:
            return False
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        config.reload_config()
    return True


#: Whether compiled code is kept on disk.
KEPT = _keeps_compiled()
#: How every inner loop of simtown is compiled: kept on disk, free of the GIL, no reordering or contracting of
#: float operations.
kernel = njit(cache=KEPT, nogil=True, error_model="numpy")
#: The same for a kernel that makes no array and calls none that does: it keeps no count of references to
#: those that it is given. Each step of a count is atomic, and a function that hands an array on takes two:
#: too slow for what runs thousands of times a frame.
inner_kernel = njit(cache=KEPT, nogil=True, error_model="numpy", _nrt=False)
#: The same for a part of another kernel, compiled as if it stood there.
part_of_kernel = njit(cache=KEPT, nogil=True, error_model="numpy", inline="always", _nrt=False)
#: A kernel that LLVM puts into its callers, where nothing is counted then; unlike a part of a kernel it is
#: typed on its own.
_ONLY_CALLED = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inlined_kernel = njit(cache=KEPT, nogil=True, error_model="numpy", **_ONLY_CALLED)

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_HIGH = 1.5707963267341256
_HALF_PI_LOW = 6.077100506506192e-11


@kernel
def sincos(x):  # type: ignore[no-untyped-def]
    """(sin x, cos x) of an angle in radians, float64, error below 1e-15 for |x| < 1e5."""
    k = np.floor(x * _TWO_OVER_PI + 0.5)
    r = (x - k * _HALF_PI_HIGH) - k * _HALF_PI_LOW
    t = r * r
    s = 1 / 6227020800 - t / 1307674368000
    s = -1 / 39916800 + t * s
    s = 1 / 362880 + t * s
    s = -1 / 5040 + t * s
    s = 1 / 120 + t * s
    s = -1 / 6 + t * s
    s = r * (1 + t * s)
    c = -1 / 87178291200 + t / 20922789888000
    c = 1 / 479001600 + t * c
    c = -1 / 3628800 + t * c
    c = 1 / 40320 + t * c
    c = -1 / 720 + t * c
    c = 1 / 24 + t * c
    c = -1 / 2 + t * c
    c = 1 + t * c
    quadrant = int(k) & 3
    if quadrant == 0:
        return s, c
    if quadrant == 1:
        return c, -s
    if quadrant == 2:
        return -s, -c
    return -c, s


@vectorize(["float64(float64)"], cache=KEPT)
def sin(x):  # type: ignore[no-untyped-def]
    """Portable ``numpy.sin`` (float64)."""
    return sincos(x)[0]


@vectorize(["float64(float64)"], cache=KEPT)
def cos(x):  # type: ignore[no-untyped-def]
    """Portable ``numpy.cos`` (float64)."""
    return sincos(x)[1]
