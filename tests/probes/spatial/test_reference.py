"""The gate: the published numbers for single words come out of the released matrices."""

import numpy as np
import pytest

from simtown.probes.spatial import analyses, released
from simtown.probes.spatial import spatial_tables as tables
from simtown.probes.spatial.lexicon import RELATIONS
from simtown.probes.spatial.spaces import unit


@pytest.fixture(scope="module")
def release(reference):
    return released.read(reference)


def of(lines):
    return {line.name: line for line in lines}


def test_p_vectors_are_the_tables(release):
    (line,) = tables.figure3(release)
    assert line.here == 1.0


def test_analogies(release):
    lines = of(tables.analogy(release))
    assert lines["LM"].here == pytest.approx(103 / 120)  # by dot products, as the paper says: .86
    assert lines["LM, cosine"].here == pytest.approx(107 / 120)
    assert lines["P"].here == pytest.approx(75 / 120)
    assert all(line.same for line in lines.values() if line.paper is not None)
    assert "p = " in lines["P"].note
    assert tables.analogy(release) == list(lines.values())  # chance too


def test_odd_one_out(release):
    lines = of(tables.odd_one_out(release))
    expected = {
        "LM, cosine": 77 / 88,
        "P, cosine": 64 / 88,
        "LM, rank": 80 / 88,
        "P, rank": 62 / 88,
        "templates, cosine": 8 / 36,
    }
    for name, accuracy in expected.items():
        assert lines[name].here == pytest.approx(accuracy), name
        assert lines[name].low <= accuracy <= lines[name].high
    assert all(line.same for line in lines.values() if line.paper is not None)
    assert lines["random, cosine"].here == pytest.approx(1 / 3, abs=0.03)


def test_similarity(release):
    lines = of(tables.similarity(release))
    expected = {
        "LM with association": 0.494,
        "LM with similarity": 0.157,
        "P with association": 0.482,
        "P with similarity": 0.197,
        "association with similarity": 0.329,
    }
    for name, rho in expected.items():
        assert lines[name].here == pytest.approx(rho, abs=5e-4), name
        assert "55 pairs" in lines[name].note
    assert [name for name, line in lines.items() if line.same is False] == [
        "LM with association"
    ]  # .49, printed .48


def test_relations_cluster_better_than_noise(release):
    vectors = release.p_vectors().matrix(RELATIONS)
    found = analyses.partitions(RELATIONS, vectors)
    noise = unit(np.random.default_rng(0).standard_normal(vectors.shape))
    assert found["paper"].silhouette > analyses.cluster(RELATIONS, noise, analyses.PAPER).silhouette + 0.1
    assert found["silhouette"].silhouette >= found["paper"].silhouette


@pytest.mark.parametrize(
    "name", ["spatial-figure3", "spatial-analogy", "spatial-odd-one-out", "spatial-similarity"]
)
def test_the_command_prints_the_paper_beside_ours(cli, reference, name):
    told = cli("probe", "reproduce", name, "--data", reference).succeeds().out
    assert "paper" in told
    assert "cannot be computed" not in told
