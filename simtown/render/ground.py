"""Shadows, the dark under things and the light of lamps on the ground, sample row by sample row.

Ground lies at one depth all along a row, so places on it are linear in the row's samples. Every shape is a
smooth function of its place: no edge is drawn twice, and no size of picture shows steps. Two rows of samples
share what is computed for the upper one.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import GLOW, HEADLAMP
from simtown.core.exact import inner_kernel, part_of_kernel
from simtown.render.fill import hull
from simtown.render.lanes import LANES, choose, convert, largest, load, ramp, smallest, spread, store
from simtown.render.light import CONTACT, LAMPS, SHADOW, WET
from simtown.render.packing import dimmed, glow_of
from simtown.scenes.camera import NEAR

F = np.float32

#: What a mesh does to the ground (bits): it casts a shadow, it stands on the ground; and whether it is a
#: vehicle.
CASTS, STANDS, VEHICLE = 1, 2, 4
#: Shadows in the sun fainter than this are not seen beside the dark under things.
FAINT = F(0.06)
#: Corners of shadows lie on a grid of so many lines a metre.
GRID = F(256.0)
#: Half the width of a shadow's edge, metres: at the ground, and more for every metre of the thing above it.
EDGE, SOFTER = F(0.035), F(0.085)
#: How far the dark under a thing reaches beyond it, metres, and how dark it is there for vehicles and for
#: other things.
SPREAD, UNDER_VEHICLE, UNDER_PROP = F(0.34), F(1.0), F(0.7)
#: A head lamp's cone: its length, and its half width at the lamp and how much it grows for every metre.
CONE, APEX, OPENING = F(6.5), F(0.22), F(0.24)
#: Lamps less bright than this throw no light that is seen.
BRIGHT = F(0.3)
#: Radius of the light under a lantern, its least height, and radius of the light round a low beacon, metres.
POOL, LANTERN, BEACON = F(3.3), F(3.4), F(2.2)
#: Half length and half width of a lamp's reflection in a wet road, metres.
STREAK_LENGTH, STREAK_WIDTH = F(1.5), F(0.16)
#: Pairs of samples are taken, and noted as touched, in blocks of two to this power: LANES.
BITS = 3
WARM = (F(1.0), F(0.80), F(0.46))
WHITE = (F(1.0), F(0.93), F(0.74))


@part_of_kernel
def ground_line(view, y):
    """The ground that row y of samples shows.

    Returns:
        Its depth (0: no ground), x and y of the point at sample 0, and their steps a sample.
    """
    slope = (view[14] - F(0.5) * F(y)) / view[12]
    down = -(view[11] + slope * view[8])
    if down <= F(1e-3) or view[2] <= 0:
        return F(0.0), F(0.0), F(0.0), F(0.0), F(0.0)
    depth = view[2] / down
    side = -view[13] / view[12] * depth
    step = F(0.5) / view[12] * depth
    x = view[0] + depth * (view[9] + slope * view[6]) + side * view[3]
    y_ = view[1] + depth * (view[10] + slope * view[7]) + side * view[4]
    return depth, x, y_, step * view[3], step * view[4]


@inner_kernel
def ground_rows(view, height, near, far):
    """First and last + 1 row of samples in which ground of depths `near` to `far` may lie."""
    if far <= F(NEAR) or view[2] <= 0:
        return 0, 0
    if view[8] < F(0.05):
        return 0, height
    top = view[14] + view[12] * (view[2] / far + view[11]) / view[8]
    bottom = F(height)
    if near > F(0.5):
        bottom = min(view[14] + view[12] * (view[2] / near + view[11]) / view[8], F(height))
    return max(int(F(2.0) * max(top, F(0.0))) - 1, 0), min(int(F(2.0) * max(bottom, F(0.0))) + 2, height)


@inner_kernel
def depth_of(view, x, y):
    """Depth of the ground point (x, y)."""
    return view[9] * (x - view[0]) + view[10] * (y - view[1]) - view[11] * view[2]


@inner_kernel
def depth_reach(view, c, s, along, across):
    """How much deeper than its middle a rectangle of these half sizes reaches; its length is along (c, s)."""
    return abs(view[9] * c + view[10] * s) * along + abs(view[10] * c - view[9] * s) * across


@inner_kernel
def out_of_view(view, first, wide, x, y, reach):
    """Whether ground within `reach` of (x, y) is beside `first` to first + wide, or behind the camera."""
    far = depth_of(view, x, y) + reach
    if far <= F(NEAR):
        return True
    right = view[3] * (x - view[0]) + view[4] * (y - view[1])
    left_edge, right_edge = F(0.5) * F(first) - view[13], F(0.5) * F(first + wide) - view[13]
    low, high = (right - reach) * view[12], (right + reach) * view[12]
    return (low > right_edge * far and right_edge >= 0) or (high < left_edge * far and left_edge <= 0)


@inner_kernel
def collect_shadows(view, light, atlas, roles, meshes, poses, first, wide, height, dark):
    """Write the shadows of a scene; returns how many there are.

    A shadow is a convex polygon of edges, whose function is 0 outside of the soft edge and 1 within.
    """
    rows, edges, hulls = dark.shadow_rows, dark.edges, atlas.hull
    hull_start, radii = atlas.hull_start, atlas.radius
    gx, gy, soft = dark.corners[0], dark.corners[1], dark.corners[2]
    grid_x, grid_y, order, corners = dark.grid[0], dark.grid[1], dark.order, dark.outline
    slope_x, slope_y = light[0] / light[2], light[1] / light[2]
    stretch = F(1.0) + abs(slope_x) + abs(slope_y)
    count, used = 0, 0
    if light[SHADOW] < FAINT:
        return 0
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0 or roles[mesh] & CASTS == 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        if out_of_view(view, first, wide, x, y, (radii[mesh] * scale + abs(z)) * stretch):
            continue
        start = hull_start[mesh]
        n = hull_start[mesh + 1] - start
        near, far = F(1e9), F(-1e9)
        for i in range(n):
            p0, p1, p2 = hulls[start + i, 0], hulls[start + i, 1], hulls[start + i, 2]
            above = max(z + scale * p2, F(0.0))
            to_x = x + scale * (c * p0 - s * p1) - slope_x * above
            to_y = y + scale * (s * p0 + c * p1) - slope_y * above
            grid_x[i], grid_y[i] = int(np.floor(to_x * GRID + F(0.5))), int(np.floor(to_y * GRID + F(0.5)))
            gx[i], gy[i] = F(grid_x[i]) / GRID, F(grid_y[i]) / GRID
            soft[i] = EDGE + SOFTER * above
            order[i] = i
            depth = depth_of(view, gx[i], gy[i])
            near, far = min(near, depth - F(1.5) * soft[i]), max(far, depth + F(1.5) * soft[i])
        top, bottom = ground_rows(view, height, near, far)
        if top >= bottom:
            continue
        # in whole numbers: rounding would fold corners that lie in a line
        size = hull(grid_x, grid_y, order, n, corners)
        if size < 3:
            continue
        begin = used
        for i in range(size):  # corners run counter-clockwise
            p, q = corners[i], corners[(i + 1) % size]
            dx, dy = gx[q] - gx[p], gy[q] - gy[p]
            length = np.sqrt(dx * dx + dy * dy)
            if length < F(0.02):
                continue
            nx, ny = -dy / length, dx / length
            tilt = (soft[q] - soft[p]) / length  # the outer rim leaves the edge where the thing is higher
            mx, my = nx + tilt * dx / length, ny + tilt * dy / length
            scale_by = F(0.5) / ((soft[p] + soft[q]) * F(0.5) * np.sqrt(F(1.0) + tilt * tilt))
            mx, my = mx * scale_by, my * scale_by
            edges[0, used], edges[1, used] = mx, my
            edges[2, used] = -(mx * (gx[p] - nx * soft[p]) + my * (gy[p] - ny * soft[p]))
            used += 1
        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = top, bottom, begin, used - begin
        count += 1
    return count


@inner_kernel
def collect_contacts(view, atlas, roles, meshes, poses, first, wide, height, dark):
    """Write the soft dark rectangles under what stands on the ground; returns how many there are.

    A rectangle has a middle, a heading, half sizes and a strength.
    """
    rows, rects, bases = dark.contact_rows, dark.rects, atlas.bases
    count = 0
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0 or roles[mesh] & STANDS == 0 or poses[k, 2] > F(0.5):
            continue
        x, y, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 3], poses[k, 4], poses[k, 5]
        mx, my, half_u = bases[mesh, 0], bases[mesh, 1], bases[mesh, 2] * scale
        half_v = bases[mesh, 3] * scale
        x, y = x + scale * (c * mx - s * my), y + scale * (s * mx + c * my)
        if out_of_view(view, first, wide, x, y, half_u + half_v + SPREAD):
            continue
        depth, reach = depth_of(view, x, y), depth_reach(view, c, s, half_u + SPREAD, half_v + SPREAD)
        top, bottom = ground_rows(view, height, depth - reach, depth + reach)
        if top >= bottom:
            continue
        rows[count, 0], rows[count, 1] = top, bottom
        rects[count, 0], rects[count, 1], rects[count, 2], rects[count, 3] = x, y, c, s
        rects[count, 4], rects[count, 5] = half_u, half_v
        rects[count, 6] = UNDER_VEHICLE if roles[mesh] & VEHICLE != 0 else UNDER_PROP
        count += 1
    return count


@inner_kernel
def add_pool(view, first, wide, height, dark, count, cone, x, y, c, s, along, across, red, green, blue):
    """Write one pool of light, unless it lies out of view; returns how many there are then."""
    if out_of_view(view, first, wide, x, y, along + across):
        return count
    depth, reach = depth_of(view, x, y), depth_reach(view, c, s, along, across)
    top, bottom = ground_rows(view, height, depth - reach, depth + reach)
    if top >= bottom:
        return count
    pool = dark.pools[count]
    dark.pool_rows[count, 0], dark.pool_rows[count, 1], dark.pool_rows[count, 2] = top, bottom, cone
    pool[0], pool[1], pool[2], pool[3], pool[4], pool[5] = x, y, c, s, along, across
    pool[6], pool[7], pool[8] = red, green, blue
    return count + 1


@inner_kernel
def collect_pools(view, light, atlas, tables, meshes, poses, first, wide, height, dark):
    """Write the light of lamps on the ground; returns how many lights there are.

    They are cones before headlamps, and pools under lanterns and beacons.
    """
    palette, kinds = tables[0], tables[1]
    wet, count = light[WET], 0
    power = (light[LAMPS] - BRIGHT) / (F(1.0) - BRIGHT)
    if power <= 0:
        return 0
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        for i in range(atlas.lamp_start[mesh], atlas.lamp_start[mesh + 1]):
            lamp = atlas.lamps[i]
            m = int(lamp[3])
            px = x + scale * (c * lamp[0] - s * lamp[1])
            py = y + scale * (s * lamp[0] + c * lamp[1])
            high = z + scale * lamp[2]
            red, green, blue = palette[m, 0], palette[m, 1], palette[m, 2]
            if kinds[m] == HEADLAMP:
                f, wr, wg, wb = F(0.85) * power, WHITE[0], WHITE[1], WHITE[2]
                count = add_pool(
                    view,
                    first,
                    wide,
                    height,
                    dark,
                    count,
                    1,
                    px,
                    py,
                    c,
                    s,
                    CONE,
                    APEX + OPENING * CONE,
                    f * wr,
                    f * wg,
                    f * wb,
                )
            elif kinds[m] == GLOW and high > LANTERN:
                f, wr, wg, wb = power, WARM[0], WARM[1], WARM[2]
                count = add_pool(
                    view,
                    first,
                    wide,
                    height,
                    dark,
                    count,
                    0,
                    px,
                    py,
                    c,
                    s,
                    POOL,
                    POOL,
                    f * wr,
                    f * wg,
                    f * wb,
                )
            elif kinds[m] == GLOW and high < F(6.0) and not (red > F(0.9) and green > F(0.8)):
                f = F(0.5) * power
                count = add_pool(
                    view,
                    first,
                    wide,
                    height,
                    dark,
                    count,
                    0,
                    px,
                    py,
                    c,
                    s,
                    BEACON,
                    BEACON,
                    f * red,
                    f * green,
                    f * blue,
                )
            # where a mirror on the ground would show it, drawn out towards the eye
            if wet > F(0.1) and high > F(0.1):
                dx, dy = view[0] - px, view[1] - py
                distance = np.sqrt(dx * dx + dy * dy)
                if distance > F(1.0) and view[2] > 0:
                    share = high / (high + view[2])
                    f = F(1.5) * wet * power
                    px, py, dx, dy = px + share * dx, py + share * dy, dx / distance, dy / distance
                    count = add_pool(view, first, wide, height, dark, count, 0, px, py, dx, dy,
                                     STREAK_LENGTH, STREAK_WIDTH, f * red, f * green, f * blue)  # fmt: skip
    return count


@inner_kernel
def span(first, wide, base, slope, limit, low, high):
    """The part of the samples low to high (floats) in which |base + slope * x| may be below `limit`."""
    if abs(slope) * F(wide) < F(1e-6) * limit:
        middle = base + slope * F(first)
        return (low, high) if abs(middle) <= limit * F(1.01) else (high, low)
    a, b = (-limit - base) / slope, (limit - base) / slope
    return max(low, min(a, b)), min(high, max(a, b))


@inner_kernel
def samples_in(first, wide, low, high):
    """Whole samples, counted from `first`, about the span low to high."""
    return max(int(max(low, F(first))) - 1 - first, 0), min(int(min(high, F(first + wide))) + 2 - first, wide)


@inner_kernel
def smooth(t):
    """From 0 to 1 as t does, without a corner at either end."""
    return t * t * (F(3.0) - F(2.0) * t)


@inner_kernel
def block_of(block, left, right, first):
    """The LANES places of a block from the picture's left edge on, and which lie in left to right - 1."""
    x = ramp(np.int32(block << BITS), np.int32(1))
    return convert(x, np.float32) + F(first), (x >= np.int32(left)) & (x < np.int32(right))


@part_of_kernel
def throw_shadows(y, first, wide, gx, gy, dx, dy, count, dark):
    """Raise dark.shade (0 to 1) along row y."""
    rows, shade, blocks = dark.shadow_rows, dark.shade, dark.dark_blocks
    edge_x, edge_y, edge_c = dark.edges[0], dark.edges[1], dark.edges[2]
    bases, slopes = dark.slopes[0], dark.slopes[1]
    for k in range(count):
        if y < rows[k, 0] or y >= rows[k, 1]:
            continue
        low, high = F(first), F(first + wide)
        e0, n = np.uint64(rows[k, 2]), np.uint64(rows[k, 3])
        for i in range(np.uint64(0), n, np.uint64(LANES)):
            a = load(edge_x, e0 + i)
            b = load(edge_y, e0 + i)
            own = ramp(np.int32(i), np.int32(1)) < np.int32(n)
            base, slope = a * gx + b * gy + load(edge_c, e0 + i), a * dx + b * dy
            crossing = (F(0.0) - base) / slope
            low = max(low, largest(choose(own & (slope > F(1e-7)), crossing, spread(low))))
            high = min(high, smallest(choose(own & (slope < F(-1e-7)), crossing, spread(high))))
            store(bases, i, base)
            store(slopes, i, slope)
        left, right = samples_in(first, wide, low, high)
        if left >= right or high < low - F(2.0):
            continue
        crossed = np.uint64(0)
        for i in range(n):  # the others lie wholly on the edge's inner side
            bases[crossed], slopes[crossed] = bases[i], slopes[i]
            within = min(
                bases[i] + slopes[i] * F(left + first), bases[i] + slopes[i] * F(right - 1 + first)
            ) >= F(1.0)
            crossed += np.uint64(0 if within else 1)
        for block in range(np.uint64(left >> BITS), np.uint64(((right - 1) >> BITS) + 1)):
            at, inside = block_of(block, left, right, first)
            part = spread(F(1.0))
            for i in range(crossed):
                part = part * smooth(min(max(bases[i] + slopes[i] * at, F(0.0)), F(1.0)))
            store(
                shade,
                block << np.uint64(BITS),
                max(load(shade, block << np.uint64(BITS)), choose(inside, part, spread(F(0.0)))),
            )
            blocks[block] = 1


@part_of_kernel
def darken_contacts(y, first, wide, gx, gy, dx, dy, strength, count, dark):
    """Lower dark.keep (1 to 0) along row y."""
    rows, rects, keep = dark.contact_rows, dark.rects, dark.keep
    for k in range(count):
        if y < rows[k, 0] or y >= rows[k, 1]:
            continue
        c, s, half_u, half_v = rects[k, 2], rects[k, 3], rects[k, 4], rects[k, 5]
        ax, ay = gx - rects[k, 0], gy - rects[k, 1]
        u0, du, v0, dv = c * ax + s * ay, c * dx + s * dy, c * ay - s * ax, c * dy - s * dx
        low, high = span(first, wide, u0, du, half_u + SPREAD, F(first), F(first + wide))
        low, high = span(first, wide, v0, dv, half_v + SPREAD, low, high)
        left, right = samples_in(first, wide, low, high)
        if left >= right or high < low - F(2.0):
            continue
        most = strength * rects[k, 6]
        for block in range(np.uint64(left >> BITS), np.uint64(((right - 1) >> BITS) + 1)):
            at, inside = block_of(block, left, right, first)
            u, v = u0 + du * at, v0 + dv * at
            u = min(max((half_u + SPREAD - max(u, F(0.0) - u)) * (F(0.5) / SPREAD), F(0.0)), F(1.0))
            v = min(max((half_v + SPREAD - max(v, F(0.0) - v)) * (F(0.5) / SPREAD), F(0.0)), F(1.0))
            less = F(1.0) - most * smooth(u) * smooth(v)
            store(
                keep,
                block << np.uint64(BITS),
                load(keep, block << np.uint64(BITS)) * choose(inside, less, spread(F(1.0))),
            )
            dark.dark_blocks[block] = 1


@inner_kernel
def in_pairs(first, wide, spot):
    """Row `spot` of samples as half as many places, each between two samples.

    Returns:
        The first place, how many there are, and the ground there with its steps.
    """
    _, gx, gy, dx, dy = spot
    return first >> 1, (wide + 1) >> 1, gx + F(0.5) * dx, gy + F(0.5) * dy, F(2.0) * dx, F(2.0) * dy


@part_of_kernel
def pour_light(y, first, wide, spot, air, count, dark):
    """Write the light of lamps on row y to dark.glow (packed), in the blocks of dark.light_blocks."""
    first, wide, gx, gy, dx, dy = in_pairs(first, wide, spot)
    rows, pools, glow, level = dark.pool_rows, dark.pools, dark.glow, air * F(256.0)
    blocks = dark.light_blocks
    blocks[:] = 0
    for k in range(count):
        if y < rows[k, 0] or y >= rows[k, 1]:
            continue
        c, s, along, across = pools[k, 2], pools[k, 3], pools[k, 4], pools[k, 5]
        ax, ay = gx - pools[k, 0], gy - pools[k, 1]
        u0, du, v0, dv = c * ax + s * ay, c * dx + s * dy, c * ay - s * ax, c * dy - s * dx
        low, high = span(first, wide, u0, du, along, F(first), F(first + wide))
        low, high = span(first, wide, v0, dv, across, low, high)
        left, right = samples_in(first, wide, low, high)
        if left >= right or high < low - F(2.0):
            continue
        colour = glow_of(pools[k, 6], pools[k, 7], pools[k, 8])
        inverse_u, inverse_v = F(1.0) / along, F(1.0) / across
        for block in range(np.uint64(left >> BITS), np.uint64(((right - 1) >> BITS) + 1)):
            at, inside = block_of(block, left, right, first)
            u, v = u0 + du * at, v0 + dv * at
            if rows[k, 2] == 1:
                part = cone_light(u, v)
            else:
                u, v = u * inverse_u, v * inverse_v
                part = max(F(1.0) - u * u - v * v, F(0.0))
                part = part * part
            more = dimmed(
                colour, convert(convert(choose(inside, part, spread(F(0.0))) * level, np.int32), np.uint64)
            )
            if blocks[block]:
                more = more + load(glow, block << np.uint64(BITS))
            store(glow, block << np.uint64(BITS), more)
            blocks[block] = 1


@inner_kernel
def cone_light(u, v):
    """Light of a headlamp on the ground, u metres ahead of it and v beside its axis, smooth from 1 to 0."""
    ahead = max(u, F(0.0))
    q = v / (APEX + OPENING * ahead)
    beam = max(F(1.0) - q * q, F(0.0))
    left = max(F(1.0) - ahead * F(1.0 / 6.5), F(0.0))
    rise = min(max(u * F(1.6) + F(0.25), F(0.0)), F(1.0))
    return beam * beam * left * left * smooth(rise)


@part_of_kernel
def darkness(light, y, first, wide, spot, air, counts, dark):
    """Write to dark.levels how bright shadows and contacts leave row y, 0 to 256, in dark.dark_blocks."""
    first, wide, gx, gy, dx, dy = in_pairs(first, wide, spot)
    blocks = dark.dark_blocks
    blocks[:] = 0
    throw_shadows(y, first, wide, gx, gy, dx, dy, counts[0], dark)
    darken_contacts(y, first, wide, gx, gy, dx, dy, light[CONTACT] * air, counts[1], dark)
    shade, keep, strength = dark.shade, dark.keep, light[SHADOW] * air
    for block in range(np.uint64(len(blocks))):
        if blocks[block]:
            at = block << np.uint64(BITS)
            left = load(keep, at) * (F(1.0) - strength * load(shade, at))
            store(dark.levels, at, convert(left * F(256.0) + F(0.5), np.int32))
            store(shade, at, spread(F(0.0)))
            store(keep, at, spread(F(1.0)))
