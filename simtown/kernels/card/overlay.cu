// Over the finished pictures: stars, halos of lamps, rain or snow, and splashes: a block for every band of rows, as many as the grid has.
//
// A pixel takes what touches it in the processor's order and is rounded after each. So a block first lists, in order, what touches its band;
// a warp then goes through tiles of 8 x 4 pixels, a lane a pixel, and asks together which of the list touch the tile.
#include "marks.hpp"
#include "order.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int TILE_WIDE = 8, TILE_HIGH = 32 / TILE_WIDE;
constexpr int MOST = 384; // listed at a time; what is more waits for the next round
constexpr int ANY_NEARNESS = 1 << 16;
enum Sort { STAR, HALO, STREAK, FLAKE, SPLASH };

// One of them. What a, b and r, g, blue mean is told where they are written.
struct __align__(16) Mark {
    s16 left, right, top, bottom; // pixels, behind the last
    s32 sort, reach;              // the greatest nearness of a pixel that does not hide it
    float x, y, a, b;
    float r, g, blue, pad;
};

struct Shared {
    float view[VIEW_STRIDE], light[LIGHT_STRIDE];
    s32 sums[WARPS];
    Mark marks[MOST];
    u16 rows[WARPS][MOST]; // numbers of the marks that touch a warp's row of tiles
};

// The scene that a block works on.
struct Scene {
    const Job& job;
    const float *view, *light;
    const u16* nearness;
    int n, width, height;
    int stars, lamps, drops, splashes; // how many there are
};

// The pixels that may lie within `across` and `down` of a mark's middle.
__device__ __forceinline__ void bound(const Scene& scene, Mark& mark, float across, float down)
{
    mark.left = (s16)max((int)(mark.x - across), 0), mark.right = (s16)min((int)(mark.x + across) + 2, scene.width);
    mark.top = (s16)max((int)(mark.y - down), 0), mark.bottom = (s16)min((int)(mark.y + down) + 2, scene.height);
}

// Number `i` of the stars, if it is out: a is its radius and half a pixel, b its brightness.
__device__ __forceinline__ bool star(const Scene& scene, int i, Mark& mark)
{
    Star s = star_of(scene.view, scene.light, scene.job.fall_seed[scene.n], (u32)i);
    if (!(s.x >= 0 && s.y >= 0 && s.x < (float)scene.width && s.y < (float)scene.height)) return false;
    if (scene.nearness[(int)s.y * scene.width + (int)s.x] > 0) return false;
    mark = {0, 0, 0, 0, STAR, 0, s.x, s.y, s.radius + 0.5f, s.bright, 1.0f, 1.0f, 1.0f};
    bound(scene, mark, s.radius, s.radius);
    return true;
}

// Number `i` of the halos, if its lamp is in sight: a is 1 / radius^2, b its strength; then its colour.
__device__ __forceinline__ bool halo(const Scene& scene, int i, Mark& mark)
{
    Halo h = scene.job.halos[scene.n * scene.job.lamps + i];
    if (!in_sight(h.depth, scene.nearness[(int)h.y * scene.width + (int)h.x])) return false;
    mark = {0, 0, 0, 0, HALO, ANY_NEARNESS, h.x, h.y, 1.0f / (h.radius * h.radius), scene.light[LAMPS_ON] * 127.5f, h.r, h.g, h.b};
    bound(scene, mark, h.radius, h.radius);
    return true;
}

// Number `i` of the drops or flakes. A streak: a is half its width, b its length, r its strength, g its most. A flake: a is 1 / radius^2.
__device__ __forceinline__ bool drop(const Scene& scene, int i, Mark& mark)
{
    float wide = (float)scene.width, high = (float)scene.height, unit = unit_of(wide, high);
    Drop d = drop_of(scene.job.fall_seed[scene.n], (u32)i, wide, high);
    if (scene.light[FALL] == RAIN) {
        Streak s = streak_of(d.near, unit);
        mark = {0, 0, 0, 0, STREAK, d.reach, d.x, d.y, s.half, s.length, s.strength, s.most_share, 0.0f};
        int top = max((int)d.y, 0), bottom = min((int)(d.y + s.length) + 1, scene.height);
        float right = streak_middle(d.x, (float)top + 0.5f - d.y), left = streak_middle(d.x, (float)bottom - 0.5f - d.y); // a pixel too much
        mark.left = (s16)max((int)(left - s.half) - 2, 0), mark.right = (s16)min((int)(right + s.half) + 3, scene.width);
        mark.top = (s16)top, mark.bottom = (s16)bottom;
    } else {
        float radius = flake_radius(d.near, unit);
        mark = {0, 0, 0, 0, FLAKE, d.reach, d.x, d.y, 1.0f / (radius * radius), 0.0f, 0.0f, 0.0f, 0.0f};
        bound(scene, mark, radius, radius);
    }
    return true;
}

// Number `i` of the splashes, if it lies on open ground: a is its radius, b how thick it is, r its width over its height.
__device__ __forceinline__ bool splash(const Scene& scene, int i, Mark& mark)
{
    auto near = [&](int x, int y) { return scene.nearness[y * scene.width + x]; };
    Splash s;
    if (!splash_of(scene.view, scene.job.fall_seed[scene.n], (u32)i, scene.width, scene.height, near, s)) return false;
    mark = {0, 0, 0, 0, SPLASH, ANY_NEARNESS, s.x, s.y, s.size, s.thick, s.size / s.flat, 0.0f, 0.0f};
    mark.left = (s16)max((int)(s.x - s.size - 1.0f), 0), mark.right = (s16)min((int)(s.x + s.size) + 2, scene.width);
    mark.top = (s16)max((int)(s.y - s.flat - 1.0f), 0), mark.bottom = (s16)min((int)(s.y + s.flat) + 2, scene.height);
    return true;
}

// Number `i` of all that may lie over the scene, in order.
__device__ __forceinline__ bool mark_of(const Scene& scene, int i, Mark& mark)
{
    if (i < scene.stars) return star(scene, i, mark);
    i -= scene.stars;
    if (i < scene.lamps) return halo(scene, i, mark);
    i -= scene.lamps;
    if (i < scene.drops) return drop(scene, i, mark);
    return splash(scene, i - scene.drops, mark);
}

// A pixel; its colours are whole numbers.
struct Pixel { float r, g, b; s32 nearness; };

// Lay a mark over the pixel (x, y). All lanes of a warp have the same mark.
__device__ __forceinline__ void lay(const Mark m, int x, int y, Pixel& p)
{
    if (x < m.left || x >= m.right || y < m.top || y >= m.bottom || p.nearness > m.reach) return;
    float dx = (float)x + 0.5f - m.x, dy = (float)y + 0.5f - m.y;
    if (m.sort <= HALO) {
        float light = m.sort == STAR ? star_light(m.a, m.b, dx, dy) : halo_light(m.a, m.b, dx, dy);
        p.r = truncf(added(p.r, m.r * light)), p.g = truncf(added(p.g, m.g * light)), p.b = truncf(added(p.b, m.blue * light));
        return;
    }
    float share, r = 222.0f, g = 232.0f, b = 243.0f;
    if (m.sort == STREAK) share = streak_share({m.a, m.b, m.r, m.g}, (float)x + 0.5f - streak_middle(m.x, dy), dy);
    else if (m.sort == SPLASH) share = splash_share(m.a, m.b, m.r, dx, dy);
    else {
        share = flake_share(m.a, dx, dy);
        r = g = b = 255.0f;
    }
    p.r = truncf(blended(p.r, r, share)), p.g = truncf(blended(p.g, g, share)), p.b = truncf(blended(p.b, b, share));
}

// The numbers of the marks that touch rows of pixels, in order, into `row`; how many. A warp does it together.
__device__ __forceinline__ int touching(const Mark* marks, int listed, u16* row, int top, int bottom, int lane)
{
    int count = 0;
    for (int base = 0; base < listed; base += 32) {
        int k = base + lane;
        bool here = k < listed && marks[k].top < bottom && marks[k].bottom > top;
        u32 mask = __ballot_sync(ALL, here);
        if (here) row[count + __popc(mask & ((1u << lane) - 1))] = (u16)k;
        count += __popc(mask);
    }
    __syncwarp();
    return count;
}

// Lay marks over a row of tiles, `row` their numbers. A warp does it together, 32 marks at a time.
__device__ __forceinline__ void lay_row(const Scene& scene, u8* rgb, const Mark* marks, const u16* row, int count, int top, int bottom, int lane)
{
    int x = lane % TILE_WIDE, y = top + lane / TILE_WIDE, at = y * scene.width + x;
    for (int base = 0; base < count; base += 32) {
        int k = base + lane, begin = scene.width, end = 0;
        if (k < count) begin = marks[row[k]].left, end = marks[row[k]].right;
        for (int left = 0; left < scene.width; left += TILE_WIDE) {
            u32 mask = __ballot_sync(ALL, begin < left + TILE_WIDE && end > left);
            if (mask == 0) continue;
            bool inside = left + x < scene.width && y < bottom;
            u8* out = rgb + 3 * (at + left);
            Pixel pixel = {};
            if (inside) pixel = {(float)out[0], (float)out[1], (float)out[2], scene.nearness[at + left]};
            for (; mask; mask &= mask - 1) lay(marks[row[base + __ffs(mask) - 1]], left + x, y, pixel);
            if (inside) out[0] = (u8)pixel.r, out[1] = (u8)pixel.g, out[2] = (u8)pixel.b;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) overlay(const Job* __restrict__ pointer)
{
    __shared__ Shared shared;
    const Job& job = *pointer;
    int n = blockIdx.y, me = threadIdx.x, lane = me & 31, warp = me >> 5;
    const float* light = job.lights + n * LIGHT_STRIDE;
    bool starry = light[STARS] > 0, lit = light[LAMPS_ON] > 0, falling = light[AMOUNT] > 0;
    if (!(starry || lit || falling) || job.failed[n]) return;
    int width = job.width, height = job.height;
    if (me < VIEW_STRIDE) shared.view[me] = job.views[n * VIEW_STRIDE + me];
    if (me >= 64 && me < 64 + LIGHT_STRIDE) shared.light[me - 64] = light[me - 64];
    __syncthreads();
    Scene scene = {job, shared.view, shared.light, job.nearness + (size_t)n * width * height, n, width, height};
    scene.stars = starry ? STARS_OUT : 0;
    scene.lamps = lit ? job.counts[n].halos : 0;
    scene.drops = falling ? drops(light, (float)width, (float)height) : 0;
    scene.splashes = falling && light[FALL] == RAIN ? splashes(light) : 0;
    u8* rgb = job.rgb + (size_t)n * width * height * 3;
    int share = (height + (int)gridDim.x - 1) / (int)gridDim.x, top = share * (int)blockIdx.x, bottom = min(top + share, height);
    int many = scene.stars + scene.lamps + scene.drops + scene.splashes;
    for (int next = 0; next < many;) {
        int listed = 0;
        for (; next < many && listed <= MOST - THREADS; next += THREADS) {
            Mark mark;
            int total, i = next + me;
            bool here = i < many && mark_of(scene, i, mark) && mark.left < mark.right && max((int)mark.top, top) < min((int)mark.bottom, bottom);
            int at = listed + before<WARPS>(shared.sums, me, here, total);
            if (here) shared.marks[at] = mark; // `before` waited for all that read the ones of the last round
            listed += total;
        }
        __syncthreads();
        u16* row = shared.rows[warp];
        for (int y = top + TILE_HIGH * warp; y < bottom; y += TILE_HIGH * WARPS) {
            int count = touching(shared.marks, listed, row, y, min(y + TILE_HIGH, bottom), lane);
            lay_row(scene, rgb, shared.marks, row, count, y, bottom, lane);
            __syncwarp();
        }
    }
}
