// From placed meshes to triangles ready to fill: a block a scene.
//
// Triangles are numbered in the order in which the processor draws them (by slot, then by row of the atlas), so that equal depths are
// decided alike. The pieces that `draw` fills carry these numbers and may stand in any order.
#include "colour.cuh"
#include "order.cuh"
#include "triangles.hpp"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int ROUND = 512;      // groups of 32 triangles that are looked at before all agree on numbers
constexpr int CUTTERS = 64;     // threads that cut triangles at the near plane, each with room of its own
constexpr int MOST_CUT = 1024;

struct Room { Point spot[CUT_CORNERS], cut[CUT_CORNERS]; };

// A triangle on the screen: corners in 1/256 sample, 1/depth.
struct Screen { s32 x0, y0, x1, y1, x2, y2; float w0, w1, w2; };

// What all threads of a block share.
struct Shared {
    s32 ends[MOST_SLOTS + 1];
    u32 masks[ROUND];
    s32 tally[WARPS], pieces, larges, cuts;
    float light[LIGHT_STRIDE];
    u16 cut[MOST_CUT];
    Room rooms[CUTTERS];
};

// The scene that a block works on.
struct Scene {
    const Job& job;
    int n;
    const Place* places;
    u32* faces;
    float focal, cx, cy;
    int wide, high;
};

// Triangles that face the camera, in order, into scene.faces; how many there are, which may be more than were kept.
__device__ __forceinline__ int find_faces(const Scene& scene, Shared& shared, int me)
{
    const Job& job = scene.job;
    const float4* normals = (const float4*)job.town.normals;
    const s32* starts = job.town.triangle_start;
    int lane = me & 31, warp = me >> 5, slots = job.slots, total = shared.ends[slots], faces = 0;
    for (int start = 0; start < total; start += 32 * ROUND) {
        int groups = min((total - start + 31) >> 5, ROUND), share = (groups + WARPS - 1) / WARPS;
        int from = warp * share, to = min(from + share, groups), mine = 0;
        int first = start + 32 * from + lane, began = slot_of(shared.ends, slots, min(first, total - 1));
        for (int g = from, i = first, slot = began; g < to; g++, i += 32) {
            bool facing = false;
            if (i < total) {
                while (i >= shared.ends[slot + 1]) slot++;
                const Place& place = scene.places[slot];
                float4 normal = normals[starts[place.mesh] + i - shared.ends[slot]];
                facing = normal.x * place.eye.x + normal.y * place.eye.y + normal.z * place.eye.z > normal.w;
            }
            u32 mask = __ballot_sync(ALL, facing);
            if (lane == 0) shared.masks[g] = mask;
            mine += __popc(mask);
        }
        if (lane == 0) shared.tally[warp] = mine;
        __syncthreads();
        int row = faces;
        for (int w = 0; w < WARPS; w++) {
            int count = shared.tally[w];
            faces += count;
            if (w < warp) row += count;
        }
        for (int g = from, i = first, slot = began; g < to; g++, i += 32) {
            u32 mask = shared.masks[g];
            int place = row + __popc(mask & ((1u << lane) - 1));
            if (mask >> lane & 1) {
                while (i >= shared.ends[slot + 1]) slot++;
                if (place < job.most_faces) scene.faces[place] = (u32)slot << 24 | (u32)(i - shared.ends[slot]);
            }
            row += __popc(mask);
        }
        __syncthreads();
    }
    return faces;
}

// 0 where a sample on an edge along (dx, dy) belongs to the triangle, otherwise 1.
__device__ __forceinline__ int outside(s32 dx, s32 dy) { return dy < 0 || (dy == 0 && dx > 0) ? 0 : 1; }

__device__ __forceinline__ float inverse_of(s32 dy) { return dy == 0 ? 256.0f : 1.0f / fabsf((float)dy); }
__device__ __forceinline__ double wide_inverse_of(s32 dy) { return dy == 0 ? 0.0 : 1.0 / (256.0 * fabs((double)dy)); }

// Room for a piece for every lane that has one, in an array of which `used` are taken; may lie behind its end.
__device__ __forceinline__ int claim(s32* used, bool have, int lane)
{
    u32 mask = __ballot_sync(ALL, have);
    int first = 0;
    if (mask == 0) return 0;
    if (lane == 0) first = atomicAdd(used, __popc(mask));
    return __shfl_sync(ALL, first, 0) + __popc(mask & ((1u << lane) - 1));
}

// Write down a triangle on the screen, unless its box holds no sample; whether it does. All lanes of a warp call this together.
__device__ __forceinline__ bool keep(const Scene& scene, Shared& shared, Screen t, u32 tag, bool have, int lane)
{
    s64 area = (s64)(t.x1 - t.x0) * (t.y2 - t.y0) - (s64)(t.x2 - t.x0) * (t.y1 - t.y0);
    if (area < 0) { // corners run clockwise on the screen from here on
        s32 x = t.x1, y = t.y1;
        float w = t.w1;
        t.x1 = t.x2, t.y1 = t.y2, t.w1 = t.w2;
        t.x2 = x, t.y2 = y, t.w2 = w;
        area = -area;
    }
    s32 low_x = min(min(t.x0, t.x1), t.x2), high_x = max(max(t.x0, t.x1), t.x2);
    s32 low_y = min(min(t.y0, t.y1), t.y2), high_y = max(max(t.y0, t.y1), t.y2);
    int left = max((low_x + 255) >> 8, 0), right = min((high_x + 255) >> 8, scene.wide);
    int top = max((low_y + 255) >> 8, 0), bottom = min((high_y + 255) >> 8, scene.high);
    have &= area != 0 && left < right && top < bottom;
    bool large = max(high_x - low_x, high_y - low_y) > 32000; // edge functions of others fit 32 bits
    const Job& job = scene.job;
    int small_at = claim(&shared.pieces, have && !large, lane), large_at = claim(&shared.larges, have && large, lane);
    if (!have) return false;
    Slopes slopes = slopes_of(t.x0, t.y0, t.w0, t.x1, t.y1, t.w1, t.x2, t.y2, t.w2, area, left, top);
    s32 ax = t.x1 - t.x0, ay = t.y1 - t.y0, bx = t.x2 - t.x1, by = t.y2 - t.y1, cx = t.x0 - t.x2, cy = t.y0 - t.y2;
    if (!large) {
        if (small_at >= job.most_pieces) return true; // the scene is flagged at the end
        long at = (long)scene.n * job.most_pieces + small_at;
        int x = 256 * left, y = 256 * top;
        ((short4*)job.boxes)[at] = make_short4(left, right, top, bottom);
        job.lengths[at] = (u8)fminf((float)area / ((float)(high_y - low_y) * 256.0f) + 1.5f, 255.0f);
        uint4* record = (uint4*)(job.records + at);
        record[0] = make_uint4((y - t.y0) * ax - (x - t.x0) * ay - outside(ax, ay), (y - t.y1) * bx - (x - t.x1) * by - outside(bx, by),
                               (y - t.y2) * cx - (x - t.x2) * cy - outside(cx, cy), slopes.value);
        record[1] = make_uint4(slopes.step_x, slopes.step_y, (u32)ax & 0xffff | (u32)ay << 16, (u32)bx & 0xffff | (u32)by << 16);
        record[2] = make_uint4(__float_as_uint(inverse_of(ay)), __float_as_uint(inverse_of(by)), __float_as_uint(inverse_of(cy)), tag);
    } else if (large_at < job.most_larges) {
        Large& record = job.larges[(long)scene.n * job.most_larges + large_at];
        s64 x = 256 * left, y = 256 * top;
        record.e[0] = (y - t.y0) * ax - (x - t.x0) * ay - outside(ax, ay);
        record.e[1] = (y - t.y1) * bx - (x - t.x1) * by - outside(bx, by);
        record.e[2] = (y - t.y2) * cx - (x - t.x2) * cy - outside(cx, cy);
        record.inverse[0] = wide_inverse_of(ay), record.inverse[1] = wide_inverse_of(by), record.inverse[2] = wide_inverse_of(cy);
        record.ax = ax, record.ay = ay, record.bx = bx, record.by = by;
        record.value = slopes.value, record.step_x = slopes.step_x, record.step_y = slopes.step_y, record.tag = tag;
        record.box.left = left, record.box.right = right, record.box.top = top, record.box.bottom = bottom;
    }
    return true;
}

__device__ __forceinline__ Point camera_frame(const Place& place, float4 v)
{
    const float4* m = (const float4*)place.matrix.m;
    float4 r = m[0], u = m[1], f = m[2];
    return {r.x * v.x + r.y * v.y + r.z * v.z + r.w, u.x * v.x + u.y * v.y + u.z * v.z + u.w, f.x * v.x + f.y * v.y + f.z * v.z + f.w};
}

// A point of the camera's frame on the screen, in whole 1/256 samples; w is 1/depth.
__device__ __forceinline__ float inverse_depth(Point p) { return 1.0f / fmaxf(p.z, 1e-3f); }
__device__ __forceinline__ float screen_x(const Scene& s, Point p, float w) { return floorf((s.cx + s.focal * (p.x * w)) * SNAP + 0.5f); }
__device__ __forceinline__ float screen_y(const Scene& s, Point p, float w) { return floorf((s.cy - s.focal * (p.y * w)) * SNAP + 0.5f); }

// The colour of a triangle, in the air but for what lies flat on the ground (whose air depends on the row of samples), and its depth.
__device__ __forceinline__ void paint(const Scene& scene, const Shared& shared, int face, u32 item, int4 row, float mean, int bottom)
{
    const Job& job = scene.job;
    const float* light = shared.light;
    int slot = item >> 24, tag = face + 1;
    const Place& place = scene.places[slot];
    int t = job.town.triangle_start[place.mesh] + (item & 0xffffff);
    float4 normal = ((const float4*)job.town.normals)[t];
    u32 look = place.look, material = (u32)row.w >> 16 ? look >> 16 & 0xff : row.w & 0xff;
    float4 colour = ((const float4*)job.town.palette)[material];
    Face f = {light, look >> 24 & VEHICLE ? VEHICLE_SUN : SUN, job.town.kinds[material], {colour.x, colour.y, colour.z}, look & 0xffff, (u32)row.w >> 8 & 0xff, normal.z};
    f.sunny = fmaxf(normal.x * place.sun.x + normal.y * place.sun.y + normal.z * place.sun.z, 0.0f);
    Rgb c;
    if (f.kind == MATTE && light[SNOW] == 0) c = matte(light + f.sun, f.colour, f.nz, f.sunny);
    else {
        int tint = tint_of(f.kind, f.style);
        if (tint >= 0) f.colour = {job.town.tints[4 * tint], job.town.tints[4 * tint + 1], job.town.tints[4 * tint + 2]};
        if (f.kind == GLASS || f.kind == WINDOW) {
            const float4* v = (const float4*)job.town.vertices;
            float4 p = v[row.x], q = v[row.y], r = v[row.z];
            const float third = (float)(1.0 / 3.0);
            f.glance = glance_of((p.x + q.x + r.x) * third - place.eye.x, (p.y + q.y + r.y) * third - place.eye.y,
                                 (p.z + q.z + r.z) * third - place.eye.z, normal.x, normal.y, normal.z);
        }
        if (slot == 0) f.nz = fmaxf(normal.z, 0.55f); // hills stand upright, and snow lies on them all the same
        c = shade(f);
    }
    float fog_r = light[FOG], fog_g = light[FOG + 1], fog_b = light[FOG + 2];
    long at = (long)scene.n * (job.most_faces + 1) + tag;
    if (slot == 0 && (f.kind == GROUND || f.kind == ROAD || normal.z > 0.5f)) {
        u32 flag = f.kind == ROAD ? TARMAC : colour.y > 1.1f * colour.x ? GRASS : PAVED;
        ((float4*)job.flats)[(long)scene.n * (job.ground_faces + 1) + tag] = make_float4(c.r - fog_r, c.g - fog_g, c.b - fog_b, 0.0f);
        job.packed[at] = (u64)(0x80000000u | flag << 28 | (u32)bottom) << 32;
    } else {
        float air = clear_air(light[DENSITY] * (f.kind == CLOUD ? 0.25f : 1.0f), light[THICK], mean);
        Levels levels = pack({fog_r + (c.r - fog_r) * air, fog_g + (c.g - fog_g) * air, fog_b + (c.b - fog_b) * air});
        job.packed[at] = (u64)levels.b << 32 | levels.rg;
    }
    if (job.depth == nullptr) return;
    job.owners[at] = slot;
    const float4* m = (const float4*)place.matrix.m;
    float4 r = m[0], u = m[1], fw = m[2];
    float distance = (normal.w - (normal.x * place.eye.x + normal.y * place.eye.y + normal.z * place.eye.z)) * place.pose.scale * place.pose.scale;
    ((float4*)job.planes)[at] = make_float4(r.x * normal.x + r.y * normal.y + r.z * normal.z, u.x * normal.x + u.y * normal.y + u.z * normal.z,
                                            fw.x * normal.x + fw.y * normal.y + fw.z * normal.z, distance);
}

extern "C" __global__ void __launch_bounds__(THREADS, 3) arrange(const Job* __restrict__ pointer)
{
    __shared__ Shared shared;
    const Job& job = *pointer;
    int n = blockIdx.x, me = threadIdx.x, lane = me & 31;
    for (int k = me; k <= job.slots; k += THREADS) shared.ends[k] = job.ends[n * (job.slots + 1) + k];
    if (me < LIGHT_COLUMNS) shared.light[me] = job.lights[n * LIGHT_STRIDE + me];
    if (me == 0) shared.pieces = shared.larges = shared.cuts = 0;
    __syncthreads();
    const float* view = job.views + n * VIEW_STRIDE;
    Scene scene = {job, n, job.places + (long)n * job.slots, job.faces + (long)n * job.most_faces,
                   2.0f * view[12], 2.0f * view[13], 2.0f * view[14], 2 * job.width + 1, 2 * job.height + 1};
    int faces = find_faces(scene, shared, me);
    bool many = faces >= min(MOST_TRIANGLES, job.most_faces + 1);
    if (many) faces = 0;
    const int4* triangles = (const int4*)job.town.triangles;
    const float4* vertices = (const float4*)job.town.vertices;
    for (int base = 0; base < faces; base += THREADS) {
        int face = base + me;
        bool whole = false;
        u32 item = 0;
        int4 row = {};
        float mean = 0, lowest = 0;
        Screen t = {};
        if (face < faces) {
            item = scene.faces[face];
            const Place& place = scene.places[item >> 24];
            row = triangles[job.town.triangle_start[place.mesh] + (item & 0xffffff)];
            Point p = camera_frame(place, vertices[row.x]), q = camera_frame(place, vertices[row.y]), r = camera_frame(place, vertices[row.z]);
            t.w0 = inverse_depth(p), t.w1 = inverse_depth(q), t.w2 = inverse_depth(r);
            float x0 = screen_x(scene, p, t.w0), y0 = screen_y(scene, p, t.w0), x1 = screen_x(scene, q, t.w1), y1 = screen_y(scene, q, t.w1);
            float x2 = screen_x(scene, r, t.w2), y2 = screen_y(scene, r, t.w2);
            float reach = fmaxf(fmaxf(fmaxf(fabsf(x0), fabsf(x1)), fabsf(x2)), fmaxf(fmaxf(fabsf(y0), fabsf(y1)), fabsf(y2)));
            float nearest = fminf(fminf(p.z, q.z), r.z);
            mean = (p.z + q.z + r.z) * (float)(1.0 / 3.0);
            lowest = fmaxf(fmaxf(y0, y1), y2);
            whole = nearest >= NEAR && reach <= (float)REACH;
            if (whole) t.x0 = x0, t.y0 = y0, t.x1 = x1, t.y1 = y1, t.x2 = x2, t.y2 = y2;
            else if (fmaxf(fmaxf(p.z, q.z), r.z) > NEAR) {
                int k = atomicAdd(&shared.cuts, 1);
                if (k < MOST_CUT) shared.cut[k] = face;
            }
        }
        if (keep(scene, shared, t, face + 1, whole, lane))
            paint(scene, shared, face, item, row, mean, (int)fminf(lowest / SNAP, (float)(scene.high - 1)) + 1);
    }
    __syncthreads();
    int cuts = min(shared.cuts, MOST_CUT);
    for (int base = 0; base < cuts && me < CUTTERS; base += CUTTERS) {
        bool have = base + me < cuts, seen = false;
        int face = 0, corners = 0;
        u32 item = 0;
        int4 row = {};
        float mean = 0, lowest = 0, nearest = 0;
        Room& room = shared.rooms[me];
        if (have) {
            face = shared.cut[base + me], item = scene.faces[face];
            const Place& place = scene.places[item >> 24];
            row = triangles[job.town.triangle_start[place.mesh] + (item & 0xffffff)];
            Point p = camera_frame(place, vertices[row.x]), q = camera_frame(place, vertices[row.y]), r = camera_frame(place, vertices[row.z]);
            room.spot[0] = p, room.spot[1] = q, room.spot[2] = r;
            mean = (p.z + q.z + r.z) * (float)(1.0 / 3.0), nearest = fminf(fminf(p.z, q.z), r.z);
            lowest = fmaxf(fmaxf(screen_y(scene, p, inverse_depth(p)), screen_y(scene, q, inverse_depth(q))),
                           screen_y(scene, r, inverse_depth(r)));
            corners = cut_triangle(room.spot, room.cut, scene.focal, scene.cx, scene.cy);
        }
        Point a = have ? room.spot[0] : Point{};
        for (int i = 1; i < CUT_CORNERS - 2; i++) {
            bool there = i < corners - 1;
            if (__ballot_sync(ALL, there) == 0) break;
            Screen t = {};
            if (there) {
                Point b = room.spot[i], c = room.spot[i + 1];
                t = {(s32)a.x, (s32)a.y, (s32)b.x, (s32)b.y, (s32)c.x, (s32)c.y, a.z, b.z, c.z};
            }
            seen |= keep(scene, shared, t, face + 1, there, lane);
        }
        if (seen) {
            float last = nearest < NEAR ? (float)(scene.high - 1) : fminf(lowest / SNAP, (float)(scene.high - 1));
            paint(scene, shared, face, item, row, mean, (int)last + 1);
        }
    }
    __syncthreads();
    if (me == 0) {
        Counts& counts = job.counts[n];
        bool failed = many || shared.pieces > job.most_pieces || shared.larges > job.most_larges || shared.cuts > MOST_CUT;
        counts.faces = failed ? 0 : faces, counts.pieces = failed ? 0 : shared.pieces, counts.larges = failed ? 0 : shared.larges;
        job.failed[n] = failed;
    }
}
