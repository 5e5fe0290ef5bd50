// The sky's colour row by row, and the noise that covers a share of it with clouds.
#pragma once
#include "shading.hpp"

// Slope of the rays through row y of samples, against the view's axis.
SHARED float row_slope(const float* view, int y) { return (view[14] - 0.5f * (float)y) / view[12]; }

// Colours of the clear sky and of the densest clouds in row y of samples.
struct Heaven {
    Rgb clear, cloud;
};
SHARED Heaven heaven(const float* view, const float* light, int y)
{
    const float *top = light + TOP, *far = light + HORIZON, *veil = light + VEIL, *fog = light + FOG;
    float t = clamped(row_slope(view, y) * 1.9f);
    t = t * (2.0f - t);
    float haze = least(light[DENSITY] * 28.0f + light[THICK] * 16.0f, 1.0f) * (1.0f - 0.5f * t);
    float near = 1.0f - 0.75f * (1.0f - t) * (1.0f - t); // clouds fade towards the horizon
    float r = far[0] + (top[0] - far[0]) * t, g = far[1] + (top[1] - far[1]) * t, b = far[2] + (top[2] - far[2]) * t;
    float cr = r + (veil[0] - r) * near, cg = g + (veil[1] - g) * near, cb = b + (veil[2] - b) * near;
    return {{r + (fog[0] - r) * haze, g + (fog[1] - g) * haze, b + (fog[2] - b) * haze},
            {cr + (fog[0] - cr) * haze, cg + (fog[1] - cg) * haze, cb + (fog[2] - cb) * haze}};
}

// Rows of samples in which clouds are painted, and in which samples have their numbers.
SHARED bool paints_clouds(float slope) { return slope > -0.03f; }
SHARED bool has_clouds(float slope) { return slope >= -0.02f; }

// A layer of cloud along a row, smooth noise on a ceiling in perspective: where its net's knots lie, and the hashes of the rows
// of knots above and below.
struct Net {
    float start, step; // pair x of samples lies at start + step * x
    float down;        // share of the lower row of knots
    u32 upper, lower;
};
constexpr int LAYERS = 2;

// `first`: the sample of pair 0.
SHARED Net net_of(const float* view, u32 seed, int y, int layer, float first)
{
    float away = 1.0f / (row_slope(view, y) + 0.16f), fine = layer ? 2.6f : 1.0f, v = 2.3f * fine * away;
    s32 j = (s32)v;
    return {64.0f - 1.1f * fine * away * (view[13] - 0.5f * first) / view[12], 1.1f * fine * away / view[12], smooth(v - (float)j),
            hashed((u32)j + seed + (u32)layer), hashed((u32)j + 1 + seed + (u32)layer)};
}

// Numbers in [0, 1): at a knot, between a knot and the one below, and between neighbours, at x.
SHARED float knot(u32 row, s32 i) { return (float)(hashed((u32)i * 0x9E3779B9u ^ row) >> 8) * (float)(1.0 / 16777216.0); }
SHARED float knots(const Net& net, s32 i) { return knot(net.upper, i) * (1.0f - net.down) + knot(net.lower, i) * net.down; }
SHARED float between(const Net& net, s32 i, float x, float left, float right)
{
    return left + (right - left) * smooth(clamped(net.start - (float)i + net.step * x));
}

// How much a layer says, and the triangle number of what both say, where `cover` of the sky is covered.
SHARED float strength_of(int layer) { return layer ? 0.32f : 0.68f; }
template <class T> SHARED T cloud_level(T sum, float cover) { return smooth(clamped((sum - (0.76f - 0.56f * cover)) * 5.0f)) * (float)(SKY_LEVELS - 0.01); }
SHARED u32 cloud_tag(float sum, float cover) { return SKY + (u32)(s32)cloud_level(sum, cover); }
template <class T> SHARED T cloud_share(T level) { return level * 256u / (u32)(SKY_LEVELS - 1); }
