// Colours and air, as packing.hpp and shading.hpp have them: levels 0 to 4080 in two words, red | green << 16 and blue.
#pragma once
#include "job.cuh"

struct Levels { u32 rg, b; };

__device__ __forceinline__ u32 level_of(float x) { return (u32)(s32)(__saturatef(x) * 4080.0f + 0.5f); }

__device__ __forceinline__ Levels pack(float r, float g, float b) { return {level_of(r) | level_of(g) << 16, level_of(b)}; }

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

// The finaliser of MurmurHash3.
__device__ __forceinline__ u32 hashed(u32 h)
{
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

// Share of light that crosses `depth` metres of air.
__device__ __forceinline__ float clear_air(float density, float thick, float depth)
{
    float wall = thick * depth;
    wall = wall * wall;
    float x = density * depth + wall * wall;
    return 1.0f / (1.0f + x * (1.0f + x * (0.5f + x * (float)(1.0 / 6.0))));
}
