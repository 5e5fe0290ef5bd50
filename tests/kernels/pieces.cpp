// Parts of the kernels by themselves, for the tests.
#include "camera.hpp"
#include "entries.hpp"
#include "ground.hpp"

#define ENTRY extern "C" __attribute__((visibility("default"))) int64_t

namespace {
Canvas canvas_of(uint32_t* samples, int64_t stride, int64_t first, int64_t full, int64_t height)
{
    return {samples, stride, first, stride - WIDE, full, height};
}
} // namespace

// Draw triangles of any size, each nearest where it is: corners in 1/256 of a sample, 1/depth beside them.
ENTRY fill_triangles(const FillTriangles* in)
{
    Canvas canvas = canvas_of(in->samples, in->stride, in->first, in->full, in->height);
    for (int64_t t = 0; t < in->triangles; t++) {
        Corner corners[3];
        for (int i = 0; i < 3; i++) corners[i] = {in->corners[6 * t + 2 * i], in->corners[6 * t + 2 * i + 1], in->inverses[3 * t + i]};
        fill_triangle(canvas, corners[0], corners[1], corners[2], (uint32_t)(in->tag + t));
    }
    return 0;
}

// Set eight triangles up, and draw each that is a BOX into samples of its own.
ENTRY fill_boxes(const FillBoxes* in)
{
    const int32_t numbers[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    Records records;
    Canvas canvas = canvas_of(in->samples, in->stride, in->first, in->full, in->height);
    set_up(canvas, (const float (*)[4])in->spots, (const int32_t (*)[3])in->triangles, numbers, 0, records);
    for (int lane = 0; lane < LANES; lane++) {
        in->todo[lane] = records.todo[lane];
        canvas.samples = in->samples + lane * in->height * in->stride;
        if (records.todo[lane] == BOX) fill_box(canvas, records, lane, 1);
    }
    return 0;
}

ENTRY hull_corners(const HullCorners* in)
{
    return hull_of([&](int i) { return in->x[i]; }, [&](int i) { return in->y[i]; }, (int)in->points,
                   [&](int i) -> int64_t& { return in->order[i]; }, [&](int i) -> int64_t& { return in->out[i]; });
}

// Project points of an object's frame by a camera's view.
ENTRY project_points(const ProjectPoints* in)
{
    const float *pose = in->pose, *view = in->view;
    const float* columns[3];
    float* out[4];
    for (int i = 0; i < 3; i++) columns[i] = in->points + i * in->count;
    for (int i = 0; i < 4; i++) out[i] = in->out + i * in->count;
    project(object_to_camera(view, {pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]}), view[12], view[13], view[14], columns, in->count, out);
    return 0;
}
