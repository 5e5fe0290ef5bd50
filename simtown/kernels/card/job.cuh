// What the kernels share: the town, a batch of scenes, and working memory. layout.py says the same in NumPy.
//
// Arithmetic must be the processor's, bit for bit: compiled without contraction, in the order of the headers that both compile.
#pragma once
#include "earth.hpp"

constexpr int LIGHT_STRIDE = 48; // floats from one light row to the next
constexpr int VIEW_STRIDE = 16;

constexpr int MOST_SLOTS = 256;  // the ground and 255 things
constexpr int MOST_EDGES = 16;   // of a shadow

// What never changes: the atlas, laid out for the card.
struct Town {
    const float* vertices;        // (v, 4) x, y, z, 0: metres, object frame
    const s32* triangles;         // (t, 4) rows of vertices; and material | part << 8 | body << 16
    const float* normals;         // (t, 4) unit normal and the plane's distance
    const s32* triangle_start;    // (m + 1)
    const float* hull;            // (h, 4) x, y, z, 0
    const s32* hull_start;        // (m + 1)
    const float* lamps;           // (l, 4) x, y, z, material
    const s32* lamp_start;        // (m + 1)
    const float* radius;          // (m)
    const float* girths;          // (m)
    const float* bases;           // (m, 4) middle and half sizes of what is near the ground
    const u8* roles;              // (m)
    const u8* own_paint;          // (m)
    const s16* in_pose;           // (props, poses) mesh of a kind of prop in a pose
    const float* palette;         // (c, 4) r, g, b, 0
    const u8* kinds;              // (c)
    const float* tints;           // (3, TINTS, 4)
    const double* looks;          // (weathers, 2, LIGHT_COLUMNS - 3) light.py's table
    s32 entities, meshes, materials, poses;
};

// A thing of a scene, placed: filled by `setup`, a slot each; slot 0 is the ground, then vehicles, then props.
struct Place {
    Matrix matrix;
    Point eye, sun;               // seen from the object
    Pose pose;
    s32 mesh;                     // -1: nothing
    u32 look;                     // style | paint << 16 | role << 24
    u32 pad[2];
};                                // 112 bytes, so that float4 can be read

// A row of samples, which a scene's pixels share: filled by `setup`.
struct __align__(16) Row {
    float depth, air, x, y;       // of the ground (0: none), fog's share left, the point between samples 0 and 1
    float dx, dy;                 // and from there to the next pair of samples
    u32 sky_rg, sky_b;            // the clear sky, levels 0 to 4080: red | green << 16, blue
    u32 cloud_rg, cloud_b;        // where clouds are densest, and the sky that thinner ones are mixed with: of this row, or of the last
    u32 under_rg, under_b;        // one above it in which sky.paint_sky paints clouds
};                                // 48 bytes

// Where on the picture a shape on the ground may be: filled by `setup`.
struct __align__(16) Shape {
    s16 top, bottom, left, right; // samples, behind the last; left and right may be wider than need be, never narrower
    s32 number;                   // its own in the list: of its contact, pool or row of edges
    s32 edges;                    // of a shadow; of a pool: 1 for a head lamp's cone
};                                // 16 bytes
struct __align__(16) Pool { float x, y, c, s, along, across; u32 rg, b; }; // light as glow_of packs it, red | green << 16
struct __align__(16) Halo { float x, y, radius, depth; float r, g, b, pad; }; // pixels, metres; the lamp's colour

// A triangle on the screen, or a part of one: filled by `arrange`, read by `draw`.
struct Box { s16 left, right, top, bottom; };        // samples, behind the last
struct __align__(16) Record {                                       // 48 bytes
    s32 e[3];                                         // edge functions at the box's first sample
    u32 value, step_x, step_y;                        // depth there, and its steps
    s16 ax, ay, bx, by;                               // two edges, 1/256 sample; the third closes
    float inverse[3];                                 // 1 / |dy| of every edge, 256 where that is 0
    u16 tag, pad;
};
struct Large {                                        // the same for one too large for 32 bits; 88 bytes
    s64 e[3];
    double inverse[3];
    s32 ax, ay, bx, by;
    u32 value, step_x, step_y;
    u16 tag, pad;
    Box box;
};

// Numbers of a scene: filled by `setup` and `arrange`.
struct Counts { s32 faces, pieces, larges, shadows, contacts, pools, halos, pad; };

// One launch.
struct Job {
    Town town;
    // the batch, as SceneBatch has it, n scenes
    const s16* entity;            // (n, vehicles)
    const float* pose;            // (n, vehicles, 3)
    const s8* paint;              // (n, vehicles)
    const s16* prop;              // (n, props)
    const float* prop_pose;       // (n, props, 5)
    const u16* prop_style;        // (n, props)
    const u8* weather;            // (n)
    const float* intensity;       // (n)
    const float* sun;             // (n, 2)
    const u32* fall_seed;         // (n)
    const float* camera;          // (n, 7)
    // working memory
    float* views;                 // (n, VIEW_STRIDE)
    float* lights;                // (n, LIGHT_STRIDE)
    Row* rows;                    // (n, 2 height + 1)
    Place* places;                // (n, slots)
    s32* ends;                    // (n, slots + 1) triangles to look at in the slots before
    Counts* counts;               // (n)
    Shape* shadow_shapes;         // (n, slots)
    float* shadow_edges;          // (n, slots, MOST_EDGES, 4) a, b, c, 0: the value at (x, y) is a x + b y + c
    Shape* contact_shapes;        // (n, slots) in the order of slots
    Contact* contacts;            // (n, slots)
    Shape* pool_shapes;           // (n, 2 lamps): a lamp has its light and its reflection
    Pool* pools;                  // (n, 2 lamps)
    Halo* halos;                  // (n, lamps) in the order of slots and lamps, of those whose middle is on the picture
    u32* faces;                   // (n, most_faces) slot << 24 | triangle of the mesh: those that face the camera
    u64* packed;                  // (n, most_faces + 1) colours by tag
    float* flats;                 // (n, ground_faces + 1, 4) colour less fog's of what lies flat on the ground, by tag
    float* planes;                // (n, most_faces + 1, 4) depth planes by tag
    u8* owners;                   // (n, most_faces + 1) instance ids by tag
    Box* boxes;                   // (n, most_pieces)
    Record* records;              // (n, most_pieces)
    u8* lengths;                  // (n, most_pieces) samples of the longest row, about
    Large* larges;                // (n, most_larges)
    u32* samples;                 // (n, strips, 2 height + 1, 65) of wet scenes; null if there are none
    u8* failed;                   // (n) 1: a scene has more triangles than there is room for, and is not drawn
    u16* nearness;                // (n, height, width) of scenes with something over the picture; null if there are none
    // pictures
    u8* rgb;                      // (n, height, width, 3)
    float* depth;                 // (n, height, width), or null
    u8* ids;                      // (n, height, width), or null
    s32 scenes, vehicles, props, slots, width, height, lamps, most_faces, most_pieces, most_larges, ground_faces, pad;
};
