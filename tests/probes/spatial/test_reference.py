"""The gate: the published numbers for single words come out of the released matrices."""

import numpy as np
import pytest

from simtown.probes.spatial import analyses, released
from simtown.probes.spatial import spatial_tables as tables
from simtown.probes.spatial.lexicon import RELATIONS
from simtown.probes.spatial.spaces import matrix, unit


@pytest.fixture(scope="module")
def release(reference):
    return released.read(reference)


ODD = {"LM, cosine": 77 / 88, "P, cosine": 64 / 88, "LM, rank": 80 / 88, "P, rank": 62 / 88}
ODD |= {"templates, cosine": 8 / 36}
SIMILAR = {"LM with similarity": 0.157, "P with association": 0.482, "P with similarity": 0.197}
SIMILAR |= {"association with similarity": 0.329, "LM with association": 0.494}  # the last is printed .48
NUMBERS = [
    (tables.figure3, {"P-vectors, cells equal to the table's": 1}, []),
    # by dot products, as the paper says: .86
    (tables.analogy, {"LM": 103 / 120, "LM, cosine": 107 / 120, "P": 75 / 120}, []),
    (tables.odd_one_out, ODD, []),
    (tables.similarity, SIMILAR, ["LM with association"]),
]


@pytest.mark.parametrize(("table", "expected", "differs"), NUMBERS)
def test_the_papers_numbers(release, table, expected, differs):
    tolerance = 5e-4 if table is tables.similarity else 1e-9
    lines = {line.name: line for line in table(release, {})}
    assert {name: lines[name].here for name in expected} == pytest.approx(expected, abs=tolerance)
    assert [name for name, line in lines.items() if line.number.same is False] == differs


def test_relations_cluster_better_than_noise(release):
    vectors = matrix(release.p_vectors(), RELATIONS)
    clusters = analyses.partitions(RELATIONS, vectors)
    noise = unit(np.random.default_rng(0).standard_normal(vectors.shape))
    assert clusters["paper"].silhouette > analyses.cluster(RELATIONS, noise, analyses.PAPER).silhouette + 0.1
    assert clusters["silhouette"].silhouette >= clusters["paper"].silhouette


@pytest.mark.parametrize("name", tables.TABLES)
def test_the_command_prints_the_paper_beside_ours(cli, reference, name):
    printed = cli("probe", "reproduce", name, "--data", reference).succeeds().out
    assert "paper" in printed
    assert "cannot be computed" not in printed
