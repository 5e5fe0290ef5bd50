"""Which study made a directory of results."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from simtown.files import DamagedError, ForeignDirectoryError, RefusedError, read_json
from simtown.probes.physical import results as physical
from simtown.probes.results import NAME
from simtown.probes.spatial import study as spatial
from simtown.probes.visual import results as visual

Study = Literal["physical", "visual", "spatial"]
#: What each study writes: its file's name, and what that calls its format.
_MARKS: dict[Study, tuple[str, str]] = {
    "physical": (NAME, physical.STUDY.form),
    "visual": (NAME, visual.STUDY.form),
    "spatial": (spatial.RUN, spatial.FORMAT),
}


def study_of(directory: Path) -> Study:
    """The study that made the directory.

    Raises:
        FileNotFoundError: it holds no results. DamagedError: their summary cannot be read. ForeignDirectoryError: something else made it.
    """
    files = [directory / name for name in dict.fromkeys(name for name, _ in _MARKS.values())]
    there = next((file for file in reversed(files) if file.is_file()), None)
    if there is None:
        raise FileNotFoundError(f"{directory} holds no results ({' or '.join(f.name for f in files)}): make them with simtown probe")
    try:
        form = read_json(there)["format"]
    except RefusedError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{there} is damaged ({error}): delete the directory and make it again") from error
    for study, mark in _MARKS.items():
        if mark == (there.name, form):
            return study
    raise ForeignDirectoryError(f"{there} was not made by simtown probe")
