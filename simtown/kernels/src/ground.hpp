// Shadows, the dark under things and the light of lamps on the ground, sample row by sample row.
//
// Ground lies at one depth all along a row, so places on it are linear in the row's samples. Every shape is a smooth function
// of its place: no edge is drawn twice, and no size of picture shows steps. Two rows of samples share what is computed for
// the upper one.
#pragma once
#include "fill.hpp"
#include "packing.hpp"
#include "sky.hpp"

static const float FAINT = 0.06f, GRID = 256.0f, EDGE = 0.035f, SOFTER = 0.085f;
static const float SPREAD = 0.34f, UNDER_VEHICLE = 1.0f, UNDER_PROP = 0.7f;
static const float CONE = 6.5f, APEX = 0.22f, OPENING = 0.24f, BRIGHT = 0.3f, POOL = 3.3f, LANTERN = 3.4f, BEACON = 2.2f;
static const float STREAK_LENGTH = 1.5f, STREAK_WIDTH = 0.16f;
enum { BITS = 3 }; // pairs of samples are taken, and noted as touched, in blocks of two to this power: LANES

// The ground that a row of samples shows: its depth (0: none), the point at sample 0, and the steps a sample.
struct Line {
    float depth, x, y, dx, dy;
};

INLINE Line ground_line(const float* view, int64_t y)
{
    float slope = row_slope(view, y), down = -(view[11] + slope * view[8]);
    if (down <= 1e-3f || view[2] <= 0) return {};
    float depth = view[2] / down, side = -view[13] / view[12] * depth, step = 0.5f / view[12] * depth;
    return {depth, view[0] + depth * (view[9] + slope * view[6]) + side * view[3],
            view[1] + depth * (view[10] + slope * view[7]) + side * view[4], step * view[3], step * view[4]};
}

struct Rows {
    int32_t top, bottom;
};

// A row's shapes: shadows as polygons of edges, contacts as rectangles, pools of light.
struct Shadow {
    Rows rows;
    int64_t begin, count; // of its edges
};
struct Contact {
    Rows rows;
    float x, y, c, s, half_u, half_v, strength;
};
struct Pool {
    Rows rows;
    bool cone;
    float x, y, c, s, along, across, red, green, blue;
};

// Shapes on the ground of a scene, and what they do to a row of pairs of samples.
struct Dark {
    Shadow* shadows;
    float* edges[3];
    Contact* contacts;
    Pool* pools;
    int64_t shadow_count, contact_count, pool_count, blocks;
    float *shade, *keep;
    int32_t* levels;
    uint64_t* glow;
    uint8_t *dark_blocks, *light_blocks;
    // for one shape
    float *corner_x, *corner_y, *soft, *bases, *slopes;
    int64_t *grid_x, *grid_y, *order, *outline;
};

// First row of samples, and the one behind the last, in which ground of depths `near` to `far` may lie.
INLINE Rows ground_rows(const float* view, int64_t height, float near, float far)
{
    if (far <= NEAR || view[2] <= 0) return {0, 0};
    if (view[8] < 0.05f) return {0, (int32_t)height};
    float top = view[14] + view[12] * (view[2] / far + view[11]) / view[8], bottom = (float)height;
    if (near > 0.5f) bottom = least(view[14] + view[12] * (view[2] / near + view[11]) / view[8], (float)height);
    return {(int32_t)most((int64_t)(2.0f * most(top, 0.0f)) - 1, (int64_t)0), (int32_t)least((int64_t)(2.0f * most(bottom, 0.0f)) + 2, height)};
}

INLINE float depth_of(const float* view, float x, float y) { return view[9] * (x - view[0]) + view[10] * (y - view[1]) - view[11] * view[2]; }

// How much deeper than its middle a rectangle of these half sizes reaches; its length is along (c, s).
INLINE float depth_reach(const float* view, float c, float s, float along, float across)
{
    return fabsf(view[9] * c + view[10] * s) * along + fabsf(view[10] * c - view[9] * s) * across;
}

// Whether ground within `reach` of (x, y) is beside the canvas, or behind the camera.
INLINE bool out_of_view(const float* view, const Canvas& canvas, float x, float y, float reach)
{
    float far = depth_of(view, x, y) + reach;
    if (far <= NEAR) return true;
    float right = view[3] * (x - view[0]) + view[4] * (y - view[1]);
    float left_edge = 0.5f * (float)canvas.first - view[13], right_edge = 0.5f * (float)(canvas.first + canvas.width) - view[13];
    float low = (right - reach) * view[12], high = (right + reach) * view[12];
    return (low > right_edge * far && right_edge >= 0) || (high < left_edge * far && left_edge <= 0);
}

// Find the shadows of a scene: convex polygons of edges, whose function is 0 outside of the soft edge and 1 within.
static void collect_shadows(const float* view, const float* light, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    float slope_x = light[0] / light[2], slope_y = light[1] / light[2], stretch = 1.0f + fabsf(slope_x) + fabsf(slope_y);
    int64_t used = 0;
    dark.shadow_count = 0;
    if (light[SHADOW] < FAINT) return;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0 || !(town.roles[mesh] & CASTS)) continue;
        const float* pose = things.poses[k];
        float x = pose[0], y = pose[1], z = pose[2], c = pose[3], s = pose[4], scale = pose[5];
        if (out_of_view(view, canvas, x, y, (town.radius[mesh] * scale + fabsf(z)) * stretch)) continue;
        int64_t start = town.hull_start[mesh], n = town.hull_start[mesh + 1] - start;
        float near = 1e9f, far = -1e9f, *gx = dark.corner_x, *gy = dark.corner_y, *soft = dark.soft;
        for (int64_t i = 0; i < n; i++) {
            const float* p = town.hull[start + i];
            float above = most(z + scale * p[2], 0.0f);
            float to_x = x + scale * (c * p[0] - s * p[1]) - slope_x * above, to_y = y + scale * (s * p[0] + c * p[1]) - slope_y * above;
            dark.grid_x[i] = (int64_t)floorf(to_x * GRID + 0.5f), dark.grid_y[i] = (int64_t)floorf(to_y * GRID + 0.5f);
            gx[i] = (float)dark.grid_x[i] / GRID, gy[i] = (float)dark.grid_y[i] / GRID;
            soft[i] = EDGE + SOFTER * above;
            dark.order[i] = i;
            float depth = depth_of(view, gx[i], gy[i]);
            near = least(near, depth - 1.5f * soft[i]), far = most(far, depth + 1.5f * soft[i]);
        }
        Rows rows = ground_rows(view, canvas.height, near, far);
        if (rows.top >= rows.bottom) continue;
        // in whole numbers: rounding would fold corners that lie in a line
        int64_t size = hull_of(dark.grid_x, dark.grid_y, dark.order, n, dark.outline), begin = used;
        if (size < 3) continue;
        for (int64_t i = 0; i < size; i++) { // corners run counter-clockwise
            int64_t p = dark.outline[i], q = dark.outline[(i + 1) % size];
            float dx = gx[q] - gx[p], dy = gy[q] - gy[p], length = sqrtf(dx * dx + dy * dy);
            if (length < 0.02f) continue;
            float nx = -dy / length, ny = dx / length;
            float tilt = (soft[q] - soft[p]) / length; // the outer rim leaves the edge where the thing is higher
            float mx = nx + tilt * dx / length, my = ny + tilt * dy / length;
            float scale_by = 0.5f / ((soft[p] + soft[q]) * 0.5f * sqrtf(1.0f + tilt * tilt));
            mx = mx * scale_by, my = my * scale_by;
            dark.edges[0][used] = mx, dark.edges[1][used] = my;
            dark.edges[2][used] = -(mx * (gx[p] - nx * soft[p]) + my * (gy[p] - ny * soft[p]));
            used++;
        }
        dark.shadows[dark.shadow_count++] = {rows, begin, used - begin};
    }
}

// Find the soft dark rectangles under what stands on the ground.
static void collect_contacts(const float* view, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    dark.contact_count = 0;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        const float* pose = things.poses[k];
        if (mesh < 0 || !(town.roles[mesh] & STANDS) || pose[2] > 0.5f) continue;
        const float* base = town.bases[mesh];
        float c = pose[3], s = pose[4], scale = pose[5], half_u = base[2] * scale, half_v = base[3] * scale;
        float x = pose[0] + scale * (c * base[0] - s * base[1]), y = pose[1] + scale * (s * base[0] + c * base[1]);
        if (out_of_view(view, canvas, x, y, half_u + half_v + SPREAD)) continue;
        float depth = depth_of(view, x, y), reach = depth_reach(view, c, s, half_u + SPREAD, half_v + SPREAD);
        Rows rows = ground_rows(view, canvas.height, depth - reach, depth + reach);
        if (rows.top >= rows.bottom) continue;
        dark.contacts[dark.contact_count++] = {rows, x, y, c, s, half_u, half_v, town.roles[mesh] & VEHICLE ? UNDER_VEHICLE : UNDER_PROP};
    }
}

INLINE void add_pool(const float* view, const Canvas& canvas, Dark& dark, bool cone, float x, float y, float c, float s, float along,
                     float across, float red, float green, float blue)
{
    if (out_of_view(view, canvas, x, y, along + across)) return;
    float depth = depth_of(view, x, y), reach = depth_reach(view, c, s, along, across);
    Rows rows = ground_rows(view, canvas.height, depth - reach, depth + reach);
    if (rows.top < rows.bottom) dark.pools[dark.pool_count++] = {rows, cone, x, y, c, s, along, across, red, green, blue};
}

// Find the light of lamps on the ground: cones before headlamps, pools under lanterns and beacons, and their reflections.
static void collect_pools(const float* view, const float* light, const Town& town, const Things& things, const Canvas& canvas, Dark& dark)
{
    float wet = light[WET], power = (light[LAMPS_ON] - BRIGHT) / (1.0f - BRIGHT);
    dark.pool_count = 0;
    if (light[LAMPS_ON] <= 0 || power <= 0) return;
    for (int64_t k = 1; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0) continue;
        const float* pose = things.poses[k];
        float x = pose[0], y = pose[1], z = pose[2], c = pose[3], s = pose[4], scale = pose[5];
        for (int64_t i = town.lamp_start[mesh]; i < town.lamp_start[mesh + 1]; i++) {
            const float* lamp = town.lamps[i];
            int m = (int)lamp[3], kind = town.kinds[m];
            float px = x + scale * (c * lamp[0] - s * lamp[1]), py = y + scale * (s * lamp[0] + c * lamp[1]), high = z + scale * lamp[2];
            float red = town.palette[m][0], green = town.palette[m][1], blue = town.palette[m][2];
            if (kind == HEADLAMP) {
                float f = 0.85f * power;
                add_pool(view, canvas, dark, true, px, py, c, s, CONE, APEX + OPENING * CONE, f * 1.0f, f * 0.93f, f * 0.74f);
            } else if (kind == GLOW && high > LANTERN) {
                add_pool(view, canvas, dark, false, px, py, c, s, POOL, POOL, power * 1.0f, power * 0.80f, power * 0.46f);
            } else if (kind == GLOW && high < 6.0f && !(red > 0.9f && green > 0.8f)) {
                float f = 0.5f * power;
                add_pool(view, canvas, dark, false, px, py, c, s, BEACON, BEACON, f * red, f * green, f * blue);
            }
            if (wet > 0.1f && high > 0.1f) { // where a mirror on the ground would show it, drawn out towards the eye
                float dx = view[0] - px, dy = view[1] - py, distance = sqrtf(dx * dx + dy * dy);
                if (distance > 1.0f && view[2] > 0) {
                    float share = high / (high + view[2]), f = 1.5f * wet * power;
                    add_pool(view, canvas, dark, false, px + share * dx, py + share * dy, dx / distance, dy / distance, STREAK_LENGTH,
                             STREAK_WIDTH, f * red, f * green, f * blue);
                }
            }
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

struct Span {
    float low, high;
};

// The part of a span in which |base + slope * x| may be below `limit`.
INLINE Span narrowed(Span span, const Row& row, float base, float slope, float limit)
{
    if (fabsf(slope) * (float)row.wide < 1e-6f * limit) {
        float middle = base + slope * (float)row.first;
        return fabsf(middle) <= limit * 1.01f ? span : Span{span.high, span.low};
    }
    float a = (-limit - base) / slope, b = (limit - base) / slope;
    return {most(span.low, least(a, b)), least(span.high, most(a, b))};
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
        const Shadow& shadow = dark.shadows[k];
        if (row.y < shadow.rows.top || row.y >= shadow.rows.bottom) continue;
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

// A rectangle's own frame along a row: places u and v are linear in the row's.
struct Frame {
    float u, du, v, dv;
};

INLINE Frame frame_of(const Row& row, float x, float y, float c, float s)
{
    float ax = row.gx - x, ay = row.gy - y;
    return {c * ax + s * ay, c * row.dx + s * row.dy, c * ay - s * ax, c * row.dy - s * row.dx};
}

INLINE Part part_of(const Row& row, const Frame& f, float along, float across)
{
    Span span = narrowed({(float)row.first, (float)(row.first + row.wide)}, row, f.u, f.du, along);
    return places_in(row, narrowed(span, row, f.v, f.dv, across));
}

// Lower dark.keep (1 to 0) along a row.
static void darken_contacts(const Row& row, float strength, Dark& dark)
{
    for (int64_t k = 0; k < dark.contact_count; k++) {
        const Contact& contact = dark.contacts[k];
        if (row.y < contact.rows.top || row.y >= contact.rows.bottom) continue;
        Frame f = frame_of(row, contact.x, contact.y, contact.c, contact.s);
        float half_u = contact.half_u, half_v = contact.half_v, darkest = strength * contact.strength;
        over_blocks(row, part_of(row, f, half_u + SPREAD, half_v + SPREAD), [&](int64_t block, Floats at, Ints inside) {
            Floats u = f.u + f.du * at, v = f.v + f.dv * at;
            u = clamped((half_u + SPREAD - larger(u, 0.0f - u)) * (0.5f / SPREAD));
            v = clamped((half_v + SPREAD - larger(v, 0.0f - v)) * (0.5f / SPREAD));
            Floats less = 1.0f - darkest * smooth(u) * smooth(v);
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

// Light of a headlamp on the ground, u metres ahead of it and v beside its axis, smooth from 1 to 0.
INLINE Floats cone_light(Floats u, Floats v)
{
    Floats zero = {}, ahead = larger(u, zero), q = v / (APEX + OPENING * ahead), beam = larger(1.0f - q * q, zero);
    Floats left = larger(1.0f - ahead * (float)(1.0 / 6.5), zero);
    return beam * beam * left * left * smooth(clamped(u * 1.6f + 0.25f));
}

// Write the light of lamps on row y to dark.glow (packed), in the blocks of dark.light_blocks.
static void pour_light(int64_t y, const Canvas& canvas, const Line& line, float air, Dark& dark)
{
    Row row = in_pairs(y, canvas, line);
    float level = air * 256.0f;
    memset(dark.light_blocks, 0, dark.blocks);
    for (int64_t k = 0; k < dark.pool_count; k++) {
        const Pool& pool = dark.pools[k];
        if (row.y < pool.rows.top || row.y >= pool.rows.bottom) continue;
        Frame f = frame_of(row, pool.x, pool.y, pool.c, pool.s);
        uint64_t colour = glow_of(pool.red, pool.green, pool.blue);
        float inverse_u = 1.0f / pool.along, inverse_v = 1.0f / pool.across;
        over_blocks(row, part_of(row, f, pool.along, pool.across), [&](int64_t block, Floats at, Ints inside) {
            Floats u = f.u + f.du * at, v = f.v + f.dv * at, part;
            if (pool.cone) {
                part = cone_light(u, v);
            } else {
                u = u * inverse_u, v = v * inverse_v;
                part = larger(1.0f - u * u - v * v, Floats{});
                part = part * part;
            }
            Words64 more = dimmed(spread<Words64>(colour), convert<Words64>(convert<Ints>((inside ? part : Floats{}) * level)));
            uint64_t* glow = dark.glow + (block << BITS);
            if (dark.light_blocks[block]) more = more + load<Words64>(glow);
            store(glow, more);
            dark.light_blocks[block] = 1;
        });
    }
}
