// Shapes on the ground of a scene, and what they do to it sample row by sample row. Two rows of samples share what is computed
// for the upper one.
#pragma once
#include "earth.hpp"
#include "fill.hpp"
#include "packing.hpp"
#include "town.hpp"

enum { BITS = 3 }; // pairs of samples are taken, and noted as touched, in blocks of two to this power: LANES

// A shape with the rows of samples in which it may lie.
template <class Shape> struct Lying {
    Rows rows;
    Shape shape;
};
struct Shadow {
    int64_t begin, count; // of its edges
};

// The shapes of a scene, and what they do to a row of pairs of samples.
struct Dark {
    Lying<Shadow>* shadows;
    float* edges[3];
    Lying<Contact>* contacts;
    Lying<Beam>* pools;
    int64_t shadow_count, contact_count, pool_count, blocks;
    float *shade, *keep;
    int32_t* levels;
    uint64_t* glow;
    uint8_t *dark_blocks, *light_blocks;
    // for one shadow
    Thrown* corners;
    float *bases, *slopes;
    int32_t *order, *outline;
};

INLINE bool out_of_view(const float* view, const Canvas& canvas, float x, float y, float reach)
{
    return out_of_view(view, (int)canvas.first, (int)canvas.width, x, y, reach);
}

// Find the shadows of a scene: convex polygons of edges.
static void collect_shadows(const float* view, const float* light, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    int64_t used = 0;
    dark.shadow_count = 0;
    if (light[SHADOW] < FAINT) return;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0 || !(town.roles[mesh] & CASTS)) continue;
        const Pose& p = things.poses[k];
        if (out_of_view(view, canvas, p.x, p.y, shadow_reach(light, p, town.radius[mesh]))) continue;
        int64_t start = town.hull_start[mesh], n = town.hull_start[mesh + 1] - start, begin = used;
        float near = 1e9f, far = -1e9f;
        Thrown* corners = dark.corners;
        for (int64_t i = 0; i < n; i++) {
            const float* point = town.hull[start + i];
            corners[i] = thrown(view, light, p, point[0], point[1], point[2]);
            near = least(near, corners[i].depth - 1.5f * corners[i].soft), far = most(far, corners[i].depth + 1.5f * corners[i].soft);
        }
        Rows rows = ground_rows(view, (int)canvas.height, near, far);
        if (rows.top >= rows.bottom) continue;
        int size = hull_of([&](int i) { return corners[i].x; }, [&](int i) { return corners[i].y; }, (int)n,
                           [&](int i) -> int32_t& { return dark.order[i]; }, [&](int i) -> int32_t& { return dark.outline[i]; });
        if (size < 3) continue;
        for (int i = 0; i < size; i++) {
            const Thrown &a = corners[dark.outline[i]], &b = corners[dark.outline[(i + 1) % size]];
            Edge edge;
            if (!edge_of(a.x, a.y, a.soft, b.x, b.y, b.soft, edge)) continue;
            dark.edges[0][used] = edge.a, dark.edges[1][used] = edge.b, dark.edges[2][used] = edge.c;
            used++;
        }
        dark.shadows[dark.shadow_count++] = {rows, {begin, used - begin}};
    }
}

// Find the soft dark rectangles under what stands on the ground.
static void collect_contacts(const float* view, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    dark.contact_count = 0;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        const Pose& p = things.poses[k];
        if (mesh < 0 || !(town.roles[mesh] & STANDS) || p.z > 0.5f) continue;
        Contact c = contact_of(p, town.bases[mesh], town.roles[mesh]);
        if (out_of_view(view, canvas, c.x, c.y, c.half_u + c.half_v + SPREAD)) continue;
        Rows rows = rectangle_rows(view, (int)canvas.height, c.x, c.y, c.c, c.s, c.half_u + SPREAD, c.half_v + SPREAD);
        if (rows.top < rows.bottom) dark.contacts[dark.contact_count++] = {rows, c};
    }
}

// Find the light of lamps on the ground, and their reflections.
static void collect_pools(const float* view, const float* light, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    dark.pool_count = 0;
    if (light[LAMPS_ON] <= 0) return;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0) continue;
        for (int64_t i = 2 * town.lamp_start[mesh]; i < 2 * town.lamp_start[mesh + 1]; i++) {
            const float* lamp = town.lamps[i / 2];
            const float* colour = town.palette[(int)lamp[3]];
            Beam b;
            if (!beam_of(view, light, things.poses[k], {lamp[0], lamp[1], lamp[2]}, town.kinds[(int)lamp[3]], {colour[0], colour[1], colour[2]}, i % 2, b)) continue;
            if (out_of_view(view, canvas, b.x, b.y, b.along + b.across)) continue;
            Rows rows = rectangle_rows(view, (int)canvas.height, b.x, b.y, b.c, b.s, b.along, b.across);
            if (rows.top < rows.bottom) dark.pools[dark.pool_count++] = {rows, b};
        }
    }
}

// A row of pairs of samples on the ground: the first place, how many there are, and the ground there with its steps.
struct Row {
    int64_t y, first, wide;
    float gx, gy, dx, dy;
};

INLINE Row in_pairs(int64_t y, const Canvas& canvas, const Line& line)
{
    return {y, canvas.first >> 1, (canvas.width + 1) >> 1, line.x + 0.5f * line.dx, line.y + 0.5f * line.dy, 2.0f * line.dx, 2.0f * line.dy};
}

struct Part {
    int64_t left, right;
};

// Whole places, counted from the first, about a span; none if it is empty.
INLINE Part places_in(const Row& row, Span span)
{
    int64_t left = most((int64_t)most(span.low, (float)row.first) - 1 - row.first, (int64_t)0);
    int64_t right = least((int64_t)least(span.high, (float)(row.first + row.wide)) + 2 - row.first, row.wide);
    return left >= right || span.high < span.low - 2.0f ? Part{0, 0} : Part{left, right};
}

// Do something to each block of a part: its number, the places from the picture's left edge on, and which lie in the part.
template <class Work> INLINE void over_blocks(const Row& row, Part part, Work work)
{
    if (part.left >= part.right) return;
    for (int64_t block = part.left >> BITS; block <= (part.right - 1) >> BITS; block++) {
        Ints x = ramp<Ints>((int32_t)(block << BITS), 1);
        work(block, convert<Floats>(x) + (float)row.first, (x >= (int32_t)part.left) & (x < (int32_t)part.right));
    }
}

// Raise dark.shade (0 to 1) along a row.
static void throw_shadows(const Row& row, Dark& dark)
{
    for (int64_t k = 0; k < dark.shadow_count; k++) {
        if (row.y < dark.shadows[k].rows.top || row.y >= dark.shadows[k].rows.bottom) continue;
        const Shadow& shadow = dark.shadows[k].shape;
        Span span = {(float)row.first, (float)(row.first + row.wide)};
        float *__restrict bases = dark.bases, *__restrict slopes = dark.slopes;
        for (int64_t i = 0; i < shadow.count; i += LANES) {
            Floats a = load<Floats>(dark.edges[0] + shadow.begin + i), b = load<Floats>(dark.edges[1] + shadow.begin + i);
            Ints own = ramp<Ints>((int32_t)i, 1) < (int32_t)shadow.count;
            Floats base = a * row.gx + b * row.gy + load<Floats>(dark.edges[2] + shadow.begin + i), slope = a * row.dx + b * row.dy;
            Floats crossing = (0.0f - base) / slope;
            span.low = most(span.low, largest((own & (slope > 1e-7f)) ? crossing : spread<Floats>(span.low)));
            span.high = least(span.high, smallest((own & (slope < -1e-7f)) ? crossing : spread<Floats>(span.high)));
            store(bases + i, base), store(slopes + i, slope);
        }
        Part part = places_in(row, span);
        if (part.left >= part.right) continue;
        int64_t crossed = 0;
        for (int64_t i = 0; i < shadow.count; i++) { // the others lie wholly on the edge's inner side
            float base = bases[i], slope = slopes[i];
            bases[crossed] = base, slopes[crossed] = slope;
            crossed += !(least(base + slope * (float)(part.left + row.first), base + slope * (float)(part.right - 1 + row.first)) >= 1.0f);
        }
        over_blocks(row, part, [&](int64_t block, Floats at, Ints inside) {
            Floats share = spread<Floats>(1.0f);
            for (int64_t i = 0; i < crossed; i++) share = share * smooth(clamped(bases[i] + slopes[i] * at));
            float* shade = dark.shade + (block << BITS);
            store(shade, larger(load<Floats>(shade), inside ? share : Floats{}));
            dark.dark_blocks[block] = 1;
        });
    }
}

INLINE Frame frame_in(const Row& row, float x, float y, float c, float s) { return frame_of(row.gx, row.gy, row.dx, row.dy, x, y, c, s); }

INLINE Part part_of(const Row& row, const Frame& f, float along, float across)
{
    int first = (int)row.first, wide = (int)row.wide;
    Span span = narrowed({(float)row.first, (float)(row.first + row.wide)}, first, wide, f.u, along);
    return places_in(row, narrowed(span, first, wide, f.v, across));
}

// Lower dark.keep (1 to 0) along a row.
static void darken_contacts(const Row& row, float strength, Dark& dark)
{
    for (int64_t k = 0; k < dark.contact_count; k++) {
        if (row.y < dark.contacts[k].rows.top || row.y >= dark.contacts[k].rows.bottom) continue;
        const Contact& c = dark.contacts[k].shape;
        Frame f = frame_in(row, c.x, c.y, c.c, c.s);
        float half_u = c.half_u, half_v = c.half_v, darkest = strength * c.strength;
        over_blocks(row, part_of(row, f, half_u + SPREAD, half_v + SPREAD), [&](int64_t block, Floats at, Ints inside) {
            Floats less = kept(value_at(f.u, at), value_at(f.v, at), half_u, half_v, darkest);
            float* keep = dark.keep + (block << BITS);
            store(keep, load<Floats>(keep) * (inside ? less : spread<Floats>(1.0f)));
            dark.dark_blocks[block] = 1;
        });
    }
}

// Write how bright shadows and contacts leave row y, 0 to 256, to dark.levels, in dark.dark_blocks.
static void darkness(const float* light, int64_t y, const Canvas& canvas, const Line& line, float air, Dark& dark)
{
    Row row = in_pairs(y, canvas, line);
    memset(dark.dark_blocks, 0, dark.blocks);
    throw_shadows(row, dark);
    darken_contacts(row, light[CONTACT] * air, dark);
    float strength = light[SHADOW] * air;
    for (int64_t block = 0; block < dark.blocks; block++) {
        if (!dark.dark_blocks[block]) continue;
        int64_t at = block << BITS;
        Floats left = load<Floats>(dark.keep + at) * (1.0f - strength * load<Floats>(dark.shade + at));
        store(dark.levels + at, convert<Ints>(left * 256.0f + 0.5f));
        store(dark.shade + at, Floats{}), store(dark.keep + at, spread<Floats>(1.0f));
    }
}

// Write the light of lamps on row y to dark.glow (packed), in the blocks of dark.light_blocks.
static void pour_light(int64_t y, const Canvas& canvas, const Line& line, float air, Dark& dark)
{
    Row row = in_pairs(y, canvas, line);
    float level = air * 256.0f;
    memset(dark.light_blocks, 0, dark.blocks);
    for (int64_t k = 0; k < dark.pool_count; k++) {
        if (row.y < dark.pools[k].rows.top || row.y >= dark.pools[k].rows.bottom) continue;
        const Beam& pool = dark.pools[k].shape;
        Frame f = frame_in(row, pool.x, pool.y, pool.c, pool.s);
        uint64_t colour = glow_level(pool.red) | (uint64_t)glow_level(pool.green) << 21 | (uint64_t)glow_level(pool.blue) << 42;
        float inverse_u = 1.0f / pool.along, inverse_v = 1.0f / pool.across;
        over_blocks(row, part_of(row, f, pool.along, pool.across), [&](int64_t block, Floats at, Ints inside) {
            Floats u = value_at(f.u, at), v = value_at(f.v, at), part = pool.cone ? cone_light(u, v) : pool_light(u, v, inverse_u, inverse_v);
            Words64 more = dimmed(spread<Words64>(colour), (Words32)convert<Ints>((inside ? part : Floats{}) * level));
            uint64_t* glow = dark.glow + (block << BITS);
            if (dark.light_blocks[block]) more = more + load<Words64>(glow);
            store(glow, more);
            dark.light_blocks[block] = 1;
        });
    }
}
