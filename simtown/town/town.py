"""The town: "roads, sidewalks, trees, buildings, cars, pedestrians and other objects can be placed, configured, and moved
programmatically" (the paper's section 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.render.fill import MOST_TRIANGLES
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.placement import GAP, LANES, draw_poses, half_sizes, overlap
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather
from simtown.scenes.silhouette import framed
from simtown.scenes.street import FRONT, draw_street
from simtown.scenes.weather import WEATHERS, draw_weather
from simtown.streams import Stream
from simtown.town import checks
from simtown.town.checks import TownError, number, shown, whole
from simtown.town.nouns import kinds_of, meant
from simtown.town.pictures import SIZE, Frame, raster
from simtown.town.things import SETTABLE, Thing, check, checked, may_be_painted, overlapping, write

if TYPE_CHECKING:
    from simtown.town.answering import Answer
    from simtown.town.physics import Contact, Physics
    from simtown.town.truth import Truth

#: Where things of each group stand unless told, y in metres, and how far to either side they are tried, metres.
_PLACES = {"building": FRONT + 0.4, "tree": 7.9, "furniture": 5.6, "person": 5.0, "cloud": 92.0}
_SPREAD = {"building": 25.0, "tree": 13.0, "furniture": 10.0, "person": 10.0, "cloud": 60.0}
#: How many places are tried before a town counts as full, and how many ids a picture has.
_TRIES, MOST_THINGS = 400, 250
#: How high clouds float, metres.
_SKY = 26.0
#: Seconds that tracks reach back, for what can only be told from motion.
MEMORY = 6.0


#: What decides where a thing is in the way of others.
_SPACE = {"kind", "x", "y", "z", "yaw", "scale", "style"}


class Light(NamedTuple):
    """Where the sun (or the moon) stands: azimuth, counter-clockwise from +x, and elevation, radians."""

    azimuth: float
    elevation: float


class _NoRoomError(TownError):
    """Something else stands there; another kind or place may do."""


class Town:
    """A street that can be built, asked and set in motion.

        town = Town(seed=3)
        engine = town.place("fire truck", x=-4.0, lane="far")
        town.weather = "snow"
        town.render()                                     # a picture in a notebook
        town.ask("Is the fire truck left of a building?")

    Metres and radians; x along the road to the viewer's right, y away from the viewer, z up (docs/data-format.md). The same seed
    and the same verbs make the same town, picture and motion. Verbs take a :class:`Thing`, its name ("taxi 2"), or a noun that only one
    thing has ("bus").

    Args:
        seed: which random street. Everything in it, and every place that is left to chance later on, follows from it.
        vehicles: how many stand on the road at first.

    Raises:
        TownError: a ValueError, from every verb, that says what to change.
    """

    def __init__(self, seed: int = 0, vehicles: int = 3) -> None:
        self._start(seed)
        if not 0 <= whole(vehicles, "vehicles") <= 8:
            raise TownError(f"{vehicles} vehicles do not fit on the road that is seen: give from 0 to 8, and place more with x")
        index = np.array([0])
        drawn = draw_weather(Stream(seed, "town", "weather"), index, WEATHERS)
        street = draw_street(Stream(seed, "town", "street"), index, drawn.weather)
        batch = SceneBatch.of([Scene()])
        batch.prop, batch.prop_pose, batch.prop_style = street
        batch.weather, batch.intensity, batch.sun, batch.fall_seed = drawn.weather, drawn.intensity, drawn.sun, drawn.fall_seed
        self._fill(batch.scene(0))
        order = Stream(seed, "town", "entity").bits(index, len(ENTITIES))[0].argsort(kind="stable")
        for kind in order:
            if len(self.vehicles) < vehicles:
                with suppress(TownError):  # a long one may find no room where a short one does
                    self._add(self._somewhere(Thing(ENTITIES[kind], 0.0, 0.0)))

    def _start(self, seed: int) -> None:
        self._seed, self._draws, self._time = whole(seed, "seed"), 0, 0.0
        self._things: list[Thing] = []
        self._weather, self._camera = Weather(), Camera()
        self._physics: Physics | None = None
        self._tracks: list[tuple[float, dict[Thing, tuple[float, float]]]] = []
        self._view: tuple[tuple[Scene, list[str]], Frame] | None = None

    def _fill(self, scene: Scene) -> None:
        self._weather, self._camera = checks.weather(scene.weather), checks.camera(scene.camera)
        if len(scene.vehicles) + len(scene.props) > MOST_THINGS:
            raise TownError(f"{len(scene.vehicles)} vehicles and {len(scene.props)} props: a town holds at most {MOST_THINGS} things")
        for car in scene.vehicles:
            self._add(Thing(car.entity, car.x, car.y, 0.0, car.yaw, paint=car.paint))
        for prop in scene.props:
            self._add(Thing(prop.kind, prop.x, prop.y, prop.z, prop.yaw, prop.scale, prop.style))
        if len(self.vehicles) != len(scene.vehicles):
            raise TownError(f"vehicles {', '.join(v.entity for v in scene.vehicles)} and props {', '.join(p.kind for p in scene.props)}: "
                            "put vehicles among the vehicles of the scene, and everything else among its props")  # fmt: skip

    @classmethod
    def from_scene(cls, scene: Scene, seed: int = 0) -> Town:
        """The town of a scene, such as a stored example's: ``Town.from_scene(open_dataset(path).train[0].scene)``.

        Raises:
            TownError: what is given is no scene, or holds kinds or numbers that no town has.
        """
        town = cls.__new__(cls)
        town._start(seed)
        if not isinstance(scene, Scene):
            raise TownError(f"the scene is {shown(scene)}: give a Scene, such as open_dataset(path).train[0].scene")
        try:
            town._fill(scene)
        except (TypeError, AttributeError) as error:
            raise TownError(f"the scene does not hold a list of Vehicle and a list of Prop: {error}") from error
        return town

    def to_scene(self) -> Scene:
        """The town as it is now: what a data set stores, and any renderer draws."""
        return Scene(
            [Vehicle(t.kind, t.x, t.y, t.yaw, t.paint) for t in self.vehicles],
            [Prop(t.kind, t.x, t.y, t.z, t.yaw, t.scale, t.style) for t in self.props],
            checks.weather(self._weather),
            self._camera,
        )

    # What there is

    @property
    def things(self) -> list[Thing]:
        """Everything: vehicles first, in the order of a scene's slots."""
        return [*self.vehicles, *self.props]

    @property
    def vehicles(self) -> list[Thing]:
        return [t for t in self._things if t.group == "vehicle"]

    @property
    def props(self) -> list[Thing]:
        """Everything beside the road."""
        return [t for t in self._things if t.group != "vehicle"]

    @property
    def seed(self) -> int:
        return self._seed

    @property
    def time(self) -> float:
        """Seconds that :meth:`step` has let pass."""
        return self._time

    def __iter__(self) -> Iterator[Thing]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, name: str) -> Thing:
        """The thing of a name, or of a noun that only one thing has. Raises TownError for any other word."""
        return self._find(name)

    def __repr__(self) -> str:
        cars = ", ".join(map(str, self.vehicles)) or "no vehicles"
        return f"<Town {self._seed}: {cars}; {len(self.props)} things beside the road; {self._weather.kind}>"

    def _repr_png_(self) -> bytes:
        return self.render()._repr_png_()

    def _find(self, thing: Thing | str) -> Thing:
        if isinstance(thing, Thing):
            if not any(thing is t for t in self._things):
                raise TownError(f"the {thing} is not in this town: it was removed, or belongs to another; place it first")
            return thing
        alike: list[Thing] = []
        if isinstance(thing, str):
            alike = [t for t in self._things if t.name == thing] or meant(self._things, thing)
        if len(alike) == 1:
            return alike[0]
        names = [t.name for t in alike or self.things]
        listed = ", ".join(names[:12]) + (", ..." if names[12:] else "")
        if alike:
            raise TownError(f"'{thing}' may mean {len(alike)} things of this town: use a name ({listed})")
        raise TownError(f"there is no {shown(thing)} in this town: {f'place it, or use a name ({listed})' if names else 'it is empty'}")

    # Verbs

    def place(self, kind: str, x: float | None = None, y: float | None = None, yaw: float | None = None, *, z: float = 0.0,
              lane: str | None = None, on: Thing | str | None = None, scale: float = 1.0, style: int | None = None,
              paint: str | None = None) -> Thing:  # fmt: skip
        """Put something new into the town.

        Args:
            kind: any of the catalogue (`simtown preview --entity all`; simtown.assets.catalogue.STREET), or a group, such as "building", of
                which one is drawn.
            x, y, z: where, metres. Without x a free place is found; without y it is what suits the kind: a lane, the sidewalk, the row of
                houses.
            yaw: radians; without it vehicles head along their lane and everything else looks at the viewer.
            lane: of a vehicle, "near" (heads right) or "far" (heads left).
            on: another thing, on top of which it is put (at x and y, or at its middle). Vehicles stand on the ground.
            scale, style: as :class:`Thing`; a style is drawn if none is given. Vehicles have neither.
            paint: of a vehicle's body, such as "red" (simtown.assets.palette.PAINTS); without it the kind's own. A kind whose name has a
                colour in it keeps its own.

        Raises:
            TownError: an unknown kind, numbers out of range, no room, or a place where something else stands (both are named).
        """
        paint = checked("paint", paint)
        kinds = self._kinds(kind, paint)
        if len(self._things) >= MOST_THINGS:
            raise TownError(f"a town holds at most {MOST_THINGS} things: remove some first")
        if lane is not None and not (isinstance(lane, str) and lane in ("near", "far")):
            raise TownError(f"lane is {shown(lane)}: give 'near' or 'far'")
        x, y, yaw = (None if v is None else checked(name, v) for name, v in (("x", x), ("y", y), ("yaw", yaw)))
        z, scale, below = checked("z", z), checked("scale", scale), None if on is None else self._find(on)
        drawn = int(self._uniform("style") * 65536) if style is None else checked("style", style)

        def make(kind: str) -> Thing:
            vehicle = GROUP[kind] == "vehicle"
            if lane is not None and not vehicle:
                raise TownError(f"a {kind} has no lane: leave out lane, which is for vehicles")
            thing = Thing(kind, 0.0, 0.0, z, 0.0, scale, 0 if vehicle and style is None else drawn, paint)
            if below is not None:
                return self._on_top(thing, below, x, y, yaw)
            if x is None:
                check(thing)
                return self._somewhere(thing, lane, y, yaw)
            side = LANES[0 if lane != "far" else 1] if vehicle else (_PLACES[thing.group], 0.0)
            height = _SKY if thing.group == "cloud" and not z else z
            return self._fitting(replace(thing, x=x, y=side[0] if y is None else y, z=height, yaw=side[1] if yaw is None else yaw))

        return self._add(_first(kind, kinds, make))

    def change(self, thing: Thing | str, **values: object) -> Thing:
        """Change what a thing is, or where and how it stands; ``taxi.x = 3.0`` is ``town.change(taxi, x=3.0)``.

        Args:
            thing: what is changed.
            values: any of kind, x, y, z, yaw, scale, style, paint, velocity, spin and pace, as :class:`Thing` has them. A thing of another
                kind gets that kind's name, and its own paint where it cannot have the old one.

        Raises:
            TownError: values of a wrong type or out of range, or a place where something else stands. Then nothing is changed.
        """
        thing = self._find(thing)
        noun = values.pop("kind", thing.kind)
        given = {attribute: checked(attribute, value) for attribute, value in values.items()}
        kinds = self._kinds(noun, given.get("paint"))

        def make(kind: str) -> Thing:
            own: dict[str, Any] = {} if kind == thing.kind else {"kind": kind, "name": ""}
            if own and kind in ENTITIES:
                own["style"] = 0
            if own and not may_be_painted(kind):
                own["paint"] = None
            changed = replace(thing, **own, **given)
            return self._fitting(changed, but=thing) if own or _SPACE & set(given) else changed

        to = _first(str(noun), kinds, make)
        check(to)
        if to.kind != thing.kind:
            write(thing, name=self._free_name(to.kind, but=thing))
        write(thing, **{attribute: getattr(to, attribute) for attribute in SETTABLE})
        self._physics = None
        if to.kind != thing.kind or _SPACE & set(given):
            write(thing, track=None)
            for _, places in self._tracks:
                places.pop(thing, None)  # what was carried has not driven there
        return thing

    def move(self, thing: Thing | str, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0, *, x: float | None = None,
             y: float | None = None, z: float | None = None) -> Thing:  # fmt: skip
        """Move a thing by (dx, dy, dz) metres, or to an x, y or z. Raises TownError, and moves nothing, where something else stands."""
        thing = self._find(thing)
        old, to, by = (thing.x, thing.y, thing.z), (x, y, z), (dx, dy, dz)
        place = {
            name: (before if given is None else checked(name, given)) + number(more, f"d{name}")
            for name, before, given, more in zip("xyz", old, to, by, strict=True)
        }
        return self.change(thing, **place)

    def turn(self, thing: Thing | str, by: float) -> Thing:
        """Turn a thing by so many radians counter-clockwise. Raises TownError, and turns nothing, where it would hit something."""
        thing = self._find(thing)
        return self.change(thing, yaw=thing.yaw + number(by, "by"))

    def remove(self, *things: Thing | str) -> None:
        """Take things out of the town. Raises TownError for what is not in it, and takes nothing out."""
        gone = [self._find(t) for t in things]
        self._things = [t for t in self._things if not any(t is g for g in gone)]
        for thing in gone:
            write(thing, town=None, track=None)
        self._physics = None

    def clear(self, noun: str | None = None) -> None:
        """Take everything out, or all that a noun means: "vehicle", "building", "tree", "car", "taxi"."""
        kinds = None if noun is None else kinds_of(noun)
        self.remove(*[t for t in self._things if kinds is None or t.kind in kinds])

    @property
    def weather(self) -> Weather:
        """Kind, intensity and so on; set it to a kind, or to a :class:`~simtown.scenes.scene.Weather`."""
        return self._weather

    @weather.setter
    def weather(self, value: str | Weather) -> None:
        self._weather = checks.weather(replace(self._weather, kind=value) if isinstance(value, str) else value)

    @property
    def light(self) -> Light:
        """Azimuth and elevation of the sun, radians."""
        return Light(self._weather.sun_azimuth, self._weather.sun_elevation)

    @light.setter
    def light(self, value: tuple[float, float]) -> None:
        azimuth, elevation = checks.light(value)
        self._weather = replace(self._weather, sun_azimuth=azimuth, sun_elevation=elevation)

    @property
    def camera(self) -> Camera:
        """Set it to another :class:`~simtown.scenes.camera.Camera`, for example ``replace(town.camera, x=2.0)``."""
        return self._camera

    @camera.setter
    def camera(self, value: Camera) -> None:
        self._camera = checks.camera(value)

    # Pictures, truth and words

    def render(self, size: tuple[int, int] = SIZE) -> Frame:
        """The picture, (width, height) pixels. Raises TownError for a size out of range, or more things than can be drawn."""
        width, height = checks.picture_size(size)
        batch = SceneBatch.of([self.to_scene()])
        try:
            frames = raster().render(batch, width, height)
        except ValueError as error:
            raise TownError(f"the picture shows more triangles than {MOST_TRIANGLES}: take things out of the town") from error
        return Frame(frames.rgb[0], frames.depth[0], frames.ids[0], self._ids(batch))

    def truth(self, size: tuple[int, int] = SIZE) -> Truth:
        """Everything that is true of the town and its picture: :class:`~simtown.town.truth.Truth`."""
        from simtown.town.truth import truth

        return truth(self, size)

    def ask(self, question: str, everywhere: bool = False) -> Answer:
        """Answer a question such as "Is the fire truck left of a taxi?" from the truth: :class:`~simtown.town.answering.Answer`.

        Args:
            question: about things in the picture: "the taxi" is the one that is seen.
            everywhere: whether things that are outside the picture or hidden count, too.

        Raises:
            TownError: a question that is not understood (which word), or "the" where none or more than one is seen.
        """
        from simtown.town.answering import answer

        return answer(self, question, everywhere)

    def seen(self) -> set[str]:
        """Names of the things of which at least one pixel is seen in a picture of the usual size."""
        drawn = self.to_scene(), [t.name for t in self.things]
        if self._view is None or self._view[0] != drawn:
            self._view = drawn, self.render()
        return self._view[1].seen()

    def describe(self) -> str:
        """The town in a few sentences: all that is there, seen or not."""
        from simtown.town.answering import describe

        return describe(self)

    # Motion

    def drive(self, thing: Thing | str, speed: float) -> Thing:
        """Let a vehicle go along the road, or a person walk, the way it looks, at up to so many metres a second; 0 stops it."""
        return self.change(thing, pace=number(speed, "speed", 0.0))

    def step(self, dt: float) -> list[Contact]:
        """Let `dt` seconds pass, under gravity, tyres, drivers and walkers (extra "physics"); returns what touched what.

        Raises:
            TownError: pybullet is missing, or dt is not from 0.001 to 60.
        """
        dt = number(dt, "the step in seconds", 0.001, 60.0)
        if self._physics is None:
            from simtown.town.physics import Physics

            self._physics = Physics(self.things)
        if not self._tracks:
            self._remember()
        contacts = self._physics.advance(dt, self._time)
        self._time += dt
        self._remember()
        return contacts

    def _remember(self) -> None:
        self._tracks.append((self._time, {t: (t.x, t.y) for t in self._things}))
        while self._tracks[-1][0] - self._tracks[0][0] > MEMORY:
            del self._tracks[0]
        for thing in self._things:
            places = [places[thing] for _, places in self._tracks if thing in places]
            write(thing, track=np.array(places) if len(places) == len(self._tracks) else None)

    # Inside

    def _kinds(self, noun: object, paint: str | None = None) -> list[str]:
        """The kinds that a noun stands for, in a random order; of several, those that may have the paint.

        Raises TownError for an unknown noun.
        """
        kinds = [k for k in kinds_of(noun) if not k.endswith(" bare") or self._weather.kind == "snow" or k == noun]
        if paint is not None and len(kinds) > 1:
            kinds = [k for k in kinds if may_be_painted(k)] or kinds
        if len(kinds) == 1:
            return kinds
        first = kinds[int(self._uniform("kind") * len(kinds))]
        order = Stream(self._seed, "town", "kinds").bits(np.array([self._draws]), len(kinds))[0].argsort(kind="stable")
        return [first, *(kinds[i] for i in order if kinds[i] != first)]

    def _uniform(self, what: str, draws: int = 1) -> float:
        self._draws += 1
        return float(Stream(self._seed, "town", what).uniform(np.array([self._draws]), draws)[0, 0])

    def _somewhere(self, thing: Thing, lane: str | None = None, y: float | None = None, yaw: float | None = None) -> Thing:
        """The thing at the first free place of a random sequence, in a lane or at a y, with a yaw, if those are given."""
        self._draws += 1
        u = Stream(self._seed, "town", "spot").uniform(np.full(_TRIES, self._draws), 3, np.arange(_TRIES))
        if thing.group == "vehicle":
            if lane is not None:
                u[:, 0] = 0.75 if lane == "near" else 0.25
            entity = np.full((_TRIES, 1), ENTITIES.index(thing.kind))
            poses = draw_poses(u[:, None], entity)
            fine = framed(entity, poses, np.tile(Camera().row(), (_TRIES, 1)))
            poses = poses[:, 0].astype(np.float64)
        else:
            poses = np.stack([_SPREAD[thing.group] * (2 * u[:, 0] - 1), _PLACES[thing.group] + 0.4 * (u[:, 1] - 0.5), 0 * u[:, 2]], axis=1)
            fine = np.ones(_TRIES, dtype=bool)
        for column, given in ((1, y), (2, yaw)):
            if given is not None:
                poses[:, column] = given
        fine &= self._roomy(thing, poses)
        for x, y_, yaw_ in poses[fine].tolist():
            there = replace(thing, x=x, y=y_, yaw=yaw_, z=_SKY if thing.group == "cloud" else thing.z)
            if overlapping(there, self._things) is None:
                return there
        raise _NoRoomError(f"no free place for a {thing.kind} in {_TRIES} tries: remove something, or say where with x and y")

    def _roomy(self, thing: Thing, poses: np.ndarray) -> np.ndarray:
        """Whether a vehicle keeps, at each of (n, 3) poses, the gap that data sets keep: (n,) bool. Other things need none."""
        cars = self.vehicles
        if thing.group != "vehicle" or not cars:
            return np.ones(len(poses), dtype=bool)
        half = half_sizes()
        others = np.array([[t.x, t.y, t.yaw] for t in cars])
        other_halves = half[[ENTITIES.index(t.kind) for t in cars]]
        close = overlap(poses[:, None], half[ENTITIES.index(thing.kind)], others, other_halves, GAP)
        return np.logical_not(close).all(axis=1, keepdims=False, out=np.zeros(len(poses), dtype=bool))

    def _on_top(self, thing: Thing, below: Thing, x: float | None, y: float | None, yaw: float | None) -> Thing:
        """The thing standing on another one, at its middle if no place is given."""
        x, y = below.x if x is None else x, below.y if y is None else y
        height = below.top(x, y)
        if not np.isfinite(height):
            raise TownError(f"({x:.2f}, {y:.2f}) is not above the {below}: give an x and a y that are")
        return self._fitting(replace(thing, x=x, y=y, z=thing.z + height, yaw=yaw or 0.0))

    def _fitting(self, thing: Thing, but: Thing | None = None) -> Thing:
        """The thing itself. Raises TownError for one that no town can hold, and where something `but` itself stands."""
        check(thing)
        other = overlapping(thing, [t for t in self._things if t is not but])
        if other is not None:
            place, its_place = (f"({t.x:.2f}, {t.y:.2f})" for t in (thing, other))
            raise _NoRoomError(
                f"the {thing} at {place} would overlap the {other} at {its_place}: give another place, or move or remove one of them"
            )
        return thing

    def _add(self, thing: Thing) -> Thing:
        check(thing)
        write(thing, name=self._free_name(thing.kind), town=self)
        self._things.append(thing)
        self._physics = None
        return thing

    def _free_name(self, kind: str, but: Thing | None = None) -> str:
        """The kind itself, or the first of "taxi 2", "taxi 3" ... that nothing else is called."""
        taken = {t.name for t in self._things if t is not but}
        return next(name for name in (kind, *(f"{kind} {i}" for i in range(2, MOST_THINGS + 2))) if name not in taken)

    def _ids(self, batch: SceneBatch) -> dict[int, str]:
        props = 1 + batch.entity.shape[1]
        return {1 + i: t.name for i, t in enumerate(self.vehicles)} | {props + j: t.name for j, t in enumerate(self.props)}


def _first(noun: str, kinds: list[str], make: Callable[[str], Thing]) -> Thing:
    """What `make` makes of the first kind that finds room. Raises TownError if none does."""
    for kind in kinds:
        try:
            return make(kind)
        except _NoRoomError as error:
            reason = str(error)
    raise TownError(reason if len(kinds) == 1 else f"no kind of {noun} finds room: {reason}")
