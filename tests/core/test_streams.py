"""Addressed randomness against NumPy's own Philox, and its independence of how examples are batched."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simtown.core.streams import Stream, choose

numbers = st.integers(0, 2**63 - 1)
addresses = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4)
fractions = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20)


def philox(key, index, attempt, draws):
    """Stream.bits of one example by NumPy's generator, which counts before its first block."""
    words = []
    for block in range(-(-draws // 4)):
        counter = (index + (attempt << 64) + (block << 128) - 1) % (1 << 256)
        words += np.random.Philox(counter=counter, key=int(key[0]) | int(key[1]) << 64).random_raw(4).tolist()
    return words[:draws]


@given(st.integers(-(2**40), 2**70), st.text(max_size=6), addresses, st.integers(0, 11))
def test_bits_are_numpys_philox(seed, component, addresses, draws):
    stream = Stream(seed, "train", component)
    index, attempt = (np.array(a, dtype=np.int64) for a in zip(*addresses, strict=True))
    bits = stream.bits(index, draws, attempt)
    assert (bits.dtype, bits.shape) == (np.uint64, (len(index), draws))
    assert bits.tolist() == [philox(stream.key, i, a, draws) for i, a in addresses]


@given(st.lists(st.integers(0, 39), max_size=60), st.integers(1, 9), st.integers(0, 5))
def test_rows_do_not_depend_on_the_batch(rows, draws, attempt):
    stream = Stream(7, "val", "placement")
    whole = stream.bits(np.arange(40), 9, attempt)
    assert np.array_equal(stream.bits(np.array(rows, dtype=np.int64), draws, attempt), whole[rows, :draws])


#: Golden: an address, its key and two draws. Were these to change, every data set made so far would.
GOLDEN = [
    ((0, "train", "entity"), "d7a9104384c4d8d5 6782670e4ec4d1b2 1c7d464269f3c7fc 0d22dd506f4cefa7"),
    ((-1, "val", "stréet"), "2ee02add1ef86984 047f81ee4578d35b cf8f75eb40b39482 ab160232735448b6"),
]


@pytest.mark.parametrize(("address", "golden"), GOLDEN)
def test_keys_never_change(address, golden):
    stream = Stream(*address)
    words = [*stream.key.tolist(), *stream.bits(np.array([41]), 2, 3)[0].tolist()]
    assert " ".join(f"{word:016x}" for word in words) == golden


def test_every_part_of_the_address_has_its_own_key():
    addresses = list(product(range(-2, 10), ("train", "val", "test"), ("a", "b", "ab", "")))
    assert len({tuple(Stream(*a).key.tolist()) for a in addresses}) == len(addresses)


def test_uniform_is_the_upper_53_bits():
    stream = Stream(3, "test", "camera")
    u, bits = stream.uniform(np.arange(50), 7, 2), stream.bits(np.arange(50), 7, 2)
    assert u.dtype == np.float64
    assert [[int(x * 2**53) for x in row] for row in u] == [[int(b) >> 11 for b in row] for row in bits]


def test_components_and_splits_are_uncorrelated():
    streams = [Stream(0, split, c) for split in ("train", "val") for c in ("entity", "placement", "question")]
    u = np.stack([s.uniform(np.arange(20000), 1)[:, 0] for s in streams])
    assert all(stats.kstest(row, "uniform").pvalue > 1e-4 for row in u)
    assert np.abs(np.corrcoef(u) - np.eye(len(streams))).max() < 4.5 / np.sqrt(20000)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any), fractions)
def test_choose_inverts_the_distribution(weights, u):
    cumulative = np.cumsum(weights) / np.sum(weights)
    got = choose(np.array(u), cumulative)
    for x, category in zip(u, got.tolist(), strict=True):
        assert cumulative[category] > x
        assert category == 0 or cumulative[category - 1] <= x
        assert weights[category] > 0
