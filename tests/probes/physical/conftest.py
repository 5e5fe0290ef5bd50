"""The small world's files, and the real release where it is."""

import os
from pathlib import Path

import pytest

pytest.importorskip("lemminflect")
pytest.importorskip("sklearn")
pytest.importorskip("pyarrow")

from simtown.probes.physical import datasets
from tests.probes.physical.world import write_release

REFERENCE = os.environ.get("SIMTOWN_REFERENCE_DATA")


@pytest.fixture
def files(tmp_path):
    """A release that the test may damage."""
    return write_release(tmp_path / "release")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The folder of the small release."""
    return write_release(tmp_path_factory.mktemp("physical") / "release")


@pytest.fixture(scope="session")
def release(small):
    return datasets.read(small)


@pytest.fixture(scope="session")
def reference():
    """The real release."""
    if not REFERENCE:
        pytest.skip("SIMTOWN_REFERENCE_DATA names no folder of reference data")
    path = Path(REFERENCE) / "forbes-physical-commonsense"
    if not path.is_dir():
        pytest.skip("the reference data has no forbes-physical-commonsense")
    return path
