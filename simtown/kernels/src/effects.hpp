// What lies over a finished picture: stars, halos of lamps, rain and snow.
//
// `nearness` holds the upper half of the sample in every pixel's middle: 0 for the sky, more the nearer.
#pragma once
#include "camera.hpp"
#include "ground.hpp"

static const double METRE = FULL / 65536.0; // nearness of what is a metre away

struct Picture {
    int64_t width, height;
    const uint16_t* nearness;
    uint8_t* rgb;

    uint16_t near(int64_t x, int64_t y) const { return nearness[y * width + x]; }
    uint8_t* pixel(int64_t x, int64_t y) const { return rgb + 3 * (y * width + x); }
};

// Rows or columns from `from` to `to` that the picture has.
struct Range {
    int64_t from, to;
};
INLINE Range within(double from, double to, int64_t more, int64_t stop) { return {most((int64_t)from, (int64_t)0), least((int64_t)to + more, stop)}; }

// Mix a colour of [0, 255] into a pixel, or add it.
INLINE void blend(uint8_t* pixel, float r, float g, float b, float alpha)
{
    const float colour[3] = {r, g, b};
    for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)((float)pixel[i] + (colour[i] - (float)pixel[i]) * alpha + 0.5f);
}
INLINE void add(uint8_t* pixel, float r, float g, float b)
{
    const float colour[3] = {r, g, b};
    for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)least((float)pixel[i] + colour[i] + 0.5f, 255.0f);
}

// A halo round every lamp that is in sight, where lamps burn.
static void glow_lamps(const float* view, const float* light, const Town& town, const Things& things, const Picture& picture)
{
    float strength = light[LAMPS_ON] * (float)(0.5 * 255.0);
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0 || town.lamp_start[mesh] == town.lamp_start[mesh + 1]) continue;
        const float* pose = things.poses[k];
        Matrix matrix = object_to_camera(view, pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]);
        for (int64_t i = town.lamp_start[mesh]; i < town.lamp_start[mesh + 1]; i++) {
            const float *lamp = town.lamps[i], (*m)[3] = matrix.m, *t = matrix.t;
            float far = m[2][0] * lamp[0] + m[2][1] * lamp[1] + m[2][2] * lamp[2] + t[2];
            if (far < NEAR) continue;
            float px = view[13] + view[12] * (m[0][0] * lamp[0] + m[0][1] * lamp[1] + m[0][2] * lamp[2] + t[0]) / far;
            float py = view[14] - view[12] * (m[1][0] * lamp[0] + m[1][1] * lamp[1] + m[1][2] * lamp[2] + t[1]) / far;
            int kind = town.kinds[(int)lamp[3]];
            float size = kind == TAILLAMP ? 0.36f : kind == GLOW ? 0.85f : 0.55f, radius = size * view[12] / far;
            int64_t ix = (int64_t)floorf(px), iy = (int64_t)floorf(py);
            if (radius <= 0 || ix < 0 || iy < 0 || ix >= picture.width || iy >= picture.height) continue;
            if (!((double)picture.near(ix, iy) * (far - 0.6f) <= METRE)) continue; // something stands before it
            const float* colour = town.palette[(int)lamp[3]];
            float inverse = 1.0f / (radius * radius);
            Range rows = within(py - radius, py + radius, 2, picture.height), columns = within(px - radius, px + radius, 2, picture.width);
            for (int64_t y = rows.from; y < rows.to; y++) {
                float dy = (float)y + 0.5f - py;
                for (int64_t x = columns.from; x < columns.to; x++) {
                    float dx = (float)x + 0.5f - px, fall = 1.0f - (dx * dx + dy * dy) * inverse;
                    if (fall <= 0) continue;
                    float a = strength * fall * fall;
                    add(picture.pixel(x, y), colour[0] * a, colour[1] * a, colour[2] * a);
                }
            }
        }
    }
}

// Stars over what shows the sky, fewer towards the horizon; the same ones at every size.
static void light_stars(const float* view, const float* light, uint32_t seed, const Picture& picture)
{
    float size = most(view[12] * 0.0011f, 0.5f);
    for (uint32_t i = 0; i < 140; i++) {
        uint32_t h = hashed(seed * 2654435761u + i + 77), h2 = hashed(h);
        float px = view[13] + view[12] * ((float)(h & 0xFFFF) / 65536.0f - 0.5f) * 2.4f, lift = (float)(h >> 16) / 65536.0f;
        float py = view[14] - view[12] * (0.10f + 0.8f * lift);
        int64_t ix = (int64_t)floorf(px), iy = (int64_t)floorf(py);
        if (ix < 0 || iy < 0 || ix >= picture.width || iy >= picture.height || picture.near(ix, iy) > 0) continue;
        float bright = light[STARS] * (0.25f + 0.75f * lift) * (60.0f + 0.7f * (float)(h2 & 0xFF));
        float radius = size * (0.7f + 0.6f * (float)(h2 >> 24) / 255.0f);
        Range rows = within(py - radius, py + radius, 2, picture.height), columns = within(px - radius, px + radius, 2, picture.width);
        for (int64_t y = rows.from; y < rows.to; y++)
            for (int64_t x = columns.from; x < columns.to; x++) {
                float dx = (float)x + 0.5f - px, dy = (float)y + 0.5f - py;
                float cover = clamped(radius + 0.5f - sqrtf(dx * dx + dy * dy));
                if (cover > 0 && picture.near(x, y) == 0) add(picture.pixel(x, y), bright * cover, bright * cover, bright * cover);
            }
    }
}

// A drop's way, thin and leaning.
INLINE void streak(float px, float py, float near, int32_t reach, float unit, const Picture& picture)
{
    float half = most(unit * 0.0022f * near, 0.26f), length = unit * 0.105f * near, strength = 0.16f + 0.34f * near;
    Range rows = within(py, py + length, 1, picture.height);
    for (int64_t y = rows.from; y < rows.to; y++) {
        float down = (float)y + 0.5f - py, middle = px - down * 0.17f, fade = strength * clamped(1.25f * down / length + 0.15f);
        Range columns = within(middle - half - 0.5f, middle + half + 0.5f, 1, picture.width);
        for (int64_t x = columns.from; x < columns.to; x++) {
            float cover = least(most(half + 0.5f - fabsf((float)x + 0.5f - middle), 0.0f), least(1.0f, 2.0f * half));
            if (cover > 0 && picture.near(x, y) <= reach) blend(picture.pixel(x, y), 222.0f, 232.0f, 243.0f, cover * fade);
        }
    }
}

// A soft disc.
INLINE void flake(float px, float py, float near, int32_t reach, float unit, const Picture& picture)
{
    float radius = most(unit * 0.0095f * near, 0.45f) + 0.5f, inverse = 1.0f / (radius * radius);
    Range rows = within(py - radius, py + radius, 2, picture.height), columns = within(px - radius, px + radius, 2, picture.width);
    for (int64_t y = rows.from; y < rows.to; y++) {
        float dy = (float)y + 0.5f - py;
        for (int64_t x = columns.from; x < columns.to; x++) {
            float dx = (float)x + 0.5f - px, cover = (1.0f - (dx * dx + dy * dy) * inverse) * 2.0f;
            if (cover > 0 && picture.near(x, y) <= reach) blend(picture.pixel(x, y), 255.0f, 255.0f, 255.0f, least(cover, 1.0f) * 0.88f);
        }
    }
}

// Rings where drops hit the ground, flat as the ground is seen.
static void splash(const float* view, const float* light, uint32_t seed, const Picture& picture)
{
    for (uint32_t i = 0; i < (uint32_t)(60.0f * light[AMOUNT]); i++) {
        uint32_t h = hashed(seed * 0x85EBCA6Bu + i + 991), h2 = hashed(h);
        float px = (float)(h & 0xFFFF) / 65536.0f * (float)picture.width, depth = 8.0f + 9.0f * (float)(h >> 16) / 65536.0f;
        float py = view[14] + view[12] * (view[2] / depth + view[11]) / most(view[8], 0.05f);
        int64_t ix = (int64_t)px, iy = (int64_t)floorf(py);
        if (iy < 1 || iy >= picture.height - 1) continue;
        depth = ground_line(view, 2 * iy + 1).depth;
        if (depth <= 0 || fabs((double)picture.near(ix, iy) * depth - METRE) > METRE * 0.012) continue; // something stands there
        float size = view[12] / depth * (0.06f + 0.10f * (float)(h2 & 0xFF) / 255.0f);
        float flat = most(size * 0.36f, 0.5f), thick = most(size * 0.22f, 0.4f);
        Range rows = within((double)(py - flat) - 1, py + flat, 2, picture.height), columns = within((double)(px - size) - 1, px + size, 2, picture.width);
        for (int64_t y = rows.from; y < rows.to; y++)
            for (int64_t x = columns.from; x < columns.to; x++) {
                float dx = (float)x + 0.5f - px, dy = ((float)y + 0.5f - py) * (size / flat);
                float cover = 1.0f - fabsf(sqrtf(dx * dx + dy * dy) - size) / thick;
                if (cover > 0) blend(picture.pixel(x, y), 222.0f, 232.0f, 243.0f, cover * 0.42f);
            }
    }
}

// Rain or snow, the same drops at every size: each at its own distance, hidden by what is nearer.
static void let_fall(const float* view, const float* light, uint32_t seed, const Picture& picture)
{
    float aspect = (float)picture.width / (float)picture.height, unit = aspect > 1.0f ? (float)picture.height : (float)picture.width;
    float crowd = aspect > 1.0f ? aspect : 1.0f / aspect;
    bool rain = light[FALL] == RAIN;
    int64_t count = (int64_t)((rain ? 240.0f : 400.0f) * light[AMOUNT] * least(crowd, 4.0f));
    for (int64_t i = 0; i < count; i++) {
        uint32_t h = hashed(seed + (uint32_t)i * 0x9E3779B9u), h2 = hashed(h);
        float px = (float)(h & 0xFFFF) / 65536.0f * (float)picture.width, py = (float)(h >> 16) / 65536.0f * (float)picture.height;
        float u = (float)(h2 & 0xFFFF) / 65536.0f, near = 0.24f + 0.76f * u * u * u * u;
        int32_t reach = (int32_t)(near * (float)(METRE / 4.6)); // the largest fall 4.6 m away, the smallest 19
        if (rain) streak(px, py, near, reach, unit, picture);
        else flake(px, py, near, reach, unit, picture);
    }
    if (rain) splash(view, light, seed, picture);
}
