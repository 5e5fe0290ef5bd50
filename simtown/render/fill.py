"""Scan conversion: triangles into the buffer of samples, and convex hulls.

A sample is one uint32: 18 bits of 1/depth above 14 bits of triangle number, so the depth test is an integer
maximum. Coverage is decided in whole numbers, and an edge shared by two triangles alike for both: nothing is
missed and nothing drawn twice. Small triangles are set up eight at a time, and drawn by edge functions in
their box; the others go row by row. Both give the same samples.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.core.exact import inner_kernel, part_of_kernel
from simtown.render.lanes import LANES, choose, convert, pick, raise_box, raise_lanes, spread, store
from simtown.scenes.camera import NEAR

TAG_BITS = 14
#: The last triangle numbers stand for an empty sample under so many levels of cloud.
SKY_LEVELS = 32
#: Triangles facing the camera that one scene may hold.
MOST_TRIANGLES = (1 << TAG_BITS) - 1 - SKY_LEVELS
TAG = np.uint32((1 << TAG_BITS) - 1)
DEPTH = np.uint32(0xFFFFFFFF - TAG)
#: 1/depth = 1/NEAR maps to just under 2^32, leaving room for rounding.
FULL = float((1 << 32) - (1 << 20)) * NEAR
SNAP = np.float32(256.0)
#: Corners lie within this many 1/256 of a sample from the origin: products of two differences of three of
#: them fit an int64.
REACH = 1 << 28
#: Triangles at most this many samples wide are tested sample by sample.
SMALL = 2 * LANES
F = np.float32


@inner_kernel
def fill_triangle(samples, first, width, full, height, x0, y0, w0, x1, y1, w1, x2, y2, w2, tag):
    """Draw a triangle of any size into columns `first` to `first + width - 1` of a picture of `full` columns.

    Returns whether the triangle is the nearest at any sample. Corners (x, y) are int64 in 1/256 of a sample,
    at most REACH from the origin; w = 1/depth. A sample exactly on an edge belongs to the triangle on its
    right or below it, by integer arithmetic throughout. Depth starts from the same sample whatever part is
    drawn.
    """
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return False
    if area < 0:  # corners run clockwise on the screen from here on
        x1, y1, w1, x2, y2, w2, area = x2, y2, w2, x1, y1, w1, -area
    left, right = extent(x0, x1, x2, full)
    top, bottom = extent(y0, y1, y2, height)
    start, right = max(left - first, 0), min(right - first, width)
    if start >= right or top >= bottom:
        return False
    value, step_x, step_y = depth_plane(x0, y0, w0, x1, y1, w1, x2, y2, w2, area, left, top)
    value = np.uint32(value + np.uint32(np.uint32(start + first - left) * step_x))
    left, x0, x1, x2 = start, x0 - 256 * first, x1 - 256 * first, x2 - 256 * first
    return _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag)


@inner_kernel
def extent(a, b, c, stop):
    """First and last + 1 sample of 0 to stop - 1 that three coordinates span."""
    return max((min(a, b, c) + 255) >> 8, 0), min((max(a, b, c) + 255) >> 8, stop)


@inner_kernel
def depth_plane(x0, y0, w0, x1, y1, w1, x2, y2, w2, area, left, top):
    """The depth value of a triangle at the sample (left, top), and its steps to the right and down."""
    inverse = FULL / np.float64(area)
    aw, bw = np.float64(w1 - w0) * inverse, np.float64(w2 - w0) * inverse
    slope_x = aw * np.float64(y2 - y0) - bw * np.float64(y1 - y0)  # of the depth value, per 1/256 of a sample
    slope_y = bw * np.float64(x1 - x0) - aw * np.float64(x2 - x0)
    start = (
        np.float64(w0) * FULL + slope_x * np.float64(256 * left - x0) + slope_y * np.float64(256 * top - y0)
    )
    return low_bits(start), low_bits(256.0 * slope_x), low_bits(256.0 * slope_y)


@inner_kernel
def low_bits(x):
    """The low 32 bits of a float64, rounded towards zero.

    Slivers have slopes beyond int64, which processors round in their own ways.
    """
    return np.uint32(np.int64(min(max(x, -4e18), 4e18)))


#: What set_up writes of a triangle: what is to be done with it, its box of samples, the depth value at the
#: box's first sample and its steps to the right and down, and the same of three edge functions.
KIND, START, STOP, TOP, ROWS, VALUE, STEP_X, STEP_Y, EDGES = 0, 1, 2, 3, 4, 5, 6, 7, 8
RECORD = EDGES + 9
#: Kinds: it holds no sample; fill_box draws it; only fill_triangle can.
EMPTY, BOX, OTHER = 0, 1, 2
#: Corners of a BOX lie within this many 1/256 of a sample from the origin, so that all of it fits into an
#: int32.
NEARBY = np.float32(1 << 23)


@part_of_kernel
def set_up(spots, triangles, numbers, vertex, near, first, width, full, height, records):
    """Prepare LANES triangles at once for fill_box, with the same whole numbers as fill_triangle.

    Args:
        spots: (4, n) as project writes them, image coordinates in whole 1/256 of a sample.
        triangles: (t, 3) corners.
        numbers: a vector of uint32, the triangles that are taken.
        vertex: the vertex that spots begin with.
        near: depth of the near plane, metres; a triangle with a nearer corner is not set up.
        first: first column of samples that is drawn.
        width: number of columns that are drawn.
        full: columns of the whole picture.
        height: rows of the picture.
        records: (RECORD, LANES) uint32, written.
    """
    across, down, depths, inverses = spots[0], spots[1], spots[2], spots[3]
    corner = numbers * np.uint32(3)
    i0 = convert(pick(triangles, corner) - np.int32(vertex), np.uint32)
    i1 = convert(pick(triangles, corner + np.uint32(1)) - np.int32(vertex), np.uint32)
    i2 = convert(pick(triangles, corner + np.uint32(2)) - np.int32(vertex), np.uint32)
    x0, x1, x2 = pick(across, i0), pick(across, i1), pick(across, i2)
    y0, y1, y2 = pick(down, i0), pick(down, i1), pick(down, i2)
    w0, w1, w2 = pick(inverses, i0), pick(inverses, i1), pick(inverses, i2)
    low_x, high_x = min(min(x0, x1), x2), max(max(x0, x1), x2)
    low_y, high_y = min(min(y0, y1), y2), max(max(y0, y1), y2)
    plain = min(min(pick(depths, i0), pick(depths, i1)), pick(depths, i2)) >= near
    plain = plain & (low_x > -NEARBY) & (high_x < NEARBY) & (low_y > -NEARBY) & (high_y < NEARBY)
    small = plain & (high_x - low_x <= F(256 * SMALL)) & (high_y - low_y <= F(65536.0))

    zero = spread(F(0.0))  # what is not plain may be beyond whole numbers
    x0, y0 = convert(choose(plain, x0, zero), np.int32), convert(choose(plain, y0, zero), np.int32)
    x1, y1 = convert(choose(plain, x1, zero), np.int32), convert(choose(plain, y1, zero), np.int32)
    x2, y2 = convert(choose(plain, x2, zero), np.int32), convert(choose(plain, y2, zero), np.int32)
    low_x = convert(choose(plain, low_x, zero), np.int32)
    high_x = convert(choose(plain, high_x, zero), np.int32)
    low_y = convert(choose(plain, low_y, zero), np.int32)
    high_y = convert(choose(plain, high_y, zero), np.int32)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    turned = area < np.int32(0)
    x1, x2, y1, y2 = (
        choose(turned, x2, x1),
        choose(turned, x1, x2),
        choose(turned, y2, y1),
        choose(turned, y1, y2),
    )
    w1, w2 = choose(turned, w2, w1), choose(turned, w1, w2)
    area = max(area, np.int32(0) - area)

    left = max((low_x + np.int32(255)) >> np.int32(8), np.int32(0))
    top = max((low_y + np.int32(255)) >> np.int32(8), np.int32(0))
    stop = min(
        min((high_x + np.int32(255)) >> np.int32(8), np.int32(full)) - np.int32(first), np.int32(width)
    )
    bottom = min((high_y + np.int32(255)) >> np.int32(8), np.int32(height))
    start = max(left - np.int32(first), np.int32(0))
    empty = (start >= stop) | (top >= bottom) | (small & (area == np.int32(0)))
    kind = choose(small, spread(np.uint32(BOX)), spread(np.uint32(OTHER)))
    store(records, KIND * LANES, choose(plain & empty, spread(np.uint32(EMPTY)), kind))
    store(records, START * LANES, convert(start, np.uint32))
    store(records, STOP * LANES, convert(stop, np.uint32))
    store(records, TOP * LANES, convert(top, np.uint32))
    store(records, ROWS * LANES, convert(bottom - top, np.uint32))

    D = np.float64
    inverse = FULL / convert(max(area, np.int32(1)), D)
    aw, bw = convert(w1 - w0, D) * inverse, convert(w2 - w0, D) * inverse
    slope_x = aw * convert(y2 - y0, D) - bw * convert(y1 - y0, D)
    slope_y = bw * convert(x1 - x0, D) - aw * convert(x2 - x0, D)
    right, below = convert((left << np.int32(8)) - x0, D), convert((top << np.int32(8)) - y0, D)
    value = low_bits_of(convert(w0, D) * FULL + slope_x * right + slope_y * below)
    step_x = low_bits_of(256.0 * slope_x)
    store(records, VALUE * LANES, value + convert(start + np.int32(first) - left, np.uint32) * step_x)
    store(records, STEP_X * LANES, step_x)
    store(records, STEP_Y * LANES, low_bits_of(256.0 * slope_y))

    px, py = (start + np.int32(first)) << np.int32(8), top << np.int32(8)
    set_up_edge(records, EDGES, px - x0, py - y0, x1 - x0, y1 - y0)
    set_up_edge(records, EDGES + 3, px - x1, py - y1, x2 - x1, y2 - y1)
    set_up_edge(records, EDGES + 6, px - x2, py - y2, x0 - x2, y0 - y2)


@inner_kernel
def low_bits_of(x):
    """As low_bits, of a vector."""
    return convert(convert(min(max(x, -4e18), 4e18), np.int64), np.uint32)


@part_of_kernel
def set_up_edge(records, at, x, y, dx, dy):
    """Write an edge's function at (x, y) from its start, and its steps.

    The function is not negative on the inner side of an edge along (dx, dy).
    """
    zero, ones = np.int32(0), spread(np.int32(1))
    own = (dy < zero) | ((dy == zero) & (dx > zero))
    store(records, at * LANES, convert(y * dx - x * dy - choose(own, spread(zero), ones), np.uint32))
    store(records, (at + 1) * LANES, convert(dy * np.int32(-256), np.uint32))
    store(records, (at + 2) * LANES, convert(dx * np.int32(256), np.uint32))


@part_of_kernel
def fill_box(samples, records, i, tag):
    """Draw the triangle of record i (of records.flat), a BOX, into `samples`.

    True if it is the nearest of any sample.
    """
    e = np.uint64(EDGES * LANES) + i
    n = np.uint64(LANES)
    block, stop = records[np.uint64(START * LANES) + i], np.int32(records[np.uint64(STOP * LANES) + i])
    value, step_x = records[np.uint64(VALUE * LANES) + i], records[np.uint64(STEP_X * LANES) + i]
    step_y, rows = records[np.uint64(STEP_Y * LANES) + i], np.uint64(records[np.uint64(ROWS * LANES) + i])
    a, sa, ra = np.int32(records[e]), np.int32(records[e + n]), np.int32(records[e + np.uint64(2) * n])
    e += np.uint64(3) * n
    b, sb, rb = np.int32(records[e]), np.int32(records[e + n]), np.int32(records[e + np.uint64(2) * n])
    e += np.uint64(3) * n
    c, sc, rc = np.int32(records[e]), np.int32(records[e + n]), np.int32(records[e + np.uint64(2) * n])
    place = np.uint64(records[np.uint64(TOP * LANES) + i]) * np.uint64(samples.shape[1]) + np.uint64(block)
    left, raised = np.int32(block), False
    while True:
        raised |= raise_box(
            samples, place, rows, value, step_x, step_y, DEPTH, tag, a, sa, ra, b, sb, rb, c, sc, rc
        )
        left = np.int32(left + LANES)
        if left >= stop:
            return raised
        place += n
        value = np.uint32(value + np.uint32(np.uint32(LANES) * step_x))
        a, b, c = np.int32(a + LANES * sa), np.int32(b + LANES * sb), np.int32(c + LANES * sc)


@inner_kernel
def _bound(x, y, dx, dy, row):
    """The first sample at or right of the crossing of a row with an edge from (x, y) along (dx, dy), dy != 0.

    Returns:
        Quotient and remainder of an exact division, and what both grow by from row to row.
    """
    numerator = x * dy + (256 * row - y) * dx
    denominator = 256 * dy
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    quotient = -(-numerator // denominator)
    slope = 256 * dx if dy > 0 else -256 * dx
    whole = slope // denominator
    return quotient, quotient * denominator - numerator, whole, slope - whole * denominator, denominator


@part_of_kernel
def _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag):
    """Row by row between the left and the right edge."""
    if y0 > y1 or y0 > y2:  # the uppermost corner first, the winding kept
        if y1 <= y2:
            x0, y0, x1, y1, x2, y2 = x1, y1, x2, y2, x0, y0
        else:
            x0, y0, x1, y1, x2, y2 = x2, y2, x0, y0, x1, y1
    stride, base, raised = np.uint64(samples.shape[1]), left, False
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
                raised |= raise_lanes(samples, place, q, step_x, DEPTH, tag, np.uint32(end - at))
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
    return raised


@inner_kernel
def hull(x, y, order, n, out):
    """Write the corners of the convex hull of n points, sorted by x through `order`; returns how many."""
    for i in range(1, n):
        k = order[i]
        j = i
        while j > 0 and (x[order[j - 1]] > x[k] or (x[order[j - 1]] == x[k] and y[order[j - 1]] > y[k])):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    size = 0
    for sweep in range(2):
        floor = max(size, 1)  # corners of the chain that stay: its first one
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
