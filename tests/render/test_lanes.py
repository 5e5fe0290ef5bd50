"""Vectors of numba against NumPy, lane by lane."""

import numpy as np
import pytest
from numba import njit

from simtown.render import lanes
from simtown.render.lanes import LANES

RNG = np.random.default_rng(0)
ARRAYS = {
    "float32": RNG.normal(0, 100, 2 * LANES).astype(np.float32),
    "float64": RNG.normal(0, 1e9, 2 * LANES),
    "int32": RNG.integers(-(1 << 31), 1 << 31, 2 * LANES, dtype=np.int32),
    "uint32": RNG.integers(0, 1 << 32, 2 * LANES, dtype=np.uint32),
    "uint64": RNG.integers(0, 1 << 64, 2 * LANES, dtype=np.uint64),
}


@njit(error_model="numpy", _nrt=False)  # not kept on disk, where it would outlive what it tests
def arithmetic(a, out):
    x, y = lanes.load(a, np.uint64(0)), lanes.load(a, np.uint64(LANES))
    lanes.store(out, np.uint64(0), x + y)
    lanes.store(out, np.uint64(LANES), x - y)
    lanes.store(out, np.uint64(2 * LANES), x * y)
    lanes.store(out, np.uint64(3 * LANES), max(x, y))
    lanes.store(out, np.uint64(4 * LANES), min(x, a[0]))
    lanes.store(out, np.uint64(5 * LANES), lanes.choose((x < y) | (x == a[1]), x, lanes.spread(a[2])))
    lanes.store_first(out, np.uint64(6 * LANES), x, np.uint64(3))
    return lanes.largest(x), lanes.smallest(y), lanes.any_of(x > y), lanes.any_of(x != x)


@pytest.mark.parametrize("dtype", ARRAYS)
def test_vectors_compute_as_arrays_do(dtype):
    a = ARRAYS[dtype]
    x, y, out = a[:LANES], a[LANES:], np.zeros(7 * LANES, dtype=dtype)
    greatest, least, some, none = arithmetic(a, out)
    rows = out.reshape(7, LANES)
    for row, expected in zip(
        rows, (x + y, x - y, x * y, np.maximum(x, y), np.minimum(x, a[0])), strict=False
    ):
        assert np.array_equal(row, expected)
    assert np.array_equal(rows[5], np.where((x < y) | (x == a[1]), x, a[2]))
    assert rows[6].tolist() == [*x[:3].tolist(), 0, 0, 0, 0, 0]
    assert (greatest, least) == (x.max(), y.min())
    assert (some, none) == (bool((x > y).any()), False)


@njit(error_model="numpy", _nrt=False)  # not kept on disk, where it would outlive what it tests
def moves(table, numbers, out, rows, three):
    places = lanes.load(numbers, np.uint64(0))
    a, b, c, d = lanes.pick_rows(table, places)
    lanes.store(out, np.uint64(0), a / b)
    lanes.store(out, np.uint64(LANES), lanes.convert(lanes.convert(c, np.int32), np.float32))
    lanes.store(out, np.uint64(2 * LANES), lanes.pick(out, lanes.ramp(np.uint32(1), np.uint32(2))))
    lanes.store(out, np.uint64(3 * LANES), lanes.convert(lanes.load_odd(numbers, np.uint64(1)), np.float32))
    lanes.store_rows(rows, np.uint64(1), a, b, c, d)
    lanes.store_bytes(three, np.uint64(1), (places << np.uint32(8)) | (places & np.uint32(1)))


def test_vectors_move_as_arrays_do():
    table = RNG.normal(0, 100, (40, 4)).astype(np.float32)
    numbers = RNG.integers(0, 40, 3 * LANES).astype(np.uint32)
    out = np.zeros((4, LANES), np.float32)
    rows = np.zeros((LANES + 2, 4), np.float32)
    three = np.zeros(3 * LANES + 2, np.uint8)
    moves(table, numbers, out, rows, three)
    looked_up = table[numbers[:LANES]]
    assert np.array_equal(out[0], looked_up[:, 0] / looked_up[:, 1])
    assert np.array_equal(out[1], np.trunc(looked_up[:, 2]))
    assert np.array_equal(out[2], out[:2].ravel()[1::2])
    assert np.array_equal(out[3], numbers[2 : 2 + 2 * LANES : 2])
    assert np.array_equal(rows, np.concatenate([np.zeros((1, 4)), looked_up, np.zeros((1, 4))]))
    values = (numbers[:LANES] << 8) | (numbers[:LANES] & 1)
    assert three.tolist() == [0, *(int(v) >> shift & 255 for v in values for shift in (0, 8, 16)), 0]
