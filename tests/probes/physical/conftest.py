"""The small world's files, and the real release where it is."""

import pytest

from simtown.probes.physical import TASKS, physical_release
from tests.probes.physical.world import write_release


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
    return physical_release.read(small)


@pytest.fixture(scope="session")
def tasks(release):
    """The tasks of the small release, by title."""
    return {title: release.task(title) for title in TASKS}


@pytest.fixture(scope="session")
def reference(reference_data):
    """The real release."""
    return reference_data("forbes-physical-commonsense")
