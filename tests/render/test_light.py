"""Every weather: its look is in the table, its numbers are in range, and its pictures are its own."""

import pytest

from simtown.render.light import FALLS, LOOKS
from simtown.scenes.weather import WEATHERS


@pytest.mark.parametrize("name", WEATHERS)
def test_every_look_is_in_range(name):
    weakest, strongest = looks = LOOKS[name]
    assert (name in FALLS) == (max(weakest.amount, strongest.amount) > 0)
    for look in looks:
        colours = [colour for colour, _ in (look.sun, look.sky, look.bounce)]
        colours += [look.fog, look.top, look.horizon, look.veil]
        assert all(0 <= colour <= 0xFFFFFF for colour in colours)
        assert all(0 < gain <= 1 for _, gain in (look.sun, look.sky, look.bounce))
        shares = (look.snow, look.wet, look.lamps, look.shadow, look.contact, look.amount)
        assert all(0 <= share <= 1 for share in (*shares, look.stars, look.tint))
        assert min(look.cover, look.density, look.cloud) >= 0
        assert look.gain > 0
