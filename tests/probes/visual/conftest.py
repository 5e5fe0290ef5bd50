"""The small release, and the real one where it is."""

import os
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from simtown.probes.visual.release import Release
from tests.probes.visual.world import write_release

REFERENCE = os.environ.get("SIMTOWN_REFERENCE_DATA")


@pytest.fixture
def files(tmp_path):
    """A release that the test may damage."""
    return write_release(tmp_path / "release")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("visual") / "release")


@pytest.fixture(scope="session")
def release(small):
    return Release(small)


def _reference(name):
    if not REFERENCE:
        pytest.skip("SIMTOWN_REFERENCE_DATA names no folder of reference data")
    path = Path(REFERENCE) / name
    if not path.is_dir():
        pytest.skip(f"the reference data has no {name}")
    return path


@pytest.fixture(scope="session")
def reference():
    return Release(_reference("vicomte"))


@pytest.fixture(scope="session")
def coda_folder():
    return _reference("coda")
