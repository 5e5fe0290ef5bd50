"""Batches from workers lie in shared memory, used again only once the last tensor of a batch is gone."""

import copy
import pickle

import pytest

from simtown.datasets.reading import handover
from simtown.datasets.reading.reader import open_dataset

torch = pytest.importorskip("torch", reason="needs torch: pip install '.[train]'")

from torch.utils.data import DataLoader, Dataset, default_collate  # noqa: E402

from simtown.datasets.reading.shuffled import Shuffled  # noqa: E402


class Changed(Dataset):
    """A user's own batches: some keys as they came, some a part of what came, some new."""

    def __init__(self, view):
        self.view, self.before = view, None

    def __len__(self):
        return len(self.view)

    def __getitems__(self, numbers):
        batch = default_collate(self.view.__getitems__(numbers))
        top = batch["image"][:, :, :4]
        answer = batch["answer"].clone()
        several = {**batch, "kept": self.before if self.before is not None else batch["subject"]}
        self.before = batch["subject"]
        copied = copy.copy(batch)
        copied.update(top=top, answer=1 - answer, kept=several["kept"])
        assert copy.deepcopy(batch).keys() == pickle.loads(pickle.dumps(batch)).keys() == batch.keys()
        return copied


def as_they_come(batch):
    return batch


def same(batches, others):
    """Whether batches hold the same under the same keys, in their order."""
    pairs = list(zip(batches, others, strict=True))
    equal = all(torch.equal(one[key], other[key]) for one, other in pairs for key in one)
    return equal and all(list(one) == list(other) for one, other in pairs)


def test_batches_that_are_kept_keep_what_they_hold(rich):
    shuffled = Shuffled(open_dataset(rich).train, 1)
    alone = list(DataLoader(shuffled, batch_size=None))
    loader = DataLoader(shuffled, batch_size=None, num_workers=1, prefetch_factor=40)
    for many in [list(loader) for _ in range(2)]:
        assert same(alone, many)


def test_an_own_batch_of_views_and_new_tensors(rich):
    view = open_dataset(rich).train.torch()
    plain = list(DataLoader(Changed(view), batch_size=3, collate_fn=as_they_come))
    sent = list(DataLoader(Changed(view), batch_size=3, collate_fn=as_they_come, num_workers=1))
    assert same(plain, sent)
    assert [batch["image"].stride() for batch in plain] == [batch["image"].stride() for batch in sent]


def test_more_batches_than_pieces_go_another_way(rich, monkeypatch):
    monkeypatch.setattr(handover, "PIECES", 2)
    view = open_dataset(rich).train.torch()
    assert same(DataLoader(view, batch_size=2), list(DataLoader(view, batch_size=2, num_workers=2)))
