// From a triangle in the camera's frame to whole numbers on the screen: what is cut off, its depth, its inner edges.
#pragma once
#include "view.hpp"

constexpr int CUT_CORNERS = 9; // of a triangle that five planes have cut

// How far a point of the camera's frame lies inside a bound: the near plane (0), and REACH to the left, right, below, above.
SHARED float inside_bound(Point p, int side, float focal)
{
    if (side == 0) return p.z - NEAR;
    float across = side <= 2 ? p.x : p.y;
    return p.z * (float)(REACH / 512) + (side % 2 == 1 ? focal * across : -focal * across);
}

// Cut a triangle that crosses the near plane or reaches far out. `spot` holds its corners, and then what is left of it, a convex
// polygon with x and y in whole 1/256 of a sample and 1/depth; `cut` is room. Returns how many corners are left.
SHARED int cut_triangle(Point* spot, Point* cut, float focal, float cx, float cy)
{
    Point* first = spot;
    int n = 3;
    for (int side = 0; side < 5; side++) {
        int kept = 0;
        for (int i = 0; i < n; i++) {
            Point p = spot[i], q = spot[i + 1 == n ? 0 : i + 1];
            float a = inside_bound(p, side, focal), b = inside_bound(q, side, focal);
            if (a >= 0) cut[kept++] = p;
            if ((a >= 0) != (b >= 0)) { // from the inner corner on, so that two triangles cut the edge they share alike
                if (a < 0) {
                    Point other = p;
                    p = q, q = other;
                    float swapped = a;
                    a = b, b = swapped;
                }
                float s = a / (a - b);
                cut[kept++] = {p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), side == 0 ? NEAR : p.z + s * (q.z - p.z)};
            }
        }
        Point* other = spot;
        spot = cut, cut = other;
        n = kept;
    }
    for (int i = 0; i < n; i++) { // after five exchanges `spot` is the room
        Point p = spot[i];
        float w = 1.0f / p.z;
        first[i] = {floorf((cx + focal * p.x * w) * SNAP + 0.5f), floorf((cy - focal * p.y * w) * SNAP + 0.5f), w};
    }
    return n;
}

// The low 32 bits of a number, rounded towards zero. Slivers have slopes beyond s64, which processors round in their own ways.
SHARED u32 low_bits(double x) { return (u32)(s64)least(most(x, -4e18), 4e18); }

// A triangle's depth values: at the first sample of its box, and their steps.
struct Slopes {
    u32 value, step_x, step_y;
};
// Corners in 1/256 of a sample, as they run clockwise, with 1/depth; twice the area; the first sample.
template <class Whole> SHARED Slopes slopes_of(Whole x0, Whole y0, float w0, Whole x1, Whole y1, float w1, Whole x2, Whole y2, float w2,
                                               s64 area, Whole left, Whole top)
{
    double inverse = FULL / (double)area, aw = (double)(w1 - w0) * inverse, bw = (double)(w2 - w0) * inverse;
    double slope_x = aw * (double)(y2 - y0) - bw * (double)(y1 - y0), slope_y = bw * (double)(x1 - x0) - aw * (double)(x2 - x0);
    double start = (double)w0 * FULL + slope_x * (double)(256 * left - x0) + slope_y * (double)(256 * top - y0);
    return {low_bits(start), low_bits(256.0 * slope_x), low_bits(256.0 * slope_y)};
}
