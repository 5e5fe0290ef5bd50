// The sky: its colour row by row, and clouds that cover a share of it.
#pragma once
#include "fill.hpp"
#include "heaven.hpp"
#include "packing.hpp"

INLINE Words32 cloud_tags(Floats sum, float cover) { return SKY + (Words32)convert<Ints>(cloud_level(sum, cover)); }

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
        for (int64_t x = 0; x < half; x += LANES) {
            Words32 level = cloud_tags(load<Floats>(cover + x), covered);
            Samples pairs = __builtin_shufflevector(level, level, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
            store(upper + 2 * x, pairs), store(lower + 2 * x, pairs);
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
        for (u32 level = 0; level < SKY_LEVELS; level += LANES)
            store(packed + SKY + level, mix(spread<Words64>(sky), spread<Words64>(covered), cloud_share(ramp<Words32>(level, 1u))));
}
