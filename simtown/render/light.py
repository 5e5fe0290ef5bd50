"""How a weather looks: the light, the air and what falls through it, as one row of numbers a scene.

A :class:`Light` row is made from the scene's weather, its intensity and the sun's place by additions, multiplications and
square roots only, so that it is the same on every processor.
"""

from __future__ import annotations

import numpy as np

from simtown.exact import cos, sin
from simtown.scenes.weather import WEATHERS

# Columns of a light row (float32).
SUN_DIRECTION, SUN, SKY, BOUNCE, FOG, TOP, HORIZON = 0, 3, 6, 9, 12, 15, 18
DENSITY, SNOW, WET, LAMPS, SHADOW, FALL, AMOUNT, CLOUD = range(21, 29)
COLUMNS = 29
#: What falls (column FALL).
NOTHING, RAIN, FLAKES = 0.0, 1.0, 2.0

# At intensity 0 and 1: sun, sky (ambient from above), bounce (ambient from below), fog, sky's top, sky's horizon, as 0xRRGGBB
# with a gain each, then fog density per metre, snow cover, wetness, lamps, shadow strength, amount falling, cloud brightness.
_Look = tuple[tuple[int, float], tuple[int, float], tuple[int, float], int, int, int, tuple[float, ...]]
_LOOKS: dict[str, tuple[_Look, _Look]] = {
    "clear": (
        ((0xFFF3DC, 0.62), (0xDDEBFF, 0.60), (0xE8DCC8, 0.34), 0xCFE6F7, 0x7DBCEE, 0xD8EEFA, (0.0016, 0, 0, 0, 0.42, 0, 1.00)),
        ((0xFFEFCF, 0.74), (0xD6E6FF, 0.56), (0xEADBC2, 0.34), 0xCBE4F8, 0x4F9FE6, 0xCDE9FB, (0.0012, 0, 0, 0, 0.50, 0, 1.02)),
    ),
    "cloudy": (
        ((0xFFF8EC, 0.34), (0xE6ECF2, 0.74), (0xD8D6CE, 0.42), 0xD6DEE4, 0xA9BDCC, 0xDFE6EA, (0.0022, 0, 0, 0, 0.24, 0, 0.97)),
        ((0xF4F4F2, 0.14), (0xDCE2E8, 0.80), (0xCFCEC9, 0.44), 0xC3CBD2, 0x93A2AF, 0xC9D1D7, (0.0034, 0, 0, 0, 0.13, 0, 0.90)),
    ),
    "rain": (
        ((0xE8EEF2, 0.18), (0xD3DDE6, 0.86), (0xBFC3C6, 0.46), 0xB9C5CE, 0x8C9CAA, 0xC0CCD4, (0.0036, 0, 0.5, 0.25, 0.14, 0.35, 0.88)),
        ((0xDCE6EE, 0.09), (0xC3CFDA, 0.86), (0xAEB4B9, 0.46), 0xA0AEB9, 0x6F8090, 0xA6B4BF, (0.0070, 0, 1.0, 0.50, 0.11, 1.0, 0.76)),
    ),
    "fog": (
        ((0xFFFAF0, 0.16), (0xE9EDEF, 0.80), (0xD9D9D4, 0.46), 0xDDE2E4, 0xCFD8DD, 0xDFE4E6, (0.0120, 0, 0.1, 0, 0.12, 0, 0.98)),
        ((0xFFFAF0, 0.08), (0xE9ECED, 0.82), (0xDCDCD8, 0.48), 0xDADFE1, 0xD3D9DC, 0xDBE0E2, (0.0290, 0, 0.2, 0.2, 0.07, 0, 0.97)),
    ),
    "snow": (
        ((0xFFF6E8, 0.34), (0xE6EEF8, 0.84), (0xEDEFF2, 0.50), 0xE3ECF4, 0xA6C4E0, 0xE8F0F7, (0.0026, 0.65, 0, 0, 0.24, 0.35, 1.00)),
        ((0xFBF6F0, 0.18), (0xDFE9F5, 0.92), (0xE9EDF3, 0.54), 0xD9E4EE, 0x9FB8D2, 0xDDE7F0, (0.0066, 1.00, 0, 0.15, 0.16, 1.0, 0.97)),
    ),
    "dusk": (
        ((0xFFB36B, 0.56), (0xC7A7C9, 0.56), (0xC79C86, 0.32), 0xF0BC9A, 0x6C7CB8, 0xFFC48C, (0.0030, 0, 0, 0.45, 0.36, 0, 0.92)),
        ((0xFF8A4F, 0.42), (0x9C8BBE, 0.52), (0xA47C7C, 0.28), 0xD7947F, 0x46508F, 0xFF9E66, (0.0036, 0, 0, 0.85, 0.28, 0, 0.78)),
    ),
    "night": (
        ((0xA9BEF2, 0.30), (0x8FA0DA, 0.68), (0x6C76A4, 0.42), 0x3F4D7C, 0x1C2658, 0x4C5D96, (0.0028, 0, 0, 1.0, 0.26, 0, 0.44)),
        ((0x9DB4EE, 0.22), (0x7C8CC6, 0.64), (0x5E6894, 0.40), 0x303A62, 0x111840, 0x38467A, (0.0034, 0, 0, 1.0, 0.20, 0, 0.32)),
    ),
}  # fmt: skip
_FALL = {"rain": RAIN, "snow": FLAKES}


def _row(look: _Look) -> list[float]:
    def rgb(colour: int, gain: float = 1.0) -> list[float]:
        return [(colour >> shift & 255) / 255.0 * gain for shift in (16, 8, 0)]

    sun, sky, bounce, fog, top, horizon, (density, snow, wet, lamps, shadow, amount, cloud) = look
    return [
        *rgb(*sun),
        *rgb(*sky),
        *rgb(*bounce),
        *rgb(fog),
        *rgb(top),
        *rgb(horizon),
        density,
        snow,
        wet,
        lamps,
        shadow,
        0.0,
        amount,
        cloud,
    ]


_TABLE = np.array([[_row(ends) for ends in _LOOKS[name]] for name in WEATHERS])
_FALLS = np.array([_FALL.get(name, NOTHING) for name in WEATHERS])


def lights(weather: np.ndarray, intensity: np.ndarray, sun: np.ndarray) -> np.ndarray:
    """Light rows of n scenes.

    Args:
        weather: (n,) indices of :data:`~simtown.scenes.weather.WEATHERS`.
        intensity: (n,) in [0, 1].
        sun: (n, 2) azimuth (counter-clockwise from +x) and elevation, radians.

    Returns:
        (n, COLUMNS) float32.
    """
    t = intensity.astype(np.float64)[:, None]
    azimuth, elevation = sun[:, 0].astype(np.float64), sun[:, 1].astype(np.float64)
    out = np.zeros((len(weather), COLUMNS))
    out[:, SUN:] = _TABLE[weather, 0] * (1 - t) + _TABLE[weather, 1] * t
    out[:, 0], out[:, 1], out[:, 2] = cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation)
    out[:, FALL] = _FALLS[weather]
    return out.astype(np.float32)
