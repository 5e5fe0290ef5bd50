"""What the tests of scenes share: cameras, and what they see."""

import numpy as np

from simtown.scenes.camera import Camera


def fixed_cameras(n):
    """(n, 7) rows of the default camera."""
    return np.tile(Camera().row(), (n, 1))


def moved_cameras(rng, n):
    """(n, 7) rows of cameras moved and turned as the sampler does it."""
    rows = fixed_cameras(n)
    rows[:, :4] += (rng.uniform(-1, 1, (n, 4)) * [1, 0.25, 0.25, 0.03]).astype(np.float32)
    return rows


def seen_from(camera, vertices, pose):
    """Of a vehicle's vertices (v, 3): metres to the right, ahead and up, by the camera's row, in float64."""
    x, y, z, yaw, pitch, *_ = camera.astype(np.float64)
    c, s = np.cos(float(pose[2])), np.sin(float(pose[2]))
    dx = vertices[:, 0] * c - vertices[:, 1] * s + pose[0] - x
    dy = vertices[:, 0] * s + vertices[:, 1] * c + pose[1] - y
    dz = vertices[:, 2] - z
    ahead = dy * np.cos(yaw) - dx * np.sin(yaw)
    far, high = ahead * np.cos(pitch) + dz * np.sin(pitch), dz * np.cos(pitch) - ahead * np.sin(pitch)
    return dx * np.cos(yaw) + dy * np.sin(yaw), far, high
