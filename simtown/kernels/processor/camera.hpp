// Views of cameras, and many vertices through them.
#pragma once
#include "view.hpp"

static inline void fill_view(const float* camera, int64_t width, int64_t height, float* out)
{
    view_of(camera, turn_of(camera[3]), turn_of(camera[4]), (double)width, (double)height, out);
}

// Project `count` vertices, given a row a coordinate: picture x and y in the units of `focal`, depth (metres), 1/depth.
static inline void project(const Matrix& matrix, float focal, float cx, float cy, const float* const* columns,
                           int64_t count, float* const* out)
{
    const float *__restrict xs = columns[0], *__restrict ys = columns[1], *__restrict zs = columns[2];
    float *__restrict across = out[0], *__restrict down = out[1], *__restrict depths = out[2], *__restrict inverses = out[3];
    const float right[4] = {matrix.m[0][0], matrix.m[0][1], matrix.m[0][2], matrix.m[0][3]};
    const float up[4] = {matrix.m[1][0], matrix.m[1][1], matrix.m[1][2], matrix.m[1][3]};
    const float forward[4] = {matrix.m[2][0], matrix.m[2][1], matrix.m[2][2], matrix.m[2][3]};
    for (int64_t i = 0; i < count; i++) {
        Point p = {xs[i], ys[i], zs[i]};
        float depth = along(forward, p), inverse = 1.0f / most(depth, 1e-3f);
        across[i] = cx + focal * (along(right, p) * inverse);
        down[i] = cy - focal * (along(up, p) * inverse);
        depths[i] = depth;
        inverses[i] = inverse;
    }
}
