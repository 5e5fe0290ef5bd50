"""The look of a weather: the light, the air and what falls through it, as one row of numbers a scene.

A :class:`Look` holds the numbers of a weather at one intensity; a row mixes those of intensities 0 and 1.
Rows are made of additions, multiplications and square roots alone: they are the same on every processor.
"""

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from simtown.core.exact import cos, sin
from simtown.core.untrusted import parse_toml
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


_TOML = (files("simtown.render") / "looks.toml").read_text(encoding="utf-8")
#: How each of ``simtown.scenes.weather.WEATHERS`` looks, at intensity 0 and at intensity 1.
LOOKS = {name: [Look(**look) for look in looks] for name, looks in parse_toml(_TOML).items()}
#: What falls (RAIN or FLAKES) in a weather; in the others nothing does.
FALLS = {"rain": RAIN, "snow": FLAKES}


def _row(look: Look, thick: float, falls: float) -> list[float]:
    """The columns of a light row from SUN on; fog is `thick`, per metre, to the fourth power."""

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
    numbers = [look.density, thick, look.snow, look.wet, look.lamps, look.shadow, look.contact]
    numbers += [falls, look.amount, look.cloud, look.cover, look.stars]
    return [channel for colour in colours for channel in colour] + numbers


#: Numbers of every weather at intensity 0 and at intensity 1: (weathers, 2, COLUMNS - SUN) float64.
TABLE = np.array(
    [
        [_row(LOOKS[name][end], FOG_THICK[end] * (name == "fog"), FALLS.get(name, NOTHING)) for end in (0, 1)]
        for name in WEATHERS
    ]
)


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
