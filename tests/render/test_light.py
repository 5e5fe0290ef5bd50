"""Every weather: its look is in the table, its numbers are in range, and its pictures are its own."""

from itertools import combinations

import numpy as np
import pytest

from simtown.render.light import FLAKES, LOOKS, NOTHING, RAIN
from simtown.render.raster import Raster
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather
from simtown.scenes.weather import WEATHERS


def test_every_weather_has_a_look():
    assert set(LOOKS) == set(WEATHERS)


@pytest.mark.parametrize("name", WEATHERS)
def test_every_look_is_in_range(name):
    looks = LOOKS[name]
    assert looks.falls in (NOTHING, RAIN, FLAKES)
    assert (looks.falls != NOTHING) == (max(looks.weakest.amount, looks.strongest.amount) > 0)
    for look in (looks.weakest, looks.strongest):
        colours = [colour for colour, _ in (look.sun, look.sky, look.bounce)]
        colours += [look.fog, look.top, look.horizon, look.veil]
        assert all(0 <= colour <= 0xFFFFFF for colour in colours)
        assert all(0 < gain <= 1 for _, gain in (look.sun, look.sky, look.bounce))
        shares = (
            look.snow,
            look.wet,
            look.lamps,
            look.shadow,
            look.contact,
            look.amount,
            look.stars,
            look.tint,
        )
        assert all(0 <= share <= 1 for share in (*shares, look.stars, look.tint))
        assert min(look.cover, look.density, look.thick, look.cloud) >= 0
        assert look.gain > 0


def test_every_weather_and_intensity_draws_other_pictures():
    vehicle, tree = Vehicle("taxi", 0.0, -1.85), Prop("oak", 6.0, 7.9)
    weathers = [Weather(name, intensity) for name in WEATHERS for intensity in (0.0, 1.0)]
    frames = Raster().render(SceneBatch.of([Scene([vehicle], [tree], w) for w in weathers]), 64, 64)
    for (one, a), (other, b) in combinations(zip(weathers, frames.rgb.astype(int), strict=True), 2):
        assert np.abs(a - b).mean() > 2, (one, other)
