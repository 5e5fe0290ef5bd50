"""Checks of a town's arguments: each returns the value in the right type, or raises :class:`TownError`."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import NamedTuple

import numpy as np

from simtown.assets.palette import PAINTS
from simtown.render.frames import LARGEST, SMALLEST
from simtown.scenes.camera import CAMERAS, NEAR, Camera
from simtown.scenes.scene import Weather
from simtown.scenes.weather import WEATHERS

#: The elevations that the sun may have, radians.
LOWEST_SUN, HIGHEST_SUN = 0.05, math.pi / 2
#: How far from the origin things and cameras may be along each axis (metres), and how fast things may move
#: along it (metres a second) and turn (radians a second).
FARTHEST, QUICKEST = 500.0, 100.0
#: The seeds of a town: whole numbers that a file of JSON can hold.
SEEDS = (-(2**63), 2**63 - 1)
#: The intensity of a weather that is given by its name alone.
INTENSITY = 0.7
#: What others call the attributes of things.
_SYNONYMS = {"colour": "paint", "color": "paint", "angle": "yaw", "rotation": "yaw", "size": "scale"}


class Light(NamedTuple):
    """The place of the sun or the moon in the sky.

    Attributes:
        azimuth: radians, counter-clockwise from +x.
        elevation: radians.
    """

    azimuth: float
    elevation: float


class TownError(ValueError):
    """A town cannot do this; the message says what to change.

    >>> import simtown
    >>> simtown.Town().place("hovercraft")
    Traceback (most recent call last):
    simtown.town.checks.TownError: unknown kind 'hovercraft': did you mean horse cart?
    """


def shown(value: object) -> str:
    """A value as messages show it: one line of at most 60 characters."""
    try:
        line = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        line = "a number of thousands of digits"
    return line if len(line) <= 60 else f"{line[:57]}..."


def folded(name: str) -> str:
    """A name in lower case, with single blanks between words."""
    return " ".join(name.lower().split())


def meaning(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The remedy for an unknown name: "did you mean weather?", or all names there are."""
    names = list(names)
    similar = [n for n in names if n == _SYNONYMS.get(name)] or get_close_matches(name, names, 3, cutoff)
    return f"did you mean {' or '.join(similar)}?" if similar else f"choose among {', '.join(names)}"


def number(value: object, what: str, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite float from `low` to `high`. Raises TownError, which names `what`, for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TownError(f"{what} is {shown(value)}: give a number")
    try:
        converted = float(value)
    except OverflowError:  # a whole number or a fraction that no float can hold
        converted = math.inf
    if not math.isfinite(converted):
        raise TownError(f"{what} is {shown(value)}: give a finite number")
    if not low <= converted <= high:
        limits = f"from {low:g} to {high:.4g}" if high < math.inf else f"of {low:g} or more"
        raise TownError(f"{what} is {shown(value)}: give a number {limits}")
    return converted


def angle(value: object, what: str) -> float:
    """A direction in radians, within a full turn of 0. Raises TownError for more than a turn: degrees."""
    radians = number(value, what)
    if abs(radians) > math.tau + 1e-6:  # scenes store 32 bits
        hint = f"give radians, at most {math.tau:.3f} (a full turn) to either side"
        raise TownError(
            f"{what} is {shown(value)}: {hint}; {radians:g} degrees is {math.radians(radians):.4g}"
        )
    return within_a_turn(radians)


def within_a_turn(radians: float) -> float:
    """The same direction within a full turn of 0, radians; unchanged if it is."""
    return radians if abs(radians) <= math.tau else math.remainder(radians, math.tau)


def whole(value: object, what: str, low: float = -math.inf, high: float = math.inf) -> int:
    """An int from `low` to `high`. Raises TownError for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        limits = f" from {low:.0f} to {high:.0f}" if high < math.inf else ""
        raise TownError(f"{what} is {shown(value)}: give a whole number{limits}")
    return int(value)


def text(value: object, what: str, such_as: str) -> str:
    """A string. Raises TownError, with an example, for anything else."""
    if not isinstance(value, str):
        raise TownError(f"{what} is {shown(value)}: give a text such as '{such_as}'")
    return value


def file_path(value: object) -> Path:
    """A path. Raises TownError for what cannot be one."""
    if not isinstance(value, str | Path) or re.search("[\0\ud800-\udc7f\udd00-\udfff]", str(value)):
        raise TownError(f"the path is {shown(value)}: give a text such as 'town.json'")
    return Path(value)


def several(value: object, what: str, parts: Sequence[str]) -> list[object]:
    """One value for each of the parts. Raises TownError for another number of values, or for no sequence."""
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(values, list | tuple) or len(values) != len(parts):
        raise TownError(f"{what} is {shown(value)}: give ({', '.join(parts)})")
    return list(values)


def paint(value: object, what: str) -> str | None:
    """A paint's name, or None for a kind's own paint. Raises TownError for anything else."""
    if value is None:
        return None
    name = folded(text(value, what, "red"))
    if name not in PAINTS:
        raise TownError(f"unknown {what} {shown(value)}: {meaning(name, PAINTS, 0.5)}")
    return name


def velocity(value: object, what: str) -> tuple[float, float, float]:
    """Three speeds of at most QUICKEST metres a second. Raises TownError for anything else."""
    x, y, z = (number(v, what, -QUICKEST, QUICKEST) for v in several(value, what, ("x", "y", "z")))
    return x, y, z


def picture_size(value: object) -> tuple[int, int]:
    """Width and height in pixels, of a pair or of a square's side.

    Raises TownError for a size that no renderer draws.
    """
    square = isinstance(value, Integral)
    sides = [value, value] if square else several(value, "size", ("width", "height"))
    width, height = (whole(side, "a side of the picture in pixels", SMALLEST, LARGEST) for side in sides)
    return width, height


def lane(value: object) -> str | None:
    """A lane's name, or None. Raises TownError for anything else."""
    name = value if value is None else folded(text(value, "lane", "near"))
    if name not in (None, "near", "far"):
        raise TownError(f"lane is {shown(value)}: give 'near' or 'far'")
    return name


def light(value: object) -> Light:
    """The sun's azimuth and elevation, radians. Raises TownError for anything else."""
    azimuth, elevation = several(value, "light", ("azimuth", "elevation"))
    height = number(elevation, "the sun's elevation", LOWEST_SUN, HIGHEST_SUN)
    return Light(angle(azimuth, "the sun's azimuth"), height)


def changed_weather(now: Weather, value: object) -> Weather:
    """The weather of a kind, of (kind, intensity) or of a Weather, with the sun of now.

    Raises TownError for anything else.
    """
    kind, intensity = value, INTENSITY
    if isinstance(value, tuple | list) and len(value) == 2:
        kind, intensity = value
    if isinstance(kind, str):
        value = replace(now, kind=folded(kind), intensity=intensity)
    return weather(value)


def weather(value: object) -> Weather:
    """A copy of a weather that renderers can draw. Raises TownError for anything else."""
    if not isinstance(value, Weather):
        others = "('snow', 0.9) or a Weather"
        raise TownError(f"the weather is {shown(value)}: give one of {', '.join(WEATHERS)}, {others}")
    kind = text(value.kind, "the weather's kind", "snow")
    if kind not in WEATHERS:
        raise TownError(f"unknown weather {shown(kind)}: {meaning(kind, WEATHERS)}")
    intensity = number(value.intensity, "the weather's intensity", 0.0, 1.0)
    seed = whole(value.seed, "the weather's seed", 0, 2**32 - 1)
    return Weather(kind, intensity, *light((value.sun_azimuth, value.sun_elevation)), seed)


#: The ranges of a camera's numbers, metres and radians; its x and y may be anywhere, its yaw any angle.
_CAMERA = {"z": (0.3, FARTHEST), "pitch": (-1.2, 1.2), "focal": (0.2, 20.0), "bottom": (-20.0, 20.0)}


def camera(value: object) -> Camera:
    """A camera that renderers can look through, or one of CAMERAS. Raises TownError for anything else."""
    if isinstance(value, str) and folded(value) in CAMERAS:
        return CAMERAS[folded(value)]
    if not isinstance(value, Camera):
        example = f"one of {', '.join(CAMERAS)}, or a Camera such as replace(town.camera, x=2.0)"
        raise TownError(f"the camera is {shown(value)}: give {example}")
    values = vars(value) | {"yaw": angle(value.yaw, "the camera's yaw")}
    for name in ("x", "y", *_CAMERA):
        limits = _CAMERA.get(name, (-FARTHEST, FARTHEST))
        values[name] = number(values[name], f"the camera's {name}", *limits)
    camera = Camera(**values)
    # renderers leave out what is nearer than NEAR; of the ground, the picture's lower edge is nearest
    descent = -math.sin(camera.pitch) - camera.bottom * math.cos(camera.pitch)
    lowest = NEAR * descent
    if camera.z < lowest:
        raise TownError(
            f"the picture's lower edge would show ground only {camera.z / descent:.2f} m from the camera, "
            f"and nothing nearer than {NEAR:g} m is drawn: give the camera a z of "
            f"{math.ceil(100 * lowest) / 100:.2f} or more, or a higher bottom or pitch"
        )
    return camera
