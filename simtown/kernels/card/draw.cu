// Triangles to samples, and samples to pixels: a block for every 32 x 128 pixels, whose samples stay in shared memory.
#include "clouds.cuh"
#include "fill.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 3) draw(const Job* __restrict__ pointer)
{
    extern __shared__ __align__(16) u32 samples[];
    __shared__ Shared shared;
    __shared__ Queue queue;
    const Job& job = *pointer;
    if (job.failed[blockIdx.z]) return;
    Block block = begin(job, shared);
    __syncthreads();
    int me = threadIdx.x, first = 2 * block.top, last = 2 * block.bottom + 1, total = (last - first) * STRIDE;
    if (me == 0) queue.large = 0;
    if (block.light[COVER] > 0) cover_sky(block, samples);
    else
        #pragma unroll 4
        for (int i = me; i < (total + 3) / 4; i += THREADS) ((uint4*)samples)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    Window window = {(u32)__cvta_generic_to_shared(samples), 2 * block.left, min(2 * block.left + STRIDE, 2 * job.width + 1), first, last};
    fill(block, window, queue);
    __syncthreads();
    if (job.samples && is_wet(block.light)) {
        u32* into = stored(job, block.n, blockIdx.x) + first * STRIDE;
        int own = block.bottom == job.height ? total : total - STRIDE; // the last row is the first one of the block below
        for (int i = me; i < own; i += THREADS) into[i] = samples[i];
    } else
        resolve<false>(block, shared, [=](int y, int x) { return samples[(y - first) * STRIDE + x]; });
}
