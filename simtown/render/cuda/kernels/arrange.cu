// From placed meshes to triangles ready to fill: a block a scene.
//
// Triangles are numbered in the order in which the processor draws them (by slot, then by row of the atlas), so that equal depths are
// decided alike. The pieces that `draw` fills carry these numbers and may stand in any order.
#include "order.cuh"
#include "shade.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int ROUND = 512;      // groups of 32 triangles that are looked at before all agree on numbers
constexpr int CUTTERS = 64;     // threads that cut triangles at the near plane, each with room of its own
constexpr int MOST_CUT = 1024;
constexpr int CORNERS = 9;      // of a triangle that five planes have cut

struct Corner { float x, y, z; };
struct Room { Corner spot[CORNERS], cut[CORNERS]; };

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
                facing = normal.x * place.eye[0] + normal.y * place.eye[1] + normal.z * place.eye[2] > normal.w;
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

__device__ __forceinline__ u32 low_bits(double x) { return (u32)(s64)fmin(fmax(x, -4e18), 4e18); }

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
    double inverse = FULL / (double)area;
    double aw = (double)(t.w1 - t.w0) * inverse, bw = (double)(t.w2 - t.w0) * inverse;
    double slope_x = aw * (double)(t.y2 - t.y0) - bw * (double)(t.y1 - t.y0), slope_y = bw * (double)(t.x1 - t.x0) - aw * (double)(t.x2 - t.x0);
    double start = (double)t.w0 * FULL + slope_x * (double)(256 * left - t.x0) + slope_y * (double)(256 * top - t.y0);
    s32 ax = t.x1 - t.x0, ay = t.y1 - t.y0, bx = t.x2 - t.x1, by = t.y2 - t.y1, cx = t.x0 - t.x2, cy = t.y0 - t.y2;
    u32 value = low_bits(start), step_x = low_bits(256.0 * slope_x), step_y = low_bits(256.0 * slope_y);
    if (!large) {
        if (small_at >= job.most_pieces) return true; // the scene is flagged at the end
        long at = (long)scene.n * job.most_pieces + small_at;
        int x = 256 * left, y = 256 * top;
        ((short4*)job.boxes)[at] = make_short4(left, right, top, bottom);
        job.lengths[at] = (u8)fminf((float)area / ((float)(high_y - low_y) * 256.0f) + 1.5f, 255.0f);
        uint4* record = (uint4*)(job.records + at);
        record[0] = make_uint4((y - t.y0) * ax - (x - t.x0) * ay - outside(ax, ay), (y - t.y1) * bx - (x - t.x1) * by - outside(bx, by),
                               (y - t.y2) * cx - (x - t.x2) * cy - outside(cx, cy), value);
        record[1] = make_uint4(step_x, step_y, (u32)ax & 0xffff | (u32)ay << 16, (u32)bx & 0xffff | (u32)by << 16);
        record[2] = make_uint4(__float_as_uint(inverse_of(ay)), __float_as_uint(inverse_of(by)), __float_as_uint(inverse_of(cy)), tag);
    } else if (large_at < job.most_larges) {
        Large& record = job.larges[(long)scene.n * job.most_larges + large_at];
        s64 x = 256 * left, y = 256 * top;
        record.e[0] = (y - t.y0) * ax - (x - t.x0) * ay - outside(ax, ay);
        record.e[1] = (y - t.y1) * bx - (x - t.x1) * by - outside(bx, by);
        record.e[2] = (y - t.y2) * cx - (x - t.x2) * cy - outside(cx, cy);
        record.inverse[0] = wide_inverse_of(ay), record.inverse[1] = wide_inverse_of(by), record.inverse[2] = wide_inverse_of(cy);
        record.ax = ax, record.ay = ay, record.bx = bx, record.by = by;
        record.value = value, record.step_x = step_x, record.step_y = step_y, record.tag = tag;
        record.box.left = left, record.box.right = right, record.box.top = top, record.box.bottom = bottom;
    }
    return true;
}

__device__ __forceinline__ Corner camera_frame(const Place& place, float4 v)
{
    const float4* m = (const float4*)place.matrix;
    float4 r = m[0], u = m[1], f = m[2];
    return {r.x * v.x + r.y * v.y + r.z * v.z + r.w, u.x * v.x + u.y * v.y + u.z * v.z + u.w, f.x * v.x + f.y * v.y + f.z * v.z + f.w};
}

// A point of the camera's frame on the screen, in whole 1/256 samples; w is 1/depth.
__device__ __forceinline__ float inverse_depth(Corner p) { return 1.0f / fmaxf(p.z, 1e-3f); }
__device__ __forceinline__ float screen_x(const Scene& s, Corner p, float w) { return floorf((s.cx + s.focal * (p.x * w)) * SNAP + 0.5f); }
__device__ __forceinline__ float screen_y(const Scene& s, Corner p, float w) { return floorf((s.cy - s.focal * (p.y * w)) * SNAP + 0.5f); }

// How far a point of the camera's frame lies inside of a bound: the near plane (0), or the left, right, lower or upper REACH.
__device__ __forceinline__ float inside(Corner p, int side, float focal)
{
    if (side == 0) return p.z - NEAR;
    float across = side <= 2 ? p.x : p.y;
    return p.z * (float)(REACH / 512) + (side % 2 == 1 ? focal * across : -focal * across);
}

// What is left of a triangle before the near plane and within REACH: corners on the screen and 1/depth in room.spot; how many.
__device__ __forceinline__ int cut_triangle(const Scene& scene, Room& room)
{
    Corner *spot = room.spot, *cut = room.cut;
    int n = 3;
    for (int side = 0; side < 5; side++) {
        int kept = 0;
        for (int i = 0; i < n; i++) {
            Corner p = spot[i], q = spot[i + 1 == n ? 0 : i + 1];
            float a = inside(p, side, scene.focal), b = inside(q, side, scene.focal);
            if (a >= 0) cut[kept++] = p;
            if ((a >= 0) != (b >= 0)) { // from the inner corner on, so that two triangles cut the edge they share alike
                if (a < 0) {
                    Corner other = p;
                    p = q, q = other;
                    float swapped = a;
                    a = b, b = swapped;
                }
                float s = a / (a - b);
                cut[kept++] = {p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), side == 0 ? NEAR : p.z + s * (q.z - p.z)};
            }
        }
        Corner* other = spot;
        spot = cut, cut = other;
        n = kept;
    }
    for (int i = 0; i < n; i++) { // after five exchanges `spot` is room.cut
        Corner p = spot[i];
        float w = 1.0f / p.z;
        room.spot[i] = {floorf((scene.cx + scene.focal * p.x * w) * SNAP + 0.5f), floorf((scene.cy - scene.focal * p.y * w) * SNAP + 0.5f), w};
    }
    return n;
}

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
    Face f;
    f.light = light, f.kind = job.town.kinds[material];
    f.sun = look >> 24 & VEHICLE ? VEHICLE_SUN : SUN;
    f.r = colour.x, f.g = colour.y, f.b = colour.z;
    f.nz = normal.z;
    f.sunny = fmaxf(normal.x * place.sun[0] + normal.y * place.sun[1] + normal.z * place.sun[2], 0.0f);
    float3 c;
    if (f.kind == MATTE && light[SNOW] == 0) c = matte(f);
    else {
        f.style = look & 0xffff, f.part = row.w >> 8 & 0xff, f.glance = 0.0f;
        if (f.kind == GLASS || f.kind == WINDOW) { // the ray from the eye to the face's middle, mirrored
            const float4* v = (const float4*)job.town.vertices;
            float4 p = v[row.x], q = v[row.y], r = v[row.z];
            const float third = (float)(1.0 / 3.0);
            float qx = (p.x + q.x + r.x) * third - place.eye[0], qy = (p.y + q.y + r.y) * third - place.eye[1];
            float qz = (p.z + q.z + r.z) * third - place.eye[2], away = qx * normal.x + qy * normal.y + qz * normal.z;
            f.glance = (qz - 2.0f * away * normal.z) / sqrtf(qx * qx + qy * qy + qz * qz);
        }
        if (slot == 0) f.nz = fmaxf(normal.z, 0.55f); // hills stand upright, and snow lies on them all the same
        c = shade(f, job.town.tints);
    }
    float fog_r = light[FOG], fog_g = light[FOG + 1], fog_b = light[FOG + 2];
    long at = (long)scene.n * (job.most_faces + 1) + tag;
    if (slot == 0 && (f.kind == GROUND || f.kind == ROAD || normal.z > 0.5f)) {
        u32 flag = f.kind == ROAD ? STREET : colour.y > 1.1f * colour.x ? GRASS : PAVED;
        ((float4*)job.flats)[(long)scene.n * (job.ground_faces + 1) + tag] = make_float4(c.x - fog_r, c.y - fog_g, c.z - fog_b, 0.0f);
        job.packed[at] = (u64)(0x80000000u | flag << 28 | (u32)bottom) << 32;
    } else {
        float air = clear_air(light[DENSITY] * (f.kind == CLOUD_KIND ? 0.25f : 1.0f), light[THICK], mean);
        Levels levels = pack(fog_r + (c.x - fog_r) * air, fog_g + (c.y - fog_g) * air, fog_b + (c.z - fog_b) * air);
        job.packed[at] = (u64)levels.b << 32 | levels.rg;
    }
    if (job.depth == nullptr) return;
    job.owners[at] = slot;
    const float4* m = (const float4*)place.matrix;
    float4 r = m[0], u = m[1], fw = m[2];
    float distance = (normal.w - (normal.x * place.eye[0] + normal.y * place.eye[1] + normal.z * place.eye[2])) * place.scale * place.scale;
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
            Corner p = camera_frame(place, vertices[row.x]), q = camera_frame(place, vertices[row.y]), r = camera_frame(place, vertices[row.z]);
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
            Corner p = camera_frame(place, vertices[row.x]), q = camera_frame(place, vertices[row.y]), r = camera_frame(place, vertices[row.z]);
            room.spot[0] = p, room.spot[1] = q, room.spot[2] = r;
            mean = (p.z + q.z + r.z) * (float)(1.0 / 3.0), nearest = fminf(fminf(p.z, q.z), r.z);
            lowest = fmaxf(fmaxf(screen_y(scene, p, inverse_depth(p)), screen_y(scene, q, inverse_depth(q))),
                           screen_y(scene, r, inverse_depth(r)));
            corners = cut_triangle(scene, room);
        }
        Corner a = have ? room.spot[0] : Corner{};
        for (int i = 1; i < CORNERS - 2; i++) {
            bool there = i < corners - 1;
            if (__ballot_sync(ALL, there) == 0) break;
            Screen t = {};
            if (there) {
                Corner b = room.spot[i], c = room.spot[i + 1];
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
