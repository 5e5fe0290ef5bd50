// Pixels of scenes with wet ground, from the samples that `draw` left: a block for every 32 x 128 pixels.
#include "block.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 2) wet(const Job* __restrict__ pointer)
{
    __shared__ Shared shared;
    const Job& job = *pointer;
    if (!is_wet(job.lights + blockIdx.z * LIGHT_STRIDE) || job.failed[blockIdx.z]) return;
    Block block = begin(job, shared);
    const u32* samples = stored(job, block.n, blockIdx.x);
    __syncthreads();
    resolve<true>(block, shared, [=](int y, int x) { return samples[y * STRIDE + x]; });
}
