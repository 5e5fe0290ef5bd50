"""The truth of a town and its picture (the paper's section 2.1)."""

import json
import math
from dataclasses import asdict, dataclass, fields
from itertools import cycle, product
from typing import Any, NamedTuple

import numpy as np

from simtown.assets.atlas import atlas
from simtown.core.exact import cos, sin
from simtown.core.notebook import as_html, figure, marked
from simtown.language.meaning.solids import SURFACES, on
from simtown.render.masks import mask_and_box, run_lengths
from simtown.render.raster import Raster
from simtown.scenes.camera import NEAR, Camera, views
from simtown.scenes.footprints import number
from simtown.scenes.paint import own_paint
from simtown.scenes.scene import Scene, SceneBatch, Weather
from simtown.town.checks import TownError, folded, shown
from simtown.town.relating import MARGINS, table
from simtown.town.snapshot import Frame
from simtown.town.things import Thing, scene_of, the

#: The colours of boxes in a notebook.
_BOXES = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233))
#: What the truth of a thing repeats of the thing.
_OF_THINGS = ("name", "kind", "group", "x", "y", "z", "yaw", "scale", "front", "velocity")


class Fact(NamedTuple):
    """A relation that holds between two things by a margin in metres: ("taxi", "left of", "bus", 2.5)."""

    subject: str
    relation: str
    object: str
    margin: float


@dataclass
class ThingTruth:
    """The ground truth of one thing.

    Attributes:
        name: in the town, such as "taxi 2".
        kind: its name in the catalogue.
        group: "vehicle", "building", "tree", "furniture", "person", "cloud" or "animal".
        id: its number in the mask picture.
        paint: of a vehicle's body, by name; None for other things.
        x: place along the road, metres.
        y: place across the road, metres.
        z: height of its origin, metres.
        yaw: radians counter-clockwise.
        scale: 1 is the catalogue's size.
        front: the direction it faces, radians counter-clockwise from +x.
        velocity: metres a second.
        ground: "road", "sidewalk" or "lawn", whichever it stands on, or None.
        on: names of the things it stands on.
        centre: of its 3D box, metres.
        size: of its 3D box along, across and up, metres, in the frame turned by yaw.
        corners: (8, 3) of its 3D box, metres.
        box: x0, y0, x1, y1 pixels around all of it that is far enough from the camera to be drawn
            (simtown.scenes.camera.NEAR), including hidden parts, cut at the picture's edges; None if it is
            outside the picture, where it would fill no pixel if it stood alone.
        seen: x0, y0, x1, y1 pixels around its visible pixels, or None.
        pixels: the number of its visible pixels.
        visible: their share of the pixels that it would fill if it stood alone.
        depth: (nearest, farthest) metres along the view of its visible pixels, or None.
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
        weather: at that time.
        camera: at that time.
        intrinsics: (3, 3) pixels; a point (X right, Y down, Z forward) of the camera's frame is seen at its
            product over Z.
        extrinsics: (4, 4) from the world's frame to (right, down, forward), metres.
        rgb: (h, w, 3) uint8.
        ids: (h, w) uint8 instance ids, 0 for sky and ground.
        depth: (h, w) float32 metres, inf for the sky.
        things: one entry each, in the order of the ids.
        related: names of the n visible things other than clouds, in the order of the axes of `margins`.
        margins: by relation, (n, n) float64 metres by which it holds between subject and object (negative: by
            which it fails); "between" has a third axis. nan for a thing with itself, -inf if the relation
            cannot hold at all.
        truths: by relation, int8 of the same shape: 1 holds, -1 does not, 0 too close to say.
    """

    size: tuple[int, int]
    time: float
    weather: Weather
    camera: Camera
    intrinsics: np.ndarray
    extrinsics: np.ndarray
    rgb: np.ndarray
    ids: np.ndarray
    depth: np.ndarray
    things: list[ThingTruth]
    related: list[str]
    margins: dict[str, np.ndarray]
    truths: dict[str, np.ndarray]

    def __repr__(self) -> str:
        seen = [t for t in self.things if t.pixels]
        vehicles = ", ".join(t.name for t in seen if t.group == "vehicle") or "no vehicle"
        others = sum(t.group != "vehicle" for t in seen)
        holding = f"{len(self.graph()['edges']):,} relations hold"
        width, height = self.size
        return f"<Truth {width}x{height}: {vehicles} and {others} other things are seen; {holding}>"

    def _repr_html_(self) -> str:
        rows, boxes = "<tr><th>vehicle<th>paint<th>x<th>y<th>distance<th>seen</tr>", []
        seen = [t for t in self.things if t.group == "vehicle" and t.seen]
        for t, colour in zip(seen, cycle(_BOXES), strict=False):
            where = f"<td>{t.x:.1f} m<td>{t.y:.1f} m<td>{t.depth[0] if t.depth else 0:.1f} m"
            rows += f"<tr><td>{marked(t.name, colour)}<td>{t.paint}{where}<td>{t.visible:.0%}</tr>"
            boxes.append((t.seen, colour))
        words = f'{as_html(repr(self)[1:-1])}<table class="dataframe">{rows}</table>'
        return figure(self.rgb, words, max(384, min(768, self.size[0])), boxes)

    def __getitem__(self, name: object) -> ThingTruth:
        """The truth of one thing, by its name. Raises TownError if no thing has this name."""
        for thing in self.things:
            if folded(thing.name) == folded(str(name)):
                return thing
        names = ", ".join(t.name for t in self.things)
        raise TownError(f"nothing is called {shown(str(name))} here: give one of {names}")

    def mask(self, name: object) -> np.ndarray:
        """(h, w) bool, the visible pixels of a thing, by its name. Raises TownError if no thing has it."""
        mask: np.ndarray = self.ids == self[name].id
        return mask

    def graph(self) -> dict[str, list[dict[str, Any]]]:
        """The scene graph of the relations that hold.

        "nodes" have a name, kind, group, paint and ground; "edges" a subject, relation, objects and margin.
        """
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

    def facts(self) -> list[Fact]:
        """The relations that hold between two things."""
        edges = self.graph()["edges"]
        pairs = ((edge["objects"], edge) for edge in edges if len(edge["objects"]) == 1)
        return [Fact(edge["subject"], edge["relation"], other, edge["margin"]) for (other,), edge in pairs]

    def to_json(self) -> str:
        """The truth without the pictures; masks are run lengths.

        These are COCO's uncompressed RLE: down the columns, background first.
        """
        names = [f.name for f in fields(self) if f.name not in ("rgb", "ids", "depth")]
        values = {name: getattr(self, name) for name in names}
        shape = list(self.ids.shape)
        masks = ({"size": shape, "counts": run_lengths(self.ids == t.id)} for t in self.things)
        values["things"] = [asdict(t) | {"rle": mask} for t, mask in zip(self.things, masks, strict=True)]
        values["margins"] = {name: _rounded(m.tolist()) for name, m in self.margins.items()}
        values["graph"] = self.graph()
        return json.dumps(values, default=lambda v: v.tolist() if isinstance(v, np.ndarray) else asdict(v))


def _rounded(values: Any) -> Any:
    """Nested lists of numbers to 0.1 mm; None for what is not finite, which JSON does not have."""
    if isinstance(values, list):
        return [_rounded(v) for v in values]
    return round(values, 4) if math.isfinite(values) else None


def truth(scene: Scene, things: list[Thing], frame: Frame, time: float) -> Truth:
    """The truth of a town's scene, of its things in the order of the scene, and of the scene's picture."""
    height, width = frame.ids.shape
    view = views(scene.camera.row()[None], width, height)[0].astype(np.float64)
    intrinsics = np.array([[view[12], 0.0, view[13]], [0.0, view[12], view[14]], [0.0, 0.0, 1.0]])
    turn = np.stack([view[3:6], -view[6:9], view[9:12]])
    extrinsics = np.eye(4)
    extrinsics[:3, :3], extrinsics[:3, 3] = turn, -turn @ view[:3]
    ids = {name: i for i, name in frame.names.items()}
    entries = [
        _thing_truth(t, ids[t.name], things, frame, scene.camera, intrinsics, extrinsics) for t in things
    ]
    visible = [t for t, entry in zip(things, entries, strict=True) if entry.pixels and t.group != "cloud"]
    related = [t.name for t in visible]
    margins = table(scene.camera, [t.solid() for t in visible])
    truths = {r: ((m > MARGINS[r]) * 1 - (m < -MARGINS[r])).astype(np.int8) for r, m in margins.items()}
    situation = ((width, height), time, scene.weather, scene.camera, intrinsics, extrinsics)
    return Truth(*situation, frame.rgb, frame.ids, frame.depth, entries, related, margins, truths)


def _thing_truth(
    thing: Thing, id_: int, things: list[Thing], frame: Frame, camera: Camera, *lens: np.ndarray
) -> ThingTruth:
    """The truth of one thing; `lens`: the intrinsics and extrinsics of the camera."""
    height, width = frame.ids.shape
    alone = int(mask_alone(camera, thing, width, height).sum())  # the pixels of it if it stood alone
    seen, depth, pixels = None, None, 0
    if found := mask_and_box(frame.ids, id_ - 1):
        mask, seen = found[0], list(found[1])
        depth, pixels = (float(frame.depth[mask].min()), float(frame.depth[mask].max())), int(mask.sum())
    corners = _corners(thing)
    solid, ground, below = thing.solid(), None, []
    if thing.group != "cloud":
        grounds = (name for name, strips in SURFACES.items() if max(on(solid, s) for s in strips) > 0)
        ground = next(grounds, None)
    if thing.z > 0:
        others = [t for t in things if t is not thing and t.group != "cloud"]
        below = [t.name for t in others if on(solid, t.solid()) > MARGINS["on"]]
    return ThingTruth(
        **{name: getattr(thing, name) for name in _OF_THINGS},
        id=id_,
        paint=thing.paint or own_paint(thing.kind) if thing.group == "vehicle" else None,
        ground=ground,
        on=below,
        centre=corners.mean(axis=0).tolist(),
        size=list(thing.size),
        corners=corners.tolist(),
        box=_picture_box(thing, width, height, *lens)
        if alone
        else None,  # a picture can show nothing of a thing, and yet cross its box
        seen=seen,
        pixels=pixels,
        visible=pixels / alone if alone else 0.0,
        depth=depth,
    )


def _in_world(thing: Thing, points: np.ndarray) -> np.ndarray:
    """(n, 3) points of a thing's own frame, in the world's."""
    c, s = float(cos(thing.yaw)), float(sin(thing.yaw))
    turned = points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return thing.scale * turned + [thing.x, thing.y, thing.z]


def _picture_box(
    thing: Thing, width: int, height: int, intrinsics: np.ndarray, extrinsics: np.ndarray
) -> list[float] | None:
    """x0, y0, x1, y1 pixels around all of a thing behind the near plane, cut at the picture's edges."""
    mesh = atlas().mesh(number(thing.kind, thing.style))
    vertices = _in_world(thing, mesh.vertices) @ extrinsics[:3, :3].T + extrinsics[:3, 3]
    points = _cut_at_near_plane(vertices, mesh.triangles) @ intrinsics.T
    if not len(points):
        return None
    pixels = points[:, :2] / points[:, 2:]
    x0, y0 = np.maximum(pixels.min(axis=0), 0.0)
    x1, y1 = np.minimum(pixels.max(axis=0), [width, height])
    return [float(x0), float(y0), float(x1), float(y1)] if x0 < x1 and y0 < y1 else None


def _cut_at_near_plane(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(k, 3) corners of what is left of triangles behind the near plane, in the camera's frame, metres."""
    edges = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    start, end = vertices[edges[:, 0]], vertices[edges[:, 1]]
    crosses = (start[:, 2] < NEAR) != (end[:, 2] < NEAR)
    start, end = start[crosses], end[crosses]
    share = (NEAR - start[:, 2:]) / (end[:, 2:] - start[:, 2:])
    return np.concatenate([vertices[vertices[:, 2] >= NEAR], start + share * (end - start)])


def mask_alone(camera: Camera, thing: Thing, width: int, height: int) -> np.ndarray:
    """(h, w) bool, the pixels that a thing would fill if nothing else stood in the town."""
    ids = Raster().render(SceneBatch.of([scene_of([thing], Weather(), camera)]), width, height).ids[0]
    return np.asarray(ids > 0)


def unseen(camera: Camera, thing: Thing, frame: Frame) -> str:
    """Why a picture does not show a thing, or cuts it, such as "hidden by the cinema"; "" if it shows it."""
    height, width = frame.ids.shape
    view = views(camera.row()[None], width, height)[0].astype(np.float64)
    depths = (_corners(thing) - view[:3]) @ view[9:12]
    if frame.mask(thing.name).any():
        return f"cut open, since nothing nearer than {NEAR:g} m is drawn" if depths.min() < NEAR else ""
    mask = mask_alone(camera, thing, width, height)
    if mask.any():
        return f"hidden by {the(frame.names[int(np.bincount(frame.ids[mask]).argmax())])}"
    return f"nearer than {NEAR:g} m" if 0.0 < depths.max() < NEAR else "outside the picture"


def _corners(thing: Thing) -> np.ndarray:
    """(8, 3) corners of a thing's 3D box, metres."""
    bounds = atlas().bounds[number(thing.kind, thing.style)].astype(np.float64)
    return _in_world(thing, np.array(list(product(*bounds.T))))
