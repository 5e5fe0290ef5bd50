// The colour of a face: its material under the scene's light, before and behind the air.
#pragma once
#include "town.hpp"
#include "vectors.hpp"

struct Rgb {
    float r, g, b;
};

// The finaliser of MurmurHash3.
INLINE uint32_t hashed(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

// Share of light that crosses `depth` metres of air, by a rational close to exp(-x). Haze takes the same share of every
// metre; fog grows with the fourth power, so that buildings vanish in a fog in which vehicles are still seen.
template <class D> INLINE D clear_air(D density, float thick, D depth)
{
    D wall = thick * depth;
    wall = wall * wall;
    D x = density * depth + wall * wall;
    return 1.0f / (1.0f + x * (1.0f + x * (0.5f + x * (float)(1.0 / 6.0))));
}

// The colour of a face before fog. `sun` is the column at which the light on it begins; `part` its window's number, `nz` the
// upward part of its normal, `facing` the cosine towards the sun, `glance` the upward part of the ray that a mirror would
// send from it to the eye (glass and windows only).
static Rgb shade(const Town& town, const float* light, int sun, int material, uint32_t style, uint32_t part, float nz, float facing, float glance)
{
    float up = 0.5f + 0.5f * nz, down = 1.0f - up;
    const float *l = light + sun, *far = light + HORIZON, *sky = light + TOP, *colour = town.palette[material];
    Rgb shine = {l[0] * facing + l[3] * up + l[6] * down, l[1] * facing + l[4] * up + l[7] * down, l[2] * facing + l[5] * up + l[8] * down};
    float snow = light[SNOW], wet = light[WET], power = light[LAMPS_ON];
    int kind = town.kinds[material];
    if (kind == TINT_WALL) colour = town.tints[0][style % TINTS];
    else if (kind == TINT_ROOF) colour = town.tints[1][style / TINTS % TINTS];
    else if (kind == TINT_CLOTH) colour = town.tints[2][style % TINTS];
    float r = colour[0], g = colour[1], b = colour[2];
    if (kind == LEAF) {
        float warm = (float)(style % 7) * 0.022f;
        r = r + warm, g = g + 0.3f * warm, b = b - warm;
    } else if (kind == CLOUD) {
        float bright = 0.86f + 0.14f * nz, glow = 0.75f * light[CLOUD_LIGHT];
        return {(far[0] * 0.25f + glow) * bright, (far[1] * 0.25f + glow) * bright, (far[2] * 0.25f + glow) * bright};
    }
    if (snow > 0 && kind != GLASS) {
        float cover = least(most((nz - 0.18f) * 2.4f, 0.0f), 1.0f) * snow;
        if (sun == VEHICLE_SUN) cover *= 0.8f; // so that a white top still tells its paint
        if (kind == ROAD) cover *= 0.70f;
        r = r + (0.95f - r) * cover, g = g + (0.97f - g) * cover, b = b + (1.0f - b) * cover;
    }
    if (kind == ROAD || kind == GROUND) {
        float dark = 1.0f - wet * (kind == ROAD ? 0.46f : 0.30f), mirror = wet * (kind == ROAD ? 0.13f : 0.05f);
        return {r * dark * shine.r + mirror * far[0], g * dark * shine.g + mirror * far[1], b * dark * shine.b + mirror * far[2]};
    }
    Rgb own = {r, g, b};
    r = r * shine.r, g = g * shine.g, b = b * shine.b;
    if (kind == GLASS || kind == WINDOW) {
        float high = least(most(glance * 1.5f, 0.0f), 1.0f);         // how far up the sky it shows
        float low = 1.0f - least(most(glance * -2.2f, 0.0f), 0.72f); // less, the more of the street
        const float mirror = 0.44f;
        r = r * 0.60f + (far[0] + (sky[0] - far[0]) * high) * low * mirror;
        g = g * 0.60f + (far[1] + (sky[1] - far[1]) * high) * low * mirror;
        b = b * 0.60f + (far[2] + (sky[2] - far[2]) * high) * low * mirror;
        if (kind == WINDOW && power > 0) {
            uint32_t chance = hashed(style * 131 + part);
            if (chance % 100 < 58) {
                float lit = power * (0.72f + 0.28f * (float)(chance >> 24) * (float)(1.0 / 255.0));
                r += (1.0f - r) * 0.97f * lit, g += (0.83f - g) * 0.94f * lit, b += (0.47f - b) * 0.88f * lit;
            }
        }
    } else if (kind == HEADLAMP || kind == TAILLAMP || kind == GLOW) {
        float lit = 0.35f + 0.65f * power;
        r = r + (own.r - r) * lit, g = g + (own.g - g) * lit, b = b + (own.b - b) * lit;
    }
    return {r, g, b};
}
