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
    Turn turn = sincos_of((double)yaw);
    pose.c = (float)turn.c, pose.s = (float)turn.s;
    look = style | paint << 16;
    return mesh;
}

// The matrix from an object's frame to (right, up, forward) (camera.object_to_camera).
__device__ __forceinline__ void object_to_camera(const float* view, const Pose& p, float* m)
{
    float dx = p.x - view[0], dy = p.y - view[1], dz = p.z - view[2];
    for (int row = 0; row < 3; row++) {
        const float* v = view + 3 + 3 * row;
        m[4 * row] = (v[0] * p.c + v[1] * p.s) * p.scale;
        m[4 * row + 1] = (-v[0] * p.s + v[1] * p.c) * p.scale;
        m[4 * row + 2] = v[2] * p.scale;
        m[4 * row + 3] = v[0] * dx + v[1] * dy + v[2] * dz;
    }
}

// Whether a thing lies wholly behind the near plane or beside the picture (kernels.draw_instances).
__device__ __forceinline__ bool beside(const Scene& scene, const float* m, s32 mesh, float scale)
{
    const float* view = scene.view;
    float focal = 2.0f * view[12], cx = 2.0f * view[13];
    float lowest = (0.0f - cx) / focal, highest = ((float)scene.wide - cx) / focal;
    float radius = scene.job.town.radius[mesh] * scale;
    if (m[11] + radius < NEAR) return true;
    float girth = scene.job.town.girths[mesh] * scale, lean = fabsf(view[11]) * radius;
    return m[3] - lowest * m[11] < -(girth * sqrtf(1.0f + lowest * lowest) + fabsf(lowest) * lean)
        || m[3] - highest * m[11] > girth * sqrtf(1.0f + highest * highest) + fabsf(highest) * lean;
}

// Write the place of a thing; how many of its triangles may be seen.
__device__ __forceinline__ int write_place(const Scene& scene, int slot, s32 mesh, const Pose& p, u32 look)
{
    const Job& job = scene.job;
    const float *view = scene.view, *light = scene.light;
    float m[12];
    object_to_camera(view, p, m);
    float dx = view[0] - p.x, dy = view[1] - p.y, dz = view[2] - p.z;
    u32 role = mesh < 0 ? 0 : job.town.roles[mesh];
    float4* out = (float4*)(job.places + scene.n * job.slots + slot);
    for (int row = 0; row < 3; row++) out[row] = make_float4(m[4 * row], m[4 * row + 1], m[4 * row + 2], m[4 * row + 3]);
    out[3] = make_float4((p.c * dx + p.s * dy) / p.scale, (-p.s * dx + p.c * dy) / p.scale, dz / p.scale, p.c * light[0] + p.s * light[1]);
    out[4] = make_float4(-p.s * light[0] + p.c * light[1], light[2], p.x, p.y);
    out[5] = make_float4(p.z, p.c, p.s, p.scale);
    ((uint4*)out)[6] = make_uint4((u32)mesh, look | role << 24, 0, 0);
    if (mesh < 0 || beside(scene, m, mesh, p.scale)) return 0;
    return job.town.triangle_start[mesh + 1] - job.town.triangle_start[mesh];
}
