"""The town: things that can be "placed, configured, and moved programmatically" (the paper's section 2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.assets.catalogue import ENTITIES
from simtown.core.notebook import as_html, figure
from simtown.core.streams import Stream
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.scene import Scene, SceneBatch, Weather
from simtown.scenes.weather import DEFAULT_WEATHERS, draw_weather
from simtown.town import as_python, checks, placing, saving, snapshot
from simtown.town.answering import TownAnswer, answer, describe, examples
from simtown.town.checks import Light, TownError, meaning, number, shown, whole
from simtown.town.motion import filming, tracks
from simtown.town.motion.clip import LONGEST
from simtown.town.motion.filming import TownFilm
from simtown.town.motion.physics import Contact, Physics
from simtown.town.placing import Dice, Wanted
from simtown.town.qualities import View
from simtown.town.saving import Start
from simtown.town.snapshot import SIZE, Frame
from simtown.town.things import (
    SETTABLE,
    Thing,
    check,
    checked,
    kinds_of,
    scene_of,
    write,
)
from simtown.town.truth import Fact, Truth, truth, unseen

if TYPE_CHECKING:
    from simtown.datasets.reading.reader import Example

#: The attributes of a town that can be set.
_ASSIGNABLE = ("weather", "light", "camera")


class Town:
    """A street that can be built, asked and set in motion; at first nobody is on it and the sky is clear.

    >>> import simtown
    >>> town = simtown.Town.random(seed=3)  # simtown.Town() is an empty street
    >>> engine = town.place("fire truck", x=2.0)
    >>> town.weather = "snow"
    >>> picture = town.render()  # a notebook shows it
    >>> picture.save("snow.png")
    >>> town.ask("Is the fire truck right of the mail van?")
    yes: the fire truck is 0.52 m right of the mail van as the viewer sees them (0.5 m needed)

    Metres and radians; x along the road to the viewer's right, y away from the viewer, z up
    (docs/data-format.md). The same seed and the same verbs make the same town, picture and motion. Verbs take
    a :class:`Thing`, its name ("taxi 2"), or a noun that only one thing has ("bus"). If an argument is
    wrong or a thing has no room, every method raises TownError, a ValueError that says what to change, and
    leaves the town as it was.

    Args:
        seed: of the houses and trees, and of every later random choice.
    """

    def __init__(self, seed: int = 0) -> None:
        self._start(seed, Start("empty"))
        street = placing.draw_scene(seed, {"weather": np.zeros(1, dtype=np.uint8)})
        nobody = [prop for prop in street.props if GROUP[prop.kind] != "person"]
        self._fill(Scene(props=nobody))

    @classmethod
    def random(
        cls, seed: int = 0, vehicles: int = 3, weather: str | tuple[str, float] | Weather | None = None
    ) -> Town:
        """A random street with people and vehicles: the same for the same arguments.

        Args:
            seed: of the street, and of every later random choice.
            vehicles: how many stand on the road, from 0 to 8.
            weather: as :attr:`weather` takes it, in which trees may be bare; a random one if None.
        """
        town = cls.__new__(cls)
        town._start(seed, Start("random", vehicles, tuple(weather) if isinstance(weather, list) else weather))
        allowed = DEFAULT_WEATHERS
        if weather is not None:
            allowed = (checks.changed_weather(town._weather, weather).kind,)
        index = np.array([0])
        sky = draw_weather(Stream(seed, "town", "weather"), index, allowed)
        town._fill(placing.draw_scene(town.seed, sky))
        if weather is not None:
            town.weather = weather
        order = Stream(seed, "town", "entity").bits(index, len(ENTITIES))[0].argsort(kind="stable")
        for kind in order:
            if len(town.vehicles) < vehicles:
                with suppress(TownError):  # a long vehicle may find no room
                    vehicle = Thing(ENTITIES[kind], 0.0, 0.0)
                    town._add(placing.find_place(vehicle, town._things, town._camera, town._dice))
        return town

    def _start(self, seed: int, began: Start) -> None:
        """Begin as an empty street. Raises TownError for a start that no town has."""
        whole(began.vehicles, "vehicles", 0, 8)
        if began.weather is not None:
            checks.changed_weather(Weather(), began.weather)
        self._began = began
        self._dice = Dice(whole(seed, "seed", *checks.SEEDS))
        self._time = 0.0
        self._things: list[Thing] = []
        self._weather, self._camera = Weather(), Camera()
        self._keeps_height = True
        self._physics: Physics | None = None
        self._tracks: tracks.Tracks = []
        self._view: tuple[tuple[Scene, list[str]], Frame] | None = None

    def _fill(self, scene: Scene) -> None:
        self._weather, self._camera = checks.weather(scene.weather), checks.camera(scene.camera)
        for v in scene.vehicles:
            self._add(Thing(v.entity, v.x, v.y, yaw=v.yaw, paint=v.paint))
        for p in scene.props:
            self._add(Thing(p.kind, p.x, p.y, p.z, p.yaw, p.scale, p.style))

    @classmethod
    def from_scene(cls, scene: Scene, seed: int = 0) -> Town:
        """The town of a scene, for example ``Town.from_scene(open_dataset(path).train[0].scene)``.

        Args:
            scene: what stands in the town, its weather and its camera.
            seed: of every later random choice.
        """
        town = cls.__new__(cls)
        town._start(seed, Start("scene"))
        town._keeps_height = False  # a data set's picture is the same, whatever its shape
        if not isinstance(scene, Scene):
            example = "open_dataset(path).train[0].scene"
            raise TownError(f"the scene is {shown(scene)}: give a Scene, such as {example}")
        town._fill(scene)
        return town

    def to_scene(self, size: int | tuple[int, int] = SIZE) -> Scene:
        """The town as it is now, as a scene, of which any renderer draws :meth:`render`'s picture of a size.

        A picture wider than high shows as much sky and road as a square one, and more to both sides. The
        scene's camera has the focal length for that. A town of :meth:`from_scene` keeps its scene's camera:
        a wide picture shows less sky.
        """
        width, height = checks.picture_size(size)
        camera = self._camera.keeping_height(width, height) if self._keeps_height else self._camera
        return scene_of(self._things, checks.weather(self._weather), camera)

    def save(self, path: str | Path) -> None:
        """Write the town to a JSON file, from which :meth:`load` makes the same one: it also moves on alike.

        Args:
            path: the file, which ends in .json; one that exists is replaced.
        """
        saving.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Town:
        """The town of a file that :meth:`save` wrote. Raises TownError, in one line, for any other file."""
        return saving.load(cls, path)

    def program(self) -> str:
        """The Python text that makes this town: verbs, from the street on that it began as.

        Executed, it makes a variable ``town`` of the same :meth:`to_scene`. What a collision left in one
        another no verb can place: then the text holds the whole scene. Seconds that have passed are not made.
        """
        return as_python.program(self)

    def become(self, other: Town) -> None:
        """Take everything over from another town, which is of no more use."""
        if not isinstance(other, Town):
            raise TownError(f"{checks.shown(other)} is not a town: give a simtown.Town")
        vars(self).update(vars(other))
        for thing in self._things:
            write(thing, town=self)

    # Contents

    @property
    def things(self) -> list[Thing]:
        """All things: first the vehicles, then the props."""
        return [*self.vehicles, *self.props]

    @property
    def vehicles(self) -> list[Thing]:
        """The vehicles, in the order in which they were placed."""
        return [t for t in self._things if t.group == "vehicle"]

    @property
    def props(self) -> list[Thing]:
        """All things but vehicles, in the order in which they were placed."""
        return [t for t in self._things if t.group != "vehicle"]

    @property
    def seed(self) -> int:
        """The seed of the town's random choices."""
        return self._dice.seed

    @property
    def time(self) -> float:
        """Seconds that have passed in :meth:`step`."""
        return self._time

    @property
    def drives(self) -> bool:
        """Whether a vehicle drives in :meth:`film`, unless :meth:`step` has moved the town."""
        return any(t.pace or t.later for t in self.vehicles) and not self._tracks

    def __iter__(self) -> Iterator[Thing]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, thing: Thing | str) -> Thing:
        """The thing of a name, such as "taxi 2", or of a noun that only one thing has, such as "bus"."""
        if isinstance(thing, Thing):
            if thing.town is not self:
                problem = f"the {thing} is not in this town: it was removed, or belongs to another"
                raise TownError(f"{problem}; place it first")
            return thing
        return placing.find(self.things, thing)

    def __setattr__(self, attribute: str, value: object) -> None:
        if attribute not in _ASSIGNABLE and not attribute.startswith("_"):
            raise TownError(f"'{attribute}' of a town cannot be set: {meaning(attribute, _ASSIGNABLE)}")
        super().__setattr__(attribute, value)

    def __repr__(self) -> str:
        seen = {t.name for t in self.vehicles}
        with suppress(TownError):  # it may be too full to draw
            seen = self.seen()
        named = (t.name if t.name in seen else f"{t.name} (not in view)" for t in self.vehicles)
        vehicles = ", ".join(named) or "no vehicles"
        props = f"{len(self.props)} things beside the road"
        return f"<Town {self.seed}: {vehicles}; {props}; {self._weather.kind}>"

    def __getstate__(self) -> dict[str, Any]:
        """The state of copies and pickles: all but the bodies, which are built again, and the last
        picture.
        """
        return vars(self) | {"_physics": None, "_view": None}

    def _repr_html_(self) -> str:
        return figure(self.render().rgb, as_html(repr(self)[1:-1]), 768)

    # Verbs

    def place(
        self,
        kind: str,
        x: float | None = None,
        y: float | None = None,
        yaw: float | None = None,
        *,
        z: float = 0.0,
        lane: str | None = None,
        on: Thing | str | None = None,
        scale: float = 1.0,
        style: int | None = None,
        paint: str | None = None,
        **unknown: object,
    ) -> Thing:
        """Put something new into the town.

        Args:
            kind: a kind of the catalogue (`simtown preview --entity all`; simtown.assets.catalogue.STREET),
                or a noun for several, such as "building", of which one is drawn. Capitals do not matter.
            x: metres along the road; without it a free place is found.
            y: metres across the road; without it the kind's usual place: a lane, the sidewalk, the row of
                houses.
            yaw: radians; without it vehicles head along their lane, and everything else faces the viewer.
            z: height above the ground, or above what it is put on, metres.
            lane: of a vehicle, "near" (heads right) or "far" (heads left).
            on: another thing, on top of which it is put, at x and y or at its middle (if there is a hole,
                beside that). Vehicles stand on the ground.
            scale: 1 is the catalogue's size; vehicles have no other.
            style: picks tints, lit windows and a person's pose; without it one is drawn. Vehicles have none.
            paint: of a vehicle's body, such as "red" (simtown.assets.palette.PAINTS); without it the kind's
                own. A kind whose name has a colour in it keeps its own.
            unknown: nothing; a wrong name is refused with the right one.
        """
        for name in unknown:
            raise TownError(f"nothing is placed with '{name}': {meaning(name, placing.PLACED_WITH)}")
        with self._dice.kept():
            paint = checked("paint", paint)
            kinds = self._kinds(kind, paint)
            wanted = Wanted(
                lane=checks.lane(lane),
                x=x if x is None else checked("x", x),
                y=y if y is None else checked("y", y),
                yaw=yaw if yaw is None else checked("yaw", yaw),
                z=checked("z", z),
                scale=checked("scale", scale),
                below=None if on is None else self[on],
                style=style if style is None else checked("style", style),
                drawn_style=int(self._dice.uniform("style") * 65536) if style is None else 0,
                paint=paint,
            )

            def make(kind: str) -> Thing:
                return placing.place(wanted, kind, self._things, self._camera, self._dice)

            return self._add(placing.make_first_that_fits(kind, kinds, make))

    def change(self, thing: Thing | str, **values: object) -> Thing:
        """Change what a thing is, or its place, size or motion.

        ``taxi.x = 3.0`` is short for ``town.change(taxi, x=3.0)``.

        Args:
            thing: what is changed, or its name.
            values: any of kind, x, y, z, yaw, scale, style, paint, velocity, spin, pace and later of a
                :class:`Thing`. With another kind a thing gets that kind's name; if the kind cannot have the
                old paint, it gets its own.
        """
        thing = self[thing]
        noun = values.pop("kind", thing.kind)
        attributes = {attribute: checked(attribute, value) for attribute, value in values.items()}
        others = [t for t in self._things if t is not thing]

        def make(kind: str) -> Thing:
            return placing.change(thing, kind, attributes, others)

        with self._dice.kept():
            kinds = self._kinds(noun, attributes.get("paint"))
            changed = placing.make_first_that_fits(str(noun), kinds, make)
            check(changed)
        carried = changed.kind != thing.kind or not placing.SPACE.isdisjoint(attributes)
        if changed.kind != thing.kind:
            write(thing, name=placing.choose_name(changed.kind, others))
        write(thing, **{attribute: getattr(changed, attribute) for attribute in SETTABLE})
        if carried:
            tracks.forget(self._tracks, thing)
        if carried or not placing.MOTION.isdisjoint(attributes):
            self._physics = None
        return thing

    def move(
        self,
        thing: Thing | str,
        dx: float = 0.0,
        dy: float = 0.0,
        dz: float = 0.0,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
    ) -> Thing:
        """Move a thing by a distance (dx, dy, dz) from a place (x, y, z; by default its own), in metres."""
        thing = self[thing]
        place = {}
        for name, to, by in (("x", x, dx), ("y", y, dy), ("z", z, dz)):
            start = getattr(thing, name) if to is None else checked(name, to)
            place[name] = start + number(by, f"d{name}")
        return self.change(thing, **place)

    def turn(self, thing: Thing | str, by: float) -> Thing:
        """Turn a thing on the spot, by some radians counter-clockwise: at most a full turn."""
        thing = self[thing]
        return self.change(thing, yaw=checks.within_a_turn(thing.yaw + checks.angle(by, "by")))

    def exchange(self, one: Thing | str, other: Thing | str) -> None:
        """Let two things stand each where the other one stood; they keep their headings.

        Every relation of the viewer between them turns round.
        """
        first, second = self[one], self[other]
        rest = [t for t in self._things if t is not first and t is not second]
        places = [{name: getattr(thing, name) for name in "xyz"} for thing in (second, first)]
        moved = placing.change(first, first.kind, places[0], rest)
        placing.change(second, second.kind, places[1], [*rest, moved])
        for thing, place in zip((first, second), places, strict=True):
            write(thing, **place)
            tracks.forget(self._tracks, thing)
        self._physics = None

    def remove(self, *things: Thing | str) -> None:
        """Take things, or the things of some names, out of the town: all of them or, after an error, none."""
        removed = [self[t] for t in things]
        self._things = [t for t in self._things if t not in removed]
        for thing in removed:
            write(thing, town=None, track=None, way=None)
        self._physics = None

    def clear(self, noun: str | None = None) -> None:
        """Take all things out of the town, or all that a noun such as "vehicle", "car" or "taxi" means."""
        kinds = None if noun is None else kinds_of(noun)
        self.remove(*[t for t in self._things if kinds is None or t.kind in kinds])

    @property
    def weather(self) -> Weather:
        """The weather; set it to a kind, such as "snow", to ("snow", 0.9), or to a :class:`simtown.Weather`.

        A kind alone has the intensity 0.7. The sun stays where it is unless a Weather says where.
        """
        return self._weather

    @weather.setter
    def weather(self, value: str | tuple[str, float] | Weather) -> None:
        self._weather = checks.changed_weather(self._weather, value)

    @property
    def light(self) -> Light:
        """Azimuth and elevation of the sun, radians; both can be set at once, to a pair of numbers."""
        return Light(self._weather.sun_azimuth, self._weather.sun_elevation)

    @light.setter
    def light(self, value: tuple[float, float]) -> None:
        azimuth, elevation = checks.light(value)
        self._weather = replace(self._weather, sun_azimuth=azimuth, sun_elevation=elevation)

    @property
    def camera(self) -> Camera:
        """The camera; set it to "street", "low", "corner" or "bird", or to a :class:`simtown.Camera`.

        One's own is for example ``dataclasses.replace(town.camera, x=2.0)``. Left and right, in front and
        behind are always meant as this camera sees them (docs/town.md).
        It must see no ground nearer than 2 m (simtown.scenes.camera.NEAR), which is not drawn.
        """
        return self._camera

    @camera.setter
    def camera(self, value: str | Camera) -> None:
        self._camera = checks.camera(value)

    # Pictures, truth and words

    def render(self, size: int | tuple[int, int] = SIZE) -> Frame:
        """The picture of the town, of a width and a height in pixels; one number means a square."""
        names = [t.name for t in self.things]
        batch = SceneBatch.of([self.to_scene(size)])
        return snapshot.draw(batch, names, checks.picture_size(size))

    def truth(self, size: int | tuple[int, int] = SIZE) -> Truth:
        """All that is true of the town and its picture, of a width and a height in pixels."""
        return truth(self.to_scene(size), self.things, self.render(size), self._time)

    def facts(self) -> list[Fact]:
        """The relations that hold between two things that a picture of the default size shows."""
        return self.truth().facts()

    def ask(self, question: str, everywhere: bool = False) -> TownAnswer:
        """Answer a question in plain English, such as "Is the fire truck left of a taxi?", from the truth.

        It may ask whether things stand in a relation, exist, face left, are hidden or red; how many there
        are, what or which; where, how far, how tall; and what the weather is (docs/town.md). The answer says
        so where data sets, whose margins are wider, call the question too close to say. Where something
        drives, questions such as "Does the taxi overtake the bus?" are about :meth:`film`.

        Args:
            question: about things in the picture; "the taxi" is the one that is visible.
            everywhere: whether things that are hidden or outside the picture count, too.

        Raises:
            TownError: there is no answer; the message says why, and holds three questions that have one.
        """
        return answer(self.view(everywhere), question)

    def example(self, question: str, size: int | tuple[int, int] = (256, 144)) -> Example:
        """An example of a data set, of this town now and a question about it: :func:`simtown.write_dataset`.

        Vehicles that its picture does not show are left out of its scene.

        Args:
            question: as :meth:`ask` takes it, but about what data sets ask: vehicles, their relations as the
                viewer or a driver sees them, and how many things of a kind are beside the road.
            size: width and height of the picture, pixels.

        Raises:
            TownError: the question has no clear answer, or no data set asks it.
        """
        from simtown.town import as_example  # loads data sets

        return as_example.make(self, question, checks.picture_size(size))

    def questions(self, n: int = 10) -> list[tuple[str, Any]]:
        """Up to n questions about this town that have a clear answer, each with :attr:`TownAnswer.value`.

        The town's seed draws them.
        """
        n = whole(n, "the number of questions", 1, 1000)
        return [(a.question, a.value) for a in islice(examples(self.view()), n)]

    def view(self, everywhere: bool = False, filmed: TownFilm | None = None) -> View:
        """The town as questions see it: of a film, by default that of :meth:`film`, if something drives."""
        seen, scene = None if everywhere else cache(self.seen), self.to_scene()
        things = self.things
        deeds = None
        if filmed or self.drives:
            deeds = cache(lambda: (filmed or self.film()).deeds)
        sky, known = scene.weather, cache(self.truth)
        return View(things, scene.camera, sky, self.seed, seen, self.unseen, known, deeds)

    def ask_about(self, filmed: TownFilm, question: str) -> TownAnswer:
        """Answer as :meth:`ask`, about a film of this town."""
        return answer(self.view(filmed=filmed), question)

    def seen(self) -> set[str]:
        """Names of the things with at least one visible pixel in a picture of the default size."""
        return self._frame().seen()

    def unseen(self, thing: Thing | str) -> str:
        """Why a picture of the default size does not show a thing, or not all of it; "" if it does.

        That is "outside the picture", "hidden by the cinema", "nearer than 2 m", or that it is cut open
        there. The thing's repr says it, too.
        """
        return unseen(self.to_scene().camera, self[thing], self._frame())

    def describe(self) -> str:
        """The town in a few sentences, which say what of it is in view."""
        return describe(self.view())

    # Motion

    def drive(
        self, thing: Thing | str, speed: float, then: float | None = None, at: float | None = None
    ) -> Thing:
        """Let a vehicle drive along the street, or a person walk.

        :meth:`film` and :meth:`at` show vehicles that drive straight on, and people who stand. In
        :meth:`step` the speed is the one that a driver or a walker aims at; they come back to the y at which
        they were put, and who walks on the sidewalk keeps to its middle.

        Args:
            thing: a vehicle or a person, or its name.
            speed: along its own heading, metres a second; below 0 a vehicle drives backwards, 0 stops it.
            then: the speed that a vehicle has later.
            at: from which second on, if `then` is given.
        """
        later = None if then is at is None else (number(then, "then"), number(at, "at", 0.0))
        return self.change(thing, pace=number(speed, "speed"), later=later)

    def film(
        self, seconds: float = 4.0, pictures: int = 5, size: int | tuple[int, int] = (512, 288)
    ) -> TownFilm:
        """Pictures of this town, in which vehicles drive as :meth:`drive` says; the town stays as it is.

        Args:
            seconds: from the first picture, which shows the town as it is now, to the last; at most 600.
            pictures: how many, at least 2, all the same time apart.
            size: width and height of a picture, pixels; one number means a square.

        Raises:
            TownError: a vehicle runs into something, leaves the street or does not face along it.
        """
        return filming.make(self, seconds, pictures, size)

    def at(self, second: float) -> Town:
        """This town after some seconds, as :meth:`film` shows it: a town of its own."""
        return filming.later(self, number(second, "the second", 0.0, LONGEST))

    def step(self, dt: float) -> list[Contact]:
        """Let time pass: vehicles drive, people walk, and things push each other (extra "physics").

        Args:
            dt: seconds, from 0.001 to 60.

        Returns:
            The things that touched, each pair once.
        """
        dt = number(dt, "the step in seconds", 0.001, 60.0)
        for thing in self._things:
            if thing.pace < 0 or thing.later:
                problem = f"the {thing} drives backwards or changes its speed"
                raise TownError(f"{problem}, which film and at show, not step: give another speed")
        if self._physics is None:
            self._physics = Physics(self.things)
        if not self._tracks:
            self._remember(self._time)
        return self._physics.advance(dt, self._time, self._remember)

    def _remember(self, time: float) -> None:
        self._time = time
        tracks.remember(self._tracks, time, self._things)

    # Inside

    def _frame(self) -> Frame:
        """The picture of the default size, drawn again if anything has changed."""
        drawn = self.to_scene(), [t.name for t in self.things]
        if self._view is None or self._view[0] != drawn:
            self._view = drawn, self.render()
        return self._view[1]

    def _kinds(self, noun: object, paint: str | None) -> list[str]:
        weather = checks.weather(self._weather).kind
        return placing.choose_kinds(noun, paint, weather, self._dice)

    def _add(self, thing: Thing) -> Thing:
        check(thing)
        if len(self._things) >= placing.MOST_THINGS:
            raise TownError(f"a town holds at most {placing.MOST_THINGS} things: remove some first")
        write(thing, name=placing.choose_name(thing.kind, self._things), town=self)
        self._things.append(thing)
        self._physics = None
        return thing
