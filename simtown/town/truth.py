"""What is true of a town and its picture: the "high-level semantic and visual ground-truth information" of the paper's section 2.1."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import BODIES, ENTITIES, PROPS
from simtown.exact import cos, sin
from simtown.language.solids import SURFACES, on
from simtown.scenes.camera import Camera, views
from simtown.scenes.footprints import number
from simtown.scenes.scene import Weather, empty_batch
from simtown.town.checks import TownError, picture_size, shown
from simtown.town.pictures import raster
from simtown.town.relating import MARGINS, table
from simtown.town.things import Thing

if TYPE_CHECKING:
    from simtown.town.town import Town


@dataclass
class ThingTruth:
    """What is true of one thing.

    Attributes:
        name, kind, group: what it is.
        id: its number in the mask picture.
        paint: of a vehicle's body, by name; None for other things.
        x, y, z, yaw, scale, front: its pose, metres and radians; front is the direction it looks in.
        velocity: metres a second.
        ground: "road", "sidewalk" or "lawn", whichever it stands on, or None.
        on: names of the things it stands on.
        centre, size: of its 3D box, metres; size is along, across and up, in the frame turned by yaw.
        corners: (8, 3) of that box.
        box: x0, y0, x1, y1 pixels around all of it, hidden parts included, cut at the picture's edges; None outside the picture.
        seen: the same around what is seen of it.
        pixels: how many are seen.
        visible: their share of what would be seen if it stood alone.
        depth: (nearest, farthest) metres along the view of what is seen, or None.
    """

    name: str
    kind: str
    group: str
    id: int
    paint: str | None
    x: float
    y: float
    z: float
    yaw: float
    scale: float
    front: float
    velocity: tuple[float, float, float]
    ground: str | None
    on: list[str]
    centre: list[float]
    size: list[float]
    corners: list[list[float]]
    box: list[float] | None
    seen: list[int] | None
    pixels: int
    visible: float
    depth: tuple[float, float] | None


@dataclass
class Truth:
    """Everything that is true of one picture of a town.

    Attributes:
        size: width, height in pixels.
        time: seconds since the town began.
        weather, camera: as they were.
        intrinsics: (3, 3) pixels; a point (X right, Y down, Z forward) of the camera's frame is seen at its product over Z.
        extrinsics: (4, 4) from the world's frame to (right, down, forward), metres.
        rgb: (h, w, 3) uint8.
        ids: (h, w) uint8 instance ids, 0 for sky and ground.
        depth: (h, w) float32 metres, inf for the sky.
        things: one entry each, in the order of the ids.
        related: names of the n solid things that are seen, in the order of the arrays of `margins`.
        margins: metres by which every relation holds (negative: fails), by name: (n, n) float64 subject, object; "between" has one axis
            more. nan for a thing with itself, -inf where a relation cannot hold at all.
        truths: the same as int8: 1 holds, -1 does not, 0 too close to say.
    """

    size: tuple[int, int]
    time: float
    weather: Weather
    camera: Camera
    intrinsics: np.ndarray
    extrinsics: np.ndarray
    rgb: np.ndarray = field(repr=False)
    ids: np.ndarray = field(repr=False)
    depth: np.ndarray = field(repr=False)
    things: list[ThingTruth]
    related: list[str]
    margins: dict[str, np.ndarray] = field(repr=False)
    truths: dict[str, np.ndarray] = field(repr=False)

    def __getitem__(self, name: object) -> ThingTruth:
        """What is true of one thing. Raises TownError for a name there is not."""
        for thing in self.things:
            if thing.name == str(name):
                return thing
        raise TownError(f"nothing is called {shown(str(name))} here: give one of {', '.join(t.name for t in self.things)}")

    def mask(self, name: object) -> np.ndarray:
        """(h, w) bool, where a thing is seen."""
        found: np.ndarray = self.ids == self[name].id
        return found

    def graph(self) -> dict[str, list[dict[str, Any]]]:
        """The scene graph: "nodes" (name, kind, group, paint, ground) and "edges" (subject, relation, objects, margin) of what holds."""
        nodes = [
            {"name": t.name, "kind": t.kind, "group": t.group, "paint": t.paint, "ground": t.ground}
            for t in self.things
            if t.name in self.related
        ]
        edges = []
        for relation, truths in self.truths.items():
            for place in np.argwhere(truths == 1):
                if len(place) == 3 and place[1] > place[2]:
                    continue  # between b and c is between c and b
                subject, *objects = (self.related[i] for i in place)
                margin = round(float(self.margins[relation][tuple(place)]), 4)
                edges.append({"subject": subject, "relation": relation, "objects": objects, "margin": margin})
        return {"nodes": nodes, "edges": edges}

    def to_json(self) -> str:
        """All but the pictures themselves; masks as run lengths (COCO's uncompressed RLE: down the columns, background first)."""
        return json.dumps(
            {
                "size": self.size,
                "time": self.time,
                "weather": asdict(self.weather),
                "camera": asdict(self.camera),
                "intrinsics": self.intrinsics.tolist(),
                "extrinsics": self.extrinsics.tolist(),
                "things": [
                    asdict(t) | {"rle": {"size": list(self.ids.shape), "counts": run_lengths(self.ids == t.id)}} for t in self.things
                ],
                "related": self.related,
                "margins": {name: _rounded(m.tolist()) for name, m in self.margins.items()},
                "truths": {name: t.tolist() for name, t in self.truths.items()},
                "graph": self.graph(),
            }
        )


def run_lengths(mask: np.ndarray) -> list[int]:
    """Lengths of runs of a (h, w) mask down its columns, of False first."""
    flat = np.concatenate([[False], mask.ravel(order="F")])
    ends = np.flatnonzero(np.diff(flat))
    return np.diff([0, *ends.tolist(), mask.size]).tolist()


def _rounded(values: Any) -> Any:
    if isinstance(values, list):
        return [_rounded(v) for v in values]
    return round(values, 4) if math.isfinite(values) else None


def truth(town: Town, size: tuple[int, int]) -> Truth:
    """See :class:`Truth`. Raises TownError for a size out of range."""
    width, height = picture_size(size)
    frame, things = town.render((width, height)), town.things
    row = town.camera.row()[None]
    view = views(row, width, height)[0].astype(np.float64)
    intrinsics = np.array([[view[12], 0.0, view[13]], [0.0, view[12], view[14]], [0.0, 0.0, 1.0]])
    turn = np.stack([view[3:6], -view[6:9], view[9:12]])
    extrinsics = np.eye(4)
    extrinsics[:3, :3], extrinsics[:3, 3] = turn, -turn @ view[:3]
    ids = {name: i for i, name in frame.names.items()}
    alone = pixels_alone(town, things, width, height)
    entries = [
        _entry(t, ids[t.name], things, frame.ids, frame.depth, alone[k], _corners(t), _project(t, intrinsics, extrinsics, width, height))
        for k, t in enumerate(things)
    ]
    seen = [t for t, entry in zip(things, entries, strict=True) if entry.pixels and t.group != "cloud"]
    margins = table(town.camera, [t.solid() for t in seen])
    with np.errstate(invalid="ignore"):
        truths = {r: np.where(m > MARGINS[r], 1, np.where(m < -MARGINS[r], -1, 0)).astype(np.int8) for r, m in margins.items()}
    scene = town.to_scene()
    return Truth(
        (width, height), town.time, scene.weather, scene.camera, intrinsics, extrinsics, frame.rgb, frame.ids, frame.depth,
        entries, [t.name for t in seen], margins, truths,
    )  # fmt: skip


def _entry(thing: Thing, number_: int, things: list[Thing], ids: np.ndarray, depth: np.ndarray, alone: int, corners: np.ndarray,
           box: list[float] | None) -> ThingTruth:  # fmt: skip
    mask = ids == number_
    pixels = int(mask.sum())
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    low, high = atlas().bounds[number(thing.kind, thing.style)].astype(np.float64) * thing.scale
    solid = thing.solid()
    floors = [name for name, strips in SURFACES.items() if max(on(solid, s) for s in strips) > 0] if thing.group != "cloud" else []
    below = [o.name for o in things if o is not thing and thing.z > 0 and o.group != "cloud" and on(solid, o.solid()) > MARGINS["on"]]
    return ThingTruth(
        thing.name, thing.kind, thing.group, number_, _paint(thing),
        thing.x, thing.y, thing.z, thing.yaw, thing.scale, thing.front, thing.velocity,
        floors[0] if floors else None, below, corners.mean(axis=0).tolist(), (high - low).tolist(), corners.tolist(), box,
        [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1] if pixels else None, pixels,
        pixels / alone if alone else 0.0, (float(depth[mask].min()), float(depth[mask].max())) if pixels else None,
    )  # fmt: skip


def _paint(thing: Thing) -> str | None:
    return thing.paint or BODIES[thing.kind] if thing.group == "vehicle" else None


def _in_world(thing: Thing, points: np.ndarray) -> np.ndarray:
    """(n, 3) points of a thing's own frame, in the world's."""
    c, s = float(cos(thing.yaw)), float(sin(thing.yaw))
    turned = points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return thing.scale * turned + [thing.x, thing.y, thing.z]


def _corners(thing: Thing) -> np.ndarray:
    low, high = atlas().bounds[number(thing.kind, thing.style)].astype(np.float64)
    return _in_world(thing, np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]))


def _project(thing: Thing, intrinsics: np.ndarray, extrinsics: np.ndarray, width: int, height: int) -> list[float] | None:
    """The picture box of all of a thing that is before the camera, cut at the picture's edges."""
    points = _in_world(thing, atlas().mesh(number(thing.kind, thing.style)).vertices) @ extrinsics[:3, :3].T + extrinsics[:3, 3]
    points = points[points[:, 2] > 1e-3] @ intrinsics.T
    if not len(points):
        return None
    spots = points[:, :2] / points[:, 2:]
    x0, y0 = np.maximum(spots.min(axis=0), 0.0)
    x1, y1 = np.minimum(spots.max(axis=0), [width, height])
    return [float(x0), float(y0), float(x1), float(y1)] if x0 < x1 and y0 < y1 else None


def pixels_alone(town: Town, things: list[Thing], width: int, height: int) -> list[int]:
    """How many pixels each thing would fill if nothing else stood in the town."""
    alone = empty_batch(len(things), 1, 1)
    alone.camera[:] = town.camera.row()
    for i, t in enumerate(things):
        if t.group == "vehicle":
            alone.entity[i, 0], alone.pose[i, 0] = ENTITIES.index(t.kind), (t.x, t.y, t.yaw)
        else:
            alone.prop[i, 0], alone.prop_pose[i, 0] = PROPS.index(t.kind), (t.x, t.y, t.z, t.yaw, t.scale)
            alone.prop_style[i, 0] = t.style
    return [int((raster().render(alone[slice(i, i + 1)], width, height).ids > 0).sum()) for i in range(len(things))]  # one by one: memory
