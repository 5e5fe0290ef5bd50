"""A street to play with: :class:`Town`, the friendly, mutable face of one scene (the paper's section 2.1)."""

from simtown.town.things import Thing, TownError
from simtown.town.town import Frame, Town

__all__ = ["Frame", "Thing", "Town", "TownError"]
