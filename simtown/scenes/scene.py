"""The complete latent state of street scenes: :class:`SceneBatch` (arrays), :class:`Scene` (one, readable).

World frame: metres, right-handed, z up, x along the road to the viewer's right, y away from the viewer.
Nothing about a picture lives outside this state: any renderer, at any size, draws the same street from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES, IN_POSE, KEEP_PAINT, PROPS, pose_of
from simtown.assets.palette import PAINTS
from simtown.core.exact import sincos
from simtown.core.untrusted import parse_json
from simtown.scenes.camera import Camera
from simtown.scenes.paint import may_change, why_unpainted
from simtown.scenes.weather import WEATHERS

#: Metres and radians of what stands in a scene are below this.
LARGEST_MEASURE = 1e6
#: Focal lengths are at least this, in widths of the picture: with none, reflections in wet streets never end.
LEAST_FOCAL = 1e-3
#: Its place in a row of a camera.
_FOCAL = [f.name for f in fields(Camera)].index("focal")


@dataclass
class Vehicle:
    """A vehicle in a scene.

    Attributes:
        entity: its name in the catalogue.
        x: of the middle of its footprint, metres; `y` too.
        yaw: radians counter-clockwise, 0 along +x.
        paint: name of its body's paint, one of PAINTS; None is the entity's own.
    """

    entity: str
    x: float
    y: float
    yaw: float = 0.0
    paint: str | None = None


@dataclass
class Prop:
    """A thing beside the road.

    Attributes:
        kind: its name in PROPS.
        x: metres; `y` too, and `z`, the height above the ground.
        yaw: radians counter-clockwise.
        scale: 1 is the size in the catalogue.
        style: a number that picks tints, lit windows and a person's pose.
    """

    kind: str
    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0
    scale: float = 1.0
    style: int = 0


@dataclass
class Weather:
    """The weather of a scene.

    Attributes:
        kind: its name in WEATHERS.
        intensity: from 0 to 1.
        sun_azimuth: radians counter-clockwise from +x.
        sun_elevation: radians.
        seed: of rain and snow.

    >>> import simtown
    >>> town = simtown.Town.random(seed=3)
    >>> town.weather = simtown.Weather("fog", intensity=0.9)
    >>> town.ask("What is the weather?")
    fog: the weather is fog, of intensity 0.90 (from 0 to 1)
    """

    kind: str = "clear"
    intensity: float = 0.5
    sun_azimuth: float = -2.2
    sun_elevation: float = 0.9
    seed: int = 0


@dataclass
class Scene:
    """A street scene, complete, with JSON both ways.

    >>> import simtown
    >>> scene = simtown.Town.random(seed=3).to_scene()
    >>> [vehicle.entity for vehicle in scene.vehicles]
    ['kick scooter', 'mail van', 'scooter']
    >>> simtown.Scene.from_json(scene.to_json()) == scene
    True
    """

    vehicles: list[Vehicle] = field(default_factory=list)
    props: list[Prop] = field(default_factory=list)
    weather: Weather = field(default_factory=Weather)
    camera: Camera = field(default_factory=Camera)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Scene:
        """Inverse of :meth:`to_json`. Raises ValueError, TypeError or KeyError if the text is not a scene."""
        d = parse_json(text)
        vehicles, props = [Vehicle(**v) for v in d["vehicles"]], [Prop(**p) for p in d["props"]]
        scene = cls(vehicles, props, Weather(**d["weather"]), Camera(**d["camera"]))
        for part in (*vehicles, *props, scene.weather, scene.camera):
            _check_part(part)
        return scene


def _check_part(part: Any) -> None:
    """Raises TypeError if a name is not a string, ValueError if its array cannot hold a number."""
    for name, value in asdict(part).items():
        what = f"{type(part).__name__.lower()}.{name}"
        if name in ("entity", "kind", "paint"):
            if not isinstance(value, str) and not (name == "paint" and value is None):
                raise TypeError(f"{what} is not a name")
        elif not isinstance(value, int | float) or isinstance(value, bool):
            raise TypeError(f"{what} is not a number")
        elif name in _WHOLE:
            _whole(value, what)
        elif name == "focal" and not value >= LEAST_FOCAL:
            raise ValueError(f"{what} is not at least {LEAST_FOCAL}")
        elif name == "intensity" and not 0 <= value <= 1:
            raise ValueError(f"{what} is not from 0 to 1")
        elif not abs(value) <= LARGEST_MEASURE:
            raise ValueError(f"{what} is not within {LARGEST_MEASURE:.0f}")


#: Whole numbers of a scene are below these.
_WHOLE = {"style": 1 << 16, "seed": 1 << 32}


def _whole(value: object, what: str) -> int:
    """The whole number of a part's attribute, such as "prop.style". Raises ValueError if it cannot be."""
    most = _WHOLE[what.partition(".")[2]] - 1
    if not (isinstance(value, int | np.integer) and 0 <= value <= most):
        raise ValueError(f"{what} is {value!r}, not a whole number from 0 to {most}")
    return int(value)


@dataclass
class SceneBatch:
    """n scenes as arrays, the example first; v vehicle slots and p prop slots, -1 marks an empty slot.

    Attributes:
        entity: (n, v) int16 indices of ENTITIES.
        pose: (n, v, 3) float32 x, y (metres) and yaw (radians).
        paint: (n, v) int8 indices of PAINTS, of a vehicle's body; -1 is the entity's own.
        prop: (n, p) int16 indices of PROPS.
        prop_pose: (n, p, 5) float32 x, y, z (metres), yaw (radians), scale.
        prop_style: (n, p) uint16, picks tints, lit windows and people's poses.
        weather: (n,) uint8 index of WEATHERS.
        intensity: (n,) float32 in [0, 1].
        sun: (n, 2) float32 azimuth and elevation (radians).
        fall_seed: (n,) uint32 seed of rain and snow.
        camera: (n, 7) float32 rows of :class:`~simtown.scenes.camera.Camera`.

    >>> import simtown
    >>> streets = [simtown.Town.random(seed).to_scene() for seed in range(3)]
    >>> batch = simtown.SceneBatch.of(streets)
    >>> len(batch), batch.pose.shape
    (3, (3, 3, 3))
    """

    entity: np.ndarray
    pose: np.ndarray
    paint: np.ndarray
    prop: np.ndarray
    prop_pose: np.ndarray
    prop_style: np.ndarray
    weather: np.ndarray
    intensity: np.ndarray
    sun: np.ndarray
    fall_seed: np.ndarray
    camera: np.ndarray

    @classmethod
    def of_columns(cls, columns: Mapping[str, np.ndarray]) -> SceneBatch:
        """The scenes of the columns of a shard, such as "scene/entity"; inverse of :meth:`columns`."""
        return cls(**{f.name: columns[f"scene/{f.name}"] for f in fields(cls)})

    def columns(self) -> dict[str, np.ndarray]:
        """The arrays by the names that they have in shards."""
        return {f"scene/{f.name}": getattr(self, f.name) for f in fields(self)}

    def __len__(self) -> int:
        return len(self.weather)

    def __getitem__(self, rows: slice | np.ndarray) -> SceneBatch:
        """The scenes of a slice or an index array."""
        return SceneBatch(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def meshes(self) -> np.ndarray:
        """(n, v + p) int32 numbers in the atlas of vehicle slots, then of prop slots; -1 if empty."""
        props = len(ENTITIES) + IN_POSE[self.prop, pose_of(self.prop_style)]
        return np.concatenate([self.entity, np.where(self.prop >= 0, props, -1)], axis=1, dtype=np.int32)

    def body_paints(self) -> np.ndarray:
        """(n, v) uint8 indices of PAINTS (and MATERIALS) that vehicles' bodies show; NO_PAINT if empty."""
        own = atlas().own_paint[self.entity]  # entity -1 is the last mesh, the ground, which has no paint
        return np.where(self.paint >= 0, self.paint, own).astype(np.uint8)

    def mesh_poses(self) -> np.ndarray:
        """(n, v + p, 6) float32 x, y, z (metres), cos yaw, sin yaw and scale of :meth:`meshes`."""
        n, v = self.entity.shape
        poses = np.zeros((n, v + self.prop.shape[1], 6), dtype=np.float32)
        poses[:, :v, :2], poses[:, v:, :3] = self.pose[..., :2], self.prop_pose[..., :3]
        yaw = np.concatenate([self.pose[..., 2], self.prop_pose[..., 3]], axis=1)
        poses[..., 4], poses[..., 3] = sincos(yaw.astype(np.float64))
        poses[:, :v, 5], poses[:, v:, 5] = 1.0, self.prop_pose[..., 4]
        return poses

    def alone(self, slot: int) -> SceneBatch:
        """The same scenes with nothing in the street but the vehicle of one slot, in clear weather."""
        names = ("entity", "pose", "paint", "prop", "prop_pose", "prop_style")
        kept = {name: getattr(self, name)[:, slot : slot + 1] for name in names[:3]}
        kept |= {name: getattr(self, name)[:, :0] for name in names[3:]}
        return replace(self, **kept, weather=np.zeros_like(self.weather))

    def scene(self, i: int) -> Scene:
        """Scene i as a readable object."""
        rows = [getattr(self, f.name)[i].tolist() for f in fields(self)]
        vehicles = [
            Vehicle(ENTITIES[entity], x, y, yaw, None if paint < 0 else PAINTS[paint])
            for entity, (x, y, yaw), paint in zip(*rows[:3], strict=True)
            if entity >= 0
        ]
        props = [
            Prop(PROPS[kind], x, y, z, yaw, scale, style)
            for kind, (x, y, z, yaw, scale), style in zip(*rows[3:6], strict=True)
            if kind >= 0
        ]
        sky, intensity, (azimuth, elevation), seed, camera = rows[6:]
        weather = Weather(WEATHERS[sky], intensity, azimuth, elevation, seed)
        return Scene(vehicles, props, weather, Camera(*camera))

    def ids(self, i: int) -> tuple[list[int], list[int]]:
        """The numbers of scene i's vehicles and props in masks, which count empty slots too."""
        vehicles = 1 + np.flatnonzero(self.entity[i] >= 0)
        props = 1 + self.entity.shape[1] + np.flatnonzero(self.prop[i] >= 0)
        return vehicles.tolist(), props.tolist()

    def to_json(self, i: int) -> str:
        """Scene i as JSON that :meth:`Scene.from_json` reads, with its :meth:`ids` under "ids"."""
        vehicles, props = self.ids(i)
        ids = {"ids": {"vehicles": vehicles, "props": props}}
        return json.dumps(asdict(self.scene(i)) | ids, indent=1)

    @classmethod
    def of(cls, scenes: list[Scene], vehicles: int = 1, props: int = 1) -> SceneBatch:
        """A batch of scenes, with so many slots or as many as the fullest scene needs.

        Raises ValueError for an unknown name, a paint that a kind cannot have, or a style or seed that is not
        an integer that the arrays hold.
        """
        vehicles = max([vehicles, *(len(scene.vehicles) for scene in scenes)])
        props = max([props, *(len(scene.props) for scene in scenes)])
        batch = empty_batch(len(scenes), vehicles, props)
        for i, scene in enumerate(scenes):
            for j, car in enumerate(scene.vehicles):
                batch.entity[i, j] = _index(car.entity, ENTITIES, "vehicle")
                batch.pose[i, j] = car.x, car.y, car.yaw
                batch.paint[i, j] = -1 if car.paint is None else paint_number(car.entity, car.paint)
            for j, prop in enumerate(scene.props):
                batch.prop[i, j] = _index(prop.kind, PROPS, "street kind")
                batch.prop_pose[i, j] = prop.x, prop.y, prop.z, prop.yaw, prop.scale
                batch.prop_style[i, j] = _whole(prop.style, "prop.style")
            w = scene.weather
            batch.weather[i] = _index(w.kind, WEATHERS, "weather")
            batch.intensity[i], batch.fall_seed[i] = w.intensity, _whole(w.seed, "weather.seed")
            batch.sun[i] = w.sun_azimuth, w.sun_elevation
            batch.camera[i] = scene.camera.row()
        return batch


def empty_batch(n: int, vehicles: int, props: int) -> SceneBatch:
    """n scenes with all slots empty, in clear weather, seen by the default camera."""
    return SceneBatch(
        entity=np.full((n, vehicles), -1, dtype=np.int16),
        pose=np.zeros((n, vehicles, 3), dtype=np.float32),
        paint=np.full((n, vehicles), -1, dtype=np.int8),
        prop=np.full((n, props), -1, dtype=np.int16),
        prop_pose=np.zeros((n, props, 5), dtype=np.float32),
        prop_style=np.zeros((n, props), dtype=np.uint16),
        weather=np.zeros(n, dtype=np.uint8),
        intensity=np.full(n, 0.5, dtype=np.float32),
        sun=np.tile(np.array([-2.2, 0.9], dtype=np.float32), (n, 1)),
        fall_seed=np.zeros(n, dtype=np.uint32),
        camera=np.tile(Camera().row(), (n, 1)),
    )


def plausible(batch: SceneBatch) -> np.ndarray:
    """Whether a scene is :func:`drawable` and no kind that is named by its colour has a paint: (n,) bool.

    Scenes from a file are checked with this before their numbers are used as indices.
    """
    own_paint = (batch.paint < 0) | may_change()[batch.entity.clip(-1, len(ENTITIES) - 1)]
    return np.asarray(drawable(batch) & own_paint.all(axis=1))


def drawable(batch: SceneBatch) -> np.ndarray:
    """Whether every number of a scene stands for something, and every measure is finite: (n,) bool."""
    fine = (batch.weather < len(WEATHERS)) & (batch.camera[:, _FOCAL] >= LEAST_FOCAL)
    fine &= (batch.intensity >= 0) & (batch.intensity <= 1)  # as many drops and flakes are drawn
    for column, names in ((batch.entity, ENTITIES), (batch.paint, PAINTS), (batch.prop, PROPS)):
        fine &= ((column >= -1) & (column < len(names))).all(axis=1)
    for measure in (batch.pose, batch.prop_pose, batch.intensity, batch.sun, batch.camera):
        finite = np.isfinite(measure) & (np.abs(measure) < LARGEST_MEASURE)
        fine &= finite.all(axis=tuple(range(1, finite.ndim)))
    return fine


def check_scenes(batch: SceneBatch) -> None:
    """Raises ValueError for the first scene that is not :func:`drawable`."""
    strange = np.flatnonzero(~drawable(batch))
    if len(strange):
        raise ValueError(
            f"scene {strange[0]} of the batch cannot be drawn: a kind, paint, weather or intensity is out of "
            f"range, a measure is not finite, or the focal length is below {LEAST_FOCAL}"
        )


def check_focal(batch: SceneBatch) -> None:
    """Raises ValueError for a focal length below LEAST_FOCAL: its reflections have no end."""
    if not (batch.camera[:, _FOCAL] >= LEAST_FOCAL).all():
        raise ValueError(f"every focal length must be at least {LEAST_FOCAL}")


def paint_number(entity: str, paint: str) -> int:
    """The index of an entity's paint. Raises ValueError if it is unknown, or the entity keeps its own."""
    number = _index(paint, PAINTS, "paint")
    if entity in KEEP_PAINT:
        why = f"{why_unpainted(entity)}, so leave out its paint"
        raise ValueError(f"a {entity} cannot be painted {paint}: {why}")
    return number


def _index(name: str, names: tuple[str, ...], what: str) -> int:
    if name not in names:
        hint = f"the names are {', '.join(names[:8])}{', ...' if names[8:] else ''}"
        if similar := get_close_matches(str(name), names, 3, 0.5):
            hint = f"did you mean {' or '.join(similar)}?"
        raise ValueError(f"unknown {what} '{name}': {hint}")
    return names.index(name)
