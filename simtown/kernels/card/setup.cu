// From a batch's columns to things in place, light and rows, and lists of what lies on the ground: a block a scene.
//
// Lists keep the processor's order: every thread learns how many items the threads before it have.
#include "columns.cuh"
#include "lamps.cuh"
#include "shadows.cuh"
#include "things.cuh"

// Things in their places, and the list of their contacts; how many may cast shadows, whose slots go to shared.casters.
__device__ __forceinline__ int write_things(const Scene& scene, Counts& counts)
{
    const Job& job = scene.job;
    Shared& shared = scene.shared;
    int slots = job.slots, first = scene.n * slots, triangles = 0, lamps = 0, casters = 0;
    for (int start = 0; start < slots; start += THREADS) {
        int slot = start + scene.me, total, seen = 0, burning = 0;
        bool here = slot < slots, casts = false, stands = false;
        Shape shape = {};
        Contact contact = {};
        if (here) {
            Pose pose;
            u32 look;
            s32 mesh = thing_in(scene, slot, pose, look);
            seen = write_place(scene, slot, mesh, pose, look);
            if (mesh >= 0 && slot > 0) {
                burning = job.town.lamp_start[mesh + 1] - job.town.lamp_start[mesh];
                casts = may_cast(scene, mesh, pose);
                stands = stands_on(scene, mesh, pose, shape, contact);
            }
        }
        int at = triangles + before<WARPS>(shared.sums, scene.me, seen, total);
        if (here) job.ends[first + scene.n + slot] = at;
        triangles += total;
        at = lamps + before<WARPS>(shared.sums, scene.me, burning, total);
        if (here) shared.lamp_ends[slot] = at;
        lamps += total;
        at = casters + before<WARPS>(shared.sums, scene.me, casts, total);
        if (casts) shared.casters[at] = (u8)slot;
        casters += total;
        at = counts.contacts + before<WARPS>(shared.sums, scene.me, stands, total);
        if (stands) {
            shape.number = at;
            job.contact_shapes[first + at] = shape;
            job.contacts[first + at] = contact;
        }
        counts.contacts += total;
    }
    if (scene.me == 0) job.ends[first + scene.n + slots] = triangles, shared.lamp_ends[slots] = lamps;
    return casters;
}

extern "C" __global__ void __launch_bounds__(THREADS) setup(const Job* __restrict__ pointer)
{
    __shared__ Shared shared;
    const Job& job = *pointer;
    Scene scene = {job, shared, (int)blockIdx.x, (int)threadIdx.x, 2 * job.width + 1, 2 * job.height + 1, shared.view, shared.light};
    Counts counts = {};
    look(scene);
    write_rows(scene);
    int casters = write_things(scene, counts);
    __syncthreads();
    write_shadows(scene, casters, counts);
    write_lamps(scene, counts);
    __syncthreads();
    write_all_columns(scene, counts);
    if (scene.me == 0) job.counts[scene.n] = counts;
}
