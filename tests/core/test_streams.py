"""Addressed randomness against NumPy's own Philox, and its independence of how examples are batched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simtown.core.streams import Stream, choose

numbers = st.integers(0, 2**63 - 1)
quick = settings(max_examples=60)


def philox(key, index, attempt, draws):
    """What Stream.bits gives for one example, by NumPy's generator, set one below each block since it counts
    before its first.
    """
    words = []
    for block in range(-(-draws // 4)):
        counter = (index + (attempt << 64) + (block << 128) - 1) % (1 << 256)
        words += np.random.Philox(counter=counter, key=int(key[0]) | int(key[1]) << 64).random_raw(4).tolist()
    return words[:draws]


@quick
@given(
    st.integers(-(2**40), 2**70),
    st.text(max_size=6),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=4),
    st.integers(0, 11),
)
def test_bits_are_numpys_philox(seed, component, addresses, draws):
    stream = Stream(seed, "train", component)
    index, attempt = (np.array(a, dtype=np.int64) for a in zip(*addresses, strict=True))
    bits = stream.bits(index, draws, attempt)
    assert bits.dtype == np.uint64
    assert bits.shape == (len(index), draws)
    assert bits.tolist() == [philox(stream.key, i, a, draws) for i, a in addresses]


@quick
@given(st.lists(st.integers(0, 39), max_size=60), st.integers(1, 9), st.integers(0, 5))
def test_rows_do_not_depend_on_the_batch(rows, draws, attempt):
    stream = Stream(7, "val", "placement")
    whole = stream.bits(np.arange(40), 9, attempt)
    assert np.array_equal(stream.bits(np.array(rows, dtype=np.int64), draws, attempt), whole[rows, :draws])


def test_attempts_may_differ_from_row_to_row():
    stream = Stream(7, "val", "placement")
    attempts = np.array([3, 0, 3, 8])
    rows = stream.bits(np.array([5, 5, 6, 2]), 5, attempts)
    for row, index, attempt in zip(rows, (5, 5, 6, 2), attempts, strict=True):
        assert np.array_equal(row, stream.bits(np.array([index]), 5, int(attempt))[0])
    assert len(np.unique(rows)) == rows.size


def test_no_examples_give_no_rows():
    assert Stream(0, "train", "entity").bits(np.zeros(0, dtype=np.int64), 3).shape == (0, 3)
    assert Stream(0, "train", "entity").uniform(np.arange(2), 0).shape == (2, 0)


@pytest.mark.parametrize(
    ("address", "key", "first"),
    [
        (
            (0, "train", "entity"),
            ("0xd7a9104384c4d8d5", "0x6782670e4ec4d1b2"),
            (2052874256210184188, 946562209235660711),
        ),
        (
            (0, "test", "entity"),
            ("0xf8a963b6c217a45", "0x2bdfec323ca4fca7"),
            (11006586437863367959, 16427728715967972632),
        ),
        (
            (123456789012345678901234567890, "train", "placement"),
            ("0xdc179b3bcca3a55a", "0xc7ec34c46f53f072"),
            (4637801610739119447, 4479878639071054864),
        ),
        (
            (-1, "val", "stréet"),
            ("0x2ee02add1ef86984", "0x47f81ee4578d35b"),
            (14956302540783981698, 12328043445679835318),
        ),
    ],
)
def test_keys_never_change(address, key, first):
    """Golden: were these to change, every data set made so far would."""
    stream = Stream(*address)
    assert [hex(k) for k in stream.key.tolist()] == list(key)
    assert stream.bits(np.array([41]), 2, 3).tolist() == [list(first)]


def test_every_part_of_the_address_has_its_own_key():
    addresses = [
        (s, split, c)
        for s in range(-2, 10)
        for split in ("train", "val", "test")
        for c in ("a", "b", "ab", "")
    ]
    assert len({tuple(Stream(*a).key.tolist()) for a in addresses}) == len(addresses)


@pytest.mark.parametrize("shape", ["index", "attempt", "draw"])
@pytest.mark.parametrize("component", ["placement", "question"])
def test_uniform_along_every_axis_of_the_address(shape, component):
    stream = Stream(0, "train", component)
    if shape == "index":
        u = stream.uniform(np.arange(20000), 1)[:, 0]
    elif shape == "attempt":
        u = stream.uniform(np.full(20000, 12), 1, np.arange(20000))[:, 0]
    else:
        u = stream.uniform(np.array([12]), 20000)[0]
    assert u.min() >= 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    neighbours = np.histogram2d(u[:-1:2], u[1::2], bins=8)[0]
    assert stats.chisquare(neighbours.ravel()).pvalue > 1e-4


def test_uniform_is_the_upper_53_bits():
    stream = Stream(3, "test", "camera")
    u, bits = stream.uniform(np.arange(50), 7, 2), stream.bits(np.arange(50), 7, 2)
    assert u.dtype == np.float64
    assert [[int(x * 2**53) for x in row] for row in u] == [[int(b) >> 11 for b in row] for row in bits]


def test_components_and_splits_are_uncorrelated():
    streams = [Stream(0, split, c) for split in ("train", "val") for c in ("entity", "placement", "question")]
    u = np.stack([s.uniform(np.arange(20000), 1)[:, 0] for s in streams])
    assert np.abs(np.corrcoef(u) - np.eye(len(streams))).max() < 4.5 / np.sqrt(20000)


@quick
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any),
    st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=20),
)
def test_choose_inverts_the_distribution(weights, u):
    cumulative = np.cumsum(weights) / np.sum(weights)
    got = choose(np.array(u), cumulative)
    for x, category in zip(u, got.tolist(), strict=True):
        assert cumulative[category] > x
        assert category == 0 or cumulative[category - 1] <= x
        assert weights[category] > 0


def test_choose_keeps_shape_and_range():
    u = np.array([[0.0, 0.25], [0.999999, 0.5]])
    assert choose(u, np.array([0.25, 0.5, 0.9999])).tolist() == [
        [0, 1],
        [2, 2],
    ]  # sums that rounding left short of 1 still end in range
