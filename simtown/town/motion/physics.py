"""Motion: rigid bodies of the town's own shapes in Bullet, driven by :mod:`simtown.town.motion.driving`.

A vehicle is the convex hulls of its mesh's parts, a person is one hull. Buildings, trees and street furniture
are upright prisms over their outlines, and do not move. Bodies turn about the vertical alone, because a scene
stores only a place and a yaw. Tyres hold a vehicle along its heading and sideways with at most the force of
friction, so that it brakes no faster than a road allows and skids when it is hit.
"""

from __future__ import annotations

import gc
import math
import os
import platform
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.street.road_surface import PAVEMENT_EDGE, ROAD_EDGE
from simtown.core.extras import how_to_install
from simtown.scenes.footprints import GROUP, depths, heights, number, outline, placed, separation
from simtown.town.checks import FARTHEST, QUICKEST, TownError, within_a_turn
from simtown.town.motion import driving
from simtown.town.things import Thing, turned_front, write

GRAVITY, GRIP = 9.81, 0.8
#: The inertia of every body about the horizontal, kg m²: so large that nothing tilts to be seen. At 0 Bullet
#: would ignore all torque.
UPRIGHT = 1e12
#: Kilograms a cubic metre of a thing's box: a car of about 1.3 t, a person of about 70 kg.
DENSITY = 110.0
#: Longest time between two decisions, seconds, and steps of the solver in it.
TICK, SUBSTEPS = 1 / 60, 4
#: After so many ticks, half a second, a town remembers where its things are.
PIECE = 30
#: How far beside a vehicle's way an obstacle still counts as ahead of it, and how far ahead a driver looks,
#: metres.
BESIDE, AHEAD = 0.3, 80.0
#: The y at which people on the sidewalk walk, between the lamps and the furniture, and how far around they
#: keep apart from each other, metres.
STROLL = 4.8
AROUND = 2.0
#: The grid over which walkers look for a path: metres between its columns, which lie across their way, and
#: between its rows, the number of columns, and of rows to either side of a walker's line.
COLUMN, ROW, COLUMNS, ROWS = 0.25, 0.0625, 28, 68
#: Metres that a walker keeps from what it passes, if it can.
CLEARANCE = 0.2
#: What each column of a path costs: being inside a thing, and for every metre that it is too close to one,
#: beside the walker's line, and off the sidewalk on the road or on the lawn.
INSIDE, TOO_CLOSE, OFF_LINE, ON_ROAD, ON_LAWN = 1000.0, 15.0, 1.0, 200.0, 15.0
#: Metres along its way to the point of the path for which a walker steers, and how far it turns from its way
#: at most, radians: who turned to sidestep would be wider.
STRIDE, MOST_TURN = 0.75, 0.8
#: Force (newtons) and torque (newton metres) on a body, in its own frame.
_Push = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Contact:
    """Two things that touched.

    Attributes:
        first: the name of one of them.
        second: the name of the other.
        time: seconds of the town's clock when they first touched in this step.
        impulse: newton seconds, the sum over this step.
        point: x, y, z, metres, where they first touched.
    """

    first: str
    second: str
    time: float
    impulse: float
    point: tuple[float, float, float]


@dataclass
class _Body:
    """A thing as Bullet's body, and as the others see it.

    Attributes:
        thing: the thing.
        number: of the body.
        mass: kilograms; 0 if it does not move.
        offset: (3,) from the thing's origin to the body's, in the thing's frame, metres.
        inertia: about the vertical, kg m².
        grip: the greatest angular acceleration that friction with the ground gives it, rad/s².
        half: half the length and half the width of its outline when it faces along the street, metres.
        line: the y that it keeps to, metres.
        heading: the direction in which it goes, radians: 0 or pi.
    """

    thing: Thing
    number: int
    mass: float
    offset: np.ndarray
    inertia: float
    grip: float
    half: list[float]
    line: float
    heading: float

    def look(self) -> None:
        """Note the thing's outline and the box around it as they are now, metres."""
        self.outline = self.thing.outline
        self.x0, self.y0 = self.outline.min(axis=0).tolist()
        self.x1, self.y1 = self.outline.max(axis=0).tolist()
        self.low, self.high = self.thing.low, self.thing.high

    @property
    def side(self) -> float:
        """1 if it goes to the right, -1 if it goes to the left."""
        return 1.0 if self.heading == 0.0 else -1.0


def how_to_install_pybullet() -> str:
    """The command that installs pybullet on this machine; without a wheel for it the extra installs
    nothing.
    """
    if sys.version_info < (3, 12) and sys.platform == "linux" and platform.machine() == "x86_64":
        return f"motion needs pybullet: {how_to_install('physics')}"
    here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return (
        f"motion needs pybullet, which has no wheel for {here}: {how_to_install('physics')}, "
        "under Python 3.11 on Linux x86-64, or build it (a C++ compiler, some minutes): pip install pybullet"
    )


def import_pybullet() -> Any:
    """The module. Raises TownError if it is not installed."""
    stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # the first import prints a build date
    try:
        import pybullet
    except ImportError as error:
        raise TownError(how_to_install_pybullet()) from error
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(null)
    return pybullet


class _Simulation:
    """The functions of pybullet for a simulation of its own, and pybullet's constants."""

    living: ClassVar[weakref.WeakSet[_Simulation]] = weakref.WeakSet()
    most: ClassVar[int] = 8

    def __init__(self) -> None:
        self._module = import_pybullet()
        if len(self.living) >= self.most:  # towns and things hold each other, and 34 MB unseen by Python
            gc.collect()
            _Simulation.most = max(8, 2 * len(self.living))
        self.living.add(self)
        self._client = self._module.connect(self._module.DIRECT)
        weakref.finalize(self, self._module.disconnect, physicsClientId=self._client)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        return partial(attribute, physicsClientId=self._client) if callable(attribute) else attribute


class Physics:
    """The bodies of some things; :meth:`advance` moves the things.

    Args:
        things: with the places and speeds from which they start. What has no way yet gets one.

    Raises:
        TownError: pybullet is not installed.
    """

    def __init__(self, things: list[Thing]) -> None:
        self._bullet = bullet = _Simulation()
        bullet.setGravity(0.0, 0.0, -GRAVITY)
        bullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1)
        self._ground = bullet.createMultiBody(0.0, bullet.createCollisionShape(bullet.GEOM_PLANE))
        bullet.changeDynamics(self._ground, -1, lateralFriction=1.0)
        bodies = [self._body(t) for t in things if t.group != "cloud"]
        self._names = {b.number: b.thing.name for b in bodies}
        self._moving = [b for b in bodies if b.mass]
        self._bodies = [*self._moving, *(b for b in bodies if not b.mass)]
        for body in self._bodies:
            body.look()

    def _body(self, thing: Thing) -> _Body:
        """The body of a thing; its origin is the middle of the box's foot, so that pushes do not tilt it."""
        bullet = self._bullet
        low, high = thing.scale * atlas().bounds[number(thing.kind, thing.style)].astype(np.float64)
        moves = thing.group in ("vehicle", "person")
        offset = np.array([*(low + high)[:2] / 2, low[2] if moves else 0.0])
        own_parts = (thing.scale * part - offset for part in parts(thing.kind, thing.style))
        shape = self._shape([np.unique(np.round(part, 3), axis=0) for part in own_parts])
        length, width, height = high - low
        mass = DENSITY * length * width * height if moves else 0.0
        gyration = math.hypot(length, width) / math.sqrt(12)
        inertia = mass * gyration * gyration
        body = bullet.createMultiBody(mass, shape, -1, *_pose(thing, offset))
        # tyres and soles do the friction
        bullet.changeDynamics(body, -1, lateralFriction=0.0, linearDamping=0.0, angularDamping=0.0)
        awake = bullet.ACTIVATION_STATE_DISABLE_SLEEPING
        bullet.changeDynamics(body, -1, collisionMargin=0.001, activationState=awake)
        if moves:
            bullet.changeDynamics(body, -1, localInertiaDiagonal=[UPRIGHT, UPRIGHT, inertia])
        way = thing.way or _way(thing)
        write(thing, way=way)
        facing = placed(outline(thing.kind, thing.style), 0.0, 0.0, -turned_front(thing.kind), thing.scale)
        half, grip = (np.ptp(facing, axis=0) / 2).tolist(), GRIP * GRAVITY / gyration
        made = _Body(thing, body, mass, offset, inertia, grip, half, *way)
        if moves:
            self._put(made)
        return made

    def _shape(self, hulls: list[np.ndarray]) -> int:
        """A rigid shape of convex hulls: Bullet takes more than one from files only."""
        create, mesh = self._bullet.createCollisionShape, self._bullet.GEOM_MESH
        if len(hulls) == 1:
            return int(create(mesh, vertices=hulls[0].tolist()))
        lines, first = [], 1
        for k, points in enumerate(hulls):
            lines += [f"o part{k}", *("v {:.3f} {:.3f} {:.3f}".format(*p) for p in points.tolist())]
            # the faces only name the points: Bullet finds each hull's own
            lines += [f"f {first} {first + i} {first + i + 1}" for i in range(1, len(points) - 1)]
            first += len(points)
        with TemporaryDirectory(prefix="simtown-") as folder:
            path = Path(folder) / "body.obj"
            path.write_text("\n".join(lines) + "\n")
            return int(create(mesh, fileName=str(path)))

    def advance(self, dt: float, time: float, on_time: Callable[[float], None]) -> list[Contact]:
        """Let time pass; returns what touched, each pair once, in the order of the first touch.

        Args:
            dt: seconds that pass.
            time: seconds of the town's clock at the beginning.
            on_time: receives the town's clock, in seconds, at least every half second and at the end, when
                the things are where they are then.
        """
        bullet = self._bullet
        ticks = max(1, math.ceil(dt / TICK - 1e-9))
        tick = dt / ticks
        bullet.setTimeStep(tick / SUBSTEPS)
        contacts: dict[tuple[str, str], Contact] = {}
        for k in range(1, ticks + 1):
            for body in self._moving:
                body.look()
            deciding = ((self._drive if b.thing.group == "vehicle" else self._walk, b) for b in self._moving)
            pushes = [decide(body, tick) for decide, body in deciding]
            for _ in range(SUBSTEPS):
                for body, (force, torque) in zip(self._moving, pushes, strict=True):
                    bullet.applyExternalForce(body.number, -1, force, [0.0, 0.0, 0.0], bullet.LINK_FRAME)
                    bullet.applyExternalTorque(body.number, -1, torque, bullet.LINK_FRAME)
                bullet.stepSimulation()
                self._add_contacts(contacts, time + k * tick, tick / SUBSTEPS)
            for body in self._moving:
                self._read(body)
            if k % PIECE == 0 and k < ticks:
                on_time(time + k * tick)
        on_time(time + dt)
        return sorted(contacts.values(), key=lambda c: (c.time, c.first, c.second))

    def _read(self, body: _Body) -> None:
        """Copy a body's place and speed into its thing."""
        (x, y, z), (_, _, s, c) = self._bullet.getBasePositionAndOrientation(body.number)
        velocity, (_, _, spin) = self._bullet.getBaseVelocity(body.number)
        thing, before = body.thing, body.thing.yaw
        yaw = within_a_turn(before + math.remainder(2 * math.atan2(s, c) - before, math.tau))
        own_x, own_y = _turn(body.offset, yaw)
        height = z - body.offset[2]
        # a scene's vehicles have no z, and wheels are not quite round
        if thing.group == "vehicle" or height < 0.02:
            height = 0.0
        place = [x - own_x, y - own_y, height]
        x, y, z = (_within(at, FARTHEST) for at in place)
        # at the limits of a town things stop
        speeds = tuple(
            0.0 if abs(at) > FARTHEST and at * v > 0 else _within(v, QUICKEST)
            for at, v in zip(place, velocity, strict=True)
        )
        write(thing, x=x, y=y, z=z, yaw=yaw, velocity=speeds, spin=_within(spin, QUICKEST))
        if max(map(abs, place)) > FARTHEST or speeds != velocity or thing.spin != spin:
            self._put(body)

    def _put(self, body: _Body) -> None:
        """Give a body the place and the speed of its thing."""
        self._bullet.resetBasePositionAndOrientation(body.number, *_pose(body.thing, body.offset))
        self._bullet.resetBaseVelocity(body.number, body.thing.velocity, [0.0, 0.0, body.thing.spin])

    def _add_contacts(self, contacts: dict[tuple[str, str], Contact], time: float, seconds: float) -> None:
        """Add what touches now, for so many seconds, to the contacts of this step."""
        for point in self._bullet.getContactPoints():
            a, b, force = point[1], point[2], point[9]
            if self._ground in (a, b) or force <= 0:
                continue
            first, second = sorted((self._names[a], self._names[b]))
            contact = contacts.get((first, second), Contact(first, second, time, 0.0, point[5]))
            contacts[first, second] = replace(contact, impulse=contact.impulse + force * seconds)

    def _push(self, body: _Body, along: float, left: float, yaw_rate: float, tick: float) -> _Push:
        """The force of tyres or soles for an acceleration in the body's frame, at most that of friction."""
        share = min(1.0, GRIP * GRAVITY / max(math.hypot(along, left), 1e-9))
        spin = min(max((yaw_rate - body.thing.spin) / tick, -body.grip), body.grip)
        return [body.mass * share * along, body.mass * share * left, 0.0], [0.0, 0.0, body.inertia * spin]

    def _drive(self, body: _Body, tick: float) -> _Push:
        """A driver's step."""
        thing = body.thing
        speed, slip = _turn(np.array(thing.velocity), -thing.yaw)
        if thing.pace <= 0:
            return self._push(body, -speed / tick, -slip / tick, 0.0, tick)
        along = driving.follow(speed, thing.pace, *_ahead(body, self._bodies, speed))
        along = max(along, -speed / tick)  # brakes stop a vehicle, and do not push it back
        error = math.remainder(body.heading - thing.yaw, 2 * math.pi)
        length = float(np.ptp(outline(thing.kind)[:, 0]))
        yaw_rate = driving.steer(error, body.side * (thing.y - body.line), max(speed, 0.0), length)
        return self._push(body, along, -slip / tick, yaw_rate, tick)

    def _walk(self, body: _Body, tick: float) -> _Push:
        """A walker's step."""
        thing = body.thing
        velocity = np.array(thing.velocity[:2])
        if thing.pace <= 0:
            return self._push(body, *_turn(-velocity / tick, -thing.yaw), 0.0, tick)
        desired = _route(body, self._bodies)
        acceleration = driving.walk(velocity, desired, *_beside(body, self._bodies))
        turn = _within(math.atan2(*_turn(desired, -body.heading)[::-1]), MOST_TURN)
        yaw = body.heading + turn - turned_front(thing.kind)
        rate = 4.0 * math.remainder(yaw - thing.yaw, 2 * math.pi)
        return self._push(body, *_turn(acceleration, -thing.yaw), rate, tick)


def _way(thing: Thing) -> tuple[float, float]:
    """The y (metres) and the direction (radians) that a thing keeps to: its own, or the sidewalk's middle.

    What faces neither side of the street goes to the right.
    """
    strolls = thing.group == "person" and ROAD_EDGE < thing.y < PAVEMENT_EDGE
    return STROLL if strolls else thing.y, 0.0 if math.cos(thing.front) > -1e-6 else math.pi


def _ahead(me: _Body, others: list[_Body], speed: float) -> tuple[float, float]:
    """Metres to the next thing on a vehicle's way, and how much faster than that the vehicle is, m/s."""
    side = me.side
    front = max(side * me.x0, side * me.x1)
    gap, closing = math.inf, 0.0
    for other in others:
        beside = other.y1 < me.y0 - BESIDE or other.y0 > me.y1 + BESIDE
        if other is me or other.low > me.high or beside:
            continue
        distance = min(side * other.x0, side * other.x1) - front
        if distance < min(gap, AHEAD) and side * (other.x0 + other.x1 - me.x0 - me.x1) > 0:
            gap, closing = distance, speed - side * other.thing.velocity[0]
    return gap, closing


def _route(me: _Body, others: list[_Body]) -> np.ndarray:
    """The velocity, (2,) metres a second, that takes a walker along its line and round what is in its way."""
    thing, side = me.thing, me.side
    x, y = (me.x0 + me.x1) / 2, (me.y0 + me.y1) / 2
    # columns keep their places: with other ones at every step, a walker would waver between two paths
    xs = np.append(x, side * COLUMN * (math.floor(side * x / COLUMN) + np.arange(1, COLUMNS)))
    ys = me.line + ROW * np.arange(-ROWS, ROWS + 1)
    gaps = _gaps(me, others, xs, ys)
    cost = np.where(gaps < 0, INSIDE, TOO_CLOSE * np.maximum(CLEARANCE - gaps, 0))
    cost += OFF_LINE * np.abs(ys - me.line)
    if ROAD_EDGE < me.line < PAVEMENT_EDGE:
        cost += ON_ROAD * np.maximum(ROAD_EDGE - ys, 0) + ON_LAWN * np.maximum(ys - PAVEMENT_EDGE, 0)
    row = int(np.abs(ys - y).argmin())
    path = driving.path(cost, row)
    # a walker follows with a delay, so it steers from where it will be then
    along, left = driving.RELAXATION * side * thing.velocity[0], driving.RELAXATION * thing.velocity[1]
    speed = thing.pace
    free = gaps[np.arange(COLUMNS), path] >= 0
    if free[0] and not free.all():  # who finds no way stops before what stands there
        room = abs(xs[free.argmin() - 1] - x) - along
        speed = min(speed, max(room, 0.0) / driving.RELAXATION)
    stride, ahead = STRIDE, min(round((max(along, 0.0) + STRIDE) / COLUMN), COLUMNS - 1)
    if path[0] != row:  # it has to sidestep
        stride, ahead = COLUMN / 2, 0
    aim = np.array([side * stride, ys[path[ahead]] - (y + left)])
    return speed * aim / np.hypot(*aim)


def _gaps(me: _Body, others: list[_Body], xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
    """Metres between a walker and the nearest thing when it comes to a place: (k, r) float64.

    They are negative inside a thing, and at most CLEARANCE. What moves is taken to go on as it moves now. The
    places have (k,) xs, of which the first is the walker's, and (r,) ys.
    """
    level = [o for o in others if o is not me and o.low < me.high and o.high > me.low]
    boxes = np.array([(o.x0, o.x1, o.y0, o.y1, *o.thing.velocity[:2]) for o in level])
    x0, x1, y0, y1, vx, vy = boxes.reshape(-1, 6).T[..., None]
    times = np.abs(xs - xs[0]) / max(me.thing.pace, 1e-3)
    long, wide = me.half
    along = np.maximum(x0 + vx * times - xs, xs - x1 - vx * times) - long
    along[:, 1:] -= COLUMN / 2  # a column stands for all places nearer to it than to others
    passed = along.min(axis=1) < CLEARANCE
    shifts = (vy * times)[passed, :, None]
    across = np.maximum(y0[passed, None] + shifts - ys, ys - y1[passed, None] - shifts) - wide
    gaps: np.ndarray = np.maximum(along[passed, :, None], across).min(axis=0, initial=CLEARANCE)
    return gaps


def _beside(me: _Body, others: list[_Body]) -> tuple[np.ndarray, np.ndarray]:
    """The people around a walker: (n, 2) unit vectors away from them, and (n,) metres to them."""
    thing = me.thing
    place = np.array([thing.x, thing.y])
    away, gaps = [], []
    for other in others:
        distance = max(other.x0 - me.x1, me.x0 - other.x1, other.y0 - me.y1, me.y0 - other.y1)
        if other is me or other.thing.group != "person" or distance > AROUND:
            continue
        away.append(_outward(place, other.outline))
        gaps.append(separation(me.outline, other.outline))
    return np.array(away).reshape(-1, 2), np.array(gaps)


@cache
def parts(kind: str, style: int = 0) -> list[np.ndarray]:
    """The convex parts of a kind, each as (k, 3) points in its own frame, metres.

    A vehicle has the connected parts of its mesh, without trimmings, so that a thing can stand on the bed of
    a truck. A person is one part, and what does not move is a prism over its outline.
    """
    if GROUP[kind] == "person":
        return [atlas().mesh(number(kind, style)).vertices]
    if GROUP[kind] != "vehicle":
        base = outline(kind)
        return [np.concatenate([np.column_stack([base, np.full(len(base), z)]) for z in heights(kind)])]
    mesh = atlas().mesh(number(kind))
    label = np.arange(len(mesh.vertices))
    while True:  # every vertex takes the smallest label of its neighbours, until none changes
        before = label.copy()
        np.minimum.at(label, mesh.triangles.ravel(), np.repeat(label[mesh.triangles].min(axis=1), 3))
        label = label[label]
        if np.array_equal(label, before):
            break
    pieces = [mesh.vertices[label == k] for k in np.unique(label)]
    solid = [p for p in pieces if np.ptp(p, axis=0).min() > 0.04 and np.ptp(p, axis=0).max() > 0.3]
    return solid or pieces


def _within(value: float, most: float) -> float:
    """The value, or the nearest one within `most` of 0."""
    return min(max(float(value), -most), most)


def _turn(offset: np.ndarray, yaw: float) -> tuple[float, float]:
    """The x and y of a vector, turned."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * offset[0] - s * offset[1], s * offset[0] + c * offset[1]


def _pose(thing: Thing, offset: np.ndarray) -> tuple[list[float], list[float]]:
    """The place of a body's origin, metres, and its turn as a quaternion."""
    x, y = _turn(offset, thing.yaw)
    turn = [0.0, 0.0, math.sin(thing.yaw / 2), math.cos(thing.yaw / 2)]
    return [thing.x + x, thing.y + y, thing.z + float(offset[2])], turn


def _outward(point: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """The unit vector from the nearest point of a polygon's edge to a point."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    share = np.clip(((point - polygon) * edge).sum(axis=1) / (edge * edge).sum(axis=1), 0.0, 1.0)
    nearest = polygon + share[:, None] * edge
    offsets = point - nearest
    lengths = np.hypot(offsets[:, 0], offsets[:, 1])
    k = int(lengths.argmin())
    inside = depths(point[None], polygon)[0] > 0
    return (-1.0 if inside else 1.0) * offsets[k] / max(lengths[k], 1e-6)
