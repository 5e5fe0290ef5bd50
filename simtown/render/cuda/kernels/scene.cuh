// What the threads of `setup` share, and what its scene and every row of samples look like.
#pragma once
#include "colour.cuh"
#include "exact.cuh"
#include "ground.cuh"
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

struct Pose { float x, y, z, c, s, scale; };

// The view (camera.py) and the light (light.py) of the scene, into `shared` and the job.
__device__ __forceinline__ void look(const Scene& scene)
{
    const Job& job = scene.job;
    Shared& shared = scene.shared;
    int n = scene.n, me = scene.me;
    const float* camera = job.camera + 7 * n;
    if (me < 4) shared.turns[me] = sincos_of((double)(me < 2 ? camera[3 + me] : job.sun[2 * n + me - 2]));
    __syncthreads();
    if (me == 0) {
        Turn yaw = shared.turns[0], pitch = shared.turns[1];
        const double widest = 16.0 / 9.0;
        double focal = (double)camera[5] * ((double)job.width <= widest * job.height ? (double)job.width : widest * job.height);
        float* view = shared.view;
        view[0] = camera[0], view[1] = camera[1], view[2] = camera[2];
        view[3] = (float)yaw.c, view[4] = (float)yaw.s, view[5] = 0.0f;
        view[6] = (float)(yaw.s * pitch.s), view[7] = (float)(-yaw.c * pitch.s), view[8] = (float)pitch.c;
        view[9] = (float)(-yaw.s * pitch.c), view[10] = (float)(yaw.c * pitch.c), view[11] = (float)pitch.s;
        view[12] = (float)focal, view[13] = (float)(job.width / 2.0), view[14] = (float)(job.height + focal * (double)camera[6]);
        view[15] = 0.0f;
    } else if (me == 32) {
        Turn azimuth = shared.turns[2], elevation = shared.turns[3];
        shared.light[SUN_DIRECTION] = (float)(elevation.c * azimuth.c);
        shared.light[SUN_DIRECTION + 1] = (float)(elevation.c * azimuth.s);
        shared.light[SUN_DIRECTION + 2] = (float)elevation.s;
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

// Colours of the sky in a row of samples, and of clouds there (sky.sky_row).
__device__ __forceinline__ void sky_row(const Scene& scene, int y, Levels& clear, Levels& cloud)
{
    const float *light = scene.light, *top = light + TOP, *far = light + HORIZON, *veil = light + VEIL, *fog = light + FOG;
    float t = __saturatef(row_slope(scene.view, y) * 1.9f);
    t = t * (2.0f - t);
    float haze = fminf(light[DENSITY] * 28.0f + light[THICK] * 16.0f, 1.0f) * (1.0f - 0.5f * t);
    float near = 1.0f - 0.75f * (1.0f - t) * (1.0f - t);
    float r = far[0] + (top[0] - far[0]) * t, g = far[1] + (top[1] - far[1]) * t, b = far[2] + (top[2] - far[2]) * t;
    float cr = r + (veil[0] - r) * near, cg = g + (veil[1] - g) * near, cb = b + (veil[2] - b) * near;
    clear = pack(r + (fog[0] - r) * haze, g + (fog[1] - g) * haze, b + (fog[2] - b) * haze);
    cloud = pack(cr + (fog[0] - cr) * haze, cg + (fog[1] - cg) * haze, cb + (fog[2] - cb) * haze);
}

__device__ __forceinline__ void write_rows(const Scene& scene)
{
    for (int y = scene.me; y < scene.high; y += THREADS) {
        Line line = ground_line(scene.view, y);
        float air = line.depth > 0 ? clear_air(scene.light[DENSITY], scene.light[THICK], line.depth) : 0.0f;
        Levels sky, under, cloud;
        sky_row(scene, y, sky, cloud);
        under = sky;
        if (y > 0 && row_slope(scene.view, y) <= -0.03f) sky_row(scene, y - 1, under, cloud); // clouds reach so far (sky.paint_sky)
        uint4* out = (uint4*)(scene.job.rows + scene.n * scene.high + y);
        out[0] = make_uint4(__float_as_uint(line.depth), __float_as_uint(air), __float_as_uint(line.x + 0.5f * line.dx),
                            __float_as_uint(line.y + 0.5f * line.dy));
        out[1] = make_uint4(__float_as_uint(2.0f * line.dx), __float_as_uint(2.0f * line.dy), sky.rg, sky.b);
        out[2] = make_uint4(cloud.rg, cloud.b, under.rg, under.b);
    }
}
