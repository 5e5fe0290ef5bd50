// Light and dark on the ground for pairs of samples in a row of the picture.
//
// Two ways to the same numbers: a lane alone asks for any pair, or a warp asks together for 32 pairs beside each other. The second leaves
// out what touches none of the 32.
#pragma once
#include "colour.cuh"
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

__device__ __forceinline__ Linear edge_along(float4 edge, const Row& row)
{
    return {edge.x * row.x + edge.y * row.y + edge.z, edge.x * row.dx + edge.y * row.dy};
}

__device__ __forceinline__ Frame frame_in(const Row& row, float x, float y, float c, float s) { return frame_of(row.x, row.y, row.dx, row.dy, x, y, c, s); }

__device__ __forceinline__ u32 level_left(float shadow, const Row& row, float keep, float shade)
{
    return (u32)(s32)(keep * (1.0f - shadow * row.air * shade) * 256.0f + 0.5f);
}

struct Glow { u32 r, g, b; };

__device__ __forceinline__ void add_light(Glow& glow, float u, float v, bool cone, float along, float across, u32 rg, u32 b, float level)
{
    float part = cone ? cone_light(u, v) : pool_light(u, v, 1.0f / along, 1.0f / across);
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
        for (int e = 0; e < shape.edges && part > 0; e++) part *= smooth(__saturatef(value_at(edge_along(edges[e], row), at)));
        shade = fmaxf(shade, part);
    }
    for (int i = 0; i < lists.listed.contacts; i++) {
        Shape shape = lists.contact_shapes[lists.listed.contact[i]];
        if (!touches(shape, 2 * x, 2 * x + 2, y, y + 1)) continue;
        Contact c = lists.contacts[lists.listed.contact[i]];
        Frame f = frame_in(row, c.x, c.y, c.c, c.s);
        keep *= kept(value_at(f.u, at), value_at(f.v, at), c.half_u, c.half_v, lists.contact * row.air * c.strength);
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
        Frame f = frame_in(row, p.x, p.y, p.c, p.s);
        add_light(glow, value_at(f.u, (float)x), value_at(f.v, (float)x), shape.edges, p.along, p.across, p.rg, p.b, row.air * 256.0f);
    }
    return glow;
}

__device__ __forceinline__ float from(float x, int lane) { return __shfl_sync(ALL, x, lane); }
__device__ __forceinline__ Linear from(Linear l, int lane) { return {from(l.base, lane), from(l.slope, lane)}; }

// Whether a value stays beyond -limit or beyond limit from `low` to `high`.
__device__ __forceinline__ bool beyond(Linear l, float low, float high, float limit)
{
    float a = value_at(l, low), b = value_at(l, high);
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
            float a = value_at(edge, low), b = value_at(edge, high), part = 1.0f;
            if (__any_sync(ALL, fmaxf(a, b) <= 0)) continue;
            for (u32 left = __ballot_sync(ALL, fminf(a, b) < 1); left; left &= left - 1)
                part *= smooth(__saturatef(value_at(from(edge, __ffs(left) - 1), at)));
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
                f = frame_in(row, c.x, c.y, c.c, c.s);
                here = !beyond(f.u, low, high, c.half_u + SPREAD) && !beyond(f.v, low, high, c.half_v + SPREAD);
                c.strength = lists.contact * row.air * c.strength;
            }
        }
        for (u32 left = __ballot_sync(ALL, here); left; left &= left - 1) {
            int k = __ffs(left) - 1;
            keep *= kept(value_at(from(f.u, k), at), value_at(from(f.v, k), at), from(c.half_u, k), from(c.half_v, k), from(c.strength, k));
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
                f = frame_in(row, p.x, p.y, p.c, p.s);
                here = !beyond(f.u, low, high, p.along) && !beyond(f.v, low, high, p.across);
            }
        }
        for (u32 left = __ballot_sync(ALL, here); left; left &= left - 1) {
            int k = __ffs(left) - 1;
            add_light(glow, value_at(from(f.u, k), at), value_at(from(f.v, k), at), __shfl_sync(ALL, cone, k), from(p.along, k), from(p.across, k),
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
