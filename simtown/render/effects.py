"""What lies over a finished picture: stars, halos of lamps, rain and snow.

`nearness` (h, w) uint16 holds the upper half of the sample in every pixel's middle: 0 for the sky, more the
nearer.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import GLOW, TAILLAMP
from simtown.core.exact import inner_kernel
from simtown.render.fill import FULL
from simtown.render.ground import ground_line
from simtown.render.light import AMOUNT, FALL, LAMPS, RAIN, STARS
from simtown.render.shading import hashed
from simtown.scenes.camera import NEAR, object_to_camera

F = np.float32
#: Nearness of what is a metre away.
METRE = FULL / 65536.0


@inner_kernel
def blend(rgb, x, y, r, g, b, alpha):
    """Mix (r, g, b) in [0, 255] into a pixel."""
    rgb[y, x, 0] = np.uint8(F(rgb[y, x, 0]) + (r - F(rgb[y, x, 0])) * alpha + F(0.5))
    rgb[y, x, 1] = np.uint8(F(rgb[y, x, 1]) + (g - F(rgb[y, x, 1])) * alpha + F(0.5))
    rgb[y, x, 2] = np.uint8(F(rgb[y, x, 2]) + (b - F(rgb[y, x, 2])) * alpha + F(0.5))


@inner_kernel
def add(rgb, x, y, r, g, b):
    """Add (r, g, b) in [0, 255] to a pixel."""
    rgb[y, x, 0] = np.uint8(min(F(rgb[y, x, 0]) + r + F(0.5), F(255.0)))
    rgb[y, x, 1] = np.uint8(min(F(rgb[y, x, 1]) + g + F(0.5), F(255.0)))
    rgb[y, x, 2] = np.uint8(min(F(rgb[y, x, 2]) + b + F(0.5), F(255.0)))


@inner_kernel
def halo(view, kinds, matrix, lamp):
    """Pixel x and y of a lamp's middle, radius of its halo in pixels (0: behind the camera) and its depth."""
    far = matrix[8] * lamp[0] + matrix[9] * lamp[1] + matrix[10] * lamp[2] + matrix[11]
    if far < F(NEAR):
        return F(0.0), F(0.0), F(0.0), far
    px = (
        view[13]
        + view[12] * (matrix[0] * lamp[0] + matrix[1] * lamp[1] + matrix[2] * lamp[2] + matrix[3]) / far
    )
    py = (
        view[14]
        - view[12] * (matrix[4] * lamp[0] + matrix[5] * lamp[1] + matrix[6] * lamp[2] + matrix[7]) / far
    )
    kind = kinds[int(lamp[3])]
    size = F(0.85) if kind == GLOW else F(0.55)
    if kind == TAILLAMP:
        size = F(0.36)
    return px, py, size * view[12] / far, far


@inner_kernel
def in_sight(near, far):
    """Whether nothing stands before a lamp at depth `far`, by the nearness of its pixel."""
    return np.float64(near) * (far - F(0.6)) <= METRE


@inner_kernel
def glow_lamps(view, light, atlas, tables, meshes, poses, width, height, nearness, rgb):
    """A halo round every lamp that is in sight, where lamps burn."""
    palette, kinds, _ = tables
    strength = light[LAMPS] * F(0.5 * 255.0)
    for k in range(1, meshes.shape[0]):
        mesh = meshes[k]
        if mesh < 0 or atlas.lamp_start[mesh] == atlas.lamp_start[mesh + 1]:
            continue
        x, y, z, c, s, scale = poses[k, 0], poses[k, 1], poses[k, 2], poses[k, 3], poses[k, 4], poses[k, 5]
        matrix = object_to_camera(view, x, y, z, c, s, scale)
        for i in range(atlas.lamp_start[mesh], atlas.lamp_start[mesh + 1]):
            lamp = atlas.lamps[i]
            px, py, radius, far = halo(view, kinds, matrix, lamp)
            ix, iy = int(np.floor(px)), int(np.floor(py))
            if (
                radius <= 0
                or ix < 0
                or iy < 0
                or ix >= width
                or iy >= height
                or not in_sight(nearness[iy, ix], far)
            ):
                continue
            m = int(lamp[3])
            inverse = F(1.0) / (radius * radius)
            for qy in range(max(int(py - radius), 0), min(int(py + radius) + 2, height)):
                dy = F(qy) + F(0.5) - py
                for qx in range(max(int(px - radius), 0), min(int(px + radius) + 2, width)):
                    dx = F(qx) + F(0.5) - px
                    fall = F(1.0) - (dx * dx + dy * dy) * inverse
                    if fall > 0:
                        a = strength * fall * fall
                        add(rgb, qx, qy, palette[m, 0] * a, palette[m, 1] * a, palette[m, 2] * a)


@inner_kernel
def light_stars(view, light, seed, width, height, nearness, rgb):
    """Stars over what shows the sky, fewer towards the horizon; the same ones at every size."""
    horizon = view[14]
    size = max(view[12] * F(0.0011), F(0.5))
    for i in range(140):
        h = hashed(np.uint32(seed) * np.uint32(2654435761) + np.uint32(i) + np.uint32(77))
        h2 = hashed(h)
        px = view[13] + view[12] * (F(h & np.uint32(0xFFFF)) / F(65536.0) - F(0.5)) * F(2.4)
        lift = F(h >> np.uint32(16)) / F(65536.0)
        py = horizon - view[12] * (F(0.10) + F(0.8) * lift)
        x, y = int(np.floor(px)), int(np.floor(py))
        if x < 0 or y < 0 or x >= width or y >= height or nearness[y, x] > 0:
            continue
        bright = light[STARS] * (F(0.25) + F(0.75) * lift) * (F(60.0) + F(0.7) * F(h2 & np.uint32(0xFF)))
        radius = size * (F(0.7) + F(0.6) * F(h2 >> np.uint32(24)) / F(255.0))
        for qy in range(max(int(py - radius), 0), min(int(py + radius) + 2, height)):
            for qx in range(max(int(px - radius), 0), min(int(px + radius) + 2, width)):
                dx, dy = F(qx) + F(0.5) - px, F(qy) + F(0.5) - py
                cover = min(max(radius + F(0.5) - np.sqrt(dx * dx + dy * dy), F(0.0)), F(1.0))
                if cover > 0 and nearness[qy, qx] == 0:
                    add(rgb, qx, qy, bright * cover, bright * cover, bright * cover)


@inner_kernel
def let_fall(view, light, seed, width, height, nearness, rgb):
    """Rain or snow, the same drops at every size: each at its own distance, hidden by what is nearer."""
    aspect = F(width) / F(height)
    unit = F(height) if aspect > F(1.0) else F(width)
    rain, amount = light[FALL] == RAIN, light[AMOUNT]
    crowd = aspect if aspect > F(1.0) else F(1.0) / aspect
    for i in range(int(F(240.0 if rain else 400.0) * amount * min(crowd, F(4.0)))):
        h = hashed(np.uint32(seed) + np.uint32(i) * np.uint32(0x9E3779B9))
        h2 = hashed(h)
        px = F(h & np.uint32(0xFFFF)) / F(65536.0) * F(width)
        py = F(h >> np.uint32(16)) / F(65536.0) * F(height)
        u = F(h2 & np.uint32(0xFFFF)) / F(65536.0)
        near = F(0.24) + F(0.76) * u * u * u * u
        reach = np.int32(near * F(METRE / 4.6))  # the largest fall 4.6 m away, the smallest 19
        if rain:
            _streak(px, py, near, reach, unit, width, height, nearness, rgb)
        else:
            _flake(px, py, near, reach, unit, width, height, nearness, rgb)
    if rain:
        _splash(view, light, seed, width, height, nearness, rgb)


@inner_kernel
def _streak(px, py, near, reach, unit, width, height, nearness, rgb):
    """A drop's way, thin and leaning."""
    half, length = max(unit * F(0.0022) * near, F(0.26)), unit * F(0.105) * near
    strength = F(0.16) + F(0.34) * near
    for y in range(max(int(py), 0), min(int(py + length) + 1, height)):
        down = F(y) + F(0.5) - py
        middle = px - down * F(0.17)
        fade = strength * min(max(F(1.25) * down / length + F(0.15), F(0.0)), F(1.0))
        for x in range(max(int(middle - half - F(0.5)), 0), min(int(middle + half + F(0.5)) + 1, width)):
            cover = min(max(half + F(0.5) - abs(F(x) + F(0.5) - middle), F(0.0)), min(F(1.0), F(2.0) * half))
            if cover > 0 and np.int32(nearness[y, x]) <= reach:
                blend(rgb, x, y, F(222.0), F(232.0), F(243.0), cover * fade)


@inner_kernel
def _flake(px, py, near, reach, unit, width, height, nearness, rgb):
    """A soft disc."""
    radius = max(unit * F(0.0095) * near, F(0.45)) + F(0.5)
    inverse = F(1.0) / (radius * radius)
    for y in range(max(int(py - radius), 0), min(int(py + radius) + 2, height)):
        dy = F(y) + F(0.5) - py
        for x in range(max(int(px - radius), 0), min(int(px + radius) + 2, width)):
            dx = F(x) + F(0.5) - px
            cover = (F(1.0) - (dx * dx + dy * dy) * inverse) * F(2.0)
            if cover > 0 and np.int32(nearness[y, x]) <= reach:
                blend(rgb, x, y, F(255.0), F(255.0), F(255.0), min(cover, F(1.0)) * F(0.88))


@inner_kernel
def _splash(view, light, seed, width, height, nearness, rgb):
    """Rings where drops hit the ground, flat as the ground is seen."""
    for i in range(int(F(60.0) * light[AMOUNT])):
        h = hashed(np.uint32(seed) * np.uint32(0x85EBCA6B) + np.uint32(i) + np.uint32(991))
        h2 = hashed(h)
        px = F(h & np.uint32(0xFFFF)) / F(65536.0) * F(width)
        depth = F(8.0) + F(9.0) * F(h >> np.uint32(16)) / F(65536.0)
        py = view[14] + view[12] * (view[2] / depth + view[11]) / max(view[8], F(0.05))
        x, y = int(px), int(np.floor(py))
        if y < 1 or y >= height - 1:
            continue
        depth = ground_line(view, 2 * y + 1)[0]
        if depth <= 0 or abs(np.float64(nearness[y, x]) * depth - METRE) > METRE * 0.012:
            continue  # something stands there
        size = view[12] / depth * (F(0.06) + F(0.10) * F(h2 & np.uint32(0xFF)) / F(255.0))
        flat, thick = max(size * F(0.36), F(0.5)), max(size * F(0.22), F(0.4))
        for qy in range(max(int(py - flat - 1), 0), min(int(py + flat) + 2, height)):
            for qx in range(max(int(px - size - 1), 0), min(int(px + size) + 2, width)):
                dx, dy = F(qx) + F(0.5) - px, (F(qy) + F(0.5) - py) * (size / flat)
                cover = F(1.0) - abs(np.sqrt(dx * dx + dy * dy) - size) / thick
                if cover > 0:
                    blend(rgb, qx, qy, F(222.0), F(232.0), F(243.0), cover * F(0.42))
