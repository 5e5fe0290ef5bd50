// Randomness that is addressed, not consumed: Philox4x64-10 (Salmon et al. 2011).
#pragma once
#include "exact.hpp"

struct Words {
    uint64_t at[4];
};

static inline uint64_t high(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }

// Draws 4 block to 4 block + 3 of an address.
static inline Words words(const uint64_t* key, int64_t index, int64_t attempt, int64_t block)
{
    const uint64_t m0 = 0xD2E7470EE14C6C93u, m1 = 0xCA5A826395121157u;
    uint64_t c0 = (uint64_t)index, c1 = (uint64_t)attempt, c2 = (uint64_t)block, c3 = 0, k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t h0 = high(m0, c0), l0 = m0 * c0, h1 = high(m1, c2), l1 = m1 * c2;
        c0 = h1 ^ c1 ^ k0, c1 = l1, c2 = h0 ^ c3 ^ k1, c3 = l0;
        k0 += 0x9E3779B97F4A7C15u, k1 += 0xBB67AE8584CAA73Bu;
    }
    return {{c0, c1, c2, c3}};
}

// The uniform number in [0, 1) that a word stands for: its upper 53 bits.
static inline double uniform(uint64_t word) { return (double)(int64_t)(word >> 11) * 0x1p-53; }

// The first draws of an address.
static inline void fill(const uint64_t* key, int64_t index, int64_t attempt, uint64_t* out, int64_t count)
{
    for (int64_t first = 0; first < count; first += 4) {
        Words drawn = words(key, index, attempt, first / 4);
        for (int64_t i = 0; i < 4 && first + i < count; i++) out[first + i] = drawn.at[i];
    }
}

// The first category whose cumulative sum is larger than u, or the last one.
static inline int64_t pick(double u, const double* cumulative, int64_t count)
{
    int64_t low = 0, top = count;
    while (low < top) {
        int64_t middle = (low + top) / 2;
        if (u < cumulative[middle]) top = middle;
        else low = middle + 1;
    }
    return least(low, count - 1);
}
