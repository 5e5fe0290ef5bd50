"""One scene after the other, from placed meshes to pixels: plain scalar code for numba, no global state.

Samples lie twice as dense as pixels with one at every pixel's middle: sample i of a row stands at pixel coordinate i / 2, and
pixel p owns samples 2p to 2p + 2. Ids and depth are read at the middle sample, colour through the tent filter [1 2 1] of all
nine.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import CLOUD as CLOUD_KIND
from simtown.assets.palette import GLOW, GROUND, HEADLAMP, MATTE, ROAD
from simtown.exact import kernel
from simtown.render import light as L
from simtown.render.effects import glow_lamps, let_fall
from simtown.render.fill import MOST_TRIANGLES, SNAP, TAG, fill_convex, fill_triangle, hull
from simtown.render.shading import clear_air, shade
from simtown.scenes.camera import NEAR, object_to_camera, project

F = np.float32


@kernel
def draw_instances(view, light, atlas, tables, meshes, poses, styles, paints, width, height, geometry, scratch):
    """Transform, cull, shade and fill every instance of one scene; returns how many lie flat on the ground, or -1 if there are too many.

    Fills scratch.samples; triangle t (from 1) leaves its colour, instance, ground flag and, with `geometry`, its
    depth plane in scratch.
    """
    palette, kinds, tints = tables
    samples, spots, colours, packed = scratch.samples, scratch.spots, scratch.colours, scratch.packed
    facing = scratch.facing
    owners, planes, flags, flats = scratch.owners, scratch.planes, scratch.flags, scratch.flat
    triangles, normals, materials, parts, body = atlas.triangles, atlas.normals, atlas.materials, atlas.parts, atlas.body
    vertex_start, triangle_start, radii = atlas.vertex_start, atlas.triangle_start, atlas.radius
    focal = F(2.0) * view[12]
    cx, cy = F(2.0) * view[13], F(2.0) * view[14]
    near = F(NEAR)
    lowest, highest = -cx / focal, (F(width) - cx) / focal  # slopes of the rays at the picture's left and right edge
    lowest_norm, highest_norm = np.sqrt(F(1.0) + lowest * lowest), np.sqrt(F(1.0) + highest * highest)
    bare = light[L.SNOW] == 0
    fog_r, fog_g, fog_b = light[L.FOG], light[L.FOG + 1], light[L.FOG + 2]
    plain = scratch.plain
    for m in range(palette.shape[0]):  # what a face of this colour has whatever its normal, from above, and from the sun
        for j in range(3):
            plain[m, j] = palette[m, j] * light[L.BOUNCE + j]
            plain[m, 3 + j] = palette[m, j] * (light[L.SKY + j] - light[L.BOUNCE + j])
            plain[m, 6 + j] = palette[m, j] * light[L.SUN + j]
    count, grounds = 0, 0
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
        project(matrix, focal, cx, cy, atlas.columns, v0, v1, spots)
        for i in range(np.uint64(v1 - v0)):
            spots[0, i] = np.floor(spots[0, i] * SNAP + F(0.5))
            spots[1, i] = np.floor(spots[1, i] * SNAP + F(0.5))
        # the eye and the sun, seen from the object
        dx, dy, dz = view[0] - x, view[1] - y, view[2] - z
        ex, ey, ez = (c * dx + s * dy) / scale, (-s * dx + c * dy) / scale, dz / scale
        lx, ly, lz = c * light[0] + s * light[1], -s * light[0] + c * light[1], light[2]
        faces = 0
        for i in range(triangle_start[mesh], triangle_start[mesh + 1]):  # without a branch, that half the time would be guessed wrong
            facing[faces] = i
            faces += normals[i, 0] * ex + normals[i, 1] * ey + normals[i, 2] * ez > normals[i, 3]
        for face in range(faces):
            t = np.uint64(facing[face])  # unsigned numbers need no test for counting from an array's end
            i0, i1, i2 = np.uint64(triangles[t, 0] - v0), np.uint64(triangles[t, 1] - v0), np.uint64(triangles[t, 2] - v0)
            if count + 1 >= MOST_TRIANGLES:
                return -1
            tag = np.uint32(count + 1)
            d0, d1, d2 = spots[2, i0], spots[2, i1], spots[2, i2]
            if min(d0, d1, d2) < near:
                if max(d0, d1, d2) <= near:
                    continue
                seen = _fill_clipped(samples, width, height, matrix, focal, cx, cy, atlas, t, tag)
            else:
                seen = fill_triangle(samples, width, height, np.int64(spots[0, i0]), np.int64(spots[1, i0]), spots[3, i0],
                                     np.int64(spots[0, i1]), np.int64(spots[1, i1]), spots[3, i1],
                                     np.int64(spots[0, i2]), np.int64(spots[1, i2]), spots[3, i2], tag)  # fmt: skip
            if not seen:
                continue
            count += 1
            material = paints[k] if body[t] else materials[t]
            nx, ny, nz = normals[t, 0], normals[t, 1], normals[t, 2]
            if kinds[material] == MATTE and bare:
                sunny, up = max(nx * lx + ny * ly + nz * lz, F(0.0)), F(0.5) + F(0.5) * nz
                r = plain[material, 0] + plain[material, 3] * up + plain[material, 6] * sunny
                g = plain[material, 1] + plain[material, 4] * up + plain[material, 7] * sunny
                b = plain[material, 2] + plain[material, 5] * up + plain[material, 8] * sunny
            else:
                r, g, b = shade(light, palette, kinds, tints, material, styles[k], parts[t], nx, ny, nz, lx, ly, lz)
            flat = ground and (kinds[material] == GROUND or kinds[material] == ROAD or nz > F(0.5))
            flags[count] = 1 if flat else 0
            if flat:
                colours[count, 0], colours[count, 1], colours[count, 2] = r, g, b
                near_by = min(d0, d1, d2) < near
                flats[grounds, 0] = count
                flats[grounds, 1] = 0 if near_by else int(min(spots[1, i0], spots[1, i1], spots[1, i2]) / SNAP)
                flats[grounds, 2] = height if near_by else int(max(spots[1, i0], spots[1, i1], spots[1, i2]) / SNAP) + 1
                grounds += 1
            else:
                density = light[L.DENSITY] * (F(0.25) if kinds[material] == CLOUD_KIND else F(1.0))
                air = clear_air(density, (d0 + d1 + d2) * F(1.0 / 3.0))
                packed[count] = pack(fog_r + (r - fog_r) * air, fog_g + (g - fog_g) * air, fog_b + (b - fog_b) * air)
            owners[count] = k
            if not geometry:
                continue
            # depth along a ray: the plane's distance over the ray's slope against its normal, all in the camera's frame
            a = matrix[0] * nx + matrix[1] * ny + matrix[2] * nz
            e = matrix[4] * nx + matrix[5] * ny + matrix[6] * nz
            f = matrix[8] * nx + matrix[9] * ny + matrix[10] * nz
            distance = (normals[t, 3] - (nx * ex + ny * ey + nz * ez)) * scale * scale
            planes[count, 0], planes[count, 1], planes[count, 2], planes[count, 3] = a, e, f, distance
    return grounds


@kernel
def _fill_clipped(samples, width, height, matrix, focal, cx, cy, atlas, t, tag):
    """As fill_triangle for one that crosses the near plane: what is left of it in front is a triangle or a quad."""
    near = F(NEAR)
    corner = np.zeros((3, 3), dtype=np.float32)
    for i in range(3):
        k = atlas.triangles[t, i]
        x, y, z = atlas.columns[0, k], atlas.columns[1, k], atlas.columns[2, k]
        for j in range(3):
            corner[i, j] = matrix[4 * j] * x + matrix[4 * j + 1] * y + matrix[4 * j + 2] * z + matrix[4 * j + 3]
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
        spot[i, 0] = np.floor((cx + focal * spot[i, 0] * w) * SNAP + F(0.5))
        spot[i, 1] = np.floor((cy - focal * spot[i, 1] * w) * SNAP + F(0.5))
        spot[i, 2] = w
    seen = False
    for i in range(1, n - 1):
        a, b, c = spot[0], spot[i], spot[i + 1]
        if fill_triangle(samples, width, height, np.int64(a[0]), np.int64(a[1]), a[2], np.int64(b[0]), np.int64(b[1]), b[2],
                         np.int64(c[0]), np.int64(c[1]), c[2], tag):  # fmt: skip
            seen = True
    return seen


@kernel
def ground_spot(view, focal, cx, cy, x, y, out_x, out_y, i):
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
            seen = seen and ground_spot(view, focal, cx, cy, gx, gy, sx, sy, i)
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
                    u, v = reach * grow * TURN[j, 0], across * grow * TURN[j, 1]
                    seen = seen and ground_spot(view, focal, cx, cy, px + c * u - s * v, py + s * u + c * v, sx, sy, j)
                if seen:
                    fill_convex(mask, width, height, sx, sy, 12, np.uint8(50 * (ring + 1)), ends)


TURN = np.array([(1.0, 0.0), (0.8660254, 0.5), (0.5, 0.8660254), (0.0, 1.0), (-0.5, 0.8660254), (-0.8660254, 0.5), (-1.0, 0.0),
                  (-0.8660254, -0.5), (-0.5, -0.8660254), (0.0, -1.0), (0.5, -0.8660254), (0.8660254, -0.5)], dtype=np.float32)  # fmt: skip


@kernel
def pack(r, g, b):
    """Three colours in [0, 1] as 16-bit lanes of a uint64, 255 * 16 for full: nine weighted samples (sum 16) fit a lane."""
    x = np.uint64(np.int32(min(max(r, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    y = np.uint64(np.int32(min(max(g, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    z = np.uint64(np.int32(min(max(b, F(0.0)), F(1.0)) * F(4080.0) + F(0.5)))
    return x | (y << np.uint64(16)) | (z << np.uint64(32))


@kernel
def row_slope(view, y):
    """Slope of the rays through row y of samples, against the view's axis."""
    return (view[14] - F(0.5) * F(y)) / view[12]


@kernel
def sky_row(view, light, y):
    """Colour of the sky in row y of samples."""
    t = min(max(row_slope(view, y) * F(1.9), F(0.0)), F(1.0))
    t = t * (F(2.0) - t)
    haze = min(light[L.DENSITY] * F(28.0), F(1.0)) * (F(1.0) - F(0.5) * t)
    r = light[L.HORIZON] + (light[L.TOP] - light[L.HORIZON]) * t
    g = light[L.HORIZON + 1] + (light[L.TOP + 1] - light[L.HORIZON + 1]) * t
    b = light[L.HORIZON + 2] + (light[L.TOP + 2] - light[L.HORIZON + 2]) * t
    return r + (light[L.FOG] - r) * haze, g + (light[L.FOG + 1] - g) * haze, b + (light[L.FOG + 2] - b) * haze


@kernel
def ground_air(view, light, y):
    """Share of light that crosses the air between the camera and the ground in row y of samples, which lies at one depth."""
    down = -(view[11] + row_slope(view, y) * view[8])
    return clear_air(light[L.DENSITY], view[2] / down) if down > F(1e-3) else F(0.0)


@kernel
def unpack(c):
    """Inverse of :func:`pack`, times 4080."""
    lane = np.uint64(0xFFFF)
    return F(np.int32(c & lane)), F(np.int32((c >> np.uint64(16)) & lane)), F(np.int32(c >> np.uint64(32)))


@kernel
def darken(c, keep):
    """A packed colour in shadow."""
    r, g, b = unpack(c)
    return pack(r * keep * F(1.0 / 4080.0), g * keep * F(1.0 / 4080.0), b * keep * F(1.0 / 4080.0))


@kernel
def lighten(c, glow):
    """A packed colour in the light of lamps, which is warm."""
    r, g, b = unpack(c)
    r, g, b = r * F(1.0 / 4080.0), g * F(1.0 / 4080.0), b * F(1.0 / 4080.0)
    return pack(r + glow * (r * F(1.1) + F(0.19)), g + glow * (g * F(1.1) + F(0.155)), b + glow * (b * F(1.1) + F(0.085)))


@kernel
def resolve_colour(view, light, width, height, grounds, scratch, out):
    """Samples to pixels: every sample row becomes a line of packed colours, then the tent filter makes pixels of three lines."""
    samples, packed, flags, flat = scratch.samples, scratch.packed, scratch.flags, scratch.flat
    colours, shadow, pool, line, lines = scratch.colours, scratch.shadow, scratch.pool, scratch.line, scratch.lines
    lamps, dark = light[L.LAMPS], light[L.SHADOW] * F(1.0 / 255.0)
    fog_r, fog_g, fog_b = light[L.FOG], light[L.FOG + 1], light[L.FOG + 2]
    wide = 2 * width + 1
    for y in range(2 * height + 1):
        r, g, b = sky_row(view, light, y)
        packed[0] = pack(r, g, b)
        air = ground_air(view, light, y)
        for i in range(grounds):  # ground is at one depth all along a row, so its fog is a row's
            if flat[i, 1] <= y < flat[i, 2]:
                k = flat[i, 0]
                packed[k] = pack(fog_r + (colours[k, 0] - fog_r) * air, fog_g + (colours[k, 1] - fog_g) * air,
                                  fog_b + (colours[k, 2] - fog_b) * air)  # fmt: skip
        row = samples[y]
        for x in range(np.uint32(wide)):
            line[x] = packed[row[x] & TAG]
        if shadow[y, wide] > 0:
            for x in range(np.uint32(wide)):
                if shadow[y, x] > 0 and flags[row[x] & TAG] > 0:
                    line[x] = darken(line[x], F(1.0) - dark * F(shadow[y, x]) * air)
        if lamps > 0 and pool[y, wide] > 0:
            for x in range(np.uint32(wide)):
                if pool[y, x] > 0 and flags[row[x] & TAG] > 0:
                    line[x] = lighten(line[x], lamps * F(pool[y, x]) * F(1.0 / 255.0) * air)
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
            tag = row[np.uint32(2) * np.uint32(x) + np.uint32(1)] & TAG
            ray_x = (F(x) + F(0.5) - view[13]) * inverse_focal
            slope = planes[tag, 0] * ray_x + planes[tag, 1] * ray_y + planes[tag, 2]
            depths[x] = planes[tag, 3] / slope
            numbers[x] = ids[owners[tag]]


@kernel
def draw_scenes(
    first, last, views, lights, atlas, tables, casts, meshes, poses, styles, ids, paints, fall_seeds, scratch, rgb, depth, ids_out
):
    """Draw scenes first to last - 1 of a batch; returns the number of a scene that holds too many triangles, or -1."""
    height, width = rgb.shape[1], rgb.shape[2]
    wide, high = 2 * width + 1, 2 * height + 1
    for n in range(first, last):
        view, light = views[n], lights[n]
        scratch.samples[:] = 0
        scratch.shadow[:] = 0
        grounds = draw_instances(view, light, atlas, tables, meshes[n], poses[n], styles[n], paints[n], wide, high, len(depth) > 0,
                                 scratch)  # fmt: skip
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
