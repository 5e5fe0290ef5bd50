"""Tiny models for the tests of the probes, each made once; Visual Genome's files in small for a corpus."""

import pytest

from tests.visualgenome.conftest import plain_json, released

__all__ = ["plain_json", "released"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The directory of a tiny model of a kind: model("bert")."""
    pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")
    pytest.importorskip("transformers", reason="needs transformers: pip install '.[probes]'")
    from tests.probes.tiny import build

    made = {}

    def get(kind):
        if kind not in made:
            made[kind] = build(kind, tmp_path_factory.mktemp(kind))
        return made[kind]

    return get
