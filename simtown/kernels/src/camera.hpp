// The pinhole projection that every part of simtown shares; simtown/scenes/camera.py describes the frames.
#pragma once
#include "exact.hpp"

// Eye, right, up and forward vectors, focal length (pixels), principal point x and y of a camera's row.
static inline void fill_view(const float* camera, int64_t width, int64_t height, float* out)
{
    Turn yaw = sincos(camera[3]), pitch = sincos(camera[4]);
    const double widest = 16.0 / 9;
    double focal = (double)camera[5] * ((double)width <= widest * height ? (double)width : widest * height);
    out[0] = camera[0], out[1] = camera[1], out[2] = camera[2];
    out[3] = (float)yaw.cos, out[4] = (float)yaw.sin, out[5] = 0;
    out[6] = (float)(yaw.sin * pitch.sin), out[7] = (float)(-yaw.cos * pitch.sin), out[8] = (float)pitch.cos;
    out[9] = (float)(-yaw.sin * pitch.cos), out[10] = (float)(yaw.cos * pitch.cos), out[11] = (float)pitch.sin;
    out[12] = (float)focal, out[13] = (float)(width / 2.0), out[14] = (float)(height + focal * (double)camera[6]);
}

// From an object's frame (turned by (c, s), scaled, moved) to (right, up, forward).
struct Matrix {
    float m[3][3], t[3];
};

static inline Matrix object_to_camera(const float* view, float x, float y, float z, float c, float s, float scale)
{
    Matrix out;
    float dx = x - view[0], dy = y - view[1], dz = z - view[2];
    for (int row = 0; row < 3; row++) {
        const float* axis = view + 3 + 3 * row;
        out.m[row][0] = (axis[0] * c + axis[1] * s) * scale;
        out.m[row][1] = (-axis[0] * s + axis[1] * c) * scale;
        out.m[row][2] = axis[2] * scale;
        out.t[row] = axis[0] * dx + axis[1] * dy + axis[2] * dz;
    }
    return out;
}

// Project `count` vertices, given a row a coordinate: picture x and y in the units of `focal`, depth (metres), 1/depth.
static inline void project(const Matrix& matrix, float focal, float cx, float cy, const float* const* columns,
                           int64_t count, float* const* out)
{
    const float *__restrict xs = columns[0], *__restrict ys = columns[1], *__restrict zs = columns[2];
    float *__restrict across = out[0], *__restrict down = out[1], *__restrict depths = out[2], *__restrict inverses = out[3];
    const Matrix m = matrix;
    for (int64_t i = 0; i < count; i++) {
        float x = xs[i], y = ys[i], z = zs[i];
        float depth = m.m[2][0] * x + m.m[2][1] * y + m.m[2][2] * z + m.t[2];
        float inverse = 1.0f / most(depth, 1e-3f);
        across[i] = cx + focal * ((m.m[0][0] * x + m.m[0][1] * y + m.m[0][2] * z + m.t[0]) * inverse);
        down[i] = cy - focal * ((m.m[1][0] * x + m.m[1][1] * y + m.m[1][2] * z + m.t[1]) * inverse);
        depths[i] = depth;
        inverses[i] = inverse;
    }
}
