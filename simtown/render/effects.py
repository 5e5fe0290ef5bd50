"""What lies over a finished picture: halos of lamps, rain and snow."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from simtown.assets.palette import GLOW, TAILLAMP
from simtown.exact import kernel
from simtown.render import light as L
from simtown.render.fill import FULL
from simtown.render.shading import hashed
from simtown.scenes.camera import NEAR, object_to_camera

F = np.float32


@kernel
def blend(rgb, x, y, r, g, b, alpha, adding):
    """Mix (r, g, b) in [0, 255] into a pixel, or add it."""
    for c in range(3):
        colour = r if c == 0 else (g if c == 1 else b)
        old = F(rgb[y, x, c])
        value = old + alpha * colour if adding else old + (colour - old) * alpha
        rgb[y, x, c] = np.uint8(min(value + F(0.5), F(255.0)))


@kernel
def halo(view, kinds, matrix, lamp):
    """Pixel x and y of a lamp's middle, radius of its halo in pixels (0: behind the camera) and its depth."""
    far = matrix[8] * lamp[0] + matrix[9] * lamp[1] + matrix[10] * lamp[2] + matrix[11]
    if far < F(NEAR):
        return F(0.0), F(0.0), F(0.0), far
    px = view[13] + view[12] * (matrix[0] * lamp[0] + matrix[1] * lamp[1] + matrix[2] * lamp[2] + matrix[3]) / far
    py = view[14] - view[12] * (matrix[4] * lamp[0] + matrix[5] * lamp[1] + matrix[6] * lamp[2] + matrix[7]) / far
    kind = kinds[int(lamp[3])]
    size = F(0.75) if kind == GLOW else F(0.5)
    if kind == TAILLAMP:
        size = F(0.32)
    return px, py, size * view[12] / far, far


@kernel
def in_sight(sample, far):
    """Whether nothing stands before a lamp at depth `far`, by the sample at its pixel's middle."""
    return np.float64(sample) * (far - F(0.6)) <= FULL


@kernel
def glow_at(x, y, px, py, radius, strength):
    """What a halo adds to the middle of pixel (x, y), of full light; not positive outside of it."""
    dx, dy = (F(x) + F(0.5) - px) / radius, (F(y) + F(0.5) - py) / radius
    fall = F(1.0) - (dx * dx + dy * dy)
    if fall > 0:
        return strength * fall * fall * F(255.0)
    return F(0.0)


@kernel
def glow_lamps(view, light, atlas, tables, meshes, poses, width, height, samples, rgb):
    """A halo round every lamp that is in sight, at dusk and night."""
    palette, kinds, _ = tables
    strength = light[L.LAMPS] * F(0.5)
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        matrix = object_to_camera(view, x, y, z, c, s, scale)
        for i in range(atlas.lamp_start[mesh], atlas.lamp_start[mesh + 1]):
            lamp = atlas.lamps[i]
            px, py, radius, far = halo(view, kinds, matrix, lamp)
            ix, iy = int(np.floor(px)), int(np.floor(py))
            if radius <= 0 or ix < 0 or iy < 0 or ix >= width or iy >= height or not in_sight(samples[2 * iy + 1, 2 * ix + 1], far):
                continue
            m = int(lamp[3])
            for qy in range(max(int(py - radius), 0), min(int(py + radius) + 2, height)):
                for qx in range(max(int(px - radius), 0), min(int(px + radius) + 2, width)):
                    a = glow_at(qx, qy, px, py, radius, strength)
                    if a > 0:
                        blend(rgb, qx, qy, palette[m, 0], palette[m, 1], palette[m, 2], a, True)


@kernel
def falling(light):
    """How many streaks or flakes fall."""
    return int(F(60.0 if light[L.FALL] == L.RAIN else 110.0) * (F(0.35) + light[L.AMOUNT]))


@kernel
def drop(kind, seed, i, width, height):
    """Streak or flake i: x and y of its upper end or middle, nearness in (0, 1], and half its width and its length, or radius and 0."""
    aspect = F(width) / F(height)
    unit = F(height) if aspect > F(1.0) else F(width)
    h = hashed(np.uint32(seed) + np.uint32(i) * np.uint32(0x9E3779B9))
    h2 = hashed(h)
    x0, y0 = F(h & np.uint32(0xFFFF)) / F(65536.0) * F(width), F(h >> np.uint32(16)) / F(65536.0) * F(height)
    near = F(0.35) + F(0.65) * F(h2 & np.uint32(0xFF)) / F(255.0)
    if kind == L.RAIN:
        return x0, y0, near, max(unit * F(0.0026) * near, F(0.3)), unit * F(0.075) * near
    return x0, y0, near, max(unit * F(0.0072) * near, F(0.55)), F(0.0)


@kernel
def streak_middle(y, x0, y0):
    """Where a streak crosses row y: they all lean alike."""
    return x0 - (F(y) + F(0.5) - y0) * F(0.16)


@kernel
def streak_cover(x, middle, half):
    """Share of pixel x that a streak covers."""
    return min(max(half + F(0.5) - abs(F(x) + F(0.5) - middle), F(0.0)), F(1.0))


@kernel
def flake_cover(x, y, x0, y0, radius):
    """Share of pixel (x, y) that a flake covers."""
    dx, dy = F(x) + F(0.5) - x0, F(y) + F(0.5) - y0
    return min(max(radius + F(0.5) - F(math.sqrt(dx * dx + dy * dy)), F(0.0)), F(1.0))


@kernel
def let_fall(light, seed, width, height, rgb):
    """Rain streaks or snow flakes in front of everything, the same ones at every size."""
    kind = light[L.FALL]
    for i in range(falling(light)):
        x0, y0, near, half, length = drop(kind, seed, i, width, height)
        if kind == L.RAIN:
            for y in range(max(int(y0), 0), min(int(y0 + length) + 1, height)):
                middle = streak_middle(y, x0, y0)
                for x in range(max(int(middle - half - F(0.5)), 0), min(int(middle + half + F(0.5)) + 1, width)):
                    wet = streak_cover(x, middle, half) * F(0.34) * near
                    blend(rgb, x, y, F(225.0), F(235.0), F(245.0), wet, False)
        else:
            for y in range(max(int(y0 - half - F(1.0)), 0), min(int(y0 + half) + 2, height)):
                for x in range(max(int(x0 - half - F(1.0)), 0), min(int(x0 + half) + 2, width)):
                    white = flake_cover(x, y, x0, y0, half) * F(0.8) * near
                    blend(rgb, x, y, F(255.0), F(255.0), F(255.0), white, False)
