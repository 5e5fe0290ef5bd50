"""The rasteriser's coverage against brute force in whole numbers."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial import Delaunay

from simtown.scenes.camera import NEAR
from tests.kernels.pieces import BOX, EMPTY, LANES, REACH, SMALL, TAG, WIDE, pieces

WIDTH, HEIGHT = 90, 70


def fill(samples, first, full, corners, depths, tag=1):
    """Draw a triangle with corners (3, 2), 1/256 of a sample, into columns of a picture of `full` columns."""
    inverses = (1 / np.asarray(depths)).astype(np.float32)[None]
    triangle = np.ascontiguousarray(corners, dtype=np.int64)[None]
    where = {"samples": samples, "first": first, "full": full}
    pieces().call("fill_triangles", corners=triangle, inverses=inverses, tag=tag, **where)


def drawn(corners, depths=(8.0, 8.0, 8.0), tag=1, samples=None):
    """Samples after one triangle; the last WIDE columns are nobody's."""
    if samples is None:
        samples = np.zeros((HEIGHT, WIDTH + WIDE), dtype=np.uint32)
    fill(samples, 0, WIDTH, corners, depths, tag)
    return samples


def covered(corners):
    """Samples inside by exact edge functions; one on an edge belongs to the triangle right of or below it."""
    (x0, y0), (x1, y1), (x2, y2) = corners.tolist()
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return np.zeros((HEIGHT, WIDTH), dtype=bool)
    ring = [(x0, y0), (x1, y1), (x2, y2)] if area > 0 else [(x0, y0), (x2, y2), (x1, y1)]
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.int64) * 256
    inside = np.ones((HEIGHT, WIDTH), dtype=bool)
    for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True):
        edge = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        upper_left = by < ay or (by == ay and bx > ax)
        inside &= edge >= 0 if upper_left else edge > 0
    return inside


def random_triangles(rng, n):
    """Small, large, sliver-like, grid-aligned and far-reaching ones."""
    for i in range(n):
        middle, spread = rng.integers(0, [WIDTH * 256, HEIGHT * 256]), [400, 2000, 30000, 100000][i % 4]
        corners = middle + rng.integers(-spread, spread + 1, (3, 2))
        if i % 5 == 0:
            corners = corners // 256 * 256  # exactly on samples
        if i % 7 == 0:
            corners[2] = corners[0] + (corners[1] - corners[0]) // 2 + rng.integers(-3, 4, 2)  # a sliver
        yield corners


def test_coverage_is_exact():
    for corners in random_triangles(np.random.default_rng(0), 280):
        assert np.array_equal(drawn(corners)[:, :WIDTH] > 0, covered(corners)), corners


@pytest.mark.parametrize("aligned", [False, True])
def test_neighbours_share_edges_without_gaps_or_doubles(aligned):
    """Triangulated points: every sample inside the outline belongs to exactly one triangle."""
    rng = np.random.default_rng(1)
    for _ in range(8):
        points = rng.integers(-2000, [WIDTH * 256 + 2000, HEIGHT * 256 + 2000], (60, 2))
        points = np.unique(points // 128 * 128 if aligned else points, axis=0)
        corners = list(product((-4000, WIDTH * 256 + 4000), (-4000, HEIGHT * 256 + 4000)))
        points = np.concatenate([points, corners])
        times = sum((drawn(points[t])[:, :WIDTH] > 0).astype(int) for t in Delaunay(points).simplices)
        assert (times == 1).all()


def test_depth_is_the_planes():
    """The stored 1/depth is the plane's to within two steps of its 18 bits."""
    rng = np.random.default_rng(2)
    for corners in random_triangles(rng, 300):
        depths = rng.uniform(3.0, 60.0, 3)
        inside = covered(corners)
        if not inside.any():
            continue
        y, x = np.nonzero(inside)
        matrix = np.concatenate([corners.T.astype(float), np.ones((1, 3))])
        weights = np.linalg.solve(matrix, np.stack([x * 256.0, y * 256.0, np.ones(len(x))]))
        expected = weights.T @ (1 / depths)
        inverse_depth = (drawn(corners, depths)[y, x] >> 14) * 2.0**14 / (2.0**32 - 2.0**20) / NEAR
        assert np.abs(inverse_depth - expected).max() < 3 / 2.0**18 / NEAR + 1e-3 * np.ptp(expected)


def test_nearer_wins_whatever_the_order():
    corners = np.array([[0, 0], [80 * 256, 0], [0, 60 * 256]])
    for order in ((0, 1), (1, 0)):
        samples = np.zeros((HEIGHT, WIDTH + WIDE), dtype=np.uint32)
        for i in order:
            drawn(corners, [(10.0,) * 3, (9.9,) * 3][i], tag=i + 1, samples=samples)
        assert set(np.unique(samples & TAG)) == {0, 2}


def test_a_strip_holds_the_same_samples_as_the_whole():
    rng = np.random.default_rng(4)
    for corners in random_triangles(rng, 300):
        depths = rng.uniform(2.5, 60.0, 3)
        whole = drawn(corners, depths)[:, :WIDTH]
        for first, width in ((0, 30), (30, 17), (47, 43)):
            samples = np.zeros((HEIGHT, width + WIDE), dtype=np.uint32)
            fill(samples, first, WIDTH, corners, depths)
            assert np.array_equal(samples[:, :width], whole[:, first : first + width])


def test_small_triangles_drawn_in_boxes_have_the_samples_of_rows():
    """Eight at a time against one at a time: another algorithm, in 64 bits."""
    rng, kinds = np.random.default_rng(7), np.zeros(3, dtype=int)
    triangles = np.arange(3 * LANES, dtype=np.int32).reshape(LANES, 3)
    for block in range(100):
        corners = np.array(list(random_triangles(rng, LANES)))
        if block % 2:  # most of them small
            corners = corners[:, :1] + (corners - corners[:, :1]) // (block % 50)
        if block % 4 == 0:  # as broad and as high as boxes may be
            corners = corners[:, :1] - rng.integers(0, [256 * SMALL + 1, 256 * 256 + 1], (LANES, 3, 2))
        depths = rng.uniform(1.9, 60.0, (LANES, 3)).astype(np.float32)
        spots = np.float32(np.column_stack([corners.reshape(-1, 2), depths.ravel(), 1 / depths.ravel()]))
        for first, width in ((0, WIDTH), (30, 17)):
            boxes = np.zeros((LANES, HEIGHT, width + WIDE), dtype=np.uint32)
            todo = np.zeros(LANES, dtype=np.uint32)
            where = {"samples": boxes, "first": first, "full": WIDTH}
            pieces().call("fill_boxes", spots=spots, triangles=triangles, todo=todo, **where)
            for lane, kind in enumerate(todo.tolist()):
                kinds[kind] += 1
                rows = np.zeros((HEIGHT, width + WIDE), dtype=np.uint32)
                fill(rows, first, WIDTH, corners[lane], depths[lane])
                if kind == EMPTY:
                    assert not rows.any()
                elif kind == BOX:
                    assert np.array_equal(boxes[lane][:, :width], rows[:, :width]), corners[lane]
                else:
                    assert depths[lane].min() < NEAR or np.ptp(corners[lane], axis=0).max() > 256 * SMALL
    assert kinds.min() > 50


@pytest.mark.parametrize("spread", [3000, 300_000, 1 << 21, REACH // 2])
def test_coverage_is_exact_in_the_largest_picture(spread):
    """Random rows of a picture of 8,193 samples a side, against edge functions in Python's whole numbers."""
    rng, size = np.random.default_rng(5), 8193
    rows, samples = 24, np.zeros((size, size + WIDE), dtype=np.uint32)
    for _ in range(40):
        middle = rng.integers(0, size * 256, 2)
        corners = (middle + rng.integers(-spread, spread + 1, (3, 2))).tolist()
        looked_at = np.clip(middle[1] // 256 + np.arange(rows) * 5 - 60, 0, size - 1)
        samples[looked_at] = 0
        fill(samples, 0, size, corners, (10.0, 10.0, 10.0))
        (x0, y0), (x1, y1), (x2, y2) = corners
        clockwise = (x1 - x0) * (y2 - y0) > (x2 - x0) * (y1 - y0)
        ring = corners if clockwise else [corners[0], corners[2], corners[1]]
        for y in looked_at.tolist():
            low, high = 0, size
            for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True):
                dx, dy = bx - ax, by - ay
                least = 0 if dy < 0 or (dy == 0 and dx > 0) else 1
                free = (256 * y - ay) * dx + ax * dy - least  # inside: free - 256 x dy >= 0
                if dy == 0:
                    high = high if free >= 0 else 0
                elif dy < 0:
                    low = max(low, -(free // (-256 * dy)))
                else:
                    high = min(high, free // (256 * dy) + 1)
            expected = np.zeros(size, dtype=bool)
            expected[low : max(low, high)] = True
            assert np.array_equal(samples[y, :size] > 0, expected)


def test_hull_is_convex_and_holds_every_point():
    """Also of points in a line and of equal ones; corners run counter-clockwise."""
    rng = np.random.default_rng(6)
    for n in (3, 5, 14) * 60:
        points = rng.integers(-6, 7, (n, 2)) * rng.integers(1, 50)
        x, y = np.ascontiguousarray(points.T)
        order, out = np.arange(n), np.zeros(2 * n + 2, dtype=np.int64)
        corners = points[out[: pieces().call("hull_corners", x=x, y=y, order=order, out=out)]]
        if len(corners) < 3:
            continue
        along = np.roll(corners, -1, axis=0) - corners
        after = np.roll(along, -1, axis=0)
        assert (along[:, 0] * after[:, 1] - along[:, 1] * after[:, 0] > 0).all()
        away = points[:, None] - corners
        assert (along[:, 0] * away[..., 1] - along[:, 1] * away[..., 0] >= 0).all()
