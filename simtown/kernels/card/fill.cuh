// Triangles into the samples of a block: a lane takes a row of a triangle, works out where it begins and ends, and walks along it.
#pragma once
#include "block.cuh"

constexpr int SHARE = 8, QUEUE = SHARE * THREADS; // pieces that are looked at before those found are filled
constexpr int LENGTHS = 32;     // pieces are filled in the order of their longest rows, since a warp waits for the longest

struct Queue {
    u16 pieces[QUEUE];          // those found, those with the longest rows first
    s32 lengths[LENGTHS];       // how many there are of each length, then where they begin
    s32 found, next, large;
};

// The samples of a block: rows `first` to `last` - 1 of columns `left` to `right` - 1 of the picture.
struct Window {
    u32 samples;                // their address in shared memory
    int left, right, first, last;
};

// From which to which sample a row runs, counted from the box's first: what an edge leaves of it. `e` is its function at the first sample.
//
// The edge function falls by 256 dy a sample, so that e / 256 decides, in 24 bits. Half of one added, the quotient stays farther from whole
// numbers than its rounding error, 2^-23 of it, as long as a box is no wider than 126 samples and |dy| no larger than 32000.
__device__ __forceinline__ void bound(s32 e, s32 dy, float inverse, int& begin, int& end)
{
    int whole = __float2int_rd(((float)(e >> 8) + 0.5f) * inverse);
    if (dy < 0) begin = max(begin, -whole);
    else end = min(end, whole + 1);
}

// The same for triangles too large for that; `inverse` is 1 / (256 |dy|).
__device__ __forceinline__ void bound(s64 e, s32 dy, double inverse, int& begin, int& end)
{
    s64 size = (s64)abs(dy) << 8;
    s64 whole = (s64)floor((double)e * inverse), rest = e - whole * size;
    whole += (rest >= size) - (rest < 0);
    int clamped = (int)min(max(whole, (s64)-65536), (s64)65536);
    if (dy > 0) end = min(end, clamped + 1);
    else if (dy < 0) begin = max(begin, -clamped);
    else if (e < 0) end = begin;
}

// A row of a triangle: `count` samples from the address `at` on, whose depth begins with `value`.
struct Run { u32 at, count, value, step, tag; };

// The address of a sample, `right` of column w.left in row y.
__device__ __forceinline__ u32 address(const Window& w, int y, int right) { return w.samples + 4 * ((y - w.first) * STRIDE + right); }

// Addresses of 32 bits make walking along a row half as long as the compiler's pointers do.
__device__ __forceinline__ void raise(u32 at, u32 value) { asm volatile("red.shared.max.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory"); }

__device__ __forceinline__ Run row_of(const Window& w, const Record* record, short4 box, int y)
{
    const uint4* r = (const uint4*)record;
    uint4 p = __ldg(r), q = __ldg(r + 1), s = __ldg(r + 2);
    int ax = (s16)(q.z & 0xffff), ay = (s32)q.z >> 16, bx = (s16)(q.w & 0xffff), by = (s32)q.w >> 16;
    int down = y - box.z, begin = max(w.left - box.x, 0), end = min(w.right, (int)box.y) - box.x, from = down << 8;
    bound((s32)p.x + from * ax, ay, __uint_as_float(s.x), begin, end);
    bound((s32)p.y + from * bx, by, __uint_as_float(s.y), begin, end);
    bound((s32)p.z - from * (ax + bx), -(ay + by), __uint_as_float(s.z), begin, end);
    return {address(w, y, box.x + begin - w.left), (u32)(max(end, begin) - begin), p.w + begin * q.x + down * q.y, q.x, s.w & 0xffff};
}

__device__ __forceinline__ Run row_of(const Window& w, const Large& r, int y)
{
    int down = y - r.box.top, begin = max(w.left - r.box.left, 0), end = min(w.right, (int)r.box.right) - r.box.left;
    s64 from = down << 8;
    bound(r.e[0] + from * r.ax, r.ay, r.inverse[0], begin, end);
    bound(r.e[1] + from * r.bx, r.by, r.inverse[1], begin, end);
    bound(r.e[2] - from * (r.ax + r.bx), -(r.ay + r.by), r.inverse[2], begin, end);
    return {address(w, y, r.box.left + begin - w.left), (u32)(max(end, begin) - begin), r.value + begin * r.step_x + down * r.step_y, r.step_x, r.tag};
}

// Raise the samples of a lane's row where they lie lower.
__device__ __forceinline__ void walk(Run run)
{
    u32 at = run.at, end = at + 4 * run.count, value = run.value;
    for (; at + 4 < end; at += 8) { // two at a time, since counting costs as much as a sample
        raise(at, value & DEPTH | run.tag);
        value += run.step;
        raise(at + 4, value & DEPTH | run.tag);
        value += run.step;
    }
    if (at < end) raise(at, value & DEPTH | run.tag);
}

// Fill up to 32 pieces, whose rows the lanes of a warp share: `piece` is a lane's own, -1 for none.
__device__ __forceinline__ void fill_pieces(const Window& w, const Box* boxes, const Record* records, int piece, int lane)
{
    int rows = 0;
    if (piece >= 0) {
        short4 box = __ldg((const short4*)boxes + piece);
        rows = min((int)box.w, w.last) - max((int)box.z, w.first);
    }
    int ends = up_to(rows, lane), total = __shfl_sync(ALL, ends, 31), begins = rows ? ends - rows : total, before = 0;
    for (int base = 0; base < total; base += 32) {
        // pieces that begin among these 32 rows, as bits: the last one at or before a row is the row's
        u32 starts = __reduce_or_sync(ALL, (u32)(begins - base) < 32 ? 1u << (begins - base) : 0);
        int whose = before + __popc(starts & (2u << lane) - 1) - 1;
        before += __popc(starts);
        int mine = __shfl_sync(ALL, piece, whose), skipped = __shfl_sync(ALL, begins, whose);
        if (base + lane < total) {
            short4 box = __ldg((const short4*)boxes + mine);
            walk(row_of(w, records + mine, box, max((int)box.z, w.first) + base + lane - skipped));
        }
    }
}

// Fill everything that a scene shows into a block's samples. All threads call this, after queue.large has become 0.
__device__ __forceinline__ void fill(const Block& block, const Window& w, Queue& queue)
{
    const Job& job = block.job;
    int me = threadIdx.x, lane = me & 31;
    const Box* boxes = job.boxes + (long)block.n * job.most_pieces;
    const u8* lengths = job.lengths + (long)block.n * job.most_pieces;
    const Record* records = job.records + (long)block.n * job.most_pieces;
    const Large* larges = job.larges + (long)block.n * job.most_larges;
    int pieces = job.counts[block.n].pieces, many = job.counts[block.n].larges;
    for (int start = 0; start < pieces; start += QUEUE) {
        if (me < LENGTHS) queue.lengths[me] = 0;
        if (me == 0) queue.next = 0;
        __syncthreads();
        int keys[SHARE], places[SHARE];
        #pragma unroll
        for (int k = 0; k < SHARE; k++) {
            int i = start + k * THREADS + me;
            keys[k] = -1;
            if (i < pieces) {
                short4 box = __ldg((const short4*)boxes + i);
                int across = min((int)box.y, w.right) - max((int)box.x, w.left);
                if (across > 0 && box.z < w.last && box.w > w.first) {
                    keys[k] = LENGTHS - min(min(across, (int)__ldg(lengths + i)), LENGTHS);
                    places[k] = atomicAdd(&queue.lengths[keys[k]], 1);
                }
            }
        }
        __syncthreads();
        if (me < LENGTHS) {
            int count = queue.lengths[me], ends = up_to(count, lane);
            queue.lengths[me] = ends - count;
            if (me == LENGTHS - 1) queue.found = ends;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < SHARE; k++)
            if (keys[k] >= 0) queue.pieces[queue.lengths[keys[k]] + places[k]] = k * THREADS + me;
        __syncthreads();
        int found = queue.found;
        for (;;) {
            int group = 0;
            if (lane == 0) group = atomicAdd(&queue.next, 1);
            int i = 32 * __shfl_sync(ALL, group, 0) + lane;
            if (i - lane >= found) break;
            fill_pieces(w, boxes, records, i < found ? start + queue.pieces[i] : -1, lane);
        }
        __syncthreads();
    }
    for (;;) {
        int i = 0;
        if (lane == 0) i = atomicAdd(&queue.large, 1);
        i = __shfl_sync(ALL, i, 0);
        if (i >= many) break;
        const Large& large = larges[i];
        if (large.box.left >= w.right || large.box.right <= w.left) continue;
        int bottom = min((int)large.box.bottom, w.last);
        for (int y = max((int)large.box.top, w.first) + lane; y < bottom; y += 32) walk(row_of(w, large, y));
    }
}
