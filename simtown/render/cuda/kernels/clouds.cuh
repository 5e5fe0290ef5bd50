// Clouds that cover a share of the sky, as sky.hpp has them: smooth noise on a ceiling in perspective, one value for 2 x 2 samples.
#pragma once
#include "block.cuh"

constexpr int LAYERS = 2;
constexpr int PAIRS = STRIP + 1; // pairs of samples in a row of a strip; the last one belongs to the next strip as well

// A layer of cloud along a row: where its net's knots lie, and the hashes of the rows of knots above and below.
struct Net {
    float start, step;   // pair x lies at start + step * x
    float down;          // share of the lower row of knots
    u32 upper, lower;
};

// A number in [0, 1) at a knot.
__device__ __forceinline__ float knot(u32 row, s32 i) { return (float)(hashed((u32)i * 0x9E3779B9u ^ row) >> 8) * (float)(1.0 / 16777216.0); }
__device__ __forceinline__ float knots(const Net& net, s32 i) { return knot(net.upper, i) * (1.0f - net.down) + knot(net.lower, i) * net.down; }

__device__ __forceinline__ bool has_clouds(const float* view, int y) { return row_slope(view, y) >= -0.02f; }

__device__ __forceinline__ Net net_of(const float* view, u32 seed, int y, int layer)
{
    float away = 1.0f / (row_slope(view, y) + 0.16f), fine = layer ? 2.6f : 1.0f, v = 2.3f * fine * away;
    s32 j = (s32)v;
    float down = v - (float)j;
    return {64.0f - 1.1f * fine * away * view[13] / view[12], 1.1f * fine * away / view[12], smooth(down), hashed((u32)j + seed + layer),
            hashed((u32)j + 1 + seed + layer)};
}

// The last knot that pair x does not lie left of. The processor walks from knot to knot, the next one at (i + 1 - start) / step.
__device__ __forceinline__ s32 cell_of(const Net& net, float x)
{
    float place = net.start + net.step * x, whole = floorf(place);
    s32 i = (s32)whole;
    if (fabsf(place - whole - 0.5f) > 0.499f) { // so near a knot that rounding may decide
        s32 least = (s32)floorf(net.start) - 1;
        i = max(i, least);
        while (i > least && x < ((float)i - net.start) / net.step) i--;
        while (x >= ((float)(i + 1) - net.start) / net.step) i++;
    }
    return i;
}

__device__ __forceinline__ float between(const Net& net, s32 i, float x, float left, float right)
{
    return left + (right - left) * smooth(__saturatef(net.start - (float)i + net.step * x));
}

__device__ __forceinline__ float strength(int layer) { return layer ? 0.32f : 0.68f; }

__device__ __forceinline__ u32 tag_of(float sum, float cover)
{
    return SKY + (u32)(s32)(smooth(__saturatef((sum - (0.76f - 0.56f * cover)) * 5.0f)) * 31.99f);
}

__device__ __forceinline__ void put(u32* samples, int rows, int y, int pair, u32 tag)
{
    u32* at = samples + y * STRIDE + 2 * pair;
    at[0] = tag;
    if (pair < STRIP) at[1] = tag;
    if (y + 1 == rows) return;
    at[STRIDE] = tag;
    if (pair < STRIP) at[STRIDE + 1] = tag;
}

// Fill all samples of a block with the numbers of cloud levels.
__device__ __forceinline__ void cover_sky(const Block& block, u32* samples)
{
    const float* view = block.view;
    float cover = block.light[COVER];
    u32 seed = block.job.fall_seed[block.n];
    int me = threadIdx.x, lane = me & 31, warp = me >> 5, first = 2 * block.top, rows = 2 * (block.bottom - block.top) + 1, twice = (rows + 1) / 2;
    for (int i = me; i < twice; i += THREADS) { // the last pair, a row a lane
        float x = (float)(block.left + STRIP), sum = 0.0f;
        u32 tag = SKY;
        if (has_clouds(view, first + 2 * i)) {
            for (int layer = 0; layer < LAYERS; layer++) {
                Net net = net_of(view, seed, first + 2 * i, layer);
                s32 k = cell_of(net, x);
                sum += strength(layer) * between(net, k, x, knots(net, k), knots(net, k + 1));
            }
            tag = tag_of(sum, cover);
        }
        put(samples, rows, 2 * i, STRIP, tag);
    }
    float x = (float)(block.left + lane);
    for (int base = warp; base < twice; base += 32 * WARPS) {
        int mine = base + WARPS * lane; // rows' nets are made 32 at a time, a row a lane
        bool clouds = mine < twice && has_clouds(view, first + 2 * mine);
        Net own[LAYERS] = {};
        if (clouds) for (int layer = 0; layer < LAYERS; layer++) own[layer] = net_of(view, seed, first + 2 * mine, layer);
        u32 covered = __ballot_sync(ALL, clouds);
        for (int k = 0; k < 32 && base + WARPS * k < twice; k++) {
            u32 tag = SKY;
            if (covered >> k & 1) {
                float sum = 0.0f;
                for (int layer = 0; layer < LAYERS; layer++) {
                    const Net& o = own[layer];
                    Net net = {from(o.start, k), from(o.step, k), from(o.down, k), __shfl_sync(ALL, o.upper, k), __shfl_sync(ALL, o.lower, k)};
                    s32 i = cell_of(net, x), least = __shfl_sync(ALL, i, 0), most = __shfl_sync(ALL, i, 31);
                    float left, right;
                    if (most - least < 31) { // a lane a knot
                        float column = knots(net, least + lane);
                        left = from(column, i - least), right = from(column, i - least + 1);
                    } else left = knots(net, i), right = knots(net, i + 1);
                    sum += strength(layer) * between(net, i, x, left, right);
                }
                tag = tag_of(sum, cover);
            }
            put(samples, rows, 2 * (base + WARPS * k), lane, tag);
        }
    }
}
