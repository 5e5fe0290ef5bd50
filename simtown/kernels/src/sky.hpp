// The sky: its colour row by row, and clouds that cover a share of it.
#pragma once
#include "fill.hpp"
#include "packing.hpp"
#include "shading.hpp"

static const uint32_t SKY = MOST_TRIANGLES + 1; // the triangle number of the first level of cloud, a clear sky

// From 0 to 1 as t does, without a corner at either end.
template <class T> INLINE T smooth(T t) { return t * t * (3.0f - 2.0f * t); }
INLINE float clamped(float x) { return least(most(x, 0.0f), 1.0f); }
INLINE Floats clamped(Floats x) { return smaller(larger(x, Floats{}), spread<Floats>(1.0f)); }

// Slope of the rays through row y of samples, against the view's axis.
INLINE float row_slope(const float* view, int64_t y) { return (view[14] - 0.5f * (float)y) / view[12]; }

// A number in [0, 1) at a knot of the clouds' net.
INLINE float knot(uint32_t seed, int64_t i, int64_t j)
{
    return (float)(hashed((uint32_t)i * 0x9E3779B9u ^ hashed((uint32_t)j + seed)) >> 8) / 16777216.0f;
}

// Fill empty samples with the numbers of cloud levels: smooth noise on a ceiling in perspective, one value for every 2 x 2
// samples. What is drawn later lies nearer and replaces them.
static void cover_sky(const float* view, const float* light, uint32_t seed, const Canvas& canvas, float* __restrict cover)
{
    float origin = (float)canvas.first, least_cover = 0.76f - 0.56f * light[COVER];
    int64_t half = (canvas.width + 1) / 2;
    for (int64_t y = 0; y < canvas.height; y += 2) {
        float lift = row_slope(view, y);
        if (lift < -0.02f) {
            for (uint32_t* at = canvas.samples + y * canvas.stride; at < canvas.samples + canvas.height * canvas.stride; at++) *at = SKY;
            return;
        }
        float away = 1.0f / (lift + 0.16f);
        for (int64_t x = 0; x < half; x++) cover[x] = 0;
        for (int layer = 0; layer < 2; layer++) {
            float fine = layer == 0 ? 1.0f : 2.6f, strong = layer == 0 ? 0.68f : 0.32f;
            float v = 2.3f * fine * away;
            int64_t j = (int64_t)v;
            float tv = smooth(v - (float)j);
            float step = 1.1f * fine * away / view[12];
            float start = 64.0f - 1.1f * fine * away * (view[13] - 0.5f * origin) / view[12];
            uint32_t salt = seed + (uint32_t)layer;
            int64_t i = (int64_t)floorf(start) - 1;
            float left = knot(salt, i, j) * (1.0f - tv) + knot(salt, i, j + 1) * tv;
            for (int64_t x0 = 0; x0 < half; i++) {
                float right = knot(salt, i + 1, j) * (1.0f - tv) + knot(salt, i + 1, j + 1) * tv;
                int64_t x1 = least(most((int64_t)ceilf(((float)(i + 1) - start) / step), x0), half);
                float cell = start - (float)i;
                for (int64_t x = x0; x < x1; x++) cover[x] += strong * (left + (right - left) * smooth(clamped(cell + step * (float)(int32_t)x)));
                left = right, x0 = x1;
            }
        }
        uint32_t *upper = canvas.samples + y * canvas.stride, *lower = canvas.samples + least(y + 1, canvas.height - 1) * canvas.stride;
        for (int64_t x = 0; x < half; x++) {
            float t = clamped((cover[x] - least_cover) * 5.0f);
            uint32_t level = SKY + (uint32_t)(int32_t)(smooth(t) * (float)(SKY_LEVELS - 0.01));
            upper[2 * x] = upper[2 * x + 1] = lower[2 * x] = lower[2 * x + 1] = level;
        }
    }
}

// Colours of the sky in row y of samples, for every level of cloud.
static void paint_sky(const float* view, const float* light, int64_t y, uint64_t* packed)
{
    float slope = row_slope(view, y), t = clamped(slope * 1.9f);
    t = t * (2.0f - t);
    float haze = least(light[DENSITY] * 28.0f + light[THICK] * 16.0f, 1.0f) * (1.0f - 0.5f * t);
    float near = 1.0f - 0.75f * (1.0f - t) * (1.0f - t); // clouds fade towards the horizon
    float clear[3], cloud[3];
    for (int i = 0; i < 3; i++) {
        float colour = light[HORIZON + i] + (light[TOP + i] - light[HORIZON + i]) * t, fog = light[FOG + i];
        float veiled = colour + (light[VEIL + i] - colour) * near;
        clear[i] = colour + (fog - colour) * haze, cloud[i] = veiled + (fog - veiled) * haze;
    }
    uint64_t sky = pack(clear[0], clear[1], clear[2]), covered = pack(cloud[0], cloud[1], cloud[2]);
    packed[0] = packed[SKY] = sky;
    if (light[COVER] > 0 && slope > -0.03f) // clouds end at the horizon
        for (uint64_t level = 0; level < SKY_LEVELS; level++) packed[SKY + level] = mix(sky, covered, level * 256 / (SKY_LEVELS - 1));
}
