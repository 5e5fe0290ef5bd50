"""A street to play with: :class:`Town`, the friendly, mutable face of one scene (the paper's section 2.1)."""

from simtown.town.checks import TownError
from simtown.town.motion.filming import TownFilm
from simtown.town.snapshot import Frame
from simtown.town.things import Thing
from simtown.town.town import Town

__all__ = ["Frame", "Thing", "Town", "TownError", "TownFilm"]
