"""The town: "roads, sidewalks, trees, buildings, cars, pedestrians and other objects can be placed, configured, and moved
programmatically" (the paper's section 2.1).
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simtown.assets.catalogue import ENTITIES, STREET
from simtown.render.frames import check_size
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.footprints import GROUP
from simtown.scenes.placement import GAP, LANES, draw_poses, framed, half_sizes, overlap
from simtown.scenes.scene import Prop, Scene, SceneBatch, Vehicle, Weather
from simtown.scenes.street import FRONT, draw_street
from simtown.scenes.weather import WEATHERS, draw_weather
from simtown.streams import Stream
from simtown.town.things import Thing, TownError, overlapping

if TYPE_CHECKING:
    from PIL import Image

    from simtown.town.answering import Answer
    from simtown.town.physics import Contact, Physics
    from simtown.town.truth import Truth

#: The picture's width and height, pixels, where nobody says otherwise.
SIZE = (1024, 576)
#: Where things of each group stand unless told, y in metres, and how far to either side they are tried, metres.
_PLACES = {"building": FRONT + 0.4, "tree": 7.9, "furniture": 5.6, "person": 5.0, "cloud": 92.0}
_SPREAD = {"building": 25.0, "tree": 13.0, "furniture": 10.0, "person": 10.0, "cloud": 60.0}
#: How many places are tried before a town counts as full, and how many ids a picture has.
_TRIES, MOST_THINGS = 400, 250
#: Seconds that tracks reach back, for what can only be told from motion.
MEMORY = 6.0


class Light(NamedTuple):
    """Where the sun (or the moon) stands: azimuth, counter-clockwise from +x, and elevation, radians."""

    azimuth: float
    elevation: float


@dataclass(frozen=True)
class Frame:
    """One picture of a town; shows itself in notebooks.

    Attributes:
        rgb: (h, w, 3) uint8.
        depth: (h, w) float32 metres along the view's axis, inf for the sky.
        ids: (h, w) uint8, 0 for sky and ground.
        names: the thing of every id.
    """

    rgb: np.ndarray
    depth: np.ndarray
    ids: np.ndarray
    names: dict[int, str]

    @property
    def image(self) -> Image.Image:
        """The picture for Pillow."""
        from PIL import Image

        return Image.fromarray(self.rgb)

    def mask(self, name: object) -> np.ndarray:
        """(h, w) bool, where a thing (or its name) is seen. Raises TownError for one that the town had not."""
        numbers = [i for i, n in self.names.items() if n == str(name)]
        if not numbers:
            raise TownError(f"there is no '{name}' in this picture: its names are those of frame.names")
        found: np.ndarray = self.ids == numbers[0]
        return found

    def save(self, path: str | Path) -> None:
        """Write the picture, in the format that the path's ending names."""
        self.image.save(path)

    def __repr__(self) -> str:
        return f"<Frame {self.rgb.shape[1]} x {self.rgb.shape[0]}: {', '.join(self.names.values())}>"

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.image.save(data, format="PNG")
        return data.getvalue()


class Town:
    """A street that can be built, asked and set in motion.

        town = Town(seed=3)
        engine = town.place("fire truck", x=-4.0, lane="far")
        town.weather = "snow"
        town.render()                                     # a picture in a notebook
        town.ask("Is the fire truck left of a building?")

    Metres and radians; x along the road to the viewer's right, y away from the viewer, z up (docs/data-format.md). The same seed
    and the same verbs make the same town, picture and motion.

    Args:
        seed: which random street. Everything in it, and every place that is left to chance later on, follows from it.
        vehicles: how many stand on the road at first.

    Raises:
        TownError: a ValueError, from every verb, that says what to change.
    """

    def __init__(self, seed: int = 0, vehicles: int = 3) -> None:
        self._start(seed)
        if not 0 <= vehicles <= 8:
            raise TownError(f"{vehicles} vehicles do not fit on the road that is seen: from 0 to 8; place more with x")
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
        self._seed, self._draws, self.time = seed, 0, 0.0
        self._things: list[Thing] = []
        self._counts: dict[str, int] = {}
        self._weather, self._camera = Weather(), Camera()
        self._physics: Physics | None = None
        self._tracks: list[tuple[float, dict[int, tuple[float, float]]]] = []

    def _fill(self, scene: Scene) -> None:
        self._weather, self._camera = replace(scene.weather), scene.camera
        for car in scene.vehicles:
            self._add(Thing(car.entity, car.x, car.y, 0.0, car.yaw))
        for prop in scene.props:
            self._add(Thing(prop.kind, prop.x, prop.y, prop.z, prop.yaw, prop.scale, prop.style))

    @classmethod
    def from_scene(cls, scene: Scene, seed: int = 0) -> Town:
        """The town of a scene, such as a stored example's: ``Town.from_scene(open_dataset(path).train[0].scene)``."""
        town = cls.__new__(cls)
        town._start(seed)
        try:
            SceneBatch.of([scene])
        except ValueError as error:
            raise TownError(str(error)) from error
        town._fill(scene)
        return town

    def to_scene(self) -> Scene:
        """The town as it is now: what a data set stores, and any renderer draws."""
        w = self._weather
        if w.kind not in WEATHERS or not 0 <= w.intensity <= 1:
            raise TownError(f"weather '{w.kind}' of intensity {w.intensity}: the kind is one of {', '.join(WEATHERS)}, and the intensity "
                            "from 0 to 1")  # fmt: skip
        return Scene(
            [Vehicle(t.kind, t.x, t.y, t.yaw) for t in self.vehicles],
            [Prop(t.kind, t.x, t.y, t.z, t.yaw, t.scale, t.style) for t in self.props],
            replace(w),
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

    def __iter__(self) -> Iterator[Thing]:
        return iter(self.things)

    def __len__(self) -> int:
        return len(self._things)

    def __getitem__(self, name: str) -> Thing:
        """The thing of a name. Raises TownError for a name that nothing has."""
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
        for t in self._things:
            if t.name == thing:
                return t
        alike = [t.name for t in self._things if t.kind == thing]
        hint = f"there is {', '.join(alike)}" if alike else f"place it, or take one of: {', '.join(t.name for t in self.things)}"
        raise TownError(f"there is no '{thing}' in this town: {hint}")

    # Verbs

    def place(self, kind: str, x: float | None = None, y: float | None = None, yaw: float | None = None, *, z: float = 0.0,
              lane: str | None = None, on: Thing | str | None = None, scale: float = 1.0, style: int | None = None) -> Thing:  # fmt: skip
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

        Raises:
            TownError: an unknown kind, numbers out of range, no room, or a place where something else stands (both are named).
        """
        kind = self._kind(kind)
        vehicle = GROUP[kind] == "vehicle"
        if len(self._things) >= MOST_THINGS:
            raise TownError(f"a town holds at most {MOST_THINGS} things: remove some")
        if lane is not None and (not vehicle or lane not in ("near", "far")):
            raise TownError(f"lane '{lane}' for a {kind}: it is 'near' or 'far', for vehicles only")
        if vehicle and (on is not None or z or scale != 1.0):
            raise TownError(f"a {kind} stands on the ground in its own size: leave out on, z and scale")
        if style is None:
            style = int(self._uniform("style") * 65536)
        thing = Thing(kind, 0.0, 0.0, z, 0.0, scale, 0 if vehicle else style)
        if on is not None:
            below = self._find(on)
            thing.x, thing.y = below.x if x is None else x, below.y if y is None else y
            thing.yaw = yaw or 0.0
            height = below.top(thing.x, thing.y)
            if not np.isfinite(height):
                raise TownError(f"({thing.x:.2f}, {thing.y:.2f}) is not above the {below}: give an x and a y that are")
            thing.z = z + height
        elif x is None:
            return self._add(self._somewhere(thing, lane, y, yaw))
        else:
            side = LANES[0 if lane != "far" else 1] if vehicle else (_PLACES[thing.group], 0.0)
            thing.x, thing.y, thing.yaw = x, side[0] if y is None else y, side[1] if yaw is None else yaw
        if thing.group == "cloud" and not z:
            thing.z = 26.0
        return self._add(self._fitting(thing))

    def move(self, thing: Thing | str, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0, *, x: float | None = None,
             y: float | None = None, z: float | None = None) -> Thing:  # fmt: skip
        """Move a thing by (dx, dy, dz) metres, or to an x, y or z. Raises TownError, and moves nothing, where something else stands."""
        thing = self._find(thing)
        to = replace(
            thing, x=(thing.x if x is None else x) + dx, y=(thing.y if y is None else y) + dy, z=(thing.z if z is None else z) + dz
        )
        return self._change(thing, to)

    def turn(self, thing: Thing | str, by: float) -> Thing:
        """Turn a thing by so many radians counter-clockwise. Raises TownError, and turns nothing, where it would hit something."""
        thing = self._find(thing)
        return self._change(thing, replace(thing, yaw=thing.yaw + by))

    def remove(self, *things: Thing | str) -> None:
        """Take things out of the town. Raises TownError for what is not in it, and takes nothing out."""
        gone = [self._find(t) for t in things]
        self._things = [t for t in self._things if not any(t is g for g in gone)]
        self._physics = None

    def clear(self, group: str | None = None) -> None:
        """Take everything out, or all of a group: "vehicle", "building", "tree", "furniture", "person", "cloud"."""
        if group is not None and group not in _GROUPS:
            raise TownError(f"unknown group '{group}': one of {', '.join(_GROUPS)}")
        self.remove(*[t for t in self._things if group in (None, t.group)])

    @property
    def weather(self) -> Weather:
        """Kind, intensity and so on; set it to a kind, or to a :class:`~simtown.scenes.scene.Weather`."""
        return self._weather

    @weather.setter
    def weather(self, value: str | Weather) -> None:
        kind = value if isinstance(value, str) else value.kind
        if kind not in WEATHERS:
            raise TownError(f"unknown weather '{kind}': one of {', '.join(WEATHERS)}")
        self._weather = replace(self._weather, kind=kind) if isinstance(value, str) else replace(value)

    @property
    def light(self) -> Light:
        """Azimuth and elevation of the sun, radians."""
        return Light(self._weather.sun_azimuth, self._weather.sun_elevation)

    @light.setter
    def light(self, value: tuple[float, float]) -> None:
        azimuth, elevation = value
        if not (np.isfinite(azimuth) and 0.05 <= elevation <= np.pi / 2):
            raise TownError(f"light ({azimuth}, {elevation}): an azimuth, and an elevation from 0.05 to 1.57 radians")
        self._weather = replace(self._weather, sun_azimuth=float(azimuth), sun_elevation=float(elevation))

    @property
    def camera(self) -> Camera:
        """Set it to another :class:`~simtown.scenes.camera.Camera`, for example ``replace(town.camera, x=2.0)``."""
        return self._camera

    @camera.setter
    def camera(self, value: Camera) -> None:
        if not np.isfinite(value.row()).all() or not 0.2 <= value.focal <= 20 or abs(value.pitch) > 1.2 or value.z < 0.3:
            raise TownError("a camera has finite numbers, a focal length from 0.2 to 20, a pitch from -1.2 to 1.2 and stands 0.3 m high "
                            "at least")  # fmt: skip
        self._camera = value

    # Pictures, truth and words

    def render(self, size: tuple[int, int] = SIZE) -> Frame:
        """The picture, (width, height) pixels. Raises TownError for a size out of range."""
        batch = self._batch(size)
        frames = raster().render(batch, *size)
        return Frame(frames.rgb[0], frames.depth[0], frames.ids[0], self._ids(batch))

    def truth(self, size: tuple[int, int] = SIZE) -> Truth:
        """Everything that is true of the town and its picture: :class:`~simtown.town.truth.Truth`."""
        from simtown.town.truth import truth

        return truth(self, size)

    def ask(self, question: str) -> Answer:
        """Answer a question such as "Is the fire truck left of a taxi?" from the truth: :class:`~simtown.town.answering.Answer`.

        Raises:
            TownError: a question that is not understood (which word), or "the" where there is none or more than one.
        """
        from simtown.town.answering import answer

        return answer(self, question)

    def describe(self) -> str:
        """The town in a few sentences."""
        from simtown.town.answering import describe

        return describe(self)

    # Motion

    def drive(self, thing: Thing | str, speed: float) -> Thing:
        """Let a vehicle go along the road, or a person walk, the way it looks, at up to so many metres a second; 0 stops it."""
        thing = self._find(thing)
        if thing.group not in ("vehicle", "person"):
            raise TownError(f"a {thing} does not go: only vehicles and people do")
        most = 30.0 if thing.group == "vehicle" else 4.0
        if not 0 <= speed <= most:
            raise TownError(f"speed {speed} of the {thing}: from 0 to {most:.0f} metres a second")
        thing.pace = float(speed)
        self._physics = None
        return thing

    def step(self, dt: float) -> list[Contact]:
        """Let `dt` seconds pass, under gravity, tyres, drivers and walkers (extra "physics"); returns what touched what.

        Raises:
            TownError: pybullet is missing, or dt is not from 0.001 to 60.
        """
        if not 0.001 <= dt <= 60:
            raise TownError(f"a step of {dt} seconds: from 0.001 to 60")
        if self._physics is None:
            from simtown.town.physics import Physics

            self._physics = Physics(self.things)
        if not self._tracks:
            self._remember()
        contacts = self._physics.advance(dt, self.time)
        self.time += dt
        self._remember()
        return contacts

    def _remember(self) -> None:
        self._tracks.append((self.time, {id(t): (t.x, t.y) for t in self._things}))
        while self._tracks[-1][0] - self._tracks[0][0] > MEMORY:
            del self._tracks[0]
        for thing in self._things:
            places = [places[id(thing)] for _, places in self._tracks if id(thing) in places]
            thing.track = np.array(places) if len(places) == len(self._tracks) else None

    # Inside

    def _kind(self, kind: str) -> str:
        if kind in ("vehicle", *STREET):
            kinds = ENTITIES if kind == "vehicle" else STREET[kind]
            kinds = tuple(k for k in kinds if not k.endswith(" bare") or self._weather.kind == "snow")
            return kinds[int(self._uniform("kind") * len(kinds))]
        if kind not in GROUP:
            from difflib import get_close_matches

            near = get_close_matches(kind, [*GROUP, "vehicle", *STREET], 3, 0.5)
            raise TownError(
                f"unknown kind '{kind}': {'did you mean ' + ' or '.join(near) if near else 'see simtown preview --entity all'}?"
            )
        return kind

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
        for pose in poses[fine].tolist():
            there = replace(thing, x=pose[0], y=pose[1], yaw=pose[2], z=26.0 if thing.group == "cloud" else thing.z)
            if self._roomy(there) and overlapping(there, self._things) is None:
                return self._fitting(there)
        raise TownError(f"no free place for a {thing.kind} in {_TRIES} tries: remove something, or say where with x and y")

    def _roomy(self, thing: Thing) -> bool:
        """Whether a vehicle keeps the gap that data sets keep; other things need none."""
        cars = self.vehicles
        if thing.group != "vehicle" or not cars:
            return True
        half = half_sizes()
        pose = np.array([[t.x, t.y, t.yaw] for t in cars])
        mine = np.array([thing.x, thing.y, thing.yaw])
        return not overlap(mine, half[ENTITIES.index(thing.kind)], pose, half[[ENTITIES.index(t.kind) for t in cars]], GAP).any()

    def _fitting(self, thing: Thing, but: Thing | None = None) -> Thing:
        numbers = (thing.x, thing.y, thing.z, thing.yaw, thing.scale, thing.style)
        if not np.isfinite(numbers).all() or max(map(abs, numbers[:3])) > 500 or not 0.05 <= thing.scale <= 20:
            raise TownError(f"a {thing.kind} at {thing.x}, {thing.y}, {thing.z}, yaw {thing.yaw}, scale {thing.scale}: places are within "
                            "500 metres, scales from 0.05 to 20, and all numbers finite")  # fmt: skip
        if not 0 <= thing.style < 65536:
            raise TownError(f"style {thing.style} of the {thing.kind}: a whole number from 0 to 65535")
        if thing.group == "vehicle" and thing.z:
            raise TownError(f"the {thing} stands on the ground: leave out dz and z")
        if thing.group != "cloud" and thing.z < 0:
            raise TownError(f"the {thing} would stand {-thing.z:.2f} m below the ground: z is 0 or more")
        other = overlapping(thing, [t for t in self._things if t is not but])
        if other is not None:
            raise TownError(f"the {thing} at ({thing.x:.2f}, {thing.y:.2f}) would overlap the {other} at ({other.x:.2f}, {other.y:.2f}): "
                            "give another place, or move or remove one of them")  # fmt: skip
        return thing

    def _change(self, thing: Thing, to: Thing) -> Thing:
        self._fitting(to, but=thing)
        thing.x, thing.y, thing.z, thing.yaw = to.x, to.y, to.z, to.yaw
        thing.track, self._physics = None, None
        for _, places in self._tracks:
            places.pop(id(thing), None)  # what was carried has not driven there
        return thing

    def _add(self, thing: Thing) -> Thing:
        self._counts[thing.kind] = count = self._counts.get(thing.kind, 0) + 1
        thing.name = thing.kind if count == 1 else f"{thing.kind} {count}"
        self._things.append(thing)
        self._physics = None
        return thing

    def _batch(self, size: tuple[int, int]) -> SceneBatch:
        try:
            check_size(*size)
        except (ValueError, TypeError) as error:
            raise TownError(f"size {size}: {error}") from error
        return SceneBatch.of([self.to_scene()])

    def _ids(self, batch: SceneBatch) -> dict[int, str]:
        props = 1 + batch.entity.shape[1]
        return {1 + i: t.name for i, t in enumerate(self.vehicles)} | {props + j: t.name for j, t in enumerate(self.props)}


_GROUPS = ("vehicle", *STREET)


@lru_cache(maxsize=1)
def raster() -> Raster:
    """What draws towns, made once a process."""
    return Raster()
