// What lies over a finished picture: stars, halos of lamps, rain, snow and splashes. Each has a place, pixels, and a share of
// its colour at (dx, dy) from there. `nearness` of a pixel is the upper half of its middle's sample: 0 for the sky.
#pragma once
#include "earth.hpp"

constexpr int STARS_OUT = 140;

SHARED float low_half(u32 h) { return (float)(h & 0xFFFF) / 65536.0f; }
SHARED float high_half(u32 h) { return (float)(h >> 16) / 65536.0f; }

// A colour of [0, 255] with light added, or mixed with a share of another's; whoever stores it drops what is behind the point.
SHARED float added(float old, float light) { return least(old + light + 0.5f, 255.0f); }
SHARED float blended(float old, float colour, float share) { return old + (colour - old) * share + 0.5f; }

// A star: the same ones at every size, fewer towards the horizon.
struct Star {
    float x, y, radius, bright;
};
SHARED Star star_of(const float* view, const float* light, u32 seed, u32 i)
{
    u32 h = hashed(seed * 2654435761u + i + 77u), h2 = hashed(h);
    float lift = high_half(h), x = view[13] + view[12] * (low_half(h) - 0.5f) * 2.4f, y = view[14] - view[12] * (0.10f + 0.8f * lift);
    float bright = light[STARS] * (0.25f + 0.75f * lift) * (60.0f + 0.7f * (float)(h2 & 0xFF));
    return {x, y, most(view[12] * 0.0011f, 0.5f) * (0.7f + 0.6f * (float)(h2 >> 24) / 255.0f), bright};
}
SHARED float star_light(float reach, float bright, float dx, float dy) { return bright * clamped(reach - sqrtf(dx * dx + dy * dy)); }

// The halo of a lamp; `radius` is 0 behind the near plane.
struct Glare {
    float x, y, radius, depth;
};
SHARED Glare glare_of(const float* view, const Matrix& matrix, Point lamp, int kind)
{
    float far = along(matrix.m[2], lamp);
    if (far < NEAR) return {};
    float size = kind == TAILLAMP ? 0.36f : kind == GLOW ? 0.85f : 0.55f;
    return {view[13] + view[12] * along(matrix.m[0], lamp) / far, view[14] - view[12] * along(matrix.m[1], lamp) / far, size * view[12] / far, far};
}
// Whether nothing stands before it.
SHARED bool in_sight(float depth, u16 nearness) { return (double)nearness * (double)(depth - 0.6f) <= METRE; }
SHARED float halo_light(float inverse, float strength, float dx, float dy)
{
    float fall = most(1.0f - (dx * dx + dy * dy) * inverse, 0.0f);
    return strength * fall * fall;
}

// How many drops or flakes fall: more in a picture that is long in either direction.
SHARED int drops(const float* light, float wide, float high)
{
    float aspect = wide / high, crowd = aspect > 1.0f ? aspect : 1.0f / aspect;
    return (int)((light[FALL] == RAIN ? 240.0f : 400.0f) * light[AMOUNT] * least(crowd, 4.0f));
}
// A drop or a flake, the same ones at every size: each at its own distance, hidden by what is nearer than `reach`.
struct Drop {
    float x, y, near;
    s32 reach;
};
SHARED Drop drop_of(u32 seed, u32 i, float wide, float high)
{
    u32 h = hashed(seed + i * 0x9E3779B9u), h2 = hashed(h);
    float u = low_half(h2), near = 0.24f + 0.76f * u * u * u * u;
    return {low_half(h) * wide, high_half(h) * high, near, (s32)(near * (float)(METRE / 4.6))}; // the largest 4.6 m away, the smallest 19
}
SHARED float unit_of(float wide, float high) { return wide / high > 1.0f ? high : wide; }

// A drop's way, thin and leaning; `down` is how far below its upper end.
struct Streak {
    float half, length, strength, most_share;
};
SHARED Streak streak_of(float near, float unit)
{
    float half = most(unit * 0.0022f * near, 0.26f);
    return {half, unit * 0.105f * near, 0.16f + 0.34f * near, least(1.0f, 2.0f * half)};
}
SHARED float streak_middle(float x, float down) { return x - down * 0.17f; }
SHARED float streak_share(const Streak& s, float aside, float down)
{
    float fade = s.strength * clamped(1.25f * down / s.length + 0.15f);
    return least(most(s.half + 0.5f - size_of(aside), 0.0f), s.most_share) * fade;
}

// A flake, a soft disc.
SHARED float flake_radius(float near, float unit) { return most(unit * 0.0095f * near, 0.45f) + 0.5f; }
SHARED float flake_share(float inverse, float dx, float dy) { return clamped((1.0f - (dx * dx + dy * dy) * inverse) * 2.0f) * 0.88f; }

// A ring where a drop hits the ground, flat as the ground is seen.
struct Splash {
    float x, y, size, flat, thick;
};
SHARED int splashes(const float* light) { return (int)(60.0f * light[AMOUNT]); }
// Number `i` of them; false for one that is not on open ground. `near(x, y)` is the nearness of a pixel.
template <class Near> SHARED bool splash_of(const float* view, u32 seed, u32 i, int width, int height, Near near, Splash& splash)
{
    u32 h = hashed(seed * 0x85EBCA6Bu + i + 991u), h2 = hashed(h);
    float x = low_half(h) * (float)width, away = 8.0f + 9.0f * (float)(h >> 16) / 65536.0f;
    float y = view[14] + view[12] * (view[2] / away + view[11]) / most(view[8], 0.05f);
    if (!(y >= 1.0f && y < (float)(height - 1))) return false;
    float depth = ground_line(view, 2 * (int)y + 1).depth;
    if (depth <= 0 || fabs((double)near((int)x, (int)y) * (double)depth - METRE) > METRE * 0.012) return false; // something stands there
    float size = view[12] / depth * (0.06f + 0.10f * (float)(h2 & 0xFF) / 255.0f);
    splash = {x, y, size, most(size * 0.36f, 0.5f), most(size * 0.22f, 0.4f)};
    return true;
}
// `squeeze` is how much wider than high it is.
SHARED float splash_share(float size, float thick, float squeeze, float dx, float dy)
{
    dy = dy * squeeze;
    return most(1.0f - size_of(sqrtf(dx * dx + dy * dy) - size) / thick, 0.0f) * 0.42f;
}
