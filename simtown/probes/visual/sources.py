"""From a folder to data: the paper's release, or what simtown mined."""

from __future__ import annotations

from pathlib import Path

from simtown.probes.visual.mined import NAME, Mined
from simtown.probes.visual.release import Release


def open_data(folder: Path) -> Release | Mined:
    """Raises FileNotFoundError where the folder holds neither."""
    return Mined(folder) if (folder / NAME).is_file() else Release(folder)
