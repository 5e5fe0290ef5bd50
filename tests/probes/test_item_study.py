"""How answers about items are judged, against plain loops, scipy and what no answers can reach."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from simtown.probes import elicit, item_study, measures
from simtown.probes.items import ItemAnswers, ItemSet, make_items, read_items
from simtown.probes.scorers.base import Scorer


@st.composite
def item_sets(draw, graded=None, learn=None):
    """Up to eight items with choices of their own; two share a subject now and then."""
    n, c = draw(st.integers(1, 8)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    choices = rng.random((n, c)) < 0.5
    choices[np.arange(n), rng.integers(0, c, n)] = True
    choices[choices.sum(axis=1) < 2] = True
    counts = np.where(choices, rng.integers(0, 3, (n, c)), 0).astype(float)
    gold = np.array([rng.choice(np.flatnonzero(row)) for row in choices])
    counts[np.arange(n), gold] += 3
    train = rng.random(n) < 0.4
    if learn is False or (learn is None and draw(st.booleans())) or train.all():
        train[:] = False
    has_counts = draw(st.booleans()) if graded is None else graded
    about = {"gold": gold, "train": train, "choices": choices, "counts": counts if has_counts else None}
    classes, subjects = (f"c{i}" for i in range(c)), (f"s{i}" for i in rng.integers(0, 3, n))
    named = {"classes": tuple(classes), "subjects": tuple(subjects), "templates": ("[X] is [Y]",)}
    words = tuple((name,) for name in named["classes"])
    return ItemSet(relation="things", words=words, other=np.full(n, -1), **named, **about)


def scores_of(data, seed, count=None):
    """Small whole numbers, so that there are ties, and -inf."""
    rng = np.random.default_rng(seed)
    shape = (len(data.test) if count is None else count, len(data.classes))
    return np.where(rng.random(shape) < 0.3, -np.inf, rng.integers(0, 3, shape))


@given(item_sets(graded=True), st.integers(0, 10_000))
def test_rho_is_that_of_the_classes_to_choose_among(data, seed):
    scores = scores_of(data, seed)
    result = ItemAnswers.of(data, data.test, scores, "average")
    ceiling = item_study.bounds(data)[2]
    for i, row, rho in zip(data.test, scores, result.rho, strict=True):
        among = data.choices[i]
        a, b = row[among], data.counts[i, among]
        if len(set(a)) == 1 or len(set(b)) == 1:
            assert np.isnan(rho)
        else:
            assert rho == pytest.approx(spearmanr(np.maximum(a, -9), b).statistic)
        if len(set(b)) > 1:
            orders = permutations(range(len(b)))
            assert ceiling[i] == pytest.approx(max(spearmanr(order, b).statistic for order in orders))


@given(item_sets(), st.integers(0, 10_000))
def test_an_item_is_right_as_often_as_under_a_random_order_of_ties(data, seed):
    scores = scores_of(data, seed)
    result = ItemAnswers.of(data, data.test, scores, "average")
    for row, i, right, answered in zip(scores, data.test, result.right, result.answered, strict=True):
        allowed = {c: row[c] for c in np.flatnonzero(data.choices[i]) if np.isfinite(row[c])}
        first = [c for c, score in allowed.items() if score == max(allowed.values())]
        assert right == pytest.approx(first.count(data.gold[i]) / len(first) if first else 0)
        assert answered == bool(first)


@pytest.mark.parametrize(
    ("gold", "counted"),
    [
        (("red|white", "red", "blue"), False),
        (("red", "blue|white", "green|white"), False),
        (("red=1|white=1", "red", "blue"), True),
        (("red|white", "red=3|blue=2", "blue"), True),
        (("red", "white", "blue"), False),
        (("red=4", "white", "blue"), False),
    ],
)
def test_only_numbers_make_a_table_of_counts(gold, counted):
    """Without any, several right classes are equally right, and no rank correlation is made up."""
    classes = ("red", "white", "blue", "green")
    data = make_items("things", ["rose", "apple", "sky"], gold, ["[X] is [Y]"], classes)
    assert (data.counts is not None) == counted
    scores = np.arange(12.0).reshape(3, 4)
    study = item_study.describe(data, ItemAnswers.of(data, data.test, scores, "average"))
    assert ("rho" in study["groups"]["all"], bool(study["classes"])) == (counted, counted)
    for cell, right in zip(gold, data.right, strict=True):
        times = {part.partition("=")[0]: float(part.partition("=")[2] or 1) for part in cell.split("|")}
        assert right.tolist() == [times.get(name) == max(times.values()) for name in classes]
    other = make_items("things", ["rose", "apple", "sky"], ["green", *gold[1:]], ["[X] is [Y]"], classes)
    assert data.digest() != other.digest()


@given(item_sets())
def test_the_prior_does_not_know_the_items_own_answer(data):
    """It leaves out the item and, so that no class becomes rarer than the others, one item of each."""
    rho, right, _ = item_study.bounds(data)
    n, c = len(data.subjects), len(data.classes)
    shares = np.eye(c)[data.gold] if data.counts is None else data.counts / data.counts.sum(axis=1)[:, None]
    for i in range(n):
        if data.train.any():
            weights = data.train.astype(float)
        else:
            alike = [int((data.gold == data.gold[j]).sum()) for j in range(n)]
            weights = np.array([1 - 1 / alike[j] for j in range(n)])
            weights[data.gold == data.gold[i]] = 1
            weights[i] = 0
        guess = (weights @ shares).round(9)
        among = np.flatnonzero(data.choices[i])
        first = [k for k in among if guess[k] == guess[among].max()]
        assert right[i] == pytest.approx(first.count(data.gold[i]) / len(first))
        if data.counts is not None and np.ptp(guess[among]) and np.ptp(data.counts[i, among]):
            assert rho[i] == pytest.approx(spearmanr(guess[among], data.counts[i, among]).statistic)


@given(item_sets(), st.integers(0, 10_000))
def test_no_answers_are_above_the_ceiling(data, seed):
    """Whatever a model says of a question, it says it each time; in every group."""
    data = ItemSet(**{**vars(data), "groups": tuple("ab"[i % 2] for i in range(len(data.subjects)))})
    by_subject = scores_of(data, seed, 3)
    scores = by_subject[[int(data.subjects[i][1:]) for i in data.test]]
    groups = item_study.describe(data, ItemAnswers.of(data, data.test, scores, "average"))["groups"]
    for numbers in groups.values():
        assert numbers["accuracy"]["mean"] <= numbers["ceiling_accuracy"] + 1e-12 <= 1 + 1e-12
    best = item_study.describe(data, item_study.best_template(data, scores[None]))["groups"]
    assert all("ceiling_accuracy" not in numbers for numbers in best.values())


@given(item_sets(learn=False))
def test_the_ceiling_of_accuracy_can_be_reached(data):
    answers = {}
    for i in data.test:
        answers.setdefault((data.subjects[i], data.choices[i].tobytes()), []).append(data.gold[i])
    commonest = {question: max(golds, key=golds.count) for question, golds in answers.items()}
    said = [commonest[data.subjects[i], data.choices[i].tobytes()] for i in data.test]
    result = ItemAnswers.of(data, data.test, np.eye(len(data.classes))[said], "average")
    assert result.right.mean() == pytest.approx(item_study.attainable(data, data.test))


@given(item_sets(), st.integers(0, 10_000))
def test_the_best_template_is_right_where_any_is_and_says_so(data, seed):
    logprobs = np.stack([scores_of(data, seed + t) for t in range(3)])
    best = item_study.best_template(data, logprobs)
    each = [ItemAnswers.of(data, data.test, scores, "average") for scores in logprobs]
    assert (best.right == np.max([one.right for one in each], axis=0)).all()
    assert (best.answered == np.any([one.answered for one in each], axis=0)).all()
    if data.counts is None:
        assert (measures.share_right(best.scores, data.right[data.test]) == best.right).all()


def test_an_item_is_asked_about_its_own_classes_alone():
    asked, classes = [], [(name,) for name in "uvwx"]
    choices = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]], dtype=bool)

    class Recorder(Scorer):
        def class_logprobs(self, contexts, targets):
            asked.append((contexts, targets))
            return np.zeros((len(contexts), len(targets)))

    own = [["[X] is [Y]", "so is [Y]", "is [Y] [X]"]]
    scores = elicit.by_template(Recorder(), own, "abc", classes, "corrected", choices)
    assert (np.isfinite(scores[0]) == choices).all()
    assert asked == [(["a is [BLANK]", "is [BLANK] c"], classes[:2]), (["so is [BLANK]"], classes[2:])]


def test_a_head_chooses_among_an_items_classes(tmp_path):
    lines = [f"w{i},{'abcd'[i % 4]},{'a|b' if i % 4 < 2 else 'c|d'},{int(i < 28)}\n" for i in range(40)]
    (tmp_path / "items.csv").write_text("subject,gold,classes,train\n" + "".join(lines))
    data = read_items(tmp_path / "items.csv", ["[X] is [Y]"])
    vectors = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)

    class Vectors:
        name, abilities = "vectors", frozenset({"word_vector"})

        def word_vector(self, word):
            return vectors[int(word[1:])]

    result, _ = elicit.by_head(Vectors(), data, "corrected", 0, print)
    assert (np.isneginf(result.scores) == ~data.choices[data.test]).all()
    assert data.choices[data.test, result.scores.argmax(axis=1)].all()
