// From a batch's columns to things in place, light and rows, and lists of what lies on the ground: a block a scene.
//
// Lists keep the processor's order: every thread learns how many items the threads before it have. Rows of a shape are the processor's;
// its columns are those that the processor looks at in any of its rows.
#include "colour.cuh"
#include "exact.cuh"
#include "ground.cuh"
#include "order.cuh"

constexpr int THREADS = 128, WARPS = THREADS / 32;
constexpr int LANES = 8; // that look through the rows of a shape
constexpr int MOST_CORNERS = 14; // points of a mesh's hull (atlas.py)
constexpr u32 NO_PAINT = 255;

// Numbers of ground.py.
constexpr float FAINT = 0.06f, GRID = 256.0f, EDGE = 0.035f, SOFTER = 0.085f, SPREAD = 0.34f, UNDER_VEHICLE = 1.0f, UNDER_PROP = 0.7f;
constexpr float CONE = 6.5f, APEX = 0.22f, OPENING = 0.24f, BRIGHT = 0.3f, POOL = 3.3f, LANTERN = 3.4f, BEACON = 2.2f;
constexpr float STREAK_LENGTH = 1.5f, STREAK_WIDTH = 0.16f;

// What all threads of a block share. A thread's outline lies in its own column.
struct Team {
    float view[VIEW_STRIDE], light[LIGHT_STRIDE];
    Turn turns[4];                 // the camera's yaw and pitch, the sun's azimuth and elevation
    s32 lamp_ends[MOST_SLOTS + 1]; // lamps of the slots before
    u8 casters[MOST_SLOTS];        // slots of what may cast a shadow on the picture
    s32 sums[WARPS];
    float x[MOST_CORNERS][THREADS], y[MOST_CORNERS][THREADS]; // corners of a shadow, on a grid of 1 / GRID metres
    u8 order[MOST_CORNERS][THREADS], chain[2 * MOST_CORNERS][THREADS];
};

// The scene that a block works on.
struct Scene {
    const Job& job;
    Team& team;
    int n, me, wide, high; // number of the scene and the thread; samples
    const float *view, *light;
};

struct Pose { float x, y, z, c, s, scale; };

// A point on the ground.
struct Point { float x, y; };

// The view (camera.py) and the light (light.py) of the scene, into team and the job.
__device__ __forceinline__ void look(const Scene& scene)
{
    const Job& job = scene.job;
    Team& team = scene.team;
    int n = scene.n, me = scene.me;
    const float* camera = job.camera + 7 * n;
    if (me < 4) team.turns[me] = sincos_of((double)(me < 2 ? camera[3 + me] : job.sun[2 * n + me - 2]));
    __syncthreads();
    if (me == 0) {
        Turn yaw = team.turns[0], pitch = team.turns[1];
        const double widest = 16.0 / 9.0;
        double focal = (double)camera[5] * ((double)job.width <= widest * job.height ? (double)job.width : widest * job.height);
        float* view = team.view;
        view[0] = camera[0], view[1] = camera[1], view[2] = camera[2];
        view[3] = (float)yaw.c, view[4] = (float)yaw.s, view[5] = 0.0f;
        view[6] = (float)(yaw.s * pitch.s), view[7] = (float)(-yaw.c * pitch.s), view[8] = (float)pitch.c;
        view[9] = (float)(-yaw.s * pitch.c), view[10] = (float)(yaw.c * pitch.c), view[11] = (float)pitch.s;
        view[12] = (float)focal, view[13] = (float)(job.width / 2.0), view[14] = (float)(job.height + focal * (double)camera[6]);
        view[15] = 0.0f;
    } else if (me == 32) {
        Turn azimuth = team.turns[2], elevation = team.turns[3];
        team.light[SUN_DIRECTION] = (float)(elevation.c * azimuth.c);
        team.light[SUN_DIRECTION + 1] = (float)(elevation.c * azimuth.s);
        team.light[SUN_DIRECTION + 2] = (float)elevation.s;
    } else if (me >= 64 && me < 64 + LIGHT_STRIDE - SUN) {
        constexpr int columns = LIGHT_COLUMNS - SUN;
        int column = me - 64;
        const double* looks = job.town.looks + 2 * columns * job.weather[n];
        double t = (double)job.intensity[n];
        team.light[SUN + column] = column < columns ? (float)(looks[column] * (1.0 - t) + looks[columns + column] * t) : 0.0f;
    }
    __syncthreads();
    if (me < VIEW_STRIDE) job.views[n * VIEW_STRIDE + me] = team.view[me];
    if (me < LIGHT_STRIDE) job.lights[n * LIGHT_STRIDE + me] = team.light[me];
}

// Colours of the sky in a row of samples, and of clouds there (sky.sky_row).
__device__ __forceinline__ void sky_row(const Scene& scene, int y, Levels& clear, Levels& cloud)
{
    const float *light = scene.light, *top = light + TOP, *far = light + HORIZON, *veil = light + VEIL, *fog = light + FOG;
    float t = __saturatef(row_slope(scene.view, y) * 1.9f);
    t = t * (2.0f - t);
    float haze = fminf(light[DENSITY] * 28.0f + light[THICK] * 16.0f, 1.0f) * (1.0f - 0.5f * t);
    float near = 1.0f - 0.75f * (1.0f - t) * (1.0f - t);
    float r = far[0] + (top[0] - far[0]) * t, g = far[1] + (top[1] - far[1]) * t, b = far[2] + (top[2] - far[2]) * t;
    float cr = r + (veil[0] - r) * near, cg = g + (veil[1] - g) * near, cb = b + (veil[2] - b) * near;
    clear = pack(r + (fog[0] - r) * haze, g + (fog[1] - g) * haze, b + (fog[2] - b) * haze);
    cloud = pack(cr + (fog[0] - cr) * haze, cg + (fog[1] - cg) * haze, cb + (fog[2] - cb) * haze);
}

__device__ __forceinline__ void write_rows(const Scene& scene)
{
    for (int y = scene.me; y < scene.high; y += THREADS) {
        Line line = ground_line(scene.view, y);
        float air = line.depth > 0 ? clear_air(scene.light[DENSITY], scene.light[THICK], line.depth) : 0.0f;
        Levels sky, under, cloud;
        sky_row(scene, y, sky, cloud);
        under = sky;
        if (y > 0 && row_slope(scene.view, y) <= -0.03f) sky_row(scene, y - 1, under, cloud); // clouds reach so far (sky.paint_sky)
        uint4* out = (uint4*)(scene.job.rows + scene.n * scene.high + y);
        out[0] = make_uint4(__float_as_uint(line.depth), __float_as_uint(air), __float_as_uint(line.x + 0.5f * line.dx),
                            __float_as_uint(line.y + 0.5f * line.dy));
        out[1] = make_uint4(__float_as_uint(2.0f * line.dx), __float_as_uint(2.0f * line.dy), sky.rg, sky.b);
        out[2] = make_uint4(cloud.rg, cloud.b, under.rg, under.b);
    }
}

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

// How far a shadow's edge reaches beyond the corner that a point of the hull throws.
__device__ __forceinline__ float softness(const Pose& p, float z) { return EDGE + SOFTER * fmaxf(p.z + p.scale * z, 0.0f); }

// The convex hull of the first n corners of this thread's column: their numbers, counter-clockwise, in team.chain; how many (fill.hull).
__device__ __forceinline__ int hull(Team& team, int me, int n)
{
    for (int i = 0; i < n; i++) {
        float x = team.x[i][me], y = team.y[i][me];
        int j = i;
        for (; j > 0; j--) {
            int k = team.order[j - 1][me];
            float other = team.x[k][me];
            if (other < x || (other == x && team.y[k][me] <= y)) break;
            team.order[j][me] = (u8)k;
        }
        team.order[j][me] = (u8)i;
    }
    int size = 0;
    for (int sweep = 0; sweep < 2; sweep++) {
        int floor = max(size, 1); // corners of the chain that stay: its first one
        for (int i = 0; i < n; i++) {
            int k = team.order[sweep == 0 ? i : n - 1 - i][me];
            s64 x = (s64)team.x[k][me], y = (s64)team.y[k][me];
            while (size > floor) {
                int a = team.chain[size - 2][me], b = team.chain[size - 1][me];
                s64 ax = (s64)team.x[a][me], ay = (s64)team.y[a][me], bx = (s64)team.x[b][me], by = (s64)team.y[b][me];
                if ((bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0) break;
                size--;
            }
            if (i == 0 && sweep == 1) continue;
            team.chain[size++][me] = (u8)k;
        }
    }
    return size - 1;
}

// Whether the shadow of a thing may lie on the picture (ground.collect_shadows).
__device__ __forceinline__ bool may_cast(const Scene& scene, s32 mesh, const Pose& p)
{
    const Town& town = scene.job.town;
    const float* light = scene.light;
    if (!(town.roles[mesh] & CASTS) || light[SHADOW] < FAINT) return false;
    float stretch = 1.0f + fabsf(light[0] / light[2]) + fabsf(light[1] / light[2]);
    return !out_of_view(scene.view, scene.wide, p.x, p.y, (town.radius[mesh] * p.scale + fabsf(p.z)) * stretch);
}

// The outline of a thing's shadow in this thread's column and the rows that it may touch; how many corners, 0 for no shadow.
__device__ __forceinline__ int outline(const Scene& scene, s32 mesh, const Pose& p, Shape& shape)
{
    Team& team = scene.team;
    const Town& town = scene.job.town;
    const float *view = scene.view, *light = scene.light;
    float slope_x = light[0] / light[2], slope_y = light[1] / light[2];
    const float4* points = (const float4*)town.hull + town.hull_start[mesh];
    int n = town.hull_start[mesh + 1] - town.hull_start[mesh];
    float near = 1e9f, far = -1e9f;
    for (int i = 0; i < n; i++) {
        float4 q = points[i];
        float above = fmaxf(p.z + p.scale * q.z, 0.0f), soft = EDGE + SOFTER * above;
        float x = floorf((p.x + p.scale * (p.c * q.x - p.s * q.y) - slope_x * above) * GRID + 0.5f);
        float y = floorf((p.y + p.scale * (p.s * q.x + p.c * q.y) - slope_y * above) * GRID + 0.5f);
        team.x[i][scene.me] = x, team.y[i][scene.me] = y;
        float depth = depth_of(view, x / GRID, y / GRID);
        near = fminf(near, depth - 1.5f * soft), far = fmaxf(far, depth + 1.5f * soft);
    }
    if (!ground_rows(view, scene.high, near, far, shape)) return 0;
    int corners = hull(team, scene.me, n);
    return corners < 3 ? 0 : corners;
}

// Write the edges of the outline in this thread's column; how many.
__device__ __forceinline__ int write_edges(const Scene& scene, s32 mesh, const Pose& pose, int corners, float4* edges)
{
    const Team& team = scene.team;
    const float4* points = (const float4*)scene.job.town.hull + scene.job.town.hull_start[mesh];
    int me = scene.me, first = team.chain[0][me], kept = 0;
    Point p = {team.x[first][me] / GRID, team.y[first][me] / GRID};
    float soft = softness(pose, points[first].z);
    for (int i = 1; i <= corners; i++) {
        int k = team.chain[i == corners ? 0 : i][me];
        Point q = {team.x[k][me] / GRID, team.y[k][me] / GRID};
        float soft_q = softness(pose, points[k].z), dx = q.x - p.x, dy = q.y - p.y, length = sqrtf(dx * dx + dy * dy);
        if (length >= 0.02f) {
            float nx = -dy / length, ny = dx / length;
            float tilt = (soft_q - soft) / length; // the outer rim leaves the edge where the thing is higher
            float mx = nx + tilt * dx / length, my = ny + tilt * dy / length;
            float scale = 0.5f / ((soft + soft_q) * 0.5f * sqrtf(1.0f + tilt * tilt));
            mx *= scale, my *= scale;
            edges[kept++] = make_float4(mx, my, -(mx * (p.x - nx * soft) + my * (p.y - ny * soft)), 0.0f);
        }
        p = q, soft = soft_q;
    }
    return kept;
}

// The dark under a thing (ground.collect_contacts); false for none that is seen.
__device__ __forceinline__ bool contact_of(const Scene& scene, s32 mesh, const Pose& p, Shape& shape, Contact& contact)
{
    const Town& town = scene.job.town;
    const float* view = scene.view;
    if (!(town.roles[mesh] & STANDS) || p.z > 0.5f) return false;
    float4 base = ((const float4*)town.bases)[mesh];
    float half_u = base.z * p.scale, half_v = base.w * p.scale;
    float x = p.x + p.scale * (p.c * base.x - p.s * base.y), y = p.y + p.scale * (p.s * base.x + p.c * base.y);
    if (out_of_view(view, scene.wide, x, y, half_u + half_v + SPREAD)) return false;
    float depth = depth_of(view, x, y), reach = depth_reach(view, p.c, p.s, half_u + SPREAD, half_v + SPREAD);
    if (!ground_rows(view, scene.high, depth - reach, depth + reach, shape)) return false;
    contact = {x, y, p.c, p.s, half_u, half_v, town.roles[mesh] & VEHICLE ? UNDER_VEHICLE : UNDER_PROP, 0.0f};
    return true;
}

// Things in their places, and the list of their contacts; how many may cast shadows, whose slots go to team.casters.
__device__ __forceinline__ int write_things(const Scene& scene, Counts& counts)
{
    const Job& job = scene.job;
    Team& team = scene.team;
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
                stands = contact_of(scene, mesh, pose, shape, contact);
            }
        }
        int at = triangles + before<WARPS>(team.sums, scene.me, seen, total);
        if (here) job.ends[first + scene.n + slot] = at;
        triangles += total;
        at = lamps + before<WARPS>(team.sums, scene.me, burning, total);
        if (here) team.lamp_ends[slot] = at;
        lamps += total;
        at = casters + before<WARPS>(team.sums, scene.me, casts, total);
        if (casts) team.casters[at] = (u8)slot;
        casters += total;
        at = counts.contacts + before<WARPS>(team.sums, scene.me, stands, total);
        if (stands) {
            shape.number = at;
            job.contact_shapes[first + at] = shape;
            job.contacts[first + at] = contact;
        }
        counts.contacts += total;
    }
    if (scene.me == 0) job.ends[first + scene.n + slots] = triangles, team.lamp_ends[slots] = lamps;
    return casters;
}

// The list of the shadows of the first `casters` of team.casters.
__device__ __forceinline__ void write_shadows(const Scene& scene, int casters, Counts& counts)
{
    const Job& job = scene.job;
    int first = scene.n * job.slots;
    for (int start = 0; start < casters; start += THREADS) {
        int number = start + scene.me, total, corners = 0;
        s32 mesh = -1;
        Pose pose;
        Shape shape = {};
        if (number < casters) {
            const Place& place = job.places[first + scene.team.casters[number]];
            mesh = place.mesh;
            pose = {place.x, place.y, place.z, place.c, place.s, place.scale};
            corners = outline(scene, mesh, pose, shape);
        }
        int at = counts.shadows + before<WARPS>(scene.team.sums, scene.me, corners > 0, total);
        if (corners > 0) {
            float4* edges = (float4*)job.shadow_edges + (first + at) * MOST_EDGES;
            shape.number = at, shape.edges = write_edges(scene, mesh, pose, corners, edges);
            job.shadow_shapes[first + at] = shape;
        }
        counts.shadows += total;
    }
}

// One pool of light on the ground (ground.add_pool); false for one that lies out of view.
__device__ __forceinline__ bool pool_at(const Scene& scene, float x, float y, float c, float s, float along, float across, float3 light,
                                        Shape& shape, Pool& pool)
{
    const float* view = scene.view;
    if (out_of_view(view, scene.wide, x, y, along + across)) return false;
    float depth = depth_of(view, x, y), reach = depth_reach(view, c, s, along, across);
    if (!ground_rows(view, scene.high, depth - reach, depth + reach, shape)) return false;
    u32 r = (u32)(fminf(light.x, 2.0f) * 1150.0f), g = (u32)(fminf(light.y, 2.0f) * 1150.0f), b = (u32)(fminf(light.z, 2.0f) * 1150.0f);
    pool = {x, y, c, s, along, across, r | g << 16, b};
    return true;
}

// A lamp, in the frame of its thing: its middle, its material's kind and colour.
struct Lamp {
    float x, y, z;
    int kind;
    float4 colour;
};

// What a lamp throws on the ground: a cone before a head lamp, a pool under a lantern or a beacon; or, if `mirrored`, its reflection where a
// mirror on the ground would show it, drawn out towards the eye (ground.collect_pools).
__device__ __forceinline__ bool light_of(const Scene& scene, const Place& p, const Lamp& lamp, bool mirrored, Shape& shape, Pool& pool)
{
    const float* view = scene.view;
    float power = (scene.light[LAMPS] - BRIGHT) / (1.0f - BRIGHT), wet = scene.light[WET];
    if (!(power > 0)) return false;
    float x = p.x + p.scale * (p.c * lamp.x - p.s * lamp.y), y = p.y + p.scale * (p.s * lamp.x + p.c * lamp.y);
    float high = p.z + p.scale * lamp.z, red = lamp.colour.x, green = lamp.colour.y, blue = lamp.colour.z;
    float c = p.c, s = p.s, along, across, f;
    if (mirrored) {
        float dx = view[0] - x, dy = view[1] - y, distance = sqrtf(dx * dx + dy * dy), share = high / (high + view[2]);
        if (!(wet > 0.1f && high > 0.1f && distance > 1.0f && view[2] > 0)) return false;
        x = x + share * dx, y = y + share * dy, c = dx / distance, s = dy / distance;
        along = STREAK_LENGTH, across = STREAK_WIDTH, f = 1.5f * wet * power;
    } else if (lamp.kind == HEADLAMP) {
        shape.edges = 1;
        along = CONE, across = APEX + OPENING * CONE, f = 0.85f * power;
        red = 1.0f, green = 0.93f, blue = 0.74f;
    } else if (lamp.kind == GLOW && high > LANTERN) {
        along = across = POOL, f = power;
        red = 1.0f, green = 0.80f, blue = 0.46f;
    } else if (lamp.kind == GLOW && !(red > 0.9f && green > 0.8f)) {
        along = across = BEACON, f = 0.5f * power;
    } else return false;
    return pool_at(scene, x, y, c, s, along, across, {f * red, f * green, f * blue}, shape, pool);
}

// The halo of a lamp (effects.halo); false where its middle is not on the picture.
__device__ __forceinline__ bool halo_of(const Scene& scene, const Place& p, const Lamp& lamp, Halo& halo)
{
    const float *view = scene.view, *m = p.matrix;
    float far = m[8] * lamp.x + m[9] * lamp.y + m[10] * lamp.z + m[11];
    if (far < NEAR) return false;
    float x = view[13] + view[12] * (m[0] * lamp.x + m[1] * lamp.y + m[2] * lamp.z + m[3]) / far;
    float y = view[14] - view[12] * (m[4] * lamp.x + m[5] * lamp.y + m[6] * lamp.z + m[7]) / far;
    float size = lamp.kind == TAILLAMP ? 0.36f : lamp.kind == GLOW ? 0.85f : 0.55f;
    halo = {x, y, size * view[12] / far, far, lamp.colour.x, lamp.colour.y, lamp.colour.z, 0.0f};
    return halo.radius > 0 && x >= 0 && y >= 0 && x < (float)scene.job.width && y < (float)scene.job.height;
}

// Lists of the light of lamps on the ground and of their halos. Every second thread sees to a lamp's reflection.
__device__ __forceinline__ void write_lamps(const Scene& scene, Counts& counts)
{
    const Job& job = scene.job;
    Team& team = scene.team;
    int lamps = scene.light[LAMPS] > 0 ? team.lamp_ends[job.slots] : 0, first = scene.n * job.lamps;
    for (int start = 0; start < 2 * lamps; start += THREADS) {
        int number = (start + scene.me) >> 1, total;
        bool mirrored = scene.me & 1, lit = false, glows = false;
        Shape shape = {};
        Pool pool = {};
        Halo halo = {};
        if (number < lamps) {
            int slot = slot_of(team.lamp_ends, job.slots, number);
            const Place& place = job.places[scene.n * job.slots + slot];
            float4 row = ((const float4*)job.town.lamps)[job.town.lamp_start[place.mesh] + number - team.lamp_ends[slot]];
            int material = (int)row.w;
            Lamp lamp = {row.x, row.y, row.z, job.town.kinds[material], ((const float4*)job.town.palette)[material]};
            lit = light_of(scene, place, lamp, mirrored, shape, pool);
            glows = !mirrored && halo_of(scene, place, lamp, halo);
        }
        int at = counts.halos + before<WARPS>(team.sums, scene.me, glows, total);
        if (glows) job.halos[first + at] = halo;
        counts.halos += total;
        at = counts.pools + before<WARPS>(team.sums, scene.me, lit, total);
        if (lit) {
            shape.number = at;
            job.pool_shapes[2 * first + at] = shape;
            job.pools[2 * first + at] = pool;
        }
        counts.pools += total;
    }
}

// The part of a row that a shadow may touch (ground.throw_shadows).
__device__ __forceinline__ Span shadow_span(const Row& row, Span span, const float4* edges, int count)
{
    for (int i = 0; i < count; i++) {
        float4 e = edges[i];
        float base = e.x * row.x + e.y * row.y + e.z, slope = e.x * row.dx + e.y * row.dy, crossing = -base / slope;
        if (slope > 1e-7f) span.low = fmaxf(span.low, crossing);
        if (slope < -1e-7f) span.high = fminf(span.high, crossing);
    }
    return span;
}

// The part of a row that a rectangle about (x, y) of these half sizes may touch, its length along (c, s)
// (ground.darken_contacts and pour_light).
__device__ __forceinline__ Span rectangle_span(const Row& row, Span span, int wide, float x, float y, float c, float s, float along, float across)
{
    float ax = row.x - x, ay = row.y - y;
    span = narrowed(span, wide, c * ax + s * ay, c * row.dx + s * row.dy, along);
    return narrowed(span, wide, c * ay - s * ax, c * row.dy - s * row.dx, across);
}

// Write the columns that any row of a shape may touch; `span_of` tells those of a row. A few lanes a shape, a lane a pair of rows.
template <typename SpanOf>
__device__ __forceinline__ void write_columns(const Scene& scene, Shape* shapes, int count, SpanOf span_of)
{
    int lane = scene.me % LANES, pairs = (scene.wide + 1) >> 1;
    const Row* rows = scene.job.rows + scene.n * scene.high;
    for (int start = 0; start < count; start += THREADS / LANES) {
        int i = start + scene.me / LANES, left = pairs, right = 0;
        bool here = i < count;
        int top = here ? shapes[i].top : 0, bottom = here ? shapes[i].bottom : 0;
        for (int pair = (top >> 1) + lane; 2 * pair < bottom; pair += LANES) {
            int y = 2 * pair; // the upper row is worked out, unless ground begins at the lower one
            if (rows[y].depth == 0 && y + 1 < scene.high) y++;
            if (y < top || y >= bottom || rows[y].depth == 0) continue;
            Span span = span_of(i, rows[y], Span{0.0f, (float)pairs});
            if (span.high < span.low - 2.0f) continue;
            int from = max((int)fmaxf(span.low, 0.0f) - 1, 0), to = min((int)fminf(span.high, (float)pairs) + 2, pairs);
            if (from < to) left = min(left, from), right = max(right, to);
        }
        for (int away = LANES / 2; away > 0; away /= 2) {
            left = min(left, __shfl_xor_sync(ALL, left, away));
            right = max(right, __shfl_xor_sync(ALL, right, away));
        }
        if (here && lane == 0) shapes[i].left = (s16)min(2 * left, scene.wide), shapes[i].right = (s16)min(2 * right, scene.wide);
    }
}

__device__ __forceinline__ void write_all_columns(const Scene& scene, const Counts& counts)
{
    const Job& job = scene.job;
    int things = scene.n * job.slots, lamps = 2 * scene.n * job.lamps, pairs = (scene.wide + 1) >> 1;
    Shape *shadows = job.shadow_shapes + things, *contacts = job.contact_shapes + things, *pools = job.pool_shapes + lamps;
    write_columns(scene, shadows, counts.shadows, [&](int i, const Row& row, Span span) {
        return shadow_span(row, span, (const float4*)job.shadow_edges + (things + i) * MOST_EDGES, shadows[i].edges);
    });
    write_columns(scene, contacts, counts.contacts, [&](int i, const Row& row, Span span) {
        const Contact& c = job.contacts[things + i];
        return rectangle_span(row, span, pairs, c.x, c.y, c.c, c.s, c.half_u + SPREAD, c.half_v + SPREAD);
    });
    write_columns(scene, pools, counts.pools, [&](int i, const Row& row, Span span) {
        const Pool& p = job.pools[lamps + i];
        return rectangle_span(row, span, pairs, p.x, p.y, p.c, p.s, p.along, p.across);
    });
}

extern "C" __global__ void __launch_bounds__(THREADS) setup(const Job* __restrict__ pointer)
{
    __shared__ Team team;
    const Job& job = *pointer;
    Scene scene = {job, team, (int)blockIdx.x, (int)threadIdx.x, 2 * job.width + 1, 2 * job.height + 1, team.view, team.light};
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
