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

// A colour, or a vector of them, of which `share` (0 to 256) is another's.
template <class C, class S> INLINE C mix(C c, C other, S share) { return ((c * (256 - share) + other * share) >> 8) & LEVELS_MASK; }
// `level` (0 to 256) of 256 parts of a colour.
template <class C, class S> INLINE C dimmed(C c, S level) { return ((c * level) >> 8) & LEVELS_MASK; }

// Colours under the light of lamps: they become brighter, and a part of the lamps' colour is added.
INLINE Words64 lighten(Words64 c, Words64 glow)
{
    Words64 gain = smaller(256 + (((glow >> 21) & 0x1FFF) >> 3), spread<Words64>((uint64_t)512));
    Words64 total = (((c * gain) >> 8) & LEVELS_MASK) + glow, full = spread<Words64>((uint64_t)4080);
    Words64 low = smaller(total & 0x1FFFFF, full), middle = smaller((total >> 21) & 0x1FFFFF, full), upper = smaller(total >> 42, full);
    return low | middle << 21 | upper << 42;
}
