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
def shade(light, palette, kinds, tints, m, style, part, nx, ny, nz, lx, ly, lz, out):
    """Colour of a face of material m with object normal n and object-space sun direction l, before fog: out[0:3]."""
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
    snow = light[L.SNOW]
    if snow > 0 and kind != GLASS and kind != CLOUD_KIND:
        cover = min(max((nz - F(0.25)) * F(2.5), F(0.0)), F(1.0)) * snow
        if kind == ROAD:
            cover *= F(0.62)
        r, g, b = r + (F(0.95) - r) * cover, g + (F(0.97) - g) * cover, b + (F(1.0) - b) * cover
    if kind in (ROAD, GROUND):
        dark = F(1.0) - F(0.3) * light[L.WET]
        r, g, b = r * dark, g * dark, b * dark
    facing = max(nx * lx + ny * ly + nz * lz, F(0.0))
    up = F(0.5) + F(0.5) * nz
    for c in range(3):
        albedo = r if c == 0 else (g if c == 1 else b)
        shine = light[L.SUN + c] * facing + light[L.SKY + c] * up + light[L.BOUNCE + c] * (F(1.0) - up)
        value = albedo * shine
        if kind == CLOUD_KIND:
            value = (light[L.HORIZON + c] * F(0.25) + F(0.75) * light[L.CLOUD]) * (F(0.86) + F(0.14) * nz)
        elif kind in (GLASS, WINDOW):
            value = value * F(0.62) + light[L.HORIZON + c] * (F(0.16) + F(0.2) * max(nz, F(0.0)))
        elif kind in (ROAD, GROUND):
            value += light[L.WET] * light[L.HORIZON + c] * (F(0.16) if kind == ROAD else F(0.07))
        out[c] = value
    power = light[L.LAMPS]
    if kind == WINDOW and power > 0:
        if hashed(np.uint32(style) * np.uint32(131) + np.uint32(part)) % np.uint32(100) < np.uint32(58):
            out[0] += (F(1.0) - out[0]) * F(0.95) * power
            out[1] += (F(0.84) - out[1]) * F(0.92) * power
            out[2] += (F(0.50) - out[2]) * F(0.85) * power
    elif kind in (HEADLAMP, TAILLAMP, GLOW):
        lit = F(0.35) + F(0.65) * power
        out[0] += (r - out[0]) * lit
        out[1] += (g - out[1]) * lit
        out[2] += (b - out[2]) * lit
