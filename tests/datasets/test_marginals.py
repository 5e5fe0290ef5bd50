"""info --plot: targets against brute force and simulation, the chi-square against scipy's, the picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simtown.datasets.proving.marginals import GoodnessOfFit, goodness, marginals, targets
from simtown.datasets.reading.reader import open_dataset

pytest.importorskip("scipy", reason="needs scipy: pip install '.[train]'")
from scipy import stats

weights = st.lists(st.floats(0.01, 1), min_size=4, max_size=8)


@given(weights, st.randoms(use_true_random=False), st.booleans())
def test_targets_are_the_marginals_of_draws_that_all_differ(ws, random, distractor):
    """Summed over every triple (or pair) of different entities, one by one."""
    p = np.array(ws) / sum(ws)
    q = np.array(random.sample(ws, len(ws))) / sum(ws)
    expected = np.zeros((2, len(p)))
    for s in range(len(p)):
        for o in range(len(p)):
            for third in range(len(p)) if distractor else [-1]:
                if len({s, o, third}) == 3:
                    chance = p[s] * q[o] * ((p[third] + q[third]) / 2 if distractor else 1)
                    expected[0, s] += chance
                    expected[1, o] += chance
    found = targets(p, q, distractor)
    assert np.allclose(found["subject"], expected[0] / expected[0].sum())
    assert np.allclose(found["object"], expected[1] / expected[1].sum())


def test_goodness_is_scipy_s_where_no_cell_is_rare():
    counts, target = np.array([50, 30, 20]), np.array([0.4, 0.4, 0.2])
    value, p = stats.chisquare(counts, target * 100)
    assert goodness(counts, target) == GoodnessOfFit(pytest.approx(value), 2, pytest.approx(p))


def test_rare_cells_are_pooled():
    target = np.array([0.9, 0.04, 0.03, 0.02, 0.01])
    fit = goodness(np.array([88, 5, 3, 2, 2]), target)
    value, p = stats.chisquare([88, 5 + 3 + 2 + 2], [90, 10])
    assert fit == GoodnessOfFit(pytest.approx(value), 1, pytest.approx(p))
    assert np.isnan(goodness(np.array([4]), np.array([1.0])).p)
    assert goodness(np.array([4, 1]), np.array([1.0, 0.0])).p == 0


def test_p_values_are_uniform_where_the_target_holds():
    draw = np.random.default_rng(1)
    target = np.arange(1, 21) / 210
    p = [goodness(draw.multinomial(2000, target), target).p for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert max(goodness(draw.multinomial(2000, target), np.full(20, 0.05)).p for _ in range(20)) < 1e-6


def test_generated_sets_follow_their_target(many):
    found = marginals(open_dataset(many))
    assert set(found) == {"train", "val", "test"}
    for m in found.values():
        for role, fit in m.fit.items():
            assert m.counts[role].sum() == m.n
            assert m.target[role].sum() == pytest.approx(1)
            assert fit.p > 1e-4
    assert np.ptp(found["test"].target["subject"]) == 0
    uniform = goodness(found["train"].counts["subject"], found["test"].target["subject"])
    assert uniform.p < 1e-6  # training is not uniform, and the test sees it


@pytest.mark.parametrize("which", ["many", "rich"])
def test_info_plot(which, request, copy, cli, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install '.[vg]'")
    town = copy(request.getfixturevalue(which))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy-marginals.png").write_bytes(b"old")
    out = cli("info", town, "--plot").succeeds().out
    for words in ("train subjects against", "test objects against uniform", "marginals.png"):
        assert words in out
    with Image.open(tmp_path / "copy-marginals.png") as picture:
        assert picture.size == (1575, 1200)
