// Things in their places, from the columns of a batch.
#pragma once
#include "scene.cuh"

constexpr u32 NO_PAINT = 255;

// What stands in a slot (instances.py): its mesh, or -1; its pose; its style and paint.
__device__ __forceinline__ s32 thing_in(const Scene& scene, int slot, Pose& pose, u32& look)
{
    const Job& job = scene.job;
    int number = slot - 1;
    float yaw = 0.0f;
    u32 paint = NO_PAINT, style = 0;
    s32 mesh = job.town.meshes - 1;
    pose = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 1.0f};
    if (slot == 0) {
        look = NO_PAINT << 16;
        return mesh;
    }
    if (number < job.vehicles) {
        int at = scene.n * job.vehicles + number;
        const float* place = job.pose + 3 * at;
        mesh = job.entity[at];
        pose.x = place[0], pose.y = place[1], yaw = place[2];
        if (job.paint[at] >= 0) paint = job.paint[at];
        else if (mesh >= 0) paint = job.town.own_paint[mesh];
    } else {
        int at = scene.n * job.props + number - job.vehicles;
        const float* place = job.prop_pose + 5 * at;
        mesh = job.prop[at];
        style = job.prop_style[at];
        if (mesh >= 0) mesh = job.town.in_pose[mesh * job.town.poses + style / (TINTS * TINTS) % job.town.poses];
        pose.x = place[0], pose.y = place[1], pose.z = place[2], yaw = place[3], pose.scale = place[4];
    }
    Turn turn = turn_of((double)yaw);
    pose.c = (float)turn.cos, pose.s = (float)turn.sin;
    look = style | paint << 16;
    return mesh;
}

// Write the place of a thing; how many of its triangles may be seen.
__device__ __forceinline__ int write_place(const Scene& scene, int slot, s32 mesh, const Pose& p, u32 look)
{
    const Job& job = scene.job;
    const float *view = scene.view, *light = scene.light;
    Matrix matrix = object_to_camera(view, p);
    Point eye = eye_from(view, p), sun = sun_from(light, p);
    u32 role = mesh < 0 ? 0 : job.town.roles[mesh];
    float4* out = (float4*)(job.places + scene.n * job.slots + slot);
    for (int row = 0; row < 3; row++) out[row] = make_float4(matrix.m[row][0], matrix.m[row][1], matrix.m[row][2], matrix.m[row][3]);
    out[3] = make_float4(eye.x, eye.y, eye.z, sun.x);
    out[4] = make_float4(sun.y, sun.z, p.x, p.y);
    out[5] = make_float4(p.z, p.c, p.s, p.scale);
    ((uint4*)out)[6] = make_uint4((u32)mesh, look | role << 24, 0, 0);
    if (mesh < 0) return 0;
    float radius = job.town.radius[mesh] * p.scale, girth = job.town.girths[mesh] * p.scale;
    if (unseen(view, sides_of(view, 0, scene.wide), matrix, radius, girth)) return 0;
    return job.town.triangle_start[mesh + 1] - job.town.triangle_start[mesh];
}
