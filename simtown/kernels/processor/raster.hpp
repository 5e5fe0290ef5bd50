// One scene after the other, from placed meshes to pixels.
//
// Samples lie twice as dense as pixels with one at every pixel's middle: sample i of a row stands at pixel coordinate i / 2,
// and pixel p owns samples 2p to 2p + 2. Ids and depth are read at the middle sample, colour through the tent filter [1 2 1]
// of all nine. A wide picture is drawn in strips of columns, each as high as the picture: the same samples, a strip at a time.
#pragma once
#include <stdlib.h>
#include "camera.hpp"
#include "effects.hpp"
#include "fill.hpp"
#include "ground.hpp"
#include "packing.hpp"
#include "sky.hpp"
#include "town.hpp"

enum { MOST_MATERIALS = 256 };

// A triangle flat on the ground: its number, the rows of samples in which it may lie, and its flag.
struct Flat {
    int32_t number, top, bottom, flag;
};

// Memory for the samples of a strip; triangle t (from 1) leaves its colour, instance and depth plane.
struct Scratch {
    float (*spots)[4]; // of a mesh's vertices: x and y in whole 1/256 of a sample, depth, 1/depth
    int32_t *facing, *drawn, *starts, *following, *active, *bottoms, *shares;
    float (*colours)[4], (*planes)[4], *means, *cover;
    uint8_t *owners, *wet_blocks;
    uint64_t *packed, *evens, *odds, *sums, *mirrored;
    Flat* flat;
    uint16_t* nearness;
    float plain[2][MOST_MATERIALS][9]; // what a face of a colour has whatever its normal, from above, and from the sun
};

// Fill what is left of a triangle that crosses the near plane or reaches far out.
static bool fill_clipped(Canvas canvas, const Matrix& matrix, float focal, float cx, float cy, const Town& town, int64_t t, uint32_t tag)
{
    Point spot[CUT_CORNERS], room[CUT_CORNERS];
    for (int i = 0; i < 3; i++) {
        int32_t k = town.triangles[t][i];
        spot[i] = moved(matrix, {town.columns[0][k], town.columns[1][k], town.columns[2][k]});
    }
    int n = cut_triangle(spot, room, focal, cx, cy);
    auto corner = [&](int i) { return Corner{(int64_t)spot[i].x, (int64_t)spot[i].y, spot[i].z}; };
    bool seen = false;
    for (int i = 1; i < n - 1; i++) seen |= fill_triangle(canvas, corner(0), corner(i), corner(i + 1), tag);
    return seen;
}

// Ask for the tables of a mesh, which the caches rarely hold, before its turn: for their beginnings, which start the processor's
// own prefetching.
static void prefetch_mesh(const Town& town, int32_t mesh)
{
    int64_t vertex = town.vertex_start[mesh], triangle = town.triangle_start[mesh];
    auto ask = [](const void* begin) {
        for (int line = 0; line < 4; line++) __builtin_prefetch((const char*)begin + 64 * line);
    };
    for (const float* column : town.columns) ask(column + vertex);
    ask(town.normals + triangle), ask(town.triangles + triangle), ask(town.materials + triangle), ask(town.body + triangle);
}

// Project the vertices of a mesh onto the grid of 1/256 of a sample.
static void place_spots(const Matrix& matrix, float focal, float cx, float cy, const Town& town, int64_t begin, int64_t vertices, float (*spots)[4])
{
    for (int64_t i = 0; i < vertices; i += LANES) {
        int64_t v = least(begin + i, town.vertices - LANES); // never beyond the last one
        Floats x = load<Floats>(town.columns[0] + v), y = load<Floats>(town.columns[1] + v), z = load<Floats>(town.columns[2] + v);
        auto along = [&](const float* row) { return row[0] * x + row[1] * y + row[2] * z + row[3]; };
        Floats depth = along(matrix.m[2]), inverse = 1.0f / larger(depth, spread<Floats>(1e-3f));
        Floats across = cx + focal * (along(matrix.m[0]) * inverse), down = cy - focal * (along(matrix.m[1]) * inverse);
        store_rows(spots + (v - begin), {floored(across * SNAP + 0.5f), floored(down * SNAP + 0.5f), depth, inverse});
    }
}

// The colour of a material, or the tint that a thing of this style has instead.
INLINE Rgb base_of(const Town& town, int material, u32 style)
{
    int tint = tint_of(town.kinds[material], style);
    const float* colour = tint < 0 ? town.palette[material] : town.tints[tint];
    return {colour[0], colour[1], colour[2]};
}

// Put triangles before + 1 to count, of one instance, behind the air and pack their colours; with `geometry` write their planes.
static void finish_faces(int64_t before, int64_t count, uint8_t number, const Matrix& matrix, Point eye, float scale,
                         const float* light, const Town& town, bool geometry, Scratch& scratch)
{
    float fog_r = light[FOG], fog_g = light[FOG + 1], fog_b = light[FOG + 2], thick = light[THICK];
    const float (*m)[4] = matrix.m;
    for (int64_t tag = before + 1; tag < count + 1; tag += LANES) {
        Columns c = pick_rows(scratch.colours, ramp<Ints>((int32_t)tag, 1));
        Floats air = clear_air(c.d, thick, load<Floats>(scratch.means + tag));
        store(scratch.packed + tag, pack(fog_r + (c.a - fog_r) * air, fog_g + (c.b - fog_g) * air, fog_b + (c.c - fog_b) * air));
        memset(scratch.owners + tag, number, LANES);
        if (!geometry) continue;
        // depth along a ray: the plane's distance over the ray's slope against its normal, all in the camera's frame
        Columns n = pick_rows(town.normals, load<Ints>(scratch.drawn + tag));
        Floats a = m[0][0] * n.a + m[0][1] * n.b + m[0][2] * n.c, e = m[1][0] * n.a + m[1][1] * n.b + m[1][2] * n.c;
        Floats f = m[2][0] * n.a + m[2][1] * n.b + m[2][2] * n.c;
        store_rows(scratch.planes + tag, {a, e, f, (n.d - (n.a * eye.x + n.b * eye.y + n.c * eye.z)) * scale * scale});
    }
}

// Transform, cull, shade and fill every instance of one scene. Returns how many triangles lie flat on the ground, or -1 if
// there are too many triangles.
static int64_t draw_instances(const float* view, const float* light, const Town& town, const Things& things, Canvas canvas,
                              bool geometry, Scratch& scratch)
{
    float (*const spots)[4] = scratch.spots;
    const float focal = 2.0f * view[12], cx = 2.0f * view[13], cy = 2.0f * view[14];
    const Sides sides = sides_of(view, (int)canvas.first, (int)canvas.width);
    const bool bare = light[SNOW] == 0;
    for (int64_t m = 0; m < town.materials_count; m++)
        for (int j = 0; j < 3; j++)
            for (int which = 0; which < 2; which++) {
                const float *l = light + (which ? VEHICLE_SUN : SUN) + j, colour = town.palette[m][j];
                float* plain = scratch.plain[which][m];
                plain[j] = colour * l[6], plain[3 + j] = colour * (l[3] - l[6]), plain[6 + j] = colour * l[0];
            }
    int64_t count = 0, grounds = 0;
    Records records;
    for (int64_t k = 0; k < things.count; k++) {
        int32_t mesh = things.meshes[k];
        if (mesh < 0) continue;
        const Pose& pose = things.poses[k];
        Matrix matrix = object_to_camera(view, pose);
        if (k + 1 < things.count && things.meshes[k + 1] >= 0) prefetch_mesh(town, things.meshes[k + 1]);
        float radius = town.radius[mesh] * pose.scale;
        if (unseen(view, sides, matrix, radius, town.girths[mesh] * pose.scale)) continue;
        bool ground = k == 0, vehicle = town.roles[mesh] & VEHICLE;
        int sun = vehicle ? VEHICLE_SUN : SUN;
        const float (*plain)[9] = scratch.plain[vehicle];
        bool reaching = (fabsf(matrix.m[0][3]) + fabsf(matrix.m[1][3]) + radius) * focal * (SNAP / NEAR) > (float)(REACH / 2);
        int64_t v0 = town.vertex_start[mesh], vertices = town.vertex_start[mesh + 1] - v0;
        place_spots(matrix, focal, cx, cy, town, v0, vertices, spots);
        Point eye = eye_from(view, pose), sunlight = sun_from(light, pose);
        int32_t* facing = scratch.facing;
        int64_t faces = 0, begin = town.triangle_start[mesh], end = town.triangle_start[mesh + 1];
        for (int64_t i = begin; i < end; i += LANES) { // without a branch, that half the time would be guessed wrong
            int64_t at = least(i, town.triangles_count - LANES); // never beyond the last one
            Ints number = ramp<Ints>((int32_t)at, 1), faces_eye;
            Columns n = columns_of([&](int lane) { return town.normals[at + lane]; });
            faces_eye = (n.a * eye.x + n.b * eye.y + n.c * eye.z > n.d) & (number >= (int32_t)i) & (number < (int32_t)end);
            for (int lane = 0; lane < LANES; lane++) facing[faces] = (int32_t)at + lane, faces -= faces_eye[lane];
        }
        for (int i = 0; i < LANES; i++) facing[faces + i] = (int32_t)begin;
        int64_t before = count;
        for (int64_t face = 0; face < faces; face++) {
            if (count + 1 >= MOST_TRIANGLES) return -1;
            int lane = (int)(face % LANES);
            if (lane == 0) set_up(canvas, spots, town.triangles, facing + face, v0, records);
            uint32_t todo = records.todo[lane], tag = (uint32_t)(count + 1);
            if (todo == EMPTY) continue;
            int64_t t = facing[face];
            const int32_t* triangle = town.triangles[t];
            int64_t i0 = triangle[0] - v0, i1 = triangle[1] - v0, i2 = triangle[2] - v0;
            float nearest = records.nearest[lane];
            bool seen;
            if (todo == BOX) {
                seen = fill_box(canvas, records, lane, tag);
            } else {
                auto far_out = [&](int64_t i) { return most(fabsf(spots[i][0]), fabsf(spots[i][1])) > (float)REACH; };
                if (nearest < NEAR || (reaching && (far_out(i0) || far_out(i1) || far_out(i2)))) {
                    if (most(most(spots[i0][2], spots[i1][2]), spots[i2][2]) <= NEAR) continue;
                    seen = fill_clipped(canvas, matrix, focal, cx, cy, town, t, tag);
                } else {
                    auto corner = [&](int64_t i) { return Corner{(int64_t)spots[i][0], (int64_t)spots[i][1], spots[i][3]}; };
                    seen = fill_triangle(canvas, corner(i0), corner(i1), corner(i2), tag);
                }
            }
            if (!seen) continue;
            count++;
            int material = town.body[t] ? things.paints[k] : town.materials[t], kind = town.kinds[material];
            float nx = town.normals[t][0], ny = town.normals[t][1], nz = town.normals[t][2];
            float sunny = most(nx * sunlight.x + ny * sunlight.y + nz * sunlight.z, 0.0f);
            Rgb colour;
            if (kind == MATTE && bare) {
                const float *p = plain[material], up = 0.5f + 0.5f * nz;
                colour = {p[0] + p[3] * up + p[6] * sunny, p[1] + p[4] * up + p[7] * sunny, p[2] + p[5] * up + p[8] * sunny};
            } else {
                float glance = 0;
                if (kind == GLASS || kind == WINDOW) {
                    auto middle = [&](const float* column) { return (column[triangle[0]] + column[triangle[1]] + column[triangle[2]]) * (float)(1.0 / 3.0); };
                    glance = glance_of(middle(town.columns[0]) - eye.x, middle(town.columns[1]) - eye.y, middle(town.columns[2]) - eye.z, nx, ny, nz);
                }
                // hills stand upright, and snow lies on them all the same
                float upward = ground ? most(nz, 0.55f) : nz;
                colour = shade({light, sun, kind, base_of(town, material, things.styles[k]), things.styles[k], town.parts[t], upward, sunny, glance});
            }
            float* row = scratch.colours[count];
            row[0] = colour.r, row[1] = colour.g, row[2] = colour.b, row[3] = light[DENSITY] * (kind == CLOUD ? 0.25f : 1.0f);
            scratch.means[count] = records.means[lane], scratch.drawn[count] = (int32_t)t;
            if (ground && (kind == GROUND || kind == ROAD || nz > 0.5f)) {
                bool green = town.palette[material][1] > 1.1f * town.palette[material][0], near_by = nearest < NEAR;
                float top = least(least(spots[i0][1], spots[i1][1]), spots[i2][1]), bottom = most(most(spots[i0][1], spots[i1][1]), spots[i2][1]);
                int32_t flag = kind == ROAD ? TARMAC : green ? GRASS : PAVED;
                if (near_by) scratch.flat[grounds++] = {(int32_t)count, 0, (int32_t)canvas.height, flag};
                else scratch.flat[grounds++] = {(int32_t)count, (int32_t)(int64_t)(top / SNAP), (int32_t)((int64_t)(bottom / SNAP) + 1), flag};
            }
        }
        finish_faces(before, count, things.ids[k], matrix, eye, pose.scale, light, town, geometry, scratch);
    }
    for (int64_t sky = MOST_TRIANGLES; sky < count + LANES; sky++) { // the last vector may have reached into the sky
        scratch.owners[sky] = 0;
        scratch.planes[sky][0] = scratch.planes[sky][1] = 0, scratch.planes[sky][2] = 1, scratch.planes[sky][3] = INFINITY;
    }
    return grounds;
}

// Take row y of samples into scratch.sums, and write the row of `width` pixels that it ends, if it does. A sum holds what is
// known of three rows: the first one, and twice the second.
static void filter_row(int64_t y, int64_t width, uint8_t* out, Scratch& scratch)
{
    const uint64_t *evens = scratch.evens, *odds = scratch.odds;
    uint64_t* sums = scratch.sums;
    for (int64_t x = 0; x < width; x += LANES) {
        Words64 line = load<Words64>(evens + x) + (load<Words64>(odds + x) << 1) + load<Words64>(evens + x + 1);
        Words64 before = load<Words64>(sums + x);
        if (y % 2 == 1) {
            store(sums + x, before + (line << 1));
            continue;
        }
        store(sums + x, line);
        if (y == 0) continue;
        Words64 total = before + line + HALF;
        Words32 colour = convert<Words32>((total >> 8 & 0xFF) | (total >> 21 & 0xFF00) | (total >> 34 & 0xFF0000));
        typedef uint8_t Each __attribute__((vector_size(32)));
        Each each = (Each)colour;
        Each low = __builtin_shufflevector(each, each, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 30, -1, -1, -1, -1, -1, -1, -1, -1);
        if (x + LANES <= width) memcpy(out + 3 * x, &low, 3 * LANES);
        else
            for (int i = 0; i < 3 * LANES; i++)
                if (i < 3 * (width - x)) out[3 * x + i] = low[i];
    }
}

// Darken, mirror and light what of a row of packed colours lies on the ground.
static void finish_ground(int64_t pairs, bool wet, bool lit, Scratch& scratch, const Dark& dark)
{
    const Words64 nothing = {};
    for (int64_t block = 0; block < (pairs + LANES - 1) >> BITS; block++) {
        bool darkened = dark.dark_blocks[block], mirrors = wet && scratch.wet_blocks[block], lighted = lit && dark.light_blocks[block];
        if (!(darkened || mirrors || lighted)) continue;
        int64_t at = block << BITS;
        uint64_t* const lines[] = {scratch.evens, scratch.odds};
        for (uint64_t* line : lines) {
            Words64 colour = load<Words64>(line + at), flag = colour >> FLAGS;
            colour = colour & COLOUR;
            if (darkened) colour = dimmed(colour, convert<Ints>(flag) > 0 ? load<Words32>(dark.levels + at) : spread<Words32>(256u));
            if (mirrors) colour = mix(colour, load<Words64>(scratch.mirrored + at), convert<Ints>(flag) > (int)GRASS ? load<Words32>(scratch.shares + at) : Words32{});
            if (lighted) colour = lighten(colour, flag > 0 ? load<Words64>(dark.glow + at) : nothing);
            store(line + at, colour);
        }
    }
}

// Write the reflections in the wet ground of row y to scratch, with their shares of pairs of samples. What stands upright on
// the ground is mirrored column by column about its lower end: scratch.bottoms hold the lowest row above that shows no ground.
static void look_down(const float* view, const float* light, int64_t y, float depth, int64_t pairs, float air, const Canvas& canvas, Scratch& scratch)
{
    float reach = 7.0f * view[12] / depth; // rows of samples that three and a half metres take
    float road = light[WET] * air * 148.0f, paved = light[WET] * air * 60.0f;
    float ripple = (float)(hashed((uint32_t)(int64_t)(depth * 23.0f)) >> 8) / 16777216.0f - 0.5f;
    float stretch = 1.0f + 0.22f * ripple, inverse = 1.0f / reach;
    const Words64 nothing = {};
    for (int64_t block = 0; block < (pairs + LANES - 1) >> BITS; block++) {
        int64_t at = block << BITS;
        Ints flag = convert<Ints>(load<Words64>(scratch.evens + at) >> FLAGS), bottom = load<Ints>(scratch.bottoms + at);
        Floats below = convert<Floats>((int32_t)y - bottom), share = 1.0f - below * inverse;
        Ints seen = (flag > 0) & (bottom >= 0) & (share > 0.0f);
        store(scratch.bottoms + at, larger(bottom, flag == 0 ? spread<Ints>((int32_t)y) : spread<Ints>(-1)));
        scratch.wet_blocks[block] = any(seen);
        if (!scratch.wet_blocks[block]) continue;
        below = below * stretch;
        Ints upper = larger(bottom - convert<Ints>(below * 0.8f), Ints{}), lower = larger(bottom - convert<Ints>(below * 1.2f), Ints{});
        Words32 column = ramp<Words32>((uint32_t)(2 * at), 2u), stride = spread<Words32>((uint32_t)canvas.stride);
        auto colours = [&](Ints rows) { return pick<Words64>(scratch.packed, pick<Words32>(canvas.samples, (Words32)rows * stride + column) & TAG); };
        store(scratch.mirrored + at, mix(colours(upper), colours(lower), spread<Words32>(128u)));
        Floats strongest = flag == (int32_t)TARMAC ? spread<Floats>(road) : spread<Floats>(paved);
        store(scratch.shares + at, seen ? convert<Ints>(strongest * share) : Ints{});
    }
}

// Make pixels of samples: each sample row becomes a line of packed colours, the tent filter joins three. Even and odd samples
// of a row lie in lines of their own: so a place of a line is a pair of samples, which share what falls on the ground.
static void resolve_colour(const float* view, const float* light, const Canvas& canvas, int64_t columns, int64_t left, int64_t width,
                           int64_t height, int64_t grounds, Scratch& scratch, Dark& dark, uint8_t* rgb)
{
    bool wet = light[WET] > 0.2f, lit = dark.pool_count > 0, layered = light[LAMPS_ON] > 0 || light[AMOUNT] > 0 || light[STARS] > 0;
    bool any_sample = false;
    const float* fog = light + FOG;
    int64_t pairs = columns + 1, rows = canvas.height, reached = 0;
    for (int64_t i = 0; i < (columns / LANES + 2) * LANES; i++) scratch.bottoms[i] = -1;
    for (int64_t y = 0; y < rows; y++) scratch.starts[y] = -1;
    for (int64_t i = 0; i < grounds; i++) { // a list for every row of the ground that begins there
        int32_t top = most(scratch.flat[i].top, 0);
        if (top < rows) scratch.following[i] = scratch.starts[top], scratch.starts[top] = (int32_t)i;
    }
    for (int64_t y = 0; y < rows; y++) {
        paint_sky(view, light, y, scratch.packed);
        Line line = ground_line(view, (int)y);
        float air = line.depth > 0 ? clear_air(light[DENSITY], light[THICK], line.depth) : 0.0f;
        for (int32_t i = scratch.starts[y]; i >= 0; i = scratch.following[i]) scratch.active[reached++] = i;
        for (int64_t j = 0; j < reached;) { // ground is at one depth all along a row, so its fog is a row's
            const Flat& flat = scratch.flat[scratch.active[j]];
            if (flat.bottom <= y) {
                scratch.active[j] = scratch.active[--reached];
                continue;
            }
            const float* c = scratch.colours[flat.number];
            scratch.packed[flat.number] = pack({fog[0] + (c[0] - fog[0]) * air, fog[1] + (c[1] - fog[1]) * air, fog[2] + (c[2] - fog[2]) * air})
                                        | (uint64_t)flat.flag << FLAGS;
            j++;
        }
        const uint32_t* row = canvas.samples + y * canvas.stride;
        const uint64_t* packed = scratch.packed;
        uint64_t *__restrict evens = scratch.evens, *__restrict odds = scratch.odds;
        for (int64_t x = 0; x < pairs; x += LANES) {
            Samples tags = load<Samples>(row + 2 * x) & TAG;
            if (same(tags)) {
                Words64 colour = spread<Words64>(packed[tags[0]]);
                store(evens + x, colour), store(odds + x, colour);
                continue;
            }
            for (int64_t i = x; i < x + LANES; i++) {
                evens[i] = packed[row[2 * i] & TAG];
                odds[i] = packed[row[2 * i + 1] & TAG];
            }
        }
        if (line.depth > 0) {
            if (y % 2 == 0 || !any_sample) {
                darkness(light, y, canvas, line, air, dark);
                if (lit) pour_light(y, canvas, line, air, dark);
                if (wet) look_down(view, light, y, line.depth, pairs, air, canvas, scratch);
            }
            finish_ground(pairs, wet, lit, scratch, dark);
            any_sample = true;
        }
        filter_row(y, columns, rgb + 3 * ((y / 2 - 1) * width + left), scratch);
        if (layered && y >= 2 && y % 2 == 0) {
            uint16_t* near = scratch.nearness + (y / 2 - 1) * width + left;
            const uint32_t* middles = row - canvas.stride;
            for (int64_t x = 0; x < columns; x++) near[x] = (uint16_t)(middles[2 * x + 1] >> 16);
        }
    }
}

// Depth (metres, inf for the sky) and instance id of the sample in the middle of every pixel.
static void resolve_geometry(const float* view, const Canvas& canvas, int64_t columns, int64_t left, int64_t width, int64_t height,
                             const Scratch& scratch, float* depth_out, uint8_t* ids_out)
{
    const float inverse_focal = 1.0f / view[12], middle = view[13];
    const float (*const planes)[4] = scratch.planes;
    const uint8_t* const owners = scratch.owners;
    for (int64_t y = 0; y < height; y++) {
        float ray_y = (view[14] - (float)y - 0.5f) * inverse_focal;
        const uint32_t* middles = canvas.samples + (2 * y + 1) * canvas.stride;
        float* depths = depth_out + y * width + left;
        uint8_t* ids = ids_out + y * width + left;
        for (int64_t x = 0; x < columns; x += LANES) {
            Samples samples = load<Samples>(middles + 2 * x);
            uint32_t tags[LANES]; // read before anything is written: nothing is read twice
            store(tags, __builtin_shufflevector(samples, samples, 1, 3, 5, 7, 9, 11, 13, 15) & TAG);
            Columns p = pick_rows(planes, tags);
            Bytes owned = pick<Bytes>(owners, tags);
            Floats ray_x = (convert<Floats>(ramp<Ints>((int32_t)(x + left), 1)) + 0.5f - middle) * inverse_focal;
            put(depths + x, p.d / (p.a * ray_x + p.b * ray_y + p.c), columns - x);
            put(ids + x, owned, columns - x);
        }
    }
}
