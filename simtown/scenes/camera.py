"""The camera: where it stands, and the pinhole projection that every part of simtown shares.

Camera frame as in OpenGL (x right, y up, looking along -z). Image frame: pixels, x right, y down, the middle
of pixel (i, j) at (i + 0.5, j + 0.5). The picture's lower edge is anchored at a fixed slope below the
horizon, so a taller picture shows more sky, a wider one than 16:9 more street, and the road stands where it
stood.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from simtown.core.exact import kernel, sincos

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


def views(cameras: np.ndarray, width: int, height: int) -> np.ndarray:
    """What the projection needs, for (n, 7) camera rows and one picture size.

    Returns:
        (n, 15) float32: eye, right, up and forward vectors (3 each), focal length in pixels, principal point
        x and y.
    """
    out = np.zeros((len(cameras), 15), dtype=np.float32)
    _views(np.ascontiguousarray(cameras, dtype=np.float64), width, height, out)
    return out


@kernel
def fill_view(camera, width, height, out):  # type: ignore[no-untyped-def]
    """One row of :func:`views` into `out` (15,), from a camera's seven numbers."""
    yaw, pitch = np.float64(camera[3]), np.float64(camera[4])
    (sy, cy), (sp, cp) = sincos(yaw), sincos(pitch)
    focal = camera[5] * (width if width <= WIDEST * height else WIDEST * height)
    out[0], out[1], out[2] = camera[0], camera[1], camera[2]
    out[3], out[4], out[5] = cy, sy, 0.0
    out[6], out[7], out[8] = sy * sp, -cy * sp, cp
    out[9], out[10], out[11] = -sy * cp, cy * cp, sp
    out[12], out[13], out[14] = focal, width / 2, height + focal * camera[6]


@kernel
def _views(cameras, width, height, out):  # type: ignore[no-untyped-def]
    for n in range(len(cameras)):
        fill_view(cameras[n], width, height, out[n])


@kernel
def object_to_camera(view, x, y, z, c, s, scale):  # type: ignore[no-untyped-def]
    """The 3×4 matrix, as 12 numbers, from an object's frame (turned by (c, s), scaled, moved) to (right, up,
    forward).
    """
    m00, m01, m02 = view[3] * c + view[4] * s, -view[3] * s + view[4] * c, view[5]
    m10, m11, m12 = view[6] * c + view[7] * s, -view[6] * s + view[7] * c, view[8]
    m20, m21, m22 = view[9] * c + view[10] * s, -view[9] * s + view[10] * c, view[11]
    dx, dy, dz = x - view[0], y - view[1], z - view[2]
    t0 = view[3] * dx + view[4] * dy + view[5] * dz
    t1 = view[6] * dx + view[7] * dy + view[8] * dz
    t2 = view[9] * dx + view[10] * dy + view[11] * dz
    return (
        m00 * scale,
        m01 * scale,
        m02 * scale,
        t0,
        m10 * scale,
        m11 * scale,
        m12 * scale,
        t1,
        m20 * scale,
        m21 * scale,
        m22 * scale,
        t2,
    )


@kernel
def project(matrix, focal, cx, cy, columns, start, stop, out):  # type: ignore[no-untyped-def]
    """Project the vertices columns[:, start:stop] into out (4, >= stop - start).

    Its rows: image x and y in the units of `focal`, the depth in metres, and 1/depth (at most 1000). Both
    arrays hold a row a coordinate and indices are unsigned, so that LLVM takes several vertices at a time.
    """
    m00, m01, m02, t0, m10, m11, m12, t1, m20, m21, m22, t2 = matrix
    first = np.uint64(start)
    for i in range(np.uint64(stop - start)):
        x, y, z = columns[0, first + i], columns[1, first + i], columns[2, first + i]
        depth = m20 * x + m21 * y + m22 * z + t2
        inverse = np.float32(1.0) / max(depth, np.float32(1e-3))
        out[0, i] = cx + focal * ((m00 * x + m01 * y + m02 * z + t0) * inverse)
        out[1, i] = cy - focal * ((m10 * x + m11 * y + m12 * z + t1) * inverse)
        out[2, i] = depth
        out[3, i] = inverse
