"""Motion: rigid bodies of the town's own shapes in Bullet, driven by :mod:`simtown.town.driving`.

Vehicles and people are convex hulls of their meshes; buildings, trees and street furniture are their outlines, drawn up, and do not
move. Everything keeps upright, as scenes can say no more than a place and a yaw: bodies turn about the vertical alone. Tyres hold a
vehicle along its heading and sideways with at most friction's force, so it brakes no faster than a road allows and skids when hit.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.street.ground import PAVEMENT_EDGE, ROAD_EDGE
from simtown.scenes.footprints import depths, heights, number, outline, separation
from simtown.town import driving
from simtown.town.things import Thing, TownError, turned_front

GRAVITY, GRIP = 9.81, 0.8
#: Kilograms a cubic metre of a thing's box: a car of about 1.3 t, a person of about 70 kg.
DENSITY = 110.0
#: Longest time between two decisions, seconds, and steps of the solver in it.
TICK, SUBSTEPS = 1 / 60, 4
#: How far beside a vehicle something may be and still count as ahead of it, and how far ahead it looks, metres.
BESIDE, AHEAD = 0.3, 80.0
#: How far around people look, metres.
AROUND = 3.0


@dataclass(frozen=True)
class Contact:
    """Two things that touched.

    Attributes:
        first, second: their names. time: seconds of the town's clock when they first touched in this step. impulse: newton seconds in all.
        point: x, y, z in metres where they first touched.
    """

    first: str
    second: str
    time: float
    impulse: float
    point: tuple[float, float, float]


@dataclass
class _Body:
    """A thing and what Bullet knows it by; `line` is the y that it keeps to, `heading` the direction of its way."""

    thing: Thing
    number: int
    mass: float
    offset: np.ndarray
    inertia: float
    line: float
    heading: float


def _bullet() -> Any:
    try:
        import pybullet
    except ImportError as error:
        raise TownError("motion needs pybullet: pip install 'simtown[physics]'") from error
    return pybullet


class Physics:
    """The bodies of some things, from where they stand and how fast they go; :meth:`advance` moves the things.

    Raises:
        TownError: pybullet is not installed.
    """

    def __init__(self, things: list[Thing]) -> None:
        self._bullet = bullet = _bullet()
        self._client = bullet.connect(bullet.DIRECT)
        weakref.finalize(self, _disconnect, bullet, self._client)
        bullet.setGravity(0.0, 0.0, -GRAVITY, physicsClientId=self._client)
        bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, numSubSteps=SUBSTEPS, physicsClientId=self._client)
        plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=self._client)
        self._ground = bullet.createMultiBody(0.0, plane, physicsClientId=self._client)
        bullet.changeDynamics(self._ground, -1, lateralFriction=1.0, physicsClientId=self._client)
        self._bodies = [self._body(t) for t in things if t.group != "cloud"]
        self._names = {b.number: b.thing.name for b in self._bodies}
        self._moving = [b for b in self._bodies if b.mass]

    def _body(self, thing: Thing) -> _Body:
        """Bullet's frame of a body is about the middle of its box, at the height of its foot, so that pushes do not tilt it."""
        bullet, client = self._bullet, self._client
        mesh_low, mesh_high = atlas().bounds[number(thing.kind)].astype(np.float64)
        middle = (mesh_low + mesh_high) / 2
        if moves := thing.group in ("vehicle", "person"):
            start, stop = atlas().vertex_start[number(thing.kind) : number(thing.kind) + 2]
            points = atlas().vertices[start:stop].astype(np.float64)
        else:
            low, high = heights(thing.kind)
            points = np.concatenate([np.column_stack([outline(thing.kind), np.full(len(outline(thing.kind)), z)]) for z in (low, high)])
        offset = thing.scale * np.array([middle[0], middle[1], mesh_low[2] if moves else 0.0])
        points = np.unique(np.round(thing.scale * points - offset, 3), axis=0)
        shape = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=points.tolist(), physicsClientId=client)
        length, width, height = (mesh_high - mesh_low) * thing.scale
        mass = DENSITY * length * width * height if moves else 0.0
        inertia = mass * (length * length + width * width) / 12
        x, y, z = _middle(thing, offset)
        turn = [0.0, 0.0, math.sin(thing.yaw / 2), math.cos(thing.yaw / 2)]
        body = bullet.createMultiBody(mass, shape, -1, [x, y, z], turn, physicsClientId=client)
        # no inertia about x and y is Bullet's way to say that nothing turns about them; tyres and soles do the friction
        bullet.changeDynamics(body, -1, lateralFriction=0.0, linearDamping=0.0, angularDamping=0.0, collisionMargin=0.001,
                              activationState=bullet.ACTIVATION_STATE_DISABLE_SLEEPING, physicsClientId=client)  # fmt: skip
        if moves:
            bullet.changeDynamics(body, -1, localInertiaDiagonal=[0.0, 0.0, inertia], physicsClientId=client)
            bullet.resetBaseVelocity(body, list(thing.velocity), [0.0, 0.0, thing.spin], physicsClientId=client)
        along = math.cos(thing.front) >= 0
        return _Body(thing, body, mass, offset, inertia, thing.y, 0.0 if along else math.pi)

    def advance(self, dt: float, time: float) -> list[Contact]:
        """Let `dt` seconds pass from `time` on; returns what touched, each pair once, in order of first touch."""
        bullet, client = self._bullet, self._client
        ticks = max(1, math.ceil(dt / TICK - 1e-9))
        tick = dt / ticks
        bullet.setTimeStep(tick, physicsClientId=client)
        found: dict[tuple[str, str], Contact] = {}
        for k in range(ticks):
            outlines = [(b, b.thing.outline) for b in self._bodies]
            for body in self._moving:
                (self._drive if body.thing.group == "vehicle" else self._walk)(body, outlines, tick)
            bullet.stepSimulation(physicsClientId=client)
            self._read()
            self._touches(found, time + (k + 1) * tick, tick)
        return sorted(found.values(), key=lambda c: (c.time, c.first, c.second))

    def _read(self) -> None:
        """Where the bodies are now, into the things."""
        for b in self._moving:
            (x, y, z), (_, _, s, c) = self._bullet.getBasePositionAndOrientation(b.number, physicsClientId=self._client)
            velocity, spin = self._bullet.getBaseVelocity(b.number, physicsClientId=self._client)
            thing, before = b.thing, b.thing.yaw
            turned = 2 * math.atan2(s, c)
            thing.yaw = before + math.remainder(turned - before, 2 * math.pi)
            own = _turn(b.offset, thing.yaw)
            thing.x, thing.y = x - own[0], y - own[1]
            height = z - b.offset[2]
            thing.z = 0.0 if thing.group == "vehicle" or height < 0.02 else height  # a scene's vehicles have no z; wheels are not quite round
            thing.velocity, thing.spin = (velocity[0], velocity[1], velocity[2]), spin[2]

    def _touches(self, found: dict[tuple[str, str], Contact], time: float, tick: float) -> None:
        for point in self._bullet.getContactPoints(physicsClientId=self._client):
            a, b, distance, force = point[1], point[2], point[8], point[9]
            if self._ground in (a, b) or distance > 0.005:
                continue
            pair = tuple(sorted((self._names[a], self._names[b])))
            before = found.get(pair)  # type: ignore[call-overload]
            first, at, sum_ = (time, point[5], 0.0) if before is None else (before.time, before.point, before.impulse)
            found[pair] = Contact(*pair, first, sum_ + force * tick, at)  # type: ignore[index]

    def _push(self, body: _Body, acceleration: np.ndarray, yaw_rate: float, tick: float) -> None:
        """Tyres' or soles' force, at most friction's; the yaw follows the wheels."""
        most = GRIP * GRAVITY
        size = float(np.hypot(*acceleration))
        if size > most:
            acceleration = acceleration * (most / size)
        force = [*(body.mass * acceleration).tolist(), 0.0]
        place, _ = self._bullet.getBasePositionAndOrientation(body.number, physicsClientId=self._client)
        frame = self._bullet.WORLD_FRAME
        self._bullet.applyExternalForce(body.number, -1, force, place, frame, physicsClientId=self._client)
        spin = min(max((yaw_rate - body.thing.spin) / tick, -12.0), 12.0)
        self._bullet.applyExternalTorque(body.number, -1, [0.0, 0.0, body.inertia * spin], frame, physicsClientId=self._client)

    def _drive(self, body: _Body, outlines: list[tuple[_Body, np.ndarray]], tick: float) -> None:
        thing = body.thing
        forward = np.array([math.cos(thing.yaw), math.sin(thing.yaw)])
        left = np.array([-forward[1], forward[0]])
        velocity = np.array(thing.velocity[:2])
        speed, slip = float(velocity @ forward), float(velocity @ left)
        yaw_rate = 0.0
        if thing.pace > 0:
            gap, closing = self._ahead(body, outlines, speed)
            along = driving.follow(speed, thing.pace, gap, closing)
            along = max(along, -speed / tick)  # brakes stop, they do not push back
            side = 1.0 if body.heading == 0.0 else -1.0
            error = math.remainder(body.heading - thing.yaw, 2 * math.pi)
            length = float(np.ptp(outline(thing.kind)[:, 0]))
            yaw_rate = driving.steer(error, side * (thing.y - body.line), max(speed, 0.0), length)
        else:
            along = -speed / tick
        self._push(body, along * forward - (slip / tick) * left, yaw_rate, tick)

    def _ahead(self, body: _Body, outlines: list[tuple[_Body, np.ndarray]], speed: float) -> tuple[float, float]:
        """Metres to the nearest thing on the way of a vehicle, and how much faster than it the vehicle is, m/s."""
        side = 1.0 if body.heading == 0.0 else -1.0
        mine = side * body.thing.outline
        front, low, high = mine[:, 0].max(), mine[:, 1].min() - BESIDE, mine[:, 1].max() + BESIDE
        gap, closing = math.inf, 0.0
        for other, corners in outlines:
            if other is body or other.thing.z > body.thing.high:
                continue
            theirs = side * corners
            if theirs[:, 1].max() < low or theirs[:, 1].min() > high or theirs[:, 0].max() < front:
                continue
            distance = theirs[:, 0].min() - front
            if distance < min(gap, AHEAD) and side * (other.thing.x - body.thing.x) > 0:
                gap, closing = float(distance), speed - side * other.thing.velocity[0]
        return gap, closing

    def _walk(self, body: _Body, outlines: list[tuple[_Body, np.ndarray]], tick: float) -> None:
        thing = body.thing
        velocity = np.array(thing.velocity[:2])
        if thing.pace <= 0:
            self._push(body, -velocity / tick, 0.0, tick)
            return
        away, gaps = self._around(body, outlines)
        desired = thing.pace * np.array([math.cos(body.heading), 0.15 * (body.line - thing.y)])
        wanted = driving.walk(velocity, desired, away, gaps)
        speed = float(np.hypot(*velocity))
        rate = 0.0
        if speed > 0.2:
            yaw = math.atan2(velocity[1], velocity[0]) - turned_front(thing.kind)
            rate = 4.0 * math.remainder(yaw - thing.yaw, 2 * math.pi)
        self._push(body, wanted, rate, tick)

    def _around(self, body: _Body, outlines: list[tuple[_Body, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors away from all that is near a walker, the edges of its sidewalk among it, and the metres to it."""
        thing, mine = body.thing, body.thing.outline
        here = np.array([thing.x, thing.y])
        away, gaps = [], []
        for other, corners in outlines:
            if other is body or np.hypot(other.thing.x - thing.x, other.thing.y - thing.y) > AROUND + 12.0:
                continue
            gap = separation(mine, corners)
            if gap < AROUND:
                away.append(_outward(here, corners))
                gaps.append(gap)
        for edge, direction in ((ROAD_EDGE, 1.0), (PAVEMENT_EDGE, -1.0)):
            if ROAD_EDGE < thing.y < PAVEMENT_EDGE + 3.0:
                away.append(np.array([0.0, direction]))
                gaps.append(direction * (thing.y - edge))
        return np.array(away).reshape(-1, 2), np.array(gaps)


def _disconnect(bullet: Any, client: int) -> None:
    bullet.disconnect(physicsClientId=client)


def _turn(offset: np.ndarray, yaw: float) -> tuple[float, float]:
    c, s = math.cos(yaw), math.sin(yaw)
    return c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]


def _middle(thing: Thing, offset: np.ndarray) -> tuple[float, float, float]:
    """Where the body's own origin is when the thing stands where it does."""
    x, y = _turn(offset, thing.yaw)
    return thing.x + x, thing.y + y, thing.z + float(offset[2])


def _outward(point: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """The unit vector from the nearest point of a polygon's edge to a point."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    share = np.clip(((point - polygon) * edge).sum(axis=1) / (edge * edge).sum(axis=1), 0.0, 1.0)
    nearest = polygon + share[:, None] * edge
    to = point - nearest
    lengths = np.hypot(to[:, 0], to[:, 1])
    k = int(lengths.argmin())
    inside = depths(point[None], polygon)[0] > 0
    return (-1.0 if inside else 1.0) * to[k] / max(lengths[k], 1e-6)
