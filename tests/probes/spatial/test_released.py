"""The paper's tables on a made release: each number against a plain loop or what was put there."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simtown.core.files import DamagedError
from simtown.probes.spatial import released
from simtown.probes.spatial import spatial_tables as tables
from simtown.probes.spatial.lexicon import CONTEXTS, JUDGED, KINDS, OPPOSITES, RELATIONS
from simtown.probes.spatial.spaces import NumberTable, read_table
from tests.probes.spatial.world import CELLS, SIMILARITY, write_clone, write_release


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return write_release(tmp_path_factory.mktemp("spatial") / "release")


@pytest.fixture(scope="module")
def release(small):
    return released.read(small)


def lines_of(table, release):
    return {line.name: line for line in table(release, {})}


def test_cells_that_come_out_are_counted(release, small):
    cells = read_table(small / CELLS)
    assert tables.figure3(release, {})[0].here == 1.0
    wrong = cells.values.copy()
    wrong[3, :5] += 1e-6
    changed = replace(release, derived=NumberTable(cells.rows, cells.columns, wrong))
    share = 1 - 5 / (len(RELATIONS) * len(CONTEXTS))
    assert tables.figure3(changed, {})[0].here == pytest.approx(share)


def test_the_odd_one_out_of_clear_kinds(release):
    lines = lines_of(tables.odd_one_out, release)
    assert lines["LM, cosine"].here == 1.0
    for name in ("P, cosine", "P, rank", "templates, cosine", "random, cosine"):
        assert lines[name].here < 0.7, name
        assert lines[name].low <= lines[name].here <= lines[name].high


def test_agreement_with_people(release):
    lines = lines_of(tables.similarity, release)
    assert lines["LM with similarity"].here == pytest.approx(1)
    upper = np.triu_indices(len(JUDGED), 1)
    expected = stats.spearmanr(release.association[upper], release.similarity[upper]).statistic
    for name in ("association with similarity", "LM with association"):
        assert lines[name].here == pytest.approx(expected)


def test_a_clone_holds_the_same_numbers(cli, small, release, tmp_path):
    """All lines but those about templates and people, which a clone has as a pickle or not at all."""
    folder = write_clone(tmp_path / "clone", small)
    clone = released.read(folder)
    assert set(clone.missing) == {"templates", "similarity", "association", "P-vectors"}
    for table in (tables.analogy, tables.odd_one_out):
        of_clone, of_tables = lines_of(table, clone), lines_of(table, release)
        assert of_clone.keys() == of_tables.keys()
        for name, line in of_clone.items():
            assert line.here == pytest.approx(of_tables[name].here) or "no templates" in line.note
    assert (clone.perplexities.values == release.perplexities.values).all()
    for name in tables.TABLES:
        printed = cli("probe", "reproduce", name, "--data", folder).succeeds().out
        assert ("cannot be computed" in printed) == (name in ("spatial-odd-one-out", "spatial-similarity"))


MISFITS = {"words_contexts": np.array(["on"]), "perplexity_vectors": np.zeros(3)}
MISFITS |= {"spatial_lexicon": np.array(["on", "in"]), "embeddings": np.array([{}], dtype=object)}


@pytest.mark.parametrize("name", MISFITS)
def test_arrays_that_do_not_fit_each_other_are_named(small, tmp_path, name):
    path = write_clone(tmp_path / "clone", small) / f"models/visual_genome_phrases/{name}.npy"
    np.save(path, MISFITS[name])
    with pytest.raises(DamagedError, match=r"perplexity_vectors|embeddings"):
        released.read(tmp_path / "clone")


def test_vectors_can_stand_beside(cli, small, tmp_path):
    words = sorted({word for group in (*OPPOSITES, *KINDS) for word in group})
    file = tmp_path / "vectors.txt"
    command = ("probe", "reproduce", "spatial-analogy", "--data", small, "--with", f"glove:{file}")
    file.write_text("".join(f"{word} {i} {i * i} 1\n" for i, word in enumerate(words)))
    assert "glove:" in cli(*command).succeeds().out
    file.write_text("left 1 2\nright 2 1\n")
    cli(*command).refuses("no vector of 'above'")


@pytest.mark.parametrize("damage", ["above\t1\t2\n", "above\tnan\n", "above\tx\n", ""])
def test_a_damaged_table(cli, tmp_path, damage):
    files = write_release(tmp_path / "release")
    (files / SIMILARITY).write_text("row\tabove\n" + damage)
    cli("probe", "reproduce", "spatial-similarity", "--data", files).refuses(SIMILARITY, code=1)


def test_a_matrix_stands_beside_the_released_one(release):
    """Likeness is 1 with itself, in whatever unit, and 0 or so with another."""
    matrix = release.perplexities
    drawn = np.exp(np.random.default_rng(5).normal(size=matrix.values.shape))
    others = {"twice": matrix._replace(values=2 * matrix.values), "other": matrix._replace(values=drawn)}
    lines = {line.name: line for line in tables.figure3(release, others)}
    for part in ("log-perplexities", "similarities"):
        assert lines[f"twice, {part}"].here == pytest.approx(1)
        assert abs(lines[f"other, {part}"].here) < 0.2
