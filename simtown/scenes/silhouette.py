"""What the camera sees of vehicles, worked out from the scene alone: picture boxes and visible shares.

Kept apart from the renderers, which are tested against it and it against them.
"""

# mypy: disable-error-code="no-untyped-def,operator"
from __future__ import annotations

import numpy as np

from simtown.assets.atlas import atlas
from simtown.exact import cos, kernel, sin
from simtown.scenes.camera import NOMINAL, object_to_camera, project, views
from simtown.scenes.scene import SceneBatch

F = np.float32
_ALL, _1, _6, _63 = np.uint64(2**64 - 1), np.uint64(1), np.uint64(6), np.uint64(63)


@kernel
def _boxes(view, entity, pose, turn, columns, vertex_start, spots, out):
    """Full (amodal) picture boxes of one scene's vehicles: out (v, 4) x0, y0, x1, y1 in pixels, unclipped."""
    for j in range(entity.shape[0]):
        if entity[j] < 0:
            out[j] = 0.0
            continue
        matrix = object_to_camera(view, pose[j, 0], pose[j, 1], F(0.0), turn[j, 0], turn[j, 1], F(1.0))
        start, stop = vertex_start[entity[j]], vertex_start[entity[j] + 1]
        project(matrix, view[12], view[13], view[14], columns, start, stop, spots)
        x0, y0, x1, y1 = spots[0, 0], spots[1, 0], spots[0, 0], spots[1, 0]
        for i in range(1, stop - start):
            x0, x1 = min(x0, spots[0, i]), max(x1, spots[0, i])
            y0, y1 = min(y0, spots[1, i]), max(y1, spots[1, i])
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = x0, y0, x1, y1


@kernel
def _all_boxes(view, entity, pose, turn, columns, vertex_start, most, out):
    spots = np.zeros((4, most), dtype=np.float32)
    for n in range(entity.shape[0]):
        _boxes(view[n], entity[n], pose[n], turn[n], columns, vertex_start, spots, out[n])


@kernel
def _fill_triangle(mask, width, height, x0, y0, x1, y1, x2, y2):
    """Set the bits of `mask` ((rows, words) uint64, a bit a grid point) that lie inside a triangle."""
    if y1 < y0:
        x0, y0, x1, y1 = x1, y1, x0, y0
    if y2 < y1:
        x1, y1, x2, y2 = x2, y2, x1, y1
        if y1 < y0:
            x0, y0, x1, y1 = x1, y1, x0, y0
    top, bottom = max(int(np.ceil(y0)), 0), min(int(np.ceil(y2)), height)
    if top >= bottom or max(x0, x1, x2) <= 0 or min(x0, x1, x2) > width:
        return
    middle = min(max(int(np.ceil(y1)), top), bottom)
    long = (x2 - x0) / (y2 - y0)
    for half in range(2):
        start, stop = (top, middle) if half == 0 else (middle, bottom)
        if start >= stop:
            continue
        from_x, from_y = (x0, y0) if half == 0 else (x1, y1)
        short = (x1 - x0) / (y1 - y0) if half == 0 else (x2 - x1) / (y2 - y1)
        for y in range(start, stop):
            a, b = x0 + (F(y) - y0) * long, from_x + (F(y) - from_y) * short
            left, right = max(int(np.ceil(min(a, b))), 0), min(int(np.ceil(max(a, b))), width)
            if left >= right:
                continue
            row, first, last = np.uint64(y), np.uint64(left) >> _6, np.uint64(right - 1) >> _6
            begin, end = _ALL << (np.uint64(left) & _63), _ALL >> (_63 - (np.uint64(right - 1) & _63))
            if first == last:
                mask[row, first] |= begin & end
                continue
            mask[row, first] |= begin
            for word in range(first + _1, last):
                mask[row, word] = _ALL
            mask[row, last] |= end


@kernel
def _draw(mask, window, view, entity, pose, turn, columns, vertex_start, triangles, triangle_start, spots):
    """Set the bits of a silhouette in the mask, which covers a window (x0, y0, width, height pixels) of the picture."""
    matrix = object_to_camera(view, pose[0], pose[1], F(0.0), turn[0], turn[1], F(1.0))
    start = vertex_start[entity]
    cx, cy = view[13] - F(0.5) - F(window[0]), view[14] - F(0.5) - F(window[1])
    project(matrix, view[12], cx, cy, columns, start, vertex_start[entity + 1], spots)
    for t in range(triangle_start[entity], triangle_start[entity + 1]):
        i, j, k = triangles[t, 0] - start, triangles[t, 1] - start, triangles[t, 2] - start
        x0, y0, x1, y1, x2, y2 = spots[0, i], spots[1, i], spots[0, j], spots[1, j], spots[0, k], spots[1, k]
        if (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0) < 0:  # faces the camera (y runs down)
            _fill_triangle(mask, window[2], window[3], x0, y0, x1, y1, x2, y2)


@kernel
def _visible(view, camera, entity, pose, turn, boxes, half, columns, vertex_start, triangles, triangle_start, most, width, height, last,
             least, out):  # fmt: skip
    count = entity.shape[1]
    spots = np.zeros((4, most), dtype=np.float32)
    own, others = np.zeros((height, (width + 63) // 64), dtype=np.uint64), np.zeros((height, (width + 63) // 64), dtype=np.uint64)
    for n in range(entity.shape[0]):
        box = boxes[n]
        for j in range(count):
            if entity[n, j] < 0:
                out[n, j] = 0.0
                continue
            if last and j < count - 1 and not _hides(camera[n], entity[n], pose[n], turn[n], box, half, count - 1, j):
                continue
            x0, y0 = max(int(box[j, 0]), 0), max(int(box[j, 1]), 0)
            window = (x0, y0, min(int(box[j, 2]) + 1, width) - x0, min(int(box[j, 3]) + 1, height) - y0)
            begun = False
            for k in range(count):
                if not _hides(camera[n], entity[n], pose[n], turn[n], box, half, k, j):
                    continue
                if not begun:
                    words = (window[2] + 63) // 64
                    own[: window[3], :words], others[: window[3], :words] = 0, 0
                    _draw(own, window, view[n], entity[n, j], pose[n, j], turn[n, j], columns, vertex_start, triangles,
                          triangle_start, spots)  # fmt: skip
                    begun = True
                _draw(others, window, view[n], entity[n, k], pose[n, k], turn[n, k], columns, vertex_start, triangles,
                      triangle_start, spots)  # fmt: skip
            out[n, j] = 1.0
            if begun:
                whole, left = 0, 0
                for y in range(window[3]):
                    for word in range(words):
                        whole += _bits(own[y, word])
                        left += _bits(own[y, word] & ~others[y, word])
                out[n, j] = left / max(whole, 1)
            if out[n, j] < least:
                out[n] = 0.0
                break


@kernel
def _bits(word):
    """How many bits of a word are set."""
    word -= (word >> _1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _hides(camera, entity, pose, turn, box, half, k, j):
    """Whether vehicle k of a scene may hide another one j: it stands before it, and their boxes meet."""
    if k == j or entity[k] < 0:
        return False
    if box[j, 0] >= box[k, 2] or box[k, 0] >= box[j, 2] or box[j, 1] >= box[k, 3] or box[k, 1] >= box[j, 3]:
        return False
    return _before(camera, entity[k], pose[k], turn[k], entity[j], pose[j], turn[j], half)


@kernel
def _before(camera, a, pose_a, turn_a, b, pose_b, turn_b, half):
    """Whether vehicle a may hide a part of b, for footprints that do not overlap, at any place and turned in any way.

    Some upright plane along a flank or an end of either one separates the two: what stands on the camera's side of it hides what
    stands behind it, and never the other way round. Of four such directions the one with the widest gap is taken.
    """
    dx, dy = pose_b[0] - pose_a[0], pose_b[1] - pose_a[1]
    c, s = abs(turn_a[0] * turn_b[0] + turn_a[1] * turn_b[1]), abs(turn_a[0] * turn_b[1] - turn_a[1] * turn_b[0])
    long_a, wide_a, long_b, wide_b = half[a, 0], half[a, 1], half[b, 0], half[b, 1]
    gap, nx, ny, reach_a, reach_b = F(-np.inf), F(0.0), F(0.0), F(0.0), F(0.0)
    for i in range(4):
        if i == 0:  # along a, across a, along b, across b
            x, y, own_a, own_b = turn_a[0], turn_a[1], long_a, long_b * c + wide_b * s
        elif i == 1:
            x, y, own_a, own_b = -turn_a[1], turn_a[0], wide_a, long_b * s + wide_b * c
        elif i == 2:
            x, y, own_a, own_b = turn_b[0], turn_b[1], long_a * c + wide_a * s, long_b
        else:
            x, y, own_a, own_b = -turn_b[1], turn_b[0], long_a * s + wide_a * c, wide_b
        apart = abs(dx * x + dy * y) - own_a - own_b
        if apart > gap:
            gap, nx, ny, reach_a, reach_b = apart, x, y, own_a, own_b
    if dx * nx + dy * ny < 0:
        nx, ny = -nx, -ny
    middle = F(0.5) * (nx * (pose_a[0] + pose_b[0]) + ny * (pose_a[1] + pose_b[1]) + reach_a - reach_b)
    return nx * camera[0] + ny * camera[1] < middle


def _most_vertices(vertex_start: np.ndarray) -> int:
    """Vertices of the largest mesh: the room that kernels need to project any one of them."""
    return int(np.diff(vertex_start).max())


def _turns(pose: np.ndarray) -> np.ndarray:
    yaw = pose[..., 2].astype(np.float64)
    return np.stack([cos(yaw), sin(yaw)], axis=-1).astype(np.float32)


def boxes(batch: SceneBatch, width: int, height: int) -> np.ndarray:
    """Full picture boxes of vehicles, hidden parts included: (n, v, 4) float32 x0, y0, x1, y1 in pixels, clipped to the picture."""
    out = unclipped_boxes(batch.entity, batch.pose, batch.camera, width, height)
    return np.clip(out, 0, np.array([width, height, width, height], dtype=np.float32))


def unclipped_boxes(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, width: int, height: int) -> np.ndarray:
    """As :func:`boxes` for (n, v) entities, (n, v, 3) poses and (n, 7) cameras, running on beyond the picture's edges."""
    a = atlas()
    out = np.zeros((*entity.shape, 4), dtype=np.float32)
    most = _most_vertices(a.vertex_start)
    _all_boxes(views(camera, width, height), entity, pose, _turns(pose), a.columns, a.vertex_start, most, out)
    return out


def visibility(entity: np.ndarray, pose: np.ndarray, camera: np.ndarray, box: np.ndarray | None = None, least: float = 0.0,
               before: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
    """Share of each vehicle's silhouette that no other vehicle hides, in the nominal picture: (n, v) float32 in [0, 1].

    Footprints must not overlap; there may be any number of vehicles, turned in any way. Empty slots get 0. To save work: `box`, the
    nominal :func:`unclipped_boxes`; `least`, where a scene with a share below it may get 0 for all; `before`, (n, v - 1) shares as
    they were before the last vehicle came.
    """
    a = atlas()
    box = unclipped_boxes(entity, pose, camera, *NOMINAL) if box is None else box
    half = np.abs(a.bounds[:, :, :2]).max(axis=1)
    out = np.zeros(entity.shape, dtype=np.float32)
    if before is not None:
        out[:, :-1] = before
    _visible(views(camera, *NOMINAL), camera, entity, pose, _turns(pose), box, half, a.columns, a.vertex_start, a.triangles,
             a.triangle_start, _most_vertices(a.vertex_start), *NOMINAL, before is not None, least, out)  # fmt: skip
    return out
