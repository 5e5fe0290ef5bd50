// The colour of a face before fog, as shading.hpp has it.
#pragma once
#include "colour.cuh"

struct Face {
    const float* light;  // the scene's row
    int sun;             // column where the light on it begins: SUN, or VEHICLE_SUN
    int kind;            // of its material
    float r, g, b;       // its material's colour
    u32 style, part;
    float nz;            // upward part of its normal
    float sunny;         // cosine towards the sun, at least 0
    float glance;        // upward part of what a mirror would send to the eye (glass and windows)
};

__device__ __forceinline__ float3 matte(const Face& f)
{
    const float* s = f.light + f.sun;
    float up = 0.5f + 0.5f * f.nz;
    return {f.r * s[6] + f.r * (s[3] - s[6]) * up + f.r * s[0] * f.sunny,
            f.g * s[7] + f.g * (s[4] - s[7]) * up + f.g * s[1] * f.sunny,
            f.b * s[8] + f.b * (s[5] - s[8]) * up + f.b * s[2] * f.sunny};
}

__device__ __forceinline__ float3 shade(const Face& f, const float* __restrict__ tints)
{
    const float *light = f.light, *s = light + f.sun;
    int kind = f.kind;
    float r = f.r, g = f.g, b = f.b;
    if (kind == CLOUD_KIND) {
        float bright = 0.86f + 0.14f * f.nz, glow = 0.75f * light[CLOUD_LIGHT];
        return {(light[HORIZON] * 0.25f + glow) * bright, (light[HORIZON + 1] * 0.25f + glow) * bright, (light[HORIZON + 2] * 0.25f + glow) * bright};
    }
    if (kind == TINT_WALL || kind == TINT_ROOF || kind == TINT_CLOTH) {
        u32 t = kind == TINT_ROOF ? TINTS + f.style / TINTS % TINTS : f.style % TINTS + (kind == TINT_CLOTH ? 2 * TINTS : 0);
        r = tints[4 * t], g = tints[4 * t + 1], b = tints[4 * t + 2];
    } else if (kind == LEAF) {
        float warm = (float)(f.style % 7) * 0.022f;
        r = r + warm, g = g + 0.3f * warm, b = b - warm;
    }
    float up = 0.5f + 0.5f * f.nz, down = 1.0f - up;
    float shine_r = s[0] * f.sunny + s[3] * up + s[6] * down;
    float shine_g = s[1] * f.sunny + s[4] * up + s[7] * down;
    float shine_b = s[2] * f.sunny + s[5] * up + s[8] * down;
    float snow = light[SNOW], wet = light[WET];
    if (snow > 0 && kind != GLASS) {
        float cover = __saturatef((f.nz - 0.18f) * 2.4f) * snow;
        if (f.sun == VEHICLE_SUN) cover *= 0.8f;
        if (kind == ROAD) cover *= 0.70f;
        r = r + (0.95f - r) * cover, g = g + (0.97f - g) * cover, b = b + (1.0f - b) * cover;
    }
    if (kind == ROAD || kind == GROUND) {
        float dark = 1.0f - wet * (kind == ROAD ? 0.46f : 0.30f), mirror = wet * (kind == ROAD ? 0.13f : 0.05f);
        return {r * dark * shine_r + mirror * light[HORIZON], g * dark * shine_g + mirror * light[HORIZON + 1],
                b * dark * shine_b + mirror * light[HORIZON + 2]};
    }
    float own_r = r, own_g = g, own_b = b;
    r = r * shine_r, g = g * shine_g, b = b * shine_b;
    if (kind == GLASS || kind == WINDOW) {
        float high = __saturatef(f.glance * 1.5f), low = 1.0f - fminf(fmaxf(f.glance * -2.2f, 0.0f), 0.72f), mirror = 0.44f;
        r = r * 0.60f + (light[HORIZON] + (light[TOP] - light[HORIZON]) * high) * low * mirror;
        g = g * 0.60f + (light[HORIZON + 1] + (light[TOP + 1] - light[HORIZON + 1]) * high) * low * mirror;
        b = b * 0.60f + (light[HORIZON + 2] + (light[TOP + 2] - light[HORIZON + 2]) * high) * low * mirror;
        float power = light[LAMPS];
        if (kind == WINDOW && power > 0) {
            u32 chance = hashed(f.style * 131 + f.part);
            if (chance % 100 < 58) {
                float lit = power * (0.72f + 0.28f * (float)(chance >> 24) * (float)(1.0 / 255.0));
                r += (1.0f - r) * 0.97f * lit, g += (0.83f - g) * 0.94f * lit, b += (0.47f - b) * 0.88f * lit;
            }
        }
    } else if (kind == HEADLAMP || kind == TAILLAMP || kind == GLOW) {
        float lit = 0.35f + 0.65f * light[LAMPS];
        r = r + (own_r - r) * lit, g = g + (own_g - g) * lit, b = b + (own_b - b) * lit;
    }
    return {r, g, b};
}
