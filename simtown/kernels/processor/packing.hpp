// Colours of samples as one uint64: three lanes of 21 bits, 255 * 16 for full; above them two bits for the ground.
#pragma once
#include "shading.hpp"
#include "vectors.hpp"

static const uint64_t LEVELS_MASK = 0x1FFFull | 0x1FFFull << 21 | 0x1FFFull << 42;
static const uint64_t HALF = 0x80ull | 0x80ull << 21 | 0x80ull << 42; // half of what the tent filter divides by
static const uint64_t COLOUR = (1ull << 62) - 1;
static const uint64_t FLAGS = 62;

INLINE uint64_t pack(Rgb c) { return level_of(c.r) | (uint64_t)level_of(c.g) << 21 | (uint64_t)level_of(c.b) << 42; }
INLINE Words64 levels_of(Floats x)
{
    return convert<Words64>(convert<Ints>(clamped(x) * 4080.0f + 0.5f));
}
INLINE Words64 pack(Floats r, Floats g, Floats b) { return levels_of(r) | levels_of(g) << 21 | levels_of(b) << 42; }

// Colours of which `share` (0 to 256) is another's. Levels of 32 bits tell the compiler that half of each product is 0.
INLINE Words64 mix(Words64 c, Words64 other, Words32 share)
{
    return ((c * convert<Words64>(256 - share) + other * convert<Words64>(share)) >> 8) & LEVELS_MASK;
}
// `level` (0 to 256) of 256 parts of a colour.
INLINE Words64 dimmed(Words64 c, Words32 level) { return ((c * convert<Words64>(level)) >> 8) & LEVELS_MASK; }
// The smaller of numbers below 2^63: few processors compare larger ones.
INLINE Words64 less_of(Words64 a, Words64 b) { return (Words64)smaller((Longs)a, (Longs)b); }

// Colours under the light of lamps: they become brighter, and a part of the lamps' colour is added.
INLINE Words64 lighten(Words64 c, Words64 glow)
{
    Words64 gain = less_of(256 + (((glow >> 21) & 0x1FFF) >> 3), spread<Words64>((uint64_t)512));
    Words64 total = dimmed(c, convert<Words32>(gain)) + glow, full = spread<Words64>((uint64_t)4080);
    Words64 low = less_of(total & 0x1FFFFF, full), middle = less_of((total >> 21) & 0x1FFFFF, full), upper = less_of(total >> 42, full);
    return low | middle << 21 | upper << 42;
}
