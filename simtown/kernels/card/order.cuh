// Numbering what the threads of a block find, in order and without atomics.
#pragma once
#include "job.cuh"

constexpr u32 ALL = 0xffffffffu;

// The slot of thing i: the first behind whose end it does not lie. `ends` tells how many things lie in the slots before.
__device__ __forceinline__ int slot_of(const s32* ends, int slots, int i)
{
    int low = 0, high = slots - 1;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (ends[middle + 1] > i) high = middle;
        else low = middle + 1;
    }
    return low;
}

// How many items the lanes of a warp have, up to this one.
__device__ __forceinline__ int up_to(int items, int lane)
{
    for (int away = 1; away < 32; away *= 2) {
        int other = __shfl_up_sync(ALL, items, away);
        if (lane >= away) items += other;
    }
    return items;
}

// How many items the threads before have in all; `total`: how many all have. All threads of the block call this together; `sums` is
// shared by them, a number a warp.
template <int WARPS>
__device__ __forceinline__ int before(s32* sums, int me, int items, int& total)
{
    int lane = me & 31, sum = up_to(items, lane);
    if (lane == 31) sums[me >> 5] = sum;
    __syncthreads();
    total = 0;
    for (int warp = 0; warp < WARPS; warp++) {
        if (warp == me >> 5) sum += total;
        total += sums[warp];
    }
    __syncthreads();
    return sum - items;
}
