// Shadows on the ground as convex polygons, and the dark under things, in lists of the scene.
#pragma once
#include "scene.cuh"

// The rows of a shape on the ground; false if there are none.
__device__ __forceinline__ bool lies(Rows rows, Shape& shape)
{
    shape.top = (s16)rows.top, shape.bottom = (s16)rows.bottom;
    return rows.top < rows.bottom;
}

// Whether the shadow of a thing may lie on the picture.
__device__ __forceinline__ bool may_cast(const Scene& scene, s32 mesh, const Pose& p)
{
    const Town& town = scene.job.town;
    const float* light = scene.light;
    if (!(town.roles[mesh] & CASTS) || light[SHADOW] < FAINT) return false;
    return !out_of_view(scene.view, 0, scene.wide, p.x, p.y, shadow_reach(light, p, town.radius[mesh]));
}

// The outline of a thing's shadow in this thread's column and the rows that it may touch; how many corners, 0 for no shadow.
__device__ __forceinline__ int outline(const Scene& scene, s32 mesh, const Pose& p, Shape& shape)
{
    Shared& shared = scene.shared;
    const Town& town = scene.job.town;
    const float4* points = (const float4*)town.hull + town.hull_start[mesh];
    int me = scene.me, n = town.hull_start[mesh + 1] - town.hull_start[mesh];
    float near = 1e9f, far = -1e9f;
    for (int i = 0; i < n; i++) {
        Thrown corner = thrown(scene.view, scene.light, p, points[i].x, points[i].y, points[i].z);
        shared.x[i][me] = corner.x, shared.y[i][me] = corner.y;
        near = least(near, corner.depth - 1.5f * corner.soft), far = most(far, corner.depth + 1.5f * corner.soft);
    }
    if (!lies(ground_rows(scene.view, scene.high, near, far), shape)) return 0;
    int corners = hull_of([&](int k) { return shared.x[k][me]; }, [&](int k) { return shared.y[k][me]; }, n,
                          [&](int i) -> u8& { return shared.order[i][me]; }, [&](int i) -> u8& { return shared.chain[i][me]; });
    return corners < 3 ? 0 : corners;
}

// Write the edges of the outline in this thread's column; how many.
__device__ __forceinline__ int write_edges(const Scene& scene, s32 mesh, const Pose& pose, int corners, float4* edges)
{
    const Shared& shared = scene.shared;
    const float4* points = (const float4*)scene.job.town.hull + scene.job.town.hull_start[mesh];
    int me = scene.me, p = shared.chain[0][me], kept = 0;
    float soft = softness(pose, points[p].z);
    for (int i = 1; i <= corners; i++) {
        int q = shared.chain[i == corners ? 0 : i][me];
        float soft_q = softness(pose, points[q].z);
        Edge edge;
        if (edge_of(shared.x[p][me], shared.y[p][me], soft, shared.x[q][me], shared.y[q][me], soft_q, edge))
            edges[kept++] = make_float4(edge.a, edge.b, edge.c, 0.0f);
        p = q, soft = soft_q;
    }
    return kept;
}

// The list of the shadows of the first `casters` of shared.casters.
__device__ __forceinline__ void write_shadows(const Scene& scene, int casters, Counts& counts)
{
    const Job& job = scene.job;
    int first = scene.n * job.slots;
    for (int start = 0; start < casters; start += THREADS) {
        int number = start + scene.me, total, corners = 0;
        s32 mesh = -1;
        Pose pose;
        Shape shape = {};
        if (number < casters) {
            const Place& place = job.places[first + scene.shared.casters[number]];
            mesh = place.mesh;
            pose = place.pose;
            corners = outline(scene, mesh, pose, shape);
        }
        int at = counts.shadows + before<WARPS>(scene.shared.sums, scene.me, corners > 0, total);
        if (corners > 0) {
            float4* edges = (float4*)job.shadow_edges + (first + at) * MOST_EDGES;
            shape.number = at, shape.edges = write_edges(scene, mesh, pose, corners, edges);
            job.shadow_shapes[first + at] = shape;
        }
        counts.shadows += total;
    }
}

// The dark under a thing; false for none that is seen.
__device__ __forceinline__ bool stands_on(const Scene& scene, s32 mesh, const Pose& p, Shape& shape, Contact& contact)
{
    const Town& town = scene.job.town;
    if (!(town.roles[mesh] & STANDS) || p.z > 0.5f) return false;
    float4 base = ((const float4*)town.bases)[mesh];
    const float numbers[4] = {base.x, base.y, base.z, base.w};
    contact = contact_of(p, numbers, town.roles[mesh]);
    float along = contact.half_u + SPREAD, across = contact.half_v + SPREAD;
    if (out_of_view(scene.view, 0, scene.wide, contact.x, contact.y, contact.half_u + contact.half_v + SPREAD)) return false;
    return lies(rectangle_rows(scene.view, scene.high, contact.x, contact.y, p.c, p.s, along, across), shape);
}
