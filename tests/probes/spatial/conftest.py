"""The released data where it is."""

import pytest


@pytest.fixture(scope="session")
def reference(reference_data):
    """The folder of the paper's released matrices."""
    return reference_data("spatial-relations")
