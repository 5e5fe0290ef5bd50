"""Spatial relations as logical forms over the latent scene.

The viewer's frame: "left of" and "right of" as the viewer sees it, "in front of" is less far ahead of the
camera, "behind" farther. Each relation is a signed distance in metres; within :attr:`Relation.margin` of zero
its truth is undefined and never asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtown.language.meaning.limits import ALONG, ASIDE

if TYPE_CHECKING:
    import numpy as np

LATERAL, RADIAL = 0, 1


@dataclass(frozen=True)
class Relation:
    """A relation between two vehicles: it holds where `sign` times their separation along `axis` is positive.

    Where the separation is within `margin` metres of zero, the truth is undefined and never asked. `name` is
    in questions, `caption` in captions after "is", and `direction` is CLEVR's word for it.
    """

    name: str
    axis: int
    sign: int
    margin: float
    caption: str
    direction: str


#: Every relation; a stored question holds an index into this tuple (append, do not reorder).
RELATIONS: tuple[Relation, ...] = (
    Relation("left of", LATERAL, -1, ASIDE, caption="to the left of", direction="left"),
    Relation("right of", LATERAL, 1, ASIDE, caption="to the right of", direction="right"),
    Relation("in front of", RADIAL, -1, ALONG, caption="in front of", direction="front"),
    Relation("behind", RADIAL, 1, ALONG, caption="behind", direction="behind"),
)
#: The same as a vehicle's own driver sees it: ahead is where the vehicle heads.
DRIVER_RELATIONS: tuple[Relation, ...] = (
    Relation("driver-left", LATERAL, -1, ASIDE, caption="on the left", direction="left"),
    Relation("driver-right", LATERAL, 1, ASIDE, caption="on the right", direction="right"),
    Relation("driver-front", RADIAL, 1, ALONG, caption="ahead", direction="front"),
    Relation("driver-behind", RADIAL, -1, ALONG, caption="behind", direction="behind"),
)
RELATION_NAMES: tuple[str, ...] = tuple(r.name for r in RELATIONS)
#: What the paper asks about.
DEFAULT_RELATIONS: tuple[str, ...] = ("left of", "right of")


#: Columns of the table, for the sampler.
AXES, SIGNS, LEAST = (tuple(getattr(r, name) for r in RELATIONS) for name in ("axis", "sign", "margin"))


def separations(pose: np.ndarray, camera: np.ndarray) -> np.ndarray:
    """Offsets of vehicle j from vehicle i, in the viewer's frame.

    Args:
        pose: (n, v, 3) x, y (metres), yaw.
        camera: (n, 7) rows.

    Returns:
        (n, 2, v, v) float64 metres, [:, axis, i, j] positive where i is right of / farther than j. The radial
        separation is the difference of distances ahead of the camera, along the ground in the direction of
        its yaw. The lateral separation is the difference of slopes (metres to the right by metres of depth)
        times the mean of both depths; a depth is measured along the view, to a point of the ground: ahead of
        a camera that is not tilted.
    """
    import numpy as np

    from simtown.core.exact import sincos

    pose, camera = pose.astype(np.float64), camera.astype(np.float64)[:, None]
    (s, c), (sin_pitch, cos_pitch) = sincos(camera[..., 3]), sincos(camera[..., 4])
    dx, dy = pose[..., 0] - camera[..., 0], pose[..., 1] - camera[..., 1]
    ahead = dy * c - dx * s
    depth = ahead * cos_pitch - camera[..., 2] * sin_pitch
    slope = (dx * c + dy * s) / depth
    one, other = (slice(None), slice(None), None), (slice(None), None)
    lateral = (slope[one] - slope[other]) * (0.5 * (depth[one] + depth[other]))
    return np.stack([lateral, ahead[one] - ahead[other]], axis=1)


def own_separations(pose: np.ndarray) -> np.ndarray:
    """Offsets of vehicle i from vehicle j, in the frame of j's driver.

    Args:
        pose: (n, v, 3) x, y (metres), yaw.

    Returns:
        (n, 2, v, v) float64 metres between their middles, [:, LATERAL, i, j] positive where i is to the right
        of j, [:, RADIAL, i, j] where i is ahead of j.
    """
    import numpy as np

    from simtown.core.exact import sincos

    x, y, yaw = np.moveaxis(pose.astype(np.float64), -1, 0)
    s, c = (part[:, None] for part in sincos(yaw))
    dx, dy = x[:, :, None] - x[:, None], y[:, :, None] - y[:, None]
    return np.stack([dx * s - dy * c, dx * c + dy * s], axis=1)


def margins(separation: np.ndarray, relation: np.ndarray, subject: np.ndarray, obj: np.ndarray) -> np.ndarray:
    """Metres by which relations hold: (n,) float64, for :func:`separations` and (n,) numbers and slots."""
    import numpy as np

    axis, sign = np.array(AXES)[relation], np.array(SIGNS)[relation]
    result: np.ndarray = sign * separation[np.arange(len(relation)), axis, subject, obj]
    return result


def truths(margin: np.ndarray, relation: np.ndarray) -> np.ndarray:
    """1 where relations of these margins hold, -1 where they do not, 0 where undefined: (n,) int8."""
    import numpy as np

    least = np.array(LEAST)[relation]
    return np.where(margin > least, 1, np.where(margin < -least, -1, 0)).astype(np.int8)
