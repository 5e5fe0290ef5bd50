"""The studies of the command line, and which of them made a directory of results.

A study of your own is added with ``STUDIES[study.name] = study``.
"""

from contextlib import suppress
from pathlib import Path

from simtown.core.files import ForeignDirectoryError
from simtown.probes.item_study import ASK
from simtown.probes.pair_study import PAIRS
from simtown.probes.physical.physical_study import PHYSICAL
from simtown.probes.report import Results
from simtown.probes.spatial.spatial_study import SPATIAL
from simtown.probes.study import Study
from simtown.probes.visual.visual_study import VISUAL

#: Studies by name.
STUDIES: dict[str, Study] = {study.name: study for study in (PHYSICAL, VISUAL, SPATIAL, ASK)}
STUDIES["pairs"] = PAIRS


def open_results(path: Path) -> tuple[Study, Results]:
    """A directory of results, and the study that made it.

    Raises:
        FileNotFoundError: it holds no results.
        DamagedError: its summary.json cannot be read.
        ForeignDirectoryError: something else, or another version, made it.
    """
    for study in STUDIES.values():
        with suppress(ForeignDirectoryError):
            return study, Results(path, study.record.load(path))
    raise ForeignDirectoryError(f"{path} was not made by simtown probe, or by another version of it")
