// Which columns of a picture the shapes on the ground may touch: those that the processor looks at in any of their rows.
#pragma once
#include "shadows.cuh"

constexpr int LANES = 8; // that look through the rows of a shape

// The part of a row that a shadow may touch (ground.throw_shadows).
__device__ __forceinline__ Span shadow_span(const Row& row, Span span, const float4* edges, int count)
{
    for (int i = 0; i < count; i++) {
        float4 e = edges[i];
        float base = e.x * row.x + e.y * row.y + e.z, slope = e.x * row.dx + e.y * row.dy, crossing = -base / slope;
        if (slope > 1e-7f) span.low = fmaxf(span.low, crossing);
        if (slope < -1e-7f) span.high = fminf(span.high, crossing);
    }
    return span;
}

// The part of a row that a rectangle about (x, y) of these half sizes may touch, its length along (c, s).
__device__ __forceinline__ Span rectangle_span(const Row& row, Span span, int wide, float x, float y, float c, float s, float along, float across)
{
    Frame f = frame_of(row.x, row.y, row.dx, row.dy, x, y, c, s);
    return narrowed(narrowed(span, 0, wide, f.u, along), 0, wide, f.v, across);
}

// Write the columns that any row of a shape may touch; `span_of` tells those of a row. A few lanes a shape, a lane a pair of rows.
template <typename SpanOf>
__device__ __forceinline__ void write_columns(const Scene& scene, Shape* shapes, int count, SpanOf span_of)
{
    int lane = scene.me % LANES, pairs = (scene.wide + 1) >> 1;
    const Row* rows = scene.job.rows + scene.n * scene.high;
    for (int start = 0; start < count; start += THREADS / LANES) {
        int i = start + scene.me / LANES, left = pairs, right = 0;
        bool here = i < count;
        int top = here ? shapes[i].top : 0, bottom = here ? shapes[i].bottom : 0;
        for (int pair = (top >> 1) + lane; 2 * pair < bottom; pair += LANES) {
            int y = 2 * pair; // the upper row is worked out, unless ground begins at the lower one
            if (rows[y].depth == 0 && y + 1 < scene.high) y++;
            if (y < top || y >= bottom || rows[y].depth == 0) continue;
            Span span = span_of(i, rows[y], Span{0.0f, (float)pairs});
            if (span.high < span.low - 2.0f) continue;
            int from = max((int)fmaxf(span.low, 0.0f) - 1, 0), to = min((int)fminf(span.high, (float)pairs) + 2, pairs);
            if (from < to) left = min(left, from), right = max(right, to);
        }
        for (int away = LANES / 2; away > 0; away /= 2) {
            left = min(left, __shfl_xor_sync(ALL, left, away));
            right = max(right, __shfl_xor_sync(ALL, right, away));
        }
        if (here && lane == 0) shapes[i].left = (s16)min(2 * left, scene.wide), shapes[i].right = (s16)min(2 * right, scene.wide);
    }
}

__device__ __forceinline__ void write_all_columns(const Scene& scene, const Counts& counts)
{
    const Job& job = scene.job;
    int things = scene.n * job.slots, lamps = 2 * scene.n * job.lamps, pairs = (scene.wide + 1) >> 1;
    Shape *shadows = job.shadow_shapes + things, *contacts = job.contact_shapes + things, *pools = job.pool_shapes + lamps;
    write_columns(scene, shadows, counts.shadows, [&](int i, const Row& row, Span span) {
        return shadow_span(row, span, (const float4*)job.shadow_edges + (things + i) * MOST_EDGES, shadows[i].edges);
    });
    write_columns(scene, contacts, counts.contacts, [&](int i, const Row& row, Span span) {
        const Contact& c = job.contacts[things + i];
        return rectangle_span(row, span, pairs, c.x, c.y, c.c, c.s, c.half_u + SPREAD, c.half_v + SPREAD);
    });
    write_columns(scene, pools, counts.pools, [&](int i, const Row& row, Span span) {
        const Pool& p = job.pools[lamps + i];
        return rectangle_span(row, span, pairs, p.x, p.y, p.c, p.s, p.along, p.across);
    });
}
