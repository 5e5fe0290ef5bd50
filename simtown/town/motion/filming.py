"""Films: what vehicles do that drive as :meth:`simtown.Town.drive` says, in some pictures.

Places come from :func:`simtown.scenes.sequence.pictures`, which makes those of data sets: no physics.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simtown.scenes.footprints import separation
from simtown.scenes.scene import Scene, SceneBatch
from simtown.scenes.sequence import Sequence, pictures, travel
from simtown.town import snapshot
from simtown.town.checks import FARTHEST, TownError, number, picture_size, whole
from simtown.town.deeds import Deeds
from simtown.town.motion import clip
from simtown.town.motion.tracks import MEMORY, write_tracks
from simtown.town.snapshot import Frame
from simtown.town.things import TOUCH, Thing, the, write
from simtown.town.truth import Truth

if TYPE_CHECKING:
    from simtown.town.answering import TownAnswer
    from simtown.town.town import Town

#: The least that the cosine of the heading of a vehicle along the street is.
_ALONG = 0.9
#: As many places are tried where one vehicle may run into something.
_STEPS = 17
#: Other raindrops or flakes so many times a second.
_FALLS = 25


class TownFilm:
    """Pictures of a town whose vehicles drive; see :meth:`simtown.Town.film`.

    It is a sequence of :class:`Frame`, each drawn when it is asked for.

    Attributes:
        seconds: (P,) float64 of each picture, from now on.
        size: width and height of the pictures, pixels.

    >>> import simtown
    >>> town = simtown.Town()
    >>> bus, taxi = town.place("city bus", x=0.0, lane="near"), town.place("taxi", x=6.0, lane="far")
    >>> taxi = town.drive("taxi", 3.0)
    >>> film = town.film(seconds=4, pictures=5, size=(128, 72))
    >>> film.pictures.shape
    (5, 72, 128, 3)
    >>> film.ask("Does the taxi pass the bus?").value
    True
    """

    def __init__(self, town: Town, seconds: np.ndarray, size: int | tuple[int, int]) -> None:
        self._town: Town = pickle.loads(pickle.dumps(town))
        self.seconds, self.size = seconds, picture_size(size)
        _check_paths(town.things, float(seconds[-1]))

    def __len__(self) -> int:
        return len(self.seconds)

    def __getitem__(self, number: int) -> Frame:
        """The picture of a number, from 0 on, with its depth and masks."""
        rows = self._scenes[np.array([range(len(self))[number]])]
        here = rows.entity[0] >= 0  # the camera may stand in a vehicle
        names = [t.name for t in self._town.vehicles]
        drawn = [name for name, is_here in zip(names, here.tolist(), strict=False) if is_here]
        return snapshot.draw(rows, [*drawn, *(t.name for t in self._town.props)], self.size)

    def __iter__(self) -> Iterator[Frame]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        width, height = self.size
        return f"<Film of {self.seconds[-1]:g} s: {len(self)} pictures of {width} x {height}>"

    @cached_property
    def _scenes(self) -> SceneBatch:
        return pictures(_sequence(self._town, self.seconds, self.size))

    @property
    def scenes(self) -> list[Scene]:
        """The scene of each picture."""
        return [self._scenes.scene(row) for row in range(len(self))]

    @property
    def pictures(self) -> np.ndarray:
        """(P, h, w, 3) uint8."""
        return np.stack([frame.rgb for frame in self])

    def truth(self, number: int) -> Truth:
        """All that is true in the picture of a number, from 0 on: boxes, masks, relations."""
        return self._town.at(float(self.seconds[number])).truth(self.size)

    @cached_property
    def deeds(self) -> Deeds:
        """What the vehicles do in these pictures, for questions."""
        town = self._town
        sequence = _sequence(town, self.seconds, snapshot.SIZE)
        return Deeds(town.things, sequence, town.seen())

    def ask(self, question: str) -> TownAnswer:
        """Answer a question about these pictures, such as "In which picture is the taxi nearest to the bus?".

        Raises:
            TownError: as :meth:`simtown.Town.ask`.
        """
        return self._town.ask_about(self, question)

    def save(self, path: str | Path, progress: Callable[[int], object] = lambda n: None) -> None:
        """Write the film as .mp4, .webp or .gif; each picture stands until the next.

        Args:
            path: the file, which does not exist.
            progress: receives the number of newly finished pictures.
        """
        fps = (len(self) - 1) / float(self.seconds[-1])
        clip.write((frame.rgb for frame in self), Path(path), fps, self.size, progress)


def make(town: Town, seconds: float, count: int, size: int | tuple[int, int]) -> TownFilm:
    """The film of a town; see :meth:`simtown.Town.film`."""
    seconds = number(seconds, "seconds", 0.001, clip.LONGEST)
    count = whole(count, "pictures", 2, clip.MOST)
    return TownFilm(town, np.linspace(0.0, seconds, count), size)


def later(town: Town, second: float) -> Town:
    """The town after some seconds; see :meth:`simtown.Town.at`."""
    moments = np.array([max(0.0, second - MEMORY), second])
    sequence = _sequence(town, moments, snapshot.SIZE)
    nowhere = replace(sequence, cameras=np.full_like(sequence.cameras, np.inf))
    xs = pictures(nowhere).pose[..., 0].astype(np.float64)  # all are there: the camera stands in none
    copied: Town = pickle.loads(pickle.dumps(town))
    for slot, thing in enumerate(copied.vehicles):
        if not (thing.pace or thing.later):
            continue
        pace, change = thing.pace, thing.later
        if change and second >= change[1]:
            pace, change = change[0], None
        elif change:
            change = change[0], change[1] - second
        velocity = pace * float(np.cos(thing.front)), pace * float(np.sin(thing.front)), 0.0
        write(thing, x=float(xs[1, slot]), pace=pace, later=change, velocity=velocity)
    if second:
        copied._tracks = [
            (town.time + moment, {t: (x, t.y) for t, x in zip(copied.vehicles, row, strict=False)})
            for moment, row in zip(moments.tolist(), xs.tolist(), strict=True)
        ]
        write_tracks(copied._tracks, copied.vehicles)
    copied._weather.seed = (town.weather.seed + round(second * _FALLS)) % 2**32
    copied._time, copied._physics, copied._view = town.time + second, None, None
    return copied


def _sequence(town: Town, seconds: np.ndarray, size: int | tuple[int, int]) -> Sequence:
    sequence = Sequence.still(SceneBatch.of([town.to_scene(size)]), len(seconds))
    sequence.seconds[0] = seconds
    for slot, vehicle in enumerate(town.vehicles):
        sequence.motion[0, slot] = _motion(vehicle)
    return sequence


def _motion(vehicle: Thing) -> tuple[float, float, float]:
    """Two speeds towards +x, and when the first gives way to the other."""
    way = 1.0 if np.cos(vehicle.front) > 0 else -1.0
    then, at = vehicle.later or (vehicle.pace, 0.0)
    return way * vehicle.pace, way * then, at


def _check_paths(things: list[Thing], second: float) -> None:
    """Raises TownError if a vehicle runs into something before a second, or cannot drive along the street."""
    driving = [t for t in things if t.group == "vehicle" and (t.pace or t.later)]
    # between these moments distances along the street change evenly
    changes = [t.later[1] for t in driving if t.later and t.later[1] < second]
    moments = np.array([0.0, *changes, second])
    solid = [t for t in things if t.group != "cloud"]
    motion = np.array([_motion(t) if t in driving else (0.0, 0.0, 0.0) for t in solid])
    moved = dict(zip(solid, travel(motion[None], moments[None])[0].T, strict=True))
    for thing in driving:
        if abs(np.cos(thing.front)) < _ALONG:
            raise TownError(f"{the(thing)} does not face along the street: turn it before it drives")
        if np.abs(thing.x + moved[thing]).max() > FARTHEST:
            raise TownError(f"{the(thing)} leaves the street within {second:g} s: give a lower speed")
        for other in solid:
            if other is not thing and _meet(thing, other, moved[thing] - moved[other]):
                problem = f"{the(thing)} runs into {the(other)} within {second:g} s"
                raise TownError(f"{problem}: give other speeds, or move one of them")


def _meet(thing: Thing, other: Thing, gained: np.ndarray) -> bool:
    """Whether a thing comes into another one that stands, on its way through some places along the street."""
    if min(thing.high, other.high) - max(thing.low, other.low) <= TOUCH:
        return False
    own, others = thing.outline, other.outline
    (x0, y0), (x1, y1) = own.min(axis=0), own.max(axis=0)
    (left, near), (right, far) = others.min(axis=0), others.max(axis=0)
    begin, end = max(gained.min(), left - x1), min(gained.max(), right - x0)
    if begin >= end or min(y1, far) <= max(y0, near):
        return False
    steps = np.linspace(begin, end, _STEPS)
    return any(separation(own + np.array([step, 0.0]), others) < -1e-6 for step in steps)
