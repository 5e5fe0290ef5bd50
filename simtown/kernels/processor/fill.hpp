// Scan conversion: triangles into the buffer of samples.
//
// Coverage is decided in whole numbers, and an edge shared by two triangles alike for both: nothing is missed and nothing
// drawn twice. Small triangles are set up eight at a time, and drawn by edge functions in their box; the others go row by
// row. Both give the same samples.
#pragma once
#include "triangles.hpp"
#include "vectors.hpp"

enum { SMALL = 64 }; // samples: broader triangles are filled row by row
static const float NEARBY = (float)(1 << 23); // corners of a BOX lie within so many 1/256 of a sample: all of it fits into an int32

// The samples that are drawn: columns `first` to `first + width - 1` of a picture of `full` columns.
struct Canvas {
    uint32_t* samples;
    int64_t stride, first, width, full, height;
};

struct Corner {
    int64_t x, y; // 1/256 of a sample
    float w;      // 1/depth
};

INLINE Words32 low_bits(Doubles x) { return convert<Words32>(convert<Longs>(smaller(larger(x, spread<Doubles>(-4e18)), spread<Doubles>(4e18)))); }

// The first sample at or right of the crossing of a row with an edge, and how that grows from row to row, exactly.
struct Bound {
    int64_t sample, rest, step, step_rest, denominator;

    void next()
    {
        sample += step, rest -= step_rest;
        if (rest < 0) sample++, rest += denominator;
    }
};

INLINE int64_t floor_division(int64_t a, int64_t b) { return a / b - (a % b < 0); } // b > 0

INLINE Bound bound(int64_t x, int64_t y, int64_t dx, int64_t dy, int64_t row)
{
    int64_t numerator = x * dy + (256 * row - y) * dx, denominator = 256 * dy;
    if (denominator < 0) numerator = -numerator, denominator = -denominator;
    int64_t quotient = -floor_division(-numerator, denominator), slope = dy > 0 ? 256 * dx : -256 * dx;
    int64_t whole = floor_division(slope, denominator);
    return {quotient, quotient * denominator - numerator, whole, slope - whole * denominator, denominator};
}

// Read from WIDE - n on: the first n numbers of a vector.
static const uint32_t FIRST_OF[2 * WIDE] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

// Row by row between the left and the right edge: samples rise to their depth value and tag, where that is nearer.
static bool fill_rows(Canvas canvas, Corner a, Corner b, Corner c, int64_t left, int64_t top, int64_t right, int64_t bottom,
                      uint32_t value, uint32_t step_x, uint32_t step_y, uint32_t tag)
{
    if (a.y > b.y || a.y > c.y) { // the uppermost corner first, the winding kept
        Corner first = a;
        if (b.y <= c.y) a = b, b = c, c = first;
        else a = c, c = b, b = first;
    }
    const Samples steps = ORDER * step_x, wide_step = Samples{} + WIDE * step_x;
    Samples changed = {};
    int64_t lower = most(b.y, c.y), middle = least(most((least(b.y, c.y) + 255) >> 8, top), bottom);
    for (int half = 0; half < 2; half++) {
        int64_t start = half ? middle : top, stop = half ? bottom : middle;
        if (start >= stop) continue;
        // clockwise: the right side runs from corner a down by corner b, the left one by corner c
        Bound from = half == 0 || c.y == lower ? bound(a.x, a.y, c.x - a.x, c.y - a.y, start) : bound(c.x, c.y, b.x - c.x, b.y - c.y, start);
        Bound to = half == 0 || b.y == lower ? bound(a.x, a.y, b.x - a.x, b.y - a.y, start) : bound(b.x, b.y, c.x - b.x, c.y - b.y, start);
        for (int64_t y = start; y < stop; y++) {
            int64_t at = most(from.sample, left), end = least(to.sample, right);
            uint32_t* place = canvas.samples + y * canvas.stride + at;
            Samples depth = value + (uint32_t)(at - left) * step_x + steps;
            auto draw = [&](Samples now) {
                Samples before = load<Samples>(place), after = larger(now, before);
                store(place, after);
                changed |= before ^ after;
            };
            for (; at + WIDE <= end; at += WIDE, place += WIDE, depth += wide_step) draw((depth & DEPTH) | tag);
            if (at < end) draw(((depth & DEPTH) | tag) & load<Samples>(FIRST_OF + WIDE - (end - at)));
            value += step_y;
            from.next(), to.next();
        }
    }
    return any(changed);
}

// Draw a triangle of any size. Returns whether it is the nearest at any sample. A sample exactly on an edge belongs to the
// triangle on its right or below it. Depth starts from the same sample whatever part is drawn.
static bool fill_triangle(Canvas canvas, Corner a, Corner b, Corner c, uint32_t tag)
{
    int64_t area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if (area == 0) return false;
    if (area < 0) { // corners run clockwise on the screen from here on
        Corner swapped = b;
        b = c, c = swapped, area = -area;
    }
    int64_t left = most((least(least(a.x, b.x), c.x) + 255) >> 8, (int64_t)0), right = least((most(most(a.x, b.x), c.x) + 255) >> 8, canvas.full);
    int64_t top = most((least(least(a.y, b.y), c.y) + 255) >> 8, (int64_t)0), bottom = least((most(most(a.y, b.y), c.y) + 255) >> 8, canvas.height);
    int64_t start = most(left - canvas.first, (int64_t)0), end = least(right - canvas.first, canvas.width);
    if (start >= end || top >= bottom) return false;
    Slopes slopes = slopes_of(a.x, a.y, a.w, b.x, b.y, b.w, c.x, c.y, c.w, area, left, top);
    uint32_t value = slopes.value + (uint32_t)(start + canvas.first - left) * slopes.step_x;
    a.x -= 256 * canvas.first, b.x -= 256 * canvas.first, c.x -= 256 * canvas.first;
    return fill_rows(canvas, a, b, c, start, top, end, bottom, value, slopes.step_x, slopes.step_y, tag);
}

// What is to be done with eight triangles: they hold no sample; fill_box draws them; only fill_triangle can.
enum Todo { EMPTY, BOX, OTHER };

// Eight triangles: their boxes of samples, the depth value at a box's first sample and its steps, and three edge functions.
struct Records {
    uint32_t todo[LANES], start[LANES], stop[LANES], top[LANES], rows[LANES], value[LANES], step_x[LANES], step_y[LANES], edges[9][LANES];
    float nearest[LANES], means[LANES]; // depths of corners, metres
};

// An edge's function at (x, y) from its start, and its steps. It is not negative on the inner side of an edge along (dx, dy).
INLINE void set_up_edge(uint32_t (*out)[LANES], Ints x, Ints y, Ints dx, Ints dy)
{
    Ints own = (dy < 0) | ((dy == 0) & (dx > 0));
    store(out[0], x * dy - y * dx - (own ? spread<Ints>(1) : Ints{}));
    store(out[1], dy * 256);
    store(out[2], dx * -256);
}

// Prepare eight triangles at once for fill_box, with the same whole numbers as fill_triangle. `spots` are in whole 1/256 of a
// sample and begin with `vertex`.
INLINE void set_up(const Canvas& canvas, const float (*spots)[4], const int32_t (*triangles)[3], const int32_t* numbers, int64_t vertex, Records& records)
{
    auto corner = [&](int i) { return columns_of([&](int lane) { return spots[triangles[numbers[lane]][i] - vertex]; }); };
    Columns a = corner(0), b = corner(1), c = corner(2);
    Floats fx0 = a.a, fx1 = b.a, fx2 = c.a, fy0 = a.b, fy1 = b.b, fy2 = c.b, w0 = a.d, w1 = b.d, w2 = c.d;
    Floats low_fx = smaller(smaller(fx0, fx1), fx2), high_fx = larger(larger(fx0, fx1), fx2);
    Floats low_fy = smaller(smaller(fy0, fy1), fy2), high_fy = larger(larger(fy0, fy1), fy2);
    Floats nearest = smaller(smaller(a.c, b.c), c.c);
    store(records.nearest, nearest), store(records.means, (a.c + b.c + c.c) * (float)(1.0 / 3.0));
    Ints plain = (nearest >= NEAR) & (low_fx > -NEARBY) & (high_fx < NEARBY) & (low_fy > -NEARBY) & (high_fy < NEARBY);
    Ints small = plain & (high_fx - low_fx <= 256.0f * SMALL) & (high_fy - low_fy <= 65536.0f);
    auto whole = [&](Floats x) { return convert<Ints>(plain ? x : Floats{}); }; // what is not plain may be beyond whole numbers
    Ints x0 = whole(fx0), y0 = whole(fy0), x1 = whole(fx1), y1 = whole(fy1), x2 = whole(fx2), y2 = whole(fy2);
    Ints low_x = whole(low_fx), high_x = whole(high_fx), low_y = whole(low_fy), high_y = whole(high_fy);
    Ints area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0), turned = area < 0;
    Ints sx = turned ? x2 : x1, sy = turned ? y2 : y1;
    x2 = turned ? x1 : x2, y2 = turned ? y1 : y2, x1 = sx, y1 = sy;
    Floats sw = turned ? w2 : w1;
    w2 = turned ? w1 : w2, w1 = sw;
    area = larger(area, -area);

    const int32_t first = (int32_t)canvas.first;
    Ints zero = {}, left = larger((low_x + 255) >> 8, zero), top = larger((low_y + 255) >> 8, zero);
    Ints stop = smaller(smaller((high_x + 255) >> 8, spread<Ints>((int32_t)canvas.full)) - first, spread<Ints>((int32_t)canvas.width));
    Ints bottom = smaller((high_y + 255) >> 8, spread<Ints>((int32_t)canvas.height)), start = larger(left - first, zero);
    Ints empty = (start >= stop) | (top >= bottom) | (small & (area == 0));
    Ints todo = small ? spread<Ints>((int32_t)BOX) : spread<Ints>((int32_t)OTHER);
    store(records.todo, (plain & empty) ? spread<Ints>((int32_t)EMPTY) : todo);
    store(records.start, start), store(records.stop, stop), store(records.top, top), store(records.rows, bottom - top);

    Doubles inverse = FULL / convert<Doubles>(larger(area, spread<Ints>(1)));
    Doubles aw = convert<Doubles>(w1 - w0) * inverse, bw = convert<Doubles>(w2 - w0) * inverse;
    Doubles slope_x = aw * convert<Doubles>(y2 - y0) - bw * convert<Doubles>(y1 - y0);
    Doubles slope_y = bw * convert<Doubles>(x1 - x0) - aw * convert<Doubles>(x2 - x0);
    Doubles right = convert<Doubles>((left << 8) - x0), below = convert<Doubles>((top << 8) - y0);
    Words32 value = low_bits(convert<Doubles>(w0) * FULL + slope_x * right + slope_y * below), step_x = low_bits(256.0 * slope_x);
    store(records.value, value + (Words32)(start + first - left) * step_x);
    store(records.step_x, step_x), store(records.step_y, low_bits(256.0 * slope_y));
    Ints px = (start + first) << 8, py = top << 8;
    set_up_edge(records.edges, px - x0, py - y0, x1 - x0, y1 - y0);
    set_up_edge(records.edges + 3, px - x1, py - y1, x2 - x1, y2 - y1);
    set_up_edge(records.edges + 6, px - x2, py - y2, x0 - x2, y0 - y2);
}

// Draw the triangle of record i, a BOX. Returns whether it is the nearest of any sample.
INLINE bool fill_box(const Canvas& canvas, const Records& records, int i, uint32_t tag)
{
    uint32_t value = records.value[i], step_x = records.step_x[i], step_y = records.step_y[i];
    int32_t left = (int32_t)records.start[i], stop = (int32_t)records.stop[i];
    int32_t a = (int32_t)records.edges[0][i], sa = (int32_t)records.edges[1][i], ra = (int32_t)records.edges[2][i];
    int32_t b = (int32_t)records.edges[3][i], sb = (int32_t)records.edges[4][i], rb = (int32_t)records.edges[5][i];
    int32_t c = (int32_t)records.edges[6][i], sc = (int32_t)records.edges[7][i], rc = (int32_t)records.edges[8][i];
    uint32_t* place = canvas.samples + (int64_t)records.top[i] * canvas.stride + left;
    Words32 changed = {};
    for (;; left += LANES, place += LANES, value += LANES * step_x, a += LANES * sa, b += LANES * sb, c += LANES * sc) {
        Words32 depth = value + STEPS * step_x;
        Ints ea = a + (Ints)STEPS * sa, eb = b + (Ints)STEPS * sb, ec = c + (Ints)STEPS * sc;
        uint32_t* at = place;
        for (uint32_t row = records.rows[i]; row; row--, at += canvas.stride) {
            Words32 before = load<Words32>(at), now = (depth & DEPTH) | tag;
            now = smaller(now, (Words32)((ea & eb & ec) >> 31));
            Words32 after = larger(now, before);
            store(at, after);
            changed |= before ^ after;
            depth += step_y, ea += ra, eb += rb, ec += rc;
        }
        if (left + LANES >= stop) return any(changed != 0);
    }
}
