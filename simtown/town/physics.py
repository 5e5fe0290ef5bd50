"""Motion: rigid bodies of the town's own shapes in Bullet, driven by :mod:`simtown.town.driving`.

Vehicles are the convex hulls of their meshes' parts, people one hull; buildings, trees and street furniture are their outlines,
drawn up, and do not move. Everything keeps upright, as scenes can say no more than a place and a yaw: bodies turn about the vertical
alone. Tyres hold a vehicle along its heading and sideways with at most friction's force, so it brakes no faster than a road allows
and skids when hit.
"""

from __future__ import annotations

import math
import os
import platform
import sys
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.street.ground import PAVEMENT_EDGE, ROAD_EDGE
from simtown.extras import how_to_install
from simtown.scenes.footprints import GROUP, depths, heights, number, outline, separation
from simtown.town import driving
from simtown.town.checks import TownError
from simtown.town.things import Thing, turned_front, write

GRAVITY, GRIP = 9.81, 0.8
#: Kilograms a cubic metre of a thing's box: a car of about 1.3 t, a person of about 70 kg.
DENSITY = 110.0
#: Longest time between two decisions, seconds, and steps of the solver in it.
TICK, SUBSTEPS = 1 / 60, 4
#: How far beside a vehicle something may be and still count as ahead of it, and how far ahead it looks, metres.
BESIDE, AHEAD = 0.3, 80.0
#: Where people on the sidewalk like to walk, between the lamps and the furniture (y), and how far around they look, metres.
STROLL = 4.8
AROUND = 2.0


#: Force (newtons) and torque (newton metres) on a body, in its own frame.
_Push = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Contact:
    """Two things that touched.

    Attributes:
        first, second: their names.
        time: seconds of the town's clock when they first touched in this step.
        impulse: newton seconds in all.
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


class _Around:
    """A body as the others see it: its outline, and the box around that, metres."""

    def __init__(self, body: _Body) -> None:
        self.body, self.thing, self.outline = body, body.thing, body.thing.outline
        (self.x0, self.y0), (self.x1, self.y1) = self.outline.min(axis=0).tolist(), self.outline.max(axis=0).tolist()
        self.low, self.high = self.thing.low, self.thing.high


def _how_to_install() -> str:
    """How to install pybullet on this machine. Where it has no wheel, the extra installs nothing (its marker in pyproject.toml)."""
    if sys.version_info < (3, 12) and sys.platform == "linux" and platform.machine() == "x86_64":
        return f"motion needs pybullet: {how_to_install('physics')}"
    return (
        f"motion needs pybullet, which has no wheel for Python {platform.python_version()} on {platform.system()} {platform.machine()}: "
        f"{how_to_install('physics')}, under Python 3.11 on Linux x86-64, or build it (a C++ compiler, some minutes): pip install pybullet"
    )


def _bullet() -> Any:
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)  # where it is first imported, it writes when it was built
    try:
        import pybullet
    except ImportError as error:
        raise TownError(_how_to_install()) from error
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
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
        bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, physicsClientId=self._client)
        plane = bullet.createCollisionShape(bullet.GEOM_PLANE, physicsClientId=self._client)
        self._ground = bullet.createMultiBody(0.0, plane, physicsClientId=self._client)
        bullet.changeDynamics(self._ground, -1, lateralFriction=1.0, physicsClientId=self._client)
        self._bodies = [self._body(t) for t in things if t.group != "cloud"]
        self._names = {b.number: b.thing.name for b in self._bodies}
        self._moving = [b for b in self._bodies if b.mass]

    def _body(self, thing: Thing) -> _Body:
        """Bullet's frame of a body is about the middle of its box, at the height of its foot, so that pushes do not tilt it."""
        bullet, client = self._bullet, self._client
        mesh_low, mesh_high = atlas().bounds[number(thing.kind, thing.style)].astype(np.float64)
        middle = (mesh_low + mesh_high) / 2
        moves = thing.group in ("vehicle", "person")
        offset = thing.scale * np.array([middle[0], middle[1], mesh_low[2] if moves else 0.0])
        shape = self._shape([np.unique(np.round(thing.scale * part - offset, 3), axis=0) for part in parts(thing.kind, thing.style)])
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
        strolls = thing.group == "person" and ROAD_EDGE < thing.y < PAVEMENT_EDGE
        heading = 0.0 if math.cos(thing.front) >= 0 else math.pi
        return _Body(thing, body, mass, offset, inertia, STROLL if strolls else thing.y, heading)

    def _shape(self, hulls: list[np.ndarray]) -> int:
        """A rigid shape of convex hulls: Bullet takes more than one from files only."""
        bullet, client = self._bullet, self._client
        if len(hulls) == 1:
            return int(bullet.createCollisionShape(bullet.GEOM_MESH, vertices=hulls[0].tolist(), physicsClientId=client))
        lines, first = [], 1
        for k, points in enumerate(hulls):
            lines += [f"o part{k}", *("v {:.3f} {:.3f} {:.3f}".format(*p) for p in points.tolist())]
            lines += [
                f"f {first} {first + i} {first + i + 1}" for i in range(1, len(points) - 1)
            ]  # names the points; hulls have their own faces
            first += len(points)
        with TemporaryDirectory(prefix="simtown-") as folder:
            path = Path(folder) / "body.obj"
            path.write_text("\n".join(lines) + "\n")
            return int(bullet.createCollisionShape(bullet.GEOM_MESH, fileName=str(path), physicsClientId=client))

    def advance(self, dt: float, time: float) -> list[Contact]:
        """Let `dt` seconds pass from `time` on; returns what touched, each pair once, in order of first touch."""
        bullet, client = self._bullet, self._client
        ticks = max(1, math.ceil(dt / TICK - 1e-9))
        tick = dt / ticks
        bullet.setTimeStep(tick / SUBSTEPS, physicsClientId=client)
        found: dict[tuple[str, str], Contact] = {}
        fixed = [_Around(b) for b in self._bodies if not b.mass]
        for k in range(ticks):
            around = {b.number: _Around(b) for b in self._moving}
            outlines = [*around.values(), *fixed]
            pushes = [(self._drive if b.thing.group == "vehicle" else self._walk)(around[b.number], outlines, tick) for b in self._moving]
            for _ in range(SUBSTEPS):
                for body, (force, torque) in zip(self._moving, pushes, strict=True):
                    bullet.applyExternalForce(body.number, -1, force, [0.0, 0.0, 0.0], bullet.LINK_FRAME, physicsClientId=client)
                    bullet.applyExternalTorque(body.number, -1, torque, bullet.LINK_FRAME, physicsClientId=client)
                bullet.stepSimulation(physicsClientId=client)
                self._touches(found, time + (k + 1) * tick, tick / SUBSTEPS)
            self._read()
        return sorted(found.values(), key=lambda c: (c.time, c.first, c.second))

    def _read(self) -> None:
        """Where the bodies are now, into the things."""
        for b in self._moving:
            (x, y, z), (_, _, s, c) = self._bullet.getBasePositionAndOrientation(b.number, physicsClientId=self._client)
            velocity, spin = self._bullet.getBaseVelocity(b.number, physicsClientId=self._client)
            thing, before = b.thing, b.thing.yaw
            turned = 2 * math.atan2(s, c)
            yaw = before + math.remainder(turned - before, 2 * math.pi)
            own = _turn(b.offset, yaw)
            height = z - b.offset[2]
            if thing.group == "vehicle" or height < 0.02:  # a scene's vehicles have no z; wheels are not quite round
                height = 0.0
            write(thing, x=x - own[0], y=y - own[1], z=height, yaw=yaw, velocity=tuple(velocity), spin=spin[2])

    def _touches(self, found: dict[tuple[str, str], Contact], time: float, tick: float) -> None:
        for point in self._bullet.getContactPoints(physicsClientId=self._client):
            a, b, force = point[1], point[2], point[9]
            if self._ground in (a, b) or force <= 0:
                continue
            one, other = sorted((self._names[a], self._names[b]))
            before = found.get((one, other))
            first, at, sum_ = (time, point[5], 0.0) if before is None else (before.time, before.point, before.impulse)
            found[one, other] = Contact(one, other, first, sum_ + force * tick, at)

    def _push(self, body: _Body, along: float, left: float, yaw_rate: float, tick: float) -> _Push:
        """Tyres' or soles' force for an acceleration in the body's own frame, at most friction's; the yaw follows the wheels."""
        share = min(1.0, GRIP * GRAVITY / max(math.hypot(along, left), 1e-9))
        spin = min(max((yaw_rate - body.thing.spin) / tick, -12.0), 12.0)
        return [body.mass * share * along, body.mass * share * left, 0.0], [0.0, 0.0, body.inertia * spin]

    def _drive(self, me: _Around, others: list[_Around], tick: float) -> _Push:
        body, thing = me.body, me.thing
        speed, slip = _turn(np.array(thing.velocity), -thing.yaw)
        if thing.pace <= 0:
            return self._push(body, -speed / tick, -slip / tick, 0.0, tick)
        side = 1.0 if body.heading == 0.0 else -1.0
        along = driving.follow(speed, thing.pace, *_ahead(me, others, side, speed))
        error = math.remainder(body.heading - thing.yaw, 2 * math.pi)
        length = float(np.ptp(outline(thing.kind)[:, 0]))
        yaw_rate = driving.steer(error, side * (thing.y - body.line), max(speed, 0.0), length)
        return self._push(body, max(along, -speed / tick), -slip / tick, yaw_rate, tick)  # brakes stop, they do not push back

    def _walk(self, me: _Around, others: list[_Around], tick: float) -> _Push:
        body, thing = me.body, me.thing
        velocity = np.array(thing.velocity[:2])
        if thing.pace <= 0:
            return self._push(body, *_turn(-velocity / tick, -thing.yaw), 0.0, tick)
        aside = min(max(0.6 * (body.line - thing.y), -0.8), 0.8)
        desired = thing.pace * np.array([math.cos(body.heading), aside]) / math.hypot(1.0, aside)
        wanted = driving.walk(velocity, desired, *_beside(me, others))
        rate = 0.0
        if np.hypot(*velocity) > 0.2:
            yaw = math.atan2(velocity[1], velocity[0]) - turned_front(thing.kind)
            rate = 4.0 * math.remainder(yaw - thing.yaw, 2 * math.pi)
        return self._push(body, *_turn(wanted, -thing.yaw), rate, tick)


def _ahead(me: _Around, others: list[_Around], side: float, speed: float) -> tuple[float, float]:
    """Metres to the nearest thing on the way of a vehicle, and how much faster than it the vehicle is, m/s."""
    front = max(side * me.x0, side * me.x1)
    gap, closing = math.inf, 0.0
    for other in others:
        if other is me or other.low > me.high or other.y1 < me.y0 - BESIDE or other.y0 > me.y1 + BESIDE:
            continue
        distance = min(side * other.x0, side * other.x1) - front
        if distance < min(gap, AHEAD) and side * (other.x0 + other.x1 - me.x0 - me.x1) > 0:
            gap, closing = distance, speed - side * other.thing.velocity[0]
    return gap, closing


def _beside(me: _Around, others: list[_Around]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors away from all that is near a walker, the edges of its sidewalk among it; the metres to it; whether it is a person."""
    thing = me.thing
    here = np.array([thing.x, thing.y])
    away, gaps, people = [], [], []
    for other in others:
        if other is me or max(other.x0 - me.x1, me.x0 - other.x1, other.y0 - me.y1, me.y0 - other.y1) > AROUND:
            continue
        away.append(_outward(here, other.outline))
        gaps.append(separation(me.outline, other.outline))
        people.append(other.thing.group == "person")
    if ROAD_EDGE < thing.y < PAVEMENT_EDGE + AROUND:
        for edge, direction in ((ROAD_EDGE, 1.0), (PAVEMENT_EDGE, -1.0)):
            away.append(np.array([0.0, direction]))
            gaps.append(direction * (thing.y - edge))
            people.append(False)
    return np.array(away).reshape(-1, 2), np.array(gaps), np.array(people, dtype=bool)


@cache
def parts(kind: str, style: int = 0) -> list[np.ndarray]:
    """Points whose convex hulls make up a kind, in its own frame: (k, 3) metres each.

    A vehicle is its mesh's connected parts, so that one can stand on the bed of a truck, without trimmings; a person is one hull, and
    what does not move is its outline drawn up.
    """
    if GROUP[kind] == "person":
        return [atlas().mesh(number(kind, style)).vertices]
    if GROUP[kind] != "vehicle":
        return [np.concatenate([np.column_stack([outline(kind), np.full(len(outline(kind)), z)]) for z in heights(kind)])]
    mesh = atlas().mesh(number(kind))
    label = np.arange(len(mesh.vertices))
    while True:  # every vertex takes the smallest number among its neighbours', until none changes
        before = label.copy()
        np.minimum.at(label, mesh.triangles.ravel(), np.repeat(label[mesh.triangles].min(axis=1), 3))
        label = label[label]
        if np.array_equal(label, before):
            break
    pieces = [mesh.vertices[label == k] for k in np.unique(label)]
    solid = [p for p in pieces if np.ptp(p, axis=0).min() > 0.04 and np.ptp(p, axis=0).max() > 0.3]
    return solid or pieces


def _disconnect(bullet: Any, client: int) -> None:
    bullet.disconnect(physicsClientId=client)


def _turn(offset: np.ndarray, yaw: float) -> tuple[float, float]:
    """The x and y of a vector, turned."""
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
