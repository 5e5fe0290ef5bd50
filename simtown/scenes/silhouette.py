"""What the camera sees of vehicles, worked out from the scene alone: picture boxes and visible shares.

Kept apart from the renderers, which are tested against it and it against them. Kernels take one vehicle of one image at a time; a
:class:`Desk` holds the meshes, the images and the memory to work in, so that nothing is allocated for a scene.
"""

# mypy: disable-error-code="no-untyped-def,operator"
from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simtown.assets.atlas import Atlas, atlas
from simtown.assets.catalogue import ENTITIES
from simtown.exact import inlined_kernel, kernel, part_of_kernel, sincos
from simtown.scenes.camera import NOMINAL, fill_view, object_to_camera, project
from simtown.scenes.rows import LANES, clear_rows
from simtown.scenes.scene import SceneBatch

F = np.float32
_LANES = np.uint64(LANES)
_ALL, _1, _3, _6, _63 = np.uint64(2**64 - 1), np.uint64(1), np.uint64(3), np.uint64(6), np.uint64(63)
#: The 64-bit words that hold a row of the nominal picture.
WORDS = (NOMINAL[0] + 63) // 64
#: Beyond so many pixels rounding may move an edge by a pixel and more.
_FAR = F(8192.0)


class Shapes(NamedTuple):
    """The meshes of all vehicles, as silhouettes want them.

    Attributes:
        columns: (3, v) float32 vertices, and `vertex_start` (m + 1,) int64, as the atlas has them.
        corners: (3, c) float32, of every vehicle the first corners of its triangles, then the second, then the third.
        corner_start: (entities + 1,) int64.
        half: (entities, 2) float32 half the length and half the width of a footprint, metres, about the origin.
    """

    columns: np.ndarray
    vertex_start: np.ndarray
    corners: np.ndarray
    corner_start: np.ndarray
    half: np.ndarray


class Desk(NamedTuple):
    """Images of a scene in the making, and what it takes to look at them. Every thread has a desk of its own.

    Attributes:
        shapes: see :class:`Shapes`.
        size: (2,) int64 width and height of the picture, at most the nominal one's where silhouettes are drawn.
        entity: (v,) int64 vehicles, -1 for an empty slot.
        camera, lens: (images, 7) and (images, 15) float32, :class:`~simtown.scenes.camera.Camera` rows and rows of `views`.
        pose, turn: (images, v, 3) and (images, v, 2) float32 x, y, yaw; cosine and sine of the yaw.
        box: (images, v, 4) float32 full picture boxes: x0, y0, x1, y1 in pixels, unclipped.
        seen: (v,) float32 visible shares.
        whole: (images, v) int64 pixels of a silhouette; -1 before it is drawn.
        own: (images, v, WORDS, rows) uint64 silhouettes, each in the window of its box; see :mod:`simtown.scenes.rows`.
        rest: (WORDS, rows) uint64, what is left of one.
        spots, spot_bits: (4, largest mesh) projected points, and the same memory as int32. `facing`: triangles that face the camera.
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
    spots: np.ndarray
    spot_bits: np.ndarray
    facing: np.ndarray


def shapes_of(town: Atlas) -> Shapes:
    """The shapes of an atlas's vehicles."""
    corners, corner_start = [], [0]
    for number in range(len(ENTITIES)):
        triangles = town.triangles[slice(*town.triangle_start[number : number + 2])]
        corners.append(town.vertices[triangles.T].reshape(-1, 3))
        corner_start.append(corner_start[-1] + len(corners[-1]))
    return Shapes(
        columns=town.columns,
        vertex_start=town.vertex_start,
        corners=np.ascontiguousarray(np.concatenate(corners).T),
        corner_start=np.array(corner_start),
        half=np.abs(town.bounds[: len(ENTITIES), :, :2]).max(axis=1),
    )


@lru_cache(maxsize=1)
def shapes() -> Shapes:
    """The shapes of the town's vehicles."""
    return shapes_of(atlas())


def desk(images: int, vehicles: int, width: int = NOMINAL[0], height: int = NOMINAL[1]) -> Desk:
    """A desk for so many images of so many vehicles."""
    town, rows = shapes(), NOMINAL[1] + LANES - 1
    most = int(max(np.diff(town.vertex_start).max(), np.diff(town.corner_start).max()))
    spots = np.zeros((4, most), dtype=np.float32)
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
        own=np.zeros((images, vehicles, WORDS, rows), dtype=np.uint64),
        rest=np.zeros((WORDS, rows), dtype=np.uint64),
        spots=spots,
        spot_bits=spots.view(np.int32),
        facing=np.zeros(most // 3 + 1, dtype=np.uint32),
    )


@kernel
def look(desk, image, camera):
    """Stand the camera of an image where a row of seven numbers says."""
    for i in range(7):
        desk.camera[image, i] = camera[i]
    fill_view(camera, desk.size[0], desk.size[1], desk.lens[image])


@inlined_kernel
def put(desk, image, slot, x, y, yaw):
    """Put the vehicle of a slot somewhere in an image. Returns whether it then lies wholly inside the picture."""
    s, c = sincos(np.float64(yaw))
    desk.pose[image, slot, 0], desk.pose[image, slot, 1], desk.pose[image, slot, 2] = x, y, yaw
    desk.turn[image, slot, 0], desk.turn[image, slot, 1] = c, s
    desk.whole[image, slot] = -1
    entity, width, height = desk.entity[slot], desk.size[0], desk.size[1]
    x0, y0, x1, y1 = _outline(desk, image, entity, x, y, F(c), F(s))
    desk.box[image, slot, 0], desk.box[image, slot, 1], desk.box[image, slot, 2], desk.box[image, slot, 3] = x0, y0, x1, y1
    return x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= height


@part_of_kernel
def _in_order(bits):
    """A float32's bits as an integer in the order of the floats; its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@inlined_kernel
def _outline(desk, image, entity, x, y, c, s):
    """The full picture box of a vehicle, zeros for none. Extremes are found among integers, of which LLVM compares several at a time."""
    view = desk.lens[image]
    shapes, spots, bits = desk.shapes, desk.spots, desk.spot_bits
    start, stop = (shapes.vertex_start[entity], shapes.vertex_start[entity + 1]) if entity >= 0 else (0, 0)
    matrix = object_to_camera(view, x, y, F(0.0), c, s, F(1.0))
    project(matrix, view[12], view[13], view[14], shapes.columns, start, stop, spots)
    x0 = y0 = np.int32(2**31 - 1)
    x1 = y1 = np.int32(-(2**31))
    for i in range(np.uint64(stop - start)):
        across, down = np.int32(_in_order(bits[0, i])), np.int32(_in_order(bits[1, i]))
        x0, y0, x1, y1 = np.int32(min(x0, across)), np.int32(min(y0, down)), np.int32(max(x1, across)), np.int32(max(y1, down))
    bits[2, 0], bits[2, 1], bits[2, 2], bits[2, 3] = _in_order(x0), _in_order(y0), _in_order(x1), _in_order(y1)
    x0, y0, x1, y1 = spots[2, 0], spots[2, 1], spots[2, 2], spots[2, 3]
    zero = F(0.0)
    return (x0, y0, x1, y1) if entity >= 0 else (zero, zero, zero, zero)


@kernel
def share(desk, image, slot, vehicles, least, enough):
    """The share of a vehicle's silhouette that none of the first `vehicles` hides, float32.

    Once it is certain to be below `least`, some share below that is returned; once it is certain to be above `enough`, 1 is.
    """
    hiding = 0
    for other in range(vehicles):
        if hides(desk, image, other, slot):
            hiding |= 1 << other
    if not hiding:
        return F(1.0)
    if desk.whole[image, slot] < 0:
        _draw(desk, image, slot)
    whole, window, own, rest = desk.whole[image, slot], _window(desk, image, slot), desk.own[image, slot], desk.rest
    if enough < 1:
        hidden = 0
        for other in range(vehicles):
            if hiding >> other & 1:
                hidden += _inside(own, window, desk.box[image, other])
        if whole - hidden > enough * whole:
            return F(1.0)
    _copy(own, rest)
    for other in range(vehicles):
        if hiding >> other & 1 and whole > 0:
            _cover(desk, rest, window, image, other, int(least * whole) - 1)
    return F(_count(rest, window) / max(whole, 1))


@inlined_kernel
def _copy(source, target):
    for word in range(np.uint64(WORDS)):
        for y in range(np.uint64(source.shape[1])):
            target[word, y] = source[word, y]


@kernel
def _draw(desk, image, slot):
    """Draw a vehicle's silhouette in the window of its box."""
    own, window = desk.own[image, slot], _window(desk, image, slot)
    _, _, width, height = window
    own[:] = np.uint64(0)
    if width > 0 and height > 0:
        rest, last = desk.rest, np.uint64(width - 1) >> _6
        rest[:] = _ALL
        _cover(desk, rest, window, image, slot, -1)
        for word in range(last + _1):
            bits = _ALL if word < last else _ALL >> (_63 - (np.uint64(width - 1) & _63))
            for y in range(np.uint64(height)):
                own[word, y] = ~rest[word, y] & bits
    desk.whole[image, slot] = _count(own, window)


@inlined_kernel
def _window(desk, image, slot):
    """The part of the picture in which a vehicle can be: x0, y0, width, height in pixels, the last two at most 0 if there is none."""
    box, width, height = desk.box[image, slot], desk.size[0], desk.size[1]
    x0, y0 = max(int(box[0]), 0), max(int(box[1]), 0)
    return x0, y0, min(int(box[2]) + 1, width) - x0, min(int(box[3]) + 1, height) - y0


@inlined_kernel
def _inside(mask, window, box):
    """How many bits of a window may lie inside a picture box, at most."""
    x0, y0, width, height = window
    left, right = max(int(box[0]) - 1 - x0, 0), min(int(box[2]) + 2 - x0, width)
    top, bottom = max(int(box[1]) - 1 - y0, 0), min(int(box[3]) + 2 - y0, height)
    total = np.int64(0)
    if left < right and top < bottom:
        first, last = np.uint64(left) >> _6, np.uint64(right - 1) >> _6
        for word in range(first, last + _1):
            bits = _ALL
            if word == first:
                bits &= _ALL << (np.uint64(left) & _63)
            if word == last:
                bits &= _ALL >> (_63 - (np.uint64(right - 1) & _63))
            for y in range(np.uint64(top), np.uint64(bottom)):
                total += _bits(mask[word, y] & bits)
    return total


@inlined_kernel
def _count(mask, window):
    """How many bits of a window are set."""
    total = 0
    if window[2] > 0 and window[3] > 0:
        for word in range((np.uint64(window[2]) + _63) >> _6):
            for y in range(np.uint64(window[3])):
                total += _bits(mask[word, y])
    return total


@inlined_kernel
def _bits(word):
    """How many bits of a word are set."""
    word -= (word >> _1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _cover(desk, mask, window, image, slot, few):
    """Clear the bits of a mask that a vehicle covers, or so many of them that at most `few` are left.

    The mask shows a window (x0, y0, width, height) of the picture, no empty one.
    """
    x0, y0, width, height = window
    view, shapes, spots, facing, entity = desk.lens[image], desk.shapes, desk.spots, desk.facing, desk.entity[slot]
    start, stop = shapes.corner_start[entity], shapes.corner_start[entity + 1]
    count = np.uint64(stop - start) // _3
    x, y, c, s = desk.pose[image, slot, 0], desk.pose[image, slot, 1], desk.turn[image, slot, 0], desk.turn[image, slot, 1]
    matrix = object_to_camera(view, x, y, F(0.0), c, s, F(1.0))
    project(matrix, view[12], view[13] - F(0.5) - F(x0), view[14] - F(0.5) - F(y0), shapes.corners, start, stop, spots)
    found = np.uint64(0)
    for t in range(count):
        u, v = t + count, t + count + count
        ax, ay, bx, by, cx, cy = spots[0, t], spots[1, t], spots[0, u], spots[1, u], spots[0, v], spots[1, v]
        facing[found] = t
        found += np.uint64((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0)  # it faces the camera (y runs down)
    for n in range(found):
        if few >= 0 and n & _63 == _63 and _count(mask, window) <= few:
            break
        first_corner = np.uint64(facing[n])
        u, v = first_corner + count, first_corner + count + count
        ax, ay, bx, by, cx, cy = spots[0, first_corner], spots[1, first_corner], spots[0, u], spots[1, u], spots[0, v], spots[1, v]
        low_x, high_x, low_y, high_y = min(ax, bx, cx), max(ax, bx, cx), min(ay, by, cy), max(ay, by, cy)
        top, bottom = max(int(np.ceil(low_y)), 0), min(int(np.ceil(high_y)), height)
        if top >= bottom or high_x <= 0 or low_x > width:
            continue
        left, right = 0, width
        if max(-low_x, high_x, -low_y, high_y) < _FAR:
            left, right = min(max(int(low_x), 0), width - 1), min(int(high_x) + 2, width)
        first, last = np.uint64(left) >> _6, np.uint64(max(right - 1, left)) >> _6
        _clear_triangle(mask, first, last, np.uint64(top), np.uint64(bottom), ax, ay, bx, by, cx, cy)


@part_of_kernel
def _clear_triangle(mask, first, last, top, bottom, x0, y0, x1, y1, x2, y2):
    """Clear the bits of `mask` that lie inside a triangle, in words first to last of rows top to bottom - 1."""
    if y1 < y0:
        x0, y0, x1, y1 = x1, y1, x0, y0
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
    long, above, below, middle = (x2 - x0) / (y2 - y0), (x1 - x0) / (y1 - y0), (x2 - x1) / (y2 - y1), np.ceil(y1)
    for word in range(first, last + _1):
        for row in range(top, bottom, _LANES):
            clear_rows(mask, word, row, F(bottom), F(word << _6), x0, y0, long, above, middle, x1, y1, below)


@inlined_kernel
def hides(desk, image, k, j):
    """Whether vehicle k may hide another one j: it stands before it, and their boxes meet.

    All arrays are read before the first branch: LLVM then needs no references to them.
    """
    kind_k, kind_j = desk.entity[k], desk.entity[j]
    k0, k1, k2, k3 = desk.box[image, k, 0], desk.box[image, k, 1], desk.box[image, k, 2], desk.box[image, k, 3]
    j0, j1, j2, j3 = desk.box[image, j, 0], desk.box[image, j, 1], desk.box[image, j, 2], desk.box[image, j, 3]
    pose_k, turn_k = (desk.pose[image, k, 0], desk.pose[image, k, 1]), (desk.turn[image, k, 0], desk.turn[image, k, 1])
    pose_j, turn_j = (desk.pose[image, j, 0], desk.pose[image, j, 1]), (desk.turn[image, j, 0], desk.turn[image, j, 1])
    half_k = desk.shapes.half[kind_k, 0], desk.shapes.half[kind_k, 1]
    half_j = desk.shapes.half[kind_j, 0], desk.shapes.half[kind_j, 1]
    camera = desk.camera[image, 0], desk.camera[image, 1]
    if k == j or kind_k < 0 or kind_j < 0 or j0 >= k2 or k0 >= j2 or j1 >= k3 or k1 >= j3:
        return False
    return _before(camera, pose_k, turn_k, half_k, pose_j, turn_j, half_j)


@inlined_kernel
def _before(camera, pose_a, turn_a, half_a, pose_b, turn_b, half_b):
    """Whether vehicle a may hide a part of b, for footprints that do not overlap, at any place and turned in any way.

    Some upright plane along a flank or an end of either one separates the two: what stands on the camera's side of it hides what
    stands behind it, and never the other way round. Of four such directions the one with the widest gap is taken.
    """
    dx, dy = pose_b[0] - pose_a[0], pose_b[1] - pose_a[1]
    c, s = abs(turn_a[0] * turn_b[0] + turn_a[1] * turn_b[1]), abs(turn_a[0] * turn_b[1] - turn_a[1] * turn_b[0])
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
    """Put a whole scene into the desk's first image. Returns whether every vehicle is wholly inside the picture."""
    look(desk, 0, camera)
    inside = True
    for j in range(len(entity)):
        desk.entity[j] = entity[j]
        inside = put(desk, 0, j, pose[j, 0], pose[j, 1], pose[j, 2]) and inside
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
            out[n, j] = share(desk, 0, j, entity.shape[1], 0.0, 1.0) if entity[n, j] >= 0 else 0.0


def _rows(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.ascontiguousarray(a, dtype=t) for a, t in ((entity, np.int64), (pose, np.float32), (camera, np.float32)))  # type: ignore[return-value]


def boxes(batch: SceneBatch, width: int, height: int) -> np.ndarray:
    """Full picture boxes of vehicles, hidden parts included: (n, v, 4) float32 x0, y0, x1, y1 in pixels, clipped to the picture."""
    out = unclipped_boxes(batch.entity, batch.pose, batch.camera, width, height)
    return np.clip(out, 0, np.array([width, height, width, height], dtype=np.float32))


def unclipped_boxes(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, width: int, height: int) -> np.ndarray:
    """As :func:`boxes` for (n, v) entities, (n, v, 3) poses and (n, 7) cameras, running on beyond the picture's edges."""
    out = np.zeros((*entity.shape, 4), dtype=np.float32)
    _all_boxes(desk(1, entity.shape[1], width, height), *_rows(entity, pose, camera), out)
    return out


def framed(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Whether every vehicle lies wholly inside the nominal picture, however it is turned: (n,) bool."""
    out = np.zeros(len(entity), dtype=bool)
    _all_framed(desk(1, entity.shape[1]), *_rows(entity, pose, camera), out)
    return out


def visibility(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Share of each vehicle's silhouette that no other vehicle hides, in the nominal picture: (n, v) float32 in [0, 1].

    Footprints must not overlap; there may be any number of vehicles, turned in any way. Empty slots get 0.
    """
    out = np.zeros(entity.shape, dtype=np.float32)
    _all_shares(desk(1, entity.shape[1]), *_rows(entity, pose, camera), out)
    return out
