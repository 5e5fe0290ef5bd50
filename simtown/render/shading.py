"""The colour of a face: its material under the scene's light, before and behind the air."""

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

F = np.float32


@kernel
def hashed(a):
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
def shade(light, palette, kinds, tints, m, style, part, nx, ny, nz, lx, ly, lz):
    """Colour (r, g, b) of a face of material m with object normal n and object-space sun direction l, before fog."""
    facing = max(nx * lx + ny * ly + nz * lz, F(0.0))
    up = F(0.5) + F(0.5) * nz
    shine_r = light[L.SUN] * facing + light[L.SKY] * up + light[L.BOUNCE] * (F(1.0) - up)
    shine_g = light[L.SUN + 1] * facing + light[L.SKY + 1] * up + light[L.BOUNCE + 1] * (F(1.0) - up)
    shine_b = light[L.SUN + 2] * facing + light[L.SKY + 2] * up + light[L.BOUNCE + 2] * (F(1.0) - up)
    far_r, far_g, far_b = light[L.HORIZON], light[L.HORIZON + 1], light[L.HORIZON + 2]
    snow, wet, power, cloud = light[L.SNOW], light[L.WET], light[L.LAMPS], light[L.CLOUD]  # `light` early: see part_of_kernel
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
    elif kind == CLOUD_KIND:
        bright = F(0.86) + F(0.14) * nz
        glow = F(0.75) * cloud
        return (far_r * F(0.25) + glow) * bright, (far_g * F(0.25) + glow) * bright, (far_b * F(0.25) + glow) * bright
    if snow > 0 and kind != GLASS:
        cover = min(max((nz - F(0.25)) * F(2.5), F(0.0)), F(1.0)) * snow
        if kind == ROAD:
            cover *= F(0.62)
        r, g, b = r + (F(0.95) - r) * cover, g + (F(0.97) - g) * cover, b + (F(1.0) - b) * cover
    if kind in (ROAD, GROUND):
        dark = F(1.0) - F(0.3) * wet
        mirror = wet * (F(0.16) if kind == ROAD else F(0.07))
        return r * dark * shine_r + mirror * far_r, g * dark * shine_g + mirror * far_g, b * dark * shine_b + mirror * far_b
    own_r, own_g, own_b = r, g, b
    r, g, b = r * shine_r, g * shine_g, b * shine_b
    if kind in (GLASS, WINDOW):
        mirror = F(0.16) + F(0.2) * max(nz, F(0.0))
        r, g, b = r * F(0.62) + far_r * mirror, g * F(0.62) + far_g * mirror, b * F(0.62) + far_b * mirror
        if kind == WINDOW and power > 0 and hashed(np.uint32(style) * np.uint32(131) + np.uint32(part)) % np.uint32(100) < np.uint32(58):
            r += (F(1.0) - r) * F(0.95) * power
            g += (F(0.84) - g) * F(0.92) * power
            b += (F(0.50) - b) * F(0.85) * power
    elif kind in (HEADLAMP, TAILLAMP, GLOW):
        lit = F(0.35) + F(0.65) * power
        r, g, b = r + (own_r - r) * lit, g + (own_g - g) * lit, b + (own_b - b) * lit
    return r, g, b
