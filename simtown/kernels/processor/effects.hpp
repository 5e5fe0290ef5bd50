// What lies over a finished picture, laid pixel by pixel.
#pragma once
#include "marks.hpp"
#include "town.hpp"

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
INLINE void blend(uint8_t* pixel, float r, float g, float b, float share)
{
    const float colour[3] = {r, g, b};
    for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)blended((float)pixel[i], colour[i], share);
}
INLINE void add(uint8_t* pixel, float r, float g, float b)
{
    const float light[3] = {r, g, b};
    for (int i = 0; i < 3; i++) pixel[i] = (uint8_t)added((float)pixel[i], light[i]);
}

// Do something to each pixel within `across` and `down` of (px, py), and `more` to the left and above: its place, and its middle from there.
template <class Work> INLINE void around(const Picture& picture, float px, float py, float across, float down, int more, Work work)
{
    Range rows = within((double)(py - down) - more, py + down, 2, picture.height);
    Range columns = within((double)(px - across) - more, px + across, 2, picture.width);
    for (int64_t y = rows.from; y < rows.to; y++)
        for (int64_t x = columns.from; x < columns.to; x++) work(x, y, (float)x + 0.5f - px, (float)y + 0.5f - py);
}
INLINE bool on_picture(const Picture& picture, float x, float y) { return x >= 0 && y >= 0 && x < (float)picture.width && y < (float)picture.height; }

// A halo round every lamp that is in sight, where lamps burn.
static void glow_lamps(const float* view, const float* light, const Town& town, const Things& things, const Picture& picture)
{
    float strength = light[LAMPS_ON] * (float)(0.5 * 255.0);
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0 || town.lamp_start[mesh] == town.lamp_start[mesh + 1]) continue;
        Matrix matrix = object_to_camera(view, things.poses[k]);
        for (int64_t i = town.lamp_start[mesh]; i < town.lamp_start[mesh + 1]; i++) {
            const float *lamp = town.lamps[i], *colour = town.palette[(int)lamp[3]];
            Glare glare = glare_of(view, matrix, {lamp[0], lamp[1], lamp[2]}, town.kinds[(int)lamp[3]]);
            if (!(glare.radius > 0) || !on_picture(picture, glare.x, glare.y)) continue;
            if (!in_sight(glare.depth, picture.near((int64_t)glare.x, (int64_t)glare.y))) continue;
            float inverse = 1.0f / (glare.radius * glare.radius);
            around(picture, glare.x, glare.y, glare.radius, glare.radius, 0, [&](int64_t x, int64_t y, float dx, float dy) {
                float a = halo_light(inverse, strength, dx, dy);
                if (a > 0) add(picture.pixel(x, y), colour[0] * a, colour[1] * a, colour[2] * a);
            });
        }
    }
}

// Stars over what shows the sky.
static void light_stars(const float* view, const float* light, uint32_t seed, const Picture& picture)
{
    for (uint32_t i = 0; i < STARS_OUT; i++) {
        Star star = star_of(view, light, seed, i);
        if (!on_picture(picture, star.x, star.y) || picture.near((int64_t)star.x, (int64_t)star.y) > 0) continue;
        around(picture, star.x, star.y, star.radius, star.radius, 0, [&](int64_t x, int64_t y, float dx, float dy) {
            float a = star_light(star.radius + 0.5f, star.bright, dx, dy);
            if (a > 0 && picture.near(x, y) == 0) add(picture.pixel(x, y), a, a, a);
        });
    }
}

// A drop's way.
INLINE void streak(const Drop& drop, float unit, const Picture& picture)
{
    Streak s = streak_of(drop.near, unit);
    Range rows = within(drop.y, drop.y + s.length, 1, picture.height);
    for (int64_t y = rows.from; y < rows.to; y++) {
        float down = (float)y + 0.5f - drop.y, middle = streak_middle(drop.x, down);
        Range columns = within(middle - s.half - 0.5f, middle + s.half + 0.5f, 1, picture.width);
        for (int64_t x = columns.from; x < columns.to; x++) {
            float share = streak_share(s, (float)x + 0.5f - middle, down);
            if (share > 0 && picture.near(x, y) <= drop.reach) blend(picture.pixel(x, y), 222.0f, 232.0f, 243.0f, share);
        }
    }
}

// Rain or snow, and the rings where rain hits the ground.
static void let_fall(const float* view, const float* light, uint32_t seed, const Picture& picture)
{
    float wide = (float)picture.width, high = (float)picture.height, unit = unit_of(wide, high);
    bool rain = light[FALL] == RAIN;
    for (int i = 0; i < drops(light, wide, high); i++) {
        Drop drop = drop_of(seed, (uint32_t)i, wide, high);
        if (rain) {
            streak(drop, unit, picture);
            continue;
        }
        float radius = flake_radius(drop.near, unit), inverse = 1.0f / (radius * radius);
        around(picture, drop.x, drop.y, radius, radius, 0, [&](int64_t x, int64_t y, float dx, float dy) {
            float share = flake_share(inverse, dx, dy);
            if (share > 0 && picture.near(x, y) <= drop.reach) blend(picture.pixel(x, y), 255.0f, 255.0f, 255.0f, share);
        });
    }
    for (int i = 0; rain && i < splashes(light); i++) {
        Splash s;
        auto near = [&](int x, int y) { return picture.near(x, y); };
        if (!splash_of(view, seed, (uint32_t)i, (int)picture.width, (int)picture.height, near, s)) continue;
        float squeeze = s.size / s.flat;
        around(picture, s.x, s.y, s.size, s.flat, 1, [&](int64_t x, int64_t y, float dx, float dy) {
            float share = splash_share(s.size, s.thick, squeeze, dx, dy);
            if (share > 0) blend(picture.pixel(x, y), 222.0f, 232.0f, 243.0f, share);
        });
    }
}

// Lay all of it over a picture.
static void lay(const float* view, const float* light, uint32_t seed, const Town& town, const Things& things, const Picture& picture)
{
    if (light[STARS] > 0) light_stars(view, light, seed, picture);
    if (light[LAMPS_ON] > 0) glow_lamps(view, light, town, things, picture);
    if (light[AMOUNT] > 0) let_fall(view, light, seed, picture);
}
