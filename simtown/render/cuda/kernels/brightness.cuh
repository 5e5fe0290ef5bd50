// Light and dark on the ground, and reflections in it, for a pair of samples in a row of the picture: as ground.py has them.
#pragma once
#include "colour.cuh"

constexpr float SPREAD = 0.34f;      // how far the dark under a thing reaches beyond it, metres
constexpr float APEX = 0.22f, OPENING = 0.24f; // half width of a head lamp's cone: at the lamp, and how much it grows a metre

// The shapes that may touch the samples of a block: numbers in the lists of the scene.
constexpr int MOST_LISTED = 256;
struct Listed {
    s32 shadows, contacts, pools;
    u8 shadow[MOST_LISTED], contact[MOST_LISTED];
    u16 pool[2 * MOST_LISTED];
};

__device__ __forceinline__ bool touches(Shape s, int left, int right, int top, int bottom)
{
    return s.left < right && s.right > left && s.top < bottom && s.bottom > top;
}

// In order, the numbers of those of `count` shapes that touch a rectangle of samples; how many. A warp does it together.
template <class Number>
__device__ __forceinline__ int list(const Shape* shapes, int count, Number* into, int most, int left, int right, int top, int bottom, int lane)
{
    int listed = 0;
    for (int base = 0; base < count; base += 32) {
        int k = base + lane;
        bool here = k < count && touches(shapes[k], left, right, top, bottom);
        u32 mask = __ballot_sync(0xffffffffu, here);
        int place = listed + __popc(mask & ((1u << lane) - 1));
        if (here && place < most) into[place] = k;
        listed += __popc(mask);
    }
    return min(listed, most);
}

__device__ __forceinline__ float smooth(float t) { return t * t * (3.0f - 2.0f * t); }

// How bright shadows and contacts leave the pair of samples `x` of row y, whose ground is `row`: 0 to 256.
__device__ __forceinline__ u32 darkness(const Job& job, int n, const Listed& listed, const float* light, int y, int x, const Row& row)
{
    float shade = 0.0f, keep = 1.0f, at = (float)x;
    long first = (long)n * job.slots;
    for (int i = 0; i < listed.shadows; i++) {
        Shape shape = job.shadow_shapes[first + listed.shadow[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        const float4* edges = (const float4*)job.shadow_edges + (first + shape.number) * MOST_EDGES;
        float part = 1.0f;
        for (int e = 0; e < shape.edges && part > 0; e++) {
            float4 edge = edges[e];
            float base = edge.x * row.x + edge.y * row.y + edge.z, slope = edge.x * row.dx + edge.y * row.dy;
            part *= smooth(__saturatef(base + slope * at));
        }
        shade = fmaxf(shade, part);
    }
    float strength = light[CONTACT] * row.air;
    for (int i = 0; i < listed.contacts; i++) {
        Shape shape = job.contact_shapes[first + listed.contact[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        Contact c = job.contacts[first + listed.contact[i]];
        float ax = row.x - c.x, ay = row.y - c.y, most = strength * c.strength;
        float u0 = c.c * ax + c.s * ay, du = c.c * row.dx + c.s * row.dy, v0 = c.c * ay - c.s * ax, dv = c.c * row.dy - c.s * row.dx;
        float u = __saturatef((c.half_u + SPREAD - fabsf(u0 + du * at)) * (0.5f / SPREAD));
        float v = __saturatef((c.half_v + SPREAD - fabsf(v0 + dv * at)) * (0.5f / SPREAD));
        keep *= 1.0f - most * smooth(u) * smooth(v);
    }
    return (u32)(s32)(keep * (1.0f - light[SHADOW] * row.air * shade) * 256.0f + 0.5f);
}

// Light of a head lamp on the ground, u metres ahead of it and v beside its axis.
__device__ __forceinline__ float cone_light(float u, float v)
{
    float ahead = fmaxf(u, 0.0f), q = v / (APEX + OPENING * ahead);
    float beam = fmaxf(1.0f - q * q, 0.0f), left = fmaxf(1.0f - ahead * (float)(1.0 / 6.5), 0.0f);
    return beam * beam * left * left * smooth(__saturatef(u * 1.6f + 0.25f));
}

struct Glow { u32 r, g, b; };

// The light of lamps on the pair of samples `x` of row y.
__device__ __forceinline__ Glow poured(const Job& job, int n, const Listed& listed, int y, int x, const Row& row)
{
    Glow glow = {};
    float at = (float)x, level = row.air * 256.0f;
    long first = (long)n * 2 * job.lamps;
    for (int i = 0; i < listed.pools; i++) {
        Shape shape = job.pool_shapes[first + listed.pool[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        Pool p = job.pools[first + listed.pool[i]];
        float ax = row.x - p.x, ay = row.y - p.y;
        float u0 = p.c * ax + p.s * ay, du = p.c * row.dx + p.s * row.dy, v0 = p.c * ay - p.s * ax, dv = p.c * row.dy - p.s * row.dx;
        float u = u0 + du * at, v = v0 + dv * at, part;
        if (shape.edges) part = cone_light(u, v);
        else {
            u *= 1.0f / p.along, v *= 1.0f / p.across;
            part = fmaxf(1.0f - u * u - v * v, 0.0f);
            part *= part;
        }
        u32 share = (u32)(s32)(part * level);
        glow.r += ((p.rg & 0xffff) * share) >> 8, glow.g += ((p.rg >> 16) * share) >> 8, glow.b += (p.b * share) >> 8;
    }
    return glow;
}

// A colour under light of lamps.
__device__ __forceinline__ Levels lighten(Levels c, Glow glow)
{
    u32 gain = min(256 + ((glow.g & 0x1fff) >> 3), 512u);
    u32 r = min(((c.rg & 0xffff) * gain >> 8) + glow.r, 4080u), g = min(((c.rg >> 16) * gain >> 8) + glow.g, 4080u);
    return {r | g << 16, min((c.b * gain >> 8) + glow.b, 4080u)};
}
