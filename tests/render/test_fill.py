"""The rasteriser's coverage against brute force in whole numbers."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

from simtown.render.fill import MOST_TRIANGLES, fill_convex, fill_triangle
from simtown.render.lanes import LANES
from simtown.scenes.camera import NEAR

WIDTH, HEIGHT = 90, 70


def drawn(corners, depths=(8.0, 8.0, 8.0), tag=1, samples=None):
    """Samples after one triangle: corners (3, 2) in 1/256 of a sample. The last LANES columns are nobody's."""
    if samples is None:
        samples = np.zeros((HEIGHT, WIDTH + LANES), dtype=np.uint32)
    spots = [value for (x, y), d in zip(corners.tolist(), depths, strict=True) for value in (x, y, np.float32(1 / d))]
    fill_triangle(samples, WIDTH, HEIGHT, *spots, np.uint32(tag))
    return samples


def covered(corners):
    """Samples inside by exact edge functions; one on an edge belongs to the triangle on its right or below it."""
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
    for corners in random_triangles(np.random.default_rng(0), 1500):
        assert np.array_equal(drawn(corners)[:, :WIDTH] > 0, covered(corners)), corners


@pytest.mark.parametrize("aligned", [False, True])
def test_neighbours_share_edges_without_gaps_or_doubles(aligned):
    """Triangulated points: every sample inside the outline belongs to exactly one triangle."""
    rng = np.random.default_rng(1)
    for _ in range(8):
        points = rng.integers(-2000, [WIDTH * 256 + 2000, HEIGHT * 256 + 2000], (60, 2))
        points = np.unique(points // 128 * 128 if aligned else points, axis=0)
        corners = [[-4000, -4000], [WIDTH * 256 + 4000, -4000], [-4000, HEIGHT * 256 + 4000], [WIDTH * 256 + 4000, HEIGHT * 256 + 4000]]
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
        found = (drawn(corners, depths)[y, x] >> 14) * 2.0**14 / (2.0**32 - 2.0**20) / NEAR
        assert np.abs(found - expected).max() < 3 / 2.0**18 / NEAR + 1e-3 * (expected.max() - expected.min())


def test_nearer_wins_whatever_the_order():
    corners = np.array([[0, 0], [80 * 256, 0], [0, 60 * 256]])
    for order in ((0, 1), (1, 0)):
        samples = np.zeros((HEIGHT, WIDTH + LANES), dtype=np.uint32)
        for i in order:
            drawn(corners, [(10.0,) * 3, (9.9,) * 3][i], tag=i + 1, samples=samples)
        assert set(np.unique(samples & MOST_TRIANGLES)) == {0, 2}


def crossing(sides, points):
    """Whether points lie inside a convex polygon: all on one side of its edges."""
    turns = [
        (b[0] - a[0]) * (points[..., 1] - a[1]) - (b[1] - a[1]) * (points[..., 0] - a[0])
        for a, b in zip(sides, np.roll(sides, -1, axis=0), strict=True)
    ]
    return np.all([t > 0 for t in turns], axis=0) | np.all([t < 0 for t in turns], axis=0)


def test_fill_convex_is_point_in_polygon():
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(np.arange(24), np.arange(16)), axis=-1).astype(np.float64)
    for n in (3, 4, 5) * 30:
        turn = np.sort(rng.uniform(0, 2 * np.pi, n))
        corners = (np.array([12, 8]) + rng.uniform(-8, 8, 2) + rng.uniform(2, 14) * np.stack([np.cos(turn), np.sin(turn)], axis=1)).astype(
            np.float32
        )
        mask = np.zeros((16, 32), dtype=np.uint8)
        mask[5, 5] = 9
        fill_convex(mask, 24, 16, corners[:, 0].copy(), corners[:, 1].copy(), n, np.uint8(2), np.zeros((16, 2), dtype=np.float32))
        assert (mask[:, 24] >= (mask[:, :24] == 2).any(axis=1)).all()  # touched rows are marked
        expected = np.where(crossing(corners.astype(np.float64), grid), 2, 0)
        expected[5, 5] = 9
        assert (mask[:, :24] != expected).sum() <= 1  # a grid point on an edge
