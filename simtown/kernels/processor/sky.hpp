// The sky: its colour row by row, and clouds that cover a share of it.
#pragma once
#include "fill.hpp"
#include "heaven.hpp"
#include "packing.hpp"

// Fill empty samples with the numbers of cloud levels: smooth noise on a ceiling in perspective, one value for every 2 x 2
// samples. What is drawn later lies nearer and replaces them.
static void cover_sky(const float* view, const float* light, uint32_t seed, const Canvas& canvas, float* __restrict cover)
{
    float first = (float)canvas.first, covered = light[COVER];
    int64_t half = (canvas.width + 1) / 2;
    for (int64_t y = 0; y < canvas.height; y += 2) {
        if (!has_clouds(row_slope(view, (int)y))) {
            for (uint32_t* at = canvas.samples + y * canvas.stride; at < canvas.samples + canvas.height * canvas.stride; at++) *at = SKY;
            return;
        }
        for (int64_t x = 0; x < half; x++) cover[x] = 0;
        for (int layer = 0; layer < LAYERS; layer++) {
            Net net = net_of(view, seed, (int)y, layer, first);
            float strong = strength_of(layer);
            s32 i = (s32)floorf(net.start) - 1;
            float left = knots(net, i);
            for (int64_t x0 = 0; x0 < half; i++) {
                float right = knots(net, i + 1);
                int64_t x1 = least(most((int64_t)ceilf(((float)(i + 1) - net.start) / net.step), x0), half);
                for (int64_t x = x0; x < x1; x++) cover[x] += strong * between(net, i, (float)(int32_t)x, left, right);
                left = right, x0 = x1;
            }
        }
        uint32_t *upper = canvas.samples + y * canvas.stride, *lower = canvas.samples + least(y + 1, canvas.height - 1) * canvas.stride;
        for (int64_t x = 0; x < half; x++) {
            uint32_t level = cloud_tag(cover[x], covered);
            upper[2 * x] = upper[2 * x + 1] = lower[2 * x] = lower[2 * x + 1] = level;
        }
    }
}

// Colours of the sky in row y of samples, for every level of cloud.
static void paint_sky(const float* view, const float* light, int64_t y, uint64_t* packed)
{
    Heaven colours = heaven(view, light, (int)y);
    uint64_t sky = pack(colours.clear), covered = pack(colours.cloud);
    packed[0] = packed[SKY] = sky;
    if (light[COVER] > 0 && paints_clouds(row_slope(view, (int)y)))
        for (u32 level = 0; level < SKY_LEVELS; level++) packed[SKY + level] = mix(sky, covered, (uint64_t)cloud_share(level));
}
