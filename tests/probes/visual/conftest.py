"""The small release, and the real one where it is."""

import pytest

from simtown.probes.visual.release import VisualRelease
from tests.probes.visual.world import write_release


@pytest.fixture
def files(tmp_path):
    """A release that the test may damage."""
    return write_release(tmp_path / "release")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("visual") / "release")


@pytest.fixture(scope="session")
def release(small):
    return VisualRelease(small)


@pytest.fixture(scope="session")
def reference(reference_data):
    return VisualRelease(reference_data("vicomte"))


@pytest.fixture(scope="session")
def coda_folder(reference_data):
    return reference_data("coda")
