"""The sky: its colour row by row, and clouds that cover a share of it."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.core.exact import inner_kernel, part_of_kernel
from simtown.render.fill import MOST_TRIANGLES, SKY_LEVELS
from simtown.render.light import COVER, DENSITY, FOG, HORIZON, THICK, TOP, VEIL
from simtown.render.packing import mix, pack
from simtown.render.shading import hashed

F = np.float32
#: Layers of cloud: how fine, and how strong (of 1 in all).
COARSE, FINE = F(1.0), F(2.6)
STRONG, WEAK = F(0.68), F(0.32)
#: How many levels of cloud there are, and the triangle number of the first (a clear sky's).
LEVELS = SKY_LEVELS
SKY = np.uint32(MOST_TRIANGLES + 1)


@part_of_kernel
def row_slope(view, y):
    """Slope of the rays through row y of samples, against the view's axis."""
    return (view[14] - F(0.5) * F(y)) / view[12]


@part_of_kernel
def sky_row(view, light, y):
    """Packed colour of the sky in row y of samples, and of clouds there."""
    slope = row_slope(view, y)
    t = min(max(slope * F(1.9), F(0.0)), F(1.0))
    t = t * (F(2.0) - t)
    haze = min(light[DENSITY] * F(28.0) + light[THICK] * F(16.0), F(1.0)) * (F(1.0) - F(0.5) * t)
    near = F(1.0) - F(0.75) * (F(1.0) - t) * (F(1.0) - t)  # clouds fade towards the horizon
    r = light[HORIZON] + (light[TOP] - light[HORIZON]) * t
    g = light[HORIZON + 1] + (light[TOP + 1] - light[HORIZON + 1]) * t
    b = light[HORIZON + 2] + (light[TOP + 2] - light[HORIZON + 2]) * t
    cr = r + (light[VEIL] - r) * near
    cg = g + (light[VEIL + 1] - g) * near
    cb = b + (light[VEIL + 2] - b) * near
    fr, fg, fb = light[FOG], light[FOG + 1], light[FOG + 2]
    clear = pack(r + (fr - r) * haze, g + (fg - g) * haze, b + (fb - b) * haze)
    return clear, pack(cr + (fr - cr) * haze, cg + (fg - cg) * haze, cb + (fb - cb) * haze)


@inner_kernel
def knot(seed, i, j):
    """A number in [0, 1) at a knot of the clouds' net."""
    return F(
        hashed(np.uint32(np.uint32(i) * np.uint32(0x9E3779B9) ^ hashed(np.uint32(j) + np.uint32(seed))))
        >> np.uint32(8)
    ) / F(16777216.0)


@inner_kernel
def cover_sky(view, light, seed, first, wide, height, samples, cover):
    """Fill empty samples with the numbers of cloud levels.

    The levels are smooth noise on a ceiling in perspective, one value for every 2 x 2 samples. What is drawn
    later lies nearer and replaces them.
    """
    origin = F(first)
    least = F(0.76) - F(0.56) * light[COVER]
    half = np.uint64((wide + 1) // 2)
    for y in range(0, height, 2):
        lift = row_slope(view, y)
        if lift < F(-0.02):
            samples[y:] = SKY
            return
        away = F(1.0) / (lift + F(0.16))
        for x in range(half):
            cover[x] = F(0.0)
        for layer in range(2):
            fine, strong = (COARSE, STRONG) if layer == 0 else (FINE, WEAK)
            v = F(2.3) * fine * away
            j = int(v)
            tv = v - F(j)
            tv = tv * tv * (F(3.0) - F(2.0) * tv)
            step = F(1.1) * fine * away / view[12]
            start = F(64.0) - F(1.1) * fine * away * (view[13] - F(0.5) * origin) / view[12]
            salt = np.uint32(seed) + np.uint32(layer)
            i = int(np.floor(start)) - 1
            left = knot(salt, i, j) * (F(1.0) - tv) + knot(salt, i, j + 1) * tv
            x0 = 0
            while x0 < half:
                right = knot(salt, i + 1, j) * (F(1.0) - tv) + knot(salt, i + 1, j + 1) * tv
                x1 = min(max(int(np.ceil((F(i + 1) - start) / step)), x0), int(half))
                cell = start - F(i)
                for x in range(np.uint64(x0), np.uint64(x1)):
                    t = min(max(cell + step * F(np.int32(x)), F(0.0)), F(1.0))
                    cover[x] += strong * (left + (right - left) * (t * t * (F(3.0) - F(2.0) * t)))
                left, x0, i = right, x1, i + 1
        upper, lower = samples[y], samples[min(y + 1, height - 1)]
        for x in range(half):
            t = min(max((cover[x] - least) * F(5.0), F(0.0)), F(1.0))
            level = SKY + np.uint32(np.int32(t * t * (F(3.0) - F(2.0) * t) * F(LEVELS - 0.01)))
            at = np.uint64(2) * x
            upper[at], upper[at + np.uint64(1)] = level, level
            lower[at], lower[at + np.uint64(1)] = level, level


@part_of_kernel
def paint_sky(view, light, y, packed):
    """Colours of the sky in row y of samples, for every level of cloud."""
    sky, cloud = sky_row(view, light, y)
    packed[0] = sky
    packed[SKY] = sky
    if light[COVER] > 0 and row_slope(view, y) > F(-0.03):  # clouds end at the horizon
        for level in range(LEVELS):
            packed[SKY + np.uint32(level)] = mix(sky, cloud, np.uint64(level * 256 // (LEVELS - 1)))
