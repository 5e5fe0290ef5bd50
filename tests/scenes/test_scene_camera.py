"""The pinhole projection against a plain NumPy matrix written from Camera's definitions."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtown.scenes.camera import NOMINAL, Camera, views
from tests.kernels.pieces import pieces

F = np.float32
quick = settings(max_examples=60)

ranges = ((-5, 5), (-18, -12), (1, 9), (-0.5, 0.5), (-0.25, 0.25), (0.5, 2), (-0.75, -0.25))
cameras = st.builds(Camera, *(st.floats(low, high, width=32) for low, high in ranges))
places = st.tuples(*(st.floats(*ends) for ends in ((-6, 6), (-2, 20), (-1, 5), (-7, 7), (0.5, 2))))
vertices = st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 4))
sizes = st.tuples(st.integers(32, 1024), st.integers(32, 1024))


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    if axis == "z":
        return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def pinhole(camera, width, height):
    """3×4 matrix K [R | -R eye] to homogeneous pixels (x right, y down): first pitched, then yawed."""
    eye = np.array([camera.x, camera.y, camera.z])
    right, forward, up = (rotation("z", camera.yaw) @ rotation("x", camera.pitch)).T
    R = np.stack([right, -up, forward])
    f = camera.focal * min(width, 16 / 9 * height)
    K = np.array([[f, 0, width / 2], [0, f, height + f * camera.bottom], [0, 0, 1]])
    return K @ np.column_stack([R, -R @ eye])


def placed(x, y, z, yaw, scale):
    """4×4 matrix from an object's frame to the world's."""
    matrix = np.eye(4)
    matrix[:3, :3] = scale * rotation("z", yaw)
    matrix[:3, 3] = x, y, z
    return matrix


def projected(camera, size, pose, points):
    """Through simtown: (n, 3) image x, y and depth."""
    x, y, z, yaw, scale = pose
    view = views(camera.row()[None], *size)[0]
    place = np.array([x, y, z, np.cos(yaw), np.sin(yaw), scale], dtype=np.float32)
    columns, out = np.ascontiguousarray(points.T, dtype=np.float32), np.zeros((4, len(points)), np.float32)
    pieces().call("project_points", view=view, pose=place, points=columns, out=out)
    assert np.allclose(out[3], 1 / np.maximum(out[2], F(1e-3)), rtol=1e-6)
    return out[:3].T


@quick
@given(cameras, sizes, places, st.lists(vertices, min_size=1, max_size=8))
def test_projection_is_the_pinhole_matrix(camera, size, pose, points):
    points = np.array(points)
    homogeneous = np.column_stack([points, np.ones(len(points))]).T
    u, v, depth = pinhole(camera, *size) @ placed(*pose) @ homogeneous
    got = projected(camera, size, pose, points)
    assert np.allclose(got[:, 2], depth, atol=2e-5)
    fine = depth > 2.0
    scale = camera.focal * min(size[0], 16 / 9 * size[1])
    assert np.allclose(got[fine, :2], np.stack([u / depth, v / depth], axis=1)[fine], atol=1e-5 * scale)


@quick
@given(cameras, sizes)
def test_view_axes_are_orthonormal_and_right_handed(camera, size):
    row = views(camera.row()[None], *size)[0].astype(np.float64)
    right, up, forward = row[3:6], row[6:9], row[9:12]
    axes = np.stack([right, up, -forward])  # as in OpenGL
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-6)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-6)
    assert row[:3] == pytest.approx([camera.x, camera.y, camera.z])
    assert right[2] == 0  # no roll


@quick
@given(cameras, sizes, st.floats(5, 40))
def test_the_lower_edge_lies_at_its_slope(camera, size, distance):
    """Whatever the size, what stands at slope `bottom` under the axis is seen on the picture's lower edge."""
    right, forward, up = (rotation("z", camera.yaw) @ rotation("x", camera.pitch)).T
    spot = np.array([camera.x, camera.y, camera.z]) + distance * (forward + camera.bottom * up + 0.1 * right)
    got = projected(camera, size, (0, 0, 0, 0, 1), spot[None])[0]
    f = camera.focal * min(size[0], 16 / 9 * size[1])
    assert got[:2] == pytest.approx([size[0] / 2 + 0.1 * f, size[1]], abs=2e-5 * f)
    assert got[2] == pytest.approx(distance, rel=1e-5)


@pytest.mark.parametrize(("size", "half"), [((256, 144), 1), ((64, 64), 1), ((200, 400), 1), ((512, 144), 2)])
def test_the_width_covers_the_same_road_up_to_sixteen_to_nine(size, half):
    """The half width seen at 10 m; a picture wider than 16:9 shows more."""
    camera = Camera()
    at, y = 10 / (2 * camera.focal) * half, camera.y + 10
    got = projected(camera, size, (0, 0, 0, 0, 1), np.array([[at, y, 3.0], [-at, y, 3.0]]))
    assert got[:, 0] == pytest.approx([size[0], 0], abs=1e-3)


@quick
@given(cameras, st.integers(16, 200).map(lambda k: 9 * k))
def test_pictures_of_other_sizes_are_the_same_picture(camera, height):
    """Twice the pixels, twice the coordinates; a taller picture adds sky only."""
    points = np.array([[1.0, 2.0, 1.5], [-3.0, 0.0, 0.0], [0.5, 7.0, 6.0]])
    pose = (0.5, 1.0, 0.0, 0.3, 1.0)
    width = height // 9 * 16
    sizes = ((width, height), (2 * width, 2 * height), (width, 2 * height))
    small, large, tall = (projected(camera, size, pose, points)[:, :2] for size in sizes)
    assert np.allclose(large, 2 * small, atol=2e-4 * height)
    assert np.allclose(tall - small, [0, height], atol=2e-4 * height)


def test_points_behind_the_camera_stay_finite():
    got = projected(Camera(), NOMINAL, (0, 0, 0, 0, 1), np.array([[0.0, -20.0, 1.0], [1.0, Camera().y, 0.0]]))
    assert np.isfinite(got).all()
    assert got[0, 2] < 0


def test_row_keeps_the_order_of_fields():
    camera = Camera(1.0, 2.0, 3.0, 0.25, 0.5, 0.75, -0.5)
    assert camera.row().dtype == np.float32
    assert tuple(camera.row().tolist()) == astuple(camera)
    assert views(np.stack([camera.row(), Camera().row()]), 64, 32).shape == (2, 15)
