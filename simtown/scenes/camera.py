"""The camera: where it stands, and the pinhole projection that every part of simtown shares.

Camera frame as in OpenGL (x right, y up, looking along -z). Image frame: pixels, x right, y down, the middle
of pixel (i, j) at (i + 0.5, j + 0.5). The picture's lower edge is anchored at a fixed slope below the
horizon, so a taller picture shows more sky, a wider one than 16:9 more street, and the road stands where it
stood.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace

import numpy as np

from simtown.core.exact import sincos
from simtown.core.streams import Stream

#: Nothing nearer than this is drawn, metres along the view.
NEAR = 2.0
#: Up to this aspect (width / height) the picture's width covers the same piece of road.
WIDEST = 16 / 9
#: The nominal picture in which "wholly in frame" and "visible" are judged, whatever size is rendered.
NOMINAL = (256, 144)


@dataclass(frozen=True)
class Camera:
    """A pinhole camera without roll.

    Attributes:
        x: to the viewer's right, metres.
        y: away from the viewer, metres.
        z: height, metres.
        yaw: radians counter-clockwise seen from above; 0 looks along +y, away from the viewer.
        pitch: radians upwards.
        focal: focal length in units of the picture's width (of 16/9 of its height if it is wider than 16:9).
        bottom: slope of the picture's lower edge, relative to the view's axis; negative is below it.

    >>> import simtown
    >>> town = simtown.Town.random(seed=3)
    >>> town.camera = simtown.Camera(y=-8.0, z=1.7, pitch=-0.05)  # somebody on the pavement
    >>> town.render(256).rgb.shape
    (256, 256, 3)
    """

    x: float = 0.0
    y: float = -12.4
    z: float = 4.85
    yaw: float = 0.0
    pitch: float = 0.0
    focal: float = 0.95
    bottom: float = -0.625

    def row(self) -> np.ndarray:
        """(7,) float32, as a batch stores it."""
        return np.array(astuple(self), dtype=np.float32)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Metres to the right of the camera, and along its view, to a point of the ground."""
        dx, dy, c, s = x - self.x, y - self.y, math.cos(self.yaw), math.sin(self.yaw)
        return dx * c + dy * s, (dy * c - dx * s) * math.cos(self.pitch) - self.z * math.sin(self.pitch)

    def keeping_height(self, width: int, height: int) -> Camera:
        """The camera that shows, in a picture wider than high, as much sky and road as in a square one."""
        shorter, scale = min(width, height), min(width, WIDEST * height)
        return replace(self, focal=self.focal * shorter / scale)


#: Cameras that look at the whole street, by name.
CAMERAS: dict[str, Camera] = {
    "street": Camera(),
    "low": Camera(y=-12.0, z=1.2, yaw=0.14, pitch=0.08, focal=1.1, bottom=-0.36),
    "corner": Camera(x=-11.0, y=-11.5, z=5.2, yaw=-0.55, pitch=-0.1, bottom=-0.5),
    "bird": Camera(y=-15.0, z=24.0, pitch=-0.9, focal=1.1, bottom=-0.4),
}


#: The largest random shift of the camera to a side, along the view and in height, for a jitter of 1 m
#: (metres), and its turn (radians).
JITTER = (1.0, 0.25, 0.25, 0.03)
#: Metres to either side of a camera that varies, the y at which it looks, and how many times lower or higher
#: it stands.
_ASIDE, _LOOKS_AT, _HEIGHTS = 9.0, 3.0, (0.4, 2.0)


def draw_cameras(
    base: Camera, draws: Callable[[str], Stream], index: np.ndarray, jitter: float, varied: bool
) -> np.ndarray:
    """(n, 7) float32 cameras of examples, as likely with left and right exchanged.

    Args:
        base: the camera around which they stand.
        draws: returns the stream of a component.
        index: (n,) numbers of the examples.
        jitter: largest random shift to a side, metres.
        varied: whether they look at the street from both sides, low and high.
    """
    rows = np.tile(base.row(), (len(index), 1))
    if varied:
        aside, height = draws("cameras").uniform(index, 2).T
        low, high = _HEIGHTS
        times = low + (high - low) * height
        rows[:, 0] += _ASIDE * (2 * aside - 1)
        rows[:, 2] *= times
        rows[:, 3] = rows[:, 0] / (_LOOKS_AT - base.y)
        rows[:, 4] = np.minimum(0, base.z - rows[:, 2]) / (_LOOKS_AT - base.y)
        rows[:, 6] *= np.minimum(1, times)
    if jitter:
        u = draws("camera").uniform(index, 4)
        rows[:, :4] += (jitter * np.array(JITTER) * (2 * u - 1)).astype(np.float32)
    return rows


def views(cameras: np.ndarray, width: int, height: int) -> np.ndarray:
    """Parameters of the projection for (n, 7) camera rows and one picture size.

    Returns:
        (n, 15) float32: eye, right, up and forward vectors (3 each), focal length in pixels, principal point
        x and y.
    """
    x, y, z, yaw, pitch, focal, bottom = np.asarray(cameras, dtype=np.float64).T
    (sy, cy), (sp, cp) = sincos(yaw), sincos(pitch)
    focal = focal * min(width, WIDEST * height)
    zero, middle = np.zeros_like(x), np.full_like(x, width / 2)
    eye, right, up, forward = (x, y, z), (cy, sy, zero), (sy * sp, -cy * sp, cp), (-sy * cp, cy * cp, sp)
    columns = (*eye, *right, *up, *forward, focal, middle, height + focal * bottom)
    return np.stack(columns, axis=1).astype(np.float32)
