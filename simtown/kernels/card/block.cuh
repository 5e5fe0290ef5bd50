// How `draw` and `wet` begin: which pixels of which scene a block makes.
#pragma once
#include "resolve.cuh"

__device__ __forceinline__ Block begin(const Job& job, Shared& shared)
{
    int n = blockIdx.z, me = threadIdx.x;
    if (me < VIEW_STRIDE) shared.view[me] = job.views[n * VIEW_STRIDE + me];
    if (me >= 64 && me < 64 + LIGHT_STRIDE) shared.light[me - 64] = job.lights[n * LIGHT_STRIDE + me - 64];
    int top = BAND * blockIdx.y;
    return {job, n, STRIP * (int)blockIdx.x, top, min(top + BAND, job.height), shared.view, shared.light,
            job.rows + (long)n * (2 * job.height + 1), (const uint2*)job.packed + (long)n * (job.most_faces + 1),
            (const float4*)job.flats + (long)n * (job.ground_faces + 1)};
}

// Whether the ground mirrors: `draw` leaves these scenes' samples to `wet`, since a reflection may lie in another block.
__device__ __forceinline__ bool is_wet(const float* light) { return light[WET] > 0.2f; }

// The samples of a strip in job.samples.
__device__ __forceinline__ u32* stored(const Job& job, int n, int strip)
{
    return job.samples + ((long)n * ((job.width + STRIP - 1) / STRIP) + strip) * (2 * job.height + 1) * STRIDE;
}
