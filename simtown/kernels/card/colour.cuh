// Colours as packing.hpp has them: levels 0 to 4080 in two words, red | green << 16 and blue.
#pragma once
#include "job.cuh"

struct Levels { u32 rg, b; };

__device__ __forceinline__ Levels pack(Rgb c) { return {level_of(c.r) | level_of(c.g) << 16, level_of(c.b)}; }

// A colour of which `share` (0 to 256) is another's.
__device__ __forceinline__ Levels mix(Levels c, Levels other, u32 share)
{
    u32 keep = 256 - share;
    u32 r = (c.rg & 0xffff) * keep + (other.rg & 0xffff) * share, g = (c.rg >> 16) * keep + (other.rg >> 16) * share;
    return {r >> 8 | (g >> 8) << 16, (c.b * keep + other.b * share) >> 8};
}

// `level` (0 to 256) of 256 parts of a colour.
__device__ __forceinline__ Levels dimmed(Levels c, u32 level)
{
    return {((c.rg & 0xffff) * level) >> 8 | (((c.rg >> 16) * level) >> 8) << 16, (c.b * level) >> 8};
}
