// What is seen of everything that stands in a street, from the scene alone; see simtown/language/meaning/sights.py.
#pragma once
#include "silhouette.hpp"

// A thing in the picture: its slot, its footprint's box, and its view. A thing of another size is one of the catalogue's size
// that stands, with the camera, as much nearer to the origin.
struct Thing {
    int64_t slot, mesh;
    float middle[2], turn[2], half[2], box[4], eye[3], place[2], ahead;
    bool done;
};

// Look at a thing alone, in the desk's only slot.
static inline void look_at(Desk& desk, const Thing& thing)
{
    Image& image = desk.images[0];
    desk.entity[0] = thing.mesh;
    memcpy(image.lens, thing.eye, sizeof thing.eye), memcpy(image.box[0], thing.box, sizeof thing.box);
    memcpy(image.pose[0], thing.place, sizeof thing.place), memcpy(image.turn[0], thing.turn, sizeof thing.turn);
}

// List what may be seen. What reaches behind the near plane, or has no size, is left out.
static int64_t list_things(Desk& desk, const float* view, int64_t slots, const int32_t* mesh, const float (*pose)[6], const float (*middle)[2], Thing* things)
{
    int64_t count = 0;
    for (int64_t slot = 0; slot < slots; slot++) {
        if (mesh[slot] < 0 || !(pose[slot][5] > 1e-3f)) continue;
        Thing& thing = things[count];
        const float *at = pose[slot], *m = middle[mesh[slot]], scale = at[5], c = at[3], s = at[4];
        thing.slot = slot, thing.mesh = mesh[slot], thing.done = false;
        thing.turn[0] = c, thing.turn[1] = s;
        thing.middle[0] = at[0] + scale * (c * m[0] - s * m[1]), thing.middle[1] = at[1] + scale * (s * m[0] + c * m[1]);
        for (int i = 0; i < 2; i++) thing.half[i] = scale * desk.shapes->half[mesh[slot]][i], thing.place[i] = at[i] / scale;
        for (int i = 0; i < 3; i++) thing.eye[i] = (view[i] - (i == 2 ? at[2] : 0.0f)) / scale;
        look_at(desk, thing);
        in_picture(desk, desk.images[0], 0);
        memcpy(thing.box, desk.images[0].box[0], sizeof thing.box);
        float nearest = INFINITY;
        int64_t vertices = desk.shapes->vertex_start[mesh[slot] + 1] - desk.shapes->vertex_start[mesh[slot]];
        for (int64_t i = 0; i < vertices; i++) nearest = least(nearest, desk.spots[2][i]);
        thing.ahead = nearest * scale;
        const float* box = thing.box;
        count += thing.ahead > NEAR && box[0] < (float)desk.width && box[1] < (float)desk.height && box[2] > 0 && box[3] > 0;
    }
    return count;
}

// The next thing that nothing hides that is not done, or the nearest one.
static Thing& next_thing(const float* view, Thing* things, int64_t count)
{
    Thing* next = nullptr;
    for (int64_t i = 0; i < count; i++) {
        Thing& a = things[i];
        bool hidden = a.done;
        for (int64_t j = 0; j < count && !hidden; j++) {
            const Thing& b = things[j];
            if (i == j || b.done || b.box[0] >= a.box[2] || a.box[0] >= b.box[2] || b.box[1] >= a.box[3] || a.box[1] >= b.box[3]) continue;
            hidden = before(view, b.middle, b.turn, b.half, a.middle, a.turn, a.half);
        }
        if (!hidden) return a;
        if (!a.done && (!next || a.ahead < next->ahead)) next = &a;
    }
    return *next;
}

// Count the pixels of each slot that are seen, and that would be if nothing stood before it. `free` is a picture, column by
// column.
static void see_street(Desk& desk, const float* camera, int64_t slots, const int32_t* mesh, const float (*pose)[6],
                       const float (*middle)[2], Thing* things, int16_t* free, float* seen, float* whole)
{
    Image& image = desk.images[0];
    look(desk, image, camera);
    float view[3];
    memcpy(view, image.lens, sizeof view);
    for (int64_t i = 0; i < desk.width * desk.height; i++) free[i] = 1;
    for (int64_t slot = 0; slot < slots; slot++) seen[slot] = whole[slot] = 0;
    int64_t count = list_things(desk, view, slots, mesh, pose, middle, things);
    for (int64_t k = 0; k < count; k++) {
        Thing& thing = next_thing(view, things, count);
        thing.done = true;
        look_at(desk, thing);
        Window window = window_of(desk, image, 0);
        int64_t rows = column_of(window.height), before = 0, covered = 0;
        int16_t* part = desk.rest;
        memset(part, 0, most<int64_t>(window.width, 0) * rows * sizeof *part);
        for (int64_t x = 0; x < window.width; x++) {
            const int16_t* column = free + (window.x + x) * desk.height + window.y;
            int16_t column_before = 0;
            for (int64_t y = 0; y < window.height; y++) part[x * rows + y] = column[y], column_before += column[y];
            before += column_before;
        }
        int64_t left = clear<true>(desk, image, 0, window, part, &covered);
        for (int64_t x = 0; x < window.width; x++)
            memcpy(free + (window.x + x) * desk.height + window.y, part + x * rows, most<int64_t>(window.height, 0) * sizeof *part);
        seen[thing.slot] = (float)(before - left), whole[thing.slot] = (float)covered;
    }
}
