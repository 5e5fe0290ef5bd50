"""Analogies, the odd one out and agreement with people, on known vectors; the lexicon."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simtown.probes.spatial import analyses, lexicon, spaces, wordtests
from simtown.probes.spatial.lexicon import CONTEXTS, KINDS, OPPOSITES, RELATIONS

WORDS = [word for pair in OPPOSITES for word in pair]


def mirrored():
    """Opposites are mirrored along one axis and far apart along axes of their own: every analogy holds."""
    vectors = {}
    for i, (first, second) in enumerate(OPPOSITES):
        vectors[first] = np.eye(len(OPPOSITES) + 1)[i + 1] * 10
        vectors[second] = vectors[first].copy()
        vectors[first][0], vectors[second][0] = 1, -1
    return vectors


def test_counts():
    questions, sets = wordtests.questions_of(RELATIONS)
    assert len(questions) == len(set(questions)) == 120
    assert len(sets) == len(set(sets)) == 88
    assert {len(q.candidates) for q in questions} == {9}
    assert all(q.b2 in q.candidates for q in questions)


def test_mirrored_opposites_solve_most_analogies():
    """a2 - a1 + b1 leads to b2 wherever a and b are mirrored the same way, to nothing else's axis."""
    questions = wordtests.analogies()
    answers = wordtests.answer_analogies(mirrored(), questions)
    same_way = np.array([((q.a1, q.a2) in OPPOSITES) == ((q.b1, q.b2) in OPPOSITES) for q in questions])
    assert answers.right[same_way].all()
    assert len(set(answers.groups.tolist())) == 15


def test_random_vectors_are_at_chance():
    drawn = (spaces.random_vectors(WORDS, 40, seed) for seed in range(60))
    right = [wordtests.answer_analogies(vectors, wordtests.analogies()).accuracy for vectors in drawn]
    assert np.mean(right) == pytest.approx(1 / 9, abs=0.03)


def test_a_tie_is_no_answer_and_a_missing_word_is_named():
    flat = {word: np.ones(4) for kind in KINDS for word in kind}  # cosines are 1 in whatever order of sums
    assert wordtests.answer_trios(flat, wordtests.trios()).accuracy == 0.0
    with pytest.raises(ValueError, match="left"):
        wordtests.answer_trios({}, wordtests.trios())


matrices = st.integers(4, 8).flatmap(lambda n: st.lists(st.integers(0, 6), min_size=n * n, max_size=n * n))


@given(matrices, st.randoms())
def test_agreement_is_spearmans_correlation_over_pairs(values, random):
    n = int(np.sqrt(len(values)))
    a = np.array(values, dtype=float).reshape(n, n)
    a = a + a.T
    b = a.copy()
    upper = np.triu_indices(n, 1)
    b[upper] = random.sample(b[upper].tolist(), n * (n - 1) // 2)
    b = np.triu(b) + np.triu(b, 1).T
    agreement = spaces.agreement(a, b)
    assert agreement.pairs == len(upper[0])
    if np.ptp(a[upper]):
        assert agreement.rho == pytest.approx(stats.spearmanr(a[upper], b[upper]).statistic)
        assert 0 < agreement.p <= 1
    else:
        assert np.isnan([agreement.rho, agreement.p]).all()


def test_weighted_correlations_are_those_of_repeated_pairs():
    generator = np.random.default_rng(1)
    x, y = generator.integers(0, 5, 12).astype(float), generator.random(12)
    weights = generator.integers(0, 4, (7, 12))
    for rho, times in zip(spaces.weighted_spearman(x, y, weights.astype(float)), weights, strict=True):
        assert rho == pytest.approx(stats.spearmanr(np.repeat(x, times), np.repeat(y, times)).statistic)


def test_p_vectors_are_unit_and_forget_how_hard_a_context_is():
    perplexities = np.random.default_rng(0).uniform(5, 500, (6, 4))
    vectors = spaces.p_vectors(perplexities)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors, spaces.p_vectors(perplexities * [3.0, 0.1, 70.0, 1.0]))
    for bad in (0.0, -1.0, np.inf, np.nan):
        perplexities[0, 0] = bad
        with pytest.raises(ValueError, match="positive"):
            spaces.p_vectors(perplexities)


def test_measures_against_scipy():
    rows = np.random.default_rng(0).standard_normal((5, 30))
    assert np.allclose(spaces.rank(rows), np.abs(stats.spearmanr(rows.T).statistic))
    assert np.allclose(np.diag(spaces.cosine(rows)), 1)


def test_clusters_of_clear_groups():
    generator = np.random.default_rng(0)
    centres = spaces.unit(generator.standard_normal((5, 20)))
    labels = np.arange(len(RELATIONS)) % 5
    rows = spaces.unit(centres[labels] + 0.02 * generator.standard_normal((len(RELATIONS), 20)))
    clusters = analyses.partitions(RELATIONS, rows)["silhouette"]
    assert set(map(frozenset, clusters.groups)) == {frozenset(RELATIONS[c::5]) for c in range(5)}


def test_sizes_and_order():
    assert (len(RELATIONS), len(CONTEXTS)) == (67, 57)
    assert list(RELATIONS) == sorted(set(RELATIONS))
    assert set(RELATIONS) <= set(lexicon.lexicon())


def test_the_words_of_the_tests_are_relations():
    words = {word for pair in (*lexicon.OPPOSITES, *lexicon.KINDS) for word in pair}
    assert words | {*lexicon.JUDGED, *lexicon.FUNCTIONAL, *lexicon.GEOMETRIC} <= set(RELATIONS)


def test_variants():
    forms = {"to the left hand side of": "left", "on the upper and left of": "upper_left"}
    forms |= {"in between": "between", "no relation": "no relation"}
    assert {form: lexicon.simple(form) for form in forms} == forms


def test_the_released_lists(reference):
    lists = json.loads((reference / "relations_67_contexts_57.json").read_text(encoding="utf-8"))
    assert (list(RELATIONS), list(CONTEXTS)) == (lists["relations_67"], lists["contexts_57"])
    with gzip.open(reference / "relation_variants.tsv.gz", "rt", encoding="utf-8") as file:
        released = dict(line.rstrip("\n").split("\t") for line in list(file)[1:])
    assert lexicon.lexicon() == released
