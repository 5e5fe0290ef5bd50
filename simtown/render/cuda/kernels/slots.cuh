// Numbering what slots hold: a row of ends tells how many things lie in the slots before.
#pragma once
#include "job.cuh"

constexpr u32 ALL = 0xffffffffu;

// The slot of thing i: the first behind whose end it does not lie.
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
