// What the camera sees of vehicles, from the scene alone: picture boxes and visible shares; see simtown/scenes/silhouette.py.
#pragma once
#include <stdlib.h>
#include <string.h>
#include "camera.hpp"
#include "exact.hpp"

enum { PAD = 16, NOMINAL_WIDTH = 256, NOMINAL_HEIGHT = 144, MOST_VEHICLES = 8, MOST_IMAGES = 4 };

// The meshes of all vehicles; `Shapes` in simtown/scenes/silhouette.py describes its arrays.
struct Shapes {
    const float* columns[3];
    const int64_t* vertex_start;
    const float* points[3];
    const int64_t* point_start;
    const float* planes[4];
    const int64_t* plane_start;
    const uint16_t* edges[4];
    const int64_t* edge_start;
    const float (*half)[2];
    int64_t most_vertices, most_planes, most_edges; // of a vehicle
};

// The shapes among the arguments of an entry point.
template <class Arguments> static inline Shapes shapes_of(const Arguments* in)
{
    int64_t v = in->vertices, p = in->points_count, f = in->planes_count, e = in->edges_count;
    return {{in->columns, in->columns + v, in->columns + 2 * v}, in->vertex_start,
            {in->points, in->points + p, in->points + 2 * p}, in->point_start,
            {in->planes, in->planes + f, in->planes + 2 * f, in->planes + 3 * f}, in->plane_start,
            {in->edges, in->edges + e, in->edges + 2 * e, in->edges + 3 * e}, in->edge_start,
            (const float (*)[2])in->shape_half, in->most_vertices, in->most_planes, in->most_edges};
}

struct Window {
    int64_t x, y, width, height;
};

// One image of a scene: its camera, and where its vehicles are.
struct Image {
    float camera[7], lens[15];
    float pose[MOST_VEHICLES][3], turn[MOST_VEHICLES][2], box[MOST_VEHICLES][4];
    Turn yaw[MOST_VEHICLES]; // of the poses
    int64_t whole[MOST_VEHICLES]; // pixels of a silhouette; -1 before it is drawn
    int16_t* own[MOST_VEHICLES];  // silhouettes, column by column of the window of a box: 1 where the vehicle is
};

// Images of a scene that is being made, and the memory to examine them: masks of up to `pixels`, `rows` high.
struct Desk {
    const Shapes* shapes;
    int64_t vehicles, width, height, pixels, rows;
    int64_t entity[MOST_VEHICLES];
    float seen[MOST_VEHICLES];
    Image images[MOST_IMAGES];
    int16_t *rest, *steps, *cover;
    float* spots[4];
    uint8_t* facing;
    uint16_t *outline, *crossing;
    int32_t *below, *first_row;
    float* sides[3];
    int16_t* side_step;
    void* memory;
};

template <class T> static inline T* take(char*& next, int64_t count)
{
    T* taken = (T*)next;
    if (next) next += (count * sizeof(T) + 63) / 64 * 64;
    return taken;
}

// Lay the desk's arrays out from `next`. Returns where they end.
static inline char* lay_out(Desk& desk, char* next, int64_t images)
{
    const Shapes& town = *desk.shapes;
    const int64_t pixels = desk.pixels;
    for (int64_t image = 0; image < images; image++)
        for (int64_t slot = 0; slot < desk.vehicles; slot++) desk.images[image].own[slot] = take<int16_t>(next, pixels);
    desk.rest = take<int16_t>(next, pixels);
    desk.steps = take<int16_t>(next, pixels + desk.rows);
    desk.cover = take<int16_t>(next, desk.rows);
    for (float*& row : desk.spots) row = take<float>(next, town.most_vertices);
    desk.facing = take<uint8_t>(next, town.most_planes);
    desk.outline = take<uint16_t>(next, town.most_edges + 1);
    desk.below = take<int32_t>(next, town.most_vertices);
    for (float*& row : desk.sides) row = take<float>(next, town.most_edges);
    desk.first_row = take<int32_t>(next, town.most_edges);
    desk.side_step = take<int16_t>(next, town.most_edges);
    desk.crossing = take<uint16_t>(next, town.most_edges * desk.rows + 6);
    return next;
}

static inline bool open(Desk& desk, const Shapes& shapes, int64_t images, int64_t vehicles, int64_t width, int64_t height,
                        int64_t pixels = NOMINAL_WIDTH * NOMINAL_HEIGHT, int64_t rows = NOMINAL_HEIGHT)
{
    memset(&desk, 0, sizeof desk);
    desk.shapes = &shapes, desk.vehicles = vehicles, desk.width = width, desk.height = height, desk.pixels = pixels, desk.rows = rows;
    char* base = (char*)4096; // any address: only the size counts
    int64_t size = lay_out(desk, base, images) - (char*)4096;
    desk.memory = malloc(size + 64);
    if (!desk.memory) return false;
    lay_out(desk, (char*)(((uintptr_t)desk.memory + 63) / 64 * 64), images);
    memset(desk.steps, 0, (pixels + rows) * sizeof *desk.steps);
    return true;
}

static inline void close(Desk& desk) { free(desk.memory); }

static inline void look(Desk& desk, Image& image, const float* camera)
{
    memcpy(image.camera, camera, sizeof image.camera);
    fill_view(camera, desk.width, desk.height, image.lens);
}

// Put the vehicle of a slot somewhere in an image; in_picture() then finds its box.
static inline void put(Image& image, int64_t slot, float x, float y, float yaw)
{
    Turn turn = image.yaw[slot] = turn_of(yaw);
    image.pose[slot][0] = x, image.pose[slot][1] = y, image.pose[slot][2] = yaw;
    image.turn[slot][0] = (float)turn.cos, image.turn[slot][1] = (float)turn.sin;
    image.whole[slot] = -1;
}

static inline Matrix matrix_of(const Image& image, int64_t slot)
{
    const float *pose = image.pose[slot], *turn = image.turn[slot];
    return object_to_camera(image.lens, {pose[0], pose[1], 0.0f, turn[0], turn[1], 1.0f});
}

// A float's bits as an integer in the order of the floats; its own inverse.
static inline int32_t in_order(int32_t bits) { return bits ^ ((bits >> 31) & 0x7FFFFFFF); }

// Find the box of a vehicle. Returns whether it lies wholly inside the picture.
static inline bool in_picture(Desk& desk, Image& image, int64_t slot)
{
    const Shapes& town = *desk.shapes;
    int64_t entity = desk.entity[slot];
    float* box = image.box[slot];
    box[0] = box[1] = box[2] = box[3] = 0;
    if (entity >= 0) {
        int64_t start = town.vertex_start[entity], count = town.vertex_start[entity + 1] - start;
        const float* columns[3] = {town.columns[0] + start, town.columns[1] + start, town.columns[2] + start};
        project(matrix_of(image, slot), image.lens[12], image.lens[13], image.lens[14], columns, count, desk.spots);
        const int32_t *across = (const int32_t*)desk.spots[0], *down = (const int32_t*)desk.spots[1];
        int32_t x0 = INT32_MAX, y0 = INT32_MAX, x1 = INT32_MIN, y1 = INT32_MIN; // integers: several are compared at a time
        for (int64_t i = 0; i < count; i++) {
            int32_t x = in_order(across[i]), y = in_order(down[i]);
            x0 = least(x0, x), y0 = least(y0, y), x1 = most(x1, x), y1 = most(y1, y);
        }
        const int32_t bits[4] = {in_order(x0), in_order(y0), in_order(x1), in_order(y1)};
        memcpy(box, bits, sizeof bits);
    }
    return box[0] >= 0 && box[1] >= 0 && (double)box[2] <= (double)desk.width && (double)box[3] <= (double)desk.height;
}

// Numbers of a mask's column: its pixels and up to PAD - 1 more, which no vehicle covers.
static inline int64_t column_of(int64_t height) { return (most<int64_t>(height, 0) + PAD - 1) / PAD * PAD; }

// The part of the picture in which a vehicle can be.
static inline Window window_of(const Desk& desk, const Image& image, int64_t slot)
{
    const float* box = image.box[slot];
    int64_t x = most<int64_t>((int64_t)box[0], 0), y = most<int64_t>((int64_t)box[1], 0);
    return {x, y, least((int64_t)box[2] + 1, desk.width) - x, least((int64_t)box[3] + 1, desk.height) - y};
}

// How many pixels of a window's mask may lie inside a picture box, at most.
static inline int64_t inside(const int16_t* mask, Window window, const float* box)
{
    int64_t left = most<int64_t>((int64_t)box[0] - 1 - window.x, 0), right = least((int64_t)box[2] + 2 - window.x, window.width);
    int64_t top = most<int64_t>((int64_t)box[1] - 1 - window.y, 0), bottom = least((int64_t)box[3] + 2 - window.y, window.height);
    int64_t total = 0, rows = column_of(window.height);
    for (int64_t column = left; column < right; column++) {
        int16_t column_total = 0;
        for (int64_t row = top; row < bottom; row++) column_total += mask[column * rows + row];
        total += column_total;
    }
    return total;
}

// Which faces of a vehicle face the camera, where its points are in a window, and the first row that each is not below.
static inline void project_into(Desk& desk, const Image& image, int64_t slot, Window window)
{
    const Shapes& town = *desk.shapes;
    const float *view = image.lens, *pose = image.pose[slot], *turn = image.turn[slot];
    int64_t entity = desk.entity[slot];
    float dx = view[0] - pose[0], dy = view[1] - pose[1];
    float eye_x = dx * turn[0] + dy * turn[1], eye_y = dy * turn[0] - dx * turn[1], eye_z = view[2];
    int64_t first = town.plane_start[entity], count = town.plane_start[entity + 1] - first;
    const float *__restrict nx = town.planes[0] + first, *__restrict ny = town.planes[1] + first, *__restrict nz = town.planes[2] + first, *__restrict offset = town.planes[3] + first;
    uint8_t* __restrict facing = desk.facing;
    for (int64_t i = 0; i < count; i++) facing[i] = nx[i] * eye_x + ny[i] * eye_y + nz[i] * eye_z > offset[i];
    facing[0] = 0;
    int64_t start = town.point_start[entity], points = town.point_start[entity + 1] - start;
    const float* columns[3] = {town.points[0] + start, town.points[1] + start, town.points[2] + start};
    float middle_x = view[13] - 0.5f - (float)window.x, middle_y = view[14] - 0.5f - (float)window.y;
    project(matrix_of(image, slot), view[12], middle_x, middle_y, columns, points, desk.spots);
    int32_t* __restrict below = desk.below;
    const float *__restrict down = desk.spots[1], bottom = (float)window.height;
    for (int64_t i = 0; i < points; i++) below[i] = (int32_t)ceilf(least(most(down[i], 0.0f), bottom));
}

// List the crossings of a vehicle's outline with rows, edge by edge from above. Returns how many there are.
// Nothing here branches on the shape but the loop for long edges: the processor would guess every other branch wrong.
static inline int64_t cross_rows(Desk& desk, int64_t slot, int64_t width)
{
    const Shapes& town = *desk.shapes;
    int64_t entity = desk.entity[slot], first = town.edge_start[entity], count = town.edge_start[entity + 1] - first;
    const uint16_t *from = town.edges[0] + first, *to = town.edges[1] + first, *left = town.edges[2] + first, *right = town.edges[3] + first;
    const int32_t* __restrict below = desk.below;
    const uint8_t* __restrict facing = desk.facing;
    uint16_t *__restrict outline = desk.outline, *__restrict crossing = desk.crossing;
    const float *__restrict across = desk.spots[0], *__restrict down = desk.spots[1];
    float *__restrict side_x = desk.sides[0], *__restrict side_y = desk.sides[1], *__restrict slope = desk.sides[2];
    int32_t* __restrict first_row = desk.first_row;
    int16_t* __restrict side_step = desk.side_step;
    int64_t found = 0, crossings = 0;
    for (int64_t i = 0; i < count; i++) {
        outline[found] = (uint16_t)i;
        found += (facing[left[i]] ^ facing[right[i]]) & (below[from[i]] != below[to[i]]);
    }
    for (int64_t n = 0; n < found; n++) {
        int64_t edge = outline[n], a = from[edge], b = to[edge];
        bool upwards = below[b] < below[a], within = least(across[a], across[b]) < (float)width;
        int64_t upper = upwards ? b : a, lower = upwards ? a : b;
        int64_t rows = within ? below[lower] - below[upper] : 0;
        side_x[n] = across[upper], side_y[n] = down[upper];
        slope[n] = (across[lower] - across[upper]) / (down[lower] - down[upper]);
        first_row[n] = (int32_t)(below[upper] - crossings);
        side_step[n] = (facing[left[edge]] != 0) != upwards ? 1 : -1;
        for (int k = 0; k < 6; k++) crossing[crossings + k] = (uint16_t)n;
        for (int64_t k = 6; k < rows; k++) crossing[crossings + k] = (uint16_t)n;
        crossings += rows;
    }
    return crossings;
}

// Add to the pixel at which an edge crosses a row that one more face, or one less, covers the row from there on.
static inline void add_steps(Desk& desk, int64_t crossings, Window window)
{
    const float right = (float)window.width, *__restrict side_x = desk.sides[0], *__restrict side_y = desk.sides[1], *__restrict slope = desk.sides[2];
    const uint16_t* __restrict crossing = desk.crossing;
    const int32_t* __restrict first_row = desk.first_row;
    const int16_t* __restrict side_step = desk.side_step;
    int16_t* __restrict steps = desk.steps;
    int64_t rows = column_of(window.height);
    for (int64_t i = 0; i < crossings; i++) {
        int64_t n = crossing[i], row = first_row[n] + i;
        float x = side_x[n] + ((float)row - side_y[n]) * slope[n];
        steps[(int64_t)ceilf(least(most(x, 0.0f), right)) * rows + row] += side_step[n];
    }
}

// Clear the pixels of a window's mask that a vehicle covers. Returns how many are left; with COUNT it adds those that the
// vehicle covers to `whole`.
//
// Faces that face the camera make up the silhouette. Where two of them meet, one begins as the other ends, so their
// outline alone says how many cover a pixel.
template <bool COUNT = false>
static int64_t clear(Desk& desk, const Image& image, int64_t slot, Window window, int16_t* mask, int64_t* whole = nullptr)
{
    if (window.width <= 0 || window.height <= 0) return 0;
    project_into(desk, image, slot, window);
    add_steps(desk, cross_rows(desk, slot, window.width), window);
    int64_t rows = column_of(window.height), left = 0;
    int16_t *__restrict cover = desk.cover, *__restrict steps = desk.steps, *__restrict kept = mask;
    memset(cover, 0, rows * sizeof *cover);
    memset(steps + window.width * rows, 0, rows * sizeof *steps);
    for (int64_t column = 0; column < window.width; column++, steps += rows, kept += rows) {
        int16_t column_left = 0, covered = 0;
        for (int64_t row = 0; row < rows; row++) {
            int16_t covering = cover[row] + steps[row], still = covering == 0 ? kept[row] : 0;
            cover[row] = covering, steps[row] = 0, kept[row] = still;
            column_left += still;
            if (COUNT) covered += covering != 0;
        }
        left += column_left;
        if (COUNT) *whole += covered;
    }
    return left;
}

// Whether vehicle a may hide a part of b, for footprints that do not overlap, at any place and turned in any way.
//
// Some upright plane along a flank or an end of either one separates the two: what stands on the camera's side of it
// hides what stands behind it, and never the other way round. Of four such directions the one with the widest gap counts.
static inline bool before(const float* camera, const float* pose_a, const float* turn_a, const float* half_a,
                          const float* pose_b, const float* turn_b, const float* half_b)
{
    float dx = pose_b[0] - pose_a[0], dy = pose_b[1] - pose_a[1];
    float c = fabsf(turn_a[0] * turn_b[0] + turn_a[1] * turn_b[1]), s = fabsf(turn_a[0] * turn_b[1] - turn_a[1] * turn_b[0]);
    float long_a = half_a[0], wide_a = half_a[1], long_b = half_b[0], wide_b = half_b[1];
    const float ways[4][4] = {
        {turn_a[0], turn_a[1], long_a, long_b * c + wide_b * s},
        {-turn_a[1], turn_a[0], wide_a, long_b * s + wide_b * c},
        {turn_b[0], turn_b[1], long_a * c + wide_a * s, long_b},
        {-turn_b[1], turn_b[0], long_a * s + wide_a * c, wide_b},
    };
    float gap = -INFINITY, nx = 0, ny = 0, reach_a = 0, reach_b = 0;
    for (const float* way : ways) {
        float apart = fabsf(dx * way[0] + dy * way[1]) - way[2] - way[3];
        if (apart > gap) gap = apart, nx = way[0], ny = way[1], reach_a = way[2], reach_b = way[3];
    }
    if (dx * nx + dy * ny < 0) nx = -nx, ny = -ny;
    float middle = 0.5f * (nx * (pose_a[0] + pose_b[0]) + ny * (pose_a[1] + pose_b[1]) + reach_a - reach_b);
    return nx * camera[0] + ny * camera[1] < middle;
}

// Whether vehicle k may hide another one j: it stands before it, and their boxes meet.
static inline bool hides(const Desk& desk, const Image& image, int64_t k, int64_t j)
{
    int64_t kind_k = desk.entity[k], kind_j = desk.entity[j];
    const float *a = image.box[k], *b = image.box[j];
    if (k == j || kind_k < 0 || kind_j < 0 || b[0] >= a[2] || a[0] >= b[2] || b[1] >= a[3] || a[1] >= b[3]) return false;
    return before(image.camera, image.pose[k], image.turn[k], desk.shapes->half[kind_k], image.pose[j], image.turn[j],
                  desk.shapes->half[kind_j]);
}

// The share of a vehicle's silhouette that none of the first `vehicles` hides; 1 once it is certain to be above `enough`.
static float share(Desk& desk, Image& image, int64_t slot, int64_t vehicles, double enough)
{
    int64_t hiding = 0;
    for (int64_t other = 0; other < vehicles; other++) hiding |= (int64_t)hides(desk, image, other, slot) << other;
    if (!hiding) return 1;
    Window window = window_of(desk, image, slot);
    int64_t numbers = most<int64_t>(window.width, 0) * column_of(window.height);
    int16_t *own = image.own[slot], *rest = desk.rest;
    if (image.whole[slot] < 0) {
        for (int64_t i = 0; i < numbers; i++) own[i] = 1;
        image.whole[slot] = numbers - clear(desk, image, slot, window, own);
        for (int64_t i = 0; i < numbers; i++) own[i] ^= 1;
    }
    int64_t whole = image.whole[slot], left = whole;
    if (enough < 1) {
        int64_t hidden = 0;
        for (int64_t other = 0; other < vehicles; other++)
            if (hiding >> other & 1) hidden += inside(own, window, image.box[other]);
        if ((double)(whole - hidden) > enough * (double)whole) return 1;
    }
    memcpy(rest, own, numbers * sizeof *rest);
    for (int64_t other = 0; other < vehicles; other++)
        if (hiding >> other & 1 && whole > 0) left = clear(desk, image, other, window, rest);
    return (float)((double)left / (double)most<int64_t>(whole, 1));
}
