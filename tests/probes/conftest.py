"""Tiny models for the tests of the probes, each made once; Visual Genome's files in small for a corpus."""

import functools

import pytest

for library in ("torch", "transformers", "sklearn", "pyarrow", "matplotlib", "lemminflect", "textblob"):
    pytest.importorskip(library, reason=f"needs {library}: pip install '.[probes,vg]'")

from tests.probes.tiny import build  # noqa: E402
from tests.visualgenome.conftest import plain_json, released  # noqa: E402

__all__ = ["plain_json", "released"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The directory of a tiny model of a kind: model("bert")."""
    return functools.cache(lambda kind: build(kind, tmp_path_factory.mktemp(kind)))
