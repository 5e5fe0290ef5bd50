"""Arrays that are built once on a machine, such as the town's meshes, and kept in the user's cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from simtown.assets.entities import OWN
from simtown.core.files import cache_home, replacing

_PACKAGE = Path(__file__).parents[1]
#: What decides the arrays, besides NumPy.
_SOURCES = ("assets/**/*.py", "core/exact.py", "scenes/silhouette.py")


@cache
def _digest() -> str:
    files = [path for pattern in _SOURCES for path in sorted(_PACKAGE.glob(pattern))]
    own = " ".join(kind.record for kind in OWN)
    content = b"".join([np.__version__.encode(), *(path.read_bytes() for path in files), own.encode()])
    return sha256(content).hexdigest()[:16]


def kept(name: str, build: Callable[[], Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays that `build` makes, read from the cache if these sources made them before.

    Without a folder that can be written they are built each time.
    """
    try:
        name = f"own-{name}" if OWN else name  # beside the town's, which stays
        path = cache_home() / "town" / f"{name}-{_digest()}.npz"
    except (OSError, RuntimeError):  # no home
        return dict(build())
    with suppress(OSError, ValueError, KeyError, BadZipFile), np.load(path) as file:
        return dict(file)
    arrays = dict(build())
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as new:
            np.savez(new, allow_pickle=False, **arrays)
        for old in path.parent.glob(f"{name}-*.npz"):
            if old != path:
                old.unlink()
    return arrays
