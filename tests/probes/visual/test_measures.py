"""Metrics, groups, sizes, labels: against independent ways of computing them."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from simtown.probes import measures
from simtown.probes.items import grouped
from simtown.probes.visual import release
from simtown.probes.visual.classes import RELATIONS, SIZES
from simtown.probes.visual.release import CODA_CLASSES
from simtown.probes.visual.sizes import SUBJECTS, Sizes, limits, projection, rank_partition, released_limits

SHAPES = st.tuples(st.integers(1, 6), st.integers(2, 8))
TABLES = arrays(np.float64, SHAPES, elements=st.integers(0, 4).map(float))


@given(TABLES, st.integers(0, 10_000))
def test_spearman_is_scipys(a, seed):
    b = np.random.default_rng(seed).integers(0, 4, a.shape).astype(float)
    for x, y, rho in zip(a, b, measures.spearman_rows(a, b), strict=True):
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(x, y).statistic)


@given(TABLES, st.integers(0, 10_000))
def test_no_ranking_without_ties_is_above_the_ceiling(counts, seed):
    ranks = np.tile(np.arange(counts.shape[1], dtype=float), (len(counts), 1))
    ranking = np.random.default_rng(seed).permuted(ranks, axis=1)
    rho, ceiling = measures.spearman_rows(ranking, counts), measures.ceiling_rows(counts)
    assert (np.isnan(rho) == np.isnan(ceiling)).all()
    assert (np.nan_to_num(rho) <= np.nan_to_num(ceiling) + 1e-9).all()


def test_groups_by_the_released_thresholds():
    single, multi = [[82, 18, 0, 0, 0], [86, 14, 0, 0, 0]], [[40, 30, 15, 15, 0], [40, 30, 22, 5, 3]]
    counts = np.array([*single, *multi, [30, 25, 20, 15, 10]])
    assert grouped(counts).tolist() == ["multi", "single", "any", "multi", "any"]


def test_equal_scores_favour_no_direction():
    """The mean over all orders of the ties; a model without an opinion, or the words, is at chance."""
    table = dict(zip(SIZES, (["a"], ["b", "c"], ["d"], ["e"], ["f"]), strict=True))
    sizes = Sizes(table)
    n = len(sizes.nouns)
    scores = np.random.default_rng(0).choice([-np.inf, 0.0, 1.0], (len(sizes.subjects), n))

    def share(order, subject, top_is_larger):
        size = sizes.size
        larger, smaller = ({i for i in range(n) if sign * size[i] > sign * size[subject]} for sign in (1, -1))
        top, bottom = (larger, smaller) if top_is_larger else (smaller, larger)
        first, last = top & set(order[: len(top)]), bottom & set(order[n - len(bottom) :])
        return (len(first) / len(top) + len(last) / len(bottom)) / 2

    for direction in ("paper", "corrected"):
        chance = limits(sizes, direction)["chance"][0]
        for relation in ("larger", "smaller"):
            top_is_larger = (relation == "larger") == (direction == "paper")
            expected = []
            for subject, row in zip(sizes.subjects, scores, strict=True):
                orders = (sorted(order, key=lambda i: -row[i]) for order in permutations(range(n)))
                expected.append(np.mean([share(order, subject, top_is_larger) for order in orders]))
            assert rank_partition(sizes, scores, relation, direction) == pytest.approx(expected)
            for same in (0.0, -np.inf):
                equal = rank_partition(sizes, np.full(scores.shape, same), relation, direction)
                assert equal.mean() == pytest.approx(chance)


def test_projection_is_a_cosine():
    rng = np.random.default_rng(2)
    vectors, small, large = rng.normal(size=(5, 4)), rng.normal(size=4), rng.normal(size=4)
    expected = [v @ (large - small) / np.linalg.norm(v) / np.linalg.norm(large - small) for v in vectors]
    assert projection(vectors, small, large) == pytest.approx(expected)


def test_a_rating_that_contradicts_the_others_is_left_out():
    good = np.array([[9.0, 3.0, 1.0, 0.0]] * 4)
    bad = np.array([[0.0, 1.0, 3.0, 9.0]])
    assert release.agreed(np.vstack([good, bad])) == pytest.approx(good[0] / 13)
    assert release.agreed(bad) == pytest.approx(bad[0] / 13)


def test_difference_is_scipys_and_of_the_same_none():
    from scipy.stats import ttest_ind, ttest_rel

    rng = np.random.default_rng(3)
    a, b = rng.normal(size=30), rng.normal(0.3, size=30)
    a[3] = np.nan
    kept = np.isfinite(a)
    scores = measures.difference(a, b)
    assert scores.n == 29
    assert scores.paired == pytest.approx(ttest_rel(a[kept], b[kept]).pvalue)
    assert scores.welch == pytest.approx(ttest_ind(a[kept], b[kept], equal_var=False).pvalue)
    assert measures.difference(b, b).paired == 1.0
    assert np.isnan(measures.difference(b + 0.1, b).paired)
    low, high = measures.mean_interval(b)
    assert low < b.mean() < high


def test_labels_from_the_files_of_ratings(tmp_path):
    """Ratings left out, of nothing, of unknown objects or contrary to the others do not count."""
    good, contrary = [("a", [9, 3, 1], True)] * 4, [("a", [0, 0, 0, *[1] * 8], True)]
    ignored = [("a", [0, 9, 0], False), ("b", [0], True), ("c", [1], True)]
    nothing = dict.fromkeys(CODA_CLASSES, 0)
    rows = [
        {"class_id": number, "included": kept, **nothing, **dict(zip(CODA_CLASSES, rating, strict=False))}
        for number, rating, kept in good + contrary + ignored
    ]
    objects = [{"class_id": "a", "ngram": "apple"}, {"class_id": "b", "ngram": "bus"}]
    for name, content in (("annotations", rows), ("objects", objects)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    made = release.coda_labels(tmp_path)
    assert set(made) == {"apple"}
    assert made["apple"] == pytest.approx(np.array([9, 3, 1, *[0] * (len(CODA_CLASSES) - 3)]) / 13)


def test_every_word_has_one_class():
    for relation in RELATIONS.values():
        words = [w for several in relation.words.values() for w in several]
        assert len(words) == len(relation.class_of())
        assert list(relation.classes) == sorted(relation.classes)
    assert [len(r.classes) for r in RELATIONS.values()] == [12, 12, 18]
    assert [len(nouns) for nouns in SIZES.values()] == [15, 33, 25, 16, 18]


def released_score(subject, keys, first):
    """As the released program: of nouns of other sizes, not huge, ranked by keys, count those in their part.

    The larger ones are wanted first, or (first -1) the smaller ones.
    """
    size_of = {noun: i for i, nouns in enumerate(SIZES.values()) for noun in nouns}
    read = [noun for name, nouns in SIZES.items() if name != "huge" for noun in nouns]
    others = np.array([size_of[n] - size_of[subject] for n in read if size_of[n] != size_of[subject]])
    wanted = first * others > 0
    ranked = wanted[np.argsort(keys(first * others), kind="stable")]
    many = wanted.sum()
    return (ranked[:many].sum() + (~ranked[many:]).sum()) / len(others)


def test_bounds_of_the_released_metric_are_a_loop():
    rng = np.random.default_rng(0)
    subjects = [rng.choice([n for name in SUBJECTS for n in SIZES[name]], 20).tolist() for _ in range(2)]
    rankings = {"perfect": lambda x: x, "reversed": lambda x: -x, "chance": lambda x: rng.random(len(x))}
    bounds = released_limits(SIZES, subjects)
    assert set(bounds) == set(rankings)
    for name, keys in rankings.items():
        for place, first in enumerate((1, -1)):
            drawn = subjects[place] * (200 if name == "chance" else 1)
            mean = np.mean([released_score(subject, keys, first) for subject in drawn])
            assert bounds[name][place] == pytest.approx(mean, abs=0.01 if name == "chance" else 1e-9), name
