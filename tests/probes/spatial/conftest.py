"""The released data where it is."""

import os
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

REFERENCE = os.environ.get("SIMTOWN_REFERENCE_DATA")


@pytest.fixture(scope="session")
def reference():
    """The folder of the paper's released matrices."""
    if not REFERENCE:
        pytest.skip("SIMTOWN_REFERENCE_DATA names no folder of reference data")
    path = Path(REFERENCE) / "spatial-relations"
    if not path.is_dir():
        pytest.skip("the reference data has no spatial-relations")
    return path
