"""From triangles to pixels: a block of threads a band of rows, its samples in shared memory.

Every sample is raised with an atomic maximum, so the order in which threads come does not matter. When all triangles are in, a
sample's depth has done its work: its bits then hold the shadow and the lamplight that lie there.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32, int32, uint16, uint32, uint64

from simtown.render import effects, fill, kernels, shading
from simtown.render import light as L
from simtown.render.cuda.card import entry, on_card
from simtown.render.cuda.scenes import POOL_RINGS, SHADOW_RINGS
from simtown.render.fill import DEPTH, TAG, TAG_BITS

#: Bytes of shared memory that samples may take: with the rest of a block's, 48 KiB, which every card grants without being asked.
SHARED = 45_408
#: Rows of samples of a band at most; triangles of a band that are queued for single threads, and for whole warps.
MOST_ROWS, MOST_SMALL, MOST_LARGE = 81, 1024, 352
#: Streaks or flakes laid over a picture at once.
MOST_DROPS = 160
#: Boxes of more samples are filled by a warp, in tiles of TILE columns by 32 / TILE rows.
LARGE, WARP, TILE = 64, 32, 8
F = np.float32

ceiling, side = on_card(fill.ceiling), on_card(fill.side)
clear_air, pack = on_card(shading.clear_air), on_card(kernels.pack)
sky_row, ground_air = on_card(kernels.sky_row), on_card(kernels.ground_air)
darken, lighten = on_card(kernels.darken), on_card(kernels.lighten)
in_sight, glow_at, blend = on_card(effects.in_sight), on_card(effects.glow_at), on_card(effects.blend)
falling, drop = on_card(effects.falling), on_card(effects.drop)
streak_middle, streak_cover, flake_cover = on_card(effects.streak_middle), on_card(effects.streak_cover), on_card(effects.flake_cover)


def bands(width: int, height: int) -> tuple[int, int, int]:
    """How a picture is cut up: bands, pixel rows of a band, and samples from one row of a band to the next.

    The last is 8 more than a multiple of 32, so that the tiles of a warp touch every bank of shared memory once.
    """
    stride = (2 * width + 1 - TILE + WARP - 1) // WARP * WARP + TILE
    most = (min(SHARED // (4 * stride), MOST_ROWS) - 1) // 2
    count = -(-height // most)
    return count, -(-height // count), stride


@entry
def draw(scenes, work, width, height, rows, stride, geometry, rgb, depth, ids):
    """Pixel rows of a scene: launched with a grid of (bands, scenes), and room for a band's samples. Depth and ids only with `geometry`."""
    band, n, me, team = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    samples = cuda.shared.array(0, uint32)
    small = cuda.shared.array(MOST_SMALL, uint16)
    large = cuda.shared.array(MOST_LARGE, uint16)
    queued = cuda.shared.array(2, int32)
    skies = cuda.shared.array(MOST_ROWS, uint64)
    airs = cuda.shared.array(MOST_ROWS, float32)
    view, light = scenes.views[n], scenes.lights[n]
    top = rows * band
    bottom = min(top + rows, height)
    first, last = 2 * top, 2 * bottom + 1  # rows of samples
    for i in range(me, (last - first) * stride, team):
        samples[i] = 0
    if me < 2:
        queued[me] = 0
    cuda.syncthreads()
    _queue(scenes, work, n, me, team, first, last, stride, samples, small, large, queued)
    cuda.syncthreads()
    begin = 2 * scenes.first[n]
    for i in range(me, min(queued[0], MOST_SMALL), team):
        _fill(work, begin + np.int32(small[i]), first, last, stride, samples, 0, 1, 0, 1)
    lane, warps = me % WARP, max(team // WARP, 1)
    for i in range(me // WARP, min(queued[1], MOST_LARGE), warps):
        _fill(work, begin + np.int32(large[i]), first, last, stride, samples, lane % TILE, TILE, lane // TILE, WARP // TILE)
    cuda.syncthreads()
    slots, lamps = scenes.meshes.shape[1], light[L.LAMPS] > 0
    start, stop = scenes.lamp_first[n * slots], scenes.lamp_first[(n + 1) * slots]
    if lamps:
        for lamp in range(start + me, stop, team):
            _look(work, lamp, width, top, bottom, first, stride, samples)
    cuda.syncthreads()
    for i in range(me, (last - first) * stride, team):
        samples[i] &= TAG
    for row in range(me, last - first, team):
        r, g, b = sky_row(view, light, first + row)
        skies[row] = pack(r, g, b)
        airs[row] = ground_air(view, light, first + row)
    cuda.syncthreads()
    _mark(
        work,
        n * slots * SHADOW_RINGS,
        (n + 1) * slots * SHADOW_RINGS,
        SHADOW_RINGS,
        TAG_BITS,
        me,
        team,
        first,
        last,
        width,
        stride,
        samples,
    )
    if lamps:
        pools = len(scenes.meshes) * slots * SHADOW_RINGS
        _mark(work, pools + start * POOL_RINGS, pools + stop * POOL_RINGS, POOL_RINGS, TAG_BITS + SHADOW_RINGS, me, team, first, last,
              width, stride, samples)  # fmt: skip
    cuda.syncthreads()
    for i in range(me, (bottom - top) * width, team):
        y, x = i // width, i % width
        _resolve(scenes, work, n, x, top + y, 2 * y, stride, samples, skies, airs, rgb)
        if geometry:
            tag = samples[(2 * y + 1) * stride + 2 * x + 1] & TAG
            _measure(scenes, work, n, x, top + y, tag, depth, ids)


@cuda.jit(device=True)
def _queue(scenes, work, n, me, team, first, last, stride, samples, small, large, queued):
    """Sort the triangles that touch these rows by the size of their boxes, so that later no thread waits for its neighbours.

    What finds no room is filled at once.
    """
    begin = 2 * scenes.first[n]
    for i in range(me, work.counts[n, 1], team):
        piece = begin + i
        high = min(np.int32(work.boxes[3, piece]), last) - max(np.int32(work.boxes[2, piece]), first)
        if high <= 0:
            continue
        if high * (work.boxes[1, piece] - work.boxes[0, piece]) <= LARGE:
            place = cuda.atomic.add(queued, 0, 1)
            if place < MOST_SMALL:
                small[place] = i
                continue
        else:
            place = cuda.atomic.add(queued, 1, 1)
            if place < MOST_LARGE:
                large[place] = i
                continue
        _fill(work, piece, first, last, stride, samples, 0, 1, 0, 1)


@cuda.jit(device=True)
def _fill(work, piece, first, last, stride, samples, x, step_x, y, step_y):
    """Raise samples of a piece in rows first to last - 1: those at x, x + step_x, ... of its box there, and y, y + step_y, ..."""
    left, right = np.int32(work.boxes[0, piece]) + x, np.int32(work.boxes[1, piece])
    corners, bottom = work.corners, min(np.int32(work.boxes[3, piece]), last)
    row = max(np.int32(work.boxes[2, piece]), first) + y
    x0, y0, x1 = np.int64(corners[0, piece]), np.int64(corners[1, piece]), np.int64(corners[2, piece])
    y1, x2, y2 = np.int64(corners[3, piece]), np.int64(corners[4, piece]), np.int64(corners[5, piece])
    ax, ay, bx, by, cx, cy = x1 - x0, y1 - y0, x2 - x1, y2 - y1, x0 - x2, y0 - y2
    a, b, c = side(x0, y0, ax, ay, left, row), side(x1, y1, bx, by, left, row), side(x2, y2, cx, cy, left, row)
    right_a, right_b, right_c = -256 * step_x * ay, -256 * step_x * by, -256 * step_x * cy
    down_a, down_b, down_c = 256 * step_y * ax, 256 * step_y * bx, 256 * step_y * cx
    tag, ramp_x, ramp_y = np.uint32(work.tags[piece]), work.ramps[1, piece], work.ramps[2, piece]
    value = np.uint32(work.ramps[0, piece] + np.uint32(x) * ramp_x + np.uint32(row - work.boxes[2, piece]) * ramp_y)
    ramp_x, ramp_y = np.uint32(np.uint32(step_x) * ramp_x), np.uint32(np.uint32(step_y) * ramp_y)
    while row < bottom:
        at, e, f, g, q = left, a, b, c, value
        while at < right:
            if (e | f | g) >= 0:
                cuda.atomic.max(samples, (row - first) * stride + at, np.uint32((q & DEPTH) | tag))
            at += step_x
            e, f, g, q = e + right_a, f + right_b, g + right_c, np.uint32(q + ramp_x)
        row += step_y
        a, b, c, value = a + down_a, b + down_b, c + down_c, np.uint32(value + ramp_y)


@cuda.jit(device=True)
def _look(work, lamp, width, top, bottom, first, stride, samples):
    """Note whether a lamp whose pixel lies in these rows is in sight."""
    halo = work.halos[lamp]
    x, y = np.int64(math.floor(halo[0])), np.int64(math.floor(halo[1]))
    if halo[2] > 0 and 0 <= x < width and top <= y < bottom and in_sight(samples[(2 * y + 1 - first) * stride + 2 * x + 1], halo[3]):
        halo[5] = F(1.0)


@cuda.jit(device=True)
def _mark(work, begin, end, rings, bit, me, team, first, last, width, stride, samples):
    """Set a bit, by its ring, in every sample inside of outlines: a warp an outline, a thread a row."""
    warps, lanes = max(team // WARP, 1), min(WARP, team)
    for number in range(begin + me // WARP, end, warps):
        size = np.int32(work.spans[number, 0])
        if size == 0:
            continue
        flag = np.uint32(1 << (bit + (number - begin) % rings))
        top, bottom = max(np.int32(work.spans[number, 1]), first), min(np.int32(work.spans[number, 2]), last)
        for y in range(top + me % WARP, bottom, lanes):
            left, right = _row_of(work.rims[number], size, y)
            for x in range(max(ceiling(left), 0), min(ceiling(right), 2 * width + 1)):
                cuda.atomic.or_(samples, (y - first) * stride + x, flag)


@cuda.jit(device=True)
def _row_of(rim, size, y):
    """Where a row enters and leaves a convex outline."""
    left, right = F(1e9), F(-1e9)
    for i in range(size):
        j = i + 1 if i + 1 < size else 0
        x0, y0, x1, y1 = rim[i, 0], rim[i, 1], rim[j, 0], rim[j, 1]
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
        if ceiling(y0) <= y < ceiling(y1):
            x = x0 + (F(y) - y0) * ((x1 - x0) / (y1 - y0))
            left, right = min(left, x), max(right, x)
    return left, right


@cuda.jit(device=True)
def _resolve(scenes, work, n, x, y, row, stride, samples, skies, airs, rgb):
    """The colour of a pixel: its nine samples through the tent filter."""
    total = np.uint64(0x0000008000800080)
    for j in range(3):
        for i in range(3):
            word = samples[(row + j) * stride + 2 * x + i]
            colour = _tone(scenes.lights[n], work.paints, scenes.first[n], word, skies[row + j], airs[row + j])
            total += colour << np.uint64((i & 1) + (j & 1))
    rgb[n, y, x, 0] = (total >> np.uint64(8)) & np.uint64(0xFF)
    rgb[n, y, x, 1] = (total >> np.uint64(24)) & np.uint64(0xFF)
    rgb[n, y, x, 2] = (total >> np.uint64(40)) & np.uint64(0xFF)


@cuda.jit(device=True)
def _tone(light, paints, first, word, sky, air):
    """The packed colour of a sample: the sky, a thing in the air, or ground with the shadow and lamplight on it."""
    tag = word & TAG
    if tag == 0:
        return sky
    paint = paints[first + tag]
    r, g, b = paint[0], paint[1], paint[2]
    if paint[3] == 0:
        return pack(r, g, b)
    fog_r, fog_g, fog_b = light[L.FOG], light[L.FOG + 1], light[L.FOG + 2]
    colour = pack(fog_r + (r - fog_r) * air, fog_g + (g - fog_g) * air, fog_b + (b - fog_b) * air)
    shadow, pool = _level(word >> TAG_BITS, SHADOW_RINGS), _level(word >> (TAG_BITS + SHADOW_RINGS), POOL_RINGS)
    if shadow > 0:
        colour = darken(colour, F(1.0) - light[L.SHADOW] * F(1.0 / 255.0) * F(85 * shadow) * air)
    if pool > 0:
        colour = lighten(colour, light[L.LAMPS] * F(50 * pool) * F(1.0 / 255.0) * air)
    return colour


@cuda.jit(device=True)
def _level(bits, rings):
    """The highest of `rings` bits that is set, from 1, or 0."""
    level = 0
    for ring in range(rings):
        if (bits >> ring) & 1:
            level = ring + 1
    return level


@cuda.jit(device=True)
def _measure(scenes, work, n, x, y, tag, depth, ids):
    """Depth and instance id of a pixel."""
    view, row = scenes.views[n], scenes.first[n] + tag
    plane, inverse_focal = work.planes[row], F(1.0) / view[12]
    ray_x, ray_y = (F(x) + F(0.5) - view[13]) * inverse_focal, (view[14] - F(y) - F(0.5)) * inverse_focal
    depth[n, y, x] = plane[3] / (plane[0] * ray_x + plane[1] * ray_y + plane[2])
    ids[n, y, x] = work.owners[row]


@entry
def overlay(town, scenes, work, width, height, rows, rgb):
    """Halos of lamps in sight, then rain or snow, over finished pictures: a grid of (bands, scenes), every pixel's own thread in order."""
    n, me, team = cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    light, top = scenes.lights[n], rows * cuda.blockIdx.x
    kind, bottom = light[L.FALL], min(top + rows, height)
    if light[L.LAMPS] > 0:
        for i in range(me, (bottom - top) * width, team):
            _glow(town, scenes, work, n, i % width, top + i // width, rgb)
    count = falling(light) if light[L.AMOUNT] > 0 and kind > 0 else 0
    drops = cuda.shared.array((MOST_DROPS, 5), float32)
    near_by = cuda.shared.array(MOST_DROPS, int32)
    found = cuda.shared.array(1, int32)
    for begin in range(0, count, MOST_DROPS):
        some = min(MOST_DROPS, count - begin)
        for j in range(me, some, team):
            drops[j, 0], drops[j, 1], drops[j, 2], drops[j, 3], drops[j, 4] = drop(kind, scenes.fall_seeds[n], begin + j, width, height)
        cuda.syncthreads()
        if me == 0:  # those that touch these rows, in their order
            found[0] = 0
            for j in range(some):
                reach = drops[j, 3] + F(1.0)
                if drops[j, 1] - reach < F(bottom) and drops[j, 1] + drops[j, 4] + reach > F(top):
                    near_by[found[0]] = j
                    found[0] += 1
        cuda.syncthreads()
        for i in range(me, (bottom - top) * width, team):
            for j in range(found[0]):
                _wet(kind, drops[near_by[j]], n, i % width, top + i // width, rgb)
        cuda.syncthreads()


@cuda.jit(device=True)
def _glow(town, scenes, work, n, x, y, rgb):
    """Add the halos of a scene's lamps to a pixel."""
    slots, strength = scenes.meshes.shape[1], scenes.lights[n, L.LAMPS] * F(0.5)
    for lamp in range(scenes.lamp_first[n * slots], scenes.lamp_first[(n + 1) * slots]):
        halo = work.halos[lamp]
        if halo[5] > 0:
            a = glow_at(x, y, halo[0], halo[1], halo[2], strength)
            if a > 0:
                m = int(halo[4])
                blend(rgb[n], x, y, town.palette[m, 0], town.palette[m, 1], town.palette[m, 2], a, True)


@cuda.jit(device=True)
def _wet(kind, fallen, n, x, y, rgb):
    """Lay one streak or flake over a pixel."""
    x0, y0, near, half = fallen[0], fallen[1], fallen[2], fallen[3]
    if kind == L.RAIN:
        if max(int(y0), 0) <= y < int(y0 + fallen[4]) + 1:
            cover = streak_cover(x, streak_middle(y, x0, y0), half)
            if cover > 0:
                blend(rgb[n], x, y, F(225.0), F(235.0), F(245.0), cover * F(0.34) * near, False)
    else:
        cover = flake_cover(x, y, x0, y0, half)
        if cover > 0:
            blend(rgb[n], x, y, F(255.0), F(255.0), F(255.0), cover * F(0.8) * near, False)
