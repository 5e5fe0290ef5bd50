// Shadows on the ground as convex polygons, and the dark under things, as ground.hpp has them.
#pragma once
#include "scene.cuh"

constexpr float FAINT = 0.06f, GRID = 256.0f, EDGE = 0.035f, SOFTER = 0.085f, UNDER_VEHICLE = 1.0f, UNDER_PROP = 0.7f;

// A point on the ground.
struct Point { float x, y; };

// How far a shadow's edge reaches beyond the corner that a point of the hull throws.
__device__ __forceinline__ float softness(const Pose& p, float z) { return EDGE + SOFTER * fmaxf(p.z + p.scale * z, 0.0f); }

// The convex hull of the first n corners of this thread's column: their numbers, counter-clockwise, in shared.chain; how many (fill.hull).
__device__ __forceinline__ int hull(Shared& shared, int me, int n)
{
    for (int i = 0; i < n; i++) {
        float x = shared.x[i][me], y = shared.y[i][me];
        int j = i;
        for (; j > 0; j--) {
            int k = shared.order[j - 1][me];
            float other = shared.x[k][me];
            if (other < x || (other == x && shared.y[k][me] <= y)) break;
            shared.order[j][me] = (u8)k;
        }
        shared.order[j][me] = (u8)i;
    }
    int size = 0;
    for (int sweep = 0; sweep < 2; sweep++) {
        int floor = max(size, 1); // corners of the chain that stay: its first one
        for (int i = 0; i < n; i++) {
            int k = shared.order[sweep == 0 ? i : n - 1 - i][me];
            s64 x = (s64)shared.x[k][me], y = (s64)shared.y[k][me];
            while (size > floor) {
                int a = shared.chain[size - 2][me], b = shared.chain[size - 1][me];
                s64 ax = (s64)shared.x[a][me], ay = (s64)shared.y[a][me], bx = (s64)shared.x[b][me], by = (s64)shared.y[b][me];
                if ((bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0) break;
                size--;
            }
            if (i == 0 && sweep == 1) continue;
            shared.chain[size++][me] = (u8)k;
        }
    }
    return size - 1;
}

// Whether the shadow of a thing may lie on the picture (ground.collect_shadows).
__device__ __forceinline__ bool may_cast(const Scene& scene, s32 mesh, const Pose& p)
{
    const Town& town = scene.job.town;
    const float* light = scene.light;
    if (!(town.roles[mesh] & CASTS) || light[SHADOW] < FAINT) return false;
    float stretch = 1.0f + fabsf(light[0] / light[2]) + fabsf(light[1] / light[2]);
    return !out_of_view(scene.view, scene.wide, p.x, p.y, (town.radius[mesh] * p.scale + fabsf(p.z)) * stretch);
}

// The outline of a thing's shadow in this thread's column and the rows that it may touch; how many corners, 0 for no shadow.
__device__ __forceinline__ int outline(const Scene& scene, s32 mesh, const Pose& p, Shape& shape)
{
    Shared& shared = scene.shared;
    const Town& town = scene.job.town;
    const float *view = scene.view, *light = scene.light;
    float slope_x = light[0] / light[2], slope_y = light[1] / light[2];
    const float4* points = (const float4*)town.hull + town.hull_start[mesh];
    int n = town.hull_start[mesh + 1] - town.hull_start[mesh];
    float near = 1e9f, far = -1e9f;
    for (int i = 0; i < n; i++) {
        float4 q = points[i];
        float above = fmaxf(p.z + p.scale * q.z, 0.0f), soft = EDGE + SOFTER * above;
        float x = floorf((p.x + p.scale * (p.c * q.x - p.s * q.y) - slope_x * above) * GRID + 0.5f);
        float y = floorf((p.y + p.scale * (p.s * q.x + p.c * q.y) - slope_y * above) * GRID + 0.5f);
        shared.x[i][scene.me] = x, shared.y[i][scene.me] = y;
        float depth = depth_of(view, x / GRID, y / GRID);
        near = fminf(near, depth - 1.5f * soft), far = fmaxf(far, depth + 1.5f * soft);
    }
    if (!ground_rows(view, scene.high, near, far, shape)) return 0;
    int corners = hull(shared, scene.me, n);
    return corners < 3 ? 0 : corners;
}

// Write the edges of the outline in this thread's column; how many.
__device__ __forceinline__ int write_edges(const Scene& scene, s32 mesh, const Pose& pose, int corners, float4* edges)
{
    const Shared& shared = scene.shared;
    const float4* points = (const float4*)scene.job.town.hull + scene.job.town.hull_start[mesh];
    int me = scene.me, first = shared.chain[0][me], kept = 0;
    Point p = {shared.x[first][me] / GRID, shared.y[first][me] / GRID};
    float soft = softness(pose, points[first].z);
    for (int i = 1; i <= corners; i++) {
        int k = shared.chain[i == corners ? 0 : i][me];
        Point q = {shared.x[k][me] / GRID, shared.y[k][me] / GRID};
        float soft_q = softness(pose, points[k].z), dx = q.x - p.x, dy = q.y - p.y, length = sqrtf(dx * dx + dy * dy);
        if (length >= 0.02f) {
            float nx = -dy / length, ny = dx / length;
            float tilt = (soft_q - soft) / length; // the outer rim leaves the edge where the thing is higher
            float mx = nx + tilt * dx / length, my = ny + tilt * dy / length;
            float scale = 0.5f / ((soft + soft_q) * 0.5f * sqrtf(1.0f + tilt * tilt));
            mx *= scale, my *= scale;
            edges[kept++] = make_float4(mx, my, -(mx * (p.x - nx * soft) + my * (p.y - ny * soft)), 0.0f);
        }
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
            pose = {place.x, place.y, place.z, place.c, place.s, place.scale};
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

// The dark under a thing (ground.collect_contacts); false for none that is seen.
__device__ __forceinline__ bool contact_of(const Scene& scene, s32 mesh, const Pose& p, Shape& shape, Contact& contact)
{
    const Town& town = scene.job.town;
    const float* view = scene.view;
    if (!(town.roles[mesh] & STANDS) || p.z > 0.5f) return false;
    float4 base = ((const float4*)town.bases)[mesh];
    float half_u = base.z * p.scale, half_v = base.w * p.scale;
    float x = p.x + p.scale * (p.c * base.x - p.s * base.y), y = p.y + p.scale * (p.s * base.x + p.c * base.y);
    if (out_of_view(view, scene.wide, x, y, half_u + half_v + SPREAD)) return false;
    float depth = depth_of(view, x, y), reach = depth_reach(view, p.c, p.s, half_u + SPREAD, half_v + SPREAD);
    if (!ground_rows(view, scene.high, depth - reach, depth + reach, shape)) return false;
    contact = {x, y, p.c, p.s, half_u, half_v, town.roles[mesh] & VEHICLE ? UNDER_VEHICLE : UNDER_PROP, 0.0f};
    return true;
}
