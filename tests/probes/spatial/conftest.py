"""The released data where it is."""

import pytest

pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
pytest.importorskip("sklearn", reason="needs scikit-learn: pip install '.[probes]'")
pytest.importorskip("matplotlib", reason="needs matplotlib: pip install '.[probes]'")


@pytest.fixture(scope="session")
def reference(reference_data):
    """The folder of the paper's released matrices."""
    return reference_data("spatial-relations")
