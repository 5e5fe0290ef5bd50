// What the processor's renderer works on: the town's meshes, a scene's numbers, and names for their columns.
#pragma once
#include <stdint.h>

// Columns of a light row (simtown/render/light.py).
enum Light { SUN_DIRECTION = 0, SUN = 3, SKY_LIGHT = 6, BOUNCE = 9, FOG = 12, TOP = 15, HORIZON = 18, VEIL = 21, VEHICLE_SUN = 24,
             DENSITY = 33, THICK, SNOW, WET, LAMPS_ON, SHADOW, CONTACT, FALL, AMOUNT, CLOUD_LIGHT, COVER, STARS, LIGHT_COLUMNS };
// Kinds of materials (simtown/assets/palette.py).
enum Kind { MATTE, GLASS, WINDOW, HEADLAMP, TAILLAMP, GLOW, TINT_WALL, TINT_ROOF, LEAF, GROUND, ROAD, TINT_CLOTH, CLOUD };
// What a mesh does to the ground: it casts a shadow, it stands on the ground; and whether it is a vehicle.
enum Role { CASTS = 1, STANDS = 2, VEHICLE = 4 };
enum { TINTS = 10, RAIN = 1 };
static const float NEAR = 2.0f;

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
    const float (*tints)[TINTS][3];
    int64_t materials_count;
};

// The town among the arguments of an entry point.
template <class Arguments> static inline Town town_of(const Arguments* in)
{
    int64_t v = in->vertices;
    return {{in->columns, in->columns + v, in->columns + 2 * v}, in->vertex_start, (const int32_t (*)[3])in->triangles,
            in->triangle_start, (const float (*)[4])in->normals, in->materials, in->parts, in->body, (const float (*)[3])in->hull,
            in->hull_start, (const float (*)[5])in->lamps, in->lamp_start, in->radius, in->girths, (const float (*)[4])in->bases,
            in->roles, (const float (*)[3])in->palette, in->kinds, (const float (*)[TINTS][3])in->tints, in->materials_count};
}

// The things of a scene by slot, the ground first: mesh (-1: none), x, y, z, cosine and sine of the yaw, scale, style and paint.
struct Things {
    int64_t count;
    const int32_t* meshes;
    const float (*poses)[6];
    const uint16_t* styles;
    const uint8_t *ids, *paints;
};

// The things of scene n among the arguments of an entry point.
template <class Arguments> static inline Things things_of(const Arguments* in, int64_t n)
{
    int64_t at = in->slots * n;
    return {in->slots, in->meshes + at, (const float (*)[6])in->poses + at, in->styles + at, in->ids, in->paints + at};
}
