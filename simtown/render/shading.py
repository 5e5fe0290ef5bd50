"""The colour of a face: its material under the scene's light, before and behind the air."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from simtown.assets.palette import (
    CLOUD,
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
from simtown.core.exact import inner_kernel
from simtown.render.light import CLOUD_LIGHT, HORIZON, LAMPS, SNOW, TOP, VEHICLE_SUN, WET

F = np.float32


@inner_kernel
def hashed(a):
    """A well-mixed uint32 of a uint32 (the finaliser of MurmurHash3)."""
    h = np.uint32(a)
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ np.uint32(h >> np.uint32(16)))


@inner_kernel
def clear_air(density, thick, depth):
    """Share of light that crosses `depth` metres of air, by a rational close to exp(-x).

    Haze takes the same share of every metre. Fog takes far more of what is far: x grows with the fourth power
    of thick * depth, so that buildings vanish in a fog in which vehicles are still seen.
    """
    wall = thick * depth
    wall = wall * wall
    x = density * depth + wall * wall
    return F(1.0) / (F(1.0) + x * (F(1.0) + x * (F(0.5) + x * F(1.0 / 6.0))))


@inner_kernel
def shade(light, sun, palette, kinds, tints, m, style, part, nz, facing, glance):
    """Colour (r, g, b) of a face before fog.

    Args:
        light: a row of light (see light.py).
        sun: column of `light` at which the light that falls on it begins (sun, sky, bounce): SUN, or
            VEHICLE_SUN for vehicles.
        palette: (c, 3) colours of materials.
        kinds: (c,) kinds of materials.
        tints: (3, TINTS, 3) colours of walls, roofs and cloth.
        m: its material.
        style: of its thing.
        part: its window's number.
        nz: upward part of its normal.
        facing: cosine towards the sun, at least 0.
        glance: upward part of the ray that a mirror would send from it to the eye (glass and windows only).
    """
    up = F(0.5) + F(0.5) * nz
    down = F(1.0) - up
    shine_r = light[sun] * facing + light[sun + 3] * up + light[sun + 6] * down
    shine_g = light[sun + 1] * facing + light[sun + 4] * up + light[sun + 7] * down
    shine_b = light[sun + 2] * facing + light[sun + 5] * up + light[sun + 8] * down
    far_r, far_g, far_b = light[HORIZON], light[HORIZON + 1], light[HORIZON + 2]
    # `light` is read early: see part_of_kernel
    snow, wet, power, cloud = light[SNOW], light[WET], light[LAMPS], light[CLOUD_LIGHT]
    sky_r, sky_g, sky_b = light[TOP], light[TOP + 1], light[TOP + 2]
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
    elif kind == CLOUD:
        bright = F(0.86) + F(0.14) * nz
        glow = F(0.75) * cloud
        return (
            (far_r * F(0.25) + glow) * bright,
            (far_g * F(0.25) + glow) * bright,
            (far_b * F(0.25) + glow) * bright,
        )
    if snow > 0 and kind != GLASS:
        cover = min(max((nz - F(0.18)) * F(2.4), F(0.0)), F(1.0)) * snow
        if sun == VEHICLE_SUN:
            cover *= F(0.8)  # so that a white top still tells its paint
        if kind == ROAD:
            cover *= F(0.70)
        r, g, b = r + (F(0.95) - r) * cover, g + (F(0.97) - g) * cover, b + (F(1.0) - b) * cover
    if kind in (ROAD, GROUND):
        dark = F(1.0) - wet * (F(0.46) if kind == ROAD else F(0.30))
        mirror = wet * (F(0.13) if kind == ROAD else F(0.05))
        return (
            r * dark * shine_r + mirror * far_r,
            g * dark * shine_g + mirror * far_g,
            b * dark * shine_b + mirror * far_b,
        )
    own_r, own_g, own_b = r, g, b
    r, g, b = r * shine_r, g * shine_g, b * shine_b
    if kind in (GLASS, WINDOW):
        high = min(max(glance * F(1.5), F(0.0)), F(1.0))  # how far up the sky it shows
        low = F(1.0) - min(max(glance * F(-2.2), F(0.0)), F(0.72))  # less, the more of the street
        mirror = F(0.44)
        r = r * F(0.60) + (far_r + (sky_r - far_r) * high) * low * mirror
        g = g * F(0.60) + (far_g + (sky_g - far_g) * high) * low * mirror
        b = b * F(0.60) + (far_b + (sky_b - far_b) * high) * low * mirror
        if kind == WINDOW and power > 0:
            chance = hashed(np.uint32(style) * np.uint32(131) + np.uint32(part))
            if chance % np.uint32(100) < np.uint32(58):
                lit = power * (F(0.72) + F(0.28) * F(chance >> np.uint32(24)) * F(1.0 / 255.0))
                r += (F(1.0) - r) * F(0.97) * lit
                g += (F(0.83) - g) * F(0.94) * lit
                b += (F(0.47) - b) * F(0.88) * lit
    elif kind in (HEADLAMP, TAILLAMP, GLOW):
        lit = F(0.35) + F(0.65) * power
        r, g, b = r + (own_r - r) * lit, g + (own_g - g) * lit, b + (own_b - b) * lit
    return r, g, b


@inner_kernel
def shade_faces(light, suns, palette, kinds, tints, materials, styles, parts, nz, facing, glance, out):
    """As shade for t faces at once: writes (t, 3) colours to `out`.

    All but light, palette, kinds and tints are (t,).
    """
    for t in range(len(out)):
        out[t, 0], out[t, 1], out[t, 2] = shade(light, suns[t], palette, kinds, tints, materials[t],
                                                styles[t], parts[t], nz[t], facing[t],
                                                glance[t])  # fmt: skip
