// The pinhole projection that every part of simtown shares; simtown/scenes/camera.py describes the frames.
#pragma once
#include "exact.hpp"
#include "names.hpp"

struct Pose {
    float x, y, z, c, s, scale; // metres; cosine and sine of the yaw
};
// From an object's frame to (right, up, forward), metres.
struct Matrix {
    float m[3][4];
};
struct Point {
    float x, y, z;
};

// Eye, right, up and forward vectors, focal length (pixels), principal point x and y of a camera's row.
SHARED void view_of(const float* camera, Turn yaw, Turn pitch, double width, double height, float* view)
{
    const double widest = 16.0 / 9.0;
    double focal = (double)camera[5] * (width <= widest * height ? width : widest * height);
    view[0] = camera[0], view[1] = camera[1], view[2] = camera[2];
    view[3] = (float)yaw.cos, view[4] = (float)yaw.sin, view[5] = 0.0f;
    view[6] = (float)(yaw.sin * pitch.sin), view[7] = (float)(-yaw.cos * pitch.sin), view[8] = (float)pitch.cos;
    view[9] = (float)(-yaw.sin * pitch.cos), view[10] = (float)(yaw.cos * pitch.cos), view[11] = (float)pitch.sin;
    view[12] = (float)focal, view[13] = (float)(width / 2.0), view[14] = (float)(height + focal * (double)camera[6]);
}

SHARED Matrix object_to_camera(const float* view, const Pose& p)
{
    Matrix out;
    float dx = p.x - view[0], dy = p.y - view[1], dz = p.z - view[2];
    for (int row = 0; row < 3; row++) {
        const float* v = view + 3 + 3 * row;
        out.m[row][0] = (v[0] * p.c + v[1] * p.s) * p.scale;
        out.m[row][1] = (-v[0] * p.s + v[1] * p.c) * p.scale;
        out.m[row][2] = v[2] * p.scale;
        out.m[row][3] = v[0] * dx + v[1] * dy + v[2] * dz;
    }
    return out;
}

SHARED float along(const float* row, Point p) { return row[0] * p.x + row[1] * p.y + row[2] * p.z + row[3]; }
SHARED Point moved(const Matrix& matrix, Point p) { return {along(matrix.m[0], p), along(matrix.m[1], p), along(matrix.m[2], p)}; }

// The eye, or the sun's direction, in the frame of an object.
SHARED Point eye_from(const float* view, const Pose& p)
{
    float dx = view[0] - p.x, dy = view[1] - p.y, dz = view[2] - p.z;
    return {(p.c * dx + p.s * dy) / p.scale, (-p.s * dx + p.c * dy) / p.scale, dz / p.scale};
}
SHARED Point sun_from(const float* light, const Pose& p) { return {p.c * light[0] + p.s * light[1], -p.s * light[0] + p.c * light[1], light[2]}; }

// Slopes of the rays at the left and the right side of samples `first` to `first + width`, and the lengths of these rays.
struct Sides {
    float low, high, low_norm, high_norm;
};
SHARED Sides sides_of(const float* view, int first, int width)
{
    float focal = 2.0f * view[12], cx = 2.0f * view[13], low = ((float)first - cx) / focal, high = ((float)(first + width) - cx) / focal;
    return {low, high, sqrtf(1.0f + low * low), sqrtf(1.0f + high * high)};
}

// Whether a thing lies wholly behind the near plane, or beside these sides. `girth` is how far it reaches from its axis: the
// camera does not roll, so only a pitch brings height in.
SHARED bool unseen(const float* view, const Sides& sides, const Matrix& matrix, float radius, float girth)
{
    float right = matrix.m[0][3], forward = matrix.m[2][3], lean = size_of(view[11]) * radius;
    if (forward + radius < NEAR) return true;
    return right - sides.low * forward < -(girth * sides.low_norm + size_of(sides.low) * lean)
        || right - sides.high * forward > girth * sides.high_norm + size_of(sides.high) * lean;
}
