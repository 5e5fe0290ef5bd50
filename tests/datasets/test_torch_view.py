"""What DataLoader gets: batches, the same as rows; orders that workers, ranks, restarts do not change."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.datasets.reading.reader import LRUCache, open_dataset

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[train]'")

from torch.utils.data import DataLoader, default_collate  # noqa: E402

from simtown.datasets.reading.shuffled import BLOCK, POOL, BlockOrder, Shuffled  # noqa: E402


def alike(one, other):
    """Whether two batches are alike in keys, types and values."""
    kinds, others = ({key: value.dtype for key, value in batch.items()} for batch in (one, other))
    return kinds == others and all(torch.equal(one[key], other[key]) for key in one)


def same(batches, others):
    """Whether the batches of two loaders are alike one by one."""
    return all(alike(one, other) for one, other in zip(batches, others, strict=True))


def test_a_batch_is_its_rows(rich):
    view = open_dataset(rich).train.torch()
    (batch,) = DataLoader(view, batch_size=24)
    assert alike(batch, default_collate([view[i] for i in range(24)]))
    rows, one_by_one = view.__getitems__([3, 23, 3]), default_collate([view[i] for i in (3, 23, 3)])
    assert alike(default_collate(list(rows)), one_by_one)
    assert alike(default_collate(rows), one_by_one)
    assert [row["answer"] for row in rows[1:]] == [view[23]["answer"], view[3]["answer"]]


@pytest.mark.parametrize("crop", [(40, 20), (64, 1), (1, 32)])
def test_a_crop_is_a_window_of_the_picture_and_boxes_follow(rich, crop):
    split = open_dataset(rich).train
    whole, cut = split.torch(), split.torch(crop)
    size = np.array(crop * 2)
    for i in range(8):
        row, part = whole[i], cut[i]
        windows = np.lib.stride_tricks.sliding_window_view(row["image"], part["image"].shape)[0]
        tops, lefts = np.nonzero((windows == part["image"]).all((2, 3, 4)))
        corners = np.stack([lefts, tops, lefts, tops], 1)[:, None]
        pixels = row["boxes"] * np.tile(row["image"].shape[:0:-1], 2)
        shares = np.clip(pixels - corners, 0, size) / size
        assert np.isclose(part["boxes"], shares, atol=1e-5).all((1, 2)).any()
    with pytest.raises(ValueError, match="do not lie in pictures of"):
        split.torch((1000, 20))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_that_stay_see_the_next_epoch(rich, start):
    split = open_dataset(rich).train
    shuffled = Shuffled(split, 5, seed=3)
    stays = {"num_workers": 1, "persistent_workers": True, "multiprocessing_context": start}
    loader = DataLoader(shuffled, batch_size=None, **stays)
    for epoch in (0, 1):
        shuffled.epoch = epoch
        assert same(Shuffled(split, 5, seed=3, epoch=epoch), loader)


def test_an_epoch_does_not_depend_on_workers(rich):
    split = open_dataset(rich).train
    epoch = Shuffled(split, 5, seed=3)
    alone = list(DataLoader(epoch, batch_size=None))
    assert [len(batch["answer"]) for batch in alone] == [5, 5, 5, 5, 4]
    assert len(epoch) == 5
    for workers in (1, 2):
        many = DataLoader(Shuffled(split, 5, seed=3), batch_size=None, num_workers=workers)
        assert same(alone, many)
    pictures = torch.cat([batch["image"] for batch in alone]).permute(0, 2, 3, 1).numpy()
    wanted = split.images(np.arange(24))
    assert sorted(p.tobytes() for p in pictures) == sorted(p.tobytes() for p in wanted)
    assert not np.array_equal(pictures, wanted)


def test_ranks_share_an_epoch_and_a_restart_goes_on(rich):
    split = open_dataset(rich).train
    every = list(DataLoader(Shuffled(split, 4, epoch=2), batch_size=None))
    for rank in (0, 1):
        own = Shuffled(split, 4, epoch=2, rank=rank, ranks=2)
        assert same(DataLoader(own, batch_size=None), every[rank::2])
        own.first = 1
        assert len(own) == 2
        assert same(DataLoader(own, batch_size=None), every[rank::2][1:])
    assert len(Shuffled(split, 4, rank=0, ranks=4)) == 1
    again = Shuffled(split, 4)
    again.epoch = 2
    assert same(DataLoader(again, batch_size=None), every)


COUNTS = st.one_of(st.integers(0, 40_000), st.sampled_from([BLOCK, BLOCK * POOL, BLOCK * POOL + 1]))


@given(COUNTS, st.integers(0, 3), st.data())
def test_every_number_once_whatever_part_is_asked_for(count, epoch, data):
    order = BlockOrder(count, 7, epoch)
    rows = order.rows(0, count)
    assert np.array_equal(np.sort(rows), np.arange(count))
    begin = data.draw(st.integers(0, count))
    end = data.draw(st.integers(begin, count))
    assert np.array_equal(BlockOrder(count, 7, epoch).rows(begin, end), rows[begin:end])


def test_seeds_and_epochs_have_orders_of_their_own():
    orders = [BlockOrder(1000, seed, epoch).rows(0, 1000) for seed in (0, 1) for epoch in (0, 1)]
    for i, first in enumerate(orders):
        for second in orders[:i]:
            assert (first == second).mean() < 0.02


def test_two_examples_of_a_batch_are_of_one_block_as_often_as_it_says():
    rows = BlockOrder(400_000, 0, 0).rows(0, 20 * BLOCK * POOL).reshape(-1, 128) // BLOCK
    share = np.mean([(batch[:, None] == batch).sum() - 128 for batch in rows[:200]]) / (128 * 127)
    assert share == pytest.approx((BLOCK - 1) / (BLOCK * POOL - 1), rel=0.1)


def test_rows_are_those_of_whole_columns(rich):
    split = open_dataset(rich).train
    names = ("answer", "boxes", "question", "scene/pose")
    rows = [23, 0, 5, 5]
    for name, values in split.rows(names, rows).items():
        assert np.array_equal(values, split.column(name)[rows])
        assert values.flags.c_contiguous
    assert split.rows(("boxes",), [])["boxes"].shape == (0, 3, 4)
    with pytest.raises(IndexError, match="no example 24"):
        split.rows(names, [0, 24])


def test_kept_values_weigh_no_more_than_they_may():
    made = []

    def value(key):
        made.append(key)
        return np.zeros(key, dtype=np.uint8)

    kept = LRUCache(10, in_bytes=True)
    for key in (4, 5, 4, 3, 5, 20, 4):
        assert len(kept.get(key, lambda key=key: value(key))) == key
    assert made == [4, 5, 3, 5, 20, 4], "4 was used again before 3 came, so 5 went"
    assert len(kept) == 1
    assert len(pickle.loads(pickle.dumps(kept))) == 0
    kept.drop(4)
    kept.drop(4)
    assert len(kept) == 0
