"""The rasteriser's inner loops: plain scalar code for numba, one scene at a time, no global state.

A sample is one uint32: 18 bits of 1/depth above 14 bits of triangle number, so the depth test is an integer maximum. Samples
lie twice as dense as pixels with one at every pixel's middle: sample i of a row stands at pixel coordinate i / 2, and pixel p
owns samples 2p to 2p + 2. Ids and depth are read at the middle sample, colour through the tent filter [1 2 1] of all nine.
Polygons are filled row by row between their edges; an edge shared by two triangles is computed alike for both, so nothing
is missed and nothing drawn twice.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import CLOUD as CLOUD_KIND
from simtown.assets.palette import (
    GLASS,
    GLOW,
    GROUND,
    HEADLAMP,
    LEAF,
    MATTE,
    ROAD,
    TAILLAMP,
    TINT_CLOTH,
    TINT_ROOF,
    TINT_WALL,
    TINTS,
    WINDOW,
)
from simtown.exact import kernel
from simtown.render import light as L
from simtown.render.lanes import LANES, raise_between, raise_lanes
from simtown.scenes.camera import NEAR, object_to_camera, project

TAG_BITS = 14
#: Triangles facing the camera that one scene may hold.
MOST_TRIANGLES = (1 << TAG_BITS) - 1
_TAG = np.uint32(MOST_TRIANGLES)
_DEPTH = np.uint32(0xFFFFFFFF - MOST_TRIANGLES)
#: 1/depth = 1/NEAR maps to just under 2^32, leaving room for rounding.
_Q = float((1 << 32) - (1 << 20)) * NEAR
_SNAP = np.float32(256.0)
#: Triangles at most this many samples wide are tested sample by sample.
SMALL = 2 * LANES
F = np.float32


@kernel
def _ceil(x):
    return int(np.ceil(x))


@kernel
def fill_triangle(samples, width, height, x0, y0, w0, x1, y1, w1, x2, y2, w2, tag):
    """Draw one triangle: corners (x, y) as int64 in 1/256 of a sample, w = 1/depth. True if it may have reached a sample.

    A sample exactly on an edge belongs to the triangle on its right or below it, by integer arithmetic throughout.
    """
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return False
    if area < 0:  # corners run clockwise on the screen from here on
        x1, y1, w1, x2, y2, w2, area = x2, y2, w2, x1, y1, w1, -area
    left, right = (min(x0, x1, x2) + 255) >> 8, (max(x0, x1, x2) + 255) >> 8
    top, bottom = (min(y0, y1, y2) + 255) >> 8, (max(y0, y1, y2) + 255) >> 8
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if left >= right or top >= bottom:
        return False
    inverse = _Q / np.float64(area)
    aw, bw = np.float64(w1 - w0) * inverse, np.float64(w2 - w0) * inverse
    slope_x = aw * np.float64(y2 - y0) - bw * np.float64(y1 - y0)  # of the depth value, per 1/256 of a sample
    slope_y = bw * np.float64(x1 - x0) - aw * np.float64(x2 - x0)
    start = np.float64(w0) * _Q + slope_x * np.float64(256 * left - x0) + slope_y * np.float64(256 * top - y0)
    value, step_x, step_y = np.uint32(np.int64(start)), np.uint32(np.int64(256.0 * slope_x)), np.uint32(np.int64(256.0 * slope_y))
    if max(x0, x1, x2) - min(x0, x1, x2) <= 256 * SMALL and max(y0, y1, y2) - min(y0, y1, y2) <= 65536:
        _fill_small(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag)
    else:
        _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag)
    return True


@kernel
def _side(x, y, dx, dy, left, top):
    """Edge function at the sample (left, top): not negative on the inner side of an edge from (x, y) along (dx, dy)."""
    return (256 * top - y) * dx - (256 * left - x) * dy - (0 if dy < 0 or (dy == 0 and dx > 0) else 1)


@kernel
def _fill_small(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag):
    """Test every sample of the bounding box against the three edges, LANES at a time."""
    ax, ay, bx, by, cx, cy = x1 - x0, y1 - y0, x2 - x1, y2 - y1, x0 - x2, y0 - y2
    stride = np.uint64(samples.shape[1])
    block = left
    while block < right:
        a = np.int32(_side(x0, y0, ax, ay, block, top))
        b = np.int32(_side(x1, y1, bx, by, block, top))
        c = np.int32(_side(x2, y2, cx, cy, block, top))
        sa, sb, sc = np.int32(-256 * ay), np.int32(-256 * by), np.int32(-256 * cy)
        ra, rb, rc = np.int32(256 * ax), np.int32(256 * bx), np.int32(256 * cx)
        place, q = np.uint64(top) * stride + np.uint64(block), value
        for _ in range(bottom - top):
            raise_between(samples, place, q, step_x, _DEPTH, tag, a, sa, b, sb, c, sc)
            a, b, c = np.int32(a + ra), np.int32(b + rb), np.int32(c + rc)
            q = np.uint32(q + step_y)
            place += stride
        block += LANES
        value = np.uint32(value + np.uint32(np.uint32(LANES) * step_x))


@kernel
def _bound(x, y, dx, dy, row):
    """Where an edge from (x, y) along (dx, dy), dy != 0, crosses a row: first sample at or right of it, as quotient and
    remainder of an exact division, and what both grow by from row to row."""
    numerator = x * dy + (256 * row - y) * dx
    denominator = 256 * dy
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    quotient = -(-numerator // denominator)
    slope = 256 * dx if dy > 0 else -256 * dx
    whole = slope // denominator
    return quotient, quotient * denominator - numerator, whole, slope - whole * denominator, denominator


@kernel
def _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag):
    """Row by row between the left and the right edge, for triangles with long rows."""
    if y0 > y1 or y0 > y2:  # the uppermost corner first, the winding kept
        if y1 <= y2:
            x0, y0, x1, y1, x2, y2 = x1, y1, x2, y2, x0, y0
        else:
            x0, y0, x1, y1, x2, y2 = x2, y2, x0, y0, x1, y1
    stride, base = np.uint64(samples.shape[1]), left
    lower = max(y1, y2)
    middle = min(max((min(y1, y2) + 255) >> 8, top), bottom)
    for half in range(2):
        start, stop = (top, middle) if half == 0 else (middle, bottom)
        if start >= stop:
            continue
        # clockwise: the right side runs from corner 0 down by corner 1, the left one by corner 2
        if half == 0 or y2 == lower:
            a, ra, da, ea, na = _bound(x0, y0, x2 - x0, y2 - y0, start)
        else:
            a, ra, da, ea, na = _bound(x2, y2, x1 - x2, y1 - y2, start)
        if half == 0 or y1 == lower:
            b, rb, db, eb, nb = _bound(x0, y0, x1 - x0, y1 - y0, start)
        else:
            b, rb, db, eb, nb = _bound(x1, y1, x2 - x1, y2 - y1, start)
        for y in range(start, stop):
            at, end = max(a, left), min(b, right)
            place = np.uint64(y) * stride + np.uint64(at)
            q = np.uint32(value + np.uint32(np.uint32(at - base) * step_x))
            while at < end:
                raise_lanes(samples, place, q, step_x, _DEPTH, tag, np.uint32(end - at))
                q = np.uint32(q + np.uint32(np.uint32(LANES) * step_x))
                at += LANES
                place += np.uint64(LANES)
            value = np.uint32(value + step_y)
            a, ra = a + da, ra - ea
            if ra < 0:
                a, ra = a + 1, ra + na
            b, rb = b + db, rb - eb
            if rb < 0:
                b, rb = b + 1, rb + nb


@kernel
def fill_convex(mask, width, height, px, py, n, level, ends):
    """Raise `mask` (uint8) to at least `level` where samples lie inside a convex polygon of n corners (px, py).

    Every edge is walked once, noting in `ends` where rows begin and end. A touched row gets a 1 in its column `width`.
    """
    low, high = py[0], py[0]
    for i in range(1, n):
        low, high = min(low, py[i]), max(high, py[i])
    top, bottom = max(_ceil(low), 0), min(_ceil(high), height)
    for y in range(top, bottom):
        ends[y, 0], ends[y, 1] = F(1e9), F(-1e9)
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        x0, y0, x1, y1 = px[i], py[i], px[j], py[j]
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
        first, last = max(_ceil(y0), 0), min(_ceil(y1), height)
        if first < last:
            slope = (x1 - x0) / (y1 - y0)
            for y in range(first, last):
                x = x0 + (F(y) - y0) * slope
                ends[y, 0], ends[y, 1] = min(ends[y, 0], x), max(ends[y, 1], x)
    for y in range(top, bottom):
        mask[y, width] = 1
        left, right = max(_ceil(ends[y, 0]), 0), min(_ceil(ends[y, 1]), width)
        for x in range(np.uint64(left), np.uint64(max(right, left))):
            mask[np.uint64(y), x] = max(mask[np.uint64(y), x], level)


@kernel
def hull(x, y, order, n, out):
    """Convex hull of n points (x, y), sorted by x through `order`: writes the corners' numbers, returns how many."""
    for i in range(1, n):
        k = order[i]
        j = i
        while j > 0 and (x[order[j - 1]] > x[k] or (x[order[j - 1]] == x[k] and y[order[j - 1]] > y[k])):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    size = 0
    for sweep in range(2):
        floor = size + 1
        for i in range(n):
            k = order[i] if sweep == 0 else order[n - 1 - i]
            while size > floor:
                a, b = out[size - 2], out[size - 1]
                if (x[b] - x[a]) * (y[k] - y[a]) - (y[b] - y[a]) * (x[k] - x[a]) > 0:
                    break
                size -= 1
            if i == 0 and sweep == 1:
                continue
            out[size] = k
            size += 1
    return size - 1


@kernel
def _hash(a):
    """A well-mixed uint32 of a uint32 (the finaliser of MurmurHash3)."""
    h = np.uint32(a)
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ np.uint32(h >> np.uint32(16)))


@kernel
def clear_air(density, depth):
    """Share of light that crosses `depth` metres of air: exp(-x), by a rational that needs no exponential."""
    x = density * depth
    return F(1.0) / (F(1.0) + x * (F(1.0) + x * (F(0.5) + x * F(1.0 / 6.0))))


@kernel
def shade(light, palette, kinds, tints, m, style, part, nx, ny, nz, lx, ly, lz, out):
    """Colour of a face of material m with object normal n and object-space sun direction l, before fog: out[0:3]."""
    kind = kinds[m]
    r, g, b = palette[m, 0], palette[m, 1], palette[m, 2]
    if kind == TINT_WALL:
        t = style % TINTS
        r, g, b = tints[0, t, 0], tints[0, t, 1], tints[0, t, 2]
    elif kind == TINT_ROOF:
        t = style // TINTS % TINTS
        r, g, b = tints[1, t, 0], tints[1, t, 1], tints[1, t, 2]
    elif kind == TINT_CLOTH:
        t = style % TINTS
        r, g, b = tints[2, t, 0], tints[2, t, 1], tints[2, t, 2]
    elif kind == LEAF:
        warm = F(style % 7) * F(0.022)
        r, g, b = r + warm, g + F(0.3) * warm, b - warm
    snow = light[L.SNOW]
    if snow > 0 and kind != GLASS and kind != CLOUD_KIND:
        cover = min(max((nz - F(0.25)) * F(2.5), F(0.0)), F(1.0)) * snow
        if kind == ROAD:
            cover *= F(0.62)
        r, g, b = r + (F(0.95) - r) * cover, g + (F(0.97) - g) * cover, b + (F(1.0) - b) * cover
    if kind in (ROAD, GROUND):
        dark = F(1.0) - F(0.3) * light[L.WET]
        r, g, b = r * dark, g * dark, b * dark
    facing = max(nx * lx + ny * ly + nz * lz, F(0.0))
    up = F(0.5) + F(0.5) * nz
    for c in range(3):
        albedo = r if c == 0 else (g if c == 1 else b)
        shine = light[L.SUN + c] * facing + light[L.SKY + c] * up + light[L.BOUNCE + c] * (F(1.0) - up)
        value = albedo * shine
        if kind == CLOUD_KIND:
            value = (light[L.HORIZON + c] * F(0.25) + F(0.75) * light[L.CLOUD]) * (F(0.86) + F(0.14) * nz)
        elif kind in (GLASS, WINDOW):
            value = value * F(0.62) + light[L.HORIZON + c] * (F(0.16) + F(0.2) * max(nz, F(0.0)))
        elif kind in (ROAD, GROUND):
            value += light[L.WET] * light[L.HORIZON + c] * (F(0.16) if kind == ROAD else F(0.07))
        out[c] = value
    power = light[L.LAMPS]
    if kind == WINDOW and power > 0:
        if _hash(np.uint32(style) * np.uint32(131) + np.uint32(part)) % np.uint32(100) < np.uint32(58):
            out[0] += (F(1.0) - out[0]) * F(0.95) * power
            out[1] += (F(0.84) - out[1]) * F(0.92) * power
            out[2] += (F(0.50) - out[2]) * F(0.85) * power
    elif kind in (HEADLAMP, TAILLAMP, GLOW):
        lit = F(0.35) + F(0.65) * power
        out[0] += (r - out[0]) * lit
        out[1] += (g - out[1]) * lit
        out[2] += (b - out[2]) * lit


@kernel
def draw_instances(view, light, atlas, tables, meshes, poses, styles, width, height, geometry, scratch):
    """Transform, cull, shade and fill every instance of one scene; returns how many lie flat on the ground, or -1 if there are too many.

    Fills scratch.samples; triangle t (from 1) leaves its colour, instance, ground flag and, with `geometry`, its
    depth plane in scratch.
    """
    palette, kinds, tints = tables
    samples, spots, colours, packed = scratch.samples, scratch.spots, scratch.colours, scratch.packed
    owners, planes, flags, flats = scratch.owners, scratch.planes, scratch.flags, scratch.flat
    vertices, triangles, normals, materials, parts = atlas.vertices, atlas.triangles, atlas.normals, atlas.materials, atlas.parts
    vertex_start, triangle_start, radii = atlas.vertex_start, atlas.triangle_start, atlas.radius
    focal = F(2.0) * view[12]
    cx, cy = F(2.0) * view[13], F(2.0) * view[14]
    near = F(NEAR)
    lowest, highest = -cx / focal, (F(width) - cx) / focal  # slopes of the rays at the picture's left and right edge
    lowest_norm, highest_norm = np.sqrt(F(1.0) + lowest * lowest), np.sqrt(F(1.0) + highest * highest)
    bare = light[L.SNOW] == 0
    plain = scratch.plain
    for m in range(palette.shape[0]):  # what a face of this colour has whatever its normal, from above, and from the sun
        for j in range(3):
            plain[m, j] = palette[m, j] * light[L.BOUNCE + j]
            plain[m, 3 + j] = palette[m, j] * (light[L.SKY + j] - light[L.BOUNCE + j])
            plain[m, 6 + j] = palette[m, j] * light[L.SUN + j]
    count, grounds = 0, 0
    rgb = np.zeros(3, dtype=np.float32)
    for k in range(meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        matrix = object_to_camera(view, x, y, z, c, s, scale)
        radius = radii[mesh] * scale
        if matrix[11] + radius < near:
            continue
        if matrix[3] - lowest * matrix[11] < -radius * lowest_norm or matrix[3] - highest * matrix[11] > radius * highest_norm:
            continue  # beside the picture
        ground = k == 0
        v0, v1 = vertex_start[mesh], vertex_start[mesh + 1]
        project(matrix, focal, cx, cy, vertices, v0, v1, spots)
        for i in range(v1 - v0):
            spots[i, 0] = np.floor(spots[i, 0] * _SNAP + F(0.5))
            spots[i, 1] = np.floor(spots[i, 1] * _SNAP + F(0.5))
            spots[i, 3] = F(1.0) / max(spots[i, 2], F(1e-3))
        # the eye and the sun, seen from the object
        dx, dy, dz = view[0] - x, view[1] - y, view[2] - z
        ex, ey, ez = (c * dx + s * dy) / scale, (-s * dx + c * dy) / scale, dz / scale
        lx, ly, lz = c * light[0] + s * light[1], -s * light[0] + c * light[1], light[2]
        for t in range(triangle_start[mesh], triangle_start[mesh + 1]):
            nx, ny, nz = normals[t, 0], normals[t, 1], normals[t, 2]
            if nx * ex + ny * ey + nz * ez <= normals[t, 3]:
                continue
            i0, i1, i2 = triangles[t, 0] - v0, triangles[t, 1] - v0, triangles[t, 2] - v0
            if count + 1 >= MOST_TRIANGLES:
                return -1
            tag = np.uint32(count + 1)
            d0, d1, d2 = spots[i0, 2], spots[i1, 2], spots[i2, 2]
            if min(d0, d1, d2) < near:
                if max(d0, d1, d2) <= near:
                    continue
                drawn = _fill_clipped(samples, width, height, matrix, focal, cx, cy, atlas, t, tag)
            else:
                drawn = fill_triangle(samples, width, height, np.int64(spots[i0, 0]), np.int64(spots[i0, 1]), spots[i0, 3],
                                      np.int64(spots[i1, 0]), np.int64(spots[i1, 1]), spots[i1, 3],
                                      np.int64(spots[i2, 0]), np.int64(spots[i2, 1]), spots[i2, 3], tag)  # fmt: skip
            if not drawn:
                continue
            count += 1
            material = materials[t]
            if kinds[material] == MATTE and bare:
                facing, up = max(nx * lx + ny * ly + nz * lz, F(0.0)), F(0.5) + F(0.5) * nz
                for j in range(3):
                    rgb[j] = plain[material, j] + plain[material, 3 + j] * up + plain[material, 6 + j] * facing
            else:
                shade(light, palette, kinds, tints, material, styles[k], parts[t], nx, ny, nz, lx, ly, lz, rgb)
            flat = ground and (kinds[material] == GROUND or kinds[material] == ROAD or nz > F(0.5))
            flags[count] = 1 if flat else 0
            if flat:
                colours[count, 0], colours[count, 1], colours[count, 2] = rgb[0], rgb[1], rgb[2]
                near_by = min(d0, d1, d2) < near
                flats[grounds, 0] = count
                flats[grounds, 1] = 0 if near_by else int(min(spots[i0, 1], spots[i1, 1], spots[i2, 1]) / _SNAP)
                flats[grounds, 2] = height if near_by else int(max(spots[i0, 1], spots[i1, 1], spots[i2, 1]) / _SNAP) + 1
                grounds += 1
            else:
                density = light[L.DENSITY] * (F(0.25) if kinds[material] == CLOUD_KIND else F(1.0))
                air = clear_air(density, (d0 + d1 + d2) * F(1.0 / 3.0))
                for j in range(3):
                    rgb[j] = light[L.FOG + j] + (rgb[j] - light[L.FOG + j]) * air
                packed[count] = _pack(rgb[0], rgb[1], rgb[2])
            owners[count] = k
            if not geometry:
                continue
            # depth along a ray: the plane's distance over the ray's slope against its normal, all in the camera's frame
            a = matrix[0] * nx + matrix[1] * ny + matrix[2] * nz
            b = matrix[4] * nx + matrix[5] * ny + matrix[6] * nz
            f = matrix[8] * nx + matrix[9] * ny + matrix[10] * nz
            distance = (normals[t, 3] - (nx * ex + ny * ey + nz * ez)) * scale * scale
            planes[count, 0], planes[count, 1], planes[count, 2], planes[count, 3] = a, b, f, distance
    return grounds


@kernel
def _fill_clipped(samples, width, height, matrix, focal, cx, cy, atlas, t, tag):
    """As fill_triangle for one that crosses the near plane: what is left of it in front is a triangle or a quad."""
    near = F(NEAR)
    corner = np.zeros((3, 3), dtype=np.float32)
    for i in range(3):
        v = atlas.vertices[atlas.triangles[t, i]]
        for j in range(3):
            corner[i, j] = matrix[4 * j] * v[0] + matrix[4 * j + 1] * v[1] + matrix[4 * j + 2] * v[2] + matrix[4 * j + 3]
    spot = np.zeros((4, 3), dtype=np.float32)
    n = 0
    for i in range(3):
        p, q = corner[i], corner[(i + 1) % 3]
        if p[2] >= near:
            spot[n, 0], spot[n, 1], spot[n, 2] = p[0], p[1], p[2]
            n += 1
        if (p[2] >= near) != (q[2] >= near):
            s = (near - p[2]) / (q[2] - p[2])
            spot[n, 0], spot[n, 1], spot[n, 2] = p[0] + s * (q[0] - p[0]), p[1] + s * (q[1] - p[1]), near
            n += 1
    for i in range(n):
        w = F(1.0) / spot[i, 2]
        spot[i, 0] = np.floor((cx + focal * spot[i, 0] * w) * _SNAP + F(0.5))
        spot[i, 1] = np.floor((cy - focal * spot[i, 1] * w) * _SNAP + F(0.5))
        spot[i, 2] = w
    drawn = False
    for i in range(1, n - 1):
        a, b, c = spot[0], spot[i], spot[i + 1]
        if fill_triangle(samples, width, height, np.int64(a[0]), np.int64(a[1]), a[2], np.int64(b[0]), np.int64(b[1]), b[2],
                         np.int64(c[0]), np.int64(c[1]), c[2], tag):  # fmt: skip
            drawn = True
    return drawn


@kernel
def _ground_spot(view, focal, cx, cy, x, y, out_x, out_y, i):
    """Sample coordinates of the ground point (x, y); False if it lies too near to be seen."""
    dx, dy, dz = x - view[0], y - view[1], -view[2]
    depth = view[9] * dx + view[10] * dy + view[11] * dz
    if depth < F(NEAR):
        return False
    out_x[i] = cx + focal * (view[3] * dx + view[4] * dy + view[5] * dz) / depth
    out_y[i] = cy - focal * (view[6] * dx + view[7] * dy + view[8] * dz) / depth
    return True


@kernel
def cast_shadows(view, light, atlas, casts, meshes, poses, width, height, scratch):
    """Project every casting instance's hull along the sun onto the ground, in three nested steps for a soft edge."""
    mask, ends, hulls, hull_start, radii = scratch.shadow, scratch.ends, atlas.hull, atlas.hull_start, atlas.radius
    focal, cx, cy = F(2.0) * view[12], F(2.0) * view[13], F(2.0) * view[14]
    sx, sy = np.zeros(32, dtype=np.float32), np.zeros(32, dtype=np.float32)
    px, py = np.zeros(40, dtype=np.float32), np.zeros(40, dtype=np.float32)
    order, corners = np.zeros(32, dtype=np.int64), np.zeros(70, dtype=np.int64)
    slope_x, slope_y = light[0] / light[2], light[1] / light[2]
    stretch = F(1.0) + abs(slope_x) + abs(slope_y)
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0 or casts[mesh] == 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        reach = radii[mesh] * scale * stretch
        right = view[3] * (x - view[0]) + view[4] * (y - view[1])
        far = view[9] * (x - view[0]) + view[10] * (y - view[1]) + reach
        if (right - reach) * view[12] > (F(2.0) * view[13] - view[13]) * far or (right + reach) * view[12] < -view[13] * far:
            continue  # beside the picture
        first = hull_start[mesh]
        n = hull_start[mesh + 1] - first
        seen = True
        for i in range(n):
            p0, p1, p2 = hulls[first + i, 0], hulls[first + i, 1], hulls[first + i, 2]
            above = max(z + scale * p2, F(0.0))
            gx, gy = x + scale * (c * p0 - s * p1) - slope_x * above, y + scale * (s * p0 + c * p1) - slope_y * above
            seen = seen and _ground_spot(view, focal, cx, cy, gx, gy, sx, sy, i)
            order[i] = i
        size = hull(sx, sy, order, n, corners) if seen else 0
        if size < 3:
            continue
        mx, my = F(0.0), F(0.0)
        for i in range(size):
            mx += sx[corners[i]]
            my += sy[corners[i]]
        mx, my = mx / F(size), my / F(size)
        for ring in range(3):
            grow = F(1.06) - F(0.07) * F(ring)
            for i in range(size):
                px[i], py[i] = mx + (sx[corners[i]] - mx) * grow, my + (sy[corners[i]] - my) * grow
            fill_convex(mask, width, height, px, py, size, np.uint8(85 * (ring + 1)), ends)


@kernel
def pool_lamps(view, light, atlas, kinds, meshes, poses, width, height, scratch):
    """Light that lamps throw on the ground at dusk and night: a fan before each head lamp, a pool under each lantern."""
    mask, ends = scratch.pool, scratch.ends
    focal, cx, cy = F(2.0) * view[12], F(2.0) * view[13], F(2.0) * view[14]
    sx, sy = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        for i in range(atlas.lamp_start[mesh], atlas.lamp_start[mesh + 1]):
            lamp = atlas.lamps[i]
            kind = kinds[int(lamp[3])]
            head = kind == HEADLAMP
            if not head and not (kind == GLOW and z + scale * lamp[2] > F(3.4)):
                continue
            px, py = x + scale * (c * lamp[0] - s * lamp[1]), y + scale * (s * lamp[0] + c * lamp[1])
            reach, across = (F(2.3), F(0.85)) if head else (F(2.0), F(2.0))
            if head:
                px, py = px + c * reach, py + s * reach
            for ring in range(4):
                grow = F(1.0) - F(0.22) * F(ring)
                seen = True
                for j in range(12):
                    u, v = reach * grow * _TURN[j, 0], across * grow * _TURN[j, 1]
                    seen = seen and _ground_spot(view, focal, cx, cy, px + c * u - s * v, py + s * u + c * v, sx, sy, j)
                if seen:
                    fill_convex(mask, width, height, sx, sy, 12, np.uint8(50 * (ring + 1)), ends)


_TURN = np.array([(1.0, 0.0), (0.8660254, 0.5), (0.5, 0.8660254), (0.0, 1.0), (-0.5, 0.8660254), (-0.8660254, 0.5), (-1.0, 0.0),
                  (-0.8660254, -0.5), (-0.5, -0.8660254), (0.0, -1.0), (0.5, -0.8660254), (0.8660254, -0.5)], dtype=np.float32)  # fmt: skip


@kernel
def _pack(r, g, b):
    """Three colours in [0, 1] as 16-bit lanes of a uint64, 255 * 16 for full: nine weighted samples (sum 16) fit a lane."""
    x = np.uint64(np.int32(min(max(r, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    y = np.uint64(np.int32(min(max(g, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    z = np.uint64(np.int32(min(max(b, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    return x | (y << np.uint64(16)) | (z << np.uint64(32))


@kernel
def resolve_colour(view, light, width, height, grounds, scratch, out):
    """Samples to pixels: every sample row becomes a line of packed colours, then the tent filter makes pixels of three lines."""
    samples, packed, flags, flat = scratch.samples, scratch.packed, scratch.flags, scratch.flat
    colours, shadow, pool, line, lines = scratch.colours, scratch.shadow, scratch.pool, scratch.line, scratch.lines
    density, lamps, dark = light[L.DENSITY], light[L.LAMPS], light[L.SHADOW] * F(1.0 / 255.0)
    fog_r, fog_g, fog_b = light[L.FOG], light[L.FOG + 1], light[L.FOG + 2]
    lane = np.uint64(0xFFFF)
    wide = 2 * width + 1
    for y in range(2 * height + 1):
        slope = (view[14] - F(0.5) * F(y)) / view[12]  # of the ray through this row, against the view's axis
        t = min(max(slope * F(1.9), F(0.0)), F(1.0))
        t = t * (F(2.0) - t)
        haze = min(density * F(28.0), F(1.0)) * (F(1.0) - F(0.5) * t)
        r = light[L.HORIZON] + (light[L.TOP] - light[L.HORIZON]) * t
        g = light[L.HORIZON + 1] + (light[L.TOP + 1] - light[L.HORIZON + 1]) * t
        b = light[L.HORIZON + 2] + (light[L.TOP + 2] - light[L.HORIZON + 2]) * t
        packed[0] = _pack(r + (fog_r - r) * haze, g + (fog_g - g) * haze, b + (fog_b - b) * haze)
        down = -(view[11] + slope * view[8])
        air = clear_air(density, view[2] / down) if down > F(1e-3) else F(0.0)
        for i in range(grounds):  # ground is at one depth all along a row, so its fog is a row's
            if flat[i, 1] <= y < flat[i, 2]:
                k = flat[i, 0]
                packed[k] = _pack(fog_r + (colours[k, 0] - fog_r) * air, fog_g + (colours[k, 1] - fog_g) * air,
                                  fog_b + (colours[k, 2] - fog_b) * air)  # fmt: skip
        row = samples[y]
        for x in range(np.uint32(wide)):
            line[x] = packed[row[x] & _TAG]
        if shadow[y, wide] > 0:
            for x in range(np.uint32(wide)):
                if shadow[y, x] > 0 and flags[row[x] & _TAG] > 0:
                    c = line[x]
                    keep = F(1.0) - dark * F(shadow[y, x]) * air
                    r, g, b = F(np.int32(c & lane)), F(np.int32((c >> np.uint64(16)) & lane)), F(np.int32(c >> np.uint64(32)))
                    line[x] = _pack(r * keep * F(1.0 / 4080.0), g * keep * F(1.0 / 4080.0), b * keep * F(1.0 / 4080.0))
        if lamps > 0 and pool[y, wide] > 0:
            for x in range(np.uint32(wide)):
                if pool[y, x] > 0 and flags[row[x] & _TAG] > 0:
                    c = line[x]
                    glow = lamps * F(pool[y, x]) * F(1.0 / 255.0) * air
                    r, g, b = F(np.int32(c & lane)), F(np.int32((c >> np.uint64(16)) & lane)), F(np.int32(c >> np.uint64(32)))
                    r, g, b = r * F(1.0 / 4080.0), g * F(1.0 / 4080.0), b * F(1.0 / 4080.0)
                    line[x] = _pack(
                        r + glow * (r * F(1.1) + F(0.19)), g + glow * (g * F(1.1) + F(0.155)), b + glow * (b * F(1.1) + F(0.085))
                    )
        into = lines[y % 3]
        for x in range(np.uint32(width)):
            at = np.uint32(2) * np.uint32(x)
            into[x] = line[at] + (line[np.uint32(at + np.uint32(1))] << np.uint64(1)) + line[np.uint32(at + np.uint32(2))]
        if y >= 2 and y % 2 == 0:
            pixels = out[y // 2 - 1]
            upper, middle, lower = lines[(y - 2) % 3], lines[(y - 1) % 3], lines[y % 3]
            for x in range(np.uint32(width)):
                total = upper[x] + (middle[x] << np.uint64(1)) + lower[x] + np.uint64(0x0000008000800080)
                pixels[x, 0] = np.uint8(total >> np.uint64(8))
                pixels[x, 1] = np.uint8(total >> np.uint64(24))
                pixels[x, 2] = np.uint8(total >> np.uint64(40))


@kernel
def resolve_geometry(view, width, height, scratch, ids, depth_out, ids_out):
    """Depth (metres, inf for the sky) and instance id of the sample in the middle of every pixel."""
    samples, owners, planes = scratch.samples, scratch.owners, scratch.planes
    inverse_focal = F(1.0) / view[12]
    for y in range(height):
        ray_y = (view[14] - F(y) - F(0.5)) * inverse_focal
        row, depths, numbers = samples[2 * y + 1], depth_out[y], ids_out[y]
        for x in range(np.uint32(width)):
            tag = row[np.uint32(2) * np.uint32(x) + np.uint32(1)] & _TAG
            ray_x = (F(x) + F(0.5) - view[13]) * inverse_focal
            slope = planes[tag, 0] * ray_x + planes[tag, 1] * ray_y + planes[tag, 2]
            depths[x] = planes[tag, 3] / slope
            numbers[x] = ids[owners[tag]]


@kernel
def _blend(rgb, x, y, r, g, b, alpha, adding):
    """Mix (r, g, b) in [0, 255] into a pixel, or add it."""
    for c in range(3):
        colour = r if c == 0 else (g if c == 1 else b)
        old = F(rgb[y, x, c])
        value = old + alpha * colour if adding else old + (colour - old) * alpha
        rgb[y, x, c] = np.uint8(min(value + F(0.5), F(255.0)))


@kernel
def glow_lamps(view, light, atlas, tables, meshes, poses, width, height, samples, rgb):
    """A halo round every lamp that is in sight, at dusk and night."""
    palette, kinds, _ = tables
    power = light[L.LAMPS]
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        matrix = object_to_camera(view, x, y, z, c, s, scale)
        for i in range(atlas.lamp_start[mesh], atlas.lamp_start[mesh + 1]):
            lamp = atlas.lamps[i]
            far = matrix[8] * lamp[0] + matrix[9] * lamp[1] + matrix[10] * lamp[2] + matrix[11]
            if far < F(NEAR):
                continue
            px = view[13] + view[12] * (matrix[0] * lamp[0] + matrix[1] * lamp[1] + matrix[2] * lamp[2] + matrix[3]) / far
            py = view[14] - view[12] * (matrix[4] * lamp[0] + matrix[5] * lamp[1] + matrix[6] * lamp[2] + matrix[7]) / far
            m = int(lamp[3])
            size = F(0.75) if kinds[m] == GLOW else F(0.5)
            if kinds[m] == TAILLAMP:
                size = F(0.32)
            radius = size * view[12] / far
            ix, iy = int(np.floor(px)), int(np.floor(py))
            if ix < 0 or iy < 0 or ix >= width or iy >= height:
                continue
            if np.float64(samples[2 * iy + 1, 2 * ix + 1]) * (far - F(0.6)) > _Q:  # something stands before it
                continue
            strength = power * F(0.5)
            for qy in range(max(int(py - radius), 0), min(int(py + radius) + 2, height)):
                for qx in range(max(int(px - radius), 0), min(int(px + radius) + 2, width)):
                    dx, dy = (F(qx) + F(0.5) - px) / radius, (F(qy) + F(0.5) - py) / radius
                    fall = F(1.0) - (dx * dx + dy * dy)
                    if fall > 0:
                        a = strength * fall * fall * F(255.0)
                        _blend(rgb, qx, qy, palette[m, 0], palette[m, 1], palette[m, 2], a, True)


@kernel
def let_fall(light, seed, width, height, rgb):
    """Rain streaks or snow flakes in front of everything, the same ones at every size."""
    kind, amount = light[L.FALL], light[L.AMOUNT]
    aspect = F(width) / F(height)
    unit = F(height) if aspect > F(1.0) else F(width)
    for i in range(int(F(60.0 if kind == L.RAIN else 110.0) * (F(0.35) + amount))):
        h = _hash(np.uint32(seed) + np.uint32(i) * np.uint32(0x9E3779B9))
        h2 = _hash(h)
        x0, y0 = F(h & np.uint32(0xFFFF)) / F(65536.0) * F(width), F(h >> np.uint32(16)) / F(65536.0) * F(height)
        near = F(0.35) + F(0.65) * F(h2 & np.uint32(0xFF)) / F(255.0)
        if kind == L.RAIN:
            length, half = unit * F(0.075) * near, max(unit * F(0.0026) * near, F(0.3))
            lean = F(0.16)
            for y in range(max(int(y0), 0), min(int(y0 + length) + 1, height)):
                middle = x0 - (F(y) + F(0.5) - y0) * lean
                for x in range(max(int(middle - half - F(0.5)), 0), min(int(middle + half + F(0.5)) + 1, width)):
                    cover = min(max(half + F(0.5) - abs(F(x) + F(0.5) - middle), F(0.0)), F(1.0))
                    _blend(rgb, x, y, F(225.0), F(235.0), F(245.0), cover * F(0.34) * near, False)
        else:
            radius = max(unit * F(0.0072) * near, F(0.55))
            for y in range(max(int(y0 - radius - F(1.0)), 0), min(int(y0 + radius) + 2, height)):
                for x in range(max(int(x0 - radius - F(1.0)), 0), min(int(x0 + radius) + 2, width)):
                    dx, dy = F(x) + F(0.5) - x0, F(y) + F(0.5) - y0
                    cover = min(max(radius + F(0.5) - np.sqrt(dx * dx + dy * dy), F(0.0)), F(1.0))
                    _blend(rgb, x, y, F(255.0), F(255.0), F(255.0), cover * F(0.8) * near, False)


@kernel
def draw_scenes(first, last, views, lights, atlas, tables, casts, meshes, poses, styles, ids, fall_seeds, scratch, rgb, depth, ids_out):
    """Draw scenes first to last - 1 of a batch; returns the number of a scene that holds too many triangles, or -1."""
    height, width = rgb.shape[1], rgb.shape[2]
    wide, high = 2 * width + 1, 2 * height + 1
    for n in range(first, last):
        view, light = views[n], lights[n]
        scratch.samples[:] = 0
        scratch.shadow[:] = 0
        grounds = draw_instances(view, light, atlas, tables, meshes[n], poses[n], styles[n], wide, high, len(depth) > 0, scratch)
        if grounds < 0:
            return n
        cast_shadows(view, light, atlas, casts, meshes[n], poses[n], wide, high, scratch)
        if light[L.LAMPS] > 0:
            scratch.pool[:] = 0
            pool_lamps(view, light, atlas, tables[1], meshes[n], poses[n], wide, high, scratch)
        resolve_colour(view, light, width, height, grounds, scratch, rgb[n])
        if len(depth) > 0:
            resolve_geometry(view, width, height, scratch, ids, depth[n], ids_out[n])
        if light[L.LAMPS] > 0:
            glow_lamps(view, light, atlas, tables, meshes[n], poses[n], width, height, scratch.samples, rgb[n])
        if light[L.AMOUNT] > 0 and light[L.FALL] > 0:
            let_fall(light, fall_seeds[n], width, height, rgb[n])
    return -1
