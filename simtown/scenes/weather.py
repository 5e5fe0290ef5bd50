"""The weathers of the town, and drawing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from simtown.core.streams import Stream


@dataclass(frozen=True)
class WeatherKind:
    """A weather that a scene may have. :mod:`simtown.render.light` says how it looks.

    Attributes:
        name: of the weather.
        caption: in captions, after the vehicles.
        sentence: in descriptions of a town.
        elevation: lowest and highest elevation of the sun, radians.
        bare_trees: whether trees and hedges have lost their leaves.
        clouds: whether single clouds hang in the sky.
    """

    name: str
    caption: str
    sentence: str
    elevation: tuple[float, float] = (0.66, 1.12)
    bare_trees: bool = False
    clouds: bool = False


#: Every weather; a scene stores an index into this tuple (append, do not reorder).
WEATHER_KINDS: tuple[WeatherKind, ...] = (
    WeatherKind("clear", "in the sun", "The sky is clear.", clouds=True),
    WeatherKind("cloudy", "under clouds", "It is cloudy."),
    WeatherKind("rain", "in the rain", "It is raining."),
    WeatherKind("fog", "in the fog", "It is foggy."),
    WeatherKind("snow", "in the snow", "It is snowing.", bare_trees=True, clouds=True),
    WeatherKind("dusk", "at dusk", "The sun is setting.", elevation=(0.36, 0.55), clouds=True),
    WeatherKind("night", "at night", "It is night."),
)
WEATHERS: tuple[str, ...] = tuple(kind.name for kind in WEATHER_KINDS)
#: How thick fog is at intensity 0 and at 1, per metre: of the light exp(-(thick * metres)^4) comes through.
FOG_THICK = (0.020, 0.061)
#: What a data set has if it names no weathers: those of the first release, however many are added.
DEFAULT_WEATHERS: tuple[str, ...] = WEATHERS[:7]
#: The sun stands on the viewer's side of the street: its lowest and highest azimuth, radians.
_AZIMUTH = (-2.8, -0.34)
#: Columns of the table, for the sampler.
ELEVATIONS = tuple(kind.elevation for kind in WEATHER_KINDS)
BARE_TREES, HAS_CLOUDS = (
    tuple(getattr(kind, name) for kind in WEATHER_KINDS) for name in ("bare_trees", "clouds")
)


def weather_numbers(allowed: tuple[str, ...]) -> np.ndarray:
    """Indices of WEATHERS by name, uint8.

    Raises ValueError if one is unknown, or if there is none.
    """
    import numpy as np

    unknown = [w for w in allowed if w not in WEATHERS]
    if unknown or not allowed:
        raise ValueError(f"unknown weather '{', '.join(unknown)}'; choose among: all, {', '.join(WEATHERS)}")
    return np.array([WEATHERS.index(w) for w in allowed], dtype=np.uint8)


def draw_weather(
    stream: Stream, index: np.ndarray, allowed: tuple[str, ...], weather: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Weather of the examples `index`, uniform over the `allowed` kinds, or of the kinds `weather`, (n,).

    Returns the columns weather, intensity, sun and fall_seed of :class:`~simtown.scenes.scene.SceneBatch`.

    Raises ValueError if one is unknown, or if there is none.
    """
    import numpy as np

    which, intensity, across, up, falling = stream.uniform(index, 5).T
    numbers = weather_numbers(allowed)
    if weather is None:
        weather = numbers[(which * len(numbers)).astype(np.int64)]
    low, high = np.array(ELEVATIONS)[weather].T
    azimuth = _AZIMUTH[0] + across * (_AZIMUTH[1] - _AZIMUTH[0])
    return {
        "weather": weather,
        "intensity": intensity.astype(np.float32),
        "sun": np.stack([azimuth, low + up * (high - low)], axis=1).astype(np.float32),
        "fall_seed": (falling * 2.0**32).astype(np.uint32),
    }
