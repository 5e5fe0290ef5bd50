// Places on the ground, as ground.hpp has them. `view` is a row of Job.views.
#pragma once
#include "job.cuh"

// Where a row of samples meets the ground: depth (0: nowhere), the point at sample 0, and the step to the next sample.
struct Line { float depth, x, y, dx, dy; };

constexpr float SPREAD = 0.34f;                // how far the dark under a thing reaches beyond it, metres
constexpr float APEX = 0.22f, OPENING = 0.24f; // half width of a head lamp's cone: at the lamp, and how much it grows a metre

__device__ __forceinline__ float row_slope(const float* view, int y) { return (view[14] - 0.5f * (float)y) / view[12]; }

__device__ __forceinline__ Line ground_line(const float* view, int y)
{
    float slope = row_slope(view, y), down = -(view[11] + slope * view[8]);
    if (down <= 1e-3f || view[2] <= 0) return {};
    float depth = view[2] / down, side = -view[13] / view[12] * depth, step = 0.5f / view[12] * depth;
    return {depth, view[0] + depth * (view[9] + slope * view[6]) + side * view[3],
            view[1] + depth * (view[10] + slope * view[7]) + side * view[4], step * view[3], step * view[4]};
}

// The first row of samples, and the one behind the last, in which ground of depths `near` to `far` may lie. Writes nothing and returns
// false if there is none. Numbers beyond 32 bits become the largest ones, which lie outside of every picture too.
__device__ __forceinline__ bool ground_rows(const float* view, int height, float near, float far, Shape& shape)
{
    int top = 0, bottom = height;
    if (far <= NEAR || view[2] <= 0) return false;
    if (view[8] >= 0.05f) {
        float high = view[14] + view[12] * (view[2] / far + view[11]) / view[8], low = (float)height;
        if (near > 0.5f) low = fminf(view[14] + view[12] * (view[2] / near + view[11]) / view[8], low);
        top = max((int)(2.0f * fmaxf(high, 0.0f)) - 1, 0);
        bottom = min((int)(2.0f * fmaxf(low, 0.0f)) + 2, height);
    }
    if (top >= bottom) return false;
    shape.top = (s16)top, shape.bottom = (s16)bottom;
    return true;
}

__device__ __forceinline__ float depth_of(const float* view, float x, float y)
{
    return view[9] * (x - view[0]) + view[10] * (y - view[1]) - view[11] * view[2];
}

// How much deeper or nearer than its middle a rectangle of these half sizes reaches, its length along (c, s).
__device__ __forceinline__ float depth_reach(const float* view, float c, float s, float along, float across)
{
    return fabsf(view[9] * c + view[10] * s) * along + fabsf(view[10] * c - view[9] * s) * across;
}

// Whether ground within `reach` of (x, y) lies wholly beside the picture of `wide` samples, or behind the camera.
__device__ __forceinline__ bool out_of_view(const float* view, int wide, float x, float y, float reach)
{
    float far = depth_of(view, x, y) + reach;
    if (far <= NEAR) return true;
    float right = view[3] * (x - view[0]) + view[4] * (y - view[1]);
    float left_edge = -view[13], right_edge = 0.5f * (float)wide - view[13];
    float low = (right - reach) * view[12], high = (right + reach) * view[12];
    return (low > right_edge * far && right_edge >= 0) || (high < left_edge * far && left_edge <= 0);
}

// A part of a row, in pairs of samples.
struct Span { float low, high; };

// The part of a span of `wide` pairs in which |base + slope * x| may be below `limit`.
__device__ __forceinline__ Span narrowed(Span span, int wide, float base, float slope, float limit)
{
    if (fabsf(slope) * (float)wide < 1e-6f * limit) {
        if (fabsf(base) <= limit * 1.01f) return span;
        return {span.high, span.low};
    }
    float a = (-limit - base) / slope, b = (limit - base) / slope;
    return {fmaxf(span.low, fminf(a, b)), fminf(span.high, fmaxf(a, b))};
}
