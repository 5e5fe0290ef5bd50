"""How a weather looks: the light, the air and what falls through it, as one row of numbers a scene.

A :class:`Look` holds the numbers of a weather at one intensity; a row mixes those of intensities 0 and 1.
Rows are made of additions, multiplications and square roots alone: they are the same on every processor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simtown.core.exact import cos, sin
from simtown.scenes.weather import FOG_THICK, WEATHERS

# Columns of a light row (float32): the sun's direction, then colours of three columns each, then numbers.
SUN_DIRECTION, SUN, SKY_LIGHT, BOUNCE, FOG, TOP, HORIZON, VEIL = range(0, 24, 3)
#: As SUN, SKY_LIGHT and BOUNCE, for vehicles.
VEHICLE_SUN = 24
DENSITY, THICK, SNOW, WET, LAMPS, SHADOW, CONTACT, FALL, AMOUNT, CLOUD_LIGHT, COVER, STARS = range(33, 45)
COLUMNS = 45
#: What falls (column FALL).
NOTHING, RAIN, FLAKES = 0.0, 1.0, 2.0


class Look(NamedTuple):
    """One weather at one intensity. Colours are 0xRRGGBB; light is a colour and a gain.

    Attributes:
        sun: light of the sun.
        sky: light from above.
        bounce: light from below.
        fog: colour of the air.
        top: colour of the sky at its top.
        horizon: colour of the sky above the horizon.
        veil: colour of the cloud cover.
        cover: share of the sky that the cloud cover hides.
        density: of haze, per metre.
        thick: of fog, per metre, to the fourth power (see shading.clear_air).
        snow: how much the ground is covered with snow.
        wet: how much the ground is covered with water.
        lamps: how bright lamps are.
        shadow: how dark shadows in the sun are.
        contact: how dark shadows under things are.
        amount: how much falls.
        cloud: brightness of single clouds.
        stars: how many are out.
        tint: how much of the light's colour vehicles take on.
        gain: how bright the light is for vehicles.
    """

    sun: tuple[int, float]
    sky: tuple[int, float]
    bounce: tuple[int, float]
    fog: int
    top: int
    horizon: int
    veil: int = 0xFFFFFF
    cover: float = 0.0
    density: float = 0.0
    thick: float = 0.0
    snow: float = 0.0
    wet: float = 0.0
    lamps: float = 0.0
    shadow: float = 0.0
    contact: float = 0.4
    amount: float = 0.0
    cloud: float = 1.0
    stars: float = 0.0
    tint: float = 1.0
    gain: float = 1.0


#: How each of ``simtown.scenes.weather.WEATHERS`` looks, at intensity 0 and at intensity 1.
LOOKS: dict[tuple[str, int], Look] = {
    ("clear", 0): Look(
        sun=(0xFFEFD6, 0.46), sky=(0xE4ECF6, 0.64), bounce=(0xE8DCC8, 0.36),
        fog=0xDDE9F1, top=0xA9D0EE, horizon=0xEAF3F8,
        density=0.0044, shadow=0.30, cloud=0.98,
    ),
    ("clear", 1): Look(
        sun=(0xFFEDC4, 0.84), sky=(0xCFE2FF, 0.54), bounce=(0xECD9BC, 0.34),
        fog=0xC4E2F8, top=0x2F86E0, horizon=0xBFE4FB,
        density=0.0008, shadow=0.56, cloud=1.03,
    ),
    ("cloudy", 0): Look(
        sun=(0xFFF4E0, 0.60), sky=(0xDCE8F8, 0.62), bounce=(0xE2DACB, 0.36),
        fog=0xD2E3EF, top=0x5FA8E8, horizon=0xCFE7F8, veil=0xF7F8F8, cover=0.36,
        density=0.0016, shadow=0.42,
    ),
    ("cloudy", 1): Look(
        sun=(0xE6E8EA, 0.05), sky=(0xC4CBD3, 0.72), bounce=(0xB4B5B4, 0.40),
        fog=0xA3ABB3, top=0xA2ACB6, horizon=0xBCC4CB, veil=0x6E7883, cover=1.10,
        density=0.0070, shadow=0.05, contact=0.46, cloud=0.70,
    ),
    ("rain", 0): Look(
        sun=(0xEEF1F2, 0.26), sky=(0xD6DFE8, 0.80), bounce=(0xC4C7C8, 0.44),
        fog=0xC0CCD5, top=0x9DB0C1, horizon=0xCBD6DE, veil=0xA9B4BE, cover=0.8,
        density=0.0030, wet=0.22, lamps=0.10, shadow=0.16, amount=0.08, cloud=0.90,
    ),
    ("rain", 1): Look(
        sun=(0xC8D4DE, 0.03), sky=(0xA6B4C2, 0.74), bounce=(0x8E979F, 0.42),
        fog=0x7E8C99, top=0x55626F, horizon=0x7F8D99, veil=0x4B5662, cover=1.0,
        density=0.0125, wet=1.0, lamps=0.85, shadow=0.04, contact=0.46, amount=1.0, cloud=0.55,
        tint=0.5, gain=1.32,
    ),
    ("fog", 0): Look(
        sun=(0xFFFAF0, 0.34), sky=(0xE6EDF3, 0.70), bounce=(0xDCD9D0, 0.42),
        fog=0xDCE4E9, top=0xB4CCDF, horizon=0xDDE6EB,
        density=0.0060, thick=FOG_THICK[0], shadow=0.26,
    ),
    ("fog", 1): Look(
        sun=(0xFFFAF0, 0.05), sky=(0xE9ECED, 0.82), bounce=(0xDCDCD8, 0.46),
        fog=0xD5DADC, top=0xD0D6D9, horizon=0xD5DADC,
        density=0.0060, thick=FOG_THICK[1], wet=0.2, lamps=0.3, shadow=0.03, contact=0.50, cloud=0.9,
        gain=0.92,
    ),
    ("snow", 0): Look(
        sun=(0xFFF4E0, 0.42), sky=(0xDEE8F4, 0.72), bounce=(0xDEDEDC, 0.42),
        fog=0xDCE7F0, top=0x8FB8DF, horizon=0xE2ECF5,
        density=0.0022, snow=0.06, shadow=0.30, amount=0.05,
    ),
    ("snow", 1): Look(
        sun=(0xFBF6F0, 0.10), sky=(0xDCE6F2, 0.88), bounce=(0xE4EAF2, 0.56),
        fog=0xDFE7EF, top=0xB4C3D2, horizon=0xDCE4EC,
        density=0.0090, snow=1.0, lamps=0.2, shadow=0.10, contact=0.44, amount=1.0, cloud=0.94,
        tint=0.8,
    ),
    ("dusk", 0): Look(
        sun=(0xFFC98C, 0.66), sky=(0xD2BCD0, 0.60), bounce=(0xCFB09A, 0.34),
        fog=0xF4CBAA, top=0x8C9CD0, horizon=0xFFD8A4, veil=0xFFE2C4, cover=0.18,
        density=0.0024, lamps=0.25, shadow=0.40, cloud=0.98, tint=0.22, gain=1.06,
    ),
    ("dusk", 1): Look(
        sun=(0xFF7A45, 0.30), sky=(0x7F74AE, 0.46), bounce=(0x8A6470, 0.26),
        fog=0xB4707A, top=0x2E3A7C, horizon=0xFF8A55, veil=0xE0566A, cover=0.40,
        density=0.0036, lamps=1.0, shadow=0.24, cloud=0.66, stars=0.15, tint=0.06, gain=1.75,
    ),
    ("night", 0): Look(
        sun=(0xB4C6F4, 0.36), sky=(0x98A8DC, 0.74), bounce=(0x7884B0, 0.44),
        fog=0x566698, top=0x2C3E80, horizon=0x7686BC,
        density=0.0026, lamps=0.8, shadow=0.28, cloud=0.52, stars=0.15, tint=0.36, gain=1.20,
    ),
    ("night", 1): Look(
        sun=(0x8FA6E4, 0.12), sky=(0x6878B8, 0.42), bounce=(0x505C88, 0.26),
        fog=0x1C2444, top=0x070B22, horizon=0x27335F,
        density=0.0034, lamps=1.0, shadow=0.18, contact=0.5, cloud=0.20, stars=1.0, tint=0.30,
        gain=2.30,
    ),
}  # fmt: skip
#: What falls (RAIN or FLAKES) in a weather; in the others nothing does.
FALLS = {"rain": RAIN, "snow": FLAKES}


def _row(look: Look, falls: float) -> list[float]:
    """The columns of a light row from SUN on."""

    def rgb(colour: int, gain: float = 1.0) -> list[float]:
        return [(colour >> shift & 255) / 255.0 * gain for shift in (16, 8, 0)]

    def for_vehicles(colour: int, gain: float) -> list[float]:
        red, green, blue = rgb(colour, gain * look.gain)
        grey = 0.3 * red + 0.59 * green + 0.11 * blue
        return [grey + (channel - grey) * look.tint for channel in (red, green, blue)]

    sources = (look.sun, look.sky, look.bounce)
    colours = [rgb(*source) for source in sources]
    colours += [rgb(colour) for colour in (look.fog, look.top, look.horizon, look.veil)]
    colours += [for_vehicles(*source) for source in sources]
    numbers = [look.density, look.thick, look.snow, look.wet, look.lamps, look.shadow, look.contact]
    numbers += [falls, look.amount, look.cloud, look.cover, look.stars]
    return [channel for colour in colours for channel in colour] + numbers


#: Numbers of every weather at intensity 0 and at intensity 1: (weathers, 2, COLUMNS - SUN) float64.
TABLE = np.array([[_row(LOOKS[name, end], FALLS.get(name, NOTHING)) for end in (0, 1)] for name in WEATHERS])


def lights(weather: np.ndarray, intensity: np.ndarray, sun: np.ndarray) -> np.ndarray:
    """Light rows of n scenes.

    Args:
        weather: (n,) indices of ``simtown.scenes.weather.WEATHERS``.
        intensity: (n,) in [0, 1].
        sun: (n, 2) azimuth (counter-clockwise from +x) and elevation, radians.

    Returns:
        (n, COLUMNS) float32.
    """
    t = intensity.astype(np.float64)[:, None]
    azimuth, elevation = sun[:, 0].astype(np.float64), sun[:, 1].astype(np.float64)
    rows = np.zeros((len(weather), COLUMNS))
    rows[:, SUN:] = TABLE[weather, 0] * (1 - t) + TABLE[weather, 1] * t
    flat = cos(elevation)
    rows[:, :SUN] = np.stack([flat * cos(azimuth), flat * sin(azimuth), sin(elevation)], axis=1)
    return rows.astype(np.float32)
