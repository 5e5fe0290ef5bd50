"""The weathers of the town, and drawing one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.exact import inner_kernel, kernel
from simtown.streams import Stream, uniform, words

#: Every weather; a scene stores an index into this tuple (append, do not reorder).
WEATHERS: tuple[str, ...] = ("clear", "cloudy", "rain", "fog", "snow", "dusk", "night")
#: The sun stands on the viewer's side of the street: azimuths, and elevations by day and at dusk, radians.
_AZIMUTH, _DAY, _DUSK = (-2.8, -0.34), (0.66, 1.12), (0.36, 0.55)
_0, _1 = np.int64(0), np.int64(1)
_AT_DUSK = WEATHERS.index("dusk")


@dataclass(frozen=True)
class WeatherDraw:
    """Weather of n scenes: arrays as in :class:`~simtown.scenes.scene.SceneBatch`."""

    weather: np.ndarray
    intensity: np.ndarray
    sun: np.ndarray
    fall_seed: np.ndarray


@inner_kernel
def weather_of(key, index, kinds):  # type: ignore[no-untyped-def]
    """The weather of one example, one of `kinds` (numbers of WEATHERS): kind, intensity, azimuth, elevation, seed of what falls."""
    (a, b, c, d), (e, _, _, _) = words(key, index, _0, _0), words(key, index, _0, _1)
    kind = kinds[int(uniform(a) * len(kinds))]
    low, high = _DUSK if kind == _AT_DUSK else _DAY
    azimuth, elevation = _AZIMUTH[0] + uniform(c) * (_AZIMUTH[1] - _AZIMUTH[0]), low + uniform(d) * (high - low)
    return kind, uniform(b), azimuth, elevation, np.uint32(uniform(e) * 2.0**32)


@kernel
def _draw_weather(key, index, kinds, weather, intensity, sun, fall_seed):  # type: ignore[no-untyped-def]
    for n in range(len(index)):
        weather[n], intensity[n], sun[n, 0], sun[n, 1], fall_seed[n] = weather_of(key, index[n], kinds)


def weather_numbers(allowed: tuple[str, ...]) -> np.ndarray:
    """Indices of WEATHERS by name, uint8. Raises ValueError if one is unknown, or if there is none."""
    unknown = [w for w in allowed if w not in WEATHERS]
    if unknown or not allowed:
        raise ValueError(f"unknown weather '{', '.join(unknown)}'; choose among: all, {', '.join(WEATHERS)}")
    return np.array([WEATHERS.index(w) for w in allowed], dtype=np.uint8)


def draw_weather(stream: Stream, index: np.ndarray, allowed: tuple[str, ...]) -> WeatherDraw:
    """Weather of the examples `index`, uniform over the `allowed` kinds. Raises ValueError for an unknown kind."""
    n = len(index)
    drawn = WeatherDraw(
        np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.float32), np.zeros((n, 2), dtype=np.float32), np.zeros(n, dtype=np.uint32)
    )
    index = np.ascontiguousarray(index, dtype=np.int64)
    _draw_weather(stream.key, index, weather_numbers(allowed), drawn.weather, drawn.intensity, drawn.sun, drawn.fall_seed)
    return drawn
