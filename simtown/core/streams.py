"""Randomness that is addressed, not consumed.

A draw's value depends on its address alone: (dataset seed, split, component name, example index, attempt,
draw). So any worker can make any example in any order, and a new component changes no draw of another. The
generator is Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), the same
function as ``numpy.random.Philox``.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from simtown.core.exact import inlined_kernel, inner_kernel, kernel

_M0, _M1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_W0, _W1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_11 = np.uint64(11)


@intrinsic
def _high(typing_context, a, b):  # type: ignore[no-untyped-def]
    """Upper 64 bits of a product of two uint64."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(number, wide) for number in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@inner_kernel
def words(key, index, attempt, block):  # type: ignore[no-untyped-def]
    """Draws 4 block to 4 block + 3 of an address as four uint64; `key` is (2,) uint64, :attr:`Stream.key`."""
    c0, c1, c2, c3 = np.uint64(index), np.uint64(attempt), np.uint64(block), np.uint64(0)
    k0, k1 = key[0], key[1]
    for _ in range(10):
        h0, l0, h1, l1 = _high(_M0, c0), _M0 * c0, _high(_M1, c2), _M1 * c2
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0 += _W0
        k1 += _W1
    return c0, c1, c2, c3


@inlined_kernel
def uniform(word):  # type: ignore[no-untyped-def]
    """The uniform number in [0, 1) that a uint64 stands for: its upper 53 bits."""
    return np.int64(word >> _11) * 2.0**-53


@inner_kernel
def fill(key, index, attempt, out):  # type: ignore[no-untyped-def]
    """The first draws of an address, as many as `out` (uint64) has room for."""
    count = np.uint64(len(out))
    for first in range(np.uint64(0), count, np.uint64(4)):
        a, b, c, d = words(key, index, attempt, np.int64(first >> np.uint64(2)))
        out[first] = a
        if first + np.uint64(1) < count:
            out[first + np.uint64(1)] = b
        if first + np.uint64(2) < count:
            out[first + np.uint64(2)] = c
        if first + np.uint64(3) < count:
            out[first + np.uint64(3)] = d


@kernel
def _fill_all(key, index, attempt, out):  # type: ignore[no-untyped-def]
    for i in range(len(index)):
        fill(key, index[i], attempt[i], out[i])


@inlined_kernel
def pick(u, cumulative):  # type: ignore[no-untyped-def]
    """The category of one uniform number: see :func:`choose`."""
    low, high = 0, len(cumulative)
    while low < high:  # the first category whose sum is larger than u
        middle = (low + high) // 2
        if u < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return min(low, len(cumulative) - 1)


class Stream:
    """The draws of one component of one split of one data set.

    Args:
        seed: the data set's seed, any integer (0 is a seed like any other).
        split: "train", "val", "test", or any other name.
        component: what the draws are for, such as "placement".
    """

    def __init__(self, seed: int, split: str, component: str) -> None:
        digest = blake2b(f"{seed}\0{split}\0{component}".encode(), digest_size=16).digest()
        self.key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)

    def bits(self, index: np.ndarray, draws: int, attempt: int | np.ndarray = 0) -> np.ndarray:
        """(n, draws) uint64 for the n example numbers `index`, and their `attempt` numbers."""
        index = np.ascontiguousarray(index, dtype=np.int64)
        attempts = np.ascontiguousarray(np.broadcast_to(np.asarray(attempt, dtype=np.int64), index.shape))
        out = np.zeros((len(index), draws), dtype=np.uint64)
        _fill_all(self.key, index, attempts, out)
        return out

    def uniform(self, index: np.ndarray, draws: int, attempt: int | np.ndarray = 0) -> np.ndarray:
        """(n, draws) float64, uniform in [0, 1), multiples of 2^-53."""
        return (self.bits(index, draws, attempt) >> np.uint64(11)) * 2.0**-53


def choose(u: np.ndarray, cumulative: np.ndarray) -> np.ndarray:
    """Category of each uniform number `u` under a distribution with the `cumulative` sums (last one 1):
    int64, u's shape.
    """
    return np.minimum(np.searchsorted(cumulative, u, side="right"), len(cumulative) - 1)
