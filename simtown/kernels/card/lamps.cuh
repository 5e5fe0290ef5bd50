// The light of lamps on the ground, and their halos.
#pragma once
#include "marks.hpp"
#include "scene.cuh"

// A pool of light on the ground; false for one that lies out of view.
__device__ __forceinline__ bool pool_of(const Scene& scene, const Beam& beam, Shape& shape, Pool& pool)
{
    if (out_of_view(scene.view, 0, scene.wide, beam.x, beam.y, beam.along + beam.across)) return false;
    if (!lies(rectangle_rows(scene.view, scene.high, beam.x, beam.y, beam.c, beam.s, beam.along, beam.across), shape)) return false;
    shape.edges = beam.cone;
    pool = {beam.x, beam.y, beam.c, beam.s, beam.along, beam.across, glow_level(beam.red) | glow_level(beam.green) << 16, glow_level(beam.blue)};
    return true;
}

// Lists of the light of lamps on the ground and of their halos. Every second thread sees to a lamp's reflection.
__device__ __forceinline__ void write_lamps(const Scene& scene, Counts& counts)
{
    const Job& job = scene.job;
    Shared& shared = scene.shared;
    int lamps = scene.light[LAMPS_ON] > 0 ? shared.lamp_ends[job.slots] : 0, first = scene.n * job.lamps;
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
            float4 colour = ((const float4*)job.town.palette)[material];
            Point lamp = {row.x, row.y, row.z};
            int kind = job.town.kinds[material];
            Beam beam;
            lit = beam_of(scene.view, scene.light, place.pose, lamp, kind, {colour.x, colour.y, colour.z}, mirrored, beam) && pool_of(scene, beam, shape, pool);
            Glare glare = glare_of(scene.view, place.matrix, lamp, kind);
            halo = {glare.x, glare.y, glare.radius, glare.depth, colour.x, colour.y, colour.z, 0.0f};
            glows = !mirrored && halo.radius > 0 && halo.x >= 0 && halo.y >= 0 && halo.x < (float)job.width && halo.y < (float)job.height;
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
