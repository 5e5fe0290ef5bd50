"""What the camera sees of vehicles, computed from the scene alone: picture boxes and visible shares.

This module does not use the renderers, so that each is tested against the other. Kernels take one vehicle of
one image at a time; a :class:`Desk` holds the meshes, the images and the working memory, so that no memory is
allocated for a scene.
"""

# mypy: disable-error-code="no-untyped-def,operator"
from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import GRID, Atlas, atlas
from simtown.assets.catalogue import ENTITIES
from simtown.core.exact import inlined_kernel, inner_kernel, kernel, part_of_kernel, sincos
from simtown.scenes.camera import NOMINAL, fill_view, object_to_camera, project
from simtown.scenes.scene import SceneBatch

F = np.float32
#: The numbers in a mask's column are a multiple of this: LLVM then always uses whole vectors.
PAD = 16
#: Crossings of an edge that are always listed, even if it has fewer.
AT_ONCE = 6
_AT_ONCE = np.uint64(AT_ONCE)
#: With these factors a kind and a place on the grid are one integer.
_PACKED = np.array([2**54, 2**36, 2**18, 1])


class Shapes(NamedTuple):
    """The meshes of all vehicles, for silhouettes.

    Attributes:
        columns: (3, v) float32 vertices, as the atlas has them.
        vertex_start: (m + 1,) int64 first vertex of each mesh.
        points: (3, p) float32 distinct places of corners.
        point_start: (entities + 1,) int64 first point of each vehicle.
        planes: (4, f) float32 unit outward normals of the faces, and their distances from the origin, metres.
            Triangles of one plane are one face. The first face of every vehicle never faces the camera.
        plane_start: (entities + 1,) int64 first face of each vehicle.
        edges: (4, e) uint16, from a point to another, with the faces to its left and its right as seen from
            outside; counted from the vehicle's first point and face.
        edge_start: (entities + 1,) int64 first edge of each vehicle.
        half: (entities, 2) float32 half the length and half the width of a footprint, metres, about the
            origin.
    """

    columns: np.ndarray
    vertex_start: np.ndarray
    points: np.ndarray
    point_start: np.ndarray
    planes: np.ndarray
    plane_start: np.ndarray
    edges: np.ndarray
    edge_start: np.ndarray
    half: np.ndarray


class Desk(NamedTuple):
    """Images of a scene that is being made, and the memory to examine them. Every thread has its own desk.

    Attributes:
        shapes: see :class:`Shapes`.
        size: (2,) int64 width and height of the picture, at most those of the nominal one if silhouettes are
            drawn.
        entity: (v,) int64 vehicles, -1 for an empty slot.
        camera: (images, 7) float32 rows of :class:`~simtown.scenes.camera.Camera`.
        lens: (images, 15) float32 rows of :func:`~simtown.scenes.camera.views`.
        pose: (images, v, 3) float32 x, y, yaw.
        turn: (images, v, 2) float32 cosine and sine of the yaw.
        box: (images, v, 4) float32 full picture boxes: x0, y0, x1, y1 in pixels, not clipped.
        seen: (v,) float32 visible shares.
        whole: (images, v) int64 pixels of a silhouette; -1 before it is drawn.
        own: (images, v, pixels) int16 silhouettes, 1 where a vehicle is, column by column of the window of
            its box.
        rest: (pixels,) int16, what is left of one.
        steps: (pixels,) int16, by how many more faces a pixel is covered than the one to its left.
        cover: (rows,) int16, by how many faces a pixel of each row is covered.
        spots: (4, largest mesh) float32 projected points.
        spot_bits: the same memory as int32.
        facing: (largest mesh,) uint8 whether a face faces the camera.
        outline: (largest mesh,) uint16 edges of which one face does, and which cross a row.
        below: (largest mesh,) int32 the first row whose middle is not above a point.
        sides: (3, largest mesh) float32 x and y of such an edge's upper end, and by how much x grows a row.
        first_row: (largest mesh,) int32 its first row less its first crossing.
        side_step: (largest mesh,) int16 1 where a face begins, -1 where one ends.
        crossing: (most crossings,) uint16 the edge (its number in `outline`) of every crossing with a row.
    """

    shapes: Shapes
    size: np.ndarray
    entity: np.ndarray
    camera: np.ndarray
    lens: np.ndarray
    pose: np.ndarray
    turn: np.ndarray
    box: np.ndarray
    seen: np.ndarray
    whole: np.ndarray
    own: np.ndarray
    rest: np.ndarray
    steps: np.ndarray
    cover: np.ndarray
    spots: np.ndarray
    spot_bits: np.ndarray
    facing: np.ndarray
    outline: np.ndarray
    below: np.ndarray
    sides: np.ndarray
    first_row: np.ndarray
    side_step: np.ndarray
    crossing: np.ndarray


def shapes_of(town: Atlas) -> Shapes:
    """The shapes of an atlas's vehicles."""
    kinds, triangles = len(ENTITIES), town.triangle_start[: len(ENTITIES) + 1]
    kind = np.repeat(np.arange(kinds), np.diff(triangles))
    corners = np.rint(town.vertices[town.triangles[: triangles[-1]]] * GRID).astype(np.int64)
    points, number = np.unique(
        np.column_stack([np.repeat(kind, 3), corners.reshape(-1, 3)]) @ _PACKED, return_inverse=True
    )
    point_start = np.searchsorted(points, np.arange(kinds + 1) * _PACKED[0] - _PACKED[0] // 2)
    coordinates = np.zeros((len(points), 3), dtype=np.float32)
    coordinates[number.reshape(-1)] = corners.reshape(-1, 3) / GRID

    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = np.cross(b - a, c - a)
    normals //= np.gcd.reduce(normals, axis=1, keepdims=True)
    offset = (normals * a).sum(axis=1)
    # a plane that comes first among a kind's planes
    first = np.column_stack([np.arange(kinds), np.full((kinds, 4), -(2**62))])
    planes, face = np.unique(
        np.concatenate([first, np.column_stack([kind, normals, offset])]), axis=0, return_inverse=True
    )
    plane_start = np.searchsorted(planes[:, 0], np.arange(kinds + 1))
    length = np.sqrt((planes[:, 1:4].astype(np.float64) ** 2).sum(axis=1))
    edges, edge_start = _edges(
        kind, number.reshape(-1, 3) - point_start[kind, None], face.reshape(-1)[kinds:] - plane_start[kind]
    )
    return Shapes(
        columns=town.columns,
        vertex_start=town.vertex_start,
        points=np.ascontiguousarray(coordinates.T),
        point_start=point_start,
        planes=np.ascontiguousarray(
            (planes[:, 1:] / np.column_stack([length, length, length, length * GRID])).T, dtype=np.float32
        ),
        plane_start=plane_start,
        edges=np.ascontiguousarray(edges.T, dtype=np.uint16),
        edge_start=edge_start,
        half=np.abs(town.bounds[:kinds, :, :2]).max(axis=1),
    )


def _edges(kind: np.ndarray, corners: np.ndarray, face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(e, 4) edges as :class:`Shapes` has them and where each kind's begin, from (t, 3) corners and (t,)
    faces of triangles.

    Where more than two triangles meet, any that pass an edge in opposite ways are a pair: all pairs together
    count the same.
    """
    start, end = corners.reshape(-1), np.roll(corners, -1, axis=1).reshape(-1)
    left, kind = np.repeat(face, 3), np.repeat(kind, 3)
    onward = start < end
    line = (kind << 32) + (np.minimum(start, end) << 16) + np.maximum(start, end)
    order = np.lexsort((left, onward, line))
    start, end, left, kind, onward, line = (each[order] for each in (start, end, left, kind, onward, line))
    way = line * 2 + onward
    # the first, second ... triangle that passes a line this way
    line = line * 2**10 + np.arange(len(way)) - np.searchsorted(way, way)
    onwards, backwards = np.flatnonzero(onward), np.flatnonzero(~onward)
    _, i, j = np.intersect1d(line[onwards], line[backwards], assume_unique=True, return_indices=True)
    onwards, backwards = onwards[i], backwards[j]
    right, drawn = np.zeros_like(left), np.ones(len(left), dtype=bool)
    right[onwards] = left[backwards]
    drawn[backwards] = False
    drawn[onwards] = left[onwards] != right[onwards]  # an edge within a face is never on the outline
    chosen = np.flatnonzero(drawn)
    chosen = chosen[np.argsort(kind[chosen], kind="stable")]
    return np.column_stack([start, end, left, right])[chosen], np.searchsorted(
        kind[chosen], np.arange(kind[-1] + 2)
    )


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The shapes of the town's vehicles."""
    return shapes_of(atlas())


def desk(images: int, vehicles: int, width: int = NOMINAL[0], height: int = NOMINAL[1]) -> Desk:
    """A desk for `images` images of `vehicles` vehicles."""
    town, pixels = shapes(), NOMINAL[0] * NOMINAL[1]
    edges = int(np.diff(town.edge_start).max())
    spots = np.zeros((4, int(np.diff(town.vertex_start).max())), dtype=np.float32)
    return Desk(
        shapes=town,
        size=np.array([width, height]),
        entity=np.full(vehicles, -1),
        camera=np.zeros((images, 7), dtype=np.float32),
        lens=np.zeros((images, 15), dtype=np.float32),
        pose=np.zeros((images, vehicles, 3), dtype=np.float32),
        turn=np.zeros((images, vehicles, 2), dtype=np.float32),
        box=np.zeros((images, vehicles, 4), dtype=np.float32),
        seen=np.zeros(vehicles, dtype=np.float32),
        whole=np.full((images, vehicles), -1),
        own=np.zeros((images, vehicles, pixels), dtype=np.int16),
        rest=np.zeros(pixels, dtype=np.int16),
        steps=np.zeros(pixels + NOMINAL[1], dtype=np.int16),
        cover=np.zeros(NOMINAL[1], dtype=np.int16),
        spots=spots,
        spot_bits=spots.view(np.int32),
        facing=np.zeros(int(np.diff(town.plane_start).max()), dtype=np.uint8),
        outline=np.zeros(edges + 1, dtype=np.uint16),
        below=np.zeros(int(np.diff(town.point_start).max()), dtype=np.int32),
        sides=np.zeros((3, edges), dtype=np.float32),
        first_row=np.zeros(edges, dtype=np.int32),
        side_step=np.zeros(edges, dtype=np.int16),
        crossing=np.zeros(edges * NOMINAL[1] + AT_ONCE, dtype=np.uint16),
    )


@inner_kernel
def look(desk, image, camera):
    """Set up the camera of an image from a row of seven numbers."""
    for i in range(7):
        desk.camera[image, i] = camera[i]
    fill_view(camera, desk.size[0], desk.size[1], desk.lens[image])


@inlined_kernel
def put(desk, image, slot, x, y, yaw):
    """Put the vehicle of a slot somewhere in an image; :func:`in_picture` then finds its box."""
    s, c = sincos(np.float64(yaw))
    desk.pose[image, slot, 0], desk.pose[image, slot, 1], desk.pose[image, slot, 2] = x, y, yaw
    desk.turn[image, slot, 0], desk.turn[image, slot, 1] = c, s
    desk.whole[image, slot] = -1


@inlined_kernel
def in_picture(desk, image, slot):
    """Find the box of a vehicle. Returns whether it lies wholly inside the picture."""
    entity, width, height = desk.entity[slot], desk.size[0], desk.size[1]
    x, y = desk.pose[image, slot, 0], desk.pose[image, slot, 1]
    c, s = desk.turn[image, slot, 0], desk.turn[image, slot, 1]
    x0, y0, x1, y1 = _extremes(desk, image, entity, x, y, c, s)
    box = desk.box
    box[image, slot, 0], box[image, slot, 1] = x0, y0
    box[image, slot, 2], box[image, slot, 3] = x1, y1
    return x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height


@part_of_kernel
def _in_order(bits):
    """A float32's bits as an integer in the order of the floats; its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@inlined_kernel
def _extremes(desk, image, entity, x, y, c, s):
    """The full picture box of a vehicle, zeros for none.

    Extremes are found among integers, of which LLVM compares several at a time.
    """
    view = desk.lens[image]
    shapes, spots, bits = desk.shapes, desk.spots, desk.spot_bits
    start, stop = (shapes.vertex_start[entity], shapes.vertex_start[entity + 1]) if entity >= 0 else (0, 0)
    matrix = object_to_camera(view, x, y, F(0.0), c, s, F(1.0))
    project(matrix, view[12], view[13], view[14], shapes.columns, start, stop, spots)
    x0 = y0 = np.int32(2**31 - 1)
    x1 = y1 = np.int32(-(2**31))
    for i in range(np.uint64(stop - start)):
        across, down = np.int32(_in_order(bits[0, i])), np.int32(_in_order(bits[1, i]))
        x0, y0 = np.int32(min(x0, across)), np.int32(min(y0, down))
        x1, y1 = np.int32(max(x1, across)), np.int32(max(y1, down))
    bits[2, 0], bits[2, 1] = _in_order(x0), _in_order(y0)
    bits[2, 2], bits[2, 3] = _in_order(x1), _in_order(y1)
    x0, y0, x1, y1 = spots[2, 0], spots[2, 1], spots[2, 2], spots[2, 3]
    zero = F(0.0)
    return (x0, y0, x1, y1) if entity >= 0 else (zero, zero, zero, zero)


@inlined_kernel
def share(desk, image, slot, vehicles, enough):
    """The share of a vehicle's silhouette that none of the first `vehicles` hides, float32.

    Once it is certain to be above `enough`, 1 is returned.
    """
    hiding = np.int64(0)
    for other in range(vehicles):
        if hides(desk, image, other, slot):
            hiding |= 1 << other
    return _share_beside(desk, image, slot, hiding, enough) if hiding else F(1.0)


@inner_kernel
def _share_beside(desk, image, slot, hiding, enough):
    """:func:`share`, where the vehicles of the bits of `hiding` may hide some of it."""
    window, vehicles = _window(desk, image, slot), len(desk.entity)
    own, rest = desk.own[image, slot], desk.rest
    _, _, width, height = window
    numbers = np.uint64(max(width, 0) * _column(height))
    if desk.whole[image, slot] < 0:
        for i in range(numbers):
            own[i] = 1
        desk.whole[image, slot] = np.int64(numbers) - _clear(desk, image, slot, window, own)
        for i in range(numbers):
            own[i] ^= 1
    whole = desk.whole[image, slot]
    if enough < 1:
        hidden = 0
        for other in range(vehicles):
            if hiding >> other & 1:
                hidden += _inside(own, window, desk.box[image, other])
        if whole - hidden > enough * whole:
            return F(1.0)
    for i in range(numbers):
        rest[i] = own[i]
    left = whole
    for other in range(vehicles):
        if hiding >> other & 1 and whole > 0:
            left = _clear(desk, image, other, window, rest)
    return F(left / max(whole, 1))


@inlined_kernel
def _column(height):
    """Numbers of a mask's column: its pixels and up to PAD - 1 more, which no vehicle covers."""
    return (max(height, 0) + PAD - 1) // PAD * PAD


@inlined_kernel
def _window(desk, image, slot):
    """The part of the picture in which a vehicle can be: x0, y0, width, height in pixels, the last two at
    most 0 if there is none.
    """
    box, width, height = desk.box[image, slot], desk.size[0], desk.size[1]
    x0, y0 = max(int(box[0]), 0), max(int(box[1]), 0)
    return x0, y0, min(int(box[2]) + 1, width) - x0, min(int(box[3]) + 1, height) - y0


@inlined_kernel
def _inside(mask, window, box):
    """How many pixels of a window's mask may lie inside a picture box, at most."""
    x0, y0, width, height = window
    left, right = max(int(box[0]) - 1 - x0, 0), min(int(box[2]) + 2 - x0, width)
    top, bottom = max(int(box[1]) - 1 - y0, 0), min(int(box[3]) + 2 - y0, height)
    total = np.int64(0)
    for column in range(left, right):
        first, column_total = np.uint64(column * _column(height)), np.int16(0)
        for row in range(np.uint64(top), np.uint64(max(bottom, top))):
            column_total = np.int16(column_total + mask[first + row])
        total += column_total
    return total


@inner_kernel
def _clear(desk, image, slot, window, mask):
    """Clear the pixels of a window's mask that a vehicle covers. Returns how many are left.

    Faces that face the camera make up the silhouette. Where two of them meet, one begins as the other ends,
    so their outline alone says how many cover a pixel.
    """
    _, _, width, height = window
    if width <= 0 or height <= 0:
        return 0
    _project(desk, image, slot, window)
    crossings = _cross_rows(desk, slot, width)
    _add_steps(desk, crossings, width, height)
    rows, steps, cover, left = np.uint64(_column(height)), desk.steps, desk.cover, np.int64(0)
    for row in range(rows):
        cover[row] = 0
        steps[np.uint64(width) * rows + row] = 0
    for column in range(np.uint64(width)):
        first, column_left = column * rows, np.int16(0)
        for row in range(rows):
            i = first + row
            covering = np.int16(cover[row] + steps[i])
            cover[row], steps[i] = covering, 0
            kept = np.int16(mask[i] if covering == 0 else 0)
            mask[i] = kept
            column_left = np.int16(column_left + kept)
        left += column_left
    return left


@part_of_kernel
def _project(desk, image, slot, window):
    """Find which faces of a vehicle face the camera, where its points are in a window, and the first row that
    each is not below.
    """
    view, shapes, spots, entity = desk.lens[image], desk.shapes, desk.spots, desk.entity[slot]
    x, y = desk.pose[image, slot, 0], desk.pose[image, slot, 1]
    c, s = desk.turn[image, slot, 0], desk.turn[image, slot, 1]
    dx, dy = view[0] - x, view[1] - y
    eye_x, eye_y, eye_z = dx * c + dy * s, dy * c - dx * s, view[2]
    planes, facing, first_plane = shapes.planes, desk.facing, np.uint64(shapes.plane_start[entity])
    for i in range(np.uint64(shapes.plane_start[entity + 1]) - first_plane):
        k = first_plane + i
        facing[i] = planes[0, k] * eye_x + planes[1, k] * eye_y + planes[2, k] * eye_z > planes[3, k]
    facing[0] = 0
    matrix = object_to_camera(view, x, y, F(0.0), c, s, F(1.0))
    start, stop = shapes.point_start[entity], shapes.point_start[entity + 1]
    middle_x, middle_y = view[13] - F(0.5) - F(window[0]), view[14] - F(0.5) - F(window[1])
    project(matrix, view[12], middle_x, middle_y, shapes.points, start, stop, spots)
    below, bottom = desk.below, F(window[3])
    for i in range(np.uint64(stop - start)):
        below[i] = np.int32(np.ceil(min(max(spots[1, i], F(0.0)), bottom)))


@part_of_kernel
def _cross_rows(desk, slot, width):
    """List the crossings of a vehicle's outline with rows, edge by edge from above. Returns how many there
    are.

    No branch here depends on the shape but the one for long edges: the processor would guess every other one
    wrong.
    """
    facing, spots, below, outline, crossing = desk.facing, desk.spots, desk.below, desk.outline, desk.crossing
    edges, first = desk.shapes.edges, np.uint64(desk.shapes.edge_start[desk.entity[slot]])
    edges_found, crossings = np.uint64(0), np.uint64(0)
    for i in range(np.uint64(desk.shapes.edge_start[desk.entity[slot] + 1]) - first):
        outline[edges_found] = i
        on_outline = facing[edges[2, first + i]] ^ facing[edges[3, first + i]]
        edges_found += np.uint64(on_outline & (below[edges[0, first + i]] != below[edges[1, first + i]]))
    for n in range(edges_found):
        edge = first + np.uint64(outline[n])
        a, b, left = np.uint64(edges[0, edge]), np.uint64(edges[1, edge]), facing[edges[2, edge]]
        upwards, within = below[b] < below[a], min(spots[0, a], spots[0, b]) < F(width)
        upper, lower = b if upwards else a, a if upwards else b
        row, count = np.int64(below[upper]), np.uint64(below[lower] - below[upper] if within else 0)
        slope = (spots[0, lower] - spots[0, upper]) / (spots[1, lower] - spots[1, upper])
        desk.sides[0, n], desk.sides[1, n], desk.sides[2, n] = spots[0, upper], spots[1, upper], slope
        desk.first_row[n], desk.side_step[n] = row - np.int64(crossings), 1 if (left != 0) != upwards else -1
        for k in range(_AT_ONCE):
            crossing[crossings + k] = n
        for k in range(_AT_ONCE, count):
            crossing[crossings + k] = n
        crossings += count
    return crossings


@part_of_kernel
def _add_steps(desk, crossings, width, height):
    """Add to the pixel at which an edge crosses a row that one more face, or one less, covers the row from
    there on.
    """
    sides, steps, right, rows = desk.sides, desk.steps, F(width), np.uint64(_column(height))
    for i in range(crossings):
        n = np.uint64(desk.crossing[i])
        row = np.int64(desk.first_row[n]) + np.int64(i)
        x = sides[0, n] + (F(row) - sides[1, n]) * sides[2, n]
        column = np.int64(np.ceil(min(max(x, F(0.0)), right)))
        steps[np.uint64(column) * rows + np.uint64(row)] += desk.side_step[n]


@inlined_kernel
def hides(desk, image, k, j):
    """Whether vehicle k may hide another one j: it stands before it, and their boxes meet.

    All arrays are read before the first branch: LLVM then needs no references to them.
    """
    kind_k, kind_j = desk.entity[k], desk.entity[j]
    box, pose, turn = desk.box, desk.pose, desk.turn
    k0, k1, k2, k3 = box[image, k, 0], box[image, k, 1], box[image, k, 2], box[image, k, 3]
    j0, j1, j2, j3 = box[image, j, 0], box[image, j, 1], box[image, j, 2], box[image, j, 3]
    pose_k, turn_k = (pose[image, k, 0], pose[image, k, 1]), (turn[image, k, 0], turn[image, k, 1])
    pose_j, turn_j = (pose[image, j, 0], pose[image, j, 1]), (turn[image, j, 0], turn[image, j, 1])
    half_k = desk.shapes.half[kind_k, 0], desk.shapes.half[kind_k, 1]
    half_j = desk.shapes.half[kind_j, 0], desk.shapes.half[kind_j, 1]
    camera = desk.camera[image, 0], desk.camera[image, 1]
    if k == j or kind_k < 0 or kind_j < 0 or j0 >= k2 or k0 >= j2 or j1 >= k3 or k1 >= j3:
        return False
    return _before(camera, pose_k, turn_k, half_k, pose_j, turn_j, half_j)


@inlined_kernel
def _before(camera, pose_a, turn_a, half_a, pose_b, turn_b, half_b):
    """Whether vehicle a may hide a part of b, for footprints that do not overlap, at any place and turned in
    any way.

    Some upright plane along a flank or an end of either one separates the two: what stands on the camera's
    side of it hides what stands behind it, and never the other way round. Of four such directions the one
    with the widest gap is taken.
    """
    dx, dy = pose_b[0] - pose_a[0], pose_b[1] - pose_a[1]
    c = abs(turn_a[0] * turn_b[0] + turn_a[1] * turn_b[1])
    s = abs(turn_a[0] * turn_b[1] - turn_a[1] * turn_b[0])
    (long_a, wide_a), (long_b, wide_b) = half_a, half_b
    gap, nx, ny, reach_a, reach_b = F(-np.inf), F(0.0), F(0.0), F(0.0), F(0.0)
    for x, y, own_a, own_b in (  # along a, across a, along b, across b
        (turn_a[0], turn_a[1], long_a, long_b * c + wide_b * s),
        (-turn_a[1], turn_a[0], wide_a, long_b * s + wide_b * c),
        (turn_b[0], turn_b[1], long_a * c + wide_a * s, long_b),
        (-turn_b[1], turn_b[0], long_a * s + wide_a * c, wide_b),
    ):
        apart = abs(dx * x + dy * y) - own_a - own_b
        if apart > gap:
            gap, nx, ny, reach_a, reach_b = apart, x, y, own_a, own_b
    if dx * nx + dy * ny < 0:
        nx, ny = -nx, -ny
    middle = F(0.5) * (nx * (pose_a[0] + pose_b[0]) + ny * (pose_a[1] + pose_b[1]) + reach_a - reach_b)
    return nx * camera[0] + ny * camera[1] < middle


@kernel
def _set_up(desk, entity, pose, camera):
    """Put a whole scene into the desk's first image.

    Returns whether every vehicle is wholly inside the picture.
    """
    look(desk, 0, camera)
    inside = True
    for j in range(len(entity)):
        desk.entity[j] = entity[j]
        put(desk, 0, j, pose[j, 0], pose[j, 1], pose[j, 2])
        inside = in_picture(desk, 0, j) and inside
    return inside


@kernel
def _all_boxes(desk, entity, pose, camera, out):
    for n in range(len(entity)):
        _set_up(desk, entity[n], pose[n], camera[n])
        out[n] = desk.box[0]


@kernel
def _all_framed(desk, entity, pose, camera, out):
    for n in range(len(entity)):
        out[n] = _set_up(desk, entity[n], pose[n], camera[n])


@kernel
def _all_shares(desk, entity, pose, camera, out):
    for n in range(len(entity)):
        _set_up(desk, entity[n], pose[n], camera[n])
        for j in range(entity.shape[1]):
            out[n, j] = share(desk, 0, j, entity.shape[1], 1.0) if entity[n, j] >= 0 else 0.0


def _rows(
    entity: np.ndarray, pose: np.ndarray, camera: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(
        np.ascontiguousarray(a, dtype=t)
        for a, t in ((entity, np.int64), (pose, np.float32), (camera, np.float32))
    )  # type: ignore[return-value]


def boxes(batch: SceneBatch, width: int, height: int) -> np.ndarray:
    """Full picture boxes of vehicles, hidden parts included: (n, v, 4) float32 x0, y0, x1, y1 in pixels,
    clipped to the picture.
    """
    out = unclipped_boxes(batch.entity, batch.pose, batch.camera, width, height)
    return np.clip(out, 0, np.array([width, height, width, height], dtype=np.float32))


def unclipped_boxes(
    entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, width: int, height: int
) -> np.ndarray:
    """As :func:`boxes` for (n, v) entities, (n, v, 3) poses and (n, 7) cameras, running on beyond the
    picture's edges.
    """
    out = np.zeros((*entity.shape, 4), dtype=np.float32)
    _all_boxes(desk(1, entity.shape[1], width, height), *_rows(entity, pose, camera), out)
    return out


def framed(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether every vehicle lies wholly inside the nominal picture, however it is turned: (n,) bool."""
    out = np.zeros(len(entity), dtype=bool)
    _all_framed(desk(1, entity.shape[1]), *_rows(entity, pose, camera), out)
    return out


def visibility(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Share of each vehicle's silhouette that no other vehicle hides, in the nominal picture: (n, v) float32
    in [0, 1].

    Footprints must not overlap; there may be any number of vehicles, turned in any way. Empty slots get 0.
    """
    out = np.zeros(entity.shape, dtype=np.float32)
    _all_shares(desk(1, entity.shape[1]), *_rows(entity, pose, camera), out)
    return out
