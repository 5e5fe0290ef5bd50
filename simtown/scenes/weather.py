"""The weathers of the town, and drawing one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simtown.streams import Stream

#: Every weather; a scene stores an index into this tuple (append, do not reorder).
WEATHERS: tuple[str, ...] = ("clear", "cloudy", "rain", "fog", "snow", "dusk", "night")
#: The sun stands on the viewer's side of the street: azimuths, and elevations by day and at dusk, radians.
_AZIMUTH, _DAY, _DUSK = (-2.8, -0.34), (0.66, 1.12), (0.36, 0.55)


@dataclass(frozen=True)
class WeatherDraw:
    """Weather of n scenes: arrays as in :class:`~simtown.scenes.scene.SceneBatch`."""

    weather: np.ndarray
    intensity: np.ndarray
    sun: np.ndarray
    fall_seed: np.ndarray


def draw_weather(stream: Stream, index: np.ndarray, allowed: tuple[str, ...]) -> WeatherDraw:
    """Weather of the examples `index`, uniform over the `allowed` kinds. Raises ValueError for an unknown kind."""
    unknown = [w for w in allowed if w not in WEATHERS]
    if unknown or not allowed:
        raise ValueError(f"unknown weather '{', '.join(unknown)}'; choose among: all, {', '.join(WEATHERS)}")
    u = stream.uniform(index, 5)
    kinds = np.array([WEATHERS.index(w) for w in allowed], dtype=np.uint8)
    weather = kinds[(u[:, 0] * len(kinds)).astype(np.int64)]
    low, high = np.where((weather == WEATHERS.index("dusk"))[:, None], np.array(_DUSK), np.array(_DAY)).T
    sun = np.stack([_AZIMUTH[0] + u[:, 2] * (_AZIMUTH[1] - _AZIMUTH[0]), low + u[:, 3] * (high - low)], axis=1)
    return WeatherDraw(weather, u[:, 1].astype(np.float32), sun.astype(np.float32), (u[:, 4] * 2.0**32).astype(np.uint32))
