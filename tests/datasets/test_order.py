"""Orders in blocks: each number once, the same for the same seed, and mixed as well as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs torch: pip install '.[train]'")

from simtown.datasets.shuffled import BLOCK, POOL, BlockOrder


@given(
    st.one_of(st.integers(0, 40_000), st.sampled_from([BLOCK, BLOCK * POOL, BLOCK * POOL + 1])),
    st.integers(0, 3),
    st.data(),
)
def test_every_number_once_whatever_part_is_asked_for(count: int, epoch: int, data: st.DataObject) -> None:
    order = BlockOrder(count, 7, epoch)
    rows = order.rows(0, count)
    assert np.array_equal(np.sort(rows), np.arange(count))
    begin = data.draw(st.integers(0, count))
    end = data.draw(st.integers(begin, count))
    assert np.array_equal(BlockOrder(count, 7, epoch).rows(begin, end), rows[begin:end])


def test_seeds_and_epochs_have_orders_of_their_own() -> None:
    orders = [BlockOrder(1000, seed, epoch).rows(0, 1000) for seed in (0, 1) for epoch in (0, 1)]
    for i, first in enumerate(orders):
        for second in orders[:i]:
            assert (first == second).mean() < 0.02


def test_two_examples_of_a_batch_are_of_one_block_as_often_as_it_says() -> None:
    rows = BlockOrder(400_000, 0, 0).rows(0, 20 * BLOCK * POOL).reshape(-1, 128) // BLOCK
    same = np.mean([(batch[:, None] == batch).sum() - 128 for batch in rows[:200]]) / (128 * 127)
    assert same == pytest.approx((BLOCK - 1) / (BLOCK * POOL - 1), rel=0.1)


def test_early_examples_come_late_as_often_as_others() -> None:
    places = np.argsort(BlockOrder(300_000, 3, 0).rows(0, 300_000))
    assert abs(np.corrcoef(np.arange(300_000), places)[0, 1]) < 0.1
