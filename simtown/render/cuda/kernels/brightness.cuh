// Light and dark on the ground for pairs of samples in a row of the picture: as ground.hpp has them.
//
// Two ways to the same numbers: a lane alone asks for any pair, or a warp asks together for 32 pairs beside each other. The second leaves
// out what touches none of the 32.
#pragma once
#include "colour.cuh"
#include "ground.cuh"
#include "order.cuh"

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
        u32 mask = __ballot_sync(ALL, here);
        int place = listed + __popc(mask & ((1u << lane) - 1));
        if (here && place < most) into[place] = k;
        listed += __popc(mask);
    }
    return min(listed, most);
}

// What lies on the ground of a scene, and which of it is listed for a block.
struct Lists {
    const Shape *shadow_shapes, *contact_shapes, *pool_shapes;
    const float4* edges;
    const Contact* contacts;
    const Pool* pools;
    const Listed& listed;
    float shadow, contact;       // how dark they are

    __device__ __forceinline__ Lists(const Job& job, int n, const Listed& own, const float* light)
        : shadow_shapes(job.shadow_shapes + n * job.slots), contact_shapes(job.contact_shapes + n * job.slots),
          pool_shapes(job.pool_shapes + 2 * n * job.lamps), edges((const float4*)job.shadow_edges + n * job.slots * MOST_EDGES),
          contacts(job.contacts + n * job.slots), pools(job.pools + 2 * n * job.lamps), listed(own), shadow(light[SHADOW]), contact(light[CONTACT]) {}
};

// A value that is linear along a row of ground: at pair x it is base + slope * x.
struct Linear {
    float base, slope;
    __device__ __forceinline__ float at(float x) const { return base + slope * x; }
};

__device__ __forceinline__ float smooth(float t) { return t * t * (3.0f - 2.0f * t); }

__device__ __forceinline__ Linear edge_along(float4 edge, const Row& row)
{
    return {edge.x * row.x + edge.y * row.y + edge.z, edge.x * row.dx + edge.y * row.dy};
}

// A row in the frame of a shape at (x, y) that is turned by (c, s): ahead of it and beside it.
struct Frame { Linear u, v; };
__device__ __forceinline__ Frame frame_of(float x, float y, float c, float s, const Row& row)
{
    float ax = row.x - x, ay = row.y - y;
    return {{c * ax + s * ay, c * row.dx + s * row.dy}, {c * ay - s * ax, c * row.dy - s * row.dx}};
}

// What a contact leaves of the light at (u, v); `most` is its strength.
__device__ __forceinline__ float kept(float u, float v, float half_u, float half_v, float most)
{
    float across = smooth(__saturatef((half_v + SPREAD - fabsf(v)) * (0.5f / SPREAD)));
    return 1.0f - most * smooth(__saturatef((half_u + SPREAD - fabsf(u)) * (0.5f / SPREAD))) * across;
}

__device__ __forceinline__ u32 level_left(float shadow, const Row& row, float keep, float shade)
{
    return (u32)(s32)(keep * (1.0f - shadow * row.air * shade) * 256.0f + 0.5f);
}

// Light of a head lamp on the ground, u metres ahead of it and v beside its axis.
__device__ __forceinline__ float cone_light(float u, float v)
{
    float ahead = fmaxf(u, 0.0f), q = v / (APEX + OPENING * ahead);
    float beam = fmaxf(1.0f - q * q, 0.0f), left = fmaxf(1.0f - ahead * (float)(1.0 / 6.5), 0.0f);
    return beam * beam * left * left * smooth(__saturatef(u * 1.6f + 0.25f));
}

struct Glow { u32 r, g, b; };

__device__ __forceinline__ void add_light(Glow& glow, float u, float v, bool cone, float along, float across, u32 rg, u32 b, float level)
{
    float part;
    if (cone) part = cone_light(u, v);
    else {
        u *= 1.0f / along, v *= 1.0f / across;
        part = fmaxf(1.0f - u * u - v * v, 0.0f);
        part *= part;
    }
    u32 share = (u32)(s32)(part * level);
    glow.r += ((rg & 0xffff) * share) >> 8, glow.g += ((rg >> 16) * share) >> 8, glow.b += (b * share) >> 8;
}

// How bright shadows and contacts leave the pair of samples `x` of row y, whose ground is `row`: 0 to 256.
__device__ __forceinline__ u32 darkness(const Lists& lists, int y, int x, const Row& row)
{
    float shade = 0.0f, keep = 1.0f, at = (float)x;
    for (int i = 0; i < lists.listed.shadows; i++) {
        Shape shape = lists.shadow_shapes[lists.listed.shadow[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        const float4* edges = lists.edges + shape.number * MOST_EDGES;
        float part = 1.0f;
        for (int e = 0; e < shape.edges && part > 0; e++) part *= smooth(__saturatef(edge_along(edges[e], row).at(at)));
        shade = fmaxf(shade, part);
    }
    for (int i = 0; i < lists.listed.contacts; i++) {
        Shape shape = lists.contact_shapes[lists.listed.contact[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        Contact c = lists.contacts[lists.listed.contact[i]];
        Frame f = frame_of(c.x, c.y, c.c, c.s, row);
        keep *= kept(f.u.at(at), f.v.at(at), c.half_u, c.half_v, lists.contact * row.air * c.strength);
    }
    return level_left(lists.shadow, row, keep, shade);
}

// The light of lamps on the pair of samples `x` of row y.
__device__ __forceinline__ Glow poured(const Lists& lists, int y, int x, const Row& row)
{
    Glow glow = {};
    for (int i = 0; i < lists.listed.pools; i++) {
        Shape shape = lists.pool_shapes[lists.listed.pool[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        Pool p = lists.pools[lists.listed.pool[i]];
        Frame f = frame_of(p.x, p.y, p.c, p.s, row);
        add_light(glow, f.u.at((float)x), f.v.at((float)x), shape.edges, p.along, p.across, p.rg, p.b, row.air * 256.0f);
    }
    return glow;
}

__device__ __forceinline__ float from(float x, int lane) { return __shfl_sync(ALL, x, lane); }
__device__ __forceinline__ Linear from(Linear l, int lane) { return {from(l.base, lane), from(l.slope, lane)}; }

// Whether a value stays beyond -limit or beyond limit from `low` to `high`.
__device__ __forceinline__ bool beyond(Linear l, float low, float high, float limit)
{
    float a = l.at(low), b = l.at(high);
    return fminf(a, b) > limit || fmaxf(a, b) < -limit;
}

// As darkness, for pair `start` + lane of every lane.
__device__ __forceinline__ u32 darkness_along(const Lists& lists, int y, int start, int lane, const Row& row)
{
    float shade = 0.0f, keep = 1.0f, at = (float)(start + lane), low = (float)start, high = (float)(start + 31);
    for (int base = 0; base < lists.listed.shadows; base += 32) {
        Shape shape = {};
        if (base + lane < lists.listed.shadows) shape = lists.shadow_shapes[lists.listed.shadow[base + lane]];
        for (u32 here = __ballot_sync(ALL, y >= shape.top && y < shape.bottom); here; here &= here - 1) {
            int k = __ffs(here) - 1, number = __shfl_sync(ALL, shape.number, k), edges = __shfl_sync(ALL, shape.edges, k);
            Linear edge = {1.0f, 0.0f}; // a lane an edge
            if (lane < edges) edge = edge_along(__ldg(lists.edges + number * MOST_EDGES + lane), row);
            float a = edge.at(low), b = edge.at(high), part = 1.0f;
            if (__any_sync(ALL, fmaxf(a, b) <= 0)) continue;
            for (u32 left = __ballot_sync(ALL, fminf(a, b) < 1); left; left &= left - 1)
                part *= smooth(__saturatef(from(edge, __ffs(left) - 1).at(at)));
            shade = fmaxf(shade, part);
        }
    }
    for (int base = 0; base < lists.listed.contacts; base += 32) { // a lane a contact
        bool here = false;
        Contact c = {};
        Frame f = {};
        if (base + lane < lists.listed.contacts) {
            int k = lists.listed.contact[base + lane];
            Shape shape = lists.contact_shapes[k];
            if (y >= shape.top && y < shape.bottom) {
                c = lists.contacts[k];
                f = frame_of(c.x, c.y, c.c, c.s, row);
                here = !beyond(f.u, low, high, c.half_u + SPREAD) && !beyond(f.v, low, high, c.half_v + SPREAD);
                c.strength = lists.contact * row.air * c.strength;
            }
        }
        for (u32 left = __ballot_sync(ALL, here); left; left &= left - 1) {
            int k = __ffs(left) - 1;
            keep *= kept(from(f.u, k).at(at), from(f.v, k).at(at), from(c.half_u, k), from(c.half_v, k), from(c.strength, k));
        }
    }
    return level_left(lists.shadow, row, keep, shade);
}

// As poured, for pair `start` + lane of every lane.
__device__ __forceinline__ Glow poured_along(const Lists& lists, int y, int start, int lane, const Row& row)
{
    float at = (float)(start + lane), low = (float)start, high = (float)(start + 31);
    Glow glow = {};
    for (int base = 0; base < lists.listed.pools; base += 32) { // a lane a pool
        bool here = false, cone = false;
        Pool p = {};
        Frame f = {};
        if (base + lane < lists.listed.pools) {
            int k = lists.listed.pool[base + lane];
            Shape shape = lists.pool_shapes[k];
            if (y >= shape.top && y < shape.bottom) {
                p = lists.pools[k], cone = shape.edges;
                f = frame_of(p.x, p.y, p.c, p.s, row);
                here = !beyond(f.u, low, high, p.along) && !beyond(f.v, low, high, p.across);
            }
        }
        for (u32 left = __ballot_sync(ALL, here); left; left &= left - 1) {
            int k = __ffs(left) - 1;
            add_light(glow, from(f.u, k).at(at), from(f.v, k).at(at), __shfl_sync(ALL, cone, k), from(p.along, k), from(p.across, k),
                      __shfl_sync(ALL, p.rg, k), __shfl_sync(ALL, p.b, k), row.air * 256.0f);
        }
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
