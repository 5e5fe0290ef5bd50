// The colour of a face: its material under the scene's light, before and behind the air.
#pragma once
#include "names.hpp"

struct Rgb {
    float r, g, b;
};

// The finaliser of MurmurHash3.
SHARED u32 hashed(u32 h)
{
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

// A level of colour, 255 * 16 for full.
SHARED u32 level_of(float x) { return (u32)(s32)(clamped(x) * 4080.0f + 0.5f); }

// Share of light that crosses `depth` metres of air, by a rational close to exp(-x). Haze takes the same share of every
// metre; fog grows with the fourth power, so that buildings vanish in a fog in which vehicles are still seen.
template <class D> SHARED D clear_air(D density, float thick, D depth)
{
    D wall = thick * depth;
    wall = wall * wall;
    D x = density * depth + wall * wall;
    return 1.0f / (1.0f + x * (1.0f + x * (0.5f + x * (float)(1.0 / 6.0))));
}

struct Face {
    const float* light; // the scene's row
    int sun;            // column where the light on it begins: SUN, or VEHICLE_SUN
    int kind;           // of its material
    Rgb colour;         // of its material
    u32 style, part;    // of its thing; its window's number
    float nz;           // upward part of its normal
    float sunny;        // cosine towards the sun, at least 0
    float glance;       // upward part of the ray that a mirror would send from it to the eye (glass and windows only)
};

// The colour of a matte face where no snow lies, in light that begins at column `l`.
SHARED Rgb matte(const float* l, Rgb c, float nz, float sunny)
{
    float up = 0.5f + 0.5f * nz;
    return {c.r * l[6] + c.r * (l[3] - l[6]) * up + c.r * l[0] * sunny, c.g * l[7] + c.g * (l[4] - l[7]) * up + c.g * l[1] * sunny,
            c.b * l[8] + c.b * (l[5] - l[8]) * up + c.b * l[2] * sunny};
}

// The row of the tints, (3 * TINTS), that a face takes instead of its material's colour, or -1.
SHARED int tint_of(int kind, u32 style)
{
    if (kind == TINT_WALL) return style % TINTS;
    if (kind == TINT_ROOF) return TINTS + style / TINTS % TINTS;
    return kind == TINT_CLOTH ? 2 * TINTS + style % TINTS : -1;
}

// The upward part of the ray from the eye to a face's middle q, mirrored in the face.
SHARED float glance_of(float qx, float qy, float qz, float nx, float ny, float nz)
{
    float away = qx * nx + qy * ny + qz * nz;
    return (qz - 2.0f * away * nz) / sqrtf(qx * qx + qy * qy + qz * qz);
}

// The colour of a face before the air.
SHARED Rgb shade(const Face& f)
{
    const float *light = f.light, *l = light + f.sun, *far = light + HORIZON, *sky = light + TOP;
    int kind = f.kind;
    float r = f.colour.r, g = f.colour.g, b = f.colour.b;
    if (kind == CLOUD) {
        float bright = 0.86f + 0.14f * f.nz, glow = 0.75f * light[CLOUD_LIGHT];
        return {(far[0] * 0.25f + glow) * bright, (far[1] * 0.25f + glow) * bright, (far[2] * 0.25f + glow) * bright};
    }
    if (kind == LEAF) {
        float warm = (float)(f.style % 7) * 0.022f;
        r = r + warm, g = g + 0.3f * warm, b = b - warm;
    }
    float up = 0.5f + 0.5f * f.nz, down = 1.0f - up;
    Rgb shine = {l[0] * f.sunny + l[3] * up + l[6] * down, l[1] * f.sunny + l[4] * up + l[7] * down, l[2] * f.sunny + l[5] * up + l[8] * down};
    float snow = light[SNOW], wet = light[WET], power = light[LAMPS_ON];
    if (snow > 0 && kind != GLASS) {
        float cover = clamped((f.nz - 0.18f) * 2.4f) * snow;
        if (f.sun == VEHICLE_SUN) cover *= 0.8f; // so that a white top still tells its paint
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
        float high = clamped(f.glance * 1.5f);                         // how far up the sky it shows
        float low = 1.0f - least(most(f.glance * -2.2f, 0.0f), 0.72f); // less, the more of the street
        const float mirror = 0.44f;
        r = r * 0.60f + (far[0] + (sky[0] - far[0]) * high) * low * mirror;
        g = g * 0.60f + (far[1] + (sky[1] - far[1]) * high) * low * mirror;
        b = b * 0.60f + (far[2] + (sky[2] - far[2]) * high) * low * mirror;
        if (kind == WINDOW && power > 0) {
            u32 chance = hashed(f.style * 131 + f.part);
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
