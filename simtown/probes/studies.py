"""The studies, and which of them made a directory of results.

A study of one's own is added with ``STUDIES[study.name] = study``.
"""

from __future__ import annotations

from pathlib import Path

from simtown.probes.ask import ASK
from simtown.probes.physical.study import PHYSICAL
from simtown.probes.spatial.spatial_study import SPATIAL
from simtown.probes.study import Study
from simtown.probes.visual.study import VISUAL

#: Studies by name.
STUDIES: dict[str, Study] = {study.name: study for study in (PHYSICAL, VISUAL, SPATIAL, ASK)}


def study_of(directory: Path) -> Study:
    """The study that made a directory of results.

    Raises:
        FileNotFoundError: it holds no results.
        DamagedError: their record cannot be read.
        ForeignDirectoryError: something else made it.
    """
    # `simtown --help` loads this module
    from simtown.core.files import DamagedError, ForeignDirectoryError
    from simtown.core.untrusted import RefusedError, read_json

    names = list(dict.fromkeys(study.record.name for study in STUDIES.values()))
    path = next((directory / name for name in reversed(names) if (directory / name).is_file()), None)
    if path is None:
        raise FileNotFoundError(
            f"{directory} holds no results ({' or '.join(names)}): make them with simtown probe"
        )
    try:
        form = read_json(path)["format"]
    except RefusedError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path} is damaged ({error}): delete the directory and make it again") from error
    for study in STUDIES.values():
        if (study.record.name, study.record.form) == (path.name, form):
            return study
    raise ForeignDirectoryError(f"{path} was not made by simtown probe")
