// Clouds that cover a share of the sky: one value for 2 x 2 samples.
#pragma once
#include "block.cuh"

constexpr int PAIRS = STRIP + 1; // pairs of samples in a row of a strip; the last one belongs to the next strip as well

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
        if (has_clouds(row_slope(view, first + 2 * i))) {
            for (int layer = 0; layer < LAYERS; layer++) {
                Net net = net_of(view, seed, first + 2 * i, layer, 0.0f);
                s32 k = cell_of(net, x);
                sum += strength_of(layer) * between(net, k, x, knots(net, k), knots(net, k + 1));
            }
            tag = cloud_tag(sum, cover);
        }
        put(samples, rows, 2 * i, STRIP, tag);
    }
    float x = (float)(block.left + lane);
    for (int base = warp; base < twice; base += 32 * WARPS) {
        int mine = base + WARPS * lane; // rows' nets are made 32 at a time, a row a lane
        bool clouds = mine < twice && has_clouds(row_slope(view, first + 2 * mine));
        Net own[LAYERS] = {};
        if (clouds) for (int layer = 0; layer < LAYERS; layer++) own[layer] = net_of(view, seed, first + 2 * mine, layer, 0.0f);
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
                    sum += strength_of(layer) * between(net, i, x, left, right);
                }
                tag = cloud_tag(sum, cover);
            }
            put(samples, rows, 2 * (base + WARPS * k), lane, tag);
        }
    }
}
