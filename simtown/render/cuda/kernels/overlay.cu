// Over the finished pictures: stars, halos of lamps, rain or snow, and splashes, as effects.py lays them: a block for every band of rows, as
// many as the grid has.
//
// A pixel takes what touches it in the processor's order and is rounded after each. So a block first lists, in order, what touches its band;
// a warp then goes through tiles of 8 x 4 pixels, a lane a pixel, and asks together which of the list touch the tile.
#include "colour.cuh"
#include "order.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int TILE_WIDE = 8, TILE_HIGH = 32 / TILE_WIDE;
constexpr int MOST = 384; // listed at a time; what is more waits for the next round
constexpr int STARS_OUT = 140;
constexpr double METRE = FULL / 65536.0; // nearness of what is a metre away
constexpr int ANY_NEARNESS = 1 << 16;
constexpr float RAIN = 1.0f;

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

__device__ __forceinline__ float low_half(u32 h) { return (float)(h & 0xffff) / 65536.0f; }
__device__ __forceinline__ float high_half(u32 h) { return (float)(h >> 16) / 65536.0f; }

// The pixels that may lie within `across` and `down` of a mark's middle.
__device__ __forceinline__ void bound(const Scene& scene, Mark& mark, float across, float down)
{
    mark.left = (s16)max((int)(mark.x - across), 0), mark.right = (s16)min((int)(mark.x + across) + 2, scene.width);
    mark.top = (s16)max((int)(mark.y - down), 0), mark.bottom = (s16)min((int)(mark.y + down) + 2, scene.height);
}

// Number `i` of the stars, if it is out (effects.light_stars): a is its radius and half a pixel, b its brightness.
__device__ __forceinline__ bool star(const Scene& scene, int i, Mark& mark)
{
    const float* view = scene.view;
    u32 h = hashed(scene.job.fall_seed[scene.n] * 2654435761u + (u32)i + 77u), h2 = hashed(h);
    float lift = high_half(h), x = view[13] + view[12] * (low_half(h) - 0.5f) * 2.4f, y = view[14] - view[12] * (0.10f + 0.8f * lift);
    if (!(x >= 0 && y >= 0 && x < (float)scene.width && y < (float)scene.height)) return false;
    if (scene.nearness[(int)y * scene.width + (int)x] > 0) return false;
    float bright = scene.light[STARS] * (0.25f + 0.75f * lift) * (60.0f + 0.7f * (float)(h2 & 0xff));
    float radius = fmaxf(view[12] * 0.0011f, 0.5f) * (0.7f + 0.6f * (float)(h2 >> 24) / 255.0f);
    mark = {0, 0, 0, 0, STAR, 0, x, y, radius + 0.5f, bright, 1.0f, 1.0f, 1.0f};
    bound(scene, mark, radius, radius);
    return true;
}

// Number `i` of the halos, if its lamp is in sight (effects.glow_lamps): a is 1 / radius^2, b its strength; then its colour.
__device__ __forceinline__ bool halo(const Scene& scene, int i, Mark& mark)
{
    Halo h = scene.job.halos[scene.n * scene.job.lamps + i];
    u16 near = scene.nearness[(int)h.y * scene.width + (int)h.x];
    if (!((double)near * (double)(h.depth - 0.6f) <= METRE)) return false;
    mark = {0, 0, 0, 0, HALO, ANY_NEARNESS, h.x, h.y, 1.0f / (h.radius * h.radius), scene.light[LAMPS] * 127.5f, h.r, h.g, h.b};
    bound(scene, mark, h.radius, h.radius);
    return true;
}

// Number `i` of the drops or flakes (effects.let_fall). A streak: a is half its width, b its length, r its strength, g its most.
// A flake: a is 1 / radius^2.
__device__ __forceinline__ bool drop(const Scene& scene, int i, Mark& mark)
{
    float wide = (float)scene.width, high = (float)scene.height, unit = wide / high > 1.0f ? high : wide;
    u32 h = hashed(scene.job.fall_seed[scene.n] + (u32)i * 0x9E3779B9u), h2 = hashed(h);
    float x = low_half(h) * wide, y = high_half(h) * high, u = low_half(h2), near = 0.24f + 0.76f * u * u * u * u;
    s32 reach = (s32)(near * (float)(METRE / 4.6));
    if (scene.light[FALL] == RAIN) {
        float half = fmaxf(unit * 0.0022f * near, 0.26f), length = unit * 0.105f * near;
        mark = {0, 0, 0, 0, STREAK, reach, x, y, half, length, 0.16f + 0.34f * near, fminf(1.0f, 2.0f * half), 0.0f};
        int top = max((int)y, 0), bottom = min((int)(y + length) + 1, scene.height);
        float right = x - ((float)top + 0.5f - y) * 0.17f, left = x - ((float)bottom - 0.5f - y) * 0.17f; // it leans; a pixel too much
        mark.left = (s16)max((int)(left - half) - 2, 0), mark.right = (s16)min((int)(right + half) + 3, scene.width);
        mark.top = (s16)top, mark.bottom = (s16)bottom;
    } else {
        float radius = fmaxf(unit * 0.0095f * near, 0.45f) + 0.5f;
        mark = {0, 0, 0, 0, FLAKE, reach, x, y, 1.0f / (radius * radius), 0.0f, 0.0f, 0.0f, 0.0f};
        bound(scene, mark, radius, radius);
    }
    return true;
}

// Number `i` of the splashes, if it lies on open ground (effects._splash): a is its radius, b how thick it is, r its width over its height.
__device__ __forceinline__ bool splash(const Scene& scene, int i, Mark& mark)
{
    const float* view = scene.view;
    u32 h = hashed(scene.job.fall_seed[scene.n] * 0x85EBCA6Bu + (u32)i + 991u), h2 = hashed(h);
    float x = low_half(h) * (float)scene.width, away = 8.0f + 9.0f * (float)(h >> 16) / 65536.0f;
    float y = view[14] + view[12] * (view[2] / away + view[11]) / fmaxf(view[8], 0.05f);
    if (!(y >= 1.0f && y < (float)(scene.height - 1))) return false;
    float depth = scene.job.rows[scene.n * (2 * scene.height + 1) + 2 * (int)y + 1].depth;
    if (depth <= 0 || fabs((double)scene.nearness[(int)y * scene.width + (int)x] * (double)depth - METRE) > METRE * 0.012) return false;
    float size = view[12] / depth * (0.06f + 0.10f * (float)(h2 & 0xff) / 255.0f), flat = fmaxf(size * 0.36f, 0.5f);
    mark = {0, 0, 0, 0, SPLASH, ANY_NEARNESS, x, y, size, fmaxf(size * 0.22f, 0.4f), size / flat, 0.0f, 0.0f};
    mark.left = (s16)max((int)(x - size - 1.0f), 0), mark.right = (s16)min((int)(x + size) + 2, scene.width);
    mark.top = (s16)max((int)(y - flat - 1.0f), 0), mark.bottom = (s16)min((int)(y + flat) + 2, scene.height);
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

__device__ __forceinline__ float added(float old, float light) { return truncf(fminf(old + light + 0.5f, 255.0f)); }
__device__ __forceinline__ float blended(float old, float colour, float share) { return truncf(old + (colour - old) * share + 0.5f); }

// Lay a mark over the pixel (x, y). All lanes of a warp have the same mark.
__device__ __forceinline__ void lay(const Mark m, int x, int y, Pixel& p)
{
    if (x < m.left || x >= m.right || y < m.top || y >= m.bottom || p.nearness > m.reach) return;
    float dx = (float)x + 0.5f - m.x, dy = (float)y + 0.5f - m.y;
    if (m.sort <= HALO) {
        float share;
        if (m.sort == STAR) share = m.b * __saturatef(m.a - sqrtf(dx * dx + dy * dy));
        else {
            float fall = 1.0f - (dx * dx + dy * dy) * m.a;
            share = fall > 0 ? m.b * fall * fall : 0.0f;
        }
        p.r = added(p.r, m.r * share), p.g = added(p.g, m.g * share), p.b = added(p.b, m.blue * share);
        return;
    }
    float share, r = 222.0f, g = 232.0f, b = 243.0f;
    if (m.sort == STREAK) {
        float middle = m.x - dy * 0.17f, fade = m.r * __saturatef(1.25f * dy / m.b + 0.15f);
        share = fminf(fmaxf(m.a + 0.5f - fabsf((float)x + 0.5f - middle), 0.0f), m.g) * fade;
    } else if (m.sort == FLAKE) {
        share = __saturatef((1.0f - (dx * dx + dy * dy) * m.a) * 2.0f) * 0.88f;
        r = g = b = 255.0f;
    } else {
        dy *= m.r;
        share = fmaxf(1.0f - fabsf(sqrtf(dx * dx + dy * dy) - m.a) / m.b, 0.0f) * 0.42f;
    }
    p.r = blended(p.r, r, share), p.g = blended(p.g, g, share), p.b = blended(p.b, b, share);
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
    bool starry = light[STARS] > 0, lit = light[LAMPS] > 0, falling = light[AMOUNT] > 0;
    if (!(starry || lit || falling) || job.failed[n]) return;
    int width = job.width, height = job.height;
    bool rain = light[FALL] == RAIN;
    float aspect = (float)width / (float)height, crowd = aspect > 1.0f ? aspect : 1.0f / aspect;
    if (me < VIEW_STRIDE) shared.view[me] = job.views[n * VIEW_STRIDE + me];
    if (me >= 64 && me < 64 + LIGHT_STRIDE) shared.light[me - 64] = light[me - 64];
    __syncthreads();
    Scene scene = {job, shared.view, shared.light, job.nearness + (size_t)n * width * height, n, width, height};
    scene.stars = starry ? STARS_OUT : 0;
    scene.lamps = lit ? job.counts[n].halos : 0;
    scene.drops = falling ? (int)((rain ? 240.0f : 400.0f) * light[AMOUNT] * fminf(crowd, 4.0f)) : 0;
    scene.splashes = falling && rain ? (int)(60.0f * light[AMOUNT]) : 0;
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
