// Samples to pixels: sample rows become colours, and the tent filter [1 2 1] of three rows and columns makes pixels of them.
//
// Two samples stand to a pixel: pixel p owns samples 2p to 2p + 2 of a row. A block makes STRIP x BAND pixels, a lane a column of them.
#pragma once
#include "brightness.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int STRIP = 32, BAND = 128;           // pixels of a block
constexpr int STRIDE = 2 * STRIP + 1;           // samples of its rows
constexpr int MOST_ROWS = 2 * BAND + 1;

// What a block works on, and what its threads share while they resolve it.
struct Block {
    const Job& job;
    int n, left, top, bottom;                   // scene; first pixel column, first pixel row and one behind the last
    const float *view, *light;
    const Row* rows;
    const uint2* packed;
    const float4* flats;
};
struct Shared {
    float view[VIEW_STRIDE], light[LIGHT_STRIDE];
    Listed listed;
    uint2 edge[MOST_ROWS];                      // colours of the last column of samples, which belongs to the next strip as well
};

// What most samples of a row need of it.
__device__ __forceinline__ Row row_at(const Row* row)
{
    const float4* r = (const float4*)row;
    float4 p = __ldg(r), q = __ldg(r + 1);
    return {p.x, p.y, p.z, p.w, q.x, q.y, __float_as_uint(q.z), __float_as_uint(q.w)};
}

__device__ __forceinline__ bool is_sky(u32 tag) { return tag == 0 || tag >= SKY; }

// How a triangle lies on the ground: 0 if it does not, or GRASS, TARMAC, PAVED.
__device__ __forceinline__ u32 flag_of(const Block& block, u32 tag)
{
    if (is_sky(tag)) return 0;
    u32 y = __ldg(block.packed + tag).y;
    return y >> 31 ? y >> 28 & 3 : 0;
}

// The sky in row y, whose numbers are `row`.
__device__ __forceinline__ Levels sky_at(const Block& block, u32 tag, int y, const Row& row)
{
    if (tag <= SKY) return {row.sky_rg, row.sky_b};
    uint4 clouds = __ldg((const uint4*)(block.rows + y) + 2);
    return mix({clouds.z, clouds.w}, {clouds.x, clouds.y}, cloud_share(tag - SKY));
}

__device__ __forceinline__ Levels flat_at(const Block& block, u32 tag, float air)
{
    float4 c = __ldg(block.flats + tag);
    return pack({block.light[FOG] + c.x * air, block.light[FOG + 1] + c.y * air, block.light[FOG + 2] + c.z * air});
}

// A pair of samples as the ground makes it brighter or darker: worked out in every other row.
struct Ground {
    u32 level;                                  // how dark, of 256
    Glow glow;
    Levels mirrored;                            // what wet ground shows, and how much of it, of 256
    u32 share;
};

// The colour of a sample in row y, whose numbers are `row`, and how it lies on the ground.
__device__ __forceinline__ Levels tone(const Block& block, u32 word, int y, const Row& row, u32& flag)
{
    u32 tag = word & TAG;
    flag = 0;
    if (is_sky(tag)) return sky_at(block, tag, y, row);
    uint2 c = __ldg(block.packed + tag);
    if (c.y >> 31 == 0) return {c.x, c.y};
    flag = c.y >> 28 & 3;
    return flat_at(block, tag, row.air);
}

template <bool WET>
__device__ __forceinline__ Levels on_ground(Levels c, u32 flag, const Ground& ground)
{
    if (ground.level < 256) c = dimmed(c, ground.level);
    if (WET && ground.share > 0 && flag > GRASS) c = mix(c, ground.mirrored, ground.share);
    if (ground.glow.r | ground.glow.g | ground.glow.b) c = lighten(c, ground.glow);
    return c;
}

// The colour that a sample has in row y, wherever it stands: of what lies on the ground, in the air of that row or its own last one.
__device__ __forceinline__ Levels seen_from(const Block& block, u32 word, int y, const Row& row)
{
    u32 tag = word & TAG;
    if (is_sky(tag)) return sky_at(block, tag, y, row);
    uint2 c = __ldg(block.packed + tag);
    if (c.y >> 31 == 0) return {c.x, c.y};
    return flat_at(block, tag, block.rows[min(y, (int)(c.y & 0xffff) - 1)].air);
}

// What the wet ground mirrors at samples x and x + 1 of row y; `bottom` is the lowest row above that shows no ground there, or -1.
template <class Samples>
__device__ __forceinline__ void mirror(const Block& block, const Samples& samples, int y, int x, const Row& row, int& bottom, Ground& ground)
{
    float reach = 7.0f * block.view[12] / row.depth, wet = block.light[WET] * row.air;
    float ripple = (float)(hashed((u32)(s32)(row.depth * 23.0f)) >> 8) * (float)(1.0 / 16777216.0) - 0.5f;
    ground.share = 0;
    u32 flag = flag_of(block, samples(y, x) & TAG);
    if (flag == 0) bottom = y;
    else if (bottom >= 0) {
        float below = (float)(y - bottom), share = 1.0f - below * (1.0f / reach);
        if (share > 0) {
            below *= 1.0f + 0.22f * ripple;
            int a = max(bottom - (int)(below * 0.8f), 0), b = max(bottom - (int)(below * 1.2f), 0);
            ground.mirrored = mix(seen_from(block, samples(a, x), y, row), seen_from(block, samples(b, x), y, row), 128);
            ground.share = (u32)(s32)(wet * (flag == TARMAC ? 148.0f : 60.0f) * share);
        }
    }
}

// The lowest row above y that `mirror` looks at and that shows no ground in column x, or -1.
template <class Samples>
__device__ __forceinline__ int bottom_above(const Block& block, const Samples& samples, int y, int x)
{
    while (--y >= 0 && block.rows[y].depth > 0) {
        bool looked_at = y % 2 == 0 || y == 0 || block.rows[y - 1].depth <= 0;
        if (looked_at && flag_of(block, samples(y, x) & TAG) == 0) return y;
    }
    return -1;
}

// Make the pixels of a block. `samples(y, x)` is the sample in row y of the picture and column x of the strip. All threads call this.
template <bool WET, class Samples>
__device__ __forceinline__ void resolve(const Block& block, Shared& shared, const Samples& samples)
{
    const Job& job = block.job;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = 2 * block.top, last = 2 * block.bottom + 1, n = block.n;
    int left = 2 * block.left, right = left + STRIDE;
    const Counts& counts = job.counts[n];
    Listed& listed = shared.listed;
    Lists lists(job, n, listed, block.light);
    s32* count = warp == 0 ? &listed.shadows : warp == 1 ? &listed.contacts : &listed.pools;
    int found = 0;
    if (warp == 0) found = list(lists.shadow_shapes, counts.shadows, listed.shadow, MOST_LISTED, left, right, first, last, lane);
    if (warp == 1) found = list(lists.contact_shapes, counts.contacts, listed.contact, MOST_LISTED, left, right, first, last, lane);
    if (warp == 2) found = list(lists.pool_shapes, counts.pools, listed.pool, 2 * MOST_LISTED, left, right, first, last, lane);
    if (warp < 3 && lane == 0) *count = found;
    __syncthreads();
    for (int y = first + threadIdx.x; y < last; y += THREADS) { // the last column, a row a lane
        Row row = row_at(block.rows + y);
        u32 flag;
        Levels c = tone(block, samples(y, 2 * STRIP), y, row, flag);
        if (flag) {
            Ground ground = {256};
            int above = y % 2 == 1 && block.rows[y - 1].depth > 0 ? y - 1 : y, bottom = WET ? bottom_above(block, samples, above, 2 * STRIP) : 0;
            Row there = row_at(block.rows + above);
            int pair = block.left + STRIP;
            ground.level = darkness(lists, above, pair, there);
            if (WET) mirror(block, samples, above, 2 * STRIP, there, bottom, ground);
            if (listed.pools) ground.glow = poured(lists, above, pair, there);
            c = on_ground<WET>(c, flag, ground);
        }
        shared.edge[y - first] = make_uint2(c.rg, c.b);
    }
    __syncthreads();
    int column = block.left + lane, x = 2 * lane, width = job.width;
    bool inside = column < width, layered = job.nearness && (block.light[LAMPS_ON] > 0 || block.light[AMOUNT] > 0 || block.light[STARS] > 0);
    float inverse_focal = 1.0f / block.view[12], ray_x = ((float)column + 0.5f - block.view[13]) * inverse_focal, middle = block.view[14];
    int share = (block.bottom - block.top + WARPS - 1) / WARPS, begin = block.top + warp * share, end = min(begin + share, block.bottom);
    if (begin >= end) return;
    // pointers go from row to row of the picture, so that nothing is asked of the job in between
    long at = ((long)n * job.height + begin) * width + column, faces = (long)n * (job.most_faces + 1);
    u8 *rgb = job.rgb + 3 * at, *ids = job.ids + at;
    float* depths = job.depth ? job.depth + at : nullptr;
    u16* nearness = job.nearness + at;
    const float4* planes = (const float4*)job.planes + faces;
    const u8* owners = job.owners + faces;
    Ground ground = {256};
    u32 low = 0, high = 0; // sums of a pixel: red | green << 16, and blue
    int bottom = WET ? bottom_above(block, samples, 2 * begin, x) : -1;
    bool begun = begin > 0 && block.rows[2 * begin - 1].depth > 0;
    for (int y = 2 * begin; y <= 2 * end; y++) {
        Row row = row_at(block.rows + y);
        u32 w0 = samples(y, x), w1 = samples(y, x + 1), f0, f1;
        Levels t0 = tone(block, w0, y, row, f0), t1 = tone(block, w1, y, row, f1);
        if (row.depth > 0) {
            if (y % 2 == 0 || !begun) {
                ground.level = darkness_along(lists, y, block.left, lane, row);
                if (WET) mirror(block, samples, y, x, row, bottom, ground);
                if (listed.pools) ground.glow = poured_along(lists, y, block.left, lane, row);
            }
            begun = true;
            if (f0) t0 = on_ground<WET>(t0, f0, ground);
            if (f1) t1 = on_ground<WET>(t1, f1, ground);
        }
        uint2 edge = shared.edge[y - first];
        u32 next_rg = __shfl_down_sync(ALL, t0.rg, 1), next_b = __shfl_down_sync(ALL, t0.b, 1);
        if (lane == 31) next_rg = edge.x, next_b = edge.y;
        u32 rg = t0.rg + 2 * t1.rg + next_rg, b = t0.b + 2 * t1.b + next_b;
        if (y % 2 == 1) {
            low += 2 * rg, high += 2 * b;
            if (inside && layered) *nearness = w1 >> 16;
            if (inside && depths) {
                u32 tag = w1 & TAG, id = 0;
                float depth = __int_as_float(0x7f800000);
                if (!is_sky(tag)) {
                    float4 p = __ldg(planes + tag);
                    float ray_y = (middle - (float)(y >> 1) - 0.5f) * inverse_focal;
                    depth = p.w / (p.x * ray_x + p.y * ray_y + p.z);
                    id = __ldg(owners + tag);
                }
                *depths = depth, *ids = id;
                depths += width, ids += width;
            }
            nearness += width;
        } else {
            if (y > 2 * begin) {
                u32 l = low + rg, h = high + b;
                if (inside) rgb[0] = l >> 8, rgb[1] = l >> 24, rgb[2] = h >> 8;
                rgb += 3 * width;
            }
            low = rg + 0x00800080u, high = b + 0x80u;
        }
    }
}
