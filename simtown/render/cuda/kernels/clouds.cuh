// Clouds that cover a share of the sky, as sky.py has them: smooth noise on a ceiling in perspective, one value for 2 x 2 samples.
#pragma once
#include "block.cuh"

constexpr float COARSE = 1.0f, FINE = 2.6f, STRONG = 0.68f, WEAK = 0.32f; // layers: how fine, and how strong

// A number in [0, 1) at a knot of the net; `row` is the hash of its row.
__device__ __forceinline__ float knot(u32 row, s32 i) { return (float)(hashed((u32)i * 0x9E3779B9u ^ row) >> 8) / 16777216.0f; }

// The tag of the sky in the pair of samples x of row y, or SKY where no clouds are drawn; `seed` is the scene's.
__device__ __forceinline__ u32 cloud_at(const float* view, float cover, u32 seed, int y, int x)
{
    float lift = (view[14] - 0.5f * (float)y) / view[12];
    if (lift < -0.02f) return SKY;
    float away = 1.0f / (lift + 0.16f), sum = 0.0f;
    for (int layer = 0; layer < 2; layer++) {
        float fine = layer ? FINE : COARSE, v = 2.3f * fine * away;
        s32 j = (s32)v;
        float tv = v - (float)j;
        tv = tv * tv * (3.0f - 2.0f * tv);
        float step = 1.1f * fine * away / view[12], start = 64.0f - 1.1f * fine * away * view[13] / view[12];
        s32 least = (s32)floorf(start) - 1, i = max((s32)floorf(start + step * (float)x), least);
        // the processor walks from knot to knot: sample x lies left of the first knot i + 1 with x < (i + 1 - start) / step
        while (i > least && (float)x < ((float)i - start) / step) i--;
        while ((float)x >= ((float)(i + 1) - start) / step) i++;
        u32 upper = hashed((u32)j + seed + layer), lower = hashed((u32)j + 1 + seed + layer);
        float left = knot(upper, i) * (1.0f - tv) + knot(lower, i) * tv, right = knot(upper, i + 1) * (1.0f - tv) + knot(lower, i + 1) * tv;
        float t = __saturatef((start - (float)i) + step * (float)x);
        sum += (layer ? WEAK : STRONG) * (left + (right - left) * (t * t * (3.0f - 2.0f * t)));
    }
    float least = 0.76f - 0.56f * cover, t = __saturatef((sum - least) * 5.0f);
    return SKY + (u32)(s32)(smooth(t) * (SKY_LEVELS - 0.01f));
}
