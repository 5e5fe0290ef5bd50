"""A data set that other processes and machines open for themselves, for pieces of work."""

from __future__ import annotations

import socket
from functools import lru_cache
from typing import Any

from simtown.core.files import DamagedError
from simtown.core.pool import require_shared
from simtown.datasets.manifests import SEAL
from simtown.datasets.reader import Dataset, open_dataset
from simtown.datasets.stores import url_of


class Handle:
    """Names a data set. A copy in another process opens it once, and keeps it for the next piece of work."""

    def __init__(self, data: Dataset) -> None:
        self._data: Dataset | None = data
        self._source, self._seal = data.source, _seal(data)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_data": None}

    def open(self) -> Dataset:
        """The data set.

        Raises:
            ClusterError: this machine does not reach its directory.
            DamagedError: another data set lies there now, as seen from this machine.
            OSError: it cannot be read.
        """
        return self._data or _open(self._source, self._seal)


@lru_cache(maxsize=1)
def _open(source: str, seal: str) -> Dataset:
    if url_of(source) is None:
        require_shared(source)
    data = open_dataset(source)
    if _seal(data) != seal:
        raise DamagedError(
            f"{data.place} has changed since the command began, or is another data set on "
            f"{socket.gethostname()}"
        )
    return data


def _seal(data: Dataset) -> str:
    """The checksum of the manifest."""
    return str(data.manifest[SEAL])
