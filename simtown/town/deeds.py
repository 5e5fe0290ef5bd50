"""What vehicles do in the pictures of a film, judged as data sets do (language/meaning/moments.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from simtown.language.meaning.limits import DRIVEN, FASTER, PACE_RATIO, PASSED
from simtown.language.meaning.moments import aside_of, meetings_of, show
from simtown.language.meaning.programs import MEETINGS, OVER_PICTURES, OVER_TIME, SPEEDS
from simtown.language.meaning.solids import truth
from simtown.scenes.sequence import Sequence, in_order, pictures, travel
from simtown.town.qualities import Judgement, TooCloseError
from simtown.town.things import Thing, the

#: Words of the forms that ask about a film.
ABOUT_FILMS = frozenset(
    ("motion", "drive", "pace", *MEETINGS, *OVER_PICTURES, *SPEEDS, "overtaking", "overtaken by")
)
#: What makes the value of a deed clear.
_NEEDS = dict.fromkeys(
    ("motion", "drive"), f"two pictures that follow each other must show all of it, {DRIVEN:g} m apart"
) | {
    "pace": f"all pictures must show all of it, and its speed change {PACE_RATIO:g} times between the second "
    "and the last but one",
}


class Deeds:
    """The deeds of a town's vehicles in P pictures.

    Args:
        things: all of the town, the vehicles first.
        sequence: one, of these vehicles.
        visible: names of the things that the first picture shows.

    Attributes:
        count: P.
        seen: names of the things that some picture shows, vehicles whole.
    """

    def __init__(self, things: list[Thing], sequence: Sequence, visible: set[str]) -> None:
        self.count = sequence.seconds.shape[1]
        order = in_order(self.count)
        self._sequence = sequence
        self._shown = shown = show(sequence, order)
        self._slots = {t.name: slot for slot, t in enumerate(things)}
        vehicles = [t.name for t in things if t.group == "vehicle"]
        own = shown.seen[0, :, : len(vehicles)]
        self.seen = {name for name, seen in zip(vehicles, own.T, strict=True) if seen.any()}
        self.seen |= {t.name for t in things if t.name in visible}
        pose = np.repeat([[(t.x, t.y, t.yaw) for t in things]], self.count, axis=0)
        moved = travel(sequence.motion, sequence.seconds)[0, :, : len(vehicles)]
        pose[:, : len(vehicles), 0] += moved
        self._x = pose[..., 0]
        seen = np.repeat([[t.name in visible for t in things]], self.count, axis=0)
        seen[:, : len(vehicles)] = own
        aside = aside_of(pose[None], pictures(sequence, order).camera[None])
        self._meetings = meetings_of(self._x[None], aside, seen[None])

    def _path(self, thing: Thing) -> float:
        """Metres towards +x."""
        xs = self._x[:, self._slots[thing.name]]
        return float(xs[-1] - xs[0])

    def speed(self, thing: Thing) -> float:
        """Metres a second, from the first picture to the last."""
        seconds = self._sequence.seconds[0]
        return abs(self._path(thing)) / float(seconds[-1] - seconds[0])

    def track(self, thing: Thing) -> np.ndarray:
        """(P, 2) the places of a thing, metres."""
        xs = self._x[:, self._slots[thing.name]]
        return np.column_stack([xs, np.full_like(xs, thing.y)])

    def value(self, deed: str, thing: Thing) -> tuple[Any, str]:
        """The value of a deed of OVER_TIME, None if a thing that stands has none, and a sentence.

        Raises TooCloseError where data sets call it too close to say.
        """
        slot, path = self._slots[thing.name], self._path(thing)
        seconds = float(self._sequence.seconds[0, -1] - self._sequence.seconds[0, 0])
        side = "right" if path > 0 else "left"
        why = f"{the(thing)} goes {abs(path):.2f} m to the {side} in {seconds:g} s"
        first, then, change = (abs(float(part)) for part in self._motion(thing))
        if not (first or then):
            return ("still" if deed == "motion" else None), f"{the(thing)} stands still"
        if deed == "pace":
            why = f"{the(thing)} drives at {first:g} m/s"
            why += f", and at {then:g} m/s from second {change:g} on" if then != first else ""
        elif deed == "drive":
            why += f", and faces {'right' if np.cos(thing.front) > 0 else 'left'}"
        place = int(self._shown.deeds[deed][0, slot])
        if place < 0:
            raise TooCloseError(f"{why}; {_NEEDS[deed]}")
        return OVER_TIME[deed][place], why

    def _motion(self, thing: Thing) -> np.ndarray:
        if thing.group != "vehicle":
            return np.zeros(3)
        return np.asarray(self._sequence.motion[0, self._slots[thing.name]])

    def faster(self, sign: int, a: Thing, b: Thing) -> Judgement:
        """Whether a vehicle drives farther than another one (1), or less far (-1)."""
        paths = [abs(self._path(t)) for t in (a, b)]
        ends = self._shown.travel[0]
        unseen = [t for t in (a, b) if t.group == "vehicle" and np.isnan(ends[self._slots[t.name]])]
        why = f"{the(a)} drives {paths[0]:.2f} m, {the(b)} {paths[1]:.2f} m"
        margin = sign * (paths[0] - paths[1])
        holds = truth(margin, FASTER)
        if unseen:
            why += f"; the first and the last picture must show all of {the(unseen[0])}"
            return Judgement(None, why, margin=margin)
        return Judgement(holds, f"{why}; {FASTER:g} m more count" if holds is None else why, margin=margin)

    def meets(self, meeting: str, thing: Thing, other: Thing, picture: int) -> Judgement:
        """Whether a thing passes or nears another, as MEETINGS say, in a picture, from 0 on."""
        if thing is other:
            return Judgement(False, f"{the(thing)} is the same thing", applies=False)
        slot, to = self._slots[thing.name], self._slots[other.name]
        place = int(self._meetings[meeting][0, picture, slot, to])
        gaps = self._x[:, slot] - self._x[:, to]
        number = range(self.count)[picture] + 1
        if meeting == "nears":
            why = f"picture {number} shows them {abs(gaps[picture]):.2f} m apart along the road"
            needs = f"all must show both, nearest in one by {PASSED:g} m, also as the camera sees them"
        else:
            sides = [f"{abs(g):.2f} m {'right' if g > 0 else 'left'}" for g in (gaps[0], gaps[picture])]
            why = f"{the(thing)} is {sides[0]} of {the(other)} in picture 1"
            why += f", and {sides[1]} of it in picture {number}"
            needs = f"these must show both, more than {PASSED:g} m apart"
        return Judgement(place > 0 if place else None, why if place else f"{why}; {needs}")
