// Entry point: the colours that a viewer sees of vehicles (simtown/language/meaning/colours.py).
#include "entries.hpp"
#include "exact.hpp"

// The sums of the solid angles of faces, by colour: a face is painted (a place among colours) or has the body's paint (-1).
extern "C" __attribute__((visibility("default"))) int64_t see_colours(const SeeColours* in)
{
    for (int64_t n = 0; n < in->scenes; n++)
        for (int64_t slot = 0; slot < in->vehicles; slot++) {
            int64_t at = n * in->vehicles + slot, kind = in->entity[at];
            if (kind < 0) continue;
            const float *pose = in->pose + 3 * at, *camera = in->camera + 7 * n;
            double *shares = in->shares + at * in->colours, x = (double)camera[0] - pose[0], y = (double)camera[1] - pose[1], total = 0;
            Turn turn = turn_of(pose[2]);
            double eye[3] = {x * turn.cos + y * turn.sin, y * turn.cos - x * turn.sin, camera[2]};
            for (int64_t face = in->start[kind]; face < in->start[kind + 1]; face++) {
                const double *middle = in->middle + 3 * face, *area = in->area + 3 * face;
                double ray[3] = {eye[0] - middle[0], eye[1] - middle[1], eye[2] - middle[2]};
                double towards = ray[0] * area[0] + ray[1] * area[1] + ray[2] * area[2];
                int64_t colour = in->colour[face] < 0 ? in->body[at] : in->colour[face];
                if (towards <= 0 || colour < 0) continue;
                double square = ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2], angle = towards / (square * sqrt(square));
                shares[colour] += angle, total += angle;
            }
            for (int64_t k = 0; total > 0 && k < in->colours; k++) shares[k] /= total;
        }
    return 0;
}
