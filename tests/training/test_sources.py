"""Examples on their way into a model: the same from memory, from shards and from the stream."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
import torch

from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings, SettingsError
from simtown.language.meaning.relations import RELATION_NAMES
from simtown.render.raster import Raster
from simtown.training import sources
from simtown.training.fit_settings import FitSettings
from simtown.training.sources import FreshExamples, FromDisk, Resident, chunks_of_epoch, order
from simtown.training.world import Batch

CPU = torch.device("cpu")
NAMES = [f.name for f in fields(Batch)]


@pytest.fixture(scope="module", params=["rich", "plain"])
def town(request):
    return open_dataset(request.getfixturevalue(request.param))


def same(one, other):
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in NAMES)


def joined(batches):
    batches = list(batches)
    batch = Batch(**{name: torch.cat([getattr(b, name) for b in batches]) for name in NAMES})
    return batch, [len(b) for b in batches]


def parts(rows, size):
    """Rows, so many at a time."""
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]


def test_input_is_every_byte_between_minus_one_and_one():
    pixels = torch.arange(256, dtype=torch.uint8).view(1, 1, 256, 1).repeat(1, 1, 1, 3)
    scaled = sources.as_input(pixels)
    assert (scaled.shape, scaled.dtype) == ((1, 3, 1, 256), torch.float32)
    assert (scaled[0, 0, 0, 0], scaled[0, 0, 0, -1]) == (-1, 1)
    torch.testing.assert_close(scaled[0, 1, 0], torch.linspace(-1, 1, 256))


def test_a_resident_batch_is_what_the_reader_says_of_these_rows(town):
    view, rows = town.train.torch(), np.array([3, 0, 19, 7, 7])
    (batch,) = Resident(town.train, 20, town.settings, CPU).batches([rows])
    width, height = town.settings.width, town.settings.height
    shapes = dict.fromkeys(("subject", "relation", "object", "answer", "family"), (5,))
    shapes |= {"image": (5, 3, height, width), "tokens": (5, 16), "boxes": (5, 2, 4)}
    assert {name: tuple(getattr(batch, name).shape) for name in NAMES} == shapes
    floats = {name for name in NAMES if getattr(batch, name).dtype == torch.float32}
    assert floats == {"image", "boxes", "answer"}
    assert batch.image.is_contiguous(memory_format=torch.channels_last)
    for place, row in enumerate(rows):
        told = view[row]
        image = torch.from_numpy(told["image"]).float() / 127.5 - 1
        torch.testing.assert_close(batch.image[place], image, rtol=0, atol=1e-6)
        assert batch.tokens[place].tolist() == told["tokens"].tolist()
        for name in ("relation", "answer"):
            assert getattr(batch, name)[place].item() == told[name]
        for name in ("subject", "object"):
            assert town.settings.kinds[getattr(batch, name)[place].item()] == told[name]
        x0, y0, x1, y1 = told["boxes"].T
        wanted = np.stack([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0], axis=1)
        np.testing.assert_allclose(batch.boxes[place].numpy(), wanted, atol=1e-6)


def test_from_disk_is_as_from_memory_for_any_order_and_batch_size(town):
    rows = np.random.default_rng(0).permutation(20)
    memory, disk = (kind(town.train, 20, town.settings, CPU) for kind in (Resident, FromDisk))
    for size in (1, 7, 20, 64):
        ours, sizes = joined(disk.batches(parts(rows, size)))
        assert same(ours, joined(memory.batches(parts(rows, size)))[0])
        assert sizes == [min(size, 20 - i) for i in range(0, 20, size)]


def test_a_reader_that_stops_early_or_fails_is_let_go(town):
    batches = FromDisk(town.train, 20, town.settings, CPU).batches(parts(np.array([1, 2, 999]), 1))
    assert len(next(batches)) == 1
    next(batches)
    with pytest.raises(IndexError):
        next(batches)
    next(FromDisk(town.train, 20, town.settings, CPU).batches([np.arange(20)])).image.sum()


@pytest.mark.parametrize("size", [1, 5, 8, 24])
def test_the_stream_is_the_data_set_on_disk_byte_for_byte_whatever_the_batch(town, size):
    n = len(town.train)
    stream, disk = FreshExamples(town.settings, Raster(), CPU), Resident(town.train, n, town.settings, CPU)
    ours, sizes = joined(stream.batches(parts(np.arange(n), size)))
    theirs, _ = joined(disk.batches([np.arange(n)]))
    assert same(ours, theirs)
    assert sizes == [min(size, n - i) for i in range(0, n, size)]


def test_the_stream_goes_on_beyond_the_data_set_as_a_larger_one_would(dataset_of):
    base = Settings(entities=5, n=4, val=2, test=2, width=32, height=32)
    settings = replace(base, relations=RELATION_NAMES, phrasing="varied")
    large = open_dataset(dataset_of(replace(settings, n=16)))
    (theirs,) = Resident(large.train, 16, large.settings, CPU).batches([np.arange(16)])
    ours, _ = joined(FreshExamples(settings, Raster(), CPU).batches(parts(np.arange(16), 3)))
    assert same(ours, theirs)
    (far,) = FreshExamples(settings, Raster(), CPU).batches([np.arange(10**9, 10**9 + 2)])
    assert far.image.isfinite().all()


def test_pictures_stay_in_memory_only_where_they_fit(town, monkeypatch):
    n, pixels = 20, 20 * town.settings.width * town.settings.height * 3
    for free, kind in ((10 * pixels, Resident), (2 * pixels, Resident), (pixels, FromDisk), (0, FromDisk)):
        monkeypatch.setattr(sources, "_free", lambda device, free=free: free)
        split = partial(sources.open_split, town.train, n, town.settings, CPU)
        assert (type(split()), len(split())) == (kind, n)
        assert type(split(cache=False)) is type(split(beside=10)) is FromDisk
        if kind is Resident:
            assert type(split(cache=True)) is Resident
        else:
            with pytest.raises(SettingsError, match="`cache=True`"):
                split(cache=True)


def visited(settings, epoch, first=0, last=1000):
    return [number for rows in chunks_of_epoch(settings, epoch, first, last) for number in rows.tolist()]


@pytest.mark.parametrize("largest", [70, 69])
def test_an_epoch_visits_each_of_the_first_examples_once(largest, monkeypatch):
    monkeypatch.setattr(sources, "LARGEST_SORTED", largest)
    settings = FitSettings("pbn", 70, batch=16)
    epochs = [visited(settings, epoch) for epoch in (1, 2, 3)]
    assert all(sorted(rows) == list(range(70)) for rows in epochs)
    assert len(set(map(tuple, epochs))) == 3
    assert visited(replace(settings, seed=1), 1) != epochs[0]
    assert visited(settings, 2, 1, 3) == epochs[1][16:48]


def test_a_stream_never_shows_an_example_twice():
    settings = FitSettings("pbn", 70, batch=16, stream=True)
    assert visited(settings, 1) + visited(settings, 2) == list(range(140))


def test_the_order_is_a_permutation_of_its_own_for_every_epoch_and_seed():
    orders = [order(seed, epoch, 50).tolist() for seed in (0, 1, -3) for epoch in (1, 2, 3)]
    assert all(sorted(rows) == list(range(50)) for rows in orders)
    assert len(set(map(tuple, orders))) == len(orders)
    places = np.array([np.flatnonzero(order(0, epoch, 4) == 0)[0] for epoch in range(4000)])
    assert np.abs(np.bincount(places) - 1000).max() < 5 * np.sqrt(1000 * 0.75)
