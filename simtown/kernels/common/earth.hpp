// Shadows, the dark under things and the light of lamps as shapes on the ground.
//
// Ground lies at one depth all along a row, so places on it are linear in the row's samples. Every shape is a smooth function
// of its place: no edge is drawn twice, and no size of picture shows steps.
#pragma once
#include "heaven.hpp"
#include "view.hpp"

constexpr float FAINT = 0.06f;                 // shadows that are fainter are none
constexpr float GRID = 256.0f;                 // a shadow's corners lie on a grid of so many to the metre
constexpr float EDGE = 0.035f, SOFTER = 0.085f; // how soft its edge is, metres: on the ground, and more for every metre above it
constexpr float SPREAD = 0.34f;                // how far the dark under a thing reaches beyond it, metres
constexpr float UNDER_VEHICLE = 1.0f, UNDER_PROP = 0.7f;
constexpr float CONE = 6.5f, APEX = 0.22f, OPENING = 0.24f; // of a headlamp: length, half width at the lamp, and its growth a metre
constexpr float BRIGHT = 0.3f, POOL = 3.3f, LANTERN = 3.4f, BEACON = 2.2f;
constexpr float STREAK_LENGTH = 1.5f, STREAK_WIDTH = 0.16f;

// The ground that a row of samples shows: its depth (0: none), the point at sample 0, and the steps a sample.
struct Line {
    float depth, x, y, dx, dy;
};
SHARED Line ground_line(const float* view, int y)
{
    float slope = row_slope(view, y), down = -(view[11] + slope * view[8]);
    if (down <= 1e-3f || view[2] <= 0) return {};
    float depth = view[2] / down, side = -view[13] / view[12] * depth, step = 0.5f / view[12] * depth;
    return {depth, view[0] + depth * (view[9] + slope * view[6]) + side * view[3],
            view[1] + depth * (view[10] + slope * view[7]) + side * view[4], step * view[3], step * view[4]};
}

// Rows of samples, the last one not among them.
struct Rows {
    int top, bottom;
};

// Those in which ground of depths `near` to `far` may lie.
SHARED Rows ground_rows(const float* view, int height, float near, float far)
{
    if (far <= NEAR || view[2] <= 0) return {0, 0};
    if (view[8] < 0.05f) return {0, height};
    float limit = (float)height, high = view[14] + view[12] * (view[2] / far + view[11]) / view[8], low = limit;
    if (near > 0.5f) low = least(view[14] + view[12] * (view[2] / near + view[11]) / view[8], limit);
    high = least(most(high, 0.0f), limit), low = most(low, 0.0f);
    return {most((int)(2.0f * high) - 1, 0), least((int)(2.0f * low) + 2, height)};
}

SHARED float depth_of(const float* view, float x, float y) { return view[9] * (x - view[0]) + view[10] * (y - view[1]) - view[11] * view[2]; }

// How much deeper than its middle a rectangle of these half sizes reaches; its length is along (c, s).
SHARED float depth_reach(const float* view, float c, float s, float along, float across)
{
    return size_of(view[9] * c + view[10] * s) * along + size_of(view[10] * c - view[9] * s) * across;
}

// Whether ground within `reach` of (x, y) is beside samples `first` to `first + width`, or behind the camera.
SHARED bool out_of_view(const float* view, int first, int width, float x, float y, float reach)
{
    float far = depth_of(view, x, y) + reach;
    if (far <= NEAR) return true;
    float right = view[3] * (x - view[0]) + view[4] * (y - view[1]);
    float left_edge = 0.5f * (float)first - view[13], right_edge = 0.5f * (float)(first + width) - view[13];
    float low = (right - reach) * view[12], high = (right + reach) * view[12];
    return (low > right_edge * far && right_edge >= 0) || (high < left_edge * far && left_edge <= 0);
}

// Rows in which a rectangle on the ground may lie.
SHARED Rows rectangle_rows(const float* view, int height, float x, float y, float c, float s, float along, float across)
{
    float depth = depth_of(view, x, y), reach = depth_reach(view, c, s, along, across);
    return ground_rows(view, height, depth - reach, depth + reach);
}

// Where a thing's shadow reaches, from its middle, metres.
SHARED float shadow_reach(const float* light, const Pose& p, float radius)
{
    return (radius * p.scale + size_of(p.z)) * (1.0f + size_of(light[0] / light[2]) + size_of(light[1] / light[2]));
}

// How far a shadow's edge reaches beyond the corner that a point of a thing's hull throws.
SHARED float softness(const Pose& p, float z) { return EDGE + SOFTER * most(p.z + p.scale * z, 0.0f); }

// The corner of a shadow that a point of a thing's hull throws: on the grid, how soft the edge is there, and its depth.
struct Thrown {
    float x, y, soft, depth;
};
SHARED Thrown thrown(const float* view, const float* light, const Pose& p, float x, float y, float z)
{
    float above = most(p.z + p.scale * z, 0.0f);
    float gx = floorf((p.x + p.scale * (p.c * x - p.s * y) - light[0] / light[2] * above) * GRID + 0.5f);
    float gy = floorf((p.y + p.scale * (p.s * x + p.c * y) - light[1] / light[2] * above) * GRID + 0.5f);
    return {gx, gy, softness(p, z), depth_of(view, gx / GRID, gy / GRID)};
}

// A shadow's edge: a x + b y + c is 0 outside of the soft rim and 1 within.
struct Edge {
    float a, b, c;
};

// That from corner p to corner q, of which the edge is so soft; false for one that is too short.
SHARED bool edge_of(float px, float py, float soft_p, float qx, float qy, float soft_q, Edge& edge)
{
    px = px / GRID, py = py / GRID, qx = qx / GRID, qy = qy / GRID;
    float dx = qx - px, dy = qy - py, length = sqrtf(dx * dx + dy * dy);
    if (!(length >= 0.02f)) return false;
    float nx = -dy / length, ny = dx / length;
    float tilt = (soft_q - soft_p) / length; // the outer rim leaves the edge where the thing is higher
    float mx = nx + tilt * dx / length, my = ny + tilt * dy / length;
    float scale = 0.5f / ((soft_p + soft_q) * 0.5f * sqrtf(1.0f + tilt * tilt));
    mx = mx * scale, my = my * scale;
    edge = {mx, my, -(mx * (px - nx * soft_p) + my * (py - ny * soft_p))};
    return true;
}

// The convex hull of n points on the grid, counter-clockwise, by their numbers: order(i) becomes them sorted by x, chain(i) the
// corners. Returns how many. In whole numbers: rounding would fold corners that lie in a line.
template <class X, class Y, class Order, class Chain> SHARED int hull_of(X x, Y y, int n, Order order, Chain chain)
{
    for (int i = 0; i < n; i++) {
        int j = i;
        for (; j > 0; j--) {
            int k = order(j - 1);
            if (x(k) < x(i) || (x(k) == x(i) && y(k) <= y(i))) break;
            order(j) = k;
        }
        order(j) = i;
    }
    int size = 0;
    for (int sweep = 0; sweep < 2; sweep++) {
        int floor = most(size, 1); // corners of the chain that stay: its first one
        for (int i = 0; i < n; i++) {
            int k = order(sweep == 0 ? i : n - 1 - i);
            for (; size > floor; size--) {
                int a = chain(size - 2), b = chain(size - 1);
                s64 ax = (s64)x(a), ay = (s64)y(a);
                if (((s64)x(b) - ax) * ((s64)y(k) - ay) - ((s64)y(b) - ay) * ((s64)x(k) - ax) > 0) break;
            }
            if (i > 0 || sweep == 0) chain(size++) = k;
        }
    }
    return size - 1;
}

// The soft dark rectangle under a thing that stands on the ground.
struct alignas(16) Contact {
    float x, y, c, s, half_u, half_v, strength, pad;
};
// `base`: middle and half sizes of what of the thing is near the ground.
SHARED Contact contact_of(const Pose& p, const float* base, int role)
{
    return {p.x + p.scale * (p.c * base[0] - p.s * base[1]), p.y + p.scale * (p.s * base[0] + p.c * base[1]), p.c, p.s,
            base[2] * p.scale, base[3] * p.scale, role & VEHICLE ? UNDER_VEHICLE : UNDER_PROP, 0.0f};
}

// Light of a lamp on the ground: a cone, or an ellipse.
struct Beam {
    bool cone;
    float x, y, c, s, along, across, red, green, blue;
};

// What a lamp throws: a cone before a headlamp, a pool under a lantern or a beacon; or, if `mirrored`, its reflection where a
// mirror on the ground would show it, drawn out towards the eye. False for none.
SHARED bool beam_of(const float* view, const float* light, const Pose& p, Point lamp, int kind, Rgb colour, bool mirrored, Beam& beam)
{
    float power = (light[LAMPS_ON] - BRIGHT) / (1.0f - BRIGHT), wet = light[WET];
    if (!(power > 0)) return false;
    float x = p.x + p.scale * (p.c * lamp.x - p.s * lamp.y), y = p.y + p.scale * (p.s * lamp.x + p.c * lamp.y), high = p.z + p.scale * lamp.z;
    float c = p.c, s = p.s, along, across, f, red = colour.r, green = colour.g, blue = colour.b;
    bool cone = false;
    if (mirrored) {
        float dx = view[0] - x, dy = view[1] - y, distance = sqrtf(dx * dx + dy * dy), share = high / (high + view[2]);
        if (!(wet > 0.1f && high > 0.1f && distance > 1.0f && view[2] > 0)) return false;
        x = x + share * dx, y = y + share * dy, c = dx / distance, s = dy / distance;
        along = STREAK_LENGTH, across = STREAK_WIDTH, f = 1.5f * wet * power;
    } else if (kind == HEADLAMP) {
        cone = true;
        along = CONE, across = APEX + OPENING * CONE, f = 0.85f * power;
        red = 1.0f, green = 0.93f, blue = 0.74f;
    } else if (kind == GLOW && high > LANTERN) {
        along = across = POOL, f = power;
        red = 1.0f, green = 0.80f, blue = 0.46f;
    } else if (kind == GLOW && !(red > 0.9f && green > 0.8f)) {
        along = across = BEACON, f = 0.5f * power;
    } else return false;
    beam = {cone, x, y, c, s, along, across, f * red, f * green, f * blue};
    return true;
}

// What light of a lamp adds to the darkest ground: a small part of the lamp's colour.
SHARED u32 glow_level(float light) { return (u32)(least(light, 2.0f) * 1150.0f); }

// A value that is linear along a row of ground, by pairs of samples.
struct Linear {
    float base, slope;
};
template <class T> SHARED T value_at(Linear l, T x) { return l.base + l.slope * x; }
// A row in the frame of a shape at (x, y) that is turned by (c, s): ahead of it and beside it.
struct Frame {
    Linear u, v;
};
// `gx`, `gy` are the place of the row's first pair, `dx`, `dy` the step to the next.
SHARED Frame frame_of(float gx, float gy, float dx, float dy, float x, float y, float c, float s)
{
    float ax = gx - x, ay = gy - y;
    return {{c * ax + s * ay, c * dx + s * dy}, {c * ay - s * ax, c * dy - s * dx}};
}

// A part of a row, in pairs of samples.
struct Span {
    float low, high;
};
// The part of a span of `wide` pairs from `first` on in which |value| may be below `limit`.
SHARED Span narrowed(Span span, int first, int wide, Linear value, float limit)
{
    if (size_of(value.slope) * (float)wide < 1e-6f * limit) {
        float middle = value_at(value, (float)first);
        return size_of(middle) <= limit * 1.01f ? span : Span{span.high, span.low};
    }
    float a = (-limit - value.base) / value.slope, b = (limit - value.base) / value.slope;
    return {most(span.low, least(a, b)), least(span.high, most(a, b))};
}

// What the dark under a thing leaves of the light at (u, v); `strength` is its own.
template <class T> SHARED T kept(T u, T v, float half_u, float half_v, float strength)
{
    u = clamped((half_u + SPREAD - size_of(u)) * (0.5f / SPREAD));
    v = clamped((half_v + SPREAD - size_of(v)) * (0.5f / SPREAD));
    return 1.0f - strength * smooth(u) * smooth(v);
}

// Light of a headlamp on the ground, u metres ahead of it and v beside its axis, smooth from 1 to 0.
template <class T> SHARED T cone_light(T u, T v)
{
    T ahead = most(u, T{}), q = v / (APEX + OPENING * ahead), beam = most(1.0f - q * q, T{});
    T left = most(1.0f - ahead * (float)(1.0 / 6.5), T{});
    return beam * beam * left * left * smooth(clamped(u * 1.6f + 0.25f));
}
// Light in an ellipse, smooth from 1 to 0.
template <class T> SHARED T pool_light(T u, T v, float inverse_u, float inverse_v)
{
    u = u * inverse_u, v = v * inverse_v;
    T part = most(1.0f - u * u - v * v, T{});
    return part * part;
}
