"""From placed meshes to triangles ready to fill: a block of threads a scene.

Triangles are numbered in the order in which the CPU draws them (by slot, then by row of the atlas), whatever thread finds them, so
that equal depths are decided alike and two runs give the same bytes.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32, int32

from simtown.assets.palette import CLOUD as CLOUD_KIND
from simtown.assets.palette import GLOW, GROUND, HEADLAMP, MATTE, ROAD
from simtown.render import effects, fill, kernels, shading
from simtown.render import light as L
from simtown.render.cuda.card import entry, on_card
from simtown.render.cuda.scenes import CORNERS, POOL_RINGS, SHADOW_RINGS
from simtown.render.fill import MOST_TRIANGLES, SNAP
from simtown.scenes import camera
from simtown.scenes.camera import NEAR

#: Threads of a block, at most; and consecutive triangles that a thread looks at before all agree on numbers.
THREADS, SHARE = 256, 8
#: One more than the slots of a scene at most: ids are bytes.
ENDS = 257
#: Room that a convex hull's computation takes.
HULL = 2 * CORNERS + 2
F = np.float32

object_to_camera = on_card(camera.object_to_camera)
extent, depth_plane = on_card(fill.extent), on_card(fill.depth_plane)
hull, ceiling = on_card(fill.hull), on_card(fill.ceiling)
shade, clear_air = on_card(shading.shade), on_card(shading.clear_air)
ground_spot, halo = on_card(kernels.ground_spot), on_card(effects.halo)
TURN = kernels.TURN


@entry
def arrange(town, scenes, work, wide, high):
    """Fill a scene's rows of `work` for pictures of wide x high samples. Launched with a block a scene."""
    n, me, team = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    ends = cuda.shared.array(ENDS, int32)
    tally = cuda.shared.array(THREADS, int32)
    slots, first = scenes.meshes.shape[1], scenes.first[n]
    for k in range(me, slots, team):
        ends[k + 1] = _place(town, scenes, work, n, k, wide)
    cuda.syncthreads()
    if me == 0:
        ends[0] = 0
        for k in range(slots):
            ends[k + 1] += ends[k]
    cuda.syncthreads()
    total, faces = ends[slots], 0
    for start in range(0, total, SHARE * team):
        begin = start + SHARE * me
        bits = _facing(town, scenes, work, n, ends, slots, begin, total)
        mine = _ones(bits)
        tally[me] = mine
        cuda.syncthreads()
        reach = 1
        while reach < team:  # sums over all threads up to this one
            more = tally[me - reach] if me >= reach else 0
            cuda.syncthreads()
            tally[me] += more
            cuda.syncthreads()
            reach *= 2
        _keep(town, scenes, work, n, ends, slots, begin, bits, first + 1 + faces + tally[me] - mine)
        faces += tally[team - 1]
        cuda.syncthreads()
    if me == 0:
        many = faces >= MOST_TRIANGLES
        if many:
            cuda.atomic.max(work.failed, 0, n)
        work.counts[n, 0] = work.counts[n, 1] = 0 if many else faces
        work.owners[first] = 0
        for j in range(4):
            work.planes[first, j] = F(np.inf) if j == 3 else F(1.0 if j == 2 else 0.0)
    cuda.syncthreads()
    for face in range(me, work.counts[n, 0], team):
        _prepare(town, scenes, work, n, face, wide, high)
    for k in range(me, slots, team):
        _shadow(town, scenes, work, n, k, wide, high)
    if scenes.lights[n, L.LAMPS] > 0:
        for lamp in range(scenes.lamp_first[n * slots] + me, scenes.lamp_first[(n + 1) * slots], team):
            _lamp(town, scenes, work, n, slots, lamp, high)


@cuda.jit(device=True)
def _place(town, scenes, work, n, k, wide):
    """Note where slot k stands, seen from the camera; returns how many triangles it has, 0 if none can be in the picture."""
    view, light, mesh = scenes.views[n], scenes.lights[n], scenes.meshes[n, k]
    if mesh < 0:
        return 0
    pose, place = scenes.poses[n, k], work.places[n, k]
    x, y, z, c, s, scale = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
    matrix = object_to_camera(view, x, y, z, c, s, scale)
    dx, dy, dz = view[0] - x, view[1] - y, view[2] - z
    for j in range(12):
        place[j] = matrix[j]
    place[12], place[13], place[14] = (c * dx + s * dy) / scale, (-s * dx + c * dy) / scale, dz / scale
    place[15], place[16], place[17] = c * light[0] + s * light[1], -s * light[0] + c * light[1], light[2]
    radius = town.radius[mesh] * scale
    if matrix[11] + radius < F(NEAR):
        return 0
    focal, cx = F(2.0) * view[12], F(2.0) * view[13]
    lowest, highest = -cx / focal, (F(wide) - cx) / focal
    beside = matrix[3] - lowest * matrix[11] < -radius * F(math.sqrt(F(1.0) + lowest * lowest))
    if beside or matrix[3] - highest * matrix[11] > radius * F(math.sqrt(F(1.0) + highest * highest)):
        return 0
    return town.triangle_start[mesh + 1] - town.triangle_start[mesh]


@cuda.jit(device=True)
def _slot_of(ends, begin, slots, i):
    """The slot that triangle or lamp i belongs to: ends[begin + slot] <= i < ends[begin + slot + 1]."""
    low, high = 0, slots - 1
    while low < high:
        middle = (low + high) // 2
        if ends[begin + middle + 1] > i:
            high = middle
        else:
            low = middle + 1
    return low


@cuda.jit(device=True)
def _facing(town, scenes, work, n, ends, slots, begin, total):
    """Which of SHARE triangles from number `begin` on face the camera, as bits."""
    bits = 0
    if begin >= total:
        return bits
    slot = _slot_of(ends, 0, slots, begin)
    for j in range(min(SHARE, total - begin)):
        while begin + j >= ends[slot + 1]:
            slot += 1
        place, normal = work.places[n, slot], town.normals[town.triangle_start[scenes.meshes[n, slot]] + begin + j - ends[slot]]
        if normal[0] * place[12] + normal[1] * place[13] + normal[2] * place[14] > normal[3]:
            bits |= 1 << j
    return bits


@cuda.jit(device=True)
def _ones(bits):
    """How many of SHARE bits are set."""
    count = 0
    for j in range(SHARE):
        count += (bits >> j) & 1
    return count


@cuda.jit(device=True)
def _keep(town, scenes, work, n, ends, slots, begin, bits, row):
    """Write down the triangles whose bits are set, from `row` on."""
    if bits == 0:
        return
    slot = _slot_of(ends, 0, slots, begin)
    for j in range(SHARE):
        if (bits >> j) & 1:
            while begin + j >= ends[slot + 1]:
                slot += 1
            work.faces[row] = town.triangle_start[scenes.meshes[n, slot]] + begin + j - ends[slot]
            work.owners[row] = slot
            row += 1


@cuda.jit(device=True)
def _prepare(town, scenes, work, n, face, wide, high):
    """Project, cut at the near plane and shade one triangle."""
    view, row = scenes.views[n], scenes.first[n] + 1 + face
    t = work.faces[row]
    place = work.places[n, work.owners[row]]
    focal, cx, cy, near = F(2.0) * view[12], F(2.0) * view[13], F(2.0) * view[14], F(NEAR)
    spot = cuda.local.array((3, 3), float32)  # corners in the camera's frame
    for i in range(3):
        v = town.triangles[t, i]
        x, y, z = town.vertices[v, 0], town.vertices[v, 1], town.vertices[v, 2]
        for j in range(3):
            spot[i, j] = place[4 * j] * x + place[4 * j + 1] * y + place[4 * j + 2] * z + place[4 * j + 3]
    nearest, farthest = min(spot[0, 2], spot[1, 2], spot[2, 2]), max(spot[0, 2], spot[1, 2], spot[2, 2])
    piece, tag = 2 * scenes.first[n] + face, face + 1
    if nearest >= near:
        inverse = F(1.0) / max(spot[0, 2], F(1e-3)), F(1.0) / max(spot[1, 2], F(1e-3)), F(1.0) / max(spot[2, 2], F(1e-3))
        seen = _piece(work, piece, tag, wide, high,
                      _snap(cx + focal * (spot[0, 0] * inverse[0])), _snap(cy - focal * (spot[0, 1] * inverse[0])), inverse[0],
                      _snap(cx + focal * (spot[1, 0] * inverse[1])), _snap(cy - focal * (spot[1, 1] * inverse[1])), inverse[1],
                      _snap(cx + focal * (spot[2, 0] * inverse[2])), _snap(cy - focal * (spot[2, 1] * inverse[2])), inverse[2])  # fmt: skip
    elif farthest <= near:
        seen = _nothing(work, piece)
    else:
        seen = _clipped(work, n, scenes.first[n], piece, tag, wide, high, spot, focal, cx, cy)
    if seen:
        _paint(town, scenes, work, n, row, t, place, (spot[0, 2] + spot[1, 2] + spot[2, 2]) * F(1.0 / 3.0))


@cuda.jit(device=True)
def _snap(x):
    return F(math.floor(x * SNAP + F(0.5)))


@cuda.jit(device=True)
def _nothing(work, piece):
    """A piece without a sample."""
    for j in range(4):
        work.boxes[j, piece] = 0
    return False


@cuda.jit(device=True)
def _clipped(work, n, first, piece, tag, wide, high, spot, focal, cx, cy):
    """What is left before the near plane: a triangle, or a quad as two pieces, the second behind those of all faces."""
    near, count = F(NEAR), 0
    rest = cuda.local.array((4, 3), float32)
    for i in range(3):
        k = (i + 1) % 3
        if spot[i, 2] >= near:
            rest[count, 0], rest[count, 1], rest[count, 2] = spot[i, 0], spot[i, 1], spot[i, 2]
            count += 1
        if (spot[i, 2] >= near) != (spot[k, 2] >= near):
            s = (near - spot[i, 2]) / (spot[k, 2] - spot[i, 2])
            rest[count, 0], rest[count, 1] = spot[i, 0] + s * (spot[k, 0] - spot[i, 0]), spot[i, 1] + s * (spot[k, 1] - spot[i, 1])
            rest[count, 2] = near
            count += 1
    for i in range(count):
        w = F(1.0) / rest[i, 2]
        rest[i, 0], rest[i, 1], rest[i, 2] = _snap(cx + focal * rest[i, 0] * w), _snap(cy - focal * rest[i, 1] * w), w
    seen = _nothing(work, piece)
    for i in range(1, count - 1):
        if i == 2:
            piece = 2 * first + cuda.atomic.add(work.counts, (n, 1), 1)
        seen |= _piece(work, piece, tag, wide, high, rest[0, 0], rest[0, 1], rest[0, 2], rest[i, 0], rest[i, 1], rest[i, 2],
                       rest[i + 1, 0], rest[i + 1, 1], rest[i + 1, 2])  # fmt: skip
    return seen


@cuda.jit(device=True)
def _piece(work, piece, tag, wide, high, ax, ay, w0, bx, by, w1, cx, cy, w2):
    """Write down a triangle on the screen, corners clockwise; whether its box holds a sample."""
    x0, y0, x1, y1, x2, y2 = np.int64(ax), np.int64(ay), np.int64(bx), np.int64(by), np.int64(cx), np.int64(cy)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area < 0:
        x1, y1, w1, x2, y2, w2, area = x2, y2, w2, x1, y1, w1, -area
        bx, by, cx, cy = cx, cy, bx, by
    left, right, _ = extent(x0, x1, x2, wide)
    top, bottom, _ = extent(y0, y1, y2, high)
    if area == 0 or left >= right or top >= bottom:
        return _nothing(work, piece)
    value, step_x, step_y = depth_plane(x0, y0, w0, x1, y1, w1, x2, y2, w2, area, left, top)
    boxes, corners, ramps = work.boxes, work.corners, work.ramps
    boxes[0, piece], boxes[1, piece], boxes[2, piece], boxes[3, piece] = left, right, top, bottom
    corners[0, piece], corners[1, piece], corners[2, piece] = ax, ay, bx
    corners[3, piece], corners[4, piece], corners[5, piece] = by, cx, cy
    ramps[0, piece], ramps[1, piece], ramps[2, piece] = value, step_x, step_y
    work.tags[piece] = tag
    return True


@cuda.jit(device=True)
def _paint(town, scenes, work, n, row, t, place, depth):
    """The colour of a triangle, in the air but for flat ground (whose air depends on the row of samples), and its depth plane."""
    light, slot, normal = scenes.lights[n], work.owners[row], town.normals[t]
    nx, ny, nz, lx, ly, lz = normal[0], normal[1], normal[2], place[15], place[16], place[17]
    material = town.materials[t]
    kind = town.kinds[material]
    if kind == MATTE and light[L.SNOW] == 0:
        r, g, b = _matte(light, town.palette[material], max(nx * lx + ny * ly + nz * lz, F(0.0)), F(0.5) + F(0.5) * nz)
    else:
        r, g, b = shade(
            light, town.palette, town.kinds, town.tints, material, scenes.styles[n, slot], town.parts[t], nx, ny, nz, lx, ly, lz
        )
    flat = slot == 0 and (kind in (GROUND, ROAD) or nz > F(0.5))
    if not flat:
        air = clear_air(light[L.DENSITY] * (F(0.25) if kind == CLOUD_KIND else F(1.0)), depth)
        fog_r, fog_g, fog_b = light[L.FOG], light[L.FOG + 1], light[L.FOG + 2]
        r, g, b = fog_r + (r - fog_r) * air, fog_g + (g - fog_g) * air, fog_b + (b - fog_b) * air
    paint, plane, scale = work.paints[row], work.planes[row], scenes.poses[n, slot, 5]
    paint[0], paint[1], paint[2], paint[3] = r, g, b, F(1.0) if flat else F(0.0)
    plane[0] = place[0] * nx + place[1] * ny + place[2] * nz
    plane[1] = place[4] * nx + place[5] * ny + place[6] * nz
    plane[2] = place[8] * nx + place[9] * ny + place[10] * nz
    plane[3] = (normal[3] - (nx * place[12] + ny * place[13] + nz * place[14])) * scale * scale


@cuda.jit(device=True)
def _matte(light, colour, sunny, up):
    """shade() for the commonest material in dry weather, in the CPU's order of operations."""
    r = colour[0] * light[L.BOUNCE] + colour[0] * (light[L.SKY] - light[L.BOUNCE]) * up + colour[0] * light[L.SUN] * sunny
    g = colour[1] * light[L.BOUNCE + 1] + colour[1] * (light[L.SKY + 1] - light[L.BOUNCE + 1]) * up + colour[1] * light[L.SUN + 1] * sunny
    b = colour[2] * light[L.BOUNCE + 2] + colour[2] * (light[L.SKY + 2] - light[L.BOUNCE + 2]) * up + colour[2] * light[L.SUN + 2] * sunny
    return r, g, b


@cuda.jit(device=True)
def _outline(work, number, x, y, size, high):
    """Write down the rows of an outline of `size` corners, none if size is 0."""
    spans = work.spans
    spans[number, 0] = size
    if size == 0:
        return
    low, top = y[0], y[0]
    for i in range(1, size):
        low, top = min(low, y[i]), max(top, y[i])
    spans[number, 1], spans[number, 2] = min(max(ceiling(low), 0), high), max(min(ceiling(top), high), 0)
    for i in range(size):
        work.rims[number, i, 0], work.rims[number, i, 1] = x[i], y[i]


@cuda.jit(device=True)
def _shadow(town, scenes, work, n, k, wide, high):
    """Outlines of the shadow of slot k on the ground: its hull along the sun, in nested steps."""
    view, light, mesh = scenes.views[n], scenes.lights[n], scenes.meshes[n, k]
    x, y = cuda.local.array(CORNERS, float32), cuda.local.array(CORNERS, float32)
    px, py = cuda.local.array(CORNERS, float32), cuda.local.array(CORNERS, float32)
    order, corners = cuda.local.array(CORNERS, int32), cuda.local.array(HULL, int32)
    size = 0
    if k > 0 and mesh >= 0 and town.casts[mesh] > 0:
        pose = scenes.poses[n, k]
        ox, oy, oz, c, s, scale = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
        slope_x, slope_y = light[0] / light[2], light[1] / light[2]
        reach = town.radius[mesh] * scale * (F(1.0) + abs(slope_x) + abs(slope_y))
        right = view[3] * (ox - view[0]) + view[4] * (oy - view[1])
        far = view[9] * (ox - view[0]) + view[10] * (oy - view[1]) + reach
        seen = not ((right - reach) * view[12] > (F(2.0) * view[13] - view[13]) * far or (right + reach) * view[12] < -view[13] * far)
        first, count = town.hull_start[mesh], np.int32(town.hull_start[mesh + 1] - town.hull_start[mesh])
        for i in range(count):
            p0, p1, p2 = town.hull[first + i, 0], town.hull[first + i, 1], town.hull[first + i, 2]
            above = max(oz + scale * p2, F(0.0))
            gx, gy = ox + scale * (c * p0 - s * p1) - slope_x * above, oy + scale * (s * p0 + c * p1) - slope_y * above
            seen = seen and ground_spot(view, F(2.0) * view[12], F(2.0) * view[13], F(2.0) * view[14], gx, gy, x, y, i)
            order[i] = i
        size = hull(x, y, order, count, corners) if seen else 0
        if size < 3:
            size = 0
    mx, my = F(0.0), F(0.0)
    for i in range(size):
        mx += x[corners[i]]
        my += y[corners[i]]
    if size > 0:
        mx, my = mx / F(size), my / F(size)
    for ring in range(SHADOW_RINGS):
        grow = F(1.06) - F(0.07) * F(ring)
        for i in range(size):
            px[i], py[i] = mx + (x[corners[i]] - mx) * grow, my + (y[corners[i]] - my) * grow
        _outline(work, (n * scenes.meshes.shape[1] + k) * SHADOW_RINGS + ring, px, py, size, high)


@cuda.jit(device=True)
def _lamp(town, scenes, work, n, slots, lamp, high):
    """The halo of a lamp, and the outlines of the light that it throws on the ground."""
    k = _slot_of(scenes.lamp_first, n * slots, slots, lamp)
    view, pose, place = scenes.views[n], scenes.poses[n, k], work.places[n, k]
    shape = town.lamps[town.lamp_start[scenes.meshes[n, k]] + lamp - scenes.lamp_first[n * slots + k]]
    px, py, radius, far = halo(view, town.kinds, place, shape)
    glow = work.halos[lamp]
    glow[0], glow[1], glow[2], glow[3], glow[4], glow[5] = px, py, radius, far, shape[3], F(0.0)
    kind = town.kinds[int(shape[3])]
    x, y, z, c, s, scale = pose[0], pose[1], pose[2], pose[3], pose[4], pose[5]
    head = kind == HEADLAMP
    lit = head or (kind == GLOW and z + scale * shape[2] > F(3.4))
    gx, gy = x + scale * (c * shape[0] - s * shape[1]), y + scale * (s * shape[0] + c * shape[1])
    reach, across = (F(2.3), F(0.85)) if head else (F(2.0), F(2.0))
    if head:
        gx, gy = gx + c * reach, gy + s * reach
    sx, sy = cuda.local.array(CORNERS, float32), cuda.local.array(CORNERS, float32)
    for ring in range(POOL_RINGS):
        grow = F(1.0) - F(0.22) * F(ring)
        seen = lit
        for j in range(12):
            u, v = reach * grow * TURN[j, 0], across * grow * TURN[j, 1]
            spot_x, spot_y = gx + c * u - s * v, gy + s * u + c * v
            seen = seen and ground_spot(view, F(2.0) * view[12], F(2.0) * view[13], F(2.0) * view[14], spot_x, spot_y, sx, sy, j)
        number = len(scenes.meshes) * slots * SHADOW_RINGS + lamp * POOL_RINGS + ring
        _outline(work, number, sx, sy, 12 if seen else 0, high)
