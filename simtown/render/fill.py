"""Scan conversion: triangles into the buffer of samples, and convex hulls.

A sample is one uint32: 18 bits of 1/depth above 14 bits of triangle number, so the depth test is an integer maximum. Coverage is
decided in whole numbers, and an edge shared by two triangles alike for both: nothing is missed and nothing drawn twice.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.exact import inner_kernel, part_of_kernel
from simtown.render.lanes import LANES, raise_box, raise_lanes
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
#: Corners lie within this many 1/256 of a sample from the origin: products of two differences of three of them fit an int64.
REACH = 1 << 28
#: Triangles at most this many samples wide are tested sample by sample.
SMALL = 2 * LANES
F = np.float32


@inner_kernel
def fill_triangle(samples, first, width, full, height, x0, y0, w0, x1, y1, w1, x2, y2, w2, tag):
    """Draw one triangle into `samples`, the columns `first` to `first + width - 1` of a picture of `full` columns.

    Corners (x, y) are int64 in 1/256 of a sample, at most REACH from the origin; w = 1/depth. A sample exactly on an edge belongs to the
    triangle on its right or below it, by integer arithmetic throughout. Depth starts from the same sample whatever part is drawn.
    True if the triangle is the nearest of any sample.
    """
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return False
    if area < 0:  # corners run clockwise on the screen from here on
        x1, y1, w1, x2, y2, w2, area = x2, y2, w2, x1, y1, w1, -area
    left, right, wide = extent(x0, x1, x2, full)
    top, bottom, high = extent(y0, y1, y2, height)
    start, right = max(left - first, 0), min(right - first, width)
    if start >= right or top >= bottom:
        return False
    value, step_x, step_y = depth_plane(x0, y0, w0, x1, y1, w1, x2, y2, w2, area, left, top)
    value = np.uint32(value + np.uint32(np.uint32(start + first - left) * step_x))
    left, x0, x1, x2 = start, x0 - 256 * first, x1 - 256 * first, x2 - 256 * first
    if wide <= 256 * SMALL and high <= 65536:
        return _fill_small(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag)
    return _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag)


@inner_kernel
def extent(a, b, c, stop):
    """First and last + 1 sample of 0 to stop - 1 that three coordinates span, and how far they lie apart."""
    low, high = min(a, b, c), max(a, b, c)
    return max((low + 255) >> 8, 0), min((high + 255) >> 8, stop), high - low


@inner_kernel
def depth_plane(x0, y0, w0, x1, y1, w1, x2, y2, w2, area, left, top):
    """The depth value of a triangle at the sample (left, top), and its steps to the right and down."""
    inverse = FULL / np.float64(area)
    aw, bw = np.float64(w1 - w0) * inverse, np.float64(w2 - w0) * inverse
    slope_x = aw * np.float64(y2 - y0) - bw * np.float64(y1 - y0)  # of the depth value, per 1/256 of a sample
    slope_y = bw * np.float64(x1 - x0) - aw * np.float64(x2 - x0)
    start = np.float64(w0) * FULL + slope_x * np.float64(256 * left - x0) + slope_y * np.float64(256 * top - y0)
    return low_bits(start), low_bits(256.0 * slope_x), low_bits(256.0 * slope_y)


@inner_kernel
def low_bits(x):
    """The low 32 bits of a float64, rounded towards zero. Slivers have slopes beyond int64, which processors round in their own ways."""
    return np.uint32(np.int64(min(max(x, -4e18), 4e18)))


@inner_kernel
def side(x, y, dx, dy, left, top):
    """Edge function at the sample (left, top): not negative on the inner side of an edge from (x, y) along (dx, dy)."""
    return (256 * top - y) * dx - (256 * left - x) * dy - (0 if dy < 0 or (dy == 0 and dx > 0) else 1)


@part_of_kernel
def _fill_small(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag):
    """Test every sample of the bounding box against the three edges, LANES at a time."""
    ax, ay, bx, by, cx, cy = x1 - x0, y1 - y0, x2 - x1, y2 - y1, x0 - x2, y0 - y2
    sa, sb, sc = np.int32(-256 * ay), np.int32(-256 * by), np.int32(-256 * cy)
    ra, rb, rc = np.int32(256 * ax), np.int32(256 * bx), np.int32(256 * cx)
    block, raised = left, False
    while block < right:
        a = np.int32(side(x0, y0, ax, ay, block, top))
        b = np.int32(side(x1, y1, bx, by, block, top))
        c = np.int32(side(x2, y2, cx, cy, block, top))
        place, rows = np.uint64(top) * np.uint64(samples.shape[1]) + np.uint64(block), np.uint64(bottom - top)
        raised |= raise_box(samples, place, rows, value, step_x, step_y, DEPTH, tag, a, sa, ra, b, sb, rb, c, sc, rc)
        block += LANES
        value = np.uint32(value + np.uint32(np.uint32(LANES) * step_x))
    return raised


@inner_kernel
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


@part_of_kernel
def _fill_rows(samples, x0, y0, x1, y1, x2, y2, left, top, right, bottom, value, step_x, step_y, tag):
    """Row by row between the left and the right edge, for triangles with long rows."""
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
