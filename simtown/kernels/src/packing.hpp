// Colours of samples as one uint64: three lanes of 21 bits, 255 * 16 for full; above them two bits for the ground.
#pragma once
#include "exact.hpp"
#include "vectors.hpp"

static const uint64_t LEVELS_MASK = 0x1FFFull | 0x1FFFull << 21 | 0x1FFFull << 42;
static const uint64_t HALF = 0x80ull | 0x80ull << 21 | 0x80ull << 42; // half of what the tent filter divides by
static const uint64_t COLOUR = (1ull << 62) - 1;
enum { FLAGS = 62 };

INLINE uint64_t level_of(float x) { return (uint64_t)(int32_t)(least(most(x, 0.0f), 1.0f) * 4080.0f + 0.5f); }
INLINE uint64_t pack(float r, float g, float b) { return level_of(r) | level_of(g) << 21 | level_of(b) << 42; }
INLINE Words64 levels_of(Floats x)
{
    return convert<Words64>(convert<Ints>(smaller(larger(x, spread<Floats>(0.0f)), spread<Floats>(1.0f)) * 4080.0f + 0.5f));
}
INLINE Words64 pack(Floats r, Floats g, Floats b) { return levels_of(r) | levels_of(g) << 21 | levels_of(b) << 42; }

// A colour, or a vector of them, of which `share` (0 to 256) is another's.
template <class C, class S> INLINE C mix(C c, C other, S share) { return ((c * (256 - share) + other * share) >> 8) & LEVELS_MASK; }
// `level` (0 to 256) of 256 parts of a colour.
template <class C, class S> INLINE C dimmed(C c, S level) { return ((c * level) >> 8) & LEVELS_MASK; }

// What light of a lamp adds to the darkest ground: a small part of the lamp's colour.
INLINE uint64_t glow_of(float red, float green, float blue)
{
    uint64_t x = (uint64_t)(least(red, 2.0f) * 1150.0f), y = (uint64_t)(least(green, 2.0f) * 1150.0f), z = (uint64_t)(least(blue, 2.0f) * 1150.0f);
    return x | y << 21 | z << 42;
}

// Colours under the light of lamps: they become brighter, and a part of the lamps' colour is added.
INLINE Words64 lighten(Words64 c, Words64 glow)
{
    Words64 gain = smaller(256 + (((glow >> 21) & 0x1FFF) >> 3), spread<Words64>((uint64_t)512));
    Words64 total = (((c * gain) >> 8) & LEVELS_MASK) + glow, full = spread<Words64>((uint64_t)4080);
    Words64 low = smaller(total & 0x1FFFFF, full), middle = smaller((total >> 21) & 0x1FFFFF, full), upper = smaller(total >> 42, full);
    return low | middle << 21 | upper << 42;
}
