"""One scene after the other, from placed meshes to pixels: plain code for numba, no global state.

Samples lie twice as dense as pixels with one at every pixel's middle: sample i of a row stands at pixel
coordinate i / 2, and pixel p owns samples 2p to 2p + 2. Ids and depth are read at the middle sample, colour
through the tent filter [1 2 1] of all nine. A wide picture is drawn in strips of columns, each as high as the
picture: the same samples, a strip at a time.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import CLOUD, GLASS, GROUND, MATTE, ROAD, WINDOW
from simtown.core.exact import inner_kernel, part_of_kernel
from simtown.render.effects import glow_lamps, let_fall, light_stars
from simtown.render.fill import BOX, EMPTY, MOST_TRIANGLES, REACH, SNAP, TAG, fill_box, fill_triangle, set_up
from simtown.render.ground import (
    BITS,
    VEHICLE,
    collect_contacts,
    collect_pools,
    collect_shadows,
    darkness,
    ground_line,
    pour_light,
)
from simtown.render.lanes import (
    LANES,
    any_of,
    choose,
    convert,
    load,
    load_odd,
    pick,
    pick_rows,
    ramp,
    spread,
    store,
    store_bytes,
    store_first,
    store_rows,
)
from simtown.render.light import AMOUNT, COVER, DENSITY, FOG, LAMPS, SNOW, STARS, SUN, THICK, VEHICLE_SUN, WET
from simtown.render.packing import COLOUR, FLAGS, HALF, dimmed, lighten, mix, pack, pack_lanes
from simtown.render.shading import clear_air, hashed, shade
from simtown.render.sky import cover_sky, paint_sky
from simtown.scenes.camera import NEAR, object_to_camera, project

F = np.float32

#: Flags of a triangle that lies flat on the ground, which takes shadows and light: on grass, or on what
#: mirrors when it is wet.
GRASS, STREET, PAVED = 1, 2, 3


@inner_kernel
def draw_instances(
    view,
    light,
    atlas,
    tables,
    roles,
    meshes,
    poses,
    styles,
    ids,
    paints,
    first,
    wide,
    full,
    high,
    geometry,
    scratch,
):
    """Transform, cull, shade and fill every instance of one scene.

    Returns how many triangles lie flat on the ground, or -1 if there are too many triangles. Fills
    scratch.samples with the columns `first` to `first + wide - 1` of `full`. Triangle t (from 1) leaves its
    colour, instance, flags and, with `geometry`, its depth plane in scratch.
    """
    palette, kinds, tints = tables
    samples, spots, colours = scratch.samples, scratch.spots, scratch.colours
    facing, records = scratch.facing, scratch.records
    planes, flats, means, drawn = scratch.planes, scratch.flat, scratch.means, scratch.drawn
    triangles, normals, materials = atlas.triangles, atlas.normals, atlas.materials
    parts, body = atlas.parts, atlas.body
    columns, vertex_start, triangle_start = atlas.columns, atlas.vertex_start, atlas.triangle_start
    radii, girths = atlas.radius, atlas.girths
    focal = F(2.0) * view[12]
    cx, cy = F(2.0) * view[13], F(2.0) * view[14]
    near = F(NEAR)
    # slopes of the rays at the left and right edge
    lowest = (F(first) - cx) / focal
    highest = (F(first + wide) - cx) / focal
    lowest_norm, highest_norm = np.sqrt(F(1.0) + lowest * lowest), np.sqrt(F(1.0) + highest * highest)
    bare = light[SNOW] == 0
    thin = light[DENSITY]
    # what a face of this colour has whatever its normal, from above, and from the sun
    for m in range(palette.shape[0]):
        for j in range(3):
            for which in range(2):
                sun = (VEHICLE_SUN if which == 1 else SUN) + j
                scratch.plain[which, m, j] = palette[m, j] * light[sun + 6]
                scratch.plain[which, m, 3 + j] = palette[m, j] * (light[sun + 3] - light[sun + 6])
                scratch.plain[which, m, 6 + j] = palette[m, j] * light[sun]
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
        # the camera does not roll, so only a pitch brings height in
        girth = girths[mesh] * scale
        lean = abs(view[11]) * radius
        if matrix[3] - lowest * matrix[11] < -(girth * lowest_norm + abs(lowest) * lean):
            continue  # beside the picture
        if matrix[3] - highest * matrix[11] > girth * highest_norm + abs(highest) * lean:
            continue
        ground = k == 0
        vehicle = roles[mesh] & VEHICLE != 0
        sun = VEHICLE_SUN if vehicle else SUN
        plain = scratch.plain[1 if vehicle else 0]
        reaching = (abs(matrix[3]) + abs(matrix[7]) + radius) * focal * (SNAP / near) > F(REACH / 2)
        v0, v1 = vertex_start[mesh], vertex_start[mesh + 1]
        project(matrix, focal, cx, cy, columns, v0, v1, spots)
        for i in range(np.uint64(v1 - v0)):
            spots[0, i] = np.floor(spots[0, i] * SNAP + F(0.5))
            spots[1, i] = np.floor(spots[1, i] * SNAP + F(0.5))
        # the eye and the sun, seen from the object
        dx, dy, dz = view[0] - x, view[1] - y, view[2] - z
        ex, ey, ez = (c * dx + s * dy) / scale, (-s * dx + c * dy) / scale, dz / scale
        lx, ly, lz = c * light[0] + s * light[1], -s * light[0] + c * light[1], light[2]
        faces = 0
        # without a branch, that half the time would be guessed wrong
        for i in range(triangle_start[mesh], triangle_start[mesh + 1]):
            facing[faces] = i
            faces += normals[i, 0] * ex + normals[i, 1] * ey + normals[i, 2] * ez > normals[i, 3]
        for i in range(LANES):
            facing[faces + i] = triangle_start[mesh]
        before = count
        for face in range(faces):
            if count + 1 >= MOST_TRIANGLES:
                return -1
            lane = np.uint64(face % LANES)
            if lane == 0:
                numbers = convert(load(facing, np.uint64(face)), np.uint32)
                set_up(spots, triangles, numbers, v0, near, first, wide, full, high, records)
            todo = records[lane]
            if todo == EMPTY:
                continue
            t = np.uint64(facing[face])  # unsigned numbers need no test for counting from an array's end
            i0 = np.uint64(triangles[t, 0] - v0)
            i1 = np.uint64(triangles[t, 1] - v0)
            i2 = np.uint64(triangles[t, 2] - v0)
            tag = np.uint32(count + 1)
            d0, d1, d2 = spots[2, i0], spots[2, i1], spots[2, i2]
            if todo == BOX:
                seen = fill_box(samples, records, lane, tag)
            elif min(d0, d1, d2) < near or (reaching and _reaches(spots, i0, i1, i2)):
                if max(d0, d1, d2) <= near:
                    continue
                seen = _fill_clipped(
                    samples, first, wide, full, high, matrix, focal, cx, cy, atlas, t, tag, scratch.polygons
                )
            else:
                x0, y0, w0 = np.int64(spots[0, i0]), np.int64(spots[1, i0]), spots[3, i0]
                x1, y1, w1 = np.int64(spots[0, i1]), np.int64(spots[1, i1]), spots[3, i1]
                x2, y2, w2 = np.int64(spots[0, i2]), np.int64(spots[1, i2]), spots[3, i2]
                seen = fill_triangle(
                    samples, first, wide, full, high, x0, y0, w0, x1, y1, w1, x2, y2, w2, tag
                )
            if not seen:
                continue
            count += 1
            material = paints[k] if body[t] else materials[t]
            kind = kinds[material]
            nx, ny, nz = normals[t, 0], normals[t, 1], normals[t, 2]
            sunny = max(nx * lx + ny * ly + nz * lz, F(0.0))
            if kind == MATTE and bare:
                up = F(0.5) + F(0.5) * nz
                r = plain[material, 0] + plain[material, 3] * up + plain[material, 6] * sunny
                g = plain[material, 1] + plain[material, 4] * up + plain[material, 7] * sunny
                b = plain[material, 2] + plain[material, 5] * up + plain[material, 8] * sunny
            else:
                glance = F(0.0)
                if kind in (GLASS, WINDOW):  # the ray from the eye to the face's middle, mirrored
                    j0, j1, j2 = v0 + i0, v0 + i1, v0 + i2
                    qx = (columns[0, j0] + columns[0, j1] + columns[0, j2]) * F(1.0 / 3.0) - ex
                    qy = (columns[1, j0] + columns[1, j1] + columns[1, j2]) * F(1.0 / 3.0) - ey
                    qz = (columns[2, j0] + columns[2, j1] + columns[2, j2]) * F(1.0 / 3.0) - ez
                    away = qx * nx + qy * ny + qz * nz
                    glance = (qz - F(2.0) * away * nz) / np.sqrt(qx * qx + qy * qy + qz * qz)
                # hills stand upright, and snow lies on them all the same
                lying = max(nz, F(0.55)) if ground else nz
                r, g, b = shade(
                    light, sun, palette, kinds, tints, material, styles[k], parts[t], lying, sunny, glance
                )
            colours[count, 0], colours[count, 1], colours[count, 2] = r, g, b
            colours[count, 3] = thin * (F(0.25) if kind == CLOUD else F(1.0))
            means[count], drawn[count] = (d0 + d1 + d2) * F(1.0 / 3.0), t
            if ground and (kind in (GROUND, ROAD) or nz > F(0.5)):
                green = palette[material, 1] > F(1.1) * palette[material, 0]
                near_by = min(d0, d1, d2) < near
                flats[grounds, 0] = count
                flats[grounds, 1] = (
                    0 if near_by else int(min(spots[1, i0], spots[1, i1], spots[1, i2]) / SNAP)
                )
                flats[grounds, 2] = (
                    high if near_by else int(max(spots[1, i0], spots[1, i1], spots[1, i2]) / SNAP) + 1
                )
                flats[grounds, 3] = STREET if kind == ROAD else (GRASS if green else PAVED)
                grounds += 1
        _finish_faces(before, count, ids[k], matrix, ex, ey, ez, scale, light, normals, geometry, scratch)
    for sky in range(MOST_TRIANGLES, count + LANES):  # the last vector may have reached into the sky
        scratch.owners[sky] = 0
        planes[sky, 0], planes[sky, 1], planes[sky, 2], planes[sky, 3] = F(0.0), F(0.0), F(1.0), F(np.inf)
    return grounds


@part_of_kernel
def _finish_faces(before, count, number, matrix, ex, ey, ez, scale, light, normals, geometry, scratch):
    """Put triangles before + 1 to count, of one instance, behind the air and pack their colours.

    With `geometry` it also writes their depth planes.
    """
    colours, packed, planes, owners = scratch.colours, scratch.packed, scratch.planes, scratch.owners
    means, drawn = scratch.means, scratch.drawn
    fog_r, fog_g, fog_b, thick = light[FOG], light[FOG + 1], light[FOG + 2], light[THICK]
    for tags in range(np.uint64(before + 1), np.uint64(count + 1), np.uint64(LANES)):
        r, g, b, density = pick_rows(colours, ramp(np.uint32(tags), np.uint32(1)))
        air = clear_air(density, thick, load(means, tags))
        store(
            packed,
            tags,
            pack_lanes(fog_r + (r - fog_r) * air, fog_g + (g - fog_g) * air, fog_b + (b - fog_b) * air),
        )
        store(owners, tags, spread(number))
        if not geometry:
            continue
        # depth along a ray: the plane's distance over the ray's slope against its normal, all in the camera's
        # frame
        nx, ny, nz, offset = pick_rows(normals, convert(load(drawn, tags), np.uint32))
        a = matrix[0] * nx + matrix[1] * ny + matrix[2] * nz
        e = matrix[4] * nx + matrix[5] * ny + matrix[6] * nz
        f = matrix[8] * nx + matrix[9] * ny + matrix[10] * nz
        store_rows(planes, tags, a, e, f, (offset - (nx * ex + ny * ey + nz * ez)) * scale * scale)


@inner_kernel
def _reaches(spots, i0, i1, i2):
    """Whether a corner lies farther out than whole numbers reach."""
    across = max(abs(spots[0, i0]), abs(spots[0, i1]), abs(spots[0, i2]))
    return max(across, abs(spots[1, i0]), abs(spots[1, i1]), abs(spots[1, i2])) > F(REACH)


@inner_kernel
def _inside(p, side, focal):
    """How far a point of the camera's frame lies inside a bound.

    The bounds are the near plane (0), and REACH to the left, right, below and above.
    """
    if side == 0:
        return p[2] - F(NEAR)
    across = p[0] if side <= 2 else p[1]
    return p[2] * F(REACH / 512) + (focal * across if side % 2 == 1 else -focal * across)


@inner_kernel
def _fill_clipped(samples, first, wide, full, high, matrix, focal, cx, cy, atlas, t, tag, polygons):
    """Fill a triangle that crosses the near plane or reaches far out, of which a convex polygon is left.

    An edge is cut from its inner corner on, so that two triangles cut their common edge alike.
    """
    spot, cut = polygons
    for i in range(3):
        k = atlas.triangles[t, i]
        x, y, z = atlas.columns[0, k], atlas.columns[1, k], atlas.columns[2, k]
        for j in range(3):
            spot[i, j] = matrix[4 * j] * x + matrix[4 * j + 1] * y + matrix[4 * j + 2] * z + matrix[4 * j + 3]
    n = 3
    for side in range(5):
        kept = 0
        for i in range(n):
            p, q = spot[i], spot[(i + 1) % n]
            a, b = _inside(p, side, focal), _inside(q, side, focal)
            if a >= 0:
                for j in range(3):
                    cut[kept, j] = p[j]
                kept += 1
            if (a >= 0) != (b >= 0):
                if a < 0:
                    p, q, a, b = q, p, b, a
                s = a / (a - b)
                for j in range(3):
                    cut[kept, j] = p[j] + s * (q[j] - p[j])
                if side == 0:
                    cut[kept, 2] = F(NEAR)
                kept += 1
        spot, cut, n = cut, spot, kept
    for i in range(n):
        w = F(1.0) / spot[i, 2]
        spot[i, 0] = np.floor((cx + focal * spot[i, 0] * w) * SNAP + F(0.5))
        spot[i, 1] = np.floor((cy - focal * spot[i, 1] * w) * SNAP + F(0.5))
        spot[i, 2] = w
    seen = False
    for i in range(1, n - 1):
        x0, y0, w0 = np.int64(spot[0, 0]), np.int64(spot[0, 1]), spot[0, 2]
        x1, y1, w1 = np.int64(spot[i, 0]), np.int64(spot[i, 1]), spot[i, 2]
        x2, y2, w2 = np.int64(spot[i + 1, 0]), np.int64(spot[i + 1, 1]), spot[i + 1, 2]
        if fill_triangle(samples, first, wide, full, high, x0, y0, w0, x1, y1, w1, x2, y2, w2, tag):
            seen = True
    return seen


@inner_kernel
def resolve_colour(
    view, light, seed, width, height, first, left, grounds, counts, scratch, dark, out, nearness
):
    """Make pixels of samples: each sample row becomes a line of packed colours, the tent filter joins three.

    Writes `width` pixels of each row of `out` from column `left` on, and how near they are to `nearness` (the
    upper half of a sample). Even and odd samples of a row lie in lines of their own: so a place of a line is
    a pair of samples, which share what falls on the ground, and the middle of three samples is the odd one.
    """
    samples, packed, flat = scratch.samples, scratch.packed, scratch.flat
    colours, evens, odds = scratch.colours, scratch.evens, scratch.odds
    wet, lit = light[WET] > F(0.2), counts[2] > 0
    layered = light[LAMPS] > 0 or light[AMOUNT] > 0 or light[STARS] > 0
    fog_r, fog_g, fog_b = light[FOG], light[FOG + 1], light[FOG + 2]
    wide = 2 * width + 1
    any_sample = False
    scratch.bottoms[:] = -1
    starts, following, active, reached = scratch.starts, scratch.following, scratch.active, 0
    starts[:] = -1
    # a list for every row of the ground that begins there, so that no row looks through all of it
    for i in range(grounds):
        top = max(flat[i, 1], 0)
        if top < len(starts):
            following[i], starts[top] = starts[top], i
    for y in range(2 * height + 1):
        paint_sky(view, light, y, packed)
        spot = ground_line(view, y)
        depth = spot[0]
        air = clear_air(light[DENSITY], light[THICK], depth) if depth > 0 else F(0.0)
        i = starts[y]
        while i >= 0:
            active[reached] = i
            reached, i = reached + 1, following[i]
        j = 0
        while j < reached:  # ground is at one depth all along a row, so its fog is a row's
            if flat[active[j], 2] <= y:
                reached -= 1
                active[j] = active[reached]
                continue
            k = flat[active[j], 0]
            packed[k] = pack(
                fog_r + (colours[k, 0] - fog_r) * air,
                fog_g + (colours[k, 1] - fog_g) * air,
                fog_b + (colours[k, 2] - fog_b) * air,
            ) | (np.uint64(flat[active[j], 3]) << FLAGS)
            j += 1
        row = samples[y]
        for x in range(np.uint32(width + 1)):
            at = np.uint32(2) * np.uint32(x)
            evens[x], odds[x] = packed[row[at] & TAG], packed[row[np.uint32(at + np.uint32(1))] & TAG]
        if depth > 0:
            if y % 2 == 0 or not any_sample:
                darkness(light, y, first, wide, spot, air, counts, dark)
                if lit:
                    pour_light(y, first, wide, spot, air, counts[2], dark)
                if wet:
                    look_down(view, light, y, depth, width + 1, air, scratch)
            finish_ground(width + 1, wet, lit, scratch, dark)
            any_sample = True
        filter_row(y, width, left, scratch, out)
        if layered and y >= 2 and y % 2 == 0:
            near, middles = nearness[y // 2 - 1, left : left + width], samples[y - 1]
            for x in range(np.uint32(width)):
                near[x] = np.uint16(middles[np.uint32(2) * np.uint32(x) + np.uint32(1)] >> np.uint32(16))


@part_of_kernel
def filter_row(y, width, left, scratch, out):
    """Take row y of samples into scratch.sums, and write the row of pixels that it ends, if it does.

    A sum holds what is known of three rows: the first one, and twice the second.
    """
    evens, odds, sums, rest = scratch.evens, scratch.odds, scratch.sums, scratch.rest
    byte = np.uint64(255)
    for x in range(np.uint64(0), np.uint64(width), np.uint64(LANES)):
        line = load(evens, x) + (load(odds, x) << np.uint64(1)) + load(evens, x + np.uint64(1))
        before = load(sums, x)
        if y % 2 == 1:
            store(sums, x, before + (line << np.uint64(1)))
            continue
        store(sums, x, line)
        if y == 0:
            continue
        total = before + line + HALF
        low, middle, high = total >> np.uint64(8), total >> np.uint64(21), total >> np.uint64(34)
        colour = convert(
            (low & byte) | (middle & (byte << np.uint64(8))) | (high & (byte << np.uint64(16))), np.uint32
        )
        if x + np.uint64(LANES) <= np.uint64(width):
            store_bytes(
                out,
                np.uint64(3) * (np.uint64(y // 2 - 1) * np.uint64(out.shape[1]) + np.uint64(left) + x),
                colour,
            )
        else:
            store_bytes(rest, np.uint64(0), colour)
            for i in range(np.uint64(width) - x):
                for j in range(3):
                    out[y // 2 - 1, np.uint64(left) + x + i, j] = rest[np.uint64(3) * i + np.uint64(j)]


@part_of_kernel
def finish_ground(pairs, wet, lit, scratch, dark):
    """Darken, mirror and light what of a row of packed colours lies on the ground."""
    nothing = np.uint64(0)
    for block in range(np.uint64((pairs + LANES - 1) >> BITS)):
        darkened, mirrors = dark.dark_blocks[block] > 0, wet and scratch.wet_blocks[block] > 0
        lighted = lit and dark.light_blocks[block] > 0
        if not (darkened or mirrors or lighted):
            continue
        at = block << np.uint64(BITS)
        for line in (scratch.evens, scratch.odds):
            colour = load(line, at)
            flag = colour >> FLAGS
            colour = colour & COLOUR
            if darkened:
                level = convert(load(dark.levels, at), np.uint64)
                colour = dimmed(colour, choose(flag > nothing, level, spread(np.uint64(256))))
            if mirrors:
                share = convert(load(scratch.shares, at), np.uint64)
                colour = mix(
                    colour,
                    load(scratch.mirrored, at),
                    choose(flag > np.uint64(GRASS), share, spread(nothing)),
                )
            if lighted:
                colour = lighten(colour, choose(flag > nothing, load(dark.glow, at), spread(nothing)))
            store(line, at, colour)


@part_of_kernel
def look_down(view, light, y, depth, pairs, air, scratch):
    """Write the reflections in the wet ground of row y to scratch, with their shares of pairs of samples.

    What stands upright on the ground is mirrored column by column about its lower end. scratch's `bottoms`
    hold for every pair the lowest row above this one that shows no ground. Two rows share a reflection.
    """
    samples, packed, evens, bottoms = scratch.samples, scratch.packed, scratch.evens, scratch.bottoms
    stride, nothing = np.uint32(samples.shape[1]), np.uint64(0)
    reach = F(7.0) * view[12] / depth  # rows of samples that three and a half metres take
    road, paved = light[WET] * air * F(148.0), light[WET] * air * F(60.0)
    ripple = F(hashed(np.uint32(int(depth * F(23.0)))) >> np.uint32(8)) / F(16777216.0) - F(0.5)
    stretch, inverse = F(1.0) + F(0.22) * ripple, F(1.0) / reach
    for block in range(np.uint64((pairs + LANES - 1) >> BITS)):
        at = block << np.uint64(BITS)
        flag, bottom = load(evens, at) >> FLAGS, load(bottoms, at)
        below = convert(np.int32(y) - bottom, np.float32)
        share = F(1.0) - below * inverse
        seen = (flag > nothing) & (bottom >= np.int32(0)) & (share > F(0.0))
        store(bottoms, at, choose(flag == nothing, spread(np.int32(y)), bottom))
        scratch.wet_blocks[block] = any_of(seen)
        if not any_of(seen):
            continue
        below = below * stretch
        upper = max(bottom - convert(below * F(0.8), np.int32), np.int32(0))
        lower = max(bottom - convert(below * F(1.2), np.int32), np.int32(0))
        column = ramp(np.uint32(np.uint64(2) * at), np.uint32(2))
        sample_colour = pick(packed, pick(samples, convert(upper, np.uint32) * stride + column) & TAG)
        other = pick(packed, pick(samples, convert(lower, np.uint32) * stride + column) & TAG)
        store(scratch.mirrored, at, mix(sample_colour, other, np.uint64(128)))
        most = choose(flag == np.uint64(STREET), spread(road), spread(paved))
        store(scratch.shares, at, choose(seen, convert(most * share, np.int32), spread(np.int32(0))))


@inner_kernel
def resolve_geometry(view, width, height, left, scratch, depth_out, ids_out):
    """Depth (metres, inf for the sky) and instance id of the sample in the middle of every pixel."""
    samples, owners, planes = scratch.samples, scratch.owners, scratch.planes
    inverse_focal = F(1.0) / view[12]
    for y in range(height):
        ray_y = (view[14] - F(y) - F(0.5)) * inverse_focal
        middles = np.uint64(2 * y + 1) * np.uint64(samples.shape[1])
        begin = np.uint64(y) * np.uint64(depth_out.shape[1]) + np.uint64(left)
        for x in range(np.uint64(0), np.uint64(width), np.uint64(LANES)):
            tag = load_odd(samples, middles + np.uint64(2) * x) & TAG
            ray_x = (
                convert(ramp(np.int32(np.int64(x) + left), np.int32(1)), np.float32) + F(0.5) - view[13]
            ) * inverse_focal
            a, b, c, distance = pick_rows(planes, tag)
            depth, number = distance / (a * ray_x + b * ray_y + c), pick(owners, tag)
            if x + np.uint64(LANES) <= np.uint64(width):
                store(depth_out, begin + x, depth)
                store(ids_out, begin + x, number)
            else:
                store_first(depth_out, begin + x, depth, np.uint64(width) - x)
                store_first(ids_out, begin + x, number, np.uint64(width) - x)


@inner_kernel
def draw_scenes(first, last, strip, views, lights, atlas, tables, roles, meshes, poses, styles, ids, paints,
                fall_seeds, scratch, dark, nearness, rgb, depth, ids_out):  # fmt: skip
    """Draw scenes first to last - 1 of a batch, `strip` columns at a time.

    Returns the number of a scene that has too many triangles, or -1.
    """
    height, width = rgb.shape[1], rgb.shape[2]
    full, high = 2 * width + 1, 2 * height + 1
    for n in range(first, last):
        view, light, seed = views[n], lights[n], fall_seeds[n]
        for left in range(0, width, strip):
            columns = min(strip, width - left)
            start, wide = 2 * left, 2 * columns + 1
            if light[COVER] > 0:
                cover_sky(view, light, seed, start, wide, high, scratch.samples, scratch.cover)
            else:
                scratch.samples[:] = 0
            grounds = draw_instances(view, light, atlas, tables, roles, meshes[n], poses[n], styles[n], ids,
                                     paints[n], start, wide, full, high, len(depth) > 0,
                                     scratch)  # fmt: skip
            if grounds < 0:
                return n
            shadows = collect_shadows(view, light, atlas, roles, meshes[n], poses[n], start, wide, high, dark)
            contacts = collect_contacts(view, atlas, roles, meshes[n], poses[n], start, wide, high, dark)
            pools = 0
            if light[LAMPS] > 0:
                pools = collect_pools(
                    view, light, atlas, tables, meshes[n], poses[n], start, wide, high, dark
                )
            counts = (shadows, contacts, pools)
            resolve_colour(
                view,
                light,
                seed,
                columns,
                height,
                start,
                left,
                grounds,
                counts,
                scratch,
                dark,
                rgb[n],
                nearness,
            )
            if len(depth) > 0:
                resolve_geometry(view, columns, height, left, scratch, depth[n], ids_out[n])
        if light[STARS] > 0:
            light_stars(view, light, seed, width, height, nearness, rgb[n])
        if light[LAMPS] > 0:
            glow_lamps(view, light, atlas, tables, meshes[n], poses[n], width, height, nearness, rgb[n])
        if light[AMOUNT] > 0:
            let_fall(view, light, seed, width, height, nearness, rgb[n])
    return -1
