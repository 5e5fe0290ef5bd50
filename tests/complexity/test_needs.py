"""Needs of any learner, from arrays, tables and estimators."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown import needs
from simtown.complexity.beyond import look_beyond
from simtown.complexity.csv_results import read_csv
from simtown.complexity.estimate import estimate

SIZES = [500, 1000, 2000, 4000, 8000, 16000]


def law(n):
    return 0.95 - 0.45 * (np.asarray(n) / 500) ** -0.6


RNG = np.random.default_rng(0)
SCORES = law(SIZES)[:, None] + RNG.normal(0, 0.004, (6, 5))
#: Where the law reaches 0.85.
TRUTH = 500 * (0.1 / 0.45) ** (-1 / 0.6)


def test_nothing_heavy_is_imported():
    code = "import sys; from simtown import needs; needs.from_curve([1, 2], [[.1, .2], [.8, .9]], .5); "
    code += "print({m.split('.')[1] for m in sys.modules if m.startswith('simtown.')} | set(sys.modules) & "
    code += "{'torch', 'matplotlib', 'sklearn', 'pandas'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == {"core", "complexity"}


def test_a_curve_gives_its_need_with_an_interval_and_what_comes_next():
    found = needs.from_curve(SIZES, SCORES, 0.85)
    low, high = found.interval_
    assert low < TRUTH < high
    assert found.need_ == pytest.approx(TRUTH, rel=0.1)
    assert found.bound_ is None
    assert found.first_reached_ == SIZES[np.searchsorted(SIZES, TRUTH)]
    assert found.gain_.size == 32000
    assert found.gain_.low < law(32000) < found.gain_.high
    np.testing.assert_array_equal(found.train_sizes_, SIZES)
    np.testing.assert_array_equal(found.scores_, SCORES)
    assert str(found) in repr(found)
    assert "<strong>" in found._repr_html_()


@settings(max_examples=25)
@given(st.permutations(range(6)), st.permutations(range(5)), st.integers(2, 6))
def test_order_and_missing_scores_do_not_matter(rows, columns, times):
    scores = SCORES.copy()
    scores[5, 4] = np.nan  # so the last size does not count
    first = needs.from_curve(SIZES[:5], scores[:5], 0.85)
    assert needs.from_curve(SIZES, scores, 0.85).interval_ == first.interval_
    order = list(rows)
    moved = needs.from_curve([times * SIZES[i] for i in order], SCORES[order], 0.85)
    assert moved.need_ == pytest.approx(times * needs.from_curve(SIZES, SCORES, 0.85).need_)
    assert needs.from_curve(SIZES, SCORES[:, list(columns)], 0.85).need_ == pytest.approx(
        needs.from_curve(SIZES, SCORES, 0.85).need_
    )


def test_bounds_and_jumps_have_no_codes():
    above, below = needs.from_curve(SIZES[:3], SCORES[:3], 0.93), needs.from_curve(SIZES, SCORES, 0.3)
    assert (above.need_, above.bound_, above.interval_[1]) == (2000, "above", None)
    assert (below.need_, below.bound_, below.interval_[0]) == (500, "below", None)
    step = np.where(np.arange(6) < 3, 0.5, 0.97)[:, None] + RNG.normal(0, 0.003, (6, 3))
    jump = needs.from_curve(SIZES, step, 0.9)
    assert (jump.need_, jump.interval_, jump.bound_) == (None, (2000, 4000), None)
    assert jump.next_size_ == 2800


def test_a_need_just_beyond_the_largest_size_is_carried_on_and_farther_ones_are_bounds():
    near, far = (
        needs.from_curve(SIZES[:5], SCORES[:5], float(law(12000))),
        needs.from_curve(SIZES, SCORES, 0.99),
    )
    assert near.is_beyond_
    assert 8000 < near.need_ < 16000
    assert near.interval_[0] < 12000
    assert (far.need_, far.bound_, far.is_beyond_) == (16000, "above", False)


@pytest.mark.parametrize(
    "shape",
    [
        law,
        lambda n: 0.9 - 0.4 * np.exp(-np.asarray(n) / 3000),
        lambda n: 0.5 + 0.45 / (1 + (3000 / np.asarray(n)) ** 1.5),
    ],
)
def test_the_three_shapes_are_foreseen(shape):
    means = np.tile(shape(SIZES[:5]), (2, 1))
    beyond = look_beyond(np.array(SIZES[:5]), means, np.zeros(2))
    np.testing.assert_allclose(beyond.scores[0], shape(beyond.sizes), atol=0.02)
    assert look_beyond(np.array(SIZES[:3]), means[:, :3], np.zeros(2)) is None


WRONG = [
    (SIZES[:1], SCORES[:1], 0.8, "one size"),
    (SIZES, SCORES[:, :1], 0.8, "one seed"),
    (SIZES, 100 * SCORES, 0.8, "between 0 and 1"),
    (SIZES, SCORES * np.nan, 0.8, "NaN"),
    (SIZES, SCORES, 0, "target"),
    (SIZES, SCORES, 1, "target"),
    (SIZES, SCORES[0], 0.8, "a row for each"),
    ([1, 1, 2, 3, 4, 5], SCORES, 0.8, "each once"),
]


@pytest.mark.parametrize(("sizes", "scores", "target", "words"), WRONG, ids=[row[3] for row in WRONG])
def test_bad_input_gets_one_line(sizes, scores, target, words):
    with pytest.raises(ValueError, match=words) as error:
        needs.from_curve(sizes, scores, target)
    assert "\n" not in str(error.value)


def long_rows(scores=SCORES, **more):
    return [
        {"n": n, "s": s, "acc": a, **more}
        for n, row in zip(SIZES, scores, strict=True)
        for s, a in enumerate(row)
    ]


def columns_of(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_three_public_layouts_give_one_result(tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = needs.from_curve(SIZES, SCORES, 0.85).interval_
    frame = pandas.DataFrame(long_rows(note="kept"))
    found = needs.from_results(frame, 0.85, size="n", score="acc", seed="s")
    assert found.interval_ == expected
    assert found.rows_[0]["note"] == "kept"
    wide = pandas.DataFrame(SCORES.T, columns=SIZES)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for table in (wide, tmp_path / "wide.csv", str(tmp_path / "wide.csv")):
        assert needs.from_results(table, 0.85).interval_ == expected
    right = columns_of(long_rows(np.round(1000 * SCORES), of=1000))
    assert needs.from_results(right, 0.85, size="n", score="acc", total="of").need_ == pytest.approx(
        TRUTH, rel=0.1
    )


def test_groups_have_results_of_their_own():
    rows = columns_of(long_rows(model="a") + long_rows(SCORES - 0.05, model="b"))
    found = needs.from_results(rows, 0.85, size="n", score="acc", seed="s", group="model")
    assert list(found) == ["a", "b"]
    assert found["a"].need_ < found["b"].need_
    with pytest.raises(ValueError, match="group="):
        needs.from_results(rows, 0.85, size="n", score="acc", seed="s")


@pytest.mark.parametrize(
    ("table", "more", "words"),
    [
        ({"n": [1], "acc": [0.5]}, {"size": "size", "score": "acc"}, "no column 'size'"),
        ({"n": ["few"], "acc": [0.5]}, {"size": "n", "score": "acc"}, "'few'"),
        ({"n": [1], "acc": [0.5]}, {}, "size="),
        ({"n": [], "acc": []}, {"size": "n"}, "no rows"),
    ],
)
def test_a_wrong_table_says_what_to_change(table, more, words):
    with pytest.raises(ValueError, match=words):
        needs.from_results(table, 0.8, **more)


def test_a_ratio_is_paired_by_seed():
    seed_luck = RNG.normal(0, 0.02, 5)
    own = [law(SIZES)[:, None] + seed_luck + RNG.normal(0, 0.001, (6, 5)) for _ in range(2)]
    a, b = needs.from_curve([2 * n for n in SIZES], own[0], 0.85), needs.from_curve(SIZES, own[1], 0.85)
    ratio, other = needs.compare(a, b), needs.compare(a, needs.from_curve(SIZES, own[1][:, ::-1], 0.85))
    assert ratio.ratio_ == pytest.approx(2, rel=0.05)
    assert ratio.is_decided_
    assert ratio.interval_[1] / ratio.interval_[0] < other.interval_[1] / other.interval_[0]
    bound = needs.compare(needs.from_curve(SIZES, own[0], 0.99), b)
    assert (bound.bound_, bound.interval_[1]) == ("above", None)


def test_growth_over_an_axis_of_difficulty():
    found = [
        needs.from_curve([k * n for n in SIZES], SCORES + RNG.normal(0, 0.002, SCORES.shape), 0.85)
        for k in (1, 2, 4)
    ]
    growth = needs.grow(found, over=[10, 20, 40])
    assert growth.exponent_ == pytest.approx(1, abs=0.1)
    assert growth.interval_[0] < 1 < growth.interval_[1]
    with pytest.raises(ValueError, match="over"):
        needs.grow(found, over=[10, 20])


def test_committed_results_and_the_command_agree(tmp_path):
    """The same estimate, from a CSV of the command and from arrays."""
    lines = [
        f"m,{n},{s},{round(1000 * a)},1000"
        for n, row in zip(SIZES, SCORES, strict=True)
        for s, a in enumerate(row)
    ]
    (tmp_path / "t.csv").write_text("group,size,seed,correct,total\n" + "\n".join(lines))
    row = estimate(read_csv(tmp_path / "t.csv")[0], targets=(0.85,)).rows[1]
    found = needs.from_results(
        tmp_path / "t.csv", 0.85, size="size", score="correct", total="total", seed="seed"
    )
    assert found.need_ == pytest.approx(row.samples)
    assert found.interval_ == pytest.approx((row.low, row.high), rel=0.05)


def test_an_estimator_is_trained_at_the_sizes_that_say_most():
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_digits
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_digits(return_X_y=True)
    learner = KNeighborsClassifier(1)
    found = needs.needed_samples(learner, X, y, target=0.9, random_state=0)
    assert found.interval_[0] < found.need_ < found.interval_[1]
    assert found.train_sizes_[-1] < 1000  # no size far beyond the need
    assert np.diff(np.log(found.train_sizes_)).min() >= np.log(1.3)  # nor next to another
    again = needs.needed_samples(learner, X, y, target=0.9, random_state=0)
    assert again.interval_ == found.interval_
    given = needs.needed_samples(learner, X, y, target=0.9, train_sizes=[50, 100, 200], cv=3)
    assert given.scores_.shape == (3, 3)


def test_the_page_shows_the_measured_coverage(monkeypatch):
    pytest.importorskip("sklearn")
    root = Path(__file__).parents[2]
    monkeypatch.syspath_prepend(root / "benchmarks")
    learners = importlib.import_module("learners")
    lines = learners.read_rows(root / "benchmarks" / "results" / "learners.csv")
    assert [line["problem"] for line in lines] == [problem.name for problem in learners.PROBLEMS]
    assert learners.table(lines) in (root / "docs" / "needs.md").read_text(encoding="utf-8")
    assert min(float(line["needs_coverage"]) for line in lines) >= 0.92


def test_the_figure_shows_the_interval(tmp_path):
    step = np.where(np.arange(6) < 3, 0.5, 0.97)[:, None] + np.zeros((6, 3))
    for scores, target in ((SCORES, 0.85), (SCORES, 0.99), (SCORES, 0.3), (step, 0.9)):
        axes = needs.from_curve(SIZES, scores, target).plot()
        assert str(needs.from_curve(SIZES, scores, target)) in axes.get_title(loc="left")
