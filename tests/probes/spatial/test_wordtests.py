"""Analogies, the odd one out, and agreement with people, on spaces whose answers are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simtown.probes.spatial import analyses, likeness, spaces, wordtests
from simtown.probes.spatial.lexicon import KINDS, OPPOSITES, RELATIONS
from simtown.probes.spatial.spaces import MEASURES, Space

WORDS = [w for pair in OPPOSITES for w in pair]


def perfect():
    """Opposites are mirrored along one axis and far apart along axes of their own: every analogy holds."""
    rows = {}
    for i, (a, b) in enumerate(OPPOSITES):
        own = np.zeros(len(OPPOSITES) + 1)
        own[i + 1] = 10
        own[0] = 1
        rows[a], rows[b] = own, own * np.r_[-1, np.ones(len(OPPOSITES))]
    return Space("perfect", rows)


def test_counts():
    questions, sets = wordtests.analogies(), wordtests.trios()
    assert len(questions) == len(set(questions)) == 120
    assert len(sets) == len(set(sets)) == 88
    assert {len(q.candidates) for q in questions} == {9}
    assert all(q.b2 in q.candidates for q in questions)


def test_mirrored_opposites_solve_most_analogies():
    """a2 - a1 + b1 leads to b2 wherever a and b are mirrored the same way, to nothing else's axis."""
    answers = wordtests.answer_analogies(perfect(), wordtests.analogies())
    questions = wordtests.analogies()
    same_way = np.array([((q.a1, q.a2) in OPPOSITES) == ((q.b1, q.b2) in OPPOSITES) for q in questions])
    assert answers.right[same_way].all()
    assert len(set(answers.groups.tolist())) == 15


def test_random_vectors_are_at_chance():
    drawn = [
        wordtests.answer_analogies(spaces.random_space(WORDS, 40, s), wordtests.analogies()).accuracy
        for s in range(60)
    ]
    assert np.mean(drawn) == pytest.approx(1 / 9, abs=0.03)


@pytest.mark.parametrize("measure", MEASURES)
def test_kinds_far_apart_leave_no_doubt(measure):
    generator = np.random.default_rng(0)
    rows = {}
    for kind in KINDS:
        centre = generator.standard_normal(50)
        rows |= {w: centre + 0.05 * generator.standard_normal(50) for w in kind}
    answers = wordtests.answer_trios(Space("kinds", rows), wordtests.trios(), MEASURES[measure])
    assert answers.accuracy == 1.0


def test_a_tie_is_no_answer():
    space = Space(
        "flat", {w: np.ones(4) for kind in KINDS for w in kind}
    )  # whose cosines are 1 in whatever order they are added up
    assert wordtests.answer_trios(space, wordtests.trios()).accuracy == 0.0


def test_a_missing_word_is_named():
    with pytest.raises(ValueError, match="no vector of 'left'"):
        wordtests.answer_trios(Space("none", {}), wordtests.trios())


def test_comparison_with_itself_and_with_other_questions():
    answers = wordtests.answer_analogies(perfect(), wordtests.analogies())
    assert wordtests.compare(answers, answers) == wordtests.AccuracyDifference(0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="same questions"):
        wordtests.compare(answers, wordtests.Answers(answers.right[:5], answers.groups[:5]))


matrices = st.integers(4, 8).flatmap(lambda n: st.lists(st.integers(0, 6), min_size=n * n, max_size=n * n))


@settings(max_examples=40)
@given(matrices, st.randoms())
def test_agreement_is_spearmans_correlation_over_pairs(values, random):
    n = int(np.sqrt(len(values)))
    a = np.array(values, dtype=float).reshape(n, n)
    a = a + a.T
    b = a.copy()
    b[np.triu_indices(n, 1)] = random.sample(b[np.triu_indices(n, 1)].tolist(), n * (n - 1) // 2)
    b = np.triu(b) + np.triu(b, 1).T
    found = likeness.agreement(a, b)
    upper = np.triu_indices(n, 1)
    assert found.pairs == len(upper[0])
    if np.ptp(a[upper]):
        assert found.rho == pytest.approx(stats.spearmanr(a[upper], b[upper]).statistic)
        assert 0 < found.p <= 1
    else:
        assert np.isnan([found.rho, found.p]).all()


def test_weighted_correlations_are_those_of_repeated_pairs():
    generator = np.random.default_rng(1)
    x, y, times = (
        generator.integers(0, 5, 12).astype(float),
        generator.random(12),
        generator.integers(0, 4, (7, 12)),
    )
    found = likeness._rhos(x, y, times.astype(float))
    for rho, t in zip(found, times, strict=True):
        assert rho == pytest.approx(stats.spearmanr(np.repeat(x, t), np.repeat(y, t)).statistic)


def test_p_vectors_are_unit_and_forget_how_hard_a_context_is():
    perplexities = np.random.default_rng(0).uniform(5, 500, (6, 4))
    found = spaces.p_vectors(perplexities)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.allclose(found, spaces.p_vectors(perplexities * [3.0, 0.1, 70.0, 1.0]))
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
    found = analyses.partitions(RELATIONS, rows)["silhouette"]
    assert {frozenset(g) for g in found.groups} == {
        frozenset(r for r, k in zip(RELATIONS, labels, strict=True) if k == c) for c in range(5)
    }
