"""Every weather: its look is in the table, its numbers are in range, and its pictures are its own."""

import pytest

from simtown.render.light import FLAKES, LOOKS, NOTHING, RAIN
from simtown.scenes.weather import WEATHERS


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
        shares = ("snow", "wet", "lamps", "shadow", "contact", "amount", "stars", "tint")
        assert all(0 <= getattr(look, share) <= 1 for share in shares)
        assert min(look.cover, look.density, look.thick, look.cloud) >= 0
        assert look.gain > 0
