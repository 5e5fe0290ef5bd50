"""Two small data sets to ask about."""

import pytest

from simtown import generate, open_dataset
from simtown.datasets.settings import Settings


@pytest.fixture(scope="session")
def towns(tmp_path_factory):
    """The directories of a data set of the paper's question, and of one of all families."""
    small = {"n": 2, "val": 0, "width": 64, "height": 64, "frequencies": "uniform"}
    paper, families = (tmp_path_factory.mktemp("asked") / name for name in ("paper", "families"))
    generate(Settings(entities=5, test=24, **small), paper, workers=1)
    all_families = {"questions": ("all",), "crowd": "3-5", "cannot_tell": 0.2}
    generate(Settings(entities=15, test=92, **small, **all_families), families, workers=1)
    return paper, families


@pytest.fixture(scope="session")
def paper(towns):
    return open_dataset(towns[0])
