// The light of lamps on the ground (ground.hpp), and their halos (effects.hpp).
#pragma once
#include "scene.cuh"

constexpr float CONE = 6.5f, BRIGHT = 0.3f, POOL = 3.3f, LANTERN = 3.4f, BEACON = 2.2f;
constexpr float STREAK_LENGTH = 1.5f, STREAK_WIDTH = 0.16f;

// One pool of light on the ground (ground.add_pool); false for one that lies out of view.
__device__ __forceinline__ bool pool_at(const Scene& scene, float x, float y, float c, float s, float along, float across, float3 light,
                                        Shape& shape, Pool& pool)
{
    const float* view = scene.view;
    if (out_of_view(view, scene.wide, x, y, along + across)) return false;
    float depth = depth_of(view, x, y), reach = depth_reach(view, c, s, along, across);
    if (!ground_rows(view, scene.high, depth - reach, depth + reach, shape)) return false;
    u32 r = (u32)(fminf(light.x, 2.0f) * 1150.0f), g = (u32)(fminf(light.y, 2.0f) * 1150.0f), b = (u32)(fminf(light.z, 2.0f) * 1150.0f);
    pool = {x, y, c, s, along, across, r | g << 16, b};
    return true;
}

// A lamp, in the frame of its thing: its middle, its material's kind and colour.
struct Lamp {
    float x, y, z;
    int kind;
    float4 colour;
};

// What a lamp throws on the ground: a cone before a head lamp, a pool under a lantern or a beacon; or, if `mirrored`, its reflection where a
// mirror on the ground would show it, drawn out towards the eye (ground.collect_pools).
__device__ __forceinline__ bool light_of(const Scene& scene, const Place& p, const Lamp& lamp, bool mirrored, Shape& shape, Pool& pool)
{
    const float* view = scene.view;
    float power = (scene.light[LAMPS] - BRIGHT) / (1.0f - BRIGHT), wet = scene.light[WET];
    if (!(power > 0)) return false;
    float x = p.x + p.scale * (p.c * lamp.x - p.s * lamp.y), y = p.y + p.scale * (p.s * lamp.x + p.c * lamp.y);
    float high = p.z + p.scale * lamp.z, red = lamp.colour.x, green = lamp.colour.y, blue = lamp.colour.z;
    float c = p.c, s = p.s, along, across, f;
    if (mirrored) {
        float dx = view[0] - x, dy = view[1] - y, distance = sqrtf(dx * dx + dy * dy), share = high / (high + view[2]);
        if (!(wet > 0.1f && high > 0.1f && distance > 1.0f && view[2] > 0)) return false;
        x = x + share * dx, y = y + share * dy, c = dx / distance, s = dy / distance;
        along = STREAK_LENGTH, across = STREAK_WIDTH, f = 1.5f * wet * power;
    } else if (lamp.kind == HEADLAMP) {
        shape.edges = 1;
        along = CONE, across = APEX + OPENING * CONE, f = 0.85f * power;
        red = 1.0f, green = 0.93f, blue = 0.74f;
    } else if (lamp.kind == GLOW && high > LANTERN) {
        along = across = POOL, f = power;
        red = 1.0f, green = 0.80f, blue = 0.46f;
    } else if (lamp.kind == GLOW && !(red > 0.9f && green > 0.8f)) {
        along = across = BEACON, f = 0.5f * power;
    } else return false;
    return pool_at(scene, x, y, c, s, along, across, {f * red, f * green, f * blue}, shape, pool);
}

// The halo of a lamp (effects.halo); false where its middle is not on the picture.
__device__ __forceinline__ bool halo_of(const Scene& scene, const Place& p, const Lamp& lamp, Halo& halo)
{
    const float *view = scene.view, *m = p.matrix;
    float far = m[8] * lamp.x + m[9] * lamp.y + m[10] * lamp.z + m[11];
    if (far < NEAR) return false;
    float x = view[13] + view[12] * (m[0] * lamp.x + m[1] * lamp.y + m[2] * lamp.z + m[3]) / far;
    float y = view[14] - view[12] * (m[4] * lamp.x + m[5] * lamp.y + m[6] * lamp.z + m[7]) / far;
    float size = lamp.kind == TAILLAMP ? 0.36f : lamp.kind == GLOW ? 0.85f : 0.55f;
    halo = {x, y, size * view[12] / far, far, lamp.colour.x, lamp.colour.y, lamp.colour.z, 0.0f};
    return halo.radius > 0 && x >= 0 && y >= 0 && x < (float)scene.job.width && y < (float)scene.job.height;
}

// Lists of the light of lamps on the ground and of their halos. Every second thread sees to a lamp's reflection.
__device__ __forceinline__ void write_lamps(const Scene& scene, Counts& counts)
{
    const Job& job = scene.job;
    Shared& shared = scene.shared;
    int lamps = scene.light[LAMPS] > 0 ? shared.lamp_ends[job.slots] : 0, first = scene.n * job.lamps;
    for (int start = 0; start < 2 * lamps; start += THREADS) {
        int number = (start + scene.me) >> 1, total;
        bool mirrored = scene.me & 1, lit = false, glows = false;
        Shape shape = {};
        Pool pool = {};
        Halo halo = {};
        if (number < lamps) {
            int slot = slot_of(shared.lamp_ends, job.slots, number);
            const Place& place = job.places[scene.n * job.slots + slot];
            float4 row = ((const float4*)job.town.lamps)[job.town.lamp_start[place.mesh] + number - shared.lamp_ends[slot]];
            int material = (int)row.w;
            Lamp lamp = {row.x, row.y, row.z, job.town.kinds[material], ((const float4*)job.town.palette)[material]};
            lit = light_of(scene, place, lamp, mirrored, shape, pool);
            glows = !mirrored && halo_of(scene, place, lamp, halo);
        }
        int at = counts.halos + before<WARPS>(shared.sums, scene.me, glows, total);
        if (glows) job.halos[first + at] = halo;
        counts.halos += total;
        at = counts.pools + before<WARPS>(shared.sums, scene.me, lit, total);
        if (lit) {
            shape.number = at;
            job.pool_shapes[2 * first + at] = shape;
            job.pools[2 * first + at] = pool;
        }
        counts.pools += total;
    }
}
