// What the threads of `setup` share, and what its scene and every row of samples look like.
#pragma once
#include "colour.cuh"
#include "order.cuh"

constexpr int THREADS = 128, WARPS = THREADS / 32;
constexpr int MOST_CORNERS = 14; // points of a mesh's hull (atlas.py)

// What all threads of a block share. A thread's outline lies in its own column.
struct Shared {
    float view[VIEW_STRIDE], light[LIGHT_STRIDE];
    Turn turns[4];                 // the camera's yaw and pitch, the sun's azimuth and elevation
    s32 lamp_ends[MOST_SLOTS + 1]; // lamps of the slots before
    u8 casters[MOST_SLOTS];        // slots of what may cast a shadow on the picture
    s32 sums[WARPS];
    float x[MOST_CORNERS][THREADS], y[MOST_CORNERS][THREADS]; // corners of a shadow, on a grid of 1 / GRID metres
    u8 order[MOST_CORNERS][THREADS], chain[2 * MOST_CORNERS][THREADS];
};

// The scene that a block works on.
struct Scene {
    const Job& job;
    Shared& shared;
    int n, me, wide, high; // number of the scene and the thread; samples
    const float *view, *light;
};

// The view (camera.py) and the light (light.py) of the scene, into `shared` and the job.
__device__ __forceinline__ void look(const Scene& scene)
{
    const Job& job = scene.job;
    Shared& shared = scene.shared;
    int n = scene.n, me = scene.me;
    const float* camera = job.camera + 7 * n;
    if (me < 4) shared.turns[me] = turn_of((double)(me < 2 ? camera[3 + me] : job.sun[2 * n + me - 2]));
    __syncthreads();
    if (me == 0) {
        view_of(camera, shared.turns[0], shared.turns[1], (double)job.width, (double)job.height, shared.view);
        shared.view[15] = 0.0f;
    } else if (me == 32) {
        Turn azimuth = shared.turns[2], elevation = shared.turns[3];
        shared.light[SUN_DIRECTION] = (float)(elevation.cos * azimuth.cos);
        shared.light[SUN_DIRECTION + 1] = (float)(elevation.cos * azimuth.sin);
        shared.light[SUN_DIRECTION + 2] = (float)elevation.sin;
    } else if (me >= 64 && me < 64 + LIGHT_STRIDE - SUN) {
        constexpr int columns = LIGHT_COLUMNS - SUN;
        int column = me - 64;
        const double* looks = job.town.looks + 2 * columns * job.weather[n];
        double t = (double)job.intensity[n];
        shared.light[SUN + column] = column < columns ? (float)(looks[column] * (1.0 - t) + looks[columns + column] * t) : 0.0f;
    }
    __syncthreads();
    if (me < VIEW_STRIDE) job.views[n * VIEW_STRIDE + me] = shared.view[me];
    if (me < LIGHT_STRIDE) job.lights[n * LIGHT_STRIDE + me] = shared.light[me];
}

__device__ __forceinline__ void write_rows(const Scene& scene)
{
    for (int y = scene.me; y < scene.high; y += THREADS) {
        Line line = ground_line(scene.view, y);
        float air = line.depth > 0 ? clear_air(scene.light[DENSITY], scene.light[THICK], line.depth) : 0.0f;
        Heaven own = heaven(scene.view, scene.light, y), last = own;
        if (y > 0 && !paints_clouds(row_slope(scene.view, y))) last = heaven(scene.view, scene.light, y - 1);
        Levels sky = pack(own.clear), under = pack(last.clear), cloud = pack(last.cloud);
        uint4* out = (uint4*)(scene.job.rows + scene.n * scene.high + y);
        out[0] = make_uint4(__float_as_uint(line.depth), __float_as_uint(air), __float_as_uint(line.x + 0.5f * line.dx),
                            __float_as_uint(line.y + 0.5f * line.dy));
        out[1] = make_uint4(__float_as_uint(2.0f * line.dx), __float_as_uint(2.0f * line.dy), sky.rg, sky.b);
        out[2] = make_uint4(cloud.rg, cloud.b, under.rg, under.b);
    }
}
