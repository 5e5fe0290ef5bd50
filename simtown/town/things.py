"""Contents of a town: things, their solid shapes, their names, and which of them would overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.assets.catalogue import KEEP_PAINT, STREET
from simtown.assets.street.animals import LEFTWARDS
from simtown.assets.street.people import SIDEWAYS
from simtown.language.meaning.nouns import NOUNS, called_by, perhaps_called_by, similar_names
from simtown.language.meaning.sights import also_shown
from simtown.language.meaning.solids import Solid
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP, extents, foothold, heights, outline, placed, separation, top
from simtown.scenes.paint import why_unpainted
from simtown.scenes.scene import Prop, Scene, Vehicle, Weather
from simtown.town.checks import (
    FARTHEST,
    QUICKEST,
    TownError,
    angle,
    folded,
    meaning,
    number,
    paint,
    several,
    shown,
    text,
    velocity,
    whole,
)

if TYPE_CHECKING:
    from simtown.town.town import Town

#: Two things closer than this touch, metres; what rests on another may sink so far into it.
TOUCH = 0.03
#: The fastest pace of the groups that can go, metres a second.
FASTEST = {"vehicle": 60.0, "person": 4.0}


def _later(value: object, what: str) -> tuple[float, float] | None:
    """A speed, and the second from which on a vehicle has it. Raises TownError for anything else."""
    if value is None:
        return None
    speed, second = several(value, what, ("speed", "second"))
    return number(speed, what), number(second, what, 0.0)


def _kind(value: object, what: str) -> str:
    kinds = kinds_of(value)
    if len(kinds) > 1:
        names = ", ".join(kinds[:8]) + (", ..." if kinds[8:] else "")
        raise TownError(f"{what} is '{value}', which is several: give one of {names}")
    return kinds[0]


_place = partial(number, low=-FARTHEST, high=FARTHEST)
#: The attributes of a thing that can be set, each with the check that converts its value.
SETTABLE: dict[str, Callable[[object, str], Any]] = {
    "kind": _kind,
    **dict.fromkeys(("x", "y", "z"), _place),
    "yaw": angle,
    "scale": partial(number, low=0.05, high=20.0),
    "style": partial(whole, low=0, high=65535),
    "paint": paint,
    "velocity": velocity,
    "spin": partial(number, low=-QUICKEST, high=QUICKEST),
    "pace": number,
    "later": _later,
}


@dataclass(eq=False, repr=False)
class Thing:
    """A vehicle, a building, a tree, a mailbox, a person, an animal or a cloud of a town.

    Assignments are checked as :meth:`simtown.Town.change` checks them:
    ``taxi.x = 3.0`` raises TownError, and changes nothing, if something else stands there.

    Attributes:
        kind: its name in the catalogue.
        name: its kind, or "taxi 2" if the town has another taxi; the town sets it.
        x: place along the road, metres.
        y: place across the road, metres.
        z: height of its origin, metres.
        yaw: radians counter-clockwise, within a full turn of 0.
        scale: 1 is the catalogue's size.
        style: picks tints, lit windows and a person's pose.
        paint: of a vehicle's body, one of PAINTS; None is its kind's own.
        velocity: metres a second.
        spin: radians a second.
        pace: its speed along its heading in films, and the one it aims at in :meth:`Town.step`, metres a
            second; at 0 it stands, below 0 it drives backwards.
        later: the speed that it has later, and from which second on, or None.
        way: the y (metres) and the direction (radians, 0 or pi) that it keeps to when it goes, or None before
            it first moves; the town sets it.
        track: (t, 2) its places in the last seconds, metres, or None; the town sets it.
        town: the town it belongs to, or None.

    >>> import simtown
    >>> taxi = simtown.Town().place("taxi")
    >>> taxi.x, taxi.paint = 3.0, "teal"
    >>> taxi
    <Thing taxi: x=3.00, y=1.63, z=0.00, yaw=3.14, paint='teal'>
    """

    kind: str
    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0
    scale: float = 1.0
    style: int = 0
    paint: str | None = None
    name: str = ""
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: float = 0.0
    pace: float = 0.0
    later: tuple[float, float] | None = None
    way: tuple[float, float] | None = None
    track: np.ndarray | None = None
    town: Town | None = field(default=None, init=False)

    def __setattr__(self, attribute: str, value: object) -> None:
        if self.town is not None:
            self.town.change(self, **{attribute: value})
        else:
            constructing = attribute in ("name", "way", "track")
            write(self, **{attribute: value if constructing else checked(attribute, value)})

    def __delattr__(self, attribute: str) -> None:
        raise TownError(f"{attribute} cannot be deleted: set it, or remove the thing")

    @property
    def group(self) -> str:
        """ "vehicle", "building", "tree", "furniture", "person", "cloud" or "animal"."""
        return GROUP[self.kind]

    @property
    def front(self) -> float:
        """The direction it faces, radians counter-clockwise from +x."""
        return self.yaw + turned_front(self.kind)

    @property
    def outline(self) -> np.ndarray:
        """(k, 2) the convex outline of what stands on the ground, metres."""
        return placed(outline(self.kind, self.style), self.x, self.y, self.yaw, self.scale)

    @property
    def low(self) -> float:
        """The height of its lowest point, metres."""
        return self.z + self.scale * heights(self.kind, self.style)[0]

    @property
    def high(self) -> float:
        """The height of its highest point, metres."""
        return self.z + self.scale * heights(self.kind, self.style)[1]

    @property
    def size(self) -> tuple[float, float, float]:
        """Size of its 3D box along, across and up, metres, in the frame turned by yaw."""
        along, across, up = (extents(self.kind, self.style) * self.scale).tolist()
        return along, across, up

    @property
    def foothold(self) -> tuple[float, float]:
        """The x and y at which something stands best on top of it, metres: its middle, if it can."""
        x, y = placed(np.array([foothold(self.kind, self.style)]), self.x, self.y, self.yaw, self.scale)[0]
        return float(x), float(y)

    def top(self, x: float, y: float) -> float:
        """The height of its surface above a point of the ground, metres; nan beside it."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        dx, dy = number(x, "x") - self.x, number(y, "y") - self.y
        along, across = (c * dx + s * dy) / self.scale, (c * dy - s * dx) / self.scale
        return self.z + self.scale * top(self.kind, along, across, self.style)

    def solid(self) -> Solid:
        """Its shape and track, from which relations are measured."""
        return Solid(self.outline, self.z, self.top, np.array([self.x, self.y]), self.front, self.track)

    def __str__(self) -> str:
        return self.name or self.kind

    def __repr__(self) -> str:
        values = f"x={self.x:.2f}, y={self.y:.2f}, z={self.z:.2f}, yaw={self.yaw:.2f}"
        paint = f", paint='{self.paint}'" if self.paint else ""
        unseen = ""
        with suppress(TownError):  # a town that is too full to draw
            unseen = self.town.unseen(self) if self.town is not None else ""
        return f"<Thing {self}: {values}{paint}{'; ' if unseen else ''}{unseen}>"


def scene_of(things: Iterable[Thing], weather: Weather, camera: Camera) -> Scene:
    """The scene of some things, vehicles first, as a camera sees them."""
    scene = Scene(weather=weather, camera=camera)
    for t in things:
        if t.group == "vehicle":
            scene.vehicles.append(Vehicle(t.kind, t.x, t.y, t.yaw, t.paint))
        else:
            scene.props.append(Prop(t.kind, t.x, t.y, t.z, t.yaw, t.scale, t.style))
    return scene


def write(thing: Thing, **values: object) -> None:
    """Set attributes without a check; for the town itself and for physics."""
    vars(thing).update(values)


def checked(attribute: str, value: object) -> Any:
    """The value of an attribute, in the attribute's type. Raises TownError if it cannot be set to this."""
    if attribute not in SETTABLE:
        raise TownError(f"'{attribute}' of a thing cannot be set: {meaning(attribute, SETTABLE)}")
    return SETTABLE[attribute](value, attribute)


def check(thing: Thing) -> None:
    """Raises TownError if no town can hold this thing, wherever the others stand."""
    vehicle = thing.group == "vehicle"
    if vehicle and (thing.z or thing.scale != 1.0 or thing.style):
        problem = f"the {thing} stands on the ground, in its own size"
        raise TownError(f"{problem}: leave out z, dz, on, scale and style")
    if thing.paint is not None and not paintable(thing.kind):
        why = why_unpainted(thing.kind) if vehicle else "only vehicles can"
        raise TownError(f"the {thing} cannot be painted {thing.paint}: {why}, so leave out paint")
    if thing.group != "cloud" and thing.z < 0:
        raise TownError(f"the {thing} would stand {-thing.z:.2f} m below the ground: give a z of 0 or more")
    most = FASTEST.get(thing.group, 0.0)
    least = -most if vehicle else 0.0
    for speed in (thing.pace, *(thing.later or ())[:1]):
        if not least <= speed <= most:
            hint = f"give a speed from {least:g} to {most:g} metres a second"
            hint = hint if most else "only vehicles and people go"
            raise TownError(f"the {thing} cannot go at {speed:g} metres a second: {hint}")
    if thing.later and not vehicle:
        raise TownError(f"the {thing} keeps one speed: leave out then and at")


def paintable(kind: str) -> bool:
    """Whether a kind may have another paint than its own: it is a vehicle whose name has no colour in it."""
    return GROUP[kind] == "vehicle" and kind not in KEEP_PAINT


def turned_front(kind: str) -> float:
    """The direction that a kind faces at yaw 0, radians."""
    if GROUP[kind] == "animal":
        return np.pi if kind in LEFTWARDS else 0.0
    return 0.0 if kind in SIDEWAYS or GROUP[kind] == "vehicle" else -np.pi / 2


def overlapping(thing: Thing, others: list[Thing]) -> Thing | None:
    """The first of the others that shares its space, or None.

    Two things share space if their outlines and their heights overlap and neither rests on the other.
    """
    if thing.group == "cloud":
        return None
    own_outline, reach = thing.outline, _reach(thing)
    for other in others:
        if other is thing or other.group == "cloud":
            continue
        near = np.hypot(other.x - thing.x, other.y - thing.y) <= reach + _reach(other)
        if not near or min(thing.high, other.high) - max(thing.low, other.low) <= TOUCH:
            continue
        resting = rests(thing, other) or rests(other, thing)
        if not resting and separation(own_outline, other.outline) < -1e-6:
            return other
    return None


def rests(upper: Thing, lower: Thing) -> bool:
    """Whether a raised thing stands on another: its underside is at the other's top, below its middle."""
    height = lower.top(upper.x, upper.y)
    return upper.z > TOUCH and bool(upper.z >= height - TOUCH)


def meant(things: list[Thing], noun: str) -> list[Thing]:
    """The things that a noun, a kind or a name may mean; "taxi 1" means the thing called "taxi"."""
    noun = folded(noun)
    kinds = NOUNS.get(noun, ())
    of_kinds = [t for t in things if t.kind in kinds or noun in (t.kind.lower(), f"{t.name.lower()} 1")]
    return of_kinds or [t for t in things if t.name.lower() == noun]


def called(things: list[Thing], noun: str) -> tuple[list[Thing], list[Thing]]:
    """The things that every reader calls by a noun, a kind or a name, and those that only some call so."""
    own, kinds, perhaps = meant(things, noun), called_by(noun), perhaps_called_by(noun)
    sure = [t for t in things if t in own or t.kind in kinds]
    return sure, [t for t in things if t.kind in perhaps and t not in own]


def showing(things: list[Thing], noun: str) -> list[Thing]:
    """The things that show some of a noun without being any, as a park shows trees; people are on foot."""
    kinds = called_by(noun)
    if {*kinds} & {*STREET["person"]}:
        return []
    shown = also_shown(kinds).difference(perhaps_called_by(noun))
    return [t for t in things if t.kind in shown]


def label(thing: Thing) -> str:
    """The words that mean this thing and no other of its town."""
    return f"{thing.kind} 1" if thing.name == thing.kind else thing.name


def the(name: object) -> str:
    """A thing's name with its article; one with a number has none: "the taxi", "taxi 2"."""
    return str(name) if str(name)[-1:].isdigit() else f"the {name}"


def listed(things: Iterable[object], last: str = "and") -> str:
    """Names in a row: "taxi, tram and taxi 2"; of more than eight the first."""
    names = [str(thing) for thing in things]
    if len(names) > 8:
        return f"{', '.join(names[:8])}, ..."
    return f" {last} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _reach(thing: Thing) -> float:
    """Metres within which all of a thing lies of its origin, seen from above."""
    corners = outline(thing.kind, thing.style)
    return thing.scale * float(np.sqrt((corners * corners).sum(axis=1).max()))


def kinds_of(noun: object) -> tuple[str, ...]:
    """The kinds that a noun stands for; a kind's own name stands for that kind alone.

    Raises:
        TownError: the word is neither a kind nor a noun for several.
    """
    given = text(noun, "the kind", "fire truck")
    spelled = {word.lower(): word for word in (*GROUP, *NOUNS)}
    noun = spelled.get(folded(given), given)
    if noun in GROUP:
        return (noun,)
    if noun not in NOUNS:
        similar = [spelled[word] for word in similar_names(folded(given), spelled, 3, 0.5)]
        hint = f"did you mean {' or '.join(similar)}?" if similar else "see simtown preview --entity all"
        raise TownError(f"unknown kind {shown(given)}: {hint}")
    return NOUNS[noun]
