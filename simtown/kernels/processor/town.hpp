// What the processor's renderer works on: the town's meshes and a scene's things.
#pragma once
#include "view.hpp"

// The town's meshes (`Atlas` in simtown/assets/atlas.py) and the palette.
struct Town {
    const float* columns[3];
    const int64_t* vertex_start;
    const int32_t (*triangles)[3];
    const int64_t* triangle_start;
    const float (*normals)[4];
    const uint8_t *materials, *parts;
    const bool* body;
    const float (*hull)[3];
    const int64_t* hull_start;
    const float (*lamps)[5];
    const int64_t* lamp_start;
    const float *radius, *girths;
    const float (*bases)[4];
    const uint8_t* roles;
    const float (*palette)[3];
    const uint8_t* kinds;
    const float (*tints)[3];
    int64_t materials_count, vertices, triangles_count;
};

// The town among the arguments of an entry point.
template <class Arguments> static inline Town town_of(const Arguments* in)
{
    int64_t v = in->vertices;
    return {{in->columns, in->columns + v, in->columns + 2 * v}, in->vertex_start, (const int32_t (*)[3])in->triangles,
            in->triangle_start, (const float (*)[4])in->normals, in->materials, in->parts, in->body, (const float (*)[3])in->hull,
            in->hull_start, (const float (*)[5])in->lamps, in->lamp_start, in->radius, in->girths, (const float (*)[4])in->bases,
            in->roles, (const float (*)[3])in->palette, in->kinds, (const float (*)[3])in->tints, in->materials_count, v,
            in->triangles_count};
}

// The things of a scene by slot, the ground first: mesh (-1: none), pose, style and paint.
struct Things {
    int64_t count;
    const int32_t* meshes;
    const Pose* poses;
    const uint16_t* styles;
    const uint8_t *ids, *paints;
};

// The things of scene n among the arguments of an entry point.
template <class Arguments> static inline Things things_of(const Arguments* in, int64_t n)
{
    int64_t at = in->slots * n;
    return {in->slots, in->meshes + at, (const Pose*)in->poses + at, in->styles + at, in->ids, in->paints + at};
}
